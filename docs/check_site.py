"""Open every page of the built site in Chromium: `python docs/check_site.py docs/_build`.

No page may write an error to the console, ask another site for anything, or be wider than its
window, of a phone or of a desk, and descriptions need room on a phone. The search has to find first
the page that explains a word.
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
PHONE = 390
WIDTHS = (1280, PHONE)
LEAST = 200  # pixels for a description on a phone
# The least width of cells and definitions that are more than a few words.
NARROWEST = """() => Math.min(9999, ...[...
    document.querySelectorAll('article dd, table.docutils td:last-child')]
    .filter(each => each.innerText.length > 40).map(each => each.getBoundingClientRect().width))"""
SEARCHED = {
    'citation': 'index.html',
    'confidence interval': 'comparison.html',
    'csv': 'input.html',
    'detection': 'measures.html',
    'gate': 'tutorials/scores-and-gate.html',
    'install': 'index.html',
    'k': 'definitions.html',
    'license': 'index.html',
    'lwlrap': 'label-ranking.html',
    'map@12': 'map-at-k.html',
    'mrr': 'measures.html',
    'ndcg': 'measures.html',
    'plot': 'report.html',
    'recall': 'measures.html',
    'seed': 'scores.html',
    'significance': 'comparison.html',
    'temporal rank': 'definitions.html',
    'trec_eval': 'trec.html',
    'wilcoxon': 'statistics.html',
    'windows': 'index.html',
}


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

        narrowest = self.tab.evaluate(NARROWEST)
        self.check(narrowest >= LEAST, f'{narrowest} pixels for a description on a phone')

    def search(self, words, page):
        """Type words into the search of the site, and look where its first result leads."""
        self.tab.goto(f'{self.home}search.html')
        box = self.tab.locator('input[name="q"]').first
        box.fill(words)
        box.press('Enter')
        found = self.tab.locator('#search-results li a').first.get_attribute('href')
        self.check(found.partition('#')[0] == page, f'{words} is found first in {found}')


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
        for words, page in SEARCHED.items():
            visit.search(words, page)
        browser.close()
    print(f'{len(pages)} pages in Chromium, {len(visit.faults)} faults', *visit.faults, sep='\n')
    return not pages or bool(visit.faults)


if __name__ == '__main__':
    sys.exit(check_site(Path(sys.argv[1])))
