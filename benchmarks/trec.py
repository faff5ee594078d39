"""Plain TREC files beside pytrec_eval, as whole processes: `python benchmarks/trec.py`."""

import random
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import machine
from timing import Process, whole_process

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


def means_of(process: Process) -> list[str]:
    return [f'{float(field):.12f}' for field in process.printed.split(',')[-4:-1]]


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
        runs: dict[str, list[Process]] = {who: [] for who in commands}
        for _ in range(REPEATS):  # in turns, so that both see the same machine
            for who, command in commands.items():
                runs[who].append(whole_process(command))
        lines = [
            [
                who,
                f'{median(run.seconds for run in of_one):.2f} s',
                f'{median(run.peak_mib for run in of_one):.0f} MiB',
                *means_of(of_one[0]),
            ]
            for who, of_one in runs.items()
        ]
        headers = ['', 'whole process', 'memory at most', 'MAP@10', 'MAP@100', 'MAP@1000']
        machine.write('trec', headers, lines, ['pytrec_eval-terrier'])
