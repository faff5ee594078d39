"""What all metrics of what comes in pieces have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import ClassVar, Self

from mediaeval_ap.errors import ParameterError, shown

__all__ = ['Accumulator']


class Accumulator(ABC):
    """A metric of what comes in pieces: it is updated, merged with others, computed and reset.

    However the input is split, and in whatever order the pieces are merged, it gives the same
    number.

    Attributes
    ----------
    settings : tuple of str
        The attributes that must be equal for two to be merged.

    Examples
    --------
    >>> from mediaeval_ap.metrics import MeanAveragePrecision
    >>> MeanAveragePrecision(k=3).merge(MeanAveragePrecision(k=5))
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: merge: found MeanAveragePrecision(k=5, definition=kaggle), \
expected MeanAveragePrecision(k=3, definition=kaggle)
    """

    settings: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take in all that another has.

        Parameters
        ----------
        other : Accumulator
            Of the same kind and settings.

        Raises
        ------
        ParameterError
            When it is of others; then nothing changes.
        """

    @abstractmethod
    def compute(self) -> float:
        """The value so far.

        Returns
        -------
        float
            The value.

        Raises
        ------
        UndefinedScoreError
            When there is nothing to take a mean of.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget everything but the settings."""

    def __copy__(self) -> Self:
        """Return another that shares nothing with this one, which goes on changing."""
        return deepcopy(self)

    def _expect_same(self, other: Self) -> None:
        if type(other) is not type(self) or repr(other) != repr(self):
            raise ParameterError(f'merge: found {shown(other)}, expected {self!r}')

    def __repr__(self) -> str:
        settings = ', '.join(f'{name}={getattr(self, name)}' for name in self.settings)
        return f'{type(self).__name__}({settings})'
