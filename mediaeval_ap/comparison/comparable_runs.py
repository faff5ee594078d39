"""The runs of a comparison: values on the same queries in one order, or the reason why not."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.results.evaluation import ResultByQuery
from mediaeval_ap.results.result import (
    NO_LABEL,
    NO_RELEVANT,
    SKIPPED,
    Compared,
    Result,
    kind_of_metric,
    names_of,
    notes_of_judged,
    notes_of_skipped,
)
from mediaeval_ap.tables import REFERENCE, SUBSET, Provenance, read

SHARED = ('reference', 'truth', 'shots', 'subset', 'judged', 'consensus', 'evidence_reference')
BY_DEFAULT = {'queries_without_relevant': 'count'}  # of settings that a manifest may lack
NAMES_REMEDY = (
    'in the shell, name runs by NAME=FILE when they are scored, or change "run" in their JSON; in '
    'Python, name them by a mapping: '
    "compare({'one': …, 'other': …})"
)
BINS = {'0': 0, '1': 1, '2–5': 5, '6–20': 20}  # the largest number of relevant shots in each
LAST_BIN = '21+'
NO_CORPUS = 'no relevant shot'
Key = TypeVar('Key', str, tuple[str, str])


@dataclass(frozen=True)
class Runs:
    """Runs in the order of their names, and their values on the sorted queries."""

    names: list[str]
    metrics: list[str]
    queries: list[str]
    values: NDArray[np.float64]  # (n_metrics, n_runs, n_queries)
    sources: Mapping[str, Provenance]
    notes: list[str]
    kind: str
    lacking_claim: str = ''  # the first measure, if some queries have no value of it
    n_relevant: NDArray[np.int64] | None = None
    floor: Mapping[str, float] = field(default_factory=dict)
    definition: str | None = None
    inputs: Mapping[str, Provenance] = field(default_factory=dict)
    n_skipped: int | None = None  # queries that were left out; None where these count
    clusters: Sequence[str] | None = None  # of each query, in a score table
    groups: Sequence[str] | None = None
    range: list[float] | None = None  # of a score table: the least and the largest value
    is_range_declared: bool = True  # given, or from 0 to 1; else `range` is that of all values
    n_as_zero: Mapping[str, int] = field(default_factory=dict)  # its items without a value
    no_mean: str = ''  # why the metric is no mean over queries
    whole: Sequence[float] = ()  # then the metric of each run
    n_labels: NDArray[np.int64] | None = None  # then the labels that each value is the mean of
    ties: Any = None  # of runs of TREC

    @property
    def has_videos(self) -> bool:
        """Return whether shots of videos are returned; documents of TREC are not."""
        return self.kind == 'evaluation' and self.ties is None

    @property
    def n_without_relevant(self) -> int:
        """The number of queries that are known to have no relevant shot."""
        return 0 if self.n_relevant is None else int(np.count_nonzero(self.n_relevant == 0))

    def means(self) -> dict[str, list[float]]:
        """Return the mean of each run by metric."""
        if self.no_mean:
            return {self.metrics[0]: list(self.whole)}
        rows = zip(self.metrics, self.values, strict=True)
        return {metric: list(map(exact_mean, values)) for metric, values in rows}


@dataclass(frozen=True)
class _ScoredRun:
    """The results of one run, and its values with the queries sorted."""

    name: str
    results: Sequence[Result]
    compared: Compared


def exact_mean(values: NDArray[np.float64]) -> float:
    """Return the mean, rounded once, whatever the order."""
    return math.fsum(values.tolist()) / len(values)


def read_runs(results: object) -> Runs:
    """Check that runs can be compared, and sort runs and queries by name."""
    runs = [_scored(name, each) for name, each in sorted(_by_name(results).items())]
    first = runs[0]
    for other in runs[1:]:
        _refuse_others(first, other)
    compared = first.compared
    result = first.results[0]
    known = [run.compared.values for run in runs]
    metrics = [metric for metric in known[0] if all(metric in values for values in known)]
    # Claims are about the last metric: the first measure, as it was named before others.
    claimed = next(iter(getattr(result, 'measures', ())), metrics[-1])
    metrics.sort(key=claimed.__eq__)
    values = [[each[metric] for each in known] for metric in metrics]
    manifest = result.manifest_settings()
    no_mean = kind_of_metric(metrics[-1]).no_mean
    definition = manifest['parameters'].get('definition')  # of a score that was read from JSON
    if 'definition' in manifest:
        definition = manifest['definition']['name']
    return Runs(
        names=[run.name for run in runs],
        metrics=metrics,
        queries=list(compared.queries),
        values=np.array(values, dtype=np.float64),
        sources={run.name: run.results[0].source for run in runs},
        notes=_notes(runs),
        kind=result.kind,
        n_relevant=None if no_mean else compared.n_relevant,
        floor=compared.floor,
        definition=None if definition is None else str(definition),
        inputs={role: source for role, source in result.inputs.items() if role in SHARED},
        lacking_claim='' if claimed in metrics else claimed,
        n_skipped=result.counts.get(SKIPPED),
        no_mean=no_mean,
        whole=[run.results[0].sort_value() for run in runs],
        n_labels=compared.n_relevant if no_mean else None,
        ties=manifest['parameters'].get('ties'),
    )


def _by_name(results: object) -> dict[str, list[Result]]:
    """Return the results of each run."""
    named: dict[str, list[Result]] = {}
    if isinstance(results, Mapping):
        for name, each in results.items():
            text = plain_text(name)
            if text is None or not is_text(text):
                found = f'{shown(name)} as the name of a run'
                raise ParameterError(f'compare: found {found}, expected {TEXT}')
            named[text] = _listed(each)
    else:
        listed = _listed(results)
        for name, each in zip(names_of(listed), listed, strict=True):
            known = named.setdefault(name, [])
            if known and each.source.sha256 is None:  # perhaps another table in memory
                raise _found_twice(name)
            known.append(each)
    if not named:
        raise ParameterError('compare: found no result, expected one or more')
    return named


def _listed(results: object) -> list[Result]:
    if isinstance(results, Result):
        return [results]
    given: list[Any] = list(results) if isinstance(results, Iterable) else [results]
    if others := [each for each in given if not isinstance(each, Result)]:
        found = shown(type(others[0]))
        raise ParameterError(f'compare: found {found}, expected results, as of evaluate')
    return given


def _scored(name: str, results: Sequence[Result]) -> _ScoredRun:
    """Put the results of one run side by side: they are scores at several cutoffs."""
    if not results:
        raise ParameterError(f'compare: found no result of {shown(name)}, expected one or more')
    first, *others = (each.compared_values() for each in results)
    values = dict(first.values)
    floor = dict(first.floor)
    for result, each in zip(results[1:], others, strict=True):
        is_twice = isinstance(result, ResultByQuery) or values.keys() & each.values.keys()
        if is_twice or result.inputs != results[0].inputs or each.queries != first.queries:
            raise _found_twice(name)
        values |= each.values
        floor |= each.floor
    order = sorted(range(len(first.queries)), key=first.queries.__getitem__)
    compared = Compared(
        [first.queries[row] for row in order],
        {metric: each[order] for metric, each in values.items()},
        None if first.n_relevant is None else first.n_relevant[order],
        floor,
        first.left_out,
    )
    return _ScoredRun(name, results, compared)


def _found_twice(name: str) -> ParameterError:
    return ParameterError(
        f'compare: found the run {shown(name)} twice, expected each once; {NAMES_REMEDY}'
    )


def _refuse_others(first: _ScoredRun, other: _ScoredRun) -> None:
    """Refuse a run that was not scored as the first one was."""

    def refuse_unequal(what: str, expected: Any, found: Any) -> None:
        if found != expected:
            raise ParameterError(
                f'compare: {what}: found {shown(found)} for {shown(other.name)}, expected '
                f'{shown(expected)} as for {shown(first.name)}; score all runs alike'
            )

    both = (first, other)
    refuse_unequal('kind', *(type(run.results[0]).__name__ for run in both))
    metrics = [sorted({*run.compared.values, *run.compared.left_out}) for run in both]
    refuse_unequal('metrics', *map(', '.join, metrics))
    refuse_unequal('results', *(len(run.results) for run in both))
    for before, after in zip(first.results, other.results, strict=True):
        expected = before.manifest_settings()
        found = after.manifest_settings()
        definition = expected.get('definition')
        of_other = found.get('definition')
        # A score that was read from JSON has the name alone, among its parameters.
        if definition and of_other and definition != of_other:
            raise ParameterError(
                f'compare: definition: found {of_other["name"]} for {shown(other.name)}, expected '
                f'{definition["name"]} as for {shown(first.name)}; score all runs by one '
                'definition, and give others by --also-definitions, in Python also={name: results}'
            )
        settings = expected['parameters'], found['parameters']
        for name in sorted({*settings[0], *settings[1]} - {'K', 'k'}):
            refuse_unequal(name, *(each.get(name, BY_DEFAULT.get(name)) for each in settings))
    for role in SHARED:
        sources = [run.results[0].inputs.get(role) for run in both]
        names = ['none' if each is None else printable(each.name) for each in sources]
        if sources.count(None) == 1:
            refuse_unequal(role, *names)
        hashes = {each.sha256 for each in sources if each is not None}
        if len(hashes) == 2 and None not in hashes:
            raise ParameterError(
                f'compare: {role}: found {names[1]} for {shown(other.name)}, which differs from '
                f'{names[0]} of {shown(first.name)} (SHA-256), expected one file for all runs'
            )
    _refuse_other_queries(first, other)


def _refuse_other_queries(first: _ScoredRun, other: _ScoredRun) -> None:
    queries = first.compared.queries
    others = other.compared.queries
    if queries != others:
        lacking = {*queries} - {*others}
        more = {*others} - {*queries}
        what = 'some queries more than once'
        if lacking or more:
            only = first.name if lacking else other.name
            what = f'{shown(min(lacking or more))} only for {shown(only)}'
        raise ParameterError(
            f'compare: queries: found {len(others)} for {shown(other.name)} and {len(queries)} for '
            f'{shown(first.name)} ({what}), expected the same; score all runs on one list of '
            "queries, files of topics or ids with --missing zero, in Python missing='zero'"
        )
    before = first.compared.n_relevant
    after = other.compared.n_relevant
    if before is None or after is None or np.array_equal(before, after):
        return
    at = int(np.flatnonzero(before != after)[0])
    raise ParameterError(
        f'compare: reference: found {after[at]} relevant shots of {shown(queries[at])} for '
        f'{shown(other.name)}, expected {before[at]} as for {shown(first.name)}; score all runs '
        'against one reference'
    )


def _notes(runs: Sequence[_ScoredRun]) -> list[str]:
    compared = runs[0].compared
    result = runs[0].results[0]
    notes = []
    if left_out := sorted({name for run in runs for name in run.compared.left_out}):
        notes.append(f'{", ".join(left_out)}: left out, as some queries have no value')
    lack = NO_RELEVANT if isinstance(result, ResultByQuery) else NO_LABEL
    notes += notes_of_skipped(result.counts.get(SKIPPED, 0), len(compared.queries), lack)
    notes += notes_of_judged(result.manifest_settings()['parameters'], result.counts)
    if n_repeated := len(compared.queries) - len(set(compared.queries)):
        notes.append(f'{n_repeated} repeated queries count again, as if they were other queries')
    inputs = [item for run in runs for item in run.results[0].inputs.items()]
    without_hash = {role for role, each in inputs if role in SHARED and each.sha256 is None}
    if without_hash and len(runs) > 1:
        checked = 'nothing' if compared.n_relevant is None else 'the number of relevant shots'
        notes.append(
            f'{" and ".join(sorted(without_hash))}: without a file of its own for a hash; of each '
            f'query, {checked} was compared'
        )
    return notes


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between the orders that two metrics give; without it, the reason."""

    a: str
    b: str
    tau: float | None
    reason: str = ''


def agreements(runs: Runs, also: Mapping[str, object] | None) -> list[Agreement]:
    """Return Kendall's tau-b of all pairs of metrics, and of each metric under two definitions."""
    if also is not None and not isinstance(also, Mapping):
        raise ParameterError(f'also: found {shown(also)}, expected {{name: results}}')
    by_definition = {'': runs.means()}
    for name, results in (also or {}).items():
        other = read_runs(results)
        for what, expected, known in (
            ('runs', runs.names, other.names),
            ('queries', runs.queries, other.queries),
        ):
            if known != expected:
                differing = min({*known} ^ {*expected}, default=None)
                which = '' if differing is None else f' ({shown(differing)} is only in one of them)'
                raise ParameterError(
                    f'also: {shown(name)}: found other {what} than those that are compared{which}, '
                    'expected the same; a mapping names runs'
                )
        by_definition[f'{name} '] = other.means()
    found = [
        agreement(a, first, b, second)
        for (a, first), (b, second) in combinations(by_definition[''].items(), 2)
    ]
    for (a, first), (b, second) in combinations(by_definition.items(), 2):
        for metric in (metric for metric in first if metric in second):
            both = f'{a}{metric}', first[metric], f'{b}{metric}', second[metric]
            found.append(agreement(*both))
    return found


def agreement(a: str, first: list[float], b: str, second: list[float]) -> Agreement:
    """Return Kendall's tau-b between the means of runs by two metrics, or why there is none."""
    if len(first) == 1:
        return Agreement(a, b, None, 'one run has no order')
    for metric, means in (a, first), (b, second):
        if min(means) == max(means):
            return Agreement(a, b, None, f'all runs are equal by {metric}')
    one, other = (np.sign(np.subtract.outer(means, means)) for means in (first, second))
    n_untied = np.count_nonzero(one) * np.count_nonzero(other)
    return Agreement(a, b, float((one * other).sum() / math.sqrt(n_untied)))


class VideosOfQueries:
    """The videos (corpus and video) of the relevant shots of each query."""

    def __init__(self, runs: Runs, what: str, reference: Any, subset: Any) -> None:
        if reference is None:
            expected = 'the one that the runs were scored against, as reference=…'
            raise ParameterError(f'{what}: found no reference, expected {expected}')
        if not runs.has_videos:
            expected = 'those of AveragePrecision'
            raise ParameterError(f'{what}: found results without videos, expected {expected}')
        table = read(reference, REFERENCE)
        if subset is not None:
            table = table.select(table.within(read(subset, SUBSET)))
        asked = set(runs.queries)
        shots: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
        for corpus, video, shot, name in table.rows():
            if name in asked:
                shots[name][corpus, video, shot] += 1
        assert runs.n_relevant is not None
        for query, n_relevant in zip(runs.queries, runs.n_relevant.tolist(), strict=True):
            found = shots[query]
            if n_relevant not in (len(found), found.total()):  # repeated rows may count again
                raise ParameterError(
                    f'{printable(table.source.name)}: found {len(found)} relevant shots of '
                    f'{shown(query)}, expected {n_relevant} as in the results; give the reference '
                    'that the runs were scored against, and its subset if they had one'
                )
        self._videos = {
            query: Counter((corpus, video) for corpus, video, _ in shots[query]) for query in asked
        }

    def video(self, query: str) -> tuple[str, str] | None:
        """Return the video that holds most of the relevant shots, of equal ones the first."""
        return _most(self._videos[query])

    @property
    def n_videos(self) -> int:
        """The number of videos that queries are of."""
        return len({self.video(query) for query in self._videos} - {None})

    def corpus(self, query: str) -> str | None:
        """Return the corpus that holds most of the relevant shots, of equal ones the first."""
        return _most(Counter(corpus for corpus, _ in self._videos[query].elements()))


def _most(counts: Counter[Key]) -> Key | None:
    return min(counts, key=lambda key: (-counts[key], key), default=None)


def cluster_numbers(
    runs: Runs, videos: VideosOfQueries | None, given: Sequence[str] | None = None
) -> NDArray[np.intp]:
    """Return the number of the cluster of each query: the given one, its video, or itself."""
    if videos is None and given is None:
        return np.arange(len(runs.queries))
    numbers: dict[object, int] = {}  # by first occurrence; a video is a pair, so equal to no query
    clusters: Iterable[object] = given or []
    if videos is not None:
        clusters = (videos.video(query) or query for query in runs.queries)
    return np.array([numbers.setdefault(each, len(numbers)) for each in clusters], dtype=np.intp)


@dataclass(frozen=True)
class GroupMean:
    """The mean of a run over the queries of a group."""

    group: str
    n_queries: int
    metric: str
    run: str
    map: float


def group_means(
    runs: Runs, by: str | None, videos: VideosOfQueries | None, given: Sequence[str] | None = None
) -> list[GroupMean]:
    """Return the mean of each run by metric, and corpus, number of relevant shots or `given`."""
    if given is not None:
        groups = list(given)
        order = sorted(set(given))
    elif by is None:
        return []
    elif by == 'corpus' and videos is not None:
        groups = [videos.corpus(query) or NO_CORPUS for query in runs.queries]
        order = [*sorted({*groups} - {NO_CORPUS}), NO_CORPUS]
    elif runs.n_relevant is None:
        raise ParameterError(
            "by: found 'relevant' for results without numbers of relevant shots, expected None"
        )
    else:
        order = [*BINS, LAST_BIN]
        groups = [
            next((name for name, most in BINS.items() if count <= most), LAST_BIN)
            for count in runs.n_relevant.tolist()
        ]
    members = {group: np.flatnonzero(np.array(groups) == group) for group in order}
    return [
        GroupMean(group, len(rows), metric, run, exact_mean(row[rows]))
        for group, rows in members.items()
        if len(rows)
        for metric, values in zip(runs.metrics, runs.values, strict=True)
        for run, row in zip(runs.names, values, strict=True)
    ]
