"""Matrices from every kind of container: exact, or refused."""

import numpy as np
import oracle
import pandas
import polars
import pyarrow
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import LabelRankingAveragePrecision, label_ranking_average_precision


@pytest.mark.parametrize(
    'y_true',
    [
        [[True, False], [False, True]],
        [[True, 0], [0, True]],
        np.array([[True, False], [False, True]], dtype=object),
        pandas.DataFrame([[True, False], [False, True]], dtype='boolean'),
        pyarrow.array([[True, False], [False, True]]),
    ],
)
def test_booleans_count_as_0_and_1(y_true):
    metric = LabelRankingAveragePrecision()
    assert metric.update(y_true, [[0.2, 0.1], [0.2, 0.1]]).tolist() == [1, 0.5]


# Of neighbours among these one is no double; numpy makes floats of integers beside floats, and of
# those of 64 bits with a sign beside those without.
INTEGERS = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1, 2**63, 2**64 - 1, 0, 3]
NUMBERS = [*INTEGERS, 2**64, 10**400, 0.5, 2.0**53, 2.0**63, -1e300]


def is_double(number):
    """Whether it is one, as far as integers have types of 64 bits."""
    return abs(number) < 2**63 and float(number) == number


def exactly(numbers, kind=None):
    """An array of the same numbers: what is rounded before is not asked about."""
    try:
        array = np.array(numbers, kind)
    except OverflowError:
        assume(False)
    assume(array.tolist() == list(numbers))
    return array


def columns_of(rows, integers):
    """Columns of one type each."""
    for values in zip(*rows, strict=True):
        yield exactly(values, integers if all(isinstance(each, int) for each in values) else float)


DOORS = {
    'lists': lambda rows: rows,
    'numpy scalars': lambda rows: [[np.asarray(value)[()] for value in row] for row in rows],
    'arrays': lambda rows: list(map(exactly, rows)),
    'frame': lambda rows: pandas.DataFrame(dict(enumerate(columns_of(rows, np.int64)))),
    'unsigned': lambda rows: pandas.DataFrame(dict(enumerate(columns_of(rows, np.uint64)))),
    'polars': lambda rows: polars.DataFrame(list(columns_of(rows, np.int64))),
    'pyarrow': lambda rows: pyarrow.table(list(columns_of(rows, np.int64)), ['a', 'b', 'c']),
}


@pytest.mark.parametrize('door', DOORS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 3).map(list), min_size=1, max_size=3))
def test_scores_are_ordered_as_they_are_or_refused(door, rows):
    """Python compares integers and floats exactly, and so does the oracle."""
    y_true, scores = [[1, 0, 1]] * len(rows), DOORS[door](rows)
    expected = oracle.label_ranking_average_precision(y_true, rows, [1] * len(rows))
    try:
        value = label_ranking_average_precision(y_true, scores)
    except ParameterError:
        assert not all(is_double(number) for row in rows for number in row)
    else:
        assert value == pytest.approx(float(expected), **CLOSE)


def test_integers_that_floats_beside_them_would_round():
    """Rounding would turn two different scores into a tie, and change the ranks."""
    with pytest.raises(ParameterError) as caught:
        label_ranking_average_precision([[0, 1, 0]], [[2**53, 2**53 + 1, 0.5]])
    assert str(caught.value) == (
        'y_score: found 9007199254740993 beside numbers of other types, expected a finite number '
        'that a double can hold'
    )


@pytest.mark.parametrize(
    ('lists', 'found'),
    [
        ([[1, 2], [3]], 'rows of different lengths'),
        ([[1, 2], None], 'a missing list'),
        ([[1, None]], 'a missing number'),
        ([['a']], '2 dimensions of object'),
    ],
)
def test_lists_of_pyarrow_that_are_no_rows_are_refused(lists, found):
    with pytest.raises(ParameterError, match=f'^y_score: found {found}, expected'):
        label_ranking_average_precision([[1, 0]], pyarrow.array(lists))
