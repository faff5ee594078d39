"""Results as documents: for people, as rows, and as the one JSON value of all commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mediaeval_ap import __version__
from mediaeval_ap.errors import ParameterError, printable
from mediaeval_ap.render.document import Block, Document, Grid, Heading, counted
from mediaeval_ap.results.columns import Columns, plain

if TYPE_CHECKING:
    from mediaeval_ap.results.result import Result

SCHEMA = 'mediaeval-ap/results/1'


def describe(
    results: Iterable[Result],
    *,
    per_query: bool = False,
    sort: bool = False,
    failed: Iterable[tuple[str, str]] = (),
) -> Document:
    """Return results of one kind as a document, best first if sorted.

    `failed` are the names of runs that could not be scored, with the error of each.
    """
    ordered = _best_first(list(results)) if sort else list(results)
    errors = list(failed)
    return Document(
        lambda: _blocks(ordered, per_query),
        lambda: {
            'schema': SCHEMA,
            'version': __version__,
            'results': [result._value(per_query) for result in ordered],
            'failed': [{'run': run, 'error': error} for run, error in errors],
        },
        lambda: _together([result._rows(per_query) for result in ordered]),
    )


def _best_first(results: Sequence[Result]) -> list[Result]:
    """Sort runs by their last mean; several results of a run stay together."""
    worth = {result._run: result._worth() for result in results}
    return sorted(results, key=lambda result: -worth[result._run])


def _blocks(results: Sequence[Result], per_query: bool) -> Iterator[Block]:
    details = [result._detail(per_query) for result in results]
    are_several = len(results) > 1
    if not are_several or any(detail is not None for detail in details):
        for result, detail in zip(results, details, strict=True):
            yield from _about_one(result, detail)
    if are_several:
        yield from _summary(results)
        if all(detail is None for detail in details):
            yield from _notes_of_all(results)


def _about_one(result: Result, detail: Columns | None) -> Iterator[Block]:
    yield Heading(result._run, result._how())
    if detail is not None:
        yield Grid.from_columns({name: plain(each) for name, each in detail.items()})
    if result._over:
        yield f'{result._over}\n'
    yield _means(result)
    if notes := _notes_below(result):
        yield ''.join(f'{note}\n' for note in notes)


def _means(result: Result) -> Grid:
    """Return the means, with their count in the header if they have one, else beside each."""
    means, counts = result._means(), result.mean_counts
    if len(set(counts.values())) == 1:
        over = counted(next(iter(counts.values())), *result._unit)
        return Grid([result.TITLE, over], list(means.items()))
    rows = [[name, mean, counts[name]] for name, mean in means.items()]
    return Grid([result.TITLE, 'mean', result._unit[1]], rows)


def _notes_below(result: Result) -> list[str]:
    """Return the notes but that on what means are over, which stands above them."""
    return [note for note in result.notes if note != result._over]


def _summary(results: Sequence[Result]) -> Iterator[Block]:
    """Return a row about each run; above it, what all means are over, or why they differ."""
    grid = summary_of(results)
    over = {counted(n, *each._unit) for each in results for n in each.mean_counts.values()}
    names = list(results[0]._count_columns())
    if len(over) == 1:
        yield f'Over {over.pop()}:\n'
        yield _without(grid, names)
        return
    yield ''.join(f'{line}\n' for line in dict.fromkeys(map(_why_counts_differ, results)))
    rows = [each._count_columns() for each in results]
    yield _without(grid, [name for name in names[1:] if all(r[name] == r[names[0]] for r in rows)])


def _why_counts_differ(result: Result) -> str:
    return result._over or 'The means are not all over the same queries'


def _without(grid: Grid, headers: Collection[str]) -> Grid:
    """Return a grid without the columns under some headers."""
    kept = [place for place, header in enumerate(grid.headers) if header not in headers]
    rows = [[row[place] for place in kept] for row in grid.rows]
    return Grid([grid.headers[place] for place in kept], rows)


def _notes_of_all(results: Sequence[Result]) -> Iterator[str]:
    """Return the notes that all results have, and then those of single runs, with their names."""
    notes = [(result, _notes_below(result)) for result in results]
    shared = [note for note in notes[0][1] if all(note in each for _, each in notes)]
    lines = shared + [
        f'{printable(result._run)}: {note}'
        for result, of_result in notes
        for note in of_result
        if note not in shared
    ]
    if lines:
        yield ''.join(f'{line}\n' for line in dict.fromkeys(lines))


def summary_of(results: Sequence[Result]) -> Grid:
    """Return a row about each result."""
    if len(kinds := sorted({type(result).__name__ for result in results})) > 1:
        raise ParameterError(f'results: found {", ".join(kinds)}, expected one kind')
    rows = [result._summary() for result in results]
    return _together([Grid(list(row), [list(row.values())]) for row in rows])


def _together(grids: Sequence[Grid]) -> Grid:
    """Return the rows of all grids, which must have the same columns."""
    if not grids:
        raise ParameterError('results: found none, expected one or more')
    headers = list(grids[0].headers)
    for grid in grids:
        if list(grid.headers) != headers:
            found, expected = ', '.join(grid.headers), ', '.join(headers)
            raise ParameterError(f'results: found the columns {found}, expected {expected}')
    return Grid(headers, [row for grid in grids for row in grid.rows])
