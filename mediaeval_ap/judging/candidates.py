"""Pool pairs: the pairs of a query and a shot that runs returned high enough to be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, find, first_occurrences
from mediaeval_ap.definitions import ap_column, depths
from mediaeval_ap.errors import DataWarning, ParameterError
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.evaluation.scoring import PreparedRun, Top, prepare_run, select_queries
from mediaeval_ap.progress import tracked
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import Table, read
from mediaeval_ap.tables.layouts import JUDGED_SHOTS

UNJUDGED = -1  # among labels, which are 1 for relevant and 0 for not relevant
SHOT = JUDGED_SHOTS.texts
OF_REFERENCE = 'no-overlap', 'unknown-queries'  # what an empty one lacks, where judging begins
Labels = NDArray[np.int8]


class Places(NamedTuple):
    """Where pool pairs first stand in the rankings: a row for each, by run, query and rank."""

    run: NDArray[np.int64]
    query: NDArray[np.int64]
    pair: NDArray[np.int64]
    rank: NDArray[np.int64]  # from 1


@dataclass(frozen=True, eq=False)
class PoolPairs:
    """Pairs of a query and a shot that stand in the first ranks of some run; queries in order."""

    criteria: Criteria
    queries: list[str]
    runs: list[str]
    teams: list[str]  # of each run
    shots: Shots
    query: NDArray[np.int64]  # of each pair, ascending
    shot: NDArray[np.int64]  # likewise, ascending in a query
    ranks: NDArray[np.int64]  # (n_runs, n_pairs): where it is returned as near and high; else 0
    distances: Floats  # (n_runs, n_pairs) of the name that it is returned under; else 1
    confidences: Floats  # (n_runs, n_pairs): share of the run's pairs that are less sure; else 0
    n_returned: NDArray[np.int64]  # (n_runs,) the length of each ranking, N of the definitions
    places: Places
    parameters: dict[str, Any]  # of a manifest, as the inputs
    inputs: dict[str, Any]
    warnings: tuple[DataWarning, ...]

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def texts(self) -> list[tuple[str, ...]]:
        """Corpus, video and shot of each shot."""
        return shot_texts(self.shots, np.arange(len(self.shots)))

    @cached_property
    def reciprocal_ranks(self) -> Floats:
        """1/rank of each pair in each run; 0 where it is not returned."""
        zeros = np.zeros(self.ranks.shape)
        reciprocal: Floats = np.divide(1, self.ranks, out=zeros, where=self.ranks > 0)
        return reciprocal

    def labels(self, reference: Reference) -> Labels:
        """Return 1 for each pair that is in a reference, else 0."""
        return self._are_in(reference.table).astype(np.int8)

    def known(self) -> Labels:
        """Return what the criteria know of each pair; nothing where they have no judgements."""
        if self.criteria.judgements is None:
            return np.full(len(self), UNJUDGED, dtype=np.int8)
        judged = self.criteria.judgements
        is_judged = np.isin(self.shot, self.shots.find(judged.table))
        if judged.is_of_pairs:
            is_judged = self._are_in(judged.table)
        return np.where(is_judged, self.labels(self.criteria.reference), UNJUDGED).astype(np.int8)

    def _are_in(self, table: Table) -> NDArray[np.bool_]:
        """Return whether each pair is in a table of shots and names."""
        numbers = {name: number for number, name in enumerate(self.queries)}
        name = table['person_name']
        shot = self.shots.find(table)
        query = np.array([numbers.get(each, -1) for each in name.values], dtype=np.int64)
        query = query[name.codes]
        keys = (query * len(self.shots) + shot)[(query >= 0) & (shot >= 0)]
        return np.isin(self.query * len(self.shots) + self.shot, keys)


def shot_texts(shots: Shots, numbers: NDArray[np.integer]) -> list[tuple[str, ...]]:
    """Return corpus, video and shot of some shots, by their numbers."""
    ids = shots.ids_of(numbers)
    return list(zip(*(ids[field] for field in SHOT), strict=True))


def returned(run: PreparedRun, top: Top, depth: int, near: float) -> NDArray[np.int64]:
    """Return the positions, from 0, of the first ranks whose name is near enough to the query."""
    names = run.ranking.name_at[top.places[:depth]]
    at: NDArray[np.int64] = np.flatnonzero(top.distances[names] <= near)
    return at


def pool_pairs(
    criteria: Criteria,
    runs: Mapping[str, Any],
    queries: Table | None,
    teams: Mapping[str, str],
    depth: int,
    near: float,
) -> PoolPairs:
    """Read runs, and return the pairs that stand in the first ranks of one of them."""
    names, _, about_queries, _ = select_queries(criteria, queries)
    whole = replace(criteria, judgements=None)  # all that was returned is ranked
    found = {str(each): each for each in about_queries}
    read_runs = []
    of_runs = []
    for hypothesis in tracked(list(runs.values()), 'pooling', ' runs'):
        run = prepare_run(whole, hypothesis)
        found |= {str(each): each for each in run.warnings_with([])}
        read_runs.append(run)
        of_runs.append(_first_ranks(run, names, depth, near))
    shots, numbers = _numbered_shots(read_runs, of_runs)
    keys = [
        each.query * len(shots) + number[each.shot]
        for each, number in zip(of_runs, numbers, strict=True)
    ]
    pairs = np.unique(np.concatenate(keys))
    shape = len(runs), len(pairs)
    ranks = np.zeros(shape, np.int64)
    distances = np.ones(shape)
    confidences = np.zeros(shape)
    for row, (each, of_run) in enumerate(zip(of_runs, keys, strict=True)):
        first = first_occurrences(of_run)
        at = pairs.searchsorted(of_run[first])
        sure = each.confidence[first]
        ranks[row, at], distances[row, at] = each.rank[first], each.distance[first]
        confidences[row, at] = np.sort(sure).searchsorted(sure) / max(len(sure), 1)
    has_any = len(criteria.reference.table) > 0
    sources = criteria.sources(None if queries is None else queries.source)
    inputs: dict[str, Any] = {role: asdict(source) for role, source in sources.items()}
    sources_of_runs = [asdict(each.ranking.source) for each in read_runs]
    inputs['runs'] = dict(zip(runs, sources_of_runs, strict=True))
    metric = f'M{ap_column(criteria.K[-1])}'
    given = {'K': list(criteria.K), 'metric': metric, 'depth': depth, 'near': near}
    return PoolPairs(
        criteria,
        names,
        list(runs),
        [teams[name] for name in runs],
        shots,
        *np.divmod(pairs, len(shots)),
        ranks,
        distances,
        confidences,
        np.array([each.scorer.n_ranked(each.ranking) for each in read_runs]),
        _places(read_runs, names, numbers, pairs, len(shots)),
        {**given, **criteria.parameters},
        inputs,
        tuple(each for each in found.values() if has_any or each.kind not in OF_REFERENCE),
    )


class _First(NamedTuple):
    """The first ranks of a run, under near names, best first in each query."""

    query: NDArray[np.int64]
    shot: NDArray[np.int64]  # by the numbers of the run
    rank: NDArray[np.int64]
    distance: Floats
    confidence: Floats


def _first_ranks(run: PreparedRun, queries: Sequence[str], depth: int, near: float) -> _First:
    ranking = run.ranking
    parts = []
    for number, top in enumerate(run.scorer.top(queries, depth)):
        at = returned(run, top, depth, near)
        places = top.places[at]
        distances = top.distances[ranking.name_at[places]]
        query = np.full(len(at), number)
        sure = ranking.confidence_at[places]
        parts.append((query, ranking.shot_at[places], at + 1, distances, sure))
    return _First(*map(np.concatenate, zip(*parts, strict=True)))


def _numbered_shots(
    runs: Sequence[PreparedRun], of_runs: Sequence[_First]
) -> tuple[Shots, list[NDArray[np.int64]]]:
    """Return the shots of the pool, and their numbers by those that each run has for them."""
    texts: dict[tuple[str, ...], None] = {}
    for run, each in zip(runs, of_runs, strict=True):
        texts |= dict.fromkeys(shot_texts(run.ranking.shots, np.unique(each.shot)))
    if not texts:
        raise ParameterError(
            'runs: no run returns a shot whose name is within `near` of a query; raise near'
        )
    table = read(list(texts), JUDGED_SHOTS)
    shots = Shots.of(table)
    numbers = []
    for run in runs:
        number = np.full(len(run.ranking.shots), -1)
        its = run.ranking.shots.find(table)
        number[its[its >= 0]] = shots.codes[its >= 0]
        numbers.append(number)
    return shots, numbers


def _places(
    runs: Sequence[PreparedRun],
    queries: Sequence[str],
    numbers: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.int64],
    n_shots: int,
) -> Places:
    """Return where pool pairs first stand, down to the last cutoff."""
    (deepest,) = depths(runs[0].criteria.K[-1:])
    parts = []
    for row, (run, number) in enumerate(zip(runs, numbers, strict=True)):
        for query, top in enumerate(run.scorer.top(queries, deepest)):
            shot = number[run.ranking.shot_at[top.places]]
            pair = np.where(shot < 0, -1, find(pairs, query * n_shots + shot))
            at = np.flatnonzero(pair >= 0)
            at = at[first_occurrences(pair[at])]
            parts.append((np.full(len(at), row), np.full(len(at), query), pair[at], at + 1))
    return Places(*map(np.concatenate, zip(*parts, strict=True)))
