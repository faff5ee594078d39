"""Chromium, and the pages that are opened in it."""

from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

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
def watched(browser, tmp_path_factory):
    return pages.watched(tmp_path_factory.mktemp('watched'))


@pytest.fixture
def opened(browser):
    """Open a page in a tab of its own, by default on a desk."""
    with ExitStack() as stack:

        def open_page(page, state=STATES[0]):
            visit = stack.enter_context(Visit(browser, state))
            visit.open(page.url)
            return visit

        yield open_page


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def served():
    """Serve the folder of a page on this machine, and return the address of the page."""
    with ExitStack() as stack:

        def serve(path):
            server = ThreadingHTTPServer(('127.0.0.1', 0), partial(_Silent, directory=path.parent))
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            Thread(target=server.serve_forever, daemon=True).start()
            return f'http://127.0.0.1:{server.server_port}/{path.name}'

        yield serve
