"""Time and memory beside an older version and peers: `python benchmarks/speed.py [ROW ...]`.

`--before PYTHON` names the interpreter of an environment with the older version. Both versions run
in turns, each in a process of its own, and must give the same values, bit for bit. Without names of
rows, all rows are measured, and the results are written to a file.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import machine
import trec
from campaign import large_campaign, make_campaign
from timing import (
    Process,
    Taken,
    amount,
    command_of,
    duration,
    in_turns,
    median_taken,
    output_of,
)

HERE = Path(__file__).parent
NOW, BEFORE = 'now', 'before'
REPEATS = 9  # of processes that take less than a second
LARGE_REPEATS = 3
N_USERS = 1_000_000
PACKAGE = 'import mediaeval_ap; print(mediaeval_ap.__file__)'

Medians = dict[str, dict[str, Taken]]  # of each side: of each step


class Step(NamedTuple):
    """A row of the table for one step of `speed_steps.py`."""

    what: str
    data: str
    step: str
    per: int = 1  # the row shows the time of one of this many


LARGE, NAMES, SMALL = 'large', 'names', 'small'
DATA = {LARGE: (10_000_000, 100_000), NAMES: (10_000_000, 1_000_000)}  # hypotheses, names
STEPS = {
    'read': Step('read 10 million hypotheses', LARGE, 'read'),
    'index': Step('index them (memory: of both)', LARGE, 'index'),
    'batch': Step('1,000 queries, 100,000 names, K to 1000', LARGE, 'batch=1000'),
    'send': Step('one `send`, 100,000 names, K to 1000', LARGE, 'send'),
    'send-first': Step('the first `send`, 100,000 names', LARGE, 'first'),
    'send-near': Step('one `send`, 100,000 names, K to 10', LARGE, 'near'),
    'send-far': Step('one `send`, as far from all 100,000 names', LARGE, 'far'),
    'names-send': Step('one `send`, 1 million names, K to 1000', NAMES, 'send'),
    'names-first': Step('the first `send`, 1 million names', NAMES, 'first'),
    'names-near': Step('one `send`, 1 million names, K to 10', NAMES, 'near'),
    'names-batch': Step('each of 100 queries, 1 million names, K to 1000', NAMES, 'batch=100', 100),
    'small-send': Step('one `send`, 1,600 names, K to 1000', SMALL, 'send'),
}
ASKED_WITH = {'first': 'send'}  # measured together with another step
ALWAYS = {'read', 'index'}


@dataclass(frozen=True)
class Settings:
    """The interpreters and the data of a measurement."""

    folder: Path
    pythons: Mapping[str, str]  # of each side
    official: Path | None
    trec_evals: Sequence[Path]
    smaller: int


def headers(sides: Mapping[str, object]) -> list[str]:
    if BEFORE not in sides:
        return ['', 'time', 'CPU time', 'memory at most']
    kinds = ('', 'CPU time ', 'memory ')
    cells = [f'{kind}{side}' for kind in kinds for side in (NOW, BEFORE)]
    return ['', *cells[:2], 'times faster', *cells[2:]]


def line(what: str, sides: Mapping[str, Taken]) -> list[str]:
    """Return a row with seconds and memory of each side."""
    formats = (duration, duration, amount)
    cells = [[form(taken[i]) for taken in in_order(sides)] for i, form in enumerate(formats)]
    return row(what, cells, faster=sides)


def ratio_line(what: str, sides: Mapping[str, Taken], peers: Mapping[str, Taken]) -> list[str]:
    """Return a row with seconds and memory of each side, as multiples of its peer."""
    pairs = [*zip(in_order(sides), in_order(peers), strict=True)]
    cells = [
        [f'{own[i] / peer[i]:.2f} ×' for own, peer in pairs] for i in range(len(Taken._fields))
    ]
    return row(f'… as multiples of {what}', cells)


def in_order(sides: Mapping[str, Taken]) -> list[Taken]:
    return [sides[side] for side in (NOW, BEFORE) if side in sides]


def row(what: str, cells: list[list[str]], faster: Mapping[str, Taken] | None = None) -> list[str]:
    times, *others = cells
    rest = [cell for pair in others for cell in pair]
    if len(times) == 1:
        return [what, *times, *rest]
    ratio = f'{faster[BEFORE].seconds / faster[NOW].seconds:.2f}' if faster else ''
    return [what, *times, ratio, *rest]


def check_equal(what: str, values: Sequence[object]) -> None:
    for value in values:
        if value != values[0]:
            sys.exit(f'{what}: found the results {value}, expected those of {NOW}, {values[0]}')


def measured_steps(settings: Settings, repeats: int, *arguments: object) -> Medians:
    """Measure steps by the package of each side; exit unless the results are equal."""
    commands = {
        side: [python, HERE / 'speed_steps.py', *arguments]
        for side, python in settings.pythons.items()
    }
    runs = in_turns(commands, repeats)
    printed = {side: [json.loads(run.printed) for run in of_one] for side, of_one in runs.items()}
    (first, *_) = printed[NOW]
    for step in first:
        check_equal(step, [steps[step][1] for of_one in printed.values() for steps in of_one])
    return {
        side: {step: median_taken([Taken(*steps[step][0]) for steps in of_one]) for step in first}
        for side, of_one in printed.items()
    }


def step_rows(settings: Settings, names: Sequence[str]) -> list[list[str]]:
    """Return a row for each step of `STEPS` on one set of data."""
    data = STEPS[names[0]].data
    if data == SMALL:
        folder = synthetic(settings)
    else:
        folder = large_campaign(settings.folder, *(n // settings.smaller for n in DATA[data]))
    steps = [STEPS[name].step for name in names]
    asked = dict.fromkeys(ASKED_WITH.get(step, step) for step in steps if step not in ALWAYS)
    repeats = REPEATS if data == SMALL else LARGE_REPEATS
    medians = measured_steps(settings, repeats, 'ranking', folder, *asked)
    rows = []
    for name in names:
        what, _, step, per = STEPS[name]
        sides = {side: of_one[step] for side, of_one in medians.items()}
        each = {
            side: Taken(taken.seconds / per, taken.cpu_seconds / per, taken.peak_mib)
            for side, taken in sides.items()
        }
        rows.append(line(what, each))
    return rows


def whole_processes(
    runs: Mapping[str, Sequence[Process]], sides: Mapping[str, object], what: str
) -> list[list[str]]:
    """Return a row for commands, and one for each peer that ran in turns with them."""
    taken = {
        who: median_taken([process.taken for process in of_one]) for who, of_one in runs.items()
    }
    own = {side: taken.pop(side) for side in sides}
    check_equal(what, [process[1:] for side in sides for process in runs[side]])  # all it says
    rows = [line(what, own)]
    for name, peer in taken.items():
        cpu = f'{duration(peer.seconds)}, CPU {duration(peer.cpu_seconds)}'
        text = f'{name} ({cpu}, {amount(peer.peak_mib)})'
        rows.append(ratio_line(text, own, dict.fromkeys(sides, peer)))
    return rows


class Campaign(NamedTuple):
    """The files of a campaign."""

    reference: Path
    queries: Path
    runs: list[Path]


def campaigns(settings: Settings) -> Iterator[Campaign]:
    folder = synthetic(settings)
    queries = folder / 'queries.txt'
    yield Campaign(folder / 'reference.txt', queries, [folder / 'hypothesis.txt'])
    if settings.official:
        folder = settings.official / 'reference'
        reference = max(folder.glob('reference.*'))  # the last one by name
        runs = sorted((settings.official / 'submissions').iterdir())
        yield Campaign(reference, folder / 'queries.txt', runs)


def synthetic(settings: Settings) -> Path:
    """Return the folder of a synthetic campaign."""
    folder = settings.folder / 'campaign'
    if not folder.exists():
        make_campaign(folder)
    return folder


def campaign(settings: Settings) -> Iterator[list[str]]:
    for reference, queries, runs in campaigns(settings):
        for run in runs:
            yield from one_run(settings, reference, queries, run)


def one_run(settings: Settings, reference: Path, queries: Path, run: Path) -> Iterator[list[str]]:
    with open(run) as file:
        n_hypotheses = sum(1 for _ in file)
    bare = {'`bare.py`': [sys.executable, HERE / 'bare.py', reference, run, queries]}
    for form in ('table', 'csv'):
        commands = {
            side: command_of(
                python, 'evaluate', reference, run, '--queries', queries, '--format', form
            )
            for side, python in settings.pythons.items()
        }
        done = in_turns({**commands, **bare}, REPEATS)
        if form == 'table':
            printed = [process.printed for of_one in done.values() for process in of_one]
            check_equal(run.name, [re.findall(r'(MAP@\d+) +(\S+)', text) for text in printed])
        what = f'one run, {n_hypotheses:,} hypotheses, whole process, --format {form}'
        yield from whole_processes(done, commands, what)


def trec_files(settings: Settings) -> Iterator[list[str]]:
    folder = settings.folder / 'trec'
    if not folder.exists():
        folder.mkdir()
        trec.make(folder)
    commands = {side: trec.own_command(python, folder) for side, python in settings.pythons.items()}
    peers = trec.peer_commands(folder, settings.trec_evals)
    runs = in_turns({**commands, **peers}, REPEATS)
    trec.check_means(runs)
    what = f'`evaluate-trec`, {trec.SIZES[0]}, whole process'
    yield from whole_processes(runs, commands, what)


def map_at_12(settings: Settings) -> Iterator[list[str]]:
    n_users = N_USERS // settings.smaller
    medians = measured_steps(settings, LARGE_REPEATS, 'map', n_users)
    what = f'MAP@12 of {n_users:,} users, lists of text'
    own, loop = (
        {side: of_one[step] for side, of_one in medians.items()} for step in ('map', 'loop')
    )
    yield line(what, own)
    times = ', '.join(duration(each.seconds) for each in in_order(loop))
    yield ratio_line(f'the plain loop (memory: of the same arrays) ({times})', own, loop)


OTHERS: dict[str, Callable[[Settings], Iterator[list[str]]]] = {
    'campaign': campaign,
    'trec': trec_files,
    'map': map_at_12,
}
ROWS = ['campaign', 'trec', *STEPS, 'map']


def all_rows(settings: Settings, names: Sequence[str]) -> Iterator[list[str]]:
    """Measure some rows, in the order of the table; steps on the same data together."""
    for key, group in groupby((name for name in ROWS if name in names), key=group_of):
        yield from OTHERS[key](settings) if key in OTHERS else step_rows(settings, [*group])


def group_of(name: str) -> str:
    return STEPS[name].data if name in STEPS else name


def settings_of(given: argparse.Namespace, folder: Path) -> Settings:
    pythons = {NOW: sys.executable}
    if given.before:
        pythons[BEFORE] = str(given.before)
    packages = [output_of([python, '-P', '-c', PACKAGE]) for python in pythons.values()]
    if len({*packages}) < len(packages):
        sys.exit(f'--before: found the package that is measured, {packages[0].strip()}')
    return Settings(folder, pythons, given.official, given.trec_eval, given.smaller)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('rows', nargs='*', metavar='ROW', help=', '.join(ROWS))
    parser.add_argument('--before', type=Path, metavar='PYTHON', help='that of an older version')
    parser.add_argument(
        '--trec-eval', type=Path, action='append', default=[], metavar='PATH', help='its binary'
    )
    parser.add_argument('--official', type=Path, metavar='FOLDER', help='runs of a campaign, too')
    parser.add_argument('--folder', type=Path, metavar='DIR', help='where made data is kept')
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide sizes by this')
    given = parser.parse_args()
    for name in given.rows:
        if name not in ROWS:
            parser.error(f'ROW: found {name}, expected one of {", ".join(ROWS)}')
    return given


def main(given: argparse.Namespace, folder: Path) -> None:
    load = f'Load of the machine before: {os.getloadavg()[0]:.1f} (mean of one minute).'
    settings = settings_of(given, folder)
    names = given.rows or ROWS
    rows = []
    print(*headers(settings.pythons), sep=' | ')
    for cells in all_rows(settings, names):
        print(*cells, sep=' | ', flush=True)
        rows.append(cells)
    if given.rows or given.smaller > 1:
        return
    machine.write('speed', headers(settings.pythons), rows, about=[load])


if __name__ == '__main__':
    given = arguments()
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        main(given, given.folder)
    else:
        with TemporaryDirectory() as name:
            main(given, Path(name))
