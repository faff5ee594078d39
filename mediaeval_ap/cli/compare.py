"""Commands about several runs on the same queries: ``compare`` and ``compare-results``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices, definitions
from mediaeval_ap.choices import WithoutRelevant
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import Output, write_document
from mediaeval_ap.cli.procedure import named_runs, procedure_options
from mediaeval_ap.comparison.settings import require_libraries
from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.errors import ParameterError, printable

if TYPE_CHECKING:
    from mediaeval_ap.results.result import Result


def _definitions(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Return names of definitions, each once."""
    names = [name for value in values for name in value.split(',')]
    try:
        for name in names:
            definitions.get(name)
    except ParameterError as error:
        raise click.BadParameter(str(error)) from error
    if len(set(names)) < len(names):
        raise click.BadParameter(f'found {",".join(names)}, expected each name once')
    return names


ROWS = ('csv', 'jsonl')
PROCEDURE = options.together(
    procedure_options(),
    options.choice(
        '--by', choices.GROUPINGS, None, 'Add means over groups of queries: by {words}.'
    ),
    options.flag(
        '--pairs',
        heading='Output',
        help='Show all pairs of runs; csv and jsonl then have pairs instead of runs.',
    ),
    options.LIMITS,
    options.FORMAT,
    options.OUTPUT,
)


@main.command(
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap compare reference.txt hypothesis.txt -",
        'head -6000 hypothesis.txt | mediaeval-ap compare reference.txt hypothesis.txt - '
        '--baseline hypothesis.txt -o comparison.tex',
    ]
)
@options.REFERENCE
@options.RUNS
@options.QUERIES
@options.SUBSET
@options.CUTOFFS
@options.DEFINITION
@options.QUERIES_WITHOUT_RELEVANT
@options.MEASURES
@options.option(
    '--also-definitions',
    heading='Scoring',
    metavar='NAME,...',
    multiple=True,
    callback=_definitions,
    help='Definitions whose orders of the runs are compared, too. Can be repeated.',
)
@PROCEDURE
def compare(
    reference: str,
    runs: tuple[str, ...],
    queries: str | None,
    subset: str | None,
    cutoffs: list[Cutoff],
    definition: str,
    queries_without_relevant: WithoutRelevant,
    measures: list[str],
    also_definitions: list[str],
    max_bytes: int,
    **procedure: Any,
) -> None:
    """Compare runs: confidence intervals, tests and groups.

    It scores two RUNs or more on the same queries, and says which of them the data tell apart.
    """
    names = _names('RUN', runs, 'evaluate scores one', procedure['baseline'])
    also = {'--by': procedure['by'], '--also-definitions': also_definitions}
    _refuse_rows(procedure['format'], also)
    _refuse_again(definition, also_definitions)
    for each in definition, *also_definitions:
        options.check_cutoffs(cutoffs, each, measures)
    require_libraries()
    from mediaeval_ap.average_precision import AveragePrecision
    from mediaeval_ap.store.store import as_store
    from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, read

    table = read(reference, REFERENCE, max_bytes=max_bytes)
    videos = None if subset is None else read(subset, SUBSET, max_bytes=max_bytes)
    asked = None if queries is None else read(queries, QUERIES, max_bytes=max_bytes)
    evaluators = {
        each: AveragePrecision(
            table,
            cutoffs,
            subset=videos,
            definition=each,
            queries_without_relevant=queries_without_relevant,
        )
        for each in (definition, *also_definitions)
    }
    results: dict[str, dict[str, Result]] = {each: {} for each in evaluators}
    for name, run in names.items():
        store = as_store(run)
        hypotheses = read(run, HYPOTHESIS, max_bytes=max_bytes) if store is None else store
        for each, evaluator in evaluators.items():
            added = measures if each == definition else ()
            results[each][name] = evaluator.evaluate(hypotheses, asked, measures=added)
    best = results.pop(definition)
    _write(best, reference=table, subset=videos, also=results or None, **procedure)


@main.command(
    'compare-results',
    examples=[
        'head -6000 hypothesis.txt | mediaeval-ap evaluate reference.txt hypothesis.txt - '
        '--format json --per-query | mediaeval-ap compare-results -',
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap evaluate reference.txt hypothesis.txt - "
        '--format json --per-query | mediaeval-ap compare-results - -o comparison.md',
    ],
)
@options.argument('results', nargs=-1, required=True, metavar='RESULTS...')
@options.input_file('--reference', 'Reference of the runs, for --cluster video and --by corpus.')
@options.SUBSET
@PROCEDURE
def compare_results(
    results: tuple[str, ...],
    reference: str | None,
    subset: str | None,
    max_bytes: int,
    **procedure: Any,
) -> None:
    """Compare runs that were scored before, by any command.

    RESULTS are files that a command wrote with --format json --per-query, of two runs or more in
    all: evaluate, evaluate-2015, evaluate-trec, map or lrap.
    """
    of_video, by_corpus = procedure['cluster'] == 'video', procedure['by'] == 'corpus'
    if reference is None and (of_video or by_corpus):
        which = '--cluster video' if of_video else '--by corpus'
        raise click.UsageError(f'{which} needs --reference FILE')
    _refuse_rows(procedure['format'], {'--by': procedure['by']})
    require_libraries()
    from mediaeval_ap.results.json_files import read_results
    from mediaeval_ap.tables import REFERENCE, SUBSET, read

    table = None if reference is None else read(reference, REFERENCE, max_bytes=max_bytes)
    videos = None if subset is None else read(subset, SUBSET, max_bytes=max_bytes)
    stored = [each for path in results for each in read_results(path, max_bytes=max_bytes)]
    of_runs: dict[str, list[Result]] = {}
    for each in stored:
        of_runs.setdefault(each._run, []).append(each)
    names = _names('run', list(of_runs), 'in all RESULTS', procedure['baseline'])
    _write(
        {name: of_runs[run] for name, run in names.items()},
        reference=table,
        subset=videos,
        **procedure,
    )


def _names(what: str, runs: Sequence[str], remedy: str, baseline: str | None) -> dict[str, str]:
    """Return two runs or more by their names, and refuse a baseline that is none of them."""
    if len(runs) < 2:
        raise click.UsageError(
            f'found 1 {what} ({printable(runs[0])}), expected two or more; {remedy}'
        )
    return named_runs(runs, baseline)


def _refuse_rows(format: str, given: Mapping[str, object]) -> None:
    """Refuse options whose tables the formats of rows leave out."""
    for option, value in given.items():
        if value and format in ROWS:
            raise click.UsageError(
                f'{option}: {format} has one table; write it as json or markdown'
            )


def _refuse_again(definition: str, also: Iterable[str]) -> None:
    if definition in also:
        raise click.UsageError(f'--also-definitions: {definition} is the definition already')


def _write(
    results: Mapping[str, Result | Sequence[Result]],
    *,
    pairs: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    from mediaeval_ap.comparison.comparing import compare

    write_document(compare(results, **settings)._document(pairs=pairs), format, output)
