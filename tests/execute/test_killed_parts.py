"""Parts that are killed at any moment, and begun again until they are done, equal one process."""

import subprocess
import sys
from pathlib import Path

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
