"""Evaluations by the protocol of 2015 as text: the queries, and the means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mediaeval_ap.report.grids import Grid, heading, json_document, queries_counted

if TYPE_CHECKING:
    from mediaeval_ap.evaluation_2015 import Evaluation2015

__all__ = ['render_evaluation_2015']


def render_evaluation_2015(
    evaluation: Evaluation2015, format: str = 'table', *, mean_only: bool = False
) -> str:
    """An evaluation by the protocol of 2015 as text.

    Parameters
    ----------
    evaluation : Evaluation2015
        The evaluation.
    format : {'table', 'csv', 'json', 'jsonl', 'markdown', 'latex'}
        ``table``, ``markdown`` and ``latex`` are for eyes, with three decimals. ``csv`` and
        ``jsonl`` have a row per query or, with `mean_only`, one of the means. ``json`` is
        `Evaluation2015.to_dict`.
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
    >>> from mediaeval_ap import PersonDiscovery2015
    >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    >>> print(render_evaluation_2015(discovery.evaluate([('v', '1', 'ann', 0.5)]), 'csv'))
    query,name,ratio,ap,n_relevant
    ann,ann,1.0,1.0,1
    <BLANKLINE>
    """
    run = evaluation.inputs['labels'].name
    if format == 'json':
        described = evaluation.to_dict()
        if mean_only:
            del described['queries']
        return json_document(described)
    if format in ('csv', 'jsonl'):
        return (_means(evaluation, run) if mean_only else _queries(evaluation)).render(format)
    blocks = [heading(run, f'ratio {evaluation.parameters["ratio"]:g}', format)]
    if not mean_only:
        blocks.append(_queries(evaluation).render(format))
    blocks.append(_summary(evaluation).render(format))
    if evaluation.notes:
        blocks.append(''.join(f'{note}\n' for note in evaluation.notes))
    return '\n'.join(blocks)


def _queries(evaluation: Evaluation2015) -> Grid:
    rows = evaluation.to_dict()['queries']
    headers = [field for field in rows[0] if field != 'correct' or evaluation.correct is not None]
    return Grid(headers, [[row[field] for field in headers] for row in rows])


def _named_means(evaluation: Evaluation2015) -> dict[str, float]:
    means = {
        'MAP': evaluation.map,
        'mean correctness': evaluation.mean_correctness,
        'EwMAP': evaluation.ewmap,
    }
    return {name: value for name, value in means.items() if value is not None}


def _summary(evaluation: Evaluation2015) -> Grid:
    headers = ['METRIC', queries_counted(len(evaluation.queries))]
    return Grid(headers, [list(item) for item in _named_means(evaluation).items()])


def _means(evaluation: Evaluation2015, run: str) -> Grid:
    means = _named_means(evaluation)
    return Grid(['run', *means], [[run, *means.values()]])
