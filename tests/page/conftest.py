"""Chromium, and the pages that are opened in it."""

from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from page import pages
from page.browsing import CHROMIUM, FLAGS, STATES, Visit


def missing():
    """What these tests lack on this machine."""
    if not Path(CHROMIUM).exists():
        return f'needs {CHROMIUM}'
    if not all(map(find_spec, ['axe_playwright_python', 'playwright'])):
        return "needs the extra browser: pip install -e '.[browser]'"
    return ''


@pytest.fixture(scope='session')
def browser(request):
    if reason := missing():
        lacks = pytest.fail if request.config.getoption('--chromium') else pytest.skip
        lacks(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture(scope='session')
def screenshots(request):
    """The folder that screenshots go to, if there is one."""
    folder = request.config.getoption('--screenshots')
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope='session')
def campaign(browser, tmp_path_factory):
    return pages.campaign(tmp_path_factory.mktemp('campaign'))


@pytest.fixture(scope='session')
def official(browser, tmp_path_factory, official_data):
    return pages.official(tmp_path_factory.mktemp('official'), official_data)


@pytest.fixture(scope='session')
def topics(browser, tmp_path_factory):
    return pages.topics(tmp_path_factory.mktemp('topics'))


@pytest.fixture(scope='session')
def scores(browser, tmp_path_factory):
    return pages.scores(tmp_path_factory.mktemp('scores'))


@pytest.fixture
def opened(browser):
    """Open a page in a tab of its own, by default on a desk."""
    with ExitStack() as stack:

        def open_page(page, state=STATES[0]):
            visit = stack.enter_context(Visit(browser, state))
            visit.open(page.url)
            return visit

        yield open_page
