"""AP, NDCG and precision, estimated from a pool that is judged as a sample by strata.

E. Yilmaz, E. Kanoulas and J. A. Aslam, "A simple and efficient sampling method for estimating AP
and NDCG", SIGIR 2008.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, run_starts

Counts: TypeAlias = NDArray[Any]


class Sample(NamedTuple):
    """A pool, of which some documents are judged, and a run down to a depth.

    One stratum: 2 of 4 documents are judged, and 1 of these is relevant. The run returns it at rank
    2, behind a document that is not judged; the smoothing counts this one as 1/3 relevant:

    >>> relevance = np.array([-1, -1, 1, 0])
    >>> pool = np.zeros(4, dtype=int), relevance, relevance > 0, (1, 1)
    >>> sample = Sample(*pool, returned=np.array([0, 2]), ranks=np.array([1, 2]), depth=1000)
    >>> sample.average_precision().round(4).tolist()
    [0.6667]
    """

    stratum: NDArray[np.integer]  # of pooled documents, counted topic after topic
    relevance: NDArray[np.number]  # below 0 if not judged
    is_relevant: NDArray[np.bool_]
    shape: tuple[int, int]  # the numbers of topics and strata
    returned: NDArray[np.integer]  # the pooled documents of the run, by topic and rank
    ranks: NDArray[np.integer]  # of these, from 1
    depth: int

    def average_precision(self) -> Floats:
        """Return xinfAP of each topic."""
        size, judged, relevant = self._counts()
        n_relevant = _quotients(size * relevant, judged).sum(axis=1)
        precision = (1 + self._relevant_above()) / self.ranks * self.is_relevant[self.returned]
        sums = self._sums(self.returned, precision)
        estimates = _quotients(size * sums, judged).sum(axis=1)
        return _quotients(estimates, np.minimum(n_relevant, self.depth))

    def precision(self, k: int) -> Floats:
        """Return the inferred precision at k of each topic."""
        expected = _expected_relevant(*self._counts(self.returned[self.ranks <= k]))
        precisions: Floats = expected.sum(axis=1) / k
        return precisions

    def ndcg(self) -> Floats:
        """Return xinfNDCG of each topic; the gain of a document is its relevance."""
        gains = self.relevance[self.returned].clip(0) / np.log2(self.ranks + 1)
        size, judged, _ = self._counts(self.returned)
        estimates = _quotients(size * self._sums(self.returned, gains), judged).sum(axis=1)
        return _quotients(estimates, self._ideal_gains())

    def _sums(self, rows: Any, weights: NDArray[Any]) -> Floats:
        """Return the sums of the weights of some pooled documents by topic and stratum."""
        sums = np.bincount(self.stratum[rows], weights, minlength=math.prod(self.shape))
        return sums.astype(np.float64).reshape(self.shape)

    def _counts(self, rows: Any = slice(None)) -> list[Floats]:
        """Return the numbers of all, of judged and of relevant documents among some pooled ones."""
        relevance = self.relevance[rows]
        marks = np.ones(len(relevance)), relevance >= 0, self.is_relevant[rows]
        return [self._sums(rows, column) for column in marks]

    def _relevant_above(self) -> Floats:
        """Estimate the number of relevant documents above each returned one."""
        topic, stratum = np.divmod(self.stratum[self.returned], self.shape[1])
        is_judged = self.relevance[self.returned] >= 0
        begins = run_starts([topic])
        sizes = np.diff(begins, append=len(topic))
        total = np.zeros(len(topic))
        for number in np.unique(stratum):
            is_here = stratum == number
            marks = is_here, is_here & is_judged, is_here & self.is_relevant[self.returned]
            above = [column.cumsum() - column for column in marks]
            total += _expected_relevant(*(n - n[begins].repeat(sizes) for n in above))
        return total

    def _ideal_gains(self) -> Floats:
        """Return the DCG of the estimated numbers of documents by relevance, the best first."""
        size, judged, _ = self._counts()
        begins = np.zeros(self.shape[0])
        gains = np.zeros(self.shape[0])
        grades = np.unique(self.relevance)
        for grade in grades[grades > 0][::-1]:
            sampled = self._sums(slice(None), self.relevance == grade)
            # Rounding decides about the last document: strata are added one by one.
            numbers = np.add.accumulate(_quotients(sampled * size, judged), axis=1)[:, -1]
            for topic in np.flatnonzero(numbers):
                ranks = begins[topic] + np.arange(1, numbers[topic] + 1.5)
                ranks = ranks[ranks <= begins[topic] + numbers[topic]]
                # A grade that begins at or below the depth still adds one document.
                ranks = ranks[: max(1, math.ceil(self.depth - begins[topic]))]
                gains[topic] += (grade / np.log2(ranks + 1)).sum()
            begins += numbers
        return gains


def _expected_relevant(size: Counts, judged: Counts, relevant: Counts) -> Floats:
    expected: Floats = size * (relevant + 1e-5) / (judged + 3e-5)  # smoothed as by the authors
    return expected


def _quotients(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, np.zeros(numerator.shape), where=denominator > 0)
