"""Arguments and options that several commands have."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mediaeval_ap import definitions
from mediaeval_ap.cli.output import STANDARD_STREAM
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import NoOverlapWarning, ParameterError
from mediaeval_ap.files import Destination
from mediaeval_ap.report.formats import FORMATS

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision

Function = TypeVar('Function', bound=Callable[..., Any])
Decorator = Callable[[Any], Any]
Output = str | Destination


def _cutoffs(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Cutoff]:
    """Return the cutoffs of all values together."""
    return [_cutoff(field, value) for value in values for field in value.split(',')]


def _cutoff(field: str, value: str) -> Cutoff:
    if field == definitions.ALL:
        return definitions.ALL
    if re.fullmatch('[0-9]{1,19}', field) and 0 < int(field) <= definitions.LARGEST_CUTOFF:
        return int(field)
    expected = 'positive integers, or all, between commas'
    raise click.BadParameter(f'found {value!r}, expected {expected}')


def checked(check: Callable[[Any], object]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that makes a `ParameterError` of a value an error of usage."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        try:
            check(value)
        except ParameterError as error:
            raise click.BadParameter(str(error)) from error
        return value

    return callback


def _fail_without_overlap(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        warnings.simplefilter('error', NoOverlapWarning)


def _max_bytes() -> int:
    from mediaeval_ap.tables import MAX_BYTES  # not for the sake of a help text

    return MAX_BYTES


class _NewFile(click.Path):
    """A path of an output, found and held before anything is read."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        path = super().convert(value, param, ctx)
        if path == STANDARD_STREAM:
            return STANDARD_STREAM
        destination = Destination(os.fsdecode(path))
        if ctx is not None:
            ctx.call_on_close(destination.close)
        return destination


FILE = click.Path(allow_dash=True, readable=False)  # what cannot be read is wrong data, not usage
NEW_FILE = _NewFile(dir_okay=False, allow_dash=True)
RANK = click.IntRange(1, definitions.LARGEST_CUTOFF)


def input_file(name: str, help: str, **settings: Any) -> Decorator:
    """Return an option that takes the path of an input."""
    return click.option(name, type=FILE, help=help, **settings)


def choice(name: str, choices: Iterable[str], default: str | None, help: str) -> Decorator:
    """Return an option that takes one of some words."""
    type = click.Choice(list(choices))
    return click.option(name, type=type, default=default, show_default=True, help=help)


def definition(default: str | None, note: str = '') -> Decorator:
    """Return the option of the definition of AP."""
    help = f'AP definition; see `mediaeval-ap definitions`.{note}'
    return choice('--definition', definitions.names(), default, help)


def together(*decorators: Decorator) -> Callable[[Function], Function]:
    """Return options that commands have in common, as one decorator."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


REFERENCE = click.argument('reference', type=FILE)
HYPOTHESIS = click.argument('hypothesis', type=FILE)
QUERIES = input_file('--queries', 'Names to ask for, one a line.  [default: all in REFERENCE]')
SUBSET = input_file('--subset', 'Videos to score, others are ignored: corpus_id video_id.')
CUTOFFS = click.option(
    '-K',
    'cutoffs',
    metavar='K,...',
    callback=_cutoffs,
    multiple=True,
    default=[','.join(map(str, definitions.CUTOFFS))],
    show_default=True,
    help='Cutoffs, separated by commas; "all" for AP without a cutoff. Several -K add up.',
)
DEFINITION = definition(definitions.DEFAULT)
STRICT = click.option(
    '--strict',
    is_flag=True,
    expose_value=False,
    callback=_fail_without_overlap,
    help='Fail, instead of warn, when two inputs have no id in common.',
)
MAX_BYTES = click.option(
    '--max-bytes',
    metavar='N',
    type=click.IntRange(1),
    default=_max_bytes,
    help='Limit for unpacked files, Parquet, pipes and standard input.  [default: 4 GiB]',
)
FORMAT = choice('--format', FORMATS, 'table', 'Output format.')
OUTPUT = click.option(
    '-o',
    '--output',
    type=NEW_FILE,
    default=STANDARD_STREAM,
    help='Write to FILE instead of standard output (atomically).',
)
MEAN_ONLY = click.option('--mean-only', is_flag=True, help='Show means only, without queries.')
LIMITS = together(STRICT, MAX_BYTES)
CRITERIA = together(SUBSET, CUTOFFS, DEFINITION, LIMITS)
RESULT = together(FORMAT, OUTPUT)


def read_reference(
    reference: str, cutoffs: list[Cutoff], subset: str | None, definition: str, max_bytes: int
) -> AveragePrecision:
    """Return the evaluator that the arguments and options of a command ask for."""
    check_cutoffs(cutoffs, definition)
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(
        reference, cutoffs, subset=subset, definition=definition, max_bytes=max_bytes
    )


def check_cutoffs(cutoffs: list[Cutoff], definition: str) -> None:
    """Refuse cutoffs that are given twice, or that the definition does not have."""
    try:
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
    except ParameterError as error:
        raise click.UsageError(str(error)) from error
