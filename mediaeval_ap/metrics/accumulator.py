"""The interface that all metrics of data in pieces share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, Self

from mediaeval_ap.errors import ParameterError, shown


class Accumulator(ABC):
    """A metric that is updated piece by piece, and can be merged with another.

    The value is the same, to the last bit, however the data is split and in whatever order the
    pieces come.

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

    settings: ClassVar[tuple[str, ...]] = ()  # attributes that must be equal to be merged

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Add data; each metric has parameters of its own.

        Parameters
        ----------
        *args, **kwargs
            As the metric says.

        Returns
        -------
        ndarray, tuple of ndarray, or None
            As the metric says.

        Raises
        ------
        ParameterError
            When the data is not valid; then nothing changes.
        """

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add all data of another accumulator.

        Parameters
        ----------
        other : Accumulator
            It stays as it is. An accumulator that is merged with itself counts twice.

        Raises
        ------
        ParameterError
            When its class or settings differ; then nothing changes.
        """

    @abstractmethod
    def compute(self) -> float:
        """Return the value of all data so far.

        Returns
        -------
        float
            The value.

        Raises
        ------
        UndefinedScoreError
            When there is nothing to take the mean of.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget all data, and keep the settings."""

    def __copy__(self) -> Self:
        return deepcopy(self)  # a shallow copy would share sums that go on changing

    def _expect_same(self, other: Self) -> None:
        if type(other) is not type(self) or self._settings() != other._settings():
            raise ParameterError(f'merge: found {shown(other)}, expected {self!r}')

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.settings}

    def __repr__(self) -> str:
        settings = ', '.join(f'{name}={value}' for name, value in self._settings().items())
        return f'{type(self).__name__}({settings})'
