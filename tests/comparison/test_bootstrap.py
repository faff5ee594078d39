"""BCa intervals, against SciPy's own call on plain values, and where there is none."""

import numpy as np
import pytest
from scipy import stats

from mediaeval_ap.comparison import sampling
from mediaeval_ap.comparison.sampling import Interval, bootstrap_intervals, units_of

# Values are rounded to steps below 1e-12 once (tests/comparison/test_units.py).
STEP = 1e-12
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])


def intervals(values, clusters=None, level=0.95, resamples=2000, seed=1):
    values = np.asarray(values, dtype=float)
    clusters = np.arange(values.shape[1]) if clusters is None else np.array(clusters)
    pairs = PAIRS if len(values) == 3 else (np.array([0]), np.array([1]))
    return bootstrap_intervals(units_of(values, clusters), pairs, level, resamples, seed)


@pytest.fixture(params=[(25, 0.95), (300, 0.9)])
def sample(request):
    """(values of three runs, level); eighths, so that sums are exact in SciPy's call, too."""
    n, level = request.param
    return np.random.default_rng(2).integers(0, 9, (3, n)) / 8, level


def test_runs_and_differences_are_those_of_scipy(sample):
    values, level = sample
    found = intervals(values, level=level)
    plain = [*values, *(values[a] - values[b] for a, b in zip(*PAIRS, strict=True))]
    for interval, each in zip([*found.runs, *found.pairs], plain, strict=True):
        expected = stats.bootstrap(
            (each,),
            np.mean,
            n_resamples=2000,
            confidence_level=level,
            rng=np.random.default_rng(1),
        ).confidence_interval
        assert interval.low == pytest.approx(expected.low, abs=STEP)
        assert interval.high == pytest.approx(expected.high, abs=STEP)


def test_clusters_are_those_of_scipy():
    """A mean over the queries of the clusters drawn: a ratio of two sums."""
    generator = np.random.default_rng(3)
    values, clusters = generator.integers(0, 9, (2, 60)) / 8, generator.integers(0, 20, 60)
    clusters = np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(clusters).astype(float)
    sums = np.bincount(clusters, values[0])
    expected = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=2000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = intervals(values, clusters).runs[0]
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], abs=STEP)


def test_batches_change_nothing(monkeypatch):
    values = np.random.default_rng(4).random((3, 30))
    at_once = intervals(values)
    monkeypatch.setattr('mediaeval_ap.comparison.sampling.DRAWN_AT_ONCE', 30 * 7)
    assert intervals(values) == at_once


def test_equal_runs_have_equal_intervals():
    values = np.random.default_rng(7).random(40)
    found = intervals([values, values])
    assert found.runs[0] == found.runs[1]
    assert found.pairs[0] == Interval(None, None, 'all resamples have one mean')


def test_one_query_has_no_interval_but_a_reason():
    found = intervals([[0.5], [0.25]])
    assert [each.reason for each in [*found.runs, *found.pairs]] == ['one query'] * 3


def test_one_cluster_has_no_interval_but_a_reason():
    found = intervals([[0.5, 0.25], [0, 1]], clusters=[0, 0])
    assert [each.reason for each in [*found.runs, *found.pairs]] == ['one cluster of queries'] * 3


def test_what_bca_is_not_defined_for_has_a_reason():
    """Two resamples, both with a mean above that of the values."""
    drawn = np.random.default_rng(4).integers(0, 3, (2, 3))  # fixed: two such resamples
    values = np.array([0, 0, 1])
    assert values[drawn].mean(axis=1).min() > values.mean()
    found = intervals([values, [0, 0, 0]], resamples=2, seed=4).runs[0]
    assert (found.low, found.high) == (None, None)
    assert found.reason == 'BCa is not defined: all resamples are on one side of the mean'


def test_no_unit_is_left_out_by_a_resample(monkeypatch):
    """Time grows with the units, not with their square."""
    n_drawn = []
    counted = sampling._times_drawn
    monkeypatch.setattr(
        sampling,
        '_times_drawn',
        lambda drawn, n_units: n_drawn.append(len(drawn)) or counted(drawn, n_units),
    )
    intervals(np.random.default_rng(8).random((2, 500)), resamples=50)
    assert sum(n_drawn) == 50
