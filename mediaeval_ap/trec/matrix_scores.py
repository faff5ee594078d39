"""Matrices of relevance and scores, a row for each query, scored in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import depths
from mediaeval_ap.errors import ParameterError, UndefinedScoreError, printable
from mediaeval_ap.evaluation.data_warnings import skipped_queries, without_relevant
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_terms
from mediaeval_ap.metrics.matrices import dense_numbers, doubles, is_sparse, refuse_marked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.notes import count_of_skipped
from mediaeval_ap.tables.first_look import NPY
from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.reading import InputKind, TableInput
from mediaeval_ap.tables.records import read_file
from mediaeval_ap.tables.table import Provenance
from mediaeval_ap.trec.entries import array_of, comparable_scores, descending_keys
from mediaeval_ap.trec.matched_run import (
    ONE_SCORE,
    SELF_FIRST,
    TrecSettings,
    about_missing,
    doubtful_scores,
    is_doubtful,
)
from mediaeval_ap.trec.sorted_terms import SortedRows, terms_of_sorted

CELLS_AT_ONCE = 1 << 20  # about 40 MiB of scores, orders and marks


@dataclass(frozen=True, eq=False)
class Matrices:
    """Relevance and scores of shape (n_queries, n_documents)."""

    relevance_of: Callable[[slice], Any]  # of some rows
    scores: NDArray[Any]
    reference: Provenance
    run: Provenance
    is_one_set: bool = False  # the documents are the queries

    @classmethod
    def of(
        cls, relevance: TableInput, scores: TableInput, query_labels: Any, document_labels: Any
    ) -> Matrices:
        if (relevance.value is None) is (query_labels is None):
            raise ParameterError('qrels: give a matrix of relevance, or None and query_labels=…')
        array, run = _read(scores)
        score = dense_numbers(array, 'scores', 2, 'biuf')
        if query_labels is None:
            levels, reference = _read(relevance)
            if not is_sparse(levels):
                levels = dense_numbers(levels, 'relevance', 2, 'biuf')
            _check_shape('relevance', levels.shape, score.shape)
            rows_of = levels.tocsr().__getitem__ if is_sparse(levels) else levels.__getitem__
            return cls(rows_of, score, reference, run)
        is_one_set = document_labels is None
        queries = _labels(query_labels, 'query_labels')
        documents = queries if is_one_set else _labels(document_labels, 'document_labels')
        if queries.dtype.kind != documents.dtype.kind:
            types = f'{documents.dtype}, expected the type of query_labels, {queries.dtype}'
            raise ParameterError(f'document_labels: found {types}')
        _check_shape('labels', (len(queries), len(documents)), score.shape)
        codes = np.unique(np.concatenate([queries, documents]), return_inverse=True)[1]
        query, document = np.split(codes, [len(queries)])

        def equal_labels(rows: slice) -> NDArray[np.bool_]:
            is_equal: NDArray[np.bool_] = query[rows, np.newaxis] == document
            return is_equal

        return cls(equal_labels, score, Provenance('<labels>'), run, is_one_set)

    @cached_property
    def text_keys(self) -> NDArray[np.int64]:
        """Sort keys of the documents: descending by the bytes of their ids."""
        ids = [str(column).encode() for column in range(self.scores.shape[1])]
        return descending_keys(array_of(ids))

    def blocks(self) -> Iterator[slice]:
        n_rows, n_columns = self.scores.shape
        step = max(1, CELLS_AT_ONCE // n_columns)
        return (slice(begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))

    def levels(self, rows: slice, level: int | float) -> NDArray[Any]:
        """Return the relevance in some rows; decimals need a level with decimals."""
        relevance = self.relevance_of(rows)
        block: NDArray[Any] = relevance.toarray() if is_sparse(relevance) else relevance
        if block.dtype == np.bool_:
            return block
        is_right = np.isfinite(block)
        if not isinstance(level, float):
            is_right &= block == np.trunc(block)
        expected = 'a finite number' if isinstance(level, float) else f'an integer{QRELS.remedy}'
        refuse_marked('relevance', block, ~is_right, expected, (rows.start, 0))
        return block


class _Ranked(NamedTuple):
    """Figures of some rows; arrays of shape (n_rows, …)."""

    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    n_scored: NDArray[np.int64]
    n_returned: NDArray[np.int64]  # without the documents that are left out
    n_hits: NDArray[np.int64]
    n_own: NDArray[np.int64]
    n_ignored: NDArray[np.int64]
    is_tied: NDArray[np.bool_]  # all documents have one score
    is_own_first: NDArray[np.bool_]


def is_matrix(table_input: TableInput) -> bool:
    """Return True for numbers in two dimensions, or a .npy file."""
    value = table_input.value
    if table_input.kind is InputKind.TEXT:
        return bool(value.start.startswith(NPY))
    if table_input.kind in (InputKind.FRAME, InputKind.COLUMNAR, InputKind.TABLE):
        return False
    dtype = str(getattr(value, 'dtype', 'object'))  # of numpy, scipy or torch
    return getattr(value, 'ndim', 0) == 2 and any(map(dtype.count, ('int', 'float', 'bool')))


def evaluate_matrices(matrices: Matrices, settings: TrecSettings, name: str) -> Evaluation:
    """Score each row as a topic; ids are the numbers of rows and columns, from 0."""
    n_queries, n_documents = matrices.scores.shape
    if settings.exclude_self and n_queries != n_documents:
        actual = f'True for {n_queries} queries and {n_documents} documents'
        raise ParameterError(f'found {actual}, expected as many', 'exclude_self')
    blocks = [_ranked(matrices, rows, settings) for rows in matrices.blocks()]
    ranked = _Ranked(*map(np.concatenate, zip(*blocks, strict=True)))
    reference, run = printable(matrices.reference.name), printable(matrices.run.name)
    is_scored = (ranked.n_relevant > 0) | (settings.skip_or_count == 'count')
    n_skipped = int(np.count_nonzero(~is_scored))
    warnings = skipped_queries(reference, reference, n_skipped, n_queries)
    is_missing = (ranked.n_scored == 0) & is_scored
    n_missing = int(np.count_nonzero(is_missing))
    if n_missing:
        first = str(is_missing.argmax())
        settings.policy.refuse_missing(run, 'query', first, n_missing, reference)
        warnings.append(about_missing(run, n_missing, n_queries, reference, settings))
    if settings.policy.missing == 'skip':
        is_scored &= ~is_missing
    scored = np.flatnonzero(is_scored)
    if not len(scored):
        raise UndefinedScoreError(f'{run}: no query has a score and a relevant document')
    findings = [(ONE_SCORE, int(ranked.is_tied.sum()), n_queries)] * is_doubtful(settings.ties)
    findings.append((SELF_FIRST, int(ranked.is_own_first.sum()), n_queries))
    warnings += doubtful_scores(run, n_queries * n_documents, findings)
    n_relevant = ranked.n_relevant[scored]
    left_out = {'excluded_self': ranked.n_own, 'ignored': ranked.n_ignored}
    return Evaluation(
        [*map(str, scored.tolist())],
        settings.cutoffs,
        ap=ranked.ap[scored],
        n_relevant=n_relevant,
        definition=settings.definition,
        inputs={'reference': matrices.reference, 'hypothesis': matrices.run},
        counts={
            'queries': len(scored),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            'judgements': n_queries * n_documents,
            'hypotheses': int(ranked.n_scored.sum()),
            'missing': n_missing,
            'unknown': 0,
            'relevant': int(n_relevant.sum()),
            'relevant_returned': int(ranked.n_hits.sum()),
            **count_of_skipped(settings.skip_or_count, n_skipped),
            **{cause: int(left_out[cause].sum()) for cause in settings.causes_to_leave_out},
        },
        parameters=settings.parameters,
        warnings=(*warnings, *without_relevant(reference, n_relevant, settings.definition)),
        run=name,
    )


class _Cells(NamedTuple):
    """Some rows; arrays of shape (n_rows, n_documents), and counts of shape (n_rows,)."""

    scores: NDArray[np.floating]
    is_returned: NDArray[np.bool_]  # without the documents that are left out
    is_relevant: NDArray[np.bool_]
    n_scored: NDArray[np.int64]
    n_own: NDArray[np.int64]
    n_ignored: NDArray[np.int64]


def _cells(matrices: Matrices, rows: slice, settings: TrecSettings) -> _Cells:
    """Mark the documents of some rows, before they are ranked."""
    scores = matrices.scores[rows]
    is_wrong = np.isnan(scores) | (scores == np.inf)
    expected = 'a finite number, or -inf for one not returned'
    refuse_marked('scores', scores, is_wrong, expected, (rows.start, 0))
    if scores.dtype.kind != 'f':
        scores = doubles(scores, 'scores')
    is_returned = scores != -np.inf
    n_scored = np.count_nonzero(is_returned, axis=1)
    levels = matrices.levels(rows, settings.level)
    is_left_out = np.isin(levels, settings.ignored)
    n_own = np.zeros(len(scores), dtype=np.int64)
    if settings.exclude_self:
        own = np.arange(len(scores)), np.arange(rows.start, rows.stop)
        n_own += is_returned[own]
        is_left_out[own] = True
    n_ignored = np.count_nonzero(is_left_out & is_returned, axis=1) - n_own
    is_relevant = (levels >= settings.level) & ~is_left_out
    is_returned &= ~is_left_out
    if settings.unjudged == 'skip':
        is_returned &= levels >= min(settings.level, 0)
    return _Cells(scores, is_returned, is_relevant, n_scored, n_own, n_ignored)


def _ranked(matrices: Matrices, rows: slice, settings: TrecSettings) -> _Ranked:
    """Rank the documents of some rows."""
    scores, is_returned, is_relevant, n_scored, n_own, n_ignored = _cells(matrices, rows, settings)
    n_rows, n_documents = scores.shape
    n_relevant = np.count_nonzero(is_relevant, axis=1)
    n_returned = np.count_nonzero(is_returned, axis=1)
    # Documents that are not returned stand last, behind every number.
    keys = np.where(is_returned, -comparable_scores(scores, settings.ties), np.nan)
    order = keys.argsort(axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    is_hit = np.take_along_axis(is_relevant, order, axis=1)
    is_ranked = np.arange(n_documents) < n_returned[:, np.newaxis]
    document = order[is_ranked]

    def tie_keys(tied: NDArray[np.int64]) -> NDArray[np.int64]:
        columns: NDArray[np.int64] = document[tied]
        if settings.ties != 'stable':
            columns = matrices.text_keys[columns]
        return columns

    sorted_rows = SortedRows(
        np.arange(n_rows, dtype=np.int32).repeat(n_returned),
        -keys[is_ranked],
        is_hit[is_ranked],
        n_returned,
    )
    precision = settings.definition.precision
    terms = terms_of_sorted(sorted_rows, settings.ties, precision, tie_keys)
    last = np.maximum(n_returned - 1, 0)
    is_tied = (n_returned > 1) & (keys[:, 0] == keys[np.arange(n_rows), last])
    is_own_first = np.zeros(n_rows, dtype=np.bool_)
    if n_documents == len(matrices.scores):
        is_first = (n_returned > 0) & (order[:, 0] == np.arange(rows.start, rows.stop))
        is_first &= (n_documents == 1) | (keys[:, 0] != keys[:, min(1, n_documents - 1)])
        is_own_first = is_first & (matrices.is_one_set | ~is_hit[:, 0])
    return _Ranked(
        average_precision_of_terms(
            terms,
            n_relevant,
            n_returned,
            K=depths(settings.cutoffs),
            definition=settings.definition,
        ),
        n_relevant,
        n_scored,
        n_returned,
        np.bincount(sorted_rows.topic, sorted_rows.is_hit, n_rows).astype(np.int64),
        n_own,
        n_ignored,
        is_tied,
        is_own_first,
    )


def refuse_measures(measures: Sequence[Any]) -> None:
    for measure in measures:
        expected = 'none for matrices; give runs as files, tables or dictionaries'
        raise ParameterError(f'found {measure}, expected {expected}', 'measures')


def _read(table_input: TableInput) -> tuple[Any, Provenance]:
    if table_input.kind is not InputKind.TEXT:
        return table_input.value, Provenance(table_input.name)
    array = read_file(table_input.value, allow_array=True)
    source = table_input.value.provenance()
    if isinstance(array, bytes):
        raise source.error('text', 'a .npy file of numbers, as the other file')
    return array, source


def _labels(labels: Any, name: str) -> NDArray[Any]:
    array = np.asarray(labels)
    if array.dtype == object and {*map(type, array.flat)} == {str}:  # as pandas has text
        array = array.astype(str)
    if array.ndim != 1 or array.dtype.kind not in 'biuU':
        actual = f'{array.ndim} dimensions of {array.dtype}'
        raise ParameterError(f'{name}: found {actual}, expected 1 of integers or of text')
    return array


def _check_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected or not all(shape):
        needed = f'{expected} as scores' if all(expected) else 'a query and a document'
        raise ParameterError(f'{name}: found shape {shape}, expected {needed}')
