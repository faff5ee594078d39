"""The page of a comparison: its lead, and the parts that all pages about several runs share."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mediaeval_ap.choices import TEXT, alpha_of, is_text
from mediaeval_ap.comparison.comparison_settings import CORRECTED_BY, terms_of, words_of_test
from mediaeval_ap.errors import ParameterError, shown, with_noun
from mediaeval_ap.render.document import Terms
from mediaeval_ap.render.formats import short, short_p
from mediaeval_ap.results.described import return_or_write
from mediaeval_ap.results.run_names import run_names

MOST_WITH_NAMES = 14  # runs on a board that names those that do not differ; of more, a line tells
MOST_PAIRS = 5_000  # with all digits on a page; of more, only those that claims are about, rounded
DIGITS = 5  # significant ones, of rounded numbers
NAMES_IN_SENTENCE = 3  # more names make a sentence that nobody reads
BETTER = 'better than'
WORSE = 'worse than'
ALIKE = 'not significantly different from'
EQUAL_MEANS = 'Their means are equal.'
JsonObject: TypeAlias = Mapping[str, Any]


class Paged(ABC):
    """A result about several runs that can be written as a page."""

    @abstractmethod
    def _page(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the data of the page, with its figures, and the variables of its template."""

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        intro: str = '',
        links: Mapping[str, str] | None = None,
    ) -> str | None:
        """Return one self-contained page, or write it to a file and return None.

        Parameters
        ----------
        path : str or path-like, optional
        title : str, optional
            The title; by default the number of runs, and the data on which they were compared.
        intro : str
            Markdown to show above the leaderboard, without pictures; HTML in it is shown as text.
        links : mapping of str to str, optional
            Addresses by the text of their link: http, https or mailto, as in `intro`.

        Raises
        ------
        ParameterError, WriteError, MissingExtraError
            When the title is not text on one line, or a link has another kind of address; when the
            file cannot be written; without the extra ``report``.
        """
        from mediaeval_ap.render.page import check_links, javascript_bundle, markdown_to_html, page

        if title is not None and not is_text(title):
            raise ParameterError(f'found {shown(title)}, expected {TEXT}', 'title')
        data, context = self._page()
        data['values'] = _values_by_query(data['values'])
        data['comparison'] = {**data['comparison'], 'pairs': _pairs_on_page(data['comparison'])}
        if title is not None:
            data['title'] = title
        text: str = page(
            'campaign.html.j2',
            title=data['title'],
            intro=markdown_to_html(intro),
            links=check_links(links or {}),
            data=data,
            bundle=javascript_bundle(),
            **context,
        )
        return return_or_write(text, path)


def context_of(data: JsonObject, caption: str, facts: JsonObject) -> dict[str, Any]:
    """Return the variables of the template that every comparison sets; a campaign sets more."""
    compared = data['comparison']
    figures = data['figures']
    metrics = data['metrics']
    parameters = compared['manifest']['parameters']
    claimed = metrics[0]
    inputs = data['manifest']['inputs']
    file_names = run_names([row['name'] for row in inputs], with_suffixes=True)
    pairs = [pair for pair in compared['pairs'] if pair['metric'] == claimed]
    value_names = {value_name(metric).partition('@')[0] for metric in metrics}
    means = {(row['metric'], row['run']): row['map'] for row in compared['leaderboard']}
    common_name = 'value'
    if len(value_names) == 1:
        (common_name,) = value_names
    return {
        **{name: data[name] for name in ('lead', 'runs', 'metrics')},
        **{name: parameters[name] for name in ('baseline', 'cluster')},
        'terms': terms_of(parameters, claimed),
        'value': common_name,
        'claimed_values': value_name(claimed),
        'facts': facts,
        'hides_labels': bool(parameters.get('hide_labels')),
        'level': percent(parameters['level']),
        'test': words_of_test(parameters, compared['manifest']['counts'], claimed),
        'has_floor': any(row['floor'] for row in compared['leaderboard']),
        'has_seeds': 'seeds' in compared['manifest']['counts'],
        'boards': boards_of(compared),
        'caption': caption,
        'pairs': pairs,
        'is_rounded': len(compared['pairs']) > MOST_PAIRS,
        'orders': compared['orders'],
        'is_by_k': 'map_by_k' in figures,
        'bins': _distribution(figures, metrics, data['runs']),
        'queries': data['queries'],
        'means': [
            (run, [means[metric, run] for metric in metrics if (metric, run) in means])
            for run in data['runs']
        ],
        'remarks': [
            list(same_text) for _, same_text in groupby(data['remarks'], itemgetter('what'))
        ],
        'inputs': list(zip(inputs, file_names, strict=True)),
        **dict.fromkeys(
            ('n_relevant', 'teams', 'judged', 'pool', 'loss', 'asked', 'gate', 'definition')
        ),
        'missing': {},
    }


def _values_by_query(values: Mapping[str, Any]) -> Any:
    """Return values by query, metric and run; equal ones are near, so that they compress best."""
    return np.array(list(values.values())).transpose(2, 0, 1).tolist()


def _pairs_on_page(comparison: JsonObject) -> list[Any]:
    """Return all pairs; of more than `MOST_PAIRS` those of the first metric, rounded."""
    pairs: list[Any] = comparison['pairs']
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return [
        _rounded(pair | {'interval': _rounded(pair['interval'])})
        for pair in pairs
        if pair['metric'] == comparison['metrics'][0]
    ]


def _rounded(fields: JsonObject) -> dict[str, Any]:
    return {
        name: float(f'{value:.{DIGITS}g}') if isinstance(value, float) else value
        for name, value in fields.items()
    }


def value_name(metric: str) -> str:
    """Return the name of a metric's values by query, such as AP@10 for MAP@10."""
    return re.sub(r'\bMAP\b|\bmacro AP\b', 'AP', metric)


def boards_of(comparison: JsonObject) -> list[dict[str, Any]]:
    """Return a leaderboard for each metric; a row names the runs that do not differ from it."""
    boards = []
    alpha = alpha_of(comparison['manifest']['parameters']['level'])
    for metric in comparison['metrics']:
        rows = [row for row in comparison['leaderboard'] if row['metric'] == metric]
        alike: dict[str, list[str]] = {row['run']: [] for row in rows}
        for pair in comparison['pairs']:  # best first
            if pair['metric'] == metric and pair['p_adjusted'] > alpha:
                alike[pair['a']].append(pair['b'])
                alike[pair['b']].append(pair['a'])
        places = {row['run']: place for place, row in enumerate(rows, 1)}
        numbers = [
            {name: (row | row['interval'])[name] for name in ('map', 'floor', 'low', 'high')}
            for row in rows
        ]
        drawn = [value for row in numbers for value in row.values() if value is not None]
        steps = 20 / 10 ** math.floor(math.log10(max(max(drawn) - min(drawn), 1)))
        low = math.floor(min(drawn) * steps) / steps
        high = max(math.ceil(max(drawn) * steps) / steps, low + 1 / steps)
        drawn_rows = []
        for row, ends in zip(rows, numbers, strict=True):
            positions = {  # in percent of the width of the figure
                name: None if value is None else f'{100 * (value - low) / (high - low):.1f}%'
                for name, value in ends.items()
            }
            words: dict[str, Any] = {'alike': alike[row['run']]}
            words['ranks'] = ranks(row['rank_interval'])
            if len(rows) > MOST_WITH_NAMES:
                words['spans'] = _spans(places[run] for run in [row['run'], *alike[row['run']]])
            drawn_rows.append({**row, 'at': positions, 'place': places[row['run']], **words})
        board = {'metric': metric, 'low': low, 'high': high, 'floor': rows[0]['floor']}
        boards.append({**board, 'rows': drawn_rows})
    return boards


def _spans(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each series of successive places.

    >>> _spans([5, 1, 2, 3])
    [(1, 3), (5, 5)]
    """
    spans: list[tuple[int, int]] = []
    for place in sorted(places):
        if spans and spans[-1][1] == place - 1:
            spans[-1] = spans[-1][0], place
        else:
            spans.append((place, place))
    return spans


def _distribution(
    figures: Mapping[str, JsonObject], metrics: Sequence[str], runs: Sequence[str]
) -> dict[str, Any]:
    """Return the distribution of the first metric; columns are the classes of all metrics."""
    charts = [figures[f'distribution {metric}'] for metric in metrics]
    longest_legend = max((chart['legend'] for chart in charts), key=len)
    classes = [entry['label'] for entry in longest_legend]
    rows_shown = charts[0]['spec']['data']['values']
    counts = {(row['run'], row['class']): row['count'] for row in rows_shown}
    rows = [(run, [counts.get((run, name), 0) for name in classes]) for run in runs]
    return {'headers': classes, 'rows': rows}


def lead_of(comparison: JsonObject, is_partial: bool = False) -> dict[str, Any]:
    """Return a headline and sentences about the first metric, which claim no more than the test."""
    counts = comparison['manifest']['counts']
    metric = comparison['metrics'][0]
    terms = terms_of(comparison['manifest']['parameters'], metric)
    if is_partial:  # a missing run may be better than all
        terms = terms._replace(run='scored run', runs='scored runs')
    board = [row for row in comparison['leaderboard'] if row['metric'] == metric]
    score = f'{metric} {short(board[0]["map"])}'
    if counts.get('queries_without_relevant') == counts['queries']:
        headline = 'No query has a relevant shot, so the runs cannot be compared'
        sentences = ['Whatever a run returns, it scores the same.']
    elif len(board) == 1:
        headline = f'{board[0]["run"]} scores {score}'
        no_other = f'There is no other {terms.run} to compare it with.'
        sentences = [f'{score}{_interval_in_words(comparison, board[0])}. {no_other}']
    elif all(row['rank'] == 1 for row in board):
        headline = f'{join_names([row["run"] for row in board])} score the same: {score}'
        sentences = [EQUAL_MEANS]
    else:
        headline, sentences = _lead_by_tests(comparison, board, score, terms)
    return {'headline': headline, 'sentences': sentences}


def _lead_by_tests(
    comparison: JsonObject, board: Sequence[JsonObject], score: str, terms: Terms
) -> tuple[str, list[str]]:
    """Return the headline and the sentences about runs with different means."""
    parameters = comparison['manifest']['parameters']
    words = _Words(alpha_of(parameters['level']), CORRECTED_BY[parameters['correction']], terms)
    pairs = [pair for pair in comparison['pairs'] if pair['metric'] == comparison['metrics'][0]]
    leaders = [row['run'] for row in board if row['rank'] == 1]
    first = board[0]['run']
    about_first = f'{first}: {score}{_interval_in_words(comparison, board[0])}.'
    test_sentence = _test_sentence(comparison)
    if len(pairs) == 1:
        return words.pair(pairs[0]), [about_first, test_sentence]
    if parameters['baseline'] is not None:
        headline = words.against_baseline(board, parameters['baseline'])
        return headline, [about_first, test_sentence]
    phrases = []
    for leader in leaders[:NAMES_IN_SENTENCE]:
        pairs_below = [pair for pair in pairs if pair['a'] == leader and pair['b'] not in leaders]
        p_by_run = {pair['b']: pair['p_adjusted'] for pair in pairs_below}
        phrases.append(words.leader(leader, p_by_run, leads_alone=len(leaders) == 1))
    if len(leaders) == 1:
        ((headline, count),) = phrases
        return headline, [about_first, f'{test_sentence}{count}']
    about_leaders = [f'{phrase}.{count}' for phrase, count in phrases]
    headline = f'{join_names(leaders)} lead together: {score}'
    return headline, [EQUAL_MEANS, test_sentence, *about_leaders]


def _interval_in_words(comparison: JsonObject, standing: JsonObject) -> str:
    """Return the interval of a run in parentheses, or ''."""
    interval = standing['interval']
    if interval['low'] is None:
        return ''
    level = percent(comparison['manifest']['parameters']['level'])
    return f' ({level} interval {short(interval["low"])} to {short(interval["high"])})'


class _Words(NamedTuple):
    """The words for runs that are compared by p, its limit and its correction."""

    alpha: float
    correction: str
    terms: Terms

    def pair(self, pair: JsonObject) -> str:
        """Compare the only two runs: difference, interval and corrected p."""
        interval = pair['interval']
        difference = f'{short(pair["difference"])} {bounds_of(interval)}'.rstrip()
        by = ' by '
        if self.terms.lower_is_better:  # the difference of the better run is negative
            by = ': difference '
        p = self.p(pair['p_adjusted'])
        if pair['p_adjusted'] <= self.alpha:
            return f'{pair["a"]} is {BETTER} {pair["b"]}{by}{difference}, {p}'
        alike = 'but they are not significantly different'
        return f'{pair["a"]} leads {pair["b"]}{by}{difference}, {alike}: {p}'

    def against_baseline(self, board: Sequence[JsonObject], baseline: str) -> str:
        """Name the runs that are better, worse, or not significantly different."""
        p_by_relation: dict[str, dict[str, float]] = {BETTER: {}, WORSE: {}, ALIKE: {}}
        side = BETTER  # the board is best first
        for row in board:
            if row['run'] == baseline:
                side = WORSE
            else:
                relation = side if row['p_adjusted'] <= self.alpha else ALIKE
                p_by_relation[relation][row['run']] = row['p_adjusted']
        phrases: list[str] = []
        for relation, p in p_by_relation.items():
            if p:
                words = f'{relation} {baseline}'
                if phrases:  # the baseline is named in the first one
                    words = relation.rpartition(' ')[0]
                phrases.append(f'{join_names([*p])} {be(p)} {self.clause(words, p)}')
        return '; '.join(phrases)

    def leader(
        self, leader: str, p_by_run: Mapping[str, float], *, leads_alone: bool
    ) -> tuple[str, str]:
        """Compare a leader with the runs below it, best first; count those that are worse."""
        run = self.terms.run
        alike = {name: p for name, p in p_by_run.items() if p > self.alpha}
        if not alike:
            worse = f'every other {run}'
            if len(p_by_run) == 1:
                worse = join_names([*p_by_run])
            elif not leads_alone:
                worse = f'every {run} below'
            return f'{leader} is {self.clause(f"{BETTER} {worse}", p_by_run)}', ''
        phrase = f'{leader} is '
        next_run, p = next(iter(p_by_run.items()))
        if leads_alone:
            phrase = f'{leader} leads, but is '
        if leads_alone and p <= self.alpha:
            phrase = f'{leader} leads: {self.clause(f"{BETTER} {next_run}", {next_run: p})}, but '
        n_worse = len(p_by_run) - len(alike)
        count = ''
        if n_worse:
            worse = with_noun(n_worse, f'other {run}', f'other {self.terms.runs}')
            count = f' {leader} is {BETTER} {worse}.'
        return phrase + self.clause(f'{ALIKE} {join_names([*alike])}', alike), count

    def clause(self, words: str, p_by_run: Mapping[str, float]) -> str:
        """Add the p that is closest to the limit, and its correction, to some words."""
        word, p = 'smallest ', min(p_by_run.values())
        if max(p_by_run.values()) <= self.alpha:
            word, p = 'largest ', max(p_by_run.values())
        if len(p_by_run) == 1:
            word = ''
        return f'{words} ({word}{self.p(p)})'

    def p(self, p: float) -> str:
        """Write p and its correction; the rounded p is on the same side of alpha."""
        return f'{short_p(p, below="p < ", equal="p = ", limit=self.alpha)}, {self.correction}'


def _test_sentence(comparison: JsonObject) -> str:
    """Name the test, its family, its units, and the p from which two runs differ."""
    parameters = comparison['manifest']['parameters']
    counts = comparison['manifest']['counts']
    terms = terms_of(parameters, comparison['metrics'][0])
    n_pairs = sum(pair['metric'] == comparison['metrics'][0] for pair in comparison['pairs'])
    family = ''
    if n_pairs > 1 and parameters['baseline'] is not None:
        family = f' over the {counts["runs"] - 1} pairs with {parameters["baseline"]}'
    elif n_pairs > 1:
        family = f' over all {n_pairs} pairs of {terms.runs}'
    units = with_noun(counts['queries'], terms.query, terms.queries)
    if parameters['cluster'] != 'none':
        clusters = with_noun(counts['units'], 'cluster', 'clusters')
        units = f'{clusters} of {units}, by {parameters["cluster"]}'
    test = words_of_test(parameters, counts, comparison['metrics'][0])
    verdict = f'{terms.runs} differ significantly if their corrected p is at most'
    alpha = f'{alpha_of(parameters["level"]):g}'
    return f'{test[:1].upper()}{test[1:]}{family} ({units}): {verdict} {alpha}.'


def bounds_of(interval: JsonObject, comma: str = ', ') -> str:
    """Format an interval; a parenthesis stands before or after an end of 0 that p excludes."""
    low, high = interval['low'], interval['high']
    if low is None:
        return ''
    begin, end = '[', ']'
    if interval.get('excludes_zero') and low == 0:
        begin = '('
    if interval.get('excludes_zero') and high == 0:
        end = ')'
    return f'{begin}{short(low)}{comma}{short(high)}{end}'


def be(names: Collection[str]) -> str:
    return 'is' if len(names) == 1 else 'are'


def percent(share: float) -> str:
    return f'{100 * share:g} %'


def ranks(interval: Sequence[int]) -> str:
    """Format the ranks that the tests leave open, such as 2 to 4, or one rank."""
    return ' to '.join(map(str, dict.fromkeys(interval)))


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence; of many names, only the first, with the number of the others."""
    if len(names) == 1:
        return names[0]
    if len(names) > NAMES_IN_SENTENCE:
        first_names = names[: NAMES_IN_SENTENCE - 1]
        return f'{", ".join(first_names)} and {len(names) - len(first_names)} more'
    return f'{", ".join(names[:-1])} and {names[-1]}'
