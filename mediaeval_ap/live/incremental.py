"""Average precision of queries that is kept up as hypotheses come and go.

A score needs the ranks of the hits alone. A hypothesis that comes or goes is looked for among the
hits of each query, and moves those behind it.

Only hits that a cutoff can reach are kept. Each query has two limits. Its *radius* is a distance
with enough hypotheses nearer to fill the largest cutoff; it is set again when too few are left, or
twice as many. Its *fence* is the first hit whose rank exceeds 1.25 times the largest cutoff; hits
behind it are dropped, and looked for again once the last kept rank is below the cutoff.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Cutoff, Definition, Repeats, depths
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.live.live_ranking import LiveRanking, LiveRows, are_among
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.tie_breaking import bisect, in_order, precedes

SLOTS = 256  # of distances; a power of two, so that a distance times it is exact
# Pairs of a query and a hypothesis that are looked at together, at most. To watch 30,000 of these,
# all of them hits of 599 queries, takes 35 MiB at most; with four times as many cells 53 MiB, and
# no less time.
BLOCK_CELLS = 1 << 18
BEYOND_ALL = 1 + 1 / SLOTS  # a radius that no distance reaches
# What a new radius holds at least, and how far a fence is, as a multiple of the largest cutoff: so
# many have to go before it is set anew. 1.05 takes as long, 1.5 a tenth longer.
SLACK = 1.25
UNIT = 1 << 20  # what a shot counts; its hypotheses share it
MOST = 1 << 40  # more hypotheses than a run has, so that no product with UNIT overflows


class LiveHits(NamedTuple):
    """Hits of queries; once they are ranked, query by query in order."""

    query: NDArray[np.int64]  # its row
    distance: NDArray[np.float64]
    rows: LiveRows  # the hypotheses
    rank: NDArray[np.int64]

    def at(self, hits: NDArray[np.integer] | NDArray[np.bool_]) -> LiveHits:
        return LiveHits(self.query[hits], self.distance[hits], self.rows.at(hits), self.rank[hits])

    def joined(self, other: LiveHits) -> LiveHits:
        return LiveHits(
            np.append(self.query, other.query),
            np.append(self.distance, other.distance),
            self.rows.joined(other.rows),
            np.append(self.rank, other.rank),
        )

    def segments(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the hits of each query begin and end."""
        begins = run_starts([self.query])
        return begins, np.append(begins, len(self.query))[1:]


class Near(NamedTuple):
    """Names near queries, with their positions among the hits of the query."""

    segment: NDArray[np.int64]  # the number of the query among those that have hits
    begin: NDArray[np.int64]  # the first of its hypotheses
    held: NDArray[np.int64]  # their number
    low: NDArray[np.int64]  # the first hit that is no nearer
    high: NDArray[np.int64]  # the first hit that is farther, or the end of the segment


class IncrementalScorer:
    """Scores queries at one moment after another, from what changed in between."""

    def __init__(
        self,
        queries: Sequence[str],
        relevance: Relevance,
        K: Sequence[Cutoff],
        definition: Definition,
        ranking: LiveRanking,
    ) -> None:
        self.queries = queries
        self._relevance = relevance
        self._K = depths(K)
        self._depth = max(self._K)
        self.definition = definition
        self._distinct = definition.repeats is Repeats.DROP
        self._ranking = ranking
        relevant = [np.unique(relevance.relevant_shots(query)) for query in queries]
        shots = np.concatenate(relevant)
        by_shot = shots.argsort(kind='stable')
        self._relevant_shots = shots[by_shot]
        self._relevant_to = np.arange(len(queries)).repeat(list(map(len, relevant)))[by_shot]
        self._is_judged = np.array([len(found) > 0 for found in relevant])
        self._n_relevant = np.array([relevance.reference.n_relevant(query) for query in queries])
        self._n_names = 0
        self._distances = np.empty((0, len(queries)))  # a row for each name, and some to spare
        self._times = np.empty(0, dtype=np.int64)  # how many hypotheses each shot has
        self._shares = np.empty(0)  # what the hypotheses of each name count
        self._enough = min(self._depth, MOST) * UNIT
        self._radius = np.full(len(queries), BEYOND_ALL)
        self._within = np.zeros(len(queries))  # what the hypotheses within it count
        self._limit = np.zeros(len(queries))  # above which the radius is set anew
        self._is_fenced = np.zeros(len(queries), dtype=np.bool_)  # its last hit is the fence
        nothing = ranking.rows(np.empty(0, dtype=np.int64))
        self._hits = self._hits_among(nothing)
        self._go_on(ranking.rows(), nothing)

    def named(self, rows: NDArray[np.bool_]) -> list[str]:
        """Return the queries of some rows of `ap`."""
        return [self.queries[row] for row in rows.nonzero()[0].tolist()]

    def update(self, ranking: LiveRanking) -> None:
        """Go on to the next moment, whose ranking was made from the one before."""
        before, self._ranking = self._ranking, ranking
        came, went = ranking.came_and_went(before)
        if self._distinct:
            # Ranks count shots here, and a shot stands where the first of its hypotheses does: of
            # a shot that changed, all that it had go, and all that it has come.
            touched = np.zeros(len(self._relevance.shots), dtype=np.bool_)
            touched[came.shot] = touched[went.shot] = True
            came, went = ranking.rows(), before.rows()
            came, went = came.at(touched[came.shot]), went.at(touched[went.shot])
            self._hits = self._hits.at(~touched[self._hits.rows.shot])
        else:
            self._hits = self._hits.at(~are_among(self._hits.rows, went))
        self._go_on(came, went)

    def ap(self) -> NDArray[np.float64]:
        """Return average precision now, shape (n_queries, n_cutoffs)."""
        hits = self._hits.at(self._hits.rank <= self._depth)
        if not self.definition.counts_again:
            shot = hits.rows.shot.astype(np.int64)
            hits = hits.at(first_occurrences(shot * len(self.queries) + hits.query))
        return average_precision_of_hits(
            hits.query,
            hits.rank,
            self._n_relevant,
            self._ranking.n_shots if self._distinct else len(self._ranking),
            self._K,
            self.definition,
        )

    def _go_on(self, came: LiveRows, went: LiveRows) -> None:
        """Take up what came and went; hits that went are gone already."""
        self._measure()
        kept = self._hits
        rank = kept.rank - self._count_up_to(kept, went)
        change = np.zeros(self._n_names)
        change -= np.bincount(went.name, self._share(went), self._n_names)
        n = len(self._relevance.shots)
        times = np.bincount(came.shot, minlength=n) - np.bincount(went.shot, minlength=n)
        times[: len(self._times)] += self._times
        self._times = times
        rank += self._count_up_to(kept, came)
        change += np.bincount(came.name, self._share(came), self._n_names)
        kept, again = self._still_kept(kept._replace(rank=rank), self._set_radii(change))
        new = self._hits_among(came)
        new = new.at(~self._are_behind_fence(new, kept))
        if again.any():
            every = self._hits_among(self._ranking.rows())
            new = new.at(~again[new.query]).joined(every.at(again[every.query]))
        if len(new.query):
            new = new.at(in_order(new.query, new.distance, *self._ranking.keys(new.rows)))
            # A hit is among the hypotheses that are counted, so the number is its rank.
            new = new._replace(rank=self._count_up_to(new, self._ranking.rows()))
            kept = kept.joined(new)
            kept = kept.at(in_order(kept.query, kept.rank))
        # Hits behind the first that is well beyond the largest cutoff are left out.
        behind = kept.rank > SLACK * self._depth
        behind[1:] &= behind[:-1] & (kept.query[1:] == kept.query[:-1])
        behind[:1] = False
        self._is_fenced[kept.query[behind]] = True
        self._hits = kept.at(~behind)

    def _still_kept(
        self, hits: LiveHits, grown: NDArray[np.bool_]
    ) -> tuple[LiveHits, NDArray[np.bool_]]:
        """Return the hits to go on with, and the queries whose hits are looked for again."""
        is_far = hits.distance >= self._radius[hits.query]
        self._is_fenced[hits.query[is_far]] = False
        last = np.zeros(len(self.queries), dtype=np.int64)
        ends = hits.segments()[1]
        last[hits.query[ends - 1]] = hits.rank[ends - 1]
        again = grown | (self._is_fenced & (last < self._depth))
        self._is_fenced[again] = False
        return hits.at(~(is_far | again[hits.query])), again

    def _are_behind_fence(self, hits: LiveHits, kept: LiveHits) -> NDArray[np.bool_]:
        ends = kept.segments()[1]
        fence = np.zeros(len(self.queries), dtype=np.int64)
        fence[kept.query[ends - 1]] = ends - 1
        behind = self._is_fenced[hits.query]
        among = behind.nonzero()[0]
        behind[among] = ~precedes(
            (hits.distance, *self._ranking.keys(hits.rows)),
            among,
            (kept.distance, *self._ranking.keys(kept.rows)),
            fence[hits.query[among]],
        )
        return behind

    def _measure(self) -> None:
        """Take the distances of all queries to the names that are new."""
        names = self._ranking.names.values
        new = Names(names[self._n_names :])
        if len(new):
            if len(names) > len(self._distances):
                grown = np.empty((2 * len(names), len(self.queries)))
                grown[: self._n_names] = self._distances[: self._n_names]
                self._distances = grown
            distances = np.array(list(new.distances(self.queries)))
            self._distances[self._n_names : len(names)] = distances.T
            self._n_names = len(names)

    def _distances_of(
        self, names: NDArray[np.integer], queries: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        # Rows first if that copies fewer cells: one changed name is one row.
        if len(names) * len(self.queries) <= self._n_names * len(queries):
            distances: NDArray[np.float64] = self._distances[names]
            every = len(queries) == len(self.queries)
            return distances if every else distances.take(queries, axis=1)
        distances = self._distances[: self._n_names].take(queries, axis=1)
        return distances if len(names) == self._n_names else distances[names]

    def _share(self, rows: LiveRows) -> NDArray[np.int64]:
        """Return UNIT, or UNIT divided by the hypotheses of the shot, rounded down."""
        # So at least as many shots are within a radius as the shares there come to, whichever of
        # the hypotheses of a shot are. The sums are integers below 2**53, and therefore exact.
        if self._distinct:
            shares: NDArray[np.int64] = UNIT // self._times[rows.shot]
            return shares
        return np.full(len(rows.shot), UNIT)

    def _set_radii(self, change: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Count a change of shares, set radii anew where needed, and return which of them grew.

        A new radius is the least that holds enough, in steps of a slot.
        """
        names = change.nonzero()[0]
        for block in _blocks(len(self.queries), len(names)):
            is_within = self._distances[names, block] < self._radius[block]
            self._within[block] += change[names] @ is_within
        change[: len(self._shares)] += self._shares
        self._shares = change
        before = self._radius.copy()
        too_few = (self._within < self._enough) & (before < BEYOND_ALL)
        queries = (self._is_judged & (too_few | (self._within > self._limit))).nonzero()[0]
        for block in _blocks(len(queries), self._n_names):
            some = queries[block]
            distances = self._distances[: self._n_names].take(some, axis=1)
            columns = np.arange(len(some))
            slots = columns * (SLOTS + 1) + (distances * SLOTS).astype(np.int64)
            shares = self._shares.repeat(len(some))
            sums = np.bincount(slots.ravel(), shares, (SLOTS + 1) * len(some))
            sums = sums.reshape(len(some), SLOTS + 1).cumsum(axis=1)
            last = np.minimum((sums < SLACK * self._enough).sum(axis=1), SLOTS)
            self._radius[some] = (last + 1) / SLOTS
            self._within[some] = within = sums[columns, last]
            self._limit[some] = 2 * np.maximum(within, self._enough)
        return self._radius > before

    def _hits_among(self, rows: LiveRows) -> LiveHits:
        """Return hits within the radii, not ranked; of each shot one, where repeats are dropped."""
        begins = self._relevant_shots.searchsorted(rows.shot)
        sizes = self._relevant_shots.searchsorted(rows.shot, side='right') - begins
        query = self._relevant_to[ranges(begins, sizes)]
        row = np.arange(len(sizes)).repeat(sizes)
        distance = self._distances[rows.name[row], query]
        near = distance < self._radius[query]
        query, distance, rows = query[near], distance[near], rows.at(row[near])
        hits = LiveHits(query, distance, rows, np.zeros_like(query))
        if not self._distinct:
            return hits
        order = in_order(query, rows.shot, distance, *self._ranking.keys(rows))
        return hits.at(order[run_starts([query[order], rows.shot[order]])])

    def _count_up_to(self, hits: LiveHits, rows: LiveRows) -> NDArray[np.int64]:
        """Count hypotheses, or shots where repeats are dropped, up to each hit and with it."""
        if not len(hits.query) or not len(rows.name):
            return np.zeros(len(hits.query), dtype=np.int64)
        if not self._distinct:
            return self._count(hits, rows)
        # Of the hypotheses of a shot the first has to be found; most shots have no second.
        alone = self._times[rows.shot] == 1
        return self._count(hits, rows.at(alone)) + self._count(hits, rows.at(~alone), once=True)

    def _count(self, hits: LiveHits, rows: LiveRows, *, once: bool = False) -> NDArray[np.int64]:
        """Count hypotheses up to each hit; with `once`, those of a shot where the first is."""
        begins, ends = hits.segments()
        segment_of = np.arange(len(begins)).repeat(ends - begins)
        # One more for each query, which counts what is behind its last hit.
        n_at = np.zeros(len(hits.query) + len(begins))

        def add(at: NDArray[np.int64], held: NDArray[np.int64] | None = None) -> None:
            if len(at):
                added = np.bincount(at - (first := at.min()), held)
                n_at[first : first + len(added)] += added

        keys, hit_keys = self._ranking.keys(rows), self._ranking.keys(hits.rows)
        for near in self._near(hits, rows):
            names = np.arange(len(near.low))
            if not once:
                # A name counts whole if no hit is as far, or if even its surest hypothesis, which
                # is its first, is behind all of these.
                last = hit_keys.confidence.take(near.high - 1, mode='clip')
                is_among = (near.low < near.high) & (keys.confidence[near.begin] <= last)
                add(near.high + near.segment, np.where(is_among, 0, near.held))
                names = names[is_among]
            held, columns = near.held[names], (near.segment, near.low, near.high)
            segment, low, high = (column[names].repeat(held) for column in columns)
            row = ranges(near.begin[names], held)
            # Most are behind all hits at their distance, which one comparison tells.
            last = hit_keys.confidence.take(high - 1, mode='clip')
            low = np.where(keys.confidence[row] > last, high, low)
            position = bisect(hit_keys, low, high, keys, row)
            if once:
                shot = rows.shot[row]
                order = in_order(segment, shot, position)
                firsts = order[run_starts([segment[order], shot[order]])]
                segment, position = segment[firsts], position[firsts]
            add(position + segment)
        sums = np.append(0, n_at.cumsum()).astype(np.int64)
        first_at, at = begins + np.arange(len(begins)), np.arange(len(segment_of)) + segment_of
        counts: NDArray[np.int64] = sums[at + 1] - sums[first_at][segment_of]
        return counts

    def _near(self, hits: LiveHits, rows: LiveRows) -> Iterator[Near]:
        """Yield names with hypotheses that are no farther from a query than some hit of it."""
        begins = run_starts([rows.name])
        held = np.diff(begins, append=len(rows.name))
        firsts, ends = hits.segments()
        # Complex numbers are ordered by their real parts, and where these are equal by the others.
        ordered = np.arange(len(firsts)).repeat(ends - firsts) + 1j * hits.distance
        for block in _blocks(len(firsts), max(len(rows.name), SLOTS)):
            first, farthest = firsts[block], hits.distance[ends[block] - 1]
            distances = self._distances_of(rows.name[begins], hits.query[first])
            cell = np.flatnonzero(distances <= farthest)
            name = cell // len(first)
            segment = cell - name * len(first) + block.start
            wanted = segment + 1j * distances.ravel()[cell]
            low = ordered.searchsorted(wanted)
            high = low.copy()
            is_tied = ordered[low] == wanted
            high[is_tied] = ordered.searchsorted(wanted[is_tied], side='right')
            yield Near(segment, begins[name], held[name], low, high)


def _blocks(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Yield slices of columns, of BLOCK_CELLS at most where there is more than one column."""
    size = max(1, BLOCK_CELLS // max(1, n_rows))
    for begin in range(0, n_columns, size):
        yield slice(begin, begin + size)
