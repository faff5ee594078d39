"""Bounds over all orders of ties, against every order tried."""

from fractions import Fraction
from itertools import chain, groupby, permutations, product

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import REPEATS

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.diagnosis import ties
from mediaeval_ap.diagnosis.ties import join_rankings, tie_bounds, tied_hits
from tests.strategies import corpora, examples, reference_rows, videos
from tests.strategies import names as run_names
from tests.strategies import shots as shots_of_runs

# Sums of a few dozen quotients, and probabilities from logarithms, are some units in the last place
# away from the exact fraction.
CLOSE = {'rel': 1e-12, 'abs': 1e-14}
NAMES = definitions.names()
shots = st.integers(0, 4)
rankings = st.lists(st.lists(shots, min_size=1, max_size=5), min_size=1, max_size=3)
few_fields = corpora, videos, shots_of_runs, run_names, st.sampled_from([0.5, 0.5, 0.25])
relevant_shots = st.sets(shots, max_size=4)
names = st.sampled_from(NAMES)


def bounds_of(blocks, relevant, n_relevant, k, definition, n_returned=None):
    """The bounds of a ranking behind another one, and the reason that one is not known."""
    definition = definitions.get(definition)
    hits = []
    for each in [[0, 9], [1]], blocks:
        order = np.array([shot for block in each for shot in block])
        starts = np.cumsum([0, *map(len, each)])[:-1]
        marked = np.flatnonzero(np.isin(order, list(relevant)))
        hits.append(tied_hits(order, starts, marked, definition.repeats))
    n_ranks = len({*order.tolist()}) if definition.repeats is Repeats.DROP else len(order)
    numbers = np.full(2, n_relevant), n_returned or n_ranks, definitions.depths([k])
    (bounds,) = tie_bounds(join_rankings(hits), *numbers, definition, str)
    values = [float(each[1]) for each in (bounds.minimum, bounds.expected, bounds.maximum)]
    return values, bounds.reasons.get(1)


def orders(blocks):
    """Every order of every block of ties, as flat rankings."""
    for order in product(*map(permutations, blocks)):
        yield list(chain(*order))


def expected_bounds(blocks, relevant, repeats, average_precision):
    """The least, the mean and the greatest over every order, in exact fractions."""
    marks = {(shot,) for shot in relevant}
    values = [
        average_precision(oracle.relevance([(shot,) for shot in order], marks, repeats))
        for order in orders(blocks)
    ]
    return [min(values), sum(values) / Fraction(len(values)), max(values)]


def registered_bounds(blocks, relevant, n_relevant, k, name):
    def average_precision(hits):
        return oracle.average_precision(hits, n_relevant, k, name)

    return expected_bounds(blocks, relevant, REPEATS[name], average_precision)


@examples(4)
@given(rankings, relevant_shots, st.integers(0, 2), st.integers(1, 9) | st.just('all'), names)
def test_every_order(blocks, relevant, n_missing, k, definition):
    assume(k != 'all' or definition != 'by-k')
    assume(sum(map(len, blocks)) <= 8)
    check(blocks, relevant, len(relevant) + n_missing, k, definition)


def check(blocks, relevant, n_relevant, k, definition):
    """Compare the closed form with every order tried."""
    found, reason = bounds_of(blocks, relevant, n_relevant, k, definition)
    if reason:
        assert np.isnan(found).all()
        assert REPEATS[definition] != 'again'
        assert definition == 'hits' or any(len({*block}) < len(block) for block in blocks)
    else:
        expected = registered_bounds(blocks, relevant, n_relevant, k, definition)
        assert found == pytest.approx([float(each) for each in expected], **CLOSE)


@pytest.mark.parametrize('definition', NAMES)
@pytest.mark.parametrize(
    ('blocks', 'relevant'),
    [
        ([[5, 0], [1, 6, 2], [7, 3]], {0, 1, 2, 3}),
        ([[0], [1, 2], [3, 5, 6]], {0, 1, 2, 3}),  # a block of hits alone
        ([[5, 6], [0], [7, 8, 1]], {0, 1}),  # the first hit is in the second block
        ([[5, 0], [1, 1, 6], [0, 2, 5]], {0, 1, 2}),  # repeats within a block, and of one before
    ],
)
@pytest.mark.parametrize('ranks_at_once', [1, 4, ties.RANKS_AT_ONCE])
def test_every_boundary(blocks, relevant, definition, ranks_at_once, monkeypatch):
    """Cutoffs before, at, within and behind each block of ties, and behind the ranking."""
    monkeypatch.setattr(ties, 'RANKS_AT_ONCE', ranks_at_once)
    for k in range(1, sum(map(len, blocks)) + 2):
        check(blocks, relevant, len(relevant) + 1, k, definition)


@pytest.mark.parametrize(
    ('definition', 'blocks', 'k', 'unknown'),
    [
        ('trec', [[1, 1, 2]], 2, '1'),
        ('kaggle', [[1, 1, 2]], 2, '1'),
        ('trec', [[1, 2, 2]], 2, '2'),  # which moves 1, as it is dropped
        ('kaggle', [[1, 2, 2]], 2, ''),  # 2 is not relevant, and keeps its ranks
        ('trec', [[1, 1]], 2, ''),  # one shot: its order says nothing
        ('kaggle', [[3], [1, 1]], 2, ''),
        ('trec', [[1, 1], [1, 2, 3]], 2, ''),  # 1 is dropped from the second block
        ('kaggle', [[1, 1], [1, 2, 3]], 2, ''),
        ('trec', [[1, 2], [3, 3], [5]], 2, ''),  # repeats behind the cutoff
        ('trec', [[3, 4], [1, 1, 2]], 2, ''),  # below the cutoff
        ('kaggle', [[3, 4], [1, 1, 2]], 2, ''),
        ('mediaeval-2016', [[1, 1, 2]], 2, ''),  # counts each of them
        ('hits', [[1, 2]], 1, 'AP'),
        ('hits', [[1, 2]], 2, ''),  # the number of hits above the cutoff is the same in all
        ('hits', [[3], [1, 2]], 1, ''),  # the block begins behind the cutoff
    ],
)
def test_bounds_that_are_not_known(definition, blocks, k, unknown):
    found, reason = bounds_of(blocks, {1, 5}, 2, k, definition)
    assert (reason or '').partition(' ')[0] == unknown
    assert np.isnan(found).all() == np.isnan(found).any() == bool(unknown)
    if not unknown:
        expected = registered_bounds(blocks, {1, 5}, 2, k, definition)
        assert found == pytest.approx([float(each) for each in expected], **CLOSE)


def test_large_block_at_the_cutoff():
    # Of 4,000 tied hypotheses 40 are hits, and 100 are above the cutoff: by symmetry each of these
    # is a hit in 1 % of the orders, and each other one beside a hit in 39 of 3,999.
    blocks = [list(range(4000))]
    found, _ = bounds_of(blocks, set(range(40)), 40, 100, 'kaggle')
    terms = [Fraction(1, 100) * (1 + Fraction(39 * i, 3999)) / (i + 1) for i in range(100)]
    expected = sum(terms) / 40
    assert found == pytest.approx([0, float(expected), 1], **CLOSE)


def test_only_judged_shots_tie_where_others_are_skipped():
    """Of 119 judged ties one is relevant, at each rank in 1 of 119 orders."""
    run = [('x', 'v', str(shot), 'ann', 0.5) for shot in range(120)]
    judged = [row[:3] for row in run[:119]]
    evaluator = AveragePrecision([('x', 'v', '0', 'ann')], judged=judged, unjudged='skip')
    bounds = evaluator.explain(run, ['ann'], k=10).of('ann').ties['equal_confidence']
    expected = sum(Fraction(1, 119 * rank) for rank in range(1, 11))
    assert bounds['expected'] == pytest.approx(float(expected), **CLOSE)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@examples(1)
@given(
    reference_rows,
    st.lists(st.tuples(*few_fields), min_size=1, max_size=7),
    run_names,
    st.integers(1, 7) | st.just('all'),
    names,
)
def test_runs(reference, run, query, k, definition):
    assume(k != 'all' or definition != 'by-k')
    explain = AveragePrecision(reference, definition=definition).explain
    found = explain(run, [query], k=k).of(query)
    relevant = [row[:3] for row in reference if row[3] == query]
    is_counted = REPEATS[definition] == 'again'
    n_relevant = len(relevant if is_counted else set(relevant))
    times = oracle.temporal_ranks(run)
    levels = {
        'equal_confidence': lambda i: (),
        'arbitrary': lambda i: times[i],
    }
    for level, last_key in levels.items():
        keyed = sorted(
            (oracle.normalized_distance(query, row[3]), -row[4], last_key(i), row[:3])
            for i, row in enumerate(run)
        )
        blocks = [[row[3] for row in block] for _, block in groupby(keyed, key=lambda row: row[:3])]
        expected = registered_bounds(blocks, set(relevant), n_relevant, k, definition)
        bounds = found.ties[level]
        values = [bounds['min'], bounds['expected'], bounds['max']]
        if 'reason' in bounds:
            assert values == [None] * 3
            continue
        assert values == pytest.approx([float(each) for each in expected], **CLOSE)
        assert expected[0] - CLOSE['rel'] <= found.ap <= expected[2] + CLOSE['rel']
