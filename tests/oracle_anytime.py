"""A slow, obvious e-process for the mean of a population, one value at a time, in fractions."""

from fractions import Fraction
from math import log, sqrt


def bet(before, alpha):
    """Return the bet on the next value, from those before it: predictable plug-in, at most 1."""
    mean, squares = Fraction(1, 2), Fraction(1, 4)
    for place, _ in enumerate(before, 1):
        mean = (Fraction(1, 2) + sum(before[:place])) / (place + 1)
        squares += (before[place - 1] - mean) ** 2
    t = len(before) + 1
    size = sqrt(2 * log(2 / alpha) / (float(squares / t) * t * log(1 + t)))
    return Fraction(min(size, 1.0))


def rest(values, mean, population):
    """Return the mean that the other values must have; none if all are known."""
    if population is None:  # infinitely many
        return mean
    n_others = population - len(values)
    return (population * mean - sum(values)) / n_others if n_others else None


def is_possible(values, mean, population):
    """Return whether other values from 0 to 1 can give the population this mean."""
    if population is not None and population == len(values):
        return sum(values) == population * mean
    return 0 <= rest(values, mean, population) <= 1


def e_process(values, mean, population, alpha):
    """Return half the capital of each of the two gamblers together, after each value.

    One bets that the next value is above what it is expected to be if the population has this
    mean, and one that it is below. They stop if the population can no longer have this mean.
    """
    higher = lower = Fraction(1)
    found = []
    for place, value in enumerate(values):
        before = values[:place]
        if is_possible(before, mean, population):
            won = bet(before, alpha) * (value - rest(before, mean, population))
            higher, lower = higher * (1 + won), lower * (1 - won)
        found.append((higher + lower) / 2)
    return found


def settled_after(values, population, alpha, n_claims=1):
    """Return after how many values a mean of one half is refuted, or None."""
    half = Fraction(1, 2)
    process = e_process(values, half, population, alpha)
    for number, e_value in enumerate(process, 1):
        if e_value >= n_claims / alpha or not is_possible(values[:number], half, population):
            return number
    return None


def is_inside(mean, values, population, alpha):
    """Return whether the always-valid interval after these values has a mean in it."""
    process = e_process(values, mean, population, alpha)
    return is_possible(values, mean, population) and max(process) < 1 / alpha
