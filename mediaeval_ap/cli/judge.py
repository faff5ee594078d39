"""Commands about the judgements of a campaign: ``pool``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mediaeval_ap.choices import POOL_DEPTH
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.compare_and_report import named_runs
from mediaeval_ap.cli.options import RunFile
from mediaeval_ap.cli.output import Output, write_document
from mediaeval_ap.comparison.settings import require_libraries


@main.command(
    examples=[
        'mediaeval-ap pool reference.txt hypothesis.txt --queries queries.txt -K 100',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap pool reference.txt a=hypothesis.txt b=- "
        '-o pool.json',
    ]
)
@options.REFERENCE
@options.RUNS
@options.NAMES
@options.SCORING
@options.integer('--depth', default=POOL_DEPTH, help='First ranks that count as returned.')
@options.NEAR
@options.FORMAT
@options.OUTPUT
def pool(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    depth: int,
    near: float,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show who found the relevant shots, and the runs without them.

    For each team, all runs are scored without the relevant shots that only this team returned.
    """
    by_name = named_runs(options.with_names(runs, names, criteria['max_bytes']), None)
    require_libraries()
    teams = {name: run.team for name, run in by_name.items() if run.team}
    average_precision = options.read_reference(**criteria)
    made = average_precision.pool(by_name, queries, teams=teams, depth=depth, near=near)
    write_document(made._document(), format, output)
