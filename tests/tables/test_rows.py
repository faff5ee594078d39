"""Arrays of text are rows, and ids that became numbers are told of."""

from dataclasses import replace

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision
from mediaeval_ap.choices import is_text
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, read
from mediaeval_ap.tables.rows import from_rows

RUN = [('x', 'v', '01', 'ann', 0.5), ('x', 'v', '02', 'bob', -1e-7)]


@pytest.mark.parametrize('dtype', [str, object, np.dtypes.StringDType()])
def test_arrays_hold_rows(dtype):
    array = np.array([[*map(str, row)] for row in RUN], dtype=dtype)
    for each in array, np.array(RUN, dtype=object):
        table = read(each, HYPOTHESIS)
        assert list(table.rows()) == RUN
        assert table.source.name == '<hypothesis>'
    average_precision = AveragePrecision(np.array([row[:4] for row in RUN]), 10)
    assert len(average_precision.live(array)) == 2


@pytest.mark.parametrize('text', ['nan', '0,5', ' 0.5', ''])
def test_text_of_numbers_is_as_in_files(text):
    array = np.array([[*RUN[0][:4], '0.5'], [*RUN[0][:4], text]], dtype=object)
    with pytest.raises(FormatError, match=r'^<hypothesis>, row 2, confidence: .*decimal number$'):
        read(array, HYPOTHESIS)


@pytest.mark.parametrize(
    ('array', 'message'),
    [
        (np.array([row[:4] for row in RUN]), 'found 4 columns, expected 5 fields'),
        (np.zeros((0, 5)), 'found no rows'),
        (np.zeros((1, 5)), r'row 1, corpus_id: found 0\.0 \(float\), .* \(dtype=str\)'),
        (np.array([['x', 'v', None, 'ann', '1']]), r'row 1, shot_id: found None \(NoneType\)'),
    ],
)
def test_arrays_that_are_no_table(array, message):
    with pytest.raises(FormatError, match=message):
        read(array, HYPOTHESIS)


@pytest.mark.parametrize('array', [np.array('x'), np.zeros((1, 1, 5))])
def test_arrays_of_other_dimensions(array):
    with pytest.raises(ParameterError, match=r'\(ndarray\), expected a path'):
        read(array, HYPOTHESIS)


def test_ids_that_became_numbers():
    """Integers in typed columns become digits; in tuples they may have lost leading zeros."""
    columns = dict(zip(HYPOTHESIS.fields, (['x'], ['v'], [10], ['ann'], [0.5]), strict=True))
    floats = {**columns, 'shot_id': [10.0]}
    for holder in pandas.DataFrame, pyarrow.table:
        table = read(holder(columns), HYPOTHESIS)
        assert (table.texts('shot_id'), table.integers) == (['10'], {'shot_id'})
    rows = [[('x', 'v', shot, 'ann', 0.5)] for shot in (10, np.int64(10), 10.0)]
    for wrong in *rows, pandas.DataFrame(floats), pyarrow.table(floats):
        with pytest.raises(FormatError, match=r'shot_id: .*; read them as text \(dtype=str\), so'):
            read(wrong, HYPOTHESIS)


@pytest.mark.parametrize('kind', [object, 'string'])
def test_confidences_that_were_read_as_text_with_the_ids(kind):
    """As the remedy for ids does it to all columns; its own remedy is right."""
    frame = pandas.DataFrame([('x', 'v', '01', 'ann', '0.5')], columns=HYPOTHESIS.fields)
    frame = frame.astype(kind)
    rows = list(frame.itertuples(index=False, name=None))
    for table in frame, pyarrow.Table.from_pandas(frame), rows:
        with pytest.raises(FormatError, match=r'confidence: .*; dtype=str .* by \.astype\(float\)'):
            read(table, HYPOTHESIS)
    assert read(frame.astype({'confidence': float}), HYPOTHESIS).texts('shot_id') == ['01']


@given(
    st.lists(
        st.text(st.sampled_from('ab é\t\n\r\0\x0b\x1c\x7f\x85\xa0\u2028\ud800'), max_size=3),
        min_size=1,
    )
)
@example(['a b', 'é'])
@example(['a', ''])
def test_a_column_is_read_if_each_of_its_values_is_text(values):
    for layout in QUERIES, replace(QUERIES, unnumbered='person_name'):
        if all(map(is_text, values)):
            assert from_rows(values, layout, '<queries>').texts('person_name') == values
        else:
            with pytest.raises(FormatError):
                from_rows(values, layout, '<queries>')
