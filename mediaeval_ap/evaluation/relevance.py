"""Which of the ranked shots are relevant to a query."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import Table

__all__ = ['PLACEHOLDER', 'Reference', 'Relevance', 'without_placeholders']

PLACEHOLDER = '?'  # the first character of what stands for people without a name


def without_placeholders(names: Iterable[str]) -> list[str]:
    """Return the names that stand for a person, sorted.

    Parameters
    ----------
    names : iterable of str
        Names of a reference.

    Returns
    -------
    list of str
        Those that do not begin with ``?``.

    Examples
    --------
    >>> without_placeholders(['bob', '?unknown?', 'ann'])
    ['ann', 'bob']
    """
    return sorted(name for name in names if not name.startswith(PLACEHOLDER))


class Reference:
    """Who is in which shot.

    Parameters
    ----------
    table : Table
        The reference's rows.
    counts_again : bool
        Whether a shot that is returned again counts again. Then so does a row that the reference
        repeats; otherwise such a row is dropped.

    Attributes
    ----------
    table : Table
        The rows that count.
    queries : list of str
        The distinct names, sorted, without placeholders.
    n_placeholders : int
        Number of distinct names that begin with ``?``: they stand for people without a name.
    n_repeated : int
        How many rows said again what an earlier one said.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> rows = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')]
    >>> reference = Reference(read(rows, REFERENCE), counts_again=True)
    >>> reference.queries, reference.n_relevant('ann')
    (['ann'], 2)
    """

    def __init__(self, table: Table, counts_again: bool) -> None:
        name = table['person_name'].codes.astype(np.int64)
        first = first_occurrences(name * len(table) + Shots(table).codes)
        self.n_repeated = len(table) - len(first)
        if self.n_repeated and not counts_again:
            table = table.select(np.isin(np.arange(len(table)), first))
        self.table = table
        self.counts_again = counts_again
        names = table['person_name'].values
        self.queries = without_placeholders(names)
        self.n_placeholders = len(names) - len(self.queries)
        rows: list[int] = np.bincount(table['person_name'].codes).tolist()
        self._n_relevant = dict(zip(names, rows, strict=True))

    @cached_property
    def videos(self) -> frozenset[tuple[str, str]]:
        """The distinct videos, as pairs of corpus and video."""
        corpus, video = self.table['corpus_id'], self.table['video_id']
        keys = corpus.codes.astype(np.int64) * len(video.values) + video.codes
        first = first_occurrences(keys)
        texts = (self.table.texts(field, first) for field in ('corpus_id', 'video_id'))
        return frozenset(zip(*texts, strict=True))

    def __contains__(self, name: object) -> bool:
        return name in self._n_relevant

    def n_relevant(self, query: str) -> int:
        """How many shots are relevant, returned or not.

        Parameters
        ----------
        query : str
            A name.

        Returns
        -------
        int
            R, in the words of the definitions.
        """
        return self._n_relevant.get(query, 0)


class NumberedShots(Protocol):
    """Distinct shots with a number each."""

    def __len__(self) -> int: ...

    def find(self, table: Table) -> NDArray[np.int64]:
        """The number that each row's shot of a table has here, -1 for one that is not here."""


class Relevance:
    """A reference seen from the shots of one run.

    Parameters
    ----------
    reference : Reference
        Who is in which shot.
    shots : Shots
        The shots of the run. More may come later, where they are numbered as they come.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '2', 'ann')], REFERENCE), True)
    >>> run = read([('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)], HYPOTHESIS)
    >>> Relevance(reference, Shots(run)).hits('ann', np.array([0, 1])).tolist()
    [1]
    """

    def __init__(self, reference: Reference, shots: NumberedShots) -> None:
        self.reference = reference
        self.shots = shots
        name = reference.table['person_name']
        found = shots.find(reference.table)
        returned = found >= 0
        codes = name.codes[returned]
        by_name = found[returned][codes.argsort(kind='stable')]
        ends = np.bincount(codes, minlength=len(name.values)).cumsum().tolist()
        self._shots_of = {
            value: by_name[begin:end]
            for value, begin, end in zip(name.values, [0, *ends], ends, strict=False)
        }
        self._nothing = np.empty(0, dtype=np.int64)
        self._in_both = by_name

    @cached_property
    def n_in_both(self) -> int:
        """The number of distinct shots that are in the reference and known, under whatever name."""
        return int(np.count_nonzero(np.bincount(self._in_both)))

    def relevant_shots(self, query: str) -> NDArray[np.int64]:
        """The relevant shots that are known, under whatever name.

        Parameters
        ----------
        query : str
            A name.

        Returns
        -------
        ndarray of int64, shape (n_known,)
            Their numbers, in no order.
        """
        return self._shots_of.get(query, self._nothing)

    def hits(self, query: str, ranked: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where in a ranking the relevant shots stand.

        Parameters
        ----------
        query : str
            A name.
        ranked : ndarray of int, shape (n,)
            The run's shots by rank, as their numbers.

        Returns
        -------
        ndarray of int64, shape (n_hits,)
            Positions from 0, ascending; a shot that came before is a hit again only where
            repeats count.
        """
        marked = np.zeros(len(self.shots), dtype=np.bool_)
        marked[self.relevant_shots(query)] = True
        positions: NDArray[np.int64] = marked[ranked].nonzero()[0]
        if self.reference.counts_again:
            return positions
        return positions[first_occurrences(ranked[positions])]
