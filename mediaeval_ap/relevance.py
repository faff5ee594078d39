"""Which of the ranked shots are relevant to a query."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.shots import Shots, first_occurrences
from mediaeval_ap.tables import Table

__all__ = ['Reference', 'Relevance']


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
    queries : list of str
        The distinct names, sorted.
    n_repeated : int
        How many rows said again what an earlier one said.
    """

    def __init__(self, table: Table, counts_again: bool) -> None:
        name = table['person_name'].sorted()
        shots = Shots(table).codes
        first = first_occurrences(name.codes * np.int64(len(table)) + shots)
        self.n_repeated = len(table) - len(first)
        self.counts_again = counts_again
        if self.n_repeated and not counts_again:
            table = table.select(np.isin(np.arange(len(table)), first))
            name = table['person_name'].sorted()
        self.table = table
        self.queries = list(name.values)
        self.rows = np.argsort(name.codes, kind='stable')
        counts = np.bincount(name.codes, minlength=len(self.queries))
        self._bounds = [0, *np.cumsum(counts).tolist()]

    @cached_property
    def _position(self) -> dict[str, int]:
        return {query: position for position, query in enumerate(self.queries)}

    def span(self, query: str) -> tuple[int, int]:
        """Where the rows of a query begin and end in `rows`.

        Parameters
        ----------
        query : str
            A name.

        Returns
        -------
        begin, end : int
            The same for a name that the reference does not hold.
        """
        position = self._position.get(query)
        if position is None:
            return 0, 0
        return self._bounds[position], self._bounds[position + 1]


class Relevance:
    """A reference seen from the shots of one run.

    Parameters
    ----------
    reference : Reference
        Who is in which shot.
    shots : Shots
        The shots of the run.

    Notes
    -----
    Marks the relevant shots of one query at a time on one array: not to be shared by threads.
    """

    def __init__(self, reference: Reference, shots: Shots) -> None:
        self._reference = reference
        self._shots = shots.find(reference.table)[reference.rows]
        self._marked = np.zeros(len(shots), dtype=np.bool_)

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
        begin, end = self._reference.span(query)
        return end - begin

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
        begin, end = self._reference.span(query)
        relevant = self._shots[begin:end]
        relevant = relevant[relevant >= 0]
        self._marked[relevant] = True
        positions = np.flatnonzero(self._marked[ranked])
        self._marked[relevant] = False
        if self._reference.counts_again:
            return positions
        return positions[first_occurrences(ranked[positions])]
