"""Several runs, scored one after another, and their results, written as the options say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import is_lack_of_memory
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, tell, write_document
from mediaeval_ap.errors import DataWarning, Error, ParameterError, ProcessError

PER_QUERY = options.option(
    '--per-query/--no-per-query', help='Show the values of each query, too.  [default: means only]'
)
SORT = options.flag('--sort', help='Best run first: by MAP (at the last cutoff), or by the score.')
KEEP_GOING = options.flag(
    '--keep-going', help='Score the other runs if one is wrong; exit status 1.'
)


@dataclass(frozen=True)
class Reporting:
    """The options of a report about runs, which scores them and writes it."""

    per_query: bool
    sort: bool
    keep_going: bool
    format: str
    output: Output

    def write(
        self, runs: Sequence[str], score: Callable[..., Sequence[Any]], *others: Iterable[Any]
    ) -> None:
        """Score each run, with what else belongs to it, and write all results together."""
        results: list[Any] = []
        failed: list[tuple[str, str]] = []
        for number, (run, *other) in enumerate(zip(runs, *others, strict=True), 1):
            which = f'run {number} of {len(runs)}: ' if len(runs) > 1 else ''
            try:
                results += score(run, *other)
            except ParameterError as error:  # no file is needed to see it
                raise click.UsageError(str(error)) from error
            except (Error, DataWarning) as error:
                if is_lack_of_memory(error) or isinstance(error, ProcessError):
                    raise
                if not self.keep_going:
                    raise click.ClickException(f'{which}{error}') from error
                tell(f'Error: {which}{error}')
                name = '<stdin>' if run == STANDARD_STREAM else run
                failed.append((name, str(error)))
        if results or self.format == 'json':  # which lists the runs that failed
            from mediaeval_ap.results.result import describe

            document = describe(results, per_query=self.per_query, sort=self.sort, failed=failed)
            write_document(document, self.format, self.output)
        if failed:
            sys.exit(1)


def reports(function: Callable[..., Any]) -> Any:
    """Give a command the options of what is reported, as the parameter `reporting`."""

    @KEEP_GOING
    @PER_QUERY
    @SORT
    @options.FORMAT
    @options.OUTPUT
    @wraps(function)
    def command(
        per_query: bool, sort: bool, keep_going: bool, format: str, output: Output, **settings: Any
    ) -> None:
        function(reporting=Reporting(per_query, sort, keep_going, format, output), **settings)

    return command


def refuse_to_read_again(name: str, path: str, times: int) -> None:
    """Refuse standard input as a file that is read for each of several runs."""
    if path == STANDARD_STREAM and times > 1:
        raise click.UsageError(
            f'standard input (-) can be read once only, and {name} is read {times} times'
        )
