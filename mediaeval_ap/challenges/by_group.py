"""Scores of groups of ids, such as new whales and known ones, beside that of all."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mediaeval_ap.errors import DataWarning, ParameterError, UndefinedScoreError, shown
from mediaeval_ap.results.result import ALL_QUERIES
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.groups import Groups
from mediaeval_ap.tables.inputs import Frame


def evaluate_by_group(
    evaluate: Callable[..., Score], truth: Frame, predictions: Frame, by: Frame, **settings: Any
) -> list[Score]:
    """Score the ids of each group, and all of them.

    Parameters
    ----------
    evaluate : callable
        `evaluate_map`, `evaluate_first_hit`, `evaluate_gap` or `evaluate_lrap`.
    truth, predictions : as of `evaluate`
        Files or tables, which are read for each group.
    by : str, path-like, file object, DataFrame or pyarrow table
        ``item,group``: the group of each id of the truth that is scored.
    **settings
        Other arguments of `evaluate`.

    Returns
    -------
    list of Score
        One for each group, by its name, and last that of all, whose group is ``all``: see
        ``score.parameters['group']``. GAP ranks the predictions of the group alone.

    Raises
    ------
    FormatError
        When an id has no group, or two; otherwise as of `evaluate`.
    ParameterError
        When a group is called ``all``.
    UndefinedScoreError
        When no id of a group has a true label.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap import evaluate_map
    >>> bought = pandas.DataFrame({'user': ['ann', 'bob'], 'items': ['a b', 'c']})
    >>> listed = pandas.DataFrame({'user': ['ann', 'bob'], 'items': ['a x b', 'x c']})
    >>> by = pandas.DataFrame({'item': ['ann', 'bob'], 'group': ['known', 'new']})
    >>> columns = {'id': 'user', 'labels': 'items'}
    >>> scores = evaluate_by_group(evaluate_map, bought, listed, by, columns=columns)
    >>> [(score.parameters['group'], round(score.value, 3)) for score in scores]
    [('known', 0.833), ('new', 0.5), ('all', 0.667)]
    """
    whole = evaluate(truth, predictions, **settings)
    groups, members = Groups.read(by), defaultdict(list)
    assert whole.queries is not None
    ids = whole.queries.to_pylist()
    for each, group in zip(ids, groups.of(ids), strict=True):
        members[group].append(each)
    if ALL_QUERIES in members:
        raise ParameterError(f'by: found the group {ALL_QUERIES!r}, expected another name')
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DataWarning)  # those of all ids were given already
        for group in sorted(members):
            try:
                scores[group] = evaluate(truth, predictions, **settings, ids=members[group])
            except UndefinedScoreError as error:
                raise UndefinedScoreError(f'group {shown(group)}: {error}') from error
    return [
        replace(
            score,
            parameters={**score.parameters, 'group': group},
            inputs={**score.inputs, 'groups': groups.source},
        )
        for group, score in [*scores.items(), (ALL_QUERIES, whole)]
    ]
