"""Folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from mediaeval_ap.atomic_files import placing, undone_at_once
from mediaeval_ap.errors import Error, WriteError
from mediaeval_ap.store.columns import SUFFIX
from mediaeval_ap.store.manifest import why_not_replaced
from mediaeval_ap.tables.input_kinds import REPLACED, STORE_MANIFEST, folders_beside

BEGUN = '.tmp'  # ends the name of a folder until its store is complete


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield an empty folder that takes the place of a store, if any, at the end.

    It stands beside the path meanwhile, and is removed where something goes wrong.
    """
    name = os.fsdecode(path)
    target = check_target(name)
    folder = f'{target}.{os.urandom(8).hex()}{BEGUN}'
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    with named(name), undone_at_once(remove):
        os.mkdir(folder)
        yield folder
        put_in_place(folder, name)


def check_target(name: str) -> str:
    """Return the path at which a store is to stand; refuse what stands there and is none."""
    if '\0' in name:
        raise WriteError(name, 'no path holds a NUL')
    target = os.path.realpath(name)
    if os.path.lexists(target) and (reason := why_not_replaced(target)) is not None:
        raise WriteError(name, reason)
    with named(name):
        os.stat(os.path.dirname(target))
    return target


def clear_up(target: str) -> None:
    """Put a store back that was being replaced, and remove what else calls that were killed left.

    Nobody else may be writing the store meanwhile.
    """
    older = [each for each in folders_beside(target, REPLACED) if _is_ours(each)]
    whole = [each for each in older if why_not_replaced(each) is None]
    if whole and not os.path.lexists(target):
        os.rename(max(whole, key=_changed), target)
    for each in (*older, *folders_beside(target, BEGUN)):
        if _is_ours(each):
            shutil.rmtree(each, ignore_errors=True)


def _is_ours(folder: str) -> bool:
    """Return whether a folder holds nothing but files of a store."""
    try:
        return all(name == STORE_MANIFEST or name.endswith(SUFFIX) for name in os.listdir(folder))
    except OSError:
        return False


def _changed(folder: str) -> int:
    return os.stat(folder).st_ctime_ns


def put_in_place(folder: str, name: str) -> None:
    """Rename a folder that is complete to the path of a store, and remove an older one there."""
    target = check_target(name)
    older = f'{target}.{os.urandom(8).hex()}{REPLACED}'
    with named(name), placing():
        _flush(folder)
        with suppress(FileNotFoundError):
            os.rename(target, older)
        try:
            os.rename(folder, target)
        except OSError:
            with suppress(OSError):
                os.rename(older, target)
            raise
        _flush(os.path.dirname(target))
    shutil.rmtree(older, ignore_errors=True)  # those who have it open keep it


def _flush(folder: str) -> None:
    """Have the names in a folder written to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def named(path: str) -> Iterator[None]:
    """Turn errors of the system into errors of this package that name the path."""
    try:
        yield
    except Error:
        raise
    except OSError as error:
        if error.errno == errno.ENOENT and not os.path.isdir(os.path.dirname(path) or '.'):
            raise WriteError(path, 'No such file or directory') from error
        raise WriteError(path, error.strerror or str(error)) from error
