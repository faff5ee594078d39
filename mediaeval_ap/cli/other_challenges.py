"""Commands about TREC, 2015 and other challenges: ``evaluate-trec``, ``export-trec``, ``map``, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.atomic_files import as_write_errors, write_all_whole
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import NEW_FILE_OR_FOLDER, STANDARD_STREAM, Output, check_paths
from mediaeval_ap.cli.result_options import Reporting, reporting_options
from mediaeval_ap.cli.run_files import (
    RunFile,
    check_not_reread,
    refuse_repeated_files,
    runs_by_name,
    with_names,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import shown


@main.command(
    'export-trec',
    examples=[
        'mediaeval-ap export-trec reference.txt hypothesis.txt --queries queries.txt '
        '--qrels my.qrels --run my.run',
        'mediaeval-ap export-trec reference.txt hypothesis.txt --queries queries.txt '
        '--qrels my.qrels --run my.run -n 100 --tag mine',
    ],
)
@options.reference_argument
@options.named_runs
@option_kinds.new_file('--qrels', required=True, help='File of qrels to write.')
@option_kinds.new_file(
    '--run',
    required=True,
    type=NEW_FILE_OR_FOLDER,
    help='File of the run to write; for several RUNs a folder of NAME.trec.',
)
@options.queries_option
@options.subset_option
@option_kinds.integer(
    '-n',
    '--depth',
    default=choices.TREC_DEPTH,
    largest=choices.LARGEST_TREC_DEPTH,
    help='Largest number of shots to write for a query.',
)
@option_kinds.option(
    '--tag',
    help='Name of the run, in the last field.  [default: mediaeval_ap; in a folder, NAME, '
    'with %20 for a space]',
    metavar='WORD',
    read=choices.check_tag,
)
@options.warning_options
def export_trec_command(
    runs: Sequence[RunFile],
    names: str | None,
    qrels: Output,
    run: Output,
    queries: str | None,
    depth: int,
    tag: str | None,
    **criteria: Any,
) -> None:
    """Write runs and their qrels in the formats of TREC.

    Only queries with a relevant shot become topics; a warning counts the others. A shot becomes the
    document corpus/video/shot, once per ranking, with %20, %25 and %2F for space, % and / in ids.
    evaluate-trec QRELS RUN --queries FILE then gives the values of evaluate --definition trec;
    without --queries, the mean over the topics in QRELS.
    """
    if STANDARD_STREAM in (qrels, run):
        raise click.UsageError('--qrels and --run are files, not standard output (-)')
    is_folder = len(runs) > 1 or run.endswith('/') or os.path.isdir(run)
    if is_folder and os.path.isfile(run):
        found = f'found the file {shown(run)}'
        raise click.UsageError(f'--run: {found}, expected a folder for several runs')
    from mediaeval_ap.trec.topics import as_word, export

    written = {}
    for name, hypothesis in runs_by_name(with_names(runs, names), None).items():
        word = as_word(name)
        path = os.path.join(run, f'{word.replace("/", "%2F")}.trec') if is_folder else run
        written[path] = hypothesis, tag or (word if is_folder else 'mediaeval_ap')
    check_paths(click.get_current_context(), more_outputs=[*written] if is_folder else ())
    average_precision = options.read_reference(cutoffs=[depth], definition='trec', **criteria)
    contents = export(average_precision.criteria, written, qrels, queries=queries, k=depth)
    if is_folder:
        with as_write_errors(run):
            os.makedirs(run, exist_ok=True)
    write_all_whole(contents)


@main.command(
    'evaluate-trec',
    examples=[
        'mediaeval-ap evaluate-trec my.qrels my.run -K 100,all --per-query',
        'mediaeval-ap evaluate-trec my.qrels my.run --missing skip --unknown drop -o map.json',
    ],
)
@option_kinds.argument('qrels')
@options.named_runs
@options.cutoffs_option
@option_kinds.definition('trec')
@options.trec_ties_option
@options.relevance_level_option
@options.ignore_option
@options.repeated_option
@options.exclude_self_option
@options.unmatched_topics_options
@options.queries_without_relevant_option
@options.unjudged_option
@options.measures_option
@options.mteb_part_option
@options.warning_options
@option_kinds.input_file('--queries', 'All topics; those not in QRELS have no relevant document.')
@options.sort_queries_option
@reporting_options
def evaluate_trec_command(
    qrels: str,
    runs: Sequence[RunFile],
    names: str | None,
    cutoffs: list[Cutoff],
    reporting: Reporting,
    **settings: Any,
) -> None:
    """Score runs in the format of TREC: average precision at K.

    QRELS has qid, iteration, docno, relevance; RUN has qid, Q0, docno, rank, score, tag. QRELS
    with a stratum before the relevance are a sample: xinfAP is estimated, by default at 1000.
    --missing skip --unknown drop score as trec_eval does, --missing zero --unknown drop as
    trec_eval -c. Files of BEIR, Hugging Face, ir_datasets, MTEB, PyTerrier, ranx and
    sentence-transformers are recognised, and matrices of relevance and scores (.npy).
    """
    options.check_metrics(cutoffs, settings['definition'], settings['measures'])
    check_not_reread('QRELS', qrels, len(runs))
    check_not_reread('--queries', settings['queries'], len(runs))
    runs = with_names(runs, names)
    from mediaeval_ap.trec import evaluate_trec

    if not options.first_typed_option(['--definition']):
        settings['definition'] = None
    K = cutoffs if options.first_typed_option(['--cutoffs']) else None
    reporting.write(runs, lambda run: [evaluate_trec(qrels, run, K, **settings)])


@main.command(
    'evaluate-2015',
    examples=[
        'mediaeval-ap evaluate-2015 2015.ref run.label --shots 2015.shot --per-query',
        'mediaeval-ap evaluate-2015 2015.ref run.label --shots 2015.shot '
        '--evidence-reference 2015.eviref --evidence run.evidence',
    ],
)
@options.reference_argument
@options.runs_argument
@option_kinds.input_file(
    '--shots',
    'All shots: video_id shot_id start_time end_time first_frame last_frame.',
    required=True,
)
@option_kinds.input_file(
    '--evidence-reference', 'Where names are seen or heard: video_id shot_id person_name source.'
)
@option_kinds.input_file(
    '--evidence',
    'Evidence of a run: person_name video_id shot_id source. Once for each RUN.',
    multiple=True,
)
@options.queries_option
@option_kinds.input_file('--consensus', 'Shots to score: video_id shot_id.  [default: all]')
@option_kinds.number(
    '--ratio',
    choices.RATIO_2015,
    choices.check_ratio,
    'Similarity above which a name answers a query, from 0 to 1.',
)
@options.queries_without_relevant_option
@options.warning_options
@options.sort_queries_option
@reporting_options
def evaluate_2015_command(
    runs: tuple[RunFile, ...],
    evidence: tuple[str, ...],
    queries: str | None,
    reporting: Reporting,
    **task: Any,
) -> None:
    """Score runs of 2015: MAP, correctness and EwMAP.

    The files have the formats of MediaEval Person Discovery 2015, without a corpus: REFERENCE has
    video_id shot_id person_name; RUN has these and a confidence. Each query is answered by the
    closest name of the run, if it is close enough. Correctness and EwMAP need evidence.
    """
    if bool(evidence) != (task['evidence_reference'] is not None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    if evidence and len(evidence) != len(runs):
        raise click.UsageError(
            f'--evidence: found {len(evidence)}, expected one for each RUN: {len(runs)}'
        )
    if not evidence:
        refuse_repeated_files(runs)
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015
    from mediaeval_ap.tables import QUERIES, read

    discovery = PersonDiscovery2015(**task)
    query_table = None if queries is None else read(queries, QUERIES)
    reporting.write(
        runs,
        lambda run, evidence: [discovery.evaluate(run, evidence, query_table)],
        evidence or [None] * len(runs),
    )


def _challenge_inputs(predictions: str, roles: str) -> option_kinds.Decorator:
    """Make the arguments and options for the files of a challenge."""
    return option_kinds.combine_options(
        option_kinds.argument('truth'),
        option_kinds.run_file_argument(
            'runs', nargs=-1, required=True, metavar=f'{predictions}...'
        ),
        option_kinds.columns(
            '--columns', f'Columns of other files, by name, or by position from 1: {roles}.'
        ),
        option_kinds.columns('--truth-columns', 'Columns of TRUTH.  [default: as --columns]'),
        option_kinds.unmatched_ids('Ids', predictions, 'TRUTH'),
        options.warning_options,
    )


def _score_runs(
    reporting: Reporting,
    truth: str,
    runs: tuple[RunFile, ...],
    evaluate: Callable[..., Any],
    **settings: Any,
) -> None:
    """Score each run by a function; a setting of None keeps its default."""
    check_not_reread('TRUTH', truth, len(runs))
    refuse_repeated_files(runs)
    settings = {name: value for name, value in settings.items() if value is not None}
    settings['per_query'] = reporting.per_query
    reporting.write(runs, lambda run: [evaluate(truth, run, **settings)])


@main.command(
    'map',
    examples=[
        'mediaeval-ap map fashion_truth.csv fashion_predictions.csv -K 5,12',
        'mediaeval-ap map whales_truth.csv whales_predictions.csv --first-hit --per-query',
    ],
)
@_challenge_inputs('PREDICTIONS', 'id, and labels (several in a field) or label (one in each row)')
@option_kinds.cutoffs(
    None,
    f'Cutoffs, such as 5,12.  [default: {choices.MAP_CUTOFF}; with --first-hit '
    f'{choices.FIRST_HIT_CUTOFF}]',
)
@option_kinds.definition(None, '  [default: kaggle]')
@option_kinds.flag('--first-hit', help='Score the reciprocal rank of the first hit.')
@reporting_options
def map_command(
    first_hit: bool, cutoffs: list[Cutoff], definition: str | None, **settings: Any
) -> None:
    """Score lists of labels: MAP at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction with the predicted labels, separated by spaces, best
    first. TRUTH has the same columns (the relevant labels), or customer_id,article_id with one
    label per row. With --first-hit both have Image,Id, and TRUTH one label per row. --columns
    names the columns of other files.
    """
    if first_hit and definition:
        raise click.UsageError('--first-hit takes no --definition')
    if definitions.ALL in cutoffs:
        raise click.UsageError('-K: found all, expected positive integers')
    if cutoffs:
        options.check_metrics(cutoffs, definition or 'kaggle')
    from mediaeval_ap.challenges import evaluate_first_hit, evaluate_map

    settings['k'] = cutoffs or None
    if first_hit:
        _score_runs(evaluate=evaluate_first_hit, **settings)
    else:
        _score_runs(evaluate=evaluate_map, definition=definition, **settings)


@main.command(
    'gap',
    examples=[
        'mediaeval-ap gap landmarks_truth.csv landmarks_predictions.csv',
        'mediaeval-ap gap landmarks_truth.csv landmarks_predictions.csv --per-query -o gap.csv',
    ],
)
@_challenge_inputs('PREDICTIONS', 'id, label and, if it has its own column, confidence')
@option_kinds.choice('--ties', choices.TIES, 'expected', 'Order of equal confidences: {words}.')
@reporting_options
def gap_command(**settings: Any) -> None:
    """Score one label per query, all in one list: global AP.

    TRUTH has id,landmark_id. PREDICTIONS has id,landmarks, where landmarks is empty, or a label, a
    space and its confidence. --columns names the columns of other files.
    """
    from mediaeval_ap.challenges import evaluate_gap

    _score_runs(evaluate=evaluate_gap, **settings)


@main.command(
    'lrap',
    examples=[
        'mediaeval-ap lrap sounds_truth.csv sounds_scores.csv --label-weighted',
        'mediaeval-ap lrap sounds_truth.csv sounds_scores.csv --per-class -o classes.md',
    ],
)
@_challenge_inputs(
    'SCORES', 'id, and in TRUTH labels (several in a field) or label (one in each row)'
)
@option_kinds.flag('--label-weighted', help='Take the mean over labels (lwlrap), not samples.')
@options.queries_without_relevant_option
@option_kinds.flag('--per-class', help='Add the values of each class.')
@reporting_options
def lrap_command(reporting: Reporting, per_class: bool, **settings: Any) -> None:
    """Score one number per sample and class: label ranking AP.

    TRUTH has fname,labels with the labels separated by commas, in quotes. SCORES has fname and
    one column per class. --columns names the columns of other files. Both may be .npy arrays with
    a row per sample and a column per class.
    """
    if per_class and reporting.per_query:
        raise click.UsageError('--per-class and --per-query exclude each other')
    from mediaeval_ap.challenges import evaluate_lrap

    _score_runs(reporting, evaluate=evaluate_lrap, per_class=per_class, **settings)


@main.command(
    'macro-ap',
    examples=[
        'mediaeval-ap macro-ap sounds_truth.csv sounds_scores.csv --per-query',
        'mediaeval-ap macro-ap sounds_truth.csv sounds_scores.csv --ties expected -o macro.json',
    ],
)
@_challenge_inputs(
    'SCORES', 'id, and in TRUTH labels (several in a field) or label (one in each row)'
)
@option_kinds.choice('--ties', choices.TIES, 'threshold', 'Order of equal scores: {words}.')
@reporting_options
def macro_ap_command(**settings: Any) -> None:
    """Score one number per sample and class: mean AP over classes.

    Samples are ranked by the score of each class; classes are the queries. Files are those of lrap.
    """
    from mediaeval_ap.challenges import evaluate_macro_ap

    _score_runs(evaluate=evaluate_macro_ap, **settings)
