"""CSV with a header: the format, its errors, and that both ways of reading it agree."""

import csv
import gzip
import io

import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.tables import Provenance
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import read_records
from mediaeval_ap.tables.text import csv_text

TEXT = RecordLayout(('id', 'b'))
NUMBERS = RecordLayout(('id',), other_numbers=True)
SCORES = RecordLayout((), other_numbers=True)
POSITIONS = RecordLayout(('column 2', 'column 1'), has_header=False)


def parse(content, *layouts, delimiter=','):
    return csv_text.parse_csv(content, layouts or [TEXT], 'file.csv', delimiter)


def message(content, *layouts):
    with pytest.raises(FormatError) as caught:
        parse(content, *layouts)
    return str(caught.value)


@pytest.mark.parametrize(
    ('content', 'rows', 'lines'),
    [
        (b'id,b\n1,x\n2,y\n', [('1', 'x'), ('2', 'y')], None),
        (b'\xef\xbb\xbfid,b\r\n1,x\r\n2,y\r\n', [('1', 'x'), ('2', 'y')], None),
        (b'b,more,id\nx,?,1\n', [('1', 'x')], None),
        (b'id,b\n001,nan\nNA,\n', [('001', 'nan'), ('NA', '')], None),
        (b'id,b\n\n1,x\n\n\n2,y\n', [('1', 'x'), ('2', 'y')], [3, 6]),
        (b'\n\nid,b\n1,x\n', [('1', 'x')], [4]),
        (b'id,b\r\n1,"x\r\ny"\r\n', [('1', 'x\r\ny')], [2]),
        (b'id,b\n1,"x, y"\n2,"a ""b"""\n', [('1', 'x, y'), ('2', 'a "b"')], [2, 3]),
        (b' id ,\t b\n1, x \n', [('1', ' x ')], None),
        (b'" b", more ,"id "\nx,?,"1"\n', [('1', 'x')], [2]),
        ('id,b\n\xa0,é\u2028\n'.encode(), [('\xa0', 'é\u2028')], None),
    ],
)
def test_text(content, rows, lines):
    _, columns, found = parse(content)
    assert [(row['id'], row['b']) for row in columns.to_pylist()] == rows
    assert (found.numbers is None) == (lines is None)
    assert found.array(len(rows)).tolist() == (lines or list(range(2, len(rows) + 2)))


@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        (b'', 'file.csv: found nothing, expected a header: id,b'),
        (b'id,b\n', 'file.csv: found no rows, expected at least one row of id,b'),
        (b'id,c\n1,2\n', "file.csv, line 1: found no column b in 'id,c', expected id,b"),
        (
            b'id;b\n1;2\n',
            "line 1: found one column 'id;b', expected commas between columns, or tabs",
        ),
        (b'id,b,id\n1,2,3\n', "line 1: found column 'id' twice in 'id,b,id', expected each"),
        (
            b'id,b\n1,x\n2\n3,y,z\n',
            "line 3: found 1 field in '2', expected 2 fields as in the header (1 more wrong line)",
        ),
        (b'id,b\n1,"x"y\n', "line 2: found ',' expected after '\"', expected CSV"),
        (b'id,b\n1,y\n2,"x', 'line 3: found unexpected end of data, expected CSV'),
        (b'id,b\n1,\xff\n', 'line 2: found invalid UTF-8 at byte 3 (0xff), expected UTF-8'),
        (b'id,b\n1,x\ry\n', 'line 2: found a carriage return at byte 4, expected text'),
    ],
)
def test_errors(content, expected):
    assert expected in message(content)


def test_errors_of_layouts():
    other = RecordLayout(('id', 'c'))
    assert parse(b'id,b,c\n1,2,3\n', other, TEXT)[0] == other
    assert parse(b'id,b\n1,2\n', other, TEXT)[0] == TEXT
    assert 'expected id,c or id,b' in message(b'id\n1\n', other, TEXT)
    assert message(b'\n', POSITIONS) == 'file.csv: found nothing, expected rows: column 2,column 1'
    assert 'found no column of numbers in' in message(b'id\na\n', NUMBERS)
    assert "found column 'x' twice in 'id,x,x'" in message(b'id,x,x\na,1,2\n', NUMBERS)


@pytest.mark.parametrize(
    ('content', 'rows', 'lines'),
    [
        (b'1,x,?\n2,y,?\n', [('x', '1'), ('y', '2')], [1, 2]),
        (b'\xef\xbb\xbf1,x\r\n2,y', [('x', '1'), ('y', '2')], [1, 2]),
        (b'\n1,"x"\n\n2,y\n', [('x', '1'), ('y', '2')], [2, 4]),
    ],
)
def test_columns_by_position(content, rows, lines):
    _, columns, found = parse(content, POSITIONS)
    assert [(row['column 2'], row['column 1']) for row in columns.to_pylist()] == rows
    assert found.array(len(rows)).tolist() == lines


def test_numbers():
    _, columns, _ = parse(b'x,id,"y, z"\n1,a, -2.5e3\n+.5,b,007 \n', NUMBERS)
    assert columns.to_pylist() == [
        {'x': 1.0, 'id': 'a', 'y, z': -2500.0},
        {'x': 0.5, 'id': 'b', 'y, z': 7.0},
    ]


@pytest.mark.parametrize('value', ['nan', 'inf', '-inf', '1e400', '0x10', '1_0', '', ' ', 'x', '١'])
def test_what_are_no_numbers(value):
    text = message(f'id,x\na,1\nb,{value}\nc,{value}\n'.encode(), NUMBERS)
    assert text == (
        f'file.csv, line 3, x: found {value!r}, expected a finite decimal number '
        '(1 more wrong line)'
    )


pieces = st.sampled_from(
    ['id', 'b', ',', '\n', '\r\n', '\r', '"', '""', ' ', '1', '.5', '1e400', 'nan', 'é', '\t', '\0']
)


@given(
    st.lists(pieces, max_size=14).map(''.join),
    st.booleans(),
    st.sampled_from([TEXT, NUMBERS, POSITIONS]),
    st.sampled_from(',\t'),
)
def test_both_ways_agree(body, header, layout, delimiter):
    """Rows, lines and errors do not depend on the reader: pyarrow's or the strict one."""
    content = ((f'id{delimiter}b\n' if header else '') + body).encode()
    fast = outcome(content, layout, delimiter)
    assert fast == outcome_of_strict_reader(content, layout, delimiter)


def outcome(content, layout, delimiter):
    try:
        _, columns, lines = parse(content, layout, delimiter=delimiter)
    except FormatError as error:
        return str(error)
    return columns.to_pylist(), lines.array(len(columns)).tolist()


def outcome_of_strict_reader(content, layout, delimiter):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, '_prove_csv', lambda *_: None)
        return outcome(content, layout, delimiter)


def test_the_fast_way_is_taken(monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr(csv_text, '_read_or_explain', never)
    assert len(parse('id,b\né,2\n3,4\n'.encode())[1]) == 2
    assert len(parse(b'id,x\r\na,2\r\nb,4\r\n', NUMBERS)[1]) == 2
    assert len(parse(b'id\tb\na\tx, y\nb\t\n', delimiter='\t')[1]) == 2
    assert len(parse(b'a,2\nb,4', POSITIONS)[1]) == 2
    with pytest.raises(AssertionError):
        parse(b'id,b\n1,"2"\n')


ROWS = pandas.DataFrame({'id': ['1', '2'], 'b': ['x', None], 'more': [1, 2]})


def test_sources(tmp_path):
    plain, zipped, table = (tmp_path / f'file.{end}' for end in ('csv', 'csv.gz', 'parquet'))
    ROWS.to_csv(plain, index=False)
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    ROWS.to_parquet(table)
    encoded = pyarrow.table({'id': pyarrow.array(['1', '2']).dictionary_encode(), 'b': ['x', '']})
    for origin, place in (
        (plain, 'line 3'),
        (zipped, 'line 3'),
        (io.StringIO(plain.read_text()), 'line 3'),
        (io.BytesIO(plain.read_bytes()), 'line 3'),
        (table, 'row 2'),
        (ROWS, 'row 2'),
        (encoded, 'row 2'),
        (read_records(plain, [TEXT]), 'line 3'),
    ):
        records = read_records(origin, [TEXT])
        assert records['id'].to_pylist() == ['1', '2']
        assert records['b'].to_pylist() == ['x', '']
        assert (len(records), records.place(1)) == (2, place)
    assert read_records(zipped, [TEXT]).source.name == str(zipped)
    assert len(read_records(zipped, [TEXT]).source.sha256) == 64
    assert read_records(ROWS, [TEXT]).source == Provenance('<DataFrame>')


@pytest.mark.parametrize(
    ('frame', 'expected'),
    [
        ({'id': [1.0], 'b': ['x']}, '<DataFrame>, id: found a column of floats, expected text or'),
        ({'id': [2**63], 'b': ['x']}, '<DataFrame>, id: found .*, expected one kind'),
        ({'id': ['1', 2], 'b': ['x', 'y']}, '<DataFrame>, id: found .*, expected one kind'),
        ({'id': ['\ud800'], 'b': ['x']}, '<DataFrame>, id: found .*, expected one kind'),
        ({'id': ['1']}, "<DataFrame>: found no column b in 'id', expected id,b"),
        ({'id': [], 'b': []}, '<DataFrame>: found no rows, expected at least one row of id,b'),
    ],
)
def test_frames_that_are_wrong(frame, expected):
    with pytest.raises(FormatError, match=f'^{expected}'):
        read_records(pandas.DataFrame(frame, dtype=object), [TEXT])


@pytest.mark.parametrize('origin', [5, [('1', 'x')], b'id,b\n1,2\n', None])
def test_what_is_no_file(origin):
    with pytest.raises(ParameterError, match='expected a path, an open file or a table'):
        read_records(origin, [TEXT])


SCORED = {
    'csv': lambda rows: text_of(rows, '{}'),
    'quoted': lambda rows: text_of(rows, '"{}"'),
    'objects': lambda rows: pandas.DataFrame(rows, columns=['a', 'b'], dtype=object),
}


def text_of(rows, field):
    lines = [['a', 'b'], *rows]
    return io.StringIO(''.join(','.join(map(field.format, line)) + '\n' for line in lines))


@pytest.mark.parametrize('door', SCORED)
def test_scores_that_doubles_would_round(door):
    """A score is read exactly or refused; a double would round 2**53 + 1."""
    with pytest.raises(FormatError, match=r'\bb: found .*(9007199254740993|beyond 2\*\*53)'):
        read_records(SCORED[door]([[2**53, 2**53 + 1], [0.5, 0.25]]), [SCORES])
    read = read_records(SCORED[door]([[1, 2]]), [SCORES])
    assert read.columns.to_pylist() == [{'a': 1.0, 'b': 2.0}]


def test_fields_of_any_size():
    """The csv module refuses long fields by default; its global limit must stay as it was."""
    limit = csv.field_size_limit()
    _, columns, _ = parse(b'id,b\n"1",' + b'x' * (limit + 1))
    assert len(columns['b'][0].as_py()) == limit + 1
    assert csv.field_size_limit() == limit
