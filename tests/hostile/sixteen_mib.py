"""Runs that take a validator much memory for their size, and how much they take.

::

    python tests/hostile/sixteen_mib.py words validate      # one of 16 MiB, by one command
    python tests/hostile/sixteen_mib.py words validate 2    # one of 2 MiB
    python tests/hostile/sixteen_mib.py                     # all of 16 MiB, by all commands

prints the seconds, the peak memory and the exit code of each. The promise for 16 MiB is 10 s and
1 GB; tests hold a few to the memory, and nothing to the time.
"""

import gzip
import os
import subprocess
import sys
import tempfile
import time
from itertools import chain, count, product
from pathlib import Path

SIZE = int(sys.argv[-1] if sys.argv[-1].isdigit() else 16) << 20
ROOT = Path(__file__).parents[2]


def short_names():
    """All texts of letters, the shortest first."""
    letters = [bytes([letter]) for letter in b'abcdefghijklmnopqrstuvwxyz_']
    return chain.from_iterable(
        map(b''.join, product(letters, repeat=length)) for length in count(1)
    )


def rows(names):
    """As many whole rows as fit."""
    size, taken = 0, []
    while size <= SIZE:
        taken.append(b'a b c %b 1\n' % next(names))
        size += len(taken[-1])
    return b''.join(taken[:-1])


SHAPES = {
    'words': lambda: b'x\n' * (SIZE // 2),
    'one-line-of-fields': lambda: b'x ' * (SIZE // 2),
    'not-utf-8': lambda: b'\xff\n' * (SIZE // 2),
    'wrong-number': lambda: b'a b c d -\n' * (SIZE // 10),
    'upper-case': lambda: rows(name.upper() for name in short_names()),
    'short-names': lambda: rows(short_names()),
    'near-names': lambda: rows(map(b''.join, product((b'a', b'b'), repeat=20))),
    'growing-names': lambda: rows(b'a' * length for length in count(1)),
    'long-name': lambda: b'a b c ' + b'x' * (SIZE - 9) + b' 1\n',
}
COMMANDS = {
    'validate': ['-m', 'mediaeval_ap', 'validate'],
    'validate-all': ['-m', 'mediaeval_ap', 'validate', '--all', '--format=json'],
    'validate-python': ['-c', 'import sys, mediaeval_ap; mediaeval_ap.validate(sys.argv[1])'],
    'evaluate': ['-m', 'mediaeval_ap', 'evaluate', 'samples/reference.txt'],
}


def measure(shape, command):
    """Seconds, MiB at most, and exit code of a command.

    A process of its own makes the file: what this one holds counts for those that it starts.
    """
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, 'w') as nowhere:
        path = Path(folder, 'run.gz')
        written = ['--write', shape, path, str(SIZE >> 20)]
        subprocess.run([sys.executable, __file__, *written], check=True)
        begin = time.perf_counter()
        words = [sys.executable, *COMMANDS[command], path]
        process = subprocess.Popen(words, cwd=ROOT, stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    return seconds, used.ru_maxrss >> 10, os.waitstatus_to_exitcode(status)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--write']:
        Path(sys.argv[3]).write_bytes(gzip.compress(SHAPES[sys.argv[2]]()))
        sys.exit()
    shapes, commands = ([each] for each in sys.argv[1:3]) if sys.argv[2:] else (SHAPES, COMMANDS)
    for shape, command in product(shapes, commands):
        seconds, mib, code = measure(shape, command)
        print(f'{shape} {command}: {seconds:.1f} s, {mib} MiB, exit code {code}', flush=True)
