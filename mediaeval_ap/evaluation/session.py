"""A coroutine that answers queries on one run."""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType
from typing import Any, NamedTuple, Self

from mediaeval_ap.errors import (
    NAMES_IN_MESSAGE,
    SessionClosedError,
    WithoutRelevantWarning,
    shown,
    warn_caller,
    with_noun,
)
from mediaeval_ap.evaluation.criteria import Criteria, check_query
from mediaeval_ap.evaluation.data_warnings import queries_above_one, scores_above_one
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.scoring import score


class Answer(NamedTuple):
    """The answer to one query; it unpacks as a pair.

    Parameters
    ----------
    ap : list of float
        Average precision at each cutoff.
    n_relevant : int
        Number of relevant shots.

    Examples
    --------
    >>> ap, n_relevant = Answer(ap=[0.5], n_relevant=2)
    """

    ap: list[float]
    n_relevant: int


class Session(Generator[Answer, str | None, None]):
    """A coroutine that answers queries on one run.

    `AveragePrecision` returns it primed: send the first query right away. Only ``close()``,
    ``throw()`` or the end of a ``with`` block end it. After that every call except ``close()``
    raises `SessionClosedError`, never `StopIteration`, which ``map`` and ``for`` would take for the
    end of the queries.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> with AveragePrecision('samples/reference.txt', K=[10])('samples/hypothesis.txt') as session:
    ...     session.send('alain_juppe')
    Answer(ap=[0.0], n_relevant=2)
    """

    def __init__(self, lister: Lister, criteria: Criteria) -> None:
        self._lister = lister
        self.criteria = criteria
        self._is_closed = False
        self._unknown: set[str] = set()  # queries with a warning already

    def __repr__(self) -> str:
        closed = 'closed, ' if self._is_closed else ''
        return f'{type(self).__name__}({closed}{self._run()}, {self.criteria})'

    def _run(self) -> str:
        ranking = self._lister.ranking
        n_hypotheses = with_noun(len(ranking), 'hypothesis', 'hypotheses')
        return f'run={shown(ranking.source.name)}, {n_hypotheses}'

    def send(self, query: str | None) -> Answer:
        """Answer one query.

        Parameters
        ----------
        query : str
            A name.

        Returns
        -------
        Answer
            ``(ap, n_relevant)``.

        Raises
        ------
        ParameterError
            When the query is not a name, such as ``None``. The session goes on.

        Warns
        -----
        DataWarning, WithoutRelevantWarning
            When average precision exceeds 1; when one of the first three names that are not in the
            reference is sent for the first time. `close` gives the number of further ones.

        Notes
        -----
        Takes time in proportion to the number of distinct names of the run; a warning about an
        unknown name, to the number of names of the reference.
        """
        self._check_open()
        lister = self._current_lister()
        name = check_query(query)
        ap, n_relevant, _ = score(lister, [name], self.criteria.K)
        run = lister.ranking.source.name
        above_one = queries_above_one(ap, [name])
        warnings = scores_above_one(above_one, 1, run, lister.definition)
        if name not in self._unknown and not self.criteria.reference.has(name):
            self._unknown.add(name)
            if len(self._unknown) <= NAMES_IN_MESSAGE:
                warnings = self.criteria.reference.about_unknown([name]) + warnings
        warn_caller(warnings)
        return Answer(ap[0].tolist(), int(n_relevant[0]))

    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> Answer:
        """End the session with an exception, which is raised, as in any generator.

        Parameters
        ----------
        typ, val, tb

        Returns
        -------
        Answer
        """
        self._check_open()
        self.close()
        return super().throw(typ, val, tb)

    def close(self) -> None:
        """End the session, and warn of the number of further unknown names, once."""
        n_further = 0 if self._is_closed else len(self._unknown) - NAMES_IN_MESSAGE
        self._is_closed = True
        if n_further > 0:
            queries = with_noun(
                n_further, 'further query is not a name', 'further queries are not names'
            )
            reference = self.criteria.reference.name
            note = f'{queries} in the reference'
            warn_caller([WithoutRelevantWarning('unknown-queries', reference, note)])

    def _current_lister(self) -> Lister:
        return self._lister

    def _check_open(self) -> None:
        if self._is_closed:
            raise SessionClosedError('this session is closed; begin another one')

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
