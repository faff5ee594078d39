"""The places of rows on disk, by sorting what does not fit in memory.

As in `mediaeval_ap.ranking.tie_breaking`: rows are sorted by name, confidence and shot, where
neighbours tell the temporal rank, then by confidence, temporal rank, shot and name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_occurrences, ranks_in_runs, run_starts
from mediaeval_ap.progress import Bar
from mediaeval_ap.store.external_sort import ExternalSort, Packing
from mediaeval_ap.store.row_numbers import RowNumbers
from mediaeval_ap.store.store import StoredRanking

AT_PLACES = 'shot_at', 'name_at', 'confidence_at', 'temporal_rank_at'
BLOCK_ROWS = 1 << 20  # of a store that are looked at together; a choice


class AtPlaces(NamedTuple):
    """Shot, name, confidence and temporal rank at places that follow one another."""

    shot_at: NDArray[np.int32]
    name_at: NDArray[np.int32]
    confidence: NDArray[np.float64]
    temporal_rank: NDArray[np.int32]


class SortedPlaces:
    """Rows that are sorted on disk, by place.

    `numbers` has the number of each name in another order than that of the text.
    """

    def __init__(
        self, rows: RowNumbers, n_rows: int, numbers: NDArray[np.int32], work: Path, bar: Bar
    ) -> None:
        self._rows = rows
        self._numbers = numbers
        self.n_rows, self.n_shots = n_rows, rows.n_shots
        zeros = [_bits(n_rows), 1] if rows.has_negative_zero else []
        bits = [_bits(len(rows.names)), _bits(rows.n_confidences), _bits(rows.n_shots)]
        by_name = _sorted(rows.rows(), Packing((*bits, *zeros)), work / 'name', bar)
        ranked = _RankedRows(by_name, rows)
        for _ in ranked.blocks(bar):  # the largest rank says how many bits a rank has
            pass
        self.n_repeated = ranked.n_repeated
        rank_bits = ranked.largest.bit_length()
        packing = Packing((bits[1], rank_bits, bits[2], bits[0], *zeros[1:]))
        self._sorted = _sorted(ranked.blocks(bar), packing, work / 'place')
        by_name.close()

    def blocks(self) -> Iterator[AtPlaces]:
        """Yield what stands at the places, block by block; this can be done several times."""
        for confidence, rank, shot, name, *is_negative_zero in self._sorted.columns():
            value = self._rows.confidence(confidence)
            if is_negative_zero:
                value[is_negative_zero[0] > 0] = -0.0
            yield AtPlaces(shot.astype(np.int32), self._numbers[name], value, rank.astype(np.int32))

    def close(self) -> None:
        """Remove what is on disk."""
        self._sorted.close()


class StoredPlaces:
    """The columns of a store, by place, in the same blocks."""

    def __init__(self, ranking: StoredRanking) -> None:
        self._ranking = ranking
        self.n_rows, self.n_shots = len(ranking), ranking.n_shots

    def blocks(self) -> Iterator[AtPlaces]:
        """Yield what stands at the places, block by block."""
        for begin in range(0, self.n_rows, BLOCK_ROWS):
            here = slice(begin, begin + BLOCK_ROWS)
            columns: Any = (getattr(self._ranking, name)[here] for name in AT_PLACES)
            yield AtPlaces(*columns)


class _Sorted:
    """Columns of integers, sorted on disk."""

    def __init__(self, packing: Packing, path: Path) -> None:
        self._packing = packing
        self._sort = ExternalSort(path, packing.n_words)
        self.close = self._sort.close

    def add(self, columns: list[NDArray[Any]]) -> None:
        self._sort.add(self._packing.pack(columns))

    def columns(self) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the columns in order, block by block."""
        return map(self._packing.unpack, self._sort.blocks())


def _sorted(
    blocks: Iterator[list[NDArray[Any]]], packing: Packing, path: Path, bar: Bar | None = None
) -> _Sorted:
    sort = _Sorted(packing, path)
    for columns in blocks:
        sort.add(columns)
        if bar is not None:
            bar.add(len(columns[0]))
    return sort


class _RankedRows:
    """Rows in order of name, confidence and shot, whose neighbours tell the temporal rank."""

    def __init__(self, by_name: _Sorted, rows: RowNumbers) -> None:
        self._by_name = by_name
        self._rows = rows
        self.n_repeated = 0
        self.largest = 0

    def blocks(self, bar: Bar) -> Iterator[list[NDArray[Any]]]:
        """Yield confidence, temporal rank, shot, name and, if there, the sign of zeros."""
        last: list[NDArray[Any]] = []  # the row before, and its rank
        self.n_repeated = 0
        for name, confidence, shot, *zeros in self._by_name.columns():
            bar.add(len(name))
            columns = [name, confidence, self._rows.videos_of(shot), shot]
            before = 0
            if last:
                *row, rank = last
                columns = [np.append(a, b) for a, b in zip(row, columns, strict=True)]
                before = int(rank[0]) - 1
            begins = run_starts(columns[:3])
            ranks = ranks_in_runs(begins, len(columns[0]))
            end = begins[1] if len(begins) > 1 else len(ranks)
            ranks[:end] += before
            last = [column[-1:].copy() for column in (*columns, ranks)]
            self.n_repeated += len(ranks) - len(run_starts(columns))
            self.largest = max(self.largest, int(ranks.max()))
            yield [confidence, ranks[-len(name) :], shot, name, *zeros[1:]]


class PlacesOfNames:
    """The places of each name, ascending, name by name."""

    def __init__(self, n_names: int, n_places: int, path: Path) -> None:
        self._sorted = _Sorted(Packing((_bits(n_names), _bits(n_places))), path)
        self._n_places = 0
        self.held = np.zeros(n_names, dtype=np.int64)

    def add(self, names: NDArray[np.int32]) -> None:
        """Add the names at the next places."""
        places = np.arange(self._n_places, self._n_places + len(names))
        self._sorted.add([names, places])
        self._n_places += len(names)
        self.held += np.bincount(names, minlength=len(self.held))

    def blocks(self) -> Iterator[NDArray[np.int32]]:
        """Yield the places, block by block."""
        for _, places in self._sorted.columns():
            yield places.astype(np.int32)

    def close(self) -> None:
        """Remove what is on disk."""
        self._sorted.close()


def kept_places(
    places: SortedPlaces | StoredPlaces, depth: int, n_names: int, work: Path
) -> NDArray[np.bool_]:
    """Return which places a score at some depth or less can need, as `pruning.kept` does."""
    n_rows, n_shots = places.n_rows, places.n_shots
    packing = Packing((_bits(n_names), _bits(n_rows), _bits(n_shots)))
    by_name = _Sorted(packing, work / 'kept')
    is_kept = np.zeros(n_rows, dtype=np.bool_)
    n_places = 0
    for block in places.blocks():
        here = np.arange(n_places, n_places + len(block.name_at))
        by_name.add([block.name_at, here, block.shot_at])
        n_places += len(here)
    pruning = _Pruning(depth)
    for name, place, shot in by_name.columns():
        is_kept[place] = pruning.kept(name, shot)
    by_name.close()
    return is_kept


class _Pruning:
    """The choice of what is kept of hypotheses in blocks: name by name, best first."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._name = -1  # of the last hypothesis
        self._n_held = 0  # hypotheses of it so far
        self._shots = np.empty(0, dtype=np.int64)  # distinct ones of it so far, until enough

    def kept(self, name: NDArray[np.int64], shot: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the next hypotheses are kept."""
        begins = run_starts([name])
        end = int(begins[1]) if len(begins) > 1 else len(name)  # of the first name
        goes_on = int(name[0]) == self._name
        ranks = ranks_in_runs(begins, len(name))
        first = first_occurrences(combine([name, shot]))
        n_shots = 0
        if goes_on:
            ranks[:end] += self._n_held
            n_shots = len(self._shots)
            first = first[(first >= end) | ~np.isin(shot[first], self._shots)]
        shot_ranks = ranks_in_runs(run_starts([name[first]]), len(first))
        shot_ranks[first < end] += n_shots
        is_kept = ranks <= self._depth
        is_kept[first[shot_ranks <= self._depth]] = True
        self._remember(name, shot, int(ranks[-1]), goes_on and len(begins) == 1)
        return is_kept

    def _remember(
        self, name: NDArray[np.int64], shot: NDArray[np.int64], n_held: int, goes_on: bool
    ) -> None:
        self._name, self._n_held = int(name[-1]), n_held
        if not goes_on:
            self._shots = self._shots[:0]
        if len(self._shots) < self._depth:
            self._shots = np.union1d(self._shots, shot[name == self._name])


def _bits(count: int) -> int:
    """Return the bits of numbers from 0 below a count, of which there may be none."""
    return (count - 1).bit_length()
