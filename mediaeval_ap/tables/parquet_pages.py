"""The size of a Parquet file, counted before pyarrow decompresses it.

A page says in its header how large it is when it is decompressed. The footer says so as well, but
nothing holds it to the truth, and pyarrow ends the process on some damaged footers. So pyarrow
reads through a file that looks at the bytes it is given: Apache Thrift, in whose compact protocol
page headers are written, reads them.
"""

from __future__ import annotations

import io
from typing import Any

from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TException, TType
from thrift.transport.TTransport import TFileObjectTransport

from mediaeval_ap.tables.byte_sources import ByteSource
from mediaeval_ap.tables.decompression import Limit

BYTES_OF_VALUE = 4  # at least: pyarrow's code of a text that is repeated has so many
LONGEST_STRING = 1 << 27  # a choice: no header has more, and a damaged length would take it all
# Measured: the most bytes that pyarrow makes of one of a footer, of one element of a list in it
# (a column, or its part in a row group), and how many copies it makes of text.
SMALL_FOOTER_SHARE = 256
BYTES_OF_ELEMENT = 1536
COPIES_OF_TEXT = 8
LEAST_OF_METADATA = 64 << 20  # a choice: what any file may have, whatever the limit
METADATA_COME_TO = 'has metadata that come to'


class _Protocol(TCompactProtocol):  # type: ignore[misc]  # ships no type information
    """A protocol that reads as the C++ implementation does."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(TFileObjectTransport(stream), string_length_limit=LONGEST_STRING)

    def readFieldBegin(self) -> tuple[None, int, int]:
        name, kind, number = super().readFieldBegin()
        return name, kind, (number + (1 << 15)) % (1 << 16) - (1 << 15)  # it has 16 bits

    def readString(self) -> bytes:
        return bytes(self.readBinary())  # statistics may be no text


class _FooterProtocol(_Protocol):
    """A protocol that counts the elements of a list before it reads them, against a limit."""

    def __init__(self, stream: io.BytesIO, limit: Limit) -> None:
        super().__init__(stream)
        self._limit = limit

    def readListBegin(self) -> tuple[int, int]:
        kind, size = super().readListBegin()
        self._limit.add(size * BYTES_OF_ELEMENT)
        return kind, size


class _Fields(dict[int, tuple[Any, ...]]):
    """The fields of a structure by number, as Thrift wants them; it passes over others."""

    def __missing__(self, number: int) -> None:
        raise IndexError(number)


class _Values:
    """The part of a page header that says how many values the page has."""

    num_values = 0

    def read(self, protocol: _Protocol) -> None:
        protocol.readStruct(self, _Fields({1: (1, TType.I32, 'num_values', None)}))


class _PageHeader:
    """The header of a page."""

    uncompressed_page_size = -1
    compressed_page_size = -1
    values = dictionary = values_v2 = _Values()
    fields = _Fields(
        {
            2: (2, TType.I32, 'uncompressed_page_size', None),
            3: (3, TType.I32, 'compressed_page_size', None),
            5: (5, TType.STRUCT, 'values', (_Values, None)),
            7: (7, TType.STRUCT, 'dictionary', (_Values, None)),
            8: (8, TType.STRUCT, 'values_v2', (_Values, None)),
        }
    )

    def read(self, protocol: _Protocol) -> None:
        protocol.readStruct(self, self.fields)

    @property
    def n_bytes(self) -> int:
        """The least number of bytes that the page comes to."""
        headers = (self.values, self.dictionary, self.values_v2)
        n_values = max(each.num_values for each in headers)
        return max(self.uncompressed_page_size, BYTES_OF_VALUE * n_values)


class PageWatcher(io.RawIOBase):
    """A Parquet file that counts the pages in what is read of it, against a limit if it has one.

    pyarrow reads all pages of a column in a row group at once, and nothing else with them, where it
    does not buffer before (`pre_buffer`).
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.limit: Limit | None = None
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def read(self, size: int = -1, /) -> bytes:
        here = self.tell()
        rest = self.seek(0, io.SEEK_END) - here
        self.seek(here)
        content = bytes(self._stream.read(rest if size < 0 else min(size, max(0, rest))))
        if self.limit is not None:
            self._count(content, self.limit)
        return content

    def _count(self, content: bytes, limit: Limit) -> None:
        stream = io.BytesIO(content)
        while stream.tell() < len(content):
            header = _PageHeader()
            try:
                header.read(_Protocol(stream))
            except EOFError:
                return  # cut off, which is an error to pyarrow, or behind the pages
            except (TException, LookupError, ValueError, AssertionError) as error:
                raise OSError(f'damaged page header: {error or type(error).__name__}') from error
            if header.compressed_page_size < 0 or header.uncompressed_page_size < 0:
                raise OSError('damaged page header: a size below 0')
            self.n_bytes += header.n_bytes
            limit.add(header.n_bytes)
            stream.seek(header.compressed_page_size, io.SEEK_CUR)


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
