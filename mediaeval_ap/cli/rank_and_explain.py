"""Commands about one run: ``rank`` shows a ranking, ``explain`` where precision was lost."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import click

from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, as_usage_errors, write_document
from mediaeval_ap.cli.run_files import RunFile, names_of_runs
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.render.document import Document, Grid


@main.command(
    'rank',
    examples=[
        'mediaeval-ap rank reference.txt hypothesis.txt nicolas_sarkozy -k 10',
        'mediaeval-ap rank reference.txt hypothesis.txt alain_juppe -o ranking.csv',
    ],
    advanced='--missing --unknown --ties',
)
@options.reference_argument
@options.run_argument
@click.argument('query')
@options.subset_option
@options.definition_option
@options.judgement_options
@options.topic_options
@options.warning_options
@option_kinds.integer(
    '-n', '-k', '-K', '--depth', default=20, help='Number of hypotheses to show: the cutoff.'
)
@options.format_options
@options.output_option
def rank_command(
    hypothesis: RunFile, query: str, depth: int, format: str, output: Output, **criteria: Any
) -> None:
    """Show the top of the ranking for QUERY, a name, and its AP.

    REFERENCE and RUN may be qrels and a run of TREC, and QUERY a topic.

    csv, json and jsonl have only the rows of the ranking.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    with as_usage_errors():
        check_query(query)
    evaluator = options.read_reference_or_qrels(runs=[hypothesis], cutoffs=[depth], **criteria)
    frame = evaluator.rank(hypothesis, query)
    ranking = Grid.from_frame(frame)
    summary = Grid(list(map(str, frame.attrs)), [list(frame.attrs.values())])
    document = replace(Document.from_grid(ranking), blocks=lambda: [ranking, summary])
    write_document(document, format, output)


@main.command(
    'explain',
    examples=[
        'mediaeval-ap explain reference.txt hypothesis.txt --queries queries.txt',
        'mediaeval-ap explain reference.txt hypothesis.txt nicolas_sarkozy -k 10 -o why.json',
    ],
    advanced='--missing --unknown --ties',
)
@options.reference_argument
@options.run_argument
@click.argument('query', required=False)
@options.queries_option
@option_kinds.input_file(
    '--against', 'Second run, to split its gain or loss against RUN.', read=RunFile.parse
)
@options.subset_option
@option_kinds.cutoff('-k', '-K', '--cutoff', default='100', help='Cutoff; "all" means without one.')
@options.near_option
@options.definition_option
@options.queries_without_relevant_option
@options.judgement_options
@options.topic_options
@options.warning_options
@option_kinds.flag('--per-query', help='List every query in tables; csv and json always do.')
@option_kinds.integer(
    '-n', '--costliest', default=10, help='Number of queries and names to list in tables.'
)
@options.format_options
@options.output_option
def explain_command(
    hypothesis: RunFile,
    query: str | None,
    queries: str | None,
    against: RunFile | None,
    cutoff: Cutoff,
    near: float,
    per_query: bool,
    costliest: int,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show where precision was lost, overall or for one QUERY.

    The loss, 1 - AP, is split into parts that add up to it: by ties, by confidence, by names, by
    shots that were not returned. REFERENCE and RUN may be qrels and a run of TREC, and QUERY a
    topic.
    """
    from mediaeval_ap.evaluation.criteria import check_query

    if query is not None:
        if queries is not None:
            raise click.UsageError(f'leave out --queries: {printable(query)} is the only query')
        with as_usage_errors():
            check_query(query)
        if os.path.isfile(query):
            raise click.UsageError(
                f'QUERY: found the file {shown(query)}, expected a name; '
                'a second run is given with --against, a file of names with --queries'
            )
    runs = [hypothesis] if against is None else [hypothesis, against]
    evaluator = options.read_reference_or_qrels(runs=runs, cutoffs=[cutoff], **criteria)
    query_table = evaluator.criteria.read_queries(queries)
    selected: Any = query_table if query is None else [query]
    name, *other_name = names_of_runs(runs)
    diagnosis = evaluator.explain(hypothesis, selected, k=cutoff, near=near).called(name)
    if against is not None:
        other = evaluator.explain(against, selected, k=cutoff, near=near)
        other = other.called(*other_name)
        document = diagnosis.against(other).document(per_query=per_query, costliest=costliest)
    elif query is not None:
        document = diagnosis.of(query).document()
    else:
        document = diagnosis.document(per_query=per_query, costliest=costliest)
    write_document(document, format, output)
