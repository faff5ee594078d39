"""White space is the same for all readers: spaces, tabs, and line ends where a field holds them."""

import csv
import io

import oracle
import pandas
import pyarrow
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle import CLOSE
from pyarrow import parquet

from mediaeval_ap import challenges
from mediaeval_ap.challenges.task import split_labels
from mediaeval_ap.choices import is_text
from mediaeval_ap.errors import FormatError, UndefinedScoreError
from mediaeval_ap.tables import QUERIES, columnar, read
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import read_records

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

# All that Python, C, a regular expression or Unicode takes for white space, and what it is between.
SPACES = ' \t\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000'
pieces = st.lists(st.sampled_from([*SPACES, '\r\n', 'a', 'b', 'ab', '0.5', '1e-3']), max_size=6)
fields = pieces.map(''.join)


@given(st.lists(st.text(f'{SPACES}\rab'), max_size=5), st.integers(0, 5), st.integers(0, 5))
def test_words(texts, begin, end):
    """Of a slice, too; a CR that ends no line is part of a word."""
    array = pyarrow.array(texts, pyarrow.large_string())[begin:end]
    assert split_labels(array).to_pylist() == [oracle.words(text) for text in texts[begin:end]]


@given(st.lists(st.text('ab\v\f\r')), st.integers(0, 3), st.integers(1, 3))
def test_whether_texts_hold_a_character(texts, begin, block):
    array = pyarrow.array(texts, pyarrow.large_string())[begin:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar, 'SEARCHED_BYTES', block)
        for wanted in ('\v', '\v\f', 'ba'):
            held = set(wanted) & set(''.join(texts[begin:]))
            assert columnar.holds_any(array, wanted) == bool(held)


def stored(header, rows, door):
    """Rows as CSV, as a frame, or as Parquet."""
    if door == 'frame':
        return pandas.DataFrame(rows, columns=header, dtype=object)
    columns = [pyarrow.array(values, pyarrow.string()) for values in zip(*rows, strict=True)]
    if door == 'arrow':
        return pyarrow.table(columns, header)
    file = io.StringIO(newline='')
    quoting = csv.QUOTE_ALL if any('\r' in field for row in rows for field in row) else 0
    csv.writer(file, lineterminator='\n', quoting=quoting).writerows([header, *rows])
    return io.BytesIO(file.getvalue().encode())


doors = st.sampled_from(['csv', 'frame', 'arrow'])


@given(st.lists(st.tuples(fields, fields), min_size=1, max_size=4), doors)
@example([('a\vb', 'a\vb')], 'csv')
def test_lists_of_labels(rows, door):
    header = ['customer_id', 'prediction']
    truth, predictions = ([(str(i), row[side]) for i, row in enumerate(rows)] for side in (0, 1))
    both = [(oracle.words(true), oracle.words(predicted)) for true, predicted in rows]
    values = [oracle.average_precision_of_labels(*row, 12, 'kaggle') for row in both if row[0]]

    def evaluate():
        return challenges.evaluate_map(
            stored(header, truth, door), stored(header, predictions, door)
        ).value

    if not values:
        with pytest.raises(UndefinedScoreError):
            evaluate()
        return
    assert evaluate() == pytest.approx(float(sum(values) / len(values)), **CLOSE)


@given(st.text(f'{SPACES}ab', min_size=1))
def test_names_in_lines(name):
    """What is between words in a field is between fields in a line, and not around a name."""
    assume('\n' not in name)
    words = oracle.words(name)
    line = io.BytesIO(f'{name}\n'.encode())
    is_trimmed = bool(words) and name.startswith(words[0]) and name.endswith(words[-1])
    assert is_text(name) == is_trimmed
    if len(words) == 1:
        assert read(line, QUERIES).texts('person_name') == words
    else:
        with pytest.raises(FormatError):
            read(line, QUERIES)


@pytest.mark.parametrize('text', ['a\0b', 'a\rb', 'a b\r', 'a\r\r\n', '\r', '\ufeffb'])
@pytest.mark.parametrize('door', ['csv', 'frame', 'arrow', 'parquet'])
def test_what_no_file_of_lines_holds(text, door, tmp_path):
    """Where pandas was told of other line ends, a CR stays at the last label of each row."""
    header, rows = ['customer_id', 'prediction'], [('1', 'a'), ('2', text)]
    origin = stored(header, rows, 'arrow' if door == 'parquet' else door)
    if door == 'parquet':
        parquet.write_table(origin, tmp_path / 'lists.parquet')
        origin = tmp_path / 'lists.parquet'
    with pytest.raises(FormatError) as caught:
        read_records(origin, [RecordLayout(tuple(header))])
    if door != 'csv':
        assert str(caught.value).endswith(
            f'row 2, prediction: found {text!r}, expected text without NUL and U+FEFF, and with CR '
            'only before LF'
        )
