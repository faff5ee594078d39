"""Average precision of a ranking by the fields of a definition, each of which may be another's."""

import math
from fractions import Fraction

import oracle


def average_precision(
    reference, hypotheses, query, k, repeats, depth, denominator, without, precision
):
    """Apply a formula that is put together from fields; `k` is a number, or 'all'."""
    relevant = [row[:3] for row in reference if row[3] == query]
    marks = oracle.relevance(oracle.ranked(hypotheses, query), set(relevant), repeats)
    R = len(relevant if repeats == 'again' else set(relevant))
    if not R:
        return Fraction(without)
    k = math.inf if k == 'all' else k
    quantities = {'R': R, 'k': k, 'N': len(marks), 'H': sum(marks[: min(k, len(marks))])}
    last = min(quantities[name] for name in depth)
    divisor = min(quantities[name] for name in denominator)
    rule = {'at': 'trec', 'trapezoid': 'oxford'}[precision]
    ranks = [rank for rank, mark in enumerate(marks, 1) if mark and rank <= last]
    total = sum(oracle.addend(n, rank, rule) for n, rank in enumerate(ranks, 1))
    return total / Fraction(divisor) if total else Fraction(0)
