"""Files to compare: runs with their reference, results, or score tables; and their options."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mediaeval_ap import choices
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.output import FILE
from mediaeval_ap.cli.run_files import RunFile, with_names
from mediaeval_ap.errors import FormatError, ParameterError, printable, shown

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.results.result import Result
    from mediaeval_ap.tables.layouts import Layout

CRITERIA_NAMES = (  # names of settings of a command; the reference is none of them
    'subset',
    'cutoffs',
    'definition',
    'queries_without_relevant',
    'judged',
    'unjudged',
    'drop_unjudged_rows',
)
SCORING_OPTIONS = (
    '--queries',
    *(f'--{name.replace("_", "-")}' for name in CRITERIA_NAMES if name != 'subset'),
)
TREC_OPTIONS = '--ties', '--relevance-level'
COLUMNS_REMEDY = 'name its columns by --columns item=…,system=…,value=…'


def _read_range(value: str | None) -> tuple[float, float] | None:
    """Return two numbers; `compare` checks them."""
    try:
        low, high = map(float, value.split(',')) if value is not None else (0, 0)
    except ValueError:
        raise click.BadParameter(f'found {value!r}, expected two numbers, as 0,1') from None
    return None if value is None else (low, high)


def _read_grouping(value: str | None) -> str | None:
    return value.lower() if value and value.lower() in choices.GROUPINGS else value


comparison_options = option_kinds.combine_options(
    option_kinds.option(
        '--baseline', metavar='RUN', help='Name of the run to compare all others with.'
    ),
    option_kinds.choice(
        '--correction', choices.CORRECTIONS, 'holm', 'Correction of p for many pairs: {words}.'
    ),
    option_kinds.number(
        '--level', choices.LEVEL, choices.check_level, 'Confidence level, from 0 to 1.'
    ),
    option_kinds.choice(
        '--cluster',
        choices.CLUSTERS,
        None,
        'Queries to test together: {words}.  [default: video, with 50 videos or more]',
    ),
    option_kinds.option(
        '--by',
        type=FILE,
        metavar='NAME',
        read=_read_grouping,
        help='Add means and differences by corpus, relevant (number of shots), a column of score '
        'tables, or groups in a CSV with item,group.',
    ),
    option_kinds.option(
        '--macro',
        metavar='COLUMN',
        help='Column of score tables, such as dataset: each of its groups counts the same.',
    ),
    option_kinds.option(
        '--columns',
        metavar='ROLE=NAME,...',
        read=option_kinds.columns_by_role,
        help='Columns of score tables: item, system, value, cluster and seed.',
    ),
    option_kinds.option(
        '--systems',
        metavar='NAME,...',
        read=lambda value: value and value.split(','),
        help='Systems of score tables to compare; others are ignored.  [default: all]',
    ),
    option_kinds.option(
        '--range',
        metavar='LOW,HIGH',
        read=_read_range,
        help='Least and largest value of score tables.',
    ),
)


class ComparedFiles(NamedTuple):
    """The arguments of a command, sorted by kind."""

    reference: str | None
    results: list[RunFile]
    runs: list[RunFile]


def sort_files(reference: RunFile, runs: Sequence[RunFile], names: str | None) -> ComparedFiles:
    """Sort arguments into the reference, files of results, and runs to score; name both.

    The first argument holds results, too, if it looks like results; or if it cannot be read twice
    (standard input) and all others hold results.
    """
    from mediaeval_ap.results.json_files import holds_json
    from mediaeval_ap.tables import REFERENCE, read
    from mediaeval_ap.trec.other_tools import is_for_trec

    results = [file for file in (reference, *runs) if holds_json(file) and not is_for_trec(file)]
    if reference in results or (len(results) == len(runs) and not os.path.isfile(reference)):
        if unscored := [run for run in runs if run not in results and os.path.exists(run)]:
            raise click.UsageError(
                f'{shown(unscored[0])} holds no results, but other arguments do; '
                'to score a run beside results, give REFERENCE first'
            )
        return ComparedFiles(None, with_names([reference, *runs], names), [])
    if not runs:
        read_or_explain(read, reference, REFERENCE)
        reason = f'{printable(reference)} was taken for a reference; for a score table'
        raise click.UsageError(f"Missing argument 'RUN...', as {reason}, {COLUMNS_REMEDY}")
    to_score = [run for run in runs if run not in results]
    named_files = with_names([*results, *to_score], names)
    return ComparedFiles(reference, named_files[: len(results)], named_files[len(results) :])


def find_score_tables(
    files: Sequence[RunFile], columns: dict[str, str] | None, names: str | None
) -> list[RunFile]:
    """Return all files, named, if they are score tables or have columns; else none."""
    from mediaeval_ap.comparison.score_tables import SCORE_SHAPES, holds_scores

    item = (columns or {}).get('item', 'item')
    tables = [file for file in files if columns is not None or holds_scores(file, item)]
    other_files = [file for file in files if file not in tables and os.path.exists(file)]
    if tables and other_files:
        problem = f'{shown(other_files[0])} is not a score table, but another argument is'
        remedy = 'give tables of the same columns, as --columns is for all'
        raise click.UsageError(f'{problem} ({SCORE_SHAPES}); {remedy}')
    return with_names(files, names) if tables else []


def read_or_explain(read: Callable[..., Any], path: str, *layout: Layout) -> Any:
    """Read a reference or results; errors in the first lines also describe score tables."""
    from mediaeval_ap.comparison import score_tables

    try:
        return read(path, *layout)
    except FormatError as error:
        if error.place == 'line 2' and 'Extra data' in error.found:
            columns = score_tables.columns_of_json_lines(path)
            raise FormatError(error.source, '', '', *columns) from None
        if error.place not in ('', 'schema', 'line 1', 'line 2'):
            raise
        shapes = f'{score_tables.SCORE_SHAPES}{score_tables.SCORE_COLUMNS_REMEDY}'
        if path == '-':
            shapes = 'standard input needs --columns, as --columns item=item'
        expected = f'{error.expected}; or a score table: {shapes}'
        place = error.place, error.field, error.found
        raise FormatError(error.source, *place, expected, error.further) from None


def read_result_files(paths: Sequence[RunFile]) -> tuple[list[Result], list[str]]:
    """Read the results in files, with the seed of each; only one run of a file can get a name."""
    from mediaeval_ap.results.json_files import read_results

    results: list[Result] = []
    seeds: list[str] = []
    for path in paths:
        in_file: list[Result] = read_or_explain(read_results, path)
        if (name := path.given_name) and len({result.run for result in in_file}) > 1:
            found = f'found the name {name} for a file of several runs'
            raise click.UsageError(f'{found}, expected none')
        results += [result.called(name) for result in in_file]
        seeds += [path.seed] * len(in_file)
    return results, seeds


def by_seed(results: list[Any], seeds: Sequence[str]) -> Any:
    """Return results by the name of the run and its seed, if some have a seed."""
    from mediaeval_ap.results.result import distinct_run_names

    if not any(seeds):
        return results
    by_name: dict[tuple[str, str], list[Any]] = {}
    for name, seed, result in zip(distinct_run_names(results), seeds, results, strict=True):
        by_name.setdefault((name, seed), []).append(result)
    return by_name


def check_not_typed(names: Sequence[str], problem: str) -> None:
    """Raise UsageError if one of these options was typed."""
    if option := options.first_typed_option(names.__contains__):
        raise click.UsageError(f'{option}: found {problem}')


def check_nothing_to_score(kind: str) -> None:
    """Raise UsageError for options that need runs to score, or their rankings."""
    names = *SCORING_OPTIONS, *TREC_OPTIONS, '--subset', '--near', '--keep-going'
    check_not_typed(names, f'{kind}, which are scored already')


def comparison_of(results: Any, **settings: Any) -> Comparison:
    """Compare results; turn errors about typed options into UsageError.

    Errors about the baseline do not change: its file may be the cause.
    """
    from mediaeval_ap.comparison.comparison import compare

    try:
        return compare(results, **settings)
    except ParameterError as error:
        names = str(error).partition(':')[0].replace('_', '-').split(', ')
        wrong_options = {f'--{name}' for name in names if name != 'baseline'}
        if options.first_typed_option(wrong_options.__contains__):
            raise click.UsageError(str(error)) from error
        raise
