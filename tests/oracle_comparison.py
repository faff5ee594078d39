"""A slow, obvious comparison of runs: by definition and by enumeration, in exact fractions.

Values are lists of fractions, one for each query (or, where they are clusters, sums).
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
from scipy import stats


def differences(a, b):
    return [Fraction(x) - Fraction(y) for x, y in zip(a, b, strict=True)]


def wins_ties_losses(a, b):
    signs = [(x > 0) - (x < 0) for x in differences(a, b)]
    return signs.count(1), signs.count(0), signs.count(-1)


def sign_flip_p(differences):
    """Return the share of all sign patterns whose sum is at least as far from 0.

    Patterns are counted by their sums; differences are integers or fractions.
    """
    patterns = {0: 1}
    for difference in filter(None, differences):
        after = Counter()
        for total, times in patterns.items():
            after[total + difference] += times
            after[total - difference] += times
        patterns = after
    observed = abs(sum(differences))
    extreme = sum(times for total, times in patterns.items() if abs(total) >= observed)
    return Fraction(extreme, sum(patterns.values()))


def enumerated_p(differences):
    """Return the same for up to 22 integers, from the sums of all patterns in an array."""
    sums = np.zeros(1, dtype=np.int64)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return Fraction(int(np.count_nonzero(abs(sums) >= abs(sum(differences)))), len(sums))


def holm(p):
    """Return p times the number of hypotheses that are left, made to increase, at most 1."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, largest = [None] * len(p), 0
    for step, i in enumerate(order):
        largest = max(largest, (len(p) - step) * p[i])
        adjusted[i] = min(1, largest)
    return adjusted


def benjamini_hochberg(p):
    """Return the least p * n / rank over all hypotheses that are no smaller, at most 1."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [None] * len(p)
    for step, i in enumerate(order):
        adjusted[i] = min(
            1, *(len(p) * p[j] / (at + 1) for at, j in enumerate(order) if at >= step)
        )
    return adjusted


def expanded_abc(sums, sizes, level, n_effective=None):
    """Return both ends of Hesterberg's expanded ABC for a ratio of sums, in 50 digits.

    The quantile of t, which is given in double precision, is from SciPy.
    """
    with mpmath.workdps(50):
        sums, sizes = ([mpmath.mpf(float(each)) for each in units] for units in (sums, sizes))
        n, total = len(sums), mpmath.fsum(sizes)
        mean = mpmath.fsum(sums) / total
        u = [s - mean * size for s, size in zip(sums, sizes, strict=True)]
        r = mpmath.sqrt(mpmath.fsum(each**2 for each in u))
        a = mpmath.fsum(each**3 for each in u) / (6 * r**3)
        b = mpmath.fsum(each * size for each, size in zip(u, sizes, strict=True)) / (total * r)
        df = (n_effective or n) - 1
        z = mpmath.mpf(stats.t.isf((1 - level) / 2, df)) * mpmath.sqrt(mpmath.mpf(n) / (n - 1))
        ends = []
        for quantile in -z, z:
            w = a + quantile
            if abs(a * w) >= 1:  # beyond the turn of w / (1 - a w)²
                ends.append(None)
                continue
            moved = w / (1 - a * w) ** 2
            is_defined = 1 + b * moved > 0
            ends.append(mean + r / total * moved / (1 + b * moved) if is_defined else None)
        return [None if end is None else float(end) for end in ends]


def ratio(sums, sizes):
    """Return the mean over all queries of units, and its linearised variance."""
    n, n_queries = len(sums), sum(map(Fraction, sizes))
    mean = sum(map(Fraction, sums), Fraction(0)) / n_queries
    squares = sum(
        (Fraction(s) - mean * Fraction(size)) ** 2 for s, size in zip(sums, sizes, strict=True)
    )
    return mean, squares * n / ((n - 1) * Fraction(n_queries) ** 2)


def size_of_more_units(sums, sizes, width):
    """Return the root mean square of differences that are not 0; of few large ones the width."""
    amounts = [abs(Fraction(s) / Fraction(size)) for s, size in zip(sums, sizes, strict=True)]
    if sum(20 * amount > max(amounts) for amount in amounts) < 5:
        return max([width, *amounts])
    squares = [amount**2 for amount in amounts if amount]
    return Fraction(float(sum(squares) / len(squares)) ** 0.5)


def with_more_units(sums, sizes, m):
    """Append two units of mean size whose mean differences are +m and -m."""
    size = sum(map(Fraction, sizes)) / len(sizes)
    return [*sums, m * size, -m * size], [*sizes, size, size]


def difference_interval(sums, sizes, level, width, p, seeds=(), n_effective=None):
    """Return Student's interval with two more units, never shorter than without; p decides on 0.

    `seeds` are pairs of a variance and its degrees of freedom, which are added (Satterthwaite).
    """
    m = size_of_more_units(sums, sizes, width)
    difference, own = ratio(sums, sizes)
    _, extended = ratio(*with_more_units(sums, sizes, m))
    n = n_effective or len(sums)
    terms = [(own, n - 1)], [(extended, n + 1)]
    if seeds:
        terms = ([(max(own, extended), n - 1), *seeds],)
    half = max(half_length(of, level) for of in terms)
    ends = [float(difference) - half, float(difference) + half]
    if p > 1 - Fraction(str(level)):
        return [min(ends[0], 0), max(ends[1], 0)]
    return [max(ends[0], 0), ends[1]] if difference > 0 else [ends[0], min(ends[1], 0)]


def half_length(terms, level):
    """Return half the length of Student's interval for a sum of variances."""
    variance, df = summed(terms)
    return stats.t.ppf((1 + level) / 2, df) * variance**0.5 if variance else 0


def t_test_p(difference, terms):
    """Return Student's p of a difference with such a sum of variances."""
    variance, df = summed(terms)
    return 2 * stats.t.sf(abs(difference) / variance**0.5, df)


def summed(terms):
    """Return the sum of variances, and its degrees of freedom (Satterthwaite)."""
    variance = float(sum(variance for variance, _ in terms))
    parts = sum(float(variance) ** 2 / df for variance, df in terms if variance)
    return variance, variance**2 / parts if parts else 0


def decides(n, difference, bound, sd, m, level, seeds=()):
    """Return whether n units decide a difference with a power of 80 %, by the definition.

    Their differences have this mean and deviation, and two more are +m and -m.
    """
    mean = n * difference / (n + 2)
    squares = n * (sd**2 + (difference - mean) ** 2) + (m - mean) ** 2 + (m + mean) ** 2
    extended = squares / (n + 1) / (n + 2)
    terms = [(sd**2 / n, n - 1)], [(extended, n + 1)]
    if seeds:
        terms = ([(max(sd**2 / n, extended), n - 1), *seeds],)
    half = max(half_length(of, level) for of in terms)
    error = (sd**2 / n + sum(variance for variance, _ in seeds)) ** 0.5
    return half + stats.norm.ppf(0.8) * error <= abs(difference - bound)


def kendall_tau_b(a, b):
    """Return (concordant - discordant) / sqrt((pairs - ties of a) * (pairs - ties of b))."""
    sign = [[(x > y) - (x < y) for x, y in combinations(values, 2)] for values in (a, b)]
    balance = sum(x * y for x, y in zip(*sign, strict=True))
    untied = [sum(x != 0 for x in each) for each in sign]
    return balance / (untied[0] * untied[1]) ** 0.5 if all(untied) else None
