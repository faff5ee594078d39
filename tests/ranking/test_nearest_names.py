"""The nearest names, as many as are needed, at every depth and in tie blocks of every width."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.ranking import frozen_ranking
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, read


def first_names(query, names, depth):
    """The names of the first hypotheses, each name said once and the later ones more surely."""
    rows = [('x', 'v', '1', name, float(i)) for i, name in enumerate(names)]
    built = Ranking(read(rows, HYPOTHESIS))
    (distances,) = built.names.distances_from([query])
    return built.columns_at(built.top(distances, depth), distances)['person_name']


@pytest.mark.usefixtures('side_by_side')
def test_equal_quotients_are_one_tie_block():
    """2/6 and 3/9 are one distance, in which the confidence decides at every depth."""
    names = ['abcdxy', 'abcdyx', 'abcdzz', 'abcdyy', 'abcdefxyz', 'abcdefzyx']
    assert {oracle.normalized_distance('abcdef', name) for name in names} == {Fraction(1, 3)}
    for depth in range(1, len(names) + 1):
        assert first_names('abcdef', names, depth) == names[: -depth - 1 : -1]


def test_quotients_that_single_precision_would_merge():
    """4799/4800 is nearer than 4800/4801, however sure the farther one is."""
    assert np.float32(4799 / 4800) == np.float32(4800 / 4801)
    names = ['a' + 'b' * 4799, 'a' + 'b' * 4800]
    assert first_names('a' * 4800, names, 2) == names


def test_worked_example_of_the_nearest_names():
    """As the docstring of `BaseRanking._nearest` draws it: depth 4, a block of three names."""
    by_place = 'anni otto anni anna enna enna anni anne anna anne anne anne anne'.split()
    rows = [('x', f'v{i}', '1', name, 1 - i / 100) for i, name in enumerate(by_place)]
    ranking = Ranking(read(rows, HYPOTHESIS))
    (distances,) = ranking.names.distances_from(['anna'])
    names, blocks, counts = ranking._nearest(distances, 4)
    texts = [ranking.names.values[name] for name in names]
    nearest = sorted(zip(texts, blocks.tolist(), counts.tolist(), strict=True))
    assert nearest == [('anna', 0, 2), ('anne', 1, 0), ('anni', 1, 2), ('enna', 1, 1)]
    assert ranking.top(distances, 4).tolist() == [3, 8, 0, 2]


@pytest.mark.parametrize(
    'names',
    [
        [f'{a}{b}{c}' for a in 'xyz' for b in 'uvw' for c in 'rst'],  # all at distance 1
        ['aaaa', 'aaab', 'aabb', 'abbb', 'bbbb', 'b', 'ba', 'bab', 'cc', 'ac'],
    ],
)
def test_every_depth_is_a_prefix(names):
    """However few or many are needed, also fewer than names at one distance, of uneven counts."""
    chance = random.Random(11)  # fixed: one run with names that hold many hypotheses and few
    rows = [
        ('x', f'v{chance.randrange(4)}', str(chance.randrange(50)), name, chance.random())
        for name in names
        for _ in range(chance.choice([1, 3, 30]))
    ]
    check_first(rows, 'aaa', range(1, len(rows) + 3))


def check_first(rows, query, depths):
    built = Ranking(read(rows, HYPOTHESIS))
    (distances,) = built.names.distances_from([query])
    whole = oracle.ranked(rows, query)
    shots = [row[:3] for row in whole]
    firsts = [row for i, row in enumerate(whole) if shots[i] not in shots[:i]]
    for much, last_block in product((0, 2), (1, 2**16 - 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frozen_ranking, 'MUCH', much)  # order all hypotheses, or those needed
            patch.setattr(frozen_ranking, 'OTHER_BLOCK', np.uint16(last_block))
            for depth, (distinct, expected) in product(depths, ((False, whole), (True, firsts))):
                places = built.top(distances, depth, distinct=distinct)
                columns = built.columns_at(places, distances)
                found = zip(*(list(columns[field]) for field in HYPOTHESIS.fields), strict=True)
                assert list(found) == expected[:depth]


ANY_LETTERS = st.text('ab高𝒶', min_size=1, max_size=5) | st.builds(
    str.__mul__, st.sampled_from('ab高'), st.sampled_from([16, 17, 64, 65, 300])
)


@pytest.mark.usefixtures('side_by_side')
@given(
    st.lists(
        st.tuples(
            strategies.corpora,
            strategies.videos,
            strategies.shots,
            ANY_LETTERS,
            st.sampled_from([0.5, 1.0]),
        ),
        min_size=1,
        max_size=30,
        unique=True,
    ),
    ANY_LETTERS,
    st.sampled_from([1, 2, 3, 10, 10_000]),
)
def test_first_hypotheses_of_names_in_any_letters(rows, query, depth):
    check_first(rows, query, [depth])
