"""Reading of tables from whatever holds them."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from mediaeval_ap.choices import MAX_BYTES, MAX_PROBLEMS, check_limit
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, shown
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.sources import PARQUET, STANDARD_INPUT, ByteSource, Chunks, opening
from mediaeval_ap.tables.table import NumberedRows, Source, Table
from mediaeval_ap.tables.text.fast import (
    BLOCK_BYTES,
    N_THREADS,
    Doubt,
    Rows,
    read_block,
    results_of,
    text_column,
    up_to_endless,
)
from mediaeval_ap.tables.text.format import (
    BYTE_ORDER_MARK,
    Read,
    blocks,
    endless,
    no_row_of_text,
    no_rows,
    numbered,
    split,
    whole_lines,
)
from mediaeval_ap.tables.text.reader import (
    PROVED_BYTES,
    LenientReading,
    LenientTable,
    Piece,
    RowCollector,
    WrongLines,
    explained,
    parse,
    prove,
    proved_pieces,
    wrong_places,
)

if TYPE_CHECKING:
    import pyarrow

STORE_MANIFEST = 'manifest.json'  # the file that tells a store from other folders
REPLACED = '.old'  # ends the name of a store in whose place another one is about to come
IS_STORE = (
    'is a store, expected a file: a store stands only for a run that is scored '
    '(mediaeval-ap export writes its rows)'
)


class Kind(Enum):
    """The kinds of origins that readers treat differently."""

    TEXT = 'text'  # a path, standard input or an open file
    PARQUET = 'Parquet'
    FRAME = 'pandas'
    ARROW = 'Arrow'  # a table that gives a stream of Arrow, as those of polars and pyarrow
    ARRAY = 'array'  # of numpy, with two dimensions
    TABLE = 'table'  # what this package has read
    ROWS = 'rows'
    UNKNOWN = 'unknown'

    @property
    def has_all_fields(self) -> bool:
        """Return whether rows of this kind have all fields; others may lack what is not needed."""
        return self in (Kind.TEXT, Kind.TABLE)


@dataclass(frozen=True)
class Origin:
    """Something that a table is read from, and its kind.

    For text and Parquet, `value` is a `ByteSource`, which knows the limit of its bytes.
    """

    kind: Kind
    value: Any

    @classmethod
    def of(cls, value: Any, max_bytes: int = MAX_BYTES) -> Origin:
        """Find the kind of an origin; what has been looked at stays as it is."""
        check_limit(max_bytes)
        if isinstance(value, Origin):
            return value
        if isinstance(value, NumberedRows):
            return cls(Kind.TABLE, value)
        # Before open files: a frame may have a column called "read". If pandas is not imported yet,
        # nothing is one.
        if isinstance(value, getattr(sys.modules.get('pandas'), 'DataFrame', ())):
            return cls(Kind.FRAME, value)
        if is_arrow(value):
            return cls(Kind.ARROW, value)
        if isinstance(value, str | os.PathLike) or hasattr(value, 'read'):
            source = ByteSource(value, max_bytes)
            if source.is_path and is_store(value):
                raise ReadError(source.name, IS_STORE)
            return cls(Kind.PARQUET if source.format == PARQUET else Kind.TEXT, source)
        if isinstance(value, np.ndarray) and value.ndim != 1:
            return cls(Kind.ARRAY if value.ndim == 2 else Kind.UNKNOWN, value)
        if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
            return cls(Kind.ROWS, value)
        return cls(Kind.UNKNOWN, value)

    def error(self, expected: str, what: str = '') -> ParameterError:
        """Make the error of an origin that a reader cannot read."""
        value = self.value.name if isinstance(self.value, ByteSource) else self.value
        found = f'found {shown(value)} ({type(self.value).__name__})'
        return ParameterError(f'{what}{found}, expected {expected}')


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the folder of a store."""
    return os.path.lexists(os.path.join(os.fsdecode(path), STORE_MANIFEST))


def may_be_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder, or a store that is being replaced by another one."""
    return os.path.isdir(path) or is_being_replaced(path)


def is_being_replaced(path: str | os.PathLike[str]) -> bool:
    """Return whether nothing is at a path, and an older store beside it."""
    if '\0' in os.fsdecode(path):
        return False
    target = os.path.realpath(os.fsdecode(path))
    return not os.path.lexists(target) and bool(folders_beside(target, REPLACED))


def folders_beside(target: str, suffix: str) -> list[str]:
    """Return the folders beside a store, such as a call that is killed leaves."""
    parent, name = os.path.split(target)
    is_one = re.compile(f'{re.escape(name)}[.][0-9a-f]{{16}}{re.escape(suffix)}').fullmatch
    try:
        return [os.path.join(parent, each) for each in os.listdir(parent) if is_one(each)]
    except OSError:
        return []


def is_rows(value: object) -> bool:
    """Return whether a value gives rows that can be taken one after another."""
    if isinstance(value, str | os.PathLike):  # which may be a store
        return False
    return Origin.of(value).kind is Kind.ROWS


def is_arrow(value: object) -> bool:
    """Return whether a value is a table that gives a stream of Arrow, as polars and pyarrow do."""
    return hasattr(value, '__arrow_c_stream__') and (
        hasattr(value, 'columns') or hasattr(value, 'schema')
    )


# What a run of text does not need is imported where it is used.


# A choice: pyarrow, with its import, takes as long as the strict parser for 4 MiB, and a quarter
# less for 8 MiB; there it takes twice the memory (138 MiB for 69).
BULK_BYTES = 4 << 20


def read(origin: Any, layout: Layout, *, max_bytes: int = MAX_BYTES) -> Table:
    """Read a table from whatever holds it.

    Parameters
    ----------
    origin : str, path-like, file object, DataFrame, array, iterable or Table
        A path, ``-`` for standard input, an open file (each as text, perhaps compressed, or as
        Parquet, as its first bytes say), a table with the layout's fields among its columns (of
        pandas, polars, pyarrow or any library with the Arrow stream interface), an array of text of
        shape (n_rows, n_fields), an iterable of tuples, or a table that was read before.
    layout : Layout
        The fields of a row.
    max_bytes : int
        The most bytes that a source may give which does not say how large it is: a compressed file
        or Parquet (once decompressed), standard input, a pipe, a device.

    Returns
    -------
    Table
        The rows.

    Raises
    ------
    ReadError
        When the source cannot be opened, decompressed or read to its end, or gives more.
    FormatError
        When a row is wrong, or there is none.
    ParameterError
        When the origin is none of these, or the limit no positive integer.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE
    >>> reference = read('samples/reference.txt', REFERENCE)
    >>> len(reference['person_name'].values)
    2003
    """
    given = Origin.of(origin, max_bytes)
    match given.kind:
        case Kind.TEXT:
            return _read_text(given.value, layout)
        case Kind.PARQUET:
            return _read_parquet(given.value, layout)
        case Kind.FRAME:
            from mediaeval_ap.tables.rows import from_frame

            return from_frame(given.value, layout)
        case Kind.ARROW:
            from mediaeval_ap.tables.columnar import from_arrow, to_arrow

            source = Source(f'<{type(given.value).__name__}>')
            return from_arrow(to_arrow(given.value), layout, source)
        case Kind.ARRAY:
            from mediaeval_ap.tables.rows import from_array

            return from_array(given.value, layout)
        case Kind.ROWS:
            from mediaeval_ap.tables.rows import from_rows

            return from_rows(given.value, layout)
        case Kind.TABLE if isinstance(given.value, Table):
            if given.value.layout != layout:
                found = given.value.layout.name
                raise ParameterError(f'table: found a {found}, expected a {layout.name}')
            return given.value
    expected = 'a path, an open file, a table or an iterable of rows'
    raise given.error(expected, f'{layout.name}: ')


def _read_text(source: ByteSource, layout: Layout) -> Table:
    if source.size() > BULK_BYTES:
        from mediaeval_ap.tables.text.fast import parse_in_bulk

        with source.open() as stream:
            proved = parse_in_bulk(stream, layout, source.name)
        if proved is not None:
            return replace(proved, source=source.described())
    return read_strictly(source, layout)


def read_strictly(source: ByteSource, layout: Layout) -> Table:
    """Read text by the strict parser alone, which names what is wrong."""
    with source.open() as stream:
        table = parse(stream, layout, source.name)
    return replace(table, source=source.described())


def read_leniently(
    origin: Any, layout: Layout, *, max_problems: int = MAX_PROBLEMS
) -> LenientTable:
    """Read a table to its end, whatever its lines hold; tables of values are read strictly.

    The origin is what `mediaeval_ap.tables.read` takes, or an `Origin`. Of wrong lines,
    `max_problems` of each cause are kept. The layout's number, if any, is its last field.
    """
    given = Origin.of(origin)
    if given.kind is not Kind.TEXT:
        return LenientTable(read(given, layout), WrongLines(layout))
    reading = LenientReading(layout, max_problems)
    with given.value.open() as stream:
        reading.read(stream)
    table = reading.rows.table(given.value.described())
    n_lines = reading.rows.lines.next_line - 1
    return LenientTable(table, reading.wrong, reading.starts, n_lines, reading.other)


def _read_parquet(source: ByteSource, layout: Layout) -> Table:
    from mediaeval_ap.tables.columnar import check_names, from_arrow, read_parquet

    def fields(schema: pyarrow.Schema) -> Sequence[str]:
        check_names(schema.names, layout, source.name)
        return layout.fields

    table, described = read_parquet(source, fields)
    return from_arrow(table, layout, described)


SECONDS_BETWEEN_LOOKS = 0.1  # a choice: at once to a person, and no load


def _refuse(error: FormatError) -> None:
    raise error


def arriving(
    origin: str | os.PathLike[str],
    layout: Layout,
    *,
    follow: bool = False,
    on_wrong: Callable[[FormatError], object] = _refuse,
    max_bytes: int = MAX_BYTES,
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file or of standard input, each as soon as its line is there.

    Parameters
    ----------
    origin : str or path-like
        A path, as `mediaeval_ap.tables.read` takes it, or ``-`` for standard input.
    layout : Layout
        The fields of a row.
    follow : bool
        Wait for more where the file ends, as ``tail -f``.
    on_wrong : callable
        Takes the error of each wrong line, which is passed over; by default it is raised.
    max_bytes : int
        The most bytes that a compressed file, Parquet or a pipe may come to.

    Yields
    ------
    tuple
        The fields of a row, a number as a float.

    Raises
    ------
    ReadError
        When it cannot be opened or read, or gives more.
    FormatError
        When there was no row at its end.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS
    >>> next(arriving('samples/hypothesis.txt', HYPOTHESIS))[3:]
    ('fort_brauchound', 0.718655)
    """
    given = Origin.of(origin, max_bytes)
    source = given.value
    if given.kind is not Kind.TEXT and not follow:
        yield from read(given, layout).rows()
        return
    if follow and source.format:
        raise ReadError(source.name, f'{source.format} cannot be followed, only plain text')

    n_wrong = 0

    def pass_over(number: int, lines: list[bytes]) -> Iterator[Piece]:
        nonlocal n_wrong
        begin = 0
        for place in [*wrong_places(lines, layout), len(lines)]:
            right = prove(lines[begin:place], layout)
            assert right is not None
            yield right
            if place < len(lines):
                wrong = explained(lines[place], layout)
                n_wrong += 1
                on_wrong(wrong.error(source.name, f'line {number + place}'))
            begin = place + 1

    n_lines = n_rows = 0
    with _opened(source, follow) as read_arrived:
        arrived = blocks(read_arrived, source.name, PROVED_BYTES)
        for piece in proved_pieces(arrived, layout, pass_over):
            n_lines += len(piece.lines)
            for row in _rows(piece, layout):
                n_rows += 1
                yield row
    if not n_rows and n_wrong:
        raise no_rows(source.name, layout)
    if not n_rows:
        raise no_row_of_text(source.name, layout, n_lines)


def _rows(piece: Piece, layout: Layout) -> Iterator[tuple[Any, ...]]:
    columns: list[Iterable[Any]] = [map(bytes.decode, fields) for fields in piece.texts]
    if columns and layout.number is not None:
        columns.insert(layout.number_at, piece.numbers)
    return zip(*columns, strict=True)


def lines_of_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield the lines of standard input, with their numbers, each as soon as it is there."""
    source = ByteSource(STANDARD_INPUT)
    with source.open_arriving(may_change=True) as stream:
        yield from numbered(stream, source.name)


@contextmanager
def _opened(source: ByteSource, follow: bool) -> Iterator[Read]:
    """Open a source, and yield the function that reads what has arrived of it."""
    if source.is_standard_input:
        with source.open_arriving(may_change=follow) as stream:
            yield stream.read1  # type: ignore[attr-defined]  # it is buffered
    elif follow:
        with following(source) as read_more:
            yield read_more
    else:
        with source.open() as stream:
            yield stream.read1  # type: ignore[attr-defined]  # it is buffered


@contextmanager
def following(source: ByteSource) -> Iterator[Read]:
    """Open a file of plain text that grows, as ``tail -f``; its function to read waits for more."""
    with opening(source.name), source.open_stored(may_change=True) as file:

        def read_more(size: int) -> bytes:
            while not (chunk := file.read(size)):
                if file.seekable() and os.fstat(file.fileno()).st_size < file.tell():
                    raise ReadError(source.name, 'became shorter while it was followed')
                sleep(SECONDS_BETWEEN_LOOKS)
            return bytes(chunk)

        yield read_more


BLOCKS_OF_PART = 16  # a choice: 32 MiB of text; distinct texts are looked up once for each part
CHANGED = 'begins otherwise than when it was read before'


@dataclass(frozen=True)
class Position:
    """A place in a file, after decompressed bytes and lines of text, or row groups of Parquet.

    `sha256` is that of these bytes; of Parquet, that of the file.
    """

    units: int = 0
    n_lines: int = 0
    n_rows: int = 0
    sha256: str = ''


class ChangedError(ReadError):
    """A file that does not begin with what was read of it before."""


class TableParts:
    """The rows of a file, from a position; `source` is known once all of them were read."""

    def __init__(self, file: ByteSource, layout: Layout, begin: Position = Position()) -> None:
        self.source = Source(file.name)
        self._file = file
        self._layout = layout
        self._begin = begin

    def __iter__(self) -> Iterator[tuple[Table, Position | None]]:
        """Yield tables, each with the position behind it if reading can begin there."""
        if self._file.format == PARQUET:
            yield from self._of_parquet()
        else:
            yield from self._of_text()

    def _of_text(self) -> Iterator[tuple[Table, Position]]:
        with self._file.open() as stream, ThreadPoolExecutor(N_THREADS) as threads:
            reader = _TextReader(stream, self._layout, self._file.name, self._begin)
            yield from reader.parts(threads)
        self.source = self._file.described()

    def _of_parquet(self) -> Iterator[tuple[Table, Position | None]]:
        from mediaeval_ap.tables.columnar import ParquetParts, check_names, from_arrow

        def fields(schema: pyarrow.Schema) -> Sequence[str]:
            check_names(schema.names, self._layout, self._file.name)
            return self._layout.fields

        parts = ParquetParts(self._file, fields, self._begin.units)
        n_rows = self._begin.n_rows
        for table, n_groups in parts:
            if self._begin.sha256 not in ('', parts.source.sha256):
                raise ChangedError(self._file.name, CHANGED)
            if len(table):
                with self._same_error():
                    part = from_arrow(table, self._layout, parts.source)
                n_rows += len(part)
                digest = parts.source.sha256 or ''
                yield part, None if n_groups is None else Position(n_groups, 0, n_rows, digest)
        if not n_rows:
            raise no_rows(self._file.name, self._layout)
        self.source = parts.source

    @contextmanager
    def _same_error(self) -> Iterator[None]:
        """Tell what is wrong in a part as the error of the file, which counts all its rows."""
        try:
            yield
        except FormatError:
            read(Origin(Kind.PARQUET, self._file), self._layout)
            raise


class _TextReader:
    """Lines of text of a layout with a number, read in blocks, side by side."""

    def __init__(self, stream: BinaryIO, layout: Layout, source: str, begin: Position) -> None:
        self._layout = layout
        self._source = source
        self._hash = hashlib.sha256()
        self._position = begin
        if begin.units:
            self._pass_over(stream, begin)
        self._blocks = whole_lines(stream.read, BLOCK_BYTES, is_start=not begin.units)

    def _pass_over(self, stream: BinaryIO, begin: Position) -> None:
        """Pass over what was read before, if it is what it was."""
        chunk = stream.read(len(BYTE_ORDER_MARK))
        left = begin.units
        if chunk == BYTE_ORDER_MARK:
            chunk = stream.read(min(left, BLOCK_BYTES))
        while chunk:
            self._hash.update(chunk)
            left -= len(chunk)
            chunk = stream.read(min(left, BLOCK_BYTES)) if left > 0 else b''
        if left or self._hash.hexdigest() != begin.sha256:
            raise ChangedError(self._source, CHANGED)

    def parts(self, threads: ThreadPoolExecutor) -> Iterator[tuple[Table, Position]]:
        """Yield tables of some blocks each."""
        pending: list[Rows] = []
        results = results_of(self._read, up_to_endless(self._blocks), threads)
        for block, rows in results:
            if block is None:
                raise endless().error(self._source, f'line {self._position.n_lines + 1}')
            if pending and (rows is None or len(pending) == BLOCKS_OF_PART):
                yield self._part(pending), self._position
                pending = []
            if rows is not None:
                self._advance(block, rows.n_lines or 1, len(rows.texts))  # 0: a last line of spaces
                pending.append(rows)
            else:
                table = self._strictly(block, (each for each, _ in results))
                self._advance(block, len(split(block)), len(table))
                yield table, self._position
        if pending:
            yield self._part(pending), self._position
        if not self._position.n_rows:
            raise no_row_of_text(self._source, self._layout, self._position.n_lines)

    def _read(self, block: bytes | None) -> tuple[bytes | None, Rows | None]:
        try:
            return block, read_block(block, self._layout)
        except Doubt:
            return block, None

    def _advance(self, block: bytes, n_lines: int, n_rows: int) -> None:
        self._hash.update(block)
        now = self._position
        self._position = Position(
            now.units + len(block),
            now.n_lines + n_lines,
            now.n_rows + n_rows,
            self._hash.hexdigest(),
        )

    def _part(self, pieces: list[Rows]) -> Table:
        import pyarrow

        texts = pyarrow.concat_tables([rows.texts for rows in pieces])
        columns = {field: text_column(texts[field]) for field in self._layout.texts}
        numbers = np.concatenate([each for rows in pieces for each in rows.numbers])
        return Table(self._layout, columns, numbers, Source(self._source))

    def _strictly(self, block: bytes, rest: Iterable[bytes | None]) -> Table:
        """Read a block by the strict parser; where it is wrong, tell so.

        The error counts the wrong lines of the rest of the file, too.
        """
        collector = RowCollector(self._layout)
        wrong: list[int] = []

        def remember(number: int, _: list[bytes]) -> Iterable[Piece]:
            wrong.append(number)
            return ()

        for piece in proved_pieces([block], self._layout, remember):
            collector.add(piece)
        if wrong:
            now = self._position
            stream = io.BufferedReader(Chunks(self._bytes(chain([block], rest))))
            first_line, has_rows = now.n_lines + 1, now.n_rows > 0
            parse(stream, self._layout, self._source, first_line=first_line, has_rows=has_rows)
        return collector.table(Source(self._source))

    def _bytes(self, blocks: Iterable[bytes | None]) -> Iterator[bytes]:
        """Yield blocks from here on; one that is endless is the error then."""
        n_lines = self._position.n_lines
        for block in blocks:
            if block is None:
                raise endless().error(self._source, f'line {n_lines + 1}')
            yield block
            n_lines += block.count(b'\n')
