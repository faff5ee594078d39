"""The size of a Parquet file, counted before pyarrow decompresses it.

A page says in its header how large it is when it is decompressed. The footer says so as well, but
nothing holds it to the truth, and pyarrow ends the process on some damaged footers. So pyarrow
reads through a file that looks at the bytes it is given: Apache Thrift, in whose compact protocol
page headers are written, reads them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TException, TType
from thrift.transport.TTransport import TFileObjectTransport

from mediaeval_ap.tables.sources import ByteSource, Limit

BYTES_OF_VALUE = 4  # at least: pyarrow's code of a text that is repeated has so many
LONGEST_STRING = 1 << 27  # a choice: no header has more, and a damaged length would take it all
# Measured: the most bytes that pyarrow makes of one of a footer, of one element of a list in it
# (a column, or its part in a row group), and copies of text: it makes six, the rest is a choice.
SMALL_FOOTER_SHARE = 256
BYTES_OF_ELEMENT = 1536
COPIES_OF_TEXT = 8
LEAST_OF_METADATA = 64 << 20  # a choice: what any file may have, whatever the limit
METADATA_COME_TO = 'has metadata that come to'


# The fields of a page header: how large the page is decompressed, and as stored; the headers for
# data pages, dictionaries and data pages of version 2, each with its number of values.
N_BYTES, N_STORED = (0, 2), (0, 3)
HEADERS_OF_KINDS = (5, 7, 8)
N_VALUES = 1


class _Protocol(TCompactProtocol):  # type: ignore[misc]  # ships no type information
    """A protocol that reads as the C++ implementation does."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(TFileObjectTransport(stream), string_length_limit=LONGEST_STRING)

    def readFieldBegin(self) -> tuple[None, int, int]:
        name, kind, number = super().readFieldBegin()
        return name, kind, (number + (1 << 15)) % (1 << 16) - (1 << 15)  # it has 16 bits

    def readString(self) -> bytes:
        return bytes(self.readBinary())  # statistics may be no text


def _integers(protocol: _Protocol, header: int = 0) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the integers of a page header and of the headers in it, by header and field."""
    protocol.readStructBegin()
    _, kind, number = protocol.readFieldBegin()
    while kind != TType.STOP:
        if kind == TType.I32:
            yield (header, number), protocol.readI32()
        elif kind == TType.STRUCT and not header and number in HEADERS_OF_KINDS:
            yield from _integers(protocol, number)
        else:
            protocol.skip(kind)
        protocol.readFieldEnd()
        _, kind, number = protocol.readFieldBegin()
    protocol.readStructEnd()


class _FooterProtocol(_Protocol):
    """A protocol that counts the elements of a list before it reads them, against a limit."""

    def __init__(self, stream: io.BytesIO, limit: Limit) -> None:
        super().__init__(stream)
        self._limit = limit

    def readListBegin(self) -> tuple[int, int]:
        kind, size = super().readListBegin()
        self._limit.add(size * BYTES_OF_ELEMENT)
        return kind, size


class PageWatcher(io.FileIO):
    """A Parquet file that counts the pages in what is read of it, against a limit if it has one.

    pyarrow reads all pages of a column in a row group at once, and nothing else with them, where it
    does not buffer before (`pre_buffer`).
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream.fileno(), closefd=False)
        self.limit: Limit | None = None
        self.n_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        here = self.tell()
        rest = max(0, self.seek(0, io.SEEK_END) - here)
        self.seek(here)
        content = super().read(rest if size is None or size < 0 else min(size, rest)) or b''
        if self.limit is not None:
            self._count(content, self.limit)
        return content

    def _count(self, content: bytes, limit: Limit) -> None:
        stream = io.BytesIO(content)
        while stream.tell() < len(content):
            try:
                header = dict(_integers(_Protocol(stream)))
            except EOFError:
                return  # cut off, which is an error to pyarrow, or behind the pages
            except (TException, LookupError, ValueError, AssertionError) as error:
                raise OSError(f'damaged page header: {error or type(error).__name__}') from error
            n_bytes, n_stored = header.get(N_BYTES, -1), header.get(N_STORED, -1)
            if n_bytes < 0 or n_stored < 0:
                raise OSError('damaged page header: a size below 0')
            n_values = max(header.get((kind, N_VALUES), 0) for kind in HEADERS_OF_KINDS)
            n_bytes = max(n_bytes, BYTES_OF_VALUE * n_values)
            self.n_bytes += n_bytes
            limit.add(n_bytes)
            stream.seek(n_stored, io.SEEK_CUR)


def check_footer(stream: Any, source: ByteSource) -> None:
    """Refuse a footer that comes to more than the limit, before pyarrow reads it."""
    limit = source.limit(METADATA_COME_TO, LEAST_OF_METADATA)
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(8)[:4], 'little')
    # pyarrow says what is wrong with a length beyond the file.
    if length * SMALL_FOOTER_SHARE <= limit.max_bytes or length > size:
        return
    limit.add(length * COPIES_OF_TEXT)
    stream.seek(max(0, size - 8 - length))
    protocol = _FooterProtocol(io.BytesIO(stream.read(length)), limit)
    try:
        protocol.skip(TType.STRUCT)
    except (TException, LookupError, ValueError, AssertionError, EOFError) as error:
        raise OSError(f'damaged metadata: {error or type(error).__name__}') from error
