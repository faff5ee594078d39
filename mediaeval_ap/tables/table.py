"""Tables as columns: text as codes into its distinct values, numbers as doubles."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mediaeval_ap.arrays import combine, ranges
from mediaeval_ap.errors import FormatError, printable, shown, with_noun
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.values import AS_TEXT, is_padded

if TYPE_CHECKING:
    import pandas
    from _typeshed import SupportsRead

DAMAGED = 'backslashreplace'  # the text of a damaged store, which only `Store.check` finds
MIN_DECODED_TOGETHER = 100  # fewer texts are decoded faster one by one
TEXTS_IN_BLOCK = 1 << 16  # some megabytes of text at a time
ROWS_IN_HTML = 10
Argument: TypeAlias = Any  # anything that a user may give; whoever reads it checks it
SortKey: TypeAlias = Any  # a value that compares with its like
RowNumbers: TypeAlias = 'Sequence[int] | NDArray[np.integer]'
Fields: TypeAlias = tuple[Any, ...]  # the values of a row
File: TypeAlias = 'str | os.PathLike[str] | SupportsRead[str] | SupportsRead[bytes]'
Frame: TypeAlias = 'File | pandas.DataFrame | ArrowTable | NumberedRows'
Rows: TypeAlias = 'Frame | NDArray[Any] | Iterable[Sequence[str | float]]'
Names: TypeAlias = 'Frame | NDArray[Any] | Iterable[str]'
Labels: TypeAlias = Iterable[str | int]
Lists: TypeAlias = Iterable[Labels]
OptionalLabels: TypeAlias = Iterable[str | float | None]
OptionalNumbers: TypeAlias = Iterable[float | None]
Matrix: TypeAlias = 'ArrayLike | SparseMatrix'


@dataclass(frozen=True)
class LineNumbers:
    """The line or row number of each row; `numbers` is None for `first`, `first` + 1, …"""

    unit: Literal['line', 'row'] = 'row'
    numbers: NDArray[np.int64] | None = None
    first: int = 1

    def __getitem__(self, row: int | np.integer) -> int:
        return int(self.first + row if self.numbers is None else self.numbers[row])

    def array(self, n_rows: int) -> NDArray[np.int64]:
        return np.arange(n_rows) + self.first if self.numbers is None else self.numbers

    def select(self, rows: NDArray[np.bool_]) -> LineNumbers:
        return self if rows.all() else replace(self, numbers=self.array(len(rows))[rows])


ROW_BY_ROW = LineNumbers()


class LineCounter:
    """Collects line numbers while rows are read; consecutive ones are stored as ranges."""

    def __init__(self) -> None:
        self.next_line = 1
        self.n_rows = 0
        self._parts: list[range | NDArray[np.int64]] = []

    def count(self, n_lines: int, rows: Sequence[int] | NDArray[np.int64] | None = None) -> None:
        """Count lines. By default all hold rows; else those at the positions `rows`, from 0."""
        first = self.next_line
        part: range | NDArray[np.int64] = range(first, first + n_lines)
        if rows is not None:
            part = first + np.asarray(rows, np.int64)
        if len(part):
            self._parts.append(part)
        self.n_rows += len(part)
        self.next_line += n_lines

    def line_numbers(self) -> LineNumbers:
        """Return the line numbers of all rows so far, without an array if every line held a row."""
        # Numbers ascend: if the last equals the number of rows, every line holds a row.
        if not self._parts or self._parts[-1][-1] == self.n_rows:
            return LineNumbers('line')
        return LineNumbers('line', np.concatenate([np.asarray(part) for part in self._parts]))


def encoded(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Concatenate texts as UTF-8; return the bytes, and the end of each text among them."""
    encoded_texts = [text.encode() for text in texts]
    ends = np.fromiter(map(len, encoded_texts), np.int64, len(encoded_texts)).cumsum()
    return np.frombuffer(b''.join(encoded_texts), np.uint8), ends


def texts_at(texts: Sequence[str], positions: NDArray[np.integer]) -> list[str]:
    if isinstance(texts, StoredTexts) and len(positions) > MIN_DECODED_TOGETHER:
        return texts.decode_at(positions)
    return [texts[position] for position in positions.tolist()]


@dataclass(eq=False, repr=False)
class StoredTexts(Sequence[str]):
    """A sequence of distinct texts, stored as UTF-8 and sorted by `key`."""

    content: NDArray[np.uint8]
    ends: NDArray[np.int64]  # of each text in the content
    key: Callable[[str], SortKey] = str

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            begin, end, _ = position.indices(len(self))  # callers use no steps
            if begin >= end:
                return []
            first = self._begin(begin)
            return _decoded(self.content[first : self.ends[end - 1]], self.ends[begin:end] - first)
        number = range(len(self))[position]
        text = self.content[self._begin(number) : self.ends[number]]
        return text.tobytes().decode(errors=DAMAGED)

    def _begin(self, position: int) -> int:
        return int(self.ends[position - 1]) if position else 0

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), TEXTS_IN_BLOCK):
            yield from self[begin : begin + TEXTS_IN_BLOCK]

    def decode_at(self, positions: NDArray[np.integer]) -> list[str]:
        """Return the texts at positions that are not negative, decoded block by block."""
        texts = []
        for begin in range(0, len(positions), TEXTS_IN_BLOCK):
            block = positions[begin : begin + TEXTS_IN_BLOCK]
            begins = np.where(block > 0, self.ends[block - 1], 0)
            sizes = (self.ends[block] - begins).clip(0)
            texts += _decoded(self.content[ranges(begins, sizes)], sizes.cumsum())
        return texts

    def positions(self, texts: Sequence[str]) -> list[int]:
        """Return the position of each text, or -1."""
        if len(texts) * len(self).bit_length() < len(self):
            insertions = [bisect_left(self, self.key(text), key=self.key) for text in texts]
            return [
                position if position < len(self) and self[position] == text else -1
                for position, text in zip(insertions, texts, strict=True)
            ]
        # To decode all stored texts, block by block, is faster than many searches.
        sought = set(texts)
        position_by_text = {text: position for position, text in enumerate(self) if text in sought}
        return [position_by_text.get(text, -1) for text in texts]


def _decoded(content: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    stops = ends.tolist()
    as_bytes = content.tobytes()
    parts = zip([0, *stops], stops, strict=False)
    if as_bytes.isascii():  # one byte per character: decoded once, then cut
        text = as_bytes.decode()
        return [text[a:b] for a, b in parts]
    return [as_bytes[a:b].decode(errors=DAMAGED) for a, b in parts]


@dataclass(frozen=True)
class Provenance:
    """The source of a table: its name, and the SHA-256 of its stored (perhaps compressed) bytes."""

    name: str  # a path, or a label such as <stdin>, <truth>, <reference>
    sha256: str | None = None  # None for open files and for values in memory

    def error(
        self, found: str, expected: str, *, field: str = '', place: str = '', rows: RowNumbers = ()
    ) -> FormatError:
        """Make the error about wrong content, at a place or in `rows` of values, from 0."""
        if len(rows) and not place:
            place = f'row {rows[0] + 1}'
        further = max(0, len(rows) - 1)
        return FormatError(self.name, place, field, found, expected=expected, further=further)


class NumberedRows:
    """Rows with their line or row numbers in the source; the base of all tables."""

    source: Provenance
    lines: LineNumbers
    layout: Any
    integers: frozenset[str] = frozenset()  # fields of text that were integers in a frame
    texts: Callable[..., list[str]]  # the texts of a field, row by row

    def place(self, row: int | np.integer) -> str:
        """Return a row's number in the source: ``'line 12'`` of text, ``'row 12'`` of values."""
        return f'{self.lines.unit} {self.lines[row]}'

    def error(self, rows: RowNumbers, field: str, found: str, expected: str) -> FormatError:
        """Make the error of a field that is wrong in `rows`; it names the first one."""
        return self.source.error(found, expected, field=field, place=self.place(rows[0]), rows=rows)


def not_padded(other: Provenance) -> str:
    """Say, in an error, which texts are expected as the other table has integers."""
    return f'no leading zero or sign, as {printable(other.name)} has integers{AS_TEXT}'


@dataclass(frozen=True)
class Column:
    """One column of text: a code for each row, and the distinct text of each code.

    >>> column = Column(np.array([0, 1, 0], dtype=np.int32), ['b', 'a'])
    >>> column.sorted().values, column.sorted().codes.tolist()
    (['a', 'b'], [1, 0, 1])
    """

    codes: NDArray[np.int32]
    values: Sequence[str]

    def sorted(self, key: Callable[[str], SortKey] = str) -> Column:
        """Return the column with sorted values: codes then compare as their texts do."""
        keys = list(map(key, self.values))
        return self.in_order(np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64))

    def in_order(self, order: NDArray[np.int64]) -> Column:
        """Return the column with its values in another order, given by their present codes."""
        codes = np.empty(len(order), dtype=np.int32)
        codes[order] = np.arange(len(order))
        return Column(codes[self.codes], [self.values[code] for code in order.tolist()])

    def select(self, rows: NDArray[np.bool_]) -> Column:
        """Return the rows marked True, without values that no longer occur."""
        selected = self.codes[rows]
        occurs = np.bincount(selected, minlength=len(self.values)) > 0
        codes = (np.cumsum(occurs, dtype=np.int32) - 1)[selected]
        return Column(codes, [self.values[code] for code in np.flatnonzero(occurs).tolist()])

    def text(self, row: int | np.integer) -> str:
        return self.values[int(self.codes[row])]

    def find(self, other: Column) -> NDArray[np.int32]:
        """Return this column's code for the text of each row of another column, or -1."""
        return np.array(self.positions(other.values), dtype=np.int32)[other.codes]

    def positions(self, texts: Sequence[str]) -> list[int]:
        """Return the code of each text, or -1."""
        if isinstance(self.values, StoredTexts):
            return self.values.positions(texts)
        searched = set(texts)  # often few beside a million values
        code_of = {value: code for code, value in enumerate(self.values) if value in searched}
        return [code_of.get(text, -1) for text in texts]

    @cached_property
    def code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}


def column_of(values: Sequence[str], codes: NDArray[np.int32]) -> Column:
    """Make a column from codes into `values`, which may repeat a text."""
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    distinct = np.array([code_of[value] for value in values], dtype=np.int32)
    return Column(distinct[codes], list(code_of))


@dataclass(frozen=True)
class Table(NumberedRows):
    """Rows of one layout, stored as columns, with their line or row numbers in the source.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import HYPOTHESIS
    >>> from mediaeval_ap.tables.reading import read
    >>> table = read([('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'bob', 1)], HYPOTHESIS)
    >>> table['person_name'].values, table.confidence.tolist()
    (['ann', 'bob'], [0.5, 1.0])
    >>> selected = table.select(np.array([False, True]))
    >>> selected.texts('video_id'), selected.place(0)
    (['w'], 'row 2')
    """

    layout: Layout
    columns: dict[str, Column]  # the text fields
    numbers: NDArray[np.float64] | None  # None if the layout has no number
    source: Provenance
    lines: LineNumbers = ROW_BY_ROW
    integers: frozenset[str] = frozenset()  # text fields that were integers in a frame

    @classmethod
    def empty(cls, layout: Layout, name: str) -> Table:
        """Return a table without rows; most readers refuse a source without rows."""
        empty_column = Column(np.empty(0, dtype=np.int32), [])
        numbers = None if layout.number is None else np.empty(0)
        return cls(layout, dict.fromkeys(layout.texts, empty_column), numbers, Provenance(name))

    @classmethod
    def of_texts(cls, rows: Sequence[Sequence[str]], layout: Layout, name: str) -> Table:
        """Return a table of rows of text, which come from tables that were read."""
        if not rows:
            return cls.empty(layout, name)
        codes = np.arange(len(rows), dtype=np.int32)
        texts = zip(layout.texts, zip(*rows, strict=True), strict=True)
        columns = {field: column_of(values, codes) for field, values in texts}
        return cls(layout, columns, None, Provenance(name))

    def __repr__(self) -> str:
        rows = with_noun(len(self), 'row', 'rows')
        return f'Table({self.layout.name} {shown(self.source.name)}, {rows})'

    def _repr_html_(self) -> str:
        from mediaeval_ap.render.document import Block, Document, Grid, Heading
        from mediaeval_ap.render.formats import to_html

        first = self.select(np.arange(len(self)) < ROWS_IN_HTML)
        subtitle = f'{self.layout.name}, {with_noun(len(self), "row", "rows")}'
        blocks: list[Block] = [Heading(self.source.name, subtitle)]
        blocks.append(Grid(self.layout.fields, list(first.rows()), exact=self.layout.fields))
        if n_more := len(self) - len(first):
            blocks.append(f'… and {n_more:,} more')
        return to_html(Document(lambda: blocks, list))

    def __len__(self) -> int:
        return len(self.columns[self.layout.texts[0]].codes)

    def __getitem__(self, field: str) -> Column:
        return self.columns[field]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The confidence of each row."""
        if self.numbers is None:
            raise TypeError(f'a {self.layout.name} has no confidence')
        return self.numbers

    def texts(self, field: str, rows: NDArray[np.integer] | slice = slice(None)) -> list[str]:
        """Return the texts of one field, row by row.

        Parameters
        ----------
        field, rows
            A text field, and the positions of rows in any order; by default all rows.

        Returns
        -------
        list of str
        """
        values = self[field].values
        return [values[code] for code in self[field].codes[rows].tolist()]

    def rows(self) -> Iterator[Fields]:
        """Iterate over the rows.

        Yields
        ------
        tuple
            The fields of a row in the order of the layout, a number as a float.
        """
        columns: list[Iterable[Any]] = [self.texts(field) for field in self.layout.texts]
        if self.numbers is not None:
            columns.insert(self.layout.number_at, self.numbers.tolist())
        return zip(*columns, strict=True)

    def select(self, rows: NDArray[np.bool_]) -> Table:
        """Return some rows, which keep their line numbers.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_rows,)
            True for the rows to keep.

        Returns
        -------
        Table
        """
        columns = {field: column.select(rows) for field, column in self.columns.items()}
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, columns=columns, numbers=numbers, lines=self.lines.select(rows))

    def within(self, other: Table, fields: Sequence[str] | None = None) -> NDArray[np.bool_]:
        """Find the rows that are in another table.

        Parameters
        ----------
        other : Table
            A table such as a subset, which lists the videos that count.
        fields : sequence of str, optional
            The text fields to compare; by default all of the other table.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
            True where a row of the other table has the same texts in all of these fields.
        """
        fields = other.layout.texts if fields is None else fields
        other_codes = np.array([self[field].find(other[field]) for field in fields])
        other_codes = other_codes[:, (other_codes >= 0).all(axis=0)]
        codes = [self[field].codes for field in fields]
        keys = combine(list(map(np.append, codes, other_codes)))
        return np.isin(keys[: len(self)], keys[len(self) :])


def exchanged_columns(texts: Mapping[str, Iterable[str]], other: Table) -> str:
    """Name the fields whose texts are in another field of the other table; '' if there is none."""
    here = {field: set(texts[field]) for field in other.layout.texts if field in texts}
    there = {field: set(other[field].values) for field in here}
    return ', '.join(
        f'{field} here holds values of {role} there'
        for field, role in product(here, there)
        if here[field].isdisjoint(there[field])
        and len(here[field] & there[role]) >= max(len(here[field]) / 2, 1)
    )


Numbered = TypeVar('Numbered', bound=NumberedRows)


def consistent(one: Numbered, other: NumberedRows) -> Numbered:
    """Return `one`; raise if ids like '007' could never equal integers of the other table."""
    for with_text, with_integers in ((one, other), (other, one)):
        integer_fields = with_integers.integers - with_text.integers
        for field in integer_fields.intersection(with_text.layout.texts):
            texts = with_text.texts(field)
            if padded_rows := [row for row, text in enumerate(texts) if is_padded(text)]:
                text = shown(texts[padded_rows[0]])
                raise with_text.error(padded_rows, field, text, not_padded(with_integers.source))
    return one


# Types of arguments that hold tables or matrices.


class ArrowTable(Protocol):
    """A table of polars, pyarrow or another library with the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparseMatrix(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> Any: ...
