"""`AveragePrecision`: its coroutine and its batch path, with one kernel behind both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.choices import TREC_DEPTH
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoff, check_cutoffs, depths
from mediaeval_ap.errors import ParameterError, printable, warn_caller
from mediaeval_ap.evaluation.criteria import Task
from mediaeval_ap.evaluation.data_warnings import repeated_rows
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.evaluation.session import Session, check_query
from mediaeval_ap.ranking.frozen import Ranking
from mediaeval_ap.results import Evaluation
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, REFERENCE, SUBSET, read

if TYPE_CHECKING:
    import pandas

    from mediaeval_ap.live import Live, Point

__all__ = ['AveragePrecision']


class AveragePrecision:
    """Average precision of runs against one reference, at several cutoffs.

    Parameters
    ----------
    reference : str, path-like, file object, DataFrame or iterable of tuples
        Who is in which shot: ``corpus_id video_id shot_id person_name``. Paths may end in
        ``.gz``, ``.bz2``, ``.xz``, ``.zst`` or ``.parquet``; ``-`` is standard input. This, and
        all other tables, may be anything that `mediaeval_ap.tables.read` takes.
    K : iterable of int or 'all'
        The cutoffs, each once; ``'all'`` is none, for uncut average precision.
    subset : like reference, optional
        The videos that count, as ``corpus_id video_id``. Reference and hypotheses of other
        videos are left out.
    definition : str or Definition
        What average precision is: a name that `mediaeval_ap.definitions` knows.
    max_bytes : int
        How many bytes a table may give that does not say how large it is: a compressed file or
        Parquet (once decompressed), standard input, a pipe, a device. Also of runs and queries.

    Raises
    ------
    ParameterError
        When a cutoff or the limit is no positive integer, a cutoff is there twice, the definition
        is unknown or has no uncut value, or the subset leaves nothing of the reference.
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
        K: Iterable[Cutoff] = definitions.CUTOFFS,
        *,
        subset: Any = None,
        definition: str | Definition = definitions.DEFAULT,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        definition = definitions.get(definition)
        cutoffs = check_cutoffs(K, definition)
        videos = None if subset is None else read(subset, SUBSET, max_bytes=max_bytes)
        read_table = read(reference, REFERENCE, max_bytes=max_bytes)
        table = read_table if videos is None else read_table.select(read_table.within(videos))
        if not len(table):
            raise ParameterError(
                f'{printable(table.source.name)}: no row of this reference is in the subset'
            )
        judged = Reference(table, definition.counts_again)
        warn_caller(repeated_rows(table, judged.n_repeated, kept=definition.counts_again))
        self._task = Task(judged, cutoffs, definition, videos, max_bytes)

    @property
    def K(self) -> list[Cutoff]:
        """The cutoffs, as they were given."""
        return list(self._task.K)

    @property
    def definition(self) -> Definition:
        """What average precision is here."""
        return self._task.definition

    @property
    def queries(self) -> list[str]:
        """The names in the reference, sorted, without placeholders as ``?unknown?``."""
        return list(self._task.reference.queries)

    def __call__(self, hypothesis: Any) -> Session:
        """Begin a session that answers one query after another.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame, iterable of tuples or Ranking
            A run: ``corpus_id video_id shot_id person_name confidence``. Wherever a run is taken,
            so is the ranking that `Live.snapshot` made of one.

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
        Answer(ap=[1.0], n_relevant=0)
        """
        return Session(self._task.scorer(self._ranking(hypothesis)))

    def live(self, hypothesis: Any = None) -> Live:
        """Begin a session about hypotheses that arrive, change and are withdrawn.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples, optional
            A run to begin from: ``corpus_id video_id shot_id person_name confidence``.

        Returns
        -------
        Live
            What takes hypotheses and answers queries.

        Raises
        ------
        ReadError, FormatError
            When the run cannot be read.

        Notes
        -----
        Takes O(n log n) time for n hypotheses.

        Examples
        --------
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live('samples/hypothesis.txt')
        >>> len(live)
        12000
        """
        from mediaeval_ap.live import Live

        live = Live(self._task)
        if hypothesis is not None:
            live.extend(hypothesis)
        return live

    @classmethod
    def restore(cls, path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Live:
        """Go on with a session that `Live.save` wrote.

        Parameters
        ----------
        path : str or path-like
            The file. Reference, cutoffs, definition and subset are those of the session.
        max_bytes : int
            As of `AveragePrecision`, and how many bytes the rows of the file may come to.

        Returns
        -------
        Live
            A session equal to that one.

        Raises
        ------
        ReadError, FormatError
            When the file cannot be read, or `Live.save` did not write it.

        Warns
        -----
        RepeatedRowsWarning
            When the reference repeats rows.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), 'live.parquet')
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live('samples/hypothesis.txt')
        >>> live.save(path)
        >>> restored = AveragePrecision.restore(path)
        >>> restored.send('nicolas_sarkozy') == live.send('nicolas_sarkozy')
        True
        """
        from mediaeval_ap.live import from_parquet
        from mediaeval_ap.tables.sources import ByteSource

        saved = from_parquet(ByteSource(path, max_bytes))
        average_precision = cls(
            saved.reference,
            saved.K,
            subset=saved.subset,
            definition=saved.definition,
            max_bytes=max_bytes,
        )
        return average_precision.live(saved.hypotheses)

    def watch(self, rows: Any, queries: Any = None, *, every: int = 1000) -> Iterator[Point]:
        """Score a run as it grows, each time that so many hypotheses have come.

        Parameters
        ----------
        rows : iterable of tuples, str, path-like, file object or DataFrame
            A run: ``corpus_id video_id shot_id person_name confidence``. Tuples are taken as they
            come, so they may come without end.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path. By default all of the reference.
        every : int
            After how many hypotheses to score.

        Returns
        -------
        iterator of Point
            As `Live.watch`.

        Raises
        ------
        ReadError, FormatError, ParameterError
            As `Live.watch`.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> points = average_precision.watch('samples/hypothesis.txt', ['alain_juppe'], every=5000)
        >>> [(point.n_hypotheses, point.changed) for point in points]
        [(5000, []), (10000, []), (12000, [])]
        """
        return self.live().watch(rows, queries, every=every)

    def evaluate(
        self,
        hypothesis: Any,
        queries: Any = None,
        progress: bool = False,
        *,
        measures: str | Iterable[str] = (),
    ) -> Evaluation:
        """Score a run on many queries at once.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path. By default all of the reference.
        progress : bool
            Show a progress bar on standard error.
        measures : str or iterable of str
            Measures of ir_measures to add, as ``'nDCG@10 P@5 RR'``. They see what `export_trec`
            would write: 1000 shots, or as many as the largest cutoff of theirs.

        Returns
        -------
        Evaluation
            What a session would answer, query by query, bit for bit.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read.
        MissingExtraError
            When measures are asked for, and the extra ``trec`` is not installed.
        ParameterError
            When there is no such measure, it cannot be computed, or it is called as one of the
            columns that are there.

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
        parsed: list[Any] = []
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures

            parsed = parse_measures(measures)
            check_columns(parsed, self.K)
        asked = self._task.read_queries(queries)
        ranking = self._ranking(hypothesis)
        evaluation = self._task.evaluate(ranking, asked, progress=progress)
        if not parsed:
            return evaluation
        from mediaeval_ap.trec.export import topics
        from mediaeval_ap.trec.measures import depth_of, with_measures

        depth = depth_of(parsed)
        exported = topics(self._task, ranking, evaluation.queries, depth)
        return with_measures(evaluation, list(exported), parsed)

    def export_trec(
        self,
        hypothesis: Any,
        qrels: str | os.PathLike[str],
        run: str | os.PathLike[str],
        queries: Any = None,
        *,
        k: int = TREC_DEPTH,
        tag: str = 'mediaeval_ap',
    ) -> None:
        """Write a run, and what is relevant, as files that every TREC tool reads.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``.
        qrels, run : str or path-like
            Where to; both are on the disk before either replaces what was there. A query is a
            topic, a shot the document ``corpus/video/shot``, with what is white space, ``%`` or
            ``/`` in them percent-encoded, and a ``#`` that a query begins with. Scores are integers
            that decrease strictly.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path. By default all of the reference.
        k : int
            How many shots a ranking has at most.
        tag : str
            Names the run.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read.
        ParameterError
            When k is no positive integer up to 2**24, the tag not one word, or both are one file.
        WriteError
            When a file cannot be written.

        Warns
        -----
        MissingIdsWarning
            When no shot is relevant to a query, so that it is not in the qrels.
        RepeatedRowsWarning, RepeatedQueriesWarning, EmptyRunWarning
            As `evaluate` does.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
        >>> hypothesis = [('x', 'v', '2', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5)]
        >>> average_precision.export_trec(hypothesis, folder / 'qrels', folder / 'run')
        >>> (folder / 'run').read_text().splitlines()
        ['ann Q0 x/v/2 1 2 mediaeval_ap', 'ann Q0 x/v/1 2 1 mediaeval_ap']
        """
        from mediaeval_ap.trec.export import export, topics

        asked = self._task.asked(self._task.read_queries(queries))
        ranking = self._ranking(hypothesis)
        self._task.scorer(ranking)  # which warns where no shot is in the reference
        exported = topics(self._task, ranking, asked, check_cutoff(k))
        export(list(exported), qrels, run, tag)

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

        Warns
        -----
        RepeatedRowsWarning
            When the run repeats rows.
        EmptyRunWarning
            When the subset leaves nothing of the run.

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

        query = check_query(query)
        depth = max(depths(self._task.K)) if k is None else check_cutoff(k)
        ranking = self._ranking(hypothesis)
        (distances,) = ranking.names.distances([query])
        places, hits = self._task.scorer(ranking).ranked(query, distances, depth)
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

    def _ranking(self, hypothesis: Any) -> Ranking:
        run = hypothesis if isinstance(hypothesis, Ranking) else self._task.read_run(hypothesis)
        return self._task.ranking(run)
