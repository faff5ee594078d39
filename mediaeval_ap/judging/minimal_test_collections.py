"""Minimal test collections: find the label that would most separate the expected AP of the runs.

A logistic regression, fitted to the judgements so far, gives each pool pair the probability p that
it is relevant. Before there are judgements, p is the mean of 1/rank over all runs; a run that does
not return the pair counts 0. This prior stays in the fit as judgements of its own, so that few
judgements move it and many outweigh it. The coefficient of the surplus of relevant pairs in a query
has a log-F(1, 1) prior (S. Greenland and M. A. Mansournia, "Penalization, bias reduction, and
default priors in logistic and related categorical and survival regressions", Statistics in Medicine
34, 2015).

With independent labels, the sum of precisions S = Σ hᵢ/i (1 + Σ_{j<i} hⱼ) has the expectation
Σ pᵢ/i (1 + Σ_{j<i} pⱼ) (see `judging_queue.Queue`). It is divided by the expected denominator of
the definition, given that something is relevant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats, run_starts
from mediaeval_ap.definitions import depths
from mediaeval_ap.errors import require
from mediaeval_ap.judging.candidates import PairLabels, PoolPairs
from mediaeval_ap.metrics.ap_of_hits import Counts, least

PRIOR_JUDGEMENTS = 20  # the prior weighs as much as this number of judgements
MOST_ANCHORS = 500  # pairs that carry the prior into the fit: all of them take 20 times as long
PRIOR_BOUNDS = 0.02, 0.95
PROBABILITY_BOUNDS = 1e-4, 1 - 1e-4  # without a judgement nothing is certain
LARGEST_GRADIENT = 1e-7  # of the log-likelihood where the fit ends
QUERY_PRIOR_JUDGEMENTS = 2  # in each query, as if these agreed with the prior


class RelevanceModel:
    """The probability that each pool pair is relevant, from the judgements so far."""

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
                np.mean(votes, axis=0),  # the share of teams that return the pair
                np.log(mean),
                np.log(reciprocal.max(axis=0)),
                pairs.distances.min(axis=0),
                pairs.confidences.sum(axis=0) / is_returned.sum(axis=0),
                np.log(np.bincount(pairs.query)[pairs.query]),  # the pairs of its query
            ]
        )
        columns = columns[:, np.ptp(columns, axis=0) > 0]  # a constant one repeats the intercept
        columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
        self._columns = np.column_stack([np.ones(len(pairs)), columns])

    def probabilities(self, labels: PairLabels) -> Floats:
        """Fit the model to labels, and return each pair's probability, or its label."""
        columns = np.column_stack([self._columns, self._surplus_in_query(labels)])
        fitted = _logistic(columns @ self._coefficients(columns, labels))
        p: Floats = np.clip(fitted, *PROBABILITY_BOUNDS)
        return np.where(labels >= 0, labels, p)

    def _coefficients(self, columns: Floats, labels: PairLabels) -> Floats:
        """Return the coefficients at which prior and labels are likeliest."""
        judged = np.flatnonzero(labels >= 0)
        prior_rows = columns[self._anchors]
        prior_rows[:, -1] = 0
        surplus_row = np.zeros((1, columns.shape[1]))  # its prior: one half of a judgement each way
        surplus_row[0, -1] = 1
        x = np.concatenate([prior_rows, surplus_row, columns[judged]])
        y = np.concatenate([self.prior[self._anchors], [0.5], labels[judged]])
        weights = np.ones(len(y))
        weights[: len(prior_rows)] = PRIOR_JUDGEMENTS / len(prior_rows)

        def loss(coefficients: Floats) -> tuple[float, Floats]:
            z = x @ coefficients
            value = float(weights @ (np.logaddexp(0, z) - y * z))
            return value, (weights * (_logistic(z) - y)) @ x

        def curvature(coefficients: Floats) -> Floats:
            p = _logistic(x @ coefficients)
            matrix: Floats = (x.T * (weights * p * (1 - p))) @ x
            return matrix

        coefficients: Floats = self._optimize.minimize(
            loss,
            np.zeros(x.shape[1]),
            jac=True,
            hess=curvature,
            method='trust-exact',  # works also where columns depend on one another
            options={'gtol': LARGEST_GRADIENT},
        ).x
        return coefficients

    def _surplus_in_query(self, labels: PairLabels) -> Floats:
        """Return the mean of label - prior over the other judged pairs of each pair's query."""
        is_judged = labels >= 0
        query = self._query
        excess = np.where(is_judged, labels - self.prior, 0)
        excess_of_others = np.bincount(query, excess, minlength=self._n_queries)[query] - excess
        n_others = np.bincount(query, is_judged, minlength=self._n_queries)[query] - is_judged
        return excess_of_others / (n_others + QUERY_PRIOR_JUDGEMENTS)


def _logistic(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-z))


class ExpectedAP:
    """Expected AP of all rankings at the last cutoff, and its slope in each pair's probability."""

    # A shot that a ranking returns again counts at its first rank alone.

    def __init__(self, pairs: PoolPairs) -> None:
        self._pairs = pairs
        self._run, query, self._pair, self._rank = pairs.ranked
        self._shape = len(pairs.runs), len(pairs.queries)
        self._ranking = self._run * len(pairs.queries) + query
        (self._k,) = depths(pairs.criteria.K[-1:])
        starts = run_starts([self._ranking])
        self._start = starts.repeat(np.diff(starts, append=len(self._ranking)))
        # A hit at rank i with n hits above adds `own + n·by_hit_above` to the sum of precisions.
        self._own = self._by_hit_above = 1 / self._rank
        if pairs.criteria.definition.precision == 'trapezoid':
            self._own = np.where(self._rank == 1, 1, self._own / 2)
            self._by_hit_above = (1 / self._rank + 1 / np.maximum(self._rank - 1, 1)) / 2

    def derivatives(self, p: Floats) -> Floats:
        """Return ∂E[S]/∂p over the expected denominator, shape (n_runs, n_pairs)."""
        is_scored, denominators = self.scored_ranks(p)
        scored_p = np.where(is_scored, p[self._pair], 0)
        shares = scored_p * self._by_hit_above
        total = self._per_ranking(shares).reshape(-1)[self._ranking]
        # The slope of the pair's own precision, then of the precisions below it.
        slopes = self._own + self._sum_above(scored_p) * self._by_hit_above
        slopes += total - self._sum_above(shares) - shares
        scale = denominators.reshape(-1)[self._ranking]
        derivatives = np.zeros((self._shape[0], len(self._pairs)))
        derivatives[self._run, self._pair] = is_scored * slopes / np.where(scale > 0, scale, 1)
        return derivatives

    def scored_ranks(self, p: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Mark the ranks within the expected depth; return also the expected denominators."""
        definition = self._pairs.criteria.definition
        query = self._pairs.query
        n_queries = self._shape[1]
        with np.errstate(divide='ignore'):
            p_none_relevant = np.exp(np.bincount(query, np.log1p(-p), minlength=n_queries))
        p_some_relevant = np.maximum(1 - p_none_relevant, np.finfo(float).tiny)
        n_relevant = np.bincount(query, p, minlength=n_queries) / p_some_relevant
        count_by_letter: dict[str, Counts] = {
            'R': np.broadcast_to(n_relevant, self._shape),
            'k': np.full(self._shape, self._k),
            'N': self._pairs.n_returned,
            'H': self._per_ranking(p[self._pair]) / p_some_relevant,
        }
        deepest = np.maximum(least(definition.depth, count_by_letter), 1).reshape(-1)
        denominators = np.array(least(definition.denominator, count_by_letter), dtype=np.float64)
        return self._rank <= deepest[self._ranking], denominators

    def _sum_above(self, values: Floats) -> Floats:
        """Return, for each rank, the sum of the values above it in its ranking."""
        sums = values.cumsum() - values
        return sums - sums[self._start]

    def _per_ranking(self, values: Floats) -> Floats:
        n_runs, n_queries = self._shape
        sums: Floats = np.zeros(n_runs * n_queries)
        sums += np.bincount(self._ranking, values, minlength=len(sums))
        return sums.reshape(self._shape)
