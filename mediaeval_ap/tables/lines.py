"""The lines of a stream of bytes, one by one or in blocks.

Lines end with LF or CR LF; the last may end with the file. A byte order mark is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import BinaryIO, Protocol

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK

MAX_LINE_BYTES = 64 << 20  # a choice: a file without line ends is refused before it fills memory
BLOCK_BYTES = 1 << 20  # half and double of it take the same time


class Lines(Protocol):
    """A stream that gives one line at a time: an open binary file, or a file that grows."""

    def readline(self, limit: int, /) -> bytes:
        """Return the next line with its end, or its first bytes; nothing at the end."""


def numbered(stream: Lines, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a stream with their ends, as soon as they are there; number the first 1.

    A line longer than `MAX_LINE_BYTES`, its end not counted, is an error.
    """
    for number in count(1):
        line = stream.readline(MAX_LINE_BYTES + len(BYTE_ORDER_MARK) + 1)
        if not line:
            return
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if len(line.removesuffix(b'\n')) > MAX_LINE_BYTES:
            raise _endless(source, number)
        yield number, line


def blocks(stream: BinaryIO, source: str, block_bytes: int | None = None) -> Iterator[bytes]:
    """Yield blocks of whole lines; a line longer than `MAX_LINE_BYTES` is an error."""
    ended = 0
    for block in whole_lines(stream, block_bytes):
        if block is None:
            raise _endless(source, ended + 1)
        yield block
        ended += block.count(b'\n')


def whole_lines(stream: BinaryIO, block_bytes: int | None = None) -> Iterator[bytes | None]:
    """Yield blocks of whole lines, of `BLOCK_BYTES` or so; None for each line that is too long.

    The lines keep their ends. What is left of a long line is passed over when the next block is
    asked for.
    """
    block_bytes = block_bytes or BLOCK_BYTES
    pieces: list[bytes] = []
    pending = 0
    chunk = stream.read(block_bytes).removeprefix(BYTE_ORDER_MARK)
    while chunk:
        end = chunk.find(b'\n')
        if pending + (len(chunk) if end < 0 else end) > MAX_LINE_BYTES:
            yield None
            pieces, pending = [], 0
            chunk = _after_line(stream, chunk)
            continue
        head, newline, tail = chunk.rpartition(b'\n')
        if newline:
            yield b''.join((*pieces, head, newline))
            pieces, pending = [], 0
        pieces.append(tail)
        pending += len(tail)
        chunk = stream.read(block_bytes)
    if pending:
        yield b''.join(pieces)


def _after_line(stream: BinaryIO, chunk: bytes) -> bytes:
    """Return what comes behind the line that a chunk is in; nothing at the end of the stream."""
    while chunk:
        _, newline, rest = chunk.partition(b'\n')
        if newline:
            return rest or stream.read(BLOCK_BYTES)
        chunk = stream.read(BLOCK_BYTES)
    return b''


def split(block: bytes) -> list[bytes]:
    """Split a block of whole lines into lines without their ends."""
    lines = block.replace(b'\r\n', b'\n').split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines


def endless() -> Wrong:
    """Explain a line that is too long."""
    return Wrong('', f'more than {MAX_LINE_BYTES >> 20} MiB without a line end', 'lines of text')


def _endless(source: str, number: int) -> FormatError:
    return endless().error(source, f'line {number}')
