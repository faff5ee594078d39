"""Sorting of more keys than memory holds: sorted runs on disk, merged block by block.

A key is one or two words of 64 bits, the first word first; keys are arrays of shape
(n_keys, n_words). Memory does not depend on the values: one value may be that of all keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ascending, run_starts

WORD_BITS = 64
RUN_KEYS = 1 << 23  # a choice: 64 MiB for each word
MERGED_KEYS = 1 << 22  # a choice: of all runs together, in memory at once
LARGEST_TABLE = 1 << 26  # a choice: 256 MiB of numbers, for values below it

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Packing:
    """The bits of columns of integers from 0 that make up a key, the first column first.

    Two words hold any four columns of 31 bits, in two pairs, and two bits more.
    """

    bits: tuple[int, ...]

    @property
    def n_words(self) -> int:
        """The words of a key."""
        return 1 if sum(self.bits) <= WORD_BITS else 2

    def pack(self, columns: Sequence[NDArray[np.integer]]) -> Keys:
        """Return the keys of rows."""
        keys = np.zeros((len(columns[0]), self.n_words), dtype=np.uint64)
        for column, (word, _, bits) in zip(columns, self._fields(), strict=True):
            keys[:, word] <<= np.uint64(bits)
            keys[:, word] |= column.astype(np.uint64, copy=False)
        return keys

    def unpack(self, keys: Keys) -> list[NDArray[np.int64]]:
        """Return the columns of keys."""
        columns = []
        for word, shift, bits in self._fields():
            column = keys[:, word] >> np.uint64(shift)
            column &= np.uint64((1 << bits) - 1)
            columns.append(column.view(np.int64))
        return columns

    def _fields(self) -> list[tuple[int, int, int]]:
        """Return the word of each column, how far it is from the word's end, and its bits."""
        first = len(self.bits)
        if self.n_words == 2:
            while sum(self.bits[:first]) > WORD_BITS:
                first -= 1
        words = self.bits[:first], self.bits[first:]
        return [
            (word, sum(bits[column + 1 :]), bits[column])
            for word, bits in enumerate(words)
            for column in range(len(bits))
        ]


class ExternalSort:
    """Keys that are sorted by way of files, whose paths begin alike and which `close` removes."""

    def __init__(self, path: Path, n_words: int) -> None:
        self._path = path
        self._n_words = n_words
        self._paths: list[Path] = []
        self._pending: list[Keys] = []
        self._n_pending = 0

    def add(self, keys: Keys) -> None:
        """Add keys; as many as make a run are sorted and written."""
        for start in range(0, len(keys), RUN_KEYS):
            part = keys[start : start + RUN_KEYS]
            if self._n_pending + len(part) > RUN_KEYS:
                self._write()
            self._pending.append(part)
            self._n_pending += len(part)

    def _write(self) -> None:
        """Write what is pending as a sorted run."""
        path = self._path.with_name(f'{self._path.name}-{len(self._paths)}.keys')
        path.write_bytes(self._sorted_pending().data)  # says why it cannot, unlike `tofile`
        self._paths.append(path)

    def _sorted_pending(self) -> Keys:
        keys = np.concatenate(self._pending)
        self._pending, self._n_pending = [], 0
        return sorted_keys(keys)

    def blocks(self) -> Iterator[Keys]:
        """Yield all keys in order, block by block; this can be done several times."""
        if self._pending and self._paths:
            self._write()
        if self._pending:
            self._pending = [self._sorted_pending()]
            self._n_pending = len(self._pending[0])
        if not self._paths:
            yield from self._pending
            return
        with ExitStack() as stack:
            files = [stack.enter_context(open(path, 'rb')) for path in self._paths]
            block_keys = max(1, MERGED_KEYS // len(files))
            yield from _merged([_Run(file, self._n_words, block_keys) for file in files])

    def close(self) -> None:
        """Remove the files."""
        self._pending = []
        for path in self._paths:
            path.unlink()
        self._paths = []


class _Run:
    """A sorted run, of which a block is in memory."""

    def __init__(self, file: BinaryIO, n_words: int, block_keys: int) -> None:
        self._file = file
        self._n_words = n_words
        self._block_keys = block_keys
        self._keys = np.empty((0, n_words), dtype=np.uint64)

    def has_keys(self) -> bool:
        """Read the next block where one is needed; return whether there is any key left."""
        if not len(self._keys):
            words = np.fromfile(self._file, np.uint64, self._block_keys * self._n_words)
            self._keys = words.reshape(-1, self._n_words)
        return len(self._keys) > 0

    @property
    def last(self) -> tuple[int, ...]:
        """The last key that is in memory."""
        return tuple(self._keys[-1].tolist())

    def take(self, bound: tuple[int, ...]) -> Keys:
        """Take the keys up to a bound, of those in memory."""
        count = _count_up_to(self._keys, bound)
        taken, self._keys = self._keys[:count], self._keys[count:]
        return taken


def _merged(runs: list[_Run]) -> Iterator[Keys]:
    # All keys up to the smallest last key are in memory, so they are next. A whole block is taken
    # of the run that has it: keys that are all equal are taken at once, and never pile up.
    while runs := [run for run in runs if run.has_keys()]:
        bound = min(run.last for run in runs)
        yield sorted_keys(np.concatenate([run.take(bound) for run in runs]))


def _count_up_to(keys: Keys, bound: tuple[int, ...]) -> int:
    """Count the sorted keys that are not above a bound."""
    begin, end = 0, len(keys)
    for word, value in enumerate(bound):
        column = keys[begin:end, word]
        wanted = np.uint64(value)
        begin, end = (
            begin + int(column.searchsorted(wanted, 'left')),
            begin + int(column.searchsorted(wanted, 'right')),
        )
    return end


def sorted_keys(keys: Keys) -> Keys:
    """Return keys in order; keys of one word are sorted where they are."""
    if keys.shape[1] == 1:
        keys.sort(axis=0)
        return keys
    order, _ = ascending(keys[:, 1])
    order = order[ascending(keys[order, 0])[0]]
    ordered: Keys = keys[order]
    return ordered


class DistinctKeys:
    """Collects integers, and gives the distinct ones as a sorted array that is mapped from disk."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f'{name}.distinct'
        self._sort = ExternalSort(folder / name, 1)

    def add(self, values: NDArray[np.uint64]) -> None:
        """Add values, in which each may be many times."""
        ordered = np.sort(values)  # a tenth of the time of `unique`, which hashes many values
        self._sort.add(ordered[run_starts([ordered])].reshape(-1, 1))

    def values(self) -> NDArray[np.uint64]:
        """Return the distinct values, ascending."""
        with open(self._path, 'wb') as file:
            for block in unrepeated(self._sort.blocks()):
                file.write(block.data)
        self._sort.close()
        if not self._path.stat().st_size:
            return np.empty(0, dtype=np.uint64)
        return np.memmap(self._path, np.uint64, 'r')


def unrepeated(blocks: Iterable[Keys]) -> Iterator[NDArray[np.uint64]]:
    """Yield each value of sorted keys of one word once."""
    last: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
    for block in blocks:
        values = block[:, 0]
        is_new = np.ones(len(values), dtype=np.bool_)
        is_new[1:] = values[1:] != values[:-1]
        is_new[: len(last)] = values[: len(last)] != last
        last = values[-1:].copy()
        yield values[is_new]


class Numbering:
    """The number of each of some distinct values, ascending, by its position among them."""

    def __init__(self, distinct: NDArray[np.uint64]) -> None:
        self.distinct = distinct
        self._number: NDArray[np.int32] | None = None
        if len(distinct) and int(distinct[-1]) < LARGEST_TABLE:
            self._number = np.zeros(int(distinct[-1]) + 1, dtype=np.int32)
            self._number[distinct] = np.arange(len(distinct))

    def __len__(self) -> int:
        return len(self.distinct)

    def __call__(self, values: NDArray[np.uint64]) -> NDArray[np.integer]:
        """Return the numbers of values that are all among the distinct ones."""
        if self._number is not None:
            return self._number[values]
        # Searching in order takes a fraction of the time where there are many.
        found, inverse = np.unique(values, return_inverse=True)
        numbers: NDArray[np.int64] = self.distinct.searchsorted(found)[inverse]
        return numbers
