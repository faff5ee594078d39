"""Results as they were, from the JSON that every command writes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, check_cutoffs
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    UnknownDefinitionError,
    shown,
)
from mediaeval_ap.metrics.accumulator import ExactSums
from mediaeval_ap.metrics.ranked_labels import ReciprocalRank
from mediaeval_ap.results.evaluation import Evaluation, Evaluation2015, ResultByQuery
from mediaeval_ap.results.means_and_notes import SKIPPED
from mediaeval_ap.results.result import SCHEMA, Result
from mediaeval_ap.results.score import COUNTS, NO_MEAN, Score
from mediaeval_ap.tables import MAX_BYTES, Source
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.sources import ByteSource

__all__ = ['read_results']

KINDS = {
    dict: 'an object',
    list: 'a list',
    str: 'text',
    float: 'a number',
    int: 'an integer',
    bool: 'true or false',
}
LARGEST_COUNT = 1 << 53  # far more than shots there can be, and sums fit into 64 bits
# Values of other libraries, expected precisions and means over labels are sums of rounded terms.
ROUNDING = 1e-12
# Measures of ir_measures that count, or whose gains can be any.
BEYOND_ONE = re.compile(r'Num|alpha_DCG|nDCG\(.*gains').match
PER_QUERY = 'the values of each query: write the file with --format json --per-query'


class Fault(Exception):
    """A field of a result that is not as the schema says."""

    def __init__(self, field: str, found: str, expected: str, place: str = '') -> None:
        super().__init__(field, found, expected, place)
        self.field, self.found, self.expected, self.place = field, found, expected, place


def read_results(
    source: str | os.PathLike[str] | IO[Any], *, max_bytes: int = MAX_BYTES
) -> list[Result]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        What a command wrote with ``--format json --per-query``, or `Evaluation.to_json` with
        ``per_query=True``; it may be compressed. No named pipe, to which perhaps nobody writes;
        a pipe of the shell (``/dev/fd/…``) or ``-`` is read to its end.
    max_bytes : int
        Largest size in bytes of a compressed file, a pipe or standard input.

    Returns
    -------
    list of Evaluation, Evaluation2015 or Score
        The results, as they were when they were written, without warnings. Scores cannot be put
        together by `Score.concat`, for which a file has too little.

    Raises
    ------
    ReadError
        When the file cannot be read.
    FormatError
        When it is not JSON of this shape, has a key twice in an object, no values of queries,
        values that their metric cannot have, or means or numbers of queries that are not those
        of its queries.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap import AveragePrecision, read_results
    >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
    >>> evaluation = evaluate('samples/hypothesis.txt', 'samples/queries.txt')
    >>> (again,) = read_results(io.StringIO(evaluation.to_json(per_query=True)))
    >>> again.to_dict() == evaluation.to_dict()
    True
    """
    stored = ByteSource(source, max_bytes)
    if stored.is_named_pipe:
        raise ReadError(stored.name, 'is a named pipe: read it as standard input (-), or a file')
    with stored.open() as stream:
        content = stream.read()
    value = parsed_json(content, stored.name)
    try:
        if not isinstance(value, dict) or value.get('schema') != SCHEMA:
            found = shown(value.get('schema')) if isinstance(value, dict) else shown(value)
            raise Fault('schema', found, f'{SCHEMA!r}, as --format json of a command writes it')
        results = _field(value, 'results', list)
        if not results:
            raise Fault('results', 'none', 'one or more')
    except Fault as fault:
        raise FormatError(stored.name, '', fault.field, fault.found, fault.expected) from None
    return [_result(each, stored.name, number) for number, each in enumerate(results, 1)]


def _result(value: object, name: str, number: int) -> Result:
    """Return a result of a file, or raise the error that says what is wrong with it."""
    place = f'result {number}'
    try:
        if not isinstance(value, dict):
            raise Fault('', shown(value), 'an object')
        kind = _field(value, 'kind', str)
        if kind not in READERS:
            raise Fault('kind', shown(kind), f'one of {", ".join(READERS)}')
        place += f' ({shown(_field(value, "run", str))})'
        result = READERS[kind](value, _manifest(value))
        _check_means(_field(value, 'means', dict), result)
        counts = value.get('mean_counts', result.mean_counts)  # versions up to 0.2 wrote none
        if counts != result.mean_counts:
            expected = f'{result.mean_counts}, as of its queries'
            raise Fault('mean_counts', shown(counts), expected)
        _check_counts(value, result)
        return result
    except Fault as fault:
        place += fault.place
        raise FormatError(name, place, fault.field, fault.found, fault.expected) from None


def _check_means(means: Mapping[str, Any], result: Result) -> None:
    """Refuse means that are not those of the queries."""
    for mean, computed in result._means().items():
        if computed is None and mean in means and means[mean] is None:
            continue
        if computed is None or _field(means, mean, float) != computed:
            found = shown(means[mean]) if mean in means else 'nothing'
            expected = 'null' if computed is None else f'{computed}'
            raise Fault(mean, found, f'{expected}, the mean of the values of its queries')
    if others := sorted(means.keys() - result._means().keys()):
        raise Fault('means', ', '.join(map(shown, others)), 'means of the values of its queries')


def _check_counts(value: Mapping[str, Any], result: Result) -> None:
    """Refuse numbers of queries that are not those of the queries."""
    counts, n_queries = result.counts, len(value['queries'])
    if 'GAP' in result._means():  # a row for each prediction
        n_queries = counts['queries']
    stated = {'n_queries': value.get('n_queries', n_queries), 'queries': counts['queries']}
    expected = dict.fromkeys(stated, n_queries)
    if isinstance(result, ResultByQuery):
        name, n_without = 'queries_without_relevant', int(np.count_nonzero(result.n_relevant == 0))
        stated[name], expected[name] = counts.get(name, n_without), n_without
        if SKIPPED in counts and n_without:
            raise Fault('n_relevant', '0', '1 or more, as queries with 0 were left out')
    for name, found in stated.items():
        if found != expected[name]:
            raise Fault(name, shown(found), f'{expected[name]}, as of its queries')


def _manifest(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all kinds of results have."""
    manifest = _field(value, 'manifest', dict)
    described = _field(manifest, 'inputs', dict)
    inputs = {
        role: Source(_field(each, 'name', str), _field_or_null(each, 'sha256', str))
        for role in described
        for each in [_field(described, role, dict)]
    }
    counts = _field(manifest, 'counts', dict)
    for name in {'queries': 0, **counts}:
        _count(counts, name)
    return {
        'inputs': inputs,
        'counts': counts,
        'parameters': dict(_field(manifest, 'parameters', dict)),
    }


def _evaluation(value: Mapping[str, Any], manifest: dict[str, Any]) -> Evaluation:
    rows = _rows(value)
    definition = _definition(value)
    cutoffs = _field(manifest['parameters'], 'K', list)
    try:
        check_cutoffs(cutoffs, definition)
    except ParameterError:
        raise Fault('K', shown(cutoffs), f'cutoffs of {definition}') from None
    del manifest['parameters']['K']
    _name_run(value, manifest, Evaluation.RUN)
    n_relevant = _counts(rows, 'n_relevant')
    n_returned = manifest['counts'].get('hypotheses', LARGEST_COUNT)
    ap = [_ap(rows, ap_column(k), definition, k, n_relevant, n_returned) for k in cutoffs]
    columns = set(map(ap_column, cutoffs))
    others = [name for name in rows[0] if name not in {'query', 'n_relevant', *columns}]
    return Evaluation(
        queries=_queries(rows),
        K=cutoffs,
        ap=np.column_stack(ap),
        n_relevant=n_relevant,
        definition=definition,
        measures={name: _measure(rows, name) for name in others},
        **manifest,
    )


def _evaluation_2015(value: Mapping[str, Any], manifest: dict[str, Any]) -> Evaluation2015:
    rows = _rows(value)
    _name_run(value, manifest, Evaluation2015.RUN)
    _field(manifest['parameters'], 'ratio', float)
    definition, n_relevant = _definition(value), _counts(rows, 'n_relevant')
    ap = _ap(rows, 'AP', definition, 'all', n_relevant, LARGEST_COUNT)
    correct = None
    if 'correct' in rows[0]:
        correct = np.array(_column(rows, 'correct', bool))
        _within(rows, 'EwAP', ap * correct, ap * correct)
    return Evaluation2015(
        queries=_queries(rows),
        names=_column(rows, 'name', str, _field_or_null),
        ratios=_within(rows, 'ratio', 0, 1),
        n_relevant=n_relevant,
        ap=ap,
        correct=correct,
        definition=definition,
        **manifest,
    )


def _score(value: Mapping[str, Any], manifest: dict[str, Any]) -> Score:
    import pandas
    import pyarrow

    metric = _field(value, 'metric', str)
    if metric in NO_MEAN and 'queries' not in value:  # which would not help to compare it
        raise Fault('metric', metric, f'a metric that is a mean over queries; {NO_MEAN[metric]}')
    if metric == 'lwlrap':
        _field(manifest['counts'], 'labels', int)
    rows = _rows(value)
    _name_run(value, manifest, Score.RUN)
    counts = {name: _counts(rows, name) for name in COUNTS if name in rows[0]}
    values: dict[str, NDArray[Any]] = {'value': _values(value, manifest, rows, counts)}
    if 'n_relevant' in counts:
        values['n_relevant'] = counts['n_relevant']
    mean = _field(_field(value, 'means', dict), metric, float)
    return Score(
        metric=metric,
        value=_mean(metric, rows, values, mean),
        table=pandas.DataFrame(rows).assign(**counts),
        notes=[_text(each, 'notes') for each in _field(value, 'notes', list)],
        queries=pyarrow.array(_queries(rows)),
        values=values,
        **manifest,
    )


def _values(
    value: Mapping[str, Any],
    manifest: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    counts: Mapping[str, NDArray[np.int64]],
) -> NDArray[np.float64]:
    """Return the values of a score, within the range of its metric."""
    if 'n_relevant' not in counts:
        return _within(rows, 'value', 0, 1)
    parameters = manifest['parameters']
    k = _count(parameters, 'k')
    try:
        is_described = 'definition' in _field(value, 'manifest', dict)
        name = _field(parameters, 'definition', str)
        definition = _definition(value) if is_described else definitions.get(name)
    except UnknownDefinitionError:  # of a user: a score that is written again has its name alone
        return _within(rows, 'value', 0, np.maximum(k, counts['n_relevant']))
    return _ap(rows, 'value', definition, k, counts['n_relevant'], LARGEST_COUNT)


def _mean(
    metric: str,
    rows: Sequence[Mapping[str, Any]],
    values: Mapping[str, NDArray[Any]],
    found: float,
) -> float:
    """Return the mean of a score, computed from its values as the metric does.

    Those of lwlrap and GAP hold rounded parts of it: `found` is returned if they agree.
    """
    each = values['value']
    if metric in NO_MEAN:
        computed = math.fsum(each)
        if metric == 'lwlrap':
            n_labels = _counts(rows, 'n_labels')
            computed = math.fsum(each * n_labels) / max(1, n_labels.sum())
        return found if abs(computed - found) <= ROUNDING else computed
    if metric.startswith('first-hit'):
        return _mean_reciprocal_rank(rows, each)
    if 'n_relevant' in values:
        each = each[values['n_relevant'] > 0]
    if not len(each):
        raise Fault('n_relevant', '0 for each query', 'one or more that are in the mean')
    sums = ExactSums()
    sums.add(each)
    return float(sums.fraction() / len(each))


def _mean_reciprocal_rank(rows: Sequence[Mapping[str, Any]], values: NDArray[np.float64]) -> float:
    metric = ReciprocalRank()
    ranks = np.rint(np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0))
    exact = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
    _within(rows, 'value', exact, exact)
    metric.n_images = len(values)
    metric.n_first_hits.update(ranks[ranks > 0].astype(np.int64).tolist())
    return metric.compute()


READERS: dict[str, Callable[[Mapping[str, Any], dict[str, Any]], Result]] = {
    'evaluation': _evaluation,
    'evaluation-2015': _evaluation_2015,
    'score': _score,
}


def _definition(value: Mapping[str, Any]) -> Definition:
    described = _field(_field(value, 'manifest', dict), 'definition', dict)
    try:
        return Definition.from_dict(described)
    except ParameterError:
        expected = 'a definition as Definition.to_dict describes it'
        raise Fault('definition', shown(described), expected) from None


def _name_run(value: Mapping[str, Any], manifest: Mapping[str, Any], role: str) -> None:
    """Give the input of a run the name that the result has, which people may change."""
    if role not in manifest['inputs']:
        raise Fault('inputs', ', '.join(manifest['inputs']) or 'none', role)
    manifest['inputs'][role] = replace(manifest['inputs'][role], name=_field(value, 'run', str))


def _rows(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    if 'queries' not in value:
        raise Fault('queries', 'nothing', PER_QUERY)
    rows: list[Any] = _field(value, 'queries', list)
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Fault('queries', shown(rows), 'an object for each query')
    return rows


def _queries(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return _column(rows, 'query', str)


def _ap(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    definition: Definition,
    k: Cutoff,
    n_relevant: NDArray[np.int64],
    n_returned: int,
) -> NDArray[np.float64]:
    """Return the average precision of each query, within what the definition can give."""
    distinct, places = np.unique(n_relevant, return_inverse=True)
    bounds = [definition.upper_bound(k, each, n_returned) for each in distinct.tolist()]
    least = np.where(n_relevant == 0, definition.without_relevant, 0)
    return _within(rows, name, least, np.array(bounds)[places])


def _measure(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    """Return the values of a measure, not numbers where they are null."""
    if not BEYOND_ONE(name):
        return _within(rows, name, 0, 1, may_lack=True)
    least = -LARGEST_COUNT if 'gains' in name else 0
    return _within(rows, name, least, LARGEST_COUNT, may_lack=True)


def _within(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    least: float | NDArray[np.float64],
    most: float | NDArray[np.float64],
    may_lack: bool = False,
) -> NDArray[np.float64]:
    """Return the value of each query, none outside its range; NaN where it is null, if it may."""
    numbers = _numbers(rows, name, may_lack)
    is_outside = (numbers < least - ROUNDING) | (numbers > most + ROUNDING * np.maximum(1, most))
    outside = np.flatnonzero(is_outside)
    if len(outside):
        at = outside[0]
        low, high = (np.broadcast_to(each, len(rows))[at] for each in (least, most))
        expected = f'{high:.17g}' if low == high else f'a number from {low:g} to {high:.17g}'
        raise Fault(name, shown(rows[at][name]), expected, _row(rows, int(at)))
    return numbers


def _numbers(rows: Sequence[Mapping[str, Any]], name: str, may_lack: bool) -> NDArray[np.float64]:
    read = _field_or_null if may_lack else _field
    found = _column(rows, name, float, read)
    try:
        return np.array(found, dtype=np.float64)  # null is NaN
    except OverflowError:
        raise Fault(name, 'an integer of too many digits', 'a number') from None


def _counts(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.int64]:
    """Return a number of shots or labels of each query."""
    return np.array(_column(rows, name, int, lambda row, name, _: _count(row, name)), np.int64)


def _column(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    kind: type,
    read: Callable[[Mapping[str, Any], str, type], Any] | None = None,
) -> list[Any]:
    """Return a field of each query; an error names the query."""
    read = read or _field
    found: list[Any] = []
    try:
        found.extend(read(row, name, kind) for row in rows)
    except Fault as fault:
        fault.place = _row(rows, len(found))  # those before it are in the list
        raise
    return found


def _row(rows: Sequence[Mapping[str, Any]], at: int) -> str:
    query = rows[at].get('query')
    return f', query {at + 1}' + (f' ({shown(query)})' if isinstance(query, str) else '')


def _count(value: Mapping[str, Any], name: str) -> int:
    count: int = _field(value, name, int)
    if not 0 <= count <= LARGEST_COUNT:
        raise Fault(name, shown(count), f'an integer from 0 to {LARGEST_COUNT}')
    return count


def _text(value: object, name: str) -> str:
    text: str = _field({name: value}, name, str)
    return text


def _field_or_null(value: Mapping[str, Any], name: str, kind: type) -> Any:
    return None if name in value and value[name] is None else _field(value, name, kind)


def _field(value: Mapping[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    kinds = (int, float) if kind is float else kind
    if isinstance(found, kinds) and (kind is bool or not isinstance(found, bool)):
        return found
    raise Fault(name, shown(found) if name in value else 'nothing', KINDS[kind])
