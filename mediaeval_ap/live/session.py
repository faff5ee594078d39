"""`Live`: a session about hypotheses that arrive, change and are withdrawn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from mediaeval_ap.definitions import check_cutoff
from mediaeval_ap.errors import CopyError, HalfStepError, warn_caller
from mediaeval_ap.evaluation.criteria import Task
from mediaeval_ap.evaluation.data_warnings import empty_run, without_relevant
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.files import write_whole
from mediaeval_ap.live.hypotheses import SOURCE, Hypotheses
from mediaeval_ap.live.incremental import Standing
from mediaeval_ap.live.known_shots import KnownShots
from mediaeval_ap.live.ranking import LiveRanking
from mediaeval_ap.live.saved import to_parquet
from mediaeval_ap.live.watching import Point, batches, points
from mediaeval_ap.ranking.frozen import Ranking
from mediaeval_ap.results import Evaluation
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.origins import is_rows

__all__ = ['Live']


class Live(Session):
    """Answers queries about hypotheses that arrive, change and are withdrawn meanwhile.

    `AveragePrecision.live` begins it. At every moment the answers are those of a session about a
    run of the hypotheses that are there. Like every session it refuses what is not a name and goes
    on, until ``close()`` or the end of a ``with`` block ends it. Threads may use it at once: what
    one changes, another sees whole or not at all.

    Notes
    -----
    A session remembers the names and shots of all hypotheses that were ever added. A `send` takes
    time in proportion to the names, and to the hypotheses of those that changed since the last
    answer. One that was saved and restored knows what is there only.

    A session cannot be copied or pickled, which raises a `CopyError`: `save` and
    `AveragePrecision.restore` make another one, `snapshot` a ranking that stays as it is.

    Where an interrupt ends a step halfway, the session is at an end: every later call raises a
    `HalfStepError`, and none answers from what may be half of something.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('INA', 'F2', '000626', 'nicolas_sarkozy')], K=[10])
    >>> live = average_precision.live()
    >>> live.add('INA', 'F2', '000010', 'nicolas_sarkozy', 0.93)
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[0.0], n_relevant=1)
    >>> live.add('INA', 'F2', '000626', 'nicolas_sarkozi', 0.5)
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[0.5], n_relevant=1)
    """

    def __init__(self, task: Task) -> None:
        self._is_closed = False
        self._task = task
        self._lock = Lock()
        shots = KnownShots(task.subset)
        reference = task.reference.table
        for shot in zip(*map(reference.texts, HYPOTHESIS.texts[:3]), strict=True):
            shots.number(*shot)
        self._relevance = Relevance(task.reference, shots)
        self._hypotheses = Hypotheses(shots)
        self._ranking = LiveRanking(self._hypotheses)
        self._snapshot: Ranking | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise CopyError(
            f'{SOURCE.name}: a live session cannot be copied or pickled; save() and restore() make '
            'another one, and snapshot() a ranking that stays as it is'
        )

    def __len__(self) -> int:
        with self._lock:
            return len(self._whole())

    def __contains__(self, row: Sequence[Any]) -> bool:
        with self._lock:
            return row in self._whole()

    def add(
        self, corpus_id: str, video_id: str, shot_id: str, person_name: str, confidence: float
    ) -> None:
        """Add a hypothesis, once more if it is there.

        Parameters
        ----------
        corpus_id, video_id, shot_id : str
            The shot.
        person_name : str
            Who is in it.
        confidence : float
            How sure that is; the larger, the surer.

        Raises
        ------
        FormatError
            When a name is not text, or the confidence no finite number; then nothing has changed.

        Notes
        -----
        Takes O(log n) time for n hypotheses. What the next answer needs of it is done there.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> live.add('INA', 'F2_2013', '000626', 'nicolas_sarkozy', 0.93)
        >>> len(live)
        1
        """
        with self._lock:
            self._whole().add((corpus_id, video_id, shot_id, person_name, confidence))

    def extend(self, rows: Any) -> None:
        """Add hypotheses: all of them, or none.

        Parameters
        ----------
        rows : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``corpus_id video_id shot_id person_name confidence``. Of tuples there
            may be none.

        Raises
        ------
        ReadError, FormatError
            When they cannot be read, or one is wrong; then nothing has changed.
        ParameterError
            When the rows are none of these.

        Notes
        -----
        Takes O(m log n) time for m rows.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> live.extend([('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'ann', 0.5)])
        >>> live.extend('samples/hypothesis.txt')
        >>> len(live)
        12002
        """
        if is_rows(rows):
            rows = list(rows)
            if not rows:
                return
        table = self._task.read_run(rows)
        with self._lock:
            self._whole().extend(table)

    def discard(self, row: Sequence[Any]) -> None:
        """Withdraw a hypothesis, once if it is there more often.

        Parameters
        ----------
        row : sequence
            Its fields: ``corpus_id video_id shot_id person_name confidence``.

        Raises
        ------
        MissingHypothesisError
            When it is not there. This is a `KeyError`.
        FormatError
            When it is no hypothesis. In both cases nothing has changed.

        Notes
        -----
        Takes O(log n) time for n hypotheses.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> live.discard(('x', 'v', '1', 'a', 1.0))
        Traceback (most recent call last):
            ...
        mediaeval_ap.errors.MissingHypothesisError: <live>: no hypothesis ('x', 'v', '1', 'a', 1.0)
        """
        with self._lock:
            self._whole().remove(row)

    def update(self, row: Sequence[Any], *, confidence: float) -> None:
        """Change the confidence of a hypothesis.

        Parameters
        ----------
        row : sequence
            Its fields: ``corpus_id video_id shot_id person_name confidence``.
        confidence : float
            How sure it is from now on.

        Raises
        ------
        MissingHypothesisError
            When it is not there. This is a `KeyError`.
        FormatError
            When it is no hypothesis, or would be none. In both cases nothing has changed.

        Notes
        -----
        Takes O(log n) time for n hypotheses.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt').live()
        >>> live.add('x', 'v', '1', 'ann', 0.5)
        >>> live.update(('x', 'v', '1', 'ann', 0.5), confidence=0.4)
        >>> ('x', 'v', '1', 'ann', 0.4) in live
        True
        """
        with self._lock:
            self._whole().change(row, confidence)

    def _current_scorer(self) -> Scorer:
        with self._lock:
            ranking = self._current()
        return Scorer(ranking, self._relevance, self._task.K, self._task.definition)

    def evaluate(self, queries: Any = None, progress: bool = False) -> Evaluation:
        """Score what is there on many queries at once.

        Parameters
        ----------
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path. By default all of the reference.
        progress : bool
            Show a progress bar on standard error.

        Returns
        -------
        Evaluation
            What `AveragePrecision.evaluate` makes of a run of these hypotheses.

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
        Takes a `snapshot`, and time in proportion to queries times distinct names.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live('samples/hypothesis.txt')
        >>> live.evaluate(['nicolas_sarkozy', 'alain_juppe']).map.round(3).tolist()
        [0.149]
        """
        asked = self._task.read_queries(queries)
        with self._lock:
            snapshot = self._frozen()
            count = len(self._whole())
        warn_caller(empty_run(snapshot.source.name, count, len(snapshot)))
        return self._task.evaluate(self._task.ranking(snapshot), asked, progress=progress)

    def snapshot(self) -> Ranking:
        """What is there now, as a ranking that never changes.

        Returns
        -------
        Ranking
            The hypotheses that count, for `AveragePrecision` to score in place of a run.

        Notes
        -----
        Takes O(n log n) time for n hypotheses, and none when nothing has changed since the last.
        Meanwhile other threads wait.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> live = average_precision.live('samples/hypothesis.txt')
        >>> before = live.snapshot()
        >>> live.add('x', 'v', '1', 'alain_juppe', 1.0)
        >>> len(before), len(live.snapshot())
        (12000, 12001)
        >>> average_precision.evaluate(before, ['nicolas_sarkozy']).map.round(3).tolist()
        [0.299]
        """
        with self._lock:
            return self._frozen()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the session to a Parquet file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            Where to. The hypotheses are its rows, so that it is a run that anything can read; its
            metadata hold the reference and all else that `AveragePrecision.restore` needs.

        Raises
        ------
        WriteError
            When that cannot be done; then what was there before is still there.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mediaeval_ap import AveragePrecision
        >>> path = pathlib.Path(tempfile.mkdtemp(), 'live.parquet')
        >>> AveragePrecision('samples/reference.txt').live('samples/hypothesis.txt').save(path)
        >>> len(AveragePrecision.restore(path))
        12000
        """
        with self._lock:
            table = self._whole().table(counted_only=False)
        write_whole(path, to_parquet(self._task, table, os.fsdecode(path)))

    def watch(self, rows: Any, queries: Any = None, *, every: int = 1000) -> Iterator[Point]:
        """Add hypotheses, and score each time that so many have come.

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
            One each time, and one for the hypotheses that are left at the end.

        Raises
        ------
        ReadError, FormatError
            When the queries cannot be read; from the iterator, when the run cannot, or a hypothesis
            is wrong.
        ParameterError
            When `every` is no positive integer.

        Warns
        -----
        RepeatedQueriesWarning
            When a query is asked more than once.
        ScoreAboveOneWarning
            When an average precision comes to exceed 1, as counting shots again can make it.

        Notes
        -----
        The distance of each query to each name is taken once. A point takes time in proportion to
        the relevant hypotheses that a cutoff reaches times the names that changed; with a
        definition that drops shots returned again, times the hypotheses of all shots that changed,
        which can be more than to answer all queries anew.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live()
        >>> points = live.watch('samples/hypothesis.txt', ['alain_juppe'], every=5000)
        >>> [point.n_hypotheses for point in points]
        [5000, 10000, 12000]
        """
        check_cutoff(every, 'every')
        asked = self._task.asked(self._task.read_queries(queries))
        n_relevant = np.array([self._relevance.reference.n_relevant(query) for query in asked])
        warn_caller(without_relevant(self._task.name, n_relevant, self._task.definition))
        with self._lock:
            ranking = self._current()
        distinct = list(dict.fromkeys(asked))
        task = self._task
        standing = Standing(distinct, self._relevance, task.K, task.definition, ranking)
        rankings = map(self._extended, batches(rows, every, task.read_run))
        return self._with_overlap_checked(points(standing, asked, rankings))

    def _with_overlap_checked(self, points: Iterator[Point]) -> Iterator[Point]:
        """Points, and a warning behind them where no shot that came is in the reference."""
        yield from points
        with self._lock:
            held = self._whole().shots.holds_any_of(self._relevance.reference.table)
            snapshot = None if held else self._frozen()
        if snapshot is not None:
            self._task.scorer(snapshot)

    def _extended(self, table: Table) -> LiveRanking:
        with self._lock:
            self._whole().extend(table)
            return self._current()

    # What follows needs the lock.

    def _whole(self) -> Hypotheses:
        self._check_open()
        if not self._hypotheses.is_whole:
            raise HalfStepError(
                f'{SOURCE.name}: something ended a step of this session halfway; begin another, or '
                'restore one'
            )
        return self._hypotheses

    def _current(self) -> LiveRanking:
        hypotheses = self._whole()
        if hypotheses.changed:
            try:
                self._ranking = LiveRanking(hypotheses, self._ranking)
                self._snapshot = None
                hypotheses.changed.clear()
            except BaseException:
                hypotheses.is_whole = False
                raise
        return self._ranking

    def _frozen(self) -> Ranking:
        self._current()
        if self._snapshot is None:
            self._snapshot = Ranking(self._hypotheses.table(counted_only=True))
        return self._snapshot

    def _check(self) -> None:
        """Assert what always holds."""
        self._hypotheses._check()
        self._ranking._check()
