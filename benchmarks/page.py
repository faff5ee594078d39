"""Pages of many systems: `python benchmarks/page.py [--before PYTHON] [SYSTEMS...]`.

Chromium opens each page, as Debian has it (`apt-get install chromium`, extra `browser`). Its times
are of its main thread, so that another process on the machine changes little. `--before` names the
interpreter of an environment with an older version.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
import numpy as np
from playwright.sync_api import Page, sync_playwright
from timing import command_of, whole_process

SYSTEMS = (9, 40, 200)
ITEMS = 599
NAME_LENGTH = 48
CHROMIUM = '/usr/bin/chromium'
FLAGS = '--no-sandbox --disable-gpu --no-first-run --disable-background-networking'
ACTIONS = {
    'filter': "fill('#per-query-filter', '1', 'input')",
    'show all again': "fill('#per-query-filter', '', 'input')",
    'sort': "document.querySelectorAll('#per-query thead button')[2].click()",
    'choose two': "fill('#run-a', '2', 'change')",
    'open pairs': "document.querySelector('#pairs-of-runs').open = true",
    'filter pairs': "fill('#pairs-filter', '7', 'input')",
    'sort pairs': "document.querySelectorAll('#pairs thead button')[4].click()",
}
FILL = """() => { window.fill = (selector, value, kind) => {
  const control = document.querySelector(selector);
  control.value = value;
  control.dispatchEvent(new Event(kind, { bubbles: true }));
}; }"""


def write_scores(path: Path, n_systems: int) -> Path:
    """Write scores of systems, of which some are alike, by item."""
    random = np.random.default_rng(1)  # any seed
    logits = random.normal(0, 1, (ITEMS, 1)) + random.normal(0, 0.4, n_systems)
    values = 1 / (1 + np.exp(-logits - random.normal(0, 0.7, (ITEMS, n_systems))))
    names = [f'team-{n % 17}_system-{n}-'.ljust(NAME_LENGTH, 'x') for n in range(n_systems)]
    rows = [f'item {n},{",".join(map(str, row))}' for n, row in enumerate(values.tolist())]
    path.write_text('\n'.join([f'item,{",".join(names)}', *rows]) + '\n')
    return path


def opened(tab: Page, path: Path) -> list[str]:
    """Return a page's elements, its seconds until all is drawn, and its slowest action."""
    session = tab.context.new_cdp_session(tab)
    session.send('Performance.enable', {'timeDomain': 'threadTicks'})

    def busy() -> float:
        metrics = session.send('Performance.getMetrics')['metrics']
        return next(
            float(metric['value']) for metric in metrics if metric['name'] == 'TaskDuration'
        )

    before = busy()
    tab.goto(path.as_uri(), wait_until='load')
    tab.wait_for_timeout(1000)
    seconds = busy() - before
    n_elements = tab.evaluate("document.querySelectorAll('*').length")
    tab.evaluate(FILL)
    slowest = (0.0, '')
    for name, action in ACTIONS.items():
        before = busy()
        tab.evaluate(f'() => {{ {action}; }}')
        tab.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
        slowest = max(slowest, (busy() - before, name))
    return [f'{n_elements:,}', f'{seconds:.1f} s', f'{slowest[0]:.2f} s ({slowest[1]})']


def main(sizes: list[int], before: Path | None) -> None:
    pythons = {'now': sys.executable}
    if before is not None:
        pythons['before'] = str(before)
    rows = []
    with TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        for n_systems in sizes:
            scores = write_scores(Path(name, f'{n_systems}.csv'), n_systems)
            for version, python in pythons.items():
                page = Path(name, f'{version}-{n_systems}.html')
                process = whole_process(command_of(python, 'report', scores, '-o', page))
                tab = browser.new_page()
                tab.set_default_timeout(300_000)
                size = f'{page.stat().st_size / 1e6:.2f} MB'
                seconds = f'{process.taken.cpu_seconds:.1f} s'
                rows.append([f'{n_systems}, {version}', seconds, size, *opened(tab, page)])
                tab.close()
        browser.close()
    about = (
        f'{ITEMS} items; names of {NAME_LENGTH} letters. CPU times, of one process, and of the '
        'main thread of Chromium.'
    )
    headers = ['systems', '`report`', 'page', 'elements', 'open, all drawn', 'slowest action']
    machine.write('page', headers, rows, ['scipy', 'altair', 'playwright'], [about])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='Measure pages of many systems.')
    parser.add_argument('systems', nargs='*', type=int, default=SYSTEMS)
    parser.add_argument('--before', type=Path, metavar='PYTHON', help='that of an older version')
    given = parser.parse_args()
    main(list(given.systems), given.before)
