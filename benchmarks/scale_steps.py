"""Steps over a run of any size, in memory or from a store, in one process.

`python benchmarks/scale_steps.py memory|store DATA RUN [send] [batch=N_QUERIES ...]` prints what
each step took, and a digest of what it gave, as JSON. Both kinds ask by the same calls. Memory
counts, so nothing is imported before it is used.
"""

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memory import Steps, medians, step

from mediaeval_ap import AveragePrecision

K = [1, 10, 100, 1000]
N_SENT = 30


def opener(kind: str) -> Callable[[str], Any]:
    """Return what opens a run, with all imported that only this needs."""
    if kind == 'store':
        from mediaeval_ap.store.store import open_store

        return open_store
    from mediaeval_ap.ranking.frozen_ranking import Ranking
    from mediaeval_ap.tables import HYPOTHESIS, read

    return lambda run: Ranking(read(run, HYPOTHESIS))


def sent(average_precision: AveragePrecision, run: Any, names: Sequence[str]) -> tuple[Steps, Any]:
    session, beginning = step(partial(average_precision, run))
    asked = [step(partial(session.send, name)) for name in names]
    answers, (first, *others) = zip(*asked, strict=True)
    values = [part for answer in answers for part in answer]
    return {'begin': beginning, 'first': first, 'send': medians(others)}, values


def main(kind: str, data: str, run: str, *asked: str) -> None:
    names = Path(data, 'queries.txt').read_text().split()
    ranking, opening = step(partial(opener(kind), run))
    steps, values = {'open': opening}, {}
    average_precision = AveragePrecision(f'{data}/reference.txt', K)
    for what in asked:
        if what == 'send':
            taken, values[what] = sent(average_precision, ranking, names[: N_SENT + 1])
            steps |= taken
        else:
            count = int(what.removeprefix('batch='))
            evaluate = partial(average_precision.evaluate, ranking, names[:count])
            evaluation, steps[what] = step(evaluate)
            values[what] = [evaluation.ap, evaluation.n_relevant]
    from speed_steps import digest

    digests = {what: digest(of_one) for what, of_one in values.items()}
    print(json.dumps({'steps': steps, 'digests': digests}))


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    main(*sys.argv[1:])
