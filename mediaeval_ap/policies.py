"""What to do where the data leaves a choice, and whose rules hold, by name."""

from __future__ import annotations

from typing import Literal, get_args

from mediaeval_ap.errors import ParameterError, shown

__all__ = [
    'CAMPAIGNS',
    'MISSING',
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
]

TREC_DEPTH = 1 << 24  # ranks up to this are exact in single precision, which some readers use

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
