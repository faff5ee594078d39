"""The interface of metrics that are updated piece by piece, and exact sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError, shown

# Sums of whole mantissas would soon overflow 64 bits, so each is cut into two halves. A high half
# has 27 bits and a sign, so a sum of 2**35 terms fits: more than there are users.
MANTISSA_BITS = 53
LOW_BITS = 26


class Accumulator(ABC):
    """A metric that is updated piece by piece, and can be merged with another.

    The value does not depend on the pieces or on their order, not even in its last bit. All
    attributes except the settings are sums over the data.

    Examples
    --------
    >>> from mediaeval_ap.metrics import ReciprocalRank
    >>> one, other = ReciprocalRank(), ReciprocalRank()
    >>> one.update(['x'], [['x', 'y']]), other.update(['z'], [['x', 'z']])
    (array([1.]), array([0.5]))
    >>> one.merge(other)
    >>> one.compute()
    0.75
    """

    settings: ClassVar[tuple[str, ...]] = ()  # attributes that have to be equal in `merge`

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Add a piece of data; an invalid piece is a `ParameterError`, and adds nothing.

        Parameters
        ----------
        *args, **kwargs
            The data; each metric documents its own, and the values that it returns.

        Returns
        -------
        ndarray, tuple of ndarray, or None
        """

    def merge(self, other: Self) -> None:
        """Add all data of another accumulator.

        Parameters
        ----------
        other : Accumulator
            An accumulator of the same class and settings (else `ParameterError`). It does not
            change. An accumulator that is merged with itself counts its data twice.
        """
        self._expect_like(other)
        merged = {
            name: value + getattr(other, name)
            for name, value in vars(self).items()
            if name not in self.settings
        }
        vars(self).update(merged)

    @abstractmethod
    def compute(self) -> float:
        """Return the value of all data so far.

        Returns
        -------
        float
            The value; `UndefinedScoreError` if it would be a mean over nothing.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget all data, but keep the settings."""

    def __copy__(self) -> Self:
        return deepcopy(self)  # a shallow copy would share the sums, which updates change

    def _expect_like(self, other: Self) -> None:
        if type(other) is not type(self) or self._settings() != other._settings():
            raise ParameterError(f'merge: found {shown(other)}, expected {self!r}')

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.settings}

    def __repr__(self) -> str:
        settings = ', '.join(f'{name}={value}' for name, value in self._settings().items())
        return f'{type(self).__name__}({settings})'


class ExactSums:
    """Exact sums of finite doubles, one sum for each group.

    Each double is split into an exponent and an integer mantissa, whose halves are added to the
    sums of that exponent: 1.5 is 0.75·2**1, so exponent 1 gets the mantissa 0.75·2**53.

    >>> values = np.array([1e16, 1.0, -1e16])
    >>> sums = ExactSums()
    >>> sums.add(values)
    >>> float(values.cumsum()[-1]), float(sums.fraction())
    (0.0, 1.0)
    """

    def __init__(self, n_groups: int = 1) -> None:
        self.n_groups = n_groups
        self._halves: dict[int, NDArray[np.int64]] = {}  # by exponent, shape (2, n_groups)

    def add(self, values: NDArray[np.float64], groups: NDArray[np.integer] | None = None) -> None:
        """Add each value to the sum of its group, by default to the first group."""
        nonzero = np.flatnonzero(values != 0)
        if not len(nonzero):
            return
        fractions, exponents = np.frexp(values[nonzero])
        mantissas = np.ldexp(fractions, MANTISSA_BITS).astype(np.int64)
        lowest = int(exponents.min())
        shape = (int(exponents.max()) - lowest + 1, self.n_groups)
        cells = (exponents.astype(np.int64) - lowest) * self.n_groups
        if groups is not None:
            cells += groups[nonzero]
        sums = np.zeros((2, *shape), dtype=np.int64)
        np.add.at(sums[0].reshape(-1), cells, mantissas >> LOW_BITS)
        np.add.at(sums[1].reshape(-1), cells, mantissas & ((1 << LOW_BITS) - 1))
        for offset in range(shape[0]):
            self._add_halves(lowest + offset, sums[:, offset])

    def __add__(self, other: ExactSums) -> ExactSums:
        total = ExactSums(self.n_groups)
        for sums in (self, other):
            for exponent, halves in sums._halves.items():
                total._add_halves(exponent, halves)
        return total

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
            self._halves[exponent] = halves.copy()  # `halves` may belong to another object
