"""The command of the protocol of 2015."""

from __future__ import annotations

import click

from mediaeval_ap.choices import RATIO_2015, check_ratio
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import check_paths, main, write
from mediaeval_ap.report import render_evaluation_2015

__all__ = ['evaluate_2015']


@main.command('evaluate-2015')
@click.option(
    '--shots',
    type=options.FILE,
    required=True,
    help='All shots: video_id shot_id start_time end_time first_frame last_frame.',
)
@click.option(
    '--reference',
    type=options.FILE,
    required=True,
    help='Who is in which shot: video_id shot_id person_name.',
)
@click.option(
    '--labels',
    type=options.FILE,
    required=True,
    help='The run: video_id shot_id person_name confidence.',
)
@click.option(
    '--evidence-reference',
    type=options.FILE,
    help='Where names are seen or heard: video_id shot_id person_name source.',
)
@click.option(
    '--evidence',
    type=options.FILE,
    help='One piece for each name of the run: person_name video_id shot_id source.',
)
@click.option(
    '--queries',
    type=options.FILE,
    help='The names to ask for.  [default: all of the reference but those with ? first]',
)
@click.option(
    '--consensus',
    type=options.FILE,
    help='The shots that count: video_id shot_id.  [default: all]',
)
@click.option(
    '--ratio',
    type=float,
    callback=options.checked(check_ratio),
    default=RATIO_2015,
    show_default=True,
    help='A name is close enough to a query above this.',
)
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
@options.MEAN_ONLY
def evaluate_2015(
    shots: str,
    reference: str,
    labels: str,
    evidence_reference: str | None,
    evidence: str | None,
    queries: str | None,
    consensus: str | None,
    ratio: float,
    max_bytes: int,
    format: str,
    output: options.Output,
    mean_only: bool,
) -> None:
    """Score a run of 2015: MAP and, with evidence, correctness and EwMAP.

    For each query the one closest name is chosen, if it is close enough. Files are those of
    MediaEval Person Discovery 2015, without a corpus.
    """
    if (evidence is None) != (evidence_reference is None):
        raise click.UsageError('--evidence and --evidence-reference go together')
    inputs = [shots, reference, labels, evidence_reference, evidence, queries, consensus]
    check_paths(inputs, [output])
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015

    discovery = PersonDiscovery2015(
        shots,
        reference,
        evidence_reference=evidence_reference,
        consensus=consensus,
        ratio=ratio,
        max_bytes=max_bytes,
    )
    evaluation = discovery.evaluate(labels, evidence, queries)
    write(render_evaluation_2015(evaluation, format, mean_only=mean_only), output)
