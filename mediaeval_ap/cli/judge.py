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
from mediaeval_ap.results.run_names import teams_in_file


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
@options.input_file('--teams', 'Teams of the runs, by name: CSV with run,team.')
@options.SCORING
@options.JUDGED
@options.JUDGED_ONLY
@options.integer('--depth', default=POOL_DEPTH, help='First ranks that count as returned.')
@options.NEAR
@options.FORMAT
@options.OUTPUT
def pool(
    runs: Sequence[RunFile],
    names: str | None,
    teams: str | None,
    queries: str | None,
    depth: int,
    near: float,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show who found the relevant shots, and the runs without them.

    For each team, all runs are scored without the relevant shots that only this team returned. With
    --judged, the lowest and highest MAP that each run could have if all of the pool was judged.
    """
    max_bytes = criteria['max_bytes']
    by_name = named_runs(options.with_names(runs, names, max_bytes), None)
    require_libraries()
    of_runs = {name: run.team for name, run in by_name.items() if run.team}
    if teams is not None:
        of_runs = teams_in_file(teams, by_name, max_bytes)
    average_precision = options.read_reference(**criteria)
    made = average_precision.pool(by_name, queries, teams=of_runs, depth=depth, near=near)
    write_document(made._document(), format, output)
