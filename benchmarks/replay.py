"""How many judgements each strategy of `judge-next` needs for the right order of runs.

`python benchmarks/replay.py --official FOLDER` judges a campaign again, from no judgements on. Each
strategy chooses shots or pairs, and the last reference judges them. Two more orders are compared:
by the number of distinct names in all runs, the rule of the campaign of 2016, and random. Times are
measured on seventeen synthetic runs.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import machine
import numpy as np
from runs import make_runs

from mediaeval_ap import AveragePrecision
from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import NEAR, POOL_DEPTH, STRATEGIES, JudgedBy
from mediaeval_ap.comparison.comparable_runs import agreement
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.judging.candidates import NOT_JUDGED, PoolPairs
from mediaeval_ap.judging.judging_queue import Chooser
from mediaeval_ap.judging.minimal_test_collections import ExpectedAP, RelevanceModel
from mediaeval_ap.results.rounding import OWN_DECIMALS
from mediaeval_ap.tables import HYPOTHESIS, read

GRID = [50, 100, 200, 500, 1000, 2000, 5000]
FOUND_AT = 4000  # judgements, as in a published figure
# A round has at least LEAST_ROUND judgements, or 1/SHARE_OF_ROUND of all before.
LEAST_ROUND = 10
SHARE_OF_ROUND = 10
SETTLED = 0.95  # tau-b at which the order counts as right
CASES: list[tuple[JudgedBy, int, str]] = [
    ('pair', 100, 'mediaeval-2016'),
    ('shot', 100, 'mediaeval-2016'),
    ('pair', 100, 'trec'),
    ('pair', 10, 'mediaeval-2016'),
]

OPTIMISTIC = (
    'What `mtc` knows of a pair was chosen on these nine runs, so its figures here are optimistic. '
    'Measured on eight further runs, which nobody tuned on and which are not part of this '
    'repository, `mtc` needed 500 judgements, `depth` 468 (by MAP) and `rank-sum` 1,331; by shot, '
    '`depth` needed 176. On random nine of all seventeen runs, `mtc` needed about 1,300 in the '
    'median, and half of the draws between 500 and 6,000. No strategy wins everywhere.'
)


class Step(NamedTuple):
    """The state of a replay after a number of judgements."""

    n_judged: int
    n_found: int  # relevant pool pairs among them
    expected_tau: float | None  # Kendall's tau-b against the truth of the runs by expected MAP
    tau: float | None  # by MAP, with unjudged shots as not relevant


@dataclass(frozen=True, eq=False)
class Fixed(Chooser):
    """A strategy whose scores of pool pairs do not depend on judgements."""

    values: Floats

    @property
    def fixed(self) -> Floats:
        return self.values


class Expected(ExpectedAP):
    """Expected AP; with probabilities 0 and 1, for known labels, it is AP."""

    def __call__(self, p: Floats) -> Floats:
        pairs, (is_deep, denominators) = self._pairs, self.scored_ranks(p)
        ranked = np.where(is_deep, p[self._pair], 0)
        sums = self._per_ranking(ranked / self._rank * (1 + self._sum_above(ranked)))
        with np.errstate(divide='ignore'):
            none = np.exp(np.bincount(pairs.query, np.log1p(-p), minlength=self._shape[1]))
        zeros = np.zeros(self._shape)
        expected: Floats = np.divide(sums, denominators, out=zeros, where=denominators > 0)
        return expected + none * pairs.criteria.definition.without_relevant


def choosers(pairs: PoolPairs, by: JudgedBy, runs: Mapping[str, Path]) -> dict[str, Chooser]:
    names = {row[:4] for path in runs.values() for row in read(path, HYPOTHESIS).rows()}
    n_names = dict.fromkeys(pairs.texts, 0)
    for row in names:
        if row[:3] in n_names:
            n_names[row[:3]] += 1
    of_shots = np.array(list(n_names.values()), dtype=float)
    unit = Chooser(pairs, by, 'depth').unit
    chance = np.random.default_rng(0).random(unit.max() + 1)[
        unit
    ]  # one seed: a single order, not a mean
    return {
        **{each: Chooser(pairs, by, each) for each in STRATEGIES},
        'names': Fixed(pairs, by, 'depth', of_shots[pairs.shot]),
        'random': Fixed(pairs, by, 'depth', chance),
    }


def steps_of(chooser: Chooser, truth: Reference, most: int) -> Iterator[Step]:
    """Yield the state after each round, until all pairs or `most` are judged."""
    pairs = chooser.pairs
    right, labels = pairs.labels(truth), np.full(len(pairs), NOT_JUDGED, dtype=np.int8)
    model, expected = RelevanceModel(pairs), Expected(pairs)
    target, n_judged = expected(right.astype(float)).mean(axis=1), 0

    def tau(p: Floats) -> float | None:
        # Means that differ only in their last bits count as equal.
        means = [each.round(OWN_DECIMALS).tolist() for each in (target, expected(p).mean(axis=1))]
        return agreement('the truth', means[0], 'what is known', means[1]).tau

    while True:
        by_model, known = tau(model.probabilities(labels)), tau((labels == 1).astype(float))
        yield Step(n_judged, int(np.count_nonzero(labels == 1)), by_model, known)
        upto = n_judged + max(LEAST_ROUND, n_judged // SHARE_OF_ROUND)
        upto = min([upto, *(each for each in (*GRID, FOUND_AT, most) if each > n_judged)])
        units = chooser.first(chooser.scores(labels), upto - n_judged)
        if not len(units) or n_judged >= most:
            return
        asked = np.isin(chooser.unit, units)
        labels[asked] = right[asked]
        n_judged += len(units)


def settled(taus: dict[int, float | None]) -> str:
    """Return the number of judgements after which tau stays at `SETTLED` or above."""
    found = 'never'
    for n_judged, tau in reversed(taus.items()):
        if tau is None or tau < SETTLED:
            break
        found = f'{n_judged:,}'
    return found


def played(folder: Path, by: JudgedBy, K: int, definition: str, most: int) -> list[str]:
    """Return the paragraphs of results for one way to judge and score."""
    reference = max((folder / 'reference').glob('reference.*'))  # with the latest date
    runs = {path.stem: path for path in sorted((folder / 'submissions').iterdir())}
    subset, queries = (folder / 'reference' / name for name in ('test.eval', 'queries.txt'))
    evaluator = AveragePrecision(reference, [K], subset=subset, definition=definition)
    pairs = evaluator.judge_next(runs, queries, by=by, strategy='depth')._chooser.pairs
    truth, rows, found = evaluator.criteria.reference, [], []
    for name, chooser in choosers(pairs, by, runs).items():
        steps = list(steps_of(chooser, truth, most))
        for kind, field in ('expected MAP', 'expected_tau'), ('MAP', 'tau'):
            taus = {step.n_judged: getattr(step, field) for step in steps}
            shown = ['' if taus.get(n) is None else f'{taus[n]:.3f}' for n in GRID]
            rows.append([f'{name}, by {kind}', *shown, settled(taus)])
        found.append(f'{name} {[s.n_found for s in steps if s.n_judged <= FOUND_AT][-1]:,}')
    return [
        f'#### By {by}: MAP@{K}, {definition}',
        f"{len(pairs):,} pool pairs, {int(pairs.labels(truth).sum()):,} relevant. Kendall's tau-b "
        f'after so many judgements, where a shot that is returned again counts once; one pair of '
        f'{len(runs)} runs the wrong way round takes {4 / len(runs) / (len(runs) - 1):.3f}.',
        machine.table(['', *(f'{n:,}' for n in GRID), f'stays ≥ {SETTLED}'], rows),
        f'Relevant pool pairs that are found after {FOUND_AT:,} judgements: {", ".join(found)}.',
    ]


def times() -> list[str]:
    """Return the seconds to make a queue, and from each judgement to the next line."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_runs(folder)
        begin = perf_counter()
        average_precision = AveragePrecision([], [100], judged=[])
        queue = average_precision.judge_next(paths, folder / 'queries.txt')
        first = queue.lines[0]
        seconds, steps = perf_counter() - begin, []
        for _ in range(50):
            begin = perf_counter()
            queue = queue.after((first.corpus_id, first.video_id, first.shot_id))
            first = queue.lines[0]
            steps.append(perf_counter() - begin)
    return [
        '#### Time of seventeen synthetic runs, 599 queries',
        f'{queue.n_pairs:,} pool pairs: {seconds:.1f} s from files to the queue, '
        f'{max(steps):.2f} s at most from a judgement to the next line.',
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--official', type=Path, required=True, metavar='FOLDER')
    parser.add_argument('--most', type=int, metavar='N', help='try it with N judgements; no page')
    given = parser.parse_args()
    warnings.simplefilter('ignore', DataWarning)  # known ones, of AP above 1
    cases, most = (CASES, sys.maxsize) if given.most is None else (CASES[:1], given.most)
    paragraphs = [f'{date.today()}; first {POOL_DEPTH} ranks, names within {NEAR}.', OPTIMISTIC]
    paragraphs += times() if given.most is None else []
    for case in cases:
        paragraphs += played(given.official, *case, most)
        print(*case, file=sys.stderr, flush=True)
    if given.most is None:
        machine.write_page('replay', paragraphs, ['scipy'])
    print('\n\n'.join(paragraphs))


if __name__ == '__main__':
    main()
