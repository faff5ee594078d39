"""The page of a comparison: its data are those of `compare`, and its text is about items."""

import json
import re

import numpy as np
import pandas
import pytest
from compared_runs import several
from page_text import PageText, data_of

from mediaeval_ap import compare
from mediaeval_ap.comparison.comparison_page import boards_of, value_name
from mediaeval_ap.errors import ParameterError

HOSTILE = '<script>alert(1)</script>'
# Fixed: any values would do that are not all from 0 to 1.
VALUES = np.random.default_rng(5).uniform(-20, 90, (3, 30))
PERCENT = dict(zip(['old', HOSTILE, 'new'], VALUES, strict=True))
ITEMS = [f'item {number}' for number in range(30)]


@pytest.fixture(scope='module')
def wide():
    groups = ['even' if number % 2 == 0 else 'odd' for number in range(30)]
    return pandas.DataFrame({'item': ITEMS, 'cluster': groups, **PERCENT})


@pytest.fixture(scope='module')
def comparison(wide):
    settings = {'cluster': 'none', 'by': 'cluster', 'power': 5, 'baseline': 'old'}
    return compare(wide, **settings)


@pytest.fixture(scope='module')
def page(comparison):
    return comparison.to_html()


def test_the_data_are_those_of_the_comparison_and_of_the_table(comparison, page):
    data = data_of(page)
    # As JSON, which has lists for tuples; figures are drawn from the same columns.
    assert data['comparison'] == json.loads(json.dumps(comparison.to_dict()))
    assert data['comparison']['manifest']['parameters']['range'] == [
        min(map(min, PERCENT.values())),
        max(map(max, PERCENT.values())),
    ]
    for run, values in zip(data['runs'], data['values']['value'], strict=True):
        by_item = dict(zip(data['queries'], values, strict=True))
        assert [by_item[item] for item in ITEMS] == PERCENT[run].tolist()
    assert [row['run'] for row in data['comparison']['leaderboard']] == sorted(
        PERCENT, key=lambda run: -PERCENT[run].mean()
    )


SECTIONS = ['Two systems, item by item', 'Distribution of value', 'Every item']


def test_it_is_about_items_and_systems_and_needs_no_ranking(comparison, page):
    shown = re.sub(r'<(script|style)[^>]*>.*?</\1>|<[^>]+>', ' ', page, flags=re.DOTALL)
    assert not re.findall(r'\b(?:run|runs|query|queries|shots?|ranking)\b', shown, re.IGNORECASE)
    assert PageText(page).inside['h2'][1:] == [*SECTIONS, 'About these numbers']
    assert PageText(page).inside['h1'] == ['3 systems on 30 items']
    assert '<script>alert' not in page
    text = comparison.to_markdown() + comparison.to_latex() + repr(comparison)
    assert not re.findall(r'\b(?:runs?|query|queries)\b', text.replace(HOSTILE, ''), re.IGNORECASE)


def test_results_have_the_page_too():
    results = several([0.5, 1, 0.25], [0, 1, 0.75], queries=['a', 'b', 'c'])
    comparison = compare(results)
    page = comparison.to_html(title='Two', intro='*what*', links={'x': 'https://a.org'})
    data = data_of(page)
    assert data['title'] == 'Two'
    assert data['values'] == {name: each.tolist() for name, each in comparison.values.items()}
    assert 'Two runs, query by query' in page
    assert '<em>what</em>' in page
    assert page == comparison.to_html(title='Two', intro='*what*', links={'x': 'https://a.org'})
    with pytest.raises(ParameterError, match='title: found'):
        comparison.to_html(title='')


@pytest.mark.parametrize(
    ('metric', 'name'),
    [
        ('MAP', 'AP'),
        ('MAP@10', 'AP@10'),
        ('first-hit MAP@5', 'first-hit AP@5'),
        *((each, each) for each in ('MAPE', 'Match', 'value')),
    ],
)
def test_values_have_the_name_of_what_is_averaged(metric, name):
    assert value_name(metric) == name


@pytest.mark.parametrize(
    ('values', 'ends'),
    [
        ([0.21, 0.32], (0.2, 0.35)),
        ([61.2, 75.9], (61.0, 76.0)),
        ([-3.21, -0.4], (-3.25, -0.4)),
        ([5, 5], (5, 5.05)),
        ([-12345, 8000], (-12500, 8000)),
    ],
)
def test_the_axis_of_a_leaderboard_ends_at_round_numbers(values, ends):
    low, high = values
    row = {'run': 'a', 'metric': 'm', 'map': low, 'floor': None, 'rank_interval': (1, 1)}
    board = [row | {'interval': {'low': low, 'high': high}}]
    parameters = {'parameters': {'level': 0.95}}
    data = {'metrics': ['m'], 'leaderboard': board, 'pairs': [], 'manifest': parameters}
    (found,) = boards_of(data)
    assert (found['low'], found['high']) == pytest.approx(ends)  # quotients of integers
    at = float(found['rows'][0]['at']['high'].rstrip('%'))
    # A tenth of a percent is what the page shows.
    assert at == pytest.approx(100 * (high - ends[0]) / (ends[1] - ends[0]), abs=0.06)
