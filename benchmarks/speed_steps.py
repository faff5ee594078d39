"""Steps of work on one set of data, measured in one process.

`python benchmarks/speed_steps.py WHAT DATA [STEP ...]` prints time and memory of each step, and a
digest of its values, as JSON. Older versions of the package run it too, so it uses little of it.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from timing import Taken, measured, median_taken

from mediaeval_ap import Answer, AveragePrecision
from mediaeval_ap.metrics import mean_average_precision_at_k
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, read

K = [1, 10, 100, 1000]
NEAR = [1, 10]
FAR = 'ABC'  # shares no letter with a name, so all names are one tie block
N_SENT = 30
REPEATS = 3

Digest = Callable[[], str]  # taken when everything is measured
Steps = dict[str, tuple[Taken, Digest]]

# Other benchmarks are imported where they are used, as their imports take memory.


def digest(parts: Iterable[Any]) -> str:
    """Return a digest of arrays, numbers and texts, bit for bit."""
    hashed = blake2b(digest_size=16)
    for part in parts:
        values = np.asarray(part)
        # Integers of whatever width, as a version may store them in fewer bits.
        wide = values.astype(np.int64) if values.dtype.kind in 'iu' else values
        hashed.update(repr(part).encode() if isinstance(part, str) else wide.tobytes())
    return hashed.hexdigest()


def of_answers(answers: Sequence[Answer]) -> str:
    return digest(part for answer in answers for part in (answer.ap, answer.n_relevant))


def sent(average_precision: AveragePrecision, ranking: Ranking, names: Sequence[str]) -> Steps:
    """Send queries one by one; return the time of the first, and the median of the others."""
    session = average_precision(ranking)
    asked = [measured(partial(session.send, name)) for name in islice(names, N_SENT + 1)]
    answers, (first, *others) = zip(*asked, strict=True)
    given = partial(of_answers, answers)
    return {'first': (first, given), 'send': (median_taken(others), given)}


def from_far(reference: Path, hypothesis: Path, ranking: Ranking) -> Steps:
    """Send a query that is equally far from all names, with a relevant shot in the run."""
    with open(hypothesis) as file:
        shot = file.readline().split()[:3]
    with open(reference) as file:
        rows = [tuple(line.split()) for line in file]
    average_precision = AveragePrecision([*rows, (*shot, FAR)], K)
    return {'far': sent(average_precision, ranking, [FAR] * (N_SENT + 1))['send']}


def ranked(folder: Path, steps: Sequence[str]) -> Steps:
    """Read and index a run; then `send`, `near`, `far`, `batch=N_QUERIES`."""
    reference, hypothesis = folder / 'reference.txt', folder / 'hypothesis.txt'
    names = read(folder / 'queries.txt', QUERIES).texts('person_name')
    table, reading = measured(lambda: read(hypothesis, HYPOTHESIS))
    ranking, indexing = measured(lambda: Ranking(table))
    done: Steps = {
        'read': (reading, lambda: digest([table.confidence])),
        'index': (indexing, str),  # answers depend on all of it
    }
    average_precision = AveragePrecision(reference, K)
    for step in steps:
        kind, _, count = step.partition('=')
        if kind == 'send':
            done |= sent(average_precision, ranking, names)
        elif kind == 'near':
            done['near'] = sent(AveragePrecision(reference, NEAR), ranking, names)['send']
        elif kind == 'far':
            done |= from_far(reference, hypothesis, ranking)
        elif kind == 'batch':
            evaluate = partial(average_precision.evaluate, ranking, names[: int(count)])
            evaluation, taken = measured(evaluate)
            done[step] = taken, partial(digest, [evaluation.ap, evaluation.n_relevant])
    return done


def map_at_12(n_users: int) -> Steps:
    """Score lists of text, beside the plain loop, whose memory is shown for integer arrays."""
    import siblings

    bought, n_bought, predicted = siblings.purchases(n_users)
    lists = siblings.lists_of_text(bought, n_bought, predicted)
    own, loop = [], []
    for _ in range(REPEATS):
        value, taken = measured(lambda: mean_average_precision_at_k(*lists))
        own.append(taken)
        plain, taken = measured(lambda: siblings.mapk(*lists))
        loop.append(taken)
    assert abs(value - plain) < 1e-12, (value, plain)  # a plain sum, rounded at each step
    peak = siblings.peak(lambda: mean_average_precision_at_k(*lists))
    mib = [size / 2**20 for size in (peak, bought.nbytes + predicted.nbytes)]
    return {
        'map': (median_taken(own)._replace(peak_mib=mib[0]), lambda: digest([value])),
        'loop': (median_taken(loop)._replace(peak_mib=mib[1]), lambda: digest([plain])),
    }


def main(what: str, data: str, *steps: str) -> None:
    done = map_at_12(int(data)) if what == 'map' else ranked(Path(data), steps)
    print(json.dumps({step: [taken, digest()] for step, (taken, digest) in done.items()}))


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    main(*sys.argv[1:])
