"""`CampaignReport`: the runs of a campaign, compared and diagnosed, as one page."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from Levenshtein import distance, opcodes

from mediaeval_ap import __version__
from mediaeval_ap.campaign.headline import (
    Alternatives,
    caveat_of_floor,
    caveats_of,
    lead_of,
    percent,
)
from mediaeval_ap.choices import TEXT, alpha_of, is_text
from mediaeval_ap.comparison.comparison import words_of_test
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    ScoreAboveOneWarning,
    UncertainOrderWarning,
    WithoutRelevantWarning,
    counted,
    printable,
    require,
    shown,
)
from mediaeval_ap.progress import step
from mediaeval_ap.render.document import Document, Grid, Heading
from mediaeval_ap.render.formats import to_html
from mediaeval_ap.results.described import returned_or_written
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import counted_note
from mediaeval_ap.results.run_names import team_of

if TYPE_CHECKING:
    from mediaeval_ap.campaign.campaign_plot import CampaignPlot
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis
    from mediaeval_ap.judging.pool import Pool

SCHEMA = 'mediaeval-ap/report/1'
HALF = 0.5  # of the letters
CONFUSED_AT_MOST = 150  # rows: the page stays small, and nobody reads more
SAID_BY_NOTES = (ScoreAboveOneWarning, WithoutRelevantWarning)  # notes count the same queries
Remark = tuple[str, int | None, int | None]  # what, queries, of how many


@dataclass(frozen=True, eq=False, repr=False)
class CampaignReport:
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
        from mediaeval_ap.campaign.campaign_plot import CampaignPlot

        return CampaignPlot(self.comparison, self.diagnoses, self.rankings, self.losses, self.teams)

    @step('drawing the page')
    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        intro: str = '',
        links: Mapping[str, str] | None = None,
    ) -> str | None:
        """Return the report as one self-contained page, or write it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all.
        title : str, optional
            The title; by default the number of runs, and the reference.
        intro : str
            Markdown that stands below the title, without pictures; HTML in it is shown as text.
        links : mapping of str to str, optional
            Addresses by the text of their link: of http, https or mailto, as those in `intro`.

        Returns
        -------
        str or None
            The page; None if it is written to a file.

        Raises
        ------
        ParameterError
            When the title is no text on one line, or a link is no such address.
        WriteError
            When the file cannot be written.
        MissingExtraError
            When the extra ``report`` is not installed.

        Notes
        -----
        Equal inputs give equal bytes. The page asks no other site for anything.
        """
        from mediaeval_ap.render.page import checked_links, javascript_bundle, on_page, page, prose

        if title is not None and not is_text(title):
            raise ParameterError(f'title: found {shown(title)}, expected {TEXT}')
        data = self.to_dict() | ({} if title is None else {'title': title})
        figures = self.plot._on_page()
        if self.pool is not None:
            figures['pool'] = on_page(self.pool.plot.leaderboard())
        text: str = page(
            'campaign.html.j2',
            title=data['title'],
            intro=prose(intro),
            links=checked_links(links or {}),
            data={**data, 'figures': figures},
            bundle=javascript_bundle(),
            scripts=('campaign.js',),
            **self._context(figures),
        )
        return returned_or_written(text, path)

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
            'title': self._title,
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
        comparison, lead = self.comparison, lead_of(self._compared)
        n_queries, n_without = len(comparison.queries), self._n_relevant.count(0)
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
            f'{str(warning).removeprefix(f"{self._reference}: ")}.'
            for warning in self.warnings
            if isinstance(warning, UncertainOrderWarning)
        ]
        return {**lead, 'caveats': [*about_tests, *of_judged, *caveats, *floor]}

    @cached_property
    def _remarks(self) -> list[dict[str, Any]]:
        """Return notes and warnings, with the runs of which each is true, best first.

        Entries of one kind stand together. What is about the comparison is about all runs.
        """
        runs_of: dict[str, dict[Remark, list[str]]] = defaultdict(lambda: defaultdict(list))
        for run in self.comparison.runs:
            evaluation, diagnosis = self.evaluations[run], self.diagnoses[run]
            notes = evaluation.notes
            notes += [each for each in diagnosis.notes if each not in diagnosis.evaluation.notes]
            source = printable(evaluation._source.name)
            notes += [
                str(warning).removeprefix(f'{source}: ')
                for warning in evaluation.warnings
                if type(warning) not in SAID_BY_NOTES  # a name that is unknown is told by no note
            ]
            for remark in dict.fromkeys(map(counted_note, notes)):
                runs_of[remark[0]][remark].append(run)
        for text in [*self.comparison.notes, *map(str, self.comparison.warnings)]:
            remark = counted_note(text)
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
    def _reference(self) -> str:
        return printable(self.evaluations[self.comparison.runs[0]].inputs['reference'].name)

    @property
    def _any_diagnosis(self) -> Diagnosis:
        return self.diagnoses[self.comparison.runs[0]]

    @property
    def _n_relevant(self) -> list[int]:
        """Return R of each query, in the order of the comparison."""
        evaluation = self.evaluations[self.comparison.runs[0]]
        n_relevant = dict(zip(evaluation.queries, evaluation.n_relevant.tolist(), strict=True))
        return [n_relevant[query] for query in self.comparison.queries]

    @property
    def _title(self) -> str:
        reference = os.path.basename(self._inputs[0]['name'])
        return f'{counted(len(self.comparison.runs), "run", "runs")} on {reference}'

    @property
    def _subset(self) -> str:
        evaluation = self.evaluations[self.comparison.runs[0]]
        if 'subset' not in evaluation.inputs:
            return 'none: all videos'
        n_videos = counted(evaluation.counts['subset_videos'], 'video', 'videos')
        return f'{n_videos} of {os.path.basename(evaluation.inputs["subset"].name)}'

    @cached_property
    def _inputs(self) -> list[dict[str, Any]]:
        """Return what was read: what all runs share first, then the runs, best first."""
        runs = self.comparison.runs
        shared = [
            (role, source)
            for role, source in self.evaluations[runs[0]].inputs.items()
            if role != Evaluation._RUN
        ]
        read = shared + [('run', self.evaluations[run]._source) for run in runs]
        return [
            {'role': role, 'name': source.name, 'sha256': source.sha256} for role, source in read
        ]

    def _context(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Return what the template shows."""
        comparison, compared = self.comparison, self._compared
        last, runs = comparison.metrics[-1], comparison.runs
        parameters = compared['manifest']['parameters']
        queries = zip(
            comparison.queries, self._n_relevant, comparison.values[last].T.tolist(), strict=True
        )
        return {
            'lead': self._lead,
            'reference': os.path.basename(self._inputs[0]['name']),
            'subset': self._subset,
            'runs': runs,
            'teams': self.teams,
            'metrics': comparison.metrics,
            'level': percent(parameters['level']),
            'correction': parameters['correction'],
            'test': words_of_test(parameters['correction']),
            'by_video': parameters['cluster'] == 'video',
            'baseline': parameters['baseline'],
            'depth': self.rankings['depth'],
            'has_floor': any(row['floor'] for row in compared['leaderboard']),
            'boards': boards_of(compared),
            'judged': self._judged,
            'pool': self.pool,
            'caption': comparison.caption(),
            'pairs': [pair for pair in compared['pairs'] if pair['metric'] == last],
            'orders': compared['orders'],
            'loss': self._loss(figures),
            'bins': _distribution(figures, comparison.metrics, runs),
            'confused': [
                {**row, 'letters': marked_letters(row['query'], row['name'])}
                for row in self._confused[:CONFUSED_AT_MOST]
            ],
            'n_confused': len(self._confused),
            'queries': list(queries),
            'definition': self.evaluations[runs[0]].definition.to_dict(),
            'near': f'{self._any_diagnosis.near:g}',
            'remarks': [list(each) for _, each in groupby(self._remarks, itemgetter('what'))],
            'inputs': self._inputs,
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


def boards_of(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a leaderboard for each metric, the last one first.

    Beside a run stand the runs that it is not told apart from, and the positions of its interval.
    """
    boards = []
    alpha = alpha_of(comparison['manifest']['parameters']['level'])
    for metric in comparison['metrics'][::-1]:
        rows = [row for row in comparison['leaderboard'] if row['metric'] == metric]
        alike: dict[str, list[str]] = {row['run']: [] for row in rows}
        for pair in comparison['pairs']:  # best first
            if pair['metric'] == metric and pair['p_adjusted'] > alpha:
                alike[pair['a']].append(pair['b'])
                alike[pair['b']].append(pair['a'])
        numbers = [
            {'map': row['map'], 'floor': row['floor']}
            | {name: row['interval'][name] for name in ('low', 'high')}
            for row in rows
        ]
        known = [value for each in numbers for value in each.values() if value is not None]
        low = math.floor(min(known) * 20) / 20
        high = max(math.ceil(max(known) * 20) / 20, low + 0.05)
        at = [  # in percent of the width of the figure
            {
                name: None if value is None else f'{100 * (value - low) / (high - low):.1f}%'
                for name, value in each.items()
            }
            for each in numbers
        ]
        boards.append(
            {
                'metric': metric,
                'low': low,
                'high': high,
                'floor': rows[0]['floor'],
                'rows': [
                    row | {'at': each, 'alike': alike[row['run']]}
                    for row, each in zip(rows, at, strict=True)
                ],
            }
        )
    return boards


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _distribution(
    figures: Mapping[str, Mapping[str, Any]], metrics: Sequence[str], runs: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of the last distribution as a table with the classes of all of them."""
    of_metrics = [figures[f'distribution {metric}'] for metric in metrics]
    classes = [entry['label'] for entry in max((each['legend'] for each in of_metrics), key=len)]
    values = of_metrics[-1]['spec']['data']['values']
    counts = {(row['run'], row['class']): row['count'] for row in values}
    rows = [(run, [counts.get((run, each), 0) for each in classes]) for run in runs]
    return {'headers': classes, 'rows': rows}


def confused_of(diagnoses: Mapping[str, Diagnosis]) -> list[dict[str, Any]]:
    """Return names returned instead of queries, with the shots of each run, most shots first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run, diagnosis in diagnoses.items():
        for kind, names in (
            ('another person', diagnosis.confused),
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
    """Return a name in pieces: the same as in the query, lacking from it, or new.

    A name that is more unlike the query than like it stays in one piece.
    """
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
