"""Average precision over all orders of tied hypotheses: the least, the mean and the greatest.

The mean is that of F. McSherry and M. Najork, "Computing information retrieval performance
measures efficiently in the presence of tied scores", ECIR 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_equal, first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.errors import Note
from mediaeval_ap.metrics.ap_of_hits import Counts, least, precision_at_hits
from mediaeval_ap.metrics.tie_blocks import TieBlocks, expected_precisions

BOUNDS = ('min', 'expected', 'max')
NONE = -1
MOVES = 'its number of hits, by which it is divided, depends on the order of ties'


@dataclass(frozen=True, eq=False)
class TieBounds:
    """Average precision of queries over all orders of ties; NaN where it is not known.

    Parameters
    ----------
    minimum, maximum : ndarray of float64, shape (n_queries,)
        The least and the greatest. No system can choose the maximum, as it needs the truth: it is a
        bound.
    expected : ndarray of float64, shape (n_queries,)
        The mean over all orders.
    reasons : mapping of int to str
        Why they are not known, by the position of the query: a shot is returned several times in
        one block of ties and counts once, or the number of hits, which is divided by, depends on
        the order.
    """

    minimum: NDArray[np.float64]
    expected: NDArray[np.float64]
    maximum: NDArray[np.float64]
    reasons: Mapping[int, str]

    def of(self, rows: NDArray[np.int64]) -> TieBounds:
        """Return the bounds of some of the queries, which may repeat."""
        known = self.reasons
        reasons = {at: known[row] for at, row in enumerate(rows.tolist()) if row in known}
        return TieBounds(self.minimum[rows], self.expected[rows], self.maximum[rows], reasons)

    def of_query(self, row: int) -> dict[str, Any]:
        """Return the bounds of a query; if they are not known, each is None and has a reason."""
        return self._named(lambda column: float(column[row]), self.reasons.get(row))

    def means(self) -> dict[str, Any]:
        """Return the means over the queries; if those of a query are not known, None and why."""
        n_queries = len(self.expected)
        reason = None
        if self.reasons:
            what = f'have no known bounds: {self.reasons[min(self.reasons)]}'
            reason = str(Note(what, len(self.reasons), n_queries))
        return self._named(lambda column: math.fsum(column) / n_queries, reason)

    def _named(
        self, value_of: Callable[[NDArray[np.float64]], float], reason: str | None
    ) -> dict[str, Any]:
        if reason:
            return {**dict.fromkeys(BOUNDS), 'reason': reason}
        values = map(value_of, (self.minimum, self.expected, self.maximum))
        return dict(zip(BOUNDS, values, strict=True))


class TiedHits(NamedTuple):
    """Possible hits: relevant shots in the block of ties of their first hypotheses.

    By ranking and block. Where a definition counts a shot each time, each of its hypotheses is a
    row.
    """

    ranking: NDArray[np.int64]
    above: NDArray[np.int64]  # ranks before the block
    size: NDArray[np.int64]  # ranks of the block
    again: NDArray[np.int64]  # a shot that the block holds again, where that matters; or NONE


def tied_hits(
    shots: NDArray[np.integer],
    starts: NDArray[np.integer],
    relevant: NDArray[np.integer],
    repeats: Repeats,
) -> TiedHits:
    """Return the possible hits of one ranking of shots, whose whole blocks begin at `starts`.

    `relevant` are the positions of all hypotheses of relevant shots, ascending.
    """
    counts_again = repeats is Repeats.COUNT
    hits = relevant if counts_again else relevant[first_occurrences(shots[relevant])]
    block = np.searchsorted(starts, hits, side='right') - 1
    above = starts[block].astype(np.int64)
    end = np.append(starts[1:], len(shots))[block].astype(np.int64)
    nothing = np.full(len(hits), NONE)
    if counts_again:
        return TiedHits(np.zeros_like(above), above, end - above, nothing)
    # Shots that a block holds again, unless one above holds them, too. Of those that keep their
    # ranks, only relevant ones matter.
    drops = repeats is Repeats.DROP
    listed = np.arange(end.max(initial=0)) if drops else relevant
    first = listed[first_equal(shots[listed])]
    again = listed[first < listed]
    first_of = first[first < listed]
    again = again[starts[np.searchsorted(starts, again, side='right') - 1] <= first_of]
    begin = again.searchsorted(above)
    size = end - above
    n_again = again.searchsorted(end) - begin
    if drops:  # ranks among the shots that are not dropped
        n_new = np.append(0, (first == listed).cumsum())
        above, size = n_new[above], n_new[end] - n_new[above]
    else:  # the order of a block that is one shot says nothing
        size[n_again == size - 1] = 1
    held = np.append(shots[again], NONE)[begin]
    return TiedHits(
        np.zeros_like(above), above, size, np.where((n_again > 0) & (size > 1), held, NONE)
    )


def put_together(rankings: Iterable[TiedHits]) -> TiedHits:
    """Return the hits of several rankings, which are numbered in their order."""
    parts = list(rankings)
    numbered = (part._replace(ranking=part.ranking + number) for number, part in enumerate(parts))
    empty = [np.empty(0, dtype=np.int64)] * len(TiedHits._fields)
    return TiedHits(*map(np.concatenate, zip(empty, *numbered, strict=True)))


class _Terms(NamedTuple):
    """Terms that ranks add to the sum of precisions, by ranking."""

    ranking: NDArray[np.int64]
    rank: NDArray[np.int64]
    value: NDArray[np.float64]

    def sums(self, depth: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum of each ranking down to its depth."""
        deep = self.rank <= depth[self.ranking]
        sums: NDArray[np.float64] = np.bincount(
            self.ranking[deep], weights=self.value[deep], minlength=len(depth)
        ).astype(np.float64)  # without a term they would be integers
        return sums


def tie_bounds(
    hits: TiedHits,
    n_relevant: NDArray[np.int64],
    n_returned: NDArray[np.int64],
    K: Sequence[int],
    definition: Definition,
    shot_id: Callable[[int], str],
) -> list[TieBounds]:
    """Return the bounds of all rankings at each cutoff; reasons name shots by their ids.

    Rankings reach at least to the end of the block that holds the rank of the largest cutoff.
    """
    first = run_starts([hits.ranking, hits.above])
    n_hits = np.diff(first, append=len(hits.ranking))
    ranking = hits.ranking[first]
    hits_above = first - np.searchsorted(hits.ranking, ranking)
    blocks = TieBlocks(hits.size[first], n_hits, hits.above[first], hits_above)
    earliest = hits.above + np.arange(len(hits.above)) - first.repeat(n_hits) + 1
    latest = earliest + hits.size - n_hits.repeat(n_hits)
    worst, best = (
        _Terms(hits.ranking, ranks, precision_at_hits(ranks, hits.ranking))
        for ranks in (latest, earliest)
    )
    orders = worst, _expected(ranking, blocks, max(K)), best
    divides_by_hits = 'H' in definition.denominator
    found = []
    for k in K:
        in_k = np.bincount(hits.ranking[best.rank <= k], minlength=len(n_relevant))
        at: dict[str, Counts] = {'R': n_relevant, 'k': k, 'N': n_returned, 'H': in_k}
        depth = np.broadcast_to(least(definition.depth, at), n_relevant.shape)
        divisor = np.broadcast_to(least(definition.denominator, at), n_relevant.shape)
        reach = k if divides_by_hits else depth[hits.ranking]
        rows = np.flatnonzero((hits.again != NONE) & (hits.above < reach))[::-1]
        reasons = {}
        if divides_by_hits:
            moves = (blocks.above < k) & (k < blocks.above + blocks.size) & (n_hits < blocks.size)
            reasons = dict.fromkeys(ranking[moves].tolist(), MOVES)
        for row in rows.tolist():
            shot = shot_id(int(hits.again[row]))
            reasons[int(hits.ranking[row])] = (
                f'{shot} is returned several times in one block of ties'
            )
        bounds = []
        for each in orders:  # least, mean, greatest
            values = np.divide(
                each.sums(depth), divisor, out=np.zeros(len(depth)), where=divisor > 0
            )
            values[n_relevant == 0] = definition.without_relevant
            values[list(reasons)] = np.nan
            bounds.append(values)
        minimum, expected, maximum = bounds
        found.append(TieBounds(minimum, expected, maximum, reasons))
    return found


def _expected(ranking: NDArray[np.int64], blocks: TieBlocks, depth: int) -> _Terms:
    """Return the mean of what each rank adds, down to a depth."""
    n_ranks = np.clip(depth - blocks.above, 0, blocks.size)
    blocks = TieBlocks(*(column[n_ranks > 0] for column in blocks))
    ranking = ranking[n_ranks > 0]
    n_ranks = n_ranks[n_ranks > 0]
    values = expected_precisions(blocks, n_ranks)
    return _Terms(ranking.repeat(n_ranks), ranges(blocks.above + 1, n_ranks), values)
