"""Steps over a run of any size, in memory or from a store, in one process.

`python benchmarks/scale_steps.py memory|store DATA RUN N_QUERIES` prints time and memory of each
step, and a digest of the values, as JSON. Each module is imported when it is used, so that the
memory of a step is right.
"""

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from timing import measured, private_mib

from mediaeval_ap import AveragePrecision

K = [1, 10, 100, 1000]
N_SENT = 30


def main(kind: str, data: str, run: str, n_queries: str) -> None:
    names = Path(data, 'queries.txt').read_text().split()
    ranking: Any
    if kind == 'store':
        from mediaeval_ap.store.store import open_store

        ranking, opening = measured(lambda: open_store(run))
    else:
        from mediaeval_ap.ranking.frozen_ranking import Ranking
        from mediaeval_ap.tables import HYPOTHESIS, read

        ranking, opening = measured(lambda: Ranking(read(run, HYPOTHESIS)))
    private = private_mib()
    average_precision = AveragePrecision(f'{data}/reference.txt', K)
    session = average_precision(ranking)
    asked = [measured(partial(session.send, name)) for name in names[: N_SENT + 1]]
    answers, (first, *others) = zip(*asked, strict=True)
    batch = names[: int(n_queries)]
    evaluation, evaluating = measured(lambda: average_precision.evaluate(ranking, batch))
    from speed_steps import digest

    values = [*(part for answer in answers for part in answer), evaluation.ap]
    steps = {
        'open': opening.cpu_seconds,
        'private': private,
        'first': first.cpu_seconds,
        'next': median(each.cpu_seconds for each in others),
        'query': evaluating.seconds / len(batch),
        'peak': evaluating.peak_mib,
    }
    print(json.dumps({**steps, 'digest': digest(values)}))


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    main(*sys.argv[1:])
