"""The sentence a reader wants first: who leads, and whether the data tell the runs apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mediaeval_ap.choices import alpha_of
from mediaeval_ap.comparison.documents import test_in_words
from mediaeval_ap.report.document import counted
from mediaeval_ap.report.formats import short_p
from mediaeval_ap.report.page import p_value

LETTER = re.compile(r'\(\d+\)|[a-zA-Z]')  # of a group; behind z and Z there are (53), (54), …
NAMED_AT_MOST = 3  # a choice: more names make a sentence that nobody reads


def lead_of(
    comparison: Mapping[str, Any], n_queries: int, n_without_relevant: int = 0
) -> dict[str, Any]:
    """Return a headline and sentences about the last cutoff, which claim no more than the test."""
    if n_without_relevant == n_queries:
        return _said(
            'No query has a relevant shot: nothing can be told about the runs',
            ['Every run has the same value for each query, whatever it returns.'],
        )
    lead = _about_leader(comparison, n_queries)
    floor = comparison['leaderboard'][-1]['floor']
    if n_without_relevant:
        told = f'{n_without_relevant:,} of {counted(n_queries, "query has", "queries have")}'
        empty = '' if floor is None else f': an empty run has {floor:.3f}'
        lead['sentences'].append(f'{told} no relevant shot{empty}.')
    return lead


def _about_leader(comparison: Mapping[str, Any], n_queries: int) -> dict[str, Any]:
    metric = comparison['metrics'][-1]
    board = [row for row in comparison['leaderboard'] if row['metric'] == metric]
    leaders = [row['run'] for row in board if row['rank'] == 1]
    leader, others = board[0], board[1:]
    score = f'{metric} {leader["map"]:.3f}{_interval(leader, comparison)}'
    if not others:
        return _said(f'{leader["run"]} scores {metric} {leader["map"]:.3f}',
                     [f'{score}. There is no other run to compare it with.'])  # fmt: skip
    if len(leaders) > 1:
        rest = '' if len(leaders) == len(board) else ' lead together'
        tied = f'{listed(leaders)}{rest or " score the same"}'
        return _said(f'{tied}: {metric} {leader["map"]:.3f}', ['Their means are equal.'])
    pairs = [
        pair
        for pair in comparison['pairs']
        if pair['metric'] == metric and leader['run'] in (pair['a'], pair['b'])
    ]
    parameters = comparison['manifest']['parameters']
    alpha = alpha_of(parameters['level'])
    unsure = [pair for pair in pairs if not _is_told_apart(pair, board, alpha)]
    over = counted(n_queries, 'query', 'queries')
    test = f'{test_in_words(parameters["correction"])} over {over}'
    headline, sentence = _verdict(leader['run'], pairs, unsure, test, alpha)
    return _said(headline, [f'{leader["run"]}: {score}. {sentence}'])


def _verdict(
    leader: str,
    pairs: Sequence[Mapping[str, Any]],
    unsure: Sequence[Mapping[str, Any]],
    test: str,
    alpha: float,
) -> tuple[str, str]:
    names = [_other(pair, leader) for pair in unsure]
    if not unsure:
        largest = max(pair['p_adjusted'] for pair in pairs)
        if len(pairs) == 1:
            other = _other(pairs[0], leader)
            return (
                f'{leader} leads, and the data tell it apart from {other}',
                f'{_upper(test)}: {_equals(largest)}.',
            )
        return (
            f'{leader} leads, and the data tell it apart from every other run',
            f'{_upper(test)}: the largest corrected p against it is {p_value(largest)}.',
        )
    smallest = min(pair['p_adjusted'] for pair in unsure)
    reason = f'the smallest corrected p among these is {p_value(smallest)}'
    if len(names) == 1:
        reason = f'corrected {_equals(smallest)}'
    headline = f'{leader} leads, but the data do not tell it apart from {listed(names)}'
    rest = len(pairs) - len(unsure)
    others = f' They do tell it apart from {rest} other {"run" if rest == 1 else "runs"}.'
    needed = f' A difference is told apart at a corrected p of at most {alpha:g}.'
    return headline, f'{_upper(test)}: {reason}.{needed}{others if rest else ""}'


def _is_told_apart(
    pair: Mapping[str, Any], board: Sequence[Mapping[str, Any]], alpha: float
) -> bool:
    """Return whether the corrected p is small, and no letter says that the runs are alike."""
    letters = [
        set(LETTER.findall(row['group'] or ''))
        for row in board
        if row['run'] in (pair['a'], pair['b'])
    ]
    return bool(pair['p_adjusted'] <= alpha) and not set.intersection(*letters)


def _interval(row: Mapping[str, Any], comparison: Mapping[str, Any]) -> str:
    interval = row['interval']
    if interval['low'] is None:
        return ''
    level = percent(comparison['manifest']['parameters']['level'])
    return f' ({level} interval {interval["low"]:.3f} to {interval["high"]:.3f})'


def percent(level: float) -> str:
    """Return a level as people write it."""
    return f'{100 * level:g} %'


def listed(names: Sequence[str]) -> str:
    """Return names as part of a sentence; of many, the first and a count."""
    if len(names) == 1:
        return names[0]
    if len(names) > NAMED_AT_MOST:
        return f'{", ".join(names[: NAMED_AT_MOST - 1])} and {len(names) - NAMED_AT_MOST + 1} more'
    return f'{", ".join(names[:-1])} and {names[-1]}'


def _other(pair: Mapping[str, Any], leader: str) -> str:
    return str(pair['b'] if pair['a'] == leader else pair['a'])


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _said(headline: str, sentences: list[str]) -> dict[str, Any]:
    return {'headline': headline, 'sentences': sentences}


def _equals(p: float) -> str:
    return f'p {short_p(p, "< ", "= ")}'
