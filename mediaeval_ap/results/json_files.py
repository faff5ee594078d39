"""Results as they were, from the JSON that every command writes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition, ap_column, check_cutoffs
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.results.evaluation import Evaluation, Evaluation2015, judged_column
from mediaeval_ap.results.result import SCHEMA, Result, kind_of_metric
from mediaeval_ap.results.score import SUMMED_COUNTS, Score
from mediaeval_ap.tables import Provenance
from mediaeval_ap.tables.sources import ByteSource, parsed_json

__all__ = ['read_results']

Fields = Mapping[str, Any]
N_FIRST_BYTES = 1 << 10  # of which few are white space
BEGIN_OF_OBJECT = re.compile(rb'\s*\{\s*"').match
AS_WRITTEN = 'as --format json --per-query of a command writes it'


def read_results(source: str | os.PathLike[str] | IO[Any]) -> list[Result]:
    """Read results of runs from JSON.

    Parameters
    ----------
    source : str, path-like or file object
        What a command wrote with ``--format json --per-query``, or `Evaluation.to_json` with
        ``per_query=True``; it may be compressed.

    Returns
    -------
    list of Evaluation, Evaluation2015 or Score
        The results, as they were when they were written, without warnings.

    Raises
    ------
    ReadError
        When the file cannot be read.
    FormatError
        When it is not JSON of this shape, or was written without the values of queries.

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
    with stored.open() as stream:
        value = parsed_json(stream.read(), stored.name, f'JSON, {AS_WRITTEN}')
    if not isinstance(value, dict) or value.get('schema') != SCHEMA:
        found = shown(value.get('schema') if isinstance(value, dict) else value)
        raise FormatError(stored.name, 'schema', '', found, f'{SCHEMA!r}, {AS_WRITTEN}')
    listed = value.get('results') or [{}]
    if not isinstance(listed, list):
        raise FormatError(stored.name, 'results', '', shown(listed), f'a list, {AS_WRITTEN}')
    results: list[Result] = []
    for number, each in enumerate(listed, 1):
        place = f'result {number}'
        if isinstance(each, dict) and 'manifest' in each and 'queries' not in each:
            expected = 'the values of each query: write the file with --format json --per-query'
            raise FormatError(stored.name, place, 'queries', 'nothing', expected)
        try:
            manifest = each['manifest']
            results.append(
                READERS[each['kind']](
                    each,
                    _columns(each['queries']),
                    inputs={
                        role: Provenance(**about) for role, about in manifest['inputs'].items()
                    },
                    counts=manifest['counts'],
                    parameters=dict(manifest['parameters']),
                    run=each['run'],
                )
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            found = f'{type(error).__name__}: {error}'
            raise FormatError(stored.name, place, '', found, f'one {AS_WRITTEN}') from error
    return results


def holds_json(path: str) -> bool:
    """Return whether a path is a regular file that begins as an object of JSON does."""
    return BEGIN_OF_OBJECT(ByteSource(path).first_bytes(N_FIRST_BYTES)) is not None


def _columns(rows: Sequence[Fields]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _doubles(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)  # NaN for None


def _evaluation(value: Fields, columns: dict[str, list[Any]], **manifest: Any) -> Evaluation:
    definition = Definition.from_dict(value['manifest']['definition'])
    cutoffs = check_cutoffs(manifest['parameters'].pop('K'), definition)
    ap = [_doubles(columns.pop(ap_column(k))) for k in cutoffs]
    judged = None
    if 'judged' in manifest['inputs']:
        judged = np.column_stack([_doubles(columns.pop(judged_column(k))) for k in cutoffs])
    return Evaluation(
        queries=columns.pop('query'),
        K=cutoffs,
        ap=np.column_stack(ap),
        n_relevant=np.array(columns.pop('n_relevant'), np.int64),
        definition=definition,
        measures={name: _doubles(each) for name, each in columns.items()},
        judged=judged,
        **manifest,
    )


def _evaluation_2015(
    value: Fields, columns: dict[str, list[Any]], **manifest: Any
) -> Evaluation2015:
    return Evaluation2015(
        queries=columns['query'],
        names=columns['name'],
        ratios=_doubles(columns['ratio']),
        n_relevant=np.array(columns['n_relevant'], np.int64),
        ap=_doubles(columns['AP']),
        correct=np.array(columns['correct']) if 'correct' in columns else None,
        definition=Definition.from_dict(value['manifest']['definition']),
        **manifest,
    )


def _score(value: Fields, columns: dict[str, list[Any]], **manifest: Any) -> Score:
    import pandas
    import pyarrow

    metric = value['metric']
    means = value['means']
    kind = kind_of_metric(value['metric'])
    table = pandas.DataFrame(value['queries'])
    counts = {name: np.array(columns[name], np.int64) for name in SUMMED_COUNTS if name in columns}
    names = [name for name in columns if name not in ('query', 'label', *counts)]
    values: dict[str, NDArray[Any]] = {
        name: _doubles(columns[name]) for name in (names if len(means) > 1 else ['value'])
    }
    values |= {name: each for name, each in counts.items() if kind.no_mean or name == 'n_relevant'}
    return Score(
        metric=metric,
        value=means[metric],
        means=means,
        table=table,
        notes=value['notes'],
        queries=pyarrow.array(list(columns['query'])),
        values=values,
        **manifest,
    )


READERS: dict[str, Callable[..., Result]] = {
    'evaluation': _evaluation,
    'evaluation-2015': _evaluation_2015,
    'score': _score,
}
