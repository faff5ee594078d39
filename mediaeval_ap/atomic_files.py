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

COMPRESSED_SUFFIXES = {'.gz', '.bz2', '.xz', '.zst'}
Writer: TypeAlias = Callable[[BinaryIO], object]
Content: TypeAlias = str | bytes | Writer

_cleanups: list[Callable[[], object]] = []  # called before a signal ends the process
_DESCRIPTORS = {'/dev/stdout': 1, '/dev/stderr': 2}
_match_descriptor = re.compile('(?:/dev|/proc/self)/fd/([0-9]+)').fullmatch


def is_stream(path: str) -> bool:
    """Return True for a pipe, a device or an open file: it is written to, never replaced."""
    # /dev/stdout that is redirected to a file looks like that file, which must not be replaced.
    if path in _DESCRIPTORS or _match_descriptor(path):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _open_stream(path: str) -> BinaryIO:
    if match := _match_descriptor(path):
        return open(os.dup(int(match[1])), 'ab')
    if path in _DESCRIPTORS:
        return open(os.dup(_DESCRIPTORS[path]), 'ab')
    return open(path, 'ab')


def check_destination(path: str) -> None:
    """Raise WriteError if no file can be written to a path, before anything is computed."""
    with as_write_errors(path):
        if is_stream(path) and not os.path.isdir(path):
            return
        if os.path.isdir(path) or not os.path.basename(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(path):
            open(path, 'r+b').close()
        else:
            with _temporary_file(path) as temporary:
                open(temporary, 'xb').close()


@contextmanager
def _temporary_file(path: str) -> Iterator[str]:
    """Yield a path for a temporary file in the folder of a file; remove the file at the end."""
    folder = os.path.dirname(os.path.realpath(path))
    temporary = os.path.join(folder, f'.{os.urandom(8).hex()}.tmp')

    def remove() -> None:
        with suppress(OSError):
            os.unlink(temporary)

    with cleanup(remove):
        yield temporary


@contextmanager
def _replacement(path: str, content: Writer) -> Iterator[tuple[str, str]]:
    """Write a temporary file, and yield its path and the path of the file to replace."""
    with as_write_errors(path):
        check_destination(path)
        target = os.path.realpath(path)
        with _temporary_file(path) as temporary:
            with open(temporary, 'xb') as file:
                with suppress(FileNotFoundError):
                    os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
                content(file)
                file.flush()
                os.fsync(file.fileno())
            yield temporary, target


def clean_up_now() -> None:
    """Call the pending cleanups, last first, in a process that a signal is about to end."""
    for clean_up in reversed(_cleanups):
        clean_up()


@contextmanager
def cleanup(clean_up: Callable[[], object]) -> Iterator[None]:
    """Call a function at the end, even if a signal ends the process; it must not raise."""
    _cleanups.append(clean_up)
    try:
        yield
    finally:
        clean_up()
        _cleanups.remove(clean_up)


def write_whole(path: str | os.PathLike[str], content: Content) -> None:
    """Write a file whole: a reader sees either the old content or all of the new."""
    write_all_whole({path: content})


def write_first(path: str, content: str) -> None:
    """Write a file whole, unless there is one: of several processes, one writes it."""
    with _replacement(path, _writer(path, content)) as (temporary, target), as_write_errors(path):
        try:
            os.link(temporary, target)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            os.replace(temporary, target)


def write_all_whole(contents: Mapping[str | os.PathLike[str], Content]) -> None:
    """Write files that belong together: all are on the disk before any replaces an older one."""
    with ExitStack() as stack:
        replacements = []
        for destination, content in contents.items():
            path = os.fsdecode(destination)
            write = _writer(path, content)
            if not is_stream(path):
                replacements.append(stack.enter_context(_replacement(path, write)))
                continue
            with as_write_errors(path), _open_stream(path) as stream:
                write(stream)
        for temporary, target in replacements:
            with as_write_errors(target):
                os.replace(temporary, target)


def _writer(path: str, content: Content) -> Writer:
    if callable(content):
        return content
    encoded = compress(path, content) if isinstance(content, str) else content
    return lambda file: file.write(encoded)


def compress(path: str | os.PathLike[str], content: str) -> bytes:
    """Return text as bytes, compressed as the suffix of the path says."""
    text = content.encode()
    match os.path.splitext(os.fsdecode(path))[1].lower():  # each library is imported when needed
        case '.gz':  # without a time, so that equal contents give equal files
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
def as_write_errors(path: str) -> Iterator[None]:
    if '\0' in path:
        raise WriteError(path, 'a path cannot contain NUL')
    try:
        yield
    except Error:
        raise
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
