"""Arguments and options that several commands have."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import click

from mediaeval_ap import definitions
from mediaeval_ap.choices import MISSING as MISSING_POLICIES
from mediaeval_ap.choices import UNKNOWN as UNKNOWN_POLICIES
from mediaeval_ap.cli.errors import STANDARD_STREAM
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import NoOverlapWarning, ParameterError
from mediaeval_ap.files import Destination
from mediaeval_ap.report import FORMATS

__all__ = [
    'CUTOFFS',
    'DEFINITION',
    'FILE',
    'FORMAT',
    'HYPOTHESIS',
    'MAX_BYTES',
    'MEAN_ONLY',
    'MISSING',
    'NEW_FILE',
    'OUTPUT',
    'PER_QUERY',
    'PREDICTIONS',
    'QUERIES',
    'RANK',
    'REFERENCE',
    'STRICT',
    'SUBSET',
    'TRUTH',
    'UNKNOWN',
    'Output',
    'checked',
]


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
    """A callback of an option that refuses what the library would, before anything is read.

    Parameters
    ----------
    check : callable
        Takes the value, and raises a `ParameterError` when it is wrong.

    Returns
    -------
    callable
        Takes the value as click gives it, and returns it.

    Examples
    --------
    >>> from mediaeval_ap.choices import check_tag
    >>> tag = click.Option(['--tag'], callback=checked(check_tag))
    >>> tag.process_value(click.Context(click.Command('export')), 'my_run')
    'my_run'
    """

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
    """Where an output goes, found and held before anything is read.

    Examples
    --------
    >>> NEW_FILE.convert('-', None, None)
    '-'
    """

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Destination | str:
        path = super().convert(value, param, ctx)
        if path == STANDARD_STREAM:
            return STANDARD_STREAM
        destination = Destination(os.fsdecode(path))
        if ctx is not None:
            ctx.call_on_close(destination.close)
        return destination


FILE = click.Path(allow_dash=True, readable=False)  # what cannot be read is wrong data, not usage
REFERENCE = click.argument('reference', type=FILE)
HYPOTHESIS = click.argument('hypothesis', type=FILE)
QUERIES = click.option(
    '--queries', type=FILE, help='The names to ask for.  [default: all in REFERENCE]'
)
SUBSET = click.option('--subset', type=FILE, help='The videos that count: corpus_id video_id.')
CUTOFFS = click.option(
    '-K',
    'cutoffs',
    callback=_cutoffs,
    multiple=True,
    default=[','.join(map(str, definitions.CUTOFFS))],
    show_default=True,
    help='Cutoffs between commas; all for uncut AP. Several -K add up.',
)
DEFINITION = click.option(
    '--definition',
    type=click.Choice(definitions.names()),
    default=definitions.DEFAULT,
    show_default=True,
    help='What average precision is.',
)
FORMAT = click.option('--format', type=click.Choice(FORMATS), default='table', show_default=True)
Output = str | Destination
NEW_FILE = _NewFile(dir_okay=False, allow_dash=True)
OUTPUT = click.option(
    '-o',
    '--output',
    type=NEW_FILE,
    default=STANDARD_STREAM,
    help='Write there, whole or not at all, instead of to standard output.',
)
MEAN_ONLY = click.option('--mean-only', is_flag=True, help='Leave out the queries.')
MAX_BYTES = click.option(
    '--max-bytes',
    type=click.IntRange(1),
    default=_max_bytes,
    show_default='4 GiB',
    help='How many bytes a compressed file, Parquet, pipe or standard input may come to.',
)
STRICT = click.option(
    '--strict',
    is_flag=True,
    expose_value=False,
    callback=_fail_without_overlap,
    help='Fail, not only warn, when two inputs have no id in common.',
)
RANK = click.IntRange(1, definitions.LARGEST_CUTOFF)
TRUTH = click.argument('truth', type=FILE)
PREDICTIONS = click.argument('predictions', type=FILE)
PER_QUERY = click.option('--per-query', is_flag=True, help='Show the queries.')
MISSING = click.option(
    '--missing',
    type=click.Choice(MISSING_POLICIES),
    default='error',
    show_default=True,
    help='What an id of TRUTH is that the predictions lack.',
)
UNKNOWN = click.option(
    '--unknown',
    type=click.Choice(UNKNOWN_POLICIES),
    default='error',
    show_default=True,
    help='What an id of the predictions is that TRUTH lacks.',
)
