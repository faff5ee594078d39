"""The command ``stream``, which answers names as their lines arrive."""

from __future__ import annotations

import sys
from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import STANDARD_STREAM, check_paths, tell, write
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import DataWarning, Error, FormatError
from mediaeval_ap.render.formats import ANSWER_FORMATS, find_format


@main.command(
    examples=[
        'mediaeval-ap stream reference.txt hypothesis.txt < queries.txt',
        'echo alain_juppe | mediaeval-ap stream reference.txt hypothesis.txt --format jsonl',
    ]
)
@options.REFERENCE
@options.RUN
@options.CRITERIA
@options.file_format(ANSWER_FORMATS, note='  [default: table on a terminal, else tsv]')
def stream(hypothesis: str, format: str | None, **criteria: Any) -> None:
    """Score names from standard input, each as it arrives.

    Each line of output has, in tsv, the name, its number of relevant shots, and AP at each cutoff.
    A line that is not a name (an empty one, say) is answered with an error in its place.
    """
    check_paths(click.get_current_context(), STANDARD_STREAM)
    from mediaeval_ap.tables import QUERIES, parse_line
    from mediaeval_ap.tables.reading import lines_of_standard_input

    if format is None:
        format = 'table' if sys.stdout is not None and sys.stdout.isatty() else 'tsv'
    answers = find_format(ANSWER_FORMATS, format)
    headers = ['query', 'n_relevant', *map(ap_column, criteria['cutoffs'])]
    average_precision = options.read_reference(**criteria)
    n_refused = 0
    with average_precision(hypothesis) as session:
        if heading := answers.heading(headers):
            write(heading)
        for number, line in lines_of_standard_input():
            try:
                fields = parse_line(line, QUERIES, '<stdin>', number)
                if fields is None:
                    raise FormatError('<stdin>', f'line {number}', '', 'an empty line', 'a name')
                (query,) = fields
                ap, n_relevant = session.send(query)
                answer = answers.row(headers, [query, n_relevant, *ap])
            except (Error, DataWarning) as error:
                text = line.rstrip(b'\r\n').decode(errors='backslashreplace')
                answer = answers.error(text, str(error))
                n_refused += 1
            write(answer)
    if n_refused:
        tell(f'Error: <stdin>: {n_refused} of {number} lines are not names')
        sys.exit(1)
