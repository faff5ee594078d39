"""The command that says what is wrong with a submission."""

from __future__ import annotations

import sys
from typing import Any

import click

from mediaeval_ap.choices import CAMPAIGNS
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import check_paths, main, write
from mediaeval_ap.report import PROBLEM_FORMATS, SHOWN_PROBLEMS, render_problems

__all__ = ['validate']


def _max_problems() -> int:
    from mediaeval_ap.tables.wrong_lines import MAX_PROBLEMS  # not for the sake of a help text

    return MAX_PROBLEMS


@main.command()
@options.HYPOTHESIS
@click.option('--shots', type=options.FILE, help='The shot list: ids, start_time end_time.')
@click.option('--videos', type=options.FILE, help='The list of videos: corpus_id video_id.')
@click.option(
    '--evidence',
    type=options.FILE,
    help='Evidence of the names: person_name corpus_id video_id modality timestamp.',
)
@click.option('--reference', type=options.FILE, help='Warn of videos and names that it lacks.')
@click.option(
    '--rules',
    type=click.Choice(CAMPAIGNS),
    default='2016',
    show_default=True,
    help='Whose rules hold, and whose fields; none looks at the format alone, and warns.',
)
@options.MAX_BYTES
@click.option(
    '--max-problems',
    type=click.IntRange(1),
    default=_max_problems,
    show_default='20,000',
    help='How many problems of a kind are kept; the others are counted.',
)
@click.option(
    '--all', 'show_all', is_flag=True, help=f'Show all that are kept, not {SHOWN_PROBLEMS} a kind.'
)
@click.option('--format', type=click.Choice(PROBLEM_FORMATS), default='text', show_default=True)
@options.OUTPUT
def validate(
    hypothesis: str,
    max_bytes: int,
    max_problems: int,
    show_all: bool,
    format: str,
    output: options.Output,
    **files: Any,
) -> None:
    """List every problem of a submission, with its place and how to mend it.

    Exits with 1 if any is an error; warnings alone are no reason to.
    """
    check_paths([hypothesis, *(files[role] for role in files if role != 'rules')], [output])
    from mediaeval_ap.validation import examine

    findings = examine(hypothesis, max_bytes=max_bytes, max_problems=max_problems, **files)
    write(render_problems(findings, format, None if show_all else SHOWN_PROBLEMS), output)
    if findings.count('error'):
        sys.exit(1)
