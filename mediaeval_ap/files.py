"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from mediaeval_ap.errors import WriteError

__all__ = ['write_all_whole', 'write_whole']

_open_already = re.compile(
    '/dev/std(?P<name>in|out|err)|(/dev|/proc/self)/fd/(?P<number>[0-9]+)'
).fullmatch


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that whoever looks sees what was there before, or all of the new.

    Parameters
    ----------
    path : str or path-like
        Where to. What is there already is replaced; a pipe or device is written to as it is.
    content : str or bytes
        What to write; text as UTF-8, compressed where the path ends in ``.gz``, ``.bz2``, ``.xz``
        or ``.zst``.

    Raises
    ------
    WriteError
        When that cannot be done; then nothing has changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'map.txt')
    >>> write_whole(path, 'MAP@1 0.5')
    >>> path.read_text()
    'MAP@1 0.5'
    """
    write_all_whole({path: content})


def write_all_whole(contents: Mapping[str | os.PathLike[str], str | bytes]) -> None:
    """Write files that belong together: all are on the disk before the first is replaced.

    Parameters
    ----------
    contents : mapping of str or path-like to str or bytes
        Where to, and what to write there, as for `write_whole`.

    Raises
    ------
    WriteError
        When one cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_all_whole({folder / 'qrels': 'ann 0 x/v/1 1', folder / 'none' / 'run': ''})
    Traceback (most recent call last):
    ...
    mediaeval_ap.errors.WriteError: ...: No such file or directory
    >>> list(folder.iterdir())
    []
    """
    paths = {os.fsdecode(path): content for path, content in contents.items()}
    with ExitStack() as stack:
        replacements = {
            path: stack.enter_context(_beside(path, content))
            for path, content in paths.items()
            if not _is_stream(path)
        }
        for path, content in paths.items():
            if path not in replacements:
                with _named(path), _opened(path) as stream:
                    stream.write(_encoded(path, content))
        for path, temporary in replacements.items():
            with _named(path):
                os.replace(temporary, os.path.realpath(path))


def _encoded(path: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    suffix = os.path.splitext(path)[1].lower()
    return _COMPRESSORS.get(suffix, bytes)(content.encode())


def _gzip(content: bytes) -> bytes:
    import gzip

    return gzip.compress(content, mtime=0)  # else the same content would not be the same bytes


def _bzip2(content: bytes) -> bytes:
    import bz2

    return bz2.compress(content)


def _xz(content: bytes) -> bytes:
    import lzma

    return lzma.compress(content)


def _zstandard(content: bytes) -> bytes:
    import pyarrow

    compressed: bytes = pyarrow.compress(content, codec='zstd', asbytes=True)
    return compressed


_COMPRESSORS = {'.gz': _gzip, '.bz2': _bzip2, '.xz': _xz, '.zst': _zstandard}


def _is_stream(path: str) -> bool:
    """Whether it is a pipe, a device, or a name for what is open already, as /dev/stdout."""
    if _open_already(path):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _opened(path: str) -> BinaryIO:
    """A stream, which goes on where the one that is open already stands."""
    if (match := _open_already(path)) is None:
        return open(path, 'ab')
    descriptor = match['number'] or {'in': 0, 'out': 1, 'err': 2}[match['name']]
    return open(os.dup(int(descriptor)), 'wb')


def _check_replaceable(path: str, target: Path) -> None:
    if not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        target.stat()
    except FileNotFoundError:
        return
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def _beside(path: str, content: str | bytes) -> Iterator[Path]:
    """A file beside the one that it will replace, on the disk; removed if it does not."""
    with _named(path):
        target = Path(os.path.realpath(path))
        _check_replaceable(path, target)
        temporary = target.with_name(f'.{os.urandom(8).hex()}.tmp')
        temporary.touch(exist_ok=False)  # before the try: a file not ours is not removed
    try:
        with _named(path), open(temporary, 'wb') as file:
            file.write(_encoded(path, content))
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Errors of the system as errors of ours."""
    if '\0' in path:
        raise WriteError(path, 'no path holds a NUL')
    try:
        yield
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
