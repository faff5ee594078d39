"""Hostile Parquet and CSV."""

import tempfile
from functools import cache
from pathlib import Path

import pyarrow
from pyarrow import parquet

from hostile.containers import MIB, limited
from hostile.entries import ANN, BOB, EMPTY, FINITE, FIVE, A, Entry, holding, refused

ROWS = (ANN, BOB)
FIELDS = ('corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence')
MILLION = 1_000_000


def table(**columns):
    """The two hypotheses with some columns as they should not be."""
    right = dict(zip(FIELDS, map(list, zip(*ROWS, strict=True)), strict=True))
    return pyarrow.table({**right, **columns})


def storing(content, **options):
    return lambda path: parquet.write_table(content, path, **options)


def stored(name, why, content, error=None, **options):
    """A run in Parquet: refused, or the two hypotheses."""
    outcome = {'value': 1.0, 'rows': ROWS} if error is None else {'error': f'{{path}}{error}'}
    return Entry(f'{name}.parquet', why, storing(content, **options), **outcome)


def damaged(change):
    """What stores the two hypotheses, and changes the bytes."""

    def make(path):
        parquet.write_table(table(), path)
        path.write_bytes(change(path.read_bytes()))

    return make


def not_utf8():
    named = pyarrow.array([b'ann', b'b\xffb'])
    return pyarrow.Array.from_buffers(pyarrow.string(), 2, named.buffers())


def once(make):
    """What makes a file, which takes a while, and from then on writes the same few bytes."""

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


def bomb(value, **options):
    """A thousand rows of one long name: 10 GB, were it written out."""

    def make(path):
        if 'column_encoding' in options:
            column = pyarrow.chunked_array([pyarrow.repeat(value, 100)] * 10)
        else:
            column = repeated(value, 1000)
        content = table()[:1].take([0] * 1000).set_column(3, 'person_name', column)
        storing(content, compression='zstd', store_schema=False, **options)(path)

    return once(make)


LISTS = pyarrow.array([['ann'], ['bob']])
PARQUET = [
    stored('run', 'nothing is wrong', table()),
    stored(
        'categories',
        'names by their number',
        table(person_name=pyarrow.array(['ann', 'bob']).dictionary_encode()),
    ),
    stored('more', 'columns that nobody asked for', table(lists=LISTS)),
    stored(
        'shots',
        'shots are numbers',
        table(shot_id=[1, 2]),
        ', shot_id: found a column of int64, expected text; '
        'read them as text (dtype=str), so that leading zeros stay',
    ),
    stored(
        'bytes',
        'names are bytes',
        table(person_name=[b'ann', b'bob']),
        ', person_name: found a column of binary, expected text',
    ),
    stored(
        'lists',
        'names are lists',
        table(person_name=LISTS),
        ', person_name: found a column of list, expected one value in each row',
    ),
    stored(
        'texts',
        'confidences are text',
        table(confidence=['0.9', '0.8']),
        ', confidence: found a column of string, expected numbers',
    ),
    stored(
        'truths',
        'confidences are yes and no',
        table(confidence=[True, False]),
        ', confidence: found a column of bool, expected numbers',
    ),
    stored(
        'nan',
        'a confidence is nan',
        table(confidence=[0.9, float('nan')]),
        f', row 2, confidence: found nan, {FINITE}',
    ),
    stored(
        'null',
        'a name is missing',
        table(person_name=['ann', None]),
        ', row 2, person_name: found nothing, expected a value',
    ),
    stored(
        'empty',
        'a name is empty',
        table(person_name=['', 'bob']),
        ", row 1, person_name: found '', expected non-empty text on one line, "
        'without spaces around it',
    ),
    stored(
        'line-end',
        'a name is two lines',
        table(person_name=['ann', 'b\nob']),
        ", row 2, person_name: found 'b\\nob', expected non-empty text on one line, "
        'without spaces around it',
    ),
    stored(
        'not-utf-8',
        'a name is no text',
        table(person_name=not_utf8()),
        ', row 2, person_name: found invalid UTF-8 at byte 2 (0xff), expected UTF-8',
    ),
    stored(
        'large',
        'an integer that no double holds',
        table(confidence=[2**53 + 1, 1]),
        ', confidence: found integers beyond 2**53, expected a finite number that a double can '
        'hold',
    ),
    stored(
        'lacking',
        'a column is missing',
        table().drop_columns('confidence'),
        ", confidence: found columns 'corpus_id, video_id, shot_id, person_name', "
        'expected one column confidence',
    ),
    stored(
        'no-rows',
        'columns of nothing',
        table()[:0],
        f': found no rows, {FIVE.replace("expected", "expected at least one of")}',
    ),
    Entry('text.parquet', 'lines', holding(A), value=0.5, rows=(ANN,)),
    refused('nothing.parquet', 'no byte', b'', EMPTY.removeprefix('{path}')),
    Entry(
        'cut.parquet',
        'a download that broke',
        damaged(lambda content: content[:-9]),
        error='{path}: not readable as Parquet: Parquet magic bytes not found '
        'in footer. Either the file is corrupted or this is not a parquet file.',
    ),
    Entry(
        'bomb.parquet',
        'one value for many rows',
        bomb('x' * (10 * MIB)),
        error=limited('decompresses to'),
        max_bytes=MILLION,
    ),
    Entry(
        'prefixes.parquet',
        'values that share their beginning',
        bomb('x' * MIB, use_dictionary=False, column_encoding={'person_name': 'DELTA_BYTE_ARRAY'}),
        error=limited('decompresses to'),
        max_bytes=MILLION,
    ),
]


def csv(role, name, why, content, error=None, value=None):
    outcome = {'value': value} if error is None else {'error': f'{{path}}{error}'}
    return Entry(f'{name}.csv', why, holding(content), role=role, **outcome)


LABELS = b'customer_id,prediction\n'
SURE = b'id,landmarks\n'
SCORES = b'fname,a,b\n1,.9,.1\n2,.1,.9\n'
OTHER_SPACES = {
    'vertical-tab': '\v',
    'form-feed': '\f',
    'file-separator': '\x1c',
    'next-line': '\x85',
    'no-break-space': '\u00a0',
    'line-separator': '\u2028',
    'ideographic-space': '\u3000',
}
WHITE_SPACE = {'space': ' ', 'tab': '\t', 'line-feed': '\n', 'cr-lf': '\r\n'}
EXACT = 'expected a finite number that a double can hold'
ONE = 'expected a label and its finite confidence, or nothing'
NO_CONFIDENCE = f'{ONE}; a column of confidences by --columns confidence=…, in Python columns='

CSV = [
    # In lists: a label at rank 1 is worth 1, at rank 2 a half.
    csv('map', 'plain', 'nothing is wrong', LABELS + b'1,a\n2,b\n', value=1.0),
    csv(
        'map',
        'bom-crlf',
        'as spreadsheets write',
        b'\xef\xbb\xbf' + LABELS.replace(b'\n', b'\r\n') + b'1,a\r\n2,b\r\n',
        value=1.0,
    ),
    csv(
        'map',
        'formulas',
        'cells that a spreadsheet would run',
        LABELS + b'1,=1+1 a\n2,"@SUM(1,1) b"\n',
        value=0.5,
    ),
    csv(
        'map', 'dde', 'a command in a cell', LABELS + b"1,=cmd|'/C calc'!A0 a\n2,-b\n", value=1 / 6
    ),
    csv('map', 'quotes', 'quotes within quotes', LABELS + b'"1","""a"" a"\n2,b\n', value=0.75),
    csv(
        'map',
        'nan',
        'nan is a label, and nothing is nothing',
        LABELS + b'1,nan a\n2,\n',
        value=0.25,
    ),
    csv(
        'map',
        'long',
        'a field of 10 MB',
        LABELS + b'1,' + b'x' * 10_000_000 + b' a\n2,b\n',
        value=0.75,
    ),
    csv(
        'map',
        'open-quote',
        'a quote that nothing closes',
        LABELS + b'1,"a\n2,b\n',
        ', line 2: found unexpected end of data, expected CSV',
    ),
    csv(
        'map',
        'three',
        'three fields',
        LABELS + b'1,a\n2,b,c\n',
        ", line 3: found 3 fields in '2,b,c', expected 2 fields as in the header",
    ),
    csv(
        'map',
        'tabs',
        'tabs in place of commas',
        LABELS.replace(b',', b'\t') + b'1\ta\n',
        ", line 1: found one column 'customer_id\\tprediction', expected commas between columns, "
        'or tabs if the name of the file ends in .tsv',
    ),
    csv(
        'map',
        'twice',
        'an id is repeated',
        LABELS + b'1,a\n1,b\n',
        ", line 3, customer_id: found '1' again, as in line 2, expected each id once",
    ),
    csv(
        'map',
        'spaces',
        'an id with a space is another',
        LABELS + b'1,a\n 2,b\n',
        ", line 3, customer_id: found ' 2', which {truth} lacks, "
        "expected an id of the truth; leave others out by --unknown drop, in Python unknown='drop'",
    ),
    csv(
        'gap',
        'nul',
        'a NUL',
        SURE + b'1,a 0.9\n2,b\0 0.8\n',
        ', line 3: found a NUL byte at byte 4, expected text',
    ),
    csv(
        'gap',
        'latin-1',
        'text of another encoding',
        SURE + 'é,a 0.9\n'.encode('latin-1'),
        ', line 2: found invalid UTF-8 at byte 1 (0xe9), expected UTF-8',
    ),
    csv(
        'gap',
        'utf-16',
        'and of another',
        b'\xff\xfe' + SURE.decode().encode('utf-16-le'),
        ', line 1: found invalid UTF-8 at byte 1 (0xff), expected UTF-8; '
        'these are bytes as in UTF-16: save the file as UTF-8 (1 more wrong line)',
    ),
    csv('gap', 'empty', 'nothing', b'', ': found nothing, expected a header: id,landmarks'),
    csv(
        'gap',
        'header',
        'a header of nothing',
        SURE,
        ': found no rows, expected at least one of id,landmarks',
    ),
    csv(
        'gap',
        'no-confidence',
        'a label alone',
        SURE + b'1,a 0.9\n2,b\n',
        f", line 3, landmarks: found 'b', {NO_CONFIDENCE}",
    ),
    csv(
        'gap',
        'nan-confidence',
        'no number',
        SURE + b'1,a nan\n2,b 0.8\n',
        f", line 2, landmarks: found 'a nan', {ONE}",
    ),
    csv(
        'gap',
        'overflow',
        'a number beyond doubles',
        SURE + b'1,a 1e400\n2,b 0.8\n',
        f", line 2, landmarks: found 'a 1e400', {ONE}",
    ),
    csv(
        'gap',
        'escapes',
        'what a terminal obeys',
        SURE + b'1,\x1b[2J\n2,b 0.8\n',
        f", line 2, landmarks: found '\\x1b[2J', {NO_CONFIDENCE}",
    ),
    # Right at confidence 1e-400, which is 0, before a wrong one below: 1/1 for one of two queries.
    csv(
        'gap',
        'tiny',
        'a confidence that is 0 as a double',
        SURE + b'1,a 1e-400\n2,a -1\n',
        value=0.5,
    ),
    csv('lrap', 'scores', 'nothing is wrong', SCORES, value=1.0),
    csv(
        'lrap',
        'nan-score',
        'no number',
        SCORES.replace(b'.9\n', b'nan\n'),
        f", line 3, b: found 'nan', {FINITE}",
    ),
    csv(
        'lrap',
        'huge-score',
        'a number beyond doubles',
        SCORES.replace(b'2,.1', b'2,1e999'),
        f", line 3, a: found '1e999', {FINITE}",
    ),
    csv(
        'lrap',
        'rounded-score',
        'integers that are one double',
        SCORES.replace(b'.9,.1', b'9007199254740993,9007199254740992'),
        f", line 2, a: found '9007199254740993', {EXACT}",
    ),
    csv(
        'lrap',
        'large-scores',
        'integers and other numbers that are doubles',
        SCORES.replace(b'.9,.1', b'9007199254740994,-1e300'),
        value=1.0,
    ),
    csv(
        'gap',
        'rounded-confidence',
        'an integer that no double holds',
        SURE + b'1,a 9007199254740992\n2,b +9007199254740993\n',
        ", line 3, landmarks: found 'b +9007199254740993', expected a label and a finite number "
        'that a double can hold',
    ),
    csv(
        'gap',
        'large-confidence',
        'integers that are doubles',
        SURE + b'1,x 9007199254740992\n2,b 9007199254740994\n',
        value=0.5,
    ),
    csv(
        'lrap',
        'class',
        'a class of escapes and lines',
        b'fname,"\x1b[2J\n",a,b\n1,x,1,1\n',
        f", line 3, \\x1b[2J\\n: found 'x', {FINITE}",
    ),
    csv(
        'lrap',
        'long-class',
        'a class of 10 MB',
        b'fname,a,b,' + b'c' * 10_000_000 + b'\n1,1,1,x\n',
        f", line 2, {'c' * 60}…: found 'x', {FINITE}",
    ),
    csv(
        'lrap',
        'classes',
        'a class twice',
        b'fname,a,a\n1,1,1\n',
        ", line 1: found column 'a' twice in 'fname,a,a', expected each column once",
    ),
]

# User 1 is right if "a" is a label of its own, and user 2 is: so 1 for white space, else a half.
SPACES = [
    csv('map', name, f'a {name} {why}', LABELS + f'1,"a{space}c"\n2,b\n'.encode(), value=value)
    for spaces, value, why in (
        (WHITE_SPACE, 1.0, 'stands between labels'),
        (OTHER_SPACES, 0.5, 'is part of a label'),
    )
    for name, space in spaces.items()
]
SPACES += [
    csv(
        'gap',
        name,
        f'a {name} does not end a label',
        SURE + f'1,a{space}0.9\n2,b 0.8\n'.encode(),
        f', line 2, landmarks: found {f"a{space}0.9"!r}, {NO_CONFIDENCE}',
    )
    for name, space in OTHER_SPACES.items()
]

TABLES = [*PARQUET, *CSV, *SPACES]
