"""Letters of runs: two share one if, and only if, the table does not tell them apart."""

from __future__ import annotations

import string
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

LETTERS = string.ascii_letters


def group_letters(apart: NDArray[np.bool_]) -> list[str]:
    """Return the letters of runs in their order, from a symmetric table of who is told apart.

    Insertion and absorption (Piepho, 2004): a group of all runs is split by one pair after another.
    A group of whose pairs each is in another group, too, is dropped at once, not at the end. So
    there are never more groups than pairs and runs, whatever the table: the groups that nothing is
    dropped from can be 3 ** (n / 3).
    """
    n_runs = len(apart)
    groups = [list(range(n_runs))]
    n_groups_of = np.ones((n_runs, n_runs), dtype=np.intp)  # of a pair; of a run with itself
    for one, other in combinations(range(n_runs), 2):
        if not apart[one, other]:
            continue
        split = [group for group in groups if one in group and other in group]
        groups = [group for group in groups if not (one in group and other in group)]
        for group in split:
            n_groups_of[np.ix_(group, group)] -= 1
        parts = [[run for run in group if run != each] for group in split for each in (other, one)]
        for part in parts:
            n_groups_of[np.ix_(part, part)] += 1
        for part in sorted(parts, key=len):  # the smallest are the first to go
            pairs = np.ix_(part, part)
            if n_groups_of[pairs].min() > 1:
                n_groups_of[pairs] -= 1
            else:
                groups.append(part)
    found: list[list[str]] = [[] for _ in range(n_runs)]
    for number, group in enumerate(sorted(groups)):
        for run in group:
            found[run].append(_letter(number))
    return list(map(''.join, found))


def _letter(number: int) -> str:
    return LETTERS[number] if number < len(LETTERS) else f'({number + 1})'
