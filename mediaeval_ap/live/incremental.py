"""Queries that stand while hypotheses come and go, and their scores at each moment.

A score needs the ranks of the hits alone, and a rank is a number of hypotheses: those before the
hit. When hypotheses come and go, that number changes by those of them that are before it. So only
these are looked at, and none that stays.
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

__all__ = ['Standing']

BLOCK_CELLS = 1 << 21


class Standing:
    """Queries that stand while hypotheses come and go.

    Parameters
    ----------
    queries : sequence of str
        Distinct names.
    relevance : Relevance
        Which shots are relevant.
    K : sequence of int or 'all'
        The cutoffs.
    definition : Definition
        What average precision is.
    ranking : LiveRanking
        What is there at first.

    Notes
    -----
    Keeps the distance of each query to each name, 8 bytes each, taken once when a name is new.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> from mediaeval_ap.live.hypotheses import Hypotheses
    >>> from mediaeval_ap.live.known_shots import KnownShots
    >>> from mediaeval_ap.evaluation.relevance import Reference
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> shots = KnownShots(None)
    >>> hypotheses = Hypotheses(shots)
    >>> hypotheses.add(('x', 'v', '1', 'ann', 0.5))
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=True)
    >>> before = LiveRanking(hypotheses)
    >>> relevance = Relevance(reference, shots)
    >>> standing = Standing(['ann'], relevance, [9], definitions.get('kaggle'), before)
    >>> hypotheses.add(('x', 'v', '2', 'ann', 0.9))
    >>> standing.ap().tolist(), standing.update(LiveRanking(hypotheses, before))
    ([[1.0]], None)
    >>> standing.ap().tolist()
    [[0.5]]
    """

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
        self._distances = np.empty((0, len(queries)))  # a row each name
        self._n_names = 0
        relevant = [np.unique(relevance.relevant_shots(query)) for query in queries]
        shots = np.concatenate(relevant)
        by_shot = shots.argsort(kind='stable')
        self._relevant_shots = shots[by_shot]
        self._relevant_to = np.arange(len(queries)).repeat(list(map(len, relevant)))[by_shot]
        self._n_relevant = np.array([relevance.reference.n_relevant(query) for query in queries])
        self._measure()
        self._n_went = 0
        self._far = self._hits_among(ranking.rows(np.empty(0, dtype=np.int64)))
        self._sort_out(self._counted(self._hits_among(ranking.rows())))

    def named(self, rows: NDArray[np.bool_]) -> list[str]:
        """Some of the queries.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_queries,)
            Which.

        Returns
        -------
        list of str
            Those.
        """
        return [self.queries[row] for row in rows.nonzero()[0].tolist()]

    def update(self, ranking: LiveRanking) -> None:
        """Go on to the next moment.

        Parameters
        ----------
        ranking : LiveRanking
            What is there then, made from what was there before.

        Notes
        -----
        Takes time in proportion to the hits that a cutoff reaches times the names that changed;
        with a definition that drops repeats, times the hypotheses of shots that changed. Hits that
        no cutoff reaches are set aside, until as many hypotheses went as could bring them near.
        """
        before, self._ranking = self._ranking, ranking
        self._measure()
        changed = ranking.changed_since(before)
        came, went = _differing(ranking.rows(changed), before.rows(changed))
        if self._distinct:
            touched = np.zeros(len(self._relevance.shots), dtype=np.bool_)
            touched[came.shot] = touched[went.shot] = True
            came, went = ranking.rows(), before.rows()
            came, went = came.at(touched[came.shot]), went.at(touched[went.shot])
            near, far = (each.at(~touched[each.rows.shot]) for each in (self._near, self._far))
        else:
            near, far = (each.at(~_are_among(each.rows, went)) for each in (self._near, self._far))
        change = self._count_before(near, came) - self._count_before(near, went)
        self._n_went += len(went.name)
        wakes = far.before - self._n_went < self._depth
        self._far = far.at(~wakes)
        near = near._replace(before=near.before + change)
        self._sort_out(near.joined(self._counted(far.at(wakes).joined(self._hits_among(came)))))

    def ap(self) -> NDArray[np.float64]:
        """The scores of this moment.

        Returns
        -------
        ndarray of float64, shape (n_queries, n_cutoffs)
            Average precision.
        """
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
        """Take the distances to names that are new."""
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

    def _sort_out(self, hits: _Hits) -> None:
        """Set hits aside that no cutoff reaches, until as many went as would bring them near."""
        is_near = hits.before < self._depth
        self._near, far = hits.at(is_near), hits.at(~is_near)
        self._far = self._far.joined(far._replace(before=far.before + self._n_went))

    def _counted(self, hits: _Hits) -> _Hits:
        return hits._replace(before=self._count_before(hits, self._ranking.rows()))

    def _hits_among(self, rows: Rows) -> _Hits:
        """The hits among some hypotheses, or their shots where repeats are dropped."""
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
        """How many of some hypotheses, or of their shots where repeats are dropped, are before.

        A shot that one hypothesis holds is as well counted as that, and faster.
        """
        if not self._distinct:
            return self._count_rows_before(hits, rows)
        _, number, held = np.unique(rows.shot, return_inverse=True, return_counts=True)
        alone = held[number] == 1
        return self._count_rows_before(hits, rows.at(alone)) + self._count_shots_before(
            hits, rows.at(~alone)
        )

    def _count_rows_before(self, hits: _Hits, rows: Rows) -> NDArray[np.int64]:
        """How many of some hypotheses, name after name in their order, are before each hit."""
        names = run_starts([rows.name])
        ends = np.append(names, len(rows.name))[1:]
        order = in_order(hits.query, hits.rows.name)  # hits of one query and name are as near
        marks = run_starts([hits.query[order], hits.rows.name[order]])
        lent = np.diff(marks, append=len(order))
        keys, hit_keys = self._ranking.keys(rows), self._ranking.keys(hits.rows)
        counts = np.zeros(len(order), dtype=np.int64)
        for block, nearer, name, mark in self._compared(hits.at(order[marks]), rows.name[names]):
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
        """How many of the shots of some hypotheses have one that is before each hit."""
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
        """For a part of the hits at a time: which names are nearer, and names and hits tied."""
        size = max(1, BLOCK_CELLS // max(1, len(names)))
        for begin in range(0, len(hits.query), size):
            block = slice(begin, begin + size)
            query = hits.query[block]
            if len(query) < len(self.queries):
                distances = self._distances[names[:, None], query]
            else:
                distances = self._distances[names].take(query, axis=1)
            at_hit = self._distances[hits.rows.name[block], query]
            name, hit = np.divmod(np.flatnonzero(distances == at_hit), len(query))
            yield block, distances < at_hit, name, hit + begin


def _parts(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Some at a time, until their sizes come to about as many as a block has."""
    ends = sizes.cumsum()
    begin = 0
    while begin < len(sizes):
        passed = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(ends.searchsorted(passed + BLOCK_CELLS, side='right')))
        yield slice(begin, end)
        begin = end


class _Hits(NamedTuple):
    """Hits of queries: the query, the hypothesis, and how many hypotheses are before it."""

    query: NDArray[np.int64]
    rows: Rows
    before: NDArray[np.int64]

    def at(self, hits: NDArray[np.integer] | NDArray[np.bool_]) -> _Hits:
        return _Hits(self.query[hits], self.rows.at(hits), self.before[hits])

    def joined(self, other: _Hits) -> _Hits:
        return _Hits(
            np.concatenate([self.query, other.query]),
            self.rows.joined(other.rows),
            np.concatenate([self.before, other.before]),
        )


def _differing(rows: Rows, others: Rows) -> tuple[Rows, Rows]:
    """Those of some hypotheses that are not among others, and the other way about."""
    groups, other_groups = _equal_rows(rows, others)
    alone = np.bincount(np.concatenate([groups, other_groups])) == 1
    return rows.at(alone[groups]), others.at(alone[other_groups])


def _are_among(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Which of some hypotheses are among others."""
    among = np.isin(rows.name, others.name)
    among[among] = np.isin(*_equal_rows(rows.at(among), others))
    return among


def _equal_rows(rows: Rows, others: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of hypotheses and of others, where equal ones have equal numbers."""
    both = rows.joined(others)
    order = in_order(both.name, both.confidence, both.temporal_rank, both.shot)
    begins = np.zeros(len(order), dtype=np.int64)
    begins[run_starts([column[order] for column in both])] = 1
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = begins.cumsum() - 1
    return numbers[: len(rows.name)], numbers[len(rows.name) :]
