"""E-values that may be looked at after each query: fair bets, intervals, what is settled."""

import json
from fractions import Fraction
from itertools import permutations, product
from math import inf
from pathlib import Path

import jsonschema
import numpy as np
import oracle_anytime as oracle
import pytest
from compared_runs import several
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.comparison.anytime import (
    always_valid,
    anytime_pairs,
    bets,
    log_e_values,
    random_order,
    settled,
)
from mediaeval_ap.comparison.comparable_runs import read_runs
from mediaeval_ap.comparison.settings import checked_settings
from mediaeval_ap.errors import ParameterError

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/comparison-1.schema.json').read_text())
HALF = Fraction(1, 2)
EIGHTHS = st.lists(
    st.integers(0, 8).map(lambda number: Fraction(number, 8)), min_size=1, max_size=9
)
# No level, but below 1 at once, where bets for a level are the largest for the first queries.
SMALL_BETS = 1.9
ALPHAS = st.sampled_from([0.05, 0.2, 0.5])  # with few values, only a large one is reached
SMALL = {'resamples': 20, 'permutations': 400}


def floats(values):
    return np.array([[float(each) for each in values]])


def without_files(comparison):
    """The document, without the sources of made-up results, which have no hash."""
    written = comparison.to_dict()
    written['manifest']['inputs'] = {'runs': {}}
    return written


def fast(values, mean, population, alpha):
    """The e-process of the package, of one row."""
    rows = floats(values)
    sizes = bets(rows, alpha)
    means = np.array([float(mean)])
    return np.exp(log_e_values(rows, sizes, means, inf if population is None else population))[0]


@pytest.mark.parametrize(
    'population',
    [[0, 0, HALF, 1, 1], [0, 0, 1, 1, 1], [Fraction(1, 8), HALF, HALF, Fraction(7, 8)]],
)
@pytest.mark.parametrize('n_seen', [2, 4])
def test_without_replacement_bets_are_fair(population, n_seen):
    """Over all orders, wealth under the true mean is 1 on average: exactly, at each moment."""
    population = [Fraction(each) for each in population]
    mean = sum(population) / len(population)
    orders = [order[:n_seen] for order in permutations(population)]
    at_end = [oracle.e_process(order, mean, len(population), SMALL_BETS)[-1] for order in orders]
    assert sum(at_end) == len(orders)
    found = [fast(order, mean, len(population), SMALL_BETS)[-1] for order in orders]
    assert np.mean(found) == pytest.approx(1, abs=1e-12)  # a few roundings in each


@pytest.mark.parametrize(('high', 'chance'), [(1, HALF), (HALF, Fraction(1, 5))])
def test_with_replacement_bets_are_fair(high, chance):
    mean, total = chance * high, 0
    for drawn in product([False, True], repeat=6):
        values = [Fraction(high if each else 0) for each in drawn]
        weight = chance ** sum(drawn) * (1 - chance) ** (6 - sum(drawn))
        total += weight * oracle.e_process(values, mean, None, SMALL_BETS)[-1]
    assert total == 1


def test_a_wrong_claim_is_as_rare_as_promised():
    """Of all orders of a population with the mean 1/2, at most alpha are ever settled early."""
    population = [Fraction(each, 4) for each in (0, 0, 1, 2, 2, 3, 4, 4)]
    orders = np.array([[float(each) for each in order] for order in permutations(population)])
    for alpha in 0.1, 0.3, 0.6:
        share = np.count_nonzero(settled(orders, 8, alpha)) / len(orders)
        assert share <= alpha
    assert share > 0  # else the test could not fail


@given(EIGHTHS, st.integers(0, 4) | st.none(), ALPHAS | st.just(SMALL_BETS), st.integers(0, 16))
def test_the_fast_capital_is_the_slow_one(values, n_others, alpha, mean):
    population = None if n_others is None else len(values) + n_others
    mean = Fraction(mean, 16)
    expected = [float(each) for each in oracle.e_process(values, mean, population, alpha)]
    # A logarithm near 0, of a capital near 0, loses digits: so absolute, too.
    assert fast(values, mean, population, alpha) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(EIGHTHS, EIGHTHS)
def test_a_bet_knows_nothing_of_what_comes(values, others):
    n = min(len(values), len(others)) - 1
    changed = [*values[:n], *others[n:]]
    first, second = (bets(floats(each), SMALL_BETS)[0, : n + 1] for each in (values, changed))
    assert (first == second).all()
    assert first.max() < 1


@given(EIGHTHS, st.integers(0, 5), ALPHAS, st.integers(1, 3))
@example([Fraction(0)] * 9, 40, 0.5, 1)
@example([Fraction(1)] * 9, 40, 0.2, 2)
def test_settled(values, n_others, alpha, n_claims):
    population = len(values) + n_others
    expected = oracle.settled_after(values, population, alpha, n_claims)
    found = int(settled(floats(values), population, alpha, n_claims)[0])
    assert (abs(found) or None) == expected
    mirrored = [1 - each for each in values]
    assert settled(floats(mirrored), population, alpha, n_claims)[0] == -found


@given(EIGHTHS, st.integers(1, 6) | st.just(60), ALPHAS)
@example([Fraction(0)] * 9, 60, 0.5)
# The mean of the values is refuted, but others are not.
@example([Fraction(1)] * 3 + [Fraction(0)] * 20, 37, 0.3)
@example([Fraction(1)] * 3 + [Fraction(0)] * 5, 192, 0.5)
def test_the_interval_has_what_is_not_refuted(values, n_others, alpha):
    population = len(values) + n_others
    low, high = (float(ends[0]) for ends in always_valid(floats(values), population, alpha))
    for step in range(41):
        mean = Fraction(step, 40)
        # The ends are found but for a halved interval, so a mean next to them may be on any side.
        is_next = abs(float(mean) - low) <= 1e-9 or abs(float(mean) - high) <= 1e-9
        if not is_next:  # also where there is no interval, and ends are nan
            is_inside = oracle.is_inside(mean, values, population, alpha)
            assert is_inside == (low <= float(mean) <= high)


def test_rows_are_looked_at_by_themselves():
    rows = np.random.default_rng(1).random((4, 60)) * [[1], [0.5], [0.9], [0.1]]
    low, high = always_valid(rows, 90, 0.05)
    for number, row in enumerate(rows):
        one = always_valid(row[None], 90, 0.05)
        assert (one[0][0], one[1][0]) == (low[number], high[number])


@given(EIGHTHS)
def test_a_known_population_has_its_mean(values):
    low, high = always_valid(floats(values), len(values), 0.05)
    assert low == high == pytest.approx(float(sum(values) / len(values)), abs=1e-15)


def test_no_mean_may_be_left():
    """Zeros refute all but low means, and ones all but high ones: at most alpha of the orders."""
    values = floats([0] * 40 + [1] * 40)
    low, high = always_valid(values, 10_000, 0.9)
    assert np.isnan([low, high]).all()
    names = [f'q{place:03}' for place in range(80)]
    late = np.argsort(random_order(names, 0)) >= 40
    runs = several(late, ~late, queries=names)
    found = compare(runs, anytime=True, population=10_000, level=0.1, **SMALL)
    jsonschema.Draft202012Validator(SHAPE).validate(without_files(found))
    interval = found.anytime[0].interval
    assert (interval.low, interval.high) == (None, None)
    assert interval.reason == 'intervals after fewer and more queries have no common value'


def test_the_order_of_some_queries_is_that_among_all():
    names = [f'name_{number}' for number in range(50)]
    every = [names[place] for place in random_order(names, 3)]
    some = names[10:30]
    assert [some[place] for place in random_order(some, 3)] == [
        name for name in every if name in some
    ]
    assert sorted(every) == sorted(names) != every
    assert every != [names[place] for place in random_order(names, 4)]
    # Two equal names are two queries: the second does not always follow the first.
    twice = [f'name_{number // 2}' for number in range(100)]
    places = np.argsort(random_order(twice, 0))
    assert (np.abs(places[::2] - places[1::2]) > 1).sum() > 40


def drawn(n=300):
    generator = np.random.default_rng(8)
    good = generator.random(n)
    return good, good * (generator.random(n) > 0.3), good * 0.2, good


def test_runs_on_queries_in_random_order():
    good, worse, bad, again = drawn()
    found = compare(several(good, worse, bad, again), anytime=True, population=900, **SMALL)
    written = without_files(found)
    jsonschema.Draft202012Validator(SHAPE).validate(written)
    pairs = {(one.a, one.b): one for one in found.anytime}
    assert [*pairs] == [(pair.a, pair.b) for pair in found.pairs]
    equal = pairs['a', 'd']
    assert (equal.settled_after, equal.e_value, equal.largest_e_value) == (None, 1, 1)
    assert equal.better == ''
    assert equal.reason == 'no e-value reaches 20'
    assert -1 < equal.interval.low < 0 < equal.interval.high < 1
    told = pairs['a', 'c']
    order = random_order(found.queries, 0)
    moved = [
        (1 + Fraction(x) - Fraction(y)) / 2 for x, y in zip(good[order], bad[order], strict=True)
    ]
    n = told.settled_after
    assert n == oracle.settled_after(moved[:n], 900, 0.05) < 300
    assert told.better == 'a'
    assert told.interval.low < told.difference < told.interval.high
    assert told.largest_e_value >= told.e_value > 20
    lead = found.lead
    assert (lead.run, lead.n_others, lead.settled_after) == ('a', 3, None)
    assert lead.reason == 'not settled against d'
    assert found.notes[-1].startswith('MAP@1: the lead of a is not settled against d by 300')
    assert len(found.to_frame('anytime')) == 6


def test_the_lead_needs_more_than_a_pair():
    good, worse, bad, _ = drawn()
    found = compare(several(worse, good, bad), anytime=True, seed=5, **SMALL)
    order = random_order(found.queries, 5)
    needed = []
    for other in worse, bad:
        moved = (1 + good[order] - other[order]) / 2
        needed.append(int(settled(moved[None], 300, 0.05, 2)[0]))
    assert found.lead.settled_after == max(needed)
    assert found.lead.settled_after > max(one.settled_after for one in found.anytime[:2])
    assert (
        found.notes[-1] == f'MAP@1: b is settled to lead all 2 others after {max(needed)} of 300 '
        'queries in random order (e-value of each pair at least 40); by itself, 3 of 3 pairs (at '
        'least 20)'
    )
    assert {one.interval.low for one in found.anytime} == {one.difference for one in found.anytime}


def test_a_wrong_direction_is_no_lead():
    """Of few queries, the first ones may settle what the others turn round."""
    names = [f'q{place:03}' for place in range(400)]
    early = np.argsort(random_order(names, 0)) < 40
    one = np.where(early, 1.0, 0.0)
    other = np.where(early, 0.0, 0.3)
    found = compare(several(one, other, queries=names), anytime=True, **SMALL)
    pair = found.anytime[0]
    assert (pair.a, pair.better) == ('b', 'a')
    assert pair.settled_after < 40
    assert found.lead.settled_after is None


def test_nothing_of_it_unless_it_is_asked_for():
    good, worse, *_ = drawn()
    found = compare(several(good, worse), **SMALL)
    written = without_files(found)
    assert written['anytime'] == []
    jsonschema.Draft202012Validator(SHAPE).validate(written)
    del written['anytime']  # as it was written before
    for name in 'anytime', 'population':
        del written['manifest']['parameters'][name]
    jsonschema.Draft202012Validator(SHAPE).validate(written)


@pytest.mark.parametrize(
    ('rows', 'settings', 'message'),
    [
        ([[0.5, 1.5], [0, 1]], {}, 'found 1.5 for .a. and .q001., .*--definition trec'),
        ([[0.5, 1], [0, 1]], {'population': 1}, 'population: found 1, expected at least 2'),
        ([[0.5, 1], [0, 1]], {'population': 0}, 'population: found 0, expected a positive'),
        ([[0.5, 1], [0, 1]], {'population': 9, 'anytime': False}, 'give anytime=True'),
        ([[0.5, 1]], {}, 'anytime: found one run, expected two or more'),
    ],
)
def test_refused(rows, settings, message):
    with pytest.raises(ParameterError, match=message):
        compare(several(*rows), **{'anytime': True, **SMALL, **settings})


def test_blocks_of_pairs_change_nothing(monkeypatch):
    runs = read_runs(several(*drawn()))
    settings = checked_settings(
        baseline=None,
        correction='holm',
        interval='plus2',
        level=0.95,
        cluster='none',
        seed=0,
        anytime=True,
        population=400,
        **SMALL,
    )
    at_once = anytime_pairs(settings, runs, [0, 3, 1, 2])
    monkeypatch.setattr('mediaeval_ap.comparison.anytime.LOOKED_AT_ONCE', 700)
    assert anytime_pairs(settings, runs, [0, 3, 1, 2]) == at_once


def grids(comparison, **options):
    """The tables for people and for a paper, without the others."""
    blocks = [*comparison._document(**options).blocks()]
    place = next(at for at, block in enumerate(blocks) if str(getattr(block, 'name', '')) == TITLE)
    *_, printed = comparison._document(**options).for_papers()
    return blocks[place], blocks[place + 1], printed


TITLE = 'Pairs of runs on queries in random order'


def test_what_people_see():
    rows = drawn()[:2] + tuple(drawn()[2] / number for number in range(1, 5))
    found = compare(several(*rows), anytime=True, **SMALL)
    heading, grid, printed = grids(found)
    assert heading.note == 'first run minus second'
    assert [row[0] for row in grid.rows] == ['a'] * 5  # others if they are asked for
    assert {row[2].detail for row in grid.rows} == {''}  # nothing is left to be estimated
    assert len(grids(found, pairs=True)[1].rows) == 15
    assert grids(found, pairs=True)[2].caption.endswith(f'{found.notes[-1]}.')
    found = compare(several(*rows[:3]), anytime=True, population=301, **SMALL)
    heading, grid, printed = grids(found)
    assert heading.note == 'first run minus second; 95 % interval, valid after any number'
    assert len(grid.rows) == 3
    low, high = found.anytime[0].interval.low, found.anytime[0].interval.high
    assert grid.rows[0][2].detail == f'[{low:.3f},{high:.3f}]'
    assert f'{found.anytime[0].e_value:.3g}' == grid.rows[0][3].value
    assert grid.rows[0][5] == found.anytime[0].settled_after
    assert printed.grid == grids(found)[2].grid
