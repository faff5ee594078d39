"""Two parts of one evaluation, each killed again and again before it writes, lists or renames.

Run by tests in a process of its own, in the folder of a campaign:
`python killed_parts.py SEED FOLDER` prints how often a part was killed.
"""

import os
import random
import signal
import sys

STEPS = ('fsync', 'link', 'listdir', 'mkdir', 'open', 'replace', 'unlink')
ONE_IN = 6  # steps: a part is killed a few times before it is done
MOST_KILLS = 2000  # of all parts together, far more than are needed


def begun(average_precision, part, folder, draw):
    """Compute a part in a forked process that may be killed at each step; return its number."""
    child = os.fork()
    if child:
        return child
    for name in STEPS:
        setattr(os, name, killing(getattr(os, name), draw))
    average_precision.evaluate_part('run.txt', part=(part, 2), resume=folder)
    os._exit(0)


def killing(step, draw):
    def wrapped(*given, **named):
        if draw.randrange(ONE_IN) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*given, **named)

    return wrapped


def main(seed, folder):
    from mediaeval_ap import AveragePrecision
    from mediaeval_ap.execute import block_folder

    block_folder.BLOCK_QUERIES = 3
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    n_killed = 0
    parts = {1, 2}
    while parts:
        children = {
            begun(average_precision, part, folder, random.Random(f'{seed} {n_killed} {part}')): part
            for part in parts
        }
        for child, part in children.items():
            _, status = os.waitpid(child, 0)
            if status == signal.SIGKILL:
                n_killed += 1
            else:
                assert status == 0, f'part {part} ended with {status}'
                parts.remove(part)
        assert n_killed < MOST_KILLS
    print(n_killed)


if __name__ == '__main__':
    main(*sys.argv[1:])
