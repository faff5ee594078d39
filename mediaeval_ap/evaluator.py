"""`AveragePrecision`: its coroutine and its batch path, with one kernel behind both."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.definitions import Definition, check_cutoff
from mediaeval_ap.errors import (
    EmptyRunWarning,
    ParameterError,
    RepeatedQueriesWarning,
    RepeatedRowsWarning,
    printable,
    shown,
)
from mediaeval_ap.evaluation import Evaluation
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking import Ranking
from mediaeval_ap.relevance import Reference
from mediaeval_ap.scoring import Scorer
from mediaeval_ap.session import Session, check_query
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, Source, Table, read

if TYPE_CHECKING:
    import pandas

__all__ = ['AveragePrecision']


class AveragePrecision:
    """Average precision of runs against one reference, at several cutoffs.

    Parameters
    ----------
    reference : str, path-like, file object, DataFrame or iterable of tuples
        Who is in which shot: ``corpus_id video_id shot_id person_name``. Paths may end in
        ``.gz``, ``.bz2``, ``.xz``, ``.zst`` or ``.parquet``; ``-`` is standard input. This, and
        all other tables, may be anything that `mediaeval_ap.tables.read` takes.
    K : iterable of int
        The cutoffs.
    subset : like reference, optional
        The videos that count, as ``corpus_id video_id``. Reference and hypotheses of other
        videos are left out.
    definition : str or Definition
        What average precision is: a name that `mediaeval_ap.definitions` knows.

    Raises
    ------
    ParameterError
        When a cutoff is no positive integer, the definition is unknown, or the subset leaves
        nothing of the reference.
    ReadError, FormatError
        When the reference or the subset cannot be read.

    Warns
    -----
    RepeatedRowsWarning
        When the reference repeats rows.

    Examples
    --------
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
    >>> generator = average_precision('samples/hypothesis.txt')
    >>> generator.send('francois_hollande')[1]
    26
    """

    def __init__(
        self,
        reference: Any,
        K: Iterable[int] = (1, 10, 100, 1000),
        *,
        subset: Any = None,
        definition: str | Definition = definitions.DEFAULT,
    ) -> None:
        self._K = _cutoffs(K)
        self._definition = definitions.get(definition)
        self._subset = None if subset is None else read(subset, SUBSET)
        table = self._in_subset(read(reference, REFERENCE))
        if not len(table):
            raise ParameterError(
                f'{printable(table.source.name)}: no row of this reference is in the subset'
            )
        self._reference = Reference(table, self._definition.counts_again)
        if self._reference.n_repeated:
            _warn_of_repeated_rows(
                table, self._reference.n_repeated, kept=self._definition.counts_again, stacklevel=3
            )

    @property
    def K(self) -> list[int]:
        """The cutoffs, as they were given."""
        return list(self._K)

    @property
    def definition(self) -> Definition:
        """What average precision is here."""
        return self._definition

    @property
    def queries(self) -> list[str]:
        """The names in the reference, sorted."""
        return list(self._reference.queries)

    def __call__(self, hypothesis: Any) -> Session:
        """Begin a session that answers one query after another.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``.

        Returns
        -------
        Session
            A primed coroutine: ``send(query)`` returns ``(ap, n_relevant)``.

        Raises
        ------
        ReadError, FormatError
            When the run cannot be read: here, not at the first query.

        Warns
        -----
        RepeatedRowsWarning
            When the run repeats rows.
        EmptyRunWarning
            When the subset leaves nothing of it.

        Notes
        -----
        Reads and indexes the run: O(n log n) time for n hypotheses.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> with average_precision('samples/hypothesis.txt') as session:
        ...     session.send('nobody_at_all')
        ([1.0], 0)
        """
        return Session(self._scorer(hypothesis))

    def evaluate(self, hypothesis: Any, queries: Any = None, progress: bool = False) -> Evaluation:
        """Score a run on many queries at once.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path. By default all of the reference.
        progress : bool
            Show a progress bar on standard error.

        Returns
        -------
        Evaluation
            What a session would answer, query by query, bit for bit.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read.

        Warns
        -----
        RepeatedRowsWarning
            When the run repeats rows.
        RepeatedQueriesWarning
            When a query is asked more than once.
        EmptyRunWarning
            When the subset leaves nothing of the run.
        ScoreAboveOneWarning
            When an average precision exceeds 1, as counting shots again can make it.

        Notes
        -----
        Takes time in proportion to queries times distinct names of the run, once it is read.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> evaluation = average_precision.evaluate(
        ...     'samples/hypothesis.txt', queries=['nicolas_sarkozy', 'alain_juppe']
        ... )
        >>> evaluation.map.round(3).tolist()
        [0.149, 0.106]
        """
        scorer = self._scorer(hypothesis)
        inputs = self._inputs(scorer.ranking)
        asked = self.queries
        if queries is not None:
            table = read(queries, QUERIES)
            inputs['queries'] = table.source
            asked = table.texts('person_name')
            _warn_of_repeated_queries(table)
        distances = scorer.ranking.names.distances(asked)
        ap, n_relevant = scorer.score_all(asked, tracked(distances, len(asked), progress))
        scorer.warn_of_scores_above_one(ap, asked)
        counts = {
            'queries': len(asked),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            **self._counts(scorer.ranking),
        }
        return Evaluation(asked, self.K, ap, n_relevant, self._definition, inputs, counts)

    def rank(self, hypothesis: Any, query: str, k: int | None = None) -> pandas.DataFrame:
        """The first hypotheses for a query, as they are scored.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``.
        query : str
            A name.
        k : int, optional
            How many; by default the largest cutoff.

        Returns
        -------
        pandas.DataFrame
            Columns ``rank`` (from 1), ``corpus_id``, ``video_id``, ``shot_id``, ``person_name``,
            ``distance``, ``confidence``, ``temporal_rank`` (from 1), ``relevant``, and
            ``precision`` down to that rank. Hypotheses that the definition drops are not there.

        Raises
        ------
        QueryError
            When the query is not a name.
        ParameterError
            When k is no positive integer.
        ReadError, FormatError
            When the run cannot be read.

        Notes
        -----
        Reads and indexes the run: O(n log n) time for n hypotheses.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt')
        >>> top = average_precision.rank('samples/hypothesis.txt', 'nicolas_sarkozy', k=3)
        >>> top['relevant'].tolist()
        [False, False, True]
        """
        import pandas

        check_query(query)
        depth = max(self._K) if k is None else check_cutoff(k)
        scorer = self._scorer(hypothesis)
        ranking = scorer.ranking
        (distances,) = ranking.names.distances([query])
        places, hits = scorer.ranked(query, distances, depth)
        rows = ranking.row_at[places]
        relevant = np.zeros(len(places), dtype=np.bool_)
        relevant[hits] = True
        ranks = np.arange(1, len(places) + 1)
        return pandas.DataFrame(
            {
                'rank': ranks,
                **{field: ranking.table.texts(field, rows) for field in HYPOTHESIS.texts},
                'distance': ranking.distances_at(places, distances),
                'confidence': ranking.table.confidence[rows],
                'temporal_rank': ranking.temporal_rank[rows],
                'relevant': relevant,
                'precision': np.cumsum(relevant) / ranks,
            }
        )

    def _inputs(self, ranking: Ranking) -> dict[str, Source]:
        inputs = {'reference': self._reference.table.source, 'hypothesis': ranking.table.source}
        return inputs if self._subset is None else {**inputs, 'subset': self._subset.source}

    def _counts(self, ranking: Ranking) -> dict[str, int]:
        counts = {
            'reference_rows': len(self._reference.table),
            'hypotheses': len(ranking),
            'names': len(ranking.names),
            'shots': len(ranking.shots),
        }
        if self._subset is None:
            return counts
        pairs = zip(*map(self._subset.texts, SUBSET.texts), strict=True)
        return {**counts, 'subset_videos': len(set(pairs))}

    def _in_subset(self, table: Table) -> Table:
        return table if self._subset is None else table.select(table.within(self._subset))

    def _scorer(self, hypothesis: Any) -> Scorer:
        read_table = read(hypothesis, HYPOTHESIS)
        table = self._in_subset(read_table)
        if not len(table):
            warnings.warn(
                f'{printable(table.source.name)}: none of its {len(read_table)} hypotheses is in '
                'the subset; scored as a run that returns nothing',
                EmptyRunWarning,
                stacklevel=3,
            )
        ranking = Ranking(table)
        if ranking.n_repeated:
            _warn_of_repeated_rows(table, ranking.n_repeated, kept=True, stacklevel=4)
        return Scorer(ranking, self._reference, self._K, self._definition)


def _cutoffs(K: Iterable[int]) -> list[int]:
    if isinstance(K, str | bytes) or not isinstance(K, Iterable):
        raise ParameterError(f'K: found {shown(K)}, expected a list of positive integers')
    cutoffs = [check_cutoff(k, 'K') for k in K]
    if not cutoffs:
        raise ParameterError('K: found none, expected positive integers')
    return cutoffs


def _warn_of_repeated_rows(table: Table, count: int, *, kept: bool, stacklevel: int) -> None:
    warnings.warn(
        f'{printable(table.source.name)}: {count} of {len(table)} rows repeat an earlier one '
        f'exactly, and are {"kept" if kept else "counted once"}',
        RepeatedRowsWarning,
        stacklevel=stacklevel,
    )


def _warn_of_repeated_queries(table: Table) -> None:
    repeated = len(table) - len(table['person_name'].values)
    if repeated:
        warnings.warn(
            f'{printable(table.source.name)}: {repeated} of {len(table)} queries repeat an earlier '
            'one; each counts in the mean',
            RepeatedQueriesWarning,
            stacklevel=3,
        )
