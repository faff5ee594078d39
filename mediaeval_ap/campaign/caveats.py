"""Caveats about the order of the runs: repeated shots, ties, queries without a relevant shot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.campaign.lead import listed
from mediaeval_ap.definitions import Definition
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.render.document import counted

DIGITS = 12  # of means that are compared; parts of the loss add up to 1e-12


@dataclass(frozen=True)
class Alternatives:
    """What the mean of a run at the last cutoff would be if it were scored in another way.

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
    if definition.counts_again:
        n_above = int((values > 1).any(axis=0).sum())
        caveats += _of_repeats(means, alternatives, n_above, values.shape[1], metric, definition)
    return caveats + _of_ties(list(means), alternatives, metric)


def caveat_of_floor(n_without: int, n_queries: int, floor: float | None) -> list[str]:
    """Return what queries without a relevant shot add to every run."""
    if not n_without:
        return []
    told = f'{n_without:,} of {counted(n_queries, "query has", "queries have")} no relevant shot'
    empty = '' if floor is None else f': an empty run has {floor:.3f}'
    return [f'{told}, and {"counts" if n_queries == 1 else "count"} the same in every run{empty}.']


def _of_repeats(
    means: Mapping[str, float],
    alternatives: Mapping[str, Alternatives],
    n_above: int,
    n_queries: int,
    metric: str,
    definition: Definition,
) -> list[str]:
    once = {run: alternatives[run].once for run in means}
    is_same = _ranks(means) == _ranks(once)
    if is_same and not n_above:
        return []
    again = f'{definition} counts a shot again that is returned again'
    if n_above:
        queries = counted(n_queries, 'query has', 'queries have')
        again = f'{n_above:,} of {queries} an AP above 1 in some run, as {again}'
    return [f'{again}. {_if_once(means, once, metric)}']


def _if_once(means: Mapping[str, float], once: Mapping[str, float], metric: str) -> str:
    """Say who would lead, and what the order would be, if each shot counted once."""
    begin = 'If each shot counted once,'
    leaders, would_lead = _leaders(means), _leaders(once)
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


def _leaders(means: Mapping[str, float]) -> list[str]:
    return [run for run, rank in _ranks(means).items() if rank == 1]


def _ranks(means: Mapping[str, float]) -> dict[str, int]:
    rounded = {run: round(mean, DIGITS) for run, mean in means.items()}
    return {
        run: 1 + sum(other > mean for other in rounded.values()) for run, mean in rounded.items()
    }


def _of_ties(
    runs: Sequence[str], alternatives: Mapping[str, Alternatives], metric: str
) -> list[str]:
    """Return whether another order of ties could put another run before the leader."""
    leader, *others = runs
    its = alternatives[leader]
    rivals = [run for run in others if _could_lead(alternatives[run], its)]
    if not rivals:
        return []
    first = rivals[0]
    more = f', as do those of {listed(rivals[1:])}' if len(rivals) > 1 else ''
    return [
        'The order of ties can change the lead: over all orders of hypotheses with equal distance '
        f'and confidence, {leader} has {metric} {_range(its)}, and {first} '
        f'{_range(alternatives[first])}: these overlap{more}.'
    ]


def _could_lead(other: Alternatives, its: Alternatives) -> bool:
    has_ties = any(round(each.greatest - each.least, DIGITS) > 0 for each in (other, its))
    return has_ties and round(other.greatest, DIGITS) >= round(its.least, DIGITS)


def _range(each: Alternatives) -> str:
    least, greatest = f'{each.least:.3f}', f'{each.greatest:.3f}'
    return least if least == greatest else f'{least} to {greatest}'
