"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import BinaryIO, Self, TypeAlias

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from mediaeval_ap.errors import WriteError

_STANDARD_STREAMS = {'/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2}
_open_already = re.compile('(?:/dev|/proc/self)/fd/([0-9]+)').fullmatch

# Windows has no descriptors of folders, and lacks some flags; there 0 stands for these.
_HAS_FOLDERS = {os.access, os.open, os.rename, os.stat, os.unlink} <= os.supports_dir_fd
_FOLDER = getattr(os, 'O_DIRECTORY', 0) | getattr(os, 'O_PATH', os.O_RDONLY)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, 'O_BINARY', 0)
_STREAM = os.O_WRONLY | os.O_APPEND
_NO_LINK = getattr(os, 'O_NOFOLLOW', 0)
_CLOSED = -1  # a descriptor that the system refuses

Content: TypeAlias = bytes | Callable[[BinaryIO], object]  # which writes to the file

_begun: list[tuple[str, int | None]] = []  # name, and descriptor of the folder
_undo_first: list[Callable[[], object]] = []  # what else to do before the process ends at once
_is_placing = False

COMPRESSED_SUFFIXES = {'.gz', '.bz2', '.xz', '.zst'}  # of files that are written, and read


class Destination(os.PathLike[str]):
    """A file, pipe or device to write to, found when this is made, and held until it is closed.

    What happens to the path later leads nowhere else: the output goes to the same folder, and takes
    the place of a link that is planted there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fsdecode(path)
        match = _open_already(self._path)
        # The descriptor of what is open already.
        self._stream = int(match[1]) if match else _STANDARD_STREAMS.get(self._path)
        self._folder: int | None = None
        self.is_stream = True
        if self._stream is None:
            with _named(self._path):
                self._find()

    def _find(self) -> None:
        target = os.path.realpath(self._path)
        mode = stat.S_IFREG
        with suppress(FileNotFoundError):
            mode = os.stat(target).st_mode
        if stat.S_ISDIR(mode) or not os.path.basename(self._path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        self.is_stream = not stat.S_ISREG(mode)
        self._name = target
        self._standing()
        if _HAS_FOLDERS:
            folder, self._name = os.path.split(target)
            self._folder = os.open(folder, _FOLDER)
        else:
            os.stat(os.path.dirname(target))

    def __fspath__(self) -> str:
        return self._path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder; nothing can be written any more."""
        if self._folder is not None and self._folder != _CLOSED:
            os.close(self._folder)
            self._folder = _CLOSED

    def _standing(self) -> os.stat_result | None:
        """Return the status of the file that will be replaced, if there is one."""
        try:
            status = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        if not os.access(self._name, os.W_OK, dir_fd=self._folder):
            raise why_not_writable(self._path)
        return status

    def append(self, content: Content) -> None:
        """Write to a stream, which goes on where it stands."""
        with _named(self._path):
            if self._stream is not None:
                descriptor = os.dup(self._stream)
            else:
                descriptor = os.open(self._name, _STREAM | _NO_LINK, dir_fd=self._folder)
            with open(descriptor, 'wb') as stream:
                _write(stream, content)

    @contextmanager
    def beside(self, content: Content) -> Iterator[str]:
        """Write a file beside the one to replace and yield its name; remove it if it stays."""
        name = f'.{machine()}{os.urandom(8).hex()}.tmp'
        temporary = os.path.join(os.path.dirname(self._name), name)
        begun = temporary, self._folder
        _begun.append(begun)
        try:
            with ExitStack() as until_placed:
                with _named(self._path), self._created(temporary) as file:
                    if fcntl is not None:  # Windows moves no file that is open
                        until_placed.callback(os.close, os.dup(file.fileno()))  # keeps the lock
                    _write(file, content)
                    file.flush()
                    os.fsync(file.fileno())
                yield temporary
        finally:
            with suppress(OSError):  # not there any more, as a rule; else what was wrong is said
                os.unlink(temporary, dir_fd=self._folder)
            _begun.remove(begun)

    def _created(self, temporary: str) -> BinaryIO:
        """Return a new file that has its final owner and mode before anything is in it."""
        standing = self._standing()
        mode = 0o666 if standing is None else _first_mode(standing)
        file = -1
        while file < 0:
            file = os.open(temporary, _NEW | _NO_LINK, mode, dir_fd=self._folder)
            lock(file)
            try:
                os.stat(temporary, dir_fd=self._folder, follow_symlinks=False)
            except FileNotFoundError:  # removed before it was locked, as one that was left behind
                os.close(file)
                file = -1
        if standing is not None:
            _take_after(file, standing)
        return open(file, 'wb')

    def place(self, temporary: str) -> None:
        """Put a file that was written beside the old one in its place."""
        with _named(self._path):
            os.replace(temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)


def why_not_writable(path: str) -> OSError:
    """Return why a file or folder cannot be written to, which `os.access` does not say."""
    number = errno.EACCES
    if hasattr(os, 'statvfs') and os.statvfs(path).f_flag & os.ST_RDONLY:
        number = errno.EROFS
    return OSError(number, os.strerror(number))


def _first_mode(standing: os.stat_result) -> int:
    """Return the mode of a file until it has the owner and group of the one that it replaces."""
    mode = stat.S_IMODE(standing.st_mode)
    owner = standing.st_uid, standing.st_gid
    is_ours = not hasattr(os, 'geteuid') or owner == (os.geteuid(), os.getegid())
    return mode & (0o777 if is_ours else 0o700)  # no one else opens it meanwhile


def _take_after(descriptor: int, standing: os.stat_result) -> None:
    """Give a file the owner, group and mode of another, as far as the system allows it."""
    if not hasattr(os, 'fchown'):
        return
    mode = stat.S_IMODE(standing.st_mode)
    try:
        os.fchown(descriptor, standing.st_uid, standing.st_gid)
    except OSError:
        mode &= 0o777  # to run as the owner or group was meant for those it had
        with suppress(OSError):
            os.fchown(descriptor, -1, standing.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, mode)


@cache
def machine() -> str:
    """Return eight hexadecimal digits that stand for this machine in names of temporary files.

    A lock says only here whether the process that holds it is alive: network file systems may keep
    the locks of each machine to itself.
    """
    try:
        with open('/proc/sys/kernel/random/boot_id') as file:
            return file.read(8)
    except OSError:  # not Linux
        import uuid

        return f'{uuid.getnode() % (1 << 32):08x}'


def lock(descriptor: int) -> None:
    """Lock a temporary file as long as it is open here, where the file system has locks."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def lock_abandoned(path: str) -> Iterator[None]:
    """Lock what a process of this machine left behind, to remove it.

    Raise `BlockingIOError` if that process is alive, another `OSError` if nobody can know.
    """
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | _NO_LINK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def give_up() -> bool:
    """Undo what is begun, files above all, in a process that a signal is about to end.

    Return False if files are put in their places, or have been: then the process must end by
    itself, so that all of them are, and its exit status says so.
    """
    if _is_placing:
        return False
    for undo in reversed(_undo_first):
        undo()
    for temporary, folder in _begun:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
    return True


@contextmanager
def placing() -> Iterator[None]:
    """Let no signal end a command before what is complete is in its place."""
    global _is_placing
    was_placing, _is_placing = _is_placing, True
    try:
        yield
    finally:
        _is_placing = was_placing


@contextmanager
def undone_at_once(undo: Callable[[], object]) -> Iterator[None]:
    """Call a function at the end, and when a signal ends the process; it must not raise."""
    _undo_first.append(undo)
    try:
        yield
    finally:
        _undo_first.remove(undo)
        undo()


def write_whole(
    path: str | os.PathLike[str], content: str | Content, *, is_last: bool = True
) -> None:
    """Write a file so that a reader sees the old content, or all of the new.

    A pipe or device is written to as it is. Text is UTF-8, compressed if the path ends in ``.gz``,
    ``.bz2``, ``.xz`` or ``.zst``. After an error nothing has changed.
    """
    write_all_whole({path: content}, is_last=is_last)


def write_all_whole(
    contents: Mapping[str | os.PathLike[str], str | Content], *, is_last: bool = True
) -> None:
    """Write files that belong together: all are on the disk before the first is replaced."""
    global _is_placing
    with ExitStack() as stack:
        destinations = {
            path if isinstance(path, Destination) else stack.enter_context(Destination(path)): path
            for path in contents
        }
        temporaries = {
            each: stack.enter_context(each.beside(_encoded(path, contents[path])))
            for each, path in destinations.items()
            if not each.is_stream
        }
        for each, path in destinations.items():
            if each.is_stream:
                each.append(_encoded(path, contents[path]))
        # A single file that others follow is there or not: a signal may end the process here.
        if temporaries and (is_last or len(temporaries) > 1):
            _is_placing = True
        for each, temporary in temporaries.items():
            each.place(temporary)
        # It stays so after the last ones: the process of a command has its outputs then.
        _is_placing = _is_placing and is_last


def _write(file: BinaryIO, content: Content) -> None:
    if isinstance(content, bytes):
        file.write(content)
    else:
        content(file)


def _encoded(path: str | os.PathLike[str], content: str | Content) -> Content:
    if not isinstance(content, str):
        return content
    text = content.encode()
    match os.path.splitext(os.fsdecode(path))[1].lower():  # each library is imported when needed
        case '.gz':
            import gzip

            return gzip.compress(text, mtime=0)  # else the same content would not be the same
        case '.bz2':
            import bz2

            return bz2.compress(text)
        case '.xz':
            import lzma

            return lzma.compress(text)
        case '.zst':
            import pyarrow

            return bytes(pyarrow.compress(text, codec='zstd', asbytes=True))
    return text


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Turn errors of the system into errors of this package that name the path."""
    if '\0' in path:
        raise WriteError(path, 'no path holds a NUL')
    try:
        yield
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
