"""Names of runs: those that are given, else what tells their paths apart."""

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
SUFFIXES = {
    *('.txt', '.csv', '.tsv', '.json', '.parquet', '.arrow', '.store', '.run', '.label'),
    *COMPRESSED_SUFFIXES,
}


Parts = dict[PurePath, tuple[str, ...]]


def run_names(paths: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """Return a name for each run: the given one, else the last part of its path.

    Suffixes that all paths have in common are left out; of one path alone, those of usual files.
    Where the last parts are equal, as much of each path is kept as tells it from the others; where
    a given name is equal to one of these, so much more. Equal paths have equal names.

    Examples
    --------
    >>> run_names(['a/run.txt', 'b/run.txt', 'c/other.txt'])
    ['a/run', 'b/run', 'other']
    >>> run_names(['runs/a.txt', 'runs/b.txt'], ['b', ''])
    ['b', 'b.txt']
    """
    named = zip(paths, given or [''] * len(paths), strict=True)
    names = [name or (STANDARD_INPUT_NAME if path == '-' else '') for path, name in named]
    taken = Counter(filter(None, given))
    if repeated := [name for name, times in taken.items() if times > 1]:
        raise repeated_name_error(repeated[0])
    unnamed: Parts = {
        PurePath(path): PurePath(path).parts or (path,)
        for path, name in zip(paths, names, strict=True)
        if not name
    }
    whole: Parts = {path: (str(path),) for path in unnamed}
    for parts in _without_suffixes(unnamed), unnamed, whole:
        found = _told_apart(parts)
        if not (clash := taken.keys() & found.values()):
            break
    else:
        raise repeated_name_error(min(clash))
    return [name or found[PurePath(path)] for path, name in zip(paths, names, strict=True)]


def names_in_file(source: Any, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the name and the team that a file has for each path, or its last part; empty if none.

    It has the columns path, name and, if known, team, under a header.
    """
    from mediaeval_ap.tables.layouts import RecordLayout
    from mediaeval_ap.tables.reading import TableInput
    from mediaeval_ap.tables.records import read_records

    columns = ('path', 'name', 'team')
    layouts = [RecordLayout(columns), RecordLayout(columns[:2])]
    records = read_records(TableInput.of(source), layouts)
    found: dict[PurePath, tuple[str, str]] = {}
    texts = [records[role].to_pylist() for role in records.layout.texts]
    for row, (path, name, *of_team) in enumerate(zip(*texts, strict=True)):
        team = of_team[0] if of_team else ''
        for role, text in ('name', name), ('team', team):
            if not is_text(text) and (text or role == 'name'):
                raise records.error([row], role, shown(text) if text else 'nothing', TEXT)
        if PurePath(path) in found:
            raise records.error([row], 'path', f'{shown(path)} again', 'each path once')
        found[PurePath(path)] = name, team
    runs = map(PurePath, paths)
    return [found.get(run) or found.get(PurePath(run.name)) or ('', '') for run in runs]


def check_name(name: object) -> str:
    """Return the name that is given to a run, empty for None."""
    if name is not None and not is_text(name):
        raise ParameterError(f'name: found {shown(name)}, expected {TEXT}')
    return plain_text(name) or ''


def team_of(run: str) -> str:
    """Return the team of a run without a given one: its name up to the first `_`."""
    return run.partition('_')[0] or run


def repeated_name_error(name: str) -> ParameterError:
    return ParameterError(f'runs: found {shown(name)} twice, expected each name once')


def _without_suffixes(paths: Parts) -> Parts:
    """Leave out the suffixes that the last parts have in common; none begins with a digit."""
    while True:
        suffixes = {os.path.splitext(last)[1] for *_, last in paths.values()}
        suffix = suffixes.pop() if len(suffixes) == 1 else ''
        if not suffix[1:2].isalpha() or (len(paths) == 1 and suffix.lower() not in SUFFIXES):
            return paths
        paths = {
            path: (*parts[:-1], parts[-1].removesuffix(suffix)) for path, parts in paths.items()
        }


def _told_apart(paths: Parts) -> dict[PurePath, str]:
    """Return as many last parts of each path as no other path ends with."""
    names: dict[PurePath, str] = {}
    n = 0
    while len(names) < len(paths):
        n += 1
        times = Counter(parts[-n:] for parts in paths.values())
        for path, parts in paths.items():
            if path not in names and times[parts[-n:]] == 1:
                names[path] = printable(PurePath(*parts[-n:]).as_posix())
    return names
