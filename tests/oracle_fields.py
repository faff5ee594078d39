"""Average precision of a ranking by the fields of a definition, each of which may be another's."""

import math
from fractions import Fraction

import oracle


def average_precision(reference, hypotheses, query, k, repeats, depth, denominator, without):
    """Apply a formula that is put together from fields; `k` is a number, or 'all'."""
    relevant = [row[:3] for row in reference if row[3] == query]
    marks = oracle.relevance(oracle.ranked(hypotheses, query), set(relevant), repeats)
    R = len(relevant if repeats == 'again' else set(relevant))
    return average_precision_of_marks(marks, R, k, depth, denominator, without)


def average_precision_of_marks(marks, R, k, depth, denominator, without):
    """Apply the formula to 1 or 0 by rank."""
    if not R:
        return Fraction(without)
    k = math.inf if k == 'all' else k
    quantities = {'R': R, 'k': k, 'N': len(marks), 'H': sum(marks[: min(k, len(marks))])}
    last = min(quantities[name] for name in depth)
    divisor = min(quantities[name] for name in denominator)
    total = oracle.sum_of_precisions(marks[: min(last, len(marks))])
    return total / Fraction(divisor) if total else Fraction(0)
