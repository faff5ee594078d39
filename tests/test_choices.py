"""Choices and other parameters."""

import pytest

from mediaeval_ap.choices import (
    TIES,
    check_jobs,
    check_limit,
    check_policy,
    check_ratio,
    check_tag,
    is_text,
)
from mediaeval_ap.errors import ParameterError


def test_a_choice_that_does_not_exist():
    with pytest.raises(ParameterError) as caught:
        check_policy('ties', 'random', TIES)
    expected = "ties: found 'random', expected one of expected, threshold, stable, best, worst"
    assert str(caught.value) == expected


@pytest.mark.parametrize('ratio', [float('nan'), -0.1, 1.1, 10**400, True, '0.5', None])
def test_no_ratios(ratio):
    with pytest.raises(ParameterError, match=r'^ratio: found .*, expected a number from 0 to 1$'):
        check_ratio(ratio)


@pytest.mark.parametrize('tag', ['my run', '', 'a\u00a0b', 'a\x0bb', ' a', None, 7])
def test_tags_of_more_than_one_word(tag):
    with pytest.raises(ParameterError, match=r'^tag: found .*, expected one word$'):
        check_tag(tag)


@pytest.mark.parametrize(
    'value', ['', 'ann ', '\tann', 'a\nn', 'ann\n', 'a\0n', '\ud800', b'ann', 7]
)
def test_no_names(value):
    assert not is_text(value)


def test_true_is_no_limit_and_no_number_of_jobs():
    with pytest.raises(ParameterError):
        check_limit(True, 'k')
    with pytest.raises(ParameterError):
        check_jobs(True)
