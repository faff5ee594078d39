"""Fifty runs from dictionaries beside ir_measures: `python benchmarks/dictionaries.py`."""

import warnings
from functools import partial
from statistics import median

import ir_measures
import machine
import numpy as np
from timing import measured

from mediaeval_ap import evaluate_trec, read_qrels

N_RUNS = 50
N_TOPICS = 50
N_DOCUMENTS = 160  # of each topic, in the qrels and in each run
REPEATS = 5
SEED = 5  # any would do

Dictionaries = dict[str, dict[str, float]]


def by_topic(random: np.random.Generator, numbers: np.ndarray) -> Dictionaries:
    documents = [random.choice(1000, N_DOCUMENTS, replace=False) for _ in range(N_TOPICS)]
    return {
        f'topic{number}': {
            f'document{document}': value for document, value in zip(row, values, strict=True)
        }
        for number, (row, values) in enumerate(zip(documents, numbers.tolist(), strict=True))
    }


def read_each_time(qrels: Dictionaries, runs: list[Dictionaries]) -> None:
    for run in runs:
        evaluate_trec(qrels, run, 'all')


def read_once(qrels: Dictionaries, runs: list[Dictionaries]) -> None:
    entries = read_qrels(qrels)
    for run in runs:
        evaluate_trec(entries, run, 'all')


def calculate(qrels: Dictionaries, runs: list[Dictionaries]) -> None:
    for run in runs:
        ir_measures.calc_aggregate([ir_measures.AP], qrels, run)


def evaluator(qrels: Dictionaries, runs: list[Dictionaries]) -> None:
    of_qrels = ir_measures.evaluator([ir_measures.AP], qrels)
    for run in runs:
        of_qrels.calc_aggregate(run)


WORKS = {
    '`evaluate_trec(qrels, run)`': read_each_time,
    '`evaluate_trec(read_qrels(qrels), run)`': read_once,
    '`ir_measures.calc_aggregate`': calculate,
    '`ir_measures.evaluator`': evaluator,
}


def rows() -> list[list[str]]:
    """Return median CPU times, of all in turns."""
    random = np.random.default_rng(SEED)
    shape = N_TOPICS, N_DOCUMENTS
    qrels = by_topic(random, (random.random(shape) < 0.2).astype(int))
    runs = [by_topic(random, random.random(shape)) for _ in range(N_RUNS)]
    seconds: dict[str, list[float]] = {name: [] for name in WORKS}
    for _ in range(REPEATS):
        for name, work in WORKS.items():
            _, taken = measured(partial(work, qrels, runs))
            seconds[name].append(taken.cpu_seconds)
    return [[name, f'{median(taken):.2f} s'] for name, taken in seconds.items()]


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # a topic may have no relevant document
    machine.write('dictionaries', ['50 runs', 'CPU time'], rows(), ['ir_measures'])
