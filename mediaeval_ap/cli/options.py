"""Arguments and options that several commands have."""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli.output import FILE, NEW_FILE, STANDARD_STREAM, Output, write
from mediaeval_ap.definitions import LARGEST_CUTOFF, Cutoff
from mediaeval_ap.errors import NoOverlapWarning, ParameterError, ReadError
from mediaeval_ap.report.formats import FORMATS, render

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision

Decorator = Callable[[Any], Any]


def checked(check: Callable[[Any], object]) -> Callable[..., Any]:
    """Return a callback that makes a `ParameterError` of a value an error of usage."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        try:
            check(value)
        except ParameterError as error:
            raise click.BadParameter(str(error)) from error
        return value

    return callback


def argument(name: str, **settings: Any) -> Decorator:
    """Return an argument that takes the path of an input."""
    return click.argument(name, type=FILE, **settings)


def input_file(name: str, help: str, **settings: Any) -> Decorator:
    """Return an option that takes the path of an input."""
    return click.option(name, type=FILE, help=help, **settings)


def flag(*names: str, help: str, **settings: Any) -> Decorator:
    """Return an option without a value."""
    return click.option(*names, is_flag=True, help=help, **settings)


def valued(name: str, default: Any, help: str, **settings: Any) -> Decorator:
    """Return an option with a default, which the help shows if its text does not."""
    is_shown = '[default: ' not in help
    return click.option(name, default=default, show_default=is_shown, help=help, **settings)


def integer(
    name: str, default: Any, help: str, *, least: int = 1, largest: int = LARGEST_CUTOFF
) -> Decorator:
    """Return an option that takes an integer between two bounds, which the help does not show."""

    def check(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
        if value is None or least <= value <= largest:
            return value
        raise click.BadParameter(f'found {value}, expected an integer from {least} to {largest}')

    return valued(name, default, help, type=int, metavar='N', callback=check)


def choice(name: str, choices: Iterable[str], default: str | None, help: str) -> Decorator:
    """Return an option that takes one of some words."""
    return valued(name, default, help, type=click.Choice(list(choices)))


def definition(default: str | None, note: str = '') -> Decorator:
    """Return the option of the definition of AP."""
    help = f'AP definition; see `mediaeval-ap definitions`.{note}'
    return choice('--definition', definitions.names(), default, help)


def together(*decorators: Decorator) -> Decorator:
    """Return options that commands have in common, as one decorator."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _cutoffs(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Cutoff]:
    cutoffs: list[Cutoff] = []
    for value in values:
        for field in value.split(','):
            if field == definitions.ALL:
                cutoffs.append(definitions.ALL)
            elif re.fullmatch('[0-9]{1,19}', field) and 0 < int(field) <= LARGEST_CUTOFF:
                cutoffs.append(int(field))
            else:
                expected = 'positive integers, or all, between commas'
                raise click.BadParameter(f'found {value!r}, expected {expected}')
    return cutoffs


def _file_of_names(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Tell somebody who gives a name itself that the option takes a file."""
    if path is None or path == STANDARD_STREAM or os.path.exists(path) or '\0' in path:
        return path
    reason = f'{os.strerror(errno.ENOENT)}; --queries takes a file of names, one per line'
    raise ReadError(path, reason)


def _fail_without_overlap(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        warnings.simplefilter('error', NoOverlapWarning)


REFERENCE = argument('reference')
HYPOTHESIS = argument('hypothesis')
QUERIES = input_file(
    '--queries',
    'Names to ask for, one per line.  [default: all in REFERENCE]',
    callback=_file_of_names,
)
SUBSET = input_file('--subset', 'Videos to score (corpus_id video_id); others are ignored.')
CUTOFFS = click.option(
    '-K',
    'cutoffs',
    metavar='K,...',
    callback=_cutoffs,
    multiple=True,
    default=[','.join(map(str, definitions.CUTOFFS))],
    show_default=True,
    help='Cutoffs, separated by commas; "all" means no cutoff. Can be repeated.',
)
DEFINITION = definition(definitions.DEFAULT)
STRICT = flag(
    '--strict',
    expose_value=False,
    callback=_fail_without_overlap,
    help='Treat the warning that two inputs have no id in common as an error.',
)
MAX_BYTES = integer(
    '--max-bytes',
    choices.MAX_BYTES,
    'Largest size of a decompressed file, Parquet, a pipe or standard input; plain files have no '
    'limit.  [default: 4 GiB]',
)
FORMAT = choice('--format', FORMATS, 'table', 'Output format.')
OUTPUT = click.option(
    '-o',
    '--output',
    type=NEW_FILE,
    default=STANDARD_STREAM,
    help='Write to FILE instead of standard output (atomically).',
)
MEAN_ONLY = flag('--mean-only', help='Show means only, without the values of each query.')
LIMITS = together(STRICT, MAX_BYTES)
CRITERIA = together(SUBSET, CUTOFFS, DEFINITION, LIMITS)


def writes_results(function: Callable[..., Any]) -> Any:
    """Return a command that writes the results of a function as its options say."""

    @FORMAT
    @OUTPUT
    @wraps(function)
    def command(format: str, output: Output, mean_only: bool = False, **settings: Any) -> None:
        from mediaeval_ap.results.result import describe

        results = function(**settings)
        write(render(describe(results, mean_only=mean_only), format), output)

    return command


def read_reference(cutoffs: list[Cutoff], definition: str, **settings: Any) -> AveragePrecision:
    """Return the evaluator that the arguments and options of a command ask for."""
    check_cutoffs(cutoffs, definition)
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(K=cutoffs, definition=definition, **settings)


def check_cutoffs(cutoffs: list[Cutoff], definition: str) -> None:
    """Refuse cutoffs that are given twice, or that the definition does not have."""
    try:
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
    except ParameterError as error:
        raise click.UsageError(str(error)) from error
