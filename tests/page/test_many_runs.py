"""The page of many runs: rows are drawn where they are in sight, and a line tells who is alike."""

import csv
import io
import random
import re

import numpy as np
import pandas
import pytest
from page.browsing import DESK, STATES, State, Visit
from page.pages import Page, column
from page_text import data_of

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.comparison import comparison_page

N_RUNS, N_QUERIES = 20, 300
DRAWN = 90  # at most: the rows of a window of 900 pixels, and some on either side


def write_page(folder):
    generator = np.random.default_rng(3)  # any: the same values each time
    values = np.clip(generator.normal(0.5, 0.3, (N_RUNS, N_QUERIES)), 0, 1)
    values += np.linspace(0, 0.2, N_RUNS)[:, None]
    items = [f'item_{number:03} {"of many words " * (number % 3)}' for number in range(N_QUERIES)]
    runs = {f'system-{number}': list(of_run) for number, of_run in enumerate(values / 1.2)}
    table = {'item': items, **runs}
    compare(pandas.DataFrame(table)).to_html(folder / 'many.html')
    return Page(folder / 'many.html', None, runs, items)


@pytest.fixture(scope='module')
def many(browser, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp('many'))


@pytest.fixture(scope='module')
def data(many):
    return data_of(many.text)


@pytest.fixture(scope='module')
def campaign_of_many_queries(browser, tmp_path_factory):
    """Its queries are buttons, which open their rankings."""
    rows = [('x', f'v{number}', '1', f'name_{number:03}') for number in range(150)]
    average_precision = AveragePrecision(rows, K=[10])
    runs = {run: [(*row, 0.5) for row in rows[::step]] for step, run in enumerate('ab', 1)}
    path = tmp_path_factory.mktemp('queries') / 'queries.html'
    average_precision.report(runs).to_html(path)
    return Page(path, average_precision, runs, [row[-1] for row in rows])


@pytest.fixture
def tab(opened, many):
    visit = opened(many)
    yield visit.tab
    assert visit.faults == []


def scroll(tab, table, share):
    """Scroll the box of a table to a share of its height, and wait until its rows are drawn."""
    tab.locator(table).evaluate(
        """async (table, share) => {
          const box = table.closest('.scrolls');
          box.scrollIntoView({ behavior: 'instant' });
          box.scrollTop = share * box.scrollHeight;
          for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
        }""",
        share,
    )


def rows_in_sight(tab, table):
    """The texts of the rows that stand within the box of a table."""
    return tab.locator(table).evaluate(
        """(table) => {
          const box = table.closest('.scrolls').getBoundingClientRect();
          return [...table.querySelectorAll('tbody tr:not(.space)')].filter((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return top < Math.min(box.bottom, innerHeight) && bottom > Math.max(box.top, 0);
          }).map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
        }"""
    )


def test_every_query_comes_into_sight_by_scrolling(tab, many, data):
    seen = {}
    for step in range(101):
        scroll(tab, '#per-query', step / 100)
        rows = rows_in_sight(tab, '#per-query')
        assert rows  # no gap
        assert tab.locator('#per-query tbody tr').count() <= DRAWN
        seen |= {row[0]: row[1:] for row in rows}
    assert [*seen] == sorted(each.strip() for each in many.queries)
    values = np.array(data['values']['value'])
    for number, shown in enumerate(seen.values()):
        # Half of the last of three decimals.
        assert list(map(float, shown)) == pytest.approx(values[:, number], abs=0.0005 + 1e-9)


def test_all_pairs_are_sorted_filtered_and_saved(tab, data):
    pairs = data['comparison']['pairs']
    assert len(pairs) == N_RUNS * (N_RUNS - 1) / 2
    tab.locator('#pairs-of-runs summary').click()
    tab.locator('#pairs thead button').nth(2).click()
    differences = sorted((pair['difference'] for pair in pairs), reverse=True)
    for share, place in (0, 0), (1, -1):
        for _ in range(2):  # the height is estimated until rows are drawn
            scroll(tab, '#pairs', share)
        shown = rows_in_sight(tab, '#pairs')[place]
        assert float(shown[2]) == pytest.approx(differences[place], abs=0.0005 + 1e-9)
    tab.get_by_label('Show pairs with').fill('SYSTEM 19')
    of_run = [pair for pair in pairs if 'system-19' in (pair['a'], pair['b'])]
    output = tab.locator('output[for="pairs-filter"]').inner_text()
    assert output == f'{len(of_run)} rows of {len(pairs)}'
    assert len(column(tab.locator('#pairs'), 1)) == len(of_run)
    with tab.expect_download() as download:
        tab.locator('#pairs .csv').click()
    text = download.value.path().read_bytes().decode()
    saved = list(csv.DictReader(io.StringIO(text, newline='')))
    assert [float(row['p']) for row in saved] == [pair['p'] for pair in pairs]


def test_arrow_keys_go_beyond_the_rows_that_were_drawn(opened, campaign_of_many_queries):
    tab = opened(campaign_of_many_queries).tab
    tab.locator('#per-query tbody button').first.focus()
    for number in range(120):
        focused = tab.evaluate('document.activeElement.textContent')
        assert focused == f'name_{number:03}'
        tab.keyboard.press('ArrowDown')
        tab.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')


@pytest.mark.parametrize('is_checked', [False, True])
def test_the_first_rows_are_printed_or_all(tab, many, is_checked):
    tab.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    scroll(tab, '#per-query', 0.5)
    if is_checked:
        tab.locator('.all:has(+ .scrolls > #per-query) input').check()
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # as a browser does
    tab.emulate_media(media='print')
    names = tab.locator('#per-query tbody tr').filter(visible=True).locator('th').all_inner_texts()
    expected = sorted(each.strip() for each in many.queries)[: None if is_checked else 40]
    assert [name.strip() for name in names] == expected


def test_the_line_below_a_rank_spans_the_systems_that_do_not_differ(tab, data):
    order = data['runs']
    alpha = 1 - data['comparison']['manifest']['parameters']['level']
    labels = tab.locator('.board .places').evaluate_all(
        "(all) => all.map((each) => each.getAttribute('aria-label'))"
    )
    for run, label in zip(order, labels, strict=True):
        alike = {run}
        for pair in data['comparison']['pairs']:
            if run in (pair['a'], pair['b']) and pair['p_adjusted'] > alpha:
                alike |= {pair['a'], pair['b']}
        count = f'{len(alike) - 1} system{"s" * (len(alike) != 2)}'
        if len(alike) == 1:
            count = 'any other system'
        assert label.startswith(f'Not significantly different from {count}')
        places = set()
        for first, last in re.findall(r'(\d+)(?: to (\d+))?[,:]', label.partition(': places')[2]):
            places |= {*range(int(first), int(last or first) + 1)}
        assert {order[place - 1] for place in places or {order.index(run) + 1}} == alike


@pytest.mark.parametrize('width', [DESK, 768, 390])
def test_the_page_fits_its_window(opened, many, width):
    visit = opened(many, State('many', width))
    assert visit.width() <= width
    visit.open_details()
    assert visit.clipped() == []
    assert visit.bad_labels() == []


def test_axe_finds_no_violation(browser, many):
    with Visit(browser, STATES[0]) as visit:
        visit.open(many.url)
        visit.open_details()
        assert visit.axe() == []


def test_without_javascript_the_means_are_there(browser, many, data):
    with Visit(browser, java_script_enabled=False) as visit:
        visit.tab.goto(many.url)
        table = visit.tab.locator('section[aria-labelledby="queries"] noscript table')
        means = [f'{row["map"]:.3f}' for row in data['comparison']['leaderboard']]
        assert column(table, 2) == means


def test_of_many_pairs_those_that_claims_are_about_are_rounded(monkeypatch):
    generator = random.Random(4)  # any
    table = {'item': [*range(30)]}
    table |= {name: [generator.random() for _ in range(30)] for name in 'abcd'}
    comparison = compare(pandas.DataFrame(table))
    exact = data_of(comparison.to_html())['comparison']['pairs']
    assert exact == comparison.to_dict()['pairs']
    monkeypatch.setattr(comparison_page, 'MOST_PAIRS', 5)
    page = comparison.to_html()
    assert 'rounded to five digits' in page
    rounded = data_of(page)['comparison']['pairs']
    for pair, expected in zip(rounded, exact, strict=True):
        for name in ('difference', 'p', 'p_adjusted', 'dz'):
            # Half of the last of five digits.
            assert pair[name] == pytest.approx(expected[name], rel=5e-5)
        assert (pair['a'], pair['b'], pair['wins']) == (
            expected['a'],
            expected['b'],
            expected['wins'],
        )
