"""`compare`: which runs differ, and how sure that is, as a `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mediaeval_ap import __version__, choices
from mediaeval_ap.choices import GROUPINGS, check_policy, plain_text
from mediaeval_ap.comparison.comparable_runs import (
    Runs,
    VideosOfQueries,
    agreements,
    cluster_numbers,
    group_means,
    read_runs,
)
from mediaeval_ap.comparison.comparison_page import Paged, context_of, lead_of, percent
from mediaeval_ap.comparison.comparison_plot import ComparisonPlot
from mediaeval_ap.comparison.comparison_tables import (
    TABLES,
    ComparisonData,
    blocks_for_papers,
    blocks_for_people,
    caption_of,
    grid_of,
    requested_tables_on_page,
)
from mediaeval_ap.comparison.item_groups import groups_in_file
from mediaeval_ap.comparison.score_tables import read_scores, tables_in
from mediaeval_ap.comparison.testing import (
    Settings,
    check_run,
    checked_settings,
    names_of_units,
    powers,
    terms_of,
    tests_of,
    verdicts_of,
)
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    counted,
    printable,
    require,
    shown,
    warn_caller,
)
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import short
from mediaeval_ap.results.result import SKIPPED, Described, Result, note_of_floor
from mediaeval_ap.tables import STANDARD_INPUT, Provenance
from mediaeval_ap.tables.table import Frame, Rows

if TYPE_CHECKING:
    import pandas

TableName: TypeAlias = Literal['leaderboard', 'pairs', 'orders', 'by', 'power', 'verdicts']
COMPARISON_SCHEMA = 'mediaeval-ap/comparison/2'
RUNS_IN_REPR = 10
# Videos that are clusters by default. With fewer, intervals over videos were simulated to be much
# wider than over queries (docs/comparison.md).
LEAST_VIDEOS = 50
# Clusters in effect, and the share of one: beyond, intervals were simulated to cover 84 to 92 %.
LEAST_CLUSTERS = 30
LARGEST_SHARE = 0.1


@shows_progress
def compare(
    results: Frame | Iterable[Result | Frame] | Mapping[str, Result | Sequence[Result] | Frame],
    *,
    baseline: str | None = None,
    correction: choices.Correction = 'holm',
    level: float = choices.LEVEL,
    cluster: choices.Cluster | None = None,
    by: choices.Grouping | Frame | None = None,
    reference: Rows | None = None,
    subset: Rows | None = None,
    also: Mapping[str, Iterable[Result] | Mapping[str, Result | Sequence[Result]]] | None = None,
    power: float | None = None,
    fail_if_worse: float | None = None,
    require_better: bool = False,
    columns: Mapping[str, str] | None = None,
    systems: Sequence[str] | None = None,
    missing: choices.Missing = 'error',
    range: tuple[float, float] | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare runs on the same queries: intervals, tests of all pairs, ranks, groups.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same queries, definition and reference. The keys of a mapping
        name the runs. One run has intervals, but no pairs. Scores at several cutoffs are a list, or
        share the name of their run. Or score tables, whose items count as queries and whose systems
        as runs: a path or a frame, several of them, or a mapping. They have ``item,system,value``,
        ``item,value``, or ``item`` and a column for each system, and perhaps ``cluster``.
    baseline : str, optional
        The run to compare all others with on the leaderboard.
    correction : {'holm', 'bh'}
        The correction of p for many comparisons: Holm, or Benjamini and Hochberg (false discovery
        rate). Each metric is a family of its own: all pairs, for letters
        and intervals of ranks, and all comparisons with the baseline. Of several metrics, the
        first measure, or else the last cutoff, is what is claimed; the others are exploratory.
    level : float
        Level of confidence of the intervals, between 0 and 1. Runs whose corrected p is above
        1 - level share a letter.
    cluster : {'video', 'none'}, optional
        What is tested as one: all queries of a video together, or single queries. The
        video of a query is the one with most of its relevant shots, of equal ones the first; a
        query without relevant shots is a cluster of its own. By default videos where a reference
        is given and the queries are of at least 50, the clusters of a score table, else queries.
    by : {'corpus', 'relevant'} or str, path-like or DataFrame, optional
        Add means by corpus, by the number of relevant shots, or by the groups of a table of
        ``item,group``; in score tables also by a column of this name.
    reference, subset : as of `AveragePrecision`, optional
        What the runs were scored against, for clusters and means by corpus.
    also : mapping from str to results, optional
        The same runs under other definitions, by name: adds Kendall's tau-b between the orders.
    power : float, optional
        Say for each pair how many queries, or clusters, would tell such a difference at 80 %.
    fail_if_worse : float, optional
        Give each run a verdict: it is worse where the interval of its difference to the baseline
        lies below minus this.
    require_better : bool
        Give each run a verdict: it is not better unless this interval lies above 0.
    columns : mapping of str to str, optional
        Other names of the columns of score tables: of ``'item'``, ``'system'``, ``'value'`` and
        ``'cluster'``.
    systems : sequence of str, optional
        The systems of score tables to compare; in tables with a column for each, other columns are
        passed over. By default all.
    missing : {'error', 'zero', 'skip'}
        In score tables, an item that some system lacks is an error, counts 0, or is left out.
    range : pair of float, optional
        The least and the largest value of score tables, which plus2 depends on; by default 0 and 1
        if all values are within, else those found.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    Comparison
        Leaderboard, pairs, agreement of orders, means by group.

    Raises
    ------
    ParameterError, ReadError, FormatError
        When runs cannot be compared, a run is there twice, or an argument is not valid; when a
        table cannot be read.
    MissingExtraError
        When the extra ``compare`` is not installed.

    Warns
    -----
    DataWarning
        When one cluster holds more than a tenth of all queries, or clusters are fewer than 30 in
        effect; when no data on so few queries, or clusters, could give a verdict.

    Notes
    -----
    p is that of paired sign flips, two-sided, of which all patterns are counted (Pagano and
    Tritchler, 1983; Streitberg and Röhmel, 1986): exact for up to 20 differences, and for more
    that are multiples of a common step; else amounts are rounded to a grid, and of more than 128
    the sum of the smaller ones is taken as normal. With clusters, p and intervals are of clusters,
    but wins, ties, losses and dz of queries. The order of runs and queries changes nothing.

    Intervals of means are Hesterberg's (2015) expanded ABC (DiCiccio and Efron, 1992), within the
    range of the metric. Intervals of differences are Student's t after a difference of +m and one
    of -m are appended (Bonett and Price, 2012): m is the range, 1 for AP, or that of the values of
    the two systems where none is known. Fewer than 5 queries, or clusters, have no interval.

    lwlrap is a mean over labels: a query is a cluster of its labels.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> results = {'all': evaluate(right), 'few': evaluate(right[:6])}
    >>> comparison = compare(results)
    >>> comparison.pairs[0].difference, comparison.pairs[0].p < 0.05
    (0.9, True)
    """
    settings = checked_settings(
        baseline=baseline,
        correction=correction,
        level=level,
        cluster=cluster,
        by=by,
        power=power,
        fail_if_worse=fail_if_worse,
        require_better=require_better,
    )
    named_by = plain_text(by)
    if (tables := tables_in(results)) is None:
        runs = read_runs(results)
        if columns is not None or systems is not None or range is not None or missing != 'error':
            named = 'columns, systems, range, missing'
            raise ParameterError(f'{named}: found results, expected score tables')
    else:
        runs = read_scores(tables, columns, missing, range, named_by, systems)
    if runs.no_mean and by is not None:
        found = f'found {shown(named_by or by)} for {runs.metrics[0]}, expected none'
        raise ParameterError(f'by: {found}: {runs.no_mean}')
    given, source = _groups(runs, by, named_by)
    settings = replace(settings, by=source.name if source else named_by, range=runs.range)
    _check_baseline(settings, runs)
    is_known = reference is not None and runs.has_videos
    is_by_corpus = given is None and named_by == 'corpus'
    videos = None
    if is_by_corpus or cluster == 'video' or (cluster is None and is_known):
        videos = VideosOfQueries(runs, 'by' if is_by_corpus else 'cluster', reference, subset)
    why_no_videos = '' if settings.cluster else _why_no_videos(runs, videos)
    if settings.cluster is None:
        by_default: Any = 'none' if why_no_videos else 'video'
        settings = replace(settings, cluster='column' if runs.clusters else by_default)
    orders = agreements(runs, also)
    groups = group_means(runs, named_by, videos, given)  # before the tests, as some are refused
    clusters = cluster_numbers(
        runs,
        videos if settings.cluster == 'video' else None,
        runs.clusters if settings.cluster == 'column' else None,
    )
    best_first, leaderboard, pairs, units = tests_of(settings, runs, clusters)
    verdicts, n_needed = verdicts_of(settings, runs, leaderboard, units)
    counts = {'runs': len(runs.names), 'queries': len(runs.queries), 'units': len(units.sizes)}
    if runs.n_skipped is not None:
        counts[SKIPPED] = runs.n_skipped
    if runs.n_relevant is not None:
        counts['queries_without_relevant'] = runs.n_without_relevant
    comparison = Comparison(
        runs=[runs.names[run] for run in best_first],
        metrics=runs.metrics,
        queries=runs.queries,
        values={
            metric: each[best_first]
            for metric, each in zip(runs.metrics, runs.values, strict=True)
            if not runs.no_mean
        },
        leaderboard=leaderboard,
        pairs=pairs,
        orders=orders,
        groups_by=groups,
        parameters={**vars(settings), 'definition': runs.definition},
        counts={name: int(count) for name, count in counts.items()},
        notes=[*runs.notes, *_notes(settings, runs, why_no_videos)],
        sources=runs.sources,
        inputs={**runs.inputs, **({'groups': source} if source else {})},
        power=powers(settings, runs, pairs, units),
        verdicts=verdicts,
        warnings=tuple(_warnings(settings, units, n_needed)),
    )
    warn_caller(comparison.warnings)
    return comparison


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonData, Described, Paged):
    """Runs compared on the same queries: intervals, tests of all pairs, groups.

    Parameters
    ----------
    runs : list of str
        The runs, best first by the last metric.
    metrics : list of str
        The metrics, such as ``'MAP@10'``, in the order of the cutoffs and measures; the one that is
        claimed, the first measure or else the last cutoff, is last.
    queries : list of str
        The queries, sorted.
    values : mapping of str to ndarray of float64, shape (n_runs, n_queries)
        The values of each metric; none of lwlrap, which is a mean over labels.
    leaderboard : list of Standing
        One for each metric and run; metrics in their order, runs best first within each.
    pairs : list of Pair
        One for each metric and pair of runs, the better one first.
    orders : list of Agreement
        Kendall's tau-b between the orders that metrics, or definitions, give.
    groups_by : list of GroupMean
        Means over groups of queries, if they were asked for.
    parameters : mapping
        Settings of the comparison, with the ``definition``.
    counts : mapping of str to int
        ``runs``, ``queries``, ``queries_without_relevant`` if known, ``units`` (queries, or
        clusters of them).
    notes : list of str
        Sentences that are needed to read the tables.
    sources, inputs : mapping of str to Provenance
        Where each run was read from; what all runs share, such as the ``reference``.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.
    power : list of Power
        Queries for the difference that was asked for, one for each pair by the last metric.
    verdicts : list of Verdict
        Whether each run passed against the baseline by the last metric, if it was asked for.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> comparison = compare({'all': evaluate(right), 'few': evaluate(right[:6])})
    >>> comparison.runs, comparison.pairs[0].wins
    (['all', 'few'], 54)
    """

    def __repr__(self) -> str:
        how = f'{self._counted()}, {self.parameters["correction"]}'
        best = [each for each in self.leaderboard if each.metric == self.metrics[-1]]
        width = max(len(shown(each.run)) for each in best)
        lines = [f'Comparison of {how}; {self.metrics[-1]}:']
        for each in best[:RUNS_IN_REPR]:
            low = short(each.interval.low) or 'none'
            high = short(each.interval.high) or 'none'
            bounds = f'[{low}, {high}]'
            lines.append(f'  {each.rank}  {shown(each.run):{width}}  {short(each.map)} {bounds}')
        if n_more := len(best[RUNS_IN_REPR:]):
            lines.append(f'  … and {n_more} more')
        return '\n'.join(lines)

    def _counted(self, joined: str = ', ') -> str:
        run, runs, query, queries, *_ = self.terms
        both = counted(len(self.runs), run, runs), counted(len(self.queries), query, queries)
        return joined.join(both)

    @property
    def plot(self) -> ComparisonPlot:
        """Figures: ``leaderboard()``, ``scatter(a, b)``, ``distribution()``, ``map_by_k()``."""
        require('altair', 'report', 'plot')
        return ComparisonPlot(self)

    def caption(self) -> str:
        """Return what a table needs below it: test, correction, counts, intervals.

        Returns
        -------
        str
            One or two sentences.
        """
        return caption_of(self, self.parameters['baseline'])

    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        compared = self.to_dict()
        terms = self.terms
        warnings = list(map(str, self.warnings))
        read = [*self.inputs.items(), *((terms.run, source) for source in self.sources.values())]
        keys = dict.fromkeys((role, source.name, source.sha256) for role, source in read)
        inputs = [dict(zip(('role', 'name', 'sha256'), key, strict=True)) for key in keys]
        of_all: dict[str, Any] = {'queries': None, 'of': None, 'runs': self.runs}
        data = {
            **{name: compared[name] for name in ('version', 'runs', 'metrics')},
            'title': self._counted(' on '),
            'lead': {**lead_of(compared), 'caveats': [f'{each}.' for each in warnings]},
            'queries': self.queries,
            'values': {name: each.tolist() for name, each in self.values.items()},
            'comparison': compared,
            'remarks': [{'what': text, **of_all} for text in (*self.notes, *warnings)],
            'manifest': {**compared['manifest'], 'inputs': inputs},
            'figures': self.plot._on_page(),
        }
        facts = {'AP definition': self.parameters['definition']}
        if self.parameters['range']:
            facts = {'Range': f'{terms.low:g} to {terms.high:g}, where more is better'}
        asked = list(requested_tables_on_page(self))
        return data, {**context_of(data, self.caption(), facts), 'asked': asked}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``runs``, ``metrics``, ``leaderboard``, ``pairs``,
            ``orders``, ``by``, ``power``, ``verdicts``, ``notes``, and ``manifest``:
            ``version``, ``definition``, ``parameters``, ``counts``, ``inputs`` (name, SHA-256).
            Each None has its reason beside it; in the manifest it stands for what was not given.
        """
        parameters = dict(self.parameters)
        definition = parameters.pop('definition')
        return {
            'schema': COMPARISON_SCHEMA,
            'version': __version__,
            'kind': 'comparison',
            'runs': list(self.runs),
            'metrics': list(self.metrics),
            **{
                table: [_plain(each) for each in getattr(self, at)]
                for table, (at, _) in TABLES.items()
            },
            'notes': list(self.notes),
            'manifest': {
                'version': __version__,
                'definition': definition,
                'parameters': parameters,
                'counts': dict(self.counts),
                'inputs': {
                    'runs': {run: asdict(source) for run, source in self.sources.items()},
                    **{role: asdict(source) for role, source in self.inputs.items()},
                },
            },
        }

    def to_frame(self, table: TableName = 'leaderboard') -> pandas.DataFrame:
        """Return one of the tables of the comparison.

        Parameters
        ----------
        table : {'leaderboard', 'pairs', 'orders', 'by', 'power', 'verdicts'}
            The table.

        Returns
        -------
        pandas.DataFrame
            A row for each entry, and a column for each of its fields: of an interval there are
            ``interval_low``, ``interval_high`` and ``interval_reason``.
        """
        import pandas

        grid = grid_of(self, check_policy('table', table, tuple(TABLES)))
        return pandas.DataFrame(grid.rows, columns=list(grid.headers))

    def document(self, *, pairs: bool = False) -> Document:
        """Describe the comparison for all output formats.

        Parameters
        ----------
        pairs : bool
            Show all pairs of runs, and make them the rows of tables for programs.

        Returns
        -------
        Document
            Blocks for people and for papers, an object for JSON, and a table for programs.
        """
        return Document(
            lambda: blocks_for_people(self, pairs),
            self.to_dict,
            lambda: grid_of(self, 'pairs' if pairs else 'leaderboard'),
            lambda: blocks_for_papers(self, pairs),
        )


def _check_baseline(settings: Settings, runs: Runs) -> None:
    """Refuse a baseline that is not there, and verdicts without anything to compare with it."""
    if settings.fail_if_worse is not None or settings.require_better:
        if len(runs.names) == 1:
            baseline = printable(str(settings.baseline))
            run = printable(runs.names[0])
            told = f'nothing to compare with {baseline}: found {run} alone'
            raise ParameterError(f'compare: {told}, expected two or more')
        if runs.dropped_claim:
            found = f'no value of {runs.dropped_claim} for some queries'
            raise ParameterError(f'compare: found {found}, expected one for each: runs pass by it')
    check_run('baseline', settings.baseline, runs.names)


def _groups(
    runs: Runs, by: Any, name: str | None
) -> tuple[Sequence[str] | None, Provenance | None]:
    """Return the group of each query, by a column or a file of groups, and this file."""
    if by is None or runs.groups is not None or (runs.kind != 'scores' and name in GROUPINGS):
        return runs.groups, None
    if name is not None and name != STANDARD_INPUT and not os.path.exists(name):
        known = 'a column of all score tables' if runs.kind == 'scores' else ', '.join(GROUPINGS)
        raise ParameterError(
            f'by: found {shown(name)}, expected one of {known}, or a file of item,group'
        )
    return groups_in_file(by, runs.queries)


def _why_no_videos(runs: Runs, videos: VideosOfQueries | None) -> str:
    """Return why videos are not the units by default, or ''."""
    if not runs.has_videos:
        return 'the results have no videos'
    if videos is None:
        return 'their videos are not known without the reference'
    if (n_videos := videos.n_videos) < LEAST_VIDEOS:
        found = counted(n_videos, 'video', 'videos')
        return f'their relevant shots are in {found}, and {LEAST_VIDEOS} are needed'
    return ''


def _notes(settings: Settings, runs: Runs, why_no_videos: str) -> list[str]:
    """Return sentences about the floor, and about what stands for a cluster."""
    notes = []
    queries = terms_of(vars(settings)).queries
    if n_without := runs.n_without_relevant:
        n_queries = len(runs.queries)
        floor = next(iter(runs.floor.values()))
        notes.append(note_of_floor(n_without, n_queries, floor * n_queries / n_without))
    if settings.cluster != 'none':
        notes.append(
            'p, intervals and numbers of differences that are not 0 are of clusters; wins, ties, '
            f'losses and dz are of {queries}'
        )
        if n_without and settings.cluster == 'video':
            notes.append('each query without a relevant shot is a cluster of its own')
    if why_no_videos and runs.has_videos:
        notes.append(f'queries are taken as independent, not by video: {why_no_videos}')
    if runs.kind == 'scores' or runs.no_mean:
        return notes
    if unknown := [metric for metric in runs.metrics if metric not in runs.floor]:
        notes.append(f'{", ".join(unknown)}: no floor, as the mean of an empty run is not known')
    if runs.n_relevant is None:
        notes.append('no means without the floor: numbers of relevant items are not known')
    return notes


def _warnings(settings: Settings, units: Units, n_needed: int) -> Iterator[DataWarning]:
    sizes = units.sizes
    queries = terms_of(vars(settings)).queries
    if settings.cluster != 'none':
        share = sizes.max() / sizes.sum()
        n_in_effect = sizes.sum() ** 2 / np.square(sizes).sum()
        if share > LARGEST_SHARE or n_in_effect < LEAST_CLUSTERS:
            finding = (
                f'{counted(len(sizes), "cluster counts", "clusters count")} as {n_in_effect:.1f} '
                f'of equal size, and the largest holds {100 * share:.3g} % of the {queries}: '
                f'intervals may be too narrow with fewer than {LEAST_CLUSTERS}, or with one above '
                f'{percent(LARGEST_SHARE)}'
            )
            yield DataWarning('few-clusters', '', finding)
    if n_needed:
        _, kind = names_of_units(vars(settings))
        could = 'pass' if settings.require_better else 'fail'
        finding = (
            f'no data on {len(sizes)} {kind} could {could} at this limit: {n_needed} or more are '
            'needed for a verdict'
        )
        yield DataWarning('no-verdict', '', finding)


def _plain(entry: Any) -> dict[str, Any]:
    """Return an entry for JSON, which has lists for tuples."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(entry).items()
    }
