"""The lead: who leads, and neither more nor less than the table says."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.comparison.comparison_page import lead_of, listed
from mediaeval_ap.comparison.testing import group_letters


def comparison(maps, p, correction='holm', cluster='none', without=0):
    """A comparison of runs a, b, … with these means, best first, and these p of their pairs."""
    runs = 'abcdefg'[: len(maps)]
    board = [
        {
            'metric': 'MAP',
            'run': run,
            'map': value,
            'rank': 1 + sum(other > value for other in maps),
            'interval': {'low': value - 0.1, 'high': value + 0.1, 'reason': ''},
        }
        for run, value in zip(runs, maps, strict=True)
    ]
    pairs = [
        {'metric': 'MAP', 'a': a, 'b': b, 'p_adjusted': p.get(a + b, 1.0)}
        for place, a in enumerate(runs)
        for b in runs[place + 1 :]
    ]
    parameters = {'correction': correction, 'level': 0.95, 'cluster': cluster}
    counts = {'queries': 599, 'units': 120, 'queries_without_relevant': without}
    return {
        'metrics': ['MAP@1', 'MAP'],
        'leaderboard': [{**board[-1], 'metric': 'MAP@1', 'rank': 1}, *board],
        'pairs': [{**each, 'metric': 'MAP@1', 'p_adjusted': 0.0} for each in pairs] + pairs,
        'manifest': {'parameters': parameters, 'counts': counts},
    }


def said(*arguments, **settings):
    lead = lead_of(comparison(*arguments, **settings))
    return lead['headline'], lead['sentences']


THREE, FOUR = [0.5, 0.4, 0.1], [0.5, 0.4, 0.3, 0.1]


@pytest.mark.parametrize(
    ('maps', 'p', 'headline'),
    [
        (THREE, {'ab': 0.01, 'ac': 0.001}, 'a is better than every other run (largest p = 0.0100)'),
        (THREE, {'ab': 0.0, 'ac': 0.0}, 'a is better than every other run (largest p < 0.0001)'),
        ([0.5, 0.4], {'ab': 0.05}, 'a is better than b (p = 0.0500)'),
        ([0.5, 0.4], {'ab': 0.06}, 'a leads, but is not told apart from b (p = 0.0600)'),
        (THREE, {'ab': 0.06}, 'a leads, but is not told apart from b and c (smallest p = 0.0600)'),
        (THREE, {'ac': 0.01}, 'a leads, but is not told apart from b (p = 1.0000)'),
        (
            [0.5, 0.4, 0.4],
            {'ab': 0.01, 'ac': 0.3},
            'a leads: better than b (p = 0.0100), but not told apart from c (p = 0.3000)',
        ),
        ([0.5, 0.5, 0.1], {}, 'a and b lead together: MAP 0.500'),
        ([0.5, 0.5], {}, 'a and b score the same: MAP 0.500'),
        ([0.5], {}, 'a scores MAP 0.500'),
    ],
)
def test_headlines(maps, p, headline):
    assert said(maps, p)[0].replace(', Holm)', ')') == headline


def test_no_headline_where_no_query_has_a_relevant_shot():
    headline, _ = said(THREE, {'ab': 0.0, 'ac': 0.0}, without=599)
    assert headline == 'No query has a relevant shot: nothing can be told about the runs'


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=4).map(
        lambda maps: sorted(maps, reverse=True)
    ),
    st.lists(st.sampled_from([0.0, 0.04, 0.05, 0.050001, 0.06, 1.0]), min_size=6, max_size=6),
)
def test_the_lead_says_what_letters_and_pairs_say(maps, values):
    """Four runs at most: so all are named."""
    pairs = [a + b for place, a in enumerate('abcd') for b in 'abcd'[place + 1 :]]
    p = dict(zip(pairs, values, strict=True))
    runs = 'abcd'[: len(maps)]
    apart = [[p.get(min(a, b) + max(a, b), 1.0) <= 0.05 for b in runs] for a in runs]
    letters = dict(zip(runs, group_letters(np.array(apart)), strict=True))
    headline, sentences = said(maps, p)
    leaders = [run for run, value in zip(runs, maps, strict=True) if value == maps[0]]
    below = runs[len(leaders) :]
    for leader in leaders if below else ():
        alike = [run for run in below if set(letters[run]) & set(letters[leader])]
        claims = [headline] if len(leaders) == 1 else sentences[2:]
        (claim,) = [each for each in claims if each.startswith(f'{leader} ')]
        told = re.search(r'not told apart from ([abcd](?:(?:, | and )[abcd])*) \(', claim)
        assert (re.findall(r'\b[abcd]\b', told[1]) if told else []) == alike
        better = re.search(r'better than ([abcd]|every)', claim)
        if not alike:
            assert better[1] == (below if len(below) == 1 else 'every')
        elif len(leaders) == 1:
            assert (better is not None) == (below[0] not in alike)
        of_leader = claim if len(leaders) > 1 else sentences[-1]
        n_better = re.search(r'better than (\d) other', of_leader)
        assert (int(n_better[1]) if n_better else 0) == (len(below) - len(alike) if alike else 0)


def test_the_sentences_name_the_interval_the_test_and_what_it_needs():
    assert said(FOUR, {'ab': 0.4, 'ac': 0.06, 'ad': 0.05})[1] == [
        'a: MAP 0.500 (95 % interval 0.400 to 0.600).',
        'Paired sign flips, corrected by Holm over all 6 pairs of runs (599 queries): a corrected '
        'p of at most 0.05 tells two runs apart. a is better than 1 other run.',
    ]
    by_video = said([0.5, 0.4], {}, correction='tukey', cluster='video')[1][1]
    assert by_video.startswith('Randomised Tukey HSD (120 clusters of 599 queries, by video): ')


def test_the_correction_is_named_in_the_headline():
    named = [said([0.5, 0.4], {}, correction=each)[0] for each in ('bh', 'tukey')]
    assert [each.partition('p = 1.0000, ')[2] for each in named] == [
        'Benjamini and Hochberg)',
        'Tukey)',
    ]


@pytest.mark.parametrize(
    ('p', 'shown'), [(0.050001, 'p = 0.050001'), (0.05000000001, 'p = 0.05000000001')]
)
def test_a_p_is_never_rounded_to_the_other_side(p, shown):
    assert (
        said([0.5, 0.4], {'ab': p})[0] == f'a leads, but is not told apart from b ({shown}, Holm)'
    )


def test_each_of_several_leaders_has_its_own_verdict():
    headline, sentences = said([0.5, 0.5, 0.1, 0.05], {'ac': 0.01, 'ad': 0.01, 'bd': 0.02})
    assert headline == 'a and b lead together: MAP 0.500'
    assert sentences[0] == 'Their means are equal.'
    assert sentences[2:] == [
        'a is better than every run below (largest p = 0.0100, Holm).',
        'b is not told apart from c (p = 1.0000, Holm). b is better than 1 other run.',
    ]


def test_one_run():
    assert said([0.5], {})[1] == [
        'MAP 0.500 (95 % interval 0.400 to 0.600). There is no other run to compare it with.'
    ]


def test_many_names_are_counted():
    assert listed(['a']) == 'a'
    assert listed(['a', 'b', 'c']) == 'a, b and c'
    assert listed(['a', 'b', 'c', 'd']) == 'a, b and 2 more'
