"""Paths of runs on the command line, and their names: ``FILE`` or ``NAME=FILE``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

import click

from mediaeval_ap.choices import is_text
from mediaeval_ap.cli.output import STANDARD_STREAM, as_usage_errors
from mediaeval_ap.errors import DataWarning, abridged, printable, warn_caller
from mediaeval_ap.results.run_names import name_with_seed, names_in_file, refuse_repeats, run_names

if TYPE_CHECKING:
    from mediaeval_ap.tables.sources import ByteSource


class RunFile(str):
    """The path of a run; the other fields are empty unless the user gives them."""

    given_name: str = ''
    team: str = ''
    seed: str = ''

    @cached_property
    def source(self) -> ByteSource:
        """The file, whose first bytes are read once for all who look at them."""
        from mediaeval_ap.tables.sources import ByteSource

        return ByteSource(self)

    @property
    def name_with_seed(self) -> str:
        return name_with_seed(self.given_name, self.seed)

    @classmethod
    def parse(cls, value: str) -> Self:
        """Split ``NAME=FILE``, unless there is a file with that path."""
        name, equals, path = value.partition('=')
        if not equals or '/' in name or os.path.exists(value):
            return cls(value)
        if not is_text(name) or not path:
            expected = 'FILE or NAME=FILE, as team-a=runs/a.txt'
            raise click.BadParameter(f'found {value!r}, expected {expected}')
        run = cls(path)
        run.given_name = name
        return run


def read_run_argument(_: click.Context, __: click.Parameter, value: Any) -> Any:
    """Parse one run or several, as the callback of an argument."""
    if value is None:
        return None
    if not isinstance(value, tuple):
        return RunFile.parse(value)
    runs = tuple(map(RunFile.parse, value))
    with as_usage_errors():
        refuse_repeats(run.given_name for run in runs if run.given_name)
    return runs


def names_of_runs(runs: Sequence[str]) -> list[str]:
    """Return the names of runs: given names, else the parts of the paths that differ."""
    with as_usage_errors():
        return run_names(runs, [getattr(run, 'name_with_seed', '') for run in runs])


def refuse_repeated_files(runs: Sequence[RunFile]) -> None:
    """Raise UsageError if a file without two names is given twice."""
    files = Counter((PurePath(run), run.name_with_seed) for run in runs)
    if repeated := [path for (path, _), times in files.items() if times > 1]:
        raise click.UsageError(f'{printable(str(repeated[0]))} was given twice')


def with_names(runs: Sequence[RunFile], path: str | None) -> list[RunFile]:
    """Return runs with the names, teams and seeds of a file; names on the command line win."""
    if path is None:
        refuse_repeated_files(runs)
        return list(runs)
    named_runs = []
    for run, (name, team, seed) in zip(runs, names_in_file(path, runs), strict=True):
        named_run = RunFile(run)
        named_run.given_name = run.given_name or name
        named_run.team = team
        named_run.seed = seed
        named_run.source = run.source
        named_runs.append(named_run)
    if unnamed := [printable(run) for run in named_runs if not run.given_name]:
        warn_caller(
            [DataWarning('unnamed-runs', printable(path), f'no row for {abridged(unnamed)}')]
        )
    refuse_repeated_files(named_runs)
    names_of_runs(named_runs)  # raises if a name is given twice
    return named_runs


def runs_by_name(
    runs: Sequence[RunFile], baseline: str | None, other_names: Sequence[str] = ()
) -> dict[str, RunFile]:
    """Return runs by their names; raise if a name repeats, or the baseline is not a name."""
    from mediaeval_ap.comparison.comparison_settings import check_run

    names = names_of_runs(runs)
    all_names = [*names, *other_names]
    systems = [getattr(run, 'given_name', '') for run in runs]  # without seeds
    with as_usage_errors():
        refuse_repeats(all_names)
        check_run('baseline', baseline, [*all_names, *filter(None, systems)])
    return dict(zip(names, runs, strict=True))


def teams_by_run(runs: dict[str, RunFile]) -> dict[str, str]:
    return {name: run.team for name, run in runs.items() if run.team}


def check_not_reread(name: str, path: str | None, n_runs: int) -> None:
    """Raise UsageError if standard input would be read for each of several runs."""
    if path == STANDARD_STREAM and n_runs > 1:
        raise click.UsageError(
            f'standard input (-) can be read once only, and {name} is read {n_runs} times'
        )
