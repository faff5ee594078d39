"""How time grows with hypotheses, names and queries: `python benchmarks/growth.py`.

Needs the extra `report`.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import growing
import machine
from campaign import large_campaign
from growing import Steps, Times
from timing import Taken, duration, in_turns, median_taken

HYPOTHESES = (100_000, 1_000_000, 10_000_000)
NAMES = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = (1, 10, 100, 1_000)
FIXED_NAMES = 100_000  # where hypotheses or queries grow
BATCH = 100  # queries of a batch where hypotheses or names grow
REPEATS = 3

KINDS = [
    ('read', 'read', 1),
    ('index', 'index', 1),
    ('one send', 'send', 1),
    ('query of a batch', f'batch={BATCH}', BATCH),
]


def steps_at(n_hypotheses: int, n_names: int, folder: Path) -> Steps:
    """Return the median seconds of each step, of processes of their own."""
    data = large_campaign(folder, n_hypotheses, n_names)
    with open(data / 'queries.txt') as file:
        n_queries = sum(1 for _ in file)  # of few names, there are fewer than 1,000
    steps = ['send', *(f'batch={n}' for n in QUERIES if n <= n_queries)]
    script = Path(__file__).with_name('speed_steps.py')
    command = [sys.executable, script, 'ranking', data, *steps]
    runs = [json.loads(run.printed) for run in in_turns({'': command}, REPEATS)['']]
    taken = {step: median_taken([Taken(*run[step][0]) for run in runs]) for step in runs[0]}
    return {step: each.seconds for step, each in taken.items()}


def measure(folder: Path, smaller: int) -> Times:
    times: Times = {}
    for n_hypotheses in HYPOTHESES:
        for n_names in NAMES:
            if n_names <= n_hypotheses:
                at = n_hypotheses // smaller, n_names // smaller
                times[at] = steps_at(*at, folder)
                print(*at, *(f'{step} {duration(each)}' for step, each in times[at].items()))
    return times


def main(folder: Path, smaller: int) -> None:
    about = f'Load of the machine before: {os.getloadavg()[0]:.1f} (mean of one minute).'
    times = measure(folder, smaller)
    at = HYPOTHESES[-1] // smaller, FIXED_NAMES // smaller
    batches = {n: times[at][f'batch={n}'] for n in QUERIES if f'batch={n}' in times[at]}
    found = growing.panels(times, KINDS, at, batches)
    rows = [row for panel in found for row in growing.rows_of(panel)]
    words = 'Time by number of hypotheses, names and queries, with fitted exponents'
    picture = growing.picture(found, words)
    if smaller > 1:
        print(*rows, sep='\n')
        (folder / 'growth.svg').write_text(picture, encoding='utf-8')
        return
    (machine.RESULTS / 'growth.svg').write_text(picture, encoding='utf-8')
    machine.write('growth', growing.HEADERS, rows, ['scipy'], [about])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--folder', type=Path, metavar='DIR', help='where made data is kept')
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide sizes by this')
    given = parser.parse_args()
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        main(given.folder, given.smaller)
    else:
        with TemporaryDirectory() as name:
            main(Path(name), given.smaller)
