"""Validate N hypotheses, each N in a process: `python benchmarks/validate.py [N ...]`."""

import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import machine
from campaign import make_campaign
from timing import amount, output_of, peak_mib

from mediaeval_ap.render.formats import render
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import problems_document

SIZES = (100_000, 1_000_000)
N_NAMES = 100_000


def as_made(lines: list[str]) -> Iterable[str]:
    return lines


def one_in_a_thousand_wrong(lines: list[str]) -> Iterable[str]:
    return (line if at % 1000 else f'{line.rstrip()} more\n' for at, line in enumerate(lines))


def all_wrong(lines: list[str]) -> Iterable[str]:
    return (line.upper().replace('0.', 'O.') for line in lines)


FILES: dict[str, Callable[[list[str]], Iterable[str]]] = {
    'as made': as_made,
    'one line in 1,000 has a field too many': one_in_a_thousand_wrong,
    'every confidence and name is wrong': all_wrong,
}


def measure(path: str) -> None:
    """Print seconds to find problems, show 20 a kind, list all; their number; peak MiB."""
    times = [perf_counter()]
    findings = examine(path)
    times.append(perf_counter())
    render(problems_document({'run': findings}, most=20), 'table')
    times.append(perf_counter())
    peak = peak_mib()
    n_problems = len(findings.problems())
    times.append(perf_counter())
    print(*(after - before for before, after in pairwise(times)), n_problems, peak)


def main(sizes: list[int]) -> None:
    rows = []
    for size in sizes:
        with TemporaryDirectory() as folder:
            make_campaign(Path(folder), size, N_NAMES, 1_000, 20_000, 20_000)
            with open(Path(folder) / 'hypothesis.txt') as file:
                lines = file.readlines()
            for what, change in FILES.items():
                path = Path(folder) / 'changed.txt'
                with open(path, 'w') as file:
                    file.writelines(change(lines))
                printed = output_of([sys.executable, __file__, '--measure', path])
                find, show, everything, n_problems, peak = map(float, printed.split())
                rows.append(
                    [
                        *(f'{size:,}', what, f'{n_problems:,.0f}', f'{find:.1f} s'),
                        *(f'{show * 1e3:.0f} ms', f'{everything:.1f} s', amount(peak)),
                    ]
                )
    headers = [
        *('hypotheses', 'file', 'problems', 'read and find', 'show 20 of each kind'),
        *('list all', 'peak memory before that'),
    ]
    machine.write('validate', headers, rows)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--measure']:
        measure(sys.argv[2])
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
