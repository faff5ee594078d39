"""What a reader wants first: who leads, and what the test says of that run and the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.comparison import CORRECTED_BY, words_of_test
from mediaeval_ap.render.document import counted
from mediaeval_ap.render.formats import short_p

NAMED_AT_MOST = 3  # a choice: more names make a sentence that nobody reads
MOST_DIGITS = 17  # tell any two doubles apart


def lead_of(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return a headline and sentences about the last cutoff, which claim no more than the test."""
    counts = comparison['manifest']['counts']
    if counts['queries_without_relevant'] == counts['queries']:
        return _said(
            'No query has a relevant shot: nothing can be told about the runs',
            ['Every run has the same value for each query, whatever it returns.'],
        )
    metric = comparison['metrics'][-1]
    board = [row for row in comparison['leaderboard'] if row['metric'] == metric]
    leaders = [row['run'] for row in board if row['rank'] == 1]
    below = [row['run'] for row in board if row['rank'] > 1]
    first = board[0]
    score = f'{metric} {first["map"]:.3f}'
    told = f'{score}{_interval(first, comparison)}.'
    if len(board) == 1:
        alone = 'There is no other run to compare it with.'
        return _said(f'{first["run"]} scores {score}', [f'{told} {alone}'])
    if not below:
        return _said(f'{listed(leaders)} score the same: {score}', ['Their means are equal.'])
    found = [_tests_of(comparison, run, below) for run in leaders]
    if len(leaders) == 1:
        told = f'{first["run"]}: {told}'
        return _said(_headline(found[0]), [told, _test(comparison) + _better_than(found[0])])
    return _said(
        f'{listed(leaders)} lead together: {score}',
        ['Their means are equal.', _test(comparison), *map(_sentence, found[:NAMED_AT_MOST])],
    )


@dataclass(frozen=True)
class _Tests:
    """A leader, and the corrected p of its pairs with the runs below it, best first."""

    leader: str
    p: dict[str, float]
    alpha: float
    correction: str

    @property
    def alike(self) -> list[str]:
        """The runs that the test does not tell apart from the leader."""
        return [run for run, p in self.p.items() if p > self.alpha]


def _tests_of(comparison: Mapping[str, Any], leader: str, below: Sequence[str]) -> _Tests:
    parameters = comparison['manifest']['parameters']
    p = {
        frozenset((pair['a'], pair['b'])): pair['p_adjusted']
        for pair in comparison['pairs']
        if pair['metric'] == comparison['metrics'][-1]
    }
    return _Tests(
        leader,
        {run: p[frozenset((leader, run))] for run in below},
        alpha_of(parameters['level']),
        CORRECTED_BY.get(parameters['correction'], 'Tukey'),
    )


def _headline(found: _Tests) -> str:
    """Say what the test says of the leader and the next run, and of whom it is not told apart."""
    alike, following = found.alike, next(iter(found.p))
    if not alike:
        return _is_better(found)
    if following in alike:
        return f'{found.leader} leads, but is {_not_told_apart(found)}'
    p = _equals(found.p[following], found)
    better = f'better than {following} ({p}, {found.correction})'
    return f'{found.leader} leads: {better}, but {_not_told_apart(found)}'


def _is_better(found: _Tests, every: str = 'every other run') -> str:
    largest = _equals(max(found.p.values()), found)
    if len(found.p) == 1:
        (other,) = found.p
        return f'{found.leader} is better than {other} ({largest}, {found.correction})'
    return f'{found.leader} is better than {every} (largest {largest}, {found.correction})'


def _not_told_apart(found: _Tests) -> str:
    alike = found.alike
    p = _equals(min(found.p[run] for run in alike), found)
    smallest = '' if len(alike) == 1 else 'smallest '
    return f'not told apart from {listed(alike)} ({smallest}{p}, {found.correction})'


def _sentence(found: _Tests) -> str:
    """Say of one of several leaders what the test says of the runs below."""
    if not found.alike:
        return f'{_is_better(found, "every run below")}.'
    return f'{found.leader} is {_not_told_apart(found)}.{_better_than(found)}'


def _better_than(found: _Tests) -> str:
    """Say how many runs the leader is better than, if it is better than some."""
    n_better = len(found.p) - len(found.alike)
    if not found.alike or not n_better:
        return ''
    return f' {found.leader} is better than {counted(n_better, "other run", "other runs")}.'


def _test(comparison: Mapping[str, Any]) -> str:
    """Name the test, its family and its units, and the p that it needs."""
    parameters, counts = comparison['manifest']['parameters'], comparison['manifest']['counts']
    n_pairs = sum(pair['metric'] == comparison['metrics'][-1] for pair in comparison['pairs'])
    family = f' over all {n_pairs} pairs of runs' if n_pairs > 1 else ''
    units = counted(counts['queries'], 'query', 'queries')
    if parameters['cluster'] == 'video':
        units = f'{counted(counts["units"], "cluster", "clusters")} of {units}, by video'
    test = words_of_test(parameters['correction'])
    alpha = f'a corrected p of at most {alpha_of(parameters["level"]):g}'
    return f'{test[:1].upper()}{test[1:]}{family} ({units}): {alpha} tells two runs apart.'


def _interval(row: Mapping[str, Any], comparison: Mapping[str, Any]) -> str:
    interval = row['interval']
    if interval['low'] is None:
        return ''
    level = percent(comparison['manifest']['parameters']['level'])
    return f' ({level} interval {interval["low"]:.3f} to {interval["high"]:.3f})'


def percent(level: float) -> str:
    """Return a level as people write it."""
    return f'{100 * level:g} %'


def listed(names: Sequence[str]) -> str:
    """Return names as part of a sentence; of many, the first and a count."""
    if len(names) == 1:
        return names[0]
    if len(names) > NAMED_AT_MOST:
        return f'{", ".join(names[: NAMED_AT_MOST - 1])} and {len(names) - NAMED_AT_MOST + 1} more'
    return f'{", ".join(names[:-1])} and {names[-1]}'


def _equals(p: float, found: _Tests) -> str:
    """Return p with so many decimals that it is on its side of alpha as it is shown."""
    shown = f'p {short_p(p, "< ", "= ")}'
    for digits in range(4, MOST_DIGITS):
        if (round(p, digits) <= found.alpha) == (p <= found.alpha):
            return shown if digits == 4 else f'p = {p:.{digits}f}'
    return f'p = {p!r}'


def _said(headline: str, sentences: list[str]) -> dict[str, Any]:
    return {'headline': headline, 'sentences': sentences}
