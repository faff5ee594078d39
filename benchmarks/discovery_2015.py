"""The protocol of 2015 beside its rules row by row: `python benchmarks/discovery_2015.py FOLDER`.

FOLDER holds the campaign's files and the public baseline run. Whole processes are timed.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter

import machine
from Levenshtein import ratio

REPEATS = 7
FILES = {
    'shots': '2015.shot',
    'reference': '2015.ref',
    'labels': 'baseline.label',
    'evidence-reference': '2015.eviref',
    'evidence': 'baseline.evidence',
    'queries': '2015.queries',
    'consensus': '2015.consensus',
}


def by_row(folder: Path) -> float:
    """Return MAP, from a dictionary for each name and a loop over the names for each query."""

    def rows(name: str) -> list[list[str]]:
        return [line.split() for line in (folder / FILES[name]).read_text().splitlines()]

    consensus = {tuple(row) for row in rows('consensus')}
    relevant = defaultdict(set)
    for video, shot, name in rows('reference'):
        relevant[name].add((video, shot))
    labels: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for video, shot, name, confidence in rows('labels'):
        if (video, shot) in consensus:
            best = labels[name].get((video, shot), float(confidence))
            labels[name][video, shot] = max(best, float(confidence))
        else:
            labels[name]  # may be chosen still
    queries = [query for (query,) in rows('queries')]
    total = 0.0
    for query in queries:
        close, name = min((-ratio(query, name), name) for name in labels)
        returned = labels[name] if -close > 0.95 else {}
        hits, precisions = 0, 0.0
        ranked = sorted(returned, key=lambda place: (-returned[place], place))
        for rank, place in enumerate(ranked, 1):
            if place in relevant[query]:
                hits += 1
                precisions += hits / rank
        total += precisions / len(relevant[query]) if relevant[query] else 1.0
    return total / len(queries)


def timed(command: list[str]) -> tuple[float, float, str]:
    """Return the seconds and the seconds of CPU that a command takes, and what it printed."""
    before, begin = os.times(), perf_counter()
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return perf_counter() - begin, cpu, printed


def measured(command: list[str], repeats: int) -> tuple[float, float, str]:
    runs = [timed(command) for _ in range(repeats)]
    return median(run[0] for run in runs), median(run[1] for run in runs), runs[0][2]


if __name__ == '__main__':
    folder = Path(sys.argv[1])
    if sys.argv[2:] == ['by-row']:
        print(by_row(folder))
        sys.exit()
    options = [part for name, file in FILES.items() for part in (f'--{name}', str(folder / file))]
    ours = [sys.executable, '-m', 'mediaeval_ap', 'evaluate-2015', *options, '--format', 'json']
    peer = [sys.executable, __file__, str(folder), 'by-row']
    seconds, cpu, printed = measured(ours, REPEATS)
    their_seconds, their_cpu, theirs = measured(peer, 3)
    means = json.loads(printed)
    lines = [
        ['wall clock', f'{seconds:.2f} s', f'{their_seconds:.2f} s'],
        ['CPU', f'{cpu:.2f} s', f'{their_cpu:.2f} s'],
        ['MAP', f'{means["map"]:.12f}', f'{float(theirs):.12f}'],
        ['mean correctness', f'{means["mean_correctness"]:.12f}', ''],
        ['EwMAP', f'{means["ewmap"]:.12f}', ''],
    ]
    sys.argv[1] = 'FOLDER'  # as anybody would call it, not where it is here
    machine.write('discovery-2015', ['whole process', 'evaluate-2015', 'row by row'], lines)
