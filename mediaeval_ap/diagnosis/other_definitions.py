"""Score rankings by every registered definition, and explain why the values differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.definitions import ALL, Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import with_noun
from mediaeval_ap.evaluation.listing import RankingFacts
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.results.rounding import OWN_ROUNDING, exact_mean

# Definitions differ in these.
FIELDS = ('repeats', 'depth', 'denominator', 'precision', 'without_relevant')
RULES = {
    Repeats.COUNT: 'counts a shot each time it is returned',
    Repeats.IRRELEVANT: 'counts a shot once; its repeats keep their ranks',
    Repeats.DROP: 'drops repeated shots with their ranks',
}


@dataclass(frozen=True)
class ByDefinition:
    """The value of a definition for the ranking of a query.

    Parameters
    ----------
    definition : str
        The name of the definition.
    ap : float or None
        Average precision; None if the definition has no value without a cutoff.
    why : str
        Why it differs from the definition in use, for this ranking.
    """

    definition: str
    ap: float | None
    why: str


@dataclass(frozen=True)
class MapByDefinition:
    """The value of a definition for a run.

    Parameters
    ----------
    definition, map
        As in `ByDefinition`, with MAP for AP.
    n_changed : int or None
        The number of queries whose AP differs from their AP by the definition in use; None if
        `map` is.
    reason : str
        Why both are None; else empty.
    """

    definition: str
    map: float | None
    n_changed: int | None
    reason: str = ''


def hits_of(facts: Sequence[RankingFacts], definition: Definition) -> RankedHits:
    """Return the hits of each ranking as a definition ranks and counts them."""
    return RankedHits.of(
        [ranking.ranks(definition) for ranking in facts],
        [ranking.n_relevant(definition) for ranking in facts],
        [ranking.n_returned(definition) for ranking in facts],
    )


def reconcile(facts: RankingFacts, k: Cutoff, in_use: Definition) -> list[ByDefinition]:
    """Score a ranking by each registered definition; the one in use comes first."""
    rows = []
    for definition, lack in _definitions_at(k, in_use):
        ap = None if lack else _average_precision(facts, k, definition)
        reason = 'in use' if definition is in_use else lack or why(facts, k, in_use, definition)
        rows.append(ByDefinition(definition.name, ap, reason))
    return rows


def reconcile_run(
    facts: Sequence[RankingFacts], K: Sequence[Cutoff], in_use: Definition
) -> list[list[MapByDefinition]]:
    """Return, for each cutoff, the MAP of a run by each registered definition, as `reconcile`."""
    ap_by_name = {
        definition.name: hits_of(facts, definition).ap(depths(K), definition)
        for definition, _ in _definitions_at(K[0], in_use)
    }
    rows_by_cutoff = []
    for column, k in enumerate(K):
        rows = []
        for definition, lack in _definitions_at(k, in_use):
            if lack:
                rows.append(MapByDefinition(definition.name, None, None, lack))
                continue
            values, values_in_use = (
                ap_by_name[each.name][:, column] for each in (definition, in_use)
            )
            is_same = np.isclose(values, values_in_use, rtol=OWN_ROUNDING, atol=0)
            n_changed = int(np.count_nonzero(~is_same))
            rows.append(MapByDefinition(definition.name, exact_mean(values), n_changed))
        rows_by_cutoff.append(rows)
    return rows_by_cutoff


def _definitions_at(k: Cutoff, in_use: Definition) -> Iterator[tuple[Definition, str]]:
    """Yield each definition, the one in use first, and why it has no value at k, or ''."""
    other_definitions = [other for other in definitions.registered() if other.name != in_use.name]
    for definition in [in_use, *other_definitions]:
        lack = f'{definition.name} divides by k alone, and there is no cutoff'
        yield definition, '' if k != ALL or definition.has_uncut else lack


def why(facts: RankingFacts, k: Cutoff, in_use: Definition, other: Definition) -> str:
    """Explain in a sentence why another definition gives another value for a ranking."""
    fields = causes(facts, k, in_use, other)
    if not fields:
        return 'no difference for this ranking'
    if 'without_relevant' in fields:
        return (
            f'no shot is relevant: counts {other.without_relevant:g} instead of '
            f'{in_use.without_relevant:g}'
        )
    (depth,) = depths([k])
    # Compare quantities by the other definition's rule for repeated shots.
    with_other_rule = replace(in_use, repeats=other.repeats) if 'repeats' in fields else in_use
    quantities = facts.quantities(with_other_rule, depth)
    other_quantities = facts.quantities(other, depth)
    reasons = []
    if 'repeats' in fields and facts.n_repeats:
        where = 'the ranking' if k == ALL else f'the top {k}'
        n_repeats = with_noun(facts.n_repeats, 'repeated shot', 'repeated shots')
        reasons.append(f'{RULES[other.repeats]} ({n_repeats} in {where})')
    n_relevant = facts.n_relevant(in_use)
    other_n_relevant = facts.n_relevant(other)
    if 'repeats' in fields and n_relevant != other_n_relevant:
        times = 'each time' if other.counts_again else 'once'
        reasons.append(
            f'counts a row that the reference repeats {times}: '
            f'R = {other_n_relevant}, not {n_relevant}'
        )
    if 'depth' in fields:
        other_rank = _smallest((*other.depth, 'N'), other_quantities)
        rank = _smallest((*in_use.depth, 'N'), quantities)
        reasons.append(f'adds precisions down to rank {other_rank} instead of {rank}')
    if 'denominator' in fields:
        other_divisor = _smallest(other.denominator, other_quantities)
        divisor = _smallest(in_use.denominator, quantities)
        reasons.append(f'divides by {other_divisor} instead of {divisor}')
    if 'precision' in fields:
        is_mean = other.precision == 'trapezoid'
        addend = 'mean of precisions before and at' if is_mean else 'precision at'
        reasons.append(f'adds the {addend} each hit')
    return '; '.join(reasons)


def causes(
    facts: RankingFacts, k: Cutoff, in_use: Definition, other: Definition
) -> tuple[str, ...]:
    """Return the fewest fields that the definition in use must copy to give the other's value."""
    goal = _average_precision(facts, k, other)
    field_sets = (fields for n in range(len(FIELDS)) for fields in combinations(FIELDS, n))
    for fields in field_sets:
        changed = replace(in_use, **{field: getattr(other, field) for field in fields})
        if math.isclose(_average_precision(facts, k, changed), goal, rel_tol=OWN_ROUNDING):
            return fields
    return FIELDS


def _smallest(names: Sequence[str], quantities: dict[str, int]) -> str:
    """Return the smallest of some quantities as text: ``R = 5``."""
    name = min(names, key=quantities.__getitem__)
    return f'{name} = {quantities[name]}'


def _average_precision(facts: RankingFacts, k: Cutoff, definition: Definition) -> float:
    ((ap,),) = hits_of([facts], definition).ap(depths([k]), definition)
    return float(ap)
