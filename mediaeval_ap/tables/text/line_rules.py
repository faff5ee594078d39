"""The rules of text lines: blocks of whole lines, and which of them hold a row."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mediaeval_ap import choices
from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.tables.faults import Cause
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.values import is_number

if TYPE_CHECKING:
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

BYTE_ORDER_MARK = choices.BYTE_ORDER_MARK.encode()
# Blocks two or four times as large take as long; half as large, a tenth longer, as more blocks
# encode the same texts. With larger ones, a process with little memory aborted in a pyarrow thread.
BLOCK_BYTES = 2 << 20
DECODER_BLOCK_BYTES = 1 << 20  # half and double take as long; memory grows
MAX_LINE_BYTES = 64 << 20  # a file without line ends is refused before it fills memory
_NUMBER_NAMES = frozenset(  # names of the column of numbers in headers of all kinds
    'confidence conf grade judgement judgment label probability rel relevance relevancy score sim '
    'similarity'.split()
)
_SHAPES = bytes(ord(' ') if chr(byte) in BETWEEN_WORDS else ord('x') for byte in range(256))

find_fields = re.compile(b'[^%b]+' % BETWEEN_WORDS.encode()).findall

ColumnFields: TypeAlias = Sequence[bytes]  # the fields of one column, a row each
Read = Callable[[int], bytes]  # as `read` of a binary stream: at most n bytes, b'' at the end


class Piece(NamedTuple):
    """Consecutive lines: the rows among them, and the causes of wrong lines."""

    block: bytes  # the lines with their ends; b'' for an endless line
    n_lines: int
    rows: Sequence[int] | NDArray[np.int64] | None  # positions of lines with rows; None for all
    texts: Sequence[ColumnFields] | pyarrow.Table  # by column; empty where no line holds a row
    numbers: Iterable[float]
    # By position. A line with a wrong number is among the rows as well, with NaN.
    wrong: dict[int, tuple[Cause, bytes]]


def cause_of(line: bytes, layout: Layout) -> Cause | None:
    """Return the cause for which a line without its end is wrong; None if it is right or no row."""
    if layout.is_comment(line):
        return None
    if not holds_text(line):
        return Cause.BYTES
    if count_fields(line) > len(layout.fields):
        return Cause.FIELDS
    return cause_of_fields(find_fields(line), layout)


def cause_of_fields(fields: list[bytes], layout: Layout) -> Cause | None:
    """Return the cause for which these fields are wrong, or None; their line is not a comment."""
    is_comment = layout.holds_comment(b' '.join(fields[:2]))
    if fields and (len(fields) != len(layout.fields) or is_comment):
        return Cause.FIELDS
    if not fields or layout.number is None or is_number(fields[layout.number_at], layout.integers):
        return None
    return Cause.HEADER if is_header(b' '.join(fields).decode(), layout) else Cause.NUMBER


def count_fields(line: bytes) -> int:
    """Count the fields of a line, without making a list: there may be millions."""
    shape = line.translate(_SHAPES)
    return shape.count(b' x') + shape.startswith(b'x')


def is_header(line: str, layout: Layout) -> bool:
    """Return True if a line holds the names of the fields, in any case, perhaps after a #."""
    words = tuple(field.decode() for field in find_fields(line.casefold().lstrip('#').encode()))
    is_named = len(words) == len(layout.fields) and layout.number is not None
    return words == layout.fields or (is_named and words[layout.number_at] in _NUMBER_NAMES)


def holds_no_row(line: bytes, layout: Layout) -> bool:
    return not line.strip(b' \t') or bool(layout.is_comment(line))


def holds_text(lines: bytes) -> bool:
    """Return True if lines that end with LF are text: UTF-8 without NUL, CR and U+FEFF."""
    if b'\0' in lines or b'\r' in lines:
        return False
    if lines.isascii():
        return True
    # To search for one byte first takes a tenth of the time.
    holds_mark = BYTE_ORDER_MARK[:1] in lines and BYTE_ORDER_MARK in lines
    return not holds_mark and is_utf8(lines)


def is_utf8(text: bytes, *, is_whole: bool = True) -> bool:  # else a character may be cut
    decode = getincrementaldecoder('utf-8')().decode
    size = DECODER_BLOCK_BYTES
    try:
        for begin in range(0, len(text), size):
            decode(text[begin : begin + size], is_whole and begin + size >= len(text))
    except UnicodeDecodeError:
        return False
    return True


def whole_lines(read: Read, block_bytes: int | None = None) -> Iterator[bytes | None]:
    """Yield blocks of whole lines, each once it is read; None, at last, for an endless line."""
    chunks = _chunks_without_mark(read, block_bytes or BLOCK_BYTES)
    pieces: list[bytes] = []
    pending = 0
    for chunk in chunks:
        end = chunk.find(b'\n')
        if pending + (len(chunk) if end < 0 else end) > MAX_LINE_BYTES:
            yield None
            return
        head, newline, tail = chunk.rpartition(b'\n')
        if newline:
            yield b''.join((*pieces, head, newline))
            pieces = []
            pending = 0
        pieces.append(tail)
        pending += len(tail)
    if pending:
        yield b''.join(pieces)


def _chunks_without_mark(read: Read, size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream, without a byte order mark at its start."""
    chunk = read(size)
    # A pipe may give the first bytes of the mark alone.
    while chunk in (BYTE_ORDER_MARK[:1], BYTE_ORDER_MARK[:2]) and (more := read(size)):
        chunk += more
    yield chunk.removeprefix(BYTE_ORDER_MARK)
    while chunk := read(size):
        yield chunk


def with_lf(lines: bytes) -> bytes:
    if b'\r' in lines:  # to search for two bytes takes 50 times as long
        return lines.replace(b'\r\n', b'\n')
    return lines


def split_lines(block: bytes) -> list[bytes]:
    """Split a block of whole lines into lines without their ends."""
    lines = with_lf(block).split(b'\n')
    if not lines[-1]:
        lines.pop()
    return lines
