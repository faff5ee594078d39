"""The lines of a stream of bytes, one by one or in blocks.

Lines end with LF or CR LF; the last may end with the file. A byte order mark is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK

MAX_LINE_BYTES = 64 << 20  # a choice: a file without line ends is refused before it fills memory
BLOCK_BYTES = 1 << 20  # a choice: small beside the columns that are made of a file

Read = Callable[[int], bytes]  # gives at most so many of the next bytes, and nothing at the end


def numbered(stream: BinaryIO, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a stream without their ends, as soon as they are there, from number 1."""
    arrived = blocks(stream.read1, source)  # type: ignore[attr-defined]  # all buffered ones have it
    return enumerate(chain.from_iterable(map(split, arrived)), 1)


def blocks(
    read: Read, source: str, block_bytes: int | None = None, *, first_line: int = 1
) -> Iterator[bytes]:
    """Yield blocks of whole lines; a line longer than `MAX_LINE_BYTES` is an error."""
    ended = first_line - 1
    for block in whole_lines(read, block_bytes, is_start=first_line == 1):
        if block is None:
            raise endless().error(source, f'line {ended + 1}')
        yield block
        ended += block.count(b'\n')


def whole_lines(
    read: Read, block_bytes: int | None = None, *, is_start: bool = True
) -> Iterator[bytes | None]:
    """Yield blocks of whole lines with their ends, each as soon as `read` gives its last byte.

    They have `block_bytes` or so, by default `BLOCK_BYTES`. In place of a line that is too long
    comes None; the rest of that line is passed over when the next block is asked for. A byte order
    mark is passed over only at the start of the file.
    """
    chunks = _chunks(read, block_bytes or BLOCK_BYTES, is_start)
    pieces: list[bytes] = []
    pending = 0
    for chunk in chunks:
        end = chunk.find(b'\n')
        if pending + (len(chunk) if end < 0 else end) > MAX_LINE_BYTES:
            yield None
            pieces, pending = [], 0
            chunk = _behind_line(chunk, chunks)
        head, newline, tail = chunk.rpartition(b'\n')
        if newline:
            yield b''.join((*pieces, head, newline))
            pieces, pending = [], 0
        pieces.append(tail)
        pending += len(tail)
    if pending:
        yield b''.join(pieces)


def _chunks(read: Read, size: int, is_start: bool) -> Iterator[bytes]:
    """Yield the bytes of a stream without its byte order mark, of which a part may come first."""
    start = read(size)
    while is_start and start and start != BYTE_ORDER_MARK and BYTE_ORDER_MARK.startswith(start):
        more = read(size)
        if not more:
            break
        start += more
    yield start.removeprefix(BYTE_ORDER_MARK) if is_start else start
    while start:
        start = read(size)
        yield start


def _behind_line(chunk: bytes, chunks: Iterator[bytes]) -> bytes:
    """Return what comes behind the line that a chunk is in, of that chunk or the next ones."""
    for each in chain([chunk], chunks):
        _, newline, rest = each.partition(b'\n')
        if newline:
            return rest
    return b''


def split(block: bytes) -> list[bytes]:
    """Split a block of whole lines into lines without their ends."""
    lines = (block.replace(b'\r\n', b'\n') if b'\r' in block else block).split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines


def endless() -> Wrong:
    """Explain a line that is too long."""
    return Wrong('', f'more than {MAX_LINE_BYTES >> 20} MiB without a line end', 'lines of text')
