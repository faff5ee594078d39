"""Columns of a store: a file of numpy each, read as mapped memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, ReadError

SUFFIX = '.npy'
REMEDY = 'index the run again'


@dataclass(frozen=True)
class ColumnFile:
    """The file of a column as it was written."""

    size: int  # in bytes
    mtime_ns: int
    sha256: str


def write_column(folder: str, name: str, values: NDArray[Any]) -> ColumnFile:
    """Write a column to the disk, and describe its file."""
    with open(os.path.join(folder, name + SUFFIX), 'x+b') as file:
        np.save(file, values)
        file.flush()
        os.fsync(file.fileno())
        status = os.fstat(file.fileno())
        file.seek(0)
        digest = hashlib.file_digest(file, 'sha256').hexdigest()
    return ColumnFile(status.st_size, status.st_mtime_ns, digest)


def map_column(folder: str, path: str, name: str, column: ColumnFile) -> NDArray[Any]:
    """Map the file of a column; its content is checked where it was changed, or copied."""
    file, shown = os.path.join(folder, name + SUFFIX), f'{path}/{name}{SUFFIX}'
    with reading(shown):
        status = os.stat(file)
        if status.st_size != column.size:
            raise wrong(shown, 'size', f'{status.st_size} bytes', f'{column.size}')
        if status.st_mtime_ns != column.mtime_ns:
            check_column(folder, path, name, column)
        mapped: NDArray[Any] = np.load(file, mmap_mode='r').view(np.ndarray)
    return mapped


def check_column(folder: str, path: str, name: str, column: ColumnFile) -> None:
    """Compare the file of a column with what was written."""
    shown = f'{path}/{name}{SUFFIX}'
    with reading(shown), open(os.path.join(folder, name + SUFFIX), 'rb') as file:
        digest = hashlib.file_digest(file, 'sha256').hexdigest()
    if digest != column.sha256:
        expected = f'{column.sha256[:12]}…, as it was written'
        raise wrong(shown, 'SHA-256', f'{digest[:12]}…', expected)


@contextmanager
def reading(shown: str) -> Iterator[None]:
    """Turn errors of the system about a file of a store into `ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        remedy = f'; {REMEDY}' if isinstance(error, FileNotFoundError) else ''
        raise ReadError(shown, f'{error.strerror or error}{remedy}') from error


def wrong(shown: str, field: str, found: str, expected: str) -> FormatError:
    """Make the error of a file of a store."""
    return FormatError(shown, '', field, found, f'{expected}; {REMEDY}')
