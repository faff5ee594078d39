"""`compare` tests which runs differ, and returns a `Comparison`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mediaeval_ap import choices
from mediaeval_ap.choices import GROUPINGS, check_policy, plain_text
from mediaeval_ap.comparison.clusters_and_groups import (
    Videos,
    cluster_numbers,
    group_means,
    groups_in_file,
    largest,
    members_of_groups,
    videos_of_queries,
)
from mediaeval_ap.comparison.comparable_runs import Runs, agreements, read_runs
from mediaeval_ap.comparison.comparison_page import Paged, context_of, join_names, lead_of, percent
from mediaeval_ap.comparison.comparison_plot import ComparisonPlot
from mediaeval_ap.comparison.comparison_settings import (
    Settings,
    check_run,
    check_settings,
    terms_of,
)
from mediaeval_ap.comparison.comparison_tables import (
    TABLES,
    ComparisonData,
    blocks_for_papers,
    blocks_for_people,
    grid_of,
    mean_of_groups,
    procedure_of,
    requested_tables_on_page,
)
from mediaeval_ap.comparison.gate import Decisions
from mediaeval_ap.comparison.intervals import Interval
from mediaeval_ap.comparison.leaderboard import tests_of
from mediaeval_ap.comparison.score_files import TableOptions
from mediaeval_ap.comparison.score_tables import NO_LOSSES, read_scores, tables_in
from mediaeval_ap.comparison.units import Units
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    printable,
    require,
    shown,
    warn_caller,
    with_noun,
)
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.render.document import Document
from mediaeval_ap.results.described import DescribedTable, json_document, manifest_json
from mediaeval_ap.results.notes import SKIPPED, merged_notes, note_above_one, note_of_floor
from mediaeval_ap.results.result import Result
from mediaeval_ap.tables import STANDARD_INPUT, Provenance
from mediaeval_ap.tables.table import Frame, Rows

if TYPE_CHECKING:
    import pandas

TableName: TypeAlias = Literal[
    'leaderboard', 'pairs', 'orders', 'by', 'by_pairs', 'power', 'verdicts'
]
Named: TypeAlias = 'Result | Sequence[Result] | Frame'  # the values of a mapping of runs
COMPARISON_SCHEMA = 'mediaeval-ap/comparison/3'
# Fewer videos are not clusters by default: in simulations, intervals over them were much wider than
# over queries (docs/statistics.md).
LEAST_VIDEOS = 50
# With a lower effective number of clusters, or a larger share of the queries in one cluster,
# intervals covered 84 to 92 % in simulations.
LEAST_CLUSTERS = 30
LARGEST_SHARE = 0.1
FEWEST_OF_GROUP = 10  # in smaller groups, intervals of a mean over groups covered less


@shows_progress
def compare(
    results: Result | Frame | Iterable[Result | Frame] | Mapping[Any, Named],
    *more_results: Result | Frame,
    baseline: str | None = None,
    correction: choices.Correction = 'holm',
    level: float = choices.LEVEL,
    cluster: choices.Cluster | None = None,
    by: choices.Grouping | Frame | None = None,
    reference: Rows | None = None,
    subset: Rows | None = None,
    also: Mapping[str, Iterable[Result] | Mapping[Any, Named]] | None = None,
    power: float | None = None,
    fail_if_worse: float | None = None,
    require_not_worse: float | None = None,
    require_better: bool = False,
    macro: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    systems: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    missing: choices.Missing = 'error',
    range: tuple[float, float] | None = None,
    lower_is_better: bool = False,
    hide_labels: bool = False,
    progress: bool = False,
) -> Comparison:
    """Compare runs on the same queries: intervals, tests of all pairs, ranks, groups.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same queries, definition and reference. The keys of a mapping
        name the runs; a key ``(name, seed)`` names one of several seeds of a run. Several results
        of one run are its scores at several cutoffs. Or score tables (``docs/scores.md``): a path
        or a frame, several of them, or a mapping. Their items count as queries, and their systems
        as runs; the columns are ``item,system,value``, ``item,value``, or ``item`` and one for each
        system, and optionally ``cluster`` and ``seed``.
    *more_results : like the items of results
        Further runs: ``compare(a, b)`` is ``compare([a, b])``.
    baseline : str, optional
        The run to compare all others with on the leaderboard.
    correction : {'holm', 'bh'}
        The correction of p: Holm, or Benjamini and Hochberg. Each metric has two families: all
        pairs, for letters and ranks, and all pairs with the baseline. Claims are about the first
        metric alone (the first measure, or else the last cutoff).
    level : float
        Level of the intervals; runs share a letter if their corrected p is above 1 - level.
    cluster : {'video', 'none'}, optional
        The units of the tests: all queries of a video together, or single queries. By default the
        clusters of a score table; else videos, if the reference is known and there are 50 or more.
    by : {'corpus', 'relevant'} or str, path-like or DataFrame, optional
        Add means and differences by corpus, by the number of relevant shots, or by the groups of a
        table of ``item,group``; in score tables also by a column of this name.
    reference, subset : as for `AveragePrecision`, optional
        The reference, and its subset, that the runs were scored against; for clusters and means by
        corpus. Results know them, except those that were read from JSON or a pickle.
    also : mapping from str to results, optional
        The same runs under other definitions, by name: adds Kendall's tau-b between the orders.
    power : float, optional
        A difference: count, for each pair, the queries or clusters that would show it with a power
        of 80 %; with a limit also those at which the gate would decide about such a loss.
    fail_if_worse, require_not_worse : float, optional
        A limit: each run gets a verdict by the interval of its difference to the baseline. It is
        worse if all of it is below minus the limit; not worse if all of it is above, or no query
        differs; else undecided, which fails `require_not_worse` alone.
    require_better : bool
        Give each run a verdict: it is not better unless all of that interval is above 0.
    macro : str, optional
        A column of score tables: each of its groups, such as datasets, counts the same.
    columns : mapping of str to str, optional
        The columns of score tables that are not named ``'item'``, ``'system'``, ``'value'``,
        ``'cluster'`` or ``'seed'``, by these names.
    where : mapping of str to str, optional
        Keep the rows of score tables that have these texts in these columns.
    systems : sequence of str, optional
        The systems of score tables to compare. By default all columns of a wide table.
    measures : sequence of str, optional
        The metrics of tables by topic and measure, such as ``'map'``; by default all but counts.
    missing : {'error', 'zero', 'skip'}
        An item of a score table that some system lacks is an error, counts as 0, or is left out.
    range : pair of float, optional
        The least and the largest possible value of score tables; by default 0 and 1 if all values
        are within, else not known.
    lower_is_better : bool
        Take the values of score tables as losses, such as WER. Order, ranks, wins, words and gate
        turn; means, differences and intervals stay in the units of the table.
    hide_labels : bool
        Compare means and values by query of AP and nDCG alone, for a page while the reference is
        secret: without videos, numbers of relevant shots, names and hashes of files, or cutoff 1.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError, ReadError, FormatError, MissingExtraError
        When runs cannot be compared, a run occurs twice, or an argument is not valid; when a table
        cannot be read; when the extra ``compare`` is not installed.

    Warns
    -----
    DataWarning
        When one cluster holds more than a tenth of all queries, or the clusters count as fewer than
        30 of equal size. When an item of a score table is named like a total, or a metric left out.

    Notes
    -----
    ``docs/statistics.md`` has tests, intervals and their sources. With clusters, p and intervals
    are over clusters, but wins, ties, losses and dz over queries. Fewer than 5 queries, or
    clusters, have no interval. The order of runs and queries changes nothing.

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
    settings = check_settings(
        baseline=baseline,
        correction=correction,
        level=level,
        cluster=cluster,
        by=by,
        power=power,
        fail_if_worse=fail_if_worse,
        require_not_worse=require_not_worse,
        require_better=require_better,
        macro=macro,
    )
    by_name = plain_text(by)
    if more_results:
        results = [results, *more_results]  # type: ignore[list-item]
    options = TableOptions(
        columns=columns,
        where=where,
        missing=missing,
        range=range,
        by=by_name,
        systems=systems,
        macro=macro,
        measures=measures,
        lower_is_better=lower_is_better,
    )
    runs = _runs_of(results, options)
    if hide_labels:
        known = {'reference': reference, 'subset': subset, 'also': also}
        runs = _without_labels(runs, known, {'by': by_name, 'cluster': cluster})
    if runs.no_mean and by is not None:
        actual = f'found {shown(by_name or by)} for {runs.metrics[0]}, expected none'
        raise ParameterError(f'{actual}: {runs.no_mean}', 'by')
    groups, groups_source = _groups_of_queries(runs, by, by_name)
    inputs = dict(runs.inputs)
    by_setting = by_name
    if groups_source is not None:
        inputs['groups'] = groups_source
        by_setting = groups_source.name
    settings = replace(settings, by=by_setting, range=runs.range)
    _check_baseline(settings, runs)
    is_by_corpus = groups is None and by_name == 'corpus'
    if reference is None:
        reference = runs.reference
    videos = None
    may_be_clusters = settings.cluster is None and reference is not None and runs.has_videos
    if is_by_corpus or settings.cluster == 'video' or may_be_clusters:
        option = 'by' if is_by_corpus else 'cluster'
        videos = videos_of_queries(runs, option, reference, subset)
    why_no_videos = ''
    if settings.cluster is None:
        why_no_videos = _why_no_videos(runs, videos)
        settings = replace(settings, cluster='none' if why_no_videos else 'video')
        if runs.clusters:
            settings = replace(settings, cluster='column')
    clusters = cluster_numbers(runs, settings.cluster, videos)
    orders = agreements(runs, also)
    members = members_of_groups(runs, by_name, videos, groups)  # may raise: before the tests
    tested = tests_of(settings, runs, clusters, members)
    decisions = Decisions(settings, runs, tested)
    verdicts = decisions.verdicts()
    flags = {'lower_is_better': runs.lower_is_better, 'hide_labels': hide_labels}
    parameters = {**vars(settings), 'definition': runs.definition}
    parameters |= {name: flag for name, flag in flags.items() if flag}
    comparison = Comparison(
        runs=[runs.names[run] for run in tested.best_first],
        metrics=runs.metrics,
        queries=runs.queries,
        values={
            metric: values[tested.best_first]
            for metric, values in zip(runs.metrics, runs.values, strict=True)
            if not runs.no_mean
        },
        leaderboard=tested.leaderboard,
        pairs=tested.pairs,
        orders=orders,
        groups_by=group_means(runs, members),
        group_pairs=tested.group_pairs,
        parameters=parameters,
        counts=_counts_of(runs, tested.units),
        notes=[*runs.notes, *_notes_on_tests(runs, why_no_videos)],
        sources=runs.sources,
        inputs=inputs,
        power=decisions.powers(),
        verdicts=verdicts,
        gate=decisions.gate(verdicts) if verdicts else None,
        warnings=tuple(_data_warnings(settings, runs, tested.units)),
    )
    warn_caller(comparison.warnings)
    return comparison


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonData, DescribedTable, Paged):
    """Runs compared on the same queries: intervals, tests of all pairs, groups.

    Parameters
    ----------
    runs, metrics, queries : list of str
        The runs, best first by the first metric; the metrics, such as ``'MAP@10'``, first the one
        that claims are about; the queries, sorted.
    values : mapping of str to ndarray of float64, shape (n_runs, n_queries)
        The values of each metric; empty for lwlrap, which is a mean over labels.
    leaderboard : list of Standing
        An entry for each metric and run: metrics in their order, and the runs of each best first.
    pairs, orders : list of Pair, list of Agreement
        An entry for each metric and pair of runs, the better run first; Kendall's tau-b between the
        orders that metrics, or definitions, give.
    groups_by, group_pairs : list of GroupMean, list of Pair
        Means over groups of queries, and pairs by the first metric (with a baseline, only those
        with it), if requested.
    parameters : mapping
        Settings of the comparison, with the ``definition``, and ``lower_is_better`` if it is True.
    counts : mapping of str to int
        ``runs``, ``queries``, ``units`` (queries, or clusters of them), and where they apply
        ``queries_without_relevant``, ``seeds`` (the most of a run) and ``groups`` (of `macro`).
    notes, warnings : list of str, sequence of DataWarning
        Sentences that explain the tables; warnings about the data, which are not part of `to_dict`.
    sources, inputs : mapping of str to Provenance
        The provenance of each run, and of the inputs that all runs share.
    power, verdicts, gate : list of Power, list of Verdict, Gate or None
        For each pair, the queries that would show the requested difference; for each run the
        verdict against the baseline; the outcome of all verdicts, and the sentence that says it.

    Examples
    --------
    >>> from mediaeval_ap import compare
    >>> compare('samples/scores.csv').runs
    ['new', 'old']
    """

    @property
    def _headline(self) -> str:
        lead = str(lead_of(self.to_dict())['headline'])
        if not self.parameters['macro']:
            return lead
        return f'{mean_of_groups(self.parameters, self.counts).capitalize()}: {lead}'

    @property
    def plot(self) -> ComparisonPlot:
        """Figures: ``leaderboard()``, ``scatter(a, b)``, ``distribution()``, ``map_by_k()``."""
        require('altair', 'report', 'plot')
        return ComparisonPlot(self)

    def caption(self) -> str:
        """Describe the tables: counts, intervals, test and correction.

        Returns
        -------
        str
        """
        return ' '.join(procedure_of(self))

    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        compared = self.to_dict()
        terms = self.terms
        n_runs = with_noun(len(self.runs), terms.run, terms.runs)
        n_queries = with_noun(len(self.queries), terms.query, terms.queries)
        warnings = list(map(str, self.warnings))
        runs_read = ((terms.run, source) for source in self.sources.values())
        sources = [*self.inputs.items(), *runs_read]
        keys = dict.fromkeys((role, source.name, source.sha256) for role, source in sources)
        inputs = [dict(zip(('role', 'name', 'sha256'), key, strict=True)) for key in keys]
        lead = {**lead_of(compared), 'headline': self._headline}
        about_all_runs: dict[str, Any] = {'queries': None, 'of': None, 'runs': self.runs}
        data = {
            **{name: compared[name] for name in ('version', 'runs', 'metrics')},
            'title': f'{n_runs} on {n_queries}',
            'lead': {**lead, 'caveats': [f'{text}.' for text in (*warnings, *self.notes)]},
            'queries': self.queries,
            'values': {metric: values.tolist() for metric, values in self.values.items()},
            'comparison': compared,
            'remarks': [{'what': text, **about_all_runs} for text in (*self.notes, *warnings)],
            'manifest': {**compared['manifest'], 'inputs': inputs},
            'figures': self.plot._on_page(),
        }
        facts = {'AP definition': self.parameters['definition']}
        if self.parameters['range']:
            facts = {'Range': f'{terms.low:g} to {terms.high:g}, where {terms.direction}'}
        requested = list(requested_tables_on_page(self))
        asked = {'asked': requested, 'gate': None if self.gate is None else self.gate.words}
        return data, {**context_of(data, self.caption(), facts), **asked}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison with its manifest, for JSON.

        Returns
        -------
        dict
            As the schema of comparisons has it; each None has its reason beside it.
        """
        parameters = dict(self.parameters)
        definition = parameters.pop('definition')
        tables = {
            table: [_as_json(entry) for entry in getattr(self, field_name)]
            for table, (field_name, _) in TABLES.items()
        }
        gate = {} if self.gate is None else {'gate': asdict(self.gate)}
        return json_document(
            COMPARISON_SCHEMA,
            kind='comparison',
            runs=list(self.runs),
            metrics=list(self.metrics),
            **tables,
            **gate,
            notes=list(self.notes),
            manifest=manifest_json(
                definition=definition,
                parameters=parameters,
                counts=self.counts,
                inputs={'runs': self.sources, **self.inputs},
            ),
        )

    def _json_value(self, per_query: bool) -> dict[str, Any]:
        if not per_query:
            return self.to_dict()
        values = {metric: values.tolist() for metric, values in self.values.items()}
        return {**self.to_dict(), 'queries': list(self.queries), 'values': values}

    def to_frame(self, table: TableName = 'leaderboard') -> pandas.DataFrame:
        """Return one of the tables of the comparison.

        Parameters
        ----------
        table : {'leaderboard', 'pairs', 'orders', 'by', 'by_pairs', 'power', 'verdicts'}

        Returns
        -------
        pandas.DataFrame
            A row for each entry, and a column for each of its fields. An interval has the columns
            ``interval_low``, ``interval_high`` and ``interval_reason``, and of a difference also
            ``interval_excludes_zero``.
        """
        import pandas

        grid = grid_of(self, check_policy('table', table, tuple(TABLES)))
        return pandas.DataFrame(grid.rows, columns=list(grid.headers))

    def document(self, *, pairs: bool = False) -> Document:
        """Describe the comparison for all output formats.

        Parameters
        ----------
        pairs : bool
            Show all pairs of runs; in tables for programs, they are the rows.

        Returns
        -------
        Document
        """
        return Document(
            lambda: blocks_for_people(self, self._headline, pairs),
            self.to_dict,
            lambda: grid_of(self, 'pairs' if pairs else 'leaderboard'),
            lambda: blocks_for_papers(self, self._headline, pairs),
        )


def _as_json(entry: Any) -> dict[str, Any]:
    """Return an entry for JSON, which has lists for tuples."""
    fields = dict(vars(entry))  # dataclasses.asdict takes ten times as long
    for name, value in fields.items():
        if isinstance(value, tuple):
            fields[name] = list(value)
        elif isinstance(value, Interval):
            fields[name] = dict(vars(value))
    return fields


def _runs_of(results: object, options: TableOptions) -> Runs:
    """Read the runs from score tables, or from results, which take none of the options but `by`."""
    if (tables := tables_in(results)) is not None:
        if options.lower_is_better and options.missing == 'zero':
            raise ParameterError(
                "found 'zero', expected 'skip', as 0 would be the best loss", 'missing'
            )
        return read_scores(tables, options)
    runs = read_runs(results)
    if options.lower_is_better:
        raise ParameterError(NO_LOSSES, 'lower_is_better')
    others = 'columns', 'where', 'systems', 'range', 'macro', 'measures'
    given = [name for name in others if getattr(options, name) is not None]
    if options.missing != 'error':
        given.append('missing')
    if given:
        raise ParameterError('found results, expected score tables', *given)
    return runs


def _without_labels(
    runs: Runs, known: Mapping[str, object], units: Mapping[str, str | None]
) -> Runs:
    """Return the runs without labels; refuse settings that would tell some of them."""
    for name, value in known.items():
        if value is not None:
            raise ParameterError('found a value, expected none with hidden labels', name)
    for name, text in units.items():
        if text in (*GROUPINGS, 'video') and runs.kind != 'scores':
            actual = f'found {shown(text)}, expected none with hidden labels'
            raise ParameterError(f'{actual}: it tells about relevant shots', name)
    return runs.without_labels()


def _check_baseline(settings: Settings, runs: Runs) -> None:
    """Raise ParameterError if the baseline is not a run, or if runs cannot be judged by it."""
    if settings.is_gate:
        if len(runs.names) == 1:
            baseline = printable(str(settings.baseline))
            run = printable(runs.names[0])
            raise ParameterError(
                f'compare: nothing to compare with {baseline}: found {run} alone, expected two or '
                'more'
            )
        if runs.dropped_claim:
            actual = f'no value of {runs.dropped_claim} for some queries'
            expected = 'one for each, as verdicts are by this metric'
            raise ParameterError(f'compare: found {actual}, expected {expected}')
    check_run('baseline', settings.baseline, runs.names)


def _groups_of_queries(
    runs: Runs, by: choices.Grouping | Frame | None, name: str | None
) -> tuple[Sequence[str] | None, Provenance | None]:
    """Return the group of each query, by a column or a file, and the file's provenance."""
    if by is None or runs.groups is not None or (runs.kind != 'scores' and name in GROUPINGS):
        return runs.groups, None
    if name is not None and name != STANDARD_INPUT and not os.path.exists(name):
        allowed = ', '.join(GROUPINGS)
        if runs.kind == 'scores':
            allowed = 'a column of all score tables'
        raise ParameterError(
            f'found {shown(name)}, expected one of {allowed}, or a file of item,group', 'by'
        )
    return groups_in_file(by, runs.queries)


def _why_no_videos(runs: Runs, videos: Videos | None) -> str:
    """Return the reason why videos are not the units by default, or ''."""
    if not runs.has_videos:
        return runs.no_videos or 'the results have no videos'
    if runs.hides_labels:
        return 'labels are hidden'
    if videos is None:
        why = 'their videos are not known without the reference'
        files = {role: source for role, source in runs.inputs.items() if source.sha256}
        names = {role: printable(source.name) for role, source in files.items()}
        if 'reference' not in names:
            return why
        subset = f' --subset {names["subset"]}' if 'subset' in names else ''
        return f'{why}: mediaeval-ap compare {names["reference"]} RESULTS...{subset}'
    n_videos = len(set(map(largest, videos.values())) - {None})
    if n_videos < LEAST_VIDEOS:
        counted_videos = with_noun(n_videos, 'video', 'videos')
        few = f'only {counted_videos}, fewer than {LEAST_VIDEOS}'
        return f'their relevant shots are in {few} (docs/comparison.md)'
    return ''


def _counts_of(runs: Runs, units: Units) -> dict[str, int]:
    counts = {'runs': len(runs.names), 'queries': len(runs.queries), 'units': len(units.sizes)}
    if runs.n_skipped is not None:
        counts[SKIPPED] = runs.n_skipped
    if runs.n_relevant is not None:
        counts['queries_without_relevant'] = runs.n_without_relevant
    if runs.values_by_seed:
        counts['seeds'] = max(map(runs.n_seeds, runs.names))
    if runs.macro is not None:
        counts['groups'] = len({*runs.macro})
    return {name: int(count) for name, count in counts.items()}


def _notes_on_tests(runs: Runs, why_no_videos: str) -> list[str]:
    """Return sentences about AP above 1, the floor, clusters, single seeds and small groups."""
    notes = []
    if definition := runs.definition:  # the values of a score table may be anything
        are_ap = ['AP' in metric for metric in runs.metrics]
        n_above = (runs.values[are_ap] > 1).any(axis=0).sum(axis=1).tolist()
        above = [note_above_one(n, len(runs.queries), definition) for n in n_above]
        notes += merged_notes(list(zip(runs.names, above, strict=True)))
    if n_without := runs.n_without_relevant:
        n_queries = len(runs.queries)
        floor = next(iter(runs.floor.values()))
        notes.append(note_of_floor(n_without, n_queries, floor * n_queries / n_without))
    if why_no_videos and (runs.has_videos or runs.no_videos):
        notes.append(f'Queries are taken as independent, not by video: {why_no_videos}')
    if single := [name for name in runs.names if runs.values_by_seed and runs.n_seeds(name) == 1]:
        have = 'has' if len(single) == 1 else 'have'
        notes.append(f'{join_names(single)} {have} one seed: tests are about this very seed')
    sizes = Counter(runs.macro or ())
    if small := [f'{name} ({n})' for name, n in sizes.items() if n < FEWEST_OF_GROUP]:
        few = f'Fewer than {FEWEST_OF_GROUP} items in {join_names(small)}'
        notes.append(f'{few}: intervals of a mean over groups may be too narrow')
    return notes


def _data_warnings(settings: Settings, runs: Runs, units: Units) -> Iterator[DataWarning]:
    """Warn of score tables, and if clusters are too few or too large."""
    yield from runs.warnings
    if settings.is_gate:  # whose exit status may be all that is read
        about_losses = (note for note in runs.notes if '--lower-is-better' in note)
        yield from (DataWarning('doubtful-scores', '', note) for note in about_losses)
    sizes = units.sizes
    queries = terms_of(vars(settings), runs.metrics[0]).queries
    if settings.cluster != 'none':
        share = sizes.max() / sizes.sum()
        n_effective = sizes.sum() ** 2 / np.square(sizes).sum()
        if share > LARGEST_SHARE or n_effective < LEAST_CLUSTERS:
            finding = (
                f'{with_noun(len(sizes), "cluster counts", "clusters count")} as {n_effective:.1f} '
                f'of equal size, and the largest holds {100 * share:.3g} % of the {queries}: '
                f'intervals may be too narrow with fewer than {LEAST_CLUSTERS}, or with one above '
                f'{percent(LARGEST_SHARE)}'
            )
            yield DataWarning('few-clusters', '', finding)
