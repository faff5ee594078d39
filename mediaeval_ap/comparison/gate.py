"""The gate against a baseline, and the number of units that decide a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from mediaeval_ap.comparison.comparable_runs import Runs
from mediaeval_ap.comparison.comparison_page import join_names
from mediaeval_ap.comparison.comparison_settings import (
    Settings,
    limit_of,
    names_of_units,
    units_phrase,
)
from mediaeval_ap.comparison.intervals import (
    FEWEST,
    MOST_UNITS,
    DifferenceInterval,
    Variation,
    size_of_more_units,
    units_to_decide,
)
from mediaeval_ap.comparison.leaderboard import TestedRuns
from mediaeval_ap.comparison.pair_tests import Pair, largest_difference
from mediaeval_ap.errors import ParameterError, printable
from mediaeval_ap.render.formats import short

VerdictWord = Literal['worse', 'not better', 'undecided', 'not worse', 'better']
Outcome = Literal['passed', 'failed', 'undecided']
PASSING: tuple[VerdictWord, ...] = ('not worse', 'better')
NumberOrReason = tuple[int | None, str]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a run, by its difference to the baseline in the first metric."""

    metric: str
    run: str
    difference: float
    interval: DifferenceInterval
    verdict: VerdictWord
    n_needed: int | None = None  # units that would decide such a difference with a power of 80 %
    reason: str = ''  # why there is no such number, or that no unit differs
    n_as_zero: int = 0  # the run's items without a value, which count as 0

    @property
    def words(self) -> str:
        """The verdict, with the number of units that would decide it, or a reason."""
        needs = self.reason
        if self.n_needed:
            needs = f'needs {self.n_needed:,}'
        return f'{self.verdict} ({needs})' if needs else self.verdict


@dataclass(frozen=True)
class Gate:
    """The decision about all verdicts; true only if it passed, for `assert comparison.gate`."""

    outcome: Outcome
    words: str

    def __bool__(self) -> bool:
        return self.outcome == 'passed'


@dataclass(frozen=True)
class Power:
    """The number of queries, or clusters, that show a difference with a power of 80 %."""

    metric: str
    a: str
    b: str
    difference: float
    sd: float | None  # the standard deviation of the differences between these two runs
    n_queries: int | None
    reason: str  # why there is no such number
    n_gate: int | None  # with so many units the gate tells a loss of this size from its limit
    gate_reason: str


class Decisions:
    """Decides about differences of tested runs, by the first metric."""

    def __init__(self, settings: Settings, runs: Runs, tested: TestedRuns) -> None:
        self._settings = settings
        self._runs = runs
        self._tested = tested
        self._units = tested.units
        self._limit = limit_of(vars(settings))
        self._bound = -runs.sign * (self._limit or 0)  # of a difference, in units of the values

    def verdicts(self) -> list[Verdict]:
        """Return the verdict on each run, best first; without a gate, none."""
        verdicts = []
        for pair in self._tested.against_baseline if self._settings.is_gate else ():
            self._check_can_decide(pair)
            word: VerdictWord = 'not worse'
            needed: NumberOrReason = None, ''
            if self._limit is not None and self._side(pair, self._bound) < 0:
                word = 'worse'
            elif self._settings.require_better:
                word = 'better' if self._side(pair, 0) > 0 else 'not better'
            elif not self._differs(pair):
                needed = self._needed(pair, pair.difference, self._bound)
            elif self._side(pair, self._bound) < 1:
                word = 'undecided'
                needed = self._needed(pair, pair.difference, self._bound)
            compared = pair.metric, pair.a, pair.difference, pair.interval
            n_as_zero = self._runs.n_as_zero.get(pair.a, 0)
            verdicts.append(Verdict(*compared, word, *needed, n_as_zero=n_as_zero))
        return verdicts

    def _side(self, pair: Pair, bound: float) -> int:
        """Return 1 or -1 if a whole interval is better or worse than a bound, 0 if it holds it."""
        return self._runs.sign * pair.interval.side_of(bound)

    def _rows(self, pair: Pair) -> list[int]:
        return [self._runs.names.index(name) for name in (pair.a, pair.b)]

    def _differs(self, pair: Pair) -> bool:
        """Return True if two runs differ on a unit, or seeds of one of them do."""
        seeds = [spread.variance for run in self._rows(pair) for spread in self._units.seeds[run]]
        return bool(pair.n_nonzero or any(seeds))

    def _check_can_decide(self, pair: Pair) -> None:
        """Raise ParameterError for a limit that no difference can exceed, or too few units."""
        settings = self._settings
        width = largest_difference(self._runs, self._runs.values[0][self._rows(pair)])
        if self._limit is not None and width is not None and self._limit >= width:
            name = 'fail_if_worse' if settings.require_not_worse is None else 'require_not_worse'
            expected = f'less than {width:g}, the largest difference that there can be'
            raise ParameterError(f'found {self._limit:g}, expected {expected}', name)
        if pair.interval.reason:
            actual = units_phrase(settings, len(self._units.sizes), pair.metric)
            needed = units_phrase(settings, FEWEST, pair.metric)
            raise ParameterError(
                f'baseline: found {actual}, expected {needed} or more for a verdict; '
                f'{printable(pair.a)} is not shown to be worse or better'
            )

    def gate(self, verdicts: Sequence[Verdict]) -> Gate:
        settings = self._settings
        runs_by_word: dict[VerdictWord, list[str]] = {word: [] for word in get_args(VerdictWord)}
        for one in verdicts:
            runs_by_word[one.verdict].append(one.run)
        names = {word: join_names(runs) for word, runs in runs_by_word.items() if runs}
        outcome: Outcome = 'undecided' if 'undecided' in names else 'passed'
        words = ': not worse'
        if settings.require_better:
            words = ': better'
        elif self._limit:
            words += f' by {self._limit:g} or more'
        if outcome == 'undecided':
            words = f' ({names["undecided"]})'
        must_be_shown = outcome == 'undecided' and settings.require_not_worse is not None
        if must_be_shown or {'worse', 'not better'} & names.keys():
            outcome = 'failed'
            reasons = [f'{word}: {names[word]}' for word in names if word not in PASSING]
            words = f' ({"; ".join(reasons)})'
        words += self._why_undecided(verdicts)
        if self._runs.missing:
            words += f'; {self._runs.missing}'
        return Gate(outcome, f'Gate {outcome}{words}')

    def _why_undecided(self, verdicts: Sequence[Verdict]) -> str:
        """Return the clause on undecided verdicts, with the units that each needs, or ''."""
        metric = self._runs.metrics[0]
        needs = []
        for one in verdicts:
            if one.verdict == 'undecided':
                needed = one.reason
                if one.n_needed:
                    needed = units_phrase(self._settings, one.n_needed, metric)
                needs.append(f'{short(one.difference)} takes {needed}')
        if not needs:
            return ''
        units = units_phrase(self._settings, len(self._units.sizes), metric)
        return (
            f': {units} do not tell a difference from the limit of {self._bound:g}; '
            f'for a power of 80 %, {join_names(needs)}'
        )

    def powers(self) -> list[Power]:
        """Return how many units would show a difference of `settings.power`, for each pair."""
        power = self._settings.power
        table = []
        for pair in self._tested.pairs:
            if power is None or pair.exploratory:
                continue
            by_test = self._needed(pair, -power, 0)
            by_gate: NumberOrReason = None, 'no gate'
            if self._limit is not None and self._settings.baseline in (pair.a, pair.b):
                by_gate = self._needed(pair, -power, -self._limit)
            compared = pair.metric, pair.a, pair.b, power, self._deviation(pair)
            table.append(Power(*compared, *by_test, *by_gate))
        return table

    def _needed(self, pair: Pair, difference: float, bound: float) -> NumberOrReason:
        """Return how many units tell a difference of a pair from a bound, or why none does."""
        a, b = self._rows(pair)
        differences = self._units.differences(a, b)
        sd = self._deviation(pair)
        unit, plural = names_of_units(vars(self._settings), self._runs.metrics[0])
        if not differences.any():
            return None, 'more seeds' if self._differs(pair) else f'no {unit} differs'
        if sd is None:
            return None, f'one {unit} has no standard deviation'
        if abs(difference - bound) <= self._units.rounding(a, b):
            return None, f'infinitely many {plural}'
        variation = Variation(
            sd,
            m=size_of_more_units(differences, self._units.sizes),
            share=np.count_nonzero(differences) / len(differences),
            seeds=[*self._units.seeds[a], *self._units.seeds[b]],
        )
        n_units = units_to_decide(difference, bound, variation, self._settings.level)
        if n_units is None:
            return None, 'more seeds'
        if n_units >= MOST_UNITS:
            return None, f'more than {MOST_UNITS:,} {plural}'
        return n_units, ''

    def _deviation(self, pair: Pair) -> float | None:
        """Return the standard deviation of differences, as if all units were of mean size."""
        sizes = self._units.sizes
        if len(sizes) == 1:
            return None
        differences = self._units.differences(*self._rows(pair))
        deviations = differences - differences.sum() / sizes.sum() * sizes
        sum_of_squares = float(np.square(deviations / sizes.mean()).sum())
        return math.sqrt(sum_of_squares / (len(sizes) - 1))
