"""Bounds of average precision over all labels that unjudged shots of the pool could get.

Of a query, let R shots be relevant and u shots of the pool be unjudged. Each number m of these from
0 to u may turn out relevant, and then R + m are. Depth and denominator are the same for all labels
with one m, so only the sum of precisions differs: Σ j / r_j over the ranks r_1 < r_2 < … of hits.
It never gets lower when a hit moves to an earlier rank, or when one is added. So a shot is never
worse to have than another one if it *precedes* it: if its first rank is no later, and its second,
and so on. A best choice of m shots therefore has, with each shot, all that precede it, and a worst
choice has all that it precedes. Such choices alone are tried.

Shots that stand once in a ranking are in one line, so there is one choice for each m. Shots that a
definition counts again where they are returned again may precede neither one another nor the
others; each such pair adds choices.

Where a definition divides by hits (H), this holds among labels with equal m and equal H: then a
shot precedes another one only if both stand in the ranking as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.results.result import mean, mean_average_precision

Ranks: TypeAlias = NDArray[np.int64]  # from 1, ascending

MOST_CHOICES = (
    1 << 12
)  # of a query at a cutoff: half a second; 12 shots that stand twice have fewer
AT_ONCE = 1 << 24  # ranks of rankings in one array


class ByNumber(NamedTuple):
    """Bounds for each number of unjudged shots made relevant (rows) and each cutoff (columns)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_exact: NDArray[np.bool_]  # for each cutoff; elsewhere they may be wider than need be


class _Shared(NamedTuple):
    """The part of a ranking for one query that is the same for all labels."""

    known: Ranks
    n_relevant: int
    n_returned: int
    definition: Definition


class _Hits(NamedTuple):
    """Rankings with a hit or none at each of some ranks, and how many shots of the pool are hits.

    These are unjudged shots; shots that are known to be relevant are hits in all of them.
    """

    at: NDArray[np.bool_]  # shape (n_rankings, n_ranks)
    n_shots: NDArray[np.int64]


def bounds_by_number(
    known: Ranks,
    unjudged: Sequence[Ranks],
    n_unjudged: int,
    n_relevant: int,
    n_returned: int,
    K: Sequence[int],
    definition: Definition,
) -> ByNumber:
    """Return the bounds of a query in one ranking.

    Parameters
    ----------
    known : ndarray of int
        Ranks of hits, from 1, ascending.
    unjudged : sequence of ndarray of int
        For each unjudged shot of the pool that is in the ranking, the ranks at which it would be a
        hit, ascending. Ranks beyond the largest cutoff may be left out, here and of `known`.
    n_unjudged : int
        Number of unjudged shots in the pool, in the ranking or not.
    n_relevant, n_returned, K, definition
        As `average_precision_of_hits` takes them.

    Returns
    -------
    ByNumber
        Bounds for 0 to `n_unjudged` unjudged shots made relevant.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> two = [np.array([1]), np.array([3])]
    >>> found = bounds_by_number(np.array([2]), two, 2, 1, 9, [10], definitions.get('trec'))
    >>> found.low.ravel().round(2).tolist(), found.high.ravel().round(2).tolist()
    ([0.5, 0.58, 1.0], [0.5, 1.0, 1.0])
    """
    known, *unjudged = (ranks[ranks <= max(K)] for ranks in (known, *unjudged))
    at_once = [list(K)]
    if unjudged and ('H' in definition.denominator or max(map(len, unjudged)) > 1):
        at_once = [[k] for k in K]  # shots beyond a cutoff differ from those within it
    shared = _Shared(known, n_relevant, n_returned, definition)
    parts = [_at_cutoffs(shared, unjudged, n_unjudged, each) for each in at_once]
    low, high, is_exact = zip(*parts, strict=True)
    return ByNumber(np.hstack(low), np.hstack(high), np.concatenate(is_exact))


def _at_cutoffs(
    shared: _Shared, unjudged: Sequence[Ranks], n_unjudged: int, K: list[int]
) -> ByNumber:
    known, n_relevant, n_returned, definition = shared
    if 'k' in definition.depth:
        known, *unjudged = (ranks[ranks <= max(K)] for ranks in (known, *unjudged))
    inside = sorted((ranks for ranks in unjudged if len(ranks)), key=lambda ranks: int(ranks[0]))
    n_outside = n_unjudged - len(inside)
    divides_by_hits = 'H' in definition.denominator
    choices = _choices(inside, K[0] if divides_by_hits else None)
    if choices is None and divides_by_hits:
        numbers = range(n_relevant, n_relevant + n_unjudged + 1)
        top = [[definition.upper_bound(k, R, n_returned) for k in K] for R in numbers]
        return ByNumber(np.zeros((len(top), len(K))), np.array(top), np.zeros(len(K), np.bool_))
    ranks = np.concatenate([*inside, np.empty(0, dtype=np.int64)])
    owners = np.repeat(np.arange(len(inside)), list(map(len, inside)))
    order = ranks.argsort()
    ranks, owners = ranks[order], owners[order]
    if choices is None:
        best, worst = _outer(owners, len(inside))
    else:
        best = _Hits(choices[:, owners], choices.sum(axis=1))
        worst = _Hits(~best.at, len(inside) - best.n_shots)
    if divides_by_hits:
        best, worst = (_with_any_outside(each, n_outside) for each in (best, worst))
    else:  # a shot of the ranking is never worse to have than one outside
        best = _with_outside_last(best, n_outside)
        worst = _with_outside_first(worst, n_outside)
    both = _Hits(*(np.concatenate(pair) for pair in zip(best, worst, strict=True)))
    values = _average_precision(both, ranks, shared._replace(known=known), K)
    high, low = (np.full((n_unjudged + 1, len(K)), each) for each in (-np.inf, np.inf))
    n_best = len(best.n_shots)
    np.maximum.at(high, best.n_shots, values[:n_best])
    np.minimum.at(low, worst.n_shots, values[n_best:])
    return ByNumber(low, high, np.full(len(K), choices is not None))


def _choices(inside: Sequence[Ranks], counted_to: int | None) -> NDArray[np.bool_] | None:
    """Return all choices of shots that have, with each shot, those that precede it.

    The shots are in order of their first rank, so none precedes an earlier one. With `counted_to`,
    one precedes another only if both stand as often down to there. None is for too many choices.
    """
    n, longest = len(inside), max(map(len, inside), default=0)
    if longest <= 1 and counted_to is None:
        return np.tri(n + 1, n, -1, dtype=np.bool_)
    padded = np.full((n, longest), np.iinfo(np.int64).max)  # no further rank is the latest
    for row, ranks in enumerate(inside):
        padded[row, : len(ranks)] = ranks
    precedes = np.all(padded[:, None] <= padded, axis=2)
    if counted_to is not None:
        counts = np.count_nonzero(padded <= counted_to, axis=1)
        precedes &= counts[:, None] == counts
    choices = np.zeros((1, n), dtype=np.bool_)
    for shot in range(n):
        needed = precedes[:shot, shot].nonzero()[0]
        with_it = choices[choices[:, needed].all(axis=1)]
        with_it[:, shot] = True
        choices = np.concatenate([choices, with_it])
        if len(choices) > MOST_CHOICES:
            return None
    return choices


def _outer(owners: NDArray[np.int64], n_shots: int) -> tuple[_Hits, _Hits]:
    """Return hits at least as early, and at least as late, as those of any choice.

    Down to each rank there are as many hits as the m shots have that stand most often so far, or
    least often. No choice has more or fewer down to any rank, but these may be other shots at each.
    """
    # One shot stands at each rank, so the sums over m shots grow by 1 at most: each is a ranking.
    stands = np.zeros((n_shots, len(owners)), dtype=np.int64)
    stands[owners, np.arange(len(owners))] = 1
    ascending = np.sort(stands.cumsum(axis=1), axis=0)
    at = []
    for ordered in ascending[::-1], ascending:
        sums = np.zeros((n_shots + 1, len(owners) + 1), dtype=np.int64)
        ordered.cumsum(axis=0, out=sums[1:, 1:])
        at.append(np.diff(sums) > 0)
    best, worst = (_Hits(each, np.arange(n_shots + 1)) for each in at)
    return best, worst


def _with_outside_last(hits: _Hits, n_outside: int) -> _Hits:
    """Add rankings where all shots inside are relevant, and some of those outside."""
    n_inside = int(hits.n_shots.max())
    full = np.ones((n_outside, hits.at.shape[1]), dtype=np.bool_)
    n_shots = n_inside + np.arange(1, n_outside + 1)
    return _Hits(np.concatenate([hits.at, full]), np.concatenate([hits.n_shots, n_shots]))


def _with_outside_first(hits: _Hits, n_outside: int) -> _Hits:
    """Let all shots outside be relevant, and add rankings where only some of these are."""
    empty = np.zeros((n_outside, hits.at.shape[1]), dtype=np.bool_)
    n_shots = np.concatenate([np.arange(n_outside), hits.n_shots + n_outside])
    return _Hits(np.concatenate([empty, hits.at]), n_shots)


def _with_any_outside(hits: _Hits, n_outside: int) -> _Hits:
    """Let each number of shots outside be relevant in each ranking."""
    times = n_outside + 1
    n_shots = hits.n_shots.repeat(times) + np.tile(np.arange(times), len(hits.n_shots))
    return _Hits(hits.at.repeat(times, axis=0), n_shots)


def _average_precision(
    hits: _Hits, ranks: Ranks, shared: _Shared, K: list[int]
) -> NDArray[np.float64]:
    """Return the values of rankings, which all have the known hits, too."""
    known, n_relevant, n_returned, definition = shared
    order = np.concatenate([ranks, known]).argsort()
    all_ranks = np.concatenate([ranks, known])[order]
    values = []
    step = max(1, AT_ONCE // max(1, len(order)))
    for begin in range(0, len(hits.n_shots), step):
        at = hits.at[begin : begin + step]
        is_hit = np.ones((len(at), len(order)), dtype=np.bool_)
        is_hit[:, : len(ranks)] = at
        rankings, which = is_hit[:, order].nonzero()
        R = n_relevant + hits.n_shots[begin : begin + step]
        found = all_ranks[which]
        values.append(average_precision_of_hits(rankings, found, R, n_returned, K, definition))
    return np.concatenate(values)


@dataclass(frozen=True, eq=False)
class BoundsOfRun:
    """Bounds of all queries about one run, of each number of unjudged shots made relevant."""

    low: NDArray[np.float64]  # shape (n_numbers of all queries together, n_cutoffs)
    high: NDArray[np.float64]
    begins: NDArray[np.int64]  # the row at which each query begins
    n_wider: int  # queries whose bounds may be wider than need be, at some cutoff

    @classmethod
    def of(cls, by_query: Sequence[ByNumber]) -> BoundsOfRun:
        sizes = np.array([len(each.low) for each in by_query])
        low, high = (np.concatenate([each[side] for each in by_query]) for side in (0, 1))
        n_wider = sum(not each.is_exact.all() for each in by_query)
        return cls(low, high, sizes.cumsum() - sizes, n_wider)

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lowest and the highest mean at each cutoff."""
        return (
            mean_average_precision(np.minimum.reduceat(self.low, self.begins)),
            mean_average_precision(np.maximum.reduceat(self.high, self.begins)),
        )

    def least_lead(self, other: BoundsOfRun) -> float:
        """Return what this run leads by at least at the last cutoff, if labels are worst for it.

        A number below 0 is what it lacks at most. Both runs have the same labels; of these, only
        how many are relevant is held equal, so the true least lead may be larger.
        """
        differences = self.low[:, -1] - other.high[:, -1]
        least = mean(np.minimum.reduceat(differences, self.begins))
        assert least is not None
        return least
