"""A store of a subset is scored with this subset alone."""

import warnings

import pytest
import strategies
from hypothesis import assume, given
from stores import stored

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import FormatError

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'w', '1', 'ann'), ('y', 'v', '1', 'ann')]
ROWS = [(*row, 0.5) for row in REFERENCE]


@pytest.mark.parametrize(
    ('indexed', 'scored', 'message'),
    [
        (
            [('x', 'v')],
            None,
            "found the videos of '<rows>', expected none; score with the same --subset, or index "
            'the run without it',
        ),
        (None, [('x', 'v')], "found none, expected the videos of '<rows>'; index the run with "),
        (
            [('x', 'v')],
            [('x', 'v'), ('x', 'w')],
            "found the videos of '<rows>', expected the videos of '<rows>'; index the run with ",
        ),
    ],
)
def test_another_subset_is_refused(tmp_path, indexed, scored, message):
    store = stored(ROWS, tmp_path / 'run.store', indexed)
    average_precision = AveragePrecision(REFERENCE, [10], subset=scored)
    remedy = '' if scored is None else '--subset'
    for ask in 'evaluate', '__call__', 'live', 'explain':
        with pytest.raises(FormatError) as caught:
            getattr(average_precision, ask)(store)
        assert str(caught.value) == f'{store.path}, subset: {message}{remedy}'


def test_equal_subsets_of_other_rows_agree(tmp_path):
    """Videos in another order, and one of them twice."""
    store = stored(ROWS, tmp_path / 'run.store', [('x', 'v'), ('y', 'v')])
    subset = [('y', 'v'), ('x', 'v'), ('y', 'v')]
    average_precision = AveragePrecision(REFERENCE, [10], subset=subset)
    assert average_precision.evaluate(store).map.tolist() == [1.0]


@given(strategies.hypothesis_rows, strategies.subsets, strategies.subsets)
def test_only_equal_subsets_agree(tmp_path_factory, rows, indexed, scored):
    reference = [*REFERENCE, *((*video, '1', 'bob') for video in sorted(scored or []))]
    assume(indexed != scored)
    store = stored(rows, tmp_path_factory.mktemp('store') / 's', indexed and sorted(indexed))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        average_precision = AveragePrecision(reference, subset=scored and sorted(scored))
    with pytest.raises(FormatError, match=', subset: found '):
        average_precision.evaluate(store)
