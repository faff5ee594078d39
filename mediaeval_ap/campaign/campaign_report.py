"""`CampaignReport`: the runs of a campaign, compared and diagnosed, as one page."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from Levenshtein import distance, opcodes
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.comparison.comparison import Comparison
from mediaeval_ap.comparison.comparison_page import Paged, context_of, join_names, lead_of
from mediaeval_ap.comparison.comparison_plot import ComparisonPlot
from mediaeval_ap.definitions import Definition, check_cutoff
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import (
    DataWarning,
    Note,
    ParameterError,
    counted,
    printable,
    require,
    shown,
)
from mediaeval_ap.judging.pool import DIGITS, Pool, ranks_of
from mediaeval_ap.render.document import Document, Grid, Heading
from mediaeval_ap.render.formats import to_html
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import team_of

if TYPE_CHECKING:
    import altair

SCHEMA = 'mediaeval-ap/report/1'
HALF = 0.5  # of the letters
ANOTHER_PERSON = 'another person'  # the kind of name that a run has instead of the query
CONFUSED_AT_MOST = 150  # rows: the page stays small, and nobody reads more
SAID_BY_NOTES = ('score-above-one', 'without-relevant')  # notes count the same queries
Remark = tuple[str, int | None, int | None]  # what, queries, of how many


@dataclass(frozen=True, eq=False, repr=False)
class CampaignReport(Paged):
    """The runs of a campaign, compared and diagnosed; `AveragePrecision.report` makes it.

    Parameters
    ----------
    comparison : Comparison
        The comparison of the runs.
    diagnoses : dict of str to Diagnosis
        The diagnosis of each run.
    evaluations : dict of str to Evaluation
        The evaluation of each run, by its name.
    rankings : dict
        For each run, the first hypotheses of each query (at most ten) and the ranks of its hits,
        as numbers into lists of names, shots and videos.
    alternatives : dict of str to Alternatives
        The mean of each run at the last cutoff if each shot counted ``once``, and the ``least`` and
        ``greatest`` over all orders of ties.
    losses : dict
        For each run and metric, the mean of each part of the loss.
    warnings : tuple of DataWarning
        What was warned of.
    teams : dict of str to str
        The team of each run; by default its name up to the first ``_``.
    pool : Pool, optional
        The pool of the runs, where judgements were given.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
    >>> runs = ['samples/hypothesis.txt']
    >>> report = average_precision.report(runs, 'samples/queries.txt')
    >>> report.to_html()[:15]
    '<!doctype html>'
    """

    comparison: Comparison
    diagnoses: dict[str, Diagnosis]
    evaluations: dict[str, Evaluation]
    rankings: Mapping[str, Any]
    alternatives: Mapping[str, Alternatives]
    losses: Mapping[str, Mapping[str, Mapping[str, float]]]
    warnings: tuple[DataWarning, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    pool: Pool | None = None

    def __post_init__(self) -> None:
        teams = {run: self.teams.get(run) or team_of(run) for run in self.comparison.runs}
        object.__setattr__(self, 'teams', teams)  # of a frozen class

    @property
    def plot(self) -> CampaignPlot:
        """Figures: those of the comparison, ``loss()``, ``precision_recall()``, ``confused()``."""
        require('altair', 'report', 'plot')
        return CampaignPlot(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report, for JSON: the data of the page.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``title``, ``lead``, ``runs`` (best first),
            ``teams`` (of each run), ``metrics``, ``queries``, ``n_relevant``, ``values`` (of each
            metric, run and query), ``comparison``, ``loss`` (the mean parts of each run, at ``k``
            and at each metric), ``confused``, ``rankings`` (the
            top of each, and the ranks of hits), ``alternatives``, ``remarks`` (notes and warnings,
            by what they say), ``warnings`` and ``manifest``; with judgements, ``judged`` (Judged@k
            of each run) and ``pool`` (as `Pool.to_dict`).
        """
        compared = self._compared
        of_judged = {'judged': self._judged} if self._judged else {}
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'report',
            'title': f'{counted(len(self.comparison.runs), "run", "runs")} on {self._reference}',
            'lead': self._lead,
            'runs': self.comparison.runs,
            'teams': self.teams,
            'metrics': self.comparison.metrics,
            'queries': self.comparison.queries,
            'n_relevant': self._n_relevant,
            'values': {name: each.tolist() for name, each in self.comparison.values.items()},
            'comparison': compared,
            'loss': {
                'k': self._any_diagnosis.k,
                'runs': {run: self.diagnoses[run].mean_parts for run in self.comparison.runs},
                'metrics': self.losses,
            },
            'confused': self._confused,
            'rankings': self.rankings,
            'alternatives': {run: asdict(each) for run, each in self.alternatives.items()},
            'remarks': self._remarks,
            **of_judged,
            **({} if self.pool is None else {'pool': self.pool.to_dict()}),
            'warnings': list(dict.fromkeys(map(str, [*self.warnings, *self.comparison.warnings]))),
            'manifest': {**compared['manifest'], 'inputs': self._inputs},
        }

    def _repr_html_(self) -> str:
        metric = self.comparison.metrics[-1]
        rows = [
            [row['rank_interval'][0], row['run'], row['map']]
            for row in self._compared['leaderboard']
            if row['metric'] == metric
        ]
        standings = Grid(['rank', 'run', metric], rows)
        return to_html(Document(lambda: [Heading(self._lead['headline']), standings], dict))

    def __repr__(self) -> str:
        lead = self._lead
        headline = f'{type(self).__name__}: {lead["headline"]}'
        return '\n'.join([headline, *lead['sentences'], *lead['caveats']])

    @cached_property
    def _compared(self) -> dict[str, Any]:
        return self.comparison.to_dict()

    @cached_property
    def _lead(self) -> dict[str, Any]:
        comparison = self.comparison
        lead = lead_of(self._compared)
        n_queries = len(comparison.queries)
        n_without = self._n_relevant.count(0)
        if n_without == n_queries:
            return {**lead, 'caveats': []}
        metric = comparison.metrics[-1]
        board = [each for each in comparison.leaderboard if each.metric == metric]
        caveats = caveats_of(
            {each.run: each.map for each in board},
            self.alternatives,
            comparison.values[metric],
            metric,
            self._any_diagnosis.definition,
        )
        floor = caveat_of_floor(n_without, n_queries, board[0].floor)
        about_tests = [f'{warning}.' for warning in self.comparison.warnings]
        of_judged = [
            f'{warning.finding}.' for warning in self.warnings if warning.kind == 'uncertain-order'
        ]
        return {**lead, 'caveats': [*about_tests, *of_judged, *caveats, *floor]}

    @cached_property
    def _remarks(self) -> list[dict[str, Any]]:
        """Return notes and warnings, those of a kind together, each with its runs, best first."""
        runs_of: dict[str, dict[Remark, list[str]]] = defaultdict(lambda: defaultdict(list))
        for run in self.comparison.runs:
            evaluation = self.evaluations[run]
            diagnosis = self.diagnoses[run]
            notes = evaluation.notes
            notes += [each for each in diagnosis.notes if each not in diagnosis.evaluation.notes]
            source = printable(evaluation.source.name)
            notes += [
                warning.finding if warning.about == source else str(warning)
                for warning in evaluation.warnings
                if warning.kind not in SAID_BY_NOTES  # a name that is unknown is told by no note
            ]
            for remark in dict.fromkeys(map(_remark, notes)):
                runs_of[remark[0]][remark].append(run)
        for text in [*self.comparison.notes, *map(str, self.comparison.warnings)]:
            remark = _remark(text)
            runs_of[remark[0]][remark] = list(self.comparison.runs)
        return [
            {'what': what, 'runs': runs, 'queries': queries, 'of': n_queries}
            for of_kind in runs_of.values()
            for (what, queries, n_queries), runs in of_kind.items()
        ]

    @cached_property
    def _confused(self) -> list[dict[str, Any]]:
        return confused_of(self.diagnoses)

    @cached_property
    def _judged(self) -> dict[str, dict[str, float | None]]:
        """Return Judged@k of each run, by its name; nothing without judgements."""
        found = {run: self.evaluations[run].mean_judged for run in self.comparison.runs}
        return {run: shares for run, shares in found.items() if shares}

    @property
    def _any_diagnosis(self) -> Diagnosis:
        return self.diagnoses[self.comparison.runs[0]]

    @property
    def _any_evaluation(self) -> Evaluation:
        return self.evaluations[self.comparison.runs[0]]

    @property
    def _n_relevant(self) -> list[int]:
        """Return R of each query, in the order of the comparison."""
        queries = self._any_evaluation.queries
        n_relevant = self._any_evaluation.n_relevant.tolist()
        n_relevant_of = dict(zip(queries, n_relevant, strict=True))
        return [n_relevant_of[query] for query in self.comparison.queries]

    @property
    def _reference(self) -> str:
        path: str = self._inputs[0]['name']
        return os.path.basename(path)

    @cached_property
    def _inputs(self) -> list[dict[str, Any]]:
        """Return what was read: what all runs share first, then the runs, best first."""
        runs = self.comparison.runs
        shared = [
            (role, source)
            for role, source in self._any_evaluation.inputs.items()
            if role != Evaluation.run_role
        ]
        read = shared + [('run', self.evaluations[run].source) for run in runs]
        return [
            {'role': role, 'name': source.name, 'sha256': source.sha256} for role, source in read
        ]

    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        data = self.to_dict()
        figures = self.plot._on_page()
        evaluation = self._any_evaluation
        subset = 'none: all videos'
        if 'subset' in evaluation.inputs:
            n_videos = counted(evaluation.counts['subset_videos'], 'video', 'videos')
            subset = f'{n_videos} of {os.path.basename(evaluation.inputs["subset"].name)}'
        facts = {
            'AP definition': evaluation.definition.name,
            'Reference': self._reference,
            'Subset': subset,
        }
        data['figures'] = figures
        return data, {
            **context_of(data, self.comparison.caption(), facts),
            'n_relevant': self._n_relevant,
            'depth': self.rankings['depth'],
            'judged': self._judged,
            'pool': self.pool,
            'loss': self._loss(figures),
            'confused': [
                {**row, 'letters': marked_letters(row['query'], row['name'])}
                for row in self._confused[:CONFUSED_AT_MOST]
            ],
            'n_confused': len(self._confused),
            'definition': evaluation.definition.to_dict(),
            'near': f'{self._any_diagnosis.near:g}',
        }

    def _loss(self, figures: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean loss of each run at the last cutoff, by the parts that some run has."""
        metrics = self.comparison.metrics
        legends = [figures[f'loss {metric}']['legend'] for metric in metrics]
        colours = {entry['label']: entry['colour'] for legend in legends for entry in legend}
        titles = {part: part.replace('_', ' ') for part in PARTS}
        parts = [part for part, title in titles.items() if title in colours]
        rows = [row for row in self._compared['leaderboard'] if row['metric'] == metrics[-1]]
        lost = [[self.losses[row['run']][metrics[-1]][part] for part in parts] for row in rows]
        return {
            'parts': [
                (part, _upper(titles[part]), f'{_upper(PARTS[part])}.', colours[titles[part]])
                for part in parts
            ],
            'rows': [(row['run'], row['map'], each) for row, each in zip(rows, lost, strict=True)],
        }


class CampaignPlot(ComparisonPlot):
    """Figures of a report: those of its comparison, and of the diagnoses of all runs.

    Parameters
    ----------
    report : CampaignReport
        The report to draw.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    >>> report = average_precision.report({'mine': [('x', 'v', '1', 'ann', 0.5)]})
    >>> rows = report.plot.distribution().to_dict()['data']['values']
    >>> [(row['run'], row['class'], row['count']) for row in rows]
    [('mine', '1', 1)]
    """

    def __init__(self, report: CampaignReport) -> None:
        super().__init__(report.comparison)
        self._report = report
        self._teams = [report.teams[run] for run in self._runs]

    def loss(self, metric: str | None = None) -> altair.LayerChart:
        """Draw the parts of the loss of each run.

        Parameters
        ----------
        metric : str, optional
            One of the metrics; by default the loss at the cutoff of the diagnoses.

        Returns
        -------
        altair.LayerChart
            A bar for each run, of the parts that some run has.
        """
        means = [self._report.diagnoses[run].mean_parts for run in self._runs]
        if metric is not None:
            metric = self._metric(metric)
            means = [dict(self._report.losses[run][metric]) for run in self._runs]
        parts = [part for part in means[0] if any(mean[part] for mean in means)]
        columns = {part: [mean[part] for mean in means] for part in parts}
        chart: altair.LayerChart = self._figures.loss(self._runs, columns)
        return chart

    def precision_recall(self, query: str | None = None) -> altair.LayerChart:
        """Draw precision against recall at each relevant shot that a run returned for a query.

        Parameters
        ----------
        query : str, optional
            A query with a relevant shot; by default the first.

        Returns
        -------
        altair.LayerChart
            A line for each run.
        """
        queries = self._comparison.queries
        n_relevant = dict(zip(queries, self._report._n_relevant, strict=True))
        if query is None:
            query = next((each for each in queries if n_relevant[each]), queries[0])
        if not n_relevant.get(query):
            expected = 'expected a query of the report that has a relevant shot'
            raise ParameterError(f'precision_recall: found {shown(query)}, {expected}')
        number = queries.index(query)
        ranks = [list(accumulate(hits[number])) for hits in self._report.rankings['hits']]
        chart: altair.LayerChart = self._figures.precision_recall(
            self._runs, ranks, n_relevant[query], query
        )
        return chart

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the names of other people that were most often confused, over all runs.

        Parameters and what is returned are as of `DiagnosisPlot.confused`.
        """
        most = [row for row in self._report._confused if row['kind'] == ANOTHER_PERSON]
        most = most[: check_cutoff(n, 'n')]
        queries, names = ([row[field] for row in most] for field in ('query', 'name'))
        chart: altair.LayerChart = self._figures.confused(
            queries, names, [sum(row['counts'].values()) for row in most]
        )
        return chart

    def _on_page(self) -> dict[str, Any]:
        from mediaeval_ap.render.page import chart_for_page

        charts = {f'loss {each}': self.loss(each) for each in self._comparison.metrics}
        no_hits: list[list[int]] = [[] for _ in self._runs]
        charts['precision_recall'] = self._figures.precision_recall(self._runs, no_hits, 1)
        if self._report.pool is not None:
            charts['pool'] = self._report.pool.plot.leaderboard()
        return super()._on_page() | {name: chart_for_page(chart) for name, chart in charts.items()}


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Alternatives:
    """The mean that a run would have at the last cutoff if it were scored in another way.

    Parameters
    ----------
    once : float
        If a shot that is returned again were not relevant again.
    least, greatest : float or None
        Over all orders of hypotheses with equal distance and confidence, if this is known.
    """

    once: float
    least: float | None
    greatest: float | None

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Alternatives:
        """Return them from the diagnosis at the last cutoff."""
        once = math.fsum([*diagnosis.ap, *diagnosis.parts['repeats']]) / len(diagnosis.queries)
        ties = diagnosis.ties['equal_confidence'].means()
        return cls(once, ties['min'], ties['max'])

    def overlaps(self, lower: Alternatives) -> bool:
        """Return whether the order of ties can put a run that has a lower mean before this one."""
        ends = self.least, self.greatest, lower.least, lower.greatest
        if None in ends:
            return False
        least, greatest, other_least, other_greatest = (round(each or 0, DIGITS) for each in ends)
        return other_greatest >= least and (greatest > least or other_greatest > other_least)

    def range(self) -> str:
        least = f'{self.least:.3f}'
        greatest = f'{self.greatest:.3f}'
        return least if least == greatest else f'{least} to {greatest}'


def caveats_of(
    means: Mapping[str, float],
    alternatives: Mapping[str, Alternatives],
    values: NDArray[np.float64],
    metric: str,
    definition: Definition,
) -> list[str]:
    """Return what a reader has to know before relying on the order of the runs, best first.

    `values` are those of the last metric, of shape (n_runs, n_queries).
    """
    caveats = []
    once = {run: alternatives[run].once for run in means}
    n_above = int((values > 1).any(axis=0).sum())
    n_queries = values.shape[1]
    if definition.counts_again and (n_above or ranks_of(means) != ranks_of(once)):
        again = f'{definition} counts a shot again that is returned again'
        if n_above:
            queries = counted(n_queries, 'query has', 'queries have')
            again = f'{n_above:,} of {queries} an AP above 1 in some run, as {again}'
        caveats.append(f'{again}. {_if_once(means, once, metric)}')
    leader, *others = means
    its = alternatives[leader]
    if rivals := [run for run in others if its.overlaps(alternatives[run])]:
        first = rivals[0]
        more = f', as do those of {join_names(rivals[1:])}' if len(rivals) > 1 else ''
        caveats.append(
            'The order of ties can change the lead: over all orders of hypotheses with equal '
            f'distance and confidence, {leader} has {metric} {its.range()}, and {first} '
            f'{alternatives[first].range()}: these overlap{more}.'
        )
    return caveats


def _if_once(means: Mapping[str, float], once: Mapping[str, float], metric: str) -> str:
    """Say who would lead, and what the order would be, if each shot counted once."""
    begin = 'If each shot counted once,'
    (leaders, would_lead) = (
        [run for run, rank in ranks_of(each).items() if rank == 1] for each in (means, once)
    )
    first = would_lead[0]
    if len(means) == 1:
        return f'{begin} {metric} would be {once[first]:.3f}.'
    score = f'{metric} {once[first]:.3f}'
    if leaders != would_lead:
        beside = [run for run in leaders if run not in would_lead]
        against = f', and {beside[0]} would have {once[beside[0]]:.3f}' if beside else ''
        return f'{begin} {join_names(would_lead)} would lead: {score}{against}.'
    order = f'{join_names(leaders)} would still lead, but the order of the others would change'
    if ranks_of(means) == ranks_of(once):
        order = 'the order of the runs would be the same'
    return f'{begin} {order} ({first}: {score}).'


def caveat_of_floor(n_without: int, n_queries: int, floor: float | None) -> list[str]:
    """Return what queries without a relevant shot add to every run."""
    if not n_without:
        return []
    told = f'{n_without:,} of {counted(n_queries, "query has", "queries have")} no relevant shot'
    empty = '' if floor is None else f': an empty run has {floor:.3f}'
    return [f'{told}, and {"counts" if n_queries == 1 else "count"} the same in every run{empty}.']


def confused_of(diagnoses: Mapping[str, Diagnosis]) -> list[dict[str, Any]]:
    """Return names returned instead of queries, with the shots of each run, most shots first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run, diagnosis in diagnoses.items():
        for kind, names in (
            (ANOTHER_PERSON, diagnosis.confused),
            ('another spelling', diagnosis.near_misses),
        ):
            for each in names:
                if each.count:
                    new: dict[str, Any] = {'query': each.query, 'name': each.name, 'kind': kind}
                    new |= {'distance': each.distance, 'counts': {}}
                    counts = rows.setdefault((each.query, each.name), new)['counts']
                    counts[run] = counts.get(run, 0) + each.count
    ordered = sorted(rows.items(), key=lambda item: (-sum(item[1]['counts'].values()), item[0]))
    return [row for _, row in ordered]


def marked_letters(query: str, name: str) -> list[tuple[str, str]]:
    """Return a name in pieces: the same as in the query, lacking, or new; in one if too unlike."""
    if distance(query, name) > HALF * max(len(query), len(name)):
        return [('same', name)]
    pieces = []
    for kind_of_edit, begin, end, new_begin, new_end in opcodes(query, name):
        old = query[begin:end]
        if kind_of_edit == 'equal':
            pieces.append(('same', old))
            continue
        new = name[new_begin:new_end]
        pieces += [(kind, text) for kind, text in (('lacks', old), ('has', new)) if text]
    return pieces


def _remark(note: str) -> Remark:
    """Return a note without its numbers, and these, if they count queries."""
    if isinstance(note, Note) and note.unit == 'queries':
        return note.kind, note.number, note.of
    return note, None, None
