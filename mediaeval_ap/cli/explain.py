"""The command ``explain``, which says where the average precision of a run was lost."""

from __future__ import annotations

import os
from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, as_usage, write_document
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import shown


@main.command(
    examples=[
        'mediaeval-ap explain reference.txt hypothesis.txt --queries queries.txt',
        'mediaeval-ap explain reference.txt hypothesis.txt nicolas_sarkozy -k 10 -o why.json',
    ]
)
@options.REFERENCE
@options.RUN
@click.argument('query', required=False)
@options.QUERIES
@options.input_file(
    '--against', 'Another run, to split what it gains or loses against RUN.', read=options.read_run
)
@options.SUBSET
@options.cutoff('-k', '-K', '--cutoff', default='100', help='Cutoff; "all" is no cutoff.')
@options.NEAR
@options.DEFINITION
@options.QUERIES_WITHOUT_RELEVANT
@options.JUDGEMENTS
@options.LIMITS
@options.flag('--per-query', help='List every query in tables; csv and json always do.')
@options.integer('-n', '--costliest', default=10, help='Queries and names to list in tables.')
@options.FORMAT
@options.OUTPUT
def explain(
    hypothesis: str,
    query: str | None,
    queries: str | None,
    against: str | None,
    cutoff: Cutoff,
    near: float,
    per_query: bool,
    costliest: int,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show where precision was lost, in all or for one QUERY.

    The loss, 1 - AP, is split into parts that add up to it: by ties, by confidence, by names, by
    shots that were not returned.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    if query is not None:
        if queries is not None:
            raise click.UsageError('QUERY and --queries are given: give one of them')
        with as_usage():
            check_query(query)
        if os.path.isfile(query):
            raise click.UsageError(
                f'QUERY: found the file {shown(query)}, expected a name; '
                'a second run is given with --against, a file of names with --queries'
            )
    average_precision = options.read_reference(cutoffs=[cutoff], **criteria)
    read = average_precision._criteria.read_queries(queries)
    asked: Any = read if query is None else [query]
    runs = [hypothesis] if against is None else [hypothesis, against]
    name, *others = options.names_of(runs)
    diagnosis = average_precision.explain(hypothesis, asked, k=cutoff, near=near)._called(name)
    if against is not None:
        other = average_precision.explain(against, asked, k=cutoff, near=near)._called(*others)
        document = diagnosis.against(other)._document(per_query=per_query, costliest=costliest)
    elif query is not None:
        document = diagnosis.of(query)._document()
    else:
        document = diagnosis._document(per_query=per_query, costliest=costliest)
    write_document(document, format, output)
