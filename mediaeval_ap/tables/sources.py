"""Streams of bytes: opening, decompression within a limit, hashing while reading, and JSON."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeAlias

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.choices import BYTE_ORDER_MARK, plain_text
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, printable, shown
from mediaeval_ap.progress import Bar
from mediaeval_ap.tables.faults import Fault
from mediaeval_ap.tables.table import Argument, Provenance
from mediaeval_ap.tables.text.line_rules import MAX_LINE_BYTES, is_utf8
from mediaeval_ap.tables.text.wrong_lines import explain_endless_line, remedy_of_foreign

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PARQUET = 'Parquet'
COLUMNAR_FORMATS = {PARQUET}
# The first bytes of each format. Those of gzip, xz and Zstandard never begin a table of UTF-8 text;
# a Zstandard file may also begin with a frame to skip. bzip2 and Parquet begin with letters, so
# their patterns include the digits or the control character that always follow.
_FIRST_BYTES = {
    'gzip': rb'\x1f\x8b',
    'bzip2': rb'BZh[1-9](?:1AY&SY|\x17rE8P\x90)',
    'xz': rb'\xfd7zXZ\0',
    'zstd': rb'\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18',
    PARQUET: rb'PAR1[\0-\x08\x0e-\x1f]',
}
_MATCHES = {kind: re.compile(pattern).match for kind, pattern in _FIRST_BYTES.items()}
N_FIRST_BYTES = 10  # enough for the longest pattern
MOST_FIRST_BYTES = 1 << 16  # enough to recognise a file, and for thousands of names of columns
BUFFER_BYTES = 1 << 20  # half or twice as many take the same time, within a tenth
STANDARD_INPUT = '-'
LIMIT_VARIABLE = 'MEDIAEVAL_AP_MAX_BYTES'
MAX_BYTES = 4 << 30  # far more than a campaign's largest run, less than the memory of most machines
BINARY_SUFFIXES = (*COMPRESSED_SUFFIXES, '.parquet', '.pq')
NOT_A_REGULAR_FILE = 'which is read only from the start of a regular file'
COMPRESSED_SIZE_FACTOR = 4  # an estimate: decompressed runs are this many times larger
JsonValue: TypeAlias = Any  # an object, a list, text, a number, true, false or null


class _Chunks(io.RawIOBase):
    """A raw stream over chunks of bytes; empty chunks are skipped."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = filter(None, chunks)
        self._unread = memoryview(b'')

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._unread = self._unread or memoryview(next(self._chunks, b''))
        view = memoryview(buffer).cast('B')
        count = min(len(view), len(self._unread))
        view[:count] = self._unread[:count]
        self._unread = self._unread[count:]
        return count


def refuse_beyond_limit(name: str, n_bytes: int) -> None:
    """Raise ReadError if decompressed data, perhaps of a small file, is beyond the limit."""
    limit = os.environ.get(LIMIT_VARIABLE) or str(MAX_BYTES)
    if not (limit.isdecimal() and int(limit)):
        problem = f'found {shown(limit)}, expected a positive integer'
        raise ParameterError(f'{LIMIT_VARIABLE}: {problem}')
    if n_bytes > int(limit):
        raise ReadError(
            name,
            f'decompresses to {n_bytes} bytes or more, expected at most {int(limit)}: raise the '
            f'limit by the environment variable {LIMIT_VARIABLE}',
        )


def detect_format(start: bytes) -> str:
    """Name the compression or `PARQUET`, detected from a file's first bytes; '' if neither."""
    return next((kind for kind, matches in _MATCHES.items() if matches(start)), '')


def decompressed(
    name: str, chunks: Iterator[bytes], path: str = '', inside: str = ''
) -> io.BufferedReader:
    """Return a stream over chunks, decompressed if compressed; `inside` is an outer compression."""
    start = b''
    while len(start) < N_FIRST_BYTES and b'\n' not in start and not detect_format(start):
        if not (chunk := next(chunks, b'')):
            break
        start += chunk
    kind = detect_format(start)
    if kind and inside:
        raise ReadError(name, f'is compressed twice ({kind} in {inside}): decompress it once')
    if kind in COLUMNAR_FORMATS:
        raise ReadError(name, f'is {kind}, {NOT_A_REGULAR_FILE}')
    may_be_binary = not kind and path.lower().endswith(BINARY_SUFFIXES)
    if may_be_binary and (b'\0' in start or not is_utf8(start, is_whole=False)):
        first_bytes = f'its first bytes are {start[:4].hex(" ")}'
        raise ReadError(name, f'is neither compressed nor text: {first_bytes}')
    stored = _buffered(chain([start], chunks))
    if not kind:
        return stored
    return decompressed(name, _decompressed_within_limit(name, stored, kind), inside=kind)


def _decompressed_within_limit(name: str, stored: BinaryIO, kind: str) -> Iterator[bytes]:
    n_bytes = 0
    with opening(name, kind):
        for chunk in _decompress(stored, kind):
            n_bytes += len(chunk)
            refuse_beyond_limit(name, n_bytes)
            yield chunk


def _decompress(stored: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the decompressed chunks of all compressed streams in a file."""
    if kind == 'gzip':
        import gzip

        yield from chunks_of(gzip.GzipFile(fileobj=stored).read)
    elif kind == 'zstd':
        import pyarrow

        yield from chunks_of(pyarrow.CompressedInputStream(stored, kind).read)
    elif kind == 'bzip2':
        import bz2

        yield from _decompress_streams(stored, bz2.BZ2Decompressor)
    else:
        import lzma

        yield from _decompress_streams(stored, lzma.LZMADecompressor)


def _decompress_streams(stored: BinaryIO, new_decompressor: Callable[[], Any]) -> Iterator[bytes]:
    # The standard library's `BZ2File` and `LZMAFile` ignore a damaged second or later stream.
    compressed = stored.read(BUFFER_BYTES)
    while compressed:
        decompressor = new_decompressor()
        while not decompressor.eof:
            if decompressor.needs_input:
                compressed = compressed or stored.read(BUFFER_BYTES)
                if not compressed:
                    raise EOFError('Compressed file ended before its end-of-stream marker')
            yield decompressor.decompress(compressed, BUFFER_BYTES)
            compressed = b''
        compressed = decompressor.unused_data
        while not (compressed := compressed.lstrip(b'\0')):  # padding
            compressed = stored.read(BUFFER_BYTES)
            if not compressed:
                return


class ByteSource:
    """A path, ``-`` for standard input, or an open file, read from its current position."""

    def __init__(self, origin: str | os.PathLike[str] | IO[Any], name: str = '') -> None:
        origin = plain_text(origin) or origin
        self._origin = origin
        self._hash = hashlib.sha256()
        self._path = ''
        # Of an open file, from the moment that its first bytes were read.
        self._version: tuple[int, int] | None = None
        self.is_open = not isinstance(origin, str | os.PathLike)
        self.is_remote = bool(name)
        self.is_standard_input = not self.is_open and origin == STANDARD_INPUT
        self.is_path = not (self.is_open or self.is_standard_input)
        if self.is_open:
            if not hasattr(origin, 'read'):
                raise ParameterError(f'found {shown(origin)}, expected a path or an open file')
            name = plain_text(name or getattr(origin, 'name', '')) or ''
            self.name = _as_utf8(name) or '<file>'
        elif self.is_standard_input:
            self.name = '<stdin>'
        else:
            self._path = str.__str__(os.fsdecode(origin))  # type: ignore[arg-type]
            self.name = _as_utf8(self._path)
            if '\0' in self.name:
                raise ReadError(self.name, 'a path cannot contain NUL')

    @classmethod
    def of(cls, origin: Argument) -> ByteSource:
        """Return a source, also one that a path of the command line keeps, or make one."""
        source = getattr(origin, 'source', origin)
        return source if isinstance(source, cls) else cls(origin)

    @cached_property
    def format(self) -> str:
        """The format by the first bytes; '' for text, or if these cannot be read twice."""
        try:
            if self.is_path:
                return detect_format(self._stored_start)
            with self._file() as file:
                # A file of the operating system must be at its beginning.
                is_file = self.is_remote or isinstance(getattr(file, 'raw', file), io.FileIO)
                if not is_file or not file.seekable() or file.tell():
                    return ''
                self._version = version_of(file)
                start = file.read(N_FIRST_BYTES)
                file.seek(0)
        except (OSError, ValueError):  # such as a closed file; a reader raises the error again
            return ''
        return detect_format(start)

    @cached_property
    def _stored_start(self) -> bytes:
        """The first bytes of a regular file, perhaps compressed; b'' of anything else."""
        if not self.is_regular_file:
            return b''
        with opening(self.name), io.FileIO(self._path) as file:
            return file.read(MOST_FIRST_BYTES)

    @cached_property
    def start(self) -> bytes:
        """The first bytes of text in a regular file, or of standard input; b'' of other sources."""
        with suppress(ReadError):  # a reader of the whole file raises it again
            start = self._stored_start
            if self.is_standard_input and (peek := getattr(standard_input(), 'peek', None)):
                start = peek(1)
                if detect_format(start):
                    return b''
            elif start and self.format:
                with self.open() as stream:
                    start = stream.read(MOST_FIRST_BYTES)
            return start.removeprefix(BYTE_ORDER_MARK.encode())
        return b''

    def _stored_size(self) -> int | None:
        """Return the size of a regular file given by its path; None for anything else."""
        if not self.is_path:
            return None
        with opening(self.name):
            status = os.stat(self._path)
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    @property
    def is_regular_file(self) -> bool:
        """True for the path of a regular file: its bytes can be read again."""
        return self._stored_size() is not None

    def size(self) -> int:
        """Estimate the decompressed size in bytes; 0 unless it is a regular file."""
        factor = COMPRESSED_SIZE_FACTOR if self.format else 1
        return (self._stored_size() or 0) * factor

    def provenance(self) -> Provenance:
        """Return the name, and the SHA-256 of the stored bytes that `open` read."""
        if self.is_open and not self.is_remote:
            return Provenance(self.name)
        return Provenance(self.name, self._hash.hexdigest())

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """Open the stream of decompressed bytes."""
        self._hash = hashlib.sha256()
        with opening(self.name), self.open_stored() as stored:
            version = version_of(stored)
            with Bar(f'reading {printable(self.name)}', version and version[0], 'B') as bar:

                def read(size: int) -> bytes:
                    chunk: bytes = stored.read(size)
                    self._hash.update(chunk or b'')
                    bar.add(len(chunk or b''))
                    return chunk

                yield decompressed(self.name, chunks_of(read), self._path)

    @contextmanager
    def open_stored(self) -> Iterator[Any]:
        """Open the stream of stored bytes, still compressed; raise if the file changes under it."""
        with self._file() as file:
            before = self._version or version_of(file)
            cause = None
            is_text = self.is_open and isinstance(file.read(0), str)
            try:
                yield io.BytesIO(file.read().encode()) if is_text else file
            except Exception as error:
                cause = error
            # The change may have caused any other error.
            if version_of(file) not in (before, None):
                raise ReadError(
                    self.name,
                    'changed while it was read: wait until nobody writes to it, or read a copy',
                ) from cause
            if cause is not None:
                raise cause

    def _file(self) -> AbstractContextManager[Any]:
        if self.is_path:
            return open(self._path, 'rb', buffering=0)
        if self.is_standard_input:
            return nullcontext(standard_input())
        if getattr(self._origin, 'closed', False):
            raise ReadError(self.name, 'is closed')
        return nullcontext(self._origin)


def version_of(file: IO[Any]) -> tuple[int, int] | None:
    """Return the size and modification time of a regular file; None for anything else."""
    try:
        status = os.fstat(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # not a file of the system, or closed
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _as_utf8(path: str) -> str:
    """Return a path as printable text; bytes that are not UTF-8 become backslash escapes."""
    with opening(ascii(path)):
        return os.fsencode(path).decode(errors='backslashreplace')


def standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ReadError('<stdin>', 'is closed')
    return sys.stdin.buffer


@contextmanager
def opening(name: str, kind: str = '') -> Iterator[None]:
    """Turn errors of opening, reading or decompressing a source into `ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except Exception as error:
        # An import of lzma here would fail if no file handle is left. While another thread imports
        # it, the module may still lack its error.
        error_of_xz = getattr(sys.modules.get('lzma'), 'LZMAError', OSError)
        if not isinstance(error, OSError | EOFError | zlib.error | UnicodeError | error_of_xz):
            raise
        reason = getattr(error, 'strerror', None)
        if kind and not reason:
            raise ReadError(name, f'not readable as {kind}: {error}') from error
        raise ReadError(name, reason or str(error)) from error


def chunks_of(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(BUFFER_BYTES):
        yield chunk
    if chunk is None:
        raise BlockingIOError('no data yet: a stream that blocks is needed')


def read_all(stream: BinaryIO, name: str) -> bytes:
    """Read all of a stream; refuse an endless line, as a device may have, except in JSON."""
    content = io.BytesIO()
    first_character = b''
    begin_of_line = 0
    for chunk in chunks_of(stream.read):
        first_character = first_character or chunk.lstrip()[:1]
        if (end := chunk.rfind(b'\n')) >= 0:
            begin_of_line = content.tell() + end + 1
        content.write(chunk)
        is_endless = content.tell() - begin_of_line > MAX_LINE_BYTES
        if is_endless and first_character not in (b'{', b'['):
            raise explain_endless_line().error(name, '')
    return content.getvalue()


def with_first_line(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Read the first line, unless it is very long; return it and a stream that repeats it."""
    line = stream.readline(MOST_FIRST_BYTES)
    return line, _buffered(chain([line], chunks_of(stream.read)))


def _buffered(chunks: Iterator[bytes]) -> io.BufferedReader:
    return io.BufferedReader(_Chunks(chunks), BUFFER_BYTES)


def parsed_json(
    content: bytes, name: str, expected: str = 'JSON', *, nan: bool = False, place: str = ''
) -> Any:
    """Parse JSON; errors name the file and the `expected` content. NaN is refused unless `nan`."""
    repeating = {}  # objects with a repeated key, by id: `json` itself takes its last value

    def as_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        value = dict(pairs)
        if len(value) < len(pairs):
            repeating[id(value)] = value, Counter(key for key, _ in pairs).most_common(1)[0][0]
        return value

    def refuse(text: str) -> float:
        raise ValueError(f'{text}, which is not a JSON number')

    try:
        constants = None if nan else refuse
        value = json.loads(content, object_pairs_hook=as_object, parse_constant=constants)
        path = _path_to_key(value, repeating)
    except json.JSONDecodeError as error:
        remedy = remedy_of_foreign(error.doc.split('\n')[error.lineno - 1])
        fault = Fault('', f'no JSON: {error.msg}', expected, remedy)
        raise fault.error(name, place or f'line {error.lineno}') from None
    except (ValueError, RecursionError) as error:
        raise FormatError(name, place, '', found=str(error), expected=expected) from None
    if path:
        field = ', '.join(path[:-1])
        raise FormatError(name, place, field, found=f'{path[-1]} again', expected='each key once')
    return value


def _path_to_key(value: JsonValue, repeating: Mapping[int, tuple[JsonValue, str]]) -> list[str]:
    """Return the steps from a value of JSON to the first repeated key in it; [] if it has none."""
    if not repeating:
        return []
    if id(value) in repeating:
        return [shown(repeating[id(value)][1])]
    parts: Iterable[tuple[str, JsonValue]] = ()
    if isinstance(value, dict):
        parts = ((shown(key), part) for key, part in value.items())
    elif isinstance(value, list):
        parts = ((f'item {number}', part) for number, part in enumerate(value, 1))
    paths = ([step, *_path_to_key(part, repeating)] for step, part in parts)
    return next((path for path in paths if len(path) > 1), [])


def parsed_lines(
    stream: Iterable[bytes], name: str, expected: str, *, nan: bool = False
) -> tuple[list[dict[str, Any]], list[int]]:
    """Parse JSON lines; return their objects, and the line number of each object."""
    values = []
    numbers = []
    for number, line in enumerate(stream, 1):
        if line.strip():
            place = f'line {number}'
            value = parsed_json(line, name, expected, nan=nan, place=place)
            if not isinstance(value, dict):
                raise FormatError(name, place, '', found=shown(value), expected=expected)
            values.append(value)
            numbers.append(number)
    return values, numbers
