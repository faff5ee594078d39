"""What the page of a run that grew shows and does."""

import re
from pathlib import Path

import pytest
from page.browsing import Visit
from page.pages import HOSTILE_RUN, column

from mediaeval_ap import WatchPage
from mediaeval_ap.errors import printable


@pytest.fixture
def tab(opened, watched):
    visit = opened(watched)
    yield visit.tab
    assert visit.faults == []


@pytest.fixture(scope='session')
def points(watched):
    """The points, as Python gets them from the lines that were not skipped."""
    lines = watched.runs[HOSTILE_RUN].read_text().splitlines()
    rows = [
        (*fields[:4], float(fields[4]))
        for fields in map(str.split, lines)
        if not fields[4].isalpha()
    ]
    with (
        pytest.warns(UserWarning, match='no relevant shot'),
        pytest.warns(UserWarning, match="no names of it: 'nobody_of_the_reference'"),
    ):
        watch = watched.average_precision.watch(rows, watched.queries, every=250)
    return list(watch)[::-1]


def test_the_table_has_all_points_newest_first(tab, points):
    table = tab.locator('#points')
    assert column(table, 1) == [f'{point.n_hypotheses:,}' for point in points]
    for number in range(3):
        assert column(table, 2 + number) == [f'{point.map[number]:.3f}' for point in points]
    assert column(table, 5) == [f'{len(point.changed):,}' for point in points]


def test_the_headline_has_the_last_mean(tab, watched, points):
    run, newest = printable(Path(HOSTILE_RUN).stem), points[0]
    mean = f'{newest.map[-1]:.3f} over {len(watched.queries)} queries'
    headline = f'MAP of {run} is {mean}, after {newest.n_hypotheses:,} hypotheses.'
    assert tab.locator('h1').inner_text() == headline


def test_the_number_of_changed_queries_opens_their_names(tab, points):
    table = tab.locator('#points')
    rows = table.locator('tbody tr')
    for place in (0, len(points) - 1):
        button = rows.nth(place).locator('button')
        button.focus()
        tab.keyboard.press('Enter')
        listed = tab.locator('#changed li').all_inner_texts()
        assert listed == [printable(each) for each in points[place].changed]
        assert re.match(rf'{len(listed)} queries changed', tab.locator('#changed h3').inner_text())


def test_names_stay_with_their_point_when_the_table_is_sorted(tab, points):
    tab.locator('#points thead button').first.click()
    tab.locator('#points thead button').first.click()
    assert column(tab.locator('#points'), 1)[0] == f'{points[-1].n_hypotheses:,}'
    tab.locator('#points tbody button').first.click()
    listed = tab.locator('#changed li').all_inner_texts()
    assert listed == [printable(each) for each in points[-1].changed]


def test_the_figure_draws_a_line_for_each_cutoff_and_shows_a_tooltip(tab, points):
    figure = tab.locator('[data-figure="watch"]')
    names = figure.locator('text').all_text_contents()
    assert {'MAP@1', 'MAP@10', 'MAP'} <= set(names)
    marks = figure.locator('.mark-symbol path')
    assert marks.count() == 3 * len(points)
    marks.first.hover(force=True)
    tip = tab.locator('#vg-tooltip-element.visible')
    tip.wait_for()
    assert 'MAP@1' in tip.inner_text()


def test_skipped_lines_and_warnings_are_listed_as_text(tab):
    assert tab.get_by_text('<img src=x onerror=alert(1)>.txt, line').is_visible()
    assert tab.get_by_text('1 of 27 queries have no relevant shot').is_visible()


def test_each_query_has_its_average_precision_at_the_newest_point(tab, points):
    table = tab.locator('#queries')
    assert column(table, 1) == [printable(each) for each in points[0].queries]
    for number in range(3):
        assert column(table, 2 + number) == [f'{ap:.3f}' for ap in points[0].ap[:, number]]


def test_the_page_of_a_growing_run_loads_itself_again_where_it_was(
    browser, watched, points, tmp_path
):
    """Until it is told not to, or the run has ended."""
    path = tmp_path / 'watch.html'
    page = WatchPage(watched.average_precision, 'run.txt')
    oldest, *newer = points[::-1]
    page.add(oldest)
    page.to_html(path, reload=1)
    with Visit(browser) as visit:
        tab = visit.open(path.as_uri())
        rows = tab.locator('#points tbody tr')
        tab.locator('#points tbody button').click()
        tab.evaluate('scrollTo(0, 400)')
        for point in newer:
            page.add(point)
        page.to_html(path, reload=1)
        rows.nth(len(newer)).wait_for(state='attached')
        tab.wait_for_function('scrollY === 400')
        changed = tab.locator('#changed li').all_inner_texts()
        assert changed == [printable(each) for each in oldest.changed]
        tab.locator('#reload').uncheck()
        page.to_html(path)
        tab.wait_for_timeout(1500)
        assert tab.locator('#reload').is_visible()
        tab.locator('#reload').dispatch_event('click')  # `check` would look again, when it is gone
        tab.locator('#reload').wait_for(state='detached')
        assert visit.faults == []


def test_without_javascript_the_points_are_there(browser, watched, points):
    with Visit(browser, java_script_enabled=False) as visit:
        visit.tab.goto(watched.url)
        assert visit.tab.locator('#points tbody tr').filter(visible=True).count() == len(points)
