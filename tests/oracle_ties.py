"""Average precision over every order of tied hypotheses: slow, obvious, in exact fractions.

A ranking is a list of blocks of ties, best first; a block is a list of shots in any order.
"""

from fractions import Fraction
from itertools import chain, permutations, product

from oracle import REPEATS, average_precision, relevance


def orders(blocks):
    """Every order of every block, as flat rankings."""
    for order in product(*map(permutations, blocks)):
        yield list(chain(*order))


def values(blocks, relevant, n_relevant, k, definition):
    """Average precision of each order."""
    rankings = [[(shot,) for shot in order] for order in orders(blocks)]
    marks = {(shot,) for shot in relevant}
    hits = (relevance(ranking, marks, REPEATS[definition]) for ranking in rankings)
    return [average_precision(h, n_relevant, k, definition) for h in hits]


def tie_bounds(blocks, relevant, n_relevant, k, definition):
    """Return the least, the mean and the greatest average precision."""
    found = values(blocks, relevant, n_relevant, k, definition)
    return min(found), sum(found) / Fraction(len(found)), max(found)
