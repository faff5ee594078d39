"""The runs of a comparison: values on the same queries in one order, or the reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.plain_text import TEXT, is_text, plain_text
from mediaeval_ap.results.columns import SKIPPED
from mediaeval_ap.results.compared import Compared
from mediaeval_ap.results.evaluation import ResultByQuery
from mediaeval_ap.results.means_and_notes import NO_LABEL, NO_RELEVANT, notes_of_skipped
from mediaeval_ap.results.result import Result
from mediaeval_ap.tables import Source

SHARED = ('reference', 'truth', 'shots', 'subset', 'consensus', 'evidence_reference')
BY_DEFAULT = {'queries_without_relevant': 'count'}  # of settings that a manifest may lack
NAMES_REMEDY = (
    'in the shell, score runs from files of different names, or change "run" in their JSON; in '
    'Python, name them by a mapping: '
    "compare({'one': …, 'other': …})"
)


@dataclass(frozen=True)
class Runs:
    """Runs in the order of their names, and their values on the sorted queries."""

    names: list[str]
    metrics: list[str]
    queries: list[str]
    values: NDArray[np.float64]  # (n_metrics, n_runs, n_queries)
    n_relevant: NDArray[np.int64] | None
    floor: Mapping[str, float]
    definition: str | None
    sources: Mapping[str, Source]
    inputs: Mapping[str, Source]
    notes: list[str]
    kind: str
    n_skipped: int | None  # queries that were left out; None where these count


@dataclass(frozen=True)
class Run:
    """The results of one run, and its values with the queries sorted."""

    name: str
    results: Sequence[Result]
    compared: Compared


def read_runs(results: object) -> Runs:
    """Check that runs can be compared, and sort runs and queries by name."""
    runs = [_run(name, each) for name, each in sorted(_by_name(results).items())]
    first = runs[0]
    for other in runs[1:]:
        _refuse_others(first, other)
    metrics = [
        metric
        for metric in first.compared.values
        if all(metric in run.compared.values for run in runs)
    ]
    values = [[run.compared.values[metric] for run in runs] for metric in metrics]
    result = first.results[0]
    return Runs(
        [run.name for run in runs],
        metrics,
        list(first.compared.queries),
        np.array(values, dtype=np.float64),
        first.compared.n_relevant,
        first.compared.floor,
        _definition(result),
        {run.name: run.results[0].inputs[result.RUN] for run in runs},
        {role: source for role, source in result.inputs.items() if role in SHARED},
        _notes(runs),
        result.KIND,
        result.counts.get(SKIPPED),
    )


def _by_name(results: object) -> dict[str, list[Result]]:
    """Return the results of each run."""
    if isinstance(results, Mapping):
        named = {_checked_name(name): _listed(each) for name, each in results.items()}
    else:
        named = {}
        for each in _listed(results):
            known = named.setdefault(each._run, [])
            if known and each.inputs[each.RUN].sha256 is None:  # perhaps another table in memory
                raise _found_twice(each._run)
            known.append(each)
    if not named:
        raise ParameterError('compare: found no result, expected one or more')
    return named


def _checked_name(name: object) -> str:
    text = plain_text(name)
    if text is None or not is_text(text):
        raise ParameterError(f'compare: found {shown(name)} as the name of a run, expected {TEXT}')
    return text


def _listed(results: object) -> list[Result]:
    if isinstance(results, Result):
        return [results]
    given = list(results) if isinstance(results, Iterable) else []
    wrong = [each for each in given if not isinstance(each, Result)]
    if wrong or (not given and not isinstance(results, Iterable)):
        found = shown(type(wrong[0] if wrong else results))
        raise ParameterError(f'compare: found {found}, expected results, as of evaluate')
    return given


def _run(name: str, results: Sequence[Result]) -> Run:
    """Put the results of one run side by side: they are scores at several cutoffs."""
    if not results:
        raise ParameterError(f'compare: found no result of {shown(name)}, expected one or more')
    first, *others = (each._compared() for each in results)
    values, floor = dict(first.values), dict(first.floor)
    for result, each in zip(results[1:], others, strict=True):
        is_twice = isinstance(result, ResultByQuery) or values.keys() & each.values.keys()
        if is_twice or result.inputs != results[0].inputs or each.queries != first.queries:
            raise _found_twice(name)
        values |= each.values
        floor |= each.floor
    order = sorted(range(len(first.queries)), key=first.queries.__getitem__)
    n_relevant = None if first.n_relevant is None else first.n_relevant[order]
    queries = [first.queries[place] for place in order]
    sorted_values = {metric: each[order] for metric, each in values.items()}
    return Run(name, results, Compared(queries, sorted_values, n_relevant, floor, first.left_out))


def _found_twice(name: str) -> ParameterError:
    return ParameterError(
        f'compare: found the run {shown(name)} twice, expected each once; {NAMES_REMEDY}'
    )


def _refuse_others(first: Run, other: Run) -> None:
    """Refuse a run that was not scored as the first one was."""
    _refuse_unequal(
        first, other, 'kind', *(type(run.results[0]).__name__ for run in (first, other))
    )
    _refuse_other_metrics(first, other)
    for before, after in zip(first.results, other.results, strict=True):
        _refuse_settings(first, other, before._of_manifest(), after._of_manifest())
    _refuse_references(first, other)
    _refuse_queries(first, other)
    expected, found = first.compared.n_relevant, other.compared.n_relevant
    if expected is None or found is None or np.array_equal(expected, found):
        return
    at = int(np.flatnonzero(expected != found)[0])
    raise ParameterError(
        f'compare: reference: found {found[at]} relevant shots of '
        f'{shown(first.compared.queries[at])} for {shown(other.name)}, expected {expected[at]} as '
        f'for {shown(first.name)}; score all runs against one reference'
    )


def _refuse_unequal(first: Run, other: Run, what: str, expected: Any, found: Any) -> None:
    if found != expected:
        raise ParameterError(
            f'compare: {what}: found {shown(found)} for {shown(other.name)}, expected '
            f'{shown(expected)} as for {shown(first.name)}; score all runs alike'
        )


def _refuse_other_metrics(first: Run, other: Run) -> None:
    metrics = [sorted({*run.compared.values, *run.compared.left_out}) for run in (first, other)]
    _refuse_unequal(first, other, 'metrics', *(', '.join(each) for each in metrics))
    _refuse_unequal(first, other, 'results', len(first.results), len(other.results))


def _refuse_settings(
    first: Run, other: Run, expected: Mapping[str, Any], found: Mapping[str, Any]
) -> None:
    """Refuse another definition, or another setting that values depend on."""
    definition, of_other = expected.get('definition'), found.get('definition')
    # A score that was read from JSON has the name alone, among its parameters.
    if definition and of_other and definition != of_other:
        of_runs = (
            f'{of_other["name"]} for {shown(other.name)}, expected {definition["name"]} as for'
        )
        raise ParameterError(
            f'compare: definition: found {of_runs} {shown(first.name)}; score all runs by one '
            'definition, and give others by --also-definitions, in Python also={name: results}'
        )
    settings = expected['parameters']
    for name in sorted({*settings, *found['parameters']} - {'K', 'k'}):
        both = (each.get(name, BY_DEFAULT.get(name)) for each in (settings, found['parameters']))
        _refuse_unequal(first, other, name, *both)


def _refuse_references(first: Run, other: Run) -> None:
    """Refuse another reference, as far as files have a hash."""
    for role in SHARED:
        sources = [run.results[0].inputs.get(role) for run in (first, other)]
        expected, found = sources
        if (expected is None) != (found is None):
            has = ['none' if source is None else printable(source.name) for source in sources]
            _refuse_unequal(first, other, role, *has)
        if expected is None or found is None or None in (expected.sha256, found.sha256):
            continue
        if expected.sha256 != found.sha256:
            raise ParameterError(
                f'compare: {role}: found {printable(found.name)} for {shown(other.name)}, which '
                f'differs from {printable(expected.name)} of {shown(first.name)} (SHA-256), '
                'expected one file for all runs'
            )


def _refuse_queries(first: Run, other: Run) -> None:
    expected, found = first.compared.queries, other.compared.queries
    if expected == found:
        return
    lacking, more = set(expected) - set(found), set(found) - set(expected)
    example = min(lacking or more, default=None)
    what = (
        'some queries more than once'
        if example is None
        else (f'{shown(example)} only for {shown((first if lacking else other).name)}')
    )
    raise ParameterError(
        f'compare: queries: found {len(found)} for {shown(other.name)} and {len(expected)} for '
        f'{shown(first.name)} ({what}), expected the same; score all runs on one list of queries, '
        "files of topics or ids with --missing zero, in Python missing='zero'"
    )


def _definition(result: Result) -> str | None:
    manifest = result._of_manifest()
    if 'definition' in manifest:
        return str(manifest['definition']['name'])
    name = manifest['parameters'].get('definition')  # of a score that was read from JSON
    return None if name is None else str(name)


def _notes(runs: Sequence[Run]) -> list[str]:
    compared = runs[0].compared
    notes = []
    if left_out := sorted({name for run in runs for name in run.compared.left_out}):
        names = ', '.join(left_out)
        notes.append(f'{names}: left out, as some queries have no value')
    result = runs[0].results[0]
    lack = NO_RELEVANT if isinstance(result, ResultByQuery) else NO_LABEL
    notes += notes_of_skipped(result.counts.get(SKIPPED, 0), len(compared.queries), lack)
    n_repeated = len(compared.queries) - len(set(compared.queries))
    if n_repeated:
        notes.append(f'{n_repeated} repeated queries count again, as if they were other queries')
    without_hash = sorted(
        {
            role
            for run in runs
            for role, source in run.results[0].inputs.items()
            if role in SHARED and source.sha256 is None
        }
    )
    if without_hash and len(runs) > 1:
        checked = 'nothing' if compared.n_relevant is None else 'the number of relevant shots'
        notes.append(
            f'{" and ".join(without_hash)}: without a file of its own for a hash; of each query, '
            f'{checked} was compared'
        )
    return notes
