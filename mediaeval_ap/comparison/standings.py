"""The leaderboard, from what the tests found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.entries import Interval, Pair, Standing
from mediaeval_ap.comparison.letters import group_letters
from mediaeval_ap.comparison.runs import Runs
from mediaeval_ap.comparison.settings import Settings
from mediaeval_ap.comparison.testing import MetricTests, adjusted, exact_mean


def leaderboard(tests: MetricTests, settings: Settings, runs: Runs) -> list[Standing]:
    """Return the standing of each run by one metric, best first."""
    pairs = tests.pairs
    ranks = ranks_of(tests.units.steps(np.array(tests.means)).tolist())
    apart = _told_apart(tests)
    letters = group_letters(apart | apart.T)
    standings = [
        _without_baseline(tests, settings, runs, run, ranks[run], interval, letters_of)
        for run, interval, letters_of in zip(
            tests.best_first, rank_intervals(apart), letters, strict=True
        )
    ]
    if settings.baseline is None:
        return standings
    pairs_with = _pairs_with(pairs, settings)
    return [_with_baseline(each, settings.baseline, pairs_with) for each in standings]


def _told_apart(tests: MetricTests) -> NDArray[np.bool_]:
    """Return which run (a row, best first) is told apart from which worse one (a column)."""
    n_runs = len(tests.best_first)
    apart = np.zeros((n_runs, n_runs), dtype=bool)
    apart[np.triu_indices(n_runs, 1)] = np.array(tests.p_adjusted) <= alpha_of(tests.level)
    return apart


def rank_intervals(apart: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranks that each run can have, if those told apart are so (Mogstad et al., 2024).

    A run is behind all that are significantly better, and before all that are significantly worse.
    """
    n_better, n_worse = apart.sum(axis=0), apart.sum(axis=1)
    return list(zip((1 + n_better).tolist(), (len(apart) - n_worse).tolist(), strict=True))


def _without_baseline(
    tests: MetricTests,
    settings: Settings,
    runs: Runs,
    run: int,
    rank: int,
    rank_interval: tuple[int, int],
    group: str,
) -> Standing:
    """Return the standing of a run that is compared with no baseline."""
    name = tests.names[run]
    floor = runs.floor.get(tests.metric)
    without_floor, n_queries, why_not = _without_floor(tests.values[run], runs.n_relevant)
    return Standing(
        metric=tests.metric,
        exploratory=tests.is_exploratory,
        run=name,
        map=tests.means[run],
        n_queries=len(runs.queries),
        interval=tests.intervals.runs[run],
        rank=rank,
        rank_interval=rank_interval,
        difference=None,
        difference_interval=None,
        p=None,
        p_adjusted=None,
        wins=None,
        ties=None,
        losses=None,
        dz=None,
        reason='the baseline itself' if name == settings.baseline else 'no baseline',
        group=group,
        floor=floor,
        floor_reason='the mean of an empty run is not known' if floor is None else '',
        map_without_floor=without_floor,
        n_queries_without_floor=n_queries,
        map_without_floor_reason=why_not,
    )


def _without_floor(
    values: NDArray[np.float64], n_relevant: NDArray[np.int64] | None
) -> tuple[float | None, int, str]:
    """Return the mean over the queries that have a relevant shot, their number, or why not."""
    if n_relevant is None:
        return None, 0, 'numbers of relevant items are not known'
    if not n_relevant.any():
        return None, 0, 'no query has a relevant shot'
    with_relevant = values[n_relevant > 0]
    return exact_mean(with_relevant), len(with_relevant), ''


def _pairs_with(pairs: Sequence[Pair], settings: Settings) -> dict[str, tuple[Pair, float]]:
    """Return the pair of each run and the baseline, with p corrected for all of these.

    Tukey's p is for all pairs in any case.
    """
    chosen = [pair for pair in pairs if settings.baseline in (pair.a, pair.b)]
    p = [pair.p_adjusted for pair in chosen]
    if settings.correction != 'tukey':
        p = adjusted([pair.p for pair in chosen], settings.correction)
    runs = [pair.b if pair.a == settings.baseline else pair.a for pair in chosen]
    return dict(zip(runs, zip(chosen, p, strict=True), strict=True))


def _with_baseline(
    standing: Standing, baseline: str, pairs_with: dict[str, tuple[Pair, float]]
) -> Standing:
    """Return a standing with what compares the run with the baseline."""
    if standing.run == baseline:
        return standing
    pair, p_adjusted = pairs_with[standing.run]
    is_first = pair.a == standing.run
    wins, losses = (pair.wins, pair.losses) if is_first else (pair.losses, pair.wins)
    return replace(
        standing,
        difference=pair.difference if is_first else 0 - pair.difference,
        difference_interval=pair.interval if is_first else opposite(pair.interval),
        p=pair.p,
        p_adjusted=p_adjusted,
        wins=wins,
        ties=pair.ties,
        losses=losses,
        dz=pair.dz if is_first or pair.dz is None else 0 - pair.dz,
        reason=pair.reason,
    )


def ranks_of(means: Sequence[float]) -> list[int]:
    """Return ranks from 1, the best first; equal means share the better rank."""
    ordered = np.sort(np.array(means))
    return [len(means) + 1 - int(np.searchsorted(ordered, each, side='right')) for each in means]


def opposite(interval: Interval) -> Interval:
    """Return the interval of a difference taken the other way round."""
    if interval.low is None or interval.high is None:
        return interval
    return Interval(0 - interval.high, 0 - interval.low)  # not -0.0
