"""Read results back from the JSON that commands write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, ap_column, check_cutoffs
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.results.evaluation import Evaluation, Evaluation2015, judged_column
from mediaeval_ap.results.result import Result, kind_of_metric
from mediaeval_ap.results.result_manifest import RESULTS_SCHEMA, read_inputs
from mediaeval_ap.results.score import SUMMED_COUNTS, Score
from mediaeval_ap.tables.sources import ByteSource, parsed_json, read_all

__all__ = ['read_results']

JsonObject = Mapping[str, Any]
AS_WRITTEN = 'as a command writes it with --format json --per-query'


def read_results(source: str | os.PathLike[str] | IO[Any]) -> list[Result]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        The output of a command with ``--format json --per-query``, or of `Evaluation.to_json` with
        ``per_query=True``; it may be compressed.

    Returns
    -------
    list of Evaluation, Evaluation2015 or Score
        The results that were written, without their warnings.

    Raises
    ------
    ReadError
        When the file cannot be read.
    FormatError
        When it is not JSON of this shape, or was written without the values by query.

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
    file = ByteSource.of(source)
    with file.open() as stream:
        document = parsed_json(read_all(stream, file.name), file.name, f'JSON, {AS_WRITTEN}')
    if not isinstance(document, dict) or document.get('schema') != RESULTS_SCHEMA:
        actual = shown(document.get('schema') if isinstance(document, dict) else document)
        raise FormatError(file.name, 'schema', '', actual, f'{RESULTS_SCHEMA!r}, {AS_WRITTEN}')
    objects = document.get('results') or [{}]
    if not isinstance(objects, list):
        raise FormatError(file.name, 'results', '', shown(objects), f'a list, {AS_WRITTEN}')
    results: list[Result] = []
    for number, result in enumerate(objects, 1):
        where = f'result {number}'
        if isinstance(result, dict) and 'manifest' in result and 'queries' not in result:
            expected = 'the values of each query: write the file with --format json --per-query'
            raise FormatError(file.name, where, 'queries', 'nothing', expected)
        try:
            manifest = result['manifest']
            results.append(
                READERS[result['kind']](
                    result,
                    _columns_by_name(result['queries']),
                    inputs=read_inputs(manifest),
                    counts=manifest['counts'],
                    parameters=dict(manifest['parameters']),
                    run=result['run'],
                )
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f'{type(error).__name__}: {error}'
            raise FormatError(file.name, where, '', reason, f'one {AS_WRITTEN}') from error
    return results


def _columns_by_name(rows: Sequence[JsonObject]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _double_array(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)  # NaN for None


def _read_evaluation(
    result: JsonObject, columns: dict[str, list[Any]], **manifest: Any
) -> Evaluation:
    definition = Definition.from_dict(result['manifest']['definition'])
    cutoffs = check_cutoffs(manifest['parameters'].pop('K'), definition)
    ap = [_double_array(columns.pop(ap_column(k))) for k in cutoffs]
    judged = None
    if 'judged' in manifest['inputs']:
        judged = np.column_stack([_double_array(columns.pop(judged_column(k))) for k in cutoffs])
    return Evaluation(
        queries=columns.pop('query'),
        K=cutoffs,
        ap=np.column_stack(ap),
        n_relevant=np.array(columns.pop('n_relevant'), np.int64),
        definition=definition,
        measures={name: _double_array(column) for name, column in columns.items()},
        judged=judged,
        **manifest,
    )


def _read_evaluation_2015(
    result: JsonObject, columns: dict[str, list[Any]], **manifest: Any
) -> Evaluation2015:
    return Evaluation2015(
        queries=columns['query'],
        names=columns['name'],
        ratios=_double_array(columns['ratio']),
        n_relevant=np.array(columns['n_relevant'], np.int64),
        ap=_double_array(columns['AP']),
        correct=np.array(columns['correct']) if 'correct' in columns else None,
        definition=Definition.from_dict(result['manifest']['definition']),
        **manifest,
    )


def _read_score(result: JsonObject, columns: dict[str, list[Any]], **manifest: Any) -> Score:
    import pandas
    import pyarrow

    metric = result['metric']
    means = result['means']
    kind = kind_of_metric(result['metric'])
    table = pandas.DataFrame(result['queries'])
    counts = {name: np.array(columns[name], np.int64) for name in SUMMED_COUNTS if name in columns}
    names = [name for name in columns if name not in ('query', 'label', *counts)]
    values: dict[str, NDArray[Any]] = {
        name: _double_array(columns[name]) for name in (names if len(means) > 1 else ['value'])
    }
    values |= {
        name: column for name, column in counts.items() if kind.no_mean or name == 'n_relevant'
    }
    return Score(
        metric=metric,
        value=means[metric],
        means=means,
        table=table,
        notes=result['notes'],
        queries=pyarrow.array(list(columns['query'])),
        values=values,
        **manifest,
    )


READERS: dict[str, Callable[..., Result]] = {
    'evaluation': _read_evaluation,
    'evaluation-2015': _read_evaluation_2015,
    'score': _read_score,
}
