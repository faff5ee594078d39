"""Compressed streams, to streams of bytes that have a limit."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from mediaeval_ap.errors import ReadError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PARQUET = 'Parquet'
# The first bytes of each format. That of gzip, xz and Zstandard (whose file may begin with a frame
# to be skipped) is never UTF-8 text that a table holds. bzip2 and Parquet begin with letters: so
# the digits or the control character behind them, which every file of theirs has, are looked at.
_FIRST_BYTES = {
    'gzip': rb'\x1f\x8b',
    'bzip2': rb'BZh[1-9](?:1AY&SY|\x17rE8P\x90)',
    'xz': rb'\xfd7zXZ\0',
    'zstd': rb'\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18',
    PARQUET: rb'PAR1[\0-\x08\x0e-\x1f]',
}
_MATCHES = {kind: re.compile(pattern).match for kind, pattern in _FIRST_BYTES.items()}
N_FIRST_BYTES = 10  # of the longest of them
BUFFER_BYTES = 1 << 20  # a choice: half and double take the same time, within a tenth
XZ_MEMORY_BYTES = 1 << 30  # a header can ask for four times as much before a byte is read


class Limit:
    """A count of bytes that may not exceed a limit.

    `does` says in the error what the source does: ``x.gz: decompresses to more than 5 bytes``.
    """

    def __init__(self, source: str, max_bytes: int, does: str) -> None:
        self._source = source
        self._does = does
        self.max_bytes = max_bytes
        self._seen = 0

    def count(self, chunk: bytes) -> None:
        """Count the bytes of a chunk."""
        self.add(len(chunk))

    def add(self, n_bytes: int) -> None:
        """Count bytes that the source has given, or is about to give."""
        self._seen += n_bytes
        if self._seen > self.max_bytes:
            raise ReadError(
                self._source,
                f'{self._does} more than {self.max_bytes} bytes, the limit: '
                'raise it by --max-bytes, in Python max_bytes',
            )


class Chunks(io.RawIOBase):
    """A raw stream over an iterator of chunks; empty ones are passed over."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b'')

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        view = memoryview(buffer).cast('B')
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def format_of(start: bytes) -> str:
    """Name the format of bytes by the first of them: of compression, `PARQUET`, or nothing."""
    return next((kind for kind, matches in _MATCHES.items() if matches(start)), '')


def may_go_on(start: bytes) -> bool:
    """Return whether more bytes are needed to name a format: these end within the first line."""
    return len(start) < N_FIRST_BYTES and b'\n' not in start and not format_of(start)


def decompressed(stream: BinaryIO, kind: str) -> Any:
    """Return a stream of the decompressed bytes; each library is imported when it is needed."""
    match kind:
        case 'gzip':
            import gzip

            return gzip.GzipFile(fileobj=stream, mode='rb')
        case 'bzip2':
            import bz2

            return Chunks(_stream_by_stream(stream, bz2.BZ2Decompressor))
        case 'xz':
            import lzma

            limited = partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY_BYTES)
            return Chunks(_stream_by_stream(stream, limited))
        case 'zstd':
            import pyarrow

            return pyarrow.CompressedInputStream(stream, 'zstd')


def _stream_by_stream(stored: BinaryIO, new_decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """Decompress streams that follow one another to the end of the file.

    The standard library's own files end in silence where a further stream is damaged.
    """
    rest = stored.read(BUFFER_BYTES)
    while rest:
        decompressor = new_decompressor()
        while not decompressor.eof:
            if decompressor.needs_input:
                rest = rest or stored.read(BUFFER_BYTES)
                if not rest:
                    raise EOFError('Compressed file ended before its end-of-stream marker')
                yield decompressor.decompress(rest, BUFFER_BYTES)
                rest = b''
            else:
                yield decompressor.decompress(b'', BUFFER_BYTES)
        rest = decompressor.unused_data
        while not (rest := rest.lstrip(b'\0')):  # padding
            rest = stored.read(BUFFER_BYTES)
            if not rest:
                return
