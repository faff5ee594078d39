"""`Store`: a run on disk, ranked once, that is opened rather than read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.choices import plain_text
from mediaeval_ap.errors import ParameterError, ReadError, shown, with_noun
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.edit_distances import WIDTHS, NamesByLength
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots, shot_order
from mediaeval_ap.ranking.tie_breaking import KeysByPlace
from mediaeval_ap.store.manifest import (
    SUFFIX,
    Manifest,
    check_column,
    map_column,
    read_manifest,
    store_error,
)
from mediaeval_ap.tables import HYPOTHESIS, STANDARD_INPUT, Column, Provenance, Table
from mediaeval_ap.tables.table import Argument, StoredTexts

if TYPE_CHECKING:
    import pyarrow

__all__ = ['Store', 'open_store']

# Each of these is stored as two columns, `_bytes` and `_ends`.
STORED_TEXTS = ('name', 'corpus_id', 'video_id', 'shot_id')
LETTERS_PREFIX = 'name_letters_'  # of a column whose name ends in the number of letters
ROWS_IN_GROUP = 1 << 17  # of an exported file: some megabytes at a time


class _Positions(np.ndarray[Any, Any]):
    """A column of positions; as opening does not read it, those that are used are checked."""

    checked: tuple[int, str] | None = None  # the limit and the file, but not of views and copies

    def __getitem__(self, key: Any) -> Any:
        positions = super().__getitem__(key)
        if self.checked and positions.size:
            limit, file = self.checked
            # One step finds both: without a sign, negative numbers are the largest.
            unsigned = positions.view(f'u{positions.itemsize}')
            farthest = unsigned.max() if positions.ndim else unsigned
            if farthest >= limit:
                position = farthest.view(positions.dtype)
                raise store_error(file, '', f'position {position}', f'0 to {limit - 1}')
        return positions


class StoredRanking(Ranking):
    """The ranking of a store; its columns are mapped, so only pages that are used are read."""

    def __init__(
        self, source: Provenance, manifest: Manifest, columns: Mapping[str, NDArray[Any]]
    ) -> None:
        counts = manifest.counts
        name_counts = columns['held']
        if (name_counts < 0).any() or name_counts.sum() != counts.hypotheses:
            # The search for the nearest names would not end.
            file = f'{source.name}/held{SUFFIX}'
            raise store_error(file, '', f'a sum of {name_counts.sum()}', str(counts.hypotheses))
        n_texts = {text: len(columns[f'{text}_ends']) for text in STORED_TEXTS}
        limits = {
            'shot_at': len(columns['shot_keys']),
            'name_at': n_texts['name'],
            'places': counts.hypotheses,
            'name_lengths': len(columns['name_bytes']) + 1,
            'video_keys': n_texts['video_id'] * n_texts['corpus_id'],
            'shot_keys': len(columns['video_keys']) * n_texts['shot_id'],
            **{f'{text}_ends': len(columns[f'{text}_bytes']) + 1 for text in STORED_TEXTS},
        }
        columns = dict(columns)
        for column, limit in limits.items():
            columns[column] = positions = columns[column].view(_Positions)
            positions.checked = limit, f'{source.name}/{column}{SUFFIX}'
        orders: list[Callable[[str], Any]] = [_length_first, str, str, shot_order]
        texts = {
            text: StoredTexts(columns[f'{text}_bytes'], columns[f'{text}_ends'], order)
            for text, order in zip(STORED_TEXTS, orders, strict=True)
        }
        letter_columns = (f'{LETTERS_PREFIX}{bits}' for bits in WIDTHS)
        letters = tuple(columns[column] for column in letter_columns if column in columns)
        shot_at = columns['shot_at']
        keys = KeysByPlace(columns['temporal_rank'], shot_at, columns['name_at'], counts.repeated)
        names = NamesByLength(texts.pop('name'), columns['name_lengths'], letters)
        shot_keys = {key: columns[key] for key in ('video_keys', 'shot_keys')}
        shots = Shots(texts, codes=shot_at, **shot_keys)
        self._set_columns(source, shots, names, keys)
        self._set_places(len(shots), columns['places'], name_counts)
        self.confidence_at = columns['confidence']

    def codes(self, places: slice) -> dict[str, NDArray[Any]]:
        """Return, by field, the positions of the texts at some places among the distinct texts."""
        return {**self.shots.codes_of(self.shot_at[places]), 'person_name': self.name_at[places]}

    @property
    def table(self) -> Table:
        columns = {
            field: Column(codes.astype(np.int32), list(self.texts[field]))
            for field, codes in self.codes(slice(None)).items()
        }
        return Table(HYPOTHESIS, columns, self.confidence_at, self.source)


class Store:
    """A run on disk, ranked once; only the parts that are used are read into memory.

    `index` makes a store, and `open_store` opens one. Everything that takes a run takes a store, or
    its path. `path` is the path that was given, printable; `folder` is the absolute path.

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
        n_hypotheses = with_noun(self.n_hypotheses, 'hypothesis', 'hypotheses')
        return f'Store({shown(self.path)}, {n_hypotheses})'

    def __len__(self) -> int:
        return len(self.ranking)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.folder, self.path, self.sha256)

    @property
    def sources(self) -> list[Provenance]:
        """The inputs that the store was made from."""
        return [Provenance(source.name, source.sha256) for source in self.manifest.inputs]

    @property
    def sha256(self) -> str:
        """SHA-256 of its content: equal for stores of the same inputs, in any folder."""
        return self.manifest.sha256

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses in the subset."""
        return len(self)

    def check(self) -> None:
        """Read all files, and raise ReadError or FormatError if one has changed."""
        if read_manifest(self.folder, self.path).sha256 != self.sha256:
            raise ReadError(self.path, 'was replaced since it was opened: open it again')
        for name, column in self.manifest.columns.items():
            check_column(self.folder, self.path, name, column)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the hypotheses, best first, as a Parquet file, which is a run itself.

        Parameters
        ----------
        path : str or path-like
            The file. Its columns are those of a run.

        Raises
        ------
        FormatError, WriteError
            When the store has no hypothesis, as a file without rows is not a run; when the file
            cannot be written.

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
            raise Provenance(self.path).error(
                'no hypothesis in its subset',
                'at least one, as every file of a run has; score the store itself',
            )
        write_whole(path, partial(_write_parquet, self.ranking))


def _write_parquet(ranking: StoredRanking, file: BinaryIO) -> None:
    """Write the hypotheses of a stored ranking to a file, in the order of places."""
    import pyarrow
    from pyarrow import parquet

    def as_arrow(texts: Sequence[str]) -> pyarrow.Array:  # without a copy of their bytes
        assert isinstance(texts, StoredTexts)
        ends = np.maximum.accumulate(np.append(0, texts.ends[:]))  # even if they are damaged
        buffers = [None, *map(pyarrow.py_buffer, (ends, texts.content))]
        return pyarrow.Array.from_buffers(pyarrow.large_string(), len(texts), buffers)

    texts = {field: as_arrow(values) for field, values in ranking.texts.items()}
    types = [pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())] * 4
    schema = pyarrow.schema(zip(HYPOTHESIS.fields, [*types, pyarrow.float64()], strict=True))
    with parquet.ParquetWriter(file, schema, store_schema=False) as writer:
        for begin in tracked(range(0, len(ranking), ROWS_IN_GROUP), 'writing', ' row groups'):
            part = slice(begin, begin + ROWS_IN_GROUP)
            columns = {'confidence': pyarrow.array(ranking.confidence_at[part])}
            for field, codes in ranking.codes(part).items():
                used_codes, numbers = np.unique(codes, return_inverse=True)
                columns[field] = pyarrow.DictionaryArray.from_arrays(
                    pyarrow.array(numbers, pyarrow.int32()),
                    texts[field].take(pyarrow.array(used_codes)),
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

    Raises
    ------
    ReadError, FormatError
        When the folder is not a store, one of its files is missing or was changed, or its format
        has another version.

    Notes
    -----
    After a copy that gave the files another time of change, each opening reads all of them.

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
        raise ReadError(name, 'a path cannot contain NUL')
    return _open(os.path.realpath(os.fsdecode(path)), name)


def _open(folder: str, name: str) -> Store:
    """Open the store in a folder; `name` is its name for messages."""
    if not os.path.isdir(folder):
        if os.path.lexists(folder):
            raise ReadError(name, 'is not a store')
        raise ReadError(name, os.strerror(errno.ENOENT))
    manifest = read_manifest(folder, name)
    files = manifest.columns.items()
    columns = {column: map_column(folder, name, column, file) for column, file in files}
    return Store(name, folder, manifest, StoredRanking(manifest.source(name), manifest, columns))


def as_store(run: Argument) -> Store | None:
    """Return a run as a store if it is one, or the path of a folder; else None."""
    if isinstance(run, Store):
        return run
    path = plain_text(run) or run
    if not isinstance(path, str | os.PathLike) or path == STANDARD_INPUT:
        return None
    return open_store(path) if os.path.isdir(path) else None


def _reopen(folder: str, name: str, sha256: str) -> Store:
    store = _open(folder, name)
    if store.sha256 != sha256:
        raise ReadError(name, 'is not the store that was copied or pickled')
    return store


def _length_first(name: str) -> tuple[int, str]:  # a function, to be pickled with a session
    return len(name), name
