"""Kinds of arguments and options: functions that make decorators for commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli.output import FILE, NEW_FILE
from mediaeval_ap.cli.run_files import read_run_argument
from mediaeval_ap.definitions import LARGEST_CUTOFF, Cutoff
from mediaeval_ap.errors import ParameterError

Decorator = Callable[[Any], Any]


def combine_options(*decorators: Decorator) -> Decorator:
    """Combine decorators into one, in the order of the help."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def argument(name: str, **settings: Any) -> Decorator:
    return click.argument(name, type=FILE, **settings)


def run_file_argument(name: str, **settings: Any) -> Decorator:
    return argument(name, callback=read_run_argument, **settings)


def option(
    *names: str, help: str, read: Callable[[Any], Any] | None = None, **settings: Any
) -> Decorator:
    """Make an option whose value, if any, `read` converts; the help shows a default once."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:
        if read is None or value is None:
            return value
        try:
            return read(value)
        except ParameterError as error:
            raise click.BadParameter(error.problem) from error

    settings['callback'] = callback
    settings.setdefault('show_default', 'default' in settings and '[default: ' not in help)
    return click.option(*names, help=help, **settings)


def input_file(name: str, help: str, **settings: Any) -> Decorator:
    return option(name, type=FILE, metavar='FILE', help=help, **settings)


def new_file(*names: str, help: str, **settings: Any) -> Decorator:
    return option(*names, help=help, **{'type': NEW_FILE, 'metavar': 'FILE', **settings})


def output(help: str, **settings: Any) -> Decorator:
    return new_file('-o', '--output', help=help, **settings)


def flag(*names: str, help: str) -> Decorator:
    return option(*names, is_flag=True, help=help)


def number(
    name: str, default: float | None, check: Callable[[float], object], help: str
) -> Decorator:
    return option(name, default=default, type=float, metavar='NUMBER', read=check, help=help)


def integer(
    *names: str, default: Any, least: int = 1, largest: int = LARGEST_CUTOFF, **settings: Any
) -> Decorator:
    """Make an option of an integer between two bounds, which the help does not show."""

    def check(value: int) -> int:
        if least <= value <= largest:
            return value
        raise click.BadParameter(f'found {value}, expected an integer from {least} to {largest}')

    return option(*names, default=default, type=int, metavar='N', read=check, **settings)


def choice(name: str, choices: Iterable[str], default: str | None, help: str) -> Decorator:
    """Make an option of a word from a list, in any case; `help` shows the list at {words}."""
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
    if default:
        note = ''
    return choice('--format', formats, default, '{words}.' + note)


def definition(default: str | None, note: str = '') -> Decorator:
    help = 'AP definition: {words}; see "mediaeval-ap help definitions".'
    return choice('--definition', definitions.names(), default, help + note)


def cutoffs(default: Iterable[Cutoff] | None, help: str) -> Decorator:
    names = ('-K', '-k', '--cutoffs')
    shown_default = None if default is None else [','.join(map(str, default))]

    def read(values: tuple[str, ...]) -> list[Cutoff]:
        expected = 'positive integers, or all, between commas'
        return [_cutoff(value, field, expected) for value in values for field in value.split(',')]

    return option(
        *names, metavar='K,...', read=read, multiple=True, default=shown_default, help=help
    )


def cutoff(*names: str, default: str, help: str) -> Decorator:
    def read(value: str) -> Cutoff:
        return _cutoff(value, value, 'a positive integer, or all')

    return option(*names, metavar='K', read=read, default=default, help=help)


def _cutoff(value: str, field: str, expected: str) -> Cutoff:
    """Return the cutoff in one field of an option's value."""
    if field == definitions.ALL:
        return definitions.ALL
    if re.fullmatch('[0-9]{1,19}', field) and 0 < int(field) <= LARGEST_CUTOFF:
        return int(field)
    raise click.BadParameter(f'found {value!r}, expected {expected}')


def unmatched_ids(ids: str, run: str, truth: str) -> Decorator:
    """Make the options about ids that are in only one of two files."""
    missing = f'{ids} that {run} lacks: error (stop), zero or skip.'
    unknown = f'{ids} that {truth} lacks: error (stop) or drop.'
    return combine_options(
        choice('--missing', choices.MISSING, 'error', missing),
        choice('--unknown', choices.UNKNOWN, 'error', unknown),
    )


def joined(read: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    """Read the values of an option that may be repeated as one, with commas between."""
    return lambda values: read(','.join(values)) if values else None


def columns(name: str, help: str, metavar: str = 'ROLE=COLUMN,...') -> Decorator:
    read = joined(partial(columns_by_role, expected=metavar.removesuffix(',...')))
    return option(name, help=help, metavar=metavar, read=read, multiple=True)


def columns_by_role(value: str, expected: str = 'ROLE=COLUMN') -> dict[str, str | int]:
    """Return what stands after each `=`; of COLUMN, digits alone as an integer: a position."""
    columns: dict[str, str | int] = {}
    for field in value.split(','):
        role, _equals, column = field.partition('=')
        if not role or not column or role in columns:
            expected += ' between commas, each once'
            raise click.BadParameter(f'found {field!r}, expected {expected}')
        columns[role] = column
        if column.isascii() and column.isdigit() and expected.endswith('=COLUMN'):
            columns[role] = int(column)
    return columns
