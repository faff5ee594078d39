"""Runs from dictionaries beside ir_measures: `python benchmarks/dictionaries.py`."""

import warnings
from functools import partial
from statistics import median

import ir_measures
import machine
import numpy as np
from timing import measured

from mediaeval_ap import evaluate_trec, read_qrels

N_TOPICS = 50
# Runs, documents of each topic in the qrels and in each run, and documents to choose from.
SIZES = {'50 runs of 8,000 rows': (50, 160, 1000), '10 of 50,000': (10, 1000, 100_000)}
REPEATS = 5
SEED = 5  # any would do

Dictionaries = dict[str, dict[str, float]]


def by_topic(random: np.random.Generator, numbers: np.ndarray, n_documents: int) -> Dictionaries:
    documents = [random.choice(n_documents, len(row), replace=False) for row in numbers]
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


def seconds(n_runs: int, n_returned: int, n_documents: int) -> dict[str, str]:
    """Return the median CPU time of each work, all in turns."""
    random = np.random.default_rng(SEED)
    shape = N_TOPICS, n_returned
    qrels = by_topic(random, (random.random(shape) < 0.2).astype(int), n_documents)
    runs = [by_topic(random, random.random(shape), n_documents) for _ in range(n_runs)]
    taken: dict[str, list[float]] = {name: [] for name in WORKS}
    for _ in range(REPEATS):
        for name, work in WORKS.items():
            taken[name].append(measured(partial(work, qrels, runs))[1].cpu_seconds)
    return {name: f'{median(each):.2f} s' for name, each in taken.items()}


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # a topic may have no relevant document
    columns = [seconds(*size) for size in SIZES.values()]
    rows = [[name, *(column[name] for column in columns)] for name in WORKS]
    machine.write('dictionaries', ['CPU time', *SIZES], rows, ['ir_measures'])
