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

from mediaeval_ap.arrays import first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.metrics.ap_of_hits import (
    Counts,
    TieBlocks,
    expected_precisions,
    least,
    precision_at_hits,
)
from mediaeval_ap.results.result import notes_of

BOUNDS = ('min', 'expected', 'max')
NONE = -1  # the shot of a block whose mean is known


@dataclass(frozen=True, eq=False)
class TieBounds:
    """Average precision of queries over all orders of ties.

    Parameters
    ----------
    minimum, maximum : ndarray of float64, shape (n_queries,)
        The least and the greatest. No system can choose the maximum, as it needs the truth: it is a
        bound.
    expected : ndarray of float64, shape (n_queries,)
        The mean over all orders; NaN where it is not known.
    reasons : mapping of int to str
        Why it is not known, by the position of the query: a shot is returned several times in one
        block of ties, by a definition whose mean then has no closed form.
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
        """Return the bounds of a query; if expected is not known, it is None and has a reason."""
        return self._named(lambda column: float(column[row]), self.reasons.get(row))

    def means(self) -> dict[str, Any]:
        """Return the means over the queries; if one expected is not known, None and a reason."""
        n_queries, reason = len(self.expected), None
        if self.reasons:
            what = f'have no expected AP: {self.reasons[min(self.reasons)]}'
            (reason,) = notes_of(len(self.reasons), n_queries, what)
        return self._named(lambda column: math.fsum(column) / n_queries, reason)

    def _named(
        self, value_of: Callable[[NDArray[np.float64]], float], reason: str | None
    ) -> dict[str, Any]:
        values = map(value_of, (self.minimum, self.expected, self.maximum))
        named: dict[str, Any] = dict(zip(BOUNDS, values, strict=True))
        return named | {'expected': None, 'reason': reason} if reason else named


class TiedHits(NamedTuple):
    """Possible hits: relevant shots in the block of ties of their first hypotheses.

    By ranking, block, and number of times in the block, descending. Where a definition counts a
    shot each time, each of its hypotheses is a row.
    """

    ranking: NDArray[np.int64]
    above: NDArray[np.int64]  # ranks before the block
    size: NDArray[np.int64]  # ranks of the block
    times: NDArray[np.int64]  # hypotheses of the shot in the block
    shot: NDArray[np.int64]
    uneven: NDArray[np.int64]  # a shot that the block holds more often than another, or NONE


def tied_hits(
    shots: NDArray[np.integer],
    starts: NDArray[np.integer],
    relevant: NDArray[np.integer],
    repeats: Repeats,
) -> TiedHits:
    """Return what can be a hit in one ranking of shots, whose whole blocks begin at `starts`.

    `relevant` are the positions of all hypotheses of relevant shots, ascending.
    """
    ends = np.append(starts[1:], len(shots))
    shot = shots[relevant].astype(np.int64)
    block = np.searchsorted(starts, relevant, side='right') - 1
    above, size = starts[block].astype(np.int64), (ends - starts)[block].astype(np.int64)
    nothing = np.full(len(relevant), NONE)
    if repeats is Repeats.COUNT:
        once = np.ones(len(relevant), dtype=np.int64)
        return TiedHits(np.zeros_like(once), above, size, once, shot, nothing)
    _, first, same = np.unique(shot, return_index=True, return_inverse=True)
    times = np.bincount(same, weights=block == block[first][same], minlength=len(first))
    hits = TiedHits(nothing + 1, above, size, times[same].astype(np.int64), shot, nothing)
    order = first[np.lexsort((-times, block[first]))]
    hits = TiedHits(*(column[order] for column in hits))
    return _of_distinct(hits, shots) if repeats is Repeats.DROP else hits


def _of_distinct(hits: TiedHits, shots: NDArray[np.integer]) -> TiedHits:
    """Return the hits in the ranking without the shots that are returned again."""
    first = first_occurrences(shots[: (hits.above + hits.size).max(initial=0)])
    above = first.searchsorted(hits.above)
    size = first.searchsorted(hits.above + hits.size) - above
    uneven = np.full(len(above), NONE)
    begins = run_starts([hits.above])
    for begin, n_hits in zip(begins, np.diff(begins, append=len(above)), strict=True):
        start = hits.above[begin]
        held = shots[start : start + hits.size[begin]]
        if len(held) > size[begin] > 1:
            is_new = np.isin(held, shots[first[above[begin] : above[begin] + size[begin]]])
            new, times = np.unique(held[is_new], return_counts=True)
            if times.min() < times.max():
                uneven[begin : begin + n_hits] = new[times.argmax()]
    return hits._replace(above=above, size=size, times=np.ones_like(above), uneven=uneven)


def put_together(rankings: Iterable[TiedHits]) -> TiedHits:
    """Return the hits of several rankings, which are numbered in their order."""
    parts = list(rankings)
    numbered = (part._replace(ranking=part.ranking + number) for number, part in enumerate(parts))
    empty = [np.empty(0, dtype=np.int64)] * len(TiedHits._fields)
    return TiedHits(*map(np.concatenate, zip(empty, *numbered, strict=True)))


class _Blocks(NamedTuple):
    """The blocks that hold what can be a hit, in the order of `TiedHits`."""

    ranking: NDArray[np.int64]
    above: NDArray[np.int64]
    size: NDArray[np.int64]
    first: NDArray[np.int64]  # row of the hits
    n_hits: NDArray[np.int64]
    hits_above: NDArray[np.int64]


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
    blocks = _Blocks(ranking, hits.above[first], hits.size[first], first, n_hits, hits_above)
    earliest = hits.above + np.arange(len(hits.above)) - first.repeat(n_hits) + 1
    # If those of a block come last: behind the first hypothesis of the last shot come all others of
    # it, and so on upwards. So the shots that are in the block most often go first.
    behind = np.append(hits.times[::-1].cumsum()[::-1], 0)
    latest = hits.above + hits.size - (behind[:-1] - behind[first + n_hits].repeat(n_hits)) + 1
    worst, best = (
        _Terms(hits.ranking, ranks, precision_at_hits(ranks, hits.ranking))
        for ranks in (latest, earliest)
    )
    orders = worst, _expected(hits, blocks, max(K)), best
    found = []
    for k in K:
        in_k = np.bincount(hits.ranking[best.rank <= k], minlength=len(n_relevant))
        at: dict[str, Counts] = {'R': n_relevant, 'k': k, 'N': n_returned, 'H': in_k}
        depth = np.broadcast_to(least(definition.depth, at), n_relevant.shape)
        divisor = np.broadcast_to(least(definition.denominator, at), n_relevant.shape)
        bounds = [
            np.divide(each.sums(depth), divisor, out=np.zeros(len(depth)), where=divisor > 0)
            for each in orders
        ]
        if 'H' in definition.denominator:
            others = [at[name] for name in definition.denominator if name != 'H']
            _replace_moving(bounds, orders, hits, blocks, k, depth, others)
        reasons = {
            ranking: f'{shot_id(shot)} is returned several times in one block of ties'
            for ranking, shot in _unknown(hits, k, depth, definition).items()
        }
        for each in bounds:
            each[n_relevant == 0] = definition.without_relevant
        minimum, expected, maximum = bounds
        expected[list(reasons)] = np.nan
        found.append(TieBounds(minimum, expected, maximum, reasons))
    return found


def _expected(hits: TiedHits, blocks: _Blocks, depth: int) -> _Terms:
    """Return the mean of what each rank adds, down to a depth."""
    n_ranks = np.clip(depth - blocks.above, 0, blocks.size)
    kept = _Blocks(*(column[n_ranks > 0] for column in blocks))
    n_ranks = n_ranks[n_ranks > 0]
    tied = TieBlocks(kept.size, kept.n_hits, kept.above, kept.hits_above)
    values = expected_precisions(tied, n_ranks)
    ends = n_ranks.cumsum()
    several = np.flatnonzero(hits.times[kept.first] > 1)
    for row in several.tolist():
        first = kept.first[row]
        times = hits.times[first : first + kept.n_hits[row]]
        ranks = np.arange(1, n_ranks[row] + 1)
        number = _expected_number(ranks, int(kept.size[row]), times, int(kept.hits_above[row]))
        values[ends[row] - n_ranks[row] : ends[row]] = number / (kept.above[row] + ranks)
    return _Terms(kept.ranking.repeat(n_ranks), ranges(kept.above + 1, n_ranks), values)


def _expected_number(
    ranks: NDArray[np.int64], size: int, times: NDArray[np.int64], hits_above: int
) -> NDArray[np.float64]:
    """Return the mean of relevance × hits so far, at ranks of a block that repeats shots.

    A rank is a hit if it holds the first of the hypotheses of a shot: so many, of as many ranks as
    are left, come behind it. A shot has no hypothesis before it if all of its are behind, too.
    """
    kinds, n_shots = np.unique(times, return_counts=True)
    total = np.zeros(len(ranks))
    for own, n_own in zip(kinds.tolist(), n_shots.tolist(), strict=True):
        is_first = own / size * _all_among(own - 1, size - ranks, size - 1)
        found = np.full(len(ranks), hits_above + 1.0)
        for other, n_other in zip(kinds.tolist(), n_shots.tolist(), strict=True):
            behind = _all_among(other, size - ranks - (own - 1), size - own)
            found += (n_other - (other == own)) * (1 - behind)
        total += n_own * is_first * found
    return total


def _all_among(drawn: int, kept: NDArray[np.int64], of: int) -> NDArray[np.float64]:
    """Return the probability that all that are drawn, without replacement, are among the kept."""
    shares = np.ones(len(kept))
    for number in range(min(drawn, of)):
        shares *= np.maximum(kept - number, 0) / (of - number)
    return shares


def _replace_moving(
    bounds: list[NDArray[np.float64]],
    orders: Sequence[_Terms],
    hits: TiedHits,
    blocks: _Blocks,
    k: int,
    depth: NDArray[np.int64],
    others: Sequence[Counts],
) -> None:
    """Replace the bounds where the number of hits, which is divided by, depends on the order."""
    for row in np.flatnonzero((blocks.above < k) & (k < blocks.above + blocks.size)).tolist():
        ranking, above, size, first, n_hits, hits_above = (int(each[row]) for each in blocks)
        last, wanted = int(depth[ranking]), k - above
        n_deep = min(max(last - above, 0), wanted)
        # `held`: ranks that other shots fill, together with each number of hits. So the fewest hits
        # above the cutoff are the first that fill the ranks down to it.
        times = hits.times[first : first + n_hits]
        held = size - times.sum() + np.append(0, times.cumsum())
        numbers = np.arange(held.searchsorted(wanted), min(n_hits, wanted) + 1)
        # What the hits above the cutoff add, by their number: least, greatest, mean.
        found = np.arange(1, numbers[-1] + 1)
        ranks = np.minimum(held[: len(found)] + 1, wanted - numbers[:, None] + found)
        counts = (found <= numbers[:, None]) & (ranks <= n_deep)
        worst = ((hits_above + found) / (above + ranks) * counts).sum(axis=1)
        firsts = (hits_above + found) / (above + found) * (found <= n_deep)
        best = np.append(0, firsts.cumsum())[numbers]
        others_before = np.arange(n_deep)
        share = (numbers - 1) / max(wanted - 1, 1)
        each = 1 / (above + 1 + others_before)
        mean = (hits_above + 1) * each.sum() + share * (others_before * each).sum()
        mean = numbers / wanted * mean
        divisors = (hits_above + numbers).clip(1)  # without a hit the sum is 0
        for other in others:
            divisors = np.minimum(divisors, np.broadcast_to(other, depth.shape)[ranking])
        values = []
        for order, sums in zip(orders, (worst, mean, best), strict=True):
            begin, end = np.searchsorted(order.ranking, [ranking, ranking + 1])
            is_before = order.rank[begin:end] <= min(last, above)
            values.append((order.value[begin:end][is_before].sum() + sums) / divisors)
        weights = _probabilities(numbers, n_hits, wanted, size)
        worst, mean, best = values
        for bound, value in zip(
            bounds, (worst.min(), (weights * mean).sum(), best.max()), strict=True
        ):
            bound[ranking] = value


def _probabilities(
    numbers: NDArray[np.int64], n_hits: int, wanted: int, size: int
) -> NDArray[np.float64]:
    """Return the probability of each number of hits above the cutoff: hypergeometric."""
    # SciPy, which has them, is not required to explain a run.
    # From each number to the next in logarithms, as the first may be too small for a double.
    last = numbers[:-1]
    more = (n_hits - last) * (wanted - last)
    less = (last + 1) * (size - n_hits - wanted + last + 1)
    logarithms = np.append(0, (np.log(more) - np.log(less)).cumsum())
    weights = np.exp(logarithms - logarithms.max())
    probabilities: NDArray[np.float64] = weights / weights.sum()
    return probabilities


def _unknown(
    hits: TiedHits, k: int, depth: NDArray[np.int64], definition: Definition
) -> dict[int, int]:
    """Return the rankings whose mean is not known, each with a shot that is returned again."""
    moves = 'H' in definition.denominator
    reach = np.full(len(depth), k) if moves else depth
    is_unknown = (hits.uneven != NONE) & (hits.above < reach[hits.ranking])
    shot = np.where(is_unknown, hits.uneven, hits.shot)
    if moves:
        straddles = (hits.above < k) & (k < hits.above + hits.size)
        is_unknown |= straddles & (hits.times > 1)
    rows = np.flatnonzero(is_unknown)[::-1]
    return dict(zip(hits.ranking[rows].tolist(), shot[rows].tolist(), strict=True))
