"""The common base of all results: means, notes, and documents in each output format."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import ParameterError, shown, with_noun
from mediaeval_ap.render.document import EXACT, Block, Captioned, Document, Grid, Heading
from mediaeval_ap.render.formats import short
from mediaeval_ap.results.described import (
    RESULTS_SCHEMA,
    DescribedTable,
    json_document,
    manifest_json,
)
from mediaeval_ap.results.notes import merged_notes
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Provenance

if TYPE_CHECKING:
    import pandas

ALL_QUERIES = 'all'  # the query of the row of means, as in trec_eval and ir_measures
N_QUERIES = 'n_queries'  # a column of that row: the number of queries in its means
LABEL = 'tab:scores'
ORDERS_OF_TIES = {
    'expected': 'mean over all orders',
    'threshold': 'precision at their last rank',
    'stable': 'order of the file',
    'best': 'correct ones first',
    'worst': 'correct ones last',
}
# Settings that stand beside the name of a definition, unless they have these defaults.
SHOWN_SETTINGS = {
    'ties': 'trec_eval',
    'relevance_level': 1,
    'ignore': 'none',
    'repeated': 'error',
    'exclude_self': False,
}
MEANS_IN_REPR = 6  # so that it stays a few lines
NamedColumns: TypeAlias = Mapping[str, NDArray[Any] | Sequence[Any]]


@dataclass(frozen=True)
class MetricKind:
    """The items that a metric averages over, and its traits that follow from them."""

    unit: tuple[str, str] = ('query', 'queries')  # the nouns for one and for several
    over: str = 'queries'  # their key in `Result.counts`
    no_mean: str = ''  # the reason, if the value is not a mean over queries
    is_one_list: bool = False  # ranks all predictions in one list; a table has a row for each
    scores_all: bool = False  # the mean includes queries without a true label, which are not at 0
    query: tuple[str, str] = ('query', 'queries')  # the nouns for the items that have values


# Others are means over queries with a true label, where a run without predictions gets 0.
METRIC_KINDS: Mapping[str, MetricKind] = {
    'GAP': MetricKind(
        ('query with a true label', 'queries with a true label'),
        no_mean='the rank of a prediction depends on those of all queries',
        is_one_list=True,
    ),
    'LRAP': MetricKind(scores_all=True),
    'lwlrap': MetricKind(('label', 'labels'), over='labels', no_mean='it is a mean over labels'),
    'macro AP': MetricKind(('class', 'classes'), query=('class', 'classes')),
}


def kind_of_metric(metric: str) -> MetricKind:
    return METRIC_KINDS.get(metric, MetricKind())


def setting_in_words(name: str, value: Any) -> str:
    """Return a setting as people read it beside a result."""
    if name not in SHOWN_SETTINGS:
        text: str = value
        return text
    return f'{name.replace("_", " ")}: {ORDERS_OF_TIES.get(value, value)}'


@dataclass(frozen=True)
class Compared:
    """The values by which runs are compared: by query, under the name of their mean."""

    queries: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    n_relevant: NDArray[np.int64] | None  # of labels, if the metric is no mean over queries
    floor: Mapping[str, float]  # the mean of an empty run, where it is known
    left_out: Sequence[str] = ()  # the measures that lack a value for some query


class Result(DescribedTable):
    """Values by query and in the mean, notes, and the settings and inputs behind them."""

    kind: ClassVar[str]  # the kind of result, as JSON names it
    run_role: ClassVar[str]  # the role of the run among the inputs
    definition: Definition | None
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Provenance]
    counts: Mapping[str, int]
    run: str  # its name

    def __post_init__(self) -> None:
        if not self.run:
            (name,) = run_names([self.source.name])
            object.__setattr__(self, 'run', name)  # of a frozen class

    if not TYPE_CHECKING:  # nothing completes `plot`

        def __getattr__(self, name: str) -> NoReturn:
            remedy = '; a comparison has: compare(…, …).plot' if name == 'plot' else ''
            text = f"'{type(self).__name__}' has no {name}{remedy}"
            raise AttributeError(text, name=name, obj=self)  # Python adds: Did you mean …?

    def called(self, name: str) -> Self:
        """Return the result under another name of the run; an empty name changes nothing."""
        return replace(self, run=name) if name else self  # type: ignore[type-var]

    @property
    @abstractmethod
    def notes(self) -> Sequence[str]: ...

    @property
    @abstractmethod
    def mean_counts(self) -> dict[str, int]:
        """The number of queries in each mean, by the name of the mean."""

    # Each kind of result defines, for the output formats:
    _subtitle: Callable[[], str]  # the settings, after the name of the run
    _settings: Callable[[], dict[str, Any]]  # the settings as columns
    _columns: Callable[[], NamedColumns]  # a column of queries, then their values
    _mean_row: Callable[[], dict[str, Any]]  # the last row of these columns
    means: Any  # a dictionary of each mean, by its name

    @property
    def metric_kind(self) -> MetricKind:
        """The items that the last metric averages over, and its traits that follow from them."""
        return kind_of_metric([*self.means][-1])

    @abstractmethod
    def sort_value(self) -> float:
        """Return the mean by which runs are sorted: at the last cutoff.

        Returns
        -------
        float
        """

    @abstractmethod
    def compared_values(self) -> Compared:
        """Return the values by which `compare` compares runs; raise if it has none by query.

        Returns
        -------
        Compared
        """

    def manifest_settings(self) -> dict[str, Any]:
        """Return all settings on which the values depend, for the manifest in JSON.

        Returns
        -------
        dict
            ``definition``, if there is one, and ``parameters``.
        """
        definition = {'definition': self.definition.to_dict()} if self.definition else {}
        return {**definition, 'parameters': dict(self.parameters)}

    def _own_entries(self) -> dict[str, str]:
        """Return the JSON entries that only this kind of result has."""
        return {}

    @property
    def _counts_note(self) -> str:
        """The reason why means are over different queries, as a sentence; '' if they are not."""
        return ''

    def _count_columns(self) -> dict[str, int]:
        """Return the number of queries in each mean, by its column in CSV and JSON lines."""
        return {N_QUERIES: next(iter(self.mean_counts.values()))}

    def _summary(self) -> dict[str, Any]:
        """Return the row of this run in a table of several runs."""
        return {'run': self.run, **self._settings(), **self.means, **self._count_columns()}

    def _detail(self, per_query: bool) -> NamedColumns | None:
        """Return the columns of queries or classes that are listed beside the means, if any."""
        return self._columns() if per_query else None

    def _rows(self, per_query: bool) -> Grid:
        """Return the detail and a last row for all queries, for CSV and JSON lines."""
        no_rows: NamedColumns = {'query': [], **dict.fromkeys(self._mean_row(), ())}
        columns = self._with_last_row(self._detail(per_query) or no_rows)
        settings = {'run': self.run, **self._settings()}
        rows = zip(*map(_python_values, columns.values()), strict=True)
        return Grid([*settings, *columns], [[*settings.values(), *row] for row in rows])

    def _with_last_row(self, columns: NamedColumns) -> dict[str, NDArray[Any] | Sequence[Any]]:
        """Add the row of all queries, and the columns that count the queries in its means."""
        (first, queries), *value_columns = columns.items()
        means = self._mean_row()
        extended: dict[str, Any] = {first: [*queries, ALL_QUERIES]}
        extended |= {name: _with_mean(column, means.get(name)) for name, column in value_columns}
        for name, count in self._count_columns().items():
            extended.setdefault(name, [*[None] * len(queries), count])
        return extended

    @property
    def source(self) -> Provenance:
        """The name and the hash of the run's file."""
        return self.inputs[self.run_role]

    def _json_object(self, per_query: bool) -> dict[str, Any]:
        detail = self._detail(per_query)
        rows = {}
        if detail is not None:
            rows['queries' if 'query' in detail else 'classes'] = _exact_grid(detail).objects()
        return {
            'kind': self.kind,
            'run': self.run,
            **self._own_entries(),
            'means': self.means,
            'mean_counts': self.mean_counts,
            'n_queries': self.counts['queries'],
            **rows,
            'notes': list(self.notes),
            'manifest': manifest_json(
                **self.manifest_settings(), inputs=self.inputs, counts=self.counts
            ),
        }

    def __repr__(self) -> str:
        settings = ''
        if self._subtitle():
            settings = f' ({self._subtitle()})'
        n_queries = with_noun(self.counts['queries'], *self.metric_kind.query)
        means = self.means
        counts = self.mean_counts
        width = max(map(len, means))
        lines = [f'{type(self).__name__} of {shown(self.run)}{settings}, {n_queries}']
        for name, value in islice(means.items(), MEANS_IN_REPR):
            n_items = with_noun(counts[name], *self.metric_kind.unit)
            line = f'  {name:{width}}  {"none" if value is None else short(value)}'
            if n_items != n_queries:
                line += f' over {n_items}'
            lines.append(line)
        n_more = len(means) - MEANS_IN_REPR
        if n_more > 0:
            lines.append(f'  … and {n_more} more')
        return '\n'.join(lines)

    def document(self, per_query: bool = False) -> Document:
        return results_document([self], per_query=per_query)

    def _json_value(self, per_query: bool) -> dict[str, Any]:
        entries = self.to_dict() if per_query else self._json_object(per_query=False)
        return json_document(RESULTS_SCHEMA, results=[entries], failed=[])

    def to_dict(self) -> dict[str, Any]:
        """Return the result, and a manifest of its settings and inputs, for JSON.

        Returns
        -------
        dict
            ``kind``, ``run`` (its name), ``means``, ``mean_counts`` (the number of queries in each
            mean), ``n_queries``, ``queries`` (the values of each), ``notes`` and ``manifest``:
            ``version``, ``definition`` in full, ``parameters``, ``inputs`` (path, SHA-256),
            ``counts``. A value that is not defined is None. A score also has its ``metric``, and
            ``classes`` if it was computed with ``per_class=True``; for GAP it has ``queries`` only
            if it was computed with ``per_query=True``.
        """
        return self._json_object(per_query=True)

    def to_frame(self, *, mean: bool = False) -> pandas.DataFrame:
        """Return the values of each query as a table.

        Parameters
        ----------
        mean : bool
            Add a last row ``all`` with the means, and with sums of ``n_relevant`` and ``n_labels``.
            For GAP, its ``value`` is the sum of the terms; for lwlrap, it is lwlrap, below the LRAP
            of each query. Only this row has a value in ``n_queries``, the number of queries in the
            means; a measure of ir_measures has a column of its own, such as ``n_queries_RR``.

        Returns
        -------
        pandas.DataFrame
            Indexed by query. An `Evaluation` has ``AP@k`` for each cutoff (``AP`` for ``'all'``)
            and the measures; an `Evaluation2015` has ``name``, ``ratio``, ``AP`` and, with
            evidence, ``correct`` and ``EwAP``; a `Score` has ``value``. ``n_relevant`` is last.
        """
        import pandas

        columns = self._columns()
        frame = pandas.DataFrame(self._with_last_row(columns) if mean else columns)
        counts = frame.columns.difference(list(columns))
        return frame.astype(dict.fromkeys(counts, 'Int64')).set_index(next(iter(columns)))


def distinct_run_names(results: Sequence[Result]) -> list[str]:
    """Return the name of each run: where they collide, files have folders and tables a number."""
    names = []
    tables = []
    for result in results:
        path = result.source.name
        paths = sorted({other.source.name for other in results if other.run == result.run})
        name_by_path = dict(zip(paths, run_names(paths), strict=True))
        is_default = [result.run] == run_names([path])
        names.append(name_by_path[path] if is_default else result.run)
        is_table = is_default and result.source.sha256 is None
        tables.append((result.run, *result.means) if is_table else None)
    for at, table in enumerate(tables):
        if table is not None and tables.count(table) > 1:
            names[at] += f' {tables[: at + 1].count(table)}'
    return names


def reorder(values: Any, order: NDArray[np.intp]) -> Any:
    """Return the values of queries in another order."""
    if isinstance(values, Mapping):
        return {key: reorder(column, order) for key, column in values.items()}
    if isinstance(values, list):
        return [values[position] for position in order.tolist()]
    return None if values is None else values[order]


def _with_mean(column: NDArray[Any] | Sequence[Any], mean: Any) -> NDArray[Any] | Sequence[Any]:
    """Append the value of the row of all queries, a number or None, to a column."""
    if not isinstance(column, np.ndarray):
        return [*column, mean]
    if mean is None and column.dtype.kind != 'f':
        return [*column.tolist(), None]  # NaN would make decimals of integers
    return np.append(column, np.nan if mean is None else mean)


def _python_values(column: NDArray[Any] | Sequence[Any]) -> Sequence[Any]:
    """Return a column as Python values, with None for NaN."""
    if not isinstance(column, np.ndarray):
        return column
    values: list[Any] = column.tolist()
    if column.dtype.kind != 'f' or not np.isnan(column).any():
        return values
    return [None if value != value else value for value in values]


def _exact_grid(columns: NamedColumns, query: str = 'query') -> Grid:
    rows = list(zip(*map(_python_values, columns.values()), strict=True))
    return Grid([query if name == 'query' else name for name in columns], rows, EXACT)


def results_document(
    results: Iterable[Result],
    *,
    per_query: bool = False,
    sort: bool = False,
    failed: Iterable[tuple[str, str]] = (),
) -> Document:
    """Return results of one kind, and the failed runs with their errors, as a document."""
    ordered = list(results)
    if sort:
        ordered.sort(key=lambda result: -result.sort_value())
    errors = [{'run': run, 'error': error} for run, error in failed]
    return Document(
        lambda: _result_blocks(ordered, per_query),
        lambda: json_document(
            RESULTS_SCHEMA,
            results=[result._json_object(per_query) for result in ordered],
            failed=errors,
        ),
        lambda: _concatenate([result._rows(per_query) for result in ordered]),
        lambda: _blocks_for_papers(ordered, per_query),
    )


def _result_blocks(results: Sequence[Result], per_query: bool) -> Iterator[Block]:
    details = [result._detail(per_query) for result in results]
    are_several = len(results) > 1
    are_means_alone = all(detail is None for detail in details)
    if not are_several or not are_means_alone:
        for result, detail in zip(results, details, strict=True):
            yield from _blocks_of_one(result, detail)
    if are_several:
        scope, grid = _scope_and_grid(results)
        yield ''.join(f'{line}\n' for line in [*_counts_notes(results), f'Over {scope}:'])
        yield grid
    if are_several and are_means_alone and (lines := _merged_notes(results)):
        yield ''.join(f'{line}\n' for line in dict.fromkeys(lines))


def _merged_notes(results: Sequence[Result]) -> list[str]:
    return merged_notes([(result.run, _notes_below_means(result)) for result in results])


def _blocks_of_one(result: Result, detail: NamedColumns | None) -> Iterator[Block]:
    yield Heading(result.run, result._subtitle())
    if detail is not None:
        yield _exact_grid(detail, result.metric_kind.query[0])
    if result._counts_note:
        yield f'{result._counts_note}\n'
    means = result.means
    counts = result.mean_counts
    title = 'METRIC'
    if all(name.startswith('MAP') for name in means):
        title = 'MEAN AVERAGE PRECISION'
    if len(set(counts.values())) == 1:
        n_items = with_noun(next(iter(counts.values())), *result.metric_kind.unit)
        yield Grid([title, n_items], list(means.items()))
    else:
        rows = [[name, mean, counts[name]] for name, mean in means.items()]
        yield Grid([title, 'mean', result.metric_kind.unit[1]], rows)
    if notes := _notes_below_means(result):
        yield ''.join(f'{note}\n' for note in notes)


def _notes_below_means(result: Result) -> list[str]:
    """Return all notes except the one on the numbers of queries, which stands above the means."""
    return [note for note in result.notes if note != result._counts_note]


def _blocks_for_papers(results: Sequence[Result], per_query: bool) -> Iterator[Block]:
    """Yield the values of queries, if requested, then a captioned table with a row for each run."""
    for result in results:
        if (detail := result._detail(per_query)) is not None:
            yield Heading(result.run, result._subtitle())
            yield _exact_grid(detail, result.metric_kind.query[0])
    scope, grid = _scope_and_grid(results)
    means = ', '.join(dict.fromkeys(name for result in results for name in result.means))
    caption = f'{means} over {scope}.'
    if len(results) > 1:
        caption += ' Best in bold.'
    notes = dict.fromkeys([*_counts_notes(results), *_merged_notes(results)])
    note = ' '.join(f'{note}.' for note in notes)
    yield Captioned(grid, caption, LABEL, note)


def _counts_notes(results: Sequence[Result]) -> list[str]:
    return [*dict.fromkeys(result._counts_note for result in results if result._counts_note)]


def _scope_and_grid(results: Sequence[Result]) -> tuple[str, Grid]:
    """Return what all means share in words, and the other settings and means as a row per run."""
    grid = _summary_grid(results)
    values = dict(zip(grid.headers, zip(*grid.rows, strict=True), strict=True))
    shared = {name: cells[0] for name, cells in values.items() if len({*cells}) == 1}
    settings = [name for name in results[0]._settings() if name in shared]
    counts = list(results[0]._count_columns())
    n_items = {
        with_noun(n, *result.metric_kind.unit)
        for result in results
        for n in result.mean_counts.values()
    }
    scope = f'different {results[0].metric_kind.query[1]}'
    if len(n_items) == 1:
        (scope,) = n_items
    elif not (_counts_notes(results) and shared.keys() >= {*counts}):
        counts = []
    if words := [setting_in_words(name, shared[name]) for name in settings if name != 'metric']:
        scope += f' ({", ".join(words)})'
    columns = {
        shared.get('metric', name) if name == 'value' else name: cells
        for name, cells in values.items()
        if name not in {*settings, *counts}
    }
    best = set(results[0].means).intersection(*(result.means for result in results))
    return scope, Grid(list(columns), list(zip(*columns.values(), strict=True)), best=best)


def _concatenate(grids: Sequence[Grid]) -> Grid:
    """Return the rows of all grids, which must have the same columns."""
    if not grids:
        raise ParameterError('results: found none, expected one or more')
    headers = list(grids[0].headers)
    for grid in grids:
        if list(grid.headers) != headers:
            actual = ', '.join(grid.headers)
            expected = ', '.join(headers)
            raise ParameterError(f'results: found the columns {actual}, expected {expected}')
    return Grid(headers, [row for grid in grids for row in grid.rows])


def _summary_grid(results: Sequence[Result]) -> Grid:
    if len(kinds := sorted({type(result).__name__ for result in results})) > 1:
        raise ParameterError(f'results: found {", ".join(kinds)}, expected one kind')
    rows = [result._summary() for result in results]
    return _concatenate([Grid(list(row), [list(row.values())]) for row in rows])


def summary(results: Iterable[Result] | Mapping[str, Result]) -> pandas.DataFrame:
    """Compare runs in one table.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same columns. The keys of a mapping name the runs.

    Returns
    -------
    pandas.DataFrame
        A row for each result, indexed by the name of the run (a number tells tables without a name
        apart): ``definition``, each mean and ``n_queries``, as in `Evaluation.to_frame`. A score
        has ``metric``, its ``definition`` or ``ties``, ``value`` and ``n_queries``; lwlrap has
        ``n_labels`` instead.

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

    names = None
    if isinstance(results, Mapping):
        names = [*results]
        results = results.values()
    is_list = isinstance(results, Iterable)
    values: list[Any] = list(results) if is_list else [results]
    wrong = [value for value in values if not is_list or not isinstance(value, Result)]
    if wrong:
        wrong_type = shown(type(wrong[0]))
        raise ParameterError(f'summary: found {wrong_type}, expected a list of results')
    grid = _summary_grid(values)
    if names is None:
        names = distinct_run_names(values)
    frame = pandas.DataFrame(grid.rows, columns=list(grid.headers)).set_index('run')
    return frame.set_axis(pandas.Index(names, name='run'))
