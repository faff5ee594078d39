"""Bounds over all orders of ties, against every order tried."""

from fractions import Fraction

import numpy as np
import oracle_ties
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import definitions
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.diagnosis.ties import put_together, tie_bounds, tied_hits
from tests.strategies import examples

# Sums of a few dozen quotients, and probabilities from logarithms, are some units in the last place
# away from the exact fraction.
CLOSE = {'rel': 1e-12, 'abs': 1e-14}
NAMES = definitions.names()
shots = st.integers(0, 4)
rankings = st.lists(st.lists(shots, min_size=1, max_size=5), min_size=1, max_size=3)
relevant_shots = st.sets(shots, max_size=4)
names = st.sampled_from(NAMES)


def bounds_of(rankings, relevant, n_relevant, k, definition, n_returned=None):
    """Bounds of several rankings, which return as many hypotheses, and have the same truth."""
    definition = definitions.get(definition)
    hits = []
    for blocks in rankings:
        order = np.array([shot for block in blocks for shot in block])
        starts = np.cumsum([0, *map(len, blocks)])[:-1]
        marked = np.flatnonzero(np.isin(order, list(relevant)))
        hits.append(tied_hits(order, starts, marked, definition.repeats))
        is_drop = definition.repeats is Repeats.DROP
        n_here = len(set(order.tolist())) if is_drop else len(order)
    depths = definitions.depths([k])
    n_relevant = np.full(len(rankings), n_relevant)
    (bounds,) = tie_bounds(put_together(hits), n_relevant, n_returned or n_here, depths, definition)
    return bounds


def values_of(bounds, ranking):
    return [each[ranking] for each in (bounds.minimum, bounds.expected, bounds.maximum)]


@examples(4)
@given(rankings, relevant_shots, st.integers(0, 2), st.integers(1, 9) | st.just('all'), names)
def test_every_order(blocks, relevant, n_missing, k, definition):
    assume(k != 'all' or definition != 'by-k')
    assume(sum(map(len, blocks)) <= 8)
    n_relevant = len(relevant) + n_missing
    expected = oracle_ties.tie_bounds(blocks, relevant, n_relevant, k, definition)
    bounds = bounds_of([blocks], relevant, n_relevant, k, definition)
    found = values_of(bounds, 0)
    if 0 in bounds.unknown:
        again = [block for block in blocks if block.count(bounds.unknown[0]) > 1]
        assert again
        assert definition in ('trec', 'hits')
        assert np.isnan(found[1])
        found[1] = expected[1]
    assert found == pytest.approx([float(each) for each in expected], **CLOSE)


@examples(1)
@given(st.lists(rankings, min_size=2, max_size=4), relevant_shots, st.integers(1, 9), names)
def test_rankings_together_are_as_alone(several, relevant, k, definition):
    n_hypotheses = max(sum(map(len, blocks)) for blocks in several)
    filler = [[[9]] * (n_hypotheses - sum(map(len, blocks))) for blocks in several]
    several = [blocks + more for blocks, more in zip(several, filler, strict=True)]
    n_shots = {len({shot for block in blocks for shot in block}) for blocks in several}
    assume(definition != 'trec' or len(n_shots) == 1)  # as of one run
    together = bounds_of(several, relevant, 3, k, definition)
    for number, blocks in enumerate(several):
        alone = bounds_of([blocks], relevant, 3, k, definition)
        for one, other in zip(values_of(alone, 0), values_of(together, number), strict=True):
            assert one == other or (np.isnan(one) and np.isnan(other))


@examples(1)
@given(rankings, relevant_shots, st.integers(1, 6), names)
def test_what_follows_the_block_at_the_cutoff_is_not_needed(blocks, relevant, k, definition):
    is_drop = definition == 'trec'
    reached = [blocks[: n + 1] for n in range(len(blocks))]
    returned = [[shot for block in each for shot in block] for each in reached]
    ranks = [len(set(each) if is_drop else each) for each in returned]
    enough = next((each for each, n_ranks in zip(reached, ranks, strict=True) if n_ranks >= k), 0)
    assume(enough)
    n_returned = ranks[-1]
    whole, cut = (
        bounds_of([each], relevant, 3, k, definition, n_returned) for each in (blocks, enough)
    )
    assert values_of(whole, 0) == pytest.approx(values_of(cut, 0), nan_ok=True, **CLOSE)


@pytest.mark.parametrize(
    ('definition', 'blocks', 'k', 'unknown'),
    [
        ('trec', [[1, 1, 2]], 2, 1),
        ('trec', [[1, 1, 2, 2]], 2, None),  # each equally often: as if once
        ('trec', [[1, 1], [1, 2, 3]], 2, None),  # 1 is dropped from the second block
        ('trec', [[3, 4], [1, 1, 2]], 2, None),  # below the cutoff
        ('hits', [[1, 1, 2]], 2, 1),
        ('hits', [[1, 1, 2]], 3, None),  # the number of hits above the cutoff is the same in all
        ('hits', [[1, 2, 2]], 2, None),  # 2 is not relevant
        ('kaggle', [[1, 1, 2]], 2, None),
    ],
)
def test_the_mean_is_refused_by_the_shot_that_is_returned_again(definition, blocks, k, unknown):
    bounds = bounds_of([blocks], {1}, 1, k, definition)
    assert bounds.unknown == ({} if unknown is None else {0: unknown})
    assert np.isnan(bounds.expected[0]) == (unknown is not None)


def test_large_block_at_the_cutoff():
    # Of 4,000 tied hypotheses 40 are hits, and 100 are above the cutoff: by symmetry each of these
    # is a hit in 1 % of the orders, and each other one beside a hit in 39 of 3,999.
    blocks = [list(range(4000))]
    bounds = bounds_of([blocks], set(range(40)), 40, 100, 'kaggle')
    terms = [Fraction(1, 100) * (1 + Fraction(39 * i, 3999)) / (i + 1) for i in range(100)]
    expected = sum(terms) / 40
    assert values_of(bounds, 0) == pytest.approx([0, float(expected), 1], **CLOSE)
