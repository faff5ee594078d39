"""Means over queries, sentences about queries that are special, and names of runs."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALL_QUERIES = 'all'  # the query of the row of means, as trec_eval and ir_measures have it
N_QUERIES = 'n_queries'  # of that row: what its means are over
SKIPPED = 'queries_skipped'  # the count of queries that were left out, where these may be
NO_RELEVANT = 'have no relevant shot'
NO_LABEL = 'have no true label'
_of_queries = re.compile(r'(\d+) of (\d+) queries (.*)').fullmatch


@dataclass(frozen=True)
class MetricKind:
    """What the value of a metric is over, and what follows from that.

    The mean over queries with a true label, in which a run without predictions gets 0, needs no
    entry in `METRIC_KINDS`.
    """

    unit: str = 'query'
    units: str = 'queries'
    over: str = 'queries'  # the name of the count that the value is over
    no_mean: str = ''  # why it is no mean over queries
    is_one_list: bool = False  # all predictions are ranked together, and a table has a row for each
    scores_all: bool = False  # queries without a true label are in the mean, and none is at 0


METRIC_KINDS: Mapping[str, MetricKind] = {
    'GAP': MetricKind(
        'query with a true label',
        'queries with a true label',
        no_mean='the rank of a prediction depends on those of all queries',
        is_one_list=True,
    ),
    'LRAP': MetricKind(scores_all=True),
    'lwlrap': MetricKind('label', 'labels', 'labels', no_mean='it is a mean over labels'),
}


def kind_of_metric(metric: str) -> MetricKind:
    """Return the kind of a metric by its name in results."""
    return METRIC_KINDS.get(metric, MetricKind())


@dataclass(frozen=True)
class Compared:
    """Values that have a mean over queries, by the name of the mean: runs are compared by them.

    `floor` has the mean that a run without any hypothesis gets, where it is known; `left_out` the
    measures without a value for some query.
    """

    queries: Sequence[str]
    values: Mapping[str, NDArray[np.float64]]
    n_relevant: NDArray[np.int64] | None
    floor: Mapping[str, float]
    left_out: Sequence[str] = ()


def mean_average_precision(ap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over queries (rows), rounded once, whatever the order of the queries."""
    return np.array([math.fsum(column) / len(ap) for column in ap.T.tolist()])


def mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean, rounded like that of average precision; None over nothing."""
    return math.fsum(values.tolist()) / len(values) if len(values) else None


def notes_of(count: int, n_queries: int, what: str) -> list[str]:
    """Return the note that some queries are special, if there are any."""
    return [f'{count} of {n_queries} queries {what}'] if count else []


def counted_note(note: str) -> tuple[str, int | None, int | None]:
    """Return what a note says, of how many queries, of how many; None if it is not of queries."""
    found = _of_queries(note)
    if found is None:
        return note, None, None
    count, n_queries, what = found.groups()
    return f'queries {what}', int(count), int(n_queries)


def notes_of_skipped(n_skipped: int, n_scored: int, lack: str) -> list[str]:
    """Return the note that queries were left out before the others were scored, if any were."""
    return notes_of(n_skipped, n_skipped + n_scored, f'{lack}, and are left out')


def note_of_floor(n_without: int, n_queries: int, counts_as: float) -> str:
    """Return the note on queries without a relevant shot, and on the mean that they alone make."""
    (note,) = notes_of(n_without, n_queries, f'{NO_RELEVANT}: each counts {counts_as:g}')
    floor = n_without * counts_as / n_queries
    return f'{note}, and an empty run has MAP {floor:.3f}' if floor else note


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files, with the folder where two have the same."""
    files = ['<stdin>' if path == '-' else os.path.basename(path) for path in paths]
    times = Counter(files)
    return [file if times[file] == 1 else path for file, path in zip(files, paths, strict=True)]
