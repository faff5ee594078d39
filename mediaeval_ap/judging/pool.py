"""The pool of a campaign: the finders of the relevant shots, and scores with each team left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from mediaeval_ap.choices import check_policy
from mediaeval_ap.definitions import ALL, Definition, depths
from mediaeval_ap.errors import DataWarning, require, with_noun
from mediaeval_ap.judging.bounds import Bounds, CertainOrder
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.described import Described, json_document, manifest_json
from mediaeval_ap.results.evaluation import judged_column
from mediaeval_ap.results.notes import SKIPPED

if TYPE_CHECKING:
    import altair

POOL_SCHEMA = 'mediaeval-ap/pool/1'
MOST_LISTED_PAIRS = 10  # of runs, in tables
Judgement: TypeAlias = tuple[str, ...]  # corpus, video, shot and name


@dataclass(frozen=True)
class WithoutTeam:
    """All runs, scored without the relevant shots that only one team returned; see `Pool`.

    Parameters
    ----------
    team : str
        The team.
    n_alone : int
        Number of relevant shots that no other team returned, over all queries.
    n_emptied : int
        Number of queries whose relevant shots were all among these.
    means : dict of str to dict of str to float
        MAP of each run at each cutoff, by the names of the run and the mean.
    ranks : dict of str to int
        The rank of each run by the last mean; equal means share the better rank.
    tau : float or None
        Kendall's tau-b between this order of the runs and the order by the whole reference.
    reason : str
        Why there is no tau, or ''.
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
    """The finders of the relevant shots of a campaign, and its runs with each team left out.

    `AveragePrecision.pool` makes it.

    Parameters
    ----------
    runs : list of str
        The runs, best first by the last mean.
    teams : dict of str to str
        The team of each run.
    means, ranks
        MAP and rank of each run by the whole reference, named as in `WithoutTeam`.
    returned_by : dict of int to int
        Number of relevant shots by the number of teams that returned them, from 0.
    without : list of WithoutTeam
        For each team, the runs without the relevant shots that only this team returned.
    definition : Definition
        Definition of average precision.
    parameters, counts, inputs, warnings
        The settings, numbers and files for the manifest, and the warnings.
    bounds : dict of str to Bounds
        The bounds of each run over all labels of the unjudged shots; empty without judgements.
    certain : list of CertainOrder
        The pairs of runs whose order by the last mean is the same for all these labels; empty
        without judgements.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', s, 'ann') for s in '123'], K=[10])
    >>> runs = {'a_1': [('x', 'v', '1', 'ann', 0.5)], 'b_1': [('x', 'v', '2', 'ann', 0.5)]}
    >>> pool = average_precision.pool(runs)
    >>> pool.returned_by
    {0: 1, 1: 2, 2: 0}
    >>> [(team.team, team.n_alone, team.means['a_1']) for team in pool.without]
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
        teams = with_noun(len(self.without), 'team', 'teams')
        return f'Pool of {with_noun(len(self.runs), "run", "runs")} of {teams} ({self.definition})'

    @property
    def notes(self) -> list[str]:
        """Return the notes that a reader of the figures needs."""
        n_emptied = [result.n_emptied for result in self.without]
        notes = [self.certainty] if self.bounds else []
        if self.definition.without_relevant and any(n_emptied):
            notes.append(
                f'{self.definition} scores a query without a relevant shot as 1, so a team can '
                'gain when its own shots are left out: see queries emptied'
            )
        if self.bounds and self.counts.get(SKIPPED):
            notes.append('Bounds cover only the queries that have a relevant shot so far')
        if n_wider := max((bounds.n_wider for bounds in self.bounds.values()), default=0):
            queries = with_noun(n_wider, 'query', 'queries')
            notes.append(
                f'Bounds hold, but may be wider than needed for up to {queries} of a run, where '
                'unjudged shots are returned again'
            )
        return notes

    def _warnings_about_order(self) -> Iterator[DataWarning]:
        """Warn if the order of the two best runs could turn."""
        pair = self.runs[:2]
        is_certain = any([order.better, order.worse] == pair for order in self.certain)
        if len(pair) < 2 or is_certain or not self.counts.get('unjudged'):
            return
        metric = list(self.means[pair[0]])[-1]
        first, second = (
            f'{run} ({metric} {self.means[run][metric]:.3f}{_judged_share(self.bounds[run])})'
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
    def _without_by_team(self) -> dict[str, WithoutTeam]:
        return {result.team: result for result in self.without}

    def without_own(self, run: str) -> dict[str, float]:
        """Return MAP of a run without the relevant shots that only its own team returned.

        Parameters
        ----------
        run : str
            The name of the run.

        Returns
        -------
        dict of str to float
            By the name of the mean.
        """
        return self._without_by_team[self.teams[run]].means[run]

    @property
    def plot(self) -> PoolPlot:
        """The figure: ``leaderboard()``."""
        require('altair', 'report', 'plot')
        return PoolPlot(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and a manifest, for JSON.

        Returns
        -------
        dict
            An object of the JSON schema of pools, ``pool-1``.
        """
        with_judgements: dict[str, Any] = {}
        if self.bounds:
            with_judgements = {
                'bounds': [{'run': run, **asdict(self.bounds[run])} for run in self.runs],
                'certain': [asdict(order) for order in self.certain],
            }
        return json_document(
            POOL_SCHEMA,
            runs=[
                {
                    'run': run,
                    'team': self.teams[run],
                    'means': self.means[run],
                    'rank': self.ranks[run],
                }
                for run in self.runs
            ],
            returned_by=[
                {'n_teams': n_teams, 'n_relevant': n} for n_teams, n in self.returned_by.items()
            ],
            without=[asdict(result) for result in self.without],
            **with_judgements,
            notes=self.notes,
            manifest=manifest_json(
                definition=self.definition,
                parameters=self.parameters,
                inputs=self.inputs,
                counts=self.counts,
            ),
        )

    def document(self) -> Document:
        return Document(self._blocks, self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        n_relevant = sum(self.returned_by.values())
        metric = list(self.means[self.runs[0]])[-1]
        names = f', names within {near:g}' if (near := self.parameters['near']) else ''
        yield Heading(
            'Relevant shots by how many teams returned them',
            f'of {n_relevant:,}; {self.scope}{names}',
        )
        yield Grid(
            ['teams', 'relevant shots', 'share'],
            [[n_teams, n, n / max(n_relevant, 1)] for n_teams, n in self.returned_by.items()],
        )
        yield Heading('Without what only one team returned', str(self.definition))
        yield Grid(
            ['without', 'relevant shots', 'queries emptied', 'tau-b of the runs'],
            [[row.team, row.n_alone, row.n_emptied, row.tau] for row in self.without],
        )
        yield Heading('Each run without what only its own team returned')
        rows = []
        for run in self.runs:
            before = self.means[run][metric]
            after = self.without_own(run)[metric]
            rank = self._without_by_team[self.teams[run]].ranks[run]
            rows.append([run, self.teams[run], before, after, self.ranks[run], rank])
        yield Grid(['run', 'team', metric, 'without', 'rank', 'rank without'], rows)
        if self.bounds:
            yield from self._blocks_of_bounds(metric)
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _blocks_of_bounds(self, metric: str) -> Iterator[Block]:
        n_unjudged = self.counts['unjudged']
        n_pooled = self.counts['pool']
        yield Heading(
            'Bounds: what unjudged shots could change',
            f'{n_unjudged:,} of {n_pooled:,} shots of the pool, counted for each query',
        )
        rows: list[list[Any]] = []
        for run, bounds in self.bounds.items():
            column, share = list(bounds.judged.items())[-1]
            means = self.means[run][metric], bounds.low[metric], bounds.high[metric]
            rows.append([run, *means, share, bounds.n_unjudged])
        yield Grid(['run', metric, 'low', 'high', column, 'unjudged'], rows)
        if not (pairs := self.uncertain):
            return
        yield Heading('Orders that unjudged shots could turn', 'best runs first')
        listed = pairs[:MOST_LISTED_PAIRS]
        rows = [[*pair, *(self.means[run][metric] for run in pair)] for pair in listed]
        yield Grid(['run', 'other', metric, f'{metric} of the other'], rows)
        if len(pairs) > MOST_LISTED_PAIRS:
            yield f'… and {len(pairs) - MOST_LISTED_PAIRS:,} more\n'

    @property
    def scope(self) -> str:
        """Describe the ranks that the pool is made of."""
        depth = self.parameters['depth']
        if depth == ALL:
            return 'all ranks'
        return 'the first rank' if depth == 1 else f'the first {depth:,} ranks'

    @property
    def certainty(self) -> str:
        """Describe the labels over which bounds hold and orders are certain."""
        depth, K, near = (self.parameters[name] for name in ('depth', 'K', 'near'))
        others = f'names farther than {near:g} count' if near else 'others count'
        k = max(K, key=lambda k: depths([k]))
        n_pairs = len(self.uncertain) + len(self.certain)
        pairs = f'{len(self.certain):,} of {with_noun(n_pairs, "pair", "pairs")} of runs'
        orders = f', and the order of {pairs} is certain,' if n_pairs else ''
        below = ''
        if depths([depth]) < depths([k]):
            last = 'the last' if k == ALL else f'{k:,}'
            below = f'rank {k:,} and ' if depth + 1 == k else f'ranks {depth + 1:,} to {last} and '
        judged = [bounds.judged[judged_column(k)] for bounds in self.bounds.values()]
        shares = sorted(f'{share:.3f}' for share in judged if share is not None)
        ends = ' to '.join(dict.fromkeys([*shares[:1], *shares[-1:]]))
        return (
            f'Bounds hold{orders} for all labels of the unjudged shots in {self.scope}; {below}'
            f'{others} as not relevant' + (f'; {judged_column(k)} is {ends}' if ends else '')
        )

    @property
    def uncertain(self) -> list[tuple[str, str]]:
        """The pairs of runs, best first, whose order could turn; empty without judgements."""
        if not self.bounds:
            return []
        certain = {(order.better, order.worse) for order in self.certain}
        return [pair for pair in combinations(self.runs, 2) if pair not in certain]

    def _rows(self) -> Grid:
        """Return a row for each run by the whole reference, with bounds, then without each team."""
        references = [('', self.means, self.ranks)]
        references += [(result.team, result.means, result.ranks) for result in self.without]
        rows: list[dict[str, Any]] = []
        for without, means, ranks in references:
            for run in self.runs:
                row = {'without': without, 'run': run, 'team': self.teams[run], **means[run]}
                rows.append({**row, 'rank': ranks[run]})
        for row, run in zip(rows, self.runs if self.bounds else (), strict=False):
            bounds = self.bounds[run]
            for side, values in ('low', bounds.low), ('high', bounds.high):
                row |= {f'{side} {metric}': value for metric, value in values.items()}
            row |= {**bounds.judged, 'n_unjudged': bounds.n_unjudged}
        return Grid(list(rows[0]), [list(map(row.get, rows[0])) for row in rows])


class PoolPlot(Plot):
    """The figure of a pool, as an Altair chart; `Pool.plot` makes it.

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

        Each run has a point, a tick at its mean without the relevant shots that only its own team
        returned, and, with judgements, a bar over the means that unjudged shots could give it.

        Parameters
        ----------
        metric : str, optional
            One of the means, such as ``'MAP@10'``; by default the last.
        """
        from mediaeval_ap.render import figures

        pool = self._pool
        metrics = tuple(pool.means[pool.runs[0]])
        metric = metrics[-1] if metric is None else check_policy('metric', metric, metrics)
        bounds = [pool.bounds.get(run) for run in pool.runs]
        return figures.pool_leaderboard(
            pool.runs,
            [pool.means[run][metric] for run in pool.runs],
            [limits and limits.low[metric] for limits in bounds],
            [limits and limits.high[metric] for limits in bounds],
            [pool.without_own(run)[metric] for run in pool.runs],
            metric=metric,
        )


def _judged_share(bounds: Bounds) -> str:
    """Return Judged@k at the last cutoff as text to append, or '' if there is none."""
    column, share = list(bounds.judged.items())[-1]
    return '' if share is None else f', {column} {share:.3f}'
