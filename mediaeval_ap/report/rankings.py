"""The ranked hypotheses of one query as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mediaeval_ap.report.grids import Grid

if TYPE_CHECKING:
    import pandas

__all__ = ['render_ranking']


def render_ranking(ranking: pandas.DataFrame, format: str = 'table') -> str:
    """The ranked hypotheses of one query as text.

    Parameters
    ----------
    ranking : pandas.DataFrame
        What `AveragePrecision.rank` returns.
    format : {'table', 'csv', 'json', 'jsonl', 'markdown', 'latex'}
        ``table``, ``markdown`` and ``latex`` are for eyes, with three decimals.

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
    >>> average_precision = AveragePrecision('samples/reference.txt')
    >>> top = average_precision.rank('samples/hypothesis.txt', 'alain_juppe', k=1)
    >>> print(render_ranking(top, 'csv').splitlines()[0])
    rank,corpus_id,video_id,shot_id,person_name,distance,confidence,temporal_rank,relevant,precision
    """
    columns = [ranking[name].tolist() for name in ranking.columns]
    rows = list(zip(*columns, strict=True))
    return Grid(list(ranking.columns), rows, exact=['confidence']).render(format)
