"""Results as they were, from the JSON that every command writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, ap_column, check_cutoffs
from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.results.documents import SCHEMA
from mediaeval_ap.results.evaluation import Evaluation, Evaluation2015
from mediaeval_ap.results.result import Result
from mediaeval_ap.results.score import COUNTS, NO_MEAN, Score
from mediaeval_ap.tables import MAX_BYTES, Source
from mediaeval_ap.tables.byte_sources import ByteSource

__all__ = ['read_results']

KINDS = {dict: 'an object', list: 'a list', str: 'text', float: 'a number', int: 'an integer'}
LARGEST_COUNT = 1 << 53  # far more than shots there can be, and sums fit into 64 bits
PER_QUERY = 'the values of each query: write the file with --format json --per-query'


class Fault(Exception):
    """A field of a result that is not as the schema says."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(field, found, expected)
        self.field, self.found, self.expected = field, found, expected


def read_results(
    source: str | os.PathLike[str] | IO[Any], *, max_bytes: int = MAX_BYTES
) -> list[Result]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        What a command wrote with ``--format json --per-query``, or `Evaluation.to_json` with
        ``per_query=True``; it may be compressed.
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
        When it is not JSON of this shape, has no values of queries, or means that are not those
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
    with stored.open() as stream:
        content = stream.read()
    value = _parsed(content, stored.name)
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


def _parsed(content: bytes, name: str) -> object:
    def refuse(constant: str) -> None:
        raise FormatError(name, '', '', constant, 'numbers of JSON, which are finite')

    try:
        value: object = json.loads(content, parse_constant=refuse)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        place = f'line {error.lineno}'
        raise FormatError(name, place, '', f'no JSON: {error.msg}', 'JSON') from None
    except UnicodeDecodeError:
        raise FormatError(name, '', '', 'bytes that are not UTF-8', 'JSON') from None
    except (ValueError, RecursionError):
        found = 'a number of too many digits, or too many brackets'
        raise FormatError(name, '', '', found, f'{SCHEMA!r}') from None
    if b'\\ud' in content.lower():  # half of a surrogate pair is text that cannot be written
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise FormatError(name, '', '', 'half of a character', 'JSON of Unicode') from None
    return value


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
        means = _field(value, 'means', dict)
        for mean, computed in result._means().items():
            if means.get(mean) != computed:
                expected = f'{computed}, the mean of the values of its queries'
                raise Fault(mean, shown(means.get(mean)), expected)
        counts = value.get('mean_counts', result.mean_counts)  # versions up to 0.2 wrote none
        if counts != result.mean_counts:
            expected = f'{result.mean_counts}, as of its queries'
            raise Fault('mean_counts', shown(counts), expected)
        return result
    except Fault as fault:
        raise FormatError(name, place, fault.field, fault.found, fault.expected) from None


def _manifest(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all kinds of results have."""
    manifest = _field(value, 'manifest', dict)
    inputs = {
        role: Source(_field(each, 'name', str), each.get('sha256'))
        for role, each in _field(manifest, 'inputs', dict).items()
        if isinstance(each, dict)
    }
    counts = _field(manifest, 'counts', dict)
    _field(counts, 'queries', int)
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
    columns = [ap_column(k) for k in cutoffs]
    others = [name for name in rows[0] if name not in {'query', 'n_relevant', *columns}]
    return Evaluation(
        queries=[_field(row, 'query', str) for row in rows],
        K=cutoffs,
        ap=np.column_stack([_numbers(rows, name) for name in columns]),
        n_relevant=_counts(rows, 'n_relevant'),
        definition=definition,
        measures={name: _numbers(rows, name, may_lack=True) for name in others},
        **manifest,
    )


def _evaluation_2015(value: Mapping[str, Any], manifest: dict[str, Any]) -> Evaluation2015:
    rows = _rows(value)
    _name_run(value, manifest, Evaluation2015.RUN)
    _field(manifest['parameters'], 'ratio', float)
    return Evaluation2015(
        queries=[_field(row, 'query', str) for row in rows],
        names=[row.get('name') for row in rows],
        ratios=_numbers(rows, 'ratio'),
        n_relevant=_counts(rows, 'n_relevant'),
        ap=_numbers(rows, 'AP'),
        correct=np.array([row.get('correct') is True for row in rows])
        if 'correct' in rows[0]
        else None,
        definition=_definition(value),
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
    values: dict[str, NDArray[Any]] = {'value': _numbers(rows, 'value')}
    if 'n_relevant' in counts:
        values['n_relevant'] = counts['n_relevant']
    return Score(
        metric=metric,
        value=_field(_field(value, 'means', dict), metric, float),
        table=pandas.DataFrame(rows).assign(**counts),
        notes=_field(value, 'notes', list),
        queries=pyarrow.array([_field(row, 'query', str) for row in rows]),
        values=values,
        **manifest,
    )


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


def _numbers(
    rows: Sequence[Mapping[str, Any]], name: str, may_lack: bool = False
) -> NDArray[np.float64]:
    """Return the value of each query, not a number where it is null, if it may be."""
    found = [
        np.nan if may_lack and name in row and row[name] is None else _field(row, name, float)
        for row in rows
    ]
    try:
        numbers = np.array(found, dtype=np.float64)
    except OverflowError:
        raise Fault(name, 'an integer of too many digits', 'a number') from None
    if np.isinf(numbers).any():
        raise Fault(name, 'a number that is too large', 'finite numbers')
    return numbers


def _counts(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.int64]:
    """Return a number of shots or labels of each query."""
    found = [_field(row, name, int) for row in rows]
    for count in found:
        if not 0 <= count <= LARGEST_COUNT:
            raise Fault(name, shown(count), f'an integer from 0 to {LARGEST_COUNT}')
    return np.array(found, dtype=np.int64)


def _field(value: Mapping[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    kinds = (int, float) if kind is float else kind
    if isinstance(found, kinds) and not isinstance(found, bool):
        return found
    raise Fault(name, shown(found) if name in value else 'nothing', KINDS[kind])
