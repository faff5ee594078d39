"""Sums of doubles without rounding, so that neither order nor split of the terms matters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError

# A finite double is an integer of 53 bits times a power of two. For each power that occurs, these
# integers are added in two halves, as 64 bits would soon overflow with whole ones.
MANTISSA_BITS = 53
LOW_BITS = 26
MAX_TERMS = 1 << 35  # a high half has 27 bits and a sign: the sum of so many fits in 64 bits


class ExactSums:
    """Exact sums of finite doubles, one sum for each group."""

    def __init__(self, n_groups: int = 1) -> None:
        self.n_groups = n_groups
        self.n_terms = 0
        self._halves: dict[int, NDArray[np.int64]] = {}  # by exponent, shape (2, n_groups)

    def add(self, values: NDArray[np.float64], groups: NDArray[np.integer] | None = None) -> None:
        """Add each value to the sum of its group, by default to the first sum."""
        some = np.flatnonzero(values != 0)
        if not len(some):
            return
        self._expect_room(len(some))
        fractions, exponents = np.frexp(values[some])
        mantissas = np.ldexp(fractions, MANTISSA_BITS).astype(np.int64)
        lowest = int(exponents.min())
        shape = (int(exponents.max()) - lowest + 1, self.n_groups)
        places = (exponents.astype(np.int64) - lowest) * self.n_groups
        if groups is not None:
            places += groups[some]
        sums = np.zeros((2, *shape), dtype=np.int64)
        np.add.at(sums[0].reshape(-1), places, mantissas >> LOW_BITS)
        np.add.at(sums[1].reshape(-1), places, mantissas & ((1 << LOW_BITS) - 1))
        self.n_terms += len(some)
        for offset in range(shape[0]):
            self._add_halves(lowest + offset, sums[:, offset])

    def merge(self, other: ExactSums) -> None:
        """Add the sums of another, group by group."""
        self._expect_room(other.n_terms)
        self.n_terms += other.n_terms
        for exponent, halves in other._halves.items():
            self._add_halves(exponent, halves)

    def fraction(self, group: int = 0) -> Fraction:
        """Return the exact sum of a group."""
        lowest = min(self._halves, default=0)
        total = 0
        for exponent, halves in self._halves.items():
            high, low = halves[:, group].tolist()
            total += ((high << LOW_BITS) + low) << (exponent - lowest)
        return total * Fraction(2) ** (lowest - MANTISSA_BITS)

    def _add_halves(self, exponent: int, halves: NDArray[np.int64]) -> None:
        if exponent in self._halves:
            self._halves[exponent] += halves
        elif halves.any():
            self._halves[exponent] = halves.copy()  # which may be those of another

    def _expect_room(self, n_terms: int) -> None:
        if (found := self.n_terms + n_terms) > MAX_TERMS:
            raise ParameterError(f'found {found} terms of a sum, expected at most {MAX_TERMS}')
