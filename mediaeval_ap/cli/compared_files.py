"""Files to compare: runs with their reference, results, or score tables; and their options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mediaeval_ap import choices
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.output import FILE
from mediaeval_ap.cli.run_files import RunFile, with_names
from mediaeval_ap.errors import FormatError, printable, shown

if TYPE_CHECKING:
    from mediaeval_ap.results.result import Result

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
COLUMNS_REMEDY = 'name its columns by --columns item=…,system=…,value=…'


def _read_range(value: str) -> tuple[float, float]:
    """Return two numbers; `compare` checks them."""
    try:
        low, high = map(float, value.split(','))
    except ValueError:
        raise click.BadParameter(f'found {value!r}, expected two numbers, as 0,1') from None
    return low, high


def _read_grouping(value: str) -> str:
    if value.lower() in choices.GROUPINGS:
        return value.lower()
    return value


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
    option_kinds.columns(
        '--columns',
        'Columns of score tables: item, system, value, cluster and seed.',
        'ROLE=NAME,...',
    ),
    option_kinds.columns(
        '--where',
        'Keep the rows of score tables that have these texts in these columns.',
        'COLUMN=TEXT,...',
    ),
    option_kinds.option(
        '--systems',
        metavar='NAME,...',
        read=option_kinds.joined(lambda value: value.split(',')),
        multiple=True,
        help='Systems of score tables to compare; others are ignored.  [default: all]',
    ),
    option_kinds.option(
        '--range',
        metavar='LOW,HIGH',
        read=_read_range,
        help='Least and largest value of score tables.',
    ),
    option_kinds.flag(
        '--lower-is-better',
        help='Values of score tables are losses, such as WER: order and limits turn.',
    ),
)


class ComparedFiles(NamedTuple):
    reference: RunFile | None = None
    results: Sequence[RunFile] = ()
    runs: Sequence[RunFile] = ()
    score_tables: Sequence[RunFile] = ()


def sort_files(
    reference: RunFile, runs: Sequence[RunFile], names: str | None, columns: dict[str, str] | None
) -> ComparedFiles:
    """Sort arguments into the reference, results, runs to score, and score tables; name them."""
    from mediaeval_ap.comparison.score_files import SCORE_SHAPES, columns_of_json_lines
    from mediaeval_ap.tables import REFERENCE, read
    from mediaeval_ap.tables.first_look import Kind, kind_of

    files = [reference, *runs]
    kinds = dict.fromkeys(files, Kind.SCORES)  # only these have columns
    if columns is None:
        kinds = {file: kind_of(file) for file in files}
        kinds |= dict.fromkeys(filter(os.path.isdir, [reference]), Kind.SCORES)  # no reference
    if Kind.SCORES in kinds.values():
        for file, kind in kinds.items():
            if kind is not Kind.SCORES and os.path.exists(file):
                problem = f'{shown(file)} is not a score table, but another argument is'
                remedy = 'give tables of the same columns, as --columns is for all'
                raise click.UsageError(f'{problem} ({SCORE_SHAPES}); {remedy}')
        return ComparedFiles(score_tables=with_names(files, names))
    for file, kind in kinds.items():
        if kind is Kind.JSON_LINES:
            raise FormatError(file.source.name, '', '', *columns_of_json_lines(file))
    results = [file for file in files if kinds[file] is Kind.RESULTS]
    # Standard input cannot be read twice: it holds results if all others do.
    if reference in results or (len(results) == len(runs) and not os.path.isfile(reference)):
        if unscored := [run for run in runs if run not in results and os.path.exists(run)]:
            raise click.UsageError(
                f'{shown(unscored[0])} holds no results, but other arguments do; '
                'to score a run beside results, give REFERENCE first'
            )
        return ComparedFiles(results=with_names(files, names))
    if not runs:
        with naming_score_tables(reference):
            read(reference, REFERENCE)
        reason = f'{printable(reference)} was taken for a reference; for a score table'
        raise click.UsageError(f"Missing argument 'RUN...', as {reason}, {COLUMNS_REMEDY}")
    to_score = [run for run in runs if run not in results]
    named_files = with_names([*results, *to_score], names)
    return ComparedFiles(reference, named_files[: len(results)], named_files[len(results) :])


@contextmanager
def naming_score_tables(path: RunFile) -> Iterator[None]:
    """Add the shapes of score tables to an error in the first lines of a reference or results."""
    try:
        yield
    except FormatError as error:
        from mediaeval_ap.tables.first_look import columns_of

        source = path.source
        may_be_table = len(columns_of(source)) != 1 or not source.start
        if may_be_table and error.place in ('', 'schema', 'line 1', 'line 2'):
            from mediaeval_ap.comparison.score_files import SCORE_COLUMNS_REMEDY, SCORE_SHAPES

            shapes = f'{SCORE_SHAPES}{SCORE_COLUMNS_REMEDY}'
            if path == '-':
                shapes = 'standard input needs --columns, as --columns item=item'
            error.add_note(f'or a score table: {shapes}')
        raise


def read_result_files(paths: Sequence[RunFile]) -> tuple[list[Result], list[str]]:
    """Read the results in files, with the seed of each; only one run of a file can get a name."""
    from mediaeval_ap.results.json_files import read_results

    results: list[Result] = []
    seeds: list[str] = []
    for path in paths:
        with naming_score_tables(path):
            in_file = read_results(path)
        if (name := path.given_name) and len({result.run for result in in_file}) > 1:
            actual = f'found the name {name} for a file of several runs'
            raise click.UsageError(f'{actual}, expected none')
        results += [result.called(name) for result in in_file]
        seeds += [path.seed] * len(in_file)
    return results, seeds


def by_seed(results: list[Result], seeds: Sequence[str]) -> Any:
    """Return results by the name of the run and its seed, if some have a seed."""
    from mediaeval_ap.results.result import distinct_run_names

    if not any(seeds):
        return results
    by_name: dict[tuple[str, str], list[Result]] = {}
    for name, seed, result in zip(distinct_run_names(results), seeds, results, strict=True):
        by_name.setdefault((name, seed), []).append(result)
    return by_name


def check_nothing_to_score(kind: str) -> None:
    """Raise UsageError for options that need runs to score, or their rankings."""
    names = *SCORING_OPTIONS, *options.TREC_OPTIONS, '--subset', '--near', '--keep-going'
    options.check_not_typed(names, f'{kind}, which are scored already')
