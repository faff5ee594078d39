"""The command ``evaluate-2015``, for runs of the campaign of 2015."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import RATIO_2015, check_ratio
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import FILE
from mediaeval_ap.cli.reporting import Reporting, reports


@main.command(
    'evaluate-2015',
    examples=[
        'mediaeval-ap evaluate-2015 2015.ref run.label --shots 2015.shot --per-query',
        'mediaeval-ap evaluate-2015 2015.ref run.label --shots 2015.shot '
        '--evidence-reference 2015.eviref --evidence run.evidence',
    ],
)
@options.REFERENCE
@options.RUNS
@options.input_file(
    '--shots',
    'All shots: video_id shot_id start_time end_time first_frame last_frame.',
    required=True,
)
@options.input_file(
    '--evidence-reference', 'Where names are seen or heard: video_id shot_id person_name source.'
)
@options.option(
    '--evidence',
    heading='Input',
    type=FILE,
    metavar='FILE',
    multiple=True,
    help='One piece of evidence for each name of a run: person_name video_id shot_id source. '
    'Repeat it for several runs, in their order.',
)
@options.queries('all in REFERENCE that do not begin with ?')
@options.input_file('--consensus', 'Shots to score: video_id shot_id.  [default: all]')
@options.valued(
    '--ratio',
    default=RATIO_2015,
    help='A name answers a query if their similarity (0 to 1) is greater than this.',
    heading='Scoring',
    type=float,
    metavar='NUMBER',
    callback=options.checked(check_ratio),
)
@options.QUERIES_WITHOUT_RELEVANT
@options.LIMITS
@reports
def evaluate_2015(
    runs: tuple[str, ...],
    evidence: tuple[str, ...],
    queries: str | None,
    reporting: Reporting,
    **task: Any,
) -> None:
    """Score runs of 2015: MAP, correctness and EwMAP.

    The files are those of MediaEval Person Discovery 2015, without a corpus: REFERENCE has video_id
    shot_id person_name; RUN has these and a confidence. Each query is answered by the closest name
    of the run, if it is close enough. Correctness and EwMAP need evidence.
    """
    if bool(evidence) != (task['evidence_reference'] is not None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    if evidence and len(evidence) != len(runs):
        raise click.UsageError(
            f'--evidence: found {len(evidence)}, expected one for each RUN: {len(runs)}'
        )
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015
    from mediaeval_ap.tables import QUERIES, read

    discovery = PersonDiscovery2015(**task)
    asked = None if queries is None else read(queries, QUERIES, max_bytes=task['max_bytes'])
    reporting.write(
        runs,
        lambda run, evidence: [discovery.evaluate(run, evidence, asked)],
        evidence or [None] * len(runs),
    )
