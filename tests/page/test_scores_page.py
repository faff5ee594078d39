"""The page of a score table: two systems item by item, in the states where most can go wrong."""

import csv
import io

import pandas
import pytest
from page.browsing import STATES
from page.pages import HOSTILE_NAMES, Page, column

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.errors import printable


def test_two_chosen_systems_are_drawn_listed_and_saved(opened, scores):
    """Each item stands in one row, with the values of the table; the axes go as far as these."""
    visit = opened(scores)
    tab = visit.tab
    tab.locator('#run-a').select_option(label='old')
    tab.locator('#run-b').select_option(label=HOSTILE_NAMES[0])
    a, b = scores.runs['old'], scores.runs[HOSTILE_NAMES[0]]
    pairs = list(zip(a, b, strict=True))
    rows = [column(tab.locator('#points'), place) for place in (1, 2, 3)]
    found = list(zip(*(map(float, row) for row in rows), strict=True))
    assert sorted(found) == sorted({(x, y, x - y) for x, y in pairs})
    assert [abs(each[2]) for each in found] == sorted(abs(each[2]) for each in found)[::-1]
    better, worse = sum(x > y for x, y in pairs), sum(x < y for x, y in pairs)
    summary = tab.locator('#two-runs-summary').inner_text()
    assert summary.startswith(f'old is better for {better} items, {HOSTILE_NAMES[0]} for {worse} ')
    most = max(set(pairs), key=pairs.count)
    number = [each[:2] for each in found].index(most)
    tab.locator('#points tbody tr').nth(number).locator('button').click()
    listed = tab.locator('#coinciding li').all_inner_texts()
    of_most = {
        printable(item) for item, pair in zip(scores.queries, pairs, strict=True) if pair == most
    }
    assert {*listed} == of_most
    frame = tab.locator('[data-figure="scatter"] .canvas').bounding_box()
    for mark in tab.locator('[data-figure="scatter"] .mark-symbol path').all():
        box = mark.bounding_box()
        assert frame['x'] <= box['x'] <= box['x'] + box['width'] <= frame['x'] + frame['width']
        assert frame['y'] <= box['y'] <= box['y'] + box['height'] <= frame['y'] + frame['height']
    with tab.expect_download() as download:
        tab.locator('#points .csv').click()
    text = download.value.path().read_bytes().decode()
    head, *saved = csv.reader(io.StringIO(text, newline=''))
    assert head == ['item', 'old', HOSTILE_NAMES[0]]
    values = {item.lstrip("'"): (float(x), float(y)) for item, x, y in saved}
    assert values == {
        item.lstrip("'"): pair for item, pair in zip(scores.queries, pairs, strict=True)
    }
    assert visit.faults == []


def test_the_system_with_the_lower_loss_is_better(opened, tmp_path):
    table = {'item': list('uvwxyz'), 'old': [5, 5, 5, 5, 5, 5], 'new': [4, 4, 4, 4, 5, 6]}
    path = tmp_path / 'losses.html'
    compare(pandas.DataFrame(table), lower_is_better=True).to_html(path)
    visit = opened(Page(path, None, table, table['item']))
    summary = visit.tab.locator('#two-runs-summary').inner_text()
    assert summary.startswith('new is better for 4 items, old for 1 item; 1 item has the same ')
    board = visit.tab.locator('.board')
    assert column(board, 2) == ['new', 'old']
    assert board.locator('[aria-sort="ascending"]').inner_text().startswith('value')
    assert visit.faults == []


def test_an_end_of_zero_is_above_zero_where_p_excludes_it(opened, tmp_path):
    table = {'item': list('uvwxyz'), 'new': [0.2, 0.2, 0.15, 0.9, 0.12, 0.14], 'old': [0.1] * 6}
    path = tmp_path / 'open.html'
    compare(pandas.DataFrame(table)).to_html(path)
    visit = opened(Page(path, None, table, table['item']))
    assert 'above 0.000 to 0.' in visit.tab.locator('#pairs').text_content()
    assert visit.faults == []


def test_the_colours_of_cells_go_over_the_range(opened, scores):
    """Negative values, too: the least is plain, and the largest has the strongest colour."""
    systems = [each for each in scores.runs if each not in ('item', 'cluster')]
    values = [value for system in systems for value in scores.runs[system]]
    read = '(cells) => cells.map((each) => [parseFloat(each.textContent), each.className])'
    cells = opened(scores).tab.locator('#per-query td').evaluate_all(read)
    assert sorted(value for value, _ in cells) == sorted(values)
    assert {kind for value, kind in cells if value == min(values)} == {'q0'}
    assert {kind for value, kind in cells if value == max(values)} == {'q9'}
    kinds = [kind for _, kind in sorted(cells)]
    assert kinds == sorted(kinds)
    assert len({*kinds}) > 5


@pytest.mark.parametrize('hide_labels', [False, True])
def test_the_address_of_a_page_without_rankings_is_what_was_chosen(opened, tmp_path, hide_labels):
    rows = [('x', name, str(shot), name) for name in ('ann', 'bob') for shot in range(3)]
    evaluate = AveragePrecision(rows, K=[2, 10]).evaluate
    runs = {name: [(*row, 0.5) for row in rows[:n]] for name, n in (('a', 6), ('b', 5), ('c', 4))}
    results = {name: evaluate(run) for name, run in runs.items()}
    path = tmp_path / 'page.html'
    compare(results, hide_labels=hide_labels).to_html(path)
    visit = opened(Page(path, None, runs, ['ann', 'bob']))
    tab = visit.tab
    for control, label, address in (
        ('#metric', 'MAP@2', '#?cutoff=2'),
        ('#run-b', 'c', '#two-runs?cutoff=2&b=c'),
        ('#metric', 'MAP@10', '#two-runs?b=c'),
    ):
        tab.locator(control).select_option(label=label)
        assert tab.url == f'{path.as_uri()}{address}'
    again = opened(Page(path, None, runs, ['ann', 'bob'])).tab
    again.goto(f'{path.as_uri()}#?cutoff=2&query=undefined')  # as older pages wrote it
    again.reload()
    again.locator('#run-b').select_option(label='c')
    assert again.url == f'{path.as_uri()}#two-runs?cutoff=2&b=c'
    assert visit.faults == []


def test_nothing_is_wrong_with_the_page_on_a_phone(opened, scores, screenshots):
    """Other states, and axe, are those of the page of a campaign, whose template it is."""
    visit = opened(scores, STATES[3])
    visit.screenshot(screenshots, 'scores')
    visit.open_details()
    assert visit.faults == []
    assert visit.asked_elsewhere(scores.url) == []
    assert visit.width() <= visit.state.width
    assert visit.clipped() == []
    assert visit.bad_labels() == []
