"""Queries that stand while hypotheses come and go, and their scores at each moment.

A score needs the ranks of the hits alone, and a rank is a number of hypotheses: those before the
hit. When hypotheses come and go, that number changes by those of them that are before it. So only
these are looked at, and none that stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.keys import first_occurrences, ranges, run_starts
from mediaeval_ap.live.live_ranking import LiveRanking, Rows
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.names import Names
from mediaeval_ap.order import in_order, precedes
from mediaeval_ap.relevance import Relevance
from mediaeval_ap.scoring import Scorer

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
    K : list of int
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
    >>> from mediaeval_ap.relevance import Reference
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
        K: list[int],
        definition: Definition,
        ranking: LiveRanking,
    ) -> None:
        self.queries = queries
        self._relevance = relevance
        self._K = K
        self._definition = definition
        self._ranking = ranking
        self._distances = np.empty((len(queries), 0))
        self._n_names = 0
        relevant = [np.unique(relevance.returned(query)) for query in queries]
        shots = np.concatenate(relevant)
        by_shot = shots.argsort(kind='stable')
        self._relevant_shots = shots[by_shot]
        self._relevant_to = np.arange(len(queries)).repeat(list(map(len, relevant)))[by_shot]
        self._n_relevant = np.array([relevance.reference.n_relevant(query) for query in queries])
        self._measure()
        self._hits = self._hits_among(ranking.rows())

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
        Takes time in proportion to the hits times the names that changed, and to the hypotheses
        that came or went at the distance of a hit.
        """
        before, self._ranking = self._ranking, ranking
        self._measure()
        if self._definition.repeats is Repeats.DROP:
            return
        changed = ranking.changed_since(before)
        old, new = before.rows(changed), ranking.rows(changed)
        came, went = new.at(~_among(new, old)), old.at(~_among(old, new))
        hits = self._hits
        touched = np.isin(hits.rows.name, went.name).nonzero()[0]
        lost = touched[_among(hits.rows.at(touched), went)]
        hits = hits.without(lost)
        change = self._count_before(hits, came) - self._count_before(hits, went)
        self._hits = _Hits(hits.query, hits.rows, hits.before + change).joined(
            self._hits_among(came)
        )

    def ap(self) -> NDArray[np.float64]:
        """The scores of this moment.

        Returns
        -------
        ndarray of float64, shape (n_queries, n_cutoffs)
            Average precision.
        """
        if self._definition.repeats is Repeats.DROP:  # what is dropped is another for each query
            scorer = Scorer(self._ranking, self._relevance, self._K, self._definition)
            return scorer.score_all(self.queries, self._distances[:, : self._n_names])[0]
        order = np.lexsort((self._hits.before, self._hits.query))
        if not self._definition.counts_again:
            shot = self._hits.rows.shot[order].astype(np.int64)
            order = order[first_occurrences(shot * len(self.queries) + self._hits.query[order])]
        return average_precision_of_hits(
            self._hits.query[order],
            self._hits.before[order] + 1,
            self._n_relevant,
            len(self._ranking),
            self._K,
            self._definition,
        )

    def _measure(self) -> None:
        """Take the distances to names that are new."""
        names = self._ranking.names.values
        new = Names(names[self._n_names :])
        if not len(new):
            return
        if len(names) > self._distances.shape[1]:
            grown = np.empty((len(self.queries), 2 * len(names)))
            grown[:, : self._n_names] = self._distances[:, : self._n_names]
            self._distances = grown
        for row, distances in zip(self._distances, new.distances(self.queries), strict=True):
            row[self._n_names : len(names)] = distances
        self._n_names = len(names)

    def _hits_among(self, rows: Rows) -> _Hits:
        """The hits among some hypotheses, and how many of all are before each."""
        begins = self._relevant_shots.searchsorted(rows.shot)
        sizes = self._relevant_shots.searchsorted(rows.shot, side='right') - begins
        query = self._relevant_to[ranges(begins, sizes)]
        hits = _Hits(query, rows.at(np.arange(len(sizes)).repeat(sizes)), np.zeros_like(query))
        return _Hits(query, hits.rows, self._count_before(hits, self._ranking.rows()))

    def _count_before(self, hits: _Hits, rows: Rows) -> NDArray[np.int64]:
        """How many of some hypotheses, name after name, are before each hit."""
        counts = np.zeros(len(hits.query), dtype=np.int64)
        if not len(rows.name):
            return counts
        starts = run_starts([rows.name])
        held = np.diff(starts, append=len(rows.name))
        names = rows.name[starts]
        distances = self._distances[:, names]
        size = max(1, BLOCK_CELLS // len(names))
        keys, hit_keys = self._ranking.keys(rows), self._ranking.keys(hits.rows)
        for begin in range(0, len(counts), size):
            block = slice(begin, begin + size)
            at_hit = self._distances[hits.query[block], hits.rows.name[block], None]
            near = distances[hits.query[block]]
            counts[block] = (near < at_hit) @ held.astype(np.float64)
            hit, name = (near == at_hit).nonzero()
            pairs = hit.repeat(held[name]) + begin
            tied = ranges(starts[name], held[name])
            pairs = pairs[precedes(keys.at(tied), hit_keys.at(pairs))]
            counts += np.bincount(pairs, minlength=len(counts))
        return counts


class _Hits(NamedTuple):
    """Hits of queries: the query, the hypothesis, and how many hypotheses are before it."""

    query: NDArray[np.int64]
    rows: Rows
    before: NDArray[np.int64]

    def without(self, lost: NDArray[np.int64]) -> _Hits:
        kept = np.ones(len(self.query), dtype=np.bool_)
        kept[lost] = False
        return _Hits(self.query[kept], self.rows.at(kept), self.before[kept])

    def joined(self, other: _Hits) -> _Hits:
        return _Hits(
            np.concatenate([self.query, other.query]),
            self.rows.joined(other.rows),
            np.concatenate([self.before, other.before]),
        )


def _among(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Which hypotheses are among others, of which no two are equal."""
    both = rows.joined(others)
    order = in_order(both.name, both.confidence, both.temporal_rank, both.shot)
    columns = [column[order] for column in both]
    group = np.zeros(len(order), dtype=np.int64)
    group[run_starts(columns)] = 1
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = group.cumsum()
    return np.isin(groups[: len(rows.name)], groups[len(rows.name) :])
