"""The session about hypotheses that come, change and are withdrawn."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import NoReturn, SupportsIndex

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.errors import (
    BrokenSessionError,
    CopyError,
    MissingHypothesisError,
    ParameterError,
    counted,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.criteria import Criteria, Run, in_subset
from mediaeval_ap.evaluation.data_warnings import empty_run
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import (
    Scorer,
    evaluate_run,
    read_counted,
)
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.live.hypotheses import SOURCE, Hypotheses, KnownShots
from mediaeval_ap.live.live_ranking import LiveRanking
from mediaeval_ap.live.saved import to_parquet
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, Source, Table, read
from mediaeval_ap.tables.inputs import Names, Rows
from mediaeval_ap.tables.reading import is_rows
from mediaeval_ap.tables.rows import from_rows
from mediaeval_ap.tables.table import consistent


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

    def __init__(self, criteria: Criteria, reference: Table) -> None:
        self._is_closed = False
        self._unknown: set[str] = set()
        self._criteria = criteria
        self._lock = Lock()
        self._reference = reference  # its rows outside the subset, too
        self._rows: Counter[tuple[str, ...]] | None = None  # once some came or went
        in_rows = reference['person_name'].values
        self._elsewhere = criteria.reference.elsewhere.difference(in_rows)  # of a restored session
        shots = KnownShots(criteria.subset)
        self._relevance = self._relevance_of(criteria, shots)
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

    def judge(self, rows: Rows) -> None:
        """Add rows to the reference: all of them, or none.

        Parameters
        ----------
        rows : str, path-like, file object, DataFrame or iterable of tuples
            Relevant shots: ``corpus_id video_id shot_id person_name``, as of a reference; tuples
            may be none. From now on all answers are those of a new session with that reference.

        Raises
        ------
        ReadError, FormatError
            When the rows cannot be read, or one is wrong; then nothing has changed.
        ParameterError
            When the session was begun with `judged`, which says what is judged for good.

        Notes
        -----
        The next answer after a change takes time in proportion to the rows of the reference.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision([('x', 'v', '1', 'ann')], K=[10]).live()
        >>> live.extend([('x', 'v', '1', 'ann', 0.9), ('x', 'v', '2', 'ann', 0.8)])
        >>> live.judge([('x', 'v', '2', 'ann'), ('x', 'v', '3', 'ann')])
        >>> live.send('ann')
        Answer(ap=[1.0], n_relevant=3)
        >>> live.unjudge([('x', 'v', '1', 'ann')])
        >>> live.send('ann')
        Answer(ap=[0.25], n_relevant=2)
        """
        came = self._rows_of(rows)
        with self._lock:
            self._whole()
            self._rows = self._counted() + came

    def unjudge(self, rows: Rows) -> None:
        """Withdraw rows of the reference, each once if it is there more often: all, or none.

        Parameters
        ----------
        rows
            As `judge` takes them.

        Raises
        ------
        MissingHypothesisError
            When the reference does not have one of them so often; then nothing has changed.
        ReadError, FormatError, ParameterError
            As of `judge`.
        """
        gone = self._rows_of(rows)
        with self._lock:
            self._whole()
            known = self._counted()
            for row, times in gone.items():
                if known[row] < times:
                    raise MissingHypothesisError(f'{SOURCE.name}: no row {shown(row)} to withdraw')
            self._rows = known - gone

    def _current_scorer(self) -> Scorer:
        with self._lock:
            ranking = self._current()
            relevance, criteria = self._judged_now()
        return Scorer(ranking, relevance, criteria.K, criteria.definition, criteria.judgements)

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
            _, criteria = self._judged_now()
        found = empty_run(snapshot.source.name, count, len(snapshot))
        run = read_counted(criteria, snapshot)
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
            _, criteria = self._judged_now()
        write_whole(path, to_parquet(criteria, table, os.fsdecode(path)))

    @staticmethod
    def _relevance_of(criteria: Criteria, shots: KnownShots) -> Relevance:
        # The shots of the reference get numbers first, so that what comes later is relevant or not.
        known = [criteria.reference.table]
        if criteria.judgements is not None:
            known.append(criteria.judgements.judged.table)
        for table in known:
            for shot in zip(*map(table.texts, HYPOTHESIS.texts[:3]), strict=True):
                shots.number(*shot)
        return Relevance(criteria.reference, shots)

    def _rows_of(self, rows: Rows) -> Counter[tuple[str, ...]]:
        """Read rows of the reference."""
        self._check_open()
        if self._criteria.judgements is not None:
            raise ParameterError(
                f'{SOURCE.name}: found a session with judged, which says what is judged for good; '
                'expected one without it, to judge while it answers'
            )
        if is_rows(rows):
            rows = list(rows)
            if not rows:
                return Counter()
        table = read(rows, REFERENCE)
        return Counter(consistent(table, self._reference).rows())

    # Whoever calls the methods below holds the lock.

    def _counted(self) -> Counter[tuple[str, ...]]:
        return Counter(self._reference.rows()) if self._rows is None else self._rows

    def _judged_now(self) -> tuple[Relevance, Criteria]:
        """Return what is relevant at this moment."""
        if self._rows is not None:
            rows, name = list(self._rows.elements()), self._reference.source.name
            empty = Table.empty(REFERENCE, Source(name))
            whole = replace(from_rows(rows, REFERENCE), source=Source(name)) if rows else empty
            counts_again = self._criteria.definition.counts_again
            names = whole['person_name'].values
            table = in_subset(whole, self._criteria.subset)
            reference = Reference(table, counts_again, [*names, *self._elsewhere])
            self._criteria = replace(self._criteria, reference=reference)
            self._relevance = self._relevance_of(self._criteria, self._whole().shots)
            self._reference, self._rows = whole, None
        return self._relevance, self._criteria

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
