"""The page of a comparison: its lead, and what all pages about several runs show."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from mediaeval_ap.choices import TEXT, alpha_of, is_text
from mediaeval_ap.comparison.testing import CORRECTED_BY, terms_of, words_of_test
from mediaeval_ap.errors import ParameterError, counted, shown
from mediaeval_ap.render.document import Terms
from mediaeval_ap.render.formats import short_p
from mediaeval_ap.results.result import returned_or_written

NAMED_AT_MOST = 3  # more names make a sentence that nobody reads
MOST_DIGITS = 17  # tell any two doubles apart


class Paged(ABC):
    """A value about several runs that has a page."""

    @abstractmethod
    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data of the page, with its figures, and what the template shows."""

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        intro: str = '',
        links: Mapping[str, str] | None = None,
    ) -> str | None:
        """Return one self-contained page, or write it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all.
        title : str, optional
            The title; by default what was compared, and on what.
        intro : str
            Markdown that stands below the title, without pictures; HTML in it is shown as text.
        links : mapping of str to str, optional
            Addresses by the text of their link: of http, https or mailto, as those in `intro`.

        Returns
        -------
        str or None
            The page; None if it is written to a file.

        Raises
        ------
        ParameterError, WriteError, MissingExtraError
            When the title is no text on one line, or a link is no such address; when the file
            cannot be written; without the extra ``report``.

        Notes
        -----
        Equal inputs give equal bytes. The page asks no other site for anything.
        """
        from mediaeval_ap.render.page import checked_links, javascript_bundle, page, prose

        if title is not None and not is_text(title):
            raise ParameterError(f'title: found {shown(title)}, expected {TEXT}')
        data, context = self._page()
        data['title'] = data['title'] if title is None else title
        text: str = page(
            'campaign.html.j2',
            title=data['title'],
            intro=prose(intro),
            links=checked_links(links or {}),
            data=data,
            bundle=javascript_bundle(),
            scripts=('campaign.js',),
            **context,
        )
        return returned_or_written(text, path)


def context_of(data: Mapping[str, Any], caption: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template shows of any comparison; of a campaign there is more."""
    compared = data['comparison']
    figures = data['figures']
    metrics = data['metrics']
    parameters = compared['manifest']['parameters']
    last = metrics[-1]
    of_values = {of_query(metric).partition('@')[0] for metric in metrics}
    return {
        **{name: data[name] for name in ('lead', 'runs', 'metrics')},
        **{name: parameters[name] for name in ('baseline', 'cluster')},
        'terms': terms_of(parameters),
        'value': of_values.pop() if len(of_values) == 1 else 'value',
        'last_values': of_query(last),
        'facts': facts,
        'level': percent(parameters['level']),
        'test': words_of_test(parameters['correction']),
        'has_floor': any(row['floor'] for row in compared['leaderboard']),
        'boards': boards_of(compared),
        'caption': caption,
        'pairs': [pair for pair in compared['pairs'] if pair['metric'] == last],
        'orders': compared['orders'],
        'is_by_k': 'map_by_k' in figures,
        'bins': _distribution(figures, metrics, data['runs']),
        'queries': data['queries'],
        'values': list(zip(*data['values'][last], strict=True)),
        'remarks': [list(each) for _, each in groupby(data['remarks'], itemgetter('what'))],
        'inputs': data['manifest']['inputs'],
        **dict.fromkeys(('n_relevant', 'judged', 'pool', 'loss', 'asked', 'definition')),
    }


def of_query(metric: str) -> str:
    """Return the name of the values that a metric is the mean of."""
    return re.sub(r'\bMAP\b', 'AP', metric)


def boards_of(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a leaderboard for each metric, the last first, with the runs that are alike."""
    boards = []
    alpha = alpha_of(comparison['manifest']['parameters']['level'])
    for metric in comparison['metrics'][::-1]:
        rows = [row for row in comparison['leaderboard'] if row['metric'] == metric]
        alike: dict[str, list[str]] = {row['run']: [] for row in rows}
        for pair in comparison['pairs']:  # best first
            if pair['metric'] == metric and pair['p_adjusted'] > alpha:
                alike[pair['a']].append(pair['b'])
                alike[pair['b']].append(pair['a'])
        numbers = [
            {name: (row | row['interval'])[name] for name in ('map', 'floor', 'low', 'high')}
            for row in rows
        ]
        known = [value for each in numbers for value in each.values() if value is not None]
        steps = 20 / 10 ** math.floor(math.log10(max(max(known) - min(known), 1)))
        low = math.floor(min(known) * steps) / steps
        high = max(math.ceil(max(known) * steps) / steps, low + 1 / steps)
        at = [  # in percent of the width of the figure
            {
                name: None if value is None else f'{100 * (value - low) / (high - low):.1f}%'
                for name, value in each.items()
            }
            for each in numbers
        ]
        boards.append(
            {
                'metric': metric,
                'low': low,
                'high': high,
                'floor': rows[0]['floor'],
                'rows': [
                    row | {'at': each, 'alike': alike[row['run']]}
                    for row, each in zip(rows, at, strict=True)
                ],
            }
        )
    return boards


def _distribution(
    figures: Mapping[str, Mapping[str, Any]], metrics: Sequence[str], runs: Sequence[str]
) -> dict[str, Any]:
    """Return the numbers of the last distribution as a table with the classes of all of them."""
    of_metrics = [figures[f'distribution {metric}'] for metric in metrics]
    classes = [entry['label'] for entry in max((each['legend'] for each in of_metrics), key=len)]
    last = of_metrics[-1]['spec']['data']['values']
    counts = {(row['run'], row['class']): row['count'] for row in last}
    rows = [(run, [counts.get((run, each), 0) for each in classes]) for run in runs]
    return {'headers': classes, 'rows': rows}


def lead_of(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return a headline and sentences about the last cutoff, which claim no more than the test."""
    counts, parameters = (comparison['manifest'][each] for each in ('counts', 'parameters'))
    terms = terms_of(parameters)
    if counts.get('queries_without_relevant') == counts['queries']:
        return _said(
            'No query has a relevant shot: nothing can be told about the runs',
            'Every run has the same value for each query, whatever it returns.',
        )
    metric = comparison['metrics'][-1]
    board = [row for row in comparison['leaderboard'] if row['metric'] == metric]
    leaders = [row['run'] for row in board if row['rank'] == 1]
    below = [row['run'] for row in board if row['rank'] > 1]
    first = board[0]['run']
    interval = board[0]['interval']
    score = f'{metric} {board[0]["map"]:.3f}'
    told = f'{score}.'
    if interval['low'] is not None:
        bounds = f'{interval["low"]:.3f} to {interval["high"]:.3f}'
        told = f'{score} ({percent(parameters["level"])} interval {bounds}).'
    if len(board) == 1:
        return _said(
            f'{first} scores {score}', f'{told} There is no other {terms.run} to compare it with.'
        )
    if not below:
        return _said(f'{listed(leaders)} score the same: {score}', 'Their means are equal.')
    p = {
        frozenset((pair['a'], pair['b'])): pair['p_adjusted']
        for pair in comparison['pairs']
        if pair['metric'] == metric
    }
    alpha = alpha_of(parameters['level'])
    correction = CORRECTED_BY[parameters['correction']]
    found = []
    for leader in leaders[:NAMED_AT_MOST]:
        its = {run: p[frozenset((leader, run))] for run in below}
        found.append(_Tests(leader, its, alpha, correction, terms))
    test = _test(comparison)
    if len(leaders) == 1:
        return _said(found[0].headline(), f'{first}: {told}', test + found[0].better_than())
    headline = f'{listed(leaders)} lead together: {score}'
    return _said(headline, 'Their means are equal.', test, *(each.sentence() for each in found))


def _said(headline: str, *sentences: str) -> dict[str, Any]:
    return {'headline': headline, 'sentences': list(sentences)}


@dataclass(frozen=True)
class _Tests:
    """A leader, and the corrected p of its pairs with the runs below it, best first."""

    leader: str
    p: dict[str, float]
    alpha: float
    correction: str
    terms: Terms

    @property
    def alike(self) -> list[str]:
        """The runs that the test does not tell apart from the leader."""
        return [run for run, p in self.p.items() if p > self.alpha]

    def headline(self) -> str:
        """Say what the test says of the leader and the next run, and of all that are alike."""
        alike = self.alike
        following = next(iter(self.p))
        if not alike:
            return self._is_better(f'every other {self.terms.run}')
        if following in alike:
            return f'{self.leader} leads, but is {self._not_told_apart()}'
        better = f'better than {following} ({self._equals(self.p[following])}, {self.correction})'
        return f'{self.leader} leads: {better}, but {self._not_told_apart()}'

    def sentence(self) -> str:
        """Say of one of several leaders what the test says of the runs below."""
        if not self.alike:
            return f'{self._is_better(f"every {self.terms.run} below")}.'
        return f'{self.leader} is {self._not_told_apart()}.{self.better_than()}'

    def better_than(self) -> str:
        """Say how many runs the leader is better than, if it is better than some but not all."""
        n_better = len(self.p) - len(self.alike)
        if not self.alike or not n_better:
            return ''
        others = counted(n_better, f'other {self.terms.run}', f'other {self.terms.runs}')
        return f' {self.leader} is better than {others}.'

    def _is_better(self, every: str) -> str:
        largest = self._equals(max(self.p.values()))
        if len(self.p) == 1:
            (other,) = self.p
            return f'{self.leader} is better than {other} ({largest}, {self.correction})'
        return f'{self.leader} is better than {every} (largest {largest}, {self.correction})'

    def _not_told_apart(self) -> str:
        p = self._equals(min(self.p[run] for run in self.alike))
        smallest = '' if len(self.alike) == 1 else 'smallest '
        return f'not told apart from {listed(self.alike)} ({smallest}{p}, {self.correction})'

    def _equals(self, p: float) -> str:
        """Return p with so many decimals that it is on its side of alpha as it is shown."""
        for digits in range(4, MOST_DIGITS):
            if (round(p, digits) <= self.alpha) == (p <= self.alpha):
                return f'p {short_p(p, "< ", "= ")}' if digits == 4 else f'p = {p:.{digits}f}'
        return f'p = {p!r}'


def _test(comparison: Mapping[str, Any]) -> str:
    """Name the test, its family and its units, and the p that it needs."""
    parameters = comparison['manifest']['parameters']
    counts = comparison['manifest']['counts']
    terms = terms_of(parameters)
    n_pairs = sum(pair['metric'] == comparison['metrics'][-1] for pair in comparison['pairs'])
    family = f' over all {n_pairs} pairs of {terms.runs}' if n_pairs > 1 else ''
    units = counted(counts['queries'], terms.query, terms.queries)
    if parameters['cluster'] != 'none':
        clusters = counted(counts['units'], 'cluster', 'clusters')
        units = f'{clusters} of {units}, by {parameters["cluster"]}'
    test = words_of_test(parameters['correction'])
    alpha = f'a corrected p of at most {alpha_of(parameters["level"]):g}'
    return f'{test[:1].upper()}{test[1:]}{family} ({units}): {alpha} tells two {terms.runs} apart.'


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
