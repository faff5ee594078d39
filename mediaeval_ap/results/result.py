"""The one shape of all results: their means, notes and documents, shown and written."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import (
    Note,
    ParameterError,
    counted,
    kind_of,
    printable,
    shown,
    together,
)
from mediaeval_ap.render.document import EXACT, Block, Document, Grid, Heading
from mediaeval_ap.render.formats import render, short, to_html
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Provenance

if TYPE_CHECKING:
    import pandas


ALL_QUERIES = 'all'  # the query of the row of means, as trec_eval and ir_measures have it
N_QUERIES = 'n_queries'  # of that row: what its means are over
SKIPPED = 'queries_skipped'  # the count of queries that were left out, where these may be
NO_RELEVANT = 'have no relevant shot'
NO_LABEL = 'have no true label'
Path = str | os.PathLike[str]
SCHEMA = 'mediaeval-ap/results/1'
MEANS_IN_REPR = 6  # a few lines
NamedColumns: TypeAlias = Mapping[str, NDArray[Any] | Sequence[Any]]


class Described(ABC):
    """A value that describes itself as a document, in each output format."""

    @abstractmethod
    def document(self, *args: Any, **kwargs: Any) -> Document:
        """Describe the value for all output formats.

        Returns
        -------
        Document
            Blocks for people and for papers, an object for JSON, and a table for programs.
        """

    def _repr_html_(self) -> str:
        return to_html(self.document())

    def to_csv(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return the rows as CSV with every digit, or write them to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all, compressed if it ends in ``.gz``, ``.bz2``,
            ``.xz`` or ``.zst``.
        per_query : bool
            Of a result: begin with a row for each query. The last row, whose query is ``all``, has
            the means, and what they are over, as that of `to_frame`. A diagnosis always has a row
            for each query; a `Comparison` and the diagnosis of one query refuse this.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError
            When the file cannot be written.
        ParameterError
            For values of each query that a `Score` does not hold.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate(
        ...     [('x', 'v', '1', 'ann', 0.5)]
        ... )
        >>> print(evaluation.to_csv(per_query=True), end='')
        run,definition,query,AP@1,n_relevant,n_queries
        <rows>,mediaeval-2016,ann,1.0,1,
        <rows>,mediaeval-2016,all,1.0,1,1
        """
        return self._written('csv', path, per_query)

    def to_json(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return everything as JSON with every digit, or write it to a file, as `to_csv`.

        It has the shape that every command writes; of a result, `per_query` includes the values of
        each query.
        """
        return self._written('json', path, per_query)

    def to_markdown(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return tables of Markdown with three decimals, or write them to a file, as `to_csv`.

        Of a diagnosis, `per_query` shows all queries, not the costliest.
        """
        return self._written('markdown', path, per_query)

    def to_latex(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return tables of LaTeX (booktabs) with three decimals, as `to_markdown`."""
        return self._written('latex', path, per_query)

    def _written(self, format: str, path: Path | None, per_query: bool) -> str | None:
        parts = {'per_query': True} if per_query else {}  # what has no such part refuses it
        return returned_or_written(render(self.document(**parts), format), path)


def returned_or_written(text: str, path: Path | None) -> str | None:
    """Return a text, or write it to the file and return None."""
    if path is None:
        return text
    write_whole(path, text)
    return None


@dataclass(frozen=True)
class MetricKind:
    """Items that the value of a metric is over, and what follows from that.

    The mean over queries with a true label, in which a run without predictions gets 0, needs no
    entry in `METRIC_KINDS`.
    """

    unit: str = 'query'
    units: str = 'queries'
    over: str = 'queries'  # the name of the count that the value is over
    no_mean: str = ''  # why it is no mean over queries
    is_one_list: bool = False  # all predictions are ranked together, and a table has a row for each
    scores_all: bool = False  # queries without a true label are in the mean, and none is at 0


METRIC_KINDS: Mapping[str, MetricKind] = {
    'GAP': MetricKind(
        'query with a true label',
        'queries with a true label',
        no_mean='the rank of a prediction depends on those of all queries',
        is_one_list=True,
    ),
    'LRAP': MetricKind(scores_all=True),
    'lwlrap': MetricKind('label', 'labels', 'labels', no_mean='it is a mean over labels'),
}


def kind_of_metric(metric: str) -> MetricKind:
    """Return the kind of a metric by its name in results."""
    return METRIC_KINDS.get(metric, MetricKind())


@dataclass(frozen=True)
class Compared:
    """Values that have a mean over queries, by the name of the mean: runs are compared by them.

    Of a metric that is no mean, each query has a row: what the accumulator needs of it.
    `floor` has the mean that a run without any hypothesis gets, where it is known; `left_out` the
    measures without a value for some query.
    """

    queries: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    n_relevant: NDArray[np.int64] | None
    floor: Mapping[str, float]
    left_out: Sequence[str] = ()


def mean_average_precision(ap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over queries (rows) of each column."""
    return np.array([mean(column) for column in ap.T], dtype=np.float64)


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean, rounded once, whatever the order of the values; None over nothing."""
    return math.fsum(values.tolist()) / len(values) if len(values) else None


def notes_of(count: int, n_queries: int, what: str) -> list[str]:
    """Return the note that some queries are special, if there are any."""
    return [Note(what, count, n_queries)] if count else []


def note_above_one(n_above: int, n_queries: int, definition: Definition) -> list[str]:
    """Return the note that average precision of some queries exceeds 1, if it does."""
    what = f'have an AP above 1: {definition} counts a shot each time it is returned'
    return notes_of(n_above, n_queries, what)


def notes_of_skipped(n_skipped: int, n_scored: int, lack: str) -> list[str]:
    """Return the note that queries were left out before the others were scored, if any were."""
    return notes_of(n_skipped, n_skipped + n_scored, f'{lack}, and are left out')


def notes_of_judged(parameters: Mapping[str, Any], counts: Mapping[str, int]) -> list[str]:
    """Return what became of unjudged shots, and of rows of the reference about them."""
    became = {
        'nonrelevant': 'Returned shots that are not judged count as not relevant',
        'skip': 'Returned shots that are not judged leave the ranking (condensed lists)',
    }
    notes = [became[unjudged]] if (unjudged := parameters.get('unjudged')) in became else []
    if n_dropped := counts.get('reference_rows_dropped', 0):
        rows = counted(n_dropped, 'row', 'rows')
        notes.append(f'{rows} of the reference about shots that are not judged: dropped')
    return notes


def note_of_floor(n_without: int, n_queries: int, counts_as: float) -> str:
    """Return the note on queries without a relevant shot, and on the mean that they alone make."""
    floor = n_without * counts_as / n_queries
    empty_run = f', and an empty run has MAP {floor:.3f}' if floor else ''
    return Note(f'{NO_RELEVANT}: each counts {counts_as:g}{empty_run}', n_without, n_queries)


class Result(Described):
    """Values by query and in the mean, notes, and what they were computed from."""

    kind: ClassVar[str]  # in JSON
    run_role: ClassVar[str]  # the input that is the run
    _TITLE: ClassVar[str] = 'METRIC'  # of the means

    definition: Definition | None
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Provenance]
    counts: Mapping[str, int]
    run: str  # its name

    def __post_init__(self) -> None:
        if not self.run:
            (name,) = run_names([self.source.name])
            object.__setattr__(self, 'run', name)  # of a frozen class

    def called(self, name: str) -> Self:
        """Return the result under another name of the run; an empty name changes nothing."""
        return replace(self, run=name) if name else self  # type: ignore[type-var]

    @property
    @abstractmethod
    def notes(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def mean_counts(self) -> dict[str, int]:
        """The number of queries that each mean is over, by the name of the mean."""

    # What the formats show.
    _subtitle: Callable[[], str]  # how the run was scored, after its name
    _settings: Callable[[], dict[str, Any]]  # the same as columns
    _columns: Callable[[], NamedColumns]  # the values of queries, under the column of their names
    _mean_row: Callable[[], dict[str, Any]]  # their last row
    _means: Callable[[], dict[str, float | None]]

    @property
    def _unit(self) -> tuple[str, str]:
        """The noun for what means are over: of one, and of many."""
        return 'query', 'queries'

    @abstractmethod
    def sort_value(self) -> float:
        """Return the mean by which runs are sorted.

        Returns
        -------
        float
            The mean at the last cutoff.
        """

    @abstractmethod
    def compared_values(self) -> Compared:
        """Return the values by which `compare` compares runs.

        Returns
        -------
        Compared
            The queries, with the values of each metric.

        Raises
        ------
        ParameterError
            When the result has no values by query.
        """

    def manifest_settings(self) -> dict[str, Any]:
        """Return all settings on which the values depend, for the manifest in JSON.

        Returns
        -------
        dict
            ``definition``, if there is one, and ``parameters``.
        """
        in_full = {'definition': self.definition.to_dict()} if self.definition else {}
        return {**in_full, 'parameters': dict(self.parameters)}

    def _of_kind(self) -> dict[str, str]:
        """Return what JSON has of this kind of result alone."""
        return {}

    @property
    def _over(self) -> str:
        """Return why means are over different queries, as a sentence; empty where they are not."""
        return ''

    def _count_columns(self) -> dict[str, int]:
        """Return what each mean is over, by the columns that programs get."""
        return {N_QUERIES: next(iter(self.mean_counts.values()))}

    def _summary(self) -> dict[str, Any]:
        """Return one row about the run."""
        return {'run': self.run, **self._settings(), **self._means(), **self._count_columns()}

    def _detail(self, per_query: bool) -> NamedColumns | None:
        """Return what is listed beside the means."""
        return self._columns() if per_query else None

    def _rows(self, per_query: bool) -> Grid:
        """Return the detail and a last row for all queries, as programs get them."""
        no_rows: NamedColumns = {'query': [], **dict.fromkeys(self._mean_row(), ())}
        columns = self._with_all(self._detail(per_query) or no_rows)
        settings = {'run': self.run, **self._settings()}
        rows = zip(*map(_plain, columns.values()), strict=True)
        return Grid([*settings, *columns], [[*settings.values(), *row] for row in rows])

    def _with_all(self, columns: NamedColumns) -> dict[str, NDArray[Any] | Sequence[Any]]:
        """Return columns with a last value for all queries, and what each mean is over."""
        (first, queries), *others = columns.items()
        mean = self._mean_row()
        nothing = [None] * len(queries)
        whole: dict[str, Any] = {first: [*queries, ALL_QUERIES]}
        whole |= {name: _with_mean(column, mean.get(name)) for name, column in others}
        for name, count in self._count_columns().items():
            whole.setdefault(name, [*nothing, count])
        return whole

    @property
    def source(self) -> Provenance:
        return self.inputs[self.run_role]

    def _value(self, per_query: bool) -> dict[str, Any]:
        """Return the result for JSON."""
        detail = self._detail(per_query)
        listed = {}
        if detail is not None:
            listed['queries' if 'query' in detail else 'classes'] = _grid(detail).objects()
        inputs = {
            role: {'name': source.name, 'sha256': source.sha256}
            for role, source in self.inputs.items()
        }
        return {
            'kind': self.kind,
            'run': self.run,
            **self._of_kind(),
            'means': self._means(),
            'mean_counts': self.mean_counts,
            'n_queries': self.counts['queries'],
            **listed,
            'notes': list(self.notes),
            'manifest': {
                'version': __version__,
                **self.manifest_settings(),
                'inputs': inputs,
                'counts': dict(self.counts),
            },
        }

    def __repr__(self) -> str:
        how = f' ({self._subtitle()})' if self._subtitle() else ''
        n_queries = counted(self.counts['queries'], 'query', 'queries')
        means = self._means()
        counts = self.mean_counts
        width = max(map(len, means))
        lines = [f'{type(self).__name__} of {shown(self.run)}{how}, {n_queries}']
        for name, value in islice(means.items(), MEANS_IN_REPR):
            over = counted(counts[name], *self._unit)
            others = '' if over == n_queries else f' over {over}'
            lines.append(f'  {name:{width}}  {"none" if value is None else short(value)}{others}')
        n_more = len(means) - MEANS_IN_REPR
        return '\n'.join([*lines, f'  … and {n_more} more'] if n_more > 0 else lines)

    def document(self, per_query: bool = False) -> Document:
        return results_document([self], per_query=per_query)

    def to_dict(self) -> dict[str, Any]:
        """Return the result, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``kind``, ``run`` (its name), ``means``, ``mean_counts`` (what each mean is over),
            ``n_queries``, ``queries`` (the values of each), ``notes`` and ``manifest``:
            ``version``, ``definition`` in full, ``parameters``, ``inputs`` (path, SHA-256),
            ``counts``. A value that is not defined is None. A score has its ``metric``, and
            ``classes`` if these were asked for, but no ``queries`` if they need a table that was
            not asked for (GAP).
        """
        return self._value(per_query=True)

    def to_frame(self, *, mean: bool = False) -> pandas.DataFrame:
        """Return the values of each query as a table.

        Parameters
        ----------
        mean : bool
            Add a last row ``all`` with the means, and with sums of ``n_relevant`` and ``n_labels``.
            For GAP it has the sum of the terms; for lwlrap, lwlrap under the LRAP of samples. The
            column ``n_queries``, of this row alone, has the number of queries that the means are
            over; that of a measure of ir_measures has its name, as ``n_queries_RR``.

        Returns
        -------
        pandas.DataFrame
            Indexed by query. Of an `Evaluation`: ``AP@k`` for each cutoff (``AP`` for ``'all'``)
            and the measures; of an `Evaluation2015`: ``name``, ``ratio``, ``AP`` and, with
            evidence, ``correct`` and ``EwAP``; of a `Score`: ``value``. Then ``n_relevant``.
        """
        import pandas

        columns = self._columns()
        whole = pandas.DataFrame(self._with_all(columns) if mean else columns)
        counts = whole.columns.difference(list(columns))
        return whole.astype(dict.fromkeys(counts, 'Int64')).set_index(next(iter(columns)))


def distinct_run_names(results: Sequence[Result]) -> list[str]:
    """Return the name of each run; more of the path where others were called the same alone."""
    names = []
    for each in results:
        path = each.source.name
        paths = sorted({other.source.name for other in results if other.run == each.run})
        told_apart = dict(zip(paths, run_names(paths), strict=True))
        names.append(told_apart[path] if [each.run] == run_names([path]) else each.run)
    return names


def reordered(values: Any, order: NDArray[np.intp]) -> Any:
    """Return the values of queries in another order."""
    if isinstance(values, Mapping):
        return {key: reordered(each, order) for key, each in values.items()}
    if isinstance(values, list):
        return [values[at] for at in order.tolist()]
    return None if values is None else values[order]


def _with_mean(column: NDArray[Any] | Sequence[Any], mean: Any) -> NDArray[Any] | Sequence[Any]:
    """Return a column with a last value for all queries, which is a number, or None."""
    if not isinstance(column, np.ndarray):
        return [*column, mean]
    if mean is None and column.dtype.kind != 'f':
        return [*column.tolist(), None]  # NaN would make decimals of integers
    return np.append(column, np.nan if mean is None else mean)


def _plain(column: NDArray[Any] | Sequence[Any]) -> Sequence[Any]:
    """Return a column as values of Python, with None for NaN."""
    if not isinstance(column, np.ndarray):
        return column
    values: list[Any] = column.tolist()
    if column.dtype.kind != 'f' or not np.isnan(column).any():
        return values
    return [None if value != value else value for value in values]


def _grid(columns: NamedColumns) -> Grid:
    rows = list(zip(*map(_plain, columns.values()), strict=True))
    return Grid(list(columns), rows, EXACT)


def results_document(
    results: Iterable[Result],
    *,
    per_query: bool = False,
    sort: bool = False,
    failed: Iterable[tuple[str, str]] = (),
) -> Document:
    """Return results of one kind, and runs that failed with the error of each, as a document."""
    ordered = list(results)
    if sort:
        ordered.sort(key=lambda result: -result.sort_value())
    errors = list(failed)
    return Document(
        lambda: _blocks(ordered, per_query),
        lambda: {
            'schema': SCHEMA,
            'version': __version__,
            'results': [result._value(per_query) for result in ordered],
            'failed': [{'run': run, 'error': error} for run, error in errors],
        },
        lambda: _together([result._rows(per_query) for result in ordered]),
    )


def _blocks(results: Sequence[Result], per_query: bool) -> Iterator[Block]:
    details = [result._detail(per_query) for result in results]
    are_several = len(results) > 1
    are_means_alone = all(detail is None for detail in details)
    if not are_several or not are_means_alone:
        for result, detail in zip(results, details, strict=True):
            yield from _about_one(result, detail)
    if are_several:
        yield from _about_all(results)
    if are_several and are_means_alone:  # the notes that all results have, and then the others
        notes = [(result, _notes_below(result)) for result in results]
        shared = [note for note in notes[0][1] if all(note in each for _, each in notes)]
        others: dict[object, dict[str, str]] = defaultdict(dict)  # by run
        for result, of_result in notes:
            for note in of_result:
                if note not in shared:
                    others[kind_of(note)][printable(result.run)] = note
        lines = shared + [
            line
            for said in others.values()
            for line in ([together(said)] if len(said) > 1 else map(': '.join, said.items()))
        ]
        if lines:
            yield ''.join(f'{line}\n' for line in dict.fromkeys(lines))


def _about_one(result: Result, detail: NamedColumns | None) -> Iterator[Block]:
    yield Heading(result.run, result._subtitle())
    if detail is not None:
        yield _grid(detail)
    if result._over:
        yield f'{result._over}\n'
    means = result._means()
    counts = result.mean_counts
    if len(set(counts.values())) == 1:
        over = counted(next(iter(counts.values())), *result._unit)
        yield Grid([result._TITLE, over], list(means.items()))
    else:
        rows = [[name, mean, counts[name]] for name, mean in means.items()]
        yield Grid([result._TITLE, 'mean', result._unit[1]], rows)
    if notes := _notes_below(result):
        yield ''.join(f'{note}\n' for note in notes)


def _notes_below(result: Result) -> list[str]:
    """Return the notes but that on what means are over, which stands above them."""
    return [note for note in result.notes if note != result._over]


def _about_all(results: Sequence[Result]) -> Iterator[Block]:
    """Return a row about each run; above it, what all means are over and by, or why they differ."""
    grid = _summary_of(results)
    over = {counted(n, *each._unit) for each in results for n in each.mean_counts.values()}
    first, *others = results[0]._count_columns()
    if len(over) == 1:
        dropped = [first, *others]
        definition = ''
        if 'definition' in grid.headers:
            found = {str(row[grid.headers.index('definition')]) for row in grid.rows}
            if len(found) == 1:
                dropped.append('definition')
                definition = f' ({found.pop()})'
        yield f'Over {over.pop()}{definition}:\n'
    else:
        differ = 'The means are not all over the same queries'
        yield ''.join(
            f'{line}\n' for line in dict.fromkeys(each._over or differ for each in results)
        )
        rows = [each._count_columns() for each in results]
        dropped = [name for name in others if all(row[name] == row[first] for row in rows)]
    kept = [at for at, header in enumerate(grid.headers) if header not in dropped]
    means = {tuple(each._means()) for each in results}  # the names; those of scores may differ
    yield Grid(
        [grid.headers[at] for at in kept],
        [[row[at] for at in kept] for row in grid.rows],
        best=(*means.pop(), 'value') if len(means) == 1 else (),
    )


def _together(grids: Sequence[Grid]) -> Grid:
    """Return the rows of all grids, which must have the same columns."""
    if not grids:
        raise ParameterError('results: found none, expected one or more')
    headers = list(grids[0].headers)
    for grid in grids:
        if list(grid.headers) != headers:
            found = ', '.join(grid.headers)
            expected = ', '.join(headers)
            raise ParameterError(f'results: found the columns {found}, expected {expected}')
    return Grid(headers, [row for grid in grids for row in grid.rows])


def _summary_of(results: Sequence[Result]) -> Grid:
    """Return a row about each result."""
    if len(kinds := sorted({type(result).__name__ for result in results})) > 1:
        raise ParameterError(f'results: found {", ".join(kinds)}, expected one kind')
    rows = [result._summary() for result in results]
    return _together([Grid(list(row), [list(row.values())]) for row in rows])


def summary(results: Iterable[Result] | Mapping[str, Result]) -> pandas.DataFrame:
    """Compare runs in one table.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same columns. The keys of a mapping name the runs.

    Returns
    -------
    pandas.DataFrame
        A row for each result, indexed by the name of the run: ``definition``, each mean and
        ``n_queries``; of scores ``metric``, its ``definition`` or ``ties``, ``value`` and
        ``n_queries``, which are as of `Evaluation.to_frame`; lwlrap has ``n_labels`` instead.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, summary
    >>> evaluate = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate
    >>> right = ('x', 'v', '1', 'ann', 0.5)
    >>> wrong = ('x', 'w', '1', 'ann', 0.9)
    >>> results = {'one': evaluate([right]), 'other': evaluate([wrong, right])}
    >>> summary(results)['MAP@1'].to_dict()
    {'one': 1.0, 'other': 0.0}
    """
    import pandas

    names = list(results) if isinstance(results, Mapping) else None
    results = results.values() if isinstance(results, Mapping) else results
    given = list(results) if isinstance(results, Iterable) else []
    wrong = [each for each in given if not isinstance(each, Result)]
    if wrong or not isinstance(results, Iterable):
        found = shown(type(wrong[0] if wrong else results))
        raise ParameterError(f'summary: found {found}, expected a list of results')
    grid = _summary_of(given)
    frame = pandas.DataFrame(grid.rows, columns=list(grid.headers)).set_index('run')
    return frame if names is None else frame.set_axis(pandas.Index(names, name='run'))
