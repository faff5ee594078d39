"""Average precision of queries that is kept up as hypotheses come and go.

A score needs the ranks of the hits alone, and a rank is one more than the number of hypotheses that
stand before the hit. So that number is kept for every hit. When hypotheses come and go, those of
them that stand before the hit are added and subtracted, and no other hypothesis is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, ranges, run_starts
from mediaeval_ap.definitions import Cutoff, Definition, Repeats, depths
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.live.ranking import LiveRanking, Rows
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.tie_breaking import bisect, in_order, precedes

# Distances compared at a time. To watch 30,000 hypotheses, all of them hits of 599 queries, takes
# 93 MiB at most; with half or double of these cells 63 or 157 MiB, in the same time within a tenth.
BLOCK_CELLS = 1 << 21


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
        self._distances = np.empty((0, len(queries)))  # a row for each name, and some to spare
        self._n_names = 0
        relevant = [np.unique(relevance.relevant_shots(query)) for query in queries]
        shots = np.concatenate(relevant)
        by_shot = shots.argsort(kind='stable')
        self._relevant_shots = shots[by_shot]
        self._relevant_to = np.arange(len(queries)).repeat(list(map(len, relevant)))[by_shot]
        self._n_relevant = np.array([relevance.reference.n_relevant(query) for query in queries])
        self._measure()
        self._n_went = 0  # hypotheses in all
        self._far = self._hits_among(ranking.rows(np.empty(0, dtype=np.int64)))
        self._set_aside(self._counted(self._hits_among(ranking.rows())))

    def named(self, rows: NDArray[np.bool_]) -> list[str]:
        """Return the queries of some rows of `ap`."""
        return [self.queries[row] for row in rows.nonzero()[0].tolist()]

    def update(self, ranking: LiveRanking) -> None:
        """Go on to the next moment, whose ranking was made from the one before."""
        before, self._ranking = self._ranking, ranking
        self._measure()
        changed = ranking.changed_since(before)
        came, went = _differing(ranking.rows(changed), before.rows(changed))
        if self._distinct:
            # Ranks count shots here, and a shot stands where the first of its hypotheses does: of
            # a shot that changed, all that it had go, and all that it has come.
            touched = np.zeros(len(self._relevance.shots), dtype=np.bool_)
            touched[came.shot] = touched[went.shot] = True
            came, went = ranking.rows(), before.rows()
            came, went = came.at(touched[came.shot]), went.at(touched[went.shot])
            near, far = (each.at(~touched[each.rows.shot]) for each in (self._near, self._far))
        else:
            near, far = (each.at(~_are_among(each.rows, went)) for each in (self._near, self._far))
        change = self._count_before(near, came) - self._count_before(near, went)
        self._n_went += len(went.name)
        may_be_near = far.before - self._n_went < self._depth
        self._far = far.at(~may_be_near)
        near = near._replace(before=near.before + change)
        new = far.at(may_be_near).joined(self._hits_among(came))
        self._set_aside(near.joined(self._counted(new)))

    def ap(self) -> NDArray[np.float64]:
        """Return average precision now, shape (n_queries, n_cutoffs)."""
        order = np.lexsort((self._near.before, self._near.query))
        if not self.definition.counts_again:
            shot = self._near.rows.shot[order].astype(np.int64)
            order = order[first_occurrences(shot * len(self.queries) + self._near.query[order])]
        return average_precision_of_hits(
            self._near.query[order],
            self._near.before[order] + 1,
            self._n_relevant,
            self._ranking.n_shots if self._distinct else len(self._ranking),
            self._K,
            self.definition,
        )

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

    def _set_aside(self, hits: _Hits) -> None:
        """Keep up the hits that a cutoff reaches, and set the others aside."""
        # A hit that is set aside comes near only when hypotheses before it go. Each that went could
        # be one of these: it is counted again as soon as so many went, and costs nothing till then.
        # Its number is kept as if none had gone yet, so that one comparison tells for all of them.
        is_near = hits.before < self._depth
        self._near, far = hits.at(is_near), hits.at(~is_near)
        self._far = self._far.joined(far._replace(before=far.before + self._n_went))

    def _counted(self, hits: _Hits) -> _Hits:
        """Count what stands before some hits among all hypotheses."""
        return hits._replace(before=self._count_before(hits, self._ranking.rows()))

    def _hits_among(self, rows: Rows) -> _Hits:
        """Return hits with nothing counted; of each shot, the first where repeats are dropped."""
        begins = self._relevant_shots.searchsorted(rows.shot)
        sizes = self._relevant_shots.searchsorted(rows.shot, side='right') - begins
        query = self._relevant_to[ranges(begins, sizes)]
        hits = _Hits(query, rows.at(np.arange(len(sizes)).repeat(sizes)), np.zeros_like(query))
        return hits.at(self._first_of_each_shot(hits)) if self._distinct else hits

    def _first_of_each_shot(self, hits: _Hits) -> NDArray[np.int64]:
        distance = self._distances[hits.rows.name, hits.query]
        order = in_order(hits.query, hits.rows.shot, distance, *self._ranking.keys(hits.rows))
        return order[run_starts([hits.query[order], hits.rows.shot[order]])]

    def _count_before(self, hits: _Hits, rows: Rows) -> NDArray[np.int64]:
        """Count the hypotheses, or their shots where repeats are dropped, before each hit."""
        if not self._distinct:
            return self._count_rows_before(hits, rows)
        # Most shots have one hypothesis: these are counted as hypotheses, by bisection, which is
        # faster than comparing each hypothesis with each hit.
        _, number, held = np.unique(rows.shot, return_inverse=True, return_counts=True)
        alone = held[number] == 1
        return self._count_rows_before(hits, rows.at(alone)) + self._count_shots_before(
            hits, rows.at(~alone)
        )

    def _count_rows_before(self, hits: _Hits, rows: Rows) -> NDArray[np.int64]:
        """Count the hypotheses before each hit; they come name after name, each in its order."""
        # Names that are nearer to the query count whole; within a name at the distance of the hit,
        # the place of the hit is found by bisection. So no hypothesis is compared with every hit.
        names = run_starts([rows.name])
        ends = np.append(names, len(rows.name))[1:]
        # Hits of one query and name are as near: distances are compared once for all of them.
        order = in_order(hits.query, hits.rows.name)
        marks = run_starts([hits.query[order], hits.rows.name[order]])
        lent = np.diff(marks, append=len(order))
        keys, hit_keys = self._ranking.keys(rows), self._ranking.keys(hits.rows)
        counts = np.zeros(len(order), dtype=np.int64)
        for block, nearer, name, mark in self._compared(hits.at(order[marks]), rows.name[names]):
            # A product of matrices in doubles, which are exact far beyond any number of hypotheses.
            at_mark = ((ends - names).astype(np.float64) @ nearer).astype(np.int64)
            counts[order[ranges(marks[block], lent[block])]] += at_mark.repeat(lent[block])
            for part in _parts(lent[mark]):
                sizes = lent[mark[part]]
                hit = order[ranges(marks[mark[part]], sizes)]
                tied = name[part].repeat(sizes)
                before = bisect(keys, names[tied], ends[tied], hit_keys, hit) - names[tied]
                counts += np.bincount(hit, before, len(counts)).astype(np.int64)
        return counts

    def _count_shots_before(self, hits: _Hits, rows: Rows) -> NDArray[np.int64]:
        """Count the shots of which some hypothesis stands before each hit."""
        counts = np.zeros(len(hits.query), dtype=np.int64)
        if len(rows.shot):
            rows = rows.at(rows.shot.argsort(kind='stable'))
            shots = run_starts([rows.shot])
            keys, hit_keys = self._ranking.keys(rows), self._ranking.keys(hits.rows)
            for block, before, row, hit in self._compared(hits, rows.name):
                before[row, hit - block.start] = precedes(keys, row, hit_keys, hit)
                counts[block] = np.logical_or.reduceat(before, shots).sum(axis=0)
        return counts

    def _compared(
        self, hits: _Hits, names: NDArray[np.integer]
    ) -> Iterator[tuple[slice, NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]]:
        """Yield blocks of hits, a matrix of nearer names, and names and hits of tied pairs."""
        size = max(1, BLOCK_CELLS // max(1, len(names)))
        for begin in range(0, len(hits.query), size):
            block = slice(begin, begin + size)
            query = hits.query[block]
            if len(query) < len(self.queries):
                distances = self._distances[names[:, None], query]
            else:  # more hits than queries: to copy whole rows first is four times as fast
                distances = self._distances[names].take(query, axis=1)
            at_hit = self._distances[hits.rows.name[block], query]
            name, hit = np.divmod(np.flatnonzero(distances == at_hit), len(query))
            yield block, distances < at_hit, name, hit + begin


def _parts(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices whose sizes come to no more than a block, or which hold a single item."""
    ends = sizes.cumsum()
    begin = 0
    while begin < len(sizes):
        passed = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(ends.searchsorted(passed + BLOCK_CELLS, side='right')))
        yield slice(begin, end)
        begin = end


class _Hits(NamedTuple):
    """Hits of queries."""

    query: NDArray[np.int64]  # its row
    rows: Rows  # the hypotheses
    before: NDArray[np.int64]  # how many hypotheses, or shots, stand before it

    def at(self, hits: NDArray[np.integer] | NDArray[np.bool_]) -> _Hits:
        return _Hits(self.query[hits], self.rows.at(hits), self.before[hits])

    def joined(self, other: _Hits) -> _Hits:
        return _Hits(
            np.concatenate([self.query, other.query]),
            self.rows.joined(other.rows),
            np.concatenate([self.before, other.before]),
        )


def _differing(rows: Rows, others: Rows) -> tuple[Rows, Rows]:
    """Return the hypotheses that are not among others, and the others that are not among them."""
    groups, other_groups = _equal_rows(rows, others)
    alone = np.bincount(np.concatenate([groups, other_groups])) == 1
    return rows.at(alone[groups]), others.at(alone[other_groups])


def _are_among(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Return whether each hypothesis is among others."""
    among = np.isin(rows.name, others.name)
    among[among] = np.isin(*_equal_rows(rows.at(among), others))
    return among


def _equal_rows(rows: Rows, others: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers for hypotheses and for others, equal where these are."""
    both = rows.joined(others)
    order = in_order(both.name, both.confidence, both.temporal_rank, both.shot)
    begins = np.zeros(len(order), dtype=np.int64)
    begins[run_starts([column[order] for column in both])] = 1
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = begins.cumsum() - 1
    return numbers[: len(rows.name)], numbers[len(rows.name) :]
