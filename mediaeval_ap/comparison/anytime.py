"""Tests of runs that may be looked at after each query, in random order.

A test that is looked at after each query finds a difference sooner or later, also between equal
runs. Here each pair of runs is a bet against "the mean difference is 0", whose capital does not
grow on average while this is true: so it may be looked at as often as one likes (Waudby-Smith and
Ramdas, "Estimating means of bounded random variables by betting", JRSSB 2023).

Differences, from -1 to 1, are moved to 0 to 1. All means here are of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.comparable_runs import Runs, exact_mean
from mediaeval_ap.comparison.sampling import Floats, Interval
from mediaeval_ap.comparison.settings import Settings
from mediaeval_ap.errors import ParameterError, counted, printable, shown
from mediaeval_ap.render.document import Terms

TOLERANCE = 1e-9  # of sums, as values are rounded quotients
LARGEST_BET = 1.0  # so that no capital gets below 0, whatever comes
LARGEST_LOG = 690.0  # of an e-value: JSON has no infinity
LOOKED_AT_ONCE = 1 << 21  # values, to keep memory low
HALVINGS = 40  # of what is looked through for the end of an interval
COUNT_ONCE = (
    "score by a definition that counts a shot once: --definition trec, in Python definition='trec'"
)
SCALE = 'scale the scores, so that the least possible value is 0 and the largest 1'
EQUAL = 0.5  # the mean where two runs are equal


@dataclass(frozen=True, kw_only=True)
class AnytimePair:
    """Two runs by the last metric, the better one first, on queries in random order.

    `e_value` is the capital after all queries, which under equal means is more than c with a chance
    of at most 1/c at any time; it may fall, and `largest_e_value` was its largest. `interval` is of
    the mean difference over the `population`, at all times together. `settled_after` is the number
    of queries after which `better` was settled to be the better run; None with a reason.
    """

    metric: str
    a: str
    b: str
    difference: float
    n_queries: int
    population: int
    e_value: float
    largest_e_value: float
    interval: Interval
    settled_after: int | None
    better: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The leader by the last metric, and after how many queries its lead over all was settled.

    Each of the `n_others` pairs needs an e-value of `n_others` / (1 - level), so that all claims
    hold together. `settled_after` is None with a reason.
    """

    metric: str
    run: str
    n_others: int
    settled_after: int | None
    reason: str


def random_order(queries: Sequence[str], seed: int) -> NDArray[np.intp]:
    """Return the places of queries in a random order that depends on the seed and the names alone.

    Some of the queries come in the same order as among all: so if queries are judged in this order,
    each look is at the beginning of one sequence.
    """
    keys, times = [], Counter[str]()
    for query in queries:
        keys.append(blake2b(f'{seed} {times[query]} {query}'.encode()).digest())
        times[query] += 1
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


def bets(values: Floats, alpha: float) -> Floats:
    """Return the bet on each value (last axis), from those before it: the predictable plug-in."""
    places = np.arange(1, values.shape[-1] + 1)
    means = (0.5 + np.cumsum(values, axis=-1)) / (places + 1)
    variances = (0.25 + np.cumsum(np.square(values - means), axis=-1)) / (places + 1)
    before = np.insert(variances[..., :-1], 0, 0.25, axis=-1)
    sizes: Floats = np.sqrt(2 * log(2 / alpha) / (before * places * np.log1p(places)))
    return np.minimum(sizes, LARGEST_BET)


def mean_of_rest(values: Floats, mean: Floats, population: float) -> Floats:
    """Return what the mean of the queries not yet seen must be, before each value and after all.

    Where it is below 0 or above 1, the mean over the population cannot be `mean`.
    """
    seen = np.arange(values.shape[-1] + 1)
    sums = np.insert(np.cumsum(values, axis=-1), 0, 0, axis=-1)
    mean = mean[..., None]
    return mean + (seen * mean - sums) / np.maximum(population - seen, TOLERANCE)


def log_capitals(
    values: Floats, sizes: Floats, mean: Floats, population: float
) -> tuple[Floats, Floats]:
    """Return the log capital after each value of bets that the mean is higher, and lower.

    Nothing more is bet when the mean has become impossible.
    """
    expected = mean_of_rest(values, mean, population)[..., :-1]
    is_possible = np.logical_and.accumulate(np.abs(expected - 0.5) <= 0.5 + TOLERANCE, axis=-1)
    won = np.where(is_possible, sizes * (values - np.clip(expected, 0, 1)), 0)
    with np.errstate(divide='ignore'):  # a capital of 0
        return np.cumsum(np.log1p(won), axis=-1), np.cumsum(np.log1p(-won), axis=-1)


def log_e_values(values: Floats, sizes: Floats, mean: Floats, population: float) -> Floats:
    """Return the log of the e-process of a mean after each value: half is bet on either side.

    A bet does not depend on the mean, so the capital, and the largest one so far, are convex in it.
    """
    higher, lower = log_capitals(values, sizes, mean, population)
    found: Floats = np.logaddexp(higher, lower) - log(2)
    return found


def always_valid(values: Floats, population: float, alpha: float) -> tuple[Floats, Floats]:
    """Return the ends of the means whose e-process stayed below 1 / alpha, of each row.

    The set is an interval, as the largest e-value is convex in the mean. Its ends are nan where no
    mean is left, which happens with a chance of at most alpha. If the population is known, they are
    its mean.
    """
    n, sums, sizes = values.shape[-1], values.sum(axis=-1), bets(values, alpha)
    least, most = sums / population, 1 - (n - sums) / population  # the others all 0, or all 1
    if n == population:
        return least, least

    def largest(rows: NDArray[np.intp], mean: Floats) -> Floats:
        of_rows = log_e_values(values[rows], sizes[rows], mean, population)
        found: Floats = of_rows.max(axis=-1)
        return found

    every, inside = np.arange(len(values)), np.clip(sums / n, least, most)
    limit = log(1 / alpha)
    lost = np.flatnonzero(largest(every, inside) >= limit)
    begin, end = least[lost], most[lost]
    for _ in range(2 * HALVINGS if len(lost) else 0):  # the least of a convex function, by thirds
        third = (end - begin) / 3
        is_right = largest(lost, begin + third) > largest(lost, end - third)
        begin, end = np.where(is_right, begin + third, begin), np.where(is_right, end, end - third)
    inside[lost] = (begin + end) / 2
    is_empty = largest(every, inside) >= limit
    ends = []
    for outside in least, most:
        within = np.where(largest(every, outside) < limit, outside, inside)
        for _ in range(HALVINGS):
            middle = (within + outside) / 2
            is_in = largest(every, middle) < limit
            within, outside = np.where(is_in, middle, within), np.where(is_in, outside, middle)
        ends.append(np.where(is_empty, np.nan, outside))
    return ends[0], ends[1]


def settled(values: Floats, population: float, alpha: float, n_claims: int = 1) -> NDArray[np.intp]:
    """Return the number of values after which each row is settled; negative: below the middle.

    0 stands for not settled. The bets are those of one claim.
    """
    equal = np.full(values.shape[:-1], EQUAL)
    higher, lower = log_capitals(values, bets(values, alpha), equal, population)
    rest = mean_of_rest(values, equal, population)[..., 1:]
    is_certain = np.abs(rest - 0.5) > 0.5 + TOLERANCE
    is_told = is_certain | (np.logaddexp(higher, lower) - log(2) >= log(n_claims / alpha))
    is_higher = np.where(is_certain, rest < EQUAL, higher > lower)
    first = is_told.argmax(axis=-1)
    signs = np.where(np.take_along_axis(is_higher, first[..., None], -1)[..., 0], 1, -1)
    return np.where(is_told.any(axis=-1), signs * (first + 1), 0)


def anytime_pairs(
    settings: Settings, runs: Runs, best_first: Sequence[int]
) -> tuple[list[AnytimePair], Lead]:
    """Look at all pairs of runs by the last metric, in the random order of the seed."""
    population, n_queries = _checked(settings.population, runs), len(runs.queries)
    alpha, metric, names, values = (
        alpha_of(settings.level),
        runs.metrics[-1],
        runs.names,
        runs.values[-1],
    )
    first, second = np.triu_indices(len(names), 1)
    a, b = np.array(best_first)[first], np.array(best_first)[second]
    in_order = values[:, random_order(runs.queries, settings.seed)]
    pairs, of_lead = [], []
    n_each = max(1, LOOKED_AT_ONCE // n_queries)
    for begin in range(0, len(a), n_each):
        some = slice(begin, begin + n_each)
        moved = (1 + in_order[a[some]] - in_order[b[some]]) / 2
        equal = np.full(len(moved), EQUAL)
        logs = log_e_values(moved, bets(moved, alpha), equal, population)
        ends = logs[:, -1], logs.max(axis=-1), *always_valid(moved, population, alpha)
        numbers = settled(moved, population, alpha)
        of_lead += settled(moved, population, alpha, len(names) - 1).tolist()
        for one, other, number, last, largest, low, high in zip(
            *(a[some], b[some], numbers.tolist(), *ends), strict=True
        ):
            difference = exact_mean(np.concatenate([values[one], -values[other]])) * 2
            pairs.append(
                AnytimePair(
                    metric=metric,
                    a=names[one],
                    b=names[other],
                    difference=difference,
                    n_queries=n_queries,
                    population=population,
                    e_value=_e_value(last),
                    largest_e_value=_e_value(largest),
                    interval=_interval(low, high, difference, n_queries == population),
                    settled_after=abs(number) or None,
                    better='' if not number else names[one if number > 0 else other],
                    reason='' if number else f'no e-value reaches {1 / alpha:g}',
                )
            )
    return pairs, _lead(metric, pairs, of_lead)


def _e_value(logarithm: float) -> float:
    return exp(min(logarithm, LARGEST_LOG))


def _interval(low: float, high: float, difference: float, is_known: bool) -> Interval:
    if is_known:
        return Interval(difference, difference)
    if np.isnan(low):
        return Interval(None, None, 'intervals after fewer and more queries have no common value')
    return Interval(float(2 * low - 1), float(2 * high - 1))


def _lead(metric: str, pairs: Sequence[AnytimePair], numbers: Sequence[int]) -> Lead:
    """Return the lead of the first run, from the numbers of all pairs, corrected for its own."""
    run = pairs[0].a
    of_run = {pair.b: n for pair, n in zip(pairs, numbers, strict=True) if pair.a == run}
    missing = [printable(name) for name, number in of_run.items() if number <= 0]
    after = None if missing else max(of_run.values())
    reason = f'not settled against {", ".join(missing)}' if missing else ''
    return Lead(metric=metric, run=run, n_others=len(of_run), settled_after=after, reason=reason)


def _checked(population: int | None, runs: Runs) -> int:
    """Return the size of the population, and refuse what is no sample of it, or no value."""
    n_queries = len(runs.queries)
    if len(runs.names) < 2:
        raise ParameterError('anytime: found one run, expected two or more')
    if population is not None and population < n_queries:
        raise ParameterError(
            f'population: found {population:,}, expected at least {n_queries:,}, the number of '
            'queries of the results'
        )
    values = runs.values[-1]
    if outside := np.argwhere((values < 0) | (values > 1)).tolist():
        run, query = outside[0]
        raise ParameterError(
            f'anytime: {runs.metrics[-1]}: found {values[run, query]:g} for '
            f'{shown(runs.names[run])} and {shown(runs.queries[query])}, expected values from 0 to '
            f'1; {SCALE if runs.kind == "scores" else COUNT_ONCE}'
        )
    return population or n_queries


def sentence(pairs: Sequence[AnytimePair], lead: Lead, level: float, terms: Terms) -> str:
    """Say what is settled, after how many queries, and with which correction."""
    alpha, one, run = alpha_of(level), pairs[0], printable(lead.run)
    of_all = f'{one.n_queries:,} {terms.queries} in random order'
    if one.population > one.n_queries:
        of_all += f', a sample of {one.population:,}'
    others = f'all {lead.n_others} others' if lead.n_others > 1 else f'the other {terms.run}'
    needed = f'e-value of each pair at least {lead.n_others / alpha:g}'
    n_settled = sum(pair.settled_after is not None for pair in pairs)
    of_pairs = f'{n_settled} of {counted(len(pairs), "pair", "pairs")}'
    rest = f'({needed})'
    if lead.n_others > 1:
        rest += f'; by itself, {of_pairs} (at least {1 / alpha:g})'
    if lead.settled_after is None:
        return f'{lead.metric}: the lead of {run} is {lead.reason} by {of_all} {rest}'
    after = f'after {lead.settled_after:,} of {of_all}'
    return f'{lead.metric}: {run} is settled to lead {others} {after} {rest}'
