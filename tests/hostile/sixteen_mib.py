"""Runs of 16 MiB that take a validator long, or much memory, and how much they take.

::

    python tests/hostile/sixteen_mib.py                  # all, by `validate` and `evaluate`
    python tests/hostile/sixteen_mib.py words names --suffix .gz --command validate

prints the seconds and the peak memory of the command for each. The promise is 10 s and 1 GB; tests
hold a few of the worst to the memory, and nothing to the time.
"""

import argparse
import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import chain, count, cycle, islice, product
from pathlib import Path

SIZE = 16 << 20
ROOT = Path(__file__).parents[2]


def filled(lines: Iterable[bytes]) -> bytes:
    """As many whole lines as fit."""
    taken, size = [], 0
    for line in lines:
        size += len(line)
        if size > SIZE:
            break
        taken.append(line)
    return b''.join(taken)


def repeated(pattern: bytes) -> bytes:
    return pattern * (SIZE // len(pattern))


def short_names() -> Iterable[bytes]:
    """All texts of letters, the shortest first."""
    letters = [bytes([letter]) for letter in b'abcdefghijklmnopqrstuvwxyz_']
    return chain.from_iterable(
        map(b''.join, product(letters, repeat=length)) for length in count(1)
    )


def near_names() -> Iterable[bytes]:
    """Names each of which is one edit from twenty others."""
    return map(b''.join, product((b'a', b'b'), repeat=20))


def long_names(length: int, of: bytes = b'abcdefgh') -> Iterable[bytes]:
    """Names of one length, each one edit from the first."""
    text = bytearray(islice(cycle(of), length))
    yield bytes(text)
    for place in range(0, length, 1 + length // 65536):
        text[place] ^= 8
        yield bytes(text)
        text[place] ^= 8


def growing_names() -> Iterable[bytes]:
    """Names of every length."""
    return (b'a' * length for length in count(1))


def rows(names: Iterable[bytes], confidence: bytes = b'1') -> bytes:
    return filled(b'a b c %b %b\n' % (name, confidence) for name in names)


def shots() -> list[bytes]:
    lines = (ROOT / 'samples/reference.txt').read_bytes().splitlines()
    return [b' '.join(line.split()[:3]) for line in lines]


def among_relevant(names: Iterable[bytes]) -> bytes:
    """Rows of which the first return every shot that is relevant to somebody."""
    names = iter(names)
    of_shots = (b'%b %b 1\n' % (shot, name) for shot, name in zip(shots(), names, strict=False))
    return filled(chain(of_shots, (b'a b c %b 1\n' % name for name in names)))


def hundred_kinds() -> bytes:
    """Lines each wrong in another way than the one before."""
    lines = [
        b'x\n',
        b'\xff\n',
        b'a b c A x\n',
        b'a b c 1 1\n',
        b'\0\n',
        b'a\rb\n',
        b'a b c d nan\n',
    ]
    lines += [b'a b c d 1\n', b'\n', b' a  b c d 1\n', b'a b c z\xcc\x88 1e400\n', b'a b c d 2\n']
    return filled(cycle(lines))


SHAPES: dict[str, Callable[[], bytes]] = {
    'words': lambda: repeated(b'x\n'),
    'blank': lambda: repeated(b'\n'),
    'spaces': lambda: repeated(b' '),
    'space-lines': lambda: repeated(b' \n'),
    'not-utf-8': lambda: repeated(b'\xff\n'),
    'not-utf-8-line': lambda: repeated(b'\xff'),
    'nul': lambda: repeated(b'\0'),
    'nul-lines': lambda: repeated(b'\0\n'),
    'cr': lambda: repeated(b'\r'),
    'cr-lf': lambda: repeated(b'\r\n'),
    'cr-lines': lambda: repeated(b'x\r\r\n'),
    'one-line': lambda: repeated(b'x'),
    'one-line-of-fields': lambda: repeated(b'x '),
    'one-line-of-accents': lambda: repeated('é '.encode()),
    'lines-of-64-fields': lambda: repeated(b'x ' * 64 + b'\n'),
    'six-fields': lambda: repeated(b'a b c d 1 2\n'),
    'rows': lambda: repeated(b'a b c d 1\n'),
    'rows-apart': lambda: repeated(b'a  b c d 1\n'),
    'rows-tabs': lambda: repeated(b'a\tb\tc\td\t1\n'),
    'rows-and-words': lambda: repeated(b'a b c d 1\nx\n'),
    'rows-and-blank': lambda: repeated(b'a b c d 1\n\n'),
    'rows-apart-and-words': lambda: repeated(b' a b c d 1\nx\n'),
    'wrong-number': lambda: repeated(b'a b c d -\n'),
    'overflow': lambda: repeated(b'a b c d 9e999\n'),
    'wrong-number-and-name': lambda: rows(short_names(), b'-'),
    'wrong-number-and-digits': lambda: rows((b'%d' % each for each in count()), b'-'),
    'upper-case': lambda: rows(name.upper() for name in short_names()),
    'not-nfc': lambda: rows(name + b'\xcc\x88' for name in short_names()),
    'short-names': lambda: rows(short_names()),
    'near-names': lambda: rows(near_names()),
    'growing-names': lambda: rows(growing_names()),
    'long-names-2k': lambda: rows(long_names(2 << 10)),
    'long-names-64k': lambda: rows(long_names(1 << 16)),
    'long-names-2m': lambda: rows(long_names((2 << 20) - 20)),
    'long-names-8m': lambda: rows(long_names((8 << 20) - 20)),
    'long-name-16m': lambda: rows(long_names(SIZE - 9)),
    'long-number': lambda: b'a b c d ' + b'1' * (SIZE - 9) + b'\n',
    'long-decimal': lambda: b'a b c d 0.' + b'1' * (SIZE - 11) + b'\n',
    'long-exponent': lambda: b'a b c d 1e' + b'0' * (SIZE - 11) + b'\n',
    'long-wrong-number': lambda: b'a b c d ' + b'x' * (SIZE - 9) + b'\n',
    'two-confidences': lambda: filled(b'a b c d %d\n' % each for each in count()),
    'several-names': lambda: filled(
        b'a b %d %b 1\n' % (each // 2, b'ab'[each % 2 :][:1]) for each in count()
    ),
    'single-precision': lambda: filled(b'a b c d 1.%08d\n' % (each % 10**8) for each in count()),
    'shots': lambda: filled(b'a b %d d 1\n' % each for each in count()),
    'videos': lambda: filled(b'a %d c d 1\n' % each for each in count()),
    'all-distinct': lambda: filled(
        b'%x %x %x %b %d\n' % (n, n, n, name, n) for n, name in enumerate(short_names())
    ),
    'every-kind': hundred_kinds,
    'relevant-short-names': lambda: among_relevant(short_names()),
    'relevant-growing-names': lambda: among_relevant(growing_names()),
    'relevant-long-names-64k': lambda: among_relevant(long_names(1 << 16)),
    'relevant-long-names-2m': lambda: among_relevant(long_names((2 << 20) - 20)),
    'relevant-long-name': lambda: among_relevant(
        chain(islice(short_names(), 8000), long_names(15 << 20))
    ),
}


def zstandard(content: bytes) -> bytes:
    import pyarrow

    return bytes(pyarrow.compress(content, 'zstd', asbytes=True))


COMPRESS = {
    '': bytes,
    '.gz': gzip.compress,
    '.bz2': bz2.compress,
    '.xz': lzma.compress,
    '.zst': zstandard,
}
COMMAND = ['-m', 'mediaeval_ap']
COMMANDS = {
    'validate': [*COMMAND, 'validate'],
    'validate-all': [*COMMAND, 'validate', '--all', '--format=json'],
    'validate-python': ['-c', 'import sys, mediaeval_ap; mediaeval_ap.validate(sys.argv[1])'],
    'evaluate': [*COMMAND, 'evaluate', 'samples/reference.txt'],
}


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('shapes', nargs='*', help='which  [default: all]')
    parser.add_argument('--suffix', action='append', choices=list(COMPRESS), help='compressed so')
    parser.add_argument('--command', action='append', choices=list(COMMANDS))
    parser.add_argument('--write', type=Path, metavar='FILE', help='write one of them there alone')
    given = parser.parse_args()
    if given.write:
        (shape,) = given.shapes
        given.write.write_bytes(COMPRESS.get(given.write.suffix, bytes)(SHAPES[shape]()))
        return
    with tempfile.TemporaryDirectory() as folder:
        for shape, suffix in product(given.shapes or SHAPES, given.suffix or ['']):
            path = Path(folder, f'run{suffix}')
            make(shape, path)
            for command in given.command or ['validate', 'evaluate']:
                seconds, busy, mib, code = measure(command, path)
                figures = (
                    f'{seconds:.1f} s, {busy:.1f} s of processors, {mib} MiB, exit code {code}'
                )
                print(f'{shape}{suffix} {command}: {figures}', flush=True)


def make(shape: str, path: Path) -> None:
    """Make one of them in another process, whose memory does not count."""
    subprocess.run([sys.executable, __file__, shape, '--write', path], check=True)


def measure(command: str, path: Path) -> tuple[float, float, int, int]:
    """Seconds, those of all processors, MiB at most, and exit code of a command."""
    words = [sys.executable, *COMMANDS[command], path]
    begin = time.perf_counter()
    with open(os.devnull, 'w') as nowhere:
        process = subprocess.Popen(words, cwd=ROOT, stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    busy = used.ru_utime + used.ru_stime
    return seconds, busy, used.ru_maxrss >> 10, os.waitstatus_to_exitcode(status)


if __name__ == '__main__':
    main()
