"""What to do where the data leaves a choice, whose rules hold, and other parameters, checked."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, TypeVar, get_args

from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.plain_text import is_text, plain_text

__all__ = [
    'CAMPAIGNS',
    'LARGEST_TREC_DEPTH',
    'LARGEST_TREC_LEVEL',
    'MISSING',
    'RATIO_2015',
    'TIES',
    'TREC_DEPTH',
    'TREC_MISSING',
    'TREC_TIES',
    'UNKNOWN',
    'Campaign',
    'Missing',
    'Ties',
    'TrecMissing',
    'TrecTies',
    'Unknown',
    'check_policy',
    'check_ratio',
    'check_tag',
]

RATIO_2015 = 0.95  # of a name that is close enough to a query
TREC_DEPTH = 1000  # of a ranking, by TREC's habit
LARGEST_TREC_LEVEL = 1 << 53  # of relevance, which is read in double precision
LARGEST_TREC_DEPTH = 1 << 24  # single precision, as of trec_eval 9, is exact up to this

Missing = Literal['error', 'zero']
Unknown = Literal['error', 'drop']
Ties = Literal['expected', 'stable', 'best', 'worst']
TrecTies = Literal['trec_eval', 'trec_eval-9', 'expected', 'best', 'worst']
TrecMissing = Literal['zero', 'skip']
Campaign = Literal['2015', '2016', 'none']
MISSING: tuple[Missing, ...] = get_args(Missing)
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
TIES: tuple[Ties, ...] = get_args(Ties)
TREC_TIES: tuple[TrecTies, ...] = get_args(TrecTies)
TREC_MISSING: tuple[TrecMissing, ...] = get_args(TrecMissing)
CAMPAIGNS: tuple[Campaign, ...] = get_args(Campaign)

Policy = TypeVar('Policy', bound=str)


def check_policy(name: str, policy: object, known: tuple[Policy, ...]) -> Policy:
    """Return a policy, if there is one of that name.

    Parameters
    ----------
    name : str
        What it is about, for the error.
    policy : object
        Anything.
    known : tuple of str
        The policies that there are.

    Returns
    -------
    str
        The policy, as plain text.

    Raises
    ------
    ParameterError
        When it is none of these.

    Examples
    --------
    >>> check_policy('ties', 'random', TIES)
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: ties: found 'random', expected one of expected, stable, \
best, worst
    """
    text = plain_text(policy)
    for each in known:
        if each == text:
            return each
    raise ParameterError(f'{name}: found {shown(policy)}, expected one of {", ".join(known)}')


def check_ratio(ratio: object) -> None:
    """Refuse what is no share of a whole.

    Parameters
    ----------
    ratio : object
        Anything.

    Raises
    ------
    ParameterError
        When it is no number from 0 to 1.

    Examples
    --------
    >>> check_ratio(float('nan'))
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: ratio: found nan, expected a number from 0 to 1
    """
    number: Any = ratio  # whose order needs no double, which an integer may be too large for
    if isinstance(ratio, Real) and not isinstance(ratio, bool) and 0 <= number <= 1:
        return
    raise ParameterError(f'ratio: found {shown(ratio)}, expected a number from 0 to 1')


def check_tag(tag: object) -> str:
    """Return the name of a run of TREC, if it can be one.

    Parameters
    ----------
    tag : object
        Anything.

    Returns
    -------
    str
        The name, as plain text.

    Raises
    ------
    ParameterError
        When it is not one word of text that UTF-8 can hold.

    Examples
    --------
    >>> check_tag('my run')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: tag: found 'my run', expected one word
    """
    text = plain_text(tag)
    # Whatever any tool takes for white space would end the word there, so all of Unicode's counts.
    if text is None or not is_text(text) or text.split() != [text]:
        raise ParameterError(f'tag: found {shown(tag)}, expected one word')
    return text
