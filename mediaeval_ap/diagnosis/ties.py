"""Bounds of average precision over all orders of tied hypotheses: least, mean and greatest.

The mean follows F. McSherry and M. Najork, "Computing information retrieval performance measures
efficiently in the presence of tied scores", ECIR 2008.

An example: a miss, then a block of ties with the shots a, b and c; a and c are relevant, R = 2::

    rank   shot  confidence
    1      x     .9          miss
          +--------------+
    2     | a    .5      |   hit
    3     | b    .5      |   miss
    4     | c    .5      |   hit
          +--------------+

    order of the block   ranks of hits   AP
    a c b, c a b         2 3             (1/2 + 2/3) / 2 = .583   greatest: hits first
    a b c, c b a         2 4             (1/2 + 2/4) / 2 = .5
    b a c, b c a         3 4             (1/3 + 2/4) / 2 = .417   least: hits last
                                         mean of the six: .5

No order is tried: hits are put first for the greatest and last for the least, and each rank of the
block adds its expected precision to the mean. With 9, 1, 2 and 3 for x, a, b and c:

>>> from mediaeval_ap import definitions
>>> hits = tied_hits(np.array([9, 1, 2, 3]), np.array([0, 1]), np.array([1, 3]), Repeats.DROP)
>>> hits.above.tolist(), hits.size.tolist()
([1, 1], [3, 3])
>>> trec = definitions.get('trec')
>>> (bounds,) = tie_bounds(hits, np.array([2]), np.array([4]), [4], trec, str)
>>> [round(float(values[0]), 3) for values in (bounds.minimum, bounds.expected, bounds.maximum)]
[0.417, 0.5, 0.583]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, first_equal, first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Definition, Precision, Repeats
from mediaeval_ap.errors import Note
from mediaeval_ap.metrics.ap_of_hits import (
    Counts,
    PrecisionTerms,
    average_precision_of_terms,
    least,
    precision_at_hits,
)
from mediaeval_ap.metrics.tie_blocks import TieBlocks, expected_precisions
from mediaeval_ap.results.rounding import exact_mean

BOUND_KEYS = ('min', 'expected', 'max')  # of JSON and tables
NO_SHOT = -1
RANKS_AT_ONCE = 2**17  # keeps memory low
DIVISOR_DEPENDS_ON_ORDER = 'AP is divided by the number of hits, which depends on the order of ties'


@dataclass(frozen=True, eq=False)
class TieBounds:
    """Average precision of queries over all orders of ties; NaN where it is unknown.

    Parameters
    ----------
    minimum, maximum : ndarray of float64, shape (n_queries,)
        The least and the greatest. The maximum is only a bound: no system can order its ties so
        without knowing the truth.
    expected : ndarray of float64, shape (n_queries,)
        The mean over all orders.
    reasons : mapping of int to str
        Why the bounds are unknown, by the position of the query: a shot is returned several times
        in one block of ties but counts once, or AP is divided by the number of hits and this
        depends on the order.
    """

    minimum: Floats
    expected: Floats
    maximum: Floats
    reasons: Mapping[int, str]

    def of(self, rows: NDArray[np.int64]) -> TieBounds:
        """Return the bounds of some of the queries, which may repeat."""
        reasons = {
            position: self.reasons[row]
            for position, row in enumerate(rows.tolist())
            if row in self.reasons
        }
        return TieBounds(self.minimum[rows], self.expected[rows], self.maximum[rows], reasons)

    def of_query(self, row: int) -> dict[str, Any]:
        """Return the bounds of a query by name; unknown ones are None, with a reason."""
        return self._by_name(lambda column: float(column[row]), self.reasons.get(row))

    def means(self) -> dict[str, Any]:
        """Return the means over the queries; None, with a reason, if a query has unknown bounds."""
        n_queries = len(self.expected)
        reason = None
        if self.reasons:
            first_reason = self.reasons[min(self.reasons)]
            finding = f'have no known bounds: {first_reason}'
            reason = str(Note(finding, len(self.reasons), n_queries))
        return self._by_name(exact_mean, reason)

    def _by_name(self, value_of: Callable[[Floats], float], reason: str | None) -> dict[str, Any]:
        if reason:
            return {**dict.fromkeys(BOUND_KEYS), 'reason': reason}
        values = map(value_of, (self.minimum, self.expected, self.maximum))
        return dict(zip(BOUND_KEYS, values, strict=True))


class TiedHits(NamedTuple):
    """Relevant shots, each in the block of ties of its first hypothesis, or of each that counts."""

    ranking: NDArray[np.int64]  # ascending; within a ranking, blocks are in order
    above: NDArray[np.int64]  # number of ranks before the block
    size: NDArray[np.int64]  # number of ranks in the block
    repeated_shot: NDArray[np.int64]  # a shot whose repeats make bounds unknown, or NO_SHOT


def tied_hits(
    shots: NDArray[np.integer],
    starts: NDArray[np.integer],
    relevant: NDArray[np.integer],  # positions of hypotheses of relevant shots, ascending
    repeats: Repeats,
) -> TiedHits:
    """Return the possible hits of one ranking of shots, whose blocks of ties begin at `starts`."""
    counts_again = repeats is Repeats.COUNT
    hits = relevant if counts_again else relevant[first_occurrences(shots[relevant])]
    block = np.searchsorted(starts, hits, side='right') - 1
    above = starts[block].astype(np.int64)
    end = np.append(starts[1:], len(shots))[block].astype(np.int64)
    if counts_again:
        no_shots = np.full(len(hits), NO_SHOT)
        return TiedHits(np.zeros_like(above), above, end - above, no_shots)
    # Find shots that are repeated within the block of their first hypothesis. Where repeats keep
    # their ranks, only relevant ones matter.
    drops = repeats is Repeats.DROP
    listed = np.arange(end.max(initial=0)) if drops else relevant
    first = listed[first_equal(shots[listed])]
    repeat = listed[first < listed]
    first_of_repeat = first[first < listed]
    block_start = starts[np.searchsorted(starts, repeat, side='right') - 1]
    repeat = repeat[block_start <= first_of_repeat]
    first_repeat = repeat.searchsorted(above)
    size = end - above
    n_repeats = repeat.searchsorted(end) - first_repeat
    if drops:  # ranks among the shots that are not dropped
        n_distinct = np.append(0, (first == listed).cumsum())
        above, size = n_distinct[above], n_distinct[end] - n_distinct[above]
    else:  # all orders of a block that holds one shot alone are the same
        size[n_repeats == size - 1] = 1
    repeated_shot = np.append(shots[repeat], NO_SHOT)[first_repeat]
    is_unknown = (n_repeats > 0) & (size > 1)
    return TiedHits(np.zeros_like(above), above, size, np.where(is_unknown, repeated_shot, NO_SHOT))


def join_rankings(rankings: Iterable[TiedHits]) -> TiedHits:
    """Concatenate the hits of several rankings, which are numbered in their order."""
    parts = list(rankings)
    numbered = (part._replace(ranking=part.ranking + number) for number, part in enumerate(parts))
    empty = [np.empty(0, dtype=np.int64)] * len(TiedHits._fields)
    return TiedHits(*map(np.concatenate, zip(empty, *numbered, strict=True)))


def tie_bounds(
    hits: TiedHits,
    n_relevant: NDArray[np.int64],
    n_returned: NDArray[np.int64],
    K: Sequence[int],
    definition: Definition,
    shot_id: Callable[[int], str],
) -> list[TieBounds]:
    """Return the bounds at each cutoff; rankings reach to the end of the block of the last."""
    first = run_starts([hits.ranking, hits.above])
    n_hits = np.diff(first, append=len(hits.ranking))
    ranking = hits.ranking[first]
    hits_above = first - np.searchsorted(hits.ranking, ranking)
    blocks = TieBlocks(hits.size[first], n_hits, hits.above[first], hits_above)
    earliest = hits.above + np.arange(len(hits.above)) - first.repeat(n_hits) + 1
    latest = earliest + hits.size - n_hits.repeat(n_hits)
    worst, best = (
        PrecisionTerms(
            hits.ranking, ranks, precision_at_hits(ranks, hits.ranking, definition.precision)
        )
        for ranks in (latest, earliest)
    )

    def ap(terms: PrecisionTerms) -> Floats:
        return average_precision_of_terms(
            terms, n_relevant, n_returned, K=K, definition=definition, hits=best
        )

    worst_ap = ap(worst)
    mean_ap = worst_ap.copy()  # the same where no block begins within the cutoffs
    for terms in _expected_terms(ranking, blocks, max(K), definition.precision):
        rankings = terms.rankings[run_starts([terms.rankings])]
        mean_ap[rankings] = ap(terms)[rankings]
    extremes = (worst_ap, mean_ap, ap(best))
    divides_by_hits = 'H' in definition.denominator
    bounds = []
    for column, k in enumerate(K):
        counts: dict[str, Counts] = {'R': n_relevant, 'k': k, 'N': n_returned}
        depth = np.broadcast_to(least(definition.depth, counts), n_relevant.shape)
        reach = k if divides_by_hits else depth[hits.ranking]
        is_unknown = (hits.repeated_shot != NO_SHOT) & (hits.above < reach)
        reasons = {}
        if divides_by_hits:
            is_cut = (blocks.above < k) & (k < blocks.above + blocks.size) & (n_hits < blocks.size)
            reasons = dict.fromkeys(ranking[is_cut].tolist(), DIVISOR_DEPENDS_ON_ORDER)
        # From the last row: the first shot of each ranking overwrites the others.
        for row in np.flatnonzero(is_unknown)[::-1].tolist():
            shot = shot_id(int(hits.repeated_shot[row]))
            reasons[int(hits.ranking[row])] = (
                f'{shot} is returned several times in one block of ties'
            )
        for values in extremes:
            values[list(reasons), column] = np.nan
        minimum, expected, maximum = (values[:, column] for values in extremes)
        bounds.append(TieBounds(minimum, expected, maximum, reasons))
    return bounds


def _expected_terms(
    ranking: NDArray[np.int64], blocks: TieBlocks, depth: int, precision: Precision
) -> Iterator[PrecisionTerms]:
    """Yield the mean term of each rank over all orders, down to a depth, some rankings at once."""
    n_ranks = np.clip(depth - blocks.above, 0, blocks.size)
    blocks = TieBlocks(*(column[n_ranks > 0] for column in blocks))
    ranking = ranking[n_ranks > 0]
    n_ranks = n_ranks[n_ranks > 0]
    begins = run_starts([ranking])
    cuts = begins[run_starts([n_ranks.cumsum()[begins] // RANKS_AT_ONCE])]
    for begin, end in pairwise([*cuts.tolist(), len(ranking)]):
        part = slice(begin, end)
        some_blocks = TieBlocks(*(column[part] for column in blocks))
        yield PrecisionTerms(
            ranking[part].repeat(n_ranks[part]),
            ranges(some_blocks.above + 1, n_ranks[part]),
            expected_precisions(some_blocks, n_ranks[part], precision),
        )
