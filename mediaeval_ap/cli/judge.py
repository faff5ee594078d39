"""Commands about the judgements of a campaign: ``pool`` and ``judge-next``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mediaeval_ap import choices
from mediaeval_ap.choices import POOL_DEPTH
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, check_can_be_binary, write_document, write_figure
from mediaeval_ap.cli.run_files import RunFile, runs_by_name, teams_by_run, with_names
from mediaeval_ap.errors import require
from mediaeval_ap.render.formats import FORMATS
from mediaeval_ap.render.plot import FIGURE_FORMATS


@main.command(
    'pool',
    examples=[
        'mediaeval-ap pool reference.txt hypothesis.txt --queries queries.txt -K 100',
        "cut -d ' ' -f 1-3 reference.txt hypothesis.txt | sort -u | mediaeval-ap pool "
        'reference.txt a=hypothesis.txt --judged - -o pool.json',
    ],
    advanced='--missing --unknown --ties',
)
@options.reference_argument
@options.named_runs
@options.scoring_options
@options.judged_option
@options.drop_unjudged_rows_option
@options.topic_options
@option_kinds.integer(
    '--depth',
    default=None,
    help='Number of first ranks that count as returned.  [default: the largest cutoff]',
)
@options.near_option
@option_kinds.file_format([*FORMATS, *FIGURE_FORMATS])
@options.precision_option
@options.output_option
def pool_command(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    depth: int | None,
    near: float,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show who found the relevant shots, and the runs without them.

    For each team, all runs are scored without the relevant shots that only this team returned. With
    --judged, also show the lowest and highest MAP that each run could have if the whole pool were
    judged. A figure (-o pool.svg) shows both for each run. REFERENCE and RUNs may be qrels and runs
    of TREC.
    """
    check_can_be_binary(format, output)
    named_runs = runs_by_name(with_names(runs, names), None)
    require('scipy', 'compare', 'compare')
    evaluator = options.read_reference_or_qrels(runs=runs, **criteria)
    pool = evaluator.pool(
        named_runs, queries, teams=teams_by_run(named_runs), depth=depth, near=near
    )
    if format in FIGURE_FORMATS:
        write_figure(pool.plot.leaderboard(), format, output)
    else:
        write_document(pool.document(), format, output)


@main.command(
    'judge-next',
    examples=[
        'mediaeval-ap judge-next reference.txt hypothesis.txt --queries queries.txt -n 5 '
        '--strategy rank-sum',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap judge-next reference.txt hypothesis.txt "
        'sure=- -o next.csv',
    ],
    advanced='--missing --unknown --ties',
)
@options.reference_argument
@options.named_runs
@options.judged_option
@options.drop_unjudged_rows_option
@options.scoring_options
@options.topic_options
@option_kinds.integer('-n', default=choices.TO_JUDGE, help='Number of lines.')
@option_kinds.choice(
    '--by',
    choices.JUDGED_BY,
    None,
    'Judge a {words} per line; a shot is judged for all names.  [default: shot; pair for TREC]',
)
@option_kinds.choice('--strategy', choices.STRATEGIES, 'mtc', 'Order: {words}.')
@option_kinds.integer('--depth', default=POOL_DEPTH, help='Number of first ranks to judge.')
@options.near_option
@option_kinds.file_format(FORMATS)
@options.output_option
def judge_next_command(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    n: int,
    strategy: choices.Strategy,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """List the next shots or pairs to judge.

    The first lines do most to make the order of the runs right. A line is a shot (--by pair: a shot
    and a name) in the first ranks of a run, with its reason. Everything in --judged is left out;
    without it, the shots (or pairs) of REFERENCE are. REFERENCE and RUNs may be qrels and runs of
    TREC; then all qrels from relevance 0 are judged.
    """
    pool_settings = {name: settings.pop(name) for name in ('by', 'depth', 'near')}
    named_runs = runs_by_name(with_names(runs, names), None)
    pool_settings['teams'] = teams_by_run(named_runs)
    if strategy == 'mtc':
        require('scipy', 'compare', 'compare')
    evaluator = options.read_reference_or_qrels(runs=runs, **settings)
    queue = evaluator.judge_next(named_runs, queries, n=n, strategy=strategy, **pool_settings)
    write_document(queue.document(), format, output)
