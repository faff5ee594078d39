"""The kernel of estimates from a sample; the oracle is in `tests/trec/test_sampled.py`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.definitions import get
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.metrics.inferred_ap import Sample

DEPTH = 1000
levels = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=9)


def sample_of(topics, n_strata=2):
    """Return topics whose documents are returned in order, in each of the strata by turns."""
    sizes = np.array([len(topic) for topic in topics])
    number = np.concatenate([np.arange(size) for size in sizes])
    relevance = np.concatenate(topics)
    stratum = np.arange(len(topics)).repeat(sizes) * n_strata + number % n_strata
    pool = stratum, relevance, relevance > 0, (len(topics), n_strata)
    return Sample(*pool, returned=np.arange(len(number)), ranks=number + 1, depth=DEPTH)


def values_of(sample):
    return np.column_stack([sample.average_precision(), sample.ndcg(), sample.precision(3)])


@given(st.lists(levels, min_size=1, max_size=4))
def test_a_topic_does_not_depend_on_others(topics):
    together = values_of(sample_of(topics))
    assert together.tolist() == [values_of(sample_of([topic]))[0].tolist() for topic in topics]


@given(levels)
def test_a_pool_that_is_judged_whole_gives_average_precision(topic):
    relevance = np.array(topic).clip(0)
    ranks = np.flatnonzero(relevance) + 1
    rankings = np.zeros(len(ranks), dtype=int)
    expected = average_precision_of_hits(
        rankings, ranks, np.array([len(ranks)]), len(topic), [DEPTH], get('trec')
    )
    (value,) = sample_of([relevance]).average_precision()
    assert value == pytest.approx(expected[0, 0], abs=3e-5)  # the smoothing of a judged document


def test_a_run_without_a_pooled_document():
    nothing = np.empty(0, dtype=int)
    sample = sample_of([[1, -1, 0]])._replace(returned=nothing, ranks=nothing)
    assert values_of(sample).tolist() == [[0, 0, 0]]
