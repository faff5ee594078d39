"""Results as they were, from the JSON that every command writes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import TIES, check_policy
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, check_cutoffs
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    UnknownDefinitionError,
    shown,
)
from mediaeval_ap.metrics.accumulator import ExactSums
from mediaeval_ap.metrics.ap_of_hits import precisions_at_correct
from mediaeval_ap.metrics.ranked_labels import ReciprocalRank
from mediaeval_ap.results.evaluation import (
    Evaluation,
    Evaluation2015,
    ResultByQuery,
    judged_column,
)
from mediaeval_ap.results.result import SCHEMA, SKIPPED, Result, kind_of_metric
from mediaeval_ap.results.score import COUNTS, UNANSWERED, Score
from mediaeval_ap.tables import Source
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.sources import ByteSource

__all__ = ['read_results']

Fields = Mapping[str, Any]

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
N_FIRST_BYTES = 1 << 10  # of which few are white space
BEGIN_OF_OBJECT = re.compile(rb'\s*\{\s*"').match
PER_QUERY = 'the values of each query: write the file with --format json --per-query'


@dataclass
class Fault(Exception):
    """A field of a result that is not as the schema says."""

    field: str
    found: str
    expected: str
    where: str = ''


def read_results(source: str | os.PathLike[str] | IO[Any]) -> list[Result]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        What a command wrote with ``--format json --per-query``, or `Evaluation.to_json` with
        ``per_query=True``; it may be compressed. No named pipe, to which perhaps nobody writes.

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
        When it is not JSON of this shape, or has no values of queries, values that their metric
        cannot have, or means or numbers of queries that are not those of its queries.

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
    stored = ByteSource(source)
    if stored.is_named_pipe:
        raise ReadError(stored.name, 'is a named pipe: read it as standard input (-), or a file')
    with stored.open() as stream:
        content = stream.read()
    value = parsed_json(content, stored.name)
    where, results = '', []
    try:
        if not isinstance(value, dict) or value.get('schema') != SCHEMA:
            found = shown(value.get('schema')) if isinstance(value, dict) else shown(value)
            raise Fault('schema', found, f'{SCHEMA!r}, as --format json of a command writes it')
        if not (values := _field(value, 'results', list)):
            raise Fault('results', 'none', 'one or more')
        for number, each in enumerate(values, 1):
            where = f'result {number}'
            if not isinstance(each, dict):
                raise Fault('', shown(each), 'an object')
            if (kind := _field(each, 'kind', str)) not in READERS:
                raise Fault('kind', shown(kind), f'one of {", ".join(READERS)}')
            where += f' ({shown(_field(each, "run", str))})'
            role, read = READERS[kind]
            results.append(read(each, _manifest(each, role)))
            _check(each, results[-1])
    except Fault as fault:
        where += fault.where
        raise FormatError(stored.name, where, fault.field, fault.found, fault.expected) from None
    return results


def holds_json(path: str) -> bool:
    """Return whether a path is a regular file that begins as an object of JSON does."""
    return BEGIN_OF_OBJECT(ByteSource(path).first_bytes(N_FIRST_BYTES)) is not None


def _check(value: Fields, result: Result) -> None:
    """Refuse means and numbers of queries that are not those of the queries."""
    means, computed_means = _field(value, 'means', dict), result._means()
    for name, computed in computed_means.items():
        if computed is None and name in means and means[name] is None:
            continue
        if computed is None or _field(means, name, float) != computed:
            found = shown(means[name]) if name in means else 'nothing'
            expected = 'null' if computed is None else f'{computed}'
            raise Fault(name, found, f'{expected}, the mean of the values of its queries')
    if others := sorted(means.keys() - computed_means.keys()):
        raise Fault('means', ', '.join(map(shown, others)), 'means of the values of its queries')
    counts, n_queries = result.counts, len(value['queries'])
    if any(kind_of_metric(name).is_one_list for name in computed_means):  # a row for a prediction
        n_others = len(value.get(UNANSWERED, ()))
        n_queries = n_queries + n_others if UNANSWERED in value else counts['queries']
    of_means = result.mean_counts
    stated = {  # and what the queries say
        'mean_counts': (value.get('mean_counts', of_means), of_means),  # none up to version 0.2
        'n_queries': (value.get('n_queries', n_queries), n_queries),
        'queries': (counts['queries'], n_queries),
    }
    if isinstance(result, ResultByQuery):
        name, n_without = 'queries_without_relevant', int(np.count_nonzero(result.n_relevant == 0))
        stated[name] = counts.get(name, n_without), n_without
        if SKIPPED in counts and n_without:
            raise Fault('n_relevant', '0', '1 or more, as queries with 0 were left out')
    for name, (told, true) in stated.items():
        if told != true:
            raise Fault(name, shown(told), f'{true}, as of its queries')


def _manifest(value: Fields, role: str) -> dict[str, Any]:
    """Return the fields that all kinds have; people may have changed the name of the run."""
    manifest = _field(value, 'manifest', dict)
    described = _field(manifest, 'inputs', dict)
    inputs = {
        role: Source(_field(each, 'name', str), _field(each, 'sha256', str, may_lack=True))
        for role in described
        for each in [_field(described, role, dict)]
    }
    counts = _field(manifest, 'counts', dict)
    for name in {'queries': 0, **counts}:
        _count(counts, name)
    parameters = dict(_field(manifest, 'parameters', dict))
    if role not in inputs:
        raise Fault('inputs', ', '.join(inputs) or 'none', role)
    run = _field(value, 'run', str)
    return {'inputs': inputs, 'counts': counts, 'parameters': parameters, 'run': run}


def _evaluation(value: Fields, manifest: dict[str, Any]) -> Evaluation:
    rows, definition = _Rows(value), _definition(value)
    cutoffs = _field(manifest['parameters'], 'K', list)
    try:
        check_cutoffs(cutoffs, definition)
    except ParameterError:
        raise Fault('K', shown(cutoffs), f'cutoffs of {definition}') from None
    del manifest['parameters']['K']
    n_relevant = rows.counts('n_relevant')
    n_returned = manifest['counts'].get('hypotheses', LARGEST_COUNT)
    ap = [rows.ap(ap_column(k), definition, k, n_relevant, n_returned) for k in cutoffs]
    judged, measures = [], {}
    of_judged = set(map(judged_column, cutoffs)) if 'judged' in manifest['inputs'] else set()
    for name in rows.names:
        if name in of_judged:
            judged.append(rows.within(name, 0, 1, may_lack=True))
        elif name not in {'query', 'n_relevant', *map(ap_column, cutoffs)}:
            most = LARGEST_COUNT if BEYOND_ONE(name) else 1
            least = -most if most > 1 and 'gains' in name else 0
            measures[name] = rows.within(name, least, most, may_lack=True)
    return Evaluation(
        queries=rows.column('query', str),
        K=cutoffs,
        ap=np.column_stack(ap),
        n_relevant=n_relevant,
        definition=definition,
        measures=measures,
        judged=np.column_stack(judged) if len(judged) == len(cutoffs) else None,
        **manifest,
    )


def _evaluation_2015(value: Fields, manifest: dict[str, Any]) -> Evaluation2015:
    rows = _Rows(value)
    _field(manifest['parameters'], 'ratio', float)
    definition, n_relevant = _definition(value), rows.counts('n_relevant')
    ap = rows.ap('AP', definition, 'all', n_relevant, LARGEST_COUNT)
    correct = None
    if 'correct' in rows.names:
        correct = np.array(rows.column('correct', bool))
        rows.within('EwAP', ap * correct, ap * correct)
    return Evaluation2015(
        queries=rows.column('query', str),
        names=rows.column('name', str, may_lack=True),
        ratios=rows.within('ratio', 0, 1),
        n_relevant=n_relevant,
        ap=ap,
        correct=correct,
        definition=definition,
        **manifest,
    )


def _score(value: Fields, manifest: dict[str, Any]) -> Score:
    import pandas
    import pyarrow

    metric = _field(value, 'metric', str)
    kind = kind_of_metric(metric)
    _field(manifest['counts'], kind.over, int)
    rows = _Rows(value)
    counts = {name: rows.counts(name) for name in COUNTS if name in rows.names}
    means, columns, parameters = _field(value, 'means', dict), ['value'], manifest['parameters']
    cutoffs, names = [parameters.get('k')], [metric]
    if len(means) > 1 and 'k' in parameters:  # several cutoffs, with a column each
        columns = [name for name in rows.names if name not in ('query', 'label', *counts)]
        cutoffs, names = _field(parameters, 'k', list), list(means)
        if names[-1] != metric or not len(names) == len(columns) == len(cutoffs):
            raise Fault('means', ', '.join(map(shown, names)), 'one for each cutoff')
    values: dict[str, NDArray[Any]] = {
        column: _values(value, {**parameters, 'k': k}, rows, counts, column)
        for column, k in zip(columns, cutoffs, strict=True)
    }
    of_means = {
        name: _mean(name, rows, values[column], counts, column, _field(means, name, float))
        for name, column in zip(names, columns, strict=True)
    }
    values |= {name: counts[name] for name in counts if kind.no_mean or name == 'n_relevant'}
    queries = rows.column('query', str)
    if UNANSWERED in value:  # not up to version 0.2
        others = _Rows(value, UNANSWERED)
        queries += others.column('query', str)
        values = _of_one_list(rows, others, parameters.get('ties'), means[metric])
    return Score(
        metric=metric,
        value=of_means[metric],
        means=of_means,
        table=pandas.DataFrame(rows.rows).assign(**counts),
        notes=[_field({'notes': each}, 'notes', str) for each in _field(value, 'notes', list)],
        queries=pyarrow.array(queries),
        values=values,
        **manifest,
    )


def _of_one_list(rows: _Rows, others: _Rows, ties: Any, found: float) -> dict[str, NDArray[Any]]:
    """Return what GAP is computed from, predictions and others, if it gives the value found."""
    confidence = rows.within('confidence', -np.inf, np.inf)
    correct, known = np.array(rows.column('correct', bool)), rows.column('truth', str, True)
    has_truth = [*(each is not None for each in known), *others.column('has_truth', bool)]
    sums = precisions_at_correct(confidence, correct, check_policy('ties', ties, TIES)).sum()
    if not abs(sums - found * sum(has_truth)) <= ROUNDING * len(has_truth):
        raise Fault('GAP', shown(found), 'that of confidence, correct and truth of its queries')
    n_others = len(others.rows)
    return {
        'confidence': np.append(confidence, np.full(n_others, np.nan)),
        'correct': np.append(correct, np.zeros(n_others, np.bool_)),
        'has_truth': np.array(has_truth),
    }


def _values(
    value: Fields,
    parameters: Fields,
    rows: _Rows,
    counts: Mapping[str, NDArray[np.int64]],
    column: str,
) -> NDArray[np.float64]:
    """Return the values of a score, within the range of its metric."""
    # The range of an average precision follows from its definition.
    if 'definition' not in parameters or 'n_relevant' not in counts:
        return rows.within(column, 0, 1)
    k, n_relevant = _count(parameters, 'k'), counts['n_relevant']
    try:
        is_described = 'definition' in _field(value, 'manifest', dict)
        name = _field(parameters, 'definition', str)
        definition = _definition(value) if is_described else definitions.get(name)
    except UnknownDefinitionError:  # of a user: a score that is written again has its name alone
        return rows.within(column, 0, np.maximum(k, n_relevant))
    return rows.ap(column, definition, k, n_relevant, LARGEST_COUNT)


def _mean(
    metric: str,
    rows: _Rows,
    each: NDArray[np.float64],
    counts: Mapping[str, NDArray[np.int64]],
    column: str,
    found: float,
) -> float:
    """Return the mean of a score, computed from its values as the metric does.

    Those of lwlrap and GAP hold rounded parts of it: `found` is returned if they agree.
    """
    kind = kind_of_metric(metric)
    if kind.no_mean:
        computed = math.fsum(each)
        if kind.over == 'labels':
            n_labels = rows.counts('n_labels')
            computed = math.fsum(each * n_labels) / max(1, n_labels.sum())
        return found if abs(computed - found) <= ROUNDING else computed
    if metric.startswith('first-hit'):
        ranks = np.rint(np.divide(1.0, each, out=np.zeros(len(each)), where=each > 0))
        exact = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
        rows.within(column, exact, exact)
        reciprocal = ReciprocalRank()
        reciprocal.n_images = len(each)
        reciprocal.n_first_hits.update(ranks[ranks > 0].astype(np.int64).tolist())
        return reciprocal.compute()
    if 'n_relevant' in counts:
        each = each[counts['n_relevant'] > 0]
    if not len(each):
        raise Fault('n_relevant', '0 for each query', 'one or more that are in the mean')
    sums = ExactSums()
    sums.add(each)
    return float(sums.fraction() / len(each))


# By kind: the role of the run among the inputs, and what makes a result of the rest.
READERS: dict[str, tuple[str, Callable[[Fields, dict[str, Any]], Result]]] = {
    'evaluation': ('hypothesis', _evaluation),
    'evaluation-2015': ('labels', _evaluation_2015),
    'score': ('predictions', _score),
}


def _definition(value: Fields) -> Definition:
    described = _field(_field(value, 'manifest', dict), 'definition', dict)
    try:
        return Definition.from_dict(described)
    except ParameterError:
        expected = 'a definition as Definition.to_dict describes it'
        raise Fault('definition', shown(described), expected) from None


class _Rows:
    """The values of all queries, by column; an error names the query."""

    def __init__(self, value: Fields, name: str = 'queries') -> None:
        if name not in value:
            raise Fault(name, 'nothing', PER_QUERY)
        self.rows: list[Any] = _field(value, name, list)
        some = self.rows or name == UNANSWERED
        if not some or not all(isinstance(row, dict) for row in self.rows):
            raise Fault(name, shown(self.rows), 'an object for each query')
        self.names: list[str] = list(self.rows[0]) if self.rows else []

    def column(self, name: str, kind: type, may_lack: bool = False) -> list[Any]:
        return self._each(lambda row: _field(row, name, kind, may_lack))

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return a number of shots or labels of each query."""
        return np.array(self._each(lambda row: _count(row, name)), np.int64)

    def ap(
        self,
        name: str,
        definition: Definition,
        k: Cutoff,
        n_relevant: NDArray[np.int64],
        n_returned: int,
    ) -> NDArray[np.float64]:
        """Return the average precision of each query, within what the definition can give."""
        distinct, inverse = np.unique(n_relevant, return_inverse=True)
        most = np.array([definition.upper_bound(k, n, n_returned) for n in distinct.tolist()])
        least = np.where(n_relevant == 0, definition.without_relevant, 0)
        return self.within(name, least, most[inverse])

    def within(
        self,
        name: str,
        least: float | NDArray[np.float64],
        most: float | NDArray[np.float64],
        may_lack: bool = False,
    ) -> NDArray[np.float64]:
        """Return the value of each query, none outside its range; NaN where it is null."""
        try:
            numbers = np.array(self.column(name, float, may_lack), dtype=np.float64)
        except OverflowError:
            raise Fault(name, 'an integer of too many digits', 'a number') from None
        margin = ROUNDING * np.maximum(1, most)
        outside = np.flatnonzero((numbers < least - ROUNDING) | (numbers > most + margin))
        if len(outside):
            at = int(outside[0])
            low, high = (np.broadcast_to(each, len(numbers))[at] for each in (least, most))
            expected = f'{high:.17g}' if low == high else f'a number from {low:g} to {high:.17g}'
            raise Fault(name, shown(self.rows[at][name]), expected, self._where(at))
        return numbers

    def _each(self, read: Callable[[Fields], Any]) -> list[Any]:
        found: list[Any] = []
        try:
            found.extend(map(read, self.rows))
        except Fault as fault:
            fault.where = self._where(len(found))  # those before it are in the list
            raise
        return found

    def _where(self, at: int) -> str:
        query = self.rows[at].get('query')
        return f', query {at + 1}' + (f' ({shown(query)})' if isinstance(query, str) else '')


def _count(value: Fields, name: str) -> int:
    count: int = _field(value, name, int)
    if not 0 <= count <= LARGEST_COUNT:
        raise Fault(name, shown(count), f'an integer from 0 to {LARGEST_COUNT}')
    return count


def _field(value: Fields, name: str, kind: type, may_lack: bool = False) -> Any:
    """Return a field of a kind; it may be null, but not missing, if it may lack a value."""
    found = value.get(name)
    kinds = (int, float) if kind is float else kind
    if isinstance(found, kinds) and (kind is bool or not isinstance(found, bool)):
        return found
    if may_lack and found is None and name in value:
        return None
    raise Fault(name, shown(found) if name in value else 'nothing', KINDS[kind])
