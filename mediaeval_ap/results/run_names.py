"""Names of runs: given by the user, or the shortest ends of their paths that differ."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import PurePath
from typing import Any

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import ParameterError, printable, shown

STANDARD_INPUT_NAME = '<stdin>'
FILE_SUFFIXES = {
    *'.txt .csv .tsv .json .jsonl .parquet .pq .arrow .npy .store .run .trec .eval .label'.split(),
    *COMPRESSED_SUFFIXES,
}


def run_names(
    paths: Sequence[str], given_names: Sequence[str] = (), *, with_suffixes: bool = False
) -> list[str]:
    """Return a name for each run: the given one, or the last part of its path.

    Names leave out the usual suffixes of files. A name that another run has, or could have, gets
    its suffixes, then parent folders, until it differs; if nothing helps, it is the whole path.
    Equal paths have equal names.

    Examples
    --------
    >>> run_names(['a/run.txt', 'b/run.txt', 'c/other.txt.gz', 'd/me.txt', 'd/me.csv'])
    ['a/run', 'b/run', 'other', 'me.txt', 'me.csv']
    """
    names = [
        name or (STANDARD_INPUT_NAME if path == '-' else '')
        for path, name in zip(paths, given_names or [''] * len(paths), strict=True)
    ]
    user_names = [name for name in given_names if name]
    ends_by_path = {
        PurePath(path): list(_ends(PurePath(path), with_suffixes))
        for path, name in zip(paths, names, strict=True)
        if not name
    }
    n_runs = Counter(chain({*filter(None, names)}, *map(set, ends_by_path.values())))
    name_by_path = {
        path: next((end for end in ends if n_runs[end] == 1), ends[-1])
        for path, ends in ends_by_path.items()
    }
    refuse_repeats([*user_names, *name_by_path.values()])
    return [name or name_by_path[PurePath(path)] for path, name in zip(paths, names, strict=True)]


def name_with_seed(run: str, seed: str) -> str:
    """Return the name of a run, with its seed, if any."""
    return f'{run} (seed {seed})' if seed else run


def names_in_file(source: Any, paths: Iterable[str]) -> list[tuple[str, str, str]]:
    """Read the name, team and seed of each path, or its last part; '' for a path that is absent."""
    from mediaeval_ap.tables.layouts import RecordLayout
    from mediaeval_ap.tables.reading import TableInput
    from mediaeval_ap.tables.records import read_records

    layout = RecordLayout(('path', 'name'), optional=(('team', 'team'), ('seed', 'seed')))
    records = read_records(TableInput.of(source, 'names'), [layout])
    texts = {role: records[role].to_pylist() for role in records.layout.by_role}
    empty = [''] * len(records)
    columns = {role: texts.get(role, empty) for role in ('name', 'team', 'seed')}
    cells_by_path: dict[PurePath, tuple[str, str, str]] = {}
    for row, (path, *cells) in enumerate(zip(texts['path'], *columns.values(), strict=True)):
        for role, text in zip(columns, cells, strict=True):
            if not is_text(text) and (text or role == 'name'):
                raise records.error([row], role, shown(text) if text else 'nothing', TEXT)
        if PurePath(path) in cells_by_path:
            raise records.error([row], 'path', f'{shown(path)} again', 'each path once')
        name, team, seed = cells
        cells_by_path[PurePath(path)] = name, team, seed
    return [
        cells_by_path.get(run) or cells_by_path.get(PurePath(run.name)) or ('', '', '')
        for run in map(PurePath, paths)
    ]


def check_name(name: object) -> str:
    """Validate the `name` of a run; return it as plain text, empty for None."""
    if name is not None and not is_text(name):
        raise ParameterError(f'name: found {shown(name)}, expected {TEXT}')
    return plain_text(name) or ''


def team_of(run: str) -> str:
    """Return the default team of a run: its name up to the first `_`."""
    return run.partition('_')[0] or run


def refuse_repeats(names: Iterable[str]) -> None:
    """Raise ParameterError if two runs have one name."""
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise ParameterError(f'runs: found {shown(repeated[0])} twice, expected each name once')


def _ends(path: PurePath, with_suffixes: bool) -> Iterator[str]:
    """Yield the ends of a path, shortest first, each without and with the suffixes of files."""
    *folders, last = path.parts or (str(path),)
    stem, suffix = os.path.splitext(last)
    while suffix.lower() in FILE_SUFFIXES:
        stem, suffix = os.path.splitext(stem)
    for begin in range(len(folders), -1, -1):
        for end in (last,) if with_suffixes else (stem + suffix, last):
            yield printable(PurePath(*folders[begin:], end).as_posix())
