"""Arguments and options that several commands share, as decorators."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.cli.option_kinds import (
    argument,
    choice,
    combine_options,
    cutoffs,
    definition,
    file_format,
    flag,
    input_file,
    integer,
    option,
    output,
    run_file_argument,
    unmatched_ids,
)
from mediaeval_ap.cli.output import STANDARD_STREAM, as_usage_errors, typed_options
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import ReadError
from mediaeval_ap.render.formats import FORMATS, N_DECIMALS

if TYPE_CHECKING:
    from mediaeval_ap.average_precision import AveragePrecision
    from mediaeval_ap.cli.run_files import RunFile
    from mediaeval_ap.evaluator import Evaluator

TREC_SETTINGS = 'ties relevance_level ignore repeated exclude_self missing unknown part'.split()
TREC_OPTIONS = [f'--{name.replace("_", "-")}' for name in TREC_SETTINGS if name != 'missing']
OPTIONS_WITHOUT_TREC = '--subset --judged --drop-unjudged-rows --range --near'.split()


def _check_is_file(path: str) -> str:
    """Raise if the file of --queries does not exist, with a hint: the value may be a name."""
    if path == STANDARD_STREAM or os.path.exists(path) or '\0' in path:
        return path
    reason = f'{os.strerror(errno.ENOENT)}; --queries takes a file of names, one per line'
    raise ReadError(path, reason)


def _n_jobs(value: str) -> object:
    if re.fullmatch('[0-9]{1,9}', value):
        return choices.check_jobs(int(value))
    return choices.check_jobs(value)


def _relevance_level(value: str) -> int | float:
    for type_ in int, float:
        try:
            level = type_(value)
        except ValueError:
            continue
        return choices.check_relevance_level(level)
    raise click.BadParameter(f'found {value!r}, expected a number')


reference_argument = argument('reference')
optional_reference_argument = argument('reference', required=False, metavar='REFERENCE')
run_argument = run_file_argument('hypothesis', metavar='RUN')
runs_argument = run_file_argument('runs', nargs=-1, required=True, metavar='RUN...')
optional_runs_argument = run_file_argument('runs', nargs=-1, required=False, metavar='RUN...')
names_option = input_file('--names', 'Names of the runs: CSV with path,name[,team][,seed].')
named_runs = combine_options(runs_argument, names_option)
optional_named_runs = combine_options(optional_runs_argument, names_option)
queries_option = input_file(
    '--queries',
    'Names to score, one per line.  [default: all in REFERENCE except ?…]',
    read=_check_is_file,
)
subset_option = input_file('--subset', 'Videos to score (corpus_id video_id); others are ignored.')
cutoffs_option = cutoffs(definitions.CUTOFFS, 'Cutoffs, such as 10,100; "all" means without one.')
definition_option = definition(definitions.DEFAULT)
queries_without_relevant_option = choice(
    '--queries-without-relevant',
    choices.WITHOUT_RELEVANT,
    'count',
    'Queries without a relevant item: count (as defined) or skip.',
)
judged_option = input_file('--judged', 'Judgements: shots, pairs with relevance, or qrels.')
drop_unjudged_rows_option = flag(
    '--drop-unjudged-rows', help='Drop rows of REFERENCE that are not judged, instead of an error.'
)
unjudged_option = choice(
    '--unjudged',
    choices.UNJUDGED,
    'nonrelevant',
    'Returned shots that are not judged: {words} (leave them out).',
)
judgement_options = combine_options(judged_option, unjudged_option, drop_unjudged_rows_option)
measures_option = option(
    '--measures',
    metavar='NAME,...',
    multiple=True,
    read=list,
    help='Measures of ir_measures to add, such as nDCG@10,P@5. Needs the extra trec.',
)
trec_ties_option = choice(
    '--ties',
    choices.TREC_TIES,
    'trec_eval',
    'Order of equal scores: {words}; trec_eval is version 10.',
)
relevance_level_option = option(
    '--relevance-level',
    metavar='NUMBER',
    default='1',
    read=_relevance_level,
    help='Least relevance in QRELS that counts as relevant; 0.5 or 1.0 where some have decimals.',
)
ignore_option = option(
    '--ignore',
    metavar='RELEVANCE',
    type=int,
    multiple=True,
    help='Relevance in QRELS whose documents leave the ranking, as junk does: such as -1.',
)
repeated_option = choice(
    '--repeated',
    choices.REPEATED,
    'error',
    'Documents that a RUN lists again for a topic: error (stop) or first (keep the higher score).',
)
exclude_self_option = flag(
    '--exclude-self', help='Leave out documents whose id is the topic: a query finds itself.'
)
mteb_part_option = option(
    '--part',
    metavar='SUBSET/SPLIT',
    help='Subset, split or both of MTEB predictions to score.  [default: the only one]',
)
unmatched_topics_options = unmatched_ids('Topics', 'a RUN', 'QRELS')
trec_options = combine_options(
    trec_ties_option,
    relevance_level_option,
    ignore_option,
    repeated_option,
    exclude_self_option,
    mteb_part_option,
)
topic_options = combine_options(unmatched_topics_options, trec_options)
jobs_option = option(
    '--jobs',
    metavar='N',
    default='1',
    read=_n_jobs,
    help='Number of processes, or "all" for one on each core.',
)
scheduler_option = option(
    '--scheduler',
    metavar='ADDRESS',
    help='Dask scheduler, such as tcp://host:8786. Needs the extra cluster.',
)
near_option = option(
    '--near',
    type=float,
    metavar='DISTANCE',
    default=choices.NEAR,
    read=choices.check_near,
    help='Largest distance of another spelling from a query, from 0 to below 1.',
)
sort_queries_option = flag(
    '--sort-queries', help='Show each query, the worst first: by AP at the last cutoff.'
)
precision_option = integer(
    '--precision',
    default=N_DECIMALS.get(),
    least=0,
    largest=15,
    help='Decimals in table, markdown and latex.',
)
format_options = combine_options(file_format(FORMATS), precision_option)
output_option = output(
    'File to write, whole or not at all.  [default: standard output]', default=STANDARD_STREAM
)
quiet_option = flag('-q', '--quiet', help='Show errors only: no warnings, no progress.')
warning_options = combine_options(
    flag('--strict', help='Stop if two inputs have no id in common, or lost zeros, not just warn.'),
    quiet_option,
)
criteria_options = combine_options(
    subset_option, cutoffs_option, definition_option, warning_options
)
scoring_options = combine_options(queries_option, criteria_options, queries_without_relevant_option)
judged_scoring_options = combine_options(scoring_options, judgement_options)


def read_reference(cutoffs: list[Cutoff], definition: str, **settings: Any) -> AveragePrecision:
    """Read the reference, and return an evaluator with the options of a command."""
    check_metrics(cutoffs, definition)
    if settings.get('judged') is None:
        if settings.get('unjudged') == 'skip':
            raise click.UsageError('--unjudged skip needs --judged FILE: the judgements')
        if settings.get('drop_unjudged_rows'):
            raise click.UsageError('--drop-unjudged-rows needs --judged FILE: the judgements')
    from mediaeval_ap.average_precision import AveragePrecision

    return AveragePrecision(K=cutoffs, definition=definition, **settings)


def read_reference_or_qrels(
    reference: str,
    runs: Sequence[RunFile],
    *,
    cutoffs: list[Cutoff],
    definition: str,
    **settings: Any,
) -> Evaluator:
    """Read the reference of runs, or their qrels if they are of TREC or another tool."""
    trec_settings = {name: settings.pop(name) for name in TREC_SETTINGS}
    if not are_trec([reference, *runs]):
        check_not_typed((*TREC_OPTIONS, '--missing'), 'no runs of TREC or another tool')
        return read_reference(cutoffs, definition, reference=reference, **settings)
    check_not_typed(OPTIONS_WITHOUT_TREC, 'runs of TREC or another tool')
    if not first_typed_option(['--definition']):
        definition = 'trec'
    check_metrics(cutoffs, definition)
    for name in 'queries_without_relevant', 'unjudged':
        if name in settings:
            trec_settings[name] = settings[name]
    from mediaeval_ap.trec_topics import TrecTopics

    return TrecTopics(reference, cutoffs, definition=definition, **trec_settings)


def are_trec(files: Sequence[str]) -> bool:
    """Return True if one of these is a run or qrels of TREC or another tool."""
    from mediaeval_ap.tables.first_look import Kind, kind_of
    from mediaeval_ap.trec.other_tools import file_in

    return any(kind_of(file_in(file)) is Kind.TREC for file in files)


def check_metrics(cutoffs: list[Cutoff], definition: str, measures: Iterable[str] = ()) -> None:
    """Raise if a cutoff repeats, or does not go with the definition or a measure."""
    with as_usage_errors():
        definitions.check_cutoffs(cutoffs, definitions.get(definition))
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures

            check_columns(parse_measures(measures), cutoffs)


def check_not_typed(names: Collection[str], problem: str) -> None:
    if option := first_typed_option(names):
        raise click.UsageError(f'{option}: found {problem}')


def first_typed_option(names: Collection[str]) -> str | None:
    """Return the first of these options that was typed, or None."""
    return next((option for _, option in typed_options() if option in names), None)
