"""Diagnoses as documents: of a run, of a single query, and of the difference of two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.diagnosis.parts import PARTS
from mediaeval_ap.diagnosis.ties import BOUNDS, mean_ties, ties_of_query
from mediaeval_ap.errors import printable
from mediaeval_ap.render.document import Block, Document, Grid, Heading, counted
from mediaeval_ap.results.means_and_notes import ALL_QUERIES, N_QUERIES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mediaeval_ap.diagnosis.diagnosis import Diagnosis
    from mediaeval_ap.diagnosis.difference import Difference
    from mediaeval_ap.diagnosis.rows import Before, QueryDiagnosis

SCHEMA = 'mediaeval-ap/diagnosis/1'
TIES = {
    'equal_confidence': 'equal distance and confidence',
    'arbitrary': 'equal temporal rank, too',
}
FOUND = {
    'own': 'under the query',
    'spelling': 'under a near spelling',
    'confused': 'under a wrong person',
    'part_of_name': 'under part of the name',
    'noise': 'under a name of nobody',
    'copresent': 'under others shown in it',
    'absent': 'not at all',
}
ABOUT_ALONE = 'alone: gain in AP if only this name is corrected.\nThese gains do not add up.\n'
TOP = 10  # a choice: names that are listed, and ranks of a query without a hit
FEW_LETTERS = 4  # a choice: more edits say nothing but that the names differ
ROUNDED = 0.0005  # a part below is 0.000
NOTHING = 1e-12  # a part below is what rounding leaves of 0


def describe(diagnosis: Diagnosis, *, per_query: bool = False, costliest: int = TOP) -> Document:
    """Return the diagnosis of a run; people see all queries if asked, else the costliest."""
    return Document(
        lambda: _about_run(diagnosis, per_query, costliest),
        diagnosis.to_dict,
        lambda: _rows(diagnosis),
    )


def _about_run(diagnosis: Diagnosis, per_query: bool, costliest: int) -> Iterator[Block]:
    definition, n_queries = diagnosis.definition, len(diagnosis.queries)
    ap = ap_column(diagnosis.k)
    yield Heading(diagnosis.run, str(definition))
    over = counted(n_queries, 'query', 'queries')
    yield f'M{ap} {diagnosis.map:.3f} over {over}. The rest to 1:\n'
    n_losing = {part: int((abs(each) > NOTHING).sum()) for part, each in diagnosis.parts.items()}
    yield _loss(diagnosis.mean_parts, n_losing)
    yield _ties(mean_ties(diagnosis.ties))
    yield _definitions(diagnosis)
    if per_query:
        grid = _with_reasons(_rows(diagnosis))
        yield Grid(grid.headers[2:], [row[2:] for row in grid.rows])
    else:
        yield _costliest(diagnosis, costliest)
    yield from _names(diagnosis, costliest)
    if diagnosis.notes:
        yield ''.join(f'{note}\n' for note in diagnosis.notes)


def _loss(parts: Mapping[str, float], n_losing: Mapping[str, int] | None = None) -> Grid:
    """Return the parts in their order, with what each is."""
    total = math.fsum(parts.values())
    rows = [[part, loss, PARTS[part]] for part, loss in parts.items()]
    rows.append(['all', total, '1 - AP'])
    headers = ['LOST TO', 'AP', 'meaning']
    if n_losing is None:
        return Grid(headers, rows)
    numbers: list[int | None] = [*n_losing.values(), None]
    headers.insert(2, 'queries')
    return Grid(headers, [[*row[:2], n, row[2]] for row, n in zip(rows, numbers, strict=True)])


def _ties(ties: Mapping[str, Mapping[str, Any]]) -> Grid:
    """Return the least, mean and greatest value over all orders of ties."""
    rows = [[TIES[level], *(bounds[name] for name in BOUNDS)] for level, bounds in ties.items()]
    return Grid(['TIES', 'minimum', 'expected', 'maximum'], rows)


def _definitions(diagnosis: Diagnosis) -> Grid:
    headers = ['DEFINITION', f'M{ap_column(diagnosis.k)}', 'queries changed', 'reason']
    rows = [
        [each.definition, each.map, each.n_changed, each.reason] for each in diagnosis.definitions
    ]
    return _with_reasons(Grid(headers, rows))


def _with_reasons(grid: Grid) -> Grid:
    """Return a grid without its last column, the reasons, if there are none."""
    if any(row[-1] for row in grid.rows):
        return grid
    return Grid(grid.headers[:-1], [row[:-1] for row in grid.rows])


def _costliest(diagnosis: Diagnosis, n: int) -> Grid:
    rows = []
    for each in diagnosis.costliest(n):
        if 1 - each.ap < NOTHING:
            break  # the rest lost nothing
        part, loss = max(each.parts.items(), key=lambda item: item[1])
        worst = part if loss >= ROUNDED else ''
        rows.append([each.query, each.ap, each.n_relevant, worst, loss if worst else None])
    ap = ap_column(diagnosis.k)
    return Grid(['COSTLIEST QUERIES', ap, 'n_relevant', 'most lost to', 'AP lost'], rows)


def _names(diagnosis: Diagnosis, n: int) -> Iterator[Block]:
    """Return the names that shots of queries were lost to, the costliest first."""
    confused = [
        [
            *(each.query, each.name, each.adds),
            *(each.count, each.distance, _letters(each.letters)),
        ]
        for each in diagnosis.confused
    ]
    headers = ['CONFUSED QUERY', 'returned under', 'AP lost', 'shots', 'distance', 'letters']
    yield from _first(headers, confused, n)
    missed = [
        [
            *(each.query, each.name, each.adds, each.alone),
            *(each.count, each.n_hypotheses, _letters(each.letters)),
        ]
        for each in diagnosis.near_misses
    ]
    headers = ['NEAR MISS OF', 'name', 'AP lost', 'alone', 'shots', 'hypotheses', 'letters']
    yield from _first(headers, missed, n)
    if missed:
        yield ABOUT_ALONE


def _first(headers: Sequence[str], rows: Sequence[Sequence[Any]], n: int) -> Iterator[Block]:
    if rows:
        yield Grid(headers, rows[:n])
    if len(rows) > n:
        yield f'… and {counted(len(rows) - n, "more name", "more names")} (see --costliest)\n'


def _letters(letters: Sequence[str]) -> str:
    """Return the edits, or how many they are if the names have little in common."""
    return ', '.join(letters) if len(letters) <= FEW_LETTERS else f'{len(letters)} edits'


def _rows(diagnosis: Diagnosis) -> Grid:
    """Return a row for each query, and a last one for all: means, and the sum of relevant shots.

    The last column has the reason where a value is not known.
    """
    columns: dict[str, list[Any]] = {
        'query': [*diagnosis.queries, ALL_QUERIES],
        ap_column(diagnosis.k): [*diagnosis.ap.tolist(), diagnosis.map],
        'n_relevant': [*diagnosis.n_relevant.tolist(), int(diagnosis.n_relevant.sum())],
    }
    means = diagnosis.mean_parts
    columns |= {part: [*each.tolist(), means[part]] for part, each in diagnosis.parts.items()}
    ties = [ties_of_query(diagnosis.ties, row) for row in range(len(diagnosis.queries))]
    ties.append(mean_ties(diagnosis.ties))
    for level in diagnosis.ties:
        for name in BOUNDS:
            columns[f'{level}_{name}'] = [each[level][name] for each in ties]
    columns[N_QUERIES] = _count_in_last_row(len(diagnosis.queries))
    columns['reason'] = [*map(_reason, ties)]
    settings = [diagnosis.run, diagnosis.definition.name]
    rows = zip(*columns.values(), strict=True)
    return Grid(['run', 'definition', *columns], [[*settings, *row] for row in rows])


def _count_in_last_row(n_queries: int) -> list[int | None]:
    return [*[None] * n_queries, n_queries]


def _reason(ties: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why expected values are not known: of both levels, each reason once."""
    return '; '.join(dict.fromkeys(each['reason'] for each in ties.values() if 'reason' in each))


def describe_query(found: QueryDiagnosis) -> Document:
    """Return the diagnosis of a single query as a document; its rows are the relevant shots."""
    return Document(
        lambda: _about_query(found),
        lambda: _value('query-diagnosis', found.to_dict()),
        lambda: _relevant(found),
    )


def _value(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {'schema': SCHEMA, 'version': __version__, 'kind': kind, **value}


def _about_query(found: QueryDiagnosis) -> Iterator[Block]:
    ap = ap_column(found.k)
    yield Heading(found.run, found.definition)
    n_relevant = counted(found.n_relevant, 'relevant shot', 'relevant shots')
    yield f'{printable(found.query)}: {ap} {found.ap:.3f}, {n_relevant}. The rest to 1:\n'
    if found.notes:
        yield ''.join(f'{note}\n' for note in found.notes)
    yield _loss({part: loss for part, loss in found.parts.items() if abs(loss) >= ROUNDED})
    if found.relevant:
        yield Grid(
            ['RELEVANT SHOT', 'rank', 'found', 'names', 'AP lost'],
            [
                [_shot(each), each.rank, FOUND[each.kind], ' '.join(each.names), each.adds]
                for each in found.relevant
            ],
        )
    yield from _ranking(found)
    yield _ties(found.ties)
    yield Grid(
        ['DEFINITION', ap, 'reason'],
        [[each.definition, each.ap, each.why] for each in found.definitions],
    )


def _ranking(found: QueryDiagnosis) -> Iterator[Block]:
    """Return the first ranks, and all hits with what stands before them."""
    shown = [each for each in found.ranking if each.rank <= TOP or each.relevant]
    rows = [
        [
            *(each.rank, each.relevant, _shot(each), each.name),
            *(each.distance, each.confidence, _before(each.before)),
        ]
        for each in shown
    ]
    headers = ['RANK', 'hit', 'shot', 'name', 'distance', 'confidence', 'misses before']
    if rows:
        yield Grid(headers, rows, exact=('confidence',))
    if n_left_out := len(found.ranking) - len(shown):
        yield f'{counted(n_left_out, "rank", "ranks")} below {TOP} without a hit left out\n'


def _shot(row: Any) -> str:
    return f'{row.corpus}/{row.video}/{row.shot}'


def _before(before: Before | None) -> str:
    if before is None:
        return ''
    counts = {
        'nearer': before.nearer,
        'more confident': before.more_confident,
        'tied': before.tied,
    }
    return ', '.join(f'{count} {what}' for what, count in counts.items() if count) or 'none'


def _relevant(found: QueryDiagnosis) -> Grid:
    headers = ['query', 'corpus', 'video', 'shot', 'rank', 'kind', 'names', 'adds']
    rows = [
        [
            *(found.query, each.corpus, each.video, each.shot, each.rank, each.kind),
            *(' '.join(each.names), each.adds),
        ]
        for each in found.relevant
    ]
    return Grid(headers, rows)


def describe_difference(
    difference: Difference, *, per_query: bool = False, costliest: int = TOP
) -> Document:
    """Return the difference of two runs as a document."""
    return Document(
        lambda: _about_difference(difference, per_query, costliest),
        lambda: _value('difference', difference.to_dict()),
        lambda: _difference_rows(difference),
    )


def _about_difference(difference: Difference, per_query: bool, costliest: int) -> Iterator[Block]:
    one, other = difference.runs
    ap, n_queries = ap_column(difference.k), len(difference.queries)
    yield Heading(other, f'minus {printable(one)}, {difference.definition}')
    over = counted(n_queries, 'query', 'queries')
    yield f'M{ap} {difference.map:+z.3f} over {over}. Where it comes from:\n'
    rows = [
        [part, mean, *_better_and_worse(difference.parts[part]), PARTS[part]]
        for part, mean in difference.mean_parts.items()
    ]
    rows.append(['all', difference.map, *_better_and_worse(difference.ap), f'M{ap}'])
    yield Grid(['DIFFERENCE', ap, 'better', 'worse', 'less lost to'], rows)
    grid = _difference_rows(difference)
    if per_query:
        yield Grid(grid.headers[2:], [row[2:] for row in grid.rows])
        return
    order = difference.ap.argsort(kind='stable')
    for title, sign in ('BETTER', 1), ('WORSE', -1):
        ordered = order[::-sign].tolist()
        chosen = [row for row in ordered if sign * difference.ap[row] > NOTHING][:costliest]
        if chosen:
            yield _largest(title, difference, chosen, sign)


def _largest(title: str, difference: Difference, rows: Sequence[int], sign: int) -> Grid:
    """Return the queries whose difference is largest, with the part that it mostly comes from."""
    listed = []
    for row in rows:
        parts = {part: float(each[row]) for part, each in difference.parts.items()}
        part = max(parts, key=lambda name: sign * parts[name])
        listed.append([difference.queries[row], float(difference.ap[row]), part, parts[part]])
    return Grid([title, ap_column(difference.k), 'mostly by', 'its part'], listed)


def _better_and_worse(values: NDArray[np.float64]) -> list[int]:
    return [int((values > NOTHING).sum()), int((values < -NOTHING).sum())]


def _difference_rows(difference: Difference) -> Grid:
    means = difference.mean_parts
    columns: dict[str, list[Any]] = {
        'query': [*difference.queries, ALL_QUERIES],
        ap_column(difference.k): [*difference.ap.tolist(), difference.map],
    }
    columns |= {part: [*each.tolist(), means[part]] for part, each in difference.parts.items()}
    columns[N_QUERIES] = _count_in_last_row(len(difference.queries))
    rows = zip(*columns.values(), strict=True)
    one, other = difference.runs
    return Grid(['run', 'minus', *columns], [[other, one, *row] for row in rows])
