"""`CampaignReport`: the runs of a campaign, compared and diagnosed, as one page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.campaign import sections
from mediaeval_ap.campaign.caveats import Alternatives, caveat_of_floor, caveats_of
from mediaeval_ap.campaign.lead import lead_of, percent
from mediaeval_ap.campaign.remarks import remarks_of
from mediaeval_ap.comparison.comparison import words_of_test
from mediaeval_ap.definitions import ALL
from mediaeval_ap.errors import DataWarning, require
from mediaeval_ap.render.document import Document, Grid, Heading, counted
from mediaeval_ap.render.formats import to_html
from mediaeval_ap.results.evaluation import Evaluation

if TYPE_CHECKING:
    from mediaeval_ap.campaign.plot import CampaignPlot
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis

SCHEMA = 'mediaeval-ap/report/1'
SECTIONS = [
    ('leaderboard', 'Leaderboard'),
    ('loss', 'Loss'),
    ('cutoffs', 'Cutoffs'),
    ('two-runs', 'Two runs'),
    ('distribution', 'Distribution'),
    ('query', 'One query'),
    ('confused', 'Confused names'),
    ('queries', 'Every query'),
    ('about', 'About'),
]


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
    warnings : tuple of DataWarning
        What was warned of.

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
    warnings: tuple[DataWarning, ...] = ()

    @property
    def plot(self) -> CampaignPlot:
        """Figures: those of the comparison, ``loss()``, ``precision_recall()``, ``confused()``."""
        require('altair', 'report', 'plot')
        from mediaeval_ap.campaign.plot import CampaignPlot

        return CampaignPlot(self.comparison, self.diagnoses, self.rankings)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the report as one self-contained page, or write it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all.

        Returns
        -------
        str or None
            The page; None if it is written to a file.

        Raises
        ------
        WriteError
            When the file cannot be written.
        MissingExtraError
            When the extra ``report`` is not installed.

        Notes
        -----
        Equal inputs give equal bytes. The page asks no other site for anything.
        """
        from mediaeval_ap.render.page import javascript_bundle, page

        figures = self.plot.on_page()
        text = page(
            'campaign.html.j2',
            title=self._title,
            data={**self.to_dict(), 'figures': figures},
            bundle=javascript_bundle(),
            scripts=('campaign.js',),
            **self._context(figures),
        )
        if path is None:
            return text
        write_whole(path, text)
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the report, for JSON: the data of the page.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``title``, ``lead``, ``runs`` (best first),
            ``metrics``, ``queries``, ``n_relevant``, ``values`` (of each metric, run and query),
            ``comparison``, ``loss`` (the mean parts of each run), ``confused``, ``rankings`` (the
            top of each, and the ranks of hits), ``alternatives``, ``remarks`` (notes and warnings,
            by what they say), ``warnings`` and ``manifest``.
        """
        compared = self._compared
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'report',
            'title': self._title,
            'lead': self._lead,
            'runs': self.comparison.runs,
            'metrics': self.comparison.metrics,
            'queries': self.comparison.queries,
            'n_relevant': self._n_relevant,
            'values': {name: each.tolist() for name, each in self.comparison.values.items()},
            'comparison': compared,
            'loss': {
                'k': self._any_diagnosis.k,
                'runs': {run: self.diagnoses[run].mean_parts for run in self.comparison.runs},
            },
            'confused': self._confused,
            'rankings': self.rankings,
            'alternatives': {run: asdict(each) for run, each in self.alternatives.items()},
            'remarks': self._remarks,
            'warnings': self._warned,
            'manifest': {**compared['manifest'], 'inputs': self._inputs},
        }

    def _repr_html_(self) -> str:
        return to_html(Document(lambda: [Heading(self._lead['headline']), self._standings], dict))

    def __repr__(self) -> str:
        lead = self._lead
        return '\n'.join(
            [f'{type(self).__name__}: {lead["headline"]}', *lead['sentences'], *lead['caveats']]
        )

    @property
    def _warned(self) -> list[str]:
        """Return all that was warned of, each once."""
        return list(dict.fromkeys(map(str, [*self.warnings, *self.comparison.warnings])))

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
        return {**lead, 'caveats': [*caveats, *floor]}

    @cached_property
    def _remarks(self) -> list[dict[str, Any]]:
        return remarks_of(self.comparison, self.evaluations, self.diagnoses)

    @cached_property
    def _confused(self) -> list[dict[str, Any]]:
        return sections.confused_of(self.diagnoses)

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

    @cached_property
    def _inputs(self) -> list[dict[str, Any]]:
        """Return what was read: what all runs share first, then the runs, best first."""
        runs = self.comparison.runs
        shared = [
            (role, source)
            for role, source in self.evaluations[runs[0]].inputs.items()
            if role != Evaluation.RUN
        ]
        read = shared + [('run', self.evaluations[run].inputs[Evaluation.RUN]) for run in runs]
        return [
            {'role': role, 'name': source.name, 'sha256': source.sha256} for role, source in read
        ]

    @property
    def _standings(self) -> Grid:
        metric = self.comparison.metrics[-1]
        rows = [row for row in self._compared['leaderboard'] if row['metric'] == metric]
        return Grid(
            ['rank', 'run', metric], [[row['rank'], row['run'], row['map']] for row in rows]
        )

    def _context(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Return what the template shows."""
        comparison, compared = self.comparison, self._compared
        last, runs = comparison.metrics[-1], comparison.runs
        parameters, evaluation = compared['manifest']['parameters'], self.evaluations[runs[0]]
        standings = compared['leaderboard']
        k, queries = self._any_diagnosis.k, comparison.queries
        return {
            'lead': self._lead,
            'facts': sections.facts_of(
                len(runs), len(queries), evaluation.definition.name, self._inputs[0]['name']
            ),
            'sections': [each for each in SECTIONS if self._has(each[0])],
            'runs': runs,
            'metrics': comparison.metrics,
            'level': percent(parameters['level']),
            'correction': parameters['correction'],
            'test': words_of_test(parameters['correction']),
            'by_video': parameters['cluster'] == 'video',
            'exploratory': f' (exploratory: claims are about {last})',
            'baseline': parameters['baseline'],
            'depth': self.rankings['depth'],
            'has_floor': any(row['floor'] for row in standings),
            'boards': sections.boards_of(compared),
            'caption': comparison.caption(),
            'pairs': [pair for pair in compared['pairs'] if pair['metric'] == last],
            'orders': compared['orders'],
            'loss': sections.loss_of(
                k, 'MAP' if k == ALL else f'MAP@{k}', self.diagnoses, runs, figures['loss']
            ),
            'bins': sections.distribution_of(figures, comparison.metrics, runs),
            'confused': [
                {**row, 'letters': sections.marked_letters(row['query'], row['name'])}
                for row in self._confused[: sections.CONFUSED_AT_MOST]
            ],
            'n_confused': len(self._confused),
            'queries': sections.queries_of(queries, self._n_relevant, comparison.values[last]),
            'definition': sections.definition_of(evaluation.definition),
            'procedure': [comparison.caption(), *sections.procedure_of(self._any_diagnosis.near)],
            'remarks': [list(each) for _, each in groupby(self._remarks, itemgetter('what'))],
            'inputs': self._inputs,
        }

    def _has(self, section: str) -> bool:
        needs = {'cutoffs': self.comparison.metrics, 'two-runs': self.comparison.runs}
        return len(needs.get(section, '12')) > 1
