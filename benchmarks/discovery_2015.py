"""The protocol of 2015 beside its rules row by row: `python benchmarks/discovery_2015.py FOLDER`.

FOLDER holds the campaign's files and the public baseline run. Whole processes are timed.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import machine
from Levenshtein import ratio
from timing import command_of, in_turns, median_taken

REPEATS = 5
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


if __name__ == '__main__':
    folder = Path(sys.argv[1])
    if sys.argv[2:] == ['by-row']:
        print(by_row(folder))
        sys.exit()
    files = {name: folder / file for name, file in FILES.items()}
    arguments = [files.pop('reference'), files.pop('labels')]
    options = [part for name, path in files.items() for part in (f'--{name}', path)]
    own_command = command_of(sys.executable, 'evaluate-2015', *arguments, *options)
    peer = [sys.executable, __file__, str(folder), 'by-row']
    runs = in_turns({'ours': [*own_command, '--quiet', '--format', 'json'], 'peer': peer}, REPEATS)
    own, theirs = (median_taken([each.taken for each in of_one]) for of_one in runs.values())
    (result,) = json.loads(runs['ours'][0].printed)['results']
    means = result['means']
    lines = [
        ['wall clock', f'{own.seconds:.2f} s', f'{theirs.seconds:.2f} s'],
        ['CPU', f'{own.cpu_seconds:.2f} s', f'{theirs.cpu_seconds:.2f} s'],
        ['MAP', f'{means["MAP"]:.12f}', f'{float(runs["peer"][0].printed):.12f}'],
        ['mean correctness', f'{means["mean correctness"]:.12f}', ''],
        ['EwMAP', f'{means["EwMAP"]:.12f}', ''],
    ]
    machine.write('discovery-2015', ['whole process', 'evaluate-2015', 'row by row'], lines)
