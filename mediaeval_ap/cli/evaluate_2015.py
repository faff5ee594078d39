"""The command ``evaluate-2015``, for runs of MediaEval Person Discovery 2015."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.choices import RATIO_2015, check_ratio
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import check_paths, write_results


@main.command(
    'evaluate-2015',
    examples=[
        'mediaeval-ap evaluate-2015 --shots shots.txt --reference reference.txt --labels run.txt'
    ],
)
@options.input_file(
    '--shots',
    'All shots: video_id shot_id start_time end_time first_frame last_frame.',
    required=True,
)
@options.input_file('--reference', 'Reference: video_id shot_id person_name.', required=True)
@options.input_file('--labels', 'Run: video_id shot_id person_name confidence.', required=True)
@options.input_file(
    '--evidence-reference',
    'Where names are seen or heard: video_id shot_id person_name source.',
)
@options.input_file(
    '--evidence',
    'One piece of evidence for each name of the run: person_name video_id shot_id source.',
)
@options.input_file(
    '--queries',
    'Names to ask for, one a line.  [default: all in the reference that do not begin with ?]',
)
@options.input_file('--consensus', 'Shots to score: video_id shot_id.  [default: all]')
@click.option(
    '--ratio',
    type=float,
    callback=options.checked(check_ratio),
    default=RATIO_2015,
    show_default=True,
    help='Similarity from 0 to 1 that a name must exceed to answer a query.',
)
@options.LIMITS
@options.RESULT
@options.MEAN_ONLY
def evaluate_2015(
    labels: str,
    evidence: str | None,
    queries: str | None,
    format: str,
    output: options.Output,
    mean_only: bool,
    **task: Any,
) -> None:
    """Score a run of 2015: MAP, correctness and EwMAP.

    Correctness and EwMAP need evidence. For each query the one closest name is chosen, if it is
    close enough. Files are those of MediaEval Person Discovery 2015, without a corpus.
    """
    if (evidence is None) != (task['evidence_reference'] is None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    inputs = [task[role] for role in ('shots', 'reference', 'evidence_reference', 'consensus')]
    check_paths([*inputs, labels, evidence, queries], [output])
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015

    evaluation = PersonDiscovery2015(**task).evaluate(labels, evidence, queries)
    write_results([evaluation], format, output, mean_only=mean_only)
