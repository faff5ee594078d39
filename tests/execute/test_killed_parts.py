"""Parts that are killed at any moment, and begun again until they are done, equal one process."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from block_folders import blocks_in
from commands import COMMAND

from mediaeval_ap import AveragePrecision, collect

SCRIPT = Path(__file__).parents[1] / 'killed_parts.py'
SECONDS = 120  # far more than it takes; then it hangs


def whole():
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    return average_precision.evaluate('run.txt').to_json(per_query=True)


def temporaries(folder):
    return [name for name in os.listdir(folder) if name.endswith('.tmp')]


def test_killed_at_any_step(campaign):
    n_left = 0
    for seed in range(3):  # each kills at other steps
        folder = f'out {seed}'
        done = subprocess.run(
            [sys.executable, SCRIPT, str(seed), folder],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        n_killed, n_of_folder = map(int, done.stdout.split())
        assert n_killed > 5
        (evaluation,) = collect(folder)
        assert evaluation.to_json(per_query=True) == whole()
        assert temporaries(folder) == []  # calls remove what those before them left
        n_left += n_of_folder
    assert n_left  # else no part was killed as it wrote


# The command, in blocks of three queries; a step of its third file sends it a signal.
INTERRUPTED = """
import os, signal, sys
from mediaeval_ap.execute import plan
from mediaeval_ap.__main__ import main
plan.BLOCK_QUERIES = 3
number, step, when = int(sys.argv[1]), sys.argv[2], sys.argv[3]
given, turns = getattr(os, step), []
def stepping(*arguments, **options):
    turns.append(step)
    if (len(turns), when) == (3, 'before'): os.kill(os.getpid(), number)
    done = given(*arguments, **options)
    if (len(turns), when) == (3, 'after'): os.kill(os.getpid(), number)
    return done
setattr(os, step, stepping)
sys.argv[1:] = sys.argv[4:]
main()
"""


@pytest.mark.parametrize('when', ['before', 'after'])
@pytest.mark.parametrize(
    ('number', 'step'),
    [
        (signal.SIGINT, 'replace'),
        (signal.SIGTERM, 'replace'),
        (2, 'fsync'),
        (signal.SIGHUP, 'fsync'),
    ],
)
def test_a_signal_ends_an_evaluation_between_two_blocks(campaign, number, step, when):
    arguments = ['reference.txt', 'run.txt', '-K', '5,all', '--definition', 'trec']
    command = [sys.executable, '-c', INTERRUPTED, str(int(number)), step, when]
    done = subprocess.run(
        [*command, 'evaluate', *arguments, '--resume', 'out', '--format', 'json'],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, b'', b'')
    assert temporaries('out') == []
    # The first file is the plan.
    assert len(blocks_in(Path('out'))) == (2 if (step, when) == ('replace', 'after') else 1)
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    again = average_precision.evaluate('run.txt', resume='out')
    assert again.to_json(per_query=True) == whole()


@pytest.mark.slow
def test_commands_killed_at_any_moment(campaign):
    """As by the time limit of a cluster, on two machines that share the folder."""
    n_queries = 200_000  # some seconds for each part
    names = Path('queries.txt').read_text().splitlines()
    Path('queries.txt').write_text(''.join(f'{name}\n' for name in names * (n_queries // 41)))
    options = ['--definition', 'trec', '--queries', 'queries.txt', '--resume', 'out']
    command = [*COMMAND, 'evaluate', 'reference.txt', 'run.txt', *options, '--part']
    draw = random.Random(2)  # any: so that a failure can be seen again, as far as time allows
    parts, n_killed = {'1/2', '2/2'}, 0
    end = time.monotonic() + SECONDS
    while parts:
        assert time.monotonic() < end
        processes = {part: subprocess.Popen([*command, part], stderr=-1) for part in parts}
        for part, process in processes.items():
            try:
                process.communicate(timeout=draw.uniform(0.3, 1.5))
                assert process.returncode == 0
                parts.remove(part)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate(timeout=SECONDS)
                n_killed += 1
    assert n_killed > 2
    assert len(blocks_in(Path('out'))) > n_killed
    arguments = ['--per-query', '--format', 'json']
    outputs = [
        subprocess.run([*COMMAND, *given, *arguments], stdout=-1, check=True).stdout
        for given in (
            ['collect', 'out'],
            ['evaluate', 'reference.txt', 'run.txt', *options[:-2], '--quiet'],
        )
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b'"query": ') == len(names) * (n_queries // 41)
