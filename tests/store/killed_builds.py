"""Build a store in processes that are killed: `killed_builds.py SEED STORE PART...`.

Each process ends by SIGKILL at a random moment, later and later, until one has built the store.
Prints how many were killed.
"""

import glob
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stores import stored

from mediaeval_ap import index, open_store
from mediaeval_ap.store import indexing
from mediaeval_ap.tables import reading
from mediaeval_ap.tables.text import format

OLDER = [('TV', 'v1', '1', 'older', 0.5)] * 3  # of the store that is replaced
SECONDS, GROWTH = 0.05, 1.5  # until a process is killed, at most; longer for the next one


def assert_there(path):
    """Find a whole store, the older one or the new one: at its path, or set aside."""
    folders = [path] if os.path.exists(path) else glob.glob(glob.escape(path) + '.*.old')
    assert [len(open_store(folder)) for folder in folders] in ([len(OLDER)], [200])


def main(seed, path, *run):
    stored(OLDER, path)
    indexing.LARGEST_IN_MEMORY, format.BLOCK_BYTES, reading.PART_BYTES = 20, 200, 300
    choose = random.Random(seed)
    n_killed = 0
    while True:
        process = os.fork()
        if not process:
            index(list(run), path)
            os._exit(0)
        time.sleep(choose.uniform(0, SECONDS * GROWTH**n_killed))
        os.kill(process, signal.SIGKILL)
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
