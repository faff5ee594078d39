"""Let `mediaeval_ap.platforms` take its other side where this folder is in PYTHONPATH.

The package cannot rename or remove what the process has open, either. Nothing else is changed, so
that the suite can run:

    PYTHONPATH=$PWD/tests/without_posix .venv/bin/python -m pytest
"""

import errno
import fcntl
import multiprocessing
import os
import stat
import sys
import time
from importlib.machinery import PathFinder
from multiprocessing import process
from types import ModuleType

MODULE = 'mediaeval_ap.platforms'


def fake_msvcrt():
    """Its locks, which are those of an open file, as flock's are."""

    def locking(descriptor, how, n_bytes):
        assert (os.lseek(descriptor, 0, os.SEEK_CUR), n_bytes) == (0, 1)
        for _ in range(10 if how == msvcrt.LK_LOCK else 1):  # as Windows tries it
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(1 if how == msvcrt.LK_LOCK else 0)
        raise PermissionError(13, 'Permission denied')

    msvcrt = ModuleType('msvcrt')
    msvcrt.LK_LOCK, msvcrt.LK_NBLCK, msvcrt.locking = 1, 2, locking
    return msvcrt


class Finder:
    """What finds the module, and lets it see another system while it is imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != MODULE:
            return None
        spec = PathFinder.find_spec(name, path, target)
        run = spec.loader.exec_module

        def exec_module(module):
            there, sys.modules['msvcrt'] = sys.modules['fcntl'], fake_msvcrt()
            sys.modules['fcntl'] = None
            try:
                run(module)
            finally:
                del sys.modules['msvcrt']
                sys.modules['fcntl'] = there

        spec.loader.exec_module = exec_module
        return spec


parent_process = process.parent_process


def parent_that_can_be_waited_for():
    """On Windows, processes of loky hold a handle of the parent; Linux has descriptors for it."""
    parent = parent_process()
    if parent is not None and parent._sentinel is None:
        parent._sentinel = os.pidfd_open(parent.pid)
    return parent


PACKAGE = f'{os.sep}mediaeval_ap{os.sep}'
STANDARD_LIBRARY = os.path.dirname(os.__file__), '<frozen'


def refuse_what_is_open(event, arguments):
    """Refuse what Windows refuses, where the package asks for it."""
    if event == 'os.rename':
        touched = [arguments[0:3:2], arguments[1:4:2]]
    elif event == 'os.remove':
        touched = [arguments]
    else:
        return
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(STANDARD_LIBRARY):
        frame = frame.f_back
    if frame is None or PACKAGE not in frame.f_code.co_filename:
        return
    for path, folder in touched:
        if folder != -1:  # within an open folder
            path = os.path.join(os.readlink(f'/proc/self/fd/{folder}'), os.fsdecode(path))
        path = os.path.abspath(os.fsdecode(path))
        if any(each == path or each.startswith(f'{path}{os.sep}') for each in open_files()):
            raise PermissionError(errno.EACCES, f'Open elsewhere, as on Windows: {path}')


def open_files():
    """Yield the paths of regular files that are open, or mapped."""
    for number in os.listdir('/proc/self/fd'):
        try:
            if stat.S_ISREG(os.stat(f'/proc/self/fd/{number}').st_mode):
                yield os.readlink(f'/proc/self/fd/{number}')
        except OSError:  # closed by now
            pass


def take_other_side():
    sys.addaudithook(refuse_what_is_open)
    sys.meta_path.insert(0, Finder)
    multiprocessing.parent_process = parent_that_can_be_waited_for


if __name__ == 'sitecustomize':
    take_other_side()
