"""The table that compares runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.results.documents import summary_of
from mediaeval_ap.results.result import Result

if TYPE_CHECKING:
    import pandas


def summary(results: Iterable[Result] | Mapping[str, Result]) -> pandas.DataFrame:
    """Compare runs in one table.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same columns. The keys of a mapping name the runs.

    Returns
    -------
    pandas.DataFrame
        A row for each result, indexed by the name of the run: ``definition``, each mean and
        ``n_queries``; of scores ``metric``, the setting that the metric has (``definition`` or
        ``ties``), ``value`` and ``n_queries``. ``n_queries`` and what begins with it are as of
        `Evaluation.to_frame`; lwlrap has ``n_labels`` in its place.

    Raises
    ------
    ParameterError
        When there is no result, or the results are of different kinds or columns.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, summary
    >>> evaluate = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate
    >>> right = ('x', 'v', '1', 'ann', 0.5)
    >>> wrong = ('x', 'w', '1', 'ann', 0.9)
    >>> results = {'one': evaluate([right]), 'other': evaluate([wrong, right])}
    >>> summary(results)['MAP@1'].to_dict()
    {'one': 1.0, 'other': 0.0}
    """
    import pandas

    names = list(results) if isinstance(results, Mapping) else None
    results = results.values() if isinstance(results, Mapping) else results
    given = list(results) if isinstance(results, Iterable) else []
    wrong = [each for each in given if not isinstance(each, Result)]
    if wrong or not isinstance(results, Iterable):
        found = shown(type(wrong[0] if wrong else results))
        raise ParameterError(f'summary: found {found}, expected a list of results')
    grid = summary_of(given)
    frame = pandas.DataFrame(grid.rows, columns=list(grid.headers)).set_index('run')
    return frame if names is None else frame.set_axis(pandas.Index(names, name='run'))
