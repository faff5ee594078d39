"""The options of commands that score runs one by one and write all results together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from mediaeval_ap.cli.commands import is_lack_of_memory
from mediaeval_ap.cli.option_kinds import flag, option
from mediaeval_ap.cli.options import format_options, output_option
from mediaeval_ap.cli.output import Output, tell, write_document
from mediaeval_ap.cli.run_files import names_of_runs
from mediaeval_ap.errors import DataWarning, Error, ParameterError, ProcessError, file_of
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.run_names import STANDARD_INPUT_NAME


@dataclass(frozen=True)
class Reporting:
    per_query: bool
    sort: bool
    keep_going: bool
    format: str
    output: Output
    sort_queries: bool = False

    def write(
        self, runs: Sequence[str], score: Callable[..., Sequence[Any]], *inputs: Iterable[Any]
    ) -> None:
        """Score each run, with its item of each of `inputs`; write all results together."""
        results: list[Any] = []
        failures: list[tuple[str, str]] = []
        names = names_of_runs(runs)
        jobs = tracked(list(zip(names, runs, *inputs, strict=True)), 'scoring', ' runs')
        for number, (name, run, *run_inputs) in enumerate(jobs, 1):
            prefix = f'run {number} of {len(runs)}: ' if len(runs) > 1 else ''
            try:
                results += [result.called(name) for result in score(run, *run_inputs)]
            except ParameterError as error:  # raised before any file is read
                if error.parameters:
                    raise
                raise click.UsageError(str(error)) from error
            except (Error, DataWarning) as error:
                if is_lack_of_memory(error) or isinstance(error, ProcessError):
                    raise
                own_files = run, STANDARD_INPUT_NAME, *run_inputs
                if file_of(error, run) not in own_files:  # it is about one that all runs share
                    prefix = ''
                if not self.keep_going:
                    raise click.ClickException(f'{prefix}{error}') from error
                tell(f'Error: {prefix}{error}')
                failures.append((name, str(error)))
        if results or self.format == 'json':  # JSON lists failed runs, too
            self.show(results, failures)
        if failures:
            sys.exit(1)

    def show(self, results: Sequence[Any], failures: Sequence[tuple[str, str]] = ()) -> None:
        """Write results together; `failures` holds a name and a message for each failed run."""
        from mediaeval_ap.results.result import results_document

        if self.sort_queries:
            results = [result.worst_first() for result in results]
        per_query = self.per_query or self.sort_queries
        document = results_document(results, per_query=per_query, sort=self.sort, failed=failures)
        write_document(document, self.format, self.output)


def reporting_options(function: Callable[..., Any]) -> Any:
    """Add the options of `Reporting` to a command, which gets them as `reporting`."""

    @flag('--keep-going', help='Score the other runs if one is wrong; the exit status is 1.')
    @option('--per-query/--no-per-query', help='Show each query, too.  [default: means only]')
    @flag('--sort', help='Show the best run first: by MAP at the last cutoff, or the score.')
    @format_options
    @output_option
    @wraps(function)
    def command(**settings: Any) -> None:
        values = {field.name: settings.pop(field.name, False) for field in fields(Reporting)}
        function(reporting=Reporting(**values), **settings)

    return command
