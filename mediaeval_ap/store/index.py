"""`index`: a run to a store, whether it fits in memory or not."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mediaeval_ap.choices import check_limit
from mediaeval_ap.errors import (
    Error,
    FormatError,
    ParameterError,
    WriteError,
    printable,
    shown,
)
from mediaeval_ap.plain_text import is_uri, plain_text
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.building import write_files_from
from mediaeval_ap.store.folders import check_target, clear_up, named, put_in_place
from mediaeval_ap.store.ingesting import Ingestion
from mediaeval_ap.store.run_files import RunFile, files_of
from mediaeval_ap.store.spool import Spool
from mediaeval_ap.store.store import Store, as_store, open_store
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, SUBSET, Table, read

__all__ = ['index']

BUILDING = '.building'  # the suffix of the folder beside a store
LOCK = 'mediaeval-ap.lock'  # a name that no other program gives
COLUMNS = 'columns'


@shows_progress
def index(
    run: Any,
    path: str | os.PathLike[str],
    *,
    keep: int | None = None,
    subset: Any = None,
    max_bytes: int = MAX_BYTES,
    progress: bool = False,
) -> Store:
    """Rank a run once, and write it as a store, from which all cutoffs and names can be scored.

    The run need not fit in memory.

    Parameters
    ----------
    run : str, path-like, list of these, or anything that is a run
        A path of text (perhaps compressed) or Parquet, or ``-`` for standard input; a folder of
        such files; an address that `pyarrow.fs` opens, such as ``s3://bucket/run.txt``; a list of
        these, which are parts of one run. Also a table, rows or a store, in memory.
    path : str or path-like
        The folder to write. A store that is there is replaced at the end, as a whole.
    keep : int, optional
        The largest cutoff that the store will be asked for: only what this needs is kept. By
        default all hypotheses.
    subset : str, path-like, table or rows, optional
        The videos to score, ``corpus_id video_id``; other hypotheses are left out.
    max_bytes : int
        The most bytes that a part may give which is compressed (once decompressed), Parquet, remote
        or a pipe. Plain files have no limit.
    progress : bool
        Whether to show progress on standard error.

    Returns
    -------
    Store
        The store, opened.

    Raises
    ------
    ReadError, FormatError
        When a part cannot be read, or a row of it is wrong.
    WriteError
        When the store cannot be written, or another process is building it.
    ParameterError
        When a parameter is not valid.

    Notes
    -----
    Rows go to a folder beside the store, whose name is that of the store and ``.building``. After
    an interruption the next call goes on with what it holds: what was read is not read again. If
    a part has changed meanwhile, the call begins anew and warns (`RestartedBuildWarning`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path, keep=100)
    >>> store.n_hypotheses, len(store), store.keep
    (12000, 11883, 100)
    """
    check_limit(max_bytes)
    if keep is not None:
        keep = check_limit(keep, 'keep')
    if is_uri(path):
        reason = 'found an address, expected a path of this machine, which can be mapped to memory'
        raise ParameterError(f'store: {reason}: {printable(str(path))}')
    target = check_target(os.fsdecode(path))
    videos = None if subset is None else read(subset, SUBSET, max_bytes=max_bytes)
    files, name = _files(run), os.fsdecode(path)
    with _locked(Path(target + BUILDING), name) as work:
        with named(name):
            clear_up(target)
        if files is not None:
            _build(files, name, work, keep, videos, max_bytes)
            return open_store(path)
        if (store := as_store(run)) is not None:
            return _pruned(store, path, keep, videos)
        table = read(run, HYPOTHESIS, max_bytes=max_bytes)
        inside = table if videos is None else table.select(table.within(videos))
        return write_store(Ranking(inside), path, keep=keep, subset=videos, n_read=len(table))


def _files(run: Any) -> list[RunFile] | None:
    """Return the files of a run; None of what is no path, or the folder of a store."""
    paths = run if isinstance(run, list | tuple) else [run]
    if not paths or not all(isinstance(each, str | os.PathLike) for each in paths):
        return None
    if len(paths) == 1 and _is_store(paths[0]):
        return None
    files = []
    for each in paths:
        if _is_store(each):
            raise ParameterError(f'run: found the store {shown(each)} among parts, expected files')
        files += files_of(each)
    return files


def _is_store(path: Any) -> bool:
    return os.path.lexists(os.path.join(os.fsdecode(plain_text(path) or path), 'manifest.json'))


def _pruned(
    store: Store, path: str | os.PathLike[str], keep: int | None, subset: Table | None
) -> Store:
    """Write a store again, with less in it."""
    manifest = store.manifest
    if manifest.subset is not None:
        raise ParameterError(
            f'{printable(store.path)}: found a store of the subset {shown(manifest.subset.name)}, '
            'expected one without a subset; index the run itself'
        )
    table = store.ranking.table
    inside = table if subset is None else table.select(table.within(subset))
    return write_store(
        Ranking(inside),
        path,
        keep=keep,
        subset=subset,
        inputs=manifest.inputs,
        n_read=manifest.counts.read,
    )


def _build(
    files: Sequence[RunFile],
    name: str,
    work: Path,
    keep: int | None,
    subset: Table | None,
    max_bytes: int,
) -> None:
    """Build a store by way of a folder beside it, whose files stay after an interruption."""
    spool = Spool(work)
    ingestion = Ingestion(spool, files, subset, max_bytes)
    try:
        inputs = ingestion.read(work)
        columns = work / COLUMNS
        shutil.rmtree(columns, ignore_errors=True)
        columns.mkdir()
        write_files_from(spool, work, columns, keep=keep, subset=subset, inputs=inputs)
        put_in_place(str(columns), name)
    except Error as error:
        # The next call would find the same, or there is nothing that it need not do again.
        if isinstance(error, FormatError | ParameterError) or not ingestion.has_read:
            _empty(work)
        raise
    except OSError as error:
        raise WriteError(name, error.strerror or str(error)) from error
    _empty(work)


def _empty(work: Path) -> None:
    """Remove all but the lock."""
    for each in work.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name != LOCK:
            each.unlink()


@contextmanager
def _locked(work: Path, name: str) -> Iterator[Path]:
    """Hold a folder, so that no other process builds the same store meanwhile.

    It is removed if nothing is left in it; its lock tells the next call that it may go on there.
    """
    with named(name):
        is_ours = not work.exists() or (work / LOCK).exists() or not any(work.iterdir())
        if not is_ours:
            reason = 'is there already, and no store that is being built: remove it'
            raise WriteError(str(work), reason)
        work.mkdir(exist_ok=True)
        lock = open(work / LOCK, 'ab')  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_there = os.path.samestat(os.fstat(lock.fileno()), os.stat(work / LOCK))
        except (BlockingIOError, FileNotFoundError):
            is_there = False
        if not is_there:
            raise WriteError(name, 'another process is building this store')
        try:
            yield work
        finally:
            with suppress(OSError):  # another process may begin now
                if os.listdir(work) == [LOCK]:
                    (work / LOCK).unlink()
                    work.rmdir()
