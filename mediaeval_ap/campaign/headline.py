"""The lead of a campaign: who leads, what the test says of that, and what could change it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.comparison import CORRECTED_BY, words_of_test
from mediaeval_ap.definitions import Definition
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.errors import counted
from mediaeval_ap.render.formats import short_p

NAMED_AT_MOST = 3  # more names make a sentence that nobody reads
MOST_DIGITS = 17  # tell any two doubles apart
DIGITS = 12  # of means that are compared; parts of the loss add up to 1e-12


def lead_of(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return a headline and sentences about the last cutoff, which claim no more than the test."""
    counts = comparison['manifest']['counts']
    if counts['queries_without_relevant'] == counts['queries']:
        return _said(
            'No query has a relevant shot: nothing can be told about the runs',
            'Every run has the same value for each query, whatever it returns.',
        )
    metric = comparison['metrics'][-1]
    board = [row for row in comparison['leaderboard'] if row['metric'] == metric]
    leaders = [row['run'] for row in board if row['rank'] == 1]
    below = [row['run'] for row in board if row['rank'] > 1]
    first, interval = board[0]['run'], board[0]['interval']
    score = f'{metric} {board[0]["map"]:.3f}'
    told = f'{score}.'
    if interval['low'] is not None:
        level = percent(comparison['manifest']['parameters']['level'])
        told = f'{score} ({level} interval {interval["low"]:.3f} to {interval["high"]:.3f}).'
    if len(board) == 1:
        return _said(f'{first} scores {score}', f'{told} There is no other run to compare it with.')
    if not below:
        return _said(f'{listed(leaders)} score the same: {score}', 'Their means are equal.')
    parameters = comparison['manifest']['parameters']
    p = {
        frozenset((pair['a'], pair['b'])): pair['p_adjusted']
        for pair in comparison['pairs']
        if pair['metric'] == metric
    }
    alpha = alpha_of(parameters['level'])
    correction = CORRECTED_BY.get(parameters['correction'], 'Tukey')
    found = [
        _Tests(leader, {run: p[frozenset((leader, run))] for run in below}, alpha, correction)
        for leader in leaders
    ]
    test = _test(comparison)
    if len(leaders) == 1:
        (only,) = found
        return _said(only.headline(), f'{first}: {told}', test + only.better_than())
    sentences = [each.sentence() for each in found[:NAMED_AT_MOST]]
    headline = f'{listed(leaders)} lead together: {score}'
    return _said(headline, 'Their means are equal.', test, *sentences)


def _said(headline: str, *sentences: str) -> dict[str, Any]:
    return {'headline': headline, 'sentences': list(sentences)}


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

    def headline(self) -> str:
        """Say what the test says of the leader and the next run, and of all that are alike."""
        alike, following = self.alike, next(iter(self.p))
        if not alike:
            return self._is_better('every other run')
        if following in alike:
            return f'{self.leader} leads, but is {self._not_told_apart()}'
        better = f'better than {following} ({self._equals(self.p[following])}, {self.correction})'
        return f'{self.leader} leads: {better}, but {self._not_told_apart()}'

    def sentence(self) -> str:
        """Say of one of several leaders what the test says of the runs below."""
        if not self.alike:
            return f'{self._is_better("every run below")}.'
        return f'{self.leader} is {self._not_told_apart()}.{self.better_than()}'

    def better_than(self) -> str:
        """Say how many runs the leader is better than, if it is better than some but not all."""
        n_better = len(self.p) - len(self.alike)
        if not self.alike or not n_better:
            return ''
        return f' {self.leader} is better than {counted(n_better, "other run", "other runs")}.'

    def _is_better(self, every: str) -> str:
        largest = self._equals(max(self.p.values()))
        if len(self.p) == 1:
            (other,) = self.p
            return f'{self.leader} is better than {other} ({largest}, {self.correction})'
        return f'{self.leader} is better than {every} (largest {largest}, {self.correction})'

    def _not_told_apart(self) -> str:
        p = self._equals(min(self.p[run] for run in self.alike))
        smallest = '' if len(self.alike) == 1 else 'smallest '
        return f'not told apart from {listed(self.alike)} ({smallest}{p}, {self.correction})'

    def _equals(self, p: float) -> str:
        """Return p with so many decimals that it is on its side of alpha as it is shown."""
        for digits in range(4, MOST_DIGITS):
            if (round(p, digits) <= self.alpha) == (p <= self.alpha):
                return f'p {short_p(p, "< ", "= ")}' if digits == 4 else f'p = {p:.{digits}f}'
        return f'p = {p!r}'


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


@dataclass(frozen=True)
class Alternatives:
    """The mean that a run would have at the last cutoff if it were scored in another way.

    Parameters
    ----------
    once : float
        If a shot that is returned again were not relevant again.
    least, greatest : float
        Over all orders of hypotheses with equal distance and confidence.
    """

    once: float
    least: float
    greatest: float

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Alternatives:
        """Return them from the diagnosis at the last cutoff."""
        once = math.fsum([*diagnosis.ap, *diagnosis.parts['repeats']]) / len(diagnosis.queries)
        ties = diagnosis.ties['equal_confidence'].means()
        return cls(once, ties['min'], ties['max'])

    def range(self) -> str:
        least, greatest = f'{self.least:.3f}', f'{self.greatest:.3f}'
        return least if least == greatest else f'{least} to {greatest}'


def caveats_of(
    means: Mapping[str, float],
    alternatives: Mapping[str, Alternatives],
    values: NDArray[np.float64],
    metric: str,
    definition: Definition,
) -> list[str]:
    """Return what a reader has to know before relying on the order of the runs, best first.

    `values` are those of the last metric, of shape (n_runs, n_queries).
    """
    caveats = []
    once = {run: alternatives[run].once for run in means}
    n_above, n_queries = int((values > 1).any(axis=0).sum()), values.shape[1]
    if definition.counts_again and (n_above or _ranks(means) != _ranks(once)):
        again = f'{definition} counts a shot again that is returned again'
        if n_above:
            queries = counted(n_queries, 'query has', 'queries have')
            again = f'{n_above:,} of {queries} an AP above 1 in some run, as {again}'
        caveats.append(f'{again}. {_if_once(means, once, metric)}')
    leader, *others = means
    its = alternatives[leader]
    rivals = [
        run
        for run in others
        if round(alternatives[run].greatest, DIGITS) >= round(its.least, DIGITS)
        and any(round(each.greatest - each.least, DIGITS) > 0 for each in (its, alternatives[run]))
    ]
    if rivals:
        first = rivals[0]
        more = f', as do those of {listed(rivals[1:])}' if len(rivals) > 1 else ''
        caveats.append(
            'The order of ties can change the lead: over all orders of hypotheses with equal '
            f'distance and confidence, {leader} has {metric} {its.range()}, and {first} '
            f'{alternatives[first].range()}: these overlap{more}.'
        )
    return caveats


def _if_once(means: Mapping[str, float], once: Mapping[str, float], metric: str) -> str:
    """Say who would lead, and what the order would be, if each shot counted once."""
    begin = 'If each shot counted once,'
    (leaders, would_lead) = (
        [run for run, rank in _ranks(each).items() if rank == 1] for each in (means, once)
    )
    first = would_lead[0]
    if len(means) == 1:
        return f'{begin} {metric} would be {once[first]:.3f}.'
    score = f'{metric} {once[first]:.3f}'
    if leaders != would_lead:
        beside = [run for run in leaders if run not in would_lead]
        against = f', and {beside[0]} would have {once[beside[0]]:.3f}' if beside else ''
        return f'{begin} {listed(would_lead)} would lead: {score}{against}.'
    order = f'{listed(leaders)} would still lead, but the order of the others would change'
    if _ranks(means) == _ranks(once):
        order = 'the order of the runs would be the same'
    return f'{begin} {order} ({first}: {score}).'


def _ranks(means: Mapping[str, float]) -> dict[str, int]:
    rounded = {run: round(mean, DIGITS) for run, mean in means.items()}
    return {
        run: 1 + sum(other > mean for other in rounded.values()) for run, mean in rounded.items()
    }


def caveat_of_floor(n_without: int, n_queries: int, floor: float | None) -> list[str]:
    """Return what queries without a relevant shot add to every run."""
    if not n_without:
        return []
    told = f'{n_without:,} of {counted(n_queries, "query has", "queries have")} no relevant shot'
    empty = '' if floor is None else f': an empty run has {floor:.3f}'
    return [f'{told}, and {"counts" if n_queries == 1 else "count"} the same in every run{empty}.']
