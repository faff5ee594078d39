"""The command ``evaluate-2015``, for runs of MediaEval Person Discovery 2015."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import RATIO_2015, check_ratio
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.options import input_file


@main.command(
    'evaluate-2015',
    examples=[
        'mediaeval-ap evaluate-2015 --shots shots.txt --reference reference.txt --labels run.txt'
    ],
)
@input_file(
    '--shots',
    'All shots: video_id shot_id start_time end_time first_frame last_frame.',
    required=True,
)
@input_file('--reference', 'Reference: video_id shot_id person_name.', required=True)
@input_file('--labels', 'Run: video_id shot_id person_name confidence.', required=True)
@input_file(
    '--evidence-reference', 'Where names are seen or heard: video_id shot_id person_name source.'
)
@input_file(
    '--evidence',
    'One piece of evidence for each name of the run: person_name video_id shot_id source.',
)
@input_file(
    '--queries',
    'Names to ask for, one per line.  [default: all in the reference that do not begin with ?]',
)
@input_file('--consensus', 'Shots to score: video_id shot_id.  [default: all]')
@options.valued(
    '--ratio',
    RATIO_2015,
    'A name answers a query if their similarity (0 to 1) is greater than this.',
    type=float,
    callback=options.checked(check_ratio),
)
@options.LIMITS
@options.writes_results
@options.MEAN_ONLY
def evaluate_2015(labels: str, evidence: str | None, queries: str | None, **task: Any) -> list[Any]:
    """Score a run of 2015: MAP, correctness and EwMAP.

    The files are those of MediaEval Person Discovery 2015, without a corpus. Each query is
    answered by the closest name of the run, if it is close enough. Correctness and EwMAP need
    evidence.
    """
    if (evidence is None) != (task['evidence_reference'] is None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015

    return [PersonDiscovery2015(**task).evaluate(labels, evidence, queries)]
