"""The lead: who leads, and neither more nor less than the table says."""

import pytest

from mediaeval_ap.comparison.comparison_page import join_names, lead_of


def comparison(maps, p, correction='holm', cluster='none', without=0, baseline=None):
    """A comparison of runs a, b, … with these means, best first, and these p of their pairs.

    The p of a pair with the baseline is also that of its other run on the board.
    """
    runs = 'abcdefg'[: len(maps)]
    board = [
        {
            'metric': 'MAP',
            'run': run,
            'map': value,
            'rank': 1 + sum(other > value for other in maps),
            'interval': {'low': value - 0.1, 'high': value + 0.1, 'reason': ''},
            'difference': value - dict(zip(runs, maps, strict=True)).get(baseline, 0),
            'p_adjusted': p.get(''.join(sorted(f'{run}{baseline}')), 1.0),
        }
        for run, value in zip(runs, maps, strict=True)
    ]
    pairs = [
        {
            'metric': 'MAP',
            'a': a,
            'b': b,
            'p_adjusted': p.get(a + b, 1.0),
            'difference': 0.1,
            'interval': {'low': 0.02, 'high': 0.18, 'reason': ''},
        }
        for place, a in enumerate(runs)
        for b in runs[place + 1 :]
    ]
    parameters = {'correction': correction, 'level': 0.95, 'cluster': cluster}
    parameters['baseline'] = baseline
    counts = {'runs': len(runs), 'queries': 599, 'units': 120, 'queries_without_relevant': without}
    return {
        'metrics': ['MAP', 'MAP@1'],
        'leaderboard': [{**board[-1], 'metric': 'MAP@1', 'rank': 1}, *board],
        'pairs': [{**each, 'metric': 'MAP@1', 'p_adjusted': 0.0} for each in pairs] + pairs,
        'manifest': {'parameters': parameters, 'counts': counts},
    }


def said(*arguments, **settings):
    lead = lead_of(comparison(*arguments, **settings))
    return lead['headline'], lead['sentences']


ALIKE = 'not significantly different from'
THREE, FOUR = [0.5, 0.4, 0.1], [0.5, 0.4, 0.3, 0.1]


@pytest.mark.parametrize(
    ('maps', 'p', 'headline'),
    [
        (THREE, {'ab': 0.01, 'ac': 0.001}, 'a is better than every other run (largest p = 0.0100)'),
        (THREE, {'ab': 0.0, 'ac': 0.0}, 'a is better than every other run (largest p < 0.0001)'),
        ([0.5, 0.4], {'ab': 0.05}, 'a is better than b by 0.100 [0.020, 0.180], p = 0.0500, Holm'),
        (
            [0.5, 0.4],
            {'ab': 0.06},
            'a leads b by 0.100 [0.020, 0.180], but they are not significantly different: '
            'p = 0.0600, Holm',
        ),
        (THREE, {'ab': 0.06}, f'a leads, but is {ALIKE} b and c (smallest p = 0.0600)'),
        (THREE, {'ac': 0.01}, f'a leads, but is {ALIKE} b (p = 1.0000)'),
        (
            [0.5, 0.4, 0.4],
            {'ab': 0.01, 'ac': 0.3},
            f'a leads: better than b (p = 0.0100), but {ALIKE} c (p = 0.3000)',
        ),
        ([0.5, 0.5, 0.1], {}, 'a and b lead together: MAP 0.500'),
        ([0.5, 0.5], {}, 'a and b score the same: MAP 0.500'),
        ([0.5], {}, 'a scores MAP 0.500'),
    ],
)
def test_headlines(maps, p, headline):
    assert said(maps, p)[0].replace(', Holm)', ')') == headline


def test_a_leader_is_compared_with_scored_runs_where_others_are_missing():
    """A missing run may be the best."""
    compared = comparison(THREE, {'ab': 0.01, 'ac': 0.001})
    headline = 'a is better than every other scored run (largest p = 0.0100, Holm)'
    assert lead_of(compared, is_partial=True)['headline'] == headline


@pytest.mark.parametrize(
    ('baseline', 'p', 'headline'),
    [
        (
            'b',
            {'ab': 0.01, 'bc': 0.05, 'bd': 0.04},
            'a is better than b (p = 0.0100, Holm); c and d are worse (largest p = 0.0500, Holm)',
        ),
        (
            'a',
            {'ab': 0.06, 'ad': 0.0},
            'd is worse than a (p < 0.0001, Holm); b and c are not significantly different '
            '(smallest p = 0.0600, Holm)',
        ),
    ],
)
def test_headlines_against_a_baseline(baseline, p, headline):
    told = said(FOUR, p, baseline=baseline)
    assert told[0] == headline
    assert f' over the 3 pairs with {baseline} (599 queries)' in told[1][1]


def test_no_headline_where_no_query_has_a_relevant_shot():
    headline, _ = said(THREE, {'ab': 0.0, 'ac': 0.0}, without=599)
    assert headline == 'No query has a relevant shot, so the runs cannot be compared'


def test_the_sentences_name_the_interval_the_test_and_what_it_needs():
    assert said(FOUR, {'ab': 0.4, 'ac': 0.06, 'ad': 0.05})[1] == [
        'a: MAP 0.500 (95 % interval 0.400 to 0.600).',
        'Paired sign flips of queries, corrected by Holm over all 6 pairs of runs (599 queries): '
        'runs differ significantly if their corrected p is at most 0.05. a is better than 1 other '
        'run.',
    ]
    by_video = said([0.5, 0.4], {}, cluster='video')[1][1]
    test = (
        'Paired sign flips of clusters, corrected by Holm (120 clusters of 599 queries, by video): '
    )
    assert by_video.startswith(test)


def test_the_correction_is_named_in_the_headline():
    headline, _ = said([0.5, 0.4], {}, correction='bh')
    assert headline.endswith(', Benjamini and Hochberg')


@pytest.mark.parametrize(
    ('p', 'shown'), [(0.050001, 'p = 0.050001'), (0.05000000001, 'p = 0.05000000001')]
)
def test_a_p_is_never_rounded_to_the_other_side(p, shown):
    """With p = 0.050 beside it, the verdict "not significantly different" would look wrong."""
    assert said([0.5, 0.4], {'ab': p})[0].endswith(f'not significantly different: {shown}, Holm')


def test_each_of_several_leaders_has_its_own_verdict():
    headline, sentences = said([0.5, 0.5, 0.1, 0.05], {'ac': 0.01, 'ad': 0.01, 'bd': 0.02})
    assert headline == 'a and b lead together: MAP 0.500'
    assert sentences[0] == 'Their means are equal.'
    assert sentences[2:] == [
        'a is better than every run below (largest p = 0.0100, Holm).',
        f'b is {ALIKE} c (p = 1.0000, Holm). b is better than 1 other run.',
    ]


def test_one_run():
    assert said([0.5], {})[1] == [
        'MAP 0.500 (95 % interval 0.400 to 0.600). There is no other run to compare it with.'
    ]


def test_many_names_are_counted():
    assert join_names(['a']) == 'a'
    assert join_names(['a', 'b', 'c']) == 'a, b and c'
    assert join_names(['a', 'b', 'c', 'd']) == 'a, b and 2 more'
