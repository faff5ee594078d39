"""Commands about the judgements of a campaign: ``pool`` and ``judge-next``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mediaeval_ap import choices
from mediaeval_ap.choices import POOL_DEPTH
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.compare_and_report import named_runs
from mediaeval_ap.cli.options import RunFile
from mediaeval_ap.cli.output import Output, refuse_binary, write_document, write_figure
from mediaeval_ap.errors import require
from mediaeval_ap.render.formats import FORMATS
from mediaeval_ap.render.plot import FIGURE_FORMATS


@main.command(
    examples=[
        'mediaeval-ap pool reference.txt hypothesis.txt --queries queries.txt -K 100',
        "cut -d ' ' -f 1-3 reference.txt hypothesis.txt | sort -u | mediaeval-ap pool "
        'reference.txt a=hypothesis.txt --judged - -o pool.json',
    ]
)
@options.REFERENCE
@options.RUNS
@options.NAMES
@options.SCORING
@options.JUDGED
@options.DROP_UNJUDGED_ROWS
@options.integer(
    '--depth',
    default=None,
    help='First ranks that count as returned.  [default: the largest cutoff]',
)
@options.NEAR
@options.file_format([*FORMATS, *FIGURE_FORMATS])
@options.PRECISION
@options.OUTPUT
def pool(
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
    --judged, the lowest and highest MAP that each run could have if all of the pool was judged. A
    figure (-o pool.svg) shows both for each run.
    """
    refuse_binary(format, output)
    by_name = named_runs(options.with_names(runs, names), None)
    require('scipy', 'compare', 'compare')
    average_precision = options.read_reference(**criteria)
    teams = {name: run.team for name, run in by_name.items() if run.team}
    made = average_precision.pool(by_name, queries, teams=teams, depth=depth, near=near)
    if format in FIGURE_FORMATS:
        write_figure(made.plot.leaderboard(), format, output)
    else:
        write_document(made.document(), format, output)


@main.command(
    'judge-next',
    examples=[
        'mediaeval-ap judge-next reference.txt hypothesis.txt --queries queries.txt -n 5 '
        '--strategy rank-sum',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap judge-next reference.txt hypothesis.txt "
        'sure=- -o next.csv',
    ],
)
@options.REFERENCE
@options.RUNS
@options.NAMES
@options.JUDGED
@options.DROP_UNJUDGED_ROWS
@options.SCORING
@options.integer('-n', default=choices.TO_JUDGE, help='Lines of the queue.')
@options.choice('--by', choices.JUDGED_BY, 'shot', 'Judge a {words}; a shot for all names.')
@options.choice('--strategy', choices.STRATEGIES, 'mtc', 'Order: {words}.')
@options.integer('--depth', default=POOL_DEPTH, help='First ranks that are judged.')
@options.NEAR
@options.file_format(FORMATS)
@options.OUTPUT
def judge_next(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    n: int,
    strategy: choices.Strategy,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Say what to judge next.

    What comes first makes the order of the runs right soon. A line is a shot (--by pair: a shot
    and a name) in the first ranks of a run, with its reason. What --judged lists is not asked for
    again; without it, nothing is judged yet.
    """
    of_pool = {each: settings.pop(each) for each in ('by', 'depth', 'near')}
    by_name = named_runs(options.with_names(runs, names), None)
    of_pool['teams'] = {name: run.team for name, run in by_name.items() if run.team}
    if strategy == 'mtc':
        require('scipy', 'compare', 'compare')
    average_precision = options.read_reference(**settings)
    queue = average_precision.judge_next(by_name, queries, n=n, strategy=strategy, **of_pool)
    write_document(queue.document(), format, output)
