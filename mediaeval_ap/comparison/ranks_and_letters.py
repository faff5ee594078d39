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
    groups = np.ones((1, n_runs), dtype=np.float32)  # a row of 0 and 1 for each: products are fast
    n_groups_of = np.ones((n_runs, n_runs), dtype=np.float32)  # of a pair; of a run with itself
    for first, second in zip(*np.triu(is_different, 1).nonzero(), strict=True):
        is_split = (groups[:, first] > 0) & (groups[:, second] > 0)
        split = groups[is_split]
        parts = split.repeat(2, axis=0)
        parts[::2, second] = parts[1::2, first] = 0
        n_groups_of += parts.T @ parts - split.T @ split
        kept = []
        for part in parts[parts.sum(axis=1).argsort(kind='stable')]:  # the smallest first
            if part @ (n_groups_of == 1) @ part:
                kept.append(part)
            else:
                n_groups_of -= np.outer(part, part)
        groups = np.vstack([groups[~is_split], *kept])
    letters = [''] * n_runs
    for number, group in enumerate(sorted(row.nonzero()[0].tolist() for row in groups)):
        letter = string.ascii_letters[number : number + 1] or f'({number + 1})'
        for run in group:
            letters[run] += letter
    return letters
