"""Means over queries, and sentences about queries that are special."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

NO_RELEVANT = 'have no relevant shot'
NO_LABEL = 'have no true label'


def mean_average_precision(ap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over queries (rows), rounded once, whatever the order of the queries."""
    return np.array([math.fsum(column) / len(ap) for column in ap.T.tolist()])


def mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean, rounded like that of average precision; None over nothing."""
    return math.fsum(values.tolist()) / len(values) if len(values) else None


def notes_of(count: int, n_queries: int, what: str) -> list[str]:
    """Return the note that some queries are special, if there are any."""
    return [f'{count} of {n_queries} queries {what}'] if count else []


OF_QUERIES = re.compile(r'(\d+) of (\d+) queries (.*)')


def counted_note(note: str) -> tuple[str, int | None, int | None]:
    """Return what a note says, of how many queries, of how many; None if it is not of queries."""
    found = OF_QUERIES.fullmatch(note)
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
