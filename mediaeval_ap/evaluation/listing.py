"""The first hypotheses for a query, best first: the record from which all figures are made.

A query goes one way. A `Lister` orders the hypotheses of a run and yields a `Listing` or, for those
who look at repeats and ties, a `WholeListing`. Scores, the loss, bounds, pools and pages read these
records; none of them orders again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences, run_starts
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.judged import JudgedShots
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.ranking.base_ranking import BaseRanking
from mediaeval_ap.ranking.edit_distances import Distances, Quotients
from mediaeval_ap.ranking.frozen_ranking import Ranking

GUESS = 2  # times the depth: in most runs shots repeat, under other names
NONE = np.empty(0, dtype=np.int64)
NO_DISTANCES = Quotients(np.empty(0))


class Listing(NamedTuple):
    """The first hypotheses for a query, as the definition ranks them; positions count from 0."""

    query: str
    n_relevant: int  # R in the definitions
    ranking: BaseRanking  # the run, or its condensed list
    n_ranked: int = 0  # N; without it, and what follows, the query is not ranked
    distances: Distances = NO_DISTANCES  # from the query to the names of the run
    places: NDArray[np.int64] = NONE  # in the ranking
    hits: NDArray[np.int64] = NONE  # positions

    @property
    def shots(self) -> NDArray[np.integer]:
        """The number of the shot at each position."""
        return self.ranking.shot_at[self.places]

    def near_positions(self, depth: int, near: float) -> NDArray[np.int64]:
        """Return the positions among the first `depth` whose name is within `near`."""
        ranking = cast(Ranking, self.ranking)
        names = ranking.name_at[self.places[:depth]]
        positions: NDArray[np.int64] = np.flatnonzero(self.distances[names] <= near)
        return positions


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

    def ranks(self, definition: Definition) -> NDArray[np.int64]:
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


class WholeListing(NamedTuple):
    """The first hypotheses for a query, with all repeats of shots, to the end of the last tie."""

    query: str
    ranking: Ranking
    distances: Distances
    places: NDArray[np.int64]
    shots: NDArray[np.integer]
    first_positions: NDArray[np.int64]  # of the first hypothesis of each shot
    relevant: NDArray[np.int64]  # the positions of the hypotheses of relevant shots
    tie_starts: NDArray[np.int64]  # the positions at which distance or confidence changes
    facts: RankingFacts

    def as_ranked(self, definition: Definition, depth: int) -> Listing:
        """Return the listing as a definition ranks it, down to a depth."""
        positions = np.arange(min(depth, len(self.places)))
        if definition.repeats is Repeats.DROP:
            positions = self.first_positions[:depth]
        hits = self.facts.ranks(definition) - 1
        return Listing(
            self.query,
            self.facts.n_relevant(definition),
            self.ranking,
            n_ranked=self.facts.n_returned(definition),
            distances=self.distances,
            places=self.places[positions],
            hits=hits[hits < len(positions)],
        )


class Lister:
    """Lists the first hypotheses of a run for any query, and marks the hits."""

    def __init__(self, criteria: Criteria, ranking: BaseRanking, relevance: Relevance) -> None:
        self.ranking = ranking
        self.relevance = relevance
        self.definition = criteria.definition
        self._drops_repeats = criteria.definition.repeats is Repeats.DROP
        self.judged: JudgedShots | None = None
        judgements = criteria.judgements
        self.is_condensed = judgements is not None and judgements.unjudged == 'skip'
        if judgements is not None:
            self.judged = JudgedShots(judgements, relevance.shots)
        self._condensed: BaseRanking | None = None  # if one list serves all queries

    def ranking_of(self, query: str) -> BaseRanking:
        """Return the run, or its condensed list for a query: a ranking without unjudged shots.

        Order and temporal ranks stay the same as in the whole run (T. Sakai, "Alternatives to
        Bpref", SIGIR 2007).
        """
        whole = self.ranking.for_query(query)
        if self.judged is None or not self.is_condensed:
            return whole
        if self._condensed is not None:
            return self._condensed
        ranking = whole.condensed(self.judged.mask(query))
        if not self.judged.is_of_pairs:
            self._condensed = ranking
        return ranking

    def listings(
        self, queries: Sequence[str], depth: int, *, only_hits: bool = False
    ) -> Iterator[Listing]:
        """Yield the first hypotheses for each query, down to a depth.

        With `only_hits`, the listing of a query without a relevant shot in the run is empty, as
        ranking takes long.
        """
        is_ranked = [True] * len(queries)
        if only_hits:
            is_ranked = [len(self.relevance.relevant_shots(query)) > 0 for query in queries]
        all_distances = self.ranking.names.distances_from(list(compress(queries, is_ranked)))
        for query, is_listed in zip(queries, is_ranked, strict=True):
            n_relevant = self.relevance.reference.n_relevant(query)
            if not is_listed:
                yield Listing(query, n_relevant, self.ranking)
                continue
            distances = next(all_distances)
            ranking = self.ranking_of(query)
            places = ranking.top(distances, depth, distinct=self._drops_repeats)
            yield Listing(
                query,
                n_relevant,
                ranking,
                n_ranked=ranking.n_ranked(distinct=self._drops_repeats),
                distances=distances,
                places=places,
                hits=self.relevance.hits(query, ranking.shot_at[places]),
            )

    def whole_listings(self, queries: Sequence[str], depth: int) -> Iterator[WholeListing]:
        """Yield the first hypotheses for each query with repeats and ties; no run is live here.

        They hold `depth` distinct shots, or all: to this depth, no definition needs more of them.
        """
        all_distances = self.ranking.names.distances_from(queries)
        for query, distances in zip(queries, all_distances, strict=True):
            ranking = cast(Ranking, self.ranking_of(query))
            places, first_positions = _distinct_and_tied(ranking, distances, depth)
            shots = ranking.shot_at[places]
            relevant = self.relevance.positions(query, shots)
            first_hits = relevant[first_occurrences(shots[relevant])]
            n_within = min(depth, len(places))
            keys = [distances[ranking.name_at[places]], ranking.confidence_at[places]]
            yield WholeListing(
                query,
                ranking=ranking,
                distances=distances,
                places=places,
                shots=shots,
                first_positions=first_positions,
                relevant=relevant,
                tie_starts=run_starts(keys),
                facts=self.facts_without_hits(query, ranking)._replace(
                    all_ranks=relevant + 1,
                    first_ranks=first_hits + 1,
                    distinct_ranks=first_positions.searchsorted(first_hits) + 1,
                    n_repeats=n_within - int(first_positions.searchsorted(n_within)),
                ),
            )

    def facts_without_hits(self, query: str, ranking: BaseRanking) -> RankingFacts:
        """Return the facts about the ranking of a query that has no hit."""
        reference = self.relevance.reference
        sizes = reference.n_rows(query), reference.n_shots(query), len(ranking), ranking.n_shots
        return RankingFacts(NONE, NONE, NONE, 0, *sizes)

    def share_judged(self, listing: Listing, K: Sequence[int]) -> NDArray[np.float64]:
        """Return the judged share of the first k, by cutoff; NaN if nothing is returned.

        The share is over the whole ranking, with the shots that condensed lists leave out.
        """
        assert self.judged is not None
        places = listing.places
        if self.is_condensed:
            distances = listing.distances
            whole = self.ranking.for_query(listing.query)
            places = whole.top(distances, max(K), distinct=self._drops_repeats)
        if not len(places):
            return np.full(len(K), np.nan)
        is_judged = self.judged.mask(listing.query)[self.ranking.shot_at[places]]
        n_places = np.minimum(K, len(places))
        shares: NDArray[np.float64] = is_judged.cumsum()[n_places - 1] / n_places
        return shares


def _distinct_and_tied(
    ranking: Ranking, distances: Distances, depth: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places that hold `depth` distinct shots, with all ties of the last one.

    With them come the positions, among these places, of the first hypothesis of each shot.
    """
    n_wanted = GUESS * depth
    while True:
        places = ranking.top(distances, n_wanted)
        if 0 < len(places) < len(ranking):
            places = np.append(places, ranking.later_ties(int(places[-1]), distances))
        first_positions = first_occurrences(ranking.shot_at[places])
        if len(first_positions) >= depth or len(places) == len(ranking):
            return places, first_positions
        n_wanted *= 2
