"""The pool of a campaign: who found the relevant shots, and the runs without what one team found.

References are made from what teams returned, so a shot that only one team found counts for its own
runs. Leaving that out says what it does to the order (J. Zobel, "How reliable are the results of
large-scale information retrieval experiments?", SIGIR 1998).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mediaeval_ap import __version__
from mediaeval_ap.choices import check_policy
from mediaeval_ap.comparison.comparable_runs import agreement
from mediaeval_ap.definitions import ALL, LARGEST_CUTOFF, Cutoff, Definition, ap_column, depths
from mediaeval_ap.errors import DataWarning, ParameterError, require, with_noun
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import PreparedRun, Scorer, Top, prepare_run, select_queries
from mediaeval_ap.judging.bounds import Bounds, CertainOrder, UnjudgedPool, certain_orders
from mediaeval_ap.judging.candidates import SHOT, returned, shot_texts
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.result import SKIPPED, Described, mean_average_precision
from mediaeval_ap.tables import Table

if TYPE_CHECKING:
    import altair

SCHEMA = 'mediaeval-ap/pool/1'
DIGITS = 12  # of means that are ranked: sums in another order may differ beyond
LISTED_PAIRS = 10  # of runs, in tables
Judgement: TypeAlias = tuple[str, ...]  # corpus, video, shot and name


@dataclass(frozen=True)
class WithoutTeam:
    """All runs, scored against the reference without what only one team returned; see `Pool`.

    Parameters
    ----------
    team : str
        The team.
    n_alone : int
        Number of relevant shots, of all queries, that no other team returned.
    n_emptied : int
        Number of queries that have no relevant shot without these.
    means : dict of str to dict of str to float
        MAP of each run at each cutoff, by the names of the run and the mean.
    ranks : dict of str to int
        The rank of each run by the last mean; equal means share the better rank.
    tau : float or None
        Kendall's tau-b between this order of the runs and that by the whole reference.
    reason : str
        Why there is no tau, if there is none.
    """

    team: str
    n_alone: int
    n_emptied: int
    means: dict[str, dict[str, float]]
    ranks: dict[str, int]
    tau: float | None
    reason: str = ''


@dataclass(frozen=True, eq=False)
class Pool(Described):
    """The finders of the relevant shots of a campaign, and its runs without each team.

    `AveragePrecision.pool` makes it.

    Parameters
    ----------
    runs : list of str
        The runs, best first by the last mean.
    teams : dict of str to str
        The team of each run.
    means, ranks
        MAP and rank of each run by the whole reference, as those of `WithoutTeam`.
    returned_by : dict of int to int
        How many relevant shots so many teams returned; 0 stands for nobody.
    without : list of WithoutTeam
        The runs without what only one team returned, for each team.
    definition : Definition
        Definition of average precision.
    parameters, counts, inputs, warnings
        Of the manifest, and what there was to warn of.
    bounds : dict of str to Bounds
        What each run could have if all shots of the pool were judged; empty without judgements.
    certain : list of CertainOrder
        The pairs of runs whose order by the last mean cannot turn then; likewise.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', s, 'ann') for s in '123'], K=[10])
    >>> runs = {'a_1': [('x', 'v', '1', 'ann', 0.5)], 'b_1': [('x', 'v', '2', 'ann', 0.5)]}
    >>> pool = average_precision.pool(runs)
    >>> pool.returned_by
    {0: 1, 1: 2, 2: 0}
    >>> [(each.team, each.n_alone, each.means['a_1']) for each in pool.without]
    [('a', 1, {'MAP@10': 0.0}), ('b', 1, {'MAP@10': 1.0})]
    """

    runs: list[str]
    teams: dict[str, str]
    means: dict[str, dict[str, float]]
    ranks: dict[str, int]
    returned_by: dict[int, int]
    without: list[WithoutTeam]
    definition: Definition
    parameters: dict[str, Any]
    counts: dict[str, int]
    inputs: dict[str, Any]
    warnings: tuple[DataWarning, ...] = ()
    bounds: dict[str, Bounds] = field(default_factory=dict)
    certain: list[CertainOrder] = field(default_factory=list)

    def __repr__(self) -> str:
        of_teams = with_noun(len(self.without), 'team', 'teams')
        return (
            f'Pool of {with_noun(len(self.runs), "run", "runs")} of {of_teams} ({self.definition})'
        )

    @property
    def notes(self) -> list[str]:
        """Return what has to be known to read the figures."""
        n_emptied = [each.n_emptied for each in self.without]
        notes = [self.certainty] if self.bounds else []
        if self.definition.without_relevant and any(n_emptied):
            notes.append(
                f'{self.definition} counts a query without a relevant shot 1, so a team can gain '
                'where its own shots are left out: see queries emptied'
            )
        if self.bounds and self.counts.get(SKIPPED):
            notes.append('Bounds are over the queries that have a relevant shot by now')
        if n_wider := max((each.n_wider for each in self.bounds.values()), default=0):
            queries = with_noun(n_wider, 'query', 'queries')
            notes.append(
                f'Bounds hold, but may be wider than needed for up to {queries} of a run, where '
                'unjudged shots are returned again'
            )
        return notes

    def _about_order(self) -> Iterator[DataWarning]:
        """Warn if the order of the two best runs could turn."""
        pair = self.runs[:2]
        is_certain = any([each.better, each.worse] == pair for each in self.certain)
        if len(pair) < 2 or is_certain or not self.counts.get('unjudged'):
            return
        metric = list(self.means[pair[0]])[-1]
        first, second = (
            f'{run} ({metric} {self.means[run][metric]:.3f}{_share(self.bounds[run])})'
            for run in pair
        )
        yield DataWarning(
            'uncertain-order',
            self.inputs['reference']['name'],
            f'{first} and {second} could change places',
            f' if the {with_noun(self.counts["unjudged"], "unjudged shot", "unjudged shots")} of '
            'the pool were judged',
        )

    @cached_property
    def _of_team(self) -> dict[str, WithoutTeam]:
        return {each.team: each for each in self.without}

    def without_own(self, run: str) -> dict[str, float]:
        """Return MAP of a run without the relevant shots that only its own team returned.

        Parameters
        ----------
        run : str
            The name of the run.

        Returns
        -------
        dict of str to float
            MAP at each cutoff, by the name of the mean.
        """
        return self._of_team[self.teams[run]].means[run]

    @property
    def plot(self) -> PoolPlot:
        """The figure: ``leaderboard()``."""
        require('altair', 'report', 'plot')
        return PoolPlot(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``runs`` (``run``, ``team``, ``means``, ``rank``),
            ``returned_by`` (``n_teams``, ``n_relevant``), ``without`` (as `WithoutTeam`), ``notes``
            and ``manifest``; with judgements, ``bounds`` (``run``, and as `Bounds`) and ``certain``
            (as `CertainOrder`).
        """
        of_bounds: dict[str, Any] = {}
        if self.bounds:
            of_bounds['bounds'] = [{'run': run, **asdict(self.bounds[run])} for run in self.runs]
            of_bounds['certain'] = [asdict(each) for each in self.certain]
        return {
            'schema': SCHEMA,
            'version': __version__,
            'runs': [
                {'run': run, 'team': team, 'means': self.means[run], 'rank': self.ranks[run]}
                for run, team in ((run, self.teams[run]) for run in self.runs)
            ],
            'returned_by': [
                {'n_teams': n_teams, 'n_relevant': n} for n_teams, n in self.returned_by.items()
            ],
            'without': [asdict(each) for each in self.without],
            **of_bounds,
            'notes': self.notes,
            'manifest': {
                'version': __version__,
                'definition': self.definition.to_dict(),
                'parameters': self.parameters,
                'inputs': self.inputs,
                'counts': self.counts,
            },
        }

    def document(self) -> Document:
        return Document(lambda: self._blocks(), self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        n_relevant = sum(self.returned_by.values())
        metric = list(self.means[self.runs[0]])[-1]
        yield Heading(
            'Relevant shots by how many teams returned them',
            f'of {n_relevant:,}; {self.scope}, names within {self.parameters["near"]:g}',
        )
        yield Grid(
            ['teams', 'relevant shots', 'share'],
            [[n_teams, n, n / max(n_relevant, 1)] for n_teams, n in self.returned_by.items()],
        )
        yield Heading('Without what only one team returned', str(self.definition))
        yield Grid(
            ['without', 'relevant shots', 'queries emptied', 'tau-b of the runs'],
            [[each.team, each.n_alone, each.n_emptied, each.tau] for each in self.without],
        )
        yield Heading('Each run without what only its own team returned')
        rows = []
        for run in self.runs:
            before = self.means[run][metric]
            after = self.without_own(run)[metric]
            rank = self._of_team[self.teams[run]].ranks[run]
            rows.append([run, self.teams[run], before, after, self.ranks[run], rank])
        yield Grid(['run', 'team', metric, 'without', 'rank', 'rank without'], rows)
        if self.bounds:
            yield from self._blocks_of_bounds(metric)
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _blocks_of_bounds(self, metric: str) -> Iterator[Block]:
        n_unjudged = self.counts['unjudged']
        n_all = self.counts['pool']
        yield Heading(
            'Bounds: what unjudged shots could change',
            f'{n_unjudged:,} of {n_all:,} shots of the pool, counted for each query',
        )
        rows: list[list[Any]] = []
        for run, its in self.bounds.items():
            column, share = list(its.judged.items())[-1]
            means = self.means[run][metric], its.low[metric], its.high[metric]
            rows.append([run, *means, share, its.n_unjudged])
        yield Grid(['run', metric, 'low', 'high', column, 'unjudged'], rows)
        if not (pairs := self.uncertain):
            return
        yield Heading('Orders that unjudged shots could turn', 'best runs first')
        listed = pairs[:LISTED_PAIRS]
        rows = [[*pair, *(self.means[run][metric] for run in pair)] for pair in listed]
        yield Grid(['run', 'other', metric, f'{metric} of the other'], rows)
        if len(pairs) > LISTED_PAIRS:
            yield f'… and {len(pairs) - LISTED_PAIRS:,} more\n'

    @property
    def scope(self) -> str:
        """Return the ranks that the pool is made of."""
        depth = self.parameters['depth']
        return 'all ranks' if depth == ALL else f'the first {depth:,} ranks'

    @property
    def certainty(self) -> str:
        """Return over which labels bounds hold and orders are certain."""
        depth, K, near = (self.parameters[name] for name in ('depth', 'K', 'near'))
        k = max(K, key=lambda k: depths([k]))
        n_pairs = len(self.uncertain) + len(self.certain)
        pairs = f'{len(self.certain):,} of {with_noun(n_pairs, "pair", "pairs")} of runs'
        orders = f', and the order of {pairs} is certain,' if n_pairs else ''
        beyond = ''
        if depths([depth]) < depths([k]):
            beyond = f'ranks {depth + 1:,} to {"the last" if k == ALL else f"{k:,}"} and '
        judged = [each.judged[judged_column(k)] for each in self.bounds.values()]
        shares = sorted(f'{share:.3f}' for share in judged if share is not None)
        ends = ' to '.join(dict.fromkeys([*shares[:1], *shares[-1:]]))
        return (
            f'Bounds hold{orders} for all labels of the unjudged shots in {self.scope}; {beyond}'
            f'names farther than {near:g} count as not relevant'
            + (f'; {judged_column(k)} is {ends}' if ends else '')
        )

    @property
    def uncertain(self) -> list[tuple[str, str]]:
        """The pairs of runs, best first, whose order is not among `certain`, with judgements."""
        if not self.bounds:
            return []
        certain = {(each.better, each.worse) for each in self.certain}
        return [pair for pair in combinations(self.runs, 2) if pair not in certain]

    def _rows(self) -> Grid:
        """Return a row for each run by the whole reference, with bounds, and without each team."""
        states = [('', self.means, self.ranks)]
        states += [(each.team, each.means, each.ranks) for each in self.without]
        rows: list[dict[str, Any]] = []
        for without, means, ranks in states:
            for run in self.runs:
                of_run = {'without': without, 'run': run, 'team': self.teams[run], **means[run]}
                rows.append({**of_run, 'rank': ranks[run]})
        for row, run in zip(rows, self.runs if self.bounds else (), strict=False):
            its = self.bounds[run]
            for side, values in ('low', its.low), ('high', its.high):
                row |= {f'{side} {metric}': value for metric, value in values.items()}
            row |= {**its.judged, 'n_unjudged': its.n_unjudged}
        return Grid(list(rows[0]), [list(map(row.get, rows[0])) for row in rows])


class PoolPlot(Plot):
    """The figure of a pool; `Pool.plot` makes it, of the pool.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', s, 'ann') for s in '12'], K=[10])
    >>> pool = average_precision.pool({'a_1': [('x', 'v', '1', 'ann', 0.5)]})
    >>> rows = pool.plot.leaderboard().to_dict()['data']['values']
    >>> [(row['run'], row['value'], row['without']) for row in rows]
    [('a_1', 1.0, 0.0)]
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def leaderboard(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the runs, best first, with their bounds and without their own team's shots.

        Parameters
        ----------
        metric : str, optional
            One of the means, such as ``'MAP@10'``; by default the last.

        Returns
        -------
        altair.LayerChart
            A point for each run, a tick where it would be without the relevant shots that only its
            own team returned, and, with judgements, a bar from the lowest to the highest mean that
            unjudged shots of the pool could give it.
        """
        from mediaeval_ap.render import figures

        pool = self._pool
        known = tuple(self._pool.means[self._pool.runs[0]])
        metric = known[-1] if metric is None else check_policy('metric', metric, known)
        bounds = [pool.bounds.get(run) for run in pool.runs]
        return figures.pool_leaderboard(
            pool.runs,
            [pool.means[run][metric] for run in pool.runs],
            [each and each.low[metric] for each in bounds],
            [each and each.high[metric] for each in bounds],
            [pool.without_own(run)[metric] for run in pool.runs],
            metric=metric,
        )


def _share(bounds: Bounds) -> str:
    """Return the share that is judged at the last cutoff, for a sentence."""
    column, share = list(bounds.judged.items())[-1]
    return '' if share is None else f', {column} {share:.3f}'


def _names(K: Sequence[Cutoff]) -> list[str]:
    return [f'M{ap_column(k)}' for k in K]


def _means(
    run: PreparedRun, tops: Sequence[Top], queries: Sequence[str], reference: Reference
) -> dict[str, float]:
    """Return MAP of a run at each cutoff by another reference, from its rankings."""
    ranking = run.ranking
    criteria = run.criteria
    relevance = Relevance(reference, ranking.shots)
    scorer = Scorer(ranking, relevance, criteria.K, criteria.definition)
    hits = [
        relevance.hits(query, ranking.shot_at[top.places])
        for query, top in zip(queries, tops, strict=True)
    ]
    means = mean_average_precision(scorer.score_hits(queries, hits)[0]).tolist()
    return dict(zip(_names(criteria.K), means, strict=True))


class Pooling:
    """Runs that are put together, one after another; `teams` has the team of each by its name."""

    def __init__(
        self,
        criteria: Criteria,
        queries: Table | None,
        teams: Mapping[str, str],
        depth: int,
        near: float,
    ) -> None:
        if criteria.parameters.get('unjudged') == 'skip':
            raise ParameterError(
                "pool: found unjudged='skip', expected 'nonrelevant': a shot that gets judged "
                'enters condensed lists again, so no label leaves the ranks of the others'
            )
        self.criteria = criteria
        self._given = queries
        self._teams = teams
        self._depth = depth
        self._near = near
        self.queries, self._n_skipped, about_queries, _ = select_queries(criteria, queries)
        self.deepest = max(depth, *depths(criteria.K))
        self._pooled: dict[str, tuple[PreparedRun, list[Top]]] = {}
        self._found: dict[str, DataWarning] = {str(each): each for each in about_queries}
        self._finders: defaultdict[Judgement, set[str]] = defaultdict(set)
        self._unjudged = None
        if criteria.judgements is not None:
            self._unjudged = UnjudgedPool(self.queries, criteria.definition.counts_again)

    def add(self, name: str, run: PreparedRun, tops: Sequence[Top]) -> None:
        """Add a run with its rankings of the queries, down to `deepest` or to all there is."""
        ranking = run.ranking
        near_enough = [returned(run, top, self._depth, self._near) for top in tops]
        for query, top, at in zip(self.queries, tops, near_enough, strict=True):
            found = ranking.shot_at[top.places[np.intersect1d(at, top.hits)]]
            for shot in shot_texts(ranking.shots, found):
                self._finders[(*shot, query)].add(self._teams[name])
        self._pooled[name] = run, [top.first(max(depths(self.criteria.K))) for top in tops]
        if self._unjudged is not None:
            self._unjudged.add(name, run, tops, near_enough)
        self._found |= {str(each): each for each in run.warnings_with([])}

    def result(self) -> Pool:
        """Return the pool of all runs that were added."""
        criteria = self.criteria
        names = self.queries
        pooled = self._pooled
        reference = criteria.reference
        asked = set(names)
        rows = list(zip(*map(reference.table.texts, (*SHOT, 'person_name')), strict=True))
        times = Counter(len(self._finders[row]) for row in set(rows) if row[-1] in asked)
        every_team = sorted(set(self._teams.values()))
        means = {name: _means(*each, names, reference) for name, each in pooled.items()}
        ranks = ranks_of(_last(means))
        runs = sorted(means, key=lambda name: (ranks[name], name))
        bounds, certain, counts = self._bounds(runs)
        sources = criteria.sources(None if self._given is None else self._given.source)
        pool = Pool(
            runs=runs,
            teams=dict(self._teams),
            means=means,
            ranks=ranks,
            returned_by={n_teams: times[n_teams] for n_teams in range(len(every_team) + 1)},
            without=list(self._without(every_team, rows, means)),
            definition=criteria.definition,
            parameters={
                'K': list(criteria.K),
                'depth': ALL if self._depth == LARGEST_CUTOFF else self._depth,
                'near': self._near,
                **criteria.parameters,
            },
            counts={
                'queries': len(names),
                'runs': len(pooled),
                'teams': len(every_team),
                **({SKIPPED: self._n_skipped} if self._n_skipped else {}),
                **counts,
            },
            inputs={
                **{role: asdict(source) for role, source in sources.items()},
                'runs': {name: asdict(run.ranking.source) for name, (run, _) in pooled.items()},
            },
            bounds=bounds,
            certain=certain,
        )
        return replace(pool, warnings=(*self._found.values(), *pool._about_order()))

    def _without(
        self,
        teams: Sequence[str],
        rows: Sequence[Judgement],
        means: Mapping[str, Mapping[str, float]],
    ) -> Iterator[WithoutTeam]:
        """Yield the runs without what one team found, for each team."""
        reference = self.criteria.reference
        names = self.queries
        had = [name for name in names if reference.n_relevant(name)]
        for team in tracked(teams, 'leaving out', ' teams'):
            alone = {row for row, of in self._finders.items() if of == {team}}
            kept = reference.table.select(np.array([row not in alone for row in rows], np.bool_))
            others = [*reference.names, *reference.elsewhere]
            reduced = Reference(kept, reference.counts_again, others)
            its = {name: _means(*each, names, reduced) for name, each in self._pooled.items()}
            ranks = ranks_of(_last(its))
            both = [[*_last(of).values()] for of in (means, its)]
            order = agreement('the whole reference', both[0], f'that without {team}', both[1])
            n_emptied = sum(not reduced.n_relevant(name) for name in had)
            yield WithoutTeam(team, len(alone), n_emptied, its, ranks, order.tau, order.reason)

    def _bounds(
        self, runs: Sequence[str]
    ) -> tuple[dict[str, Bounds], list[CertainOrder], dict[str, int]]:
        """Return the bounds of runs and the orders that are certain, where something is judged."""
        if self._unjudged is None:
            return {}, [], {}
        unjudged = self._unjudged
        reference = self._unjudged.reference
        tracked_runs = tracked(runs, 'bounding', ' runs')
        found = {name: unjudged.bounds_of(*self._pooled[name], reference) for name in tracked_runs}
        metrics = _names(self.criteria.K)
        bounds = {name: unjudged.summary(name, found[name], metrics) for name in runs}
        return bounds, certain_orders(runs, found), unjudged.counts


def pool_runs(
    criteria: Criteria,
    runs: Mapping[str, Any],
    queries: Table | None,
    teams: Mapping[str, str],
    depth: int,
    near: float,
) -> Pool:
    """Return the pool of runs, by their names."""
    pooling = Pooling(criteria, queries, teams, depth, near)
    for name, hypothesis in tracked(runs.items(), 'pooling', ' runs'):
        run = prepare_run(criteria, hypothesis)
        pooling.add(name, run, list(run.scorer.top(pooling.queries, pooling.deepest)))
    return pooling.result()


def _last(means: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: list(each.values())[-1] for name, each in means.items()}


def ranks_of(means: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each run by its mean; equal ones share the better rank."""
    rounded = {name: round(mean, DIGITS) for name, mean in means.items()}
    return {
        name: 1 + sum(other > value for other in rounded.values())
        for name, value in rounded.items()
    }
