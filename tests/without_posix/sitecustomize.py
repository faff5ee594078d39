"""Let `mediaeval_ap.platforms` take its other side where this folder is in PYTHONPATH.

Nothing else is changed, so that the suite can run:

    PYTHONPATH=$PWD/tests/without_posix .venv/bin/python -m pytest
"""

import fcntl
import multiprocessing
import os
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


def take_other_side():
    sys.meta_path.insert(0, Finder)
    multiprocessing.parent_process = parent_that_can_be_waited_for


if __name__ == 'sitecustomize':
    take_other_side()
