"""Writing of a ranking in memory as a store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.ranking.edit_distances import NameColumns
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.places import by_name
from mediaeval_ap.ranking.shots import ShotColumns
from mediaeval_ap.store.columns import TEXTS, ColumnFile, write_column
from mediaeval_ap.store.folders import new_folder
from mediaeval_ap.store.manifest import Counts, Input, Manifest, Subset
from mediaeval_ap.store.pruning import kept
from mediaeval_ap.store.store import Store, open_store
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.stored_texts import encoded


class _AtPlaces(NamedTuple):
    """The columns by place, and the places of each name."""

    shot_at: NDArray[np.int32]
    name_at: NDArray[np.int32]
    confidence: NDArray[np.float64]
    temporal_rank: NDArray[np.int32]
    places: NDArray[np.int32]
    held: NDArray[np.int64]


def write_store(
    ranking: Ranking,
    path: str | os.PathLike[str],
    *,
    keep: int | None = None,
    subset: Table | None = None,
    inputs: Sequence[Input] | None = None,
    n_read: int | None = None,
) -> Store:
    """Write a ranking of the hypotheses in a subset, in the place of an older store if any.

    `inputs` are the files that they are from, by default the source of the ranking; `n_read` is the
    number of hypotheses of these, by default of the ranking.
    """
    with new_folder(path) as folder:
        write_files(ranking, folder, keep=keep, subset=subset, inputs=inputs, n_read=n_read)
    return open_store(path)


def write_files(
    ranking: Ranking,
    folder: str,
    *,
    keep: int | None = None,
    subset: Table | None = None,
    inputs: Sequence[Input] | None = None,
    n_read: int | None = None,
) -> None:
    """Write the files of a store to an empty folder."""
    at_places = _at_places(ranking, keep)
    n_read = len(ranking) if n_read is None else n_read
    if inputs is None:
        inputs = [Input(ranking.source.name, ranking.source.sha256, n_read)]
    shots = ranking.shots.columns
    columns = dict(
        [
            *(
                (name, write_column(folder, name, each))
                for name, each in at_places._asdict().items()
            ),
            *name_files(folder, ranking.names.values, ranking.names.columns),
            *shot_files(folder, shots),
        ]
    )
    counts = Counts(
        read=n_read,
        hypotheses=len(ranking),
        repeated=ranking.n_repeated,
        names=len(ranking.names),
        videos=len(shots.video_keys),
        shots=len(shots.shot_keys),
        held=len(at_places.shot_at),
    )
    Manifest(inputs, Subset.of(subset), keep, counts, columns).write(folder)


def name_files(
    folder: str, names: Sequence[str], columns: NameColumns
) -> Iterator[tuple[str, ColumnFile]]:
    """Write the columns of names in order of their length; yield them by name."""
    yield from _text_files(folder, 'name', names)
    yield 'name_lengths', write_column(folder, 'name_lengths', columns.lengths)
    for letters in columns.letters:
        name = f'name_letters_{letters.shape[1]}'
        yield name, write_column(folder, name, letters, letters.dtype.str)


def shot_files(folder: str, columns: ShotColumns) -> Iterator[tuple[str, ColumnFile]]:
    """Write the columns of distinct shots; yield them by name."""
    for name, ids in zip(TEXTS[1:], columns[:3], strict=True):
        yield from _text_files(folder, name, ids)
    for name in ('video_keys', 'shot_keys'):
        keys = getattr(columns, name)
        yield name, write_column(folder, name, keys, keys.dtype.str)


def _text_files(folder: str, name: str, texts: Sequence[str]) -> Iterator[tuple[str, ColumnFile]]:
    content, ends = encoded(texts)
    yield f'{name}_bytes', write_column(folder, f'{name}_bytes', content)
    yield f'{name}_ends', write_column(folder, f'{name}_ends', ends)


def _at_places(ranking: Ranking, keep: int | None) -> _AtPlaces:
    columns: dict[str, Any] = {
        'shot_at': ranking.shot_at,
        'name_at': ranking.name_at,
        'confidence': ranking.confidence_at,
        'temporal_rank': ranking.temporal_rank_at,
    }
    places, held = ranking.places, ranking.columns.held
    if keep is not None:
        is_kept = np.zeros(len(ranking), dtype=np.bool_)
        is_kept[places] = kept(ranking.name_at[places], ranking.shot_at[places], keep)
        columns = {name: each[is_kept] for name, each in columns.items()}
        places = by_name(columns['name_at'])
        held = np.bincount(columns['name_at'], minlength=len(ranking.names))
    return _AtPlaces(**columns, places=places, held=held)
