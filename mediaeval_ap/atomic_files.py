"""Output files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO, TypeAlias

from mediaeval_ap.errors import Error, WriteError

COMPRESSED_SUFFIXES = {'.gz', '.bz2', '.xz', '.zst'}  # of files that are written, and read
Writer: TypeAlias = Callable[[BinaryIO], object]
Content: TypeAlias = str | bytes | Writer

_begun: list[Callable[[], object]] = []  # what to undo before a signal ends the process
_NUMBERS = {'/dev/stdout': '1', '/dev/stderr': '2'}
_open_already = re.compile('(?:/dev|/proc/self)/fd/([0-9]+)').fullmatch


def is_stream(path: str) -> bool:
    """Find a path that is written to as it is: a pipe, a device, or a file open already.

    ``/dev/stdout`` that is sent to a file looks like this file, which must not be replaced.
    """
    if path in _NUMBERS or _open_already(path):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _stream(path: str) -> BinaryIO:
    """Open a stream, which goes on where it stands."""
    match = _open_already(path)
    number = match[1] if match else _NUMBERS.get(path)
    return open(path if number is None else os.dup(int(number)), 'ab')


def check_destination(path: str) -> None:
    """Refuse a path that no file can be written to, before anything is computed."""
    with named(path):
        if is_stream(path) and not os.path.isdir(path):
            return
        if os.path.isdir(path) or not os.path.basename(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(path):
            open(path, 'r+b').close()
        else:
            with _beside(path) as temporary:
                open(temporary, 'xb').close()


@contextmanager
def _beside(path: str) -> Iterator[str]:
    """Yield the name of a temporary file in the folder of a file; remove it at the end."""
    folder = os.path.dirname(os.path.realpath(path))
    temporary = os.path.join(folder, f'.{os.urandom(8).hex()}.tmp')

    def remove() -> None:
        with suppress(OSError):
            os.unlink(temporary)

    with undone_at_once(remove):
        yield temporary


@contextmanager
def _written(path: str, content: Writer) -> Iterator[tuple[str, str]]:
    """Write a file beside the one to replace; yield both names; remove it if it stays."""
    with named(path):
        check_destination(path)
        target = os.path.realpath(path)
        with _beside(path) as temporary:
            with open(temporary, 'xb') as file:
                with suppress(FileNotFoundError):
                    os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
                content(file)
                file.flush()
                os.fsync(file.fileno())
            yield temporary, target


def give_up() -> None:
    """Undo what is begun in a process that a signal is about to end."""
    for undo in reversed(_begun):
        undo()


@contextmanager
def undone_at_once(undo: Callable[[], object]) -> Iterator[None]:
    """Call a function at the end, and when a signal ends the process; it must not raise."""
    _begun.append(undo)
    try:
        yield
    finally:
        undo()
        _begun.remove(undo)


def write_whole(path: str | os.PathLike[str], content: Content) -> None:
    """Write a file so that a reader sees the old content, or all of the new.

    A pipe or device is written to as it is. Text is UTF-8, compressed if the path ends in ``.gz``,
    ``.bz2``, ``.xz`` or ``.zst``. After an error nothing has changed.
    """
    write_all_whole({path: content})


def write_all_whole(contents: Mapping[str | os.PathLike[str], Content]) -> None:
    """Write files that belong together: all are on the disk before the first is replaced."""
    with ExitStack() as stack:
        written = []
        for destination, content in contents.items():
            path = os.fsdecode(destination)
            write = _writer(path, content)
            if not is_stream(path):
                written.append(stack.enter_context(_written(path, write)))
                continue
            with named(path), _stream(path) as stream:
                write(stream)
        for temporary, target in written:
            with named(target):
                os.replace(temporary, target)


def _writer(path: str, content: Content) -> Writer:
    if callable(content):
        return content
    encoded = _compressed(path, content.encode()) if isinstance(content, str) else content
    return lambda file: file.write(encoded)


def _compressed(path: str, text: bytes) -> bytes:
    match os.path.splitext(path)[1].lower():  # each library is imported when needed
        case '.gz':  # without a time, else the same content would not be the same file
            import gzip

            return gzip.compress(text, mtime=0)
        case '.bz2':
            import bz2

            return bz2.compress(text)
        case '.xz':
            import lzma

            return lzma.compress(text)
        case '.zst':
            import pyarrow

            compressed: bytes = pyarrow.compress(text, codec='zstd', asbytes=True)
            return compressed
    return text


@contextmanager
def named(path: str) -> Iterator[None]:
    """Turn errors of the system into errors of this package that name the path."""
    if '\0' in path:
        raise WriteError(path, 'no path holds a NUL')
    try:
        yield
    except Error:
        raise
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
