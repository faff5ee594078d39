"""The lead: who leads, and no more than the test says."""

import pytest

from mediaeval_ap.campaign_report.lead import lead_of, listed


def comparison(maps, p, groups=None, correction='tukey'):
    """A comparison of runs a, b, … with these means, and these p of pairs with a."""
    runs = 'abcdefg'[: len(maps)]
    groups = groups or [None] * len(maps)
    board = [
        {
            'metric': 'MAP',
            'run': run,
            'map': value,
            'rank': 1 + sum(other > value for other in maps),
            'group': group,
            'floor': 0.6,
            'interval': {'low': value - 0.1, 'high': value + 0.1, 'reason': ''},
        }
        for run, value, group in zip(runs, maps, groups, strict=True)
    ]
    pairs = [
        {'metric': 'MAP', 'a': 'a', 'b': run, 'p_adjusted': each}
        for run, each in zip(runs[1:], p, strict=True)
    ]
    pairs.append({'metric': 'MAP', 'a': 'b', 'b': 'c', 'p_adjusted': 0.9})
    parameters = {'correction': correction, 'level': 0.95}
    return {
        'metrics': ['MAP@1', 'MAP'],
        'leaderboard': [{**board[-1], 'metric': 'MAP@1', 'rank': 1}, *board],
        'pairs': pairs,
        'manifest': {'parameters': parameters},
    }


def said(*arguments, **settings):
    lead = lead_of(comparison(*arguments, **settings), 599)
    return lead['headline'], ' '.join(lead['sentences'])


def test_the_data_tell_the_best_apart():
    headline, reason = said([0.5, 0.4, 0.1], [0.01, 0.001])
    assert headline == 'a leads, and the data tell it apart from every other run'
    assert reason == (
        'a: MAP 0.500 (95 % interval 0.400 to 0.600). Randomised Tukey HSD over 599 queries: the '
        'largest corrected p against it is 0.0100.'
    )


def test_of_two_runs_the_other_is_named():
    headline, reason = said([0.5, 0.4], [0.01], correction='holm')
    assert headline == 'a leads, and the data tell it apart from b'
    assert reason.endswith('Paired sign flips, corrected by Holm over 599 queries: p = 0.0100.')


def test_a_small_p_is_not_shown_as_nothing():
    assert said([0.5, 0.4], [1e-5])[1].endswith(': p < 0.0001.')
    assert said([0.5, 0.4, 0.1], [1e-5, 1e-5])[1].endswith('against it is below 0.0001.')


def test_the_data_do_not_tell_it_apart():
    headline, reason = said([0.5, 0.4, 0.3, 0.1], [0.4, 0.06, 0.05])
    assert headline == 'a leads, but the data do not tell it apart from b and c'
    assert 'the smallest corrected p among these is 0.0600.' in reason
    assert reason.endswith('They do tell it apart from 1 other run.')


def test_a_letter_in_common_is_enough_not_to_claim_more():
    headline, _ = said([0.5, 0.4], [0.01], ['AB', 'B'])
    assert headline == 'a leads, but the data do not tell it apart from b'
    assert said([0.5, 0.4], [0.01], ['A', 'B'])[0].startswith('a leads, and')


def test_letters_in_parentheses_are_whole_letters():
    """Behind z and Z, groups are called (53), (54), and so on."""
    assert said([0.5, 0.4], [0.01], ['(53)', '(54)'])[0].startswith('a leads, and')
    assert said([0.5, 0.4], [0.01], ['Z(53)', '(53)(54)'])[0].startswith('a leads, but')


def test_the_p_that_is_needed_is_named():
    assert 'told apart at a corrected p of at most 0.05.' in said([0.5, 0.4], [0.09])[1]


def test_queries_without_a_relevant_shot_are_named_with_the_floor():
    lead = lead_of(comparison([0.7, 0.65], [0.01]), 100, 60)
    assert lead['sentences'][-1] == (
        '60 of 100 queries have no relevant shot: an empty run has 0.600.'
    )


def test_nothing_is_claimed_where_no_query_has_a_relevant_shot():
    lead = lead_of(comparison([1.0, 1.0], [1.0]), 3, 3)
    assert lead['headline'] == 'No query has a relevant shot: nothing can be told about the runs'


@pytest.mark.parametrize(
    ('maps', 'headline'),
    [
        ([0.5, 0.5, 0.1], 'a and b lead together: MAP 0.500'),
        ([0.5, 0.5], 'a and b score the same: MAP 0.500'),
    ],
)
def test_nobody_leads_alone(maps, headline):
    assert said(maps, [1.0] * (len(maps) - 1)) == (headline, 'Their means are equal.')


def test_one_run():
    headline, reason = said([0.5], [])
    assert headline == 'a scores MAP 0.500'
    assert reason.endswith('There is no other run to compare it with.')


def test_many_names_are_counted():
    assert listed(['a']) == 'a'
    assert listed(['a', 'b', 'c']) == 'a, b and c'
    assert listed(['a', 'b', 'c', 'd']) == 'a, b and 2 more'
