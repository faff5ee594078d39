"""Arguments and options that several commands have."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli.commands import Option, is_lack_of_memory
from mediaeval_ap.cli.output import (
    FILE,
    NEW_FILE,
    STANDARD_STREAM,
    Output,
    as_usage,
    tell,
    write_document,
)
from mediaeval_ap.definitions import LARGEST_CUTOFF, Cutoff
from mediaeval_ap.errors import DataWarning, Error, ParameterError, ProcessError, ReadError
from mediaeval_ap.render.formats import FORMATS

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision


Decorator = Callable[[Any], Any]


def checked(check: Callable[[Any], object]) -> Callable[..., Any]:
    """Return a callback that makes a `ParameterError` of a value an error of usage."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        with as_usage(click.BadParameter):
            check(value)
        return value

    return callback


def argument(name: str, **settings: Any) -> Decorator:
    return click.argument(name, type=FILE, **settings)


def option(*names: str, help: str, **settings: Any) -> Decorator:
    """Return an option; the help shows its default, if there is one and the text does not."""
    settings.setdefault('show_default', 'default' in settings and '[default: ' not in help)
    return click.option(*names, cls=Option, help=help, **settings)


def input_file(name: str, help: str, **settings: Any) -> Decorator:
    return option(name, type=FILE, metavar='FILE', help=help, **settings)


def queries(default: str) -> Decorator:
    help = f'File of names to ask for, one per line.  [default: {default}]'
    return input_file('--queries', help, callback=_file_of_names)


def flag(*names: str, help: str) -> Decorator:
    return option(*names, is_flag=True, help=help)


def integer(
    *names: str, default: Any, least: int = 1, largest: int = LARGEST_CUTOFF, **settings: Any
) -> Decorator:
    """Return an option that takes an integer between two bounds, which the help does not show."""

    def check(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
        if value is None or least <= value <= largest:
            return value
        raise click.BadParameter(f'found {value}, expected an integer from {least} to {largest}')

    return option(*names, default=default, type=int, metavar='N', callback=check, **settings)


def choice(name: str, choices: Iterable[str], default: str | None, help: str) -> Decorator:
    """Return an option that takes one of some words, which stand in the help at ``{words}``."""
    words = list(choices)
    listed = ' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))
    return option(
        name,
        default=default,
        help=help.format(words=listed),
        type=click.Choice(words),
        metavar='NAME',
    )


def file_format(
    formats: Iterable[str],
    default: str | None = None,
    note: str = '  [default: by the suffix of the output, else table]',
) -> Decorator:
    note = '' if default else note
    return choice('--format', formats, default, 'Output format: {words}.' + note)


def definition(default: str | None, note: str = '') -> Decorator:
    help = 'AP definition: {words}. The command definitions explains them.'
    return choice('--definition', definitions.names(), default, help + note)


def cutoffs(default: Iterable[Cutoff] | None, help: str) -> Decorator:
    shown = None if default is None else [','.join(map(str, default))]
    return option(
        *('-K', '--cutoffs', 'cutoffs'),
        metavar='K,...',
        callback=_cutoffs,
        multiple=True,
        default=shown,
        help=help,
    )


def cutoff(default: Cutoff | None, help: str) -> Decorator:
    names = ('-k', '--cutoff', 'cutoff')
    shown = None if default is None else str(default)
    return option(*names, metavar='K', callback=_cutoff, default=shown, help=help)


def depth(default: int, help: str, largest: int = LARGEST_CUTOFF) -> Decorator:
    return integer('-n', '--depth', default=default, largest=largest, help=help)


def together(*decorators: Decorator) -> Decorator:
    """Return options that commands have in common, as one decorator."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _cutoffs(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Cutoff]:
    expected = 'positive integers, or all, between commas'
    return [_read_cutoff(value, each, expected) for value in values for each in value.split(',')]


def _cutoff(_: click.Context, __: click.Parameter, value: str | None) -> Cutoff | None:
    return None if value is None else _read_cutoff(value, value, 'a positive integer, or all')


def _read_cutoff(value: str, field: str, expected: str) -> Cutoff:
    """Return the cutoff in a field of a value, or refuse the value."""
    if field == definitions.ALL:
        return definitions.ALL
    if re.fullmatch('[0-9]{1,19}', field) and 0 < int(field) <= LARGEST_CUTOFF:
        return int(field)
    raise click.BadParameter(f'found {value!r}, expected {expected}')


def _file_of_names(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Tell somebody who gives a name itself that the option takes a file."""
    if path is None or path == STANDARD_STREAM or os.path.exists(path) or '\0' in path:
        return path
    reason = f'{os.strerror(errno.ENOENT)}; --queries takes a file of names, one per line'
    raise ReadError(path, reason)


def _measures(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Return what was given, each checked by ir_measures."""
    if values:
        from mediaeval_ap.trec.measures import parse_measures

        with as_usage(click.BadParameter):
            parse_measures(values)
    return list(values)


def _jobs(value: str) -> int:
    try:
        return choices.check_jobs(int(value) if re.fullmatch('[0-9]{1,9}', value) else value)
    except ParameterError as error:
        raise click.BadParameter(str(error).removeprefix('jobs: ')) from error


REFERENCE = argument('reference')
RUN = argument('hypothesis', metavar='RUN')
RUNS = argument('runs', nargs=-1, required=True, metavar='RUN...')
QUERIES = queries('all in REFERENCE that do not begin with ?')
SUBSET = input_file('--subset', 'Videos to score (corpus_id video_id); others are ignored.')
CUTOFFS = cutoffs(
    definitions.CUTOFFS, 'Cutoffs, separated by commas; "all" means no cutoff. Can be repeated.'
)
DEFINITION = definition(definitions.DEFAULT)
QUERIES_WITHOUT_RELEVANT = choice(
    '--queries-without-relevant',
    choices.WITHOUT_RELEVANT,
    'count',
    'Queries without a relevant item: score them as the definition says (count) or leave them out '
    '(skip).',
)
MEASURES = option(
    '--measures',
    metavar='NAME,...',
    multiple=True,
    callback=_measures,
    help='Measures of ir_measures to add, as nDCG@10,P@5,RR. Can be repeated. '
    'Needs the extra trec.',
)
JOBS = option(
    '--jobs',
    metavar='N',
    default='1',
    callback=lambda _, __, value: _jobs(value),
    help='Number of processes that share runs and queries, or "all" for one on each core.',
)
SCHEDULER = option(
    '--scheduler',
    metavar='ADDRESS',
    help='Score on the Dask cluster of a scheduler, as tcp://host:8786; each RUN is a store. '
    'Needs the extra cluster.',
)
NEAR = option(
    '--near',
    type=float,
    metavar='DISTANCE',
    default=choices.NEAR,
    callback=checked(choices.check_near),
    help='Largest distance from a query to another spelling of it: edits divided by the longer '
    'length, from 0 to below 1.',
)
STRICT = flag(
    '--strict', help='Treat the warning that two inputs have no id in common as an error.'
)
MAX_BYTES = integer(
    '--max-bytes',
    default=choices.MAX_BYTES,
    help='Largest size of a decompressed file, Parquet, a pipe or standard input; plain files '
    'have no limit.  [default: 4 GiB]',
)
MESSAGES = together(
    flag('--quiet', help='Show errors only: no progress, no warnings.'),
    flag('--no-progress', help='Show no progress.'),
)
FORMAT = file_format(FORMATS)
OUTPUT = option(
    '-o',
    '--output',
    type=NEW_FILE,
    metavar='FILE',
    default=STANDARD_STREAM,
    show_default=False,
    help='Write to FILE instead of standard output (atomically).',
)
LIMITS = together(STRICT, MAX_BYTES, MESSAGES)
CRITERIA = together(SUBSET, CUTOFFS, DEFINITION, LIMITS)


def read_reference(cutoffs: list[Cutoff], definition: str, **settings: Any) -> AveragePrecision:
    """Return the evaluator that the arguments and options of a command ask for."""
    check_cutoffs(cutoffs, definition)
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(K=cutoffs, definition=definition, **settings)


def check_cutoffs(cutoffs: list[Cutoff], definition: str, measures: Iterable[str] = ()) -> None:
    """Refuse cutoffs that are given twice, or that the definition or a measure does not allow."""
    with as_usage():
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures

            check_columns(parse_measures(measures), cutoffs)


PER_QUERY = option(
    '--per-query/--no-per-query', help='Show the values of each query, too.  [default: means only]'
)
SORT = flag('--sort', help='Best run first: by MAP (at the last cutoff), or by the score.')
KEEP_GOING = flag('--keep-going', help='Score the other runs if one is wrong; exit status 1.')


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
    @FORMAT
    @OUTPUT
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
