"""Each page on a desk and a phone, light and dark, and printed: nothing is wrong with it."""

import pytest
from page.browsing import STATES, Visit

PAGES = ['campaign', 'official', 'topics']


@pytest.fixture(scope='module', params=PAGES)
def page(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope='module', params=STATES, ids=lambda state: state.name)
def visit(request, browser, page, screenshots):
    """A page in one of the states, with all details open behind its screenshot."""
    with Visit(browser, request.param) as visit:
        visit.open(page.url)
        visit.screenshot(screenshots, page.path.stem)
        visit.open_details()
        yield visit


def test_nothing_is_complained_of_and_nothing_requested(visit, page):
    assert visit.faults == []
    assert visit.asked_elsewhere(page.url) == []


def test_the_page_is_no_wider_than_its_window(visit, page):
    assert visit.width() <= visit.state.width


def test_no_text_is_clipped(visit, page):
    assert visit.clipped() == []


def test_labels_of_figures_can_be_read(visit, page):
    assert visit.bad_labels() == []


def test_axe_finds_no_violation(visit, page):
    assert visit.axe() == []
