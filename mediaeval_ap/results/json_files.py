"""Read results back from the JSON that commands write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import IO, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import (
    ALL,
    LARGEST_CUTOFF,
    Cutoff,
    Definition,
    ap_columns,
    check_cutoffs,
)
from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.results.described import RESULTS_SCHEMA
from mediaeval_ap.results.evaluation import Evaluation, Evaluation2015, judged_column
from mediaeval_ap.results.result import Result, kind_of_metric
from mediaeval_ap.results.rounding import READ_ROUNDING
from mediaeval_ap.results.score import SUMMED_COUNTS, Score
from mediaeval_ap.tables import Provenance
from mediaeval_ap.tables.sources import ByteSource, parsed_json, read_all

JsonObject = Mapping[str, Any]
AS_WRITTEN = 'as to_json() writes it, or a command with --format json --per-query'

LARGEST = sys.float_info.max
Source = str | os.PathLike[str] | IO[Any]
Kind = TypeVar('Kind')


@overload
def read_results(source: Source) -> list[Any]: ...
@overload
def read_results(source: Source, kind: type[Kind]) -> list[Kind]: ...
def read_results(source: Source, kind: type[Any] = Result) -> list[Any]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        The output of `Evaluation.to_json`, or of a command with ``--format json --per-query``; it
        may be compressed.
    kind : type, optional
        The class of the results, such as `Evaluation`, which type checkers then know; others are an
        error.

    Returns
    -------
    list of Evaluation, Evaluation2015 or Score
        Equal (``==``) to what was written, without warnings.

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
    file = ByteSource.of(source)
    with file.open() as stream:
        document = parsed_json(read_all(stream, file.name), file.name, f'JSON, {AS_WRITTEN}')
    schema = document
    if isinstance(document, dict):
        schema = document.get('schema')
    if schema != RESULTS_SCHEMA:
        expected = f'{RESULTS_SCHEMA!r}, {AS_WRITTEN}'
        raise FormatError(file.name, 'schema', '', found=shown(schema), expected=expected)
    objects = document.get('results') or [{}]
    if not isinstance(objects, list):
        expected = f'a list, {AS_WRITTEN}'
        raise FormatError(file.name, 'results', '', found=shown(objects), expected=expected)
    results: list[Any] = []
    for number, result in enumerate(objects, 1):
        where = f'result {number}'
        if isinstance(result, dict) and 'manifest' in result and 'queries' not in result:
            expected = (
                'the values of each query: write the file with --format json --per-query, in '
                'Python score and write it with per_query=True'
            )
            raise FormatError(file.name, where, 'queries', found='nothing', expected=expected)
        try:
            manifest = result['manifest']
            about_run = _Rows(file.name, where, [result])
            counts = about_run.of([manifest['counts']])
            results.append(
                READERS[result['kind']](
                    result,
                    about_run.of(result['queries']),
                    inputs={
                        role: Provenance(**entry) for role, entry in manifest['inputs'].items()
                    },
                    counts={name: int(counts.integers(name)[0]) for name in counts.fields},
                    parameters=dict(manifest['parameters']),
                    run=about_run.texts('run')[0],
                )
            )
        except FormatError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f'{type(error).__name__}: {error}'
            expected = f'one {AS_WRITTEN}'
            raise FormatError(file.name, where, '', found=reason, expected=expected) from error
        if not isinstance(results[-1], kind):
            actual = type(results[-1]).__name__
            raise FormatError(file.name, where, '', found=actual, expected=kind.__name__)
    return results


class _Rows:
    """The values of queries; the error about a wrong or missing one names its query and field."""

    def __init__(self, source: str, place: str, rows: Sequence[JsonObject]) -> None:
        self._where = source, place
        self._rows = rows
        self.fields = list(dict.fromkeys(chain(rows[0], *rows)))

    def of(self, rows: Sequence[JsonObject]) -> _Rows:
        return _Rows(*self._where, rows)

    def column(self, field: str, is_right: Callable[[Any], bool], expected: str) -> list[Any]:
        for row in self._rows:
            if field not in row or not is_right(row[field]):
                source, place = self._where
                if field != 'query' and 'query' in row:
                    place += f', query {shown(row["query"])}'
                actual = 'nothing'
                if field in row:
                    actual = shown(row[field])
                raise FormatError(source, place, field, found=actual, expected=expected)
        return [row[field] for row in self._rows]

    def texts(self, field: str) -> list[str]:
        return self.column(field, lambda value: isinstance(value, str), 'text')

    def integers(self, field: str) -> NDArray[np.int64]:
        values = self.column(
            field,
            lambda value: type(value) is int and 0 <= value <= LARGEST_CUTOFF,
            'an integer of 0 or more',
        )
        return np.array(values, np.int64)

    def numbers(self, field: str, most: float = 1.0, *, null: bool = False) -> NDArray[np.float64]:
        """Return finite numbers, from 0 on if `most` is finite, and NaN for null."""
        expected = 'a finite number'
        least, limit = -LARGEST, LARGEST
        if most < inf:
            expected = f'a number from 0 to {most:g}'
            least, limit = 0.0, most * (1 + READ_ROUNDING)
        if null:
            expected += ' or null'
        values = self.column(
            field,
            lambda x: (null and x is None) or (type(x) in (int, float) and least <= x <= limit),
            expected,
        )
        return np.array(values, np.float64)

    def ap(
        self, field: str, definition: Definition, k: Cutoff, n_returned: int = LARGEST_CUTOFF
    ) -> NDArray[np.float64]:
        """Return AP, which exceeds 1 only by some definitions."""
        distinct = set(self.integers('n_relevant').tolist())
        return self.numbers(field, max(definition.upper_bound(k, R, n_returned) for R in distinct))


def _read_evaluation(result: JsonObject, rows: _Rows, **manifest: Any) -> Evaluation:
    definition = Definition.from_dict(result['manifest']['definition'])
    cutoffs = check_cutoffs(manifest['parameters'].pop('K'), definition)
    n_returned = manifest['counts'].get('hypotheses', LARGEST_CUTOFF)
    ap = {
        name: rows.ap(name, definition, k, n_returned)
        for name, k in zip(ap_columns(cutoffs, definition), cutoffs, strict=True)
    }
    names = [judged_column(k) for k in cutoffs if 'judged' in manifest['inputs']]
    judged = {name: rows.numbers(name, null=True) for name in names}
    columns_of_ap = {'query', 'n_relevant', *ap, *judged}
    measures = [name for name in rows.fields if name not in columns_of_ap]
    return Evaluation(
        queries=rows.texts('query'),
        K=cutoffs,
        ap=np.column_stack([*ap.values()]),
        n_relevant=rows.integers('n_relevant'),
        definition=definition,
        measures={name: rows.numbers(name, inf, null=True) for name in measures},
        judged=np.column_stack([*judged.values()]) if judged else None,
        **manifest,
    )


def _read_evaluation_2015(result: JsonObject, rows: _Rows, **manifest: Any) -> Evaluation2015:
    definition = Definition.from_dict(result['manifest']['definition'])
    correct = None
    if 'correct' in rows.fields:
        correct = np.array(rows.column('correct', lambda x: isinstance(x, bool), 'true or false'))
    return Evaluation2015(
        queries=rows.texts('query'),
        names=rows.column('name', lambda x: isinstance(x, str | None), 'text or null'),
        ratios=rows.numbers('ratio'),
        n_relevant=rows.integers('n_relevant'),
        ap=rows.ap('AP', definition, ALL),
        correct=correct,
        definition=definition,
        **manifest,
    )


def _read_score(result: JsonObject, rows: _Rows, **manifest: Any) -> Score:
    import pandas
    import pyarrow

    metric = result['metric']
    means = rows.of([result['means']])
    kind = kind_of_metric(metric)
    is_of_classes = kind.query[0] == 'class'
    counts = {name: rows.integers(name) for name in SUMMED_COUNTS if name in rows.fields}
    names = [name for name in rows.fields if name not in ('query', 'label', *counts)]
    if len(means.fields) == 1:
        names = ['value']
    definition = None
    if described := result['manifest'].get('definition'):
        definition = Definition.from_dict(described)
        cutoffs = np.atleast_1d(manifest['parameters']['k']).tolist()
        ap = {name: rows.ap(name, definition, k) for name, k in zip(names, cutoffs, strict=True)}
    else:
        if is_of_classes:  # those without a positive have no value, but all others have
            rows.of([row for row in result['queries'] if row['n_relevant']]).numbers('value')
        ap = {name: rows.numbers(name, null=is_of_classes) for name in names}
    if not kind.no_mean:
        counts = {name: column for name, column in counts.items() if name == 'n_relevant'}
    return Score(
        metric=metric,
        definition=definition,
        value=float(means.numbers(metric, inf)[0]),
        means={name: float(means.numbers(name, inf)[0]) for name in means.fields},
        table=pandas.DataFrame(result['queries']),
        notes=result['notes'],
        queries=pyarrow.array(rows.texts('query')),
        values={**ap, **counts},
        **manifest,
    )


READERS: dict[str, Callable[..., Result]] = {
    'evaluation': _read_evaluation,
    'evaluation-2015': _read_evaluation_2015,
    'score': _read_score,
}
