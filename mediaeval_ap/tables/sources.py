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
from operator import index
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from mediaeval_ap.errors import ParameterError, ReadError, shown
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.tables.decompression import BUFFER_BYTES, DECOMPRESSORS, Limit

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    'MAX_BYTES',
    'STANDARD_INPUT',
    'ByteSource',
    'Hasher',
    'check_limit',
    'is_regular',
    'opening',
    'standard_input',
]

MAX_BYTES = 4 << 30
STANDARD_INPUT = '-'
PARQUET_SUFFIXES = {'.parquet', '.pq'}
COMPRESSED_SIZE_FACTOR = 4
CHANGED = (
    'changed while it was read: wait until nobody writes to it, or read a copy '
    '(watch --follow reads a run that grows)'
)


class Hasher:
    """SHA-256 of the bytes that have passed.

    Examples
    --------
    >>> hasher = Hasher()
    >>> hasher.update(b'abc')
    >>> hasher.sha256[:8]
    'ba7816bf'
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.update = self._hash.update

    @property
    def sha256(self) -> str:
        """The digest so far, in hexadecimal."""
        return self._hash.hexdigest()


class ByteSource:
    r"""Something that bytes can be read from: a path, ``-`` for standard input, an open file.

    Parameters
    ----------
    origin : str, path-like or file object
        A path ending in ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` is decompressed. An open file is
        read as it is from where it stands; a text file's text counts as UTF-8.
    max_bytes : int
        How many bytes what does not say how large it is may give: a compressed file (once
        decompressed), standard input, a pipe, a device.

    Raises
    ------
    ReadError
        When no path can have that name.
    ParameterError
        When it is neither, or the limit no positive integer.

    Examples
    --------
    >>> with ByteSource('samples/queries.txt').open(Hasher()) as stream:
    ...     stream.readline()
    b'nicolas_sarkozy\n'
    """

    def __init__(
        self, origin: str | os.PathLike[str] | IO[Any], max_bytes: int = MAX_BYTES
    ) -> None:
        origin = plain_text(origin) or origin
        self.origin = origin
        self.max_bytes = check_limit(max_bytes)
        if not isinstance(origin, str | os.PathLike):
            if not hasattr(origin, 'read'):
                raise ParameterError(f'found {shown(origin)}, expected a path or an open file')
            name = getattr(origin, 'name', None)
            self.name = _as_utf8(name) if isinstance(name, str) else '<file>'
        elif origin == STANDARD_INPUT:
            self.name = '<stdin>'
        else:
            self._path = str.__str__(os.fsdecode(origin))
            self.name = _as_utf8(self._path)
            if '\0' in self.name:
                raise ReadError(self.name, 'no path holds a NUL')

    @property
    def is_open(self) -> bool:
        """Whether it is a file that somebody else opened, and may have read from."""
        return not isinstance(self.origin, str | os.PathLike)

    @property
    def is_path(self) -> bool:
        """Whether it is named by a path."""
        return not self.is_open and self.origin != STANDARD_INPUT

    @property
    def is_stored(self) -> bool:
        """Whether it is a regular file, whose bytes can be read again."""
        return self.is_path and stat.S_ISREG(self._status().st_mode)

    @property
    def suffix(self) -> str:
        """The path's last suffix in lower case."""
        return os.path.splitext(self.name)[1].lower() if self.is_path else ''

    @property
    def is_parquet(self) -> bool:
        """Whether its suffix says that it is Parquet."""
        return self.suffix in PARQUET_SUFFIXES

    @property
    def is_plain(self) -> bool:
        """Whether its suffix says that its bytes are lines as they are."""
        return not self.is_parquet and self.suffix not in DECOMPRESSORS

    def size(self) -> int:
        """About how many bytes reading will give.

        Returns
        -------
        int
            0 for what is not a regular file.

        Raises
        ------
        ReadError
            When there is no such path.
        """
        if not self.is_stored:
            return 0
        factor = COMPRESSED_SIZE_FACTOR if self.suffix in DECOMPRESSORS else 1
        return self._status().st_size * factor

    def _status(self) -> os.stat_result:
        with opening(self.name):
            return os.stat(self._path)

    @contextmanager
    def open(self, hasher: Hasher) -> Iterator[BinaryIO]:
        """Open the stream of decompressed bytes.

        Parameters
        ----------
        hasher : Hasher
            Is given every byte as stored.

        Yields
        ------
        binary file
            The bytes.

        Raises
        ------
        ReadError
            When it cannot be opened, read or decompressed, or gives too much.
        """
        with opening(self.name, self.suffix), self.open_stored() as stored:
            if self.suffix in DECOMPRESSORS:
                decompressed = DECOMPRESSORS[self.suffix](_buffered(stored, hasher.update))
                yield _buffered(decompressed, Limit(self.name, self.max_bytes).count)
            elif self.is_open or (self.is_path and is_regular(stored)):
                yield _buffered(stored, hasher.update)
            else:
                limit = Limit(self.name, self.max_bytes, 'holds')

                def watch(chunk: bytes) -> None:
                    hasher.update(chunk)
                    limit.count(chunk)

                yield _buffered(stored, watch)

    @contextmanager
    def open_stored(self, *, may_change: bool = False) -> Iterator[Any]:
        """Open the stream of bytes as they are stored.

        Parameters
        ----------
        may_change : bool
            Whether the file may change meanwhile, as one that is followed.

        Yields
        ------
        binary file
            The bytes, compressed where they are.

        Raises
        ------
        ReadError
            When a regular file was changed while it was read.
        OSError
            When it cannot be opened.
        """
        with self._file() as file, nullcontext() if may_change else _unchanged(file, self.name):
            is_text = self.is_open and isinstance(file.read(0), str)
            yield io.BytesIO(file.read().encode()) if is_text else file

    def _file(self) -> AbstractContextManager[Any]:
        if self.is_path:
            return open(self._path, 'rb', buffering=0)
        if self.origin == STANDARD_INPUT:
            return nullcontext(standard_input())
        if getattr(self.origin, 'closed', False):
            raise ReadError(self.name, 'is closed')
        return nullcontext(self.origin)


@contextmanager
def _unchanged(file: IO[Any], name: str) -> Iterator[None]:
    """Refuse a file that was changed meanwhile: half of it may be old, or missing.

    That is the error also where what was read of it is wrong, as half a line.
    """
    before = _version(file)
    try:
        yield
    except Exception as error:
        if _is_other(file, before):
            raise ReadError(name, CHANGED) from error
        raise
    if _is_other(file, before):
        raise ReadError(name, CHANGED)


def _is_other(file: IO[Any], before: tuple[int, int] | None) -> bool:
    after = _version(file)
    return before is not None and after is not None and after != before


def _version(file: IO[Any]) -> tuple[int, int] | None:
    """The size of a regular file, and when it was changed last; none for anything else."""
    try:
        status = os.fstat(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # none of the system's, or closed
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def is_regular(file: IO[Any]) -> bool:
    """Whether an open file has an end that is known.

    Parameters
    ----------
    file : file object
        One that the operating system knows.

    Returns
    -------
    bool
        False for a pipe or a device.

    Examples
    --------
    >>> with open('samples/queries.txt', 'rb') as file:
    ...     is_regular(file)
    True
    """
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def check_limit(limit: int, name: str = 'max_bytes') -> int:
    """A limit of what is read or kept, if it can be one.

    Parameters
    ----------
    limit : int
        How much.
    name : str
        Name of the parameter, for the error.

    Returns
    -------
    int
        The same, or the largest that there can be.

    Raises
    ------
    ParameterError
        When it is no positive integer.

    Examples
    --------
    >>> check_limit(1 << 32)
    4294967296
    """
    try:
        if not isinstance(limit, bool) and index(limit) > 0:
            return min(index(limit), sys.maxsize)
    except TypeError:
        pass
    raise ParameterError(f'{name}: found {shown(limit)}, expected a positive integer')


def _as_utf8(path: str) -> str:
    """The name of a path as text that can be written, whatever its bytes."""
    with opening(ascii(path)):
        return os.fsencode(path).decode(errors='backslashreplace')


def standard_input() -> BinaryIO:
    """Standard input, as bytes.

    Returns
    -------
    binary file
        The stream.

    Raises
    ------
    ReadError
        When the process was started without one.

    Examples
    --------
    >>> callable(standard_input().read)
    True
    """
    if sys.stdin is None:
        raise ReadError('<stdin>', 'is closed')
    return sys.stdin.buffer


@contextmanager
def opening(name: str, kind: str = '') -> Iterator[None]:
    """Turn what reading a source can raise into one `ReadError` with its name.

    Parameters
    ----------
    name : str
        Name of the source.
    kind : str
        The suffix that says how it is compressed, if it is.

    Yields
    ------
    None
        While the source is read.

    Raises
    ------
    ReadError
        In place of any error of the operating system, a decompressor or a decoder.

    Examples
    --------
    >>> with opening('run.txt'):
    ...     open('/no/such/file')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ReadError: run.txt: No such file or directory
    """
    from lzma import LZMAError

    try:
        yield
    except ReadError:
        raise
    except (OSError, EOFError, zlib.error, LZMAError, UnicodeError) as error:
        reason = getattr(error, 'strerror', None)
        if not reason:
            reason = f'not readable as {kind}: {error}' if kind in DECOMPRESSORS else str(error)
        raise ReadError(name, reason) from error


class _Watched(io.RawIOBase):
    """A raw stream that shows every chunk it reads to a watcher."""

    def __init__(self, inner: Any, watch: Callable[[bytes], object]) -> None:
        self._inner = inner
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast('B')
        chunk = self._inner.read(len(view))
        if chunk is None:
            raise BlockingIOError('no data yet: a stream that blocks is needed')
        self._watch(chunk)
        view[: len(chunk)] = chunk
        return len(chunk)


def _buffered(inner: Any, watch: Callable[[bytes], object]) -> BinaryIO:
    return io.BufferedReader(_Watched(inner, watch), BUFFER_BYTES)
