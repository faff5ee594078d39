"""The names by which a report tells runs apart."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.results.means_and_notes import short_names


def named(runs: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return runs by name: the given one, else the name of the file, with its folder if needed."""
    if isinstance(runs, Mapping):
        return dict(_checked(list(runs), list(runs.values())))
    if isinstance(runs, str | bytes | os.PathLike) or not isinstance(runs, Iterable):
        raise ParameterError(f'runs: found {shown(runs)}, expected a list of runs')
    given = list(runs)
    paths = [os.fsdecode(each) if isinstance(each, str | os.PathLike) else '' for each in given]
    names = [name or f'run {number}' for number, name in enumerate(short_names(paths), 1)]
    return dict(_checked(names, given))


def _checked(names: list[str], runs: list[Any]) -> Iterable[tuple[str, Any]]:
    if not names:
        raise ParameterError('runs: found none, expected one or more')
    if wrong := [name for name in names if not isinstance(name, str) or not name]:
        raise ParameterError(f'runs: found the name {shown(wrong[0])}, expected text')
    repeated = [name for name, times in Counter(map(printable, names)).items() if times > 1]
    if repeated:
        raise ParameterError(f'runs: found {shown(repeated[0])} twice, expected each run once')
    return zip(map(printable, names), runs, strict=True)
