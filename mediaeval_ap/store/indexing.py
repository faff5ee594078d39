"""`index`: make a store of a run, or of the files that are its parts."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import as_write_errors, cleanup
from mediaeval_ap.choices import is_uri, plain_text
from mediaeval_ap.errors import ParameterError, ReadError, WriteError, printable, shown
from mediaeval_ap.progress import Bar, shows_progress
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.manifest import (
    Input,
    Manifest,
    RunCounts,
    Subset,
    why_not_replaced,
    write_column,
)
from mediaeval_ap.store.store import LETTERS_PREFIX, STORED_TEXTS, Store, as_store, open_store
from mediaeval_ap.tables import HYPOTHESIS, STANDARD_INPUT, SUBSET, Provenance, Table, read
from mediaeval_ap.tables.reading import TableInput, is_store
from mediaeval_ap.tables.sources import ByteSource, opening
from mediaeval_ap.tables.table import Argument, Rows, column_of, encoded
from mediaeval_ap.tables.values import AS_TEXT

__all__ = ['index']


@shows_progress
def index(
    run: Rows | Store | Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    subset: Rows | None = None,
    progress: bool = False,
) -> Store:
    """Rank a run once, and write it as a store, which can be scored at any cutoff for any names.

    Parameters
    ----------
    run : str, path-like, list of these, or anything that is a run
        A file of text or Parquet, ``-``, a folder of files, an address that `pyarrow.fs` opens, or
        a list of these, which are parts of one run. Also a table or rows in memory; or a store, to
        keep a subset of it.
    path : str or path-like
        The folder to write. An older store there is replaced as a whole, at the end.
    subset : str, path-like, table or rows, optional
        The videos to keep, ``corpus_id video_id``; hypotheses about others are left out.
    progress : bool
        If True, show progress on standard error.

    Returns
    -------
    Store

    Raises
    ------
    ReadError, FormatError, WriteError, ParameterError
        When a part cannot be read or has a wrong row; when the store cannot be written.

    Notes
    -----
    The run is ranked in memory: about 70 bytes for each hypothesis from text, 175 from Parquet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> index('samples/hypothesis.txt', path).n_hypotheses
    12000
    """
    if is_uri(path):
        raise ParameterError(
            'store: found an address, expected a path of this machine, which can be mapped to '
            f'memory: {printable(str(path))}'
        )
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'store: found {shown(path)}, expected a path')
    target = check_target(os.fsdecode(path))
    videos = None if subset is None else read(subset, SUBSET)
    parts: Sequence[Argument] = run if isinstance(run, list | tuple) else [run]
    if len(parts) == 1 and (isinstance(parts[0], Store) or _is_path(parts[0])):
        run = parts[0]
    if isinstance(run, Store) or (_is_path(run) and is_store(run)):
        store = as_store(run)
        assert store is not None
        if (stored_subset := store.manifest.subset) is not None:
            raise ParameterError(
                f'{printable(store.path)}: found a store of the subset '
                f'{shown(stored_subset.name)}, expected one without a subset; index the run itself'
            )
        table, inputs = _join_tables([store.ranking.table], videos)
        inputs = list(store.manifest.inputs)
    elif parts and all(map(_is_path, parts)):
        _refuse_parts(parts, target)
        table, inputs = _join_tables((table for part in parts for table in _tables(part)), videos)
    else:
        table, inputs = _join_tables([read(cast('Rows', run), HYPOTHESIS)], videos)
    return write_store(Ranking(table), path, subset=videos, inputs=inputs)


def _is_path(run: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(run, str | os.PathLike)


def _refuse_parts(parts: Iterable[str | os.PathLike[str]], target: str) -> None:
    """Raise if a part of a run is a store, or the target is inside a part."""
    for part in parts:
        if is_store(part):
            raise ParameterError(f'run: found the store {shown(part)} among parts, expected files')
        if Path(target).is_relative_to(os.path.realpath(os.fsdecode(part))):
            raise ParameterError(
                f'store: found a path in {printable(os.fsdecode(part))}, which is a part of the '
                'run, expected one outside it'
            )


def _join_tables(tables: Iterable[Table], subset: Table | None) -> tuple[Table, list[Input]]:
    """Join the rows of all tables that are in the subset; return the table and its inputs."""
    inputs: list[Input] = []
    values: dict[str, list[str]] = {field: [] for field in HYPOTHESIS.texts}
    codes: dict[str, list[NDArray[np.int32]]] = {field: [] for field in values}
    confidences = []
    for table in tables:
        inputs.append(Input(table.source.name, table.source.sha256, len(table)))
        if table.integers:  # a store cannot distinguish them from text
            expected = f'text in a run to index{AS_TEXT}'
            raise table.source.error('integers', expected, field=min(table.integers))
        if subset is not None:
            table = table.select(table.within(subset))
        for field, column in table.columns.items():
            codes[field].append(column.codes + np.int32(len(values[field])))
            values[field] += column.values
        confidences.append(table.confidence)
    columns = {name: column_of(values[name], np.concatenate(codes.pop(name))) for name in values}
    source = Provenance(inputs[0].name)
    if len(inputs) == 1:
        source = replace(source, sha256=inputs[0].sha256)
    return Table(HYPOTHESIS, columns, np.concatenate(confidences), source), inputs


def _tables(run: str | os.PathLike[str]) -> Iterator[Table]:
    """Read the file at a path or address, or all files in a folder, in the order of paths."""
    if is_uri(run):
        yield from _remote_tables(str(run))
    elif plain_text(run) == STANDARD_INPUT or not os.path.isdir(run):
        yield read(run, HYPOTHESIS)
    else:
        name = ByteSource(run).name
        path = os.fsdecode(run)
        with opening(name):
            folders = os.walk(path, onerror=_raise)
            paths = [os.path.join(folder, file) for folder, _, files in folders for file in files]
        for file in _data_files(paths, path, name):
            yield read(file, HYPOTHESIS)


def _data_files(paths: list[str], folder: str, name: str) -> list[str]:
    """Sort files; leave out files of tools, such as ``_SUCCESS`` and ``.crc``."""
    begin = len(folder)
    files = sorted(path for path in paths if not re.search('/[._]', f'/{path[begin:]}'))
    if not files:
        raise ReadError(name, 'is a folder without files of a run')
    return files


def _raise(error: OSError) -> None:
    raise error


def _remote_tables(uri: str) -> Iterator[Table]:
    """Read the files at an address that `pyarrow.fs` can open."""
    import pyarrow
    from pyarrow import fs

    scheme = uri.partition('://')[0]
    printed_uri = uri.partition('?')[0]
    if '@' in printed_uri:  # a key or password may stand before it
        printed_uri = f'{scheme}://{printed_uri.rpartition("@")[2]}'
    try:
        system, path = fs.FileSystem.from_uri(uri)
        paths = [path]
        if not isinstance(system, fs.LocalFileSystem):
            kind = system.get_file_info(path).type
            if kind == fs.FileType.NotFound:
                raise ReadError(printed_uri, os.strerror(2))
            if kind == fs.FileType.Directory:
                inside = system.get_file_info(fs.FileSelector(path, recursive=True))
                files = [info.path for info in inside if info.is_file]
                paths = _data_files(files, path, printed_uri)
    except ReadError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise ReadError(printed_uri, (str(error).splitlines() or ['not readable'])[0]) from error
    if isinstance(system, fs.LocalFileSystem):
        yield from _tables(path)
        return
    for path in paths:
        name = f'{scheme}://{path}'
        with opening(name), system.open_input_file(path) as stream:
            table = read(TableInput.of(ByteSource(stream, name)), HYPOTHESIS)
        yield table


def write_store(
    ranking: Ranking, path: str | os.PathLike[str], *, subset: Table | None, inputs: Sequence[Input]
) -> Store:
    """Write a ranking as a store, over an older one; the manifest names `inputs` and `subset`."""
    counts = RunCounts(sum(source.n_rows for source in inputs), len(ranking), ranking.n_repeated)
    name = os.fsdecode(path)
    target = check_target(name)
    folder = f'{target}.{os.urandom(8).hex()}.tmp'
    with as_write_errors(name), cleanup(partial(shutil.rmtree, folder, ignore_errors=True)):
        os.mkdir(folder)
        columns = {}
        with Bar('writing', unit=' columns') as bar:
            for column, values in _stored_columns(ranking):
                columns[column] = write_column(folder, column, values)
                bar.add()
        Manifest(inputs, Subset.of(subset), counts, columns).write(folder)
        _replace_folder(folder, check_target(name))
    return open_store(path)


def _stored_columns(ranking: Ranking) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns of a store by name: first by place, then of names and distinct shots."""
    names = ranking.names
    shots = ranking.shots
    yield 'shot_at', ranking.shot_at
    yield 'name_at', ranking.name_at
    yield 'confidence', ranking.confidence_at
    yield 'temporal_rank', ranking.temporal_rank_at
    yield 'places', ranking.places
    yield 'held', ranking.name_counts
    for name, texts in zip(STORED_TEXTS, (names.values, *shots.ids.values()), strict=True):
        content, ends = encoded(texts)
        yield f'{name}_bytes', content
        yield f'{name}_ends', ends
    yield 'name_lengths', names.lengths
    for letters in names.letters:
        yield f'{LETTERS_PREFIX}{letters.shape[1]}', letters
    yield 'video_keys', shots.video_keys
    yield 'shot_keys', shots.shot_keys


def check_target(name: str) -> str:
    """Return the real path of a store to write; raise if something else is there."""
    with as_write_errors(name):
        target = os.path.realpath(name)
        if os.path.lexists(target) and (reason := why_not_replaced(target)) is not None:
            raise WriteError(name, reason)
        os.stat(os.path.dirname(target))
    return target


def _replace_folder(folder: str, target: str) -> None:
    """Move a complete folder to a path; remove the folder that was there."""
    older = f'{folder}.old'
    with suppress(FileNotFoundError):
        os.rename(target, older)
    try:
        os.rename(folder, target)
    except OSError:
        with suppress(OSError):  # unless another process has put its folder there
            os.rename(older, target)
        raise
    finally:
        shutil.rmtree(older, ignore_errors=True)  # processes that have it open keep its files
