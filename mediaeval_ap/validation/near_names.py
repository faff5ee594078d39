"""Names one edit apart, found in time that grows with their characters.

Two names of one length differ in one position if they are equal without it. A name has one
character more than another if it equals that name without this character. So every name is hashed
without each of its characters, and equal hashes are looked for. A hash is a sum over characters, so
that all hashes of a name come from two cumulative sums. Names with equal hashes are compared.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence

import Levenshtein
import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import ranges, run_starts

CHARACTERS_AT_ONCE = 1 << 20  # of which a block of columns has hashes: a few arrays of 8 MiB
CODE_BITS = 21  # a code point is less than 2**21, so position and character share no bit
# Another in each process, so that nobody can make names of equal hashes: each costs a search.
SALT = np.uint64(secrets.randbits(64))


def earlier_neighbours(names: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each of some distinct names, the position of the first one edit away before it.

    -1 where there is none. Takes O(n log n) for n characters in all names.
    """
    none = len(names)
    earliest = np.full(none, none)
    of_length: defaultdict[int, list[int]] = defaultdict(list)
    for position, name in enumerate(names):
        of_length[len(name)].append(position)
    shorter = None
    for length, positions in sorted(of_length.items()):
        # A name whose length nobody shares or misses by one has no neighbour, and may be huge.
        if len(positions) > 1 or length - 1 in of_length or length + 1 in of_length:
            group = _SameLength(names, np.array(positions), length)
            group.note(earliest, shorter if length - 1 in of_length else None)
            shorter = group
    found = np.flatnonzero(earliest < none)
    for position in found.tolist():
        if not _is_near(names[earliest[position]], names[position]):
            # Two hashes were equal by chance, which may have hidden a true neighbour.
            before = (other for other in range(position) if _is_near(names[other], names[position]))
            earliest[position] = next(before, none)
    return np.where(earliest < none, earliest, -1)


def _is_near(name: str, other: str) -> bool:
    n_edits: int = Levenshtein.distance(name, other, score_cutoff=1)
    return n_edits == 1


class _SameLength:
    """The names of one length, and their hashes, whole and without each of their characters."""

    def __init__(self, names: Sequence[str], positions: NDArray[np.int64], length: int) -> None:
        text = ''.join([names[position] for position in positions.tolist()])
        codes = np.frombuffer(text.encode('utf-32-le'), dtype=np.uint32)
        self._positions = positions
        self._codes = codes.reshape(len(positions), length)
        self._shifted = np.zeros(len(positions), dtype=np.uint64)
        self.hashes = np.zeros(len(positions), dtype=np.uint64)
        for columns in self._blocks():
            self.hashes += self._mixed(columns, columns).sum(1)
            self._shifted += self._mixed(columns, columns - 1).sum(1)

    def _blocks(self) -> Iterator[NDArray[np.int64]]:
        n_names, length = self._codes.shape
        width = max(1, CHARACTERS_AT_ONCE // n_names)
        for start in range(0, length, width):
            yield np.arange(start, min(start + width, length))

    def _mixed(self, columns: NDArray[np.int64], where: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return what the characters of some columns add to a hash if they stood in others."""
        position = (where.astype(np.uint64) << np.uint64(CODE_BITS)) + SALT
        return _mix(position + self._codes[:, columns].astype(np.uint64))

    def note(self, earliest: NDArray[np.int64], shorter: _SameLength | None) -> None:
        """Note neighbours among the names of this length, and with those one character shorter."""
        before = np.zeros((len(self._positions), 1), dtype=np.uint64)
        after = self._shifted[:, np.newaxis].copy()
        if shorter is not None:
            order = np.argsort(shorter.hashes, kind='stable')
            others = shorter._positions[order], shorter.hashes[order]
        for columns in self._blocks():
            here = self._mixed(columns, columns)
            self._note_equal(earliest, self.hashes[:, np.newaxis] - here)
            if shorter is not None:
                shifted = np.cumsum(self._mixed(columns, columns - 1), axis=1, dtype=np.uint64)
                up_to = np.cumsum(here, axis=1, dtype=np.uint64)
                # Without a character, those before it stay and those behind it move up by one.
                without = before + up_to - here + after - shifted
                self._note_found(earliest, without, *others)
                before += up_to[:, -1:]
                after -= shifted[:, -1:]

    def _note_equal(self, earliest: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
        flat = keys.ravel()
        order = np.argsort(flat, kind='stable')
        positions = self._positions[order // keys.shape[1]]
        starts = run_starts([flat[order]])
        sizes = np.diff(starts, append=len(order))
        first = positions[starts].repeat(sizes)
        later = positions > first
        np.minimum.at(earliest, positions[later], first[later])

    def _note_found(
        self,
        earliest: NDArray[np.int64],
        keys: NDArray[np.uint64],
        shorter: NDArray[np.int64],
        hashes: NDArray[np.uint64],
    ) -> None:
        order = keys.ravel().argsort()  # searches in ascending order are several times as fast
        ascending = keys.ravel()[order]
        starts = np.searchsorted(hashes, ascending)
        hits = np.flatnonzero(hashes[np.minimum(starts, len(hashes) - 1)] == ascending)
        sizes = np.searchsorted(hashes, ascending[hits], side='right') - starts[hits]
        found = shorter[ranges(starts[hits], sizes)]
        longer = self._positions[order[hits] // keys.shape[1]].repeat(sizes)
        np.minimum.at(earliest, np.maximum(longer, found), np.minimum(longer, found))


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers that look random: the last steps of splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
