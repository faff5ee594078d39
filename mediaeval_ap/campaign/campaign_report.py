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

from Levenshtein import distance, opcodes

from mediaeval_ap.arrays import Floats
from mediaeval_ap.comparison.comparison import Comparison
from mediaeval_ap.comparison.comparison_page import Paged, context_of, join_names, lead_of, ranks
from mediaeval_ap.comparison.comparison_plot import ComparisonPlot
from mediaeval_ap.comparison.comparison_tables import requested_tables_on_page
from mediaeval_ap.definitions import Definition, check_cutoff
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import (
    DataWarning,
    Note,
    ParameterError,
    printable,
    require,
    shown,
    with_noun,
)
from mediaeval_ap.judging.pool import Pool
from mediaeval_ap.render.document import Document, Grid, Heading
from mediaeval_ap.render.formats import to_html
from mediaeval_ap.results.described import json_document
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.rounding import OWN_DECIMALS, competition_ranks
from mediaeval_ap.results.run_names import team_of

if TYPE_CHECKING:
    import altair

REPORT_SCHEMA = 'mediaeval-ap/report/1'
_Remark = tuple[str, int | None, int | None]  # its text, the queries it is about, all queries
MOST_DIFFERENT = 0.5  # share of letters; names that differ more are not marked
ANOTHER_PERSON = 'another person'  # a kind of names that runs return instead of queries
LEAST_POINTS = 3  # relevant shots of the query that is drawn first
MOST_CONFUSED_ROWS = 150  # the page stays small, and nobody reads more
WARNINGS_WITH_NOTES = ('score-above-one', 'without-relevant')  # notes count the same queries


@dataclass(frozen=True, eq=False, repr=False)
class CampaignReport(Paged):
    """The runs of a campaign, compared and diagnosed; `AveragePrecision.report` makes it.

    Parameters
    ----------
    comparison : Comparison
    diagnoses, evaluations : dict of str to Diagnosis, dict of str to Evaluation
        Those of each run, by its name.
    rankings : dict
        For each run, the first hypotheses of each query (at most ten) and the ranks of its hits,
        as indices of lists of names, shots and videos.
    alternatives : dict of str to Alternatives
        The mean of each run if each shot counted ``once``, and the bounds over orders of ties.
    losses : dict
        For each run and metric, the mean of each part of the loss.
    warnings : tuple of DataWarning
    teams : dict of str to str
        The team of each run; by default its name up to the first ``_``.
    pool : Pool, optional
        The pool of the runs, if there are judgements.
    missing : dict of str to str
        The error of each run that was left out, by its name.

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
    missing: Mapping[str, str] = field(default_factory=dict)
    _names_teams: bool = field(init=False)

    def __post_init__(self) -> None:
        teams = {run: self.teams.get(run) or team_of(run) for run in self.comparison.runs}
        object.__setattr__(self, '_names_teams', bool(self.teams))  # of a frozen class
        object.__setattr__(self, 'teams', teams)

    @property
    def plot(self) -> CampaignPlot:
        """All figures of the comparison, and ``loss()``, ``precision_recall()``, ``confused()``."""
        require('altair', 'report', 'plot')
        return CampaignPlot(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report, for JSON: the data of the page.

        Returns
        -------
        dict
            As the schema of reports has it.
        """
        comparison = self._comparison_dict
        judged = {'judged': self._judged} if self._judged else {}
        begin = f'{len(self.comparison.runs)} of ' if self.missing else ''
        all_runs = with_noun(len(self.comparison.runs) + len(self.missing), 'run', 'runs')
        return json_document(
            REPORT_SCHEMA,
            kind='report',
            title=f'{begin}{all_runs} on {self._reference}',
            lead=self._lead,
            runs=self.comparison.runs,
            teams=self.teams,
            metrics=self.comparison.metrics,
            queries=self.comparison.queries,
            n_relevant=self._n_relevant,
            values={metric: values.tolist() for metric, values in self.comparison.values.items()},
            comparison=comparison,
            loss={
                'k': self._any_diagnosis.k,
                'runs': {run: self.diagnoses[run].mean_parts for run in self.comparison.runs},
                'metrics': self.losses,
            },
            confused=self._confused,
            rankings=self.rankings,
            alternatives={run: asdict(means) for run, means in self.alternatives.items()},
            remarks=self._remarks,
            **judged,
            **({} if self.pool is None else {'pool': self.pool.to_dict()}),
            **({'missing': self.missing} if self.missing else {}),
            warnings=list(dict.fromkeys(map(str, [*self.warnings, *self.comparison.warnings]))),
            manifest={**comparison['manifest'], 'inputs': self._inputs},
        )

    def _repr_html_(self) -> str:
        metric = self.comparison.metrics[0]
        rows = [
            [ranks(row['rank_interval']), row['run'], row['map']]
            for row in self._comparison_dict['leaderboard']
            if row['metric'] == metric
        ]
        standings = Grid(['rank', 'run', metric], rows)
        return to_html(Document(lambda: [Heading(self._lead['headline']), standings], dict))

    def __repr__(self) -> str:
        lead = self._lead
        headline = f'{type(self).__name__}: {lead["headline"]}'
        return '\n'.join([headline, *lead['sentences'], *lead['caveats']])

    @cached_property
    def _comparison_dict(self) -> dict[str, Any]:
        return self.comparison.to_dict()

    @cached_property
    def _lead(self) -> dict[str, Any]:
        comparison = self.comparison
        lead = lead_of(self._comparison_dict, bool(self.missing))
        n_queries = len(comparison.queries)
        n_without = self._n_relevant.count(0)
        errors = ', '.join(f'{run} ({error})' for run, error in self.missing.items())
        n_missing = with_noun(len(self.missing), 'run is missing', 'runs are missing')
        about_missing = [f'{n_missing}: {errors}.'] if errors else []
        if n_without == n_queries:
            return {**lead, 'caveats': about_missing}
        metric = comparison.metrics[0]
        standings = [row for row in comparison.leaderboard if row.metric == metric]
        caveats = caveats_of(
            {standing.run: standing.map for standing in standings},
            self.alternatives,
            comparison.values[metric],
            metric,
            self._any_diagnosis.definition,
            **({} if self._has_names else {'tied': 'equal score'}),
        )
        floor = caveat_of_floor(n_without, n_queries, standings[0].floor)
        about_tests = [f'{warning}.' for warning in self.comparison.warnings]
        about_judgements = [
            f'{warning.finding}.' for warning in self.warnings if warning.kind == 'uncertain-order'
        ]
        caveats = [*about_missing, *about_tests, *about_judgements, *caveats, *floor]
        return {**lead, 'caveats': caveats}

    @cached_property
    def _remarks(self) -> list[dict[str, Any]]:
        """Return notes and warnings, grouped by their text, each with its runs, best first."""
        runs_by_text: dict[str, dict[_Remark, list[str]]] = defaultdict(lambda: defaultdict(list))
        for run in self.comparison.runs:
            evaluation = self.evaluations[run]
            diagnosis = self.diagnoses[run]
            notes = evaluation.notes
            notes += [note for note in diagnosis.notes if note not in diagnosis.evaluation.notes]
            source = printable(evaluation.source.name)
            notes += [
                warning.finding if warning.about == source else str(warning)
                for warning in evaluation.warnings
                if warning.kind not in WARNINGS_WITH_NOTES  # no note tells of an unknown name
            ]
            for remark in dict.fromkeys(map(_text_and_numbers, notes)):
                runs_by_text[remark[0]][remark].append(run)
        for note in [*self.comparison.notes, *map(str, self.comparison.warnings)]:
            if not any(text in note for text in runs_by_text):  # else told by run
                remark = _text_and_numbers(note)
                runs_by_text[remark[0]][remark] = list(self.comparison.runs)
        for run, error in self.missing.items():
            text = f'missing: {error}'
            runs_by_text[text][text, None, None] = [run]
        return [
            {'what': text, 'runs': runs, 'queries': n_special, 'of': n_queries}
            for runs_by_remark in runs_by_text.values()
            for (text, n_special, n_queries), runs in runs_by_remark.items()
        ]

    @cached_property
    def _confused(self) -> list[dict[str, Any]]:
        return confused_of(self.diagnoses)

    @cached_property
    def _judged(self) -> dict[str, dict[str, float | None]]:
        """Return Judged@k of each run, by its name; empty without judgements."""
        judged = {run: self.evaluations[run].mean_judged for run in self.comparison.runs}
        return {run: shares for run, shares in judged.items() if shares}

    @property
    def _any_diagnosis(self) -> Diagnosis:
        return self.diagnoses[self.comparison.runs[0]]

    @property
    def _has_names(self) -> bool:
        """False for topics of TREC."""
        return self._any_diagnosis._examined.criteria.has_names

    @property
    def _any_evaluation(self) -> Evaluation:
        return self.evaluations[self.comparison.runs[0]]

    @property
    def _n_relevant(self) -> list[int]:
        """Return R of each query, in the order of the comparison."""
        queries = self._any_evaluation.queries
        n_relevant = self._any_evaluation.n_relevant.tolist()
        n_relevant_by_query = dict(zip(queries, n_relevant, strict=True))
        return [n_relevant_by_query[query] for query in self.comparison.queries]

    @property
    def _first_query(self) -> int:
        """Return the number of the query that both best runs hit, with the largest difference."""
        values = self.comparison.values[self.comparison.metrics[0]]
        differences = abs(values[0] - values[min(1, len(values) - 1)])
        hits = zip(*self.rankings['hits'][:2], strict=True)
        both_hit = [number for number, steps in enumerate(hits) if all(steps)]
        n_relevant = self._n_relevant
        many = [number for number in both_hit if n_relevant[number] >= LEAST_POINTS]
        relevant = [number for number, n in enumerate(n_relevant) if n]
        return max(many or both_hit or relevant[:1] or [0], key=differences.__getitem__)

    @property
    def _reference(self) -> str:
        path: str = self._inputs[0]['name']
        return os.path.basename(path)

    @cached_property
    def _inputs(self) -> list[dict[str, Any]]:
        """Return the inputs: first the ones that all runs share, then the runs, best first."""
        shared = dict(self._any_evaluation.inputs)
        del shared[Evaluation.run_role]
        runs_read = [('run', self.evaluations[run].source) for run in self.comparison.runs]
        return [
            {'role': role, 'name': source.name, 'sha256': source.sha256}
            for role, source in [*shared.items(), *runs_read]
        ]

    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        data = self.to_dict()
        figures = self.plot._on_page()
        evaluation = self._any_evaluation
        subset = 'all videos' if self._has_names else ''
        if 'subset' in evaluation.inputs:
            n_videos = with_noun(evaluation.counts['subset_videos'], 'video', 'videos')
            subset = f'{n_videos} of {os.path.basename(evaluation.inputs["subset"].name)}'
        facts = {
            'AP definition': evaluation.definition.name,
            'Reference': self._reference,
            'Subset': subset,
        }
        data['figures'] = figures
        return data, {
            **context_of(data, self.comparison.caption(), facts),
            'has_names': self._has_names,
            'asked': list(requested_tables_on_page(self.comparison)),
            'missing': self.missing,
            'n_relevant': self._n_relevant,
            'depth': self.rankings['depth'],
            'teams': self.teams if self._names_teams else {},
            'first_query': self._first_query,
            'judged': self._judged,
            'pool': self.pool,
            'loss': self._loss(figures),
            'confused': [
                {**row, 'letters': marked_letters(row['query'], row['name'])}
                for row in self._confused[:MOST_CONFUSED_ROWS]
            ],
            'n_confused': len(self._confused),
            'definition': evaluation.definition.to_dict(),
            'near': f'{self._any_diagnosis.near:g}',
        }

    def _loss(self, figures: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean parts of each run's loss at the last cutoff; leave out parts always 0."""
        metrics = self.comparison.metrics
        legends = [figures[f'loss {metric}']['legend'] for metric in metrics]
        colours = {entry['label']: entry['colour'] for legend in legends for entry in legend}
        titles = {part: part.replace('_', ' ') for part in PARTS}
        parts = [part for part, title in titles.items() if title in colours]
        rows = [row for row in self._comparison_dict['leaderboard'] if row['metric'] == metrics[0]]
        losses = [[self.losses[row['run']][metrics[0]][part] for part in parts] for row in rows]
        meanings = [
            (part, _upper(titles[part]), f'{_upper(PARTS[part])}.', colours[titles[part]])
            for part in parts
        ]
        sums = list(map(math.fsum, zip(*losses, strict=True)))
        return {
            'parts': meanings,
            'largest': meanings[sums.index(max(sums))] if meanings else None,
            'rows': [
                (row['run'], row['map'], loss) for row, loss in zip(rows, losses, strict=True)
            ],
        }


class CampaignPlot(ComparisonPlot):
    """Figures of a report: all of its comparison, and some of the diagnoses of its runs.

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
        """Draw the parts of the loss of each run that are not 0 for all runs.

        Parameters
        ----------
        metric : str, optional
            One of the metrics; by default the loss at the cutoff of the diagnoses.
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
        """Draw precision against recall, which counts each shot once, at the hits of a query.

        Parameters
        ----------
        query : str, optional
            A query with a relevant shot; by default the one where the two best runs differ most, of
            those with at least three relevant shots for which both have a hit.
        """
        queries = self._comparison.queries
        n_relevant = dict(zip(queries, self._report._n_relevant, strict=True))
        if query is None:
            query = queries[self._report._first_query]
        if not n_relevant.get(query):
            expected = 'expected a query of the report that has a relevant shot'
            raise ParameterError(f'found {shown(query)}, {expected}', 'precision_recall')
        number = queries.index(query)
        ranks_of_hits, ranks_of_repeats = (
            [list(accumulate(steps[number])) for steps in self._report.rankings[column]]
            for column in ('hits', 'repeats')
        )
        chart: altair.LayerChart = self._figures.precision_recall(
            self._runs, ranks_of_hits, n_relevant[query], query, ranks_of_repeats
        )
        return chart

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the `n` names of other people that were most often confused, over all runs."""
        rows = [row for row in self._report._confused if row['kind'] == ANOTHER_PERSON]
        rows = rows[: check_cutoff(n, 'n')]
        chart: altair.LayerChart = self._figures.confused(
            [row['query'] for row in rows],
            [row['name'] for row in rows],
            [sum(row['counts'].values()) for row in rows],
            self._runs[0] if len(self._runs) == 1 else f'{len(self._runs)} runs',
        )
        return chart

    def _on_page(self) -> dict[str, Any]:
        from mediaeval_ap.render.page import chart_for_page

        charts = {f'loss {metric}': self.loss(metric) for metric in self._comparison.metrics}
        no_hits: list[list[int]] = [[] for _ in self._runs]
        charts['precision_recall'] = self._figures.precision_recall(self._runs, no_hits, 1)
        if self._report.pool is not None:
            charts['pool'] = self._report.pool.plot.leaderboard()
        return super()._on_page() | {name: chart_for_page(chart) for name, chart in charts.items()}


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Alternatives:
    """The means that a run would have at the last cutoff if it were scored in another way."""

    once: float  # MAP if each shot counted once
    # The bounds of MAP over all orders of hypotheses with equal distance and confidence, if known:
    least: float | None
    greatest: float | None

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Alternatives:
        """Compute the means from the diagnosis at the last cutoff."""
        once = math.fsum([*diagnosis.ap, *diagnosis.parts['repeats']]) / len(diagnosis.queries)
        ties = diagnosis.ties['equal_confidence'].means()
        return cls(once, ties['min'], ties['max'])

    def overlaps(self, lower: Alternatives) -> bool:
        """Return True if the order of ties can put a run with a lower mean before this one."""
        bounds = self.least, self.greatest, lower.least, lower.greatest
        if None in bounds:
            return False
        least, greatest, other_least, other_greatest = (
            round(end or 0, OWN_DECIMALS) for end in bounds
        )
        return other_greatest >= least and (greatest > least or other_greatest > other_least)

    def range(self) -> str:
        """Return the bounds as text, one number if they are the same."""
        least = f'{self.least:.3f}'
        greatest = f'{self.greatest:.3f}'
        return least if least == greatest else f'{least} to {greatest}'


def caveats_of(
    means: Mapping[str, float],
    alternatives: Mapping[str, Alternatives],
    values: Floats,
    metric: str,
    definition: Definition,
    *,
    tied: str = 'equal distance and confidence',
) -> list[str]:
    """Return the reasons to doubt the order of the runs, whose means are sorted, best first."""
    caveats = []
    once = {run: alternatives[run].once for run in means}
    n_above = int((values > 1).any(axis=0).sum())
    n_queries = values.shape[1]
    if definition.counts_again and (n_above or competition_ranks(means) != competition_ranks(once)):
        again = f'{definition} counts a repeated shot twice'
        if n_above:
            queries = with_noun(n_queries, 'query has', 'queries have')
            again = f'{n_above:,} of {queries} an AP above 1 in some run: {again}'
        caveats.append(f'{again}. {_lead_if_once(means, once, metric)}')
    leader, *followers = means
    bounds = alternatives[leader]
    if rivals := [run for run in followers if bounds.overlaps(alternatives[run])]:
        rival = rivals[0]
        more = f', as do those of {join_names(rivals[1:])}' if len(rivals) > 1 else ''
        caveats.append(
            f'Ties can change the lead: over all orders of hypotheses with {tied}, {leader} has '
            f'{metric} {bounds.range()}, and {rival} {alternatives[rival].range()}; '
            f'these overlap{more}.'
        )
    return caveats


def _lead_if_once(means: Mapping[str, float], once: Mapping[str, float], metric: str) -> str:
    """Describe the lead and the order of the runs if each shot counted once."""
    begin = 'If each shot counted once,'
    leaders = [run for run, rank in competition_ranks(means).items() if rank == 1]
    leaders_if_once = [run for run, rank in competition_ranks(once).items() if rank == 1]
    first = leaders_if_once[0]
    if len(means) == 1:
        return f'{begin} {metric} would be {once[first]:.3f}.'
    score = f'{metric} {once[first]:.3f}'
    if leaders != leaders_if_once:
        overtaken = [run for run in leaders if run not in leaders_if_once]
        against = f', and {overtaken[0]} would have {once[overtaken[0]]:.3f}' if overtaken else ''
        return f'{begin} {join_names(leaders_if_once)} would lead: {score}{against}.'
    order = f'{join_names(leaders)} would still lead, but the order of the others would change'
    if competition_ranks(means) == competition_ranks(once):
        order = 'the order of the runs would be the same'
    return f'{begin} {order} ({first}: {score}).'


def caveat_of_floor(n_without: int, n_queries: int, floor: float | None) -> list[str]:
    """Return a sentence on the MAP that queries without a relevant shot add to every run."""
    if not n_without:
        return []
    queries = with_noun(n_queries, 'query has', 'queries have')
    verb = 'scores' if n_queries == 1 else 'score'
    empty_run = '' if floor is None else f': an empty run has {floor:.3f}'
    finding = f'{n_without:,} of {queries} nothing relevant'
    return [f'{finding} and {verb} the same in every run{empty_run}.']


def confused_of(diagnoses: Mapping[str, Diagnosis]) -> list[dict[str, Any]]:
    """Return names that runs return instead of queries, those with most shots first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run, diagnosis in diagnoses.items():
        for kind, names in (
            (ANOTHER_PERSON, diagnosis.confused),
            ('another spelling', diagnosis.near_misses),
        ):
            for lost in names:
                if lost.count:
                    row: dict[str, Any] = {'query': lost.query, 'name': lost.name, 'kind': kind}
                    row |= {'distance': lost.distance, 'counts': {}}
                    counts = rows.setdefault((lost.query, lost.name), row)['counts']
                    counts[run] = counts.get(run, 0) + lost.count
    ordered = sorted(rows.items(), key=lambda item: (-sum(item[1]['counts'].values()), item[0]))
    return [row for _, row in ordered]


def marked_letters(query: str, name: str) -> list[tuple[str, str]]:
    """Split a name into pieces marked 'same', 'lacks' or 'has', as compared with the query.

    A name that differs in too many letters is one piece.

    >>> marked_letters('jon', 'joan')
    [('same', 'jo'), ('has', 'a'), ('same', 'n')]
    """
    if distance(query, name) > MOST_DIFFERENT * max(len(query), len(name)):
        return [('same', name)]
    pieces = []
    for edit, begin, end, name_begin, name_end in opcodes(query, name):
        query_letters = query[begin:end]
        if edit == 'equal':
            pieces.append(('same', query_letters))
            continue
        marked = ('lacks', query_letters), ('has', name[name_begin:name_end])
        pieces += [(mark, letters) for mark, letters in marked if letters]
    return pieces


def _text_and_numbers(note: str) -> _Remark:
    if isinstance(note, Note) and note.unit == 'queries':
        return note.kind, note.number, note.of
    return note, None, None
