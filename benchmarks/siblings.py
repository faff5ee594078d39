"""The metrics of other challenges beside their peers: `python benchmarks/siblings.py [NAME...]`.

Names are `lrap`, `macro-ap`, `map`, `gap`; by default all. Needs the extra `benchmarks`.
"""

import ctypes
import gc
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import machine
import numpy as np
import pandas
import pyarrow

from mediaeval_ap import definitions
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    class_average_precision,
    global_average_precision,
    label_ranking_average_precision,
    label_weighted_label_ranking_average_precision,
    mean_average_precision_at_k,
)

REPEATS = 7
PEER_REPEATS = 3
PIECE = 100_000
SEED = 5  # any would do
# Average precision as in ranx: divided by R, and a repeated prediction counts again.
RANX = replace(definitions.get('trec'), name='ranx', repeats=definitions.Repeats.COUNT)
HEADERS = ['', 'seconds', 'times faster', 'value', 'peak memory']


def timed(work: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Return the median seconds of some work, and its value."""
    times, value = [], 0.0
    for _ in range(repeats):
        begin = perf_counter()
        value = work()
        times.append(perf_counter() - begin)
    return median(times), value


def peak(work: Callable[[], float]) -> int:
    """Return the peak of the bytes that some work allocates; 0 except on Linux.

    A forked process does it, which begins with the memory of this one.
    """
    status, reset = Path('/proc/self/status'), Path('/proc/self/clear_refs')
    if not reset.exists():
        return 0
    ours, theirs = os.pipe()
    if not os.fork():
        gc.collect()
        pyarrow.default_memory_pool().release_unused()
        ctypes.CDLL(None).malloc_trim(0)
        reset.write_text('5')  # resets the peak
        before = resident(status, 'VmRSS')
        work()
        os.write(theirs, str(resident(status, 'VmHWM') - before).encode())
        os._exit(0)
    taken = int(os.read(ours, 99))
    os.wait()
    return taken


def resident(status: Path, name: str) -> int:
    (line,) = (line for line in status.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def compare(
    input_bytes: int,
    ours: dict[str, Callable[[], float]],
    peers: dict[str, tuple[Callable[[], float], str]],
    repeats: int = REPEATS,
    peer_repeats: int = PEER_REPEATS,
) -> list[list[str]]:
    """Return a row for each of our ways, then for each peer, with the way it is compared with."""
    rows, seconds = [], {}
    for name, work in ours.items():
        share = f'{peak(work) / input_bytes:.3f} of the arrays'  # an untimed first run
        seconds[name], value = timed(work, repeats)
        rows.append([name, f'{seconds[name]:.3f}', '', f'{value:.12f}', share])
    for name, (work, other) in peers.items():
        time, value = timed(work, peer_repeats)
        faster = f'{time / seconds[other]:.1f} ({other})'
        rows.append([name, f'{time:.3f}', faster, f'{value:.12f}', ''])
    return rows


def cpu_row(
    names: tuple[str, str], peer: Callable[[], float], ours: Callable[[], float]
) -> list[str]:
    """Return a row of the median CPU seconds of all threads; both run in turn."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(REPEATS):
        for times, work in zip(seconds, (peer, ours), strict=True):
            begin = process_time()
            value = work()
            times.append(process_time() - begin)
    peer_time, our_time = map(median, seconds)
    faster = f'{peer_time / our_time:.2f} ({names[1]}: {our_time:.3f})'
    return [f'{names[0]}, CPU', f'{peer_time:.3f}', faster, f'{value:.12f}', '']


def lrap() -> list[list[str]]:
    """20,000 samples, 500 classes, one label in a hundred true."""
    from sklearn.metrics import label_ranking_average_precision_score

    random = np.random.default_rng(SEED)
    y_score = random.random((20_000, 500))
    y_true = (random.random(y_score.shape) < 0.01).astype(np.int64)
    counts = y_true.sum(axis=1)
    step = PIECE // y_score.shape[1]

    def streamed() -> float:
        metric = LabelRankingAveragePrecision()
        for begin in range(0, len(y_true), step):
            metric.update(y_true[begin : begin + step], y_score[begin : begin + step])
        return metric.compute()

    return compare(
        y_true.nbytes + y_score.nbytes,
        {
            'LRAP': lambda: label_ranking_average_precision(y_true, y_score),
            'LRAP, 100,000 scores at a time': streamed,
            'lwlrap': lambda: label_weighted_label_ranking_average_precision(y_true, y_score),
        },
        {
            'scikit-learn': (
                lambda: label_ranking_average_precision_score(y_true, y_score),
                'LRAP',
            ),
            'scikit-learn, weighted': (
                lambda: label_ranking_average_precision_score(
                    y_true, y_score, sample_weight=counts
                ),
                'lwlrap',
            ),
        },
    )


def macro_ap() -> list[list[str]]:
    """300,000 samples, 500 classes, one label in a hundred true."""
    from sklearn.metrics import average_precision_score

    random = np.random.default_rng(SEED)
    y_score = random.random((300_000, 500))
    y_true = np.zeros(y_score.shape, dtype=np.bool_)
    for labels in y_true:
        labels[random.random(500) < 0.01] = True

    def one_class_at_a_time() -> float:
        classes = (slice(index, index + 1) for index in range(500))
        values = [class_average_precision(y_true[:, one], y_score[:, one])[0] for one in classes]
        return float(np.nanmean(values))

    return compare(
        y_true.nbytes + y_score.nbytes,
        {
            'macro AP': lambda: float(np.nanmean(class_average_precision(y_true, y_score))),
            'macro AP, one class at a time': one_class_at_a_time,
        },
        {'scikit-learn': (lambda: float(average_precision_score(y_true, y_score)), 'macro AP')},
        repeats=3,
        peer_repeats=3,
    )


def apk(actual: list[str], predicted: list[str], k: int) -> float:
    """Return average precision of one user, in the usual code: a loop over predictions."""
    hits, total = 0, 0.0
    for rank, label in enumerate(predicted[:k], 1):
        if label in actual and label not in predicted[: rank - 1]:
            hits += 1
            total += hits / rank
    return total / min(len(actual), k) if actual else 0.0


def mapk(true_lists: list[list[str]], predicted_lists: list[list[str]]) -> float:
    """Return MAP@12, in the usual code: a loop over users."""
    pairs = zip(true_lists, predicted_lists, strict=True)
    return float(np.mean([apk(actual, predicted, 12) for actual, predicted in pairs]))


def purchases(n_users: int = 1_000_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the purchases of users, their numbers, and twelve predictions each, few right."""
    random = np.random.default_rng(SEED)
    users = np.repeat(np.arange(n_users), random.geometric(1 / 3.5, n_users))
    articles = (100_000 * random.random(len(users)) ** 3).astype(np.int64)
    users, bought = np.divmod(np.unique(users * 100_000 + articles), 100_000)
    n_bought = np.bincount(users)
    predicted = (100_000 * random.random((len(n_bought), 12)) ** 3).astype(np.int64)
    right = random.random(predicted.shape) < 0.06 / np.sqrt(np.arange(1, 13))
    rows, columns = right.nonzero()
    begins = n_bought.cumsum() - n_bought
    predicted[rows, columns] = bought[begins[rows] + random.integers(0, n_bought[rows])]
    keys = np.repeat(np.arange(len(predicted)), 12) * 100_000 + predicted.ravel()
    again = np.setdiff1d(np.arange(len(keys)), np.unique(keys, return_index=True)[1])
    predicted.ravel()[again] = 100_000 + again % 12  # bought by nobody, and none twice
    return bought, n_bought, predicted


def lists_of_text(
    bought: np.ndarray, n_bought: np.ndarray, predicted: np.ndarray
) -> tuple[list[list[str]], list[list[str]]]:
    """Return labels of ten letters: the purchases of each user, and the predictions."""
    names = np.array([f'{number:010d}' for number in range(100_012)], dtype=object)
    true_lists = [names[part].tolist() for part in np.split(bought, n_bought.cumsum()[:-1])]
    return true_lists, names[predicted].tolist()


def rectangles(
    bought: np.ndarray, n_bought: np.ndarray, predicted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the input that ranx scores fastest: padded pairs of label and relevance."""
    rows = np.repeat(np.arange(len(n_bought)), n_bought)
    columns = np.arange(len(bought)) - (n_bought.cumsum() - n_bought)[rows]
    qrels = np.zeros((len(n_bought), n_bought.max(), 2))
    qrels[:, :, 0] = -1
    qrels[rows, columns] = np.column_stack([bought, np.ones(len(bought))])
    run = np.zeros((*predicted.shape, 2))
    run[:, :, 0] = predicted
    run[:, :, 1] = np.arange(predicted.shape[1], 0, -1)
    return qrels, run


def map_at_12() -> list[list[str]]:
    """One million users."""
    from ranx import evaluate

    bought, n_bought, predicted = purchases()
    offsets = np.concatenate([[0], n_bought.cumsum()])
    y_true = pyarrow.LargeListArray.from_arrays(offsets, bought)
    qrels, run = rectangles(bought, n_bought, predicted)
    evaluate(qrels[:100], run[:100], 'map@12')  # compiles
    true_lists, predicted_lists = lists_of_text(bought, n_bought, predicted)

    def streamed() -> float:
        metric = MeanAveragePrecision()
        for begin in range(0, len(predicted), PIECE):
            metric.update(y_true[begin : begin + PIECE], predicted[begin : begin + PIECE])
        return metric.compute()

    def loop() -> float:
        return mapk(true_lists, predicted_lists)

    arrays, lists = 'MAP@12 of arrays', 'MAP@12 of lists of text'
    as_ranx = 'MAP@12 of arrays, as ranx defines it'
    return compare(
        bought.nbytes + predicted.nbytes,
        {
            arrays: lambda: mean_average_precision_at_k(y_true, predicted),
            'MAP@12 of arrays, 100,000 users at a time': streamed,
            'MAP@12 of arrays, trec': lambda: mean_average_precision_at_k(
                y_true, predicted, 12, 'trec'
            ),
            as_ranx: lambda: mean_average_precision_at_k(y_true, predicted, 12, RANX),
            lists: lambda: mean_average_precision_at_k(true_lists, predicted_lists),
        },
        {
            'loop over lists of text': (loop, arrays),
            'the same loop': (loop, lists),
            'ranx': (lambda: float(evaluate(qrels, run, 'map@12')), as_ranx),
        },
    )


def pandas_recipe(predicted: np.ndarray, confidence: np.ndarray, truth: np.ndarray) -> float:
    """Return global AP as notebooks compute it: a sorted frame with a column for each step."""
    frame = pandas.DataFrame({'predicted': predicted, 'confidence': confidence, 'truth': truth})
    frame = frame.sort_values('confidence', ascending=False)
    frame['correct'] = (frame['predicted'] == frame['truth']).astype(int)
    frame['precision'] = frame['correct'].cumsum() / np.arange(1, len(frame) + 1)
    frame['term'] = frame['precision'] * frame['correct']
    return float(frame['term'].sum() / frame['truth'].count())


def one_sort(predicted: np.ndarray, confidence: np.ndarray, truth: np.ndarray) -> float:
    """Sort positive doubles with the hit as their last bit; nearly equal ones become ties."""
    bits = confidence.view(np.int64) & ~1 | (predicted == truth)
    bits.sort()
    hits = np.flatnonzero(bits[::-1] & 1)
    return float((np.arange(1, len(hits) + 1) / (hits + 1)).sum() / len(truth))


def gap() -> list[list[str]]:
    """Ten million predictions, a third of them right."""
    random = np.random.default_rng(SEED)
    n = 10_000_000
    confidence = random.random(n)
    predicted = random.integers(0, 1000, n)
    truth = np.where(random.random(n) < 1 / 3, predicted, random.integers(0, 1000, n))
    coarse = confidence.round(3)

    def streamed() -> float:
        metric = GlobalAveragePrecision()
        for begin in range(0, n, PIECE):
            part = slice(begin, begin + PIECE)
            metric.update(y_true=truth[part], y_pred=predicted[part], confidence=confidence[part])
        return metric.compute()

    def whole() -> float:
        return global_average_precision(y_true=truth, y_pred=predicted, confidence=confidence)

    def peer() -> float:
        return one_sort(predicted, confidence, truth)

    rows = compare(
        confidence.nbytes + predicted.nbytes + truth.nbytes,
        {
            'GAP': whole,
            'GAP, 100,000 at a time': streamed,
            'GAP, three decimals': lambda: global_average_precision(
                y_true=truth, y_pred=predicted, confidence=coarse
            ),
        },
        {
            'one sort': (peer, 'GAP'),
            'pandas': (lambda: pandas_recipe(predicted, confidence, truth), 'GAP'),
            'pandas, three decimals': (
                lambda: pandas_recipe(predicted, coarse, truth),
                'GAP, three decimals',
            ),
        },
    )
    return [*rows, cpu_row(('one sort', 'GAP'), peer, whole)]


BENCHMARKS = {'lrap': lrap, 'macro-ap': macro_ap, 'map': map_at_12, 'gap': gap}
PEERS = {
    'lrap': ['scikit-learn'],
    'macro-ap': ['scikit-learn'],
    'map': ['ranx', 'numba'],
    'gap': [],
}

if __name__ == '__main__':
    warnings.simplefilter('ignore')  # of numba
    for name in sys.argv[1:] or BENCHMARKS:
        machine.write(f'siblings-{name}', HEADERS, BENCHMARKS[name](), PEERS[name])
