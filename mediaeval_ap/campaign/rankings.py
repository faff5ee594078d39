"""The top of each ranking and the ranks of all hits, small enough for a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import depths
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import Top
from mediaeval_ap.evaluation.whole_run import CountedRun

SHOWN = 10  # hypotheses of each ranking; a choice
SHOWN_IN_ALL = 60_000  # a choice: the page of 17 runs of 599 queries stays below 1.3 MB
LEAST_SHOWN = 3
MOST_DECIMALS = 15  # more digits than a double holds
LARGEST_EXACT = 2**53  # up to it, an integer is a double
COLUMNS = ('hits', 'tops', 'lengths', 'distance', 'shot', 'name', 'decimals', 'confidence')


class Numbers:
    """Distinct values, numbered as they come."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        return self._number.setdefault(value, len(self._number))

    def values(self) -> list[Any]:
        return list(self._number)


class Rankings:
    """The rankings of several runs, as integers into tables of distinct values.

    Rankings of queries without a relevant shot are left out: they decide no value.
    """

    def __init__(self, criteria: Criteria, queries: Sequence[str], n_runs: int) -> None:
        self._queries = queries
        self._is_answerable = [criteria.reference.n_relevant(query) > 0 for query in queries]
        rankings = max(n_runs * sum(self._is_answerable), 1)
        self._n_shown = max(LEAST_SHOWN, min(SHOWN, SHOWN_IN_ALL // rankings))
        self._depth = max(depths(criteria.K))
        self._videos, self._shots, self._names, self._distances = (Numbers() for _ in range(4))
        self._runs: dict[str, dict[str, Any]] = {}

    def add(self, name: str, run: CountedRun) -> None:
        """Add the rankings of a run."""
        tops = list(run.scorer.top(self._queries, self._depth))
        shown = [
            top.places[: self._n_shown] if answerable else top.places[:0]
            for top, answerable in zip(tops, self._is_answerable, strict=True)
        ]
        distances = [
            run.ranking.columns_at(places, top.distances)['distance']
            for top, places in zip(tops, shown, strict=True)
        ]
        # Rows of one name stand together, as they do in rankings: so differences are small.
        rows = np.unique(np.concatenate(shown))
        columns = run.ranking.columns_at(rows, tops[0].distances)
        rows = rows[np.lexsort([rows, np.array(columns['person_name'], dtype=object)])]
        number_of = {row: number for number, row in enumerate(rows.tolist())}
        self._runs[name] = {
            'hits': [_steps((top.hits + 1).tolist()) for top in tops],
            'tops': _steps([number_of[row] for places in shown for row in places.tolist()]),
            'lengths': [len(places) for places in shown],
            'distance': [
                [self._distances.of(each) for each in np.asarray(of_query).tolist()]
                for of_query in distances
            ],
            **self._details(run, rows, tops[0]),
        }

    def _details(self, run: CountedRun, rows: Any, top: Top) -> dict[str, Any]:
        columns = run.ranking.columns_at(rows, top.distances)
        ids = zip(columns['corpus_id'], columns['video_id'], columns['shot_id'], strict=True)
        shots = [
            self._shots.of((self._videos.of((corpus, video)), shot)) for corpus, video, shot in ids
        ]
        decimals, confidence = _as_integers(np.asarray(columns['confidence']))
        return {
            'shot': _steps(shots),
            'name': [self._names.of(each) for each in columns['person_name']],
            'decimals': decimals,
            'confidence': confidence,
        }

    def to_dict(self, runs: Sequence[str]) -> dict[str, Any]:
        """Return the tables, and the rankings of the runs in this order.

        Each column has one entry for each run, as this compresses better than runs with columns:
        ``hits``, for each query the steps from one rank of a hit to the next; ``tops``, the steps
        from one row to the next, through the rankings of all queries, each of as many rows as
        ``lengths`` says; their ``distance``; and of the rows, the steps from one ``shot`` to the
        next, ``name``, and ``confidence``: steps of integers that end so many ``decimals`` after
        the point, or the numbers as they are where this is None.
        """
        return {
            'depth': self._n_shown,
            'videos': self._videos.values(),
            'shots': self._shots.values(),
            'names': self._names.values(),
            'distances': self._distances.values(),
            **{column: [self._runs[run][column] for run in runs] for column in COLUMNS},
        }


def _steps(numbers: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise(chain([0], numbers))]


def _as_integers(values: NDArray[np.float64]) -> tuple[int | None, list[Any]]:
    """Return numbers as steps of integers, with the decimals that give back the same numbers."""
    for decimals in range(MOST_DECIMALS + 1):
        integers = np.rint(values * 10**decimals)
        if np.abs(integers).max(initial=0) >= LARGEST_EXACT:
            break
        if (integers / 10**decimals == values).all():
            return decimals, _steps(integers.astype(np.int64).tolist())
    return None, values.tolist()
