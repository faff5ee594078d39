"""Probabilities that pool pairs are relevant: a logistic regression that is fitted to judgements.

Before there are judgements, a pair has the mean of 1/rank over all runs, of which those that do not
return it count 0. This prior stays in the fit as judgements of its own, so that few judgements move
it and many outweigh it; the coefficient of what was found in a query has a log-F(1, 1) prior (S.
Greenland and M. A. Mansournia, "Penalization, bias reduction, and default priors in logistic and
related categorical and survival regressions", Statistics in Medicine 34, 2015).
"""

from __future__ import annotations

import warnings

import numpy as np

from mediaeval_ap.errors import require
from mediaeval_ap.judging.candidates import Floats, Labels, PoolPairs

PRIOR_JUDGEMENTS = 20  # that the prior is worth
MOST_ANCHORS = 500  # pairs that carry the prior into the fit: all of them take 20 times as long
PRIOR_BOUNDS = 0.02, 0.95
BOUNDS = 1e-4, 1 - 1e-4  # of what is not judged: nothing is certain before somebody has looked
PRIOR_OF_QUERY = 2  # judgements that agree with the prior, for what was found in a query


class RelevanceModel:
    """The probability that each pool pair is relevant, from what is judged so far.

    It knows of a pair: the share of teams that return it, the mean of 1/rank over runs, its best
    rank, the least distance of a name, the mean confidence (as a share of the run's pairs that are
    less sure), how many pairs its query has, and how many more of its query's other judged pairs
    are relevant than the prior said.
    """

    def __init__(self, pairs: PoolPairs) -> None:
        self._glm = require('statsmodels.genmod.generalized_linear_model', 'compare', 'judge-next')
        self._families = require('statsmodels.genmod.families', 'compare', 'judge-next')
        self._query, self._n_queries = pairs.query, len(pairs.queries)
        is_returned = pairs.ranks > 0
        reciprocal = np.divide(1, pairs.ranks, out=np.zeros(pairs.ranks.shape), where=is_returned)
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
        known = np.flatnonzero(labels >= 0)
        columns = np.column_stack([self._columns, self._found_in_query(labels)])
        of_prior = columns[self._anchors]
        of_prior[:, -1] = 0
        of_coefficient = np.zeros((1, columns.shape[1]))
        of_coefficient[0, -1] = 1
        x = np.concatenate([of_prior, of_coefficient, columns[known]])
        y = np.concatenate([self.prior[self._anchors], [0.5], labels[known]])
        weights = np.ones(len(y))
        weights[: len(of_prior)] = PRIOR_JUDGEMENTS / len(of_prior)
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter(
                'ignore'
            )  # columns that depend on one another share a coefficient
            family = self._families.Binomial()
            fitted = self._glm.GLM(y, x, family=family, freq_weights=weights).fit()
            p: Floats = np.clip(fitted.predict(columns), *BOUNDS)
        p[known] = labels[known]
        return p

    def _found_in_query(self, labels: Labels) -> Floats:
        """Return how many more of a query's other judged pairs are relevant than expected."""
        known, query = labels >= 0, self._query
        more = np.where(known, labels - self.prior, 0)
        of_query = np.bincount(query, more, minlength=self._n_queries)[query] - more
        n_others = np.bincount(query, known, minlength=self._n_queries)[query] - known
        surplus: Floats = of_query / (n_others + PRIOR_OF_QUERY)
        return surplus
