"""The command ``validate``: problems of runs, and how to correct them."""

from __future__ import annotations

import sys
from typing import Any

import click

from mediaeval_ap.choices import CAMPAIGNS
from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, tell, write_document
from mediaeval_ap.cli.run_files import RunFile, check_not_reread, runs_by_name, with_names
from mediaeval_ap.errors import FormatError, ReadError, file_of

N_SHOWN_PROBLEMS = 20  # of each kind: all kinds fit on a few screens


@main.command(
    'validate',
    examples=[
        'mediaeval-ap validate hypothesis.txt --reference reference.txt',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap validate hypothesis.txt - --statistics",
    ],
    exit_status='0: no errors, perhaps warnings; 1: error in a run, or a file cannot be '
    'read or written; 2: error in the command line',
)
@options.named_runs
@option_kinds.input_file('--shots', 'All shots: corpus_id video_id shot_id start_time end_time.')
@option_kinds.input_file('--videos', 'All videos: corpus_id video_id.')
@option_kinds.input_file(
    '--evidence', 'Evidence: person_name corpus_id video_id modality timestamp.'
)
@option_kinds.input_file(
    '--reference', 'Reference, to find lost leading zeros, and videos and names that it lacks.'
)
@option_kinds.choice(
    '--rules', CAMPAIGNS, '2016', 'Campaign whose rules apply: {words} (the format only).'
)
@option_kinds.flag(
    '--all',
    'show_all',
    help=f'Show all problems, up to 20,000 of each kind.  [default: up to {N_SHOWN_PROBLEMS}]',
)
@option_kinds.flag('--examples', help='Show problems of several RUNs, too, not only their number.')
@option_kinds.flag('--statistics', help='Show only the number of problems of each kind.')
@option_kinds.file_format(['table', 'json', 'csv'])
@options.output_option
@options.quiet_option
def validate_command(
    runs: tuple[RunFile, ...],
    names: str | None,
    show_all: bool,
    examples: bool,
    statistics: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """List all problems of a RUN, or count those of several."""
    if settings['evidence'] is not None and len(runs) > 1:
        raise click.UsageError(f'--evidence belongs to one run: found {len(runs)} runs')
    for role in 'shots', 'videos', 'reference':
        check_not_reread(f'--{role}', settings[role], len(runs))
    from mediaeval_ap.validation import examine, problems

    named_runs = runs_by_name(with_names(runs, names), None)
    problems_by_run = {}
    for name, run in named_runs.items():
        try:
            problems_by_run[name] = examine(run, **settings)
        except (FormatError, ReadError) as error:
            if len(runs) == 1 or file_of(error) in settings.values():
                raise
            tell(f'Error: {error}')
    if statistics or (len(runs) > 1 and format == 'table' and not (examples or show_all)):
        document = problems.statistics(problems_by_run)
    else:
        document = problems.problems_document(
            problems_by_run, None if show_all else N_SHOWN_PROBLEMS
        )
    write_document(document, format, output)
    are_right = [not findings.count('error') for findings in problems_by_run.values()]
    if not all(are_right) or len(are_right) < len(runs):
        sys.exit(1)
