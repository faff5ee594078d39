"""xinfAP of a sample by strata as a whole process: `python benchmarks/sampled.py [--script PATH]`.

Beside it stands AP of the same qrels without the stratum, and the script of TRECVID if it is given.
"""

import argparse
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
from timing import command_of, in_turns, median_taken

N_TOPICS = 20
N_DOCUMENTS = 10_000
RATES = {1: 1, 2: 0.2, 3: 0.05}  # the judged share of each stratum
DIGITS = 4  # that the script prints
REPEATS = 9
SEED = 7  # any seed: always the same run is measured


def make(folder: Path) -> None:
    """Write a run, and qrels of half of its documents and of as many others."""
    chance = random.Random(SEED)
    with (
        open(folder / 'run', 'w') as run,
        open(folder / 'sample', 'w') as sample,
        open(folder / 'qrels', 'w') as qrels,
    ):
        for topic in range(1, N_TOPICS + 1):
            documents = chance.sample(range(10 * N_DOCUMENTS), N_DOCUMENTS)
            for rank, document in enumerate(documents, 1):
                run.write(f'{topic} 0 shot{document:06d} {rank} {N_DOCUMENTS - rank} run\n')
            for document in {*documents[::2], *range(0, 10 * N_DOCUMENTS, 20)}:
                stratum = chance.choice([*RATES])
                is_judged = chance.random() < RATES[stratum]
                relevance = int(chance.random() < 0.3 / stratum) if is_judged else -1
                sample.write(f'{topic} 0 shot{document:06d} {stratum} {relevance}\n')
                qrels.write(f'{topic} 0 shot{document:06d} {relevance}\n')


def main(script: Path | None) -> None:
    options = ['-K', '1000', '--format', 'csv', '--quiet']
    with TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        commands = {
            title: command_of(
                sys.executable, 'evaluate-trec', folder / qrels, folder / 'run', *options
            )
            for title, qrels in (('xinfAP', 'sample'), ('AP, without strata', 'qrels'))
        }
        if script is not None:
            commands[script.name] = ['perl', script, folder / 'sample', folder / 'run']
        runs = in_turns(commands, REPEATS)
    lines = []
    values = {}
    for title, of_one in runs.items():
        taken = median_taken([process.taken for process in of_one])
        printed = of_one[0].printed
        if printed.startswith('infAP'):
            values[title] = printed.split()[2]
            assert values[title] == f'{float(values["xinfAP"]):.{DIGITS}f}', values
        else:
            values[title] = printed.split(',')[-3]
        lines.append([title, f'{taken.seconds:.2f} s', f'{taken.peak_mib:.0f} MiB', values[title]])
    machine.write('sampled', ['', 'whole process', 'memory at most', 'mean'], lines)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--script', type=Path, help='sample_eval.pl of TRECVID')
    main(parser.parse_args().script)
