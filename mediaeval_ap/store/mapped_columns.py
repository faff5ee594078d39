"""Columns of a store: a file of numpy each, written block by block and read as mapped memory."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from math import prod
from mmap import PROT_READ, mmap
from typing import Any, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.ranking.edit_distances import WIDTHS

SUFFIX = '.npy'
REMEDY = 'index the run again'
CHECK = 'find what was damaged by mediaeval-ap index --check'

TEXTS = ('name', 'corpus_id', 'video_id', 'shot_id')
LETTERS = tuple(f'name_letters_{bits}' for bits in WIDTHS)
DTYPES: Mapping[str, tuple[str, ...]] = {  # that a column may have; all but letters are there
    **dict.fromkeys(('shot_at', 'name_at', 'temporal_rank', 'places'), ('<i4',)),
    'confidence': ('<f8',),
    **dict.fromkeys(('held', 'name_lengths'), ('<i8',)),
    **dict.fromkeys(('video_keys', 'shot_keys'), ('<i4', '<i8')),
    **{f'{text}_bytes': ('|u1',) for text in TEXTS},
    **{f'{text}_ends': ('<i8',) for text in TEXTS},
    **dict.fromkeys(LETTERS, ('|u1', '<u2', '<u4')),
}


@dataclass(frozen=True)
class ColumnFile:
    """The file of a column as it was written."""

    dtype: str
    shape: tuple[int, ...]
    size: int  # in bytes
    mtime_ns: int
    sha256: str


class ColumnWriter:
    """A file of numpy that is hashed while it is written, block by block."""

    def __init__(self, folder: str, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        self._dtype, self._shape = dtype, shape
        self._hash = hashlib.sha256()
        self._file = open(os.path.join(folder, name + SUFFIX), 'xb')  # noqa: SIM115
        described = {'descr': dtype, 'fortran_order': False, 'shape': shape}
        npy.write_array_header_1_0(self, described)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def add(self, block: NDArray[Any]) -> None:
        """Write the next values."""
        values = np.ascontiguousarray(block, self._dtype)
        self.write(values.reshape(-1).view(np.uint8).data)

    def write(self, content: bytes | memoryview) -> None:
        self._file.write(content)
        self._hash.update(content)

    def finish(self) -> ColumnFile:
        """Describe the file, on the disk, once all values are written."""
        self._file.flush()
        os.fsync(self._file.fileno())
        status = os.fstat(self._file.fileno())
        digest = self._hash.hexdigest()
        return ColumnFile(self._dtype, self._shape, status.st_size, status.st_mtime_ns, digest)


def write_column(folder: str, name: str, values: NDArray[Any], dtype: str = '') -> ColumnFile:
    """Write a whole column."""
    dtype = dtype or DTYPES[name][0]
    with ColumnWriter(folder, name, dtype, values.shape) as writer:
        writer.add(values)
        return writer.finish()


def map_column(folder: str, path: str, name: str, column: ColumnFile) -> NDArray[Any]:
    """Map the file of a column; its content is checked where it was changed, or copied."""
    with opened_file(folder, path, name + SUFFIX) as file:
        status = os.fstat(file.fileno())
        begin = column.size - np.dtype(column.dtype).itemsize * prod(column.shape)
        if status.st_size != column.size or begin < 0:
            shown = f'{path}/{name}{SUFFIX}'
            raise wrong(shown, 'size', f'{status.st_size} bytes', f'{column.size}')
        if status.st_mtime_ns != column.mtime_ns:
            check_content(file, f'{path}/{name}{SUFFIX}', column)
        if column.size == begin:
            return np.empty(column.shape, column.dtype)
        pages = np.frombuffer(mmap(file.fileno(), column.size, prot=PROT_READ), np.uint8)
        return pages[begin:].view(column.dtype).reshape(column.shape)


def wrong(shown: str, field: str, found: str, expected: str) -> FormatError:
    """Make the error of a file of a store."""
    return FormatError(shown, '', field, found, f'{expected}; {REMEDY}')


def damaged(shown: str, found: str, expected: str) -> FormatError:
    """Make the error of a value that no store has, found where a query needs it."""
    return FormatError(shown, '', '', found, f'{expected}; {CHECK}')


class CheckedNumbers(np.ndarray[Any, np.dtype[Any]]):
    """A column of numbers from 0 below a limit, checked as they are taken: a query reads few."""

    limit: int | None = None  # none for what is computed from a column
    shown = ''  # the file, for messages

    @classmethod
    def of(cls, column: NDArray[Any], limit: int, shown: str) -> CheckedNumbers:
        numbers = column.view(cls)
        numbers.limit, numbers.shown = limit, shown
        return numbers

    def __getitem__(self, at: Any) -> Any:
        return self._checked(self.view(np.ndarray)[at])

    def __array_function__(self, function: Any, *arguments: Any) -> Any:
        self._checked(self.view(np.ndarray))  # as it takes all of them
        return super().__array_function__(function, *arguments)

    def _checked(self, taken: Any) -> Any:
        if self.limit is None:
            return taken
        if isinstance(taken, np.generic):
            least = most = int(taken)
        else:
            least, most = taken.min(initial=0), taken.max(initial=0)
        if least < 0 or most >= max(1, self.limit):
            found = str(least if least < 0 else most)
            raise damaged(self.shown, found, f'a number from 0 below {self.limit}')
        return taken


def check_content(file: FileIO, shown: str, column: ColumnFile) -> None:
    """Compare the file of a column with what was written."""
    digest = hashlib.file_digest(file, 'sha256').hexdigest()
    if digest != column.sha256:
        expected = f'{column.sha256[:12]}…, as it was written'
        raise wrong(shown, 'SHA-256', f'{digest[:12]}…', expected)


@contextmanager
def opened_file(folder: str, path: str, name: str) -> Iterator[FileIO]:
    """Open a regular file of a store, whose folder messages call `path`."""
    shown, name = f'{path}/{name}', os.path.join(folder, name)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):  # to open a pipe would wait
            raise ReadError(shown, f'is no regular file; {REMEDY}')
        with FileIO(name) as file:
            yield file
    except ReadError:
        raise
    except OSError as error:
        remedy = f'; {REMEDY}' if isinstance(error, FileNotFoundError) else ''
        raise ReadError(shown, f'{error.strerror or error}{remedy}') from error
