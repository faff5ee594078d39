"""Interrupt real commands at random moments.

Each try starts a command as its console script does, and sends it SIGINT, SIGTERM, SIGHUP or
SIGQUIT at a moment between its first import and its end. It must exit with 128 + the number of the
signal, say at most how many blocks are kept, and leave no output and nothing temporary, here or in
TMPDIR; or it was done, and has to have exited with 0 and all of its output.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from mediaeval_ap.execute.block_folder import PLAN, is_block

SAMPLES = Path(__file__).resolve().parents[2] / 'samples'
ROWS = 60_000
ROWS_OF_BULK = 240_000  # more than 4 MiB, so that the bulk reader is taken, for as long as before
SECONDS_TO_END = 120  # hundreds of times what the slowest takes: a command that hangs is a failure
OLD = b'old\n'
TIMES_ASKED = 5  # for each name of the reference: so much that several processes share it
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]

# As the script that is installed; it tells when the command begins to import. What comes before is
# Python itself and two small modules, the second of which takes the signals.
COMMAND = """
import os, sys

class Teller:
    def find_spec(self, name, *_):
        if name == 'mediaeval_ap.cli':
            sys.meta_path.remove(self)
            os.write(tell, b'.')

tell = int(sys.argv.pop(1))
sys.meta_path.insert(0, Teller())
from {module} import {function}
sys.argv[0] = 'mediaeval-ap'
sys.exit({function}())
"""


class Job(NamedTuple):
    """A command, and the files that it writes into its working folder."""

    arguments: str
    outputs: tuple = ()


JOBS = {
    'evaluate': Job('evaluate ../reference.txt ../run.txt'),
    'output': Job('evaluate ../reference.txt ../run.txt -o map.csv', ('map.csv',)),
    'bulk': Job('evaluate ../reference.txt ../bulk.txt -K 10 -o map.txt', ('map.txt',)),
    'parquet': Job('evaluate ../reference.txt ../run-2.parquet -K 10'),
    'zstd': Job('evaluate ../reference.txt ../run.txt -o map.txt.zst', ('map.txt.zst',)),
    'evaluate-trec': Job('evaluate-trec ../qrels.txt ../trec.txt -o map.txt', ('map.txt',)),
    'export-trec': Job(
        'export-trec ../reference.txt ../run.txt --qrels qrels.txt --run run.txt -n 100'
        ' --queries ../queries.txt',
        ('qrels.txt', 'run.txt'),
    ),
    'jobs': Job('evaluate ../reference.txt ../run.txt --queries ../many.txt --jobs 2'),
    'resume': Job(
        'evaluate ../reference.txt ../run.txt --queries ../many.txt --jobs 2 --resume blocks'
    ),
    'validate': Job('validate ../run-2.txt --rules none -o found.txt', ('found.txt',)),
}


class Ended(NamedTuple):
    """The exit status, output and files of a command that has ended."""

    code: int
    stdout: str
    stderr: str
    files: dict


class Try(NamedTuple):
    """An interrupted command, and the defect of its end, if there is one."""

    job: str
    signal: signal.Signals
    seconds: float
    ended: Ended
    defect: str

    def __str__(self):
        return (
            f'{self.job}: {self.signal.name} after {self.seconds:.4f} s: exit code '
            f'{self.ended.code}, {self.defect or "as it should be"}'
        )


def copy_samples(folder):
    """Copy the inputs of the commands that need no large runs."""
    for sample, name in ('reference',) * 2, ('hypothesis', 'run'), ('queries',) * 2:
        shutil.copy(SAMPLES / f'{sample}.txt', folder / f'{name}.txt')


def make_inputs(folder):
    """Write the inputs of all commands: samples, and runs so large that every reader is used."""
    import pyarrow
    from pyarrow import parquet

    copy_samples(folder)
    names = [line.split()[3] for line in (folder / 'reference.txt').read_text().splitlines()]
    asked = sorted({name for name in names if not name.startswith('?')}) * TIMES_ASKED
    (folder / 'many.txt').write_text(''.join(f'{name}\n' for name in asked))
    corpus = 'corpus' * 15  # long lines are a large file of few rows
    rows = [
        f'{corpus} v{row % 999:05} s{row:08} name{row % 97} 0.{row % 9973 + 1}'
        for row in range(ROWS_OF_BULK)
    ]
    (folder / 'bulk.txt').write_text(''.join(f'{row}\n' for row in rows))
    rows = rows[:ROWS]
    (folder / 'run-2.txt').write_text(''.join(f'{row}\n' for row in rows))
    names = ['corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence']
    *texts, numbers = zip(*map(str.split, rows), strict=True)
    columns = [*map(pyarrow.array, texts), pyarrow.array(list(map(float, numbers)))]
    parquet.write_table(pyarrow.table(columns, names), folder / 'run-2.parquet')
    topics = range(50)
    (folder / 'qrels.txt').write_text(
        ''.join(f'{topic} 0 d{number} 1\n' for topic in topics for number in range(0, 90, 9))
    )
    (folder / 'trec.txt').write_text(
        ''.join(
            f'{topic} Q0 d{number} {number} {1 / (number + 2)} tag\n'
            for topic in topics
            for number in range(1000)
        )
    )


class Interrupter:
    """Start commands, each in a subfolder of their inputs, and end them by signals."""

    def __init__(self, folder):
        # A shell that starts this in the background may let all of it ignore SIGINT.
        for number in SIGNALS:
            if signal.getsignal(number) == signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        self._folder = folder
        (entry,) = entry_points(group='console_scripts', name='mediaeval-ap')
        self._script = COMMAND.format(module=entry.module, function=entry.attr)
        self._whole = {}

    def whole(self, name):
        """Return the end of a command that nothing interrupts, and the seconds it took."""
        if name not in self._whole:
            self._run(name, None, 0)  # loads what it takes from the disk
            ended, seconds = self._run(name, None, 0)
            if ended.code or _unexpected(ended.stderr):
                raise RuntimeError(f'{name} fails by itself: {ended.stderr}')
            self._whole[name] = ended, seconds
        return self._whole[name]

    def interrupt(self, name, number, fraction):
        """Interrupt a command when a fraction of its time has passed."""
        whole, seconds = self.whole(name)
        moment = seconds * fraction
        ended, _ = self._run(name, number, moment)
        return Try(name, number, moment, ended, find_defect(JOBS[name], number, whole, ended))

    def _run(self, name, number, seconds):
        job = JOBS[name]
        told, tell = os.pipe()
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            for output in job.outputs:
                Path(folder, output).write_bytes(OLD)
            with subprocess.Popen(
                [sys.executable, '-c', self._script, str(tell), *job.arguments.split()],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=[tell],
                env={**os.environ, 'TMPDIR': folder},
            ) as process:
                os.close(tell)
                os.read(told, 1)
                os.close(told)
                began = time.perf_counter()
                if number is not None:
                    time.sleep(seconds)
                    process.send_signal(number)
                try:
                    stdout, stderr = process.communicate(timeout=SECONDS_TO_END)
                except subprocess.TimeoutExpired:
                    process.kill()
                    stdout, stderr = process.communicate()
                    stderr += f'not done in {SECONDS_TO_END} seconds'
                took = time.perf_counter() - began
            left = [
                path
                for path in Path(folder).rglob('*')
                if path.name != PLAN and not is_block(path.name)
            ]
            files = {path.name: path.read_bytes() for path in left if path.is_file()}
            return Ended(process.returncode, stdout, stderr, files), took


def find_defect(job, number, whole, ended):
    """Describe the defect of an interrupted command's end, or return ''."""
    if unexpected := _unexpected(ended.stderr):
        return f'on standard error {unexpected[-2000:]!r}'
    if ended.code == 0:
        if ended == whole:
            return ''
        return 'done, but not with all of its output'
    if ended.code != 128 + number:
        return f'expected {128 + number}'
    if ended.files != dict.fromkeys(job.outputs, OLD):
        return f'left {sorted(ended.files)}, or another content of what was there before'
    return ''


def _unexpected(stderr):
    """Return the lines of stderr except warnings about the data, and the state of the work."""
    lines = stderr.splitlines(keepends=True)
    return ''.join(line for line in lines if not line.startswith(('Warning: ', 'Interrupted: ')))


def tries(interrupter, names, count, seed):
    """Interrupt commands in turn, each by one signal after another, at a random moment."""
    chance = random.Random(seed)
    for turn in range(count):
        number = SIGNALS[turn // len(names) % len(SIGNALS)]
        yield interrupter.interrupt(names[turn % len(names)], number, chance.random())
