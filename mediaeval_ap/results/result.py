"""The one shape of all results: how they describe themselves, and are put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np

from mediaeval_ap import __version__
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.report.document import Block, Document, Grid, Heading, figures
from mediaeval_ap.tables import Source


class Result(ABC):
    """Values by query and in the mean, notes, and what they were computed from."""

    RUN: ClassVar[str]  # the input that the heading names
    TITLE: ClassVar[str] = 'METRIC'  # of the means
    BY_QUERY: ClassVar[tuple[str, ...]] = ()  # the keys of `to_dict` that --mean-only leaves out
    COLUMNS: ClassVar[tuple[str, ...]]  # the fields that have a value for each query
    ADDED: ClassVar[Collection[str]]  # the counts that add up over blocks; others are of the run

    inputs: Mapping[str, Source]
    counts: Mapping[str, int]

    @property
    @abstractmethod
    def notes(self) -> Sequence[str]: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]: ...

    @abstractmethod
    def _how(self) -> str: ...  # it was scored, in a word or two

    @abstractmethod
    def _queries(self) -> Grid | None: ...  # a row for each, if these are kept

    @abstractmethod
    def _means(self) -> dict[str, float | None]: ...

    def _summary(self) -> dict[str, Any]:
        """Return one row about the run."""
        return {'run': self._run, **self._means()}

    def _rows(self) -> Grid | None:
        """Return a row for each query as programs get it."""
        return self._queries()

    @property
    def _run(self) -> str:
        return self.inputs[self.RUN].name

    def _blocks(self, mean_only: bool) -> Iterator[Block]:
        yield Heading(self._run, self._how())
        if not mean_only and (queries := self._queries()):
            yield queries
        yield figures(self.TITLE, self.counts['queries'], self._means())
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _manifest(self, **how: Any) -> dict[str, Any]:
        inputs = {
            role: {'name': source.name, 'sha256': source.sha256}
            for role, source in self.inputs.items()
        }
        return {'version': __version__, **how, 'inputs': inputs, 'counts': dict(self.counts)}

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
            Equal, bit for bit, to the result of all queries at once.

        Raises
        ------
        ParameterError
            When there is no result, or something that must be equal is not.

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
            return _chained(name, values)
        if name == 'warnings':
            return tuple({str(warning): warning for warning in chain(*values)}.values())
        if name == 'counts':
            joined = {}
            for count in the_same(name, [list(each) for each in values]):
                each = [counts[count] for counts in values]
                joined[count] = sum(each) if count in cls.ADDED else the_same(count, each)
            return joined
        return the_same(name, values)


def _chained(name: str, values: Sequence[Any]) -> Any:
    """Return the values of all queries."""
    first = values[0]
    if isinstance(first, Mapping):
        the_same(name, [list(each) for each in values])
        return {key: _chained(key, [each[key] for each in values]) for key in first}
    if isinstance(first, list):
        return list(chain(*values))
    the_same(name, [type(value) for value in values])
    return None if first is None else np.concatenate(values)


def the_same(name: str, values: Sequence[Any]) -> Any:
    """Return the value that all results have, or refuse them with the first difference."""
    first, *others = values
    if isinstance(first, Mapping):
        the_same(name, [sorted(value) for value in values])
        return {key: the_same(f'{name}, {key}', [value[key] for value in values]) for key in first}
    for other in others:
        if other != first:
            raise ParameterError(f'concat: {name}: found {shown(other)}, expected {shown(first)}')
    return first


def describe(results: Sequence[Result], *, mean_only: bool = False) -> Document:
    """Return one or more results of the same kind as a document, with or without the queries."""
    return Document(
        lambda: _blocks(results, mean_only),
        lambda: _values(results, mean_only),
        lambda: _rows(results, mean_only),
    )


def _blocks(results: Sequence[Result], mean_only: bool) -> Iterator[Block]:
    are_several = len(results) > 1
    if not (are_several and mean_only):
        for result in results:
            yield from result._blocks(mean_only)
    if are_several:
        yield _summary(results)


def _rows(results: Sequence[Result], mean_only: bool) -> Grid:
    grids = [result._rows() for result in results]
    if mean_only or grids[0] is None:
        return _summary(results)
    return Grid(grids[0].headers, [row for grid in grids if grid for row in grid.rows])


def _values(results: Sequence[Result], mean_only: bool) -> Any:
    values = [result.to_dict() for result in results]
    left_out = results[0].BY_QUERY if mean_only else ()
    values = [{name: each[name] for name in each if name not in left_out} for each in values]
    return values[0] if len(values) == 1 else values


def _summary(results: Sequence[Result]) -> Grid:
    """Return a row about each result."""
    summaries = [result._summary() for result in results]
    return Grid(list(summaries[0]), [list(each.values()) for each in summaries])
