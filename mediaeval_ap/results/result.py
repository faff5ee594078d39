"""The one shape of all results: how they show themselves, and are put together."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mediaeval_ap import __version__
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.render.document import Grid, counted
from mediaeval_ap.render.formats import short, to_html
from mediaeval_ap.results import documents
from mediaeval_ap.results.blocks import chained, the_same
from mediaeval_ap.results.columns import ALL_QUERIES, N_QUERIES, Columns, plain, with_mean
from mediaeval_ap.results.compared import Compared
from mediaeval_ap.results.described import written
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

MEANS_IN_REPR = 6  # a choice: a few lines


class Result(ABC):
    """Values by query and in the mean, notes, and what they were computed from."""

    KIND: ClassVar[str]  # in JSON
    RUN: ClassVar[str]  # the input that the heading names
    TITLE: ClassVar[str] = 'METRIC'  # of the means
    COLUMNS: ClassVar[tuple[str, ...]]  # the fields that have a value for each query
    ADDED: ClassVar[Collection[str]]  # the counts that add up over blocks; others are of the run

    inputs: Mapping[str, Source]
    counts: Mapping[str, int]

    @property
    @abstractmethod
    def notes(self) -> Sequence[str]: ...

    @abstractmethod
    def _how(self) -> str: ...  # it was scored, in a word or two

    @abstractmethod
    def _settings(self) -> dict[str, Any]: ...  # the columns of a table that tell it

    @abstractmethod
    def _of_manifest(self) -> dict[str, Any]: ...  # how it was scored, in full

    @abstractmethod
    def _columns(self) -> Columns: ...  # the values of queries; the first column names these

    @abstractmethod
    def _mean_row(self) -> dict[str, Any]: ...  # the value of each column for all queries

    @abstractmethod
    def _means(self) -> dict[str, float | None]: ...

    @property
    @abstractmethod
    def mean_counts(self) -> dict[str, int]:
        """The number of queries that each mean is over, by the name of the mean."""

    @property
    def _unit(self) -> tuple[str, str]:
        """What means are over: one of them, and many."""
        return 'query', 'queries'

    @property
    def _over(self) -> str:
        """Why means are over different queries, as a sentence; empty where they are not."""
        return ''

    def _count_columns(self) -> dict[str, int]:
        """Return what each mean is over, by the columns that programs get."""
        return {N_QUERIES: next(iter(self.mean_counts.values()))}

    @abstractmethod
    def _worth(self) -> float: ...  # the mean that runs are sorted by

    @abstractmethod
    def _compared(self) -> Compared: ...  # the values that runs are compared by

    def _summary(self) -> dict[str, Any]:
        """Return one row about the run."""
        return {'run': self._run, **self._settings(), **self._means(), **self._count_columns()}

    def _detail(self, per_query: bool) -> Columns | None:
        """Return what is listed beside the means."""
        return self._columns() if per_query else None

    def _rows(self, per_query: bool) -> Grid:
        """Return the detail and a last row for all queries, as programs get them."""
        mean = self._mean_row()
        detail = self._detail(per_query) or {'query': [], **dict.fromkeys(mean, ())}
        first, *others = detail
        columns: dict[str, Sequence[Any]] = {first: [*detail[first], ALL_QUERIES]}
        columns |= {name: plain(with_mean(detail[name], mean.get(name))) for name in others}
        nothing = [None] * len(detail[first])
        for name, count in self._count_columns().items():
            columns.setdefault(name, [*nothing, count])
        settings = {'run': self._run, **self._settings()}
        rows = zip(*columns.values(), strict=True)
        return Grid([*settings, *columns], [[*settings.values(), *row] for row in rows])

    @property
    def _run(self) -> str:
        return self.inputs[self.RUN].name

    def _identity(self) -> dict[str, str]:
        return {'kind': self.KIND, 'run': self._run}

    def _value(self, per_query: bool) -> dict[str, Any]:
        """Return the result for JSON."""
        detail = self._detail(per_query)
        listed = {}
        if detail is not None:
            grid = Grid.from_columns({name: plain(each) for name, each in detail.items()})
            listed['queries' if 'query' in detail else 'classes'] = grid.objects()
        inputs = {
            role: {'name': source.name, 'sha256': source.sha256}
            for role, source in self.inputs.items()
        }
        return {
            **self._identity(),
            'means': self._means(),
            'mean_counts': self.mean_counts,
            'n_queries': self.counts['queries'],
            **listed,
            'notes': list(self.notes),
            'manifest': {
                'version': __version__,
                **self._of_manifest(),
                'inputs': inputs,
                'counts': dict(self.counts),
            },
        }

    def __repr__(self) -> str:
        how = f' ({self._how()})' if self._how() else ''
        n_queries = counted(self.counts['queries'], 'query', 'queries')
        means, counts = self._means(), self.mean_counts
        width = max(map(len, means))
        lines = [f'{type(self).__name__} of {shown(self._run)}{how}, {n_queries}']
        for name, value in islice(means.items(), MEANS_IN_REPR):
            over = counted(counts[name], *self._unit)
            others = '' if over == n_queries else f' over {over}'
            lines.append(f'  {name:{width}}  {"none" if value is None else short(value)}{others}')
        if n_more := len(means) - MEANS_IN_REPR:
            lines += [f'  … and {n_more} more'] if n_more > 0 else []
        return '\n'.join(lines)

    def _repr_html_(self) -> str:
        return to_html(documents.describe([self]))

    def to_dict(self) -> dict[str, Any]:
        """Return the result, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``kind``, ``run``, ``means``, ``mean_counts`` (what each mean is over), ``n_queries``,
            ``queries`` (the values of each), ``notes`` and ``manifest``: ``version``,
            ``definition`` in full, ``parameters``, ``inputs`` (name, SHA-256), ``counts``. A value
            that is not defined is None. A score has its ``metric``, too, and ``classes`` if they
            were asked for.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
        >>> described = evaluate('samples/hypothesis.txt', ['alain_juppe']).to_dict()
        >>> described['means'], described['queries']
        ({'MAP@10': 0.0}, [{'query': 'alain_juppe', 'AP@10': 0.0, 'n_relevant': 2}])
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

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision('samples/reference.txt', K=[10, 100]).evaluate(
        ...     'samples/hypothesis.txt', 'samples/queries.txt'
        ... )
        >>> evaluation.to_frame(mean=True).columns.tolist()
        ['AP@10', 'AP@100', 'n_relevant', 'n_queries']
        >>> evaluation.to_frame(mean=True).loc['all', 'AP@10'] == evaluation.map[0]
        np.True_
        """
        import pandas

        (first, queries), *others = self._columns().items()
        columns = dict(others)
        if mean:
            row = self._mean_row()
            queries = [*queries, ALL_QUERIES]
            columns = {name: with_mean(each, row.get(name)) for name, each in columns.items()}
        frame = pandas.DataFrame(columns, index=pandas.Index(queries, name=first))
        nothing = [None] * (len(queries) - 1)
        for name, count in self._count_columns().items() if mean else ():
            if name not in frame:
                frame[name] = pandas.array([*nothing, count], dtype='Int64')
        return frame

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, per_query: bool = False
    ) -> str | None:
        """Return the result as CSV with every digit, or write it to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all, compressed if it ends in ``.gz``, ``.bz2``,
            ``.xz`` or ``.zst``.
        per_query : bool
            Begin with a row for each query. The last row, whose query is ``all``, has the means,
            and what they are over, as that of `to_frame`.

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

    def to_json(
        self, path: str | os.PathLike[str] | None = None, *, per_query: bool = False
    ) -> str | None:
        """Return the result as JSON with every digit, or write it to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.
        per_query : bool
            Include the values of each query.

        Returns
        -------
        str or None
            The text, in the shape that every command writes; None if it is written to a file.

        Raises
        ------
        WriteError, ParameterError
            As of `to_csv`.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate(
        ...     [('x', 'v', '1', 'ann', 0.5)]
        ... )
        >>> import json
        >>> json.loads(evaluation.to_json())['results'][0]['means']
        {'MAP@1': 1.0}
        """
        return self._written('json', path, per_query)

    def to_markdown(
        self, path: str | os.PathLike[str] | None = None, *, per_query: bool = False
    ) -> str | None:
        """Return the result as tables of Markdown with three decimals, or write it to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.
        per_query : bool
            Begin with the values of each query.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError, ParameterError
            As of `to_csv`.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate(
        ...     [('x', 'v', '1', 'ann', 0.5)]
        ... )
        >>> print(evaluation.to_markdown().splitlines()[-1])
        | `MAP@1`                  |     1.000 |
        """
        return self._written('markdown', path, per_query)

    def to_latex(
        self, path: str | os.PathLike[str] | None = None, *, per_query: bool = False
    ) -> str | None:
        """Return the result as tables of LaTeX (booktabs) with three decimals, or write it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.
        per_query : bool
            Begin with the values of each query.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError, ParameterError
            As of `to_csv`.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate(
        ...     [('x', 'v', '1', 'ann', 0.5)]
        ... )
        >>> evaluation.to_latex().count('{tabular}')
        2
        """
        return self._written('latex', path, per_query)

    def _written(
        self, format: str, path: str | os.PathLike[str] | None, per_query: bool
    ) -> str | None:
        return written(documents.describe([self], per_query=per_query), format, path)

    @classmethod
    def concat(cls, results: Iterable[Self]) -> Self:
        """Put the results of blocks of queries together.

        Parameters
        ----------
        results : iterable of results of this class
            One for each block, of the same run: all but values and counts of queries must be equal.

        Returns
        -------
        result of this class
            Equal, bit for bit, to the result of all queries at once; a query that is in two blocks
            counts twice.

        Raises
        ------
        ParameterError
            When there is no result, or something that must be equal is not. Tables in memory have
            no hash: of these only the counts are compared.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, Evaluation
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> blocks = ['nicolas_sarkozy'], ['alain_juppe']
        >>> parts = [average_precision.evaluate('samples/hypothesis.txt', each) for each in blocks]
        >>> Evaluation.concat(parts).map.round(3).tolist()
        [0.149]
        """
        parts = list(results)
        if not parts:
            raise ParameterError('concat: found no result, expected one or more')
        names = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        return cls(
            **{name: cls._joined(name, [getattr(each, name) for each in parts]) for name in names}
        )

    @classmethod
    def _joined(cls, name: str, values: Sequence[Any]) -> Any:
        """Return what the results have together in one of the fields."""
        if name in cls.COLUMNS:
            return chained(name, values)
        if name == 'warnings':
            return tuple({str(warning): warning for warning in chain(*values)}.values())
        if name == 'counts':
            joined = {}
            for count in the_same(name, [list(each) for each in values]):
                each = [counts[count] for counts in values]
                joined[count] = sum(each) if count in cls.ADDED else the_same(count, each)
            return joined
        return the_same(name, values)
