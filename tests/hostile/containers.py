"""Hostile files around lines: compressed, cut, endless, or no files at all."""

import bz2
import gzip
import lzma
import os
import socket
import threading
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow

from hostile.entries import ANN, BOB, EMPTY, A, B, Entry, holding, read, refused

MILLION = 1_000_000
MIB = 1 << 20


def limited(does: str) -> str:
    """The error of what comes to more than a million bytes."""
    reason = f'{does} more than 1000000 bytes, the limit: raise it by --max-bytes'
    return f'{{path}}: {reason}, in Python max_bytes'


def zstandard(content: bytes) -> bytes:
    return pyarrow.compress(content, 'zstd', asbytes=True)


def gzip_of(content: bytes, level: int = 9) -> bytes:
    return gzip.compress(content, level, mtime=0)


COMPRESS = {'gz': gzip_of, 'bz2': bz2.compress, 'xz': lzma.compress, 'zst': zstandard}
CUT = {
    'gz': 'Compressed file ended before the end-of-stream marker was reached',
    'bz2': 'Compressed file ended before its end-of-stream marker',
    'xz': 'Compressed file ended before its end-of-stream marker',
    'zst': 'Truncated compressed stream',
}
NAMES = {'gz': 'gzip', 'bz2': 'bzip2', 'xz': 'xz', 'zst': 'zstd'}


def bomb_of(compress: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """What writes 16 MiB, compressed only when it is asked for: that takes a while."""

    @cache
    def bomb() -> bytes:
        content = compress(b'x' * (16 * MIB))
        assert len(content) < 100_000
        return content

    return lambda path: path.write_bytes(bomb())


def damaged_checksum() -> bytes:
    whole = bytearray(gzip_of(A + B))
    whole[-8] ^= 1
    return bytes(whole)


CHECKSUM = zlib.crc32(A + B)


def large_dictionary() -> bytes:
    """A stream of xz whose header asks for a dictionary of 4 GiB."""
    stream = bytearray(lzma.compress(A + B, check=lzma.CHECK_CRC32))
    end = 12 + 4 * (stream[12] + 1)  # of the block header, behind that of the stream
    assert stream[14:16] == b'\x21\x01'  # the filter LZMA2, and one byte about it
    stream[16] = 40
    stream[end - 4 : end] = zlib.crc32(stream[12 : end - 4]).to_bytes(4, 'little')
    return bytes(stream)


def compressed() -> list[Entry]:
    entries = []
    for kind, compress in COMPRESS.items():
        refused_as = f': not readable as {NAMES[kind]}: '
        entries += [
            read(f'run.txt.{kind}', f'lines in {kind}', compress(A + B), ANN, BOB),
            refused(
                *(f'cut.txt.{kind}', 'a download that broke', compress(A * 50)[:-9]),
                f'{refused_as}{CUT[kind]}',
            ),
            read(f'text.txt.{kind}', 'not compressed', A + B, ANN, BOB),
            read(f'{kind}.txt', 'compressed, and the name hides it', compress(A + B), ANN, BOB),
            refused(
                *(f'noise.txt.{kind}', 'damaged from the first byte on', b'\xff\xfe' + compress(A)),
                ': is neither compressed nor text: its first bytes are '
                f'ff fe {compress(A)[:2].hex(" ")}',
            ),
            Entry(
                *(f'bomb.txt.{kind}', '16 MiB in a few kilobytes', bomb_of(compress)),
                error=limited('decompresses to'),
                max_bytes=MILLION,
            ),
            refused(f'nothing.txt.{kind}', 'no byte', b'', EMPTY.removeprefix('{path}')),
        ]
    return [
        *entries,
        read('parts.txt.gz', 'two streams in one file', gzip_of(A) + gzip_of(B), ANN, BOB),
        refused(
            *('more.txt.gz', 'something behind the stream', gzip_of(A + B) + b'more'),
            ": not readable as gzip: Not a gzipped file (b'mo')",
        ),
        refused(
            *('checksum.txt.gz', 'a damaged checksum', damaged_checksum()),
            f': not readable as gzip: CRC check failed {CHECKSUM ^ 1:#x} != {CHECKSUM:#x}',
        ),
        refused(
            *('dictionary.txt.xz', 'a header that asks for 4 GiB', large_dictionary()),
            ': not readable as xz: Memory usage limit exceeded',
        ),
        Entry(
            *('long-bomb.csv.gz', 'a bomb of CSV', holding(gzip_of(b'id' * (8 * MIB)))),
            error=limited('decompresses to'),
            role='gap',
            max_bytes=MILLION,
        ),
    ]


def linked_to(target: str):
    return lambda path: path.symlink_to(target)


def pipe_of(content: bytes, times: int = 1):
    """What makes a named pipe, and somebody who writes to it until nobody reads any more."""

    def write(path: Path) -> None:
        try:
            with open(path, 'wb') as pipe:
                for _ in range(times):
                    pipe.write(content)
        except BrokenPipeError:
            pass

    def make(path: Path) -> None:
        os.mkfifo(path)
        threading.Thread(target=write, args=(path,), daemon=True).start()

    return make


def bind(path: Path) -> None:
    """A socket, under a short name because sockets have no long ones."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f'/proc/self/fd/{here}/{path.name}')
    finally:
        os.close(here)


NO_FILES = [
    Entry(
        'folder',
        'a folder',
        Path.mkdir,
        error='{path}: is a folder, but no store: it has no manifest.json',
    ),
    Entry(
        'folder.gz',
        'a folder by another name',
        Path.mkdir,
        error='{path}: is a folder, but no store: it has no manifest.json',
    ),
    Entry(
        'folder.parquet',
        'and by another',
        Path.mkdir,
        error='{path}: is a folder, but no store: it has no manifest.json',
    ),
    Entry(
        *('folder.csv', 'and in place of CSV', Path.mkdir),
        error='{path}: Is a directory',
        role='map',
    ),
    Entry('none.txt', 'nothing', lambda path: None, error='{path}: No such file or directory'),
    Entry(
        *('dangling.txt', 'a link to nothing', linked_to('nowhere')),
        error='{path}: No such file or directory',
    ),
    Entry(
        *('loop.txt', 'a link to itself', linked_to('loop.txt')),
        error='{path}: Too many levels of symbolic links',
    ),
    Entry('n' * 300, 'a long name', lambda path: None, error='{path}: File name too long'),
    Entry('null.txt', 'a device that gives nothing', linked_to('/dev/null'), error=EMPTY),
    Entry(
        *('zero.txt', 'a device that never ends', linked_to('/dev/zero')),
        error='{path}, line 1: found more than 64 MiB without a line end, expected lines of text',
    ),
    Entry(
        *('zero.csv', 'the same in place of CSV', linked_to('/dev/zero')),
        error=limited('holds'),
        role='lrap',
        max_bytes=MILLION,
    ),
    Entry(
        *('zero.parquet', 'and of Parquet', linked_to('/dev/zero')),
        error='{path}: is neither compressed nor text: its first bytes are 00 00 00 00',
    ),
    Entry('pipe', 'a named pipe', pipe_of(A + B), value=1.0, rows=(ANN, BOB)),
    Entry('silent-pipe', 'a pipe that ends at once', pipe_of(b''), error=EMPTY),
    Entry(
        'cut.gz',
        'a pipe that breaks',
        pipe_of(gzip_of(A)[:9]),
        error=f'{{path}}: not readable as gzip: {CUT["gz"]}',
    ),
    Entry(
        *('endless-pipe', 'a pipe that goes on', pipe_of(A * 1000, times=1000)),
        error=limited('holds'),
        max_bytes=MILLION,
    ),
    Entry('socket', 'a socket', bind, error='{path}: No such device or address'),
]

CONTAINERS = [*compressed(), *NO_FILES]
