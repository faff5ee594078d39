"""Make the pool of a campaign from one listing of each query and run.

References are made from the shots that teams returned, so a shot that only one team returned
favours its own runs. Leaving these shots out shows their effect on the order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mediaeval_ap.comparison.comparable_runs import agreement
from mediaeval_ap.definitions import ALL, LARGEST_CUTOFF, depths
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.evaluation.prepared_run import PreparedRun, prepare_run
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.judging.bounds import (
    Bounds,
    CertainOrder,
    RankedRun,
    UnjudgedPool,
    map_by_metric,
)
from mediaeval_ap.judging.candidates import PooledRuns
from mediaeval_ap.judging.pool import Judgement, Pool, WithoutTeam
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.notes import SKIPPED
from mediaeval_ap.results.rounding import competition_ranks
from mediaeval_ap.tables.layouts import SHOT_FIELDS


class Pooling:
    """Collects runs one after another, and makes a pool of them."""

    def __init__(self, pooled: PooledRuns) -> None:
        criteria = pooled.criteria
        if criteria.parameters.get('unjudged') == 'skip':
            raise ParameterError("pool: found unjudged='skip', but bounds need 'nonrelevant'")
        self._runs = pooled
        self.queries = pooled.queries.names
        self.deepest = max(pooled.depth, *depths(criteria.K))
        self._ranked_runs: dict[str, RankedRun] = {}
        self._warning_by_text = {str(warning): warning for warning in pooled.queries.warnings}
        self._finders: defaultdict[Judgement, set[str]] = defaultdict(set)

    def reader(self, run: PreparedRun) -> RankedRun:
        """Return a run that is to read the listings of all queries, down to `deepest`."""
        return RankedRun(run, self._runs.depth, self._runs.near)

    def add(self, name: str, ranked: RankedRun) -> None:
        """Add a run that has read its listings."""
        for query, hits in ranked.hits_by_query.items():
            for shot in hits.relevant:
                self._finders[(*shot, query)].add(self._runs.teams[name])
        self._ranked_runs[name] = ranked
        about_run = ranked.run.warnings_with([])
        self._warning_by_text |= {str(warning): warning for warning in about_run}

    def result(self) -> Pool:
        """Return the pool of all runs that were added."""
        criteria = self._runs.criteria
        queries = self.queries
        ranked_runs = self._ranked_runs
        reference = criteria.reference
        rows = list(zip(*map(reference.table.texts, (*SHOT_FIELDS, 'person_name')), strict=True))
        scored = set(queries)
        n_rows = Counter(len(self._finders[row]) for row in set(rows) if row[-1] in scored)
        teams = {run: self._runs.teams[run] for run in ranked_runs}
        every_team = sorted(set(teams.values()))
        means = self._means(reference)
        ranks = competition_ranks(_last_means(means))
        runs = sorted(means, key=lambda name: (ranks[name], name))
        bounds, certain, counts = self._bounds(runs)
        n_skipped = self._runs.queries.n_skipped
        pool = Pool(
            runs=runs,
            teams=teams,
            means=means,
            ranks=ranks,
            returned_by={n_teams: n_rows[n_teams] for n_teams in range(len(every_team) + 1)},
            without=list(self._without(every_team, rows, means)),
            definition=criteria.definition,
            parameters={
                'K': list(criteria.K),
                'depth': ALL if self._runs.depth == LARGEST_CUTOFF else self._runs.depth,
                'near': self._runs.near,
                **criteria.parameters,
            },
            counts={
                'queries': len(queries),
                'runs': len(ranked_runs),
                'teams': len(every_team),
                **({SKIPPED: n_skipped} if n_skipped else {}),
                **counts,
            },
            inputs=self._runs.inputs({name: ranked.run for name, ranked in ranked_runs.items()}),
            bounds=bounds,
            certain=certain,
        )
        about_order = pool._warnings_about_order()
        return replace(pool, warnings=(*self._warning_by_text.values(), *about_order))

    def _means(self, reference: Reference) -> dict[str, dict[str, float]]:
        """Return MAP of each run at each cutoff by a reference that has some of the rows."""
        K = self._runs.criteria.K
        definition = self._runs.criteria.definition
        n_relevant = [reference.n_relevant(query) for query in self.queries]
        means = {}
        for name, ranked in self._ranked_runs.items():
            relevance = Relevance(reference, ranked.run.ranking.shots)
            hits_of_queries = [ranked.hits_by_query[query] for query in self.queries]
            ranks = [
                hits.ranks[relevance.hits(query, hits.shots)]
                for query, hits in zip(self.queries, hits_of_queries, strict=True)
            ]
            n_ranked = [hits.n_ranked for hits in hits_of_queries]
            ap = RankedHits.of(ranks, n_relevant, n_ranked).ap(depths(K), definition)
            means[name] = map_by_metric(ap, K)
        return means

    def _without(
        self,
        teams: Sequence[str],
        rows: Sequence[Judgement],
        means: Mapping[str, Mapping[str, float]],
    ) -> Iterator[WithoutTeam]:
        """Yield, for each team, the runs without the relevant shots that only it returned."""
        reference = self._runs.criteria.reference
        with_relevant = [query for query in self.queries if reference.n_relevant(query)]
        names = [*reference.names, *reference.elsewhere]
        whole = list(_last_means(means).values())
        for team in tracked(teams, 'leaving out', ' teams'):
            alone = {row for row, finders in self._finders.items() if finders == {team}}
            is_kept = np.array([row not in alone for row in rows], np.bool_)
            table = reference.table.select(is_kept)
            reduced = Reference(table, reference.counts_again, names)
            reduced_means = self._means(reduced)
            last = _last_means(reduced_means)
            ranks = competition_ranks(last)
            without = f'that without {team}'
            order = agreement('the whole reference', whole, without, list(last.values()))
            n_emptied = sum(not reduced.n_relevant(query) for query in with_relevant)
            yield WithoutTeam(
                team, len(alone), n_emptied, reduced_means, ranks, order.tau, order.reason
            )

    def _bounds(
        self, runs: Sequence[str]
    ) -> tuple[dict[str, Bounds], list[CertainOrder], dict[str, int]]:
        """Return the bounds, the certain orders and the counts; empty without judgements."""
        criteria = self._runs.criteria
        if criteria.judgements is None:
            return {}, [], {}
        ranked_runs = self._ranked_runs
        counts_again = criteria.definition.counts_again
        unjudged = UnjudgedPool(self.queries, ranked_runs.values(), counts_again)
        by_number = {
            name: unjudged.bounds_of(ranked_runs[name])
            for name in tracked(runs, 'bounding', ' runs')
        }
        bounds = {name: unjudged.summary(ranked_runs[name], by_number[name]) for name in runs}
        return bounds, unjudged.certain_orders(by_number), unjudged.counts


def pool_runs(pooled: PooledRuns) -> Pool:
    """Read runs, and return their pool."""
    pooling = Pooling(pooled)
    for name, hypothesis in tracked(pooled.runs.items(), 'pooling', ' runs'):
        run = prepare_run(pooled.criteria, hypothesis)
        ranked = pooling.reader(run)
        for listing in run.lister.listings(pooling.queries, pooling.deepest):
            ranked.read(listing)
        pooling.add(name, ranked)
    return pooling.result()


def _last_means(means: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: list(by_metric.values())[-1] for name, by_metric in means.items()}
