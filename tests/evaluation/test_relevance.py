"""Relevant shots of a reference, and their ranks."""

import numpy as np
import pytest

from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

ROWS = [
    ('x', 'v', '1', 'bob'),
    ('x', 'v', '2', 'ann'),
    ('x', 'w', '2', 'ann'),
    ('x', 'v', '9', '?'),
]


def reference_of(rows, counts_again):
    return Reference(read(rows, REFERENCE), counts_again)


def test_names_of_a_reference():
    reference = reference_of(ROWS, True)
    assert (reference.queries, reference.n_placeholders) == (['ann', 'bob'], 1)
    assert [reference.n_relevant(name) for name in ('ann', 'bob', '?', 'cleo')] == [2, 1, 1, 0]
    assert 'ann' in reference
    assert 'cleo' not in reference
    assert sorted(reference.names) == ['?', 'ann', 'bob']


@pytest.mark.parametrize(('counts_again', 'n_relevant'), [(True, 3), (False, 2)])
def test_repeated_rows_count_as_repeated_shots_do(counts_again, n_relevant):
    reference = reference_of([*ROWS, ROWS[1]], counts_again)
    assert reference.n_repeated == 1
    assert reference.n_relevant('ann') == n_relevant
    assert [reference.n_shots(name) for name in ('ann', 'cleo')] == [2, 0]


@pytest.mark.parametrize(('counts_again', 'hits'), [(True, [0, 2, 3]), (False, [0, 3])])
def test_hits(counts_again, hits):
    """Shots are numbered v 1, v 2, v 3, w 2; shot w 2 of the reference is not in the run's."""
    run = read([('x', 'v', shot, 'ann', 0.5) for shot in '123'], HYPOTHESIS)
    relevance = Relevance(
        reference_of([*ROWS, ('x', 'v', '3', 'ann')], counts_again), Shots.of(run)
    )
    assert sorted(relevance.relevant_shots('ann').tolist()) == [1, 2]
    assert relevance.relevant_shots('cleo').tolist() == []
    assert relevance.n_in_both == 3
    assert relevance.hits('ann', np.array([1, 0, 1, 2])).tolist() == hits
    assert relevance.hits('cleo', np.array([1, 0, 1, 2])).tolist() == []


def test_hits_after_a_query_that_was_interrupted():
    """Shots are marked on an array that is used again: not on one that an error left marked."""
    run = read([('x', 'v', shot, 'ann', 0.5) for shot in '123'], HYPOTHESIS)
    relevance = Relevance(reference_of(ROWS, True), Shots.of(run))
    ranked = np.array([0, 1])
    assert relevance.hits('ann', ranked).tolist() == [1]
    with pytest.raises(IndexError):
        relevance.hits('ann', np.array([3]))
    assert relevance.hits('bob', ranked).tolist() == [0]
    assert relevance.hits('ann', ranked).tolist() == [1]
