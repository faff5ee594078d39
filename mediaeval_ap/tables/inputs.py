"""Types of arguments: whatever holds a table, labels or numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas
    from _typeshed import SupportsRead

    from mediaeval_ap.tables.table import NumberedRows


class ArrowTable(Protocol):
    """A table of polars, pyarrow or another library with the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparseMatrix(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> Any: ...


File: TypeAlias = 'str | os.PathLike[str] | SupportsRead[str] | SupportsRead[bytes]'
Frame: TypeAlias = 'File | pandas.DataFrame | ArrowTable | NumberedRows'
Rows: TypeAlias = 'Frame | NDArray[Any] | Iterable[Sequence[str | float]]'
Names: TypeAlias = 'Frame | NDArray[Any] | Iterable[str]'
Labels: TypeAlias = Iterable[str | int]
Lists: TypeAlias = Iterable[Labels]
OptionalLabels: TypeAlias = Iterable[str | float | None]
OptionalNumbers: TypeAlias = Iterable[float | None]
Matrix: TypeAlias = 'ArrayLike | SparseMatrix'
