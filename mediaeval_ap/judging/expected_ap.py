"""Expected average precision where only some labels are known, and what a label would change.

With independent labels of probability p, the sum of precisions S = Σ hᵢ/i (1 + Σ_{j<i} hⱼ) has the
expectation Σ pᵢ/i (1 + Σ_{j<i} pⱼ) (B. Carterette, J. Allan and R. Sitaraman, "Minimal test
collections for retrieval evaluation", SIGIR 2006). It is divided by what the denominator of the
definition is expected to be where something is relevant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import depths
from mediaeval_ap.judging.candidates import Floats, PoolPairs
from mediaeval_ap.metrics.ap_of_hits import Counts, least


class _Parts(NamedTuple):
    """The terms of E[AP]; all but the first two have shape (n_runs, n_queries)."""

    is_deep: NDArray[np.bool_]  # of each place: it counts, by the depth of the definition
    p: Floats  # at each place; 0 where that does not count
    sums: Floats  # E[S]
    denominators: Floats
    without: Floats  # what the definition gives where nothing is relevant, times its probability


class ExpectedAP:
    """Expected AP of each run and query at the last cutoff, for any probabilities of pool pairs.

    A shot that a ranking returns again counts where it stands first.
    """

    def __init__(self, pairs: PoolPairs) -> None:
        places, kept = pairs.places, pairs.places.is_first
        self._pairs = pairs
        self._pair, self._rank, self._run = places.pair[kept], places.rank[kept], places.run[kept]
        self._shape = len(pairs.runs), len(pairs.queries)
        self._ranking = self._run * len(pairs.queries) + places.query[kept]
        (self._k,) = depths(pairs.criteria.K[-1:])
        starts = run_starts([self._ranking])
        self._start = starts.repeat(np.diff(starts, append=len(self._ranking)))

    def __call__(self, p: Floats, n_outside: NDArray[np.int64] | None = None) -> Floats:
        """Return E[AP], shape (n_runs, n_queries), from the probability of each pool pair.

        `n_outside` are the known relevant shots of each query that are no pool pairs. Known labels,
        as probabilities 0 and 1, give AP itself.
        """
        parts = self._parts(p, n_outside)
        is_defined = parts.denominators > 0
        zeros = np.zeros(self._shape)
        expected: Floats = np.divide(parts.sums, parts.denominators, out=zeros, where=is_defined)
        expected += parts.without
        return expected

    def derivatives(self, p: Floats, n_outside: NDArray[np.int64] | None = None) -> Floats:
        """Return ∂E[S]/∂p over the expected denominator, shape (n_runs, n_pairs)."""
        parts = self._parts(p, n_outside)
        shares = parts.p / self._rank
        total = self._per_ranking(shares).reshape(-1)[self._ranking]
        slopes = (1 + self._before(parts.p)) / self._rank  # of the pair's own precision
        slopes += total - self._before(shares) - shares  # of those behind it
        scale = parts.denominators.reshape(-1)[self._ranking]
        found = np.zeros((self._shape[0], len(self._pairs)))
        found[self._run, self._pair] = parts.is_deep * slopes / np.where(scale > 0, scale, 1)
        return found

    def _parts(self, p: Floats, n_outside: NDArray[np.int64] | None) -> _Parts:
        definition, query = self._pairs.criteria.definition, self._pairs.query
        n_queries = self._shape[1]
        outside = np.zeros(n_queries, dtype=np.int64) if n_outside is None else n_outside
        with np.errstate(divide='ignore'):
            all_others = np.exp(np.bincount(query, np.log1p(-p), minlength=n_queries))
        none = np.where(outside > 0, 0, all_others)  # the probability that nothing is relevant
        some = np.maximum(1 - none, np.finfo(float).tiny)
        n_relevant = (np.bincount(query, p, minlength=n_queries) + outside) / some
        at: dict[str, Counts] = {
            'R': np.broadcast_to(n_relevant, self._shape),
            'k': np.full(self._shape, self._k),
            'N': np.broadcast_to(self._pairs.n_returned[:, None], self._shape),
            'H': self._per_ranking(p[self._pair]) / some,
        }
        deepest = np.maximum(least(definition.depth, at), 1).reshape(-1)
        is_deep = self._rank <= deepest[self._ranking]
        ranked = np.where(is_deep, p[self._pair], 0)
        return _Parts(
            is_deep,
            ranked,
            self._per_ranking(ranked / self._rank * (1 + self._before(ranked))),
            np.array(least(definition.denominator, at), dtype=np.float64),
            np.broadcast_to(none * definition.without_relevant, self._shape),
        )

    def _before(self, values: Floats) -> Floats:
        """Return the sum of what stands before each place in its ranking."""
        sums = values.cumsum() - values
        before: Floats = sums - sums[self._start]
        return before

    def _per_ranking(self, values: Floats) -> Floats:
        n_runs, n_queries = self._shape
        sums: Floats = np.zeros(n_runs * n_queries)
        sums += np.bincount(self._ranking, values, minlength=len(sums))
        return sums.reshape(self._shape)
