"""Commands about runs of a campaign: who is in which shot, and how sure."""

from __future__ import annotations

import sys

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import (
    STANDARD_STREAM,
    check_paths,
    is_on_terminal,
    main,
    read_reference,
    tell,
    write,
)
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import DataWarning, Error, FormatError
from mediaeval_ap.report import (
    ANSWER_FORMATS,
    DEFINITION_FORMATS,
    render_answer,
    render_definitions,
    render_evaluations,
    render_ranking,
    render_refusal,
)

__all__ = ['evaluate', 'print_definitions', 'rank', 'stream']


def _check_measures(names: str) -> None:
    if names:
        from mediaeval_ap.trec.measures import parse_measures

        parse_measures(names)


@main.command()
@options.REFERENCE
@click.argument('hypotheses', type=options.FILE, nargs=-1, required=True, metavar='HYPOTHESIS...')
@options.QUERIES
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
@options.MEAN_ONLY
@click.option(
    '--measures',
    callback=options.checked(_check_measures),
    default='',
    help='Measures of ir_measures to add: "nDCG@10 P@5 RR".',
)
def evaluate(
    reference: str,
    hypotheses: tuple[str, ...],
    queries: str | None,
    subset: str | None,
    cutoffs: list[Cutoff],
    definition: str,
    max_bytes: int,
    format: str,
    output: options.Output,
    mean_only: bool,
    measures: str,
) -> None:
    """Score runs: average precision at K of each query, and the means."""
    check_paths([reference, *hypotheses, queries, subset], [output])
    from mediaeval_ap.tables import QUERIES, read

    average_precision = read_reference(reference, cutoffs, subset, definition, max_bytes)
    asked = None if queries is None else read(queries, QUERIES, max_bytes=max_bytes)
    evaluations = [
        average_precision.evaluate(hypothesis, asked, progress=is_on_terminal(), measures=measures)
        for hypothesis in hypotheses
    ]
    write(render_evaluations(evaluations, format, mean_only=mean_only), output)


@main.command()
@options.REFERENCE
@options.HYPOTHESIS
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@options.STRICT
@options.MAX_BYTES
@click.option('--format', type=click.Choice(ANSWER_FORMATS), default='tsv', show_default=True)
def stream(
    reference: str,
    hypothesis: str,
    subset: str | None,
    cutoffs: list[Cutoff],
    definition: str,
    max_bytes: int,
    format: str,
) -> None:
    """Answer names on standard input, one line for each, as they arrive.

    A line of tsv holds the name, n_relevant, and AP at each cutoff. A line that is not a name, as a
    blank one, is answered in its place by the line itself and its error. Then the exit status is 1.
    """
    check_paths([STANDARD_STREAM, reference, hypothesis, subset])
    from mediaeval_ap.tables.lines import numbered
    from mediaeval_ap.tables.sources import standard_input

    average_precision = read_reference(reference, cutoffs, subset, definition, max_bytes)
    n_refused = 0
    with average_precision(hypothesis) as session:
        for number, line in numbered(standard_input(), '<stdin>'):
            try:
                query = _name_of(line, number)
                answer = render_answer(query, *session.send(query), cutoffs, format)
            except (Error, DataWarning) as error:
                text = line.rstrip(b'\r\n').decode(errors='backslashreplace')
                answer = render_refusal(text, str(error), format)
                n_refused += 1
            write(answer, STANDARD_STREAM)
    if n_refused:
        tell(f'Error: <stdin>: {n_refused} of {number} lines are not names')
        sys.exit(1)


def _name_of(line: bytes, number: int) -> str:
    from mediaeval_ap.tables import QUERIES, parse_line

    fields = parse_line(line, QUERIES, '<stdin>', number)
    if fields is None:
        raise FormatError('<stdin>', f'line {number}', '', 'an empty line', 'a name')
    return fields[0]


@main.command()
@options.REFERENCE
@options.HYPOTHESIS
@click.argument('query')
@click.option(
    '-k',
    type=options.RANK,
    default=20,
    show_default=True,
    help='How many.',
)
@options.SUBSET
@options.DEFINITION
@options.STRICT
@options.MAX_BYTES
@options.FORMAT
@options.OUTPUT
def rank(
    reference: str,
    hypothesis: str,
    query: str,
    k: int,
    subset: str | None,
    definition: str,
    max_bytes: int,
    format: str,
    output: options.Output,
) -> None:
    """Show the first hypotheses for QUERY, as they are scored."""
    check_paths([reference, hypothesis, subset], [output])
    average_precision = read_reference(reference, [k], subset, definition, max_bytes)
    write(render_ranking(average_precision.rank(hypothesis, query), format), output)


@main.command('definitions')
@click.option('--format', type=click.Choice(DEFINITION_FORMATS), default='text', show_default=True)
def print_definitions(format: str) -> None:
    """Print every definition of average precision."""
    write(render_definitions(format), STANDARD_STREAM)
