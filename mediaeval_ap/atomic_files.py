"""Output files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter
from typing import BinaryIO, Self, TypeAlias

from mediaeval_ap import platforms
from mediaeval_ap.errors import Error, WriteError

COMPRESSED_SUFFIXES = {'.gz', '.bz2', '.xz', '.zst'}  # of files that are written, and read
Writer: TypeAlias = Callable[[BinaryIO], object]
Content: TypeAlias = str | bytes | Writer

_STANDARD_STREAMS = {'/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2}
_open_already = re.compile('(?:/dev|/proc/self)/fd/([0-9]+)').fullmatch
_CLOSED = -1  # in the place of a descriptor

_begun: list[Callable[[], object]] = []  # what to undo before a signal ends the process
_is_placing = False


class Destination(os.PathLike[str]):
    """A file, pipe or device to write to, found when this is made.

    The folder stays open to the end of ``with``, so a later rename or link cannot redirect the
    output.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fsdecode(path)
        match = _open_already(self._path)
        self._stream = int(match[1]) if match else _STANDARD_STREAMS.get(self._path)
        self._folder: int | None = None
        self.is_stream = True
        if self._stream is not None:
            return
        with named(self._path):
            self._name = os.path.realpath(self._path)
            mode = stat.S_IFREG
            with suppress(FileNotFoundError):
                mode = os.stat(self._name).st_mode
            if stat.S_ISDIR(mode) or not os.path.basename(self._path):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            self.is_stream = not stat.S_ISREG(mode)
            self._standing()
            folder, name = os.path.split(self._name)
            self._folder = platforms.open_folder(folder)
            if self._folder is not None:
                self._name = name

    def __fspath__(self) -> str:
        return self._path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._folder is not None and self._folder != _CLOSED:
            os.close(self._folder)
        self._folder = _CLOSED

    def _standing(self) -> os.stat_result | None:
        """Return the status of the file that will be replaced, if there is one."""
        if self._folder == _CLOSED:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        try:
            status = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        if not os.access(self._name, os.W_OK, dir_fd=self._folder):
            raise why_not_writable(self._path)
        return status

    def append(self, content: Writer) -> None:
        """Write to a stream, which goes on where it stands."""
        with named(self._path):
            if self._stream is not None:
                descriptor = os.dup(self._stream)
            else:
                descriptor = os.open(self._name, platforms.STREAM, dir_fd=self._folder)
            with open(descriptor, 'wb') as stream:
                content(stream)

    @contextmanager
    def beside(self, content: Writer) -> Iterator[str]:
        """Write a file beside the one to replace, and yield its name; remove it if it stays."""
        name = f'.{platforms.machine()}{os.urandom(8).hex()}.tmp'
        temporary = os.path.join(os.path.dirname(self._name), name)
        opened: list[BufferedWriter] = []

        def remove() -> None:
            with suppress(OSError):
                if opened and not platforms.IS_POSIX:
                    opened[0].raw.close()
                os.unlink(temporary, dir_fd=self._folder)

        with undone_at_once(remove), ExitStack() as until_placed:
            with named(self._path), self._created(temporary) as file:
                opened.append(file)
                if platforms.IS_POSIX:
                    until_placed.callback(os.close, os.dup(file.fileno()))  # keeps the lock
                content(file)
                file.flush()
                os.fsync(file.fileno())
            yield temporary

    def _created(self, temporary: str) -> BufferedWriter:
        """Return a new file that has its final owner and mode before anything is in it."""
        standing = self._standing()
        while True:
            mode = 0o666 if standing is None else 0o600  # until it has its owner
            file = os.open(temporary, platforms.NEW_FILE, mode, dir_fd=self._folder)
            if platforms.IS_POSIX:
                platforms.lock(file)
            if os.fstat(file).st_nlink:
                break
            os.close(file)  # another process took it for abandoned before it was locked
        if standing is not None:
            platforms.take_after(file, standing)
        return open(file, 'wb')

    def place(self, temporary: str) -> None:
        """Put a file that was written beside the old one in its place."""
        with named(self._path):
            os.replace(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)


def replace_folder(folder: str, target: str, older: str) -> None:
    """Rename a complete folder to a path, and what is there to `older`, whatever the signals."""
    global _is_placing
    was_placing, _is_placing = _is_placing, True
    try:
        _flush_names(folder)
        with suppress(FileNotFoundError):
            os.rename(target, older)
        try:
            os.rename(folder, target)
        except OSError:
            with suppress(OSError):
                os.rename(older, target)
            raise
        _flush_names(os.path.dirname(target))
    finally:
        _is_placing = was_placing


def _flush_names(folder: str) -> None:
    with suppress(OSError):  # not all systems can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def why_not_writable(path: str) -> OSError:
    """Return why a file or folder cannot be written to, which `os.access` does not say."""
    number = errno.EROFS if platforms.is_read_only(path) else errno.EACCES
    return OSError(number, os.strerror(number))


def give_up() -> bool:
    """Undo what is begun in a process that a signal is about to end.

    Return False if outputs are being placed, or have been: then the process must end by itself, so
    that all of them are, and its exit status says so.
    """
    if not _is_placing:
        for undo in reversed(_begun):
            undo()
    return not _is_placing


@contextmanager
def undone_at_once(undo: Callable[[], object]) -> Iterator[None]:
    """Call a function at the end, and when a signal ends the process; it must not raise."""
    _begun.append(undo)
    try:
        yield
    finally:
        undo()
        _begun.remove(undo)


def write_whole(path: str | os.PathLike[str], content: Content, *, is_last: bool = True) -> None:
    """Write a file so that a reader sees the old content, or all of the new.

    A pipe or device is written to as it is. Text is UTF-8, compressed if the path ends in ``.gz``,
    ``.bz2``, ``.xz`` or ``.zst``. After an error nothing has changed.
    """
    write_all_whole({path: content}, is_last=is_last)


def write_all_whole(
    contents: Mapping[str | os.PathLike[str], Content], *, is_last: bool = True
) -> None:
    """Write files that belong together: all are on the disk before the first is replaced."""
    global _is_placing
    files: list[tuple[Destination, Writer]] = []
    streams: list[tuple[Destination, Writer]] = []
    with ExitStack() as stack:
        for path, given in contents.items():
            to = path if isinstance(path, Destination) else stack.enter_context(Destination(path))
            (streams if to.is_stream else files).append((to, _writer(os.fsdecode(path), given)))
        written = [(each, stack.enter_context(each.beside(content))) for each, content in files]
        for each, content in streams:
            each.append(content)
        # A single file that others follow is there or not: a signal may end the process here.
        if written and (is_last or len(written) > 1):
            _is_placing = True
        for each, temporary in written:
            each.place(temporary)
        # It stays so after the last ones: the process of a command has its outputs then.
        _is_placing = _is_placing and is_last


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
