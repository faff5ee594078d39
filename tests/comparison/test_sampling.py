"""Sums over units, intervals and p: against SciPy, enumeration and exact fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle_comparison as oracle
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from mediaeval_ap.comparison import sampling
from mediaeval_ap.comparison.sampling import (
    Interval,
    bootstrap_intervals,
    enumerated,
    plus2_interval,
    sign_flips,
    t_interval,
    tukey,
    units_of,
)

VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=40)


@given(VALUES, st.data())
def test_sums_over_clusters_are_those_of_rounded_values(values, data):
    drawn = [data.draw(st.integers(0, 3)) for _ in values]
    clusters = np.unique(drawn, return_inverse=True)[1]
    units = units_of(np.array([values]), clusters)
    step = Fraction(2) ** -units.exponent
    for cluster, total in enumerate(units.sums[:, 0].tolist()):
        members = [Fraction(v) for v, c in zip(values, clusters, strict=True) if c == cluster]
        assert units.sizes[cluster] == len(members)
        assert abs(Fraction(total) * step - sum(members)) <= step / 2 * len(members)


@given(VALUES, st.integers(1, 40))
@example([1.0] * 40, 40)
def test_twice_the_difference_of_the_largest_sums_is_exact(values, size):
    units = units_of(np.array([values]), np.arange(len(values)) // size)
    largest = np.abs(units.sums).max() * len(units.sizes)
    assert 4 * largest <= 2**53


# Values are rounded to steps below 1e-12 once.
STEP = 1e-12
PAIR = np.array([0]), np.array([1])
PAIRS = np.array([0, 0, 1]), np.array([1, 2, 2])


def bounds(interval):
    return [interval.low, interval.high]


def intervals(values, clusters=None, level=0.95, resamples=2000, seed=1):
    values = np.asarray(values, dtype=float)
    clusters = np.arange(values.shape[1]) if clusters is None else np.array(clusters)
    pairs = PAIRS if len(values) == 3 else PAIR
    return bootstrap_intervals(units_of(values, clusters), pairs, level, resamples, seed)


@pytest.mark.parametrize(('n', 'level', 'at_once'), [(25, 0.95, 25 * 7), (300, 0.9, 1 << 22)])
def test_runs_and_differences_are_those_of_scipy(monkeypatch, n, level, at_once):
    """Of eighths, so that sums are exact in SciPy's call, too; in several batches, or in one."""
    monkeypatch.setattr(sampling, 'DRAWN_AT_ONCE', at_once)
    values = np.random.default_rng(2).integers(0, 9, (3, n)) / 8
    found = intervals(values, level=level)
    plain = [*values, *(values[a] - values[b] for a, b in zip(*PAIRS, strict=True))]
    for interval, each in zip([*found.runs, *found.pairs], plain, strict=True):
        expected = stats.bootstrap(
            (each,), np.mean, n_resamples=2000, confidence_level=level, rng=np.random.default_rng(1)
        ).confidence_interval
        assert bounds(interval) == pytest.approx(list(expected), abs=STEP)


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
    assert bounds(found) == pytest.approx(list(expected), abs=STEP)


def test_what_has_no_interval_says_why():
    values = np.random.default_rng(7).random(40)
    found = intervals([values, values])
    assert found.runs[0] == found.runs[1]
    assert found.pairs[0] == Interval(None, None, 'all resamples have one mean')
    found = intervals([[0.5, 0.25], [0, 1]], clusters=[0, 0])
    assert [each.reason for each in [*found.runs, *found.pairs]] == ['one cluster of queries'] * 3
    # The seed draws two resamples, both with a mean above that of the values.
    found = intervals([[0, 0, 1], [0, 0, 0]], resamples=2, seed=4).runs[0]
    reason = 'BCa is not defined: all resamples are on one side of the mean'
    assert found == Interval(None, None, reason)
    for sums, sizes, reason in (
        ([0.5], [1], 'one query'),
        ([0.5, 1], [1, 2], 'all units have one mean'),
    ):
        found = t_interval(np.array(sums), np.array(sizes, dtype=float), 0.95)
        assert found == Interval(None, None, reason)


CLOSE = {'rel': 1e-12, 'abs': 1e-14}  # some sums, a root and a quotient of doubles
EIGHTHS = st.integers(-24, 24).map(lambda number: number / 8)  # beyond 1, too
CLUSTERS = st.lists(st.tuples(EIGHTHS, st.integers(1, 4)), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ('interval_of', 'appended'), [(t_interval, lambda *units: units), (plus2_interval, None)]
)
@given(CLUSTERS, st.sampled_from([0.5, 0.95, 0.99]))
def test_clusters_are_those_of_the_oracle(interval_of, appended, clusters, level):
    sums, sizes = zip(*clusters, strict=True)
    found = interval_of(np.array(sums), np.array(sizes, dtype=float), level)
    sums, sizes = (appended or oracle.with_plus2)(sums, sizes)
    if len({Fraction(total) / size for total, size in zip(sums, sizes, strict=True)}) == 1:
        assert (found.low, found.high) == (None, None)
        assert found.reason
        return
    mean, variance = oracle.ratio(sums, sizes)
    half = stats.t.ppf((1 + level) / 2, len(sums) - 1) * float(variance) ** 0.5
    assert bounds(found) == pytest.approx([float(mean) - half, float(mean) + half], **CLOSE)


FRACTIONS = st.fractions(0, 1, max_denominator=12)


def flipped(a, b, permutations=1000, seed=0):
    units = units_of(np.array([a, b], dtype=float), np.arange(len(a)))
    p, n_nonzero = sign_flips(units, PAIR, permutations, seed)
    return p[0], n_nonzero[0]


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=9))
def test_few_differences_are_enumerated(pairs):
    a, b = zip(*pairs, strict=True)
    differences = oracle.differences(a, b)
    p, n_nonzero = flipped(a, b)
    assert Fraction(p) == oracle.sign_flip_p(differences)
    assert n_nonzero == sum(each != 0 for each in differences)


# Tenths, of which 1 + 2 + 7 and 3 + 7 give the same difference but for rounding.
TENTHS = [
    [[Fraction(max(0, sign * each), 10) for each in tenths] for sign in (1, -1)]
    for tenths in ((1, 2, -3, 7), (-1, -2, 3, 7))
]


@pytest.mark.parametrize(('a', 'b'), TENTHS)
def test_sums_that_rounding_alone_tells_apart_are_equal(a, b):
    assert flipped(a, b)[0] == oracle.sign_flip_p(oracle.differences(a, b))


def test_no_pattern_is_less_extreme_than_a_sum_of_zero():
    """36 differences are drawn, and rounding makes some steps of their sum."""
    a, b = [0.1, 0.2, 0] * 12, [0, 0, 0.3] * 12
    assert flipped(a, b)[0] == flipped(b, a)[0] == 1


def test_drawn_p_tends_to_the_exact_one():
    """21 differences are drawn; 2**21 patterns are counted by the function that is exact."""
    differences = np.random.default_rng(6).integers(-9, 20, 21).astype(float)
    differences[differences == 0] = 1
    p, _ = flipped(np.maximum(differences, 0) / 32, np.maximum(-differences, 0) / 32, 50_000)
    exact = enumerated(differences, 0)
    # A share of n draws: five deviations are exceeded once in a million times.
    assert abs(p - exact) < 5 * np.sqrt(exact * (1 - exact) / 50_000) + 1 / 50_001
    assert flipped(np.ones(60), np.zeros(60), 999)[0] == 1 / 1000  # that of one in all draws


TINY = [
    [[1, 0, 1], [0, 1, 0], [0.5, 0, 0]],
    [[0.5, 0.25, 1, 0], [0.25, 0.25, 0, 0], [0, 0.25, 0.5, 0]],
    [[0.75, 0.5, 1, 0.25], [0.75, 0.5, 1, 0.25]],
    *TENTHS,
]


@pytest.mark.parametrize('runs', TINY)
def test_p_is_the_share_of_all_permutations(runs):
    units = units_of(np.array(runs, dtype=float), np.arange(len(runs[0])))
    pairs = list(combinations(range(len(runs)), 2))
    n = 20_000
    (p,) = tukey([units], tuple(np.array(pairs).T), n, 0)
    for pair, found in zip(pairs, p, strict=True):
        exact = float(oracle.tukey_p(runs)[pair])
        assert abs(found - exact) <= 5 * np.sqrt(exact * (1 - exact) / n) + 1 / (n + 1)


def test_metrics_are_families_of_their_own():
    """The permutations are those of all metrics, and the largest difference is of each."""
    values = np.random.default_rng(1).integers(0, 9, (3, 12, 2)) / 8
    units = [units_of(values[:, :, metric], np.arange(12)) for metric in range(2)]
    together, exchanged = tukey(units, PAIRS, 2000, 0), tukey(units[::-1], PAIRS, 2000, 0)
    assert together.tolist() == exchanged[::-1].tolist()
    equal = units_of(np.ones((2, 4)), np.arange(4))
    assert tukey([equal], PAIR, 100, 0).tolist() == [[1.0]]
