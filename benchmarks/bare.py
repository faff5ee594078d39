"""One run scored without checks: `python benchmarks/bare.py REFERENCE RUN QUERIES`.

Code as a researcher would write it for one campaign, with numpy, rapidfuzz and plain Python. It
computes average precision by the definition `mediaeval-2016`; `speed.py` checks that MAP equals the
MAP of the package, in the printed digits.
"""

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance.Levenshtein import normalized_distance
from rapidfuzz.process import cdist

K = (1, 10, 100, 1000)


def read(path: str, n_fields: int) -> list[list[str]]:
    """Return the columns of a file."""
    with open(path, encoding='utf-8') as file:
        words = file.read().split()
    return [words[field::n_fields] for field in range(n_fields)]


def shot_key(shot: str) -> tuple[int, int, str]:
    """Return the sort key of a shot id: numbers by value, before other ids."""
    return (0, int(shot), shot) if shot.isdigit() else (1, 0, shot)


def number(
    column: Sequence[str], key: Callable[[str], Any] | None = None
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct values, sorted, and for each row the position of its value."""
    values = sorted(set(column), key=key)
    codes = {value: code for code, value in enumerate(values)}
    return values, np.array([codes[value] for value in column])


def in_order(
    video: NDArray[np.int64],
    shot: NDArray[np.int64],
    name: NDArray[np.int64],
    confidence: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return the rows, sorted by confidence, temporal rank, video, shot and name."""
    order = np.lexsort((shot, video, confidence, name))
    keys = np.array((name, confidence, video))[:, order]
    begins = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
    temporal_rank = np.empty(len(order), dtype=int)
    temporal_rank[order] = np.arange(len(order)) - begins.repeat(np.diff(begins, append=len(order)))
    return np.lexsort((name, shot, video, temporal_rank, -confidence))


def score(reference: str, run: str, queries: str) -> NDArray[np.float64]:
    """Return AP at each cutoff, a row for each query."""
    code_of: dict[Hashable, int] = {}  # of each shot of the reference
    relevant: dict[str, set[int]] = {}  # the distinct shots of each name
    for *shot, person in zip(*read(reference, 4), strict=True):
        relevant.setdefault(person, set()).add(code_of.setdefault(tuple(shot), len(code_of)))

    corpora, videos, shots, people, confidences = read(run, 5)
    names, name = number(people)
    corpus_names, corpus = number(corpora)
    video = number(videos)[1] * len(corpus_names) + corpus
    confidence = np.array(confidences, dtype=float)
    rows = in_order(video, number(shots, shot_key)[1], name, confidence)
    name_at = name[rows]
    codes = [code_of.get(shot, -1) for shot in zip(corpora, videos, shots, strict=True)]
    shot_at = np.array(codes)[rows]

    (asked,) = read(queries, 1)
    distances = cdist(asked, names, scorer=normalized_distance, dtype=np.float64, workers=-1)
    held = np.bincount(name_at)
    values = np.ones((len(asked), len(K)))  # AP of a query without a relevant shot is 1
    for ap, query, distance in zip(values, asked, distances, strict=True):
        if query not in relevant:
            continue
        # only the nearest names with enough hypotheses, and all names tied with the last
        nearest = distance.argsort()
        last = held[nearest].cumsum().searchsorted(max(K))
        radius = distance[nearest[min(last, len(nearest) - 1)]]
        near = (distance <= radius)[name_at].nonzero()[0]
        top = near[distance[name_at[near]].argsort(kind='stable')[: max(K)]]
        is_relevant = np.zeros(len(code_of) + 1, dtype=bool)  # the last is for any other shot
        is_relevant[list(relevant[query])] = True
        hits = is_relevant[shot_at[top]]
        sums = (hits * hits.cumsum() / np.arange(1, len(top) + 1)).cumsum()
        for column, k in enumerate(K):
            ap[column] = sums[min(k, len(top)) - 1] / min(k, len(top), len(relevant[query]))
    return values


def main(reference: str, run: str, queries: str) -> None:
    """Print MAP."""
    values = score(reference, run, queries)
    print(f'{len(values)} queries')
    for k, column in zip(K, values.T, strict=True):
        print(f'MAP@{k:<6}{math.fsum(column) / len(column):.3f}')


if __name__ == '__main__':
    main(*sys.argv[1:])
