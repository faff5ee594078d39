"""Long names and queries beside rapidfuzz: `python benchmarks/names.py`."""

import warnings
from collections.abc import Sequence
from statistics import median
from time import process_time

import machine
import numpy as np
from rapidfuzz.distance.Levenshtein import normalized_distance
from rapidfuzz.process import cdist

from mediaeval_ap import AveragePrecision

N_NAMES = 50_000
N_QUERIES = 20
SEED = 5  # any would do
ALPHABET = np.array(list('abcdefghijklmnopqrstuvwxyz_'))
LENGTHS = [(14, 14), (14, 64), (14, 65), (14, 200), (64, 64), (65, 14), (65, 65), (128, 128)]
LENGTHS += [(200, 200)]  # of names, of queries


def texts(random: np.random.Generator, n_texts: int, length: int) -> list[str]:
    return [''.join(letters) for letters in random.choice(ALPHABET, (n_texts, length)).tolist()]


def row(name_length: int, query_length: int) -> list[str]:
    """Return median CPU times of a query, of both in turns."""
    random = np.random.default_rng(SEED)
    names = texts(random, N_NAMES, name_length)
    queries = texts(random, N_QUERIES, query_length)
    run = [('NEWS', 'video', str(number), name, 0.5) for number, name in enumerate(names)]
    reference = [('NEWS', 'video', '1', query) for query in queries]
    session = AveragePrecision(reference, K=[100])(run)
    session.send(queries[0])
    ours, theirs = [], []
    for query in queries:
        begin = process_time()
        session.send(query)
        between = process_time()
        nearest(query, names)
        ours.append(between - begin)
        theirs.append(process_time() - between)
    seconds, peer = median(ours), median(theirs)
    return [
        str(name_length),
        str(query_length),
        f'{seconds * 1e3:.2f} ms',
        f'{peer * 1e3:.2f} ms',
        f'{seconds / peer:.2f}',
    ]


def nearest(query: str, names: Sequence[str]) -> np.ndarray:
    """Return the hundred nearest names, by rapidfuzz on one core."""
    (distances,) = cdist([query], names, scorer=normalized_distance, dtype=np.float64)
    return np.argpartition(distances, 100)[:100]


if __name__ == '__main__':
    warnings.simplefilter('ignore')  # no query is a name of the run
    headers = ['letters of each name', 'of the query', '`send`', 'rapidfuzz', 'ratio']
    machine.write('names', headers, [row(*lengths) for lengths in LENGTHS])
