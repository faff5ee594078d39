"""Letters of runs: they say all that the table says, and no letter can be spared."""

from itertools import combinations

import numpy as np
import oracle_comparison as oracle
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.comparison.testing import group_letters, rank_intervals

TABLES = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2).map(
        lambda pairs: symmetric(n, pairs)
    )
)


def symmetric(n_runs, pairs):
    """A table of who is told apart, from that of the pairs."""
    apart = np.zeros((n_runs, n_runs), dtype=bool)
    apart[np.triu_indices(n_runs, 1)] = pairs
    return apart | apart.T


def groups_of(letters):
    """The runs that have each letter."""
    return [
        {run for run, each in enumerate(letters) if letter in each}
        for letter in sorted({*''.join(letters)})
    ]


def alike(groups, n_runs):
    """Runs, and pairs of runs, that share a letter."""
    return {
        pair
        for pair in [*combinations(range(n_runs), 2), *((run, run) for run in range(n_runs))]
        if any({*pair} <= group for group in groups)
    }


@given(TABLES)
def test_runs_share_a_letter_if_and_only_if_they_are_not_told_apart(apart):
    n_runs = len(apart)
    groups = groups_of(group_letters(apart))
    assert alike(groups, n_runs) == {
        (i, j) for i, j in zip(*np.nonzero(~apart), strict=True) if i <= j
    }
    for group in groups:
        others = [each for each in groups if each is not group]
        assert alike(others, n_runs) < alike(groups, n_runs)
        assert not any(group <= each for each in others)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 12))
def test_letters_of_an_order_are_its_longest_stretches(means, least):
    means = sorted(means, reverse=True)

    def differ(i, j):
        return abs(means[i] - means[j]) > least

    apart = symmetric(len(means), [differ(*pair) for pair in combinations(range(len(means)), 2)])
    assert group_letters(apart) == oracle.groups_of(means, differ)


def test_a_table_that_no_stretches_can_say():
    """The first and the third are alike, and both differ from the second."""
    assert group_letters(symmetric(3, [True, False, True])) == ['a', 'b', 'a']


def test_a_table_of_too_many_groups():
    """Of twenty triples told apart within, 3**20 groups can be made; a few of them say all."""
    triples = np.arange(60) // 3
    letters = group_letters((triples[:, None] == triples) & ~np.eye(60, dtype=bool))
    assert len({*''.join(letters)}) < 60


def test_more_groups_than_letters():
    found = group_letters(~np.eye(54, dtype=bool))
    assert (found[0], found[51], found[52], found[53]) == ('a', 'Z', '(53)', '(54)')


@given(TABLES)
def test_ranks_and_letters_say_the_same(apart):
    letters = [{*each} for each in group_letters(apart)]
    n_runs = len(apart)
    for run, (low, high) in enumerate(rank_intervals(np.triu(apart))):
        assert low == 1 + sum(not letters[run] & letters[other] for other in range(run))
        assert high == n_runs - sum(not letters[run] & each for each in letters[run + 1 :])
