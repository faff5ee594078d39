"""Arguments and options that several commands have."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, Self

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.choices import is_text
from mediaeval_ap.cli.commands import is_lack_of_memory
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
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.formats import FORMATS, N_DECIMALS
from mediaeval_ap.results.run_names import names_in_file, run_names

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision

Decorator = Callable[[Any], Any]


def argument(name: str, **settings: Any) -> Decorator:
    return click.argument(name, type=FILE, **settings)


class RunFile(str):
    """The path of a run, with the name that was given to it: ``NAME=FILE``, if one was."""

    given: str = ''
    team: str = ''

    @classmethod
    def parsed(cls, value: str) -> Self:
        """Return the path itself if there is such a file, else what stands after the name."""
        name, equals, path = value.partition('=')
        if not equals or '/' in name or os.path.exists(value):
            return cls(value)
        if not is_text(name) or not path:
            expected = 'FILE or NAME=FILE, as team-a=runs/a.txt'
            raise click.BadParameter(f'found {value!r}, expected {expected}')
        run = cls(path)
        run.given = name
        return run


def read_run(value: str | None) -> RunFile | None:
    return None if value is None else RunFile.parsed(value)


def _run_files(_: click.Context, __: click.Parameter, value: Any) -> Any:
    if isinstance(value, tuple):
        runs = tuple(map(RunFile.parsed, value))
        names_of(runs)  # refuses names that are given twice
        return runs
    return read_run(value)


def run_argument(name: str, **settings: Any) -> Decorator:
    return argument(name, callback=_run_files, **settings)


def names_of(runs: Sequence[str]) -> list[str]:
    """Return the names of runs: those that were given, else what tells their paths apart."""
    with as_usage():
        return run_names(runs, [getattr(run, 'given', '') for run in runs])


def with_names(runs: Sequence[RunFile], path: str | None) -> list[RunFile]:
    """Return runs with the names and teams that a file has for them; given names stay."""
    if path is None:
        return list(runs)
    named = []
    for run, (name, team) in zip(runs, names_in_file(path, runs), strict=True):
        named.append(RunFile(run))
        named[-1].given = run.given or name
        named[-1].team = team
    names_of(named)  # refuses names that are given twice
    return named


def option(
    *names: str, help: str, read: Callable[[Any], Any] | None = None, **settings: Any
) -> Decorator:
    """Return an option, which `read` checks; the help shows its default if the text does not."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        with as_usage(click.BadParameter):
            return value if read is None else read(value)

    settings['callback'] = callback
    settings.setdefault('show_default', 'default' in settings and '[default: ' not in help)
    return click.option(*names, help=help, **settings)


def input_file(name: str, help: str, **settings: Any) -> Decorator:
    return option(name, type=FILE, metavar='FILE', help=help, **settings)


def new_file(*names: str, help: str, **settings: Any) -> Decorator:
    return option(*names, help=help, **{'type': NEW_FILE, 'metavar': 'FILE', **settings})


def output(help: str, **settings: Any) -> Decorator:
    return new_file('-o', '--output', help=help, **settings)


def number(name: str, default: float, check: Callable[[float], object], help: str) -> Decorator:
    return option(name, default=default, type=float, metavar='NUMBER', read=check, help=help)


def flag(*names: str, help: str) -> Decorator:
    return option(*names, is_flag=True, help=help)


def integer(
    *names: str, default: Any, least: int = 1, largest: int = LARGEST_CUTOFF, **settings: Any
) -> Decorator:
    """Return an option that takes an integer between two bounds, which the help does not show."""

    def check(value: int | None) -> int | None:
        if value is None or least <= value <= largest:
            return value
        raise click.BadParameter(f'found {value}, expected an integer from {least} to {largest}')

    return option(*names, default=default, type=int, metavar='N', read=check, **settings)


def choice(name: str, choices: Iterable[str], default: str | None, help: str) -> Decorator:
    """Return an option that takes one of some words, in any case; the help has them at {words}."""
    words = list(choices)
    help = help.format(words=' or '.join(filter(None, [', '.join(words[:-1]), words[-1]])))
    return option(
        name,
        default=default,
        help=help,
        type=click.Choice(words, case_sensitive=False),
        metavar='NAME',
    )


def file_format(
    formats: Iterable[str],
    default: str | None = None,
    note: str = '  [default: by the suffix of -o, else table]',
) -> Decorator:
    note = '' if default else note
    return choice('--format', formats, default, '{words}.' + note)


def other_ids(ids: str, run: str, truth: str) -> Decorator:
    """Return the options about ids that one of two files lacks."""
    return together(
        choice(
            '--missing',
            choices.MISSING,
            'error',
            f'{ids} that {run} lacks: error (stop), zero or skip.',
        ),
        choice(
            '--unknown',
            choices.UNKNOWN,
            'error',
            f'{ids} that {truth} lacks: error (stop) or drop.',
        ),
    )


def columns_by_role(value: str | None) -> dict[str, str | int] | None:
    """Return the column of each role; digits alone are a position."""
    if value is None:
        return None
    columns: dict[str, str | int] = {}
    for field in value.split(','):
        role, _equals, column = field.partition('=')
        if not role or not column or role in columns:
            expected = 'ROLE=COLUMN between commas, each role once'
            raise click.BadParameter(f'found {field!r}, expected {expected}')
        is_position = column.isascii() and column.isdigit()
        columns[role] = int(column) if is_position else column
    return columns


def definition(default: str | None, note: str = '') -> Decorator:
    help = 'AP definition: {words}; see "mediaeval-ap help definitions".'
    return choice('--definition', definitions.names(), default, help + note)


def cutoffs(default: Iterable[Cutoff] | None, help: str) -> Decorator:
    names = ('-K', '-k', '--cutoffs')
    shown = None if default is None else [','.join(map(str, default))]

    def read(values: tuple[str, ...]) -> list[Cutoff]:
        expected = 'positive integers, or all, between commas'
        return [_cutoff(value, each, expected) for value in values for each in value.split(',')]

    return option(*names, metavar='K,...', read=read, multiple=True, default=shown, help=help)


def cutoff(*names: str, default: str | None, help: str) -> Decorator:
    def read(value: str | None) -> Cutoff | None:
        return None if value is None else _cutoff(value, value, 'a positive integer, or all')

    return option(*names, metavar='K', read=read, default=default, help=help)


def together(*decorators: Decorator) -> Decorator:
    """Return options that commands have in common, as one decorator."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _cutoff(value: str, field: str, expected: str) -> Cutoff:
    """Return the cutoff in a field of a value, or refuse the value."""
    if field == definitions.ALL:
        return definitions.ALL
    if re.fullmatch('[0-9]{1,19}', field) and 0 < int(field) <= LARGEST_CUTOFF:
        return int(field)
    raise click.BadParameter(f'found {value!r}, expected {expected}')


def _file_of_names(path: str | None) -> str | None:
    """Tell somebody who gives a name itself that the option takes a file."""
    if path is None or path == STANDARD_STREAM or os.path.exists(path) or '\0' in path:
        return path
    reason = f'{os.strerror(errno.ENOENT)}; --queries takes a file of names, one per line'
    raise ReadError(path, reason)


def _measures(values: tuple[str, ...]) -> list[str]:
    """Return what was given, each checked by ir_measures."""
    if values:
        from mediaeval_ap.trec.measures import parse_measures

        parse_measures(values)
    return list(values)


def _jobs(value: str) -> int:
    try:
        jobs: int = choices.check_jobs(int(value) if re.fullmatch('[0-9]{1,9}', value) else value)
    except ParameterError as error:
        raise click.BadParameter(str(error).removeprefix('jobs: ')) from error
    return jobs


REFERENCE = argument('reference')
OPTIONAL_REFERENCE = argument('reference', required=False, metavar='REFERENCE')
RUN = run_argument('hypothesis', metavar='RUN')
RUNS, OPTIONAL_RUNS = (
    run_argument('runs', nargs=-1, required=each, metavar='RUN...') for each in (True, False)
)
NAMES = input_file('--names', 'Names of the runs: CSV with path,name or path,name,team.')
QUERIES = input_file(
    '--queries',
    'Names to score, one per line.  [default: all in REFERENCE but ?…]',
    read=_file_of_names,
)
SUBSET = input_file('--subset', 'Videos to score (corpus_id video_id); others are ignored.')
CUTOFFS = cutoffs(definitions.CUTOFFS, 'Cutoffs, as 10,100; "all" is no cutoff.')
DEFINITION = definition(definitions.DEFAULT)
QUERIES_WITHOUT_RELEVANT = choice(
    '--queries-without-relevant',
    choices.WITHOUT_RELEVANT,
    'count',
    'Queries without a relevant item: count (as defined) or skip.',
)
JUDGED = input_file('--judged', 'What was looked at: shots, pairs with relevance, or qrels.')
DROP_UNJUDGED_ROWS = flag(
    '--drop-unjudged-rows', help='Drop rows of REFERENCE that are not judged, instead of an error.'
)
UNJUDGED = choice(
    '--unjudged',
    choices.UNJUDGED,
    'nonrelevant',
    'Returned shots that are not judged: {words} (they leave the ranking).',
)
JUDGEMENTS = together(JUDGED, UNJUDGED, DROP_UNJUDGED_ROWS)
MEASURES = option(
    '--measures',
    metavar='NAME,...',
    multiple=True,
    read=_measures,
    help='Measures of ir_measures to add, as nDCG@10,P@5. Needs the extra trec.',
)
TIES = choice(
    '--ties',
    choices.TREC_TIES,
    'trec_eval',
    'Order of equal scores: {words}; trec_eval is version 10.',
)
RELEVANCE_LEVEL = integer(
    '--relevance-level',
    default=1,
    help='Least relevance of a relevant document.',
    least=-choices.LARGEST_TREC_LEVEL,
    largest=choices.LARGEST_TREC_LEVEL,
)
PART = option(
    '--part',
    metavar='SUBSET/SPLIT',
    help='Subset, split or both to score of predictions of MTEB.  [default: the only one]',
)
JOBS = option(
    '--jobs',
    metavar='N',
    default='1',
    read=_jobs,
    help='Processes that share the work, or "all" for one on each core.',
)
SCHEDULER = option(
    '--scheduler',
    metavar='ADDRESS',
    help='Dask scheduler, as tcp://host:8786. Needs the extra cluster.',
)
NEAR = option(
    '--near',
    type=float,
    metavar='DISTANCE',
    default=choices.NEAR,
    read=choices.check_near,
    help='Largest distance of other spellings of a query, from 0 to below 1.',
)
STRICT = flag('--strict', help='Stop if two inputs have no id in common, instead of a warning.')
MESSAGES = together(
    flag('-q', '--quiet', help='Show errors only: no warnings, no progress.'),
    flag('--no-progress', help='Show no progress.'),
)
PRECISION = integer(
    '--precision',
    default=N_DECIMALS.get(),
    least=0,
    largest=15,
    help='Decimals in table, markdown and latex.',
)
FORMAT = together(file_format(FORMATS), PRECISION)
OUTPUT = output(
    'File to write, whole or not at all.  [default: standard output]', default=STANDARD_STREAM
)
LIMITS = together(STRICT, MESSAGES)
CRITERIA = together(SUBSET, CUTOFFS, DEFINITION, LIMITS)
SCORING = together(QUERIES, CRITERIA, QUERIES_WITHOUT_RELEVANT)
SCORING_OF_JUDGED = together(SCORING, JUDGEMENTS)


def read_reference(cutoffs: list[Cutoff], definition: str, **settings: Any) -> AveragePrecision:
    """Return the evaluator that the arguments and options of a command ask for."""
    check_cutoffs(cutoffs, definition)
    if settings.get('judged') is None:
        for name in ('unjudged', 'drop_unjudged_rows'):
            if settings.get(name) in ('skip', True):
                given = name.replace('_', '-') + ' skip' * (name == 'unjudged')
                raise click.UsageError(f'--{given} needs --judged FILE: what was looked at')
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(K=cutoffs, definition=definition, **settings)


def check_cutoffs(cutoffs: list[Cutoff], definition: str, measures: Iterable[str] = ()) -> None:
    """Refuse cutoffs that are given twice, or that the definition or a measure does not allow."""
    with as_usage():
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures

            check_columns(parse_measures(measures), cutoffs)


SORT_QUERIES = flag(
    '--sort-queries', help='Show each query, the worst first: by AP at the last cutoff.'
)


@dataclass(frozen=True)
class Reporting:
    """The options of a report about runs, which scores them and writes it."""

    per_query: bool
    sort: bool
    keep_going: bool
    format: str
    output: Output
    sort_queries: bool = False

    def write(
        self, runs: Sequence[str], score: Callable[..., Sequence[Any]], *others: Iterable[Any]
    ) -> None:
        """Score each run, with what else belongs to it, and write all results together."""
        results: list[Any] = []
        failed: list[tuple[str, str]] = []
        names = names_of(runs)
        given = tracked(list(zip(runs, *others, strict=True)), 'scoring', ' runs')
        for number, (run, *other) in enumerate(given, 1):
            which = f'run {number} of {len(runs)}: ' if len(runs) > 1 else ''
            try:
                results += [each.called(names[number - 1]) for each in score(run, *other)]
            except ParameterError as error:  # no file is needed to see it
                raise click.UsageError(str(error)) from error
            except (Error, DataWarning) as error:
                if is_lack_of_memory(error) or isinstance(error, ProcessError):
                    raise
                if not self.keep_going:
                    raise click.ClickException(f'{which}{error}') from error
                tell(f'Error: {which}{error}')
                failed.append((names[number - 1], str(error)))
        if results or self.format == 'json':  # which lists the runs that failed
            self.show(results, failed)
        if failed:
            sys.exit(1)

    def show(self, results: Sequence[Any], failed: Sequence[tuple[str, str]] = ()) -> None:
        """Write results together."""
        from mediaeval_ap.results.result import results_document

        if self.sort_queries:
            results = [each.worst_first() for each in results]
        per_query = self.per_query or self.sort_queries
        document = results_document(results, per_query=per_query, sort=self.sort, failed=failed)
        write_document(document, self.format, self.output)


def reports(function: Callable[..., Any]) -> Any:
    """Give a command the options of what is reported, as the parameter `reporting`."""

    @flag('--keep-going', help='Score the other runs if one is wrong; the exit status is 1.')
    @option('--per-query/--no-per-query', help='Show each query, too.  [default: means only]')
    @flag('--sort', help='Show the best run first: by MAP at the last cutoff, or the score.')
    @FORMAT
    @OUTPUT
    @wraps(function)
    def command(**settings: Any) -> None:
        given = {each.name: settings.pop(each.name, False) for each in fields(Reporting)}
        function(reporting=Reporting(**given), **settings)

    return command


def first_given(is_asked: Callable[[str], bool]) -> str | None:
    """Return the first option of the command line whose name is asked for."""
    ctx = click.get_current_context()
    for each in ctx.command.params:
        source = ctx.get_parameter_source(each.name or '')
        name = max(each.opts, key=len)
        if name[0] == '-' and source is click.core.ParameterSource.COMMANDLINE and is_asked(name):
            return name
    return None


def refuse_to_read_again(name: str, path: str, times: int) -> None:
    """Refuse standard input as a file that is read for each of several runs."""
    if path == STANDARD_STREAM and times > 1:
        raise click.UsageError(
            f'standard input (-) can be read once only, and {name} is read {times} times'
        )
