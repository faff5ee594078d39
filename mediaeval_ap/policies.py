"""What to do where the data leaves a choice, whose rules hold, and other parameters, checked."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, get_args

from mediaeval_ap.errors import ParameterError, is_text, shown

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
LARGEST_TREC_DEPTH = 1 << 24  # single precision, which some readers use, is exact up to this

Missing = Literal['error', 'zero']
Unknown = Literal['error', 'drop']
Ties = Literal['expected', 'stable', 'best', 'worst']
TrecTies = Literal['trec_eval', 'expected', 'best', 'worst']
TrecMissing = Literal['zero', 'skip']
Campaign = Literal['2015', '2016', 'none']
MISSING: tuple[Missing, ...] = get_args(Missing)
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
TIES: tuple[Ties, ...] = get_args(Ties)
TREC_TIES: tuple[TrecTies, ...] = get_args(TrecTies)
TREC_MISSING: tuple[TrecMissing, ...] = get_args(TrecMissing)
CAMPAIGNS: tuple[Campaign, ...] = get_args(Campaign)


def check_policy(name: str, policy: object, known: tuple[str, ...]) -> None:
    """Refuse a policy that there is not.

    Parameters
    ----------
    name : str
        What it is about, for the error.
    policy : object
        Anything.
    known : tuple of str
        The policies that there are.

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
    if policy not in known:
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


def check_tag(tag: object) -> None:
    """Refuse what cannot name a run of TREC.

    Parameters
    ----------
    tag : object
        Anything.

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
    if not (isinstance(tag, str) and is_text(tag) and tag.split() == [tag]):
        raise ParameterError(f'tag: found {shown(tag)}, expected one word')
