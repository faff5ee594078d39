"""The lines of a stream of bytes, one by one or in blocks.

Lines end with LF or CR LF; the last may end with the file. A byte order mark is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import BinaryIO, Protocol

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.line_format import BYTE_ORDER_MARK, Wrong

__all__ = ['MAX_LINE_BYTES', 'Lines', 'blocks', 'endless', 'numbered', 'split', 'whole_lines']

MAX_LINE_BYTES = 64 << 20
BLOCK_BYTES = 1 << 20


class Lines(Protocol):
    r"""What lines can be read from, one at a time: any open binary file, and more.

    Examples
    --------
    >>> import io
    >>> stream: Lines = io.BytesIO(b'a\nb\n')
    >>> stream.readline(9)
    b'a\n'
    """

    def readline(self, limit: int, /) -> bytes:
        """The next line.

        Parameters
        ----------
        limit : int
            So many bytes at most.

        Returns
        -------
        bytes
            With its end; nothing where there is no more.
        """


def numbered(stream: Lines, source: str) -> Iterator[tuple[int, bytes]]:
    r"""The lines of a stream, each as soon as it is there.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    source : str
        Its name, for errors.

    Yields
    ------
    number : int
        From 1.
    line : bytes
        With its end; the byte order mark is left out.

    Raises
    ------
    FormatError
        When a line is longer than `MAX_LINE_BYTES`, its end not counted.

    Examples
    --------
    >>> import io
    >>> list(numbered(io.BytesIO(b'a\nb'), 'file'))
    [(1, b'a\n'), (2, b'b')]
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
    r"""Whole lines, a megabyte or so at a time.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    source : str
        Its name, for errors.
    block_bytes : int, optional
        About how many at a time instead.

    Yields
    ------
    bytes
        Lines with their ends as they stand; the byte order mark is left out.

    Raises
    ------
    FormatError
        When a line is longer than `MAX_LINE_BYTES`.

    Examples
    --------
    >>> import io
    >>> list(blocks(io.BytesIO(BYTE_ORDER_MARK + b'a b\nc'), 'file'))
    [b'a b\n', b'c']
    """
    ended = 0
    for block in whole_lines(stream, block_bytes):
        if block is None:
            raise _endless(source, ended + 1)
        yield block
        ended += block.count(b'\n')


def whole_lines(stream: BinaryIO, block_bytes: int | None = None) -> Iterator[bytes | None]:
    r"""Whole lines, a megabyte or so at a time, and a gap for each that is too long.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from.
    block_bytes : int, optional
        About how many at a time instead.

    Yields
    ------
    bytes or None
        Lines with their ends as they stand; the byte order mark is left out. None stands for one
        line longer than `MAX_LINE_BYTES`, its end not counted; it is passed over when the next is
        asked for.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(io.BytesIO(b'a b\nc')))
    [b'a b\n', b'c']
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
    """What comes after the line that a chunk of a stream is in, or nothing at its end."""
    while chunk:
        _, newline, rest = chunk.partition(b'\n')
        if newline:
            return rest or stream.read(BLOCK_BYTES)
        chunk = stream.read(BLOCK_BYTES)
    return b''


def split(block: bytes) -> list[bytes]:
    r"""The lines of a block, without their ends.

    Parameters
    ----------
    block : bytes
        Whole lines.

    Returns
    -------
    list of bytes
        One a line.

    Examples
    --------
    >>> split(b'a b\r\n\nc\n')
    [b'a b', b'', b'c']
    """
    lines = block.replace(b'\r\n', b'\n').split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines


def endless() -> Wrong:
    """What is wrong with a line that is too long.

    Returns
    -------
    Wrong
        As for any other line.

    Examples
    --------
    >>> endless().found
    'more than 64 MiB without a line end'
    """
    return Wrong('', f'more than {MAX_LINE_BYTES >> 20} MiB without a line end', 'lines of text')


def _endless(source: str, number: int) -> FormatError:
    return endless().error(source, f'line {number}')
