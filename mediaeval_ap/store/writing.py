"""Write a store, whole or not at all, over an older one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from numpy.typing import NDArray

from mediaeval_ap.atomic_files import as_write_errors, cleanup
from mediaeval_ap.errors import WriteError
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.manifest import (
    Input,
    Manifest,
    RunCounts,
    Subset,
    why_not_replaced,
    write_column,
)
from mediaeval_ap.store.store import LETTERS_PREFIX, STORED_TEXTS, Store, open_store
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.table import encoded


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
