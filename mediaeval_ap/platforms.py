"""Differences of POSIX and Windows; where there is no `fcntl`, the other side is taken.

The other side promises less: a folder that is renamed meanwhile redirects an output. What is open
can be neither renamed nor removed, so outputs are not locked to their place.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

try:
    import fcntl
except ImportError:
    import msvcrt

    IS_POSIX = False
else:
    IS_POSIX = True

# A thread of Windows that waits for another one is not woken by Ctrl-C.
LONGEST_WAIT = None if IS_POSIX else 0.1  # seconds

_NO_LINK = getattr(os, 'O_NOFOLLOW', 0)
_BYTES = getattr(os, 'O_BINARY', 0)  # else Windows writes \r\n for \n
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BYTES
STREAM = os.O_WRONLY | os.O_APPEND | _NO_LINK | _BYTES


def machine_cores() -> int:
    """Return the number of cores that the system gives this process."""
    if IS_POSIX and hasattr(os, 'sched_getaffinity'):  # which macOS lacks
        return len(os.sched_getaffinity(0))  # fewer than there are, as a batch system has it
    return os.cpu_count() or 1


def open_folder(path: str) -> int | None:
    """Return a descriptor of a folder, to name its files by; None where there are none."""
    if IS_POSIX:
        return os.open(path, os.O_DIRECTORY | getattr(os, 'O_PATH', os.O_RDONLY))
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return None


def take_after(descriptor: int, standing: os.stat_result) -> None:
    """Give a file the owner, group and mode of another, as far as the system allows it."""
    if not IS_POSIX:  # rights are those of the folder
        return
    mode = stat.S_IMODE(standing.st_mode)
    try:
        os.fchown(descriptor, standing.st_uid, standing.st_gid)
    except OSError:
        mode &= 0o777  # set-user-id was meant for the owner that it had
        with suppress(OSError):
            os.fchown(descriptor, -1, standing.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, mode)


def is_read_only(path: str) -> bool:
    """Return whether a file system is known to be mounted without the right to write."""
    return IS_POSIX and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


@cache
def machine() -> str:
    """Return eight hexadecimal digits that stand for this machine in names of temporary files.

    Only here does a lock tell whether its process is alive: network file systems may keep the locks
    of each machine to itself. Nothing where outputs are not locked: then their age tells.
    """
    if not IS_POSIX:
        return ''
    try:
        with open('/proc/sys/kernel/random/boot_id') as file:
            return file.read(8)
    except FileNotFoundError:  # macOS
        from uuid import getnode

        return f'{getnode() & 0xFFFFFFFF:08x}'


def lock(descriptor: int) -> None:
    """Lock a temporary file as long as it is open here, where the file system has locks."""
    with suppress(OSError):
        if IS_POSIX:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            _lock_by_msvcrt(descriptor, 'LK_LOCK')  # waits 10 s


def lock_at_once(descriptor: int) -> None:
    """Lock a file; raise `BlockingIOError` if somebody else has locked it."""
    if IS_POSIX:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        _lock_by_msvcrt(descriptor, 'LK_NBLCK')


def _lock_by_msvcrt(descriptor: int, how: str) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)  # it locks bytes from where the file stands
    try:
        msvcrt.locking(descriptor, getattr(msvcrt, how), 1)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EDEADLK):
            raise BlockingIOError(error.errno, error.strerror) from error
        raise


@contextmanager
def lock_abandoned(path: str) -> Iterator[None]:
    """Lock what a process of this machine left behind, to remove it.

    Raise `BlockingIOError` if that process is alive, another `OSError` if nobody can know.
    """
    flags = os.O_RDWR | getattr(os, 'O_NONBLOCK', 0) | _NO_LINK | _BYTES
    with open(os.open(path, flags), 'rb') as file:
        lock_at_once(file.fileno())
        if IS_POSIX:
            yield
            return
    yield


@contextmanager
def interrupts_of_others() -> Iterator[None]:
    """Let processes that start within leave a Ctrl-C, sent to all, to the one that starts them."""
    if not IS_POSIX:  # nothing is inherited: `begin_beside` refuses it
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def begin_beside() -> None:
    """Leave Ctrl-C to the process that started this one."""
    if not IS_POSIX:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def wait_for_end_of(parent: int) -> None:
    """Wait until the process that began this one has ended."""
    if IS_POSIX:
        while os.getppid() == parent:
            time.sleep(0.1)
    else:  # which tells the same parent for ever
        from multiprocessing import parent_process

        if (process := parent_process()) is not None:
            process.join()


def file_bytes(descriptor: int, size: int) -> Any:
    """Return what numpy makes an array of: the file, mapped; or what it holds, read.

    Windows replaces no file, and no folder, while a process maps something of it.
    """
    if IS_POSIX:
        return _Mapping(descriptor, size)
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, 'rb', closefd=False) as file:
        return memoryview(file.read(size))


class _Mapping:
    """The bytes of a file.

    `mmap.mmap` would hold another descriptor of it (until Python 3.13), and a store has some 17
    files, where a process may often have 1,024 descriptors.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        import ctypes
        import mmap
        from weakref import finalize

        libc = _libc()
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finalize(self, libc.munmap, address, size).atexit = False  # threads may still read
        self.__array_interface__ = {
            'version': 3,
            'typestr': '|u1',
            'shape': (size,),
            'data': (address, True),  # read only
        }


@cache
def _libc() -> Any:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number, pointer = ctypes.c_int, ctypes.c_void_p
    libc.mmap.restype = pointer
    libc.mmap.argtypes = pointer, ctypes.c_size_t, number, number, number, ctypes.c_long
    libc.munmap.argtypes = pointer, ctypes.c_size_t
    return libc
