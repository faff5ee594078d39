"""Read results back from the JSON that commands write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import IO, Any, TypeAlias

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
from mediaeval_ap.errors import FormatError, shown
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
Reader: TypeAlias = 'Callable[[JsonObject, Rows], Any]'
NO_MORE: Mapping[str, Reader] = MappingProxyType({})


def read_results(
    source: str | os.PathLike[str] | IO[Any],
    kind: type[Any] = Result,
    more_readers: Mapping[str, Reader] = NO_MORE,
) -> list[Any]:
    """Read results of this class; `more_readers` has those of kinds that JSON may be alone."""
    file = ByteSource.of(source)
    with file.open() as stream:
        document = parsed_json(read_all(stream, file.name), file.name, f'JSON, {AS_WRITTEN}')
    schema, objects = document, None
    if isinstance(document, dict):
        schema, objects = document.get('schema'), document.get('results') or [{}]
        if document.get('kind') in (*more_readers,):
            schema, objects = RESULTS_SCHEMA, [document]
    if schema != RESULTS_SCHEMA:
        expected = f'{RESULTS_SCHEMA!r}, {AS_WRITTEN}'
        raise FormatError(file.name, 'schema', '', found=shown(schema), expected=expected)
    if not isinstance(objects, list):
        expected = f'a list, {AS_WRITTEN}'
        raise FormatError(file.name, 'results', '', found=shown(objects), expected=expected)
    results = []
    for number, result in enumerate(objects, 1):
        where = f'result {number}'
        if isinstance(result, dict) and 'manifest' in result and 'queries' not in result:
            expected = (
                'the values of each query: write the file with --format json --per-query, in '
                'Python score and write it with per_query=True'
            )
            raise FormatError(file.name, where, 'queries', found='nothing', expected=expected)
        try:
            reader = {**READERS, **more_readers}[result['kind']]
            results.append(reader(result, Rows(file.name, where, [result])))
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


def _fields_of(result: JsonObject, about_run: Rows) -> dict[str, Any]:
    """Return the fields that results of every kind have."""
    manifest = result['manifest']
    counts = about_run.of([manifest['counts']])
    return {
        'inputs': {role: Provenance(**entry) for role, entry in manifest['inputs'].items()},
        'counts': {name: int(counts.integers(name)[0]) for name in counts.fields},
        'parameters': dict(manifest['parameters']),
        'run': about_run.texts('run')[0],
    }


class Rows:
    """The values of queries; the error about a wrong or missing one names its query and field."""

    def __init__(self, source: str, place: str, rows: Sequence[JsonObject]) -> None:
        self._where = source, place
        self._rows = rows
        self.fields = list(dict.fromkeys(chain(rows[0], *rows)))

    def of(self, rows: Sequence[JsonObject]) -> Rows:
        return Rows(*self._where, rows)

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


def read_evaluation(result: JsonObject, about_run: Rows) -> Evaluation:
    rows, fields = about_run.of(result['queries']), _fields_of(result, about_run)
    definition = Definition.from_dict(result['manifest']['definition'])
    cutoffs = check_cutoffs(fields['parameters'].pop('K'), definition)
    n_returned = fields['counts'].get('hypotheses', LARGEST_CUTOFF)
    ap = {
        name: rows.ap(name, definition, k, n_returned)
        for name, k in zip(ap_columns(cutoffs, definition), cutoffs, strict=True)
    }
    names = [judged_column(k) for k in cutoffs if 'judged' in fields['inputs']]
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
        **fields,
    )


def _read_evaluation_2015(result: JsonObject, about_run: Rows) -> Evaluation2015:
    rows, fields = about_run.of(result['queries']), _fields_of(result, about_run)
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
        **fields,
    )


def _read_score(result: JsonObject, about_run: Rows) -> Score:
    rows, fields = about_run.of(result['queries']), _fields_of(result, about_run)
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
        cutoffs = np.atleast_1d(fields['parameters']['k']).tolist()
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
        **fields,
    )


READERS: dict[str, Reader] = {
    'evaluation': read_evaluation,
    'evaluation-2015': _read_evaluation_2015,
    'score': _read_score,
}
