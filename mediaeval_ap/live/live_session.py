"""`Live`: a session whose hypotheses are added, changed and removed."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NoReturn, SupportsIndex

from mediaeval_ap.errors import warn_caller, with_noun
from mediaeval_ap.evaluation.criteria import Criteria, Run
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.prepared_run import prepare_run, select_queries
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import evaluate_run
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.live.hypotheses import SOURCE, Hypotheses, KnownShots, LiveRanking
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.layouts import SHOT_FIELDS
from mediaeval_ap.tables.reading import is_rows
from mediaeval_ap.tables.table import Names


class Live(Session):
    """A session that answers queries while hypotheses are added, changed and removed.

    `AveragePrecision.live` begins it. At every moment it answers as a session about a run of its
    hypotheses would, until ``close()`` or the end of a ``with`` block. Threads may share it. A
    change that raises an error, because a row is not a hypothesis (`FormatError`), not in the
    session (`ParameterError`) or cannot be read (`ReadError`), has changed nothing.

    Notes
    -----
    To add, remove or change one of n hypotheses takes O(log n) time. A `send` takes time in
    proportion to the names, and to the hypotheses of the names that changed since the last answer.
    A session cannot be copied or pickled (`TypeError`): save ``snapshot().to_frame()``.

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
    >>> live.remove(('INA', 'F2', '000010', 'nicolas_sarkozy', 0.93))
    >>> live.send('nicolas_sarkozy')
    Answer(ap=[1.0], n_relevant=1)
    >>> live.update(('INA', 'F2', '000626', 'nicolas_sarkozi', 0.5), confidence=0.4)
    >>> ('INA', 'F2', '000626', 'nicolas_sarkozi', 0.4) in live
    True
    >>> live.extend('samples/hypothesis.txt')
    >>> len(live), len(live.snapshot().to_frame())
    (12001, 12001)
    >>> live.evaluate().queries
    ['nicolas_sarkozy']
    """

    def __init__(self, criteria: Criteria) -> None:
        self._is_closed = False
        self._unknown: set[str] = set()
        self.criteria = criteria
        self._lock = Lock()
        shots = KnownShots(criteria.subset)
        # Number the shots of reference and judgements first: both refer to shots by number before
        # there are hypotheses about them.
        tables = [criteria.reference.table]
        if criteria.judgements is not None:
            tables.append(criteria.judgements.table)
        for table in tables:
            for shot in zip(*map(table.texts, SHOT_FIELDS), strict=True):
                shots.number(*shot)
        self._relevance = Relevance(criteria.reference, shots)
        self._hypotheses = Hypotheses(shots)
        self._ranking = LiveRanking(self._hypotheses)
        self._snapshot: Ranking | None = None

    def _run(self) -> str:  # without the lock, so that repr never waits or fails
        return with_noun(len(self._hypotheses), 'hypothesis', 'hypotheses')

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f'{SOURCE.name}: a live session cannot be copied or pickled; snapshot() returns a '
            'ranking that can be, and live(snapshot) begins another session'
        )

    def __len__(self) -> int:
        with self._lock:
            return len(self._open())

    def __contains__(self, row: Sequence[str | float]) -> bool:
        with self._lock:
            return row in self._open()

    def add(self, row: Sequence[str | float]) -> None:
        """Add one occurrence of a hypothesis.

        Parameters
        ----------
        row : sequence
            Its fields, as in a run: ``corpus_id video_id shot_id person_name confidence``.
        """
        with self._lock:
            self._open_for_change().add(row)

    def extend(self, rows: Run) -> None:
        """Add hypotheses: all of them, or none if one is wrong.

        Parameters
        ----------
        rows : str, path-like, file object, DataFrame or iterable of tuples
            A run, as `AveragePrecision.evaluate` takes it; an iterable of tuples may be empty.
        """
        if is_rows(rows):
            rows = list(rows)
            if not rows:
                return
        table = self.criteria.read_run(rows)
        with self._lock:
            self._open_for_change().extend(table)

    def remove(self, row: Sequence[str | float]) -> None:
        """Remove one occurrence of a hypothesis.

        Parameters
        ----------
        row
            As `add` takes it.
        """
        with self._lock:
            self._open_for_change().remove(row)

    def update(self, row: Sequence[str | float], *, confidence: float) -> None:
        """Change the confidence of a hypothesis to another finite number.

        Parameters
        ----------
        row, confidence
            The hypothesis, and its new confidence.
        """
        with self._lock:
            self._open_for_change().change(row, confidence)

    def _current_lister(self) -> Lister:
        with self._lock:
            if self._open().changed:
                self._ranking = LiveRanking(self._hypotheses, self._ranking)
            return Lister(self.criteria, self._ranking, self._relevance)

    @shows_progress
    def evaluate(
        self, queries: Names | None = None, *, progress: bool = False, name: str | None = None
    ) -> Evaluation:
        """Score the hypotheses of this moment on many queries at once.

        Parameters
        ----------
        queries, progress, name
            As `AveragePrecision.evaluate` takes them, with its errors and warnings.

        Returns
        -------
        Evaluation

        Notes
        -----
        Takes the time of `snapshot`, and time in proportion to queries times distinct names.
        """
        name = check_name(name)
        query_table = self.criteria.read_queries(queries)
        run = prepare_run(self.criteria, self.snapshot())
        evaluation = evaluate_run(run, select_queries(self.criteria, query_table)).called(name)
        warn_caller(evaluation.warnings)
        return evaluation

    def snapshot(self) -> Ranking:
        """Return the hypotheses of this moment as a ranking that does not change.

        Returns
        -------
        Ranking
            A run wherever `AveragePrecision` takes one; ``to_frame()`` returns a DataFrame.

        Notes
        -----
        Takes O(n log n) time for n hypotheses if any has changed; other threads wait meanwhile.
        """
        with self._lock:
            hypotheses = self._open()
            if self._snapshot is None:
                self._snapshot = Ranking(hypotheses.table())
            return self._snapshot

    def _open(self) -> Hypotheses:
        self._check_open()
        return self._hypotheses

    def _open_for_change(self) -> Hypotheses:
        self._snapshot = None
        return self._open()
