"""Hostile files around lines: compressed, cut, endless, or no files at all."""

import bz2
import gzip
import lzma
import os
import socket
import threading
import zlib
from pathlib import Path

import pyarrow

from hostile.entries import ANN, BOB, EMPTY, A, B, Entry, read, refused
from hostile.lines import ENDLESS


def zstandard(content: bytes) -> bytes:
    return pyarrow.compress(content, 'zstd', asbytes=True)


def gzip_of(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


COMPRESS = {'gz': gzip_of, 'bz2': bz2.compress, 'xz': lzma.compress, 'zst': zstandard}
CUT = {
    'gz': 'Compressed file ended before the end-of-stream marker was reached',
    'bz2': 'Compressed file ended before its end-of-stream marker',
    'xz': 'Compressed file ended before its end-of-stream marker',
    'zst': 'Truncated compressed stream',
}
NAMES = {'gz': 'gzip', 'bz2': 'bzip2', 'xz': 'xz', 'zst': 'zstd'}


def damaged_checksum() -> bytes:
    whole = bytearray(gzip_of(A + B))
    whole[-8] ^= 1
    return bytes(whole)


CHECKSUM = zlib.crc32(A + B)


def compressed() -> list[Entry]:
    entries = []
    for kind, compress in COMPRESS.items():
        noise = f'its first bytes are ff fe {compress(A)[:2].hex(" ")}'
        entries += [
            # Names of files say nothing.
            read(f'text.txt.{kind}', A + B, ANN, BOB),
            read(f'{kind}.txt', compress(A + B), ANN, BOB),
            refused(
                *(f'cut.txt.{kind}', compress(A * 50)[:-9]),
                f': not readable as {NAMES[kind]}: {CUT[kind]}',
            ),
            refused(
                *(f'noise.txt.{kind}', b'\xff\xfe' + compress(A)),
                f': is neither compressed nor text: {noise}',
            ),
            *(
                refused(
                    *(f'{kind}-of.{other}', compress(again(A))),
                    f': is compressed twice ({NAMES[other]} in {NAMES[kind]}): decompress it once',
                )
                for other, again in COMPRESS.items()
            ),
        ]
    return [
        *entries,
        read('parts.txt.gz', gzip_of(A) + gzip_of(B), ANN, BOB),
        refused(
            *('more.txt.gz', gzip_of(A + B) + b'more'),
            ": not readable as gzip: Not a gzipped file (b'mo')",
        ),
        refused(
            *('checksum.txt.gz', damaged_checksum()),
            f': not readable as gzip: CRC check failed {CHECKSUM ^ 1:#x} != {CHECKSUM:#x}',
        ),
    ]


def linked_to(target: str):
    return lambda path: path.symlink_to(target)


def pipe_of(content: bytes, times: int = 1):
    """Return a maker of a named pipe, with a thread that writes until nobody reads any more."""

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


def no_file(name, make, reason, **settings):
    return Entry(name, make, f'{{path}}{reason}', **settings)


NO_FILES = [
    no_file(
        'folder.gz',
        Path.mkdir,
        ': is a folder, but not a store: it has no manifest.json; of a folder of runs give the '
        'files: {path}/*',
    ),
    no_file('folder.csv', Path.mkdir, ': Is a directory', role='map'),
    no_file('dangling.txt', linked_to('nowhere'), ': No such file or directory'),
    no_file('loop.txt', linked_to('loop.txt'), ': Too many levels of symbolic links'),
    no_file('n' * 300, lambda path: None, ': File name too long'),
    no_file('null.txt', linked_to('/dev/null'), EMPTY),
    no_file('zero.txt', linked_to('/dev/zero'), f', line 1: {ENDLESS}'),
    no_file(
        *('zero.parquet', linked_to('/dev/zero')),
        ': is neither compressed nor text: its first bytes are 00 00 00 00',
    ),
    Entry('pipe', pipe_of(A + B), value=1.0),
    no_file('silent-pipe', pipe_of(b''), EMPTY),
    no_file('cut.gz', pipe_of(gzip_of(A)[:9]), f': not readable as gzip: {CUT["gz"]}'),
    no_file('socket', bind, ': No such device or address'),
]

CONTAINERS = [*compressed(), *NO_FILES]
