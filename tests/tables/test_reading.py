"""Where tables come from: files of every kind, open files, frames and rows."""

import gzip
import hashlib
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hostile.containers import COMPRESS
from pyarrow import parquet

from mediaeval_ap import tables
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, ReadError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, read
from mediaeval_ap.tables.reading import InputKind, TableInput, lines_of_standard_input
from mediaeval_ap.tables.text import line_rules

ROWS = [
    ('INA', 'F2', '000010', 'nan', 0.5),
    ('INA', 'F2', '10', 'NA', 1.0),
    ('nan', 'null', '1e3', 'o"brien', -2.5e-7),
    ('DW', 'é', '#1', '?unknown?', 0.1),
]
TEXT = ''.join(' '.join(map(str, row)) + '\n' for row in ROWS)
FIELDS = list(HYPOTHESIS.fields)


def rows_of(table):
    return list(table.rows())


def frame():
    return pandas.DataFrame(ROWS, columns=FIELDS)


COMPRESSORS = {'': bytes, **{f'.{kind}': compress for kind, compress in COMPRESS.items()}}


@pytest.mark.parametrize('suffix', ['.gz', '.bz2', '.xz', '.zst'])
def test_compressed_streams_one_after_another(tmp_path, suffix):
    """A second stream is read, too; if it is damaged, reading fails instead of ending early."""
    path = tmp_path / f'run{suffix}'
    one = COMPRESSORS[suffix](TEXT.encode() * 1000)
    for padding in [b''] if suffix == '.zst' else [b'', bytes(4)]:
        path.write_bytes(one + padding + one + padding)
        assert rows_of(read(path, HYPOTHESIS)) == ROWS * 2000
    for damaged in one + bytes([one[0] ^ 1]) + one[1:], one + b'garbage', one + one[:20]:
        path.write_bytes(damaged)
        with pytest.raises(ReadError, match=str(path)):
            read(path, HYPOTHESIS)


@pytest.mark.parametrize('suffix', COMPRESSORS)
def test_large_files_of_every_kind_are_read_in_blocks(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(tables.reading, 'BULK_BYTES', 0)
    monkeypatch.setattr(line_rules, 'BLOCK_BYTES', 100)
    path = tmp_path / f'run{suffix}'
    path.write_bytes(COMPRESSORS[suffix](TEXT.encode() * 200 + b'\n' + TEXT.encode()))
    table = read(path, HYPOTHESIS)
    assert rows_of(table) == ROWS * 201
    assert table.lines[len(table) - 1] == len(ROWS) * 201 + 1
    assert table.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_parquet(tmp_path):
    path = tmp_path / 'run.txt'
    frame().assign(extra=1)[['extra', *reversed(FIELDS)]].to_parquet(path)
    table = read(path, HYPOTHESIS)
    assert rows_of(table) == ROWS
    assert table.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    with open(path, 'rb') as file:
        assert rows_of(read(file, HYPOTHESIS)) == ROWS
    with pytest.raises(ReadError, match='is Parquet, which is read only from the start of a'):
        read(io.BytesIO(path.read_bytes()), HYPOTHESIS)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    table = read('-', HYPOTHESIS)
    assert rows_of(table) == ROWS
    assert table.source.name == '<stdin>'
    monkeypatch.setattr(sys, 'stdin', None)
    with pytest.raises(ReadError, match='<stdin>: is closed'):
        read('-', HYPOTHESIS)


def test_open_files(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x\n' + TEXT, encoding='latin-1')
    with open(path, encoding='latin-1') as file:
        file.readline()
        table = read(file, HYPOTHESIS)
        assert rows_of(table) == ROWS
        assert (table.source.name, table.source.sha256) == (str(path), None)
        assert not file.closed
    with pytest.raises(ReadError, match='is closed'):
        read(file, HYPOTHESIS)
    path.write_bytes(b'\xff')
    with open(path, encoding='utf-8') as file, pytest.raises(ReadError, match='decode'):
        read(file, HYPOTHESIS)
    assert rows_of(read(io.BytesIO(TEXT.encode()), HYPOTHESIS)) == ROWS
    assert rows_of(read(io.StringIO(TEXT), HYPOTHESIS)) == ROWS
    assert read(io.StringIO(TEXT), HYPOTHESIS).source.name == '<file>'


@pytest.mark.parametrize(
    'origin',
    [
        frame,
        lambda: frame().astype(dict.fromkeys(HYPOTHESIS.texts, object)),
        lambda: frame().astype(dict.fromkeys(HYPOTHESIS.texts, 'category')),
        lambda: frame().astype({'confidence': 'Float64'}),
        lambda: frame().set_index(pandas.Index([3, 3, 1, 0]))[FIELDS[::-1]],
        lambda: frame().assign(read=1, name='x'),
        lambda: pyarrow.Table.from_pandas(frame()),
        lambda: pyarrow.Table.from_pandas(frame().astype({'person_name': 'category'})),
        lambda: [dict(zip(FIELDS, row, strict=True), note=1) for row in ROWS],
        lambda: list(ROWS),
        lambda: iter(ROWS),
        lambda: [list(row) for row in ROWS],
        lambda: tables.read(ROWS, HYPOTHESIS),
    ],
)
def test_tables(origin):
    assert rows_of(read(origin(), HYPOTHESIS)) == ROWS


class Streamed:
    """A table of an unknown library, with columns and the Arrow stream interface."""

    columns = FIELDS

    def __arrow_c_stream__(self, requested_schema=None):
        return pyarrow.Table.from_pandas(frame()).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    'other',
    [
        lambda: polars.DataFrame(ROWS, schema=FIELDS, orient='row'),
        lambda: polars.DataFrame(ROWS, schema=FIELDS, orient='row').with_columns(
            polars.col('person_name').cast(polars.Categorical)
        ),
        lambda: pyarrow.Table.from_pandas(frame()).to_reader(),
        Streamed,
    ],
)
def test_tables_of_other_libraries(other):
    table = read(other(), HYPOTHESIS)
    assert rows_of(table) == ROWS
    assert table.source.name == '<hypothesis>'


def test_frames_of_other_libraries_are_checked_like_any_table():
    polar = polars.DataFrame(ROWS, schema=FIELDS, orient='row')
    with pytest.raises(FormatError, match='<hypothesis>, confidence: found columns'):
        read(polar.drop('confidence'), HYPOTHESIS)
    wide = polar.with_columns(confidence=polars.lit(1, polars.Int128))
    for wrong, message in (polar.lazy(), 'LazyFrame'), (wide, 'which is not a table to Arrow: '):
        with pytest.raises(ParameterError, match=message):
            read(wrong, HYPOTHESIS)


def test_queries_are_strings_or_rows():
    assert read(['a', 'b c'], QUERIES).texts('person_name') == ['a', 'b c']
    assert read([('a',)], QUERIES).texts('person_name') == ['a']
    assert read(np.array(['a']), QUERIES).texts('person_name') == ['a']
    assert read({('x', 'v')}, SUBSET).texts('video_id') == ['v']


@pytest.mark.parametrize(
    ('rows', 'message'),
    [
        ([ROWS[0], ROWS[0][:4]], 'row 2: found 4 fields in .*, expected 5 fields'),
        ([('a', 'b', 10, 'd', 1)], r'row 1, shot_id: found 10 \(int\), expected non-empty'),
        ([('a', 'b', 'c', 'd\n', 1)], r"person_name: found 'd\\n' \(str\)"),
        ([ROWS[0], ('\ufeffa', *ROWS[1][1:])], r"row 2, corpus_id: found '\\ufeffa'"),
        ([ROWS[0], ('a', 'b', 'c', '\ud800', 1)], r'row 2, person_name: found '),
        ([('a', 'b', 'c', 'd', '1')], r"row 1, confidence: found '1' \(str\), expected a finite"),
        ([('a', 'b', 'c', 'd', True)], r'row 1, confidence: found True \(bool\)'),
        ([('a', 'b', Decimal('1'), 'd', 1)], r'row 1, shot_id: found Decimal\(.1.\)'),
        ([('a', 'b', 'c', 'd', Decimal('sNaN'))], 'row 1, confidence: found Decimal'),
        ([('a', 'b', 'c', 'd', float('nan'))], r'row 1, confidence: found nan \(float\)'),
        ([('a', 'b', 'c', 'd', 10**400)], 'row 1, confidence: found 1000'),
        ([('a', 'b', 'c', 'd', np.int64(2**53 + 1))], 'confidence: found '),
        (['abcde'], r"row 1: found 'abcde' \(str\), expected 5 fields"),
        (
            [ROWS[0], 7, ROWS[1], ROWS[0][:4], ('a', 'b', 'c', [], 1)],
            r'row 2: found 7 \(int\), expected 5 fields: .* \(2 more wrong rows\)',
        ),
        ([], 'found no rows, expected at least one row of 5 fields'),
        (
            [dict(zip(FIELDS[:4], ROWS[0], strict=False))],
            'confidence: .*, expected one column conf',
        ),
    ],
)
def test_wrong_rows(rows, message):
    with pytest.raises(FormatError, match=f'^<hypothesis>.*{message}'):
        read(rows, HYPOTHESIS)


def arrow(**columns):
    return pyarrow.table({**{name: ['a', 'b'] for name in HYPOTHESIS.texts}, **columns})


@pytest.mark.parametrize(
    ('table', 'message'),
    [
        (arrow(), "confidence: found columns '.*', expected one column confidence"),
        (
            arrow().drop_columns(['video_id']),
            'video_id: found .*, expected one column each of video_id, confidence$',
        ),
        (arrow(confidence=['1', '2']), 'confidence: found a column of text, expected numbers'),
        (arrow(confidence=[True, False]), 'confidence: found a column of bool, expected numbers'),
        (arrow(confidence=[1.0, None]), 'row 2, confidence: found nothing, expected a value'),
        (arrow(confidence=[1.0, np.inf]), 'row 2, confidence: found inf, expected a finite'),
        (arrow(confidence=[1, 2**53 + 1]), 'confidence: found integers beyond 2'),
        (arrow(confidence=[1, 2], shot_id=[1.0, 2.0]), 'shot_id: found a column of floats, exp'),
        (arrow(confidence=[1, 2], shot_id=['', '']), "row 1, shot_id: found '', expected non-e"),
        (arrow(confidence=[1, 2], shot_id=['1', '\ufeff2']), r"row 2, shot_id: found '\\ufeff2'"),
        (arrow(confidence=[1, 2])[:0], 'found no rows'),
    ],
)
def test_wrong_columns(table, message, tmp_path):
    with pytest.raises(FormatError, match=f'^<hypothesis>.*{message}'):
        read(table, HYPOTHESIS)
    if not len(table):
        with pytest.raises(FormatError, match=f'^<hypothesis>.*{message}'):
            read(table.to_pandas(), HYPOTHESIS)
    parquet.write_table(table, tmp_path / 'run.parquet')
    with pytest.raises(FormatError, match=f'run.parquet.*{message}'):
        read(tmp_path / 'run.parquet', HYPOTHESIS)


@pytest.mark.parametrize('origin', [None, 7, b'path', {'a': 1}])
def test_wrong_origins(origin):
    with pytest.raises(ParameterError, match='expected a path, an open file, a table'):
        read(origin, REFERENCE)


@pytest.mark.parametrize('compress', [*COMPRESSORS.values()])
def test_compressed_whatever_the_suffix(tmp_path, compress):
    """As a path, an open file, bytes in memory and a pipe that gives one byte at a time."""
    path = tmp_path / 'run.txt'
    path.write_bytes(compress(TEXT.encode()))
    with open(path, 'rb') as file:
        for origin in path, str(path), file, io.BytesIO(path.read_bytes()):
            assert rows_of(read(origin, HYPOTHESIS)) == ROWS
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert read(path, HYPOTHESIS).source == tables.Provenance(str(path), digest)
    os.mkfifo(tmp_path / 'pipe')

    def write():
        with open(tmp_path / 'pipe', 'wb', buffering=0) as pipe:
            for byte in path.read_bytes():
                pipe.write(bytes([byte]))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(write)
        assert rows_of(read(tmp_path / 'pipe', HYPOTHESIS)) == ROWS


def test_name_that_is_not_utf8(tmp_path):
    """Such a name must be printable in results and messages."""
    path = os.fsencode(tmp_path) + b'/r\xff\n.txt'
    Path(os.fsdecode(path)).write_text(TEXT)
    with open(os.fsdecode(path)) as file:
        for origin in os.fsdecode(path), file:
            table = read(origin, HYPOTHESIS)
            assert rows_of(table) == ROWS
            assert table.source.name == f'{tmp_path}/r\\xff\n.txt'
    with pytest.raises(FormatError) as caught:
        read(os.fsdecode(path), SUBSET)
    assert str(caught.value).startswith(f'{tmp_path}/r\\xff\\n.txt, line 1: found 5 fields')


@pytest.mark.parametrize('content', [b'PAR1\x15\x04', b'PAR1 v 1 ann 0.5', b'PAR1'])
def test_parquet_is_known_by_its_first_bytes(tmp_path, content):
    kind = InputKind.COLUMNAR if b'\x15' in content else InputKind.TEXT
    path = tmp_path / 'run.txt'
    path.write_bytes(content)
    assert TableInput.of(path).kind is kind
    with open(path, 'rb') as file:
        assert TableInput.of(file).kind is kind
        assert file.read() == content
        assert TableInput.of(file).kind is InputKind.TEXT  # it stands at its end
    assert TableInput.of(file).kind is InputKind.TEXT  # and is closed
    with open(path) as text:
        assert TableInput.of(text).kind is InputKind.TEXT


def test_a_short_line_is_there_at_once(monkeypatch):
    """Detecting compression must not wait for bytes after the first line."""
    reading, writing = os.pipe()
    with open(reading, 'rb') as pipe, open(writing, 'wb', buffering=0) as end:
        monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(pipe))
        lines = lines_of_standard_input()
        end.write(b'B\n')
        assert next(lines) == (1, b'B')
        end.write(b'Zh91AY&SY\nx')
        assert next(lines) == (2, b'Zh91AY&SY')
        end.close()
        assert list(lines) == [(3, b'x')]


def test_stream_without_data_yet():
    """A non-blocking stream without data is an error, not the end of the table."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with (
        open(writing, 'wb'),
        open(reading, 'rb', buffering=0) as pipe,
        pytest.raises(ReadError, match='no data yet'),
    ):
        read(pipe, HYPOTHESIS)


def test_numbers_of_every_type():
    numbers = [1, np.float32(0.5), np.int64(2), Fraction(1, 4)]
    rows = [('a', 'b', str(i), 'd', number) for i, number in enumerate(numbers)]
    assert read(rows, HYPOTHESIS).confidence.tolist() == [1.0, 0.5, 2.0, 0.25]
    integers = pyarrow.table([*[['a']] * 4, [7]], names=FIELDS)
    assert read(integers, HYPOTHESIS).confidence.tolist() == [7.0]
    encoded = pyarrow.array([0.5, 0.25, 0.5]).dictionary_encode()
    repeated = pyarrow.table([*[['a', 'b', 'c']] * 4, encoded], names=FIELDS)
    assert read(repeated, HYPOTHESIS).confidence.tolist() == [0.5, 0.25, 0.5]


CSV_FIELDS = ['confidence', 'person_name', 'note', 'shot_id', 'corpus_id', 'video_id']


def csv_of(rows, fields=CSV_FIELDS):
    """CSV with its columns in another order, one more of them, and a name in quotes."""
    cells = [dict(zip(FIELDS, row, strict=True), note='"a, b"') for row in rows]
    lines = [','.join(str(row[field]) for field in fields) for row in cells]
    return '\n'.join([','.join(fields), *lines, ''])


CSV_ROWS = [row for row in ROWS if '"' not in row[3]]


@pytest.mark.parametrize('layout', [HYPOTHESIS, REFERENCE, SUBSET])
def test_csv_is_read_by_its_header(layout, tmp_path):
    path = tmp_path / 'file'
    fields = [name for name in CSV_FIELDS if name != 'confidence' or layout is HYPOTHESIS]
    path.write_bytes(gzip.compress(csv_of(CSV_ROWS, fields).encode()))
    columns = [FIELDS.index(field) for field in layout.fields]
    expected = [tuple(row[column] for column in columns) for row in CSV_ROWS]
    for origin in (path, io.BytesIO(path.read_bytes())):
        table = read(origin, layout)
        assert rows_of(table) == expected
        assert [table.place(row) for row in (0, 2)] == ['line 2', 'line 4']
    assert read(path, layout).source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ('old', 'new', 'error'),
    [
        ('0.5', 'high', "line 2, confidence: found 'high', expected a finite decimal number"),
        ('000010', '', "line 2, shot_id: found '' (str), expected non-empty text"),
        (',INA,F2\n', ',INA\n', 'line 2: found 5 fields in'),
        ('0.1,', '<<<<<<< HEAD\n0.1,', 'keep one of the two versions'),
    ],
)
def test_csv_with_a_wrong_row_names_its_line(old, new, error, tmp_path):
    path = tmp_path / 'run.csv'
    path.write_text(csv_of(CSV_ROWS).replace(old, new, 1))
    with pytest.raises(FormatError) as caught:
        read(path, HYPOTHESIS)
    assert error in str(caught.value)


def test_a_run_in_csv_may_be_cut_in_its_last_number(tmp_path):
    path = tmp_path / 'run.csv'
    path.write_text(csv_of(CSV_ROWS, [*FIELDS[:4], 'note', 'confidence'])[:-1])
    with pytest.warns(DataWarning, match='no line end after line 4: is its confidence whole'):
        assert len(read(path, HYPOTHESIS)) == 3
    path.write_text(csv_of(CSV_ROWS)[:-1])  # the confidence is the first column
    read(path, HYPOTHESIS)


@pytest.mark.parametrize('values', [pyarrow.array([0.5]), pyarrow.array([1, 0])])
def test_numbers_whose_codes_are_beyond_their_dictionary(values):
    """As a damaged Parquet file may have them."""
    codes = pyarrow.array([0, 7], pyarrow.int32())
    damaged = pyarrow.DictionaryArray.from_arrays(codes, values, safe=False)
    table = pyarrow.table([*zip(*(row[:4] for row in ROWS[:2]), strict=True), damaged], FIELDS)
    with pytest.raises(FormatError, match='confidence: found a damaged column, expected numbers'):
        read(table, HYPOTHESIS)
