"""Hits of queries, and the places that hypotheses have among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges, run_starts
from mediaeval_ap.live.ranking import Rows
from mediaeval_ap.ranking.tie_breaking import TieKeys, bisect

SLOTS = 256  # of distances; a power of two, so that a distance times it is exact


class Hits(NamedTuple):
    """Hits of queries; once they are ranked, query by query in order."""

    query: NDArray[np.int64]  # its row
    distance: NDArray[np.float64]
    rows: Rows  # the hypotheses
    rank: NDArray[np.int64]

    def at(self, hits: NDArray[np.integer] | NDArray[np.bool_]) -> Hits:
        return Hits(self.query[hits], self.distance[hits], self.rows.at(hits), self.rank[hits])

    def joined(self, other: Hits) -> Hits:
        return Hits(
            np.concatenate([self.query, other.query]),
            np.concatenate([self.distance, other.distance]),
            self.rows.joined(other.rows),
            np.concatenate([self.rank, other.rank]),
        )

    def segments(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the hits of each query begin and end."""
        begins = run_starts([self.query])
        return begins, np.append(begins, len(self.query))[1:]


class Near(NamedTuple):
    """Names near queries, with their places among the hits of the query."""

    segment: NDArray[np.int64]  # the number of the query among those that have hits
    begin: NDArray[np.int64]  # the first of its hypotheses
    held: NDArray[np.int64]  # their number
    low: NDArray[np.int64]  # the first hit that is no nearer
    high: NDArray[np.int64]  # the first hit that is farther, or the end of the segment

    def by_row(self, names: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Return the hypotheses of some names, and segment, low and high beside each."""
        held = self.held[names]
        columns = self.segment, self.low, self.high
        beside = (column[names].repeat(held) for column in columns)
        return ranges(self.begin[names], held), *beside


class Counts:
    """Counts of hypotheses or shots that are placed up to each hit of the same query."""

    def __init__(self, hits: Hits) -> None:
        begins, ends = hits.segments()
        # One place more for each query: of what is behind its last hit.
        self._segment = np.arange(len(begins)).repeat(ends - begins)
        self._begins = begins
        self._at = np.zeros(len(hits.query) + len(begins))

    def add(
        self,
        segment: NDArray[np.int64],
        place: NDArray[np.int64],
        held: NDArray[np.int64] | None = None,
    ) -> None:
        if len(place):
            at = place + segment
            first, last = at.min(), at.max()
            self._at[first : last + 1] += np.bincount(at - first, held)

    def up_to_each(self) -> NDArray[np.int64]:
        sums = np.append(0, self._at.cumsum()).astype(np.int64)
        hits = np.arange(len(self._segment)) + self._segment
        first = self._begins + np.arange(len(self._begins))
        counts: NDArray[np.int64] = sums[hits + 1] - sums[first][self._segment]
        return counts


def places_of_distances(
    hits: Hits,
    firsts: NDArray[np.int64],
    ends: NDArray[np.int64],
    segment: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the range of hits at each distance; where there is none, an empty one at its place.

    The hits of some successive queries stand from `firsts` to `ends`; `segment` says to which of
    these queries a distance is. No distance is larger than that of the last hit of its query.
    """
    # A table of slots says where most are; bisection of all took twice as long.
    begin = firsts[0]
    hit_distance = hits.distance[begin : ends[-1]]
    of_hits = np.arange(len(firsts)).repeat(ends - firsts)
    n_slots = len(firsts) * (SLOTS + 1)
    starts = np.append(0, np.bincount(slots(of_hits, hit_distance), minlength=n_slots).cumsum())
    slot = slots(segment, distance)
    low, high = starts[slot], starts[slot + 1]
    # Several distances may have one slot.
    at = hit_distance.take(low, mode='clip')
    several = ((low < high) & (at < distance)).nonzero()[0]
    low[several] = bisect((hit_distance,), low[several], high[several], (distance,), several)
    at[several] = hit_distance.take(low[several], mode='clip')
    ties = run_starts([of_hits, hit_distance])
    sizes = np.diff(ties, append=len(of_hits))
    tie_ends = (ties + sizes).repeat(sizes)
    is_tied = (low < high) & (at == distance)
    high = np.where(is_tied, tie_ends.take(low, mode='clip'), low)
    return low + begin, high + begin


def slots(column: NDArray[np.int64], distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the slots of distances; those of each column follow those of the one before."""
    numbers: NDArray[np.int64] = column * (SLOTS + 1) + (distance * SLOTS).astype(np.int64)
    return numbers


def places_among_tied(
    hit_keys: TieKeys,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    keys: TieKeys,
    row: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the place of each hypothesis among hits at its distance, from low to high."""
    # Most are behind all of these, which one comparison tells.
    last = hit_keys.confidence.take(high - 1, mode='clip')
    low = np.where(keys.confidence[row] > last, high, low)
    return bisect(hit_keys, low, high, keys, row)
