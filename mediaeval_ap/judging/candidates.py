"""Pool pairs: pairs of a query and a shot that some run returned high enough to be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, first_occurrences
from mediaeval_ap.choices import JudgedBy
from mediaeval_ap.definitions import ap_column, depths
from mediaeval_ap.errors import DataWarning, ParameterError
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.prepared_run import PreparedRun, SelectedQueries, prepare_run
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.judging.bounds import ShotIds, shot_texts
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.layouts import JUDGED_SHOTS

MOST_KEPT_RANKS = 1 << 26  # of all rankings, 256 MiB; more are ranked again
NOT_JUDGED = -1  # among labels, which are 1 for relevant and 0 for not relevant
# Kinds of warnings that say nothing where judging begins with an empty reference.
WARNINGS_OF_REFERENCE = 'no-overlap', 'unknown-queries'
PairLabels: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class PooledRuns:
    """The runs of a pool, and the ranks of their rankings that enter it."""

    criteria: Criteria
    runs: Mapping[str, Any]  # by name
    teams: Mapping[str, str]  # of each run
    queries: SelectedQueries
    depth: int  # ranks of each ranking
    near: float  # the largest distance of a name

    @property
    def last_cutoff(self) -> int:
        """The last cutoff, as a number of ranks."""
        return depths(self.criteria.K[-1:])[0]

    def inputs(self, runs: Mapping[str, PreparedRun]) -> dict[str, Any]:
        """Return the inputs for a manifest, with the runs by name."""
        sources = self.criteria.sources(self.queries.source)
        inputs: dict[str, Any] = {role: asdict(source) for role, source in sources.items()}
        inputs['runs'] = {name: asdict(run.ranking.source) for name, run in runs.items()}
        return inputs


class RankedPairs(NamedTuple):
    """The first rank of each pool pair in each ranking, sorted by run, query and rank."""

    run: NDArray[np.int64]
    query: NDArray[np.int64]
    pair: NDArray[np.int64]
    rank: NDArray[np.int64]  # from 1


@dataclass(frozen=True, eq=False)
class PoolPairs:
    """Pairs of a query and a shot that stand in the first ranks of some run, sorted by query."""

    criteria: Criteria
    queries: list[str]
    runs: list[str]
    teams: list[str]  # of each run
    shots: Shots
    query: NDArray[np.int64]  # of each pair, ascending
    shot: NDArray[np.int64]  # of each pair, ascending within a query
    # Of shape (n_runs, n_pairs); where a run returns no near name high enough, 0, 1 and 0:
    ranks: NDArray[np.int64]  # the best rank
    distances: Floats  # of the name at this rank to the query
    confidences: Floats  # share of the run's pairs with a lower confidence
    n_returned: NDArray[np.int64]  # (n_runs, n_queries) N of the definitions
    ranked: RankedPairs
    parameters: dict[str, Any]  # for the manifest
    inputs: dict[str, Any]  # for the manifest
    warnings: tuple[DataWarning, ...]

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def texts(self) -> list[ShotIds]:
        """Corpus, video and shot of each shot."""
        return shot_texts(self.shots, np.arange(len(self.shots)))

    @cached_property
    def reciprocal_ranks(self) -> Floats:
        """1/rank of each pair in each run; 0 where it is not returned."""
        zeros = np.zeros(self.ranks.shape)
        return np.divide(1, self.ranks, out=zeros, where=self.ranks > 0)

    def labels(self, reference: Reference) -> PairLabels:
        """Return 1 for each pair that is in a reference, else 0."""
        return self._are_in(reference.table).astype(np.int8)

    def initial_labels(self, by: JudgedBy) -> PairLabels:
        """Return the label of each pair, or `NOT_JUDGED`."""
        reference = self.criteria.reference
        judged = self.criteria.judgements
        # Without judgements, the reference has been judged: its shots, or its pairs.
        table, is_of_pairs = reference.table, by == 'pair'
        if judged is not None:
            table, is_of_pairs = judged.table, judged.is_of_pairs
        is_judged = np.isin(self.shot, self.shots.find(table))
        if is_of_pairs:
            is_judged = self._are_in(table)
        return np.where(is_judged, self.labels(reference), NOT_JUDGED).astype(np.int8)

    def _are_in(self, table: Table) -> NDArray[np.bool_]:
        """Mark the pairs that a table of shots and names has."""
        number_by_query = {query: number for number, query in enumerate(self.queries)}
        names = table['person_name']
        shot = self.shots.find(table)
        query = np.array([number_by_query.get(name, -1) for name in names.values], dtype=np.int64)
        query = query[names.codes]
        keys = (query * len(self.shots) + shot)[(query >= 0) & (shot >= 0)]
        return np.isin(self.query * len(self.shots) + self.shot, keys)


def pool_pairs(pooled: PooledRuns) -> PoolPairs:
    """Read runs, and return the pairs that stand in the first ranks of one of them."""
    criteria = replace(pooled.criteria, judgements=None)  # rank everything that was returned
    queries = pooled.queries.names
    warning_by_text = {str(warning): warning for warning in pooled.queries.warnings}
    ranked_runs = []
    for hypothesis in tracked(list(pooled.runs.values()), 'pooling', ' runs'):
        run = prepare_run(criteria, hypothesis)
        warning_by_text |= {str(warning): warning for warning in run.warnings_with([])}
        ranked_runs.append(_NearRun.of(run, pooled))
    shots, numbers_by_run = _numbered_shots(ranked_runs)
    keys_by_run = [
        ranked.near.query * len(shots) + numbers[ranked.near.shot]
        for ranked, numbers in zip(ranked_runs, numbers_by_run, strict=True)
    ]
    pairs = np.unique(np.concatenate(keys_by_run))
    query, shot = np.divmod(pairs, len(shots))
    near_runs = [ranked.near for ranked in ranked_runs]
    ranks, distances, confidences = _evidence(near_runs, keys_by_run, pairs)
    run_by_name = dict(zip(pooled.runs, [ranked.run for ranked in ranked_runs], strict=True))
    return PoolPairs(
        criteria=pooled.criteria,
        queries=queries,
        runs=list(pooled.runs),
        teams=[pooled.teams[name] for name in pooled.runs],
        shots=shots,
        query=query,
        shot=shot,
        ranks=ranks,
        distances=distances,
        confidences=confidences,
        n_returned=np.array([ranked.n_returned for ranked in ranked_runs]),
        ranked=_ranked_pairs(ranked_runs, pooled, numbers_by_run, pairs, len(shots)),
        parameters={
            'K': list(criteria.K),
            'metric': f'M{ap_column(criteria.K[-1])}',
            'depth': pooled.depth,
            'near': pooled.near,
            **pooled.criteria.parameters,
        },
        inputs=pooled.inputs(run_by_name),
        warnings=tuple(
            warning
            for warning in warning_by_text.values()
            if len(criteria.reference.table) or warning.kind not in WARNINGS_OF_REFERENCE
        ),
    )


class _NearRanks(NamedTuple):
    """The first ranks of a run whose names are near enough, best first in each query."""

    query: NDArray[np.int64]
    shot: NDArray[np.int64]  # by the numbers of the run
    rank: NDArray[np.int64]
    distance: Floats
    confidence: Floats


class _NearRun(NamedTuple):
    """A run, its near ranks, and the shots of its rankings if they are few enough to keep."""

    run: PreparedRun
    near: _NearRanks
    n_returned: list[int]  # for each query
    shots: list[NDArray[np.integer]]  # of each query, or empty

    @classmethod
    def of(cls, run: PreparedRun, pooled: PooledRuns) -> _NearRun:
        ranking = run.ranking
        queries = pooled.queries.names
        n_ranks = len(pooled.runs) * len(queries) * min(pooled.last_cutoff, len(ranking))
        keeps_shots = n_ranks <= MOST_KEPT_RANKS
        depth = max(pooled.depth, pooled.last_cutoff) if keeps_shots else pooled.depth
        parts = []
        n_returned = []
        shots = []
        for number, listing in enumerate(run.lister.listings(queries, depth)):
            n_returned.append(listing.n_ranked)
            positions = listing.near_positions(pooled.depth, pooled.near)
            places = listing.places[positions]
            distances = listing.distances[ranking.name_at[places]]
            query = np.full(len(positions), number)
            near_shots = ranking.shot_at[places]
            confidences = ranking.confidence_at[places]
            parts.append((query, near_shots, positions + 1, distances, confidences))
            if keeps_shots:
                shots.append(listing.shots[: pooled.last_cutoff])
        near = _NearRanks(*map(np.concatenate, zip(*parts, strict=True)))
        return cls(run, near, n_returned, shots)


def _evidence(
    near_ranks_by_run: Sequence[_NearRanks],
    keys_by_run: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the best rank of each pair in each run (rows), its distance and its confidence."""
    shape = len(keys_by_run), len(pairs)
    ranks = np.zeros(shape, np.int64)
    distances = np.ones(shape)
    confidences = np.zeros(shape)
    for row, (near_ranks, keys) in enumerate(zip(near_ranks_by_run, keys_by_run, strict=True)):
        first = first_occurrences(keys)
        columns = pairs.searchsorted(keys[first])
        confidence = near_ranks.confidence[first]
        n_lower = np.sort(confidence).searchsorted(confidence)
        ranks[row, columns] = near_ranks.rank[first]
        distances[row, columns] = near_ranks.distance[first]
        confidences[row, columns] = n_lower / max(len(confidence), 1)
    return ranks, distances, confidences


def _numbered_shots(ranked_runs: Sequence[_NearRun]) -> tuple[Shots, list[NDArray[np.int64]]]:
    """Return the shots of the pool, and the number there, or -1, of each shot of each run."""
    texts: dict[ShotIds, None] = {}
    for run, near, *_ in ranked_runs:
        texts |= dict.fromkeys(shot_texts(run.ranking.shots, np.unique(near.shot)))
    if not texts:
        raise ParameterError(
            'runs: no run returns a shot whose name is within `near` of a query; raise near'
        )
    table = Table.of_texts(list(texts), JUDGED_SHOTS, '<pool>')
    shots = Shots.of(table)
    numbers_by_run = []
    for run, *_ in ranked_runs:
        numbers = np.full(len(run.ranking.shots), -1)
        run_shot = run.ranking.shots.find(table)
        numbers[run_shot[run_shot >= 0]] = shots.codes[run_shot >= 0]
        numbers_by_run.append(numbers)
    return shots, numbers_by_run


def _ranked_pairs(
    ranked_runs: Sequence[_NearRun],
    pooled: PooledRuns,
    numbers_by_run: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.int64],
    n_shots: int,
) -> RankedPairs:
    """Return the first rank of each pool pair in each ranking, down to the last cutoff."""
    queries = pooled.queries.names
    begins = pairs.searchsorted(np.arange(len(queries) + 1) * n_shots)
    pair_of_shot = np.full(n_shots + 1, -1)  # at the end for the number -1, outside the pool
    parts = []
    for row, (ranked, numbers) in enumerate(zip(ranked_runs, numbers_by_run, strict=True)):
        rankings: Iterable[NDArray[np.integer]] = ranked.shots
        if not ranked.shots:
            listings = ranked.run.lister.listings(queries, pooled.last_cutoff)
            rankings = (listing.shots for listing in listings)
        for query, shots in enumerate(rankings):
            pairs_of_query = np.arange(begins[query], begins[query + 1])
            pooled_shots = pairs[pairs_of_query] - query * n_shots
            pair_of_shot[pooled_shots] = pairs_of_query
            pair = pair_of_shot[numbers[shots]]
            pair_of_shot[pooled_shots] = -1
            positions = np.flatnonzero(pair >= 0)
            positions = positions[first_occurrences(pair[positions])]
            n = len(positions)
            parts.append((np.full(n, row), np.full(n, query), pair[positions], positions + 1))
    return RankedPairs(*map(np.concatenate, zip(*parts, strict=True)))
