"""The pool of a campaign: who found the relevant shots, and the runs without what one team found.

References are made from what teams returned, so a shot that only one team found counts for its own
runs. Leaving that out says what it does to the order (J. Zobel, "How reliable are the results of
large-scale information retrieval experiments?", SIGIR 1998).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from mediaeval_ap import __version__
from mediaeval_ap.comparison.comparable_runs import agreement
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, depths
from mediaeval_ap.errors import DataWarning, counted
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.evaluation.scoring import CountedRun, Scorer, Top, names_asked, read_counted
from mediaeval_ap.progress import tracked
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.results.described import Described
from mediaeval_ap.results.result import mean_average_precision
from mediaeval_ap.tables import Source, Table

SCHEMA = 'mediaeval-ap/pool/1'
DIGITS = 12  # of means that are ranked: sums in another order may differ beyond
SHOT = ('corpus_id', 'video_id', 'shot_id')
Judgement: TypeAlias = tuple[str, ...]  # corpus, video, shot and name


@dataclass(frozen=True)
class WithoutTeam:
    """All runs, scored against the reference without what only one team returned.

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

    Examples
    --------
    >>> WithoutTeam('a', 3, 0, {'a_1': {'MAP@10': 0.5}}, {'a_1': 1}, None, 'one run has no order')
    ... # doctest: +ELLIPSIS
    WithoutTeam(team='a', n_alone=3, n_emptied=0, ...)
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
    """Who found the relevant shots of a campaign, and the runs without what one team found.

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

    def __repr__(self) -> str:
        of_teams = counted(len(self.without), 'team', 'teams')
        return f'Pool of {counted(len(self.runs), "run", "runs")} of {of_teams} ({self.definition})'

    @property
    def notes(self) -> list[str]:
        """What has to be known to read the figures."""
        n_emptied = [each.n_emptied for each in self.without]
        notes = []
        if self.definition.without_relevant and any(n_emptied):
            notes.append(
                f'{self.definition} counts a query without a relevant shot 1, so a team can gain '
                'where its own shots are left out: see queries emptied'
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``runs`` (``run``, ``team``, ``means``, ``rank``),
            ``returned_by`` (``n_teams``, ``n_relevant``), ``without`` (as `WithoutTeam`), ``notes``
            and ``manifest``.
        """
        return {
            'schema': SCHEMA,
            'version': __version__,
            'runs': [
                {
                    'run': run,
                    'team': self.teams[run],
                    'means': self.means[run],
                    'rank': self.ranks[run],
                }
                for run in self.runs
            ],
            'returned_by': [
                {'n_teams': n_teams, 'n_relevant': n} for n_teams, n in self.returned_by.items()
            ],
            'without': [asdict(each) for each in self.without],
            'notes': self.notes,
            'manifest': {
                'version': __version__,
                'definition': self.definition.to_dict(),
                'parameters': self.parameters,
                'inputs': self.inputs,
                'counts': self.counts,
            },
        }

    def _document(self) -> Document:
        return Document(lambda: self._blocks(), self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        n_relevant = sum(self.returned_by.values())
        metric = list(self.means[self.runs[0]])[-1]
        yield Heading(
            'Relevant shots by how many teams returned them',
            f'of {n_relevant:,}; first {self.parameters["depth"]} of each ranking, names within '
            f'{self.parameters["near"]:g}',
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
        of_team = {each.team: each for each in self.without}
        rows = []
        for run in self.runs:
            own = of_team[self.teams[run]]
            before, after = self.means[run][metric], own.means[run][metric]
            rows.append([run, self.teams[run], before, after, self.ranks[run], own.ranks[run]])
        yield Grid(['run', 'team', metric, 'without', 'rank', 'rank without'], rows)
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _rows(self) -> Grid:
        """Return a row for each run by the whole reference, and without each team."""
        metrics = list(self.means[self.runs[0]])
        headers = ['without', 'run', 'team', *metrics, 'rank']
        states = [('', self.means, self.ranks)]
        states += [(each.team, each.means, each.ranks) for each in self.without]
        return Grid(
            headers,
            [
                [without, run, self.teams[run], *means[run].values(), ranks[run]]
                for without, means, ranks in states
                for run in self.runs
            ],
        )


@dataclass(frozen=True)
class _Pooled:
    """A run with its rankings, which every reference is laid against."""

    run: CountedRun
    tops: list[Top]

    def means(self, queries: Sequence[str], reference: Reference) -> dict[str, float]:
        """Return MAP at each cutoff by a reference."""
        ranking, criteria = self.run.ranking, self.run.criteria
        relevance = Relevance(reference, ranking.shots)
        scorer = Scorer(ranking, relevance, criteria.K, criteria.definition)
        hits = [
            relevance.hits(query, ranking.shot_at[top.places])
            for query, top in zip(queries, self.tops, strict=True)
        ]
        means = mean_average_precision(scorer.score_hits(queries, hits)[0]).tolist()
        return dict(zip(_names(criteria.K), means, strict=True))

    def returned(self, queries: Sequence[str], depth: int, near: float) -> Iterator[Judgement]:
        """Yield the relevant shots that stand high enough under a name that is near enough."""
        ranking = self.run.ranking
        for query, top in zip(queries, self.tops, strict=True):
            places = top.places[top.hits[top.hits < depth]]
            places = places[top.distances[ranking.name_at[places]] <= near]
            ids = ranking.shots.ids_of(ranking.shot_at[places])
            yield from ((*shot, query) for shot in zip(*(ids[each] for each in SHOT), strict=True))


def _names(K: Sequence[Cutoff]) -> list[str]:
    return [f'M{ap_column(k)}' for k in K]


def pool_runs(
    criteria: Criteria,
    runs: Mapping[str, Any],
    queries: Table | None,
    teams: Mapping[str, str],
    depth: int,
    near: float,
) -> Pool:
    """Return the pool of runs, by their names; `teams` has that of each."""
    names, _, about_queries = names_asked(criteria, queries)
    deepest = max(depth, *depths(criteria.K))
    pooled: dict[str, _Pooled] = {}
    found: dict[str, DataWarning] = {str(each): each for each in about_queries}
    finders: defaultdict[Judgement, set[str]] = defaultdict(set)
    for name, hypothesis in tracked(runs.items(), 'pooling', ' runs'):
        run = read_counted(criteria, hypothesis)
        run.scorer.check_cutoffs()
        pooled[name] = _Pooled(run, list(run.scorer.top(names, deepest)))
        for judgement in pooled[name].returned(names, depth, near):
            finders[judgement].add(teams[name])
        found |= {str(each): each for each in run.warnings_with([])}
    reference = criteria.reference
    table, asked = reference.table, set(names)
    rows = list(zip(*map(table.texts, (*SHOT, 'person_name')), strict=True))
    times = Counter(len(finders[row]) for row in set(rows) if row[-1] in asked)
    every_team = sorted(set(teams.values()))
    means = {name: each.means(names, reference) for name, each in pooled.items()}
    had = [name for name in names if reference.n_relevant(name)]
    without = []
    for team in tracked(every_team, 'leaving out', ' teams'):
        alone = {row for row, of in finders.items() if of == {team}}
        kept = table.select(np.array([row not in alone for row in rows], dtype=np.bool_))
        reduced = Reference(kept, reference.counts_again, [*reference.names, *reference.elsewhere])
        its = {name: each.means(names, reduced) for name, each in pooled.items()}
        last = [list(map(_last, each.values())) for each in (means, its)]
        order = agreement('the whole reference', last[0], f'that without {team}', last[1])
        n_emptied = sum(not reduced.n_relevant(name) for name in had)
        without.append(
            WithoutTeam(team, len(alone), n_emptied, its, _ranks(its), order.tau, order.reason)
        )
    ranks = _ranks(means)
    sources: dict[str, Source] = {'reference': table.source}
    if criteria.subset is not None:
        sources['subset'] = criteria.subset.source
    if queries is not None:
        sources['queries'] = queries.source
    return Pool(
        runs=sorted(means, key=lambda name: (ranks[name], name)),
        teams=dict(teams),
        means=means,
        ranks=ranks,
        returned_by={n_teams: times[n_teams] for n_teams in range(len(every_team) + 1)},
        without=without,
        definition=criteria.definition,
        parameters={'K': list(criteria.K), 'depth': depth, 'near': near, **criteria.parameters},
        counts={'queries': len(names), 'runs': len(runs), 'teams': len(every_team)},
        inputs={
            **{role: asdict(source) for role, source in sources.items()},
            'runs': {name: asdict(each.run.ranking.source) for name, each in pooled.items()},
        },
        warnings=tuple(found.values()),
    )


def _last(means: Mapping[str, float]) -> float:
    return list(means.values())[-1]


def _ranks(means: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """Return ranks by the last mean, of which equal ones share the better rank."""
    rounded = {name: round(_last(each), DIGITS) for name, each in means.items()}
    return {
        name: 1 + sum(other > value for other in rounded.values())
        for name, value in rounded.items()
    }
