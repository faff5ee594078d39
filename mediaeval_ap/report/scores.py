"""Scores as text: one number, and the table behind it where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mediaeval_ap.report.grids import Grid, heading, json_document, queries_counted

if TYPE_CHECKING:
    from mediaeval_ap.results import Score

__all__ = ['render_score']

SHOWN = ('definition', 'ties')


def render_score(score: Score, format: str = 'table') -> str:
    """A score as text.

    Parameters
    ----------
    score : Score
        The score.
    format : {'table', 'csv', 'json', 'jsonl', 'markdown', 'latex'}
        ``table``, ``markdown`` and ``latex`` are for eyes, with three decimals. ``csv`` and
        ``jsonl`` have the rows of its table or, without one, a row of the value and the counts.
        ``json`` is `Score.to_dict`.

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
    >>> from mediaeval_ap import challenges
    >>> score = challenges.evaluate_first_hit(
    ...     'samples/whales_truth.csv', 'samples/whales_predictions.csv'
    ... )
    >>> print(render_score(score))
    samples/whales_predictions.csv
    <BLANKLINE>
    METRIC             40 queries
    ---------------  ------------
    first-hit MAP@5         0.420
    <BLANKLINE>
    """
    if format == 'json':
        return json_document(score.to_dict())
    if format in ('csv', 'jsonl'):
        return (_summary(score) if score.table is None else _table(score)).render(format)
    how = ', '.join(f'{name} {value}' for name, value in _how(score).items())
    blocks = [heading(score.inputs['predictions'].name, how, format)]
    if score.table is not None:
        blocks.append(_table(score).render(format))
    blocks.append(_value(score).render(format))
    if score.notes:
        blocks.append(''.join(f'{note}\n' for note in score.notes))
    return '\n'.join(blocks)


def _how(score: Score) -> dict[str, str | int]:
    """What the name of the metric does not tell."""
    return {name: score.parameters[name] for name in SHOWN if name in score.parameters}


def _value(score: Score) -> Grid:
    headers = ['METRIC', queries_counted(score.counts['queries'])]
    return Grid(headers, [[score.metric, score.value]])


def _table(score: Score) -> Grid:
    return Grid(score.headers, score.rows, exact=['confidence'])


def _summary(score: Score) -> Grid:
    columns: dict[str, Any] = {
        'run': score.inputs['predictions'].name,
        'metric': score.metric,
        'value': score.value,
        **_how(score),
        **score.counts,
    }
    return Grid(list(columns), [list(columns.values())])
