"""The files of a store from rows on disk, of which only blocks are in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.frozen_ranking import by_length
from mediaeval_ap.store.manifest import Input, Manifest, RunCounts, Subset
from mediaeval_ap.store.mapped_columns import DTYPES, ColumnFile, ColumnWriter
from mediaeval_ap.store.row_numbers import RowNumbers
from mediaeval_ap.store.sorted_places import (
    AtPlaces,
    PlacesOfNames,
    SortedPlaces,
    StoredPlaces,
    kept_places,
)
from mediaeval_ap.store.spool import Spool
from mediaeval_ap.store.store import Store
from mediaeval_ap.store.writing import name_files, shot_files
from mediaeval_ap.tables import Table

PASSES = 6  # over all rows, as progress counts them


def write_files_from(
    spool: Spool,
    work: Path,
    folder: Path,
    *,
    keep: int | None,
    subset: Table | None,
    inputs: Sequence[Input],
) -> None:
    """Write the files of a store to an empty folder, by way of files in another one."""
    n_rows = spool.n_rows
    with Bar('sorting', PASSES * n_rows, ' rows') as bar:
        rows = RowNumbers(spool, work, bar)
        names, numbers = by_length(rows.names)
        places = SortedPlaces(rows, n_rows, numbers, work, bar)
        is_kept = None
        if keep is not None:
            is_kept = kept_places(places, keep, len(names), work)
        columns = _write_places(places, is_kept, n_rows, len(names), work, folder, bar)
        places.close()
    columns |= name_files(str(folder), names.values, names.columns)
    columns |= shot_files(str(folder), rows.shots)
    counts = RunCounts(
        read=sum(each.n_rows for each in inputs),
        hypotheses=n_rows,
        repeated=places.n_repeated,
        names=len(names),
        videos=len(rows.shots.video_keys),
        shots=rows.n_shots,
        held=columns['shot_at'].shape[0],
    )
    Manifest(inputs, Subset.of(subset), keep, counts, columns).write(str(folder))


def write_files_again(store: Store, work: Path, folder: Path, *, keep: int | None) -> None:
    """Write the files of a store to an empty folder, with what a smaller cutoff needs."""
    ranking, manifest = store.ranking, store.manifest
    names, places = ranking.names, StoredPlaces(ranking)
    with Bar('writing', len(ranking), ' rows') as bar:
        is_kept = None if keep is None else kept_places(places, keep, len(names), work)
        columns = _write_places(places, is_kept, len(ranking), len(names), work, folder, bar)
    columns |= name_files(str(folder), names.values, names.columns)
    columns |= shot_files(str(folder), ranking.shots.columns)
    counts = replace(manifest.counts, held=columns['shot_at'].shape[0])
    Manifest(manifest.inputs, None, keep, counts, columns).write(str(folder))


def _write_places(
    places: SortedPlaces | StoredPlaces,
    is_kept: NDArray[np.bool_] | None,
    n_rows: int,
    n_names: int,
    work: Path,
    folder: Path,
    bar: Bar,
) -> dict[str, ColumnFile]:
    """Write what stands at the places that are kept, and the places of each name."""
    n_places = n_rows if is_kept is None else int(np.count_nonzero(is_kept))
    by_name = PlacesOfNames(n_names, n_places, work / 'places')
    with ExitStack() as stack:

        def writer(name: str, count: int = n_places) -> ColumnWriter:
            column = ColumnWriter(str(folder), name, DTYPES[name][0], (count,))
            return stack.enter_context(column)

        writers = {name: writer(name) for name in (*AtPlaces._fields, 'places')}
        for block in _kept_blocks(places, is_kept):
            for name, values in block._asdict().items():
                writers[name].add(values)
            by_name.add(block.name_at)
            bar.add(len(block.name_at))
        for values in by_name.blocks():
            writers['places'].add(values)
        by_name.close()
        writers['held'] = writer('held', n_names)
        writers['held'].add(by_name.held)
        return {name: each.finish() for name, each in writers.items()}


def _kept_blocks(
    places: SortedPlaces | StoredPlaces, is_kept: NDArray[np.bool_] | None
) -> Iterator[AtPlaces]:
    begin = 0
    for block in places.blocks():
        if is_kept is None:
            yield block
            continue
        here = is_kept[begin : begin + len(block.name_at)]
        begin += len(here)
        columns: Any = (column[here] for column in block)
        yield AtPlaces(*columns)
