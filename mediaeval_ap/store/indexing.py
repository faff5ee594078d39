"""`index`: a run to a store, whether it fits in memory or not."""

from __future__ import annotations

import os
import fcntl
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import named
from mediaeval_ap.choices import check_limit, is_uri
from mediaeval_ap.errors import (
    FormatError,
    MissingExtraError,
    ParameterError,
    RestartedBuildWarning,
    WriteError,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.ranking.frozen_ranking import MOST_HYPOTHESES, Ranking
from mediaeval_ap.store.large import DATABASE, RowDatabase, write_large
from mediaeval_ap.store.manifest import Input, Subset
from mediaeval_ap.store.run_files import RunFile, files_of
from mediaeval_ap.store.store import Store, as_store, open_store
from mediaeval_ap.store.writing import check_target, clear_up, put_in_place, write_store
from mediaeval_ap.tables import (
    HYPOTHESIS,
    SUBSET,
    Column,
    Source,
    Table,
    read,
)
from mediaeval_ap.tables.inputs import Rows
from mediaeval_ap.tables.reading import ChangedError, Position, TableParts, is_store
from mediaeval_ap.tables.text.format import AS_TEXT

LARGEST_IN_MEMORY = 10_000_000  # hypotheses, which take 1.1 GiB

__all__ = ['index']

BUILDING = '.building'  # the suffix of the folder beside a store
LOCK = 'mediaeval-ap.lock'  # a name that no other program gives
WHOLE = 'whole'  # a store of a large run, before any of it is dropped


@shows_progress
def index(
    run: Rows | Store | Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    keep: int | None = None,
    subset: Rows | None = None,
    progress: bool = False,
) -> Store:
    """Rank a run once, and write it as a store, from which all cutoffs and names can be scored.

    The run need not fit in memory: more than ten million hypotheses need the extra ``large``.

    Parameters
    ----------
    run : str, path-like, list of these, or anything that is a run
        A path of text (perhaps compressed) or Parquet, or ``-`` for standard input; a folder of
        such files; an address that `pyarrow.fs` opens, such as ``s3://bucket/run.txt``; a list of
        these, which are parts of one run. Also a table or rows, in memory; or a store, of which
        a subset is taken in memory.
    path : str or path-like
        The folder to write. A store that is there is replaced at the end, as a whole.
    keep : int, optional
        The largest cutoff that the store will be asked for: only what this needs is kept. By
        default all hypotheses.
    subset : str, path-like, table or rows, optional
        The videos to score, ``corpus_id video_id``; other hypotheses are left out.
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
    MissingExtraError
        When the run does not fit in memory, and the extra ``large`` is not installed.

    Notes
    -----
    More than ten million rows go to a folder beside the store, whose name is that of the store and
    ``.building``. After an interruption the next call goes on with what it holds: what was read is
    not read again. If a part has changed meanwhile, the call begins anew and warns
    (`RestartedBuildWarning`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path, keep=100)
    >>> store.n_hypotheses, len(store), store.keep
    (12000, 11883, 100)
    """
    if keep is not None:
        keep = check_limit(keep, 'keep')
    if is_uri(path):
        reason = 'found an address, expected a path of this machine, which can be mapped to memory'
        raise ParameterError(f'store: {reason}: {printable(str(path))}')
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'store: found {shown(path)}, expected a path')
    target = check_target(os.fsdecode(path))
    videos = None if subset is None else read(subset, SUBSET)
    if isinstance(run, list | tuple) and len(run) == 1:
        run = run[0] if isinstance(run[0], str | os.PathLike | Store) else run  # else a row
    files, name = _files(run, target), os.fsdecode(path)
    write = partial(write_store, path=path, keep=keep, subset=videos)
    with _locked(Path(target + BUILDING), name) as work, named(name):
        clear_up(target)
        if files is not None:
            _RowsOfFiles(work, files, videos).build(name, keep, write)
        elif (store := as_store(run)) is not None:
            _check_again(store, keep, videos)
            ranking: Ranking = store.ranking
            if videos is not None:
                ranking = Ranking(_within(ranking.table, videos))
            write(ranking, inputs=store.manifest.inputs)
        else:
            rows: Any = run
            table = read(rows, HYPOTHESIS)
            inputs = [Input(table.source.name, table.source.sha256, len(table))]
            write(Ranking(_within(table, videos)), inputs=inputs)
    return open_store(path)


def _within(table: Table, subset: Table | None) -> Table:
    """Return the rows in the subset; refuse integers, as a store does not know what was one."""
    if table.integers:
        field, expected = min(table.integers), f'text in what is indexed{AS_TEXT}'
        raise FormatError(table.source.name, '', field, 'integers', expected)
    return table if subset is None else table.select(table.within(subset))


def _files(run: Any, target: str) -> list[RunFile] | None:
    """Return the files of a run; None of what is no path, or the folder of a store."""
    paths = run if isinstance(run, list | tuple) else [run]
    if not paths or not all(isinstance(each, str | os.PathLike) for each in paths):
        return None
    if len(paths) == 1 and is_store(paths[0]):
        return None
    files = []
    for each in paths:
        if is_store(each):
            raise ParameterError(f'run: found the store {shown(each)} among parts, expected files')
        files += files_of(each)
        if Path(target).is_relative_to(os.path.realpath(os.fsdecode(each))):
            reason = f'found a path in {printable(os.fsdecode(each))}, which is a part of the run'
            raise ParameterError(f'store: {reason}, expected one outside it')
    return files


def _check_again(store: Store, keep: int | None, subset: Table | None) -> None:
    """Refuse a store that has not all that another one is to hold."""
    its, found, expected = store.manifest.subset, '', ''
    if its is not None:
        found, expected = f'of the subset {shown(its.name)}', 'without a subset'
    elif store.keep is not None and subset is not None:
        found, expected = f'with keep {store.keep}', 'of the whole run, to take a subset of'
    elif store.keep is not None and (keep is None or keep > store.keep):
        found = f'with keep {store.keep}'
        expected = 'of the whole run' if keep is None else f'with keep {keep} or more, or none'
    if found:
        reason = f'found a store {found}, expected one {expected}; index the run itself'
        raise ParameterError(f'{printable(store.path)}: {reason}')


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


class _RowsOfFiles:
    """The rows of files: in memory, and once they are too many in a file that outlives the process.

    Each part of a file is read, and with a journal of what was read, saved once.
    """

    database: RowDatabase | None = None

    def __init__(self, work: Path, files: Sequence[RunFile], subset: Table | None) -> None:
        self._work = work
        self._files = files
        self._subset = subset
        described = Subset.of(subset)
        self._about = {
            'version': __version__,
            'list of files': [file.name for file in files],
            'subset': described and described.videos,
        }
        self._begin()
        if os.path.lexists(work / DATABASE):
            self._open()

    def _begin(self) -> None:
        """Begin with nothing."""
        self._close()
        self._journal: dict[str, Any] = {'about': self._about, 'done': [], 'begun': []}
        self._held: list[tuple[dict[str, NDArray[np.int32]], NDArray[np.float64]]] = []
        self._n_rows = 0
        self._code_of: dict[str, defaultdict[str, int]] = {}
        for field in HYPOTHESIS.texts:
            codes = self._code_of[field] = defaultdict(int)
            codes.default_factory = codes.__len__

    def _open(self) -> None:
        """Keep rows in a file from now on; take up those that it has."""
        self.database = RowDatabase(self._work, LARGEST_IN_MEMORY)
        journal, texts, n_rows = self.database.load()
        if not journal:
            return
        self._journal, self._n_rows = journal, n_rows
        for field, values in texts.items():
            self._code_of[field].update(zip(values, range(len(values)), strict=True))

    def _close(self) -> None:
        if self.database is not None:
            self.database.close()
        self.database = None

    def build(self, name: str, keep: int | None, write: Callable[..., Store]) -> None:
        """Build a store, by way of the folder beside it where the rows do not fit in memory."""
        is_wanted = False  # what is in the folder
        try:
            inputs = self._inputs()
            if self.database is None:
                write(self._ranking(), inputs=inputs)
                return
            whole = self._work / WHOLE
            shutil.rmtree(whole, ignore_errors=True)
            whole.mkdir()
            texts = {field: list(code_of) for field, code_of in self._code_of.items()}
            write_large(self.database, texts, self._n_rows, str(whole), self._subset, inputs)
            if keep is None:
                put_in_place(str(whole), name)
            else:
                write(open_store(whole).ranking, inputs=inputs)
        except (FormatError, ParameterError, MissingExtraError):
            raise  # the next call would find the same
        except BaseException:
            is_wanted = self.database is not None
            raise
        finally:
            self._close()
            if not is_wanted:
                _empty(self._work)

    def _inputs(self) -> list[Input]:
        """Read what is not there yet, and describe all files; all anew if one was changed."""
        try:
            return self._read()
        except ChangedError as error:
            since = 'changed since the build was interrupted: begins anew'
            warn_caller([RestartedBuildWarning(f'{printable(error.name)} {since}')])
        self._begin()
        _empty(self._work)
        return self._read()

    def _check_same(self) -> None:
        """Refuse settings and files that are not as the journal has them."""
        journal = self._journal
        for key, value in self._about.items():
            if journal['about'][key] != value:
                raise ChangedError(f'the {key}', '')
        for file, before in zip(self._files, journal['done'] + journal['begun'], strict=False):
            if file.version is None or file.version != before['version']:
                raise ChangedError(file.name, '')

    def _read(self) -> list[Input]:
        self._check_same()
        journal = self._journal
        for file in self._files[len(journal['done']) :]:
            about: dict[str, Any] = {'name': file.name, 'version': file.version}
            begun = journal['begun']
            position = Position(*begun[0]['position']) if begun else Position()
            with file.source(self._work) as source:
                parts = TableParts(source, HYPOTHESIS, position)
                n_rows = position.n_rows
                for table, end in parts:
                    n_rows += len(table)
                    self._add(_within(table, self._subset))
                    if end is not None:
                        journal['begun'] = [about | {'position': astuple(end)}]
                        self._save()
            journal['done'].append(about | {'sha256': parts.source.sha256, 'n_rows': n_rows})
            journal['begun'] = []
            self._save()
        return [Input(each['name'], each['sha256'], each['n_rows']) for each in journal['done']]

    def _save(self) -> None:
        """Let what was read so far count in the file, where there is one."""
        if self.database is not None:
            self.database.save(self._journal, self._code_of)

    def _add(self, table: Table) -> None:
        self._n_rows += len(table)
        if self._n_rows > MOST_HYPOTHESES:
            found = f'found more than {MOST_HYPOTHESES:,} hypotheses'
            raise ParameterError(f'{printable(table.source.name)}: {found}, expected at most these')
        codes = {}
        for field, code_of in self._code_of.items():
            values = table[field].values
            new = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
            codes[field] = new[table[field].codes]
        self._held.append((codes, table.confidence))
        if self.database is None and self._n_rows > LARGEST_IN_MEMORY:
            self._open()
        if self.database is not None:
            for rows in self._held:
                self.database.add(*rows)
            self._held = []

    def _ranking(self) -> Ranking:
        """Rank the rows in memory, which are here no longer."""
        held, self._held = self._held, []
        columns = {}
        for field, code_of in self._code_of.items():  # one after another, to need less memory
            columns[field] = Column(
                np.concatenate([part.pop(field) for part, _ in held]), list(code_of)
            )
        confidence = np.concatenate([confidence for _, confidence in held])
        del held
        ranking = Ranking(Table(HYPOTHESIS, columns, confidence, Source(self._files[0].name)))
        for field in HYPOTHESIS.texts:  # the ranking has its own numbers of shots
            if field != 'person_name':
                del columns[field]
        return ranking
