"""The class of pytrec_eval beside its own, in this process: `python benchmarks/same_names.py`.

Each makes its evaluator and scores a run by `map` and `map_cut`; the values have to be equal.
"""

import random
from functools import partial
from typing import Any

import machine
from pytrec_eval import RelevanceEvaluator as Peer
from timing import duration, seconds

from mediaeval_ap.compat.pytrec_eval import RelevanceEvaluator

# Topics, documents of each, judged ones of each, and distinct scores (0: hardly any are equal).
SIZES = [(1_000, 1_000, 50, 0), (1_000, 1_000, 50, 20), (1_000, 100, 20, 10), (10_000, 10, 4, 5)]
MEASURES = ('map', 'map_cut')
REPEATS = 9  # the machine may be shared: the least of so many is steady
SEED = 28  # any would do


def make(
    n_topics: int, n_documents: int, n_judged: int, n_scores: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgements and a run; half of what is judged is returned."""
    chance = random.Random(SEED)
    pool = [f'DOC-{number:07d}' for number in range(5 * n_documents)]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for topic in map(str, range(n_topics)):
        returned = chance.sample(pool, n_documents)
        run[topic] = {
            each: chance.randrange(n_scores) / n_scores if n_scores else chance.random()
            for each in returned
        }
        judged = [*chance.sample(returned, n_judged // 2), *chance.sample(pool, n_judged // 2)]
        qrels[topic] = {each: chance.choice([0, 1, 1, 2]) for each in judged}
    return qrels, run


def scored(evaluator: Any, qrels: object, run: object) -> Any:
    return evaluator(qrels, MEASURES).evaluate(run)


def main() -> None:
    lines = []
    for size in SIZES:
        qrels, run = make(*size)
        peer, own = (partial(scored, each, qrels, run) for each in (Peer, RelevanceEvaluator))
        assert own() == peer()
        turns = [(seconds(peer), seconds(own)) for _ in range(REPEATS)]
        least = [min(each) for each in zip(*turns, strict=True)]
        ratio = f'{least[1] / least[0]:.2f}'
        lines.append([*(f'{each:,}' for each in size), *map(duration, least), ratio])
    headers = ['topics', 'documents', 'judged', 'scores', 'pytrec_eval', 'this package', 'ratio']
    machine.write('same-names', headers, lines, ['pytrec_eval-terrier'])


if __name__ == '__main__':
    main()
