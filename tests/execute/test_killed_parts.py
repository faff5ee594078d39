"""Parts that are killed at any moment, and begun again until they are done, equal one process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from block_folders import blocks_in

from mediaeval_ap import AveragePrecision, collect

SCRIPT = Path(__file__).with_name('killed_parts.py')
SECONDS = 120  # far more than it takes; then it hangs


def whole(**options):
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    return average_precision.evaluate('run.txt', **options).to_json(per_query=True)


def test_killed_at_any_step(campaign):
    done = subprocess.run(
        [sys.executable, SCRIPT, '0', 'out'],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert int(done.stdout) > 5
    (evaluation,) = collect('out')
    assert evaluation.to_json(per_query=True) == whole()


# The command, in blocks of three queries; a step of its third file sends it a signal.
INTERRUPTED = """
import os, signal, sys
from mediaeval_ap.execute import folder as kept
from mediaeval_ap.__main__ import main
kept.BLOCK_QUERIES = 3
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


@pytest.mark.parametrize(
    ('number', 'step', 'when', 'n_blocks'),
    [
        (signal.SIGINT, 'replace', 'before', 1),
        (signal.SIGTERM, 'replace', 'after', 2),
    ],
)
def test_a_signal_ends_an_evaluation_between_two_blocks(campaign, number, step, when, n_blocks):
    arguments = ['reference.txt', 'run.txt', '-K', '5,all', '--definition', 'trec']
    command = [sys.executable, '-c', INTERRUPTED, str(int(number)), step, when]
    done = subprocess.run(
        [*command, 'evaluate', *arguments, '--resume', 'out', '--format', 'json'],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, b'', b'')
    assert not list(Path('out').glob('.*.tmp'))
    assert len(blocks_in(Path('out'))) == n_blocks  # the first file is the plan
    assert whole(resume='out') == whole()
