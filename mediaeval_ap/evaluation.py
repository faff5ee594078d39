"""The result of an evaluation: average precision by query and on average, and what it is from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.definitions import Definition
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

__all__ = ['Evaluation']


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a run is worth, query by query and on average.

    Parameters
    ----------
    queries : list of str
        The names asked for, in the order of the rows of `ap`.
    K : list of int
        The cutoffs, in the order of its columns.
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.
    n_relevant : ndarray of int64, shape (n_queries,)
        Relevant shots of each query.
    definition : Definition
        What average precision is.
    inputs : mapping of str to Source
        ``reference``, ``hypothesis`` and, where there were any, ``subset`` and ``queries``.
    counts : mapping of str to int
        How much of everything was looked at.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', 'samples/queries.txt')
    >>> evaluation.ap.shape, evaluation.n_relevant.tolist(), evaluation.counts['names']
    ((3, 1), [116, 26, 2], 3500)
    """

    queries: list[str]
    K: list[int]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    definition: Definition
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]

    @cached_property
    def map(self) -> NDArray[np.float64]:
        """Mean average precision at each cutoff: sums rounded once, whatever the queries' order."""
        return np.array([math.fsum(column) / len(self.queries) for column in self.ap.T.tolist()])

    def to_frame(self) -> pandas.DataFrame:
        """The queries as a table.

        Returns
        -------
        pandas.DataFrame
            A row per query, which is its index; columns ``AP@k`` for each cutoff, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
        >>> evaluation.to_frame().columns.tolist()
        ['AP@10', 'AP@100', 'n_relevant']
        """
        import pandas

        frame = pandas.DataFrame(
            self.ap,
            index=pandas.Index(self.queries, name='query'),
            columns=[f'AP@{k}' for k in self.K],
        )
        frame['n_relevant'] = self.n_relevant
        return frame

    def to_dict(self) -> dict[str, Any]:
        """All of it, with a manifest of what it was computed from, ready for JSON.

        Returns
        -------
        dict
            ``definition`` (its name), ``K``, ``map``, ``queries``, ``n_relevant``, ``ap`` and
            ``manifest``: the package's ``version``, the ``definition`` in full, the ``inputs``
            with their names and SHA-256, the ``counts``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt')
        >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
        >>> evaluation.to_dict()['manifest']['inputs']['hypothesis']['name']
        'samples/hypothesis.txt'
        """
        return {
            'definition': self.definition.name,
            'K': list(self.K),
            'map': self.map.tolist(),
            'queries': list(self.queries),
            'n_relevant': self.n_relevant.tolist(),
            'ap': self.ap.tolist(),
            'manifest': {
                'version': __version__,
                'definition': self.definition.to_dict(),
                'inputs': {
                    role: {'name': source.name, 'sha256': source.sha256}
                    for role, source in self.inputs.items()
                },
                'counts': dict(self.counts),
            },
        }
