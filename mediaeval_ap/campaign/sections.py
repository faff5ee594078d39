"""The sections of the page of a campaign, as plain values for its template."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from Levenshtein import distance, opcodes
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.render.document import counted

if TYPE_CHECKING:
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis

HALF = 0.5  # of the letters
CONFUSED_AT_MOST = 150  # rows; a choice: the page stays small, and nobody reads more


def boards_of(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a leaderboard for each metric, the last one first, with the places of intervals."""
    rows_of: dict[str, list[dict[str, Any]]] = {each: [] for each in comparison['metrics'][::-1]}
    for row in comparison['leaderboard']:
        rows_of[row['metric']].append(row)
    return [_board(metric, rows) for metric, rows in rows_of.items()]


def _board(metric: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    numbers = [
        value
        for row in rows
        for value in (row['map'], row['floor'], row['interval']['low'], row['interval']['high'])
        if value is not None
    ]
    low = math.floor(min(numbers) * 20) / 20
    high = max(math.ceil(max(numbers) * 20) / 20, low + 0.05)
    floor = rows[0]['floor']
    return {
        'metric': metric,
        'low': low,
        'high': high,
        'floor': f'The dotted line is what an empty run scores: {floor:.3f}.' if floor else '',
        'rows': [row | _placed(row, low, high) | _ranks(row) for row in rows],
    }


def _placed(row: Mapping[str, Any], low: float, high: float) -> dict[str, Any]:
    """Return the places of a row's numbers in its figure, in percent of its width."""

    def at(value: float | None) -> str | None:
        return None if value is None else f'{100 * (value - low) / (high - low):.1f}%'

    interval = row['interval']
    ends = {'low': at(interval['low']), 'high': at(interval['high'])}
    return {'at': {'map': at(row['map']), 'floor': at(row['floor']), **ends}}


def _ranks(row: Mapping[str, Any]) -> dict[str, Any]:
    first, last = row['rank_interval']
    ranks = f'{first}' if first == last else f'{first} to {last}'
    return {'ranks': ranks, 'ranks_sort': first + last / 10_000}


def loss_of(
    k: Any,
    metric: str,
    diagnoses: Mapping[str, Diagnosis],
    runs: Sequence[str],
    figure: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the mean loss parts of each run; parts that no run has are left out."""
    means = {run: diagnoses[run].mean_parts for run in runs}
    parts = [part for part in PARTS if any(means[run][part] for run in runs)]
    colours = [entry['colour'] for entry in figure['legend']]
    return {
        'k': 'no cutoff' if k == 'all' else f'cutoff {k}',
        'metric': metric,
        'parts': [
            {
                'title': _upper(part.replace('_', ' ')),
                'meaning': f'{_upper(PARTS[part])}.',
                'colour': colour,
            }
            for part, colour in zip(parts, colours, strict=True)
        ],
        'rows': [
            {
                'run': run,
                'map': diagnoses[run].map,
                'lost': [means[run][part] for part in parts],
            }
            for run in runs
        ],
    }


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def distribution_of(
    figures: Mapping[str, Mapping[str, Any]], metrics: Sequence[str], runs: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of the last distribution as a table with the classes of all of them."""
    of_metrics = [figures[f'distribution {metric}'] for metric in metrics]
    classes = [entry['label'] for entry in max((each['legend'] for each in of_metrics), key=len)]
    values = of_metrics[-1]['spec']['data']['values']
    counts = {(row['run'], row['class']): row['count'] for row in values}
    rows = [(run, [counts.get((run, each), 0) for each in classes]) for run in runs]
    return {'headers': classes, 'rows': rows}


def confused_of(diagnoses: Mapping[str, Diagnosis]) -> list[dict[str, Any]]:
    """Return names returned instead of queries, with the shots of each run, most shots first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run, diagnosis in diagnoses.items():
        for kind, names in (
            ('another person', diagnosis.confused),
            ('another spelling', diagnosis.near_misses),
        ):
            for each in names:
                if not each.count:
                    continue
                row: dict[str, Any] = {'query': each.query, 'name': each.name, 'kind': kind}
                row |= {'distance': each.distance, 'counts': {}}
                row = rows.setdefault((each.query, each.name), row)
                row['counts'][run] = row['counts'].get(run, 0) + each.count
    ordered = sorted(rows.items(), key=lambda item: (-sum(item[1]['counts'].values()), item[0]))
    return [row for _, row in ordered]


def marked_letters(query: str, name: str) -> list[tuple[str, str]]:
    """Return a name in pieces: the same as in the query, lacking from it, or new.

    A name that is more unlike the query than like it stays in one piece.
    """
    if distance(query, name) > HALF * max(len(query), len(name)):
        return [('same', name)]
    pieces = []
    for kind_of_edit, begin, end, new_begin, new_end in opcodes(query, name):
        old = query[begin:end]
        if kind_of_edit == 'equal':
            pieces.append(('same', old))
            continue
        new = name[new_begin:new_end]
        pieces += [(kind, text) for kind, text in (('lacks', old), ('has', new)) if text]
    return pieces


def queries_of(
    queries: Sequence[str], n_relevant: Iterable[int], values: NDArray[Any]
) -> list[tuple[str, int, list[str]]]:
    """Return a row for each query, with its AP in each run."""
    rows = zip(queries, n_relevant, values.T.tolist(), strict=True)
    return [(query, int(n), [_cell(value) for value in row]) for query, n, row in rows]


def _cell(value: float) -> str:
    return f'{value:.0f}' if value in (0, 1) else f'{value:.3f}'


def definition_of(definition: Definition) -> list[tuple[str, str]]:
    """Return the definition in full, as names and texts."""
    value = definition.to_dict()
    return [
        ('Name', str(value['name'])),
        ('AP at k', str(value['formula'])),
        ('Without relevant shots', f'AP is {value["without_relevant"]:g}'),
        ('A shot that is returned again', str(value['repeats'])),
        ('Source', str(value['source'])),
        (
            'Letters',
            'S(d): sum of the precisions at the relevant ranks down to d; R: relevant shots; '
            'k: cutoff; N: returned; H: relevant shots among the first k',
        ),
    ]


def facts_of(n_runs: int, n_queries: int, definition: str, reference: str) -> list[tuple[str, str]]:
    """Return what a reader has to know before any number."""
    return [
        ('Compared', f'{counted(n_runs, "run", "runs")}, {counted(n_queries, "query", "queries")}'),
        ('AP definition', definition),
        ('Reference', os.path.basename(reference)),
    ]


def procedure_of(near: float) -> list[str]:
    """Return how the loss was split, in sentences."""
    return [
        'The loss of a query, 1 − AP, is split by repairing one thing after another, in the order '
        'of the parts; each part is the AP that its repair adds, so the parts add up to the loss. '
        f'A name is close to a query up to an edit distance of {near:g} of the longer name.',
    ]
