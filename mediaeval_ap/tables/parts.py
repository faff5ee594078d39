"""Files that need not fit in memory, as tables of some of their rows, one after another.

Reading can begin behind the parts that were read before. Errors are those of reading whole files.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.tables.bulk import (
    BLOCK_BYTES,
    N_THREADS,
    Doubt,
    Rows,
    read_block,
    results_of,
    text_column,
    up_to_endless,
)
from mediaeval_ap.tables.byte_sources import ByteSource
from mediaeval_ap.tables.decompression import PARQUET, Chunks
from mediaeval_ap.tables.faults import no_row_of_text, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK
from mediaeval_ap.tables.lines import endless, split, whole_lines
from mediaeval_ap.tables.strict_text import Piece, RowCollector, parse, proved_pieces
from mediaeval_ap.tables.table import Source, Table

if TYPE_CHECKING:
    import pyarrow

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
        from mediaeval_ap.tables.arrow import check_names, from_arrow
        from mediaeval_ap.tables.parquet import ParquetParts

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
            from mediaeval_ap.tables.input_kinds import Kind, Origin
            from mediaeval_ap.tables.reading import read

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
