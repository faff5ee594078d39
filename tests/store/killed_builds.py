"""Build a store in processes that are killed: `killed_builds.py SEED STORE PART...`.

Each process ends by SIGKILL at one of its system events (a file opened, renamed or removed), until
one has built the store. Prints how many were killed.
"""

import glob
import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stores import stored

from mediaeval_ap import index, open_store
from mediaeval_ap.store import external_sort, spool
from mediaeval_ap.tables import reading
from mediaeval_ap.tables.text import format

OLDER = [('TV', 'v1', '1', 'older', 0.5)] * 3  # of the store that is replaced
EVENTS = {'open', 'os.rename', 'os.remove', 'os.truncate', 'os.mkdir', 'os.rmdir'}


def build(run, path, n_events):
    """Build the store; the process is killed when so many events have come."""
    left = n_events

    def count(event, _):
        nonlocal left
        if event not in EVENTS:
            return
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    index(run, path)


def assert_there(path):
    """Find a whole store, the older one or the new one: at its path, or set aside."""
    folders = [path] if os.path.exists(path) else glob.glob(glob.escape(path) + '.*.old')
    assert [len(open_store(folder)) for folder in folders] in ([len(OLDER)], [200])


def main(seed, path, *run):
    stored(OLDER, path)
    external_sort.RUN_KEYS, external_sort.MERGED_KEYS = 50, 40
    spool.CHUNK_ROWS, format.BLOCK_BYTES, reading.PART_BYTES = 30, 200, 300
    choose = random.Random(seed)
    n_killed = 0
    while True:
        n_events = choose.randint(1, 100 * (n_killed + 1))
        process = os.fork()
        if not process:
            build(list(run), path, n_events)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status):
            assert_there(path)
            assert os.WTERMSIG(status) == signal.SIGKILL
            n_killed += 1
        else:
            assert not status
            break
    print(n_killed)


if __name__ == '__main__':
    main(*sys.argv[1:])
