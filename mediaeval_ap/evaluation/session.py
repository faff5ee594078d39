"""The coroutine that answers queries about one run."""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType
from typing import Any, NamedTuple, Self

from mediaeval_ap.errors import QueryError, SessionClosedError, shown
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.plain_text import is_text, plain_text
from mediaeval_ap.tables.faults import TEXT

__all__ = ['Answer', 'Session', 'answer', 'check_query']


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
    >>> ap, n_relevant = Answer([0.5], 2)
    >>> Answer([0.5], 2).n_relevant
    2
    """

    ap: list[float]
    n_relevant: int


class Session(Generator[Answer, str | None, None]):
    """A coroutine that answers queries about one run.

    `AveragePrecision` begins it, primed: send the first query right away. A query that is not a
    name, ``None`` among them, raises `QueryError` to its sender, and the session goes on. Only
    ``close()``, ``throw()`` or the end of a ``with`` block end it. From then on every call but
    ``close()`` raises `SessionClosedError`, and never `StopIteration`, which ``map`` and ``for``
    would take for the end of the queries.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> session = AveragePrecision('samples/reference.txt', K=[10])('samples/hypothesis.txt')
    >>> session.send('alain_juppe')
    Answer(ap=[0.0], n_relevant=2)
    >>> session.close()
    >>> session.send('alain_juppe')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.SessionClosedError: this session is closed; begin another one
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._is_closed = False

    def send(self, query: str | None) -> Answer:
        """Answer one query.

        Parameters
        ----------
        query : str
            A name.

        Returns
        -------
        Answer
            ``(ap, n_relevant)``: average precision at each cutoff, and the number of relevant
            shots.

        Raises
        ------
        QueryError
            When the query is not a name. The session goes on.
        SessionClosedError
            When the session is closed.

        Warns
        -----
        ScoreAboveOneWarning
            When an average precision exceeds 1, as counting shots again can make it.

        Notes
        -----
        Takes time in proportion to the distinct names of the run.
        """
        self._check_open()
        return answer(self._current_scorer(), query)

    def throw(
        self,
        typ: Any,
        val: Any = None,
        tb: TracebackType | None = None,
    ) -> Answer:
        """End the session with an exception.

        Parameters
        ----------
        typ, val, tb
            What is raised, as in any generator.

        Returns
        -------
        Answer
            Never: what is thrown is raised.

        Raises
        ------
        SessionClosedError
            When the session is closed.
        """
        self._check_open()
        self.close()
        return super().throw(typ, val, tb)

    def close(self) -> None:
        """End the session. Closing it again does nothing."""
        self._is_closed = True

    def _current_scorer(self) -> Scorer:
        return self._scorer

    def _check_open(self) -> None:
        if self._is_closed:
            raise SessionClosedError('this session is closed; begin another one')

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def answer(scorer: Scorer, query: str | None) -> Answer:
    """Answer one query about a run.

    Parameters
    ----------
    scorer : Scorer
        The run.
    query : str
        A name.

    Returns
    -------
    Answer
        Average precision at each cutoff, and the number of relevant shots.

    Raises
    ------
    QueryError
        When the query is not a name.

    Warns
    -----
    ScoreAboveOneWarning
        When an average precision exceeds 1, as counting shots again can make it.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> from mediaeval_ap.evaluation.relevance import Reference
    >>> from mediaeval_ap.ranking.frozen import Ranking
    >>> from mediaeval_ap.evaluation.relevance import Relevance
    >>> from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=False)
    >>> ranking = Ranking(read([('x', 'v', '1', 'anna', 0.5)], HYPOTHESIS))
    >>> relevance = Relevance(reference, ranking.shots)
    >>> answer(Scorer(ranking, relevance, [9], definitions.get('trec')), 'ann')
    Answer(ap=[1.0], n_relevant=1)
    """
    name = check_query(query)
    (distances,) = scorer.ranking.names.distances([name])
    ap, n_relevant = scorer.score(name, distances)
    scorer.warn_of_scores_above_one([ap], [name])
    return Answer(ap, n_relevant)


def check_query(query: object) -> str:
    """Return a query, if it is a name.

    Parameters
    ----------
    query : object
        Anything that a session was sent.

    Returns
    -------
    str
        Its characters, whatever class of text it is.

    Raises
    ------
    QueryError
        When it is not what a line of names can hold.

    Examples
    --------
    >>> check_query('ann')
    'ann'
    >>> check_query(None)
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.QueryError: query: found None, expected a name; a session is primed \
already, and close() ends it
    """
    if query is None:
        raise QueryError(
            'query: found None, expected a name; a session is primed already, and close() ends it'
        )
    text = plain_text(query)
    if text is None or not is_text(text):
        raise QueryError(f'query: found {shown(query)}, expected {TEXT}')
    return text
