"""`Store`: a run on disk, ranked once, that is opened rather than read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.choices import plain_text
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, counted, shown
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import WIDTHS, NamesByLength
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots, shot_order
from mediaeval_ap.ranking.tie_breaking import Places
from mediaeval_ap.store.manifest import (
    SUFFIX,
    Manifest,
    check_column,
    map_column,
    read_manifest,
    wrong,
)
from mediaeval_ap.tables import HYPOTHESIS, STANDARD_INPUT, Column, Provenance, Table
from mediaeval_ap.tables.table import StoredTexts

if TYPE_CHECKING:
    import pyarrow

__all__ = ['Store', 'open_store']

TEXTS = ('name', 'corpus_id', 'video_id', 'shot_id')  # each in two columns, `_bytes` and `_ends`
LETTERS = 'name_letters_'  # begins the name of a column that ends in the width of its integers
ROWS_OF_GROUP = 1 << 17  # of an exported file: some megabytes at a time


class StoredRanking(Ranking):
    """The ranking of a store, whose columns stay on disk until they are looked at."""

    def __init__(
        self, source: Provenance, manifest: Manifest, columns: Mapping[str, NDArray[Any]]
    ) -> None:
        counts = manifest.counts
        held = columns['held']
        if (held < 0).any() or held.sum() != counts.hypotheses:
            # The search for the nearest names would not end.
            file = f'{source.name}/held{SUFFIX}'
            raise wrong(file, '', f'a sum of {held.sum()}', str(counts.hypotheses))
        orders: list[Callable[[str], Any]] = [_length_first, str, str, shot_order]
        name, corpus, video, shot = (
            StoredTexts(columns[f'{text}_bytes'], columns[f'{text}_ends'], order)
            for text, order in zip(TEXTS, orders, strict=True)
        )
        keys = columns['video_keys'], columns['shot_keys']
        letters = tuple(
            columns[f'{LETTERS}{bits}'] for bits in WIDTHS if f'{LETTERS}{bits}' in columns
        )
        shot_at = columns['shot_at']
        at = Places(columns['temporal_rank'], shot_at, columns['name_at'], counts.repeated)
        self._set(
            source,
            Shots(corpus, video, shot, *keys, shot_at),
            NamesByLength(name, columns['name_lengths'], letters),
            at,
            columns['places'],
            held,
        )
        self.confidence_at = columns['confidence']

    def codes(self, places: slice) -> dict[str, NDArray[Any]]:
        """Return for each text field the positions of the texts at some places."""
        return {
            **self.shots.codes_of(self.shot_at[places]),
            'person_name': self.name_at[places],
        }

    @property
    def table(self) -> Table:
        columns = {
            field: Column(codes.astype(np.int32), list(self.texts[field]))
            for field, codes in self.codes(slice(None)).items()
        }
        return Table(HYPOTHESIS, columns, self.confidence_at, self.source)


class Store:
    """A run on disk, ranked once, of which only what is looked at comes into memory.

    `open_store` opens one, and `index` makes one. Everything that takes a run takes a store, or its
    path, and gives the same values, bit for bit, as for the run that it was made of. `path` is as
    it was given, in text that can be printed; `folder` opens it in any working directory.

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
        self.path = path
        self.folder = folder
        self.manifest = manifest
        self.ranking = ranking

    def __repr__(self) -> str:
        n_hypotheses = counted(self.n_hypotheses, 'hypothesis', 'hypotheses')
        return f'Store({shown(self.path)}, {n_hypotheses})'

    def __len__(self) -> int:
        return len(self.ranking)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.folder, self.path, self.sha256)

    @property
    def sources(self) -> list[Provenance]:
        """The files that it was made of, or what stands for them."""
        return [Provenance(source.name, source.sha256) for source in self.manifest.inputs]

    @property
    def sha256(self) -> str:
        """SHA-256 of its content: equal for stores of the same inputs, wherever they are."""
        return self.manifest.sha256

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses in the subset."""
        return len(self)

    def check(self) -> None:
        """Read all of it, and raise ReadError or FormatError unless it is as it was written.

        Opening reads only the columns whose time of change differs from the manifest.
        """
        if read_manifest(self.folder, self.path).sha256 != self.sha256:
            raise ReadError(self.path, 'was replaced since it was opened: open it again')
        for name, column in self.manifest.columns.items():
            check_column(self.folder, self.path, name, column)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the hypotheses, best first, as a Parquet file: a run like any other.

        Parameters
        ----------
        path : str or path-like
            The file, which appears whole or not at all. Its columns are ``corpus_id``,
            ``video_id``, ``shot_id``, ``person_name`` and ``confidence``.

        Raises
        ------
        FormatError, WriteError
            When the store has no hypothesis, as a file without rows is not a run; when the file
            cannot be written: an older one is still there.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mediaeval_ap import index
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> index('samples/hypothesis.txt', folder / 'run.store').to_parquet(folder / 'run.parquet')
        >>> len(index(folder / 'run.parquet', folder / 'again.store'))
        12000
        """
        if not len(self):
            expected = 'at least one, as every file of a run has; score the store itself'
            raise FormatError(self.path, '', '', 'no hypothesis in its subset', expected)
        write_whole(path, partial(_write_parquet, self.ranking))


def _write_parquet(ranking: StoredRanking, file: BinaryIO) -> None:
    """Write the hypotheses of a stored ranking to a file, in the order of places."""
    import pyarrow
    from pyarrow import parquet

    def as_arrow(texts: Any) -> pyarrow.Array:  # without a copy of their bytes
        buffers = [None, *map(pyarrow.py_buffer, (np.append(0, texts.ends), texts.content))]
        return pyarrow.Array.from_buffers(pyarrow.large_string(), len(texts), buffers)

    texts = {field: as_arrow(values) for field, values in ranking.texts.items()}
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
        When the folder is not a store, a file of it is missing or was changed, or another version
        of the format wrote it.

    Notes
    -----
    Takes the same time for any number of hypotheses. After a copy that gave the files another time
    of change, each opening reads all of them, and compares them with what was written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import index
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path)
    >>> open_store(path).sha256 == store.sha256
    True
    """
    path = plain_text(path) or path
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'store: found {shown(path)}, expected a path')
    name = os.fsencode(path).decode(errors='backslashreplace')
    if '\0' in name:
        raise ReadError(name, 'no path holds a NUL')
    return _open(os.path.realpath(os.fsdecode(path)), name)


def _open(folder: str, name: str) -> Store:
    """Open the store of a folder; `name` is its name for messages."""
    if not os.path.isdir(folder):
        is_there = os.path.lexists(folder)
        raise ReadError(name, 'is not a store' if is_there else os.strerror(errno.ENOENT))
    manifest = read_manifest(folder, name)
    columns = {
        column: map_column(folder, name, column, file) for column, file in manifest.columns.items()
    }
    return Store(name, folder, manifest, StoredRanking(manifest.source(name), manifest, columns))


def as_store(run: Any) -> Store | None:
    """Return a run that is a store, or the path of a folder, as a store; else None."""
    if isinstance(run, Store):
        return run
    path = plain_text(run) or run
    if not isinstance(path, str | os.PathLike) or path == STANDARD_INPUT:
        return None
    return open_store(path) if os.path.isdir(path) else None


def _reopened(folder: str, name: str, sha256: str) -> Store:
    store = _open(folder, name)
    if store.sha256 != sha256:
        raise ReadError(name, 'is another store than the one that was copied or pickled')
    return store


def _length_first(name: str) -> tuple[int, str]:  # can be pickled with a session
    return len(name), name
