"""Plain TREC files as whole processes: `python benchmarks/trec.py [--trec-eval PATH ...]`.

The peer is trec_eval, or pytrec_eval if no binary is given.
"""

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import machine
import numpy as np
from timing import Process, command_of, in_turns, median_taken

N_DOCUMENTS = 1_000  # of each topic
CUTOFFS = '10,100,1000'
DIGITS_OF_TREC_EVAL = 5.1e-5  # half of the last of its four digits, and a rounding error
SEED = 6  # any seed: always the same run is measured


class Size(NamedTuple):
    n_topics: int
    n_judged: int  # documents of each topic
    is_shuffled: bool  # topics of the run are in another order than those of the qrels
    repeats: int

    def __str__(self) -> str:
        order = ', in another order' if self.is_shuffled else ''
        return f'{self.n_topics:,} × {N_DOCUMENTS:,}{order}'


# The second is as large as a run for the development set of MS MARCO.
SIZES = [Size(1_000, 50, False, 7), Size(6_980, 2, True, 5)]


def make(folder: Path, size: Size = SIZES[0]) -> None:
    """Write a run and qrels; half of the judged documents are returned."""
    chance = random.Random(SEED)
    pool = range(size.n_topics * N_DOCUMENTS // 2)
    topics = [*range(1, size.n_topics + 1)]
    if size.is_shuffled:
        chance.shuffle(topics)
    judgements: dict[int, list[str]] = {}
    with open(folder / 'run', 'w') as run:
        for topic in topics:
            documents = chance.sample(pool, N_DOCUMENTS)
            for rank, document in enumerate(documents):
                score = 20 - 0.013 * rank - 0.01 * chance.random()
                run.write(f'{topic} Q0 DOC-{document:07d} {rank} {score:.6f} run\n')
            n_each = size.n_judged // 2
            judged = {*chance.sample(documents, n_each), *chance.sample(pool, n_each)}
            judgements[topic] = [
                f'{topic} 0 DOC-{document:07d} {chance.choice([0, 1, 1, 2])}\n'
                for document in sorted(judged)
            ]
    lines = (line for topic in sorted(judgements) for line in judgements[topic])
    (folder / 'qrels').write_text(''.join(lines))


def pytrec_eval_means(folder: Path) -> None:
    """Print the same means by pytrec_eval, in the way of its documentation."""
    import pytrec_eval

    with open(folder / 'qrels') as file:
        qrels = pytrec_eval.parse_qrel(file)
    with open(folder / 'run') as file:
        run = pytrec_eval.parse_run(file)
    results = pytrec_eval.RelevanceEvaluator(qrels, {f'map_cut_{CUTOFFS}'}).evaluate(run)
    means = [
        sum(topic[f'map_cut_{k}'] for topic in results.values()) / len(results)
        for k in CUTOFFS.split(',')
    ]
    print(*means, 'n_relevant', 'n_queries', sep=',')  # as the row of the command ends


def own_command(python: str, folder: Path) -> list[object]:
    options = ['-K', CUTOFFS, '--ties', 'trec_eval-9', '--format', 'csv']
    return command_of(python, 'evaluate-trec', folder / 'qrels', folder / 'run', *options)


def peer_commands(folder: Path, trec_evals: Sequence[Path]) -> dict[str, list[object]]:
    """Return a command for each binary of trec_eval, or one for pytrec_eval if there is none."""
    if not trec_evals:
        return {'pytrec_eval': [sys.executable, __file__, '--pytrec-eval', folder]}
    arguments = ['-m', f'map_cut.{CUTOFFS}', folder / 'qrels', folder / 'run']
    return {path.name: [path, *arguments] for path in trec_evals}


def means_of(process: Process) -> list[float]:
    """Return the means that a command printed."""
    if process.printed.startswith('map_cut'):  # trec_eval
        return [float(line.split()[-1]) for line in process.printed.splitlines()]
    return [*map(float, process.printed.split(',')[-5:-2])]


def check_means(runs: Mapping[str, Sequence[Process]]) -> None:
    """Assert that all means agree, with trec_eval in the four digits that it prints."""
    expected, *others = [means_of(process) for of_one in runs.values() for process in of_one]
    for means in others:
        assert np.allclose(means, expected, rtol=0, atol=DIGITS_OF_TREC_EVAL), (means, expected)


def rows(size: Size, trec_evals: Sequence[Path]) -> list[list[str]]:
    """Return a row for each command, and how long ours takes as a multiple of the peer's time."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, size)
        own = {'`evaluate-trec`': own_command(sys.executable, folder)}
        runs = in_turns(own | peer_commands(folder, trec_evals), size.repeats)
    check_means(runs)
    taken = [median_taken([process.taken for process in of_one]) for of_one in runs.values()]
    lines = []
    for (who, (process, *_)), command in zip(runs.items(), taken, strict=True):
        means = (f'{mean:.12g}' for mean in means_of(process))
        times = f'{command.seconds:.2f} s', f'{command.cpu_seconds:.2f} s'
        ratios = [
            f'{taken[0].seconds / command.seconds:.2f}',
            f'{taken[0].cpu_seconds / command.cpu_seconds:.2f}',
        ]
        lines.append([str(size), who, *times, *ratios, f'{command.peak_mib:.0f} MiB', *means])
    return lines


def main(trec_evals: Sequence[Path]) -> None:
    lines = [line for size in SIZES for line in rows(size, trec_evals)]
    headers = ['topics × documents', '', 'whole process', 'CPU time', 'ours ÷ this', '… CPU']
    headers += ['memory at most', 'MAP@10', 'MAP@100', 'MAP@1000']
    machine.write('trec', headers, lines, [] if trec_evals else ['pytrec_eval-terrier'])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trec-eval', type=Path, action='append', default=[], help='its binary')
    parser.add_argument('--pytrec-eval', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pytrec_eval:
        pytrec_eval_means(given.pytrec_eval)
    else:
        main(given.trec_eval)
