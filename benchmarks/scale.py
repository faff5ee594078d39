"""Stores, processes and clusters on runs of any size: `python benchmarks/scale.py --folder DIR`.

`--only` measures some parts; the others stay in the result as they were measured before. The part
`data` makes all data, which else are made where they are needed. Needs the extras `benchmarks`,
`cluster` and `report`.
"""

import argparse
import json
import os
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

import machine
from scale_data import AT, Settings
from scale_sections import SECTIONS, make_data
from timing import duration

PEERS = ['distributed', 'duckdb', 'polars', 'scipy']
BUSY = 2.0  # load of a machine that does something else, too
KINDS = [  # lines of the figure: title, step, queries that share it
    ('build', 'build', 1),
    ('open', 'open', 1),
    ('first answer', 'first', 1),
    ('next answer', 'send', 1),
    ('query of a batch', 'query', 1),
]
COSTS = {'one process': 1, '`--jobs 2`': 2}  # cores
WORDS = 'Time by number of hypotheses, names and queries, from a store, with fitted exponents'

Sections = dict[str, dict[str, Any]]  # by name: a section and where it was measured


def measure(names: list[str], settings: Settings, kept: Path) -> Sections:
    """Measure some sections, and keep each as soon as it is measured."""
    sections: Sections = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        begin, load = perf_counter(), os.getloadavg()[0]
        title, work = SECTIONS[name]
        print(title, flush=True)
        section = asdict(work(settings))
        where = {'command': machine.command(), 'machine': machine.describe(PEERS), 'load': load}
        sections[name] = {**section, **where}
        kept.write_text(json.dumps(sections, indent=1))
        print(f'{title}: {perf_counter() - begin:.0f} s', flush=True)
    return {name: sections[name] for name in SECTIONS if name in sections}


def page(sections: Sections) -> str:
    """Return all sections as Markdown; neighbours that were measured together say so once."""
    parts = []
    for (command, where), group in groupby(sections.items(), key=lambda item: made_by(item[1])):
        members = [*group]
        loads = ', '.join(f'{section["load"]:.1f}' for _, section in members)
        parts += [f'`{command}`', where, f'Load of the machine before each part: {loads}.']
        if max(section['load'] for _, section in members) > BUSY:
            parts.append(
                '**A rehearsal on a busy machine**: times are too long, but for CPU times.'
            )
        for name, section in members:
            parts += [f'#### {SECTIONS[name][0]}', section['about']]
            parts.append(
                machine.table(['hypotheses', 'names', *section['headers']], section['rows'])
            )
    return '\n\n'.join([*parts, *costs(sections)])


def made_by(section: dict[str, Any]) -> tuple[str, str]:
    return section['command'], section['machine']


def costs(sections: Sections) -> list[str]:
    """Return what a million queries cost, from the largest batches of each number of names."""
    if 'jobs' not in sections:
        return []
    largest = {
        (hypotheses, names, way): seconds
        for hypotheses, names, times in sections['jobs']['times']
        for way, seconds in times.items()
    }
    rows = [
        [
            *(f'{hypotheses:,}', f'{names:,}', way, duration(seconds)),
            f'{seconds * 1e6 / 3600:.2f} h',
            f'{seconds * 1e6 / 3600 * COSTS[way]:.2f}',
        ]
        for (hypotheses, names, way), seconds in largest.items()
        if way in COSTS
    ]
    about = 'From the largest batches above, start of the command included.'
    headers = ['hypotheses', 'names', '', 'each query', 'a million queries', 'core hours']
    return ['#### Cost of a million queries', about, machine.table(headers, rows)]


def times_of(sections: Sections) -> dict[tuple[int, int], dict[str, float]]:
    """Return the seconds of each step by hypotheses and names."""
    found: dict[tuple[int, int], dict[str, float]] = {}
    for section in sections.values():
        for hypotheses, names, times in section['times']:
            found.setdefault((hypotheses, names), {}).update(times)
    return found


def write(sections: Sections, at: tuple[int, int], folder: Path) -> None:
    """Write the page, with exponents and a figure once there is something to fit."""
    text = page(sections)
    if {'build', 'open', 'queries'} <= {*sections}:
        import growing  # late: its imports would count as memory of what this process begins

        times = times_of(sections)
        batches = {
            int(step.removeprefix('batch=')): seconds
            for step, seconds in times[at].items()
            if step.startswith('batch=')
        }
        panels = growing.panels(times, KINDS, at, batches)
        rows = [row for panel in panels for row in growing.rows_of(panel)]
        text = '\n\n'.join([text, '#### Growth', machine.table(growing.HEADERS, rows)])
        (folder / 'scale.svg').write_text(growing.picture(panels, WORDS), encoding='utf-8')
    (folder / 'scale.md').write_text(f'{text}\n', encoding='utf-8')


def main(given: argparse.Namespace) -> None:
    given.folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(given.folder, given.smaller, given.repeats)
    names = [*given.only]
    if 'data' in names:
        names.remove('data')
        make_data(settings)
    if names:
        results = given.folder if given.smaller > 1 else machine.RESULTS
        sections = measure(names, settings, results / 'scale.json')
        n_hypotheses, n_names = (n // given.smaller for n in AT)
        write(sections, (n_hypotheses, n_names), results)
        print(results / 'scale.md')


def parts(text: str) -> list[str]:
    names, known = text.split(','), ['data', *SECTIONS]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f'found {name}, expected some of {", ".join(known)}')
    return [name for name in known if name in names]


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--folder', type=Path, required=True, metavar='DIR', help='where data and stores are kept'
    )
    parser.add_argument(
        '--only',
        type=parts,
        default=[*SECTIONS],
        metavar='PART,...',
        help='parts to measure',
    )
    parser.add_argument('--repeats', type=int, default=3, metavar='N', help='of each process')
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide sizes by this')
    main(parser.parse_args())
