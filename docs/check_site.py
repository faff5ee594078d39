"""Open every page of the built site in Chromium: `python docs/check_site.py docs/_build`.

No page may write an error to the console, ask another site for anything, or be wider than its
window, of a phone or of a desk; and the search has to find a word of the glossary.
"""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

CHROMIUM = '/usr/bin/chromium'  # as Debian has it
FLAGS = (
    '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
    '--disable-component-update --disable-sync'
)
WIDTHS = (1280, 390)
SEARCHED, FOUND = 'temporal rank', 'glossary.html'


class Server(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


class Visit:
    """A tab of the browser that collects what is wrong with the pages it opens."""

    def __init__(self, context, home):
        self.home = home
        self.faults = []
        self.tab = context.new_page()
        self.tab.on('console', lambda each: self.check(each.type != 'error', each.text))
        self.tab.on('pageerror', lambda error: self.check(False, error))
        self.tab.on('request', lambda each: self.check(each.url.startswith(home), each.url))
        self.tab.on('response', self.check_response)

    def check(self, right, fault):
        if not right:
            self.faults.append(f'{self.tab.url}: {fault}')

    def check_response(self, response):
        self.check(response.status < 400, f'{response.status} {response.url}')

    def open(self, page):
        self.tab.goto(self.home + page)
        for width in WIDTHS:
            self.tab.set_viewport_size({'width': width, 'height': 900})
            wide = self.tab.evaluate('document.documentElement.scrollWidth')
            self.check(wide <= width, f'{wide} pixels wide in a window of {width}')

    def search(self):
        self.tab.goto(f'{self.home}search.html?q={SEARCHED.replace(" ", "+")}')
        result = self.tab.locator(f'#search-results li a[href*="{FOUND}"]')
        result.first.wait_for()


def check_site(folder):
    # Imported here: pytest imports this module without the extra `docs`.
    from playwright.sync_api import sync_playwright

    pages = [str(path.relative_to(folder)) for path in sorted(folder.rglob('*.html'))]
    server = ThreadingHTTPServer(('127.0.0.1', 0), partial(Server, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        visit = Visit(browser.new_context(), f'http://127.0.0.1:{server.server_port}/')
        for page in pages:
            visit.open(page)
        visit.search()
        browser.close()
    print(f'{len(pages)} pages in Chromium, {len(visit.faults)} faults', *visit.faults, sep='\n')
    return not pages or bool(visit.faults)


if __name__ == '__main__':
    sys.exit(check_site(Path(sys.argv[1])))
