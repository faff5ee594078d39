"""Plain TREC files as whole processes: `python benchmarks/trec.py [--trec-eval PATH ...]`.

The peer is trec_eval, or pytrec_eval if no binary is given.
"""

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
import numpy as np
from timing import Process, command_of, in_turns, median_taken

N_TOPICS = 1_000
N_DOCUMENTS = 1_000
N_JUDGED = 50
CUTOFFS = '10,100,1000'
DIGITS_OF_TREC_EVAL = 5.1e-5  # half of the last of its four digits, and a rounding error
REPEATS = 7
SEED = 6  # any seed: always the same run is measured


def make(folder: Path) -> None:
    """Write a run of a thousand documents for each of a thousand topics, and fifty judgements."""
    chance = random.Random(SEED)
    pool = range(N_TOPICS * N_DOCUMENTS // 2)
    with open(folder / 'run', 'w') as run, open(folder / 'qrels', 'w') as qrels:
        for topic in range(1, N_TOPICS + 1):
            documents = chance.sample(pool, N_DOCUMENTS)
            for rank, document in enumerate(documents):
                score = 20 - 0.013 * rank - 0.01 * chance.random()
                run.write(f'{topic} Q0 DOC-{document:07d} {rank} {score:.6f} run\n')
            judged = {*chance.sample(documents, N_JUDGED // 2), *chance.sample(pool, N_JUDGED // 2)}
            for document in sorted(judged):
                qrels.write(f'{topic} 0 DOC-{document:07d} {chance.choice([0, 1, 1, 2])}\n')


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


def main(trec_evals: Sequence[Path]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        own = {'`evaluate-trec`': own_command(sys.executable, folder)}
        runs = in_turns(own | peer_commands(folder, trec_evals), REPEATS)
    check_means(runs)
    lines = []
    for who, of_one in runs.items():
        taken = median_taken([process.taken for process in of_one])
        means = (f'{mean:.12g}' for mean in means_of(of_one[0]))
        times = f'{taken.seconds:.2f} s', f'{taken.cpu_seconds:.2f} s'
        lines.append([who, *times, f'{taken.peak_mib:.0f} MiB', *means])
    headers = ['', 'whole process', 'CPU time', 'memory at most', 'MAP@10', 'MAP@100', 'MAP@1000']
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
