"""The coroutine that answers queries about one run."""

from __future__ import annotations

from collections.abc import Generator
from types import TracebackType
from typing import Any, Self

from mediaeval_ap.errors import QueryError, shown
from mediaeval_ap.scoring import Scorer
from mediaeval_ap.tables.format import TEXT
from mediaeval_ap.text import is_text, plain_text

__all__ = ['Session', 'answer', 'check_query']


class Session(Generator[tuple[list[float], int], str | None, None]):
    """A coroutine that answers queries about one run, and outlives a bad one.

    `AveragePrecision` begins it, primed. A query that is not a name raises to its sender and the
    session goes on; ``send(None)``, ``close()`` or the end of a ``with`` block end it.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> session = AveragePrecision('samples/reference.txt', K=[10])('samples/hypothesis.txt')
    >>> session.send('alain_juppe')
    ([0.0], 2)
    >>> session.close()
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer: Scorer | None = scorer

    def send(self, query: str | None) -> tuple[list[float], int]:
        """Answer one query.

        Parameters
        ----------
        query : str or None
            A name; none ends the session.

        Returns
        -------
        ap : list of float
            Average precision at each cutoff.
        n_relevant : int
            How many shots are relevant.

        Raises
        ------
        QueryError
            When the query is not a name.
        StopIteration
            When the session has ended, or ends here.

        Warns
        -----
        ScoreAboveOneWarning
            When an average precision exceeds 1, as counting shots again can make it.

        Notes
        -----
        Takes time in proportion to the distinct names of the run.
        """
        if query is None:
            self.close()
        scorer = self._scorer
        if query is None or scorer is None:
            raise StopIteration
        return answer(scorer, query, stacklevel=3)

    def throw(
        self,
        typ: Any,
        val: Any = None,
        tb: TracebackType | None = None,
    ) -> tuple[list[float], int]:
        """End the session with an exception.

        Parameters
        ----------
        typ, val, tb
            What is raised, as in any generator.

        Returns
        -------
        tuple
            Never: what is thrown is raised.
        """
        self.close()
        return super().throw(typ, val, tb)

    def close(self) -> None:
        """End the session."""
        self._scorer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def answer(scorer: Scorer, query: str, *, stacklevel: int) -> tuple[list[float], int]:
    """Answer one query about a run.

    Parameters
    ----------
    scorer : Scorer
        The run.
    query : str
        A name.
    stacklevel : int
        How far up the one stands whom this warns.

    Returns
    -------
    ap : list of float
        Average precision at each cutoff.
    n_relevant : int
        How many shots are relevant.

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
    >>> from mediaeval_ap.relevance import Reference
    >>> from mediaeval_ap.ranking import Ranking
    >>> from mediaeval_ap.relevance import Relevance
    >>> from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=False)
    >>> ranking = Ranking(read([('x', 'v', '1', 'anna', 0.5)], HYPOTHESIS))
    >>> relevance = Relevance(reference, ranking.shots)
    >>> answer(Scorer(ranking, relevance, [9], definitions.get('trec')), 'ann', stacklevel=1)
    ([1.0], 1)
    """
    query = check_query(query)
    (distances,) = scorer.ranking.names.distances([query])
    ap, n_relevant = scorer.score(query, distances)
    scorer.warn_of_scores_above_one([ap], [query], stacklevel=stacklevel + 1)
    return ap, n_relevant


def check_query(query: object) -> str:
    """Return a query as plain text, if it is a name.

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
    >>> check_query('')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.QueryError: query: found '', expected trimmed text on one line, not empty
    """
    text = plain_text(query)
    if text is None or not is_text(text):
        raise QueryError(f'query: found {shown(query)}, expected {TEXT}')
    return text
