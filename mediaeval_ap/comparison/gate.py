"""The gate against a baseline, and the number of units that decide a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.comparison_page import join_names
from mediaeval_ap.comparison.intervals import (
    MOST_UNITS,
    DifferenceInterval,
    fewest_units,
    units_to_decide,
    usual_size,
)
from mediaeval_ap.comparison.testing import (
    Pair,
    Settings,
    Standing,
    largest_difference,
    names_of_units,
    terms_of,
    units_phrase,
)
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.errors import ParameterError, printable, with_noun
from mediaeval_ap.render.formats import short

VerdictWord = Literal['worse', 'not better', 'undecided', 'not worse', 'better']
Outcome = Literal['passed', 'failed', 'undecided']
PASSING: tuple[VerdictWord, ...] = ('not worse', 'better')


@dataclass(frozen=True)
class Verdict:
    """The verdict on a run, by its difference to the baseline in the first metric.

    `n_needed` units would decide a difference like the observed one with a power of 80 %; if it is
    None, `reason` says why, unless the run is decided. `n_as_zero` is the number of its items
    without a value, which count as 0.
    """

    metric: str
    run: str
    difference: float
    interval: DifferenceInterval
    verdict: VerdictWord
    failed: bool
    n_needed: int | None = None
    reason: str = ''
    n_as_zero: int = 0


@dataclass(frozen=True)
class Gate:
    """The outcome of all verdicts, and the sentence that says it."""

    outcome: Outcome
    words: str


def verdicts_of(
    settings: Settings, runs: Runs, leaderboard: Sequence[Standing], units: Units
) -> list[Verdict]:
    """Return the verdict on each run, best first.

    A run is worse if its whole interval is below minus the limit, and not worse if all of it is
    above, or if it differs on no query. At a limit of 0 p decides, as it does about the interval.
    """
    if not settings.is_gate:
        return []
    verdicts = []
    baseline = runs.names.index(str(settings.baseline))
    for standing in leaderboard:
        interval = standing.difference_interval
        if standing.exploratory or standing.difference is None or interval is None:
            continue
        run = runs.names.index(standing.run)
        _check_limit(settings, runs, run, baseline)
        if interval.low is None:
            needed = units_phrase(settings, fewest_units(settings.level), runs)
            raise ParameterError(
                f'baseline: found {units_phrase(settings, len(units.sizes), runs)}, expected '
                f'{needed} or more for a verdict; {printable(standing.run)} is not shown to be '
                'worse or better'
            )
        differs = bool(units.differences(run, baseline).any())
        word = _word(settings, interval, differs)
        n_needed, reason = None, ''
        if word == 'undecided':
            bound = -(settings.limit or 0)
            n_needed, reason = _units_needed(
                settings, runs, units, (run, baseline), standing.difference, bound
            )
        verdicts.append(
            Verdict(
                standing.metric,
                standing.run,
                standing.difference,
                interval,
                word,
                word in ('worse', 'not better')
                or (word == 'undecided' and settings.require_not_worse is not None),
                n_needed,
                reason,
                runs.n_as_zero.get(standing.run, 0),
            )
        )
    return verdicts


def _check_limit(settings: Settings, runs: Runs, run: int, baseline: int) -> None:
    """Raise ParameterError for a limit that no difference can exceed."""
    width = largest_difference(runs, runs.values[0][[run, baseline]])
    if settings.limit is not None and width is not None and settings.limit >= width:
        name = 'fail_if_worse' if settings.require_not_worse is None else 'require_not_worse'
        expected = f'less than {width:g}, the largest difference that there can be'
        raise ParameterError(f'{name}: found {settings.limit:g}, expected {expected}')


def _word(settings: Settings, interval: DifferenceInterval, differs: bool) -> VerdictWord:
    if settings.limit is not None and interval.is_below(-settings.limit):
        return 'worse'
    if settings.require_better:
        return 'better' if interval.is_above(0) else 'not better'
    is_shown = interval.is_above(-(settings.limit or 0)) or not differs
    return 'not worse' if is_shown else 'undecided'


def gate_of(
    settings: Settings, runs: Runs, verdicts: Sequence[Verdict], units: Units
) -> Gate | None:
    """Join the verdicts on all runs into one outcome; return None without verdicts."""
    if not verdicts:
        return None
    runs_by_word: dict[VerdictWord, list[str]] = {}
    for verdict in verdicts:
        runs_by_word.setdefault(verdict.verdict, []).append(verdict.run)
    names = {word: join_names(run_names) for word, run_names in runs_by_word.items()}
    outcome: Outcome = 'passed'
    if any(verdict.failed for verdict in verdicts):
        outcome = 'failed'
        reasons = [f'{word}: {names[word]}' for word in names if word not in PASSING]
        words = f' ({"; ".join(reasons)})'
    elif 'undecided' in names:
        outcome = 'undecided'
        words = f' ({names["undecided"]})'
    else:
        limit = f' by {settings.limit:g} or more' if settings.limit else ''
        words = ': better' if settings.require_better else f': not worse{limit}'
    if 'undecided' in names:
        words += f': {_what_would_decide(settings, runs, verdicts, units)}'
    missing = ''.join(f'; {phrase}' for phrase in _missing_values(settings, runs))
    return Gate(outcome, f'Gate {outcome}{words}{missing}')


def _what_would_decide(
    settings: Settings, runs: Runs, verdicts: Sequence[Verdict], units: Units
) -> str:
    """Say how many units would decide differences like the observed ones."""
    unit, plural = names_of_units(vars(settings), runs.metrics[0])
    needs = [
        f'{short(verdict.difference)} '
        + (verdict.reason or f'takes {with_noun(verdict.n_needed or 0, unit, plural)}')
        for verdict in verdicts
        if verdict.verdict == 'undecided'
    ]
    units_found = units_phrase(settings, len(units.sizes), runs)
    return (
        f'{units_found} are too few to tell; for a power of 80 %, a difference of '
        f'{join_names(needs)}'
    )


def _missing_values(settings: Settings, runs: Runs) -> Iterator[str]:
    """Yield how many items were left out, and how many count as 0."""
    terms = terms_of(vars(settings), runs.metrics[0])
    if runs.n_left_out:
        yield f'{with_noun(runs.n_left_out, terms.query, terms.queries)} left out'
    for run, count in runs.n_as_zero.items():
        items = with_noun(count, terms.query, terms.queries)
        yield f'{items} of {printable(run)} without a value, counted as 0'


@dataclass(frozen=True)
class Power:
    """The number of queries, or clusters, that show a difference with a power of 80 %.

    Differences are assumed to be like those of these two runs, whose standard deviation is `sd`.
    `n_gate` is the number at which the gate tells a loss of this size from its limit; None without
    a gate. Where a number is None otherwise, a reason says why.
    """

    metric: str
    a: str
    b: str
    difference: float
    sd: float | None
    n_queries: int | None
    reason: str
    n_gate: int | None = None
    gate_reason: str = ''


def powers(settings: Settings, runs: Runs, pairs: Sequence[Pair], units: Units) -> list[Power]:
    """Return how many units would show the difference `settings.power`, for each pair.

    Pairs are tested by the first metric.
    """
    if settings.power is None:
        return []
    numbers = {name: number for number, name in enumerate(runs.names)}
    table = []
    for pair in (pair for pair in pairs if not pair.exploratory):
        both = numbers[pair.a], numbers[pair.b]
        loss = -settings.power
        n_queries, reason = _units_needed(settings, runs, units, both, loss, 0)
        n_gate, gate_reason = None, 'no gate'
        if settings.limit is not None:
            n_gate, gate_reason = _units_needed(settings, runs, units, both, loss, -settings.limit)
        sd = None if len(units.sizes) == 1 else _deviation(units, *both)
        names = pair.metric, pair.a, pair.b
        table.append(Power(*names, settings.power, sd, n_queries, reason, n_gate, gate_reason))
    return table


def _units_needed(
    settings: Settings,
    runs: Runs,
    units: Units,
    pair: tuple[int, int],
    difference: float,
    bound: float,
) -> tuple[int | None, str]:
    """Return how many units tell a difference of a pair from a bound, or None and the reason."""
    differences = units.differences(*pair)
    share = np.count_nonzero(differences) / len(differences)
    unit, plural = names_of_units(vars(settings), runs.metrics[0])
    if share == 0:
        return None, f'no {unit} differs'
    if len(differences) == 1:
        return None, f'one {unit} has no standard deviation'
    if abs(difference - bound) <= units.rounding(*pair):
        return None, 'equals the limit'
    n_units = units_to_decide(
        difference,
        bound,
        _deviation(units, *pair),
        usual_size(differences, units.sizes),
        share,
        settings.level,
        [spread for run in pair for spread in units.seeds[run]],
    )
    if n_units is None:
        return None, 'takes more seeds'
    if n_units >= MOST_UNITS:
        return None, f'takes more than {MOST_UNITS:,} {plural}'
    return n_units, ''


def _deviation(units: Units, a: int, b: int) -> float:
    """Return the standard deviation of the differences of units, as if they were of mean size."""
    differences = units.differences(a, b)
    mean = differences.sum() / units.sizes.sum()
    deviations = (differences - mean * units.sizes) / units.sizes.mean()
    return math.sqrt(float(np.square(deviations).sum()) / (len(deviations) - 1))
