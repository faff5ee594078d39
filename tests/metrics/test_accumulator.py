"""Accumulators and exact sums: no split and no order of the data matters."""

import pickle
import re
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import METRICS, columns_of, rows_of, table_of, update, value_of
from pyarrow import dataset, parquet

from mediaeval_ap.errors import ParameterError, UndefinedScoreError
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    ReciprocalRank,
)
from mediaeval_ap.metrics.accumulator import ExactSums

# From a seed that is drawn: to draw every number in turn would take longer than the metrics do.
randoms = st.randoms(use_true_random=True)


# Half of the examples, as each metric gets as many.
@pytest.mark.parametrize('name', METRICS)
@strategies.examples(1 / 2)
@given(randoms, st.integers(1, 30), st.data())
def test_any_split_and_any_order_give_the_same(name, random, n, data):
    """The same to the last bit, on machines that send one another their metrics."""
    rows = rows_of(name, random, n)
    whole = METRICS[name]()
    update(whole, columns_of(whole, rows))
    cuts = data.draw(st.lists(st.integers(1, n), max_size=6))
    bounds = sorted({0, n, *cuts})
    order = list(range(n))
    random.shuffle(order)
    pieces = [METRICS[name](), METRICS[name]()]  # an empty one among them
    for begin, end in pairwise(bounds):
        if random.random() < 0.5:
            pieces.append(METRICS[name]())
        update(pieces[-1], columns_of(whole, [rows[i] for i in order[begin:end]]))
    random.shuffle(pieces)
    merged = pieces.pop()
    while pieces:
        other = pickle.loads(pickle.dumps(pieces.pop()))
        before = value_of(other)
        merged.merge(other)
        merged_so_far = value_of(merged)
        assert value_of(other) == before
        assert value_of(merged) == merged_so_far
    assert value_of(merged) == value_of(whole)
    merged.reset()
    assert value_of(merged) == value_of(METRICS[name]())


@pytest.mark.parametrize('name', METRICS)
def test_batches_of_a_dataset(name, tmp_path):
    """Parquet that memory does not hold, as the guide reads it: slices of columns, one by one."""
    rows = rows_of(name, Random(5), 40)  # any rows would do
    for number in range(2):
        table = table_of(name, rows[20 * number : 20 * number + 20])
        parquet.write_table(table, tmp_path / f'{number}.parquet', row_group_size=13)
    metric, by_table, whole = (METRICS[name]() for _ in range(3))
    for batch in dataset.dataset(tmp_path).to_batches(batch_size=7):
        update(metric, batch)
    update(by_table, table_of(name, rows)[1:])
    update(by_table, columns_of(by_table, rows[:1]))
    update(whole, columns_of(whole, rows))
    assert value_of(metric) == value_of(by_table) == value_of(whole)


@pytest.mark.parametrize('name', METRICS)
def test_nothing_at_all(name):
    empty = METRICS[name]()
    if name in ('lrap', 'lwlrap'):
        empty.update(np.zeros((0, 3)), np.zeros((0, 3)))
    else:
        update(empty, {argument: [] for argument in columns_of(empty, rows_of(name, Random(3), 1))})
    with pytest.raises(UndefinedScoreError):
        empty.compute()
    rows = rows_of(name, Random(3), 20)  # any rows would do
    whole = METRICS[name]()
    for metric in whole, empty:
        update(metric, columns_of(metric, rows))
    assert value_of(empty) == value_of(whole)


def test_what_cannot_be_merged():
    labelled = LabelRankingAveragePrecision()
    labelled.update([[1, 0]], [[1, 0]])
    other = LabelRankingAveragePrecision()
    other.update([[1, 0, 0]], [[1, 0, 0]])
    for one, two, found in (
        (ReciprocalRank(3), ReciprocalRank(4), 'ReciprocalRank(k=4)'),
        (MeanAveragePrecision(3), MeanAveragePrecision(4), 'MeanAveragePrecision(k=4, '),
        (MeanAveragePrecision(3), MeanAveragePrecision(3, 'trec'), '(k=3, definition=trec'),
        (MeanAveragePrecision(5), ReciprocalRank(5), 'ReciprocalRank(k=5)'),
        (MeanAveragePrecision(5), 0.5, '0.5'),
        (GlobalAveragePrecision(), GlobalAveragePrecision('best'), 'Precision(ties=best)'),
        (
            GlobalAveragePrecision('stable'),
            GlobalAveragePrecision('stable'),
            "ties='stable' needs the input order",
        ),
        (labelled, other, '3 classes, expected 2'),
        (labelled, LabelRankingAveragePrecision(label_weighted=True), '(label_weighted=True)'),
    ):
        with pytest.raises(ParameterError, match=f'^merge: .*{re.escape(found)}'):
            one.merge(two)
    assert (labelled.compute(), labelled.n_samples) == (1, 1)


def test_a_metric_merged_with_itself_counts_twice():
    metric = GlobalAveragePrecision()
    metric.update(y_true=['b', 'b'], y_pred=['a', 'b'], confidence=[0.9, 0.8])
    metric.merge(metric)
    # Two wrong ones, then two right ones: precisions 1/3 and 2/4, of four queries.
    assert metric.compute() == pytest.approx((1 / 3 + 2 / 4) / 4)


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.integers(0, 2), finite), max_size=20), st.integers(0, 20))
def test_sums_are_exact(terms, cut):
    """The last bit of a mean would depend on the order of the data."""
    one, other = ExactSums(3), ExactSums(3)
    for sums, part in ((one, terms[:cut]), (other, terms[cut:])):
        groups = np.array([group for group, _ in part], dtype=np.int64)
        sums.add(np.array([value for _, value in part]), groups)
    both = one + other
    for group in range(3):
        assert both.fraction(group) == sum(Fraction(x) for g, x in terms if g == group)


class Tensor:
    """A tensor as those of torch: numpy reads it, or its library says why it cannot."""

    def __init__(self, values, refusal=None):
        self.values, self.refusal = np.array(values), refusal

    def __array__(self, dtype=None, copy=None):
        if self.refusal is not None:
            raise self.refusal
        return self.values if dtype is None else self.values.astype(dtype)

    def __dlpack__(self, **settings):
        raise NotImplementedError

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (Tensor(values, self.refusal) for values in self.values)


UPDATES = {  # of an accumulator, and the name of the argument that is a tensor
    'scores': (LabelRankingAveragePrecision, 'y_score', lambda of: ([[1, 0]], of([[0.5, 0.25]]))),
    'truth': (LabelRankingAveragePrecision, 'y_true', lambda of: (of([[1, 0]]), [[0.5, 0.25]])),
    'labels': (MeanAveragePrecision, 'y_pred', lambda of: ([[1]], of([[1, 2]]))),
    'lists': (MeanAveragePrecision, 'y_true', lambda of: ([of([1])], [[1, 2]])),
    'label': (ReciprocalRank, 'y_true', lambda of: (of([1]), [[1, 2]])),
}


@pytest.mark.parametrize('name', UPDATES)
@pytest.mark.parametrize(
    ('refusal', 'remedy'),
    [
        (
            RuntimeError("Can't call numpy() on Tensor that requires grad. Use …"),
            'give it as .detach().cpu()',
        ),
        (TypeError('Got unsupported ScalarType BFloat16'), 'give it as .float()'),
        (
            TypeError('__array__() was called on traced array\nThe error'),
            'call this outside of jit',
        ),
    ],
)
def test_tensors_are_arrays_or_errors_that_name_the_call(name, refusal, remedy):
    kind, argument, arguments_of = UPDATES[name]
    metric = kind()
    metric.update(*arguments_of(Tensor))
    assert metric.compute() == 1
    reason = str(refusal).split('. ')[0].split('\n')[0]
    expected = f'{argument}: found a tensor ({reason}), expected one that numpy can read: {remedy}'
    with pytest.raises(ParameterError, match=f'^{re.escape(expected)}$'):
        metric.update(*arguments_of(lambda values: Tensor(values, refusal)))
    assert metric.compute() == 1
