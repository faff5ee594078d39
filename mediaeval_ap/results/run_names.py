"""Names of runs: given by the user, or the shortest ends of their paths that differ."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import ParameterError, printable, shown

STANDARD_INPUT_NAME = '<stdin>'
FILE_SUFFIXES = {
    *'.txt .csv .tsv .json .parquet .arrow .npy .store .run .label'.split(),
    *COMPRESSED_SUFFIXES,
}

PathParts = dict[PurePath, tuple[str, ...]]


def run_names(paths: Sequence[str], given_names: Sequence[str] = ()) -> list[str]:
    """Return a name for each run: the given one, or the last part of its path.

    The names leave out the suffixes that all paths share; the name of a single path leaves out the
    usual suffixes of files. Where last parts are equal, names keep parent folders until they
    differ. Where a name from a path equals a given name, all names from paths keep their suffixes
    or, if that is not enough, are the whole paths. Equal paths have equal names.

    Examples
    --------
    >>> run_names(['a/run.txt', 'b/run.txt', 'c/other.txt'])
    ['a/run', 'b/run', 'other']
    >>> run_names(['runs/a.txt', 'runs/b.txt'], ['b', ''])
    ['b', 'b.txt']
    """
    names = [
        name or (STANDARD_INPUT_NAME if path == '-' else '')
        for path, name in zip(paths, given_names or [''] * len(paths), strict=True)
    ]
    user_names = [name for name in given_names if name]
    refuse_repeats(user_names)
    unnamed: PathParts = {
        PurePath(path): PurePath(path).parts or (path,)
        for path, name in zip(paths, names, strict=True)
        if not name
    }
    whole: PathParts = {path: (str(path),) for path in unnamed}
    for parts in _without_suffixes(unnamed), unnamed, whole:
        name_by_path = _shortest_distinct_ends(parts)
        if set(user_names).isdisjoint(name_by_path.values()):
            break
    else:
        refuse_repeats(sorted([*user_names, *name_by_path.values()]))
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


def _without_suffixes(paths: PathParts) -> PathParts:
    """Remove the suffixes that all last parts share, as long as they begin with a letter."""
    while True:
        suffix, *others = {os.path.splitext(last)[1] for *_, last in paths.values()} or {''}
        if others:
            return paths
        if not suffix[1:2].isalpha() or (len(paths) == 1 and suffix.lower() not in FILE_SUFFIXES):
            return paths
        paths = {
            path: (*parts[:-1], parts[-1].removesuffix(suffix)) for path, parts in paths.items()
        }


def _shortest_distinct_ends(paths: PathParts) -> dict[PurePath, str]:
    """Return, for each path, its shortest end that no other path has."""
    names: dict[PurePath, str] = {}
    n_parts = 0
    while len(names) < len(paths):
        n_parts += 1
        times = Counter(parts[-n_parts:] for parts in paths.values())
        for path, parts in paths.items():
            if path not in names and times[parts[-n_parts:]] == 1:
                names[path] = printable(PurePath(*parts[-n_parts:]).as_posix())
    return names
