"""Take the picture of the page in the tutorial "The page for our campaign".

`python docs/images/page_of_a_campaign.py` writes `page-of-a-campaign.png`. It needs the extras
`report` and `browser`, and Chromium. No test compares it: pixels depend on the fonts of
the machine.
"""

import contextlib
import tempfile
from pathlib import Path

from mediaeval_ap import AveragePrecision

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / 'samples'
CHROMIUM = '/usr/bin/chromium'
SIZE = {'width': 1120, 'height': 1130}
SURE = 0.5


def runs():
    """The runs of the tutorial."""
    fields = [line.split() for line in (SAMPLES / 'hypothesis.txt').read_text().splitlines()]
    run = [(*shot, name, float(confidence)) for *shot, name, confidence in fields]
    return {
        'team-a': run,
        'team-b': [row for row in run if row[-1] >= SURE],
        'team-c': [(*shot, name.removesuffix('e'), SURE) for *shot, name, _ in run],
        'team-d': [(*row, round(confidence, 1)) for *row, confidence in run],
    }


def take(path):
    # Imported here: pytest imports this module without the extra `browser`.
    from playwright.sync_api import sync_playwright

    with contextlib.chdir(SAMPLES):  # the page shows the path of the reference
        average_precision = AveragePrecision('reference.txt', K=[1, 10, 100], definition='trec')
    report = average_precision.report(runs())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / 'report.html'
        report.to_html(page)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox'])
        tab = browser.new_page(viewport=SIZE)
        tab.goto(page.as_uri(), wait_until='load')
        tab.locator('svg').first.wait_for()
        tab.screenshot(path=path)
        browser.close()


if __name__ == '__main__':
    take(HERE / 'page-of-a-campaign.png')
