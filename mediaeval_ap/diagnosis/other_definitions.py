"""Score rankings by every registered definition, and explain why the values differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.arrays import Floats, first_occurrences, run_starts
from mediaeval_ap.definitions import ALL, Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import with_noun
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking

# Relative error of two sums of the same terms: rounding differs by some units in the last place.
ROUNDING = 1e-12
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


class Listing(NamedTuple):
    """The first hypotheses for a query, best first, with repeated shots, in whole blocks of ties.

    Positions count the listed hypotheses, from 0.
    """

    places: NDArray[np.int64]  # in the order of ties
    shots: NDArray[np.integer]
    first_positions: NDArray[np.int64]  # of the first hypothesis of each shot
    relevant_positions: NDArray[np.int64]  # of the hypotheses of relevant shots
    tie_starts: NDArray[np.int64]  # positions at which distance or confidence changes


def list_first(
    ranking: Ranking, distances: Distances, depth: int, relevant_shots: NDArray[np.int64]
) -> Listing:
    """List the first hypotheses, until they hold `depth` distinct shots or there are no more.

    To this depth, no definition needs more of them.
    """
    n_wanted = depth
    while True:
        places = ranking.top(distances, n_wanted)
        first_positions = first_occurrences(ranking.shot_at[places])
        if len(first_positions) >= depth or len(places) == len(ranking):
            break
        n_wanted *= 2
    if 0 < len(places) < len(ranking):
        later_ties = ranking.later_ties(int(places[-1]), distances)
        if len(later_ties):
            places = np.concatenate([places, later_ties])
            first_positions = first_occurrences(ranking.shot_at[places])
    shots = ranking.shot_at[places]
    is_relevant = np.zeros(len(ranking.shots), dtype=np.bool_)
    is_relevant[relevant_shots] = True
    relevant_positions = is_relevant[shots].nonzero()[0]
    tie_starts = run_starts([distances[ranking.name_at[places]], ranking.confidence_at[places]])
    return Listing(places, shots, first_positions, relevant_positions, tie_starts)


class RankingFacts(NamedTuple):
    """The facts about a ranking from which any definition computes its value."""

    all_ranks: NDArray[np.int64]  # of all hypotheses of relevant shots, from 1
    first_ranks: NDArray[np.int64]  # of the first hypothesis of each relevant shot
    distinct_ranks: NDArray[np.int64]  # the same, after repeated hypotheses are dropped
    n_repeats: int  # hypotheses within the cutoff that repeat a shot; 0 without hits
    # Definitions count rows or shots, of the query in the reference and of the ranking.
    n_rows: int
    n_relevant_shots: int
    n_hypotheses: int
    n_shots: int

    @classmethod
    def of(cls, listing: Listing, k: int, *sizes: int) -> RankingFacts:
        """Return the facts of a listing; `sizes` are the last four of them."""
        relevant = listing.relevant_positions
        first = relevant[first_occurrences(listing.shots[relevant])]
        distinct = listing.first_positions.searchsorted(first)
        n_within = min(k, len(listing.shots))
        n_repeats = n_within - int(listing.first_positions.searchsorted(n_within))
        return cls(relevant + 1, first + 1, distinct + 1, n_repeats, *sizes)

    def ranks(self, definition: Definition) -> NDArray[np.int64]:
        """Return the ranks of the hits."""
        ranks = {Repeats.COUNT: self.all_ranks, Repeats.IRRELEVANT: self.first_ranks}
        return ranks.get(definition.repeats, self.distinct_ranks)

    def n_relevant(self, definition: Definition) -> int:
        """Return R."""
        return self.n_rows if definition.counts_again else self.n_relevant_shots

    def n_returned(self, definition: Definition) -> int:
        """Return N."""
        return self.n_shots if definition.repeats is Repeats.DROP else self.n_hypotheses

    def quantities(self, definition: Definition, k: int) -> dict[str, int]:
        """Return R, k, N and H."""
        return {
            'R': self.n_relevant(definition),
            'k': k,
            'N': self.n_returned(definition),
            'H': int(np.count_nonzero(self.ranks(definition) <= k)),
        }


def average_precisions(facts: Sequence[RankingFacts], k: Cutoff, definition: Definition) -> Floats:
    """Return AP of each ranking by a definition."""
    ranks = [ranking.ranks(definition) for ranking in facts]
    rankings = np.repeat(np.arange(len(facts)), list(map(len, ranks)))
    n_relevant = np.array([ranking.n_relevant(definition) for ranking in facts])
    n_returned = np.array([ranking.n_returned(definition) for ranking in facts])
    all_ranks = np.concatenate([np.empty(0, dtype=np.int64), *ranks])
    return average_precision_of_hits(
        rankings, all_ranks, n_relevant, n_returned, depths([k]), definition
    )[:, 0]


def reconcile(facts: RankingFacts, k: Cutoff, in_use: Definition) -> list[ByDefinition]:
    """Score a ranking by each registered definition; the one in use comes first."""
    rows = []
    for definition, lack in _definitions_at(k, in_use):
        ap = None if lack else _average_precision(facts, k, definition)
        reason = 'in use' if definition is in_use else lack or why(facts, k, in_use, definition)
        rows.append(ByDefinition(definition.name, ap, reason))
    return rows


def reconcile_run(
    facts: Sequence[RankingFacts], k: Cutoff, in_use: Definition
) -> list[MapByDefinition]:
    """Return the MAP of a run by each registered definition; the one in use comes first."""
    values_in_use = average_precisions(facts, k, in_use)
    rows = []
    for definition, lack in _definitions_at(k, in_use):
        if lack:
            rows.append(MapByDefinition(definition.name, None, None, lack))
            continue
        values = average_precisions(facts, k, definition)
        is_same = np.isclose(values, values_in_use, rtol=ROUNDING, atol=0)
        n_changed = int(np.count_nonzero(~is_same))
        mean = math.fsum(values.tolist()) / len(values)
        rows.append(MapByDefinition(definition.name, mean, n_changed))
    return rows


def _definitions_at(k: Cutoff, in_use: Definition) -> Iterator[tuple[Definition, str]]:
    """Yield each definition, the one in use first, and why it has no value at k, or ''."""
    other_definitions = [other for other in definitions.registered() if other.name != in_use.name]
    for definition in [in_use, *other_definitions]:
        lack = f'{definition.name} divides by k alone, and there is no cutoff'
        yield definition, '' if k != ALL or definition.has_uncut else lack


def why(facts: RankingFacts, k: Cutoff, in_use: Definition, other: Definition) -> str:
    """Explain in a sentence why another definition gives another value for a ranking.

    It names the fewest fields that the definition in use must copy to give the other's value.
    """
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
        if math.isclose(_average_precision(facts, k, changed), goal, rel_tol=ROUNDING):
            return fields
    return FIELDS


def _smallest(names: Sequence[str], quantities: dict[str, int]) -> str:
    """Return the smallest of some quantities as text: ``R = 5``."""
    name = min(names, key=quantities.__getitem__)
    return f'{name} = {quantities[name]}'


def _average_precision(facts: RankingFacts, k: Cutoff, definition: Definition) -> float:
    return float(average_precisions([facts], k, definition)[0])
