"""Parts that are killed at any moment, and begun again until they are done, equal one process."""

import subprocess
import sys
from pathlib import Path

from mediaeval_ap import AveragePrecision, collect

SCRIPT = Path(__file__).with_name('killed_parts.py')
SECONDS = 120  # far more than it takes; then it hangs


def test_killed_at_any_step(campaign):
    command = [sys.executable, SCRIPT, '0', 'out']
    n_killed = subprocess.check_output(command, timeout=SECONDS)
    assert int(n_killed) > 5
    (evaluation,) = collect('out')
    whole = AveragePrecision('reference.txt', [5, 'all'], definition='trec').evaluate('run.txt')
    assert evaluation.to_json(per_query=True) == whole.to_json(per_query=True)
