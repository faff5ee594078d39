"""The session about hypotheses that come, change and are withdrawn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import NoReturn, SupportsIndex

import numpy as np

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.definitions import check_cutoff
from mediaeval_ap.errors import BrokenSessionError, CopyError, counted, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run
from mediaeval_ap.evaluation.data_warnings import empty_run, scores_above_one, without_relevant
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import (
    Scorer,
    evaluate_run,
    names_asked,
    read_counted,
    scorer_of,
)
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.live.hypotheses import SOURCE, Hypotheses, KnownShots
from mediaeval_ap.live.incremental import IncrementalScorer
from mediaeval_ap.live.live_ranking import LiveRanking
from mediaeval_ap.live.saved import to_parquet
from mediaeval_ap.live.watching import Point, batches
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import mean_average_precision
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.inputs import Names
from mediaeval_ap.tables.reading import is_rows


class Live(Session):
    """A session that answers queries while hypotheses come, change and are withdrawn.

    `AveragePrecision.live` begins it. At every moment its answers are those of a session about a
    run of the hypotheses that it holds, until ``close()`` or the end of a ``with`` block. Threads
    may share it: each sees a change of another whole or not at all.

    Notes
    -----
    To add, withdraw or change a hypothesis takes O(log n) time for n of them. A `send` takes time
    in proportion to the names, and to the hypotheses of those that changed since the last answer.
    Names and shots of withdrawn hypotheses are kept until the session is saved and restored.

    A session cannot be copied or pickled (`CopyError`): `save` and `AveragePrecision.restore` make
    another one. When an interrupt ends a change halfway, every later call raises
    `BrokenSessionError`.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('INA', 'F2', '000626', 'nicolas_sarkozy')], K=[10])
    >>> live = average_precision.live([('INA', 'F2', '000010', 'nicolas_sarkozy', 0.93)])
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[0.0], n_relevant=1)
    >>> live.add(('INA', 'F2', '000626', 'nicolas_sarkozi', 0.5))
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[0.5], n_relevant=1)
    >>> live.discard(('INA', 'F2', '000010', 'nicolas_sarkozy', 0.93))
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[1.0], n_relevant=1)
    >>> live.update(('INA', 'F2', '000626', 'nicolas_sarkozi', 0.5), confidence=0.4)
    >>> ('INA', 'F2', '000626', 'nicolas_sarkozi', 0.4) in live
    True
    """

    def __init__(self, criteria: Criteria) -> None:
        self._is_closed = False
        self._unknown: set[str] = set()
        self._criteria = criteria
        self._lock = Lock()
        shots = KnownShots(criteria.subset)
        reference = criteria.reference.table
        # First of all the shots of the reference, so that what is relevant is known once for all.
        for shot in zip(*map(reference.texts, HYPOTHESIS.texts[:3]), strict=True):
            shots.number(*shot)
        self._relevance = Relevance(criteria.reference, shots)
        self._hypotheses = Hypotheses(shots)
        self._ranking = LiveRanking(self._hypotheses)
        self._snapshot: Ranking | None = None

    def _run(self) -> str:  # without the lock: to show a session never waits, and never fails
        return counted(len(self._hypotheses), 'hypothesis', 'hypotheses')

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise CopyError(
            f'{SOURCE.name}: a live session cannot be copied or pickled; save() and restore() make '
            'another one, and snapshot() a ranking that stays as it is'
        )

    def __len__(self) -> int:
        with self._lock:
            return len(self._whole())

    def __contains__(self, row: Sequence[str | float]) -> bool:
        with self._lock:
            return row in self._whole()

    def add(self, row: Sequence[str | float]) -> None:
        """Add a hypothesis, once more if it is there.

        Parameters
        ----------
        row : sequence
            Its fields: ``corpus_id video_id shot_id person_name confidence``, as of a run.

        Raises
        ------
        FormatError
            When the row is no hypothesis; then nothing has changed.
        """
        with self._lock:
            self._whole().add(row)

    def extend(self, rows: Run) -> None:
        """Add hypotheses: all of them, or none.

        Parameters
        ----------
        rows : str, path-like, file object, DataFrame or iterable of tuples
            A run, as `AveragePrecision.evaluate` takes it; tuples may be none.

        Raises
        ------
        ReadError, FormatError, ParameterError
            When the run cannot be read, or a hypothesis is wrong; then nothing has changed.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> live.extend('samples/hypothesis.txt')
        >>> len(live)
        12000
        """
        if is_rows(rows):
            rows = list(rows)
            if not rows:
                return
        table = self._criteria.read_run(rows)
        with self._lock:
            self._whole().extend(table)

    def discard(self, row: Sequence[str | float]) -> None:
        """Withdraw a hypothesis, once if it is there more often.

        Parameters
        ----------
        row
            As `add` takes it.

        Raises
        ------
        MissingHypothesisError
            When the session does not hold it; a `KeyError`, too.
        FormatError
            When the row is no hypothesis.
        """
        with self._lock:
            self._whole().remove(row)

    def update(self, row: Sequence[str | float], *, confidence: float) -> None:
        """Change the confidence of a hypothesis.

        Parameters
        ----------
        row
            As `add` takes it, with the confidence that it has.
        confidence : float
            The new confidence.

        Raises
        ------
        MissingHypothesisError
            When the session does not hold it; a `KeyError`, too.
        FormatError
            When the row is no hypothesis, or the confidence no finite number; nothing has changed.
        """
        with self._lock:
            self._whole().change(row, confidence)

    def _current_scorer(self) -> Scorer:
        with self._lock:
            ranking = self._current()
        criteria = self._criteria
        return Scorer(
            ranking, self._relevance, criteria.K, criteria.definition, criteria.judgements
        )

    @shows_progress
    def evaluate(
        self, queries: Names | None = None, *, progress: bool = False, name: str | None = None
    ) -> Evaluation:
        """Score the hypotheses of this moment on many queries at once.

        Parameters
        ----------
        queries, progress, name
            As `AveragePrecision.evaluate` takes them.

        Returns
        -------
        Evaluation
            As `AveragePrecision.evaluate` gives it for a run of these hypotheses.

        Raises
        ------
        ReadError, FormatError
            When the queries cannot be read.

        Warns
        -----
        RepeatedRowsWarning, RepeatedQueriesWarning, EmptyRunWarning, ScoreAboveOneWarning
            As `AveragePrecision.evaluate`.

        Notes
        -----
        Takes the time of `snapshot`, and time in proportion to queries times distinct names.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live('samples/hypothesis.txt')
        >>> live.evaluate(['nicolas_sarkozy', 'alain_juppe']).map.round(3).tolist()
        [0.149]
        """
        name, asked = check_name(name), self._criteria.read_queries(queries)
        with self._lock:
            snapshot = self._frozen()
            count = len(self._whole())
        found = empty_run(snapshot.source.name, count, len(snapshot))
        run = read_counted(self._criteria, snapshot)
        run = replace(run, warnings=[*found, *run.warnings])
        evaluation = evaluate_run(run, asked)._called(name)
        warn_caller(evaluation.warnings)
        return evaluation

    def snapshot(self) -> Ranking:
        """Return the hypotheses of this moment as a ranking that does not change.

        Returns
        -------
        Ranking
            The hypotheses that count; `AveragePrecision` takes it wherever it takes a run.

        Notes
        -----
        Takes O(n log n) time for n hypotheses if any has changed; other threads wait meanwhile.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> before = average_precision.live('samples/hypothesis.txt').snapshot()
        >>> average_precision.evaluate(before, ['nicolas_sarkozy']).map.round(3).tolist()
        [0.299]
        """
        with self._lock:
            return self._frozen()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a Parquet file, atomically.

        Parameters
        ----------
        path : str or path-like
            The file: a run like any other, whose metadata hold what `AveragePrecision.restore`
            needs, the reference included. An example stands there.

        Raises
        ------
        WriteError
            When the file cannot be written; an older file is still there.
        """
        with self._lock:
            table = self._whole().table(counted_only=False)
        write_whole(path, to_parquet(self._criteria, table, os.fsdecode(path)))

    def watch(
        self, rows: Run, queries: Names | None = None, *, every: int = 1000
    ) -> Iterator[Point]:
        """Add hypotheses, and score all of them each time that so many have come.

        Parameters
        ----------
        rows, queries
            A run and queries, as `AveragePrecision.evaluate` takes them. Tuples are taken as they
            come, so that they may come without end.
        every : int
            Number of hypotheses from one point to the next, of the videos that count.

        Returns
        -------
        iterator of Point
            A point each time, and one at the end for the hypotheses that are left.

        Raises
        ------
        ReadError, FormatError
            When the queries cannot be read; from the iterator, when the run is wrong.
        ParameterError
            When `every` is no positive integer.

        Warns
        -----
        RepeatedQueriesWarning, ScoreAboveOneWarning
            When a query is asked more than once, or an average precision comes to exceed 1.

        Notes
        -----
        A point takes time for each pair of a query and a changed name, and for each hit within
        reach of a cutoff. It copies all hypotheses if a hit is new.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> points = live.watch('samples/hypothesis.txt', ['alain_juppe'], every=5000)
        >>> [point.n_hypotheses for point in points]
        [5000, 10000, 12000]
        """
        check_cutoff(every, 'every')
        criteria, reference = self._criteria, self._criteria.reference
        asked, _, found = names_asked(criteria, criteria.read_queries(queries))
        n_relevant = np.array([reference.n_relevant(query) for query in asked])
        warn_caller([*found, *without_relevant(reference.name, n_relevant, criteria.definition)])
        with self._lock:
            ranking = self._current()
        row_of = {query: row for row, query in enumerate(dict.fromkeys(asked))}
        scorer = IncrementalScorer(
            [*row_of], self._relevance, criteria.K, criteria.definition, ranking
        )

        def add(table: Table) -> int:
            with self._lock:
                return self._whole().extend(table)

        def points() -> Iterator[Point]:
            ap = scorer.ap()
            for _ in batches(rows, every, criteria.read_run, add):
                with self._lock:
                    ranking = self._current()
                scorer.update(ranking)
                before, ap = ap, scorer.ap()
                changed = scorer.named(np.any(ap != before, axis=1))
                above = scorer.named(np.any(ap > 1, axis=1) & ~np.any(before > 1, axis=1))
                warn_caller(scores_above_one(above, len(row_of), SOURCE.name, criteria.definition))
                of_asked = ap[[row_of[query] for query in asked]]
                map = mean_average_precision(of_asked)
                yield Point(len(ranking), map, changed, asked, of_asked)
            with self._lock:
                shots = self._whole().shots
                held = shots.holds_any(shots.find(reference.table))
            if not held:  # no shot that came is in the reference
                warn_caller(scorer_of(criteria, self.snapshot())[1])

        return points()

    # Whoever calls the methods below holds the lock.

    def _whole(self) -> Hypotheses:
        self._check_open()
        if not self._hypotheses.is_whole:
            raise BrokenSessionError(
                f'{SOURCE.name}: something ended a step of this session halfway; begin another, or '
                'restore one'
            )
        return self._hypotheses

    def _current(self) -> LiveRanking:
        hypotheses = self._whole()
        if hypotheses.changed:
            hypotheses.is_whole = False
            self._ranking = LiveRanking(hypotheses, self._ranking)
            self._snapshot = None
            hypotheses.forget_changes()
            hypotheses.is_whole = True
        return self._ranking

    def _frozen(self) -> Ranking:
        self._current()
        if self._snapshot is None:
            self._snapshot = Ranking(self._hypotheses.table(counted_only=True))
        return self._snapshot
