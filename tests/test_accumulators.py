"""However a metric is split and merged, it gives the same number."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import definitions
from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    ReciprocalRank,
)
from mediaeval_ap.metrics.exact_sums import ExactSums


def rows_of(metric, random, n):
    """Rows of input, with ties, and with what is missing or empty."""

    def labels(most):
        return random.choices('abcdefg', k=random.randrange(most))

    def row():
        if metric == 'first hit':
            return random.choice('ab'), labels(5)
        if metric.startswith('map'):
            return labels(8), labels(8)
        if metric.startswith('gap'):
            confidence = random.choice([0.1, 0.5, 0.9, 1 / 3])
            return random.choice(['a', 'b', None]), confidence, random.choice(['a', 'b', None])
        return [random.randrange(2) for _ in range(6)], [random.randrange(4) / 3 for _ in range(6)]

    return [row() for _ in range(n)]


METRICS = {
    'first hit': lambda: ReciprocalRank(3),
    **{
        f'map {name}': lambda name=name: MeanAveragePrecision(4, name)
        for name in definitions.names()
    },
    **{
        f'gap {ties}': lambda ties=ties: GlobalAveragePrecision(ties)
        for ties in ('expected', 'best', 'worst')
    },
    'lrap': LabelRankingAveragePrecision,
    'lwlrap': lambda: LabelRankingAveragePrecision(label_weighted=True),
}


@pytest.mark.parametrize('name', METRICS)
@given(st.randoms(use_true_random=False), st.integers(1, 30), st.data())
def test_any_split_and_any_order_give_the_same(name, random, n, data):
    """The same to the last bit, on machines that send one another their metrics."""
    rows = rows_of(name, random, n)
    whole = METRICS[name]()
    whole.update(*zip(*rows, strict=True))
    cuts = data.draw(st.lists(st.integers(1, n), max_size=6))
    bounds = sorted({0, n, *cuts})
    order = list(range(n))
    random.shuffle(order)
    pieces = [METRICS[name](), METRICS[name]()]  # an empty one among them
    for begin, end in pairwise(bounds):
        if random.random() < 0.5:
            pieces.append(METRICS[name]())
        pieces[-1].update(*zip(*(rows[i] for i in order[begin:end]), strict=True))
    random.shuffle(pieces)
    merged = pieces.pop()
    while pieces:
        merged.merge(pickle.loads(pickle.dumps(pieces.pop())))
    assert value_of(merged) == value_of(whole)
    merged.reset()
    assert value_of(merged) == value_of(METRICS[name]())


def value_of(metric):
    """The value of a metric to the last bit, and what else it tells."""
    counts = {
        name: np.asarray(value).tolist() if name == 'n_labels' else value
        for name, value in vars(metric).items()
        if name.startswith('n_')
    }
    try:
        return metric.compute(), counts
    except UndefinedScoreError:
        return None, counts


def test_what_cannot_be_merged():
    labelled = LabelRankingAveragePrecision()
    labelled.update([[1, 0]], [[1, 0]])
    other = LabelRankingAveragePrecision()
    other.update([[1, 0, 0]], [[1, 0, 0]])
    for one, two, message in (
        (ReciprocalRank(3), ReciprocalRank(4), 'found k = 4, expected 3'),
        (MeanAveragePrecision(3), MeanAveragePrecision(4), 'found MAP@4'),
        (MeanAveragePrecision(3), MeanAveragePrecision(3, 'trec'), r'found MAP@3 \(trec\)'),
        (GlobalAveragePrecision(), GlobalAveragePrecision('best'), "found ties='best'"),
        (GlobalAveragePrecision('stable'), GlobalAveragePrecision('stable'), "ties='stable'"),
        (labelled, other, 'found 3 classes, expected 2'),
        (labelled, LabelRankingAveragePrecision(label_weighted=True), 'label_weighted=True'),
    ):
        with pytest.raises(ParameterError, match=f'^merge: .*{message}'):
            one.merge(two)
    assert (labelled.compute(), labelled.n_samples) == (1, 1)


def test_a_metric_merged_with_itself_counts_twice():
    metric = GlobalAveragePrecision()
    metric.update(['a', 'b'], [0.9, 0.8], ['b', 'b'])
    metric.merge(metric)
    # Two wrong ones, then two right ones: precisions 1/3 and 2/4, of four queries.
    assert metric.compute() == pytest.approx((1 / 3 + 2 / 4) / 4)
    average = MeanAveragePrecision()
    average.update([['a'], ['b']], [['a'], ['c', 'b']])
    average.merge(average)
    assert (average.compute(), average.n_users) == (0.75, 4)


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.integers(0, 2), finite), max_size=20), st.integers(0, 20))
def test_sums_are_exact(terms, cut):
    one, other = ExactSums(3), ExactSums(3)
    for sums, part in ((one, terms[:cut]), (other, terms[cut:])):
        groups = np.array([group for group, _ in part], dtype=np.int64)
        sums.add(np.array([value for _, value in part]), groups)
    one.merge(other)
    for group in range(3):
        assert one.fraction(group) == sum(Fraction(x) for g, x in terms if g == group)
