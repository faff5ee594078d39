"""Evaluations as text: a block a run, its means, and a line a run when there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mediaeval_ap.definitions import ap_column
from mediaeval_ap.report.grids import Grid, heading, json_document, queries_counted

if TYPE_CHECKING:
    from mediaeval_ap.results import Evaluation

__all__ = ['render_evaluations']


def render_evaluations(
    evaluations: Sequence[Evaluation], format: str = 'table', *, mean_only: bool = False
) -> str:
    """One or more evaluations as text.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        One a run, all of the same cutoffs and definition.
    format : {'table', 'csv', 'json', 'jsonl', 'markdown', 'latex'}
        ``table``, ``markdown`` and ``latex`` are for eyes, with three decimals. ``csv`` and
        ``jsonl`` have a row per run and query, or per run with `mean_only`. ``json`` is
        `Evaluation.to_dict`: the object itself for one run, a list of them for several.
    mean_only : bool
        Leave out the queries.

    Returns
    -------
    str
        Lines, each with its end.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
    >>> evaluation = average_precision.evaluate('samples/hypothesis.txt', ['alain_juppe'])
    >>> print(render_evaluations([evaluation], 'csv'))
    run,query,AP@10,AP@100,n_relevant
    samples/hypothesis.txt,alain_juppe,0.0,0.0,2
    <BLANKLINE>
    """
    if format == 'json':
        return _json(evaluations, mean_only)
    if format in ('csv', 'jsonl'):
        grid = _means_by_run(evaluations) if mean_only else _queries_by_run(evaluations)
        return grid.render(format)
    several = len(evaluations) > 1
    blocks = []
    if not (mean_only and several):
        for evaluation in evaluations:
            blocks += _blocks(evaluation, format, mean_only=mean_only)
    if several:
        blocks.append(_means_by_run(evaluations).render(format))
    return '\n'.join(blocks)


def _blocks(evaluation: Evaluation, format: str, *, mean_only: bool) -> list[str]:
    blocks = [heading(_run(evaluation), str(evaluation.definition), format)]
    if not mean_only:
        blocks.append(_queries(evaluation).render(format))
    blocks.append(_means(evaluation).render(format))
    if evaluation.notes:
        blocks.append(''.join(f'{note}\n' for note in evaluation.notes))
    return blocks


def _run(evaluation: Evaluation) -> str:
    return evaluation.inputs['hypothesis'].name


def _means(evaluation: Evaluation) -> Grid:
    rows: list[list[Any]] = [
        [f'M{ap_column(k)}', value]
        for k, value in zip(evaluation.K, evaluation.map.tolist(), strict=True)
    ]
    rows += [list(item) for item in evaluation.mean_measures.items()]
    return Grid(['MEAN AVERAGE PRECISION', queries_counted(len(evaluation.queries))], rows)


def _queries(evaluation: Evaluation) -> Grid:
    described = evaluation.to_dict()
    measures = described.get('measures', {})
    headers = ['query', *map(ap_column, evaluation.K), *measures, 'n_relevant']
    columns = [evaluation.queries, *evaluation.ap.T.tolist(), *measures.values()]
    rows = zip(*columns, evaluation.n_relevant.tolist(), strict=True)
    return Grid(headers, [list(row) for row in rows])


def _queries_by_run(evaluations: Sequence[Evaluation]) -> Grid:
    grids = [(_run(evaluation), _queries(evaluation)) for evaluation in evaluations]
    rows = [[run, *row] for run, grid in grids for row in grid.rows]
    return Grid(['run', *grids[0][1].headers], rows)


def _means_by_run(evaluations: Sequence[Evaluation]) -> Grid:
    rows = [
        [
            _run(evaluation),
            evaluation.definition.name,
            *evaluation.map.tolist(),
            *evaluation.mean_measures.values(),
        ]
        for evaluation in evaluations
    ]
    cutoffs = [f'M{ap_column(k)}' for k in evaluations[0].K]
    return Grid(['run', 'definition', *cutoffs, *evaluations[0].measures], rows)


def _json(evaluations: Sequence[Evaluation], mean_only: bool) -> str:
    objects: list[dict[str, Any]] = [evaluation.to_dict() for evaluation in evaluations]
    if mean_only:
        for each in objects:
            for field in ('queries', 'n_relevant', 'ap', 'measures'):
                each.pop(field, None)
    return json_document(objects[0] if len(objects) == 1 else objects)
