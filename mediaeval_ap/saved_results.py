"""Read results, comparisons and diagnoses back from JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from math import inf
from types import UnionType
from typing import IO, Any, Literal, TypeVar, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.comparison import Comparison
from mediaeval_ap.comparison.comparison_tables import TABLES
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.diagnosis.findings import ConfusedName, NearMiss
from mediaeval_ap.diagnosis.other_definitions import MapByDefinition
from mediaeval_ap.diagnosis.ties import BOUND_KEYS, TieBounds
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.results import json_files
from mediaeval_ap.results.described import Described
from mediaeval_ap.results.evaluation import judged_column

Source = str | os.PathLike[str] | IO[Any]
Kind = TypeVar('Kind')


@overload
def read_results(source: Source) -> list[Any]: ...
@overload
def read_results(source: Source, kind: type[Kind]) -> list[Kind]: ...
def read_results(source: Source, kind: type[Any] = Described) -> list[Any]:
    """Read results of runs, a comparison or a diagnosis from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        The output of `Evaluation.to_json`, or of a command with ``--format json --per-query``; it
        may be compressed. Or that of `Comparison.to_json` or `Diagnosis.to_json`.
    kind : type, optional
        The class of the results, such as `Evaluation`, which type checkers then know; others are an
        error.

    Returns
    -------
    list of Evaluation, Evaluation2015, Score, Comparison or Diagnosis
        Equal (``==``) to what was written, without warnings. A diagnosis has no ranking, which
        `Diagnosis.of` needs.

    Raises
    ------
    ReadError, FormatError
        When the file cannot be read; when it is not JSON of this shape, was written without the
        values by query, or has a value that its metric cannot have. Means are not checked.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap import AveragePrecision, Evaluation, read_results
    >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
    >>> evaluation = evaluate('samples/hypothesis.txt', 'samples/queries.txt')
    >>> (again,) = read_results(io.StringIO(evaluation.to_json()), Evaluation)
    >>> again == evaluation
    True
    """
    if not isinstance(kind, type):
        raise ParameterError(f'found {shown(kind)}, expected a class, such as Evaluation', 'kind')
    return json_files.read_results(source, kind, READERS)


def _typed(hint: Any, value: Any) -> Any:
    """Return a JSON value as a type hint says, with its dataclasses, tuples and arrays."""
    kind, arguments = get_origin(hint) or hint, get_args(hint)
    if kind is Any or (kind is Literal and value in arguments):
        return value
    if kind is UnionType:
        return None if value is None else _typed(arguments[0], value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        fields = {name: _typed(hints[name], field) for name, field in value.items()}
        return kind(**fields)  # type: ignore[operator]
    if kind in (np.ndarray, NDArray):  # from numpy 2.5 on, the alias is its own kind
        return np.array(_typed(list[list[float]], value))
    if kind in (list, tuple, Sequence) and isinstance(value, list):
        items = [_typed(arguments[0], item) for item in value]
        return tuple(items) if kind is tuple else items
    if kind is Mapping and isinstance(value, dict):
        return {name: _typed(arguments[1], item) for name, item in value.items()}
    if type(value) is not kind and (type(value), kind) != (int, float):
        raise TypeError(f'found {shown(value)}, expected {hint}')
    return value


def _read_comparison(document: Mapping[str, Any], _: json_files.Rows) -> Any:
    manifest = document['manifest']
    inputs = {**manifest['inputs']}
    fields = {field: document[table] for table, (field, _) in TABLES.items() if table in document}
    fields |= {name: document[name] for name in 'runs metrics queries values notes'.split()}
    fields |= {'gate': document.get('gate'), 'counts': manifest['counts']}
    fields |= {'sources': inputs.pop('runs'), 'inputs': inputs}
    fields['parameters'] = {**manifest['parameters'], 'definition': manifest['definition']}
    comparison = _typed(Comparison, fields)
    repr(comparison)  # raises if its tables do not fit together
    return comparison


def _read_diagnosis(document: Mapping[str, Any], about_run: json_files.Rows) -> Diagnosis:
    manifest = document['manifest']
    others = {**manifest['parameters']}
    k, near = others.pop('k'), others.pop('near')
    rows = [
        {'query': query['query'], 'n_relevant': query['n_relevant'], ap_column(k): query['ap']}
        for query in document['queries']
    ]
    if 'judged' in manifest['inputs']:  # its shares are in no diagnosis
        rows = [{**row, judged_column(k): None} for row in rows]
    manifest = {**manifest, 'parameters': {'K': [k], **others}}
    evaluation = {**document, 'queries': rows, 'manifest': manifest}
    losses = about_run.of([query['loss'] for query in document['queries']])
    ties = {}
    for level in document['ties']:
        bounds = [query['ties'][level] for query in document['queries']]
        columns = [about_run.of(bounds).numbers(key, inf, null=True) for key in BOUND_KEYS]
        reasons = {row: each['reason'] for row, each in enumerate(bounds) if 'reason' in each}
        ties[level] = TieBounds(columns[0], columns[1], columns[2], reasons)
    return Diagnosis(
        replace(json_files.read_evaluation(evaluation, about_run), judged=None),
        near=_typed(float, near),
        parts={part: losses.numbers(part, inf) for part in document['loss']},
        ties=ties,
        confused=_typed(list[ConfusedName], document['confused']),
        near_misses=_typed(list[NearMiss], document['near_misses']),
        definitions=_typed(list[MapByDefinition], document['definitions']),
    )


READERS = {'comparison': _read_comparison, 'diagnosis': _read_diagnosis}
