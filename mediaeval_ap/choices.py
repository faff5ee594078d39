"""Names, defaults, limits and checks of the options that several functions share.

This module does not import numpy, as the command lists the choices in its help.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from numbers import Integral, Real
from operator import index
from typing import Any, Literal, TypeVar, get_args

from mediaeval_ap.cores import machine_cores
from mediaeval_ap.errors import ParameterError, shown

TEXT = 'non-empty text on one line, without spaces around it'  # describes `is_text` in errors
BYTE_ORDER_MARK = '\ufeff'
BETWEEN_WORDS = ' \t'  # every other character belongs to a word, even a no-break space
BETWEEN_LABELS = f'(?:[{BETWEEN_WORDS}\n]|\r\n)+'  # in a field of CSV
POOL_DEPTH = 20  # first ranks of each run to judge
TO_JUDGE = 100  # lines of a judging queue
MAP_CUTOFF = 12  # of lists of labels, as in H&M Personalized Fashion Recommendations
FIRST_HIT_CUTOFF = 5  # as in Humpback Whale Identification
NEAR = 0.2  # largest distance between spellings of a name: one edit in five characters
MAX_PROBLEMS = 20_000  # more than the lines of the largest run of a campaign
RATIO_2015 = 0.95  # a name is close enough to a query above this ratio
LEVEL = 0.95  # of confidence intervals
ALL_CORES = 'all'
MOST_JOBS = 1024  # no machine has more cores, and more processes than cores do harm
TREC_DEPTH = 1000  # the usual depth of a ranking at TREC
LARGEST_TREC_LEVEL = 1 << 53  # levels of relevance are read in double precision
LARGEST_TREC_DEPTH = 1 << 24  # scores from here down are exact in single precision (trec_eval 9)

Missing = Literal['error', 'zero', 'skip']
Unknown = Literal['error', 'drop']
WithoutRelevant = Literal['count', 'skip']
Unjudged = Literal['nonrelevant', 'skip']
Repeated = Literal['error', 'first']
Ties = Literal['expected', 'threshold', 'stable', 'best', 'worst']
TrecTies = Literal['trec_eval', 'trec_eval-9', 'expected', 'threshold', 'stable', 'best', 'worst']
Campaign = Literal['2015', '2016', 'none']
Correction = Literal['holm', 'bh']
Cluster = Literal['none', 'video']
Grouping = Literal['corpus', 'relevant']
Strategy = Literal['mtc', 'rank-sum', 'depth']
JudgedBy = Literal['shot', 'pair']
MISSING: tuple[Missing, ...] = get_args(Missing)
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)
WITHOUT_RELEVANT: tuple[WithoutRelevant, ...] = get_args(WithoutRelevant)
UNJUDGED: tuple[Unjudged, ...] = get_args(Unjudged)
REPEATED: tuple[Repeated, ...] = get_args(Repeated)
TIES: tuple[Ties, ...] = get_args(Ties)
TREC_TIES: tuple[TrecTies, ...] = get_args(TrecTies)
CAMPAIGNS: tuple[Campaign, ...] = get_args(Campaign)
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
CLUSTERS: tuple[Cluster, ...] = get_args(Cluster)
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
JUDGED_BY: tuple[JudgedBy, ...] = get_args(JudgedBy)

UNKNOWN_REMEDY = "; leave others out by --unknown drop, in Python unknown='drop'"
REPEATED_REMEDY = (
    "; keep the row with the higher score by --repeated first, in Python repeated='first'"
)
MISSING_REMEDY = (
    "; score it 0 or leave it out by --missing zero or skip, in Python missing='zero' or 'skip'"
)

Policy = TypeVar('Policy', bound=str)


def plain_text(value: object) -> str | None:
    """Return text as a plain `str`, or None for any other object."""
    # A subclass of `str` may print, compare and hash in its own way: members of an `enum.Enum` of
    # texts print their names. So text is made plain before it is compared, looked up or kept.
    return str.__str__(value) if isinstance(value, str) else None


def is_text(value: object) -> bool:
    """Return True for text that can be a name: not empty, on one line, no spaces around it."""
    text = plain_text(value)
    if not text or text.strip(BETWEEN_WORDS) != text:
        return False
    # Files that are joined keep the mark of the second: its first row would match nothing.
    if any(character in text for character in ('\n', '\r', '\0', BYTE_ORDER_MARK)):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: not encodable as UTF-8
        return False
    return True


def is_uri(path: object) -> bool:
    """Return True if a path is a URI, so that its data may be on another machine."""
    return '://' in (plain_text(path) or '')


def turned_round(columns: Mapping[str, Any], roles: Collection[str]) -> str:
    """Return, for an error, columns as meant if a name stands before its role; '' if none does."""
    meant = dict(pair if pair[0] in roles else pair[::-1] for pair in columns.items())
    is_turned = len(meant) == len(columns) and meant.keys() <= {*roles} and meant != dict(columns)
    if not is_turned:
        return ''
    option = ','.join(map('='.join, meant.items()))
    return f'{option}, in Python {shown(meant)}, the role before its column'


def check_policy(name: str, policy: object, choices: tuple[Policy, ...]) -> Policy:
    """Return one of the choices as plain text, or raise `ParameterError` about `name`."""
    text = plain_text(policy)
    for choice in choices:
        if choice == text:
            return choice
    raise ParameterError(f'found {shown(policy)}, expected one of {", ".join(choices)}', name)


def check_without_relevant(policy: object) -> WithoutRelevant:
    return check_policy('queries_without_relevant', policy, WITHOUT_RELEVANT)


def check_unjudged(policy: object, drop_unjudged_rows: bool, judged: object) -> Unjudged:
    """Validate `unjudged`; raise `ParameterError` if an option needs `judged` and it is None."""
    checked = check_policy('unjudged', policy, UNJUDGED)
    if judged is None and (drop_unjudged_rows or checked != 'nonrelevant'):
        option = 'drop_unjudged_rows' if drop_unjudged_rows else f'unjudged={checked!r}'
        raise ParameterError(f'give judged=… with {option}: the shots or pairs that were judged')
    return checked


def parameter_of_skipped(policy: WithoutRelevant) -> dict[str, str]:
    """Return the entry of a manifest; no entry for the default, as in results of version 0.2."""
    return {} if policy == 'count' else {'queries_without_relevant': policy}


def _integer(value: Any) -> int | None:
    """Return an integer of any class as an int; None for anything else, and for a bool."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def check_limit(limit: int, name: str) -> int:
    """Return a limit as an int, at most `sys.maxsize`; refuse all but positive integers."""
    if (number := _integer(limit) or 0) > 0:
        return min(number, sys.maxsize)
    raise ParameterError(f'found {shown(limit)}, expected a positive integer', name)


def check_jobs(jobs: object) -> Any:
    """Return the largest number of processes to start, or an executor unchanged."""
    if hasattr(jobs, 'submit'):  # an executor of concurrent.futures, or a client of Dask
        return jobs
    if plain_text(jobs) == ALL_CORES:
        return machine_cores()
    if 0 < (number := _integer(jobs) or 0) <= MOST_JOBS:
        return number
    raise ParameterError(
        f'found {shown(jobs)}, expected an integer from 1 to {MOST_JOBS}, or {ALL_CORES}', 'jobs'
    )


def check_part(part: Any) -> tuple[int, int]:
    """Return a part (i, n), part i of n, as two integers; i is from 1 to n."""
    with suppress(TypeError, ValueError):
        i, n = map(_integer, part)
        if i is not None and n is not None and 0 < i <= n:
            return i, n
    raise ParameterError(f'found {shown(part)}, expected (i, n), with i from 1 to n', 'part')


def _double(number: object, name: str, is_right: Callable[[Any], bool], expected: str) -> float:
    """Return a number as a float, or raise `ParameterError`."""
    # Compared before the conversion, as an integer may be too large for a double.
    if isinstance(number, Real) and not isinstance(number, bool) and is_right(number):
        return float(number)
    raise ParameterError(f'found {shown(number)}, expected a number {expected}', name)


def check_ratio(ratio: object) -> float:
    return _double(ratio, 'ratio', lambda x: 0 <= x <= 1, 'from 0 to 1')


def check_near(near: object) -> float:
    return _double(near, 'near', lambda x: 0 <= x < 1 and float(x) < 1, 'from 0 to below 1')


def check_relevance_level(level: object) -> int | float:
    """Return a level as an int, or as a float, for qrels whose relevance has decimals."""
    largest = LARGEST_TREC_LEVEL
    hint = 'from -2**53 to 2**53'
    number = _double(level, 'relevance_level', lambda x: -largest <= x <= largest, hint)
    return int(number) if isinstance(level, Integral) else number


def check_above_zero(number: object, name: str) -> float:
    return _double(number, name, lambda x: 0 < x < sys.maxsize, 'above 0')


def check_margin(number: object, name: str) -> float:
    return _double(number, name, lambda x: 0 <= x < sys.maxsize, 'of 0 or more')


def check_level(level: object) -> float:
    hint = ''
    if isinstance(level, int | float) and 50 <= level < 100:
        hint = f', as {level / 100:g}'
    return _double(level, 'level', lambda x: 0 < x < 1, f'between 0 and 1{hint}')


@lru_cache
def alpha_of(level: float) -> float:
    """Return the significance level α = 1 - level; a difference has a corrected p of at most α."""
    from decimal import Decimal

    return float(1 - Decimal(repr(float(level))))  # 1 - 0.9 as doubles is below a p of 0.1


def check_tag(tag: object) -> str:
    """Return the tag of a TREC run as plain text, or raise `ParameterError`."""
    text = plain_text(tag)
    # `split` knows all white space of Unicode: some tool may end a word at any of it.
    if text is None or not is_text(text) or text.split() != [text]:
        raise ParameterError(f'found {shown(tag)}, expected one word', 'tag')
    return text
