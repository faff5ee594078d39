"""`Store`: a run on disk, ranked once, that is opened rather than read."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.choices import plain_text
from mediaeval_ap.errors import (
    Error,
    FormatError,
    ParameterError,
    ReadError,
    checks_of_stores,
    counted,
    shown,
)
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import NameColumns, NamesByLength
from mediaeval_ap.ranking.frozen_ranking import Ranking, RankingColumns
from mediaeval_ap.ranking.shots import ShotColumns, Shots, shot_order
from mediaeval_ap.store.manifest import Manifest, read_manifest
from mediaeval_ap.store.mapped_columns import (
    LETTERS,
    SUFFIX,
    CheckedNumbers,
    check_content,
    damaged,
    map_column,
    opened_file,
)
from mediaeval_ap.tables import HYPOTHESIS, STANDARD_INPUT, Column, Source, Table
from mediaeval_ap.tables.reading import is_being_replaced, may_be_store
from mediaeval_ap.tables.table import StoredTexts

if TYPE_CHECKING:
    import pyarrow

__all__ = ['Store', 'open_store']

ATTEMPTS = 10  # to open a store that others replace meanwhile
ROWS_OF_GROUP = 1 << 17  # of an exported file: some megabytes at a time
LONGEST_RENAMING = 1.0  # seconds between two renames


class StoredRanking(Ranking):
    """The ranking of a store, whose columns stay on disk until they are looked at."""

    def __init__(
        self, source: Source, manifest: Manifest, columns: Mapping[str, NDArray[Any]]
    ) -> None:
        counts, held, lengths = manifest.counts, columns['held'], columns['name_lengths']

        def numbers(name: str, limit: int) -> CheckedNumbers:
            return CheckedNumbers.of(columns[name], limit, f'{source.name}/{name}{SUFFIX}')

        def texts(name: str, key: Callable[[str], Any] = str) -> StoredTexts:
            content = columns[f'{name}_bytes']
            return _CheckedTexts(content, numbers(f'{name}_ends', len(content) + 1), key)

        corpora, videos, shots = texts('corpus_id'), texts('video_id'), texts('shot_id', shot_order)
        names = texts('name', _length_first)
        # With other numbers by name, the search for the nearest names would not end.
        if (held < 0).any() or held.sum() != counts.held:
            file = f'{source.name}/held{SUFFIX}'
            raise damaged(file, f'a sum of {held.sum()}', f'{counts.held}')
        descend = np.diff(lengths, prepend=0) < 0
        if descend.any() or (len(names) and lengths[-1] != len(names[-1])):
            file = f'{source.name}/name_lengths{SUFFIX}'
            raise damaged(file, f'up to {lengths.max()}', 'ascending ones up to the last name')
        shot_at = numbers('shot_at', counts.shots)
        video_keys = numbers('video_keys', len(videos) * len(corpora))
        shot_keys = numbers('shot_keys', counts.videos * len(shots))
        letters = tuple(columns[name] for name in LETTERS if name in columns)
        name_at, places = numbers('name_at', counts.names), numbers('places', counts.held)
        self._set(
            source,
            Shots.from_columns(ShotColumns(corpora, videos, shots, video_keys, shot_keys, shot_at)),
            NamesByLength.from_columns(names, NameColumns(lengths, letters)),
            RankingColumns(shot_at, name_at, places, held, counts.repeated),
        )
        self.kept = manifest.keep
        self._n_hypotheses = counts.hypotheses
        self.confidence_at = columns['confidence']
        self.temporal_rank_at = columns['temporal_rank']

    @property
    def n_hypotheses(self) -> int:
        return self._n_hypotheses

    def codes(self, places: slice) -> dict[str, NDArray[Any]]:
        """Return for each text field the positions of the texts at some places."""
        return {
            **self.shots.codes_of(self.shot_at[places]),
            'person_name': self.name_at[places],
        }

    @property
    def table(self) -> Table:
        self.check_whole()
        columns = {
            field: Column(codes.astype(np.int32), list(self.texts[field]))
            for field, codes in self.codes(slice(None)).items()
        }
        return Table(HYPOTHESIS, columns, self.confidence_at, self.source)


class _CheckedTexts(StoredTexts):
    """Texts of a store, where bytes that no text has are an error of the store."""

    ends: CheckedNumbers

    def __getitem__(self, at: Any) -> Any:
        try:
            return super().__getitem__(at)
        except UnicodeDecodeError as error:
            raise self._damage() from error

    def together(self, at: NDArray[np.integer]) -> list[str]:
        try:
            return super().together(at)
        except Error:
            raise
        except ValueError as error:  # of the codec, or of a text that ends before it begins
            raise self._damage() from error

    def _damage(self) -> FormatError:
        return damaged(self.ends.shown, 'what are no texts', 'those of a store')


class Store:
    """A run on disk, ranked once, of which only what is looked at comes into memory.

    `open_store` opens one, and `index` makes one. Everything that takes a run takes a store, or its
    path, and gives the same values, bit for bit, as for the run that it was made of.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import AveragePrecision, index
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path)
    >>> len(store)
    12000
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> average_precision.evaluate(store, ['nicolas_sarkozy']).map.round(3).tolist()
    [0.299]
    """

    def __init__(self, path: str, folder: str, manifest: Manifest, ranking: StoredRanking) -> None:
        self._path = path
        self._folder = folder
        self.manifest = manifest
        self.ranking = ranking

    def __repr__(self) -> str:
        keep = '' if self.keep is None else f', keep={self.keep}'
        n_hypotheses = counted(self.n_hypotheses, 'hypothesis', 'hypotheses')
        return f'Store({shown(self._path)}, {n_hypotheses}{keep})'

    def __len__(self) -> int:
        return len(self.ranking)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._folder, self._path, self.sha256)

    @property
    def path(self) -> str:
        """The path as it was given, in text that can be printed."""
        return self._path

    @property
    def folder(self) -> str:
        """The path that opens it in any working directory, without links."""
        return self._folder

    @property
    def keep(self) -> int | None:
        """The largest cutoff that it can score; None where all hypotheses are there."""
        return self.manifest.keep

    @property
    def sources(self) -> list[Source]:
        """The files that it was made of, or what stands for them."""
        return [Source(each.name, each.sha256) for each in self.manifest.inputs]

    @property
    def sha256(self) -> str:
        """SHA-256 of its content: equal for stores of the same inputs, wherever they are."""
        return self.manifest.sha256

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses in the subset, before any was dropped by `keep`."""
        return self.manifest.counts.hypotheses

    def check(self) -> None:
        """Read all of it, and compare it with what was written.

        Opening looks only at columns whose size or time of change is another one.

        Raises
        ------
        ReadError, FormatError
            When a file is missing, or was changed.
        """
        _check(self._folder, self._path, self.manifest)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the hypotheses, best first, as a Parquet file: a run like any other.

        Parameters
        ----------
        path : str or path-like
            The file, which appears whole or not at all. Its columns are ``corpus_id``,
            ``video_id``, ``shot_id``, ``person_name`` and ``confidence``.

        Raises
        ------
        FormatError
            When the store keeps some of the hypotheses: as a run of their own, they would have
            other scores. When it has none, as of a subset without any: no file without rows is a
            run.
        WriteError
            When the file cannot be written; an older file is still there.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mediaeval_ap import index
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> index('samples/hypothesis.txt', folder / 'run.store').to_parquet(folder / 'run.parquet')
        >>> len(index(folder / 'run.parquet', folder / 'again.store'))
        12000
        """
        self.ranking.check_whole()
        if not len(self):
            expected = 'at least one, as of every run that is a file; score the store itself'
            raise FormatError(self._path, '', '', 'no hypothesis in its subset', expected)
        write_whole(path, partial(_write_parquet, self.ranking))


def _write_parquet(ranking: StoredRanking, file: BinaryIO) -> None:
    """Write the hypotheses of a stored ranking to a file, in the order of places."""
    import pyarrow
    from pyarrow import parquet

    def as_arrow(texts: Any) -> pyarrow.Array:  # without a copy of their bytes
        buffers = [None, *map(pyarrow.py_buffer, (np.append(0, texts.ends), texts.content))]
        return pyarrow.Array.from_buffers(pyarrow.large_string(), len(texts), buffers)

    try:
        texts = {field: as_arrow(values) for field, values in ranking.texts.items()}
        for array in texts.values():
            array.validate(full=True)  # else a damaged store could end the process
    except pyarrow.ArrowInvalid as error:
        raise damaged(ranking.source.name, 'what are no texts', 'those of a store') from error
    types = [pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())] * 4
    schema = pyarrow.schema(zip(HYPOTHESIS.fields, [*types, pyarrow.float64()], strict=True))
    with parquet.ParquetWriter(file, schema, store_schema=False) as writer:
        for begin in tracked(range(0, len(ranking), ROWS_OF_GROUP), 'writing', ' row groups'):
            part = slice(begin, begin + ROWS_OF_GROUP)
            columns = {'confidence': pyarrow.array(ranking.confidence_at[part])}
            for field, codes in ranking.codes(part).items():
                used, numbers = np.unique(codes, return_inverse=True)
                columns[field] = pyarrow.DictionaryArray.from_arrays(
                    pyarrow.array(numbers, pyarrow.int32()), texts[field].take(pyarrow.array(used))
                )
            writer.write_table(pyarrow.table(columns, schema))


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open a store, without reading it.

    Parameters
    ----------
    path : str or path-like
        The folder that `index` wrote.

    Returns
    -------
    Store
        The store.

    Raises
    ------
    ReadError, FormatError
        When the folder is no store, a file of it is missing or was changed, or another version of
        the format wrote it.

    Notes
    -----
    Takes time in proportion to the number of columns, not of hypotheses. After a copy that gave the
    files another time of change, all of them are read once each time, and compared with what was
    written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import index
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path)
    >>> open_store(path).sha256 == store.sha256
    True
    """
    given = plain_text(path) or path
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(f'store: found {shown(given)}, expected a path')
    name = os.fsencode(given).decode(errors='backslashreplace')
    if '\0' in name:
        raise ReadError(name, 'no path holds a NUL')
    return _open(os.path.realpath(os.fsdecode(given)), name)


def _open(folder: str, name: str) -> Store:
    """Open the store of a folder; `name` is its name for messages."""
    for _ in range(ATTEMPTS):
        before = _identity(folder)
        if before is None:
            _wait_for(folder, name)
            continue
        try:
            manifest = read_manifest(folder, name)
            columns = {
                column: map_column(folder, name, column, each)
                for column, each in manifest.columns.items()
            }
            check = partial(_check, folder, name, manifest)
            try:
                ranking = StoredRanking(manifest.source(name), manifest, columns)
            except FormatError:
                check()  # which names the file that was damaged
                raise
            checks_of_stores[ranking] = check
            return Store(name, folder, manifest, ranking)
        except Error:  # as of one half of the old store and one of the new
            if _identity(folder) == before:
                raise
    raise ReadError(name, 'is replaced again and again: open it once nobody writes it')


def _check(folder: str, name: str, manifest: Manifest) -> None:
    if read_manifest(folder, name).sha256 != manifest.sha256:
        raise ReadError(name, 'was replaced since it was opened: open it again')
    for column, each in manifest.columns.items():
        with opened_file(folder, name, column + SUFFIX) as file:
            check_content(file, f'{name}/{column}{SUFFIX}', each)


def _wait_for(folder: str, name: str) -> None:
    """Wait for a folder that another process is about to rename to its place."""
    end = time.monotonic() + LONGEST_RENAMING
    while is_being_replaced(folder):
        if time.monotonic() > end:
            remedy = 'the call that replaced it was interrupted: index the run again'
            raise ReadError(name, f'{os.strerror(errno.ENOENT)}; {remedy}')
        time.sleep(0.001)
    if not os.path.isdir(folder):
        is_there = os.path.lexists(folder)
        raise ReadError(name, 'is no store' if is_there else os.strerror(errno.ENOENT))


def _identity(folder: str) -> tuple[int, int] | None:
    """Return what tells a folder from one that takes its place; None where there is no folder."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def as_store(run: Any) -> Store | None:
    """Return a run that is a store, or the path of a folder, as a store; else None."""
    if isinstance(run, Store):
        return run
    path = plain_text(run) or run
    if not isinstance(path, str | os.PathLike) or path == STANDARD_INPUT:
        return None
    return open_store(path) if may_be_store(path) else None


def _reopened(folder: str, name: str, sha256: str) -> Store:
    store = _open(folder, name)
    if store.sha256 != sha256:
        raise ReadError(name, 'is another store than the one that was copied or pickled')
    return store


def _length_first(name: str) -> tuple[int, str]:  # can be pickled with a session
    return len(name), name
