"""The commands ``validate`` and ``definitions``: the rules of files, and the formulas of AP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from mediaeval_ap import definitions
from mediaeval_ap.choices import CAMPAIGNS, MAX_PROBLEMS
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import STANDARD_STREAM, Output, write_document
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import PROBLEM_FORMATS, TEXT_FORMATS

SHOWN_PROBLEMS = 20  # of a kind, so that every kind is seen on a few screens


@main.command(
    examples=[
        'mediaeval-ap validate hypothesis.txt --reference reference.txt',
        'mediaeval-ap validate hypothesis.txt --rules none --all -o problems.json',
    ],
    exit_status='0: no errors, perhaps warnings; 1: error in the submission, or a file cannot be '
    'read or written; 2: error in the command line',
)
@options.RUN
@options.input_file('--shots', 'List of shots: corpus_id video_id shot_id start_time end_time.')
@options.input_file('--videos', 'List of videos: corpus_id video_id.')
@options.input_file(
    '--evidence', 'Evidence for names: person_name corpus_id video_id modality timestamp.'
)
@options.input_file('--reference', 'Reference; warn about videos and names that are not in it.')
@options.choice(
    '--rules',
    CAMPAIGNS,
    '2016',
    'Campaign whose rules apply: {words}; none checks the format only.',
)
@options.MAX_BYTES
@options.integer(
    '--max-problems',
    default=MAX_PROBLEMS,
    help='Number of problems of each kind to list; others are only counted.  [default: 20,000]',
)
@options.flag(
    '--all', 'show_all', help=f'Show every listed problem, not only {SHOWN_PROBLEMS} of each kind.'
)
@options.file_format(PROBLEM_FORMATS)
@options.OUTPUT
@options.MESSAGES
def validate(hypothesis: str, show_all: bool, format: str, output: Output, **settings: Any) -> None:
    """List all problems of a submission, and how to correct them."""
    from mediaeval_ap.validation import examine
    from mediaeval_ap.validation.problems import describe

    findings = examine(hypothesis, **settings)
    document = describe(findings, None if show_all else SHOWN_PROBLEMS)
    write_document(document, format, output)
    if findings.count('error'):
        sys.exit(1)


LEGEND = """\
R  relevant shots          P(i)  precision at rank i
k  the cutoff              h(i)  1 where rank i is relevant, 0 elsewhere
N  returned hypotheses     S(k)  sum of P(i)·h(i) for i = 1 … min(k, N)
H  hits in the top k

Nothing returned and R > 0: 0, everywhere.
"""


def _blocks() -> Iterator[str]:
    yield LEGEND
    for definition in definitions.registered():
        default = ' (default)' if definition.name == definitions.DEFAULT else ''
        yield (
            f'{definition}{default}\n'
            f'    AP@k            {definition.formula}\n'
            f'    R = 0           {definition.without_relevant:g}\n'
            f'    repeated shots  {definition.repeats.value}\n'
            f'    source          {definition.source}\n'
        )


@main.command(
    'definitions', examples=['mediaeval-ap definitions', 'mediaeval-ap definitions --format json']
)
@options.file_format(TEXT_FORMATS, 'table')
def print_definitions(format: str) -> None:
    """Print every definition of average precision."""
    described = [definition.to_dict() for definition in definitions.registered()]
    write_document(Document(_blocks, lambda: described), format, STANDARD_STREAM)
