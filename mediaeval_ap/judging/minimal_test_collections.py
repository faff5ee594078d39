"""Minimal test collections: which label would most separate the expected AP of the runs.

A logistic regression, fitted to the judgements so far, gives each pool pair the probability p that
it is relevant. Before there are judgements, a pair has the mean of 1/rank over all runs, of which
those that do not return it count 0. This prior stays in the fit as judgements of its own, so that
few judgements move it and many outweigh it; the coefficient of what was found in a query has a
log-F(1, 1) prior (S. Greenland and M. A. Mansournia, "Penalization, bias reduction, and default
priors in logistic and related categorical and survival regressions", Statistics in Medicine 34,
2015).

With independent labels, the sum of precisions S = Σ hᵢ/i (1 + Σ_{j<i} hⱼ) has the expectation
Σ pᵢ/i (1 + Σ_{j<i} pⱼ) (B. Carterette, J. Allan and R. Sitaraman, "Minimal test collections for
retrieval evaluation", SIGIR 2006). It is divided by the expected denominator of the definition,
given that something is relevant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, run_starts
from mediaeval_ap.definitions import depths
from mediaeval_ap.errors import require
from mediaeval_ap.judging.candidates import Labels, PoolPairs
from mediaeval_ap.metrics.ap_of_hits import Counts, least

PRIOR_JUDGEMENTS = 20  # that the prior is worth
MOST_ANCHORS = 500  # pairs that carry the prior into the fit: all of them take 20 times as long
PRIOR_BOUNDS = 0.02, 0.95
BOUNDS = 1e-4, 1 - 1e-4  # of what is not judged: nothing is certain before somebody has looked
LARGEST_GRADIENT = 1e-7  # of the log-likelihood where the fit ends
PRIOR_OF_QUERY = 2  # judgements that agree with the prior, for what was found in a query


class RelevanceModel:
    """The probability that each pool pair is relevant, from what is judged so far.

    It knows of a pair: the share of teams that return it, the mean of 1/rank over runs, its best
    rank, the least distance of a name, the mean confidence (as a share of the run's pairs that are
    less sure), how many pairs its query has, and how many more of its query's other judged pairs
    are relevant than the prior said.
    """

    def __init__(self, pairs: PoolPairs) -> None:
        self._optimize = require('scipy.optimize', 'compare', 'judge-next')
        self._query = pairs.query
        self._n_queries = len(pairs.queries)
        is_returned = pairs.ranks > 0
        reciprocal = pairs.reciprocal_ranks
        mean = reciprocal.mean(axis=0)
        self.prior = np.clip(mean, *PRIOR_BOUNDS)
        n_anchors = min(len(pairs), MOST_ANCHORS)
        spread = np.linspace(0, len(pairs) - 1, n_anchors).round().astype(np.int64)
        self._anchors = self.prior.argsort(kind='stable')[spread]
        teams = np.array(pairs.teams)
        votes = [is_returned[teams == team].any(axis=0) for team in sorted({*pairs.teams})]
        columns = np.column_stack(
            [
                np.mean(votes, axis=0),
                np.log(mean),
                np.log(reciprocal.max(axis=0)),
                pairs.distances.min(axis=0),
                pairs.confidences.sum(axis=0) / is_returned.sum(axis=0),
                np.log(np.bincount(pairs.query)[pairs.query]),
            ]
        )
        columns = columns[:, np.ptp(columns, axis=0) > 0]  # others are the intercept
        columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
        self._columns = np.column_stack([np.ones(len(pairs)), columns])

    def probabilities(self, labels: Labels) -> Floats:
        """Fit the model to labels, and return each pair's probability, or its label."""
        columns = np.column_stack([self._columns, self._found_in_query(labels)])
        p: Floats = np.clip(_logistic(columns @ self._fitted(columns, labels)), *BOUNDS)
        return np.where(labels >= 0, labels, p)

    def _fitted(self, columns: Floats, labels: Labels) -> Floats:
        """Return the coefficients at which prior and labels are likeliest."""
        known = np.flatnonzero(labels >= 0)
        of_prior = columns[self._anchors]
        of_prior[:, -1] = 0
        of_coefficient = np.zeros((1, columns.shape[1]))
        of_coefficient[0, -1] = 1
        x = np.concatenate([of_prior, of_coefficient, columns[known]])
        y = np.concatenate([self.prior[self._anchors], [0.5], labels[known]])
        weights = np.ones(len(y))
        weights[: len(of_prior)] = PRIOR_JUDGEMENTS / len(of_prior)

        def loss(coefficients: Floats) -> tuple[float, Floats]:
            z = x @ coefficients
            value = float(weights @ (np.logaddexp(0, z) - y * z))
            return value, (weights * (_logistic(z) - y)) @ x

        def curvature(coefficients: Floats) -> Floats:
            p = _logistic(x @ coefficients)
            matrix: Floats = (x.T * (weights * p * (1 - p))) @ x
            return matrix

        fitted: Floats = self._optimize.minimize(
            loss,
            np.zeros(x.shape[1]),
            jac=True,
            hess=curvature,
            method='trust-exact',  # which takes columns that depend on one another
            options={'gtol': LARGEST_GRADIENT},
        ).x
        return fitted

    def _found_in_query(self, labels: Labels) -> Floats:
        """Return how many more of a query's other judged pairs are relevant than expected."""
        known = labels >= 0
        query = self._query
        more = np.where(known, labels - self.prior, 0)
        of_query = np.bincount(query, more, minlength=self._n_queries)[query] - more
        n_others = np.bincount(query, known, minlength=self._n_queries)[query] - known
        surplus: Floats = of_query / (n_others + PRIOR_OF_QUERY)
        return surplus


def _logistic(z: Floats) -> Floats:
    p: Floats = 1 / (1 + np.exp(-z))
    return p


class ExpectedAP:
    """Expected AP of all rankings at the last cutoff: what a label of each pool pair changes."""

    # A shot that a ranking returns again counts where it stands first.

    def __init__(self, pairs: PoolPairs) -> None:
        self._pairs = pairs
        self._run, query, self._pair, self._rank = pairs.places
        self._shape = len(pairs.runs), len(pairs.queries)
        self._ranking = self._run * len(pairs.queries) + query
        (self._k,) = depths(pairs.criteria.K[-1:])
        starts = run_starts([self._ranking])
        self._start = starts.repeat(np.diff(starts, append=len(self._ranking)))

    def derivatives(self, p: Floats) -> Floats:
        """Return ∂E[S]/∂p over the expected denominator, shape (n_runs, n_pairs)."""
        is_deep, denominators = self.counted(p)
        ranked = np.where(is_deep, p[self._pair], 0)
        shares = ranked / self._rank
        total = self._per_ranking(shares).reshape(-1)[self._ranking]
        slopes = (1 + self._before(ranked)) / self._rank  # of the pair's own precision
        slopes += total - self._before(shares) - shares  # of those behind it
        scale = denominators.reshape(-1)[self._ranking]
        found = np.zeros((self._shape[0], len(self._pairs)))
        found[self._run, self._pair] = is_deep * slopes / np.where(scale > 0, scale, 1)
        return found

    def counted(self, p: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Return whether each place counts, and the expected denominators of all rankings."""
        definition = self._pairs.criteria.definition
        query = self._pairs.query
        n_queries = self._shape[1]
        with np.errstate(divide='ignore'):
            none = np.exp(np.bincount(query, np.log1p(-p), minlength=n_queries))  # is relevant
        some = np.maximum(1 - none, np.finfo(float).tiny)
        n_relevant = np.bincount(query, p, minlength=n_queries) / some
        at: dict[str, Counts] = {
            'R': np.broadcast_to(n_relevant, self._shape),
            'k': np.full(self._shape, self._k),
            'N': np.broadcast_to(self._pairs.n_returned[:, None], self._shape),
            'H': self._per_ranking(p[self._pair]) / some,
        }
        deepest = np.maximum(least(definition.depth, at), 1).reshape(-1)
        denominators = np.array(least(definition.denominator, at), dtype=np.float64)
        return self._rank <= deepest[self._ranking], denominators

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
