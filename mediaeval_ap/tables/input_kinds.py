"""The kinds of things that tables are read from, told apart here for all readers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from mediaeval_ap.choices import MAX_BYTES, check_limit
from mediaeval_ap.errors import ParameterError, ReadError, shown
from mediaeval_ap.tables.byte_sources import ByteSource
from mediaeval_ap.tables.decompression import PARQUET
from mediaeval_ap.tables.table import NumberedRows

STORE_MANIFEST = 'manifest.json'  # the file that tells a store from other folders
REPLACED = '.old'  # ends the name of a store in whose place another one is about to come
IS_STORE = (
    'is a store, expected a file: a store stands only for a run that is scored '
    '(mediaeval-ap export writes its rows)'
)


class Kind(Enum):
    """The kinds of origins that readers treat differently."""

    TEXT = 'text'  # a path, standard input or an open file
    PARQUET = 'Parquet'
    FRAME = 'pandas'
    ARROW = 'Arrow'  # a table that gives a stream of Arrow, as those of polars and pyarrow
    ARRAY = 'array'  # of numpy, with two dimensions
    TABLE = 'table'  # what this package has read
    ROWS = 'rows'
    UNKNOWN = 'unknown'

    @property
    def has_all_fields(self) -> bool:
        """Return whether rows of this kind have all fields; others may lack what is not needed."""
        return self in (Kind.TEXT, Kind.TABLE)


@dataclass(frozen=True)
class Origin:
    """Something that a table is read from, and its kind.

    For text and Parquet, `value` is a `ByteSource`, which knows the limit of its bytes.
    """

    kind: Kind
    value: Any

    @classmethod
    def of(cls, value: Any, max_bytes: int = MAX_BYTES) -> Origin:
        """Find the kind of an origin; what has been looked at stays as it is."""
        check_limit(max_bytes)
        if isinstance(value, Origin):
            return value
        if isinstance(value, NumberedRows):
            return cls(Kind.TABLE, value)
        # Before open files: a frame may have a column called "read". If pandas is not imported yet,
        # nothing is one.
        if isinstance(value, getattr(sys.modules.get('pandas'), 'DataFrame', ())):
            return cls(Kind.FRAME, value)
        if is_arrow(value):
            return cls(Kind.ARROW, value)
        if isinstance(value, str | os.PathLike) or hasattr(value, 'read'):
            source = ByteSource(value, max_bytes)
            if source.is_path and is_store(value):
                raise ReadError(source.name, IS_STORE)
            return cls(Kind.PARQUET if source.format == PARQUET else Kind.TEXT, source)
        if isinstance(value, np.ndarray) and value.ndim != 1:
            return cls(Kind.ARRAY if value.ndim == 2 else Kind.UNKNOWN, value)
        if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
            return cls(Kind.ROWS, value)
        return cls(Kind.UNKNOWN, value)

    def error(self, expected: str, what: str = '') -> ParameterError:
        """Make the error of an origin that a reader cannot read."""
        value = self.value.name if isinstance(self.value, ByteSource) else self.value
        found = f'found {shown(value)} ({type(self.value).__name__})'
        return ParameterError(f'{what}{found}, expected {expected}')


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the folder of a store."""
    return os.path.lexists(os.path.join(os.fsdecode(path), STORE_MANIFEST))


def may_be_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder, or a store that is being replaced by another one."""
    return os.path.isdir(path) or is_being_replaced(path)


def is_being_replaced(path: str | os.PathLike[str]) -> bool:
    """Return whether nothing is at a path, and an older store beside it."""
    if '\0' in os.fsdecode(path):
        return False
    target = os.path.realpath(os.fsdecode(path))
    return not os.path.lexists(target) and bool(folders_beside(target, REPLACED))


def folders_beside(target: str, suffix: str) -> list[str]:
    """Return the folders beside a store, such as a call that is killed leaves."""
    parent, name = os.path.split(target)
    is_one = re.compile(f'{re.escape(name)}[.][0-9a-f]{{16}}{re.escape(suffix)}').fullmatch
    try:
        return [os.path.join(parent, each) for each in os.listdir(parent) if is_one(each)]
    except OSError:
        return []


def is_rows(value: object) -> bool:
    """Return whether a value gives rows that can be taken one after another."""
    if isinstance(value, str | os.PathLike):  # which may be a store
        return False
    return Origin.of(value).kind is Kind.ROWS


def is_arrow(value: object) -> bool:
    """Return whether a value is a table that gives a stream of Arrow, as polars and pyarrow do."""
    return hasattr(value, '__arrow_c_stream__') and (
        hasattr(value, 'columns') or hasattr(value, 'schema')
    )
