"""Files read part by part hold the rows, and raise the errors, of files that are read at once."""

import gzip

import line_files
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from mediaeval_ap.errors import Error
from mediaeval_ap.tables import HYPOTHESIS, read, reading
from mediaeval_ap.tables.reading import ChangedError, Position, TableParts
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.text import format

START = Position()
RIGHT = b'x v 1 ann 0.5\n'


@pytest.fixture(scope='module')
def small_parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(format, 'BLOCK_BYTES', 24)
        patch.setattr(reading, 'PART_BYTES', 40)
        yield


def rows_of(path, begin=START):
    found = TableParts(ByteSource(str(path)), HYPOTHESIS, begin)
    return [row for table, _ in found for row in table.rows()], found.source


def outcome(function, *arguments):
    """What a function returns, or the error that it raises."""
    try:
        return function(*arguments)
    except Error as error:
        return type(error), str(error)


def at_once(path):
    table = read(str(path), HYPOTHESIS)
    return list(table.rows()), table.source


texts = st.lists(
    st.integers(0, 9).map(RIGHT.__mul__) | line_files.files(HYPOTHESIS), max_size=4
).map(b''.join)


@given(texts)
def test_text_in_parts_is_text_at_once(small_parts, tmp_path_factory, data):
    path = tmp_path_factory.mktemp('parts') / 'run.txt'
    path.write_bytes(data)
    assert outcome(rows_of, path) == outcome(at_once, path)


def test_an_endless_line_is_named(small_parts, tmp_path, monkeypatch):
    monkeypatch.setattr(format, 'MAX_LINE_BYTES', 100_000)
    path = tmp_path / 'run.txt'
    for before in (RIGHT * 9, RIGHT + b'wrong\n' + RIGHT * 9):
        path.write_bytes(before + b'a' * 300_000 + b'\n' + RIGHT)
        found = outcome(rows_of, path)
        assert found == outcome(at_once, path)
        number = len(before.splitlines()) + 1
        assert f'line {number}: found more than' in found[1]


@given(st.data())
def test_reading_begins_behind_any_part(small_parts, tmp_path_factory, data):
    path = tmp_path_factory.mktemp('parts') / 'run'
    if data.draw(st.booleans()):
        mark = data.draw(st.sampled_from([b'', b'\xef\xbb\xbf', b'\n']))
        lines = st.sampled_from([RIGHT, b'\n', b'y  v 1 ann 1\r\n', b'\xef\xbb\xbfx v 1 bob 1\n'])
        text = b''.join(data.draw(st.lists(lines, max_size=30)))
        is_packed = data.draw(st.booleans())
        path.write_bytes((gzip.compress if is_packed else bytes)(mark + RIGHT + text))
    else:
        write_parquet(path, data.draw(st.integers(1, 40)), data.draw(st.integers(1, 20)))
    rows, source = at_once(path)
    found = []
    for table, position in TableParts(ByteSource(str(path)), HYPOTHESIS):
        found += table.rows()
        if position is not None:
            assert position.n_rows == len(found)
            rest = outcome(rows_of, path, position)
            assert rest == (rows[len(found) :], source)
    assert found == rows


def write_parquet(path, n_rows, group, **changed):
    """Write rows of which some texts and numbers repeat."""
    columns = {
        'corpus_id': ['x'] * n_rows,
        'video_id': [f'v{row % 3}' for row in range(n_rows)],
        'shot_id': [str(row) for row in range(n_rows)],
        'person_name': [f'näme {row % 5}' for row in range(n_rows)],
        'confidence': [row / 8 for row in range(n_rows)],
        **changed,
    }
    parquet.write_table(pa.table(columns), path, row_group_size=group)


@pytest.mark.parametrize(
    'changed',
    [
        {'person_name': ['a', 'b', None, 'c', None, 'd']},
        {'confidence': [0.0, 1.0, float('nan'), 2.0, float('inf'), 3.0]},
        {'video_id': [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
    ],
)
def test_errors_of_parquet_count_all_rows(tmp_path, changed):
    path = tmp_path / 'run.parquet'
    write_parquet(path, 6, 2, **changed)
    found = outcome(rows_of, path)
    assert found == outcome(at_once, path)
    assert issubclass(found[0], Error)


@pytest.mark.parametrize('new', [b'y v 1 ann 0.5\n' * 20, RIGHT])
def test_text_that_begins_otherwise_is_refused(small_parts, tmp_path, new):
    path = tmp_path / 'run.txt'
    path.write_bytes(RIGHT * 20)
    _, (_, position), *_ = TableParts(ByteSource(str(path)), HYPOTHESIS)
    path.write_bytes(new)
    with pytest.raises(ChangedError, match=r'run.txt: begins otherwise than when it was read'):
        rows_of(path, position)


def test_parquet_that_was_changed_is_refused(tmp_path):
    path = tmp_path / 'run.parquet'
    write_parquet(path, 20, 5)
    (_, position), *_ = TableParts(ByteSource(str(path)), HYPOTHESIS)
    write_parquet(path, 21, 5)
    with pytest.raises(ChangedError, match=r'begins otherwise'):
        rows_of(path, position)
