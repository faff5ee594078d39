"""One run against one reference: the single path behind sessions, batches and ranked lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.data_warnings import scores_above_one
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.nearest import NearestFirst

__all__ = ['Scorer']


class Scorer:
    """Scores the rankings of one run against one reference.

    Parameters
    ----------
    ranking : NearestFirst
        The run.
    relevance : Relevance
        Which of its shots are relevant.
    K : sequence of int or 'all'
        The cutoffs.
    definition : Definition
        What average precision is.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> from mediaeval_ap.ranking.frozen import Ranking
    >>> from mediaeval_ap.evaluation.relevance import Reference
    >>> from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '2', 'ann')], REFERENCE), counts_again=False)
    >>> run = read([('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)], HYPOTHESIS)
    >>> ranking = Ranking(run)
    >>> relevance = Relevance(reference, ranking.shots)
    >>> scorer = Scorer(ranking, relevance, [1, 2], definitions.get('trec'))
    >>> (distances,) = scorer.ranking.names.distances(['ann'])
    >>> scorer.score('ann', distances)
    ([0.0, 0.5], 1)
    """

    def __init__(
        self,
        ranking: NearestFirst,
        relevance: Relevance,
        K: Sequence[Cutoff],
        definition: Definition,
    ) -> None:
        self.ranking = ranking
        self.definition = definition
        self.relevance = relevance
        self._K = depths(K)
        self._depth = max(self._K)
        self._distinct = definition.repeats is Repeats.DROP
        self._n_returned = ranking.n_shots if self._distinct else len(ranking)

    def score(self, query: str, distances: NDArray[np.float64]) -> tuple[list[float], int]:
        """Average precision of one query.

        Parameters
        ----------
        query : str
            A name.
        distances : ndarray of float64, shape (n_names,)
            Its distance to each name of the run.

        Returns
        -------
        ap : list of float
            Average precision at each cutoff.
        n_relevant : int
            How many shots are relevant.
        """
        ap, n_relevant = self.score_all([query], [distances])
        return ap[0].tolist(), int(n_relevant[0])

    def score_all(
        self, queries: Sequence[str], distances: Iterable[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Average precision of queries.

        Parameters
        ----------
        queries : sequence of str
            Names.
        distances : iterable of ndarray of float64, shape (n_names,)
            For each, its distance to each name of the run.

        Returns
        -------
        ap : ndarray of float64, shape (n_queries, n_cutoffs)
            Average precision.
        n_relevant : ndarray of int64, shape (n_queries,)
            How many shots are relevant.
        """
        hits = [self._hits(*each) for each in zip(queries, distances, strict=True)]
        n_relevant = np.array([self.relevance.reference.n_relevant(query) for query in queries])
        ap = average_precision_of_hits(
            np.repeat(np.arange(len(hits)), list(map(len, hits))),
            np.concatenate(hits) + 1,
            n_relevant,
            self._n_returned,
            self._K,
            self.definition,
        )
        return ap, n_relevant

    def distances(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """The distances that scoring these queries needs.

        Parameters
        ----------
        queries : sequence of str
            Names.

        Yields
        ------
        ndarray of float64, shape (n_names,) or (0,)
            The distance of a query to each name of the run; nothing for a query that no shot of
            the run is relevant to, which has no hits.
        """
        has_hits = [len(self.relevance.relevant_shots(query)) > 0 for query in queries]
        wanted = [query for query, has in zip(queries, has_hits, strict=True) if has]
        found = self.ranking.names.distances(wanted)
        for has in has_hits:
            yield next(found) if has else np.empty(0)

    def _hits(self, query: str, distances: NDArray[np.float64]) -> NDArray[np.int64]:
        if not len(self.relevance.relevant_shots(query)):  # no ranking holds a hit
            return np.empty(0, dtype=np.int64)
        return self.ranked(query, distances, self._depth)[1]

    def ranked(
        self, query: str, distances: NDArray[np.float64], depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The hypotheses that come first for a query, and which of them are hits.

        Parameters
        ----------
        query : str
            A name.
        distances : ndarray of float64, shape (n_names,)
            Its distance to each name of the run.
        depth : int
            How many are wanted.

        Returns
        -------
        places : ndarray of int64, shape (at most depth,)
            Places in the ranking, best first.
        hits : ndarray of int64, shape (n_hits,)
            Positions from 0 among them, ascending.
        """
        places = self.ranking.top(distances, depth, distinct=self._distinct)
        return places, self.relevance.hits(query, self.ranking.shot_at[places])

    def warn_of_scores_above_one(
        self, ap: Sequence[Sequence[float]] | NDArray[np.float64], queries: Sequence[str]
    ) -> None:
        """Warn when an average precision exceeds 1, as counting a shot again can make it."""
        above = [queries[row] for row in (np.max(ap, axis=1, initial=0) > 1).nonzero()[0]]
        warn_caller(scores_above_one(above, self.ranking.source.name, self.definition))
