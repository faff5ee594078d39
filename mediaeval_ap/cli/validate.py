"""The command ``validate``: the rules of files."""

from __future__ import annotations

import sys
from typing import Any

import click

from mediaeval_ap.choices import CAMPAIGNS, MAX_PROBLEMS
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, write_document

SHOWN_PROBLEMS = 20  # of a kind, so that every kind is seen on a few screens


@main.command(
    examples=[
        'mediaeval-ap validate hypothesis.txt --reference reference.txt',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap validate hypothesis.txt - --statistics",
    ],
    exit_status='0: no errors, perhaps warnings; 1: error in a run, or a file cannot be '
    'read or written; 2: error in the command line',
)
@options.RUNS
@options.input_file('--shots', 'All shots: corpus_id video_id shot_id start_time end_time.')
@options.input_file('--videos', 'All videos: corpus_id video_id.')
@options.input_file('--evidence', 'Evidence: person_name corpus_id video_id modality timestamp.')
@options.input_file('--reference', 'Reference, to warn of videos and names that it lacks.')
@options.choice(
    '--rules', CAMPAIGNS, '2016', 'Campaign whose rules apply: {words} (the format only).'
)
@options.integer(
    '--max-problems',
    default=MAX_PROBLEMS,
    help='Problems of a kind to list, others are counted.  [default: 20,000]',
)
@options.flag(
    '--all', 'show_all', help=f'Show all listed problems.  [default: {SHOWN_PROBLEMS} of each kind]'
)
@options.flag('--statistics', help='Count the problems of each kind instead.')
@options.file_format(['table', 'json', 'csv'])
@options.OUTPUT
@options.MESSAGES
def validate(
    runs: tuple[str, ...],
    show_all: bool,
    statistics: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """List all problems of each RUN, and how to correct them."""
    if settings['evidence'] is not None and len(runs) > 1:
        raise click.UsageError(f'--evidence is of one run: found {len(runs)} runs')
    for role in 'shots', 'videos', 'reference':
        options.refuse_to_read_again(f'--{role}', settings[role], len(runs))
    from mediaeval_ap.validation import examine, problems

    findings = {
        name: examine(run, **settings)
        for name, run in zip(options.names_of(runs), runs, strict=True)
    }
    if statistics:
        document = problems.statistics(findings)
    else:
        document = problems.describe(findings, None if show_all else SHOWN_PROBLEMS)
    write_document(document, format, output)
    if any(each.count('error') for each in findings.values()):
        sys.exit(1)
