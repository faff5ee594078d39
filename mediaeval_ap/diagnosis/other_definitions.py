"""Values of every registered definition for the same rankings, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.definitions import ALL, Cutoff, Definition, Repeats, depths
from mediaeval_ap.errors import counted
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits
from mediaeval_ap.ranking.edit_distances import Distances
from mediaeval_ap.ranking.frozen_ranking import Ranking

# The same sum may be rounded in two ways: some units in the last place.
SAME = 1e-12
FIELDS = ('repeats', 'depth', 'denominator', 'without_relevant')  # in which definitions differ
RULES = {
    Repeats.COUNT: 'counts a shot each time it is returned',
    Repeats.IRRELEVANT: 'counts a shot once, and what repeats it keeps its rank',
    Repeats.DROP: 'drops a shot that was returned before, rank and all',
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
        As of `ByDefinition`, with MAP for AP.
    n_changed : int or None
        The number of queries whose AP differs from that by the definition in use; None as of `map`.
    reason : str
        Why both are None; else empty.
    """

    definition: str
    map: float | None
    n_changed: int | None
    reason: str = ''


class Listing(NamedTuple):
    """The first hypotheses for a query, best first, repeated shots too, in whole blocks of ties."""

    places: NDArray[np.int64]  # of the ranking
    shots: NDArray[np.integer]
    kept: NDArray[np.int64]  # positions of the first hypothesis of each shot, from 0
    relevant: NDArray[np.int64]  # positions of the hypotheses of relevant shots
    tie_starts: NDArray[np.int64]  # positions at which blocks of equal distance, confidence begin


def list_first(
    ranking: Ranking, distances: Distances, depth: int, relevant_shots: NDArray[np.int64]
) -> Listing:
    """List hypotheses of as many shots as the depth: at least as many as any definition ranks."""
    wanted = depth
    while True:
        places = ranking.top(distances, wanted)
        kept = first_occurrences(ranking.shot_at[places])
        if len(kept) >= depth or len(places) == len(ranking):
            break
        wanted *= 2
    if 0 < len(places) < len(ranking):
        rest = ranking.rest_of_ties(int(places[-1]), distances)
        if len(rest):
            places = np.concatenate([places, rest])
            kept = first_occurrences(ranking.shot_at[places])
    shots = ranking.shot_at[places]
    is_relevant = np.zeros(len(ranking.shots), dtype=np.bool_)
    is_relevant[relevant_shots] = True
    ties = run_starts([distances[ranking.name_at[places]], ranking.confidence_at[places]])
    return Listing(places, shots, kept, is_relevant[shots].nonzero()[0], ties)


class Facts(NamedTuple):
    """All that any definition needs to know of a ranking."""

    counted: NDArray[np.int64]  # ranks of all hypotheses of relevant shots, from 1
    once: NDArray[np.int64]  # of the first of each
    distinct: NDArray[np.int64]  # of the first of each, without repeated hypotheses
    n_repeats: int  # hypotheses within the cutoff whose shot was returned before, if there are hits
    # Definitions count in different ways: of the reference about the query, and of the run.
    n_rows: int
    n_relevant_shots: int
    n_hypotheses: int
    n_shots: int

    @classmethod
    def of(cls, listing: Listing, k: int, *sizes: int) -> Facts:
        """Return the facts of a listing, with the numbers that are facts themselves."""
        relevant = listing.relevant
        kept = listing.kept
        once = relevant[first_occurrences(listing.shots[relevant])]
        within = min(k, len(listing.shots))
        n_repeats = within - int(kept.searchsorted(within))
        return cls(relevant + 1, once + 1, kept.searchsorted(once) + 1, n_repeats, *sizes)

    def ranks(self, definition: Definition) -> NDArray[np.int64]:
        """Return the ranks of the hits."""
        ranks = {Repeats.COUNT: self.counted, Repeats.IRRELEVANT: self.once}
        return ranks.get(definition.repeats, self.distinct)

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


def average_precisions(
    facts: Sequence[Facts], k: Cutoff, definition: Definition
) -> NDArray[np.float64]:
    """Return AP of each ranking by a definition."""
    ranks = [each.ranks(definition) for each in facts]
    rankings = np.repeat(np.arange(len(facts)), list(map(len, ranks)))
    n_relevant = np.array([each.n_relevant(definition) for each in facts])
    n_returned = np.array([each.n_returned(definition) for each in facts])
    flat = np.concatenate([np.empty(0, dtype=np.int64), *ranks])
    return average_precision_of_hits(
        rankings, flat, n_relevant, n_returned, depths([k]), definition
    )[:, 0]


def reconcile(facts: Facts, k: Cutoff, in_use: Definition) -> list[ByDefinition]:
    """Return what each registered definition says of a ranking; the one in use comes first."""
    rows = []
    for definition, lack in _registered(k, in_use):
        ap = None if lack else _value(facts, k, definition)
        reason = 'in use' if definition is in_use else lack or why(facts, k, in_use, definition)
        rows.append(ByDefinition(definition.name, ap, reason))
    return rows


def reconcile_run(facts: Sequence[Facts], k: Cutoff, in_use: Definition) -> list[MapByDefinition]:
    """Return the MAP of a run by each registered definition; the one in use comes first."""
    used = average_precisions(facts, k, in_use)
    rows = []
    for definition, lack in _registered(k, in_use):
        if lack:
            rows.append(MapByDefinition(definition.name, None, None, lack))
            continue
        values = average_precisions(facts, k, definition)
        n_changed = int(np.count_nonzero(~np.isclose(values, used, rtol=SAME, atol=0)))
        mean = math.fsum(values.tolist()) / len(values)
        rows.append(MapByDefinition(definition.name, mean, n_changed))
    return rows


def _registered(k: Cutoff, in_use: Definition) -> Iterator[tuple[Definition, str]]:
    """Yield the definition in use and the others, each with the reason why it has no value."""
    others = [each for each in definitions.registered() if each.name != in_use.name]
    for each in [in_use, *others]:
        has_value = k != ALL or each.has_uncut
        yield each, '' if has_value else f'{each.name} divides by k alone, and there is no cutoff'


def why(facts: Facts, k: Cutoff, in_use: Definition, other: Definition) -> str:
    """Return a sentence on why another definition gives another value for a ranking.

    It names the fewest fields in which the one in use has to follow the other to give its value.
    """
    fields = causes(facts, k, in_use, other)
    if not fields:
        return 'no difference for this ranking'
    if 'without_relevant' in fields:
        return (
            f'no shot is relevant: counts {other.without_relevant:g} instead of '
            f'{in_use.without_relevant:g}'
        )
    (at,) = depths([k])
    # The numbers of both are those that they have once repeated shots count as the other says.
    as_other = replace(in_use, repeats=other.repeats) if 'repeats' in fields else in_use
    here = facts.quantities(as_other, at)
    there = facts.quantities(other, at)
    reasons = []
    if 'repeats' in fields and facts.n_repeats:
        where = 'the ranking' if k == ALL else f'the top {k}'
        n_repeats = counted(facts.n_repeats, 'repeated shot', 'repeated shots')
        reasons.append(f'{RULES[other.repeats]} ({n_repeats} in {where})')
    used = facts.n_relevant(in_use)
    wanted = facts.n_relevant(other)
    if 'repeats' in fields and used != wanted:
        times = 'each time' if other.counts_again else 'once'
        reasons.append(f'counts a row that the reference repeats {times}: R = {wanted}, not {used}')
    if 'depth' in fields:
        one = _least((*other.depth, 'N'), there)
        another = _least((*in_use.depth, 'N'), here)
        reasons.append(f'adds precisions down to rank {one} instead of {another}')
    if 'denominator' in fields:
        one = _least(other.denominator, there)
        another = _least(in_use.denominator, here)
        reasons.append(f'divides by {one} instead of {another}')
    return '; '.join(reasons)


def causes(facts: Facts, k: Cutoff, in_use: Definition, other: Definition) -> tuple[str, ...]:
    """Return the fewest fields that the one in use has to take from the other to give its value."""
    wanted = _value(facts, k, other)
    some = (fields for n in range(len(FIELDS)) for fields in combinations(FIELDS, n))
    for fields in some:
        changed = replace(in_use, **{field: getattr(other, field) for field in fields})
        if math.isclose(_value(facts, k, changed), wanted, rel_tol=SAME):
            return fields
    return FIELDS


def _least(names: Sequence[str], quantities: dict[str, int]) -> str:
    """Return the least of some quantities, with its name."""
    name = min(names, key=quantities.__getitem__)
    return f'{name} = {quantities[name]}'


def _value(facts: Facts, k: Cutoff, definition: Definition) -> float:
    return float(average_precisions([facts], k, definition)[0])
