"""The pool, and what the strategy mtc makes of it, slowly: one query, run and pair at a time."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import oracle

PRIOR_JUDGEMENTS = 20  # the prior weighs as much in the fit
AGREEING = 2  # judgements of each query that are added, as if they agreed with the prior


def rankings(runs, query, repeats):
    """Return the ranking of each run, without repeated shots if the definition drops them."""
    ranked = {run: oracle.ranked(rows, query) for run, rows in runs.items()}
    if repeats == 'dropped':
        for run, rows in ranked.items():
            first = {}
            for row in rows:
                first.setdefault(row[:3], row)
            ranked[run] = list(first.values())
    return ranked


def pool_of(runs, queries, depth, near, repeats='again'):
    """Return for each query and shot the best rank and its hypothesis in each run that has it."""
    pool = defaultdict(dict)
    for query in queries:
        for run, rows in rankings(runs, query, repeats).items():
            for rank, row in enumerate(rows[:depth], 1):
                if oracle.normalized_distance(query, row[3]) <= Fraction(near):
                    pool[query, row[:3]].setdefault(run, (rank, row))
    return dict(sorted(pool.items()))


def variables(pool, runs):
    """Return the variables of each pair, standardized, without those that are constant."""
    teams = {run: run.partition('_')[0] for run in runs}
    confidences = {run: [at[run][1][4] for at in pool.values() if run in at] for run in runs}
    rows = []
    for (query, _), at in pool.items():
        reciprocals = [Fraction(1, rank) for rank, _ in at.values()]
        distances = [oracle.normalized_distance(query, row[3]) for _, row in at.values()]
        lower = [
            Fraction(sum(other < row[4] for other in confidences[run]), len(confidences[run]))
            for run, (_, row) in at.items()
        ]
        rows.append(
            [
                Fraction(len({teams[run] for run in at}), len({*teams.values()})),
                math.log(sum(reciprocals) / Fraction(len(runs))),
                math.log(max(reciprocals)),
                min(distances),
                sum(lower) / Fraction(len(at)),
                math.log(sum(other == query for other, _ in pool)),
            ]
        )
    columns = [np.array(column, float) for column in zip(*rows, strict=True) if len({*column}) > 1]
    return [(column - column.mean()) / column.std() for column in columns]


def probabilities(pool, runs, labels):
    """Return the probability of each pair, or its label; `labels` has those of judged pairs."""
    reciprocals = [sum(Fraction(1, rank) for rank, _ in at.values()) for at in pool.values()]
    prior = [min(max(float(each / len(runs)), 0.02), 0.95) for each in reciprocals]
    excess = {pair: labels[pair] - p for pair, p in zip(pool, prior, strict=True) if pair in labels}
    surplus = []
    for pair in pool:
        others = [each for other, each in excess.items() if other[0] == pair[0] and other != pair]
        surplus.append(sum(others) / (len(others) + AGREEING))
    fixed = np.column_stack([np.ones(len(pool)), *variables(pool, runs)])
    columns = np.column_stack([fixed, surplus])
    n_fixed = fixed.shape[1]
    x = [(*row, 0) for row in fixed] + [(0,) * n_fixed + (1,)]
    y = [*prior, 0.5]
    weights = [PRIOR_JUDGEMENTS / len(pool)] * len(pool) + [1]
    for pair, row in zip(pool, columns, strict=True):
        if pair in labels:
            x.append(row)
            y.append(labels[pair])
            weights.append(1)
    fitted = 1 / (1 + np.exp(-columns @ likeliest(*map(np.array, (x, y, weights)))))
    return {
        pair: labels.get(pair, min(max(float(p), 1e-4), 1 - 1e-4))
        for pair, p in zip(pool, fitted, strict=True)
    }


def likeliest(x, y, weights):
    """Return the coefficients of a logistic regression, by Newton's method."""

    def loss(coefficients):
        z = x @ coefficients
        return weights @ (np.logaddexp(0, z) - y * z)

    coefficients = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ coefficients))
        curvature = (x.T * (weights * p * (1 - p))) @ x
        step = np.linalg.lstsq(curvature, (weights * (y - p)) @ x)[0]
        while loss(coefficients + step) > loss(coefficients) and abs(step).max() > 1e-12:
            step /= 2
        coefficients = coefficients + step
    return coefficients


def slopes(p, ranked, k, definition):
    """Return the slope of the expected AP of a ranking in the probability of each shot."""
    first = {}
    for rank, row in enumerate(ranked[:k], 1):
        if row[:3] in p:
            first.setdefault(row[:3], rank)
    if not any(p.values()):
        return dict.fromkeys(p, 0)
    some = 1 - math.prod(1 - each for each in p.values())
    quantities = {
        'R': sum(p.values()) / some,
        'k': k,
        'N': len(ranked),
        'H': sum(p[shot] for shot in first) / some,
    }
    depth = max(1, min(quantities[letter] for letter in definition.depth))
    divisor = min(quantities[letter] for letter in definition.denominator) or 1
    scored = {shot: rank for shot, rank in first.items() if rank <= depth}

    def expected_sum(p):
        above, total = 0, 0
        for shot, rank in scored.items():
            total += p[shot] * oracle.addend(1 + above, rank, definition.name)
            above += p[shot]
        return float(total)

    return {
        shot: (expected_sum({**p, shot: 1}) - expected_sum({**p, shot: 0})) / divisor for shot in p
    }


def mtc_scores(runs, queries, depth, near, k, definition, labels):
    """Return the score of each pair of the pool that is not judged."""
    repeats = oracle.REPEATS[definition.name]
    pool = pool_of(runs, queries, depth, near, repeats)
    p = probabilities(pool, runs, labels)
    scores = {}
    for query in queries:
        of_query = {shot: p[other, shot] for other, shot in pool if other == query}
        by_run = [
            slopes(of_query, ranked, k, definition)
            for ranked in rankings(runs, query, repeats).values()
        ]
        for shot, chance in of_query.items():
            if (query, shot) not in labels:
                spread = np.var([each[shot] for each in by_run])
                scores[query, shot] = chance * (1 - chance) * spread
    return scores
