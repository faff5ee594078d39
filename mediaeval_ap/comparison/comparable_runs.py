"""The runs of a comparison, checked to be comparable, with their values in one order of queries."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import DataWarning, ParameterError, printable, shown
from mediaeval_ap.results.evaluation import ResultByQuery
from mediaeval_ap.results.notes import (
    NO_RELEVANT,
    NO_TRUE_LABEL,
    SKIPPED,
    merge_notes,
    notes_of_judged,
    notes_of_skipped,
)
from mediaeval_ap.results.result import (
    SHOWN_SETTINGS,
    Compared,
    Result,
    distinct_run_names,
    kind_of_metric,
    reorder,
)
from mediaeval_ap.results.rounding import exact_mean
from mediaeval_ap.results.run_names import name_with_seed
from mediaeval_ap.tables import Provenance, Table
from mediaeval_ap.tables.reading import remedy_of

SHARED_INPUTS = 'reference truth shots subset judged consensus evidence_reference'.split()
OMITTED_DEFAULTS = {
    'queries_without_relevant': 'count',
    **{name: SHOWN_SETTINGS[name] for name in ('ignore', 'repeated', 'exclude_self')},
}
# AP and nDCG sum over ranks. Others tell the number of relevant shots or hits, or the first hit.
TELLS_LITTLE = re.compile(r'(?i)((M|LR|x?inf|macro )?AP|nDCG)((@|_cut_)(?!1$)\d+)?')
NAMES_REMEDY = (
    'in the shell, name runs by NAME=FILE when they are scored, or change "run" in their JSON; in '
    "Python, name them by a mapping: compare({'one': …, 'other': …})"
)


@dataclass(frozen=True)
class Runs:
    """Runs sorted by name, with their values on the sorted queries."""

    names: list[str]
    metrics: list[str]
    queries: list[str]
    values: NDArray[np.float64]  # (n_metrics, n_runs, n_queries)
    sources: Mapping[str, Provenance]
    notes: list[str]
    kind: str
    dropped_claim: str = ''  # the claimed metric, if it was dropped: some queries have no value
    n_relevant: NDArray[np.int64] | None = None
    floor: Mapping[str, float] = field(default_factory=dict)
    definition: str | None = None
    inputs: Mapping[str, Provenance] = field(default_factory=dict)
    n_skipped: int | None = None  # the number of queries left out; None if they always count
    no_videos: str = ''  # why shots were scored, but their videos are not known
    clusters: Sequence[str] | None = None  # the cluster of each query, from a score table
    groups: Sequence[str] | None = None  # the group of each query, from a score table
    range: list[float] | None = None  # the least and the largest value of score tables
    is_range_declared: bool = True  # False if `range` spans only the values that occur
    warnings: Sequence[DataWarning] = ()  # about score tables
    n_as_zero: Mapping[str, int] = field(default_factory=dict)  # by system: items without a value
    missing: str = ''  # a note on items that were left out, or count as 0
    # By run of two seeds or more: (n_metrics, n_seeds, n_queries). `values` has the means of seeds.
    values_by_seed: Mapping[str, Floats] = field(default_factory=dict)
    macro: Sequence[str] | None = None  # the group of each query; each group counts the same
    no_mean: str = ''  # why the metric is not a mean over queries; if set, read the next two fields
    whole_values: Sequence[float] = ()  # the value of each run
    n_labels: NDArray[np.int64] | None = None  # the number of labels behind each query's value
    ties: Any = None  # the order of ties, of TREC runs
    reference: Table | None = None  # the rows that a run was scored against, if it knows them
    lower_is_better: bool = False  # of score tables: their values are losses
    hides_labels: bool = False

    @property
    def sign(self) -> int:
        """1, or -1 for losses: times this, more is better, and a positive difference is a gain."""
        return -1 if self.lower_is_better else 1

    @property
    def has_videos(self) -> bool:
        """True if runs return shots of videos, not documents of TREC."""
        return self.kind == 'evaluation' and self.ties is None

    @property
    def n_without_relevant(self) -> int:
        """The number of queries without a relevant shot; 0 if this is not known."""
        return 0 if self.n_relevant is None else int(np.count_nonzero(self.n_relevant == 0))

    @cached_property
    def weights(self) -> Floats:
        """The weight of each query, 1 in the mean."""
        groups = self.macro or self.queries[:1] * len(self.queries)
        sizes = Counter(groups)
        return np.array([len(groups) / (len(sizes) * sizes[group]) for group in groups])

    def without_labels(self) -> Runs:
        """Return the runs with their values alone; the hash of a public run would name it."""
        kept = [row for row, metric in enumerate(self.metrics) if TELLS_LITTLE.fullmatch(metric)]
        metrics = [self.metrics[row] for row in kept]
        left_out = printable(', '.join(name for name in self.metrics if name not in metrics))
        wanted = 'AP or nDCG at a cutoff above 1, as other values tell labels'
        if not kept:
            raise ParameterError(f'found {left_out}, expected {wanted}', 'hide_labels')
        warning = DataWarning('hidden-labels', '', f'{left_out}: left out, expected {wanted}')
        return replace(
            self,
            metrics=metrics,
            values=self.values[kept],
            values_by_seed={run: values[kept] for run, values in self.values_by_seed.items()},
            sources={run: Provenance(run) for run in self.sources},
            notes=[],
            warnings=[*self.warnings, *[warning] * bool(left_out)],
            n_relevant=None,
            floor={},
            inputs={},
            n_skipped=None,
            reference=None,
            hides_labels=True,
        )

    def on_queries(self, rows: NDArray[np.intp]) -> Runs:
        """Return the runs on some of the queries, which then count the same."""
        return replace(
            self,
            queries=[self.queries[row] for row in rows],
            values=self.values[:, :, rows],
            values_by_seed={run: values[:, :, rows] for run, values in self.values_by_seed.items()},
            macro=None,
        )

    def n_seeds(self, name: str) -> int:
        return self.values_by_seed[name].shape[1] if name in self.values_by_seed else 1

    def means(self) -> dict[str, list[float]]:
        if self.no_mean:
            return {self.metrics[0]: list(self.whole_values)}
        rows = zip(self.metrics, self.values, strict=True)
        return {metric: list(map(exact_mean, values * self.weights)) for metric, values in rows}


@dataclass(frozen=True)
class _ScoredRun:
    """The results of one run, or of one seed of it, and its values on the sorted queries."""

    run: str
    seed: str
    results: Sequence[Result]
    compared: Compared

    @property
    def name(self) -> str:
        return name_with_seed(self.run, self.seed)


def read_runs(results: object) -> Runs:
    """Check that runs can be compared, and sort runs and queries by name."""
    runs = [
        _join_results(*run_and_seed, run_results)
        for run_and_seed, run_results in sorted(_results_by_name(results).items())
    ]
    first = runs[0]
    for other in runs[1:]:
        _check_alike(first, other)
    compared = first.compared
    result = first.results[0]
    values_by_run = [run.compared.values for run in runs]
    metrics = [
        metric for metric in values_by_run[0] if all(metric in values for values in values_by_run)
    ]
    # Claims are about the metric put first: the measure that the user named first, if any.
    claimed = next(iter(getattr(result, 'measures', ())), metrics[-1])
    dropped_claim = claimed
    if claimed in metrics:
        dropped_claim = ''
        metrics.remove(claimed)
        metrics.insert(0, claimed)
    n_as_zero = _n_as_zero(runs)
    seeds = {name: list(group) for name, group in groupby(runs, attrgetter('run'))}
    values_by_seed = {
        name: np.array([[run.compared.values[metric] for run in group] for metric in metrics])
        for name, group in seeds.items()
    }
    manifest = result.manifest_settings()
    no_mean = kind_of_metric(metrics[0]).no_mean
    n_relevant, n_labels = compared.n_relevant, None
    if no_mean:
        n_relevant, n_labels = None, compared.n_relevant
    known_rows = (getattr(run.results[0], 'reference_rows', None) for run in runs)
    definition = manifest['parameters'].get('definition')  # of a score that was read from JSON
    if 'definition' in manifest:
        definition = manifest['definition']['name']
    return Runs(
        names=list(seeds),
        metrics=metrics,
        queries=list(compared.queries),
        values=np.stack([mean_of_seeds(values) for values in values_by_seed.values()], axis=1),
        sources={run.name: run.results[0].source for run in runs},
        notes=_notes_on_runs(runs),
        kind=result.kind,
        n_relevant=n_relevant,
        floor=compared.floor,
        definition=None if definition is None else str(definition),
        inputs={role: source for role, source in result.inputs.items() if role in SHARED_INPUTS},
        dropped_claim=dropped_claim,
        n_skipped=result.counts.get(SKIPPED),
        no_mean=no_mean,
        whole_values=[
            exact_mean([run.results[0].sort_value() for run in group]) for group in seeds.values()
        ],
        n_labels=n_labels,
        ties=manifest['parameters'].get('ties'),
        reference=next((rows for rows in known_rows if rows is not None), None),
        values_by_seed={run: by_seed for run, by_seed in values_by_seed.items() if seeds[run][1:]},
        n_as_zero=n_as_zero,
        missing=note_of_zeros(n_as_zero, 'queries'),
    )


def note_of_zeros(n_as_zero: Mapping[str, int], items: str) -> str:
    """Return a note on items without a value, by run; '' if there are none."""
    counts = ', '.join(f'{n:,} of {printable(name)}' for name, n in n_as_zero.items())
    return counts and f'{items} without a value count as 0: {counts}'


def _n_as_zero(runs: Sequence[_ScoredRun]) -> dict[str, int]:
    """Return the number of queries that each run lacks, if any, and that count as 0."""
    counts = {}
    for run in runs:
        (result, *_) = run.results
        if result.manifest_settings()['parameters'].get('missing') == 'zero':
            counts[run.name] = result.counts['missing']
    return {name: count for name, count in counts.items() if count}


def mean_of_seeds(values: Floats) -> Floats:
    """Return means over the axis before the last; of equal values they are equal to the bit."""
    deviations = values - values[..., :1, :]
    means: Floats = values[..., 0, :] + deviations.mean(axis=-2)
    return means


def run_and_seed(key: object) -> tuple[str, str]:
    """Return the name of a run, and its seed or '', from a key of a mapping."""
    run, seed = key, ''
    if isinstance(key, tuple) and len(key) == 2:
        run, seed = key
    if (name := plain_text(run)) is None or not is_text(name):
        expected = f'{TEXT}, or a pair of a name and a seed'
        raise ParameterError(
            f'compare: found {shown(key)} as the name of a run, expected {expected}'
        )
    return name, str(seed)


def _results_by_name(results: object) -> dict[tuple[str, str], list[Result]]:
    """Return results by the name of the run, and its seed, '' without seeds."""
    results_by_name: dict[tuple[str, str], list[Result]] = {}
    if isinstance(results, Mapping):
        for key, run_results in results.items():
            columns = ['item', 'value']
            if isinstance(run_results, Iterable):
                columns = ['item']
            remedy = remedy_of(results, columns)
            results_by_name[run_and_seed(key)] = _as_list(run_results, remedy)
    else:
        unnamed = _as_list(results, remedy_of(results, ['item', 'value']))
        for name, result in zip(distinct_run_names(unnamed), unnamed, strict=True):
            same_name = results_by_name.setdefault((name, ''), [])
            if same_name and result.source.sha256 is None:  # perhaps another table in memory
                raise _repeated_run(name)
            same_name.append(result)
    if not results_by_name:
        raise ParameterError('compare: found no result, expected one or more')
    return results_by_name


def _as_list(results: object, remedy: str) -> list[Result]:
    values: list[Any] = [results]
    if isinstance(results, Iterable) and not isinstance(results, Result | Mapping):
        values = list(results)
    if wrong := [value for value in values if not isinstance(value, Result)]:
        actual = shown(type(wrong[0]))
        if len(wrong) == len(values) and wrong[0] is not results:
            actual = f'{type(results).__name__} of {type(wrong[0]).__name__}'
        remedy = remedy_of(wrong[0]) or remedy or remedy_of(wrong[0], ['item', 'value'])
        expected = f'results of evaluate, or score tables{remedy}'
        raise ParameterError(f'compare: found {actual}, expected {expected}')
    return values


def _join_results(run: str, seed: str, results: Sequence[Result]) -> _ScoredRun:
    """Join several results of one run, such as scores at several cutoffs."""
    name = name_with_seed(run, seed)
    if not results:
        raise ParameterError(f'compare: found no result of {shown(name)}, expected one or more')
    first, *further = (result.compared_values() for result in results)
    values = dict(first.values)
    floor = dict(first.floor)
    for result, compared in zip(results[1:], further, strict=True):
        is_repeated = isinstance(result, ResultByQuery) or values.keys() & compared.values.keys()
        if is_repeated or result.inputs != results[0].inputs or compared.queries != first.queries:
            raise _repeated_run(name)
        values |= compared.values
        floor |= compared.floor
    order = np.array(sorted(range(len(first.queries)), key=first.queries.__getitem__), np.intp)
    joined = Compared(
        queries=reorder(list(first.queries), order),
        values=reorder(values, order),
        n_relevant=reorder(first.n_relevant, order),
        floor=floor,
        left_out=first.left_out,
    )
    return _ScoredRun(run, seed, results, joined)


def _repeated_run(name: str) -> ParameterError:
    return ParameterError(
        f'compare: found the run {shown(name)} twice, expected each once; {NAMES_REMEDY}'
    )


def _check_alike(first: _ScoredRun, other: _ScoredRun) -> None:
    """Raise ParameterError unless two runs were scored alike, on the same queries."""

    def check_equal(setting: str, expected: Any, actual: Any) -> None:
        if actual != expected:
            raise ParameterError(
                f'compare: {setting}: found {shown(actual)} for {shown(other.name)}, expected '
                f'{shown(expected)} as for {shown(first.name)}; score all runs alike'
            )

    pair = (first, other)
    check_equal('kind', *(type(run.results[0]).__name__ for run in pair))
    metrics = [sorted({*run.compared.values, *run.compared.left_out}) for run in pair]
    check_equal('metrics', *map(', '.join, metrics))
    check_equal('results', *(len(run.results) for run in pair))
    for first_result, other_result in zip(first.results, other.results, strict=True):
        manifest = first_result.manifest_settings()
        other_manifest = other_result.manifest_settings()
        definition = manifest.get('definition')
        other_definition = other_manifest.get('definition')
        # A score that was read from JSON has the name alone, among its parameters.
        if definition and other_definition and definition != other_definition:
            raise ParameterError(
                f'compare: definition: found {other_definition["name"]} for {shown(other.name)}, '
                f'expected {definition["name"]} as for {shown(first.name)}; score all runs by one '
                'definition; in Python, also={name: results} adds others'
            )
        settings = manifest['parameters'], other_manifest['parameters']
        for name in sorted({*settings[0], *settings[1]} - {'K', 'k'}):
            check_equal(
                name, *(values.get(name, OMITTED_DEFAULTS.get(name)) for values in settings)
            )
    for role in SHARED_INPUTS:
        sources = [run.results[0].inputs.get(role) for run in pair]
        names = [printable(source.name) if source else 'none' for source in sources]
        if sources.count(None) == 1:
            check_equal(role, *names)
        hashes = {source.sha256 for source in sources if source is not None}
        if len(hashes) == 2 and None not in hashes:
            raise ParameterError(
                f'compare: {role}: found {names[1]} for {shown(other.name)}, which differs from '
                f'{names[0]} of {shown(first.name)} (SHA-256), expected one file for all runs'
            )
    _check_queries(first, other)


def _check_queries(first: _ScoredRun, other: _ScoredRun) -> None:
    """Raise ParameterError unless two runs have equal queries and numbers of relevant shots."""
    for run in (first, other):
        (result, *_), counts = run.results, run.results[0].counts
        if 'samples' in counts and result.parameters['missing'] == 'skip' and counts['missing']:
            actual = f'samples left out for {shown(run.name)} ({counts["missing"]})'
            remedy = "score all runs by --missing zero, in Python missing='zero'"
            raise ParameterError(f'compare: found {actual}, expected none: {remedy}')
    queries = first.compared.queries
    other_queries = other.compared.queries
    if queries != other_queries:
        only_first = {*queries} - {*other_queries}
        only_other = {*other_queries} - {*queries}
        difference = 'some queries more than once'
        if only_first:
            difference = f'{shown(min(only_first))} only for {shown(first.name)}'
        elif only_other:
            difference = f'{shown(min(only_other))} only for {shown(other.name)}'
        raise ParameterError(
            f'compare: queries: found {len(other_queries)} for {shown(other.name)} and '
            f'{len(queries)} for {shown(first.name)} ({difference}), expected the same; score all '
            'runs on one list of queries, files of topics or ids with --missing zero, in Python '
            "missing='zero'"
        )
    n_relevant = first.compared.n_relevant
    other_n_relevant = other.compared.n_relevant
    if (
        n_relevant is None
        or other_n_relevant is None
        or np.array_equal(n_relevant, other_n_relevant)
    ):
        return
    row = int(np.flatnonzero(n_relevant != other_n_relevant)[0])
    raise ParameterError(
        f'compare: reference: found {other_n_relevant[row]} relevant shots of '
        f'{shown(queries[row])} for {shown(other.name)}, expected {n_relevant[row]} as for '
        f'{shown(first.name)}; score all runs against one reference'
    )


def _notes_on_runs(runs: Sequence[_ScoredRun]) -> list[str]:
    compared = runs[0].compared
    result = runs[0].results[0]
    notes = []
    if left_out := sorted({metric for run in runs for metric in run.compared.left_out}):
        notes.append(f'{", ".join(left_out)}: left out, as some queries have no value')
    lack = NO_TRUE_LABEL
    if isinstance(result, ResultByQuery):
        lack = NO_RELEVANT
    notes += notes_of_skipped(result.counts.get(SKIPPED, 0), len(compared.queries), lack)
    notes_by_run = [
        notes_of_judged(result.manifest_settings()['parameters'], result.counts)
        for result in (run.results[0] for run in runs)
    ]
    notes += map(merge_notes, zip(*notes_by_run, strict=False))
    if n_repeated := len(compared.queries) - len(set(compared.queries)):
        notes.append(f'{n_repeated} repeated queries count again, as if they were other queries')
    inputs = [item for run in runs for item in run.results[0].inputs.items()]
    without_hash = {
        role for role, source in inputs if role in SHARED_INPUTS and source.sha256 is None
    }
    if without_hash and len(runs) > 1:
        consequence = 'nothing was compared'
        if compared.n_relevant is not None:
            consequence = 'only the number of relevant shots of each query was compared'
        roles = ' and '.join(sorted(without_hash)).capitalize()
        notes.append(f'{roles}: without the hash of a file, so {consequence}')
    return notes


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between the orders of runs by two metrics, or the reason why it is None."""

    a: str
    b: str
    tau: float | None
    reason: str = ''


def agreements(runs: Runs, also: Mapping[str, object] | None) -> list[Agreement]:
    """Return Kendall's tau-b of all pairs of metrics, and of each metric under two definitions."""
    if also is not None and not isinstance(also, Mapping):
        raise ParameterError(f'found {shown(also)}, expected {{name: results}}', 'also')
    by_definition = {'': runs.means()}
    for name, results in (also or {}).items():
        other = read_runs(results)
        for kind, expected, actual in (
            ('runs', runs.names, other.names),
            ('queries', runs.queries, other.queries),
        ):
            if actual != expected:
                which = ''
                if differing := {*actual} ^ {*expected}:
                    which = f' ({shown(min(differing))} is only in one of them)'
                raise ParameterError(
                    f'also: {shown(name)}: found other {kind} than those that are compared{which}, '
                    'expected the same; a mapping names runs'
                )
        by_definition[f'{name} '] = other.means()
    taus = [
        agreement(a, first, b, second)
        for (a, first), (b, second) in combinations(by_definition[''].items(), 2)
    ]
    for (a, first), (b, second) in combinations(by_definition.items(), 2):
        taus += [
            agreement(f'{a}{metric}', first[metric], f'{b}{metric}', second[metric])
            for metric in first
            if metric in second
        ]
    return taus


def agreement(a: str, first: list[float], b: str, second: list[float]) -> Agreement:
    """Return Kendall's tau-b between the means of runs by two metrics, or the reason for none."""
    if len(first) == 1:
        return Agreement(a, b, None, 'one run has no order')
    for metric, means in (a, first), (b, second):
        if min(means) == max(means):
            return Agreement(a, b, None, f'all runs are equal by {metric}')
    signs, other_signs = (np.sign(np.subtract.outer(means, means)) for means in (first, second))
    n_untied = np.count_nonzero(signs) * np.count_nonzero(other_signs)
    return Agreement(a, b, float((signs * other_signs).sum() / math.sqrt(n_untied)))
