"""Hostile Parquet and CSV."""

import tempfile
from functools import cache
from pathlib import Path

import pyarrow
from pyarrow import parquet

from hostile.entries import (
    ANN,
    BOB,
    BOM,
    EMPTY,
    FINITE,
    LIMITED,
    MIB,
    A,
    Entry,
    holding,
    refused,
    right,
)

ROWS = (ANN, BOB)
FIELDS = ('corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence')


def table(**columns):
    """The two hypotheses with some columns as they should not be."""
    rows = dict(zip(FIELDS, map(list, zip(*ROWS, strict=True)), strict=True))
    return pyarrow.table({**rows, **columns})


def storing(content, **options):
    return lambda path: parquet.write_table(content, path, **options)


def stored(name, content, error=None):
    """A run in Parquet: refused, or the two hypotheses."""
    outcome = {'value': 1.0, 'rows': ROWS} if error is None else {'error': f'{{path}}{error}'}
    return Entry(f'{name}.parquet', storing(content), **outcome)


def cut(path):
    parquet.write_table(table(), path)
    path.write_bytes(path.read_bytes()[:-9])


def not_utf8():
    named = pyarrow.array([b'ann', b'b\xffb'])
    return pyarrow.Array.from_buffers(pyarrow.string(), 2, named.buffers())


def once(make):
    """Return a writer that makes a file once, as that takes a while, then repeats its bytes."""

    @cache
    def content():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'made')
            make(path)
            return path.read_bytes()

    return lambda path: path.write_bytes(content())


def repeated(value, n_times):
    """A column that holds a value once, and its number in each row."""
    numbers = pyarrow.repeat(pyarrow.scalar(0, pyarrow.int32()), n_times)
    return pyarrow.DictionaryArray.from_arrays(numbers, pyarrow.array([value]))


def bomb(name, column, n_rows, **options):
    """Rows with a long name that `column` turns into gigabytes."""

    def make(path):
        content = table()[:1].take([0] * n_rows).set_column(3, 'person_name', column())
        storing(content, compression='zstd', store_schema=False, **options)(path)

    return Entry(f'{name}.parquet', once(make), LIMITED, is_limited=True)


LISTS = pyarrow.array([['ann'], ['bob']])
PARQUET = [
    stored('categories', table(person_name=pyarrow.array(['ann', 'bob']).dictionary_encode())),
    stored('more', table(lists=LISTS)),
    stored(
        *('bytes', table(person_name=[b'ann', b'bob'])),
        ', person_name: found a column of binary, expected text or integers',
    ),
    stored(
        *('lists', table(person_name=LISTS)),
        ', person_name: found a column of list, expected one value in each row',
    ),
    stored(
        *('not-utf-8', table(person_name=not_utf8())),
        ', row 2, person_name: found invalid UTF-8 at byte 2 (0xff), expected UTF-8',
    ),
    Entry('text.parquet', holding(A), value=0.5, rows=(ANN,)),
    refused('nothing.parquet', b'', EMPTY),
    Entry(
        *('cut.parquet', cut),
        error='{path}: not readable as Parquet: Parquet magic bytes not found '
        'in footer. Either the file is corrupted or this is not a parquet file.',
    ),
    bomb('long-name', lambda: pyarrow.repeat('x' * (16 * MIB), 1), 1, use_dictionary=False),
    bomb('bomb', lambda: repeated('x' * (10 * MIB), 1000), 1000),
    bomb(  # values that share their beginning
        *('prefixes', lambda: pyarrow.repeat('x' * MIB, 100), 100),
        use_dictionary=False,
        column_encoding={'person_name': 'DELTA_BYTE_ARRAY'},
    ),
]


def csv(role, name, content, value):
    return right(role, f'{name}.csv', content, value)


def no_csv(role, name, content, error):
    return refused(f'{name}.csv', content, error, role)


LABELS = b'customer_id,prediction\n'
SURE = b'id,landmarks\n'
ONE = 'expected a label and its finite confidence, or nothing'
NO_CONFIDENCE = f'{ONE}; name a column of confidences by --columns confidence=…, in Python columns='
UTF16 = b'\xff\xfe' + SURE.decode().encode('utf-16-le')

CSV = [
    # In lists: a label at rank 1 is worth 1, at rank 2 a half.
    csv('map', 'windows', BOM + (LABELS + b'1,a\n2,b\n').replace(b'\n', b'\r\n'), 1.0),
    csv('map', 'formulas', LABELS + b'1,=1+1 a\n2,"@SUM(1,1) b"\n', 0.5),
    csv('map', 'dde', LABELS + b"1,=cmd|'/C calc'!A0 a\n2,-b\n", 1 / 6),
    csv('map', 'quotes', LABELS + b'"1","""a"" a"\n2,b\n', 0.75),
    csv('map', 'nan', LABELS + b'1,nan a\n2,\n', 0.25),
    csv('map', 'long', LABELS + b'1,' + b'x' * 10_000_000 + b' a\n2,b\n', 0.75),
    no_csv(
        *('map', 'spaces', LABELS + b'1,a\n 2,b\n'),  # an id with a space is another
        ", line 3, customer_id: found ' 2', which {truth} lacks, "
        "expected an id of the truth; leave others out by --unknown drop, in Python unknown='drop'",
    ),
    no_csv(
        *('gap', 'utf-16', UTF16),
        ', line 1: found invalid UTF-8 at byte 1 (0xff), expected UTF-8; '
        'these bytes look like UTF-16: save the file as UTF-8 (1 more wrong line)',
    ),
    no_csv(
        *('gap', 'nan-confidence', SURE + b'1,a nan\n2,b 0.8\n'),
        f", line 2, landmarks: found 'a nan', {ONE}",
    ),
    no_csv(
        *('gap', 'escapes', SURE + b'1,\x1b[2J\n2,b 0.8\n'),
        f", line 2, landmarks: found '\\x1b[2J', {NO_CONFIDENCE}",
    ),
    # Right at confidence 1e-400, which is 0, before a wrong one below: 1/1 for one of two queries.
    csv('gap', 'tiny', SURE + b'1,a 1e-400\n2,a -1\n', 0.5),
    no_csv(
        *('lrap', 'class', b'fname,"\x1b[2J\n",a,b\n1,x,1,1\n'),
        f", line 3, \\x1b[2J\\n: found 'x', {FINITE}",
    ),
    no_csv(
        *('lrap', 'long-class', b'fname,a,b,' + b'c' * 10_000_000 + b'\n1,1,1,x\n'),
        f", line 2, {'c' * 60}…: found 'x', {FINITE}",
    ),
]

TABLES = [*PARQUET, *CSV]
