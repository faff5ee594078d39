"""What runs are scored against, and how a whole run is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mediaeval_ap.definitions import Cutoff, Definition
from mediaeval_ap.errors import ParameterError, printable, warn_caller
from mediaeval_ap.evaluation.data_warnings import (
    empty_run,
    no_overlap,
    repeated_queries,
    repeated_rows,
    without_relevant,
)
from mediaeval_ap.evaluation.overlap import likely_cause, likely_cause_in_tables
from mediaeval_ap.evaluation.relevance import PLACEHOLDER, Reference, Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.frozen import Ranking
from mediaeval_ap.results import Evaluation
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, QUERIES, SUBSET, Table, read

__all__ = [
    'Task',
    'names_asked',
    'only_placeholders',
]


@dataclass(frozen=True, eq=False)
class Task:
    """What runs are scored against: a reference, cutoffs, a definition, the videos that count.

    Parameters
    ----------
    reference : Reference
        Who is in which shot, of the videos that count.
    K : list of int or 'all'
        The cutoffs.
    definition : Definition
        What average precision is.
    subset : Table or None
        The videos that count; all, where there is none.
    max_bytes : int
        The limit of `mediaeval_ap.tables.read` for runs and queries.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=True)
    >>> task = Task(reference, [10], definitions.get('trec'), None)
    >>> ranking = Ranking(read([('x', 'v', '1', 'anna', 0.5)], HYPOTHESIS))
    >>> task.evaluate(ranking, None).ap.tolist()
    [[1.0]]
    """

    reference: Reference
    K: list[Cutoff]
    definition: Definition
    subset: Table | None
    max_bytes: int = MAX_BYTES

    def in_subset(self, table: Table) -> Table:
        """The rows of a table that count.

        Parameters
        ----------
        table : Table
            A reference or a run.

        Returns
        -------
        Table
            Those of the videos that count.
        """
        return table if self.subset is None else table.select(table.within(self.subset))

    def read_run(self, run: Any) -> Table:
        """The hypotheses of a run.

        Parameters
        ----------
        run : Ranking, or what `mediaeval_ap.tables.read` takes
            A run.

        Returns
        -------
        Table
            Its rows.

        Raises
        ------
        ReadError, FormatError
            When it cannot be read.
        """
        if isinstance(run, Ranking):
            return run.table
        return read(run, HYPOTHESIS, max_bytes=self.max_bytes)

    def read_queries(self, queries: Any) -> Table | None:
        """The names to ask for.

        Parameters
        ----------
        queries : None, or what `mediaeval_ap.tables.read` takes
            Names.

        Returns
        -------
        Table or None
            The names; none for all of the reference.

        Raises
        ------
        ReadError, FormatError
            When they cannot be read.
        """
        return None if queries is None else read(queries, QUERIES, max_bytes=self.max_bytes)

    def ranking(self, run: Table | Ranking) -> Ranking:
        """A run, ready to be ranked.

        Parameters
        ----------
        run : Table or Ranking
            All of its hypotheses.

        Returns
        -------
        Ranking
            Those that count.

        Warns
        -----
        RepeatedRowsWarning
            When the run repeats rows.
        EmptyRunWarning
            When the subset leaves nothing of it.
        """
        table = run.table if isinstance(run, Ranking) else run
        counted = self.in_subset(table)
        warn_caller(empty_run(table.source.name, len(table), len(counted)))
        if isinstance(run, Ranking) and len(counted) == len(table):
            ranking = run
        else:
            ranking = Ranking(counted)
        warn_caller(repeated_rows(counted, ranking.n_repeated, kept=True))
        return ranking

    def scorer(self, ranking: Ranking) -> Scorer:
        """Return what scores a run.

        Parameters
        ----------
        ranking : Ranking
            What `ranking` made of it.

        Returns
        -------
        Scorer
            Ready for queries.

        Warns
        -----
        NoOverlapWarning
            When no shot of the run is in the reference.
        """
        scorer = Scorer(ranking, Relevance(self.reference, ranking.shots), self.K, self.definition)
        if len(ranking) and not scorer.relevance.n_in_both:
            self._warn_of_no_overlap(ranking)
        return scorer

    def evaluate(
        self,
        ranking: Ranking,
        queries: Table | None,
        *,
        progress: bool = False,
    ) -> Evaluation:
        """Score a run on many queries at once.

        Parameters
        ----------
        ranking : Ranking
            The run.
        queries : Table or None
            The names to ask for; all of the reference, where there is none.
        progress : bool
            Show a progress bar on standard error.

        Returns
        -------
        Evaluation
            Values by query and on average.

        Warns
        -----
        RepeatedQueriesWarning
            When a query is asked more than once.
        ScoreAboveOneWarning
            When an average precision exceeds 1, as counting shots again can make it.
        """
        inputs = {'reference': self.reference.table.source, 'hypothesis': ranking.source}
        if self.subset is not None:
            inputs['subset'] = self.subset.source
        if queries is not None:
            inputs['queries'] = queries.source
        asked = self.asked(queries)
        scorer = self.scorer(ranking)
        distances = scorer.distances(asked)
        ap, n_relevant = scorer.score_all(asked, tracked(distances, len(asked), progress))
        scorer.warn_of_scores_above_one(ap, asked)
        warn_caller(without_relevant(self.name, n_relevant, self.definition))
        counts = {
            'queries': len(asked),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            'placeholders': self.reference.n_placeholders if queries is None else 0,
            **self._counts(ranking, scorer.relevance.n_in_both),
        }
        return Evaluation(asked, list(self.K), ap, n_relevant, self.definition, inputs, counts)

    def asked(self, queries: Table | None) -> list[str]:
        """The names that are asked for.

        Parameters
        ----------
        queries : Table or None
            These; all of the reference, where there is none.

        Returns
        -------
        list of str
            In their order.

        Warns
        -----
        RepeatedQueriesWarning
            When a query is asked more than once.
        """
        if queries is None:
            if not self.reference.queries:
                raise only_placeholders(self.reference.table.source.name)
            return list(self.reference.queries)
        names = queries['person_name'].values
        if not any(name in self.reference for name in names):
            found = no_overlap(
                queries.source.name,
                f'0 of {len(names):,} queries occur in {self.name}',
                likely_cause(names, self.reference.table['person_name'].values),
            )
            warn_caller(found)
        return names_asked(queries)

    @property
    def name(self) -> str:
        """The name of the reference, printable."""
        return printable(self.reference.table.source.name)

    def _warn_of_no_overlap(self, ranking: Ranking) -> None:
        videos = ranking.shots.distinct_videos()
        n_known = sum(video in self.reference.videos for video in videos)
        found = no_overlap(
            ranking.source.name,
            f'0 of {ranking.n_shots:,} returned shots occur in {self.name} '
            f'({n_known:,} of {len(videos):,} videos)',
            likely_cause_in_tables(ranking.table, self.reference.table),
        )
        warn_caller(found)

    def _counts(self, ranking: Ranking, n_shots_in_reference: int) -> dict[str, int]:
        names, videos = ranking.names.values, ranking.shots.distinct_videos()
        counts = {
            'reference_rows': len(self.reference.table),
            'hypotheses': len(ranking),
            'names': len(names),
            'names_in_reference': sum(name in self.reference for name in names),
            'videos': len(videos),
            'videos_in_reference': sum(video in self.reference.videos for video in videos),
            'shots': ranking.n_shots,
            'shots_in_reference': n_shots_in_reference,
        }
        if self.subset is None:
            return counts
        pairs = zip(*map(self.subset.texts, SUBSET.texts), strict=True)
        return {**counts, 'subset_videos': len(set(pairs))}


def names_asked(queries: Table) -> list[str]:
    """The names that a table of queries asks for.

    Parameters
    ----------
    queries : Table
        Queries.

    Returns
    -------
    list of str
        In their order.

    Warns
    -----
    RepeatedQueriesWarning
        When a query is asked more than once.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES
    >>> names_asked(read(['bob', 'ann'], QUERIES))
    ['bob', 'ann']
    """
    warn_caller(repeated_queries(queries))
    return queries.texts('person_name')


def only_placeholders(reference: str) -> ParameterError:
    """Return the error of a reference that has no name to ask for.

    Parameters
    ----------
    reference : str
        Its name.

    Returns
    -------
    ParameterError
        To be raised.

    Examples
    --------
    >>> 'every name of this reference begins with ?' in str(only_placeholders('reference.txt'))
    True
    """
    return ParameterError(
        f'{printable(reference)}: every name of this reference begins with {PLACEHOLDER}, and '
        'stands for people without a name; give the queries to ask for'
    )
