"""Streams of bytes: opened, decompressed within a limit, and hashed as they are read."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any, BinaryIO

from mediaeval_ap.choices import MAX_BYTES, check_limit
from mediaeval_ap.errors import ParameterError, ReadError, printable, shown
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.progress import Bar
from mediaeval_ap.tables.decompression import (
    BUFFER_BYTES,
    COMPRESSED_SUFFIXES,
    Chunks,
    Limit,
    decompressed,
)
from mediaeval_ap.tables.table import Source

STANDARD_INPUT = '-'
PARQUET_SUFFIXES = {'.parquet', '.pq'}
COMPRESSED_SIZE_FACTOR = 4  # an estimate: how many times larger runs are once decompressed
CHANGED = (
    'changed while it was read: wait until nobody writes to it, or read a copy '
    '(watch --follow reads a run that grows)'
)


class ByteSource:
    """A source of bytes and the limit of what it may give.

    It is a path (decompressed by its suffix), ``-`` for standard input, or an open file, which is
    read as it is from where it stands; the text of a text file counts as UTF-8. The limit,
    `max_bytes`, holds for what does not say how large it is: a compressed file (once decompressed),
    Parquet, standard input, a pipe, a device.
    """

    def __init__(
        self, origin: str | os.PathLike[str] | IO[Any], max_bytes: int = MAX_BYTES
    ) -> None:
        origin = plain_text(origin) or origin
        self.max_bytes = check_limit(max_bytes)
        self._origin = origin
        self._hash = hashlib.sha256()
        self.is_open = not isinstance(origin, str | os.PathLike)
        self.is_standard_input = not self.is_open and origin == STANDARD_INPUT
        self.is_path = not (self.is_open or self.is_standard_input)
        if self.is_open:
            if not hasattr(origin, 'read'):
                raise ParameterError(f'found {shown(origin)}, expected a path or an open file')
            name = getattr(origin, 'name', None)
            self.name = _as_utf8(name) if isinstance(name, str) else '<file>'
        elif self.is_standard_input:
            self.name = '<stdin>'
        else:
            self._path = str.__str__(os.fsdecode(origin))  # type: ignore[arg-type]
            self.name = _as_utf8(self._path)
            if '\0' in self.name:
                raise ReadError(self.name, 'no path holds a NUL')
        self.suffix = os.path.splitext(self.name)[1].lower() if self.is_path else ''
        self.is_parquet = self.suffix in PARQUET_SUFFIXES
        self.is_compressed = self.suffix in COMPRESSED_SUFFIXES

    @property
    def is_stored(self) -> bool:
        """Return whether it is a regular file, whose bytes can be read again."""
        return self.is_path and stat.S_ISREG(self._status().st_mode)

    def size(self) -> int:
        """Estimate how many bytes reading will give; 0 for what is not a regular file."""
        if not self.is_stored:
            return 0
        factor = COMPRESSED_SIZE_FACTOR if self.is_compressed else 1
        return self._status().st_size * factor

    def limit(self, does: str = 'decompresses to', at_least: int = 0) -> Limit:
        """Begin to count bytes against the limit; `does` is what the source does, for the error."""
        return Limit(self.name, max(self.max_bytes, at_least), does)

    def described(self) -> Source:
        """Return its name, and the digest of what `open` has read of it."""
        return Source(self.name, None if self.is_open else self._hash.hexdigest())

    def _status(self) -> os.stat_result:
        with opening(self.name):
            return os.stat(self._path)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the stream of decompressed bytes."""
        self._hash = hashlib.sha256()
        with (
            opening(self.name, self.suffix),
            self.open_stored() as stored,
            Bar(f'reading {printable(self.name)}', _size_of(stored), 'B') as bar,
        ):
            watchers = (self._hash.update, lambda chunk: bar.add(len(chunk)))
            if self.is_compressed:
                counted = _buffered(stored, *watchers)
                yield _buffered(decompressed(counted, self.suffix), self.limit().count)
            elif self.is_open or (self.is_path and is_regular(stored)):
                yield _buffered(stored, *watchers)
            else:
                yield _buffered(stored, *watchers, self.limit('holds').count)

    @contextmanager
    def open_stored(self, *, may_change: bool = False) -> Iterator[Any]:
        """Open the stream of bytes as stored; an error if a regular file changes meanwhile."""
        with self._file() as file, nullcontext() if may_change else _unchanged(file, self.name):
            is_text = self.is_open and isinstance(file.read(0), str)
            yield io.BytesIO(file.read().encode()) if is_text else file

    def _file(self) -> AbstractContextManager[Any]:
        if self.is_path:
            return open(self._path, 'rb', buffering=0)
        if self.is_standard_input:
            return nullcontext(standard_input())
        if getattr(self._origin, 'closed', False):
            raise ReadError(self.name, 'is closed')
        return nullcontext(self._origin)


@contextmanager
def _unchanged(file: IO[Any], name: str) -> Iterator[None]:
    """Refuse a file that was changed meanwhile: half of it may be old, or missing.

    That is the error also where what was read of it is wrong, as half a line.
    """
    before = _version(file)
    try:
        yield
    except Exception as error:
        if _version(file) not in (before, None):
            raise ReadError(name, CHANGED) from error
        raise
    if _version(file) not in (before, None):
        raise ReadError(name, CHANGED)


def _version(file: IO[Any]) -> tuple[int, int] | None:
    """Return the size of a regular file, and when it was last changed; None for anything else."""
    try:
        status = os.fstat(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # none of the system's, or closed
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _size_of(file: IO[Any]) -> int | None:
    """Return the size of a regular file; None for anything else."""
    version = _version(file)
    return None if version is None else version[0]


def is_regular(file: IO[Any]) -> bool:
    """Return whether an open file of the system is a regular one: no pipe, no device."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _as_utf8(path: str) -> str:
    """Return the name of a path as text that can be written, whatever its bytes."""
    with opening(ascii(path)):
        return os.fsencode(path).decode(errors='backslashreplace')


def standard_input() -> BinaryIO:
    """Return standard input as a stream of bytes."""
    if sys.stdin is None:
        raise ReadError('<stdin>', 'is closed')
    return sys.stdin.buffer


@contextmanager
def opening(name: str, kind: str = '') -> Iterator[None]:
    """Turn all that reading a source can raise into one `ReadError` with its name.

    `kind` is the suffix of a compressed file.
    """
    from lzma import LZMAError

    try:
        yield
    except ReadError:
        raise
    except (OSError, EOFError, zlib.error, LZMAError, UnicodeError) as error:
        reason = getattr(error, 'strerror', None)
        as_kind = f'not readable as {kind}: ' if kind in COMPRESSED_SUFFIXES else ''
        raise ReadError(name, reason or f'{as_kind}{error}') from error


def _buffered(inner: Any, *watchers: Callable[[bytes], object]) -> BinaryIO:
    """Return a buffered stream that shows every chunk it reads to watchers."""

    def chunks() -> Iterator[bytes]:
        while chunk := inner.read(BUFFER_BYTES):
            for watch in watchers:
                watch(chunk)
            yield chunk
        if chunk is None:
            raise BlockingIOError('no data yet: a stream that blocks is needed')

    return io.BufferedReader(Chunks(chunks()), BUFFER_BYTES)
