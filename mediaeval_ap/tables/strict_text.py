"""The strict line parser: lines of text to columns, over bytes.

`mediaeval_ap.tables.line_format` says what a line may hold. `parse` proves whole blocks of lines
 right at once, and asks `explain` for the first wrong line of a file.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.causes import RIGHT, causes_of, splitter
from mediaeval_ap.tables.layouts import EXCHANGED, Layout
from mediaeval_ap.tables.line_format import (
    Faults,
    explain,
    find_fields,
    header_of,
    holds_no_row,
    holds_text,
    is_finite_decimal,
    is_header,
    no_rows,
    number_bytes,
)
from mediaeval_ap.tables.lines import blocks, split
from mediaeval_ap.tables.table import Column

__all__ = ['ColumnBuilder', 'Proved', 'parse', 'prove']

PROVED_BYTES = 1 << 15  # more at once are slower to prove: their fields no longer fit the caches


def parse(
    stream: BinaryIO, layout: Layout, source: str
) -> tuple[dict[str, Column], NDArray[np.float64] | None]:
    r"""Read lines strictly.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    layout : Layout
        The fields of a line.
    source : str
        Name of the source, for errors.

    Returns
    -------
    columns : dict of str to Column
        The text fields.
    numbers : ndarray of float64 or None
        The field of numbers, where the layout has one.

    Raises
    ------
    FormatError
        When a line is wrong, or there is none.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap.tables.layouts import HYPOTHESIS
    >>> columns, numbers = parse(io.BytesIO(b'INA F2 000010 nan 0.5\n'), HYPOTHESIS, 'file')
    >>> columns['shot_id'].values, columns['person_name'].values, numbers.tolist()
    (['000010'], ['nan'], [0.5])
    """
    builders = [ColumnBuilder() for _ in layout.texts]
    numbers = array('d')
    faults = Faults(source, 'line')
    number = 1
    first: tuple[int, bytes] | None = None
    for block in blocks(stream, source, PROVED_BYTES):
        lines = split(block)
        if first is None:
            rows = enumerate(lines, number)
            first = next((row for row in rows if not holds_no_row(row[1], layout)), None)
        proved = prove(lines, layout)
        if proved is None:
            _count(faults, lines, layout, number)
        elif not faults.count:
            for builder, fields in zip(builders, proved.texts, strict=False):
                builder.extend(fields)
            numbers.extend(proved.numbers)
        number += len(lines)
    if faults.count:
        other = EXCHANGED.get(layout)
        if first is not None and other is not None and _fits(first[1], other, layout):
            faults.remedy = f'; its first row fits a {other.name} file: are two files exchanged?'
        raise faults.error
    if first is None:
        raise no_rows(source, layout)
    if is_header(text := first[1].decode(), layout):
        raise header_of(text).error(source, f'line {first[0]}')
    columns = {
        field: builder.column() for field, builder in zip(layout.texts, builders, strict=True)
    }
    return columns, None if layout.number is None else np.array(numbers)


def _count(faults: Faults, lines: list[bytes], layout: Layout, number: int) -> None:
    """Count the wrong lines of some, and explain the first."""
    places = np.flatnonzero(causes_of(lines, layout) != RIGHT)
    if len(places):
        first = int(places[0])
        wrong = explain(lines[first], layout)
        assert wrong is not None
        faults.add(number + first, wrong, len(places) - 1)


def _fits(line: bytes, other: Layout, layout: Layout) -> bool:
    """Return whether a line is wrong for a layout, and right for another."""
    if explain(line, layout) is None or explain(line, other) or holds_no_row(line, other):
        return False
    # A row of text alone that ends with a number rather lacks a field.
    return other.number is not None or not is_finite_decimal(find_fields(line)[-1])


@dataclass(frozen=True)
class Proved:
    """The fields of lines that are all right, column by column.

    Parameters
    ----------
    texts : list of tuple of bytes
        The text fields; nothing where all lines are blank.
    numbers : array of float
        The field of numbers.

    Examples
    --------
    >>> Proved([(b'INA',), (b'F2',)], array('d')).texts[1]
    (b'F2',)
    """

    texts: list[tuple[bytes, ...]]
    numbers: array[float]


def prove(lines: list[bytes], layout: Layout) -> Proved | None:
    """The fields of lines if all of them are right.

    Parameters
    ----------
    lines : list of bytes
        Lines without their ends.
    layout : Layout
        Their fields.

    Returns
    -------
    Proved or None
        The fields of the lines that are neither blank nor comments; none on any doubt.

    Examples
    --------
    >>> from mediaeval_ap.tables.layouts import SUBSET
    >>> prove([b'INA F2', b''], SUBSET).texts
    [(b'INA',), (b'F2',)]
    >>> prove([b'INA'], SUBSET) is None
    True
    """
    text = b'\n'.join(lines)
    if layout.comment is not None and b'#' in text:
        lines = [line for line in lines if not layout.is_comment(line)]
        text = b'\n'.join(lines)
    if not holds_text(text):
        return None
    rows = [row for row in map(splitter(text), lines) if row]
    if set(map(len, rows)) - {len(layout.fields)}:
        return None
    columns = list(zip(*rows, strict=True))
    if not columns or layout.number is None:
        return Proved(columns, array('d'))
    numbers = _numbers(columns.pop(layout.number_at), number_bytes(layout))
    return None if numbers is None else Proved(columns, numbers)


def _numbers(fields: Iterable[bytes], allowed: bytes) -> array[float] | None:
    if b''.join(fields).translate(None, allowed):
        return None
    try:
        numbers = array('d', map(float, fields))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


class ColumnBuilder:
    """A column that grows: codes, and the code of each distinct value seen so far.

    Examples
    --------
    >>> builder = ColumnBuilder()
    >>> builder.extend([b'b', b'a', b'b'])
    >>> builder.column().values, builder.column().codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """

    def __init__(self) -> None:
        self.codes = array('i')
        self.code_of: defaultdict[bytes, int] = defaultdict()
        self.code_of.default_factory = self.code_of.__len__

    def extend(self, fields: Iterable[bytes]) -> None:
        """Add some fields.

        Parameters
        ----------
        fields : iterable of bytes
            UTF-8, one a row.
        """
        self.codes.extend(map(self.code_of.__getitem__, fields))

    def append(self, column: Column) -> None:
        """Add what another column holds.

        Parameters
        ----------
        column : Column
            Of any rows.
        """
        codes = [self.code_of[value.encode()] for value in column.values]
        self.codes.frombytes(np.array(codes, dtype=np.int32)[column.codes].tobytes())

    def column(self) -> Column:
        """The column so far.

        Returns
        -------
        Column
            Its values stand in the order in which they came.
        """
        return Column(
            np.array(self.codes, dtype=np.int32), [value.decode() for value in self.code_of]
        )
