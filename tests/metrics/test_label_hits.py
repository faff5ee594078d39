"""Hits in blocks of lists, and of integers of any size."""

from random import Random

import oracle
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap import definitions
from mediaeval_ap.metrics import MeanAveragePrecision, average_precision_at_k, label_lists


@pytest.mark.parametrize('definition', definitions.names())
def test_blocks_are_scored_as_the_whole(monkeypatch, definition):
    random = Random(1)  # any lists would do; some are empty, some longer than a block
    users = [
        [random.choices('abcdef', k=random.choice([0, 1, 3, 20])) for _ in 'tp'] for _ in range(50)
    ]
    y_true, y_pred = zip(*users, strict=True)
    expected = [average_precision_at_k(*user, 12, definition) for user in users]
    for n_labels in 1, 10, 100:
        monkeypatch.setattr(label_lists, 'LABELS_IN_BLOCK', n_labels)
        for lists in list, pyarrow.array:
            metric = MeanAveragePrecision(12, definition)
            assert metric.update(lists(y_true), lists(y_pred))[0].tolist() == expected
            counted = [value for value, user in zip(expected, users, strict=True) if user[0]]
            assert metric.compute() == pytest.approx(sum(counted) / len(counted), **CLOSE)
            assert (metric.n_users, metric.n_without_truth) == (len(counted), 50 - len(counted))


numbers = st.integers(-3, 3) | st.sampled_from([-64, 63, 64, 2**62])


@given(
    st.lists(st.tuples(st.lists(numbers, max_size=6), st.lists(numbers, max_size=6)), max_size=5),
    st.sampled_from(definitions.names()),
)
def test_integers_against_oracle(users, definition):
    """Every list has its own labels, whatever numbers those are."""
    y_true, y_pred = zip(*users, strict=True) if users else ([], [])
    values, _ = MeanAveragePrecision(4, definition).update(y_true, y_pred)
    expected = [oracle.average_precision_of_labels(*user, 4, definition) for user in users]
    assert values.tolist() == pytest.approx([float(value) for value in expected], **CLOSE)


def test_labels_that_are_far_apart():
    """Codes so many that list and code together need more than 64 bits."""
    far = [-(2**63), 2**63 - 1, 0, 5]
    y_pred = [[far[0], far[1]], [far[2], far[0]], [far[3]]]
    values, _ = MeanAveragePrecision(2).update([[far[1]], [far[0]], [6]], y_pred)
    assert values.tolist() == [0.5, 0.5, 0]
    assert average_precision_at_k([far[1]], [far[0], far[0], far[1]], 2, 'trec') == 1 / 2
