"""Commands about the judgements of a campaign: ``pool`` and ``judge-next``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import choices
from mediaeval_ap.choices import POOL_DEPTH
from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.compare_and_report import named_runs
from mediaeval_ap.cli.options import RunFile
from mediaeval_ap.cli.output import (
    STANDARD_STREAM,
    Output,
    check_paths,
    refuse_binary,
    tell,
    write,
    write_document,
    write_figure,
)
from mediaeval_ap.comparison.settings import require_libraries
from mediaeval_ap.errors import Error, FormatError
from mediaeval_ap.render.formats import ANSWER_FORMATS, FORMATS
from mediaeval_ap.render.plot import FORMATS as FIGURE_FORMATS

if TYPE_CHECKING:
    from mediaeval_ap.judging.judging_queue import Queue


@main.command(
    examples=[
        'mediaeval-ap pool reference.txt hypothesis.txt --queries queries.txt -K 100',
        "cut -d ' ' -f 1-3 reference.txt hypothesis.txt | sort -u | mediaeval-ap pool "
        'reference.txt a=hypothesis.txt --judged - -o pool.json',
    ]
)
@options.REFERENCE
@options.RUNS
@options.NAMES
@options.SCORING
@options.JUDGED
@options.JUDGED_ONLY
@options.integer('--depth', default=POOL_DEPTH, help='First ranks that count as returned.')
@options.NEAR
@options.file_format([*FORMATS, *FIGURE_FORMATS])
@options.PRECISION
@options.OUTPUT
def pool(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    depth: int,
    near: float,
    format: str,
    output: Output,
    **criteria: Any,
) -> None:
    """Show who found the relevant shots, and the runs without them.

    For each team, all runs are scored without the relevant shots that only this team returned. With
    --judged, the lowest and highest MAP that each run could have if all of the pool was judged. A
    figure (-o pool.svg) shows both for each run.
    """
    refuse_binary(format, output)
    by_name = named_runs(options.with_names(runs, names), None)
    require_libraries()
    average_precision = options.read_reference(**criteria)
    given: dict[str, Any] = {
        'teams': {name: run.team for name, run in by_name.items() if run.team},
        'depth': depth,
        'near': near,
    }
    made = average_precision.pool(by_name, queries, **given)
    if format in FIGURE_FORMATS:
        write_figure(made.plot.leaderboard(), format, output)
    else:
        write_document(made._document(), format, output)


FIGURES = 'order', 'found'


@main.command(
    'judge-next',
    examples=[
        "awk '$5 >= 0.5' hypothesis.txt | mediaeval-ap judge-next reference.txt hypothesis.txt "
        'sure=- -n 5 --strategy rank-sum',
    ],
)
@options.REFERENCE
@options.RUNS
@options.NAMES
@options.JUDGED
@options.JUDGED_ONLY
@options.SCORING
@options.integer('-n', default=choices.TO_JUDGE, help='Lines of the queue.')
@options.choice('--by', choices.JUDGED_BY, 'shot', 'Judge a {words}; a shot for all names.')
@options.option(
    '--strategy',
    type=click.Choice(choices.STRATEGIES),
    metavar='NAME',
    default='mtc',
    help='Order: mtc, rank-sum, depth, names or random.',
)
@options.integer('--seed', default=0, least=0, help='Seed of the strategy random.')
@options.integer('--depth', default=POOL_DEPTH, help='First ranks that are judged.')
@options.NEAR
@options.flag('--follow', help='Answer each judgement on standard input with the next line.')
@options.file_format(FORMATS)
@options.OUTPUT
def judge_next(
    runs: Sequence[RunFile],
    names: str | None,
    queries: str | None,
    n: int,
    strategy: choices.Strategy,
    follow: bool,
    format: str,
    output: Output,
    **settings: Any,
) -> None:
    """Say what to judge next.

    What comes first makes the order of the runs right soonest. A line is a shot (--by pair: a shot
    and a name) in the first ranks of a run, with its reason. What --judged lists is not asked for
    again; without it, nothing is judged yet. With --follow, lines of standard input are judgements,
    "corpus video shot" and the names that are relevant there, or "corpus video shot name relevance"
    with 0 or 1 by pair; the first line of output is the first to judge, and each judgement is
    answered with the next.
    """
    of_pool = {each: settings.pop(each) for each in ('by', 'seed', 'depth', 'near')}
    if follow:
        _check_following(format, output)
    by_name = named_runs(options.with_names(runs, names), None)
    of_pool['teams'] = {name: run.team for name, run in by_name.items() if run.team}
    if strategy == 'mtc':
        require_libraries()
    average_precision = options.read_reference(**settings)
    n = 1 if follow else n
    queue = average_precision.judge_next(by_name, queries, n=n, strategy=strategy, **of_pool)
    if follow:
        _answer(queue, format)
    else:
        write_document(queue._document(), format, output)


def _check_following(format: str, output: Output) -> None:
    """Refuse what does not go with judgements that come on standard input."""
    if format not in ('table', 'jsonl') or output != STANDARD_STREAM:
        raise click.UsageError('--follow writes to standard output: as text or --format jsonl')
    if options.first_given('-n'.__eq__):
        raise click.UsageError('-n: --follow goes on until all is judged')
    check_paths(click.get_current_context(), STANDARD_STREAM)


def _answer(queue: Queue, format: str) -> None:
    """Answer each judgement with the next line, and what is none with an error in its place."""
    from mediaeval_ap.tables.reading import lines_of_standard_input

    answers = ANSWER_FORMATS['jsonl' if format == 'jsonl' else 'tsv']
    n_refused = 0

    def show() -> None:
        grid = queue._rows()
        write(answers.row(grid.headers, grid.rows[0]))

    if queue.lines:
        show()
    for number, line in lines_of_standard_input():
        try:
            queue = queue.after(_judgement(line, number, queue))
        except Error as error:
            n_refused += 1
            text = line.rstrip(b'\r\n').decode(errors='backslashreplace')
            told = str(error).removeprefix('judgement: ')
            where = '' if told.startswith('<stdin>') else f'<stdin>, line {number}: '
            write(answers.error(text, f'{where}{told}'))
            continue
        if not queue.lines:
            break
        show()
    if not queue.lines:
        tell('all is judged')
    if n_refused:
        tell(f'Error: <stdin>: {n_refused} of {number} lines are not judgements')
        sys.exit(1)


def _judgement(line: bytes, number: int, queue: Queue) -> tuple[str, ...]:
    """Return the fields of a judgement: of a pair, or of a shot with any number of names."""
    from mediaeval_ap.tables.layouts import JUDGED, JUDGED_SHOTS, Layout
    from mediaeval_ap.tables.text.format import count_fields, parse_line

    layout = JUDGED
    if queue.parameters['by'] == 'shot':
        n_names = max(count_fields(line.strip()) - len(JUDGED_SHOTS.texts), 0)
        layout = Layout('judgement', (*JUDGED_SHOTS.texts, *['person_name'] * n_names))
    fields = parse_line(line, layout, '<stdin>', number)
    if fields is None:
        raise FormatError('<stdin>', f'line {number}', '', 'an empty line', layout.expected)
    return fields
