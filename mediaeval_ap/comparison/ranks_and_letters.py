"""Ranks that the tests leave open, and the compact letter display, from pairs that differ."""

from __future__ import annotations

import string

import numpy as np
from numpy.typing import NDArray


def rank_intervals(is_better: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last rank that each run can have (Mogstad et al., 2024).

    Runs are best first; `is_better[i, j]` is True if run i is significantly better than run j.
    """
    n_better = is_better.sum(axis=0)
    n_worse = is_better.sum(axis=1)
    return list(zip((1 + n_better).tolist(), (len(is_better) - n_worse).tolist(), strict=True))


def group_letters(is_different: NDArray[np.bool_]) -> list[str]:
    """Return the compact letter display: runs share a letter if they do not differ significantly.

    They share none if they do. Insertion and absorption (Piepho, 2004): the group of all runs is
    split by one differing pair after another. Of three runs, let only 0 and 2 differ: {0, 1, 2}
    becomes {0, 1} and {1, 2}, so the letters are 'a', 'ab' and 'b'.
    """
    # A group whose pairs are all in other groups, too, is dropped at once, not at the end. So there
    # are never more groups than pairs and runs; otherwise there could be 3 ** (n / 3).
    n_runs = len(is_different)
    groups = [list(range(n_runs))]
    n_groups_of = np.ones((n_runs, n_runs), dtype=np.intp)  # of a pair; of a run with itself
    for first, second in zip(*np.triu(is_different, 1).nonzero(), strict=True):
        split = [group for group in groups if first in group and second in group]
        groups = [group for group in groups if not (first in group and second in group)]
        for group in split:
            n_groups_of[np.ix_(group, group)] -= 1
        parts = [
            [run for run in group if run != removed]
            for group in split
            for removed in (second, first)
        ]
        for part in parts:
            n_groups_of[np.ix_(part, part)] += 1
        for part in sorted(parts, key=len):  # the smallest are dropped first
            pairs = np.ix_(part, part)
            if n_groups_of[pairs].min() > 1:
                n_groups_of[pairs] -= 1
            else:
                groups.append(part)
    letters = [''] * n_runs
    for number, group in enumerate(sorted(groups)):
        letter = string.ascii_letters[number : number + 1] or f'({number + 1})'
        for run in group:
            letters[run] += letter
    return letters
