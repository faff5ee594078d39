"""Bounds over all labels of unjudged shots of the pool, against each label in turn."""

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import oracle_judging
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.definitions import Definition, Repeats, ap_column
from mediaeval_ap.judging.bounds import OpenRanking, bounds_by_number
from mediaeval_ap.metrics import average_precision_of_hits

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
MOST_UNJUDGED = 5  # of all queries together: each has 2 to this power of labels

runs = st.dictionaries(st.sampled_from('abc'), strategies.hypothesis_rows, min_size=1, max_size=3)


def all_choices(shots):
    return [chosen for n in range(len(shots) + 1) for chosen in combinations(sorted(shots), n)]


@pytest.mark.parametrize('definition', definitions.names())
@given(
    st.lists(st.tuples(*strategies.fields[:4]), max_size=8),
    runs,
    st.sampled_from([1, 4, 25]),
    st.sampled_from([0, 0.5, 0.75]),
    strategies.cutoffs,
    st.lists(strategies.names, min_size=1, max_size=2, unique=True),
    st.randoms(use_true_random=False),
)
@strategies.examples(1 / 2)
def test_bounds_are_those_over_all_labels(
    definition, reference, runs, depth, near, K, queries, random
):
    """Equal, or wider where shots count again; and no certain order turns under any labels."""
    K = strategies.allowed(K, definition)
    relevant = {query: {row[:3] for row in reference if row[3] == query} for query in queries}
    repeats = oracle.REPEATS[definition]
    pool = oracle_judging.pool_of(runs, queries, depth, near, repeats)
    pools = {query: {shot for other, shot in pool if other == query} for query in queries}
    # Only what nobody found to be relevant may be unjudged, and only for few pairs of the pool.
    open_pairs = [
        (shot, query)
        for query in queries
        for shot in sorted(pools[query])
        if shot not in relevant[query]
    ]
    chosen = set(random.sample(open_pairs, min(MOST_UNJUDGED, len(open_pairs))))
    known = {(*shot, query) for query in queries for shot in pools[query]} | {*reference}
    judged = [
        (*row, int(row in reference)) for row in sorted(known) if (row[:3], row[3]) not in chosen
    ]
    assume(judged)
    unjudged = {query: [shot for shot, asked in chosen if asked == query] for query in queries}
    evaluator = AveragePrecision(reference, K, definition=definition, judged=judged)
    pool = evaluator.pool(runs, queries, depth=depth, near=near)
    assert pool.counts['unjudged'] == len(chosen)
    values = {}  # by run, query and labels
    for name, rows in runs.items():
        for query in queries:
            for labels in all_choices(unjudged[query]):
                added = [*reference, *((*shot, query) for shot in labels)]
                ap, _ = oracle.evaluate(added, rows, query, K, definition)
                values[name, query, labels] = ap
    for name in runs:
        for column, k in enumerate(K):
            metric = f'M{ap_column(k)}'
            for side, of_all in ('low', min), ('high', max):
                extremes = [
                    of_all(values[name, query, labels][column] for labels in all_choices(shots))
                    for query, shots in unjudged.items()
                ]
                expected = float(sum(extremes) / Fraction(len(queries)))
                found = getattr(pool.bounds[name], side)[metric]
                if pool.bounds[name].n_wider:
                    assert definitions.get(definition).counts_again
                    assert side != 'low' or found <= expected + oracle.CLOSE['abs']
                    assert side != 'high' or found >= expected - oracle.CLOSE['abs']
                else:
                    assert found == pytest.approx(expected, **oracle.CLOSE)
    for order in pool.certain:
        lead = sum(
            min(
                values[order.better, query, labels][-1] - values[order.worse, query, labels][-1]
                for labels in all_choices(shots)
            )
            for query, shots in unjudged.items()
        ) / Fraction(len(queries))
        assert 0 < order.margin <= float(lead) + oracle.CLOSE['abs']
    assert {(each.better, each.worse) for each in pool.certain} | {*pool.uncertain} == {
        *combinations(pool.runs, 2)
    }


RELEVANT, *UNKNOWN = (('x', 'v', shot) for shot in 'r123')
TURNED = {
    'a': [(*RELEVANT, 'ann', 0.9), ('x', 'v', 'w', 'ann', 0.8)],
    'b': [
        ('x', 'v', 'w', 'ann', 0.9),
        (*RELEVANT, 'ann', 0.8),
        *((*shot, 'ann', 0.5) for shot in UNKNOWN),
    ],
}


@pytest.mark.parametrize(('k', 'last', 'metric'), [(6, '6', '@6'), ('all', 'the last', '')])
def test_an_order_is_certain_down_to_the_depth_alone(k, last, metric):
    """Three shots at ranks 3 to 5 turn an order that is certain for the first two ranks."""
    settings = {'K': [1, k], 'definition': 'trec'}
    labels = [(*shot, 'ann') for shot in (RELEVANT, *UNKNOWN)]
    means = [AveragePrecision(labels, **settings).evaluate(run).map[-1] for run in TURNED.values()]
    assert means == [1 / 4, pytest.approx((1 / 2 + 2 / 3 + 3 / 4 + 4 / 5) / 4)]
    evaluator = AveragePrecision(labels[:1], judged=[RELEVANT, ('x', 'v', 'w')], **settings)
    pool = evaluator.pool(TURNED, depth=2)
    assert [each.better for each in pool.certain] == ['a']
    said = (
        'Bounds hold, and the order of 1 of 1 pair of runs is certain, for all labels of the '
        f'unjudged shots in the first 2 ranks; ranks 3 to {last} and names farther than 0.2 count '
        f'as not relevant; Judged{metric} is 0.400 to 1.000'
    )
    assert pool.certainty == said
    assert json.loads(pool.to_json())['notes'] == [said]
    whole = evaluator.pool(TURNED)
    assert (whole.certain, whole.parameters['depth']) == ([], k)
    (alone,) = evaluator.pool({'b': TURNED['b']}, depth=2).notes
    assert alone.startswith('Bounds hold for all labels of the unjudged shots in the first 2 ranks')


def test_one_rank_is_named_as_one_rank():
    """The note said "the first 1 ranks; ranks 2 to 2"."""
    evaluator = AveragePrecision([(*RELEVANT, 'ann')], K=[2], judged=[RELEVANT])
    (note,) = evaluator.pool({'b': TURNED['b']}, depth=1).notes
    assert 'in the first rank; rank 2 and names farther than 0.2 count as not relevant' in note


down_to_R = Definition('down to R', ('R',), ('R',), 0.0, Repeats.COUNT, 'none')


@pytest.mark.parametrize(
    ('definition', 'names', 'k', 'n_wider'),
    [
        ('mediaeval-2016', ['ann', 'ann'], 2, 1),
        ('mediaeval-2016', ['ann', 'ann'], 1, 0),  # the second is behind the cutoff
        (down_to_R, ['ann'], 2, 0),
        (down_to_R, ['ann', 'ann'], 2, 1),
    ],
)
def test_bounds_may_be_wide_where_an_unjudged_shot_counts_twice(definition, names, k, n_wider):
    run = [(*UNKNOWN[0], name, 0.9 - rank / 10) for rank, name in enumerate(names)]
    evaluator = AveragePrecision(
        [(*RELEVANT, 'ann')], K=[k], definition=definition, judged=[RELEVANT]
    )
    assert evaluator.pool({'a': run}).bounds['a'].n_wider == n_wider


quantities = st.sampled_from('RkN'), st.sampled_from('RkNH')
some_definitions = st.builds(
    Definition,
    name=st.just('any'),
    depth=st.sets(quantities[0], min_size=1).map(lambda each: tuple(sorted(each))),
    denominator=st.sets(quantities[1], min_size=1).map(lambda each: tuple(sorted(each))),
    without_relevant=st.sampled_from([0.0, 0.5, 1.0]),
    repeats=st.just(Repeats.COUNT),
    source=st.just('none'),
)


@given(
    some_definitions,
    st.lists(st.integers(0, 7), max_size=14),
    st.integers(0, 2),
    st.integers(0, 2),
    st.lists(st.integers(1, 16), min_size=1, max_size=3, unique=True),
)
@strategies.examples(4)
def test_any_definition_and_shots_that_stand_often(definition, owners, n_outside, more_relevant, K):
    """A shot of 0 is not relevant, one of 1 is, all others are unjudged."""
    known, unjudged, n_unjudged = ranks_of(owners, n_outside)
    n_relevant = len(known) + more_relevant
    ranking = OpenRanking(known, unjudged, n_unjudged, n_relevant, len(owners))
    found = bounds_by_number(ranking, K, definition)
    lows, highs = extremes(owners, n_outside, n_relevant, K, definition)
    assert (found.low <= lows + 1e-14).all()  # a sum in another order
    assert (found.high >= highs - 1e-14).all()
    exact = found.is_exact
    np.testing.assert_allclose(found.low[:, exact], lows[:, exact], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(found.high[:, exact], highs[:, exact], rtol=1e-14, atol=1e-15)
    if max(map(len, unjudged), default=0) <= 1 and 'k' in definition.depth:
        assert exact.all()


def ranks_of(owners, n_outside):
    ranks = [np.flatnonzero(np.equal(owners, shot)) + 1 for shot in range(1, 8)]
    unjudged = [each for each in ranks[1:] if len(each)]
    return ranks[0], unjudged, len(unjudged) + n_outside


def extremes(owners, n_outside, n_relevant, K, definition):
    """Return the least and greatest value over all labels, by how many are relevant, and cutoff."""
    shots = [*sorted({*owners} - {0, 1}), *(f'outside {n}' for n in range(n_outside))]
    rows = []
    for n in range(len(shots) + 1):
        labels = [{1, *chosen} for chosen in combinations(shots, n)]
        ranked = list(enumerate(owners, 1))[: max(K)]  # as far as an evaluation looks
        hits = [[rank for rank, owner in ranked if owner in each] for each in labels]
        rankings = np.repeat(np.arange(len(hits)), list(map(len, hits)))
        ranks = np.array([rank for each in hits for rank in each], dtype=np.int64)
        R = np.full(len(labels), n_relevant + n)
        rows.append(average_precision_of_hits(rankings, ranks, R, len(owners), K, definition))
    return np.array([row.min(axis=0) for row in rows]), np.array([row.max(axis=0) for row in rows])
