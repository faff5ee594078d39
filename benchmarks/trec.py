"""Plain TREC files beside pytrec_eval, as whole processes: `python benchmarks/trec.py`."""

import os
import random
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile
from time import perf_counter

import machine

N_TOPICS = 1_000
N_DOCUMENTS = 1_000
N_JUDGED = 50
REPEATS = 7
SEED = 6  # any would do: one run is measured, always the same


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


def peer(folder: Path) -> None:
    """Print the same means by pytrec_eval, as its documentation does it."""
    import pytrec_eval

    with open(folder / 'qrels') as file:
        qrels = pytrec_eval.parse_qrel(file)
    with open(folder / 'run') as file:
        run = pytrec_eval.parse_run(file)
    results = pytrec_eval.RelevanceEvaluator(qrels, {'map_cut_10,100,1000'}).evaluate(run)
    means = [
        sum(topic[f'map_cut_{k}'] for topic in results.values()) / len(results)
        for k in (10, 100, 1000)
    ]
    print(*means, 'n_relevant', sep=',')


def measured(command: list[str]) -> tuple[float, float, list[float]]:
    """Seconds, MiB at most, and the means that were printed."""
    begin = perf_counter()
    with TemporaryFile('w+') as printed:
        process = subprocess.Popen(command, stdout=printed)
        _, _, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        printed.seek(0)
        means = [float(field) for field in printed.read().split(',')[-4:-1]]
    return seconds, usage.ru_maxrss / 1024, means


if __name__ == '__main__':
    if sys.argv[1:]:
        peer(Path(sys.argv[1]))
        sys.exit()
    with TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        files = [str(folder / 'qrels'), str(folder / 'run')]
        options = ['-K', '10,100,1000', '--ties', 'trec_eval-9', '--format', 'csv']
        commands = {
            '`evaluate-trec`': [sys.executable, '-m', 'mediaeval_ap', 'evaluate-trec', *files],
            'pytrec_eval': [sys.executable, __file__, name],
        }
        commands['`evaluate-trec`'] += options
        runs: dict[str, list[tuple[float, float, list[float]]]] = {who: [] for who in commands}
        for _ in range(REPEATS):  # in turns, so that both see the same machine
            for who, command in commands.items():
                runs[who].append(measured(command))
        lines = [
            [
                who,
                f'{median(run[0] for run in of_one):.2f} s',
                f'{median(run[1] for run in of_one):.0f} MiB',
                *(f'{mean:.12f}' for mean in of_one[0][2]),
            ]
            for who, of_one in runs.items()
        ]
        headers = ['', 'whole process', 'memory at most', 'MAP@10', 'MAP@100', 'MAP@1000']
        machine.write('trec', headers, lines, ['pytrec_eval-terrier'])
