"""Writing of a store, whole or not at all, in the place of an older one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_occurrences, ranks_in_runs, run_starts
from mediaeval_ap.atomic_files import named, replace_folder, undone_at_once
from mediaeval_ap.errors import WriteError
from mediaeval_ap.ranking.edit_distances import NamesByLength
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import ShotColumns
from mediaeval_ap.store.manifest import Input, Manifest, RunCounts, Subset, why_not_replaced
from mediaeval_ap.store.mapped_columns import (
    DTYPES,
    SUFFIX,
    TEXTS,
    ColumnFile,
    ColumnWriter,
    write_column,
)
from mediaeval_ap.store.store import Store, open_store
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.reading import REPLACED, STORE_MANIFEST, folders_beside
from mediaeval_ap.tables.table import encoded

BLOCK_ROWS = 1 << 20  # of a stored column, that are copied together
BEGUN = '.tmp'  # ends the name of a folder until its store is complete


def write_store(
    ranking: Ranking,
    path: str | os.PathLike[str],
    *,
    keep: int | None = None,
    subset: Table | None = None,
    inputs: Sequence[Input] = (),
) -> Store:
    """Write a ranking of the hypotheses in a subset, in the place of an older store if any.

    `inputs` are the files that they are from, by default the source of the ranking.
    """
    source = ranking.source
    name = os.fsdecode(path)
    folder = f'{check_target(name)}.{os.urandom(8).hex()}{BEGUN}'
    with named(name), undone_at_once(partial(shutil.rmtree, folder, ignore_errors=True)):
        os.mkdir(folder)
        write_manifest(
            folder,
            _write_rows(ranking, folder, keep),
            ranking.names,
            ranking.shots.columns,
            inputs=inputs or [Input(source.name, source.sha256, len(ranking))],
            subset=subset,
            keep=keep,
            n_hypotheses=ranking.n_hypotheses,
            n_repeated=ranking.n_repeated,
        )
        put_in_place(folder, name)
    return open_store(path)


def _write_rows(ranking: Ranking, folder: str, keep: int | None) -> dict[str, ColumnFile]:
    """Write the columns by place and the places by name of a ranking in memory or of a store."""
    is_kept = None if keep is None else _kept(ranking, keep)
    n_kept = len(ranking) if is_kept is None else int(np.count_nonzero(is_kept))
    columns = {}
    for name, values in {
        'shot_at': ranking.shot_at,
        'name_at': ranking.name_at,
        'confidence': ranking.confidence_at,
        'temporal_rank': ranking.temporal_rank_at,
    }.items():
        with ColumnWriter(folder, name, DTYPES[name][0], (n_kept,)) as writer:
            for begin in range(0, len(values), BLOCK_ROWS):
                here = slice(begin, begin + BLOCK_ROWS)
                writer.add(values[here] if is_kept is None else values[here][is_kept[here]])
            columns[name] = writer.finish()
    places, held = ranking.places[:], ranking.columns.held
    if is_kept is not None:
        is_kept_by_name = is_kept[places]
        places = (is_kept.cumsum(dtype=np.int32) - np.int32(1))[places[is_kept_by_name]]
        ends = np.concatenate([[0], is_kept_by_name.cumsum(dtype=np.int32)])
        held = np.diff(ends[held.cumsum()], prepend=0)
    columns['places'] = write_column(folder, 'places', places)
    columns['held'] = write_column(folder, 'held', held)
    return columns


def _kept(ranking: Ranking, depth: int) -> NDArray[np.bool_]:
    """Return which places a score at some depth or less can need, some names at a time.

    A ranking is made of the first hypotheses of each name: of as many as it is deep, or, where
    repeated shots are dropped, of the first one of each of as many shots.
    """
    is_kept = np.zeros(len(ranking), dtype=np.bool_)
    ends = ranking.columns.held.cumsum()
    begin = 0
    while begin < len(ranking):
        last = ends.searchsorted(begin + BLOCK_ROWS, 'right') - 1  # that ends in this block
        end = int(ends[max(last, ends.searchsorted(begin, 'right'))])  # one name may be longer
        places = ranking.places[begin:end]
        names, shots = ranking.name_at[places], ranking.shot_at[places]
        is_first = ranks_in_runs(run_starts([names]), len(names)) <= depth
        first = first_occurrences(combine([names, shots]))
        is_first[first[ranks_in_runs(run_starts([names[first]]), len(first)) <= depth]] = True
        is_kept[places] = is_first
        begin = end
    return is_kept


def write_manifest(
    folder: str,
    columns: dict[str, ColumnFile],
    names: NamesByLength,
    shots: ShotColumns,
    *,
    inputs: Sequence[Input],
    subset: Table | None,
    keep: int | None,
    n_hypotheses: int,
    n_repeated: int,
) -> None:
    """Write the columns of names and distinct shots, and the manifest with those of rows."""
    for name, texts in zip(TEXTS, (names.values, *shots[:3]), strict=True):
        content, ends = encoded(texts)
        columns[f'{name}_bytes'] = write_column(folder, f'{name}_bytes', content)
        columns[f'{name}_ends'] = write_column(folder, f'{name}_ends', ends)
    columns['name_lengths'] = write_column(folder, 'name_lengths', names.columns.lengths)
    wide = {f'name_letters_{each.shape[1]}': each for each in names.columns.letters}
    wide |= {'video_keys': shots.video_keys, 'shot_keys': shots.shot_keys}
    for name, values in wide.items():
        columns[name] = write_column(folder, name, values, values.dtype.str)
    counts = RunCounts(
        read=sum(each.n_rows for each in inputs),
        hypotheses=n_hypotheses,
        repeated=n_repeated,
        names=len(names.values),
        videos=len(shots.video_keys),
        shots=len(shots.shot_keys),
        held=columns['shot_at'].shape[0],
    )
    Manifest(inputs, Subset.of(subset), keep, counts, columns).write(folder)


def check_target(name: str) -> str:
    """Return the path at which a store is to stand; refuse what stands there and is none."""
    with named(name):
        target = os.path.realpath(name)
        if os.path.lexists(target) and (reason := why_not_replaced(target)) is not None:
            raise WriteError(name, reason)
        os.stat(os.path.dirname(target))
    return target


def clear_up(target: str) -> None:
    """Put a store back that was being replaced, and remove what else calls that were killed left.

    Nobody else may be writing the store meanwhile.
    """
    older = [each for each in folders_beside(target, REPLACED) if _is_ours(each)]
    whole = [each for each in older if why_not_replaced(each) is None]
    if whole and not os.path.lexists(target):
        os.rename(max(whole, key=lambda each: os.stat(each).st_ctime_ns), target)
    for each in (*older, *folders_beside(target, BEGUN)):
        if _is_ours(each):
            shutil.rmtree(each, ignore_errors=True)


def _is_ours(folder: str) -> bool:
    """Return whether a folder holds nothing but files of a store."""
    try:
        return all(name == STORE_MANIFEST or name.endswith(SUFFIX) for name in os.listdir(folder))
    except OSError:
        return False


def put_in_place(folder: str, name: str) -> None:
    """Rename a folder that is complete to the path of a store, and remove an older one there."""
    target = check_target(name)
    older = f'{target}.{os.urandom(8).hex()}{REPLACED}'
    with named(name):
        replace_folder(folder, target, older)
    shutil.rmtree(older, ignore_errors=True)  # those who have it open keep it
