"""The distances of one query to all names, and the names that are nearest to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import LentArray

NAMES_IN_RUN = 1 << 16  # at most


class Distances(Protocol):
    """The normalized distances of one query, which names index."""

    def __getitem__(self, names: NDArray[np.integer] | slice, /) -> NDArray[np.float64]: ...

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return at least so many nearest names, or all: whole tie blocks, in no order."""


class Quotients:
    """Distances to all names as they are: for few names, or names in no order."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._values = values

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        return self._values[names]

    def nearest(self, count: int) -> NDArray[np.int64]:
        if count >= len(self._values):
            return np.arange(len(self._values))
        partitioned = self._values.copy()
        partitioned.partition(count)
        within: NDArray[np.int64] = (self._values <= partitioned[count]).nonzero()[0]
        return within


class Run(NamedTuple):
    """Consecutive names, not too many, whose edits are divided by one number."""

    begin: int
    end: int
    divisor: int


def parts(begin: int, end: int, divisor: int) -> Iterator[Run]:
    """Yield a run in pieces whose marks are not so large that the system maps them each time."""
    for first in range(begin, end, NAMES_IN_RUN):
        yield Run(first, min(first + NAMES_IN_RUN, end), divisor)


class EditsByLength:
    """Edit distances to names in order of length, not divided until they are asked for.

    Names of one length have one divisor, so their edits, small integers, order them.
    """

    def __init__(
        self,
        edits: NDArray[np.unsignedinteger],
        length: int,
        lengths: NDArray[np.int64],
        runs: Sequence[Run],
        lent: LentArray | None = None,
    ) -> None:
        self._edits = edits
        self._length = length  # of the query
        self._lengths = lengths
        self._runs = runs
        self._lent = lent  # the edits are on it, and others will be once these are not held

    def __getitem__(self, names: NDArray[np.integer] | slice) -> NDArray[np.float64]:
        # A quotient of integers, rounded once: equal distances are equal doubles.
        return self._edits[names] / np.maximum(self._lengths[names], self._length)

    def nearest(self, count: int) -> NDArray[np.int64]:
        if count >= len(self._edits):
            return np.arange(len(self._edits))
        farthest: dict[Run, int] = {}
        n_names, radius = 0, 0.0
        for distance, run, edits in merge(*map(self._ascending, self._merged_runs())):
            if n_names >= count and distance > radius:
                break
            radius, farthest[run] = distance, edits
            n_names += int(np.count_nonzero(self._edits[run.begin : run.end] == edits))
        within = [
            (self._edits[run.begin : run.end] <= edits).nonzero()[0] + run.begin
            for run, edits in farthest.items()
        ]
        return np.concatenate(within)

    def _merged_runs(self) -> list[Run]:
        """Return runs of one divisor: names that are no longer than the query are divided by it."""
        longer = [run for run in self._runs if run.divisor > self._length]
        begin = longer[0].begin if longer else len(self._edits)
        return [*parts(0, begin, self._length), *longer]

    def _ascending(self, run: Run) -> Iterator[tuple[float, Run, int]]:
        """Yield the distances that names of a run may have, from the least one on."""
        least = int(self._edits[run.begin : run.end].min())
        return ((edits / run.divisor, run, edits) for edits in range(least, run.divisor + 1))
