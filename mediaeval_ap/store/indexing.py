"""`index`: a run to a store, whether it fits in memory or not."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import named
from mediaeval_ap.choices import check_limit, is_uri, plain_text
from mediaeval_ap.errors import (
    FormatError,
    MissingExtraError,
    ParameterError,
    ReadError,
    RestartedBuildWarning,
    WriteError,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.progress import Bar, shows_progress
from mediaeval_ap.ranking.frozen_ranking import MOST_HYPOTHESES, Ranking
from mediaeval_ap.store.large import DATABASE, RowDatabase, write_large
from mediaeval_ap.store.manifest import Input, Subset, check_names
from mediaeval_ap.store.store import Store, as_store, open_store
from mediaeval_ap.store.writing import check_target, clear_up, put_in_place, write_store
from mediaeval_ap.tables import (
    HYPOTHESIS,
    MAX_BYTES,
    STANDARD_INPUT,
    SUBSET,
    Column,
    Source,
    Table,
    read,
)
from mediaeval_ap.tables.reading import ChangedError, Position, TableParts, is_store
from mediaeval_ap.tables.sources import BUFFER_BYTES, ByteSource, Limit, opening, standard_input

LARGEST_IN_MEMORY = 10_000_000  # hypotheses, which take 1.3 GiB

__all__ = ['index']

BUILDING = '.building'  # the suffix of the folder beside a store
LOCK = 'mediaeval-ap.lock'  # a name that no other program gives
WHOLE = 'whole'  # a store of a large run, before any of it is dropped
COPY = 'copy'  # the name of the copy of a file that is not on this machine


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
    check_limit(max_bytes)
    if keep is not None:
        keep = check_limit(keep, 'keep')
    if is_uri(path):
        reason = 'found an address, expected a path of this machine, which can be mapped to memory'
        raise ParameterError(f'store: {reason}: {printable(str(path))}')
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'store: found {shown(path)}, expected a path')
    target = check_target(os.fsdecode(path))
    videos = None if subset is None else read(subset, SUBSET, max_bytes=max_bytes)
    if isinstance(run, list | tuple) and len(run) == 1:
        run = run[0] if isinstance(run[0], str | os.PathLike | Store) else run  # else a row
    files, name = _files(run, target), os.fsdecode(path)
    check_names(each.name for each in files or ())
    with _locked(Path(target + BUILDING), name) as work:
        with named(name):
            clear_up(target)
        if files is not None:
            _build(files, path, work, keep, videos, max_bytes)
        elif (store := as_store(run)) is not None:
            _check_again(store, keep, videos)
            of = store.manifest
            ranking: Ranking = store.ranking
            if videos is not None:
                ranking = Ranking(_within(ranking.table, videos))
            write_store(
                ranking, path, keep=keep, subset=videos, inputs=of.inputs, n_read=of.counts.read
            )
        else:
            table = read(run, HYPOTHESIS, max_bytes=max_bytes)
            write_store(
                Ranking(_within(table, videos)), path, keep=keep, subset=videos, n_read=len(table)
            )
    return open_store(path)


def _within(table: Table, subset: Table | None) -> Table:
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


def _build(
    files: Sequence[RunFile],
    path: str | os.PathLike[str],
    work: Path,
    keep: int | None,
    subset: Table | None,
    max_bytes: int,
) -> None:
    """Build a store of files, by way of a folder beside it where they do not fit in memory."""
    with named(os.fsdecode(path)):
        rows = _RowsOfFiles(work, files, subset, max_bytes)
        is_wanted = False  # what is in the folder
        try:
            inputs = rows.read()
            n_read = sum(each.n_rows for each in inputs)
            write = partial(
                write_store, path=path, keep=keep, subset=subset, inputs=inputs, n_read=n_read
            )
            if rows.database is None:
                write(rows.ranking())
                return
            whole = work / WHOLE
            shutil.rmtree(whole, ignore_errors=True)
            whole.mkdir()
            rows.write(str(whole), inputs)
            if keep is None:
                put_in_place(str(whole), os.fsdecode(path))
            else:
                write(open_store(whole).ranking)
        except (FormatError, ParameterError, MissingExtraError):
            raise  # the next call would find the same
        except BaseException:
            is_wanted = rows.database is not None
            raise
        finally:
            rows.close()
            if not is_wanted:
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


class _RowsOfFiles:
    """The rows of files: in memory, and once they are too many in a file that outlives the process.

    Each part of a file is read, and with a journal of what was read, saved once.
    """

    database: RowDatabase | None = None

    def __init__(
        self, work: Path, files: Sequence[RunFile], subset: Table | None, max_bytes: int
    ) -> None:
        self._work = work
        self._files = files
        self._subset = subset
        self._max_bytes = max_bytes
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
        self.close()
        self._journal: dict[str, Any] = {
            'about': self._about,
            'done': [],
            'file': None,
            'position': None,
        }
        self._held: list[tuple[dict[str, NDArray[np.int32]], NDArray[np.float64]]] = []
        self._n_rows = 0
        self._code_of: dict[str, defaultdict[str, int]] = {}
        for field in HYPOTHESIS.texts:
            codes = self._code_of[field] = defaultdict(int)
            codes.default_factory = codes.__len__
        self._n_saved = dict.fromkeys(HYPOTHESIS.texts, 0)

    def _open(self) -> None:
        """Keep rows in a file from now on; take up those that it has."""
        self.database = RowDatabase(self._work, LARGEST_IN_MEMORY)
        journal, texts, n_rows = self.database.load()
        if not journal:
            return
        self._journal, self._n_rows = journal, n_rows
        for field, values in texts.items():
            self._code_of[field].update(zip(values, range(len(values)), strict=True))
            self._n_saved[field] = len(values)

    def close(self) -> None:
        """Close the file."""
        if self.database is not None:
            self.database.close()
        self.database = None

    def read(self) -> list[Input]:
        """Read what is not there yet, and describe all files; all anew if one was changed."""
        if (what := self._changed()) is not None:
            self._begin_anew(what)
        try:
            return self._read()
        except ChangedError as error:
            self._begin_anew(error.name)
            return self._read()

    def _begin_anew(self, changed: str) -> None:
        warning = f'{printable(changed)} changed since the build was interrupted: begins anew'
        warn_caller([RestartedBuildWarning(warning)])
        self._begin()
        _empty(self._work)

    def _changed(self) -> str | None:
        """Return what is not as the journal has it, if anything."""
        journal = self._journal
        for key, value in self._about.items():
            if journal['about'][key] != value:
                return f'the {key}'
        begun = [*journal['done'], *([journal['file']] if journal['file'] else [])]
        for file, before in zip(self._files, begun, strict=False):
            if file.version is None or list(file.version) != before['version']:
                return file.name
        return None

    def _read(self) -> list[Input]:
        journal = self._journal
        for file in self._files[len(journal['done']) :]:
            begin = journal['position']
            position = Position() if begin is None else Position(**begin)
            about: dict[str, Any] = {
                'name': file.name,
                'version': file.version and list(file.version),
            }
            with file.source(self._work, self._max_bytes) as source:
                parts = TableParts(source, HYPOTHESIS, position)
                n_rows = position.n_rows
                for table, end in parts:
                    n_rows += len(table)
                    self._add(table if self._subset is None else _within(table, self._subset))
                    if end is not None:
                        journal |= {'file': about, 'position': asdict(end)}
                        self._save()
            about |= {'sha256': parts.source.sha256, 'n_rows': n_rows}
            journal['done'].append(about)
            journal |= {'file': None, 'position': None}
            self._save()
        return [Input(each['name'], each['sha256'], each['n_rows']) for each in journal['done']]

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

    def _save(self) -> None:
        if self.database is None:
            return
        new = {
            field: dict(islice(code_of.items(), self._n_saved[field], None))
            for field, code_of in self._code_of.items()
        }
        self.database.save(self._journal, new)
        self._n_saved = {field: len(code_of) for field, code_of in self._code_of.items()}

    def ranking(self) -> Ranking:
        """Rank the rows in memory, which are here no longer."""
        held, self._held = self._held, []
        columns = {
            field: Column(np.concatenate([codes[field] for codes, _ in held]), list(code_of))
            for field, code_of in self._code_of.items()
        }
        confidence = np.concatenate([confidence for _, confidence in held])
        del held
        source = Source(self._files[0].name)
        return Ranking(Table(HYPOTHESIS, columns, confidence, source))

    def write(self, folder: str, inputs: Sequence[Input]) -> None:
        """Write all rows of the file as the files of a store, to an empty folder."""
        texts = {field: list(code_of) for field, code_of in self._code_of.items()}
        assert self.database is not None
        write_large(self.database, texts, self._n_rows, folder, subset=self._subset, inputs=inputs)


@dataclass(frozen=True)
class RunFile:
    """A file of a run: its name, and when it was last changed, where that is known.

    `open` opens what is copied before it is read: a remote file, a pipe, standard input. None for a
    file that is read where it is.
    """

    name: str
    path: str
    version: tuple[int, int] | None
    open: Callable[[], Any] | None = None

    @contextmanager
    def source(self, work: Path, max_bytes: int) -> Iterator[ByteSource]:
        """Yield what its bytes are read from; a copy is in a folder meanwhile."""
        if self.open is None:
            yield ByteSource(self.path, max_bytes)
            return
        copy = work / COPY
        with named(str(copy)), copy.open('wb') as file:
            for chunk in self._chunks(self.open, max_bytes):
                file.write(chunk)
        source = ByteSource(str(copy), max_bytes)
        source.name = self.name
        yield source
        copy.unlink()

    def _chunks(self, open_stream: Callable[[], Any], max_bytes: int) -> Iterator[bytes]:
        # A generator, so that errors of the file that they are written to are none of this one.
        limit = Limit(self.name, max_bytes, 'holds')
        size = None if self.version is None else self.version[0]
        bar = Bar(f'copying {printable(self.name)}', size, 'B')
        with opening(self.name), open_stream() as stream, bar:
            while chunk := stream.read(BUFFER_BYTES):
                limit.count(chunk)
                yield chunk
                bar.add(len(chunk))


def files_of(run: str | os.PathLike[str]) -> list[RunFile]:
    """Return the files of a path: of a folder, all in it in the order of their paths."""
    if is_uri(run):
        return _of_uri(str(run))
    if plain_text(run) == STANDARD_INPUT:
        return [RunFile('<stdin>', '', None, lambda: nullcontext(standard_input()))]
    name = ByteSource(run).name  # refuses what is no path
    path = os.fsdecode(run)
    with opening(name):
        status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        with opening(name):
            walked = os.walk(path, onerror=_raise)
            found = [os.path.join(folder, each) for folder, _, names in walked for each in names]
        return [_local(each) for each in _data_files(found, path, name)]
    if stat.S_ISREG(status.st_mode):
        return [_local(path)]
    return [RunFile(name, path, None, lambda: open(path, 'rb', buffering=0))]


def _local(path: str) -> RunFile:
    name = ByteSource(path).name
    with opening(name):
        status = os.stat(path)
    return RunFile(name, path, (status.st_size, status.st_mtime_ns))


def _data_files(found: list[str], folder: str, name: str) -> list[str]:
    """Return files without those that tools write beside data, as ``_SUCCESS`` and ``.crc``."""
    begin = len(folder)
    files = sorted(
        path
        for path in found
        if not any(part.startswith(('.', '_')) for part in path[begin:].split('/'))
    )
    if not files:
        raise ReadError(name, 'is a folder without files of a run')
    return files


def _raise(error: OSError) -> None:
    raise error


def _of_uri(uri: str) -> list[RunFile]:
    """Return the files at an address that `pyarrow.fs` knows."""
    import pyarrow
    from pyarrow import fs

    scheme = uri.partition('://')[0]
    shown = uri.partition('?')[0]
    if '@' in shown:  # a key may stand before it
        shown = f'{scheme}://{shown.rpartition("@")[2]}'
    try:
        system, path = fs.FileSystem.from_uri(uri)
        if isinstance(system, fs.LocalFileSystem):
            return files_of(path)
        found = system.get_file_info(path)
        if found.type == fs.FileType.Directory:
            inside = system.get_file_info(fs.FileSelector(path, recursive=True))
            of_path = {each.path: each for each in inside if each.is_file}
            infos = [of_path[each] for each in _data_files(list(of_path), path, shown)]
        else:
            infos = [found]
    except ReadError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise ReadError(shown, (str(error).splitlines() or ['not readable'])[0]) from error
    if infos[0].type == fs.FileType.NotFound:
        raise ReadError(shown, os.strerror(2))
    return [
        RunFile(
            f'{scheme}://{info.path}',
            '',
            (info.size, info.mtime_ns or 0),
            partial(system.open_input_stream, info.path),
        )
        for info in infos
    ]
