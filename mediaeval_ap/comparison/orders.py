"""Agreement of the orders of runs that metrics, or definitions, give."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from mediaeval_ap.comparison.entries import Agreement
from mediaeval_ap.comparison.runs import Runs, read_runs
from mediaeval_ap.comparison.testing import exact_mean
from mediaeval_ap.errors import ParameterError, require, shown


def agreements(runs: Runs, also: Mapping[str, object] | None) -> list[Agreement]:
    """Return Kendall's tau-b of all pairs of metrics, and of each metric under two definitions."""
    means = _means(runs)
    found = [_agreement(a, b, means[a], means[b]) for a, b in combinations(means, 2)]
    if also is not None and not isinstance(also, Mapping):
        raise ParameterError(f'also: found {shown(also)}, expected {{name: results}}')
    by_definition = {'': means}
    for name, results in (also or {}).items():
        other = read_runs(results)
        _refuse_others(runs, other, name)
        by_definition[f'{name} '] = _means(other)
    for (a, first), (b, second) in combinations(by_definition.items(), 2):
        for metric in first:
            if metric in second:
                pair = (first[metric], second[metric])
                found.append(_agreement(f'{a}{metric}', f'{b}{metric}', *pair))
    return found


def _means(runs: Runs) -> dict[str, list[float]]:
    return {
        metric: [exact_mean(row) for row in values]
        for metric, values in zip(runs.metrics, runs.values, strict=True)
    }


def _refuse_others(runs: Runs, other: Runs, name: str) -> None:
    for what, expected, found in (
        ('runs', runs.names, other.names),
        ('queries', runs.queries, other.queries),
    ):
        if found != expected:
            differing = min({*found} ^ {*expected}, default=None)
            which = '' if differing is None else f' ({shown(differing)} is only in one of them)'
            raise ParameterError(
                f'also: {shown(name)}: found other {what} than those that are compared{which}, '
                'expected the same; a mapping names runs'
            )


def _agreement(a: str, b: str, first: list[float], second: list[float]) -> Agreement:
    if len(first) == 1:
        return Agreement(a, b, None, 'one run has no order')
    for metric, means in ((a, first), (b, second)):
        if min(means) == max(means):
            return Agreement(a, b, None, f'all runs are equal by {metric}')
    stats = require('scipy.stats', 'insight', 'compare')
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore', RuntimeWarning)  # of its p, which is not used
        tau = float(stats.kendalltau(first, second).statistic)
    assert not math.isnan(tau)
    return Agreement(a, b, tau)
