"""The sections of `scale.py`: what each of them measures."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from filecmp import cmpfiles
from pathlib import Path
from shutil import rmtree
from subprocess import Popen
from tempfile import TemporaryDirectory

from campaign import parquet_dataset
from memory import Step, Steps, amount, medians
from scale_data import (
    AT,
    HYPOTHESES,
    NAMES,
    QUERIES,
    Data,
    Section,
    Settings,
    Watched,
    check_equal,
    evaluating,
    indexing,
    middle,
    values_of,
    watched,
)
from timing import duration, whole_process

HERE = Path(__file__).parent
LARGEST = 100_000_000, 100_000
BATCH = 1_000  # queries of a batch where hypotheses or names grow
BATCHES = [(*AT, 100), (*AT, 10_000), (HYPOTHESES[-1], NAMES[-1], 500)]  # … and queries
PEERS = [*((n, 100_000) for n in HYPOTHESES), (HYPOTHESES[-1], NAMES[-1])]
N_OF_PEERS = 10  # queries
TOLERANCE = 1e-12  # a peer may add in another order
TRIMMED = 'MALLOC_TRIM_THRESHOLD_=65536'  # what the nanny of a Dask worker sets

BUILT = ['time', 'CPU time', 'private memory', 'peak']
BATCH_HEADERS = [
    *('queries', '', 'time', 'CPU time', 'times faster', 'each query'),
    *('private memory of a process', 'of all together', 'peak of a process'),
]


def size_of(path: Path) -> str:
    """Return the size of a file, or of the files of a folder."""
    files = [path] if path.is_file() else [*path.iterdir()]
    return amount(sum(each.stat().st_size for each in files) / 2**20)


def taken_cells(run: Watched) -> list[str]:
    times = [duration(each) for each in (run.taken.seconds, run.taken.cpu_seconds)]
    return [*times, amount(run.private_together), amount(run.largest.peak)]


def make_data(settings: Settings) -> None:
    """Make the data of all sections that are not there."""
    for data in settings.grid():
        print(data.folder, flush=True)
    print(parquet_dataset(settings.data(*LARGEST).folder))


def build(settings: Settings) -> Section:
    section = Section('`index` of a run of text: whole processes.', [*BUILT, 'text', 'store'])
    for data in settings.grid():
        store = data.folder / 'run.store'
        command = indexing(data.text, store)
        run = middle([watched(command) for _ in range(settings.repeats)])
        cells = [*taken_cells(run), size_of(data.text), size_of(store)]
        section.add(data, *cells, times={'build': run.taken.seconds})
    return section


def steps_of(settings: Settings, data: Data, *asked: str, repeats: int = 0) -> tuple[Steps, Steps]:
    """Return steps on the store, and once in memory; processes of both must give the same."""
    script = [sys.executable, HERE / 'scale_steps.py']
    on_store = [*script, 'store', data.folder, data.store(), *asked]
    in_memory = [*script, 'memory', data.folder, data.text, *asked]
    commands = [*[on_store] * (repeats or settings.repeats), in_memory]
    *runs, memory = (json.loads(whole_process(command).printed) for command in commands)
    check_equal(run['digests'] for run in (*runs, memory))
    store = {step: medians([run['steps'][step] for run in runs]) for step in memory['steps']}
    return store, memory['steps']


def opening(settings: Settings) -> Section:
    section = Section(
        'Steps of one process: a store is opened, a session begins (which marks what is relevant), '
        'answers once, and 30 times more (median). Beside them, the run read into memory. CPU '
        'time; memory of the whole process after the step, with that of Python and numpy.',
        [
            *('open', 'private memory', 'begin', 'first answer', 'next answer'),
            *('private memory', 'peak', 'in memory: read and index', 'private memory'),
            'next answer',
        ],
    )
    for data in settings.grid():
        store, memory = steps_of(settings, data, 'send')
        times = {step: store[step]['cpu'] for step in ('open', 'first', 'send')}
        section.add(data, *opening_cells(store, memory), times=times)
    return section


def opening_cells(store: Steps, memory: Steps) -> list[str]:
    opened, begun, first, sent = (store[step] for step in ('open', 'begin', 'first', 'send'))
    times = [duration(each['cpu']) for each in (begun, first, sent)]
    sizes = [amount(sent['private']), amount(sent['peak'])]
    read = memory['open']
    beside = [duration(read['cpu']), amount(read['private']), duration(memory['send']['cpu'])]
    return [duration(opened['cpu']), amount(opened['private']), *times, *sizes, *beside]


def queries(settings: Settings) -> Section:
    section = Section(
        '`evaluate` of a store, one call in one process; beside it the same call in memory.',
        ['queries', 'time', 'each query', 'in memory', 'private memory', 'peak'],
    )
    where_queries_grow = settings.data(*AT)
    for data in settings.grid():
        usual = min(BATCH // settings.smaller, data.n_queries)
        for count in QUERIES if data == where_queries_grow else [usual]:
            if count > data.n_queries:
                continue
            name = f'batch={count}'
            store, memory = (steps[name] for steps in steps_of(settings, data, name))
            each = store['seconds'] / count
            section.add(
                data,
                *(f'{count:,}', duration(store['seconds']), duration(each)),
                duration(memory['seconds'] / count),
                *(amount(store['private']), amount(store['peak'])),
                times={name: store['seconds'], **({'query': each} if count == usual else {})},
            )
    return section


def add_ways(section: Section, data: Data, count: int, turns: list[dict[str, Watched]]) -> None:
    """Add a row for each way to evaluate a batch; the first is what others are faster than."""
    check_equal(values_of(run.printed) for turn in turns for run in turn.values())
    ways = {way: middle([turn[way] for turn in turns]) for way in turns[0]}
    (one, *_) = ways.values()
    for way, run in ways.items():
        each = run.taken.seconds / count
        section.add(
            data,
            *(f'{count:,}', way, duration(run.taken.seconds), duration(run.taken.cpu_seconds)),
            *(f'{one.taken.seconds / run.taken.seconds:.2f}', duration(each)),
            *map(amount, (run.largest.private, run.private_together, run.largest.peak)),
            times={way: each},
        )


def batches(
    settings: Settings, about: str, turn: Callable[[Data, int], dict[str, Watched]]
) -> Section:
    section = Section(about, BATCH_HEADERS)
    for n_hypotheses, n_names, n_queries in BATCHES:
        data = settings.data(n_hypotheses, n_names)
        count = max(1, n_queries // settings.smaller)
        add_ways(section, data, count, [turn(data, count) for _ in range(settings.repeats)])
    return section


def jobs(settings: Settings) -> Section:
    return batches(
        settings,
        '`evaluate` by one process and by two, and with `--resume`: whole commands, start '
        'included. All print the same values.',
        jobs_turn,
    )


def jobs_turn(data: Data, count: int) -> dict[str, Watched]:
    store, text = data.store(), data.text
    with TemporaryDirectory() as folder:
        resumed = evaluating(data, store, count, '--resume', Path(folder, 'resumed'))
        commands = {
            'one process': evaluating(data, store, count),
            '`--jobs 2`': evaluating(data, store, count, '--jobs', 2),
            f'one process, {TRIMMED}': ['env', TRIMMED, *evaluating(data, store, count)],
            '`--resume`': resumed,
            '`--resume`, all is there': resumed,
            'run of text': evaluating(data, text, count),
            'run of text, `--jobs 2`': evaluating(data, text, count, '--jobs', 2),
        }
        return {way: watched(command) for way, command in commands.items()}


def dask(settings: Settings) -> Section:
    return batches(
        settings,
        '`evaluate --scheduler`, beside one process: a Dask cluster of two workers of one thread '
        f'each, else with default settings, so that {TRIMMED}. Times are those of the command; '
        'memory is that of the processes of the cluster, too.',
        dask_turn,
    )


def dask_turn(data: Data, count: int) -> dict[str, Watched]:
    one = watched(evaluating(data, data.store(), count))
    with TemporaryDirectory() as folder, dask_cluster(Path(folder)) as address:
        command = evaluating(data, data.store(), count, '--scheduler', address)
        ways = ['two workers, first call', 'two workers, next call']
        return {'one process': one, **{way: watched(command) for way in ways}}


@contextmanager
def dask_cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler and two workers; yield the address of the scheduler."""
    import distributed

    file = str(folder / 'scheduler.json')
    program = [sys.executable, '-m', 'dask']
    common = ['--scheduler-file', file, '--no-dashboard']
    commands = [
        [*program, 'scheduler', *common, '--host', '127.0.0.1', '--port', '0'],
        [*program, 'worker', *common, '--nworkers', '2', '--nthreads', '1'],
    ]
    with open(folder / 'log', 'w') as log:
        started = [Popen(command, cwd=folder, stdout=log, stderr=log) for command in commands]
    try:
        with distributed.Client(scheduler_file=file, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)


def peers(settings: Settings) -> Section:
    section = Section(
        f'Beside peers that do the same job, {N_OF_PEERS} queries, K = 1 10 100 1000: read the run '
        'and put it in order (or open the store, built before), then one query (median). One '
        'process each, with all cores.',
        ['', 'read and index', 'one query', 'CPU time', 'peak', 'largest difference of any AP'],
    )
    for n_hypotheses, n_names in PEERS:
        data = settings.data(n_hypotheses, n_names)
        store, memory = steps_of(settings, data, 'send')
        for who, steps in {'store': store, 'in memory': memory}.items():
            section.add(data, who, *peer_cells(steps), '', times={who: steps['send']['seconds']})
        printed = whole_process(evaluating(data, data.store(), N_OF_PEERS)).printed
        ours = [line.split(',')[2:-2] for line in values_of(printed)[1:]][:N_OF_PEERS]
        for who in ('polars', 'duckdb'):
            add_peer(section, settings, data, who, [[*map(float, values)] for values in ours])
    return section


def peer_cells(steps: Steps) -> list[str]:
    sent = steps['send']
    times = [duration(each) for each in (steps['open']['seconds'], sent['seconds'], sent['cpu'])]
    return [*times, amount(sent['peak'])]


def add_peer(
    section: Section, settings: Settings, data: Data, who: str, ours: list[list[float]]
) -> None:
    command = [sys.executable, HERE / f'{who}_peer.py', data.folder, N_OF_PEERS]
    runs = [json.loads(whole_process(command).printed) for _ in range(settings.repeats)]
    check_equal(run['values'] for run in runs)
    steps = {step: medians([run['steps'][step] for run in runs]) for step in ('open', 'send')}
    values = zip(ours, runs[0]['values'], strict=True)
    difference = max(abs(one - other) for pair in values for one, other in zip(*pair, strict=True))
    if not difference < TOLERANCE:
        sys.exit(f'{who}: found AP that differs from ours by {difference}, expected equal values')
    name = f'`{who}_peer.py`'
    section.add(
        data, name, *peer_cells(steps), f'{difference:.0e}', times={who: steps['send']['seconds']}
    )


def large(settings: Settings) -> Section:
    section = Section(
        'The largest run, once: a store of text, and the same one of a dataset of Parquet; its '
        'first answer and its queries, equal to those of the run in memory.',
        ['', *BUILT],
    )
    data = settings.data(*LARGEST)
    of_dataset, store = data.folder / 'dataset.store', data.folder / 'run.store'
    run = watched(indexing(parquet_dataset(data.folder), of_dataset))
    section.add(data, 'index a dataset of Parquet', *taken_cells(run), times={})
    run = watched(indexing(data.text, store))
    section.add(data, 'index text', *taken_cells(run), times={'build': run.taken.seconds})
    check_same_columns(of_dataset, store)
    rmtree(of_dataset)
    count = BATCH // settings.smaller
    asked = 'send', f'batch={count}'
    on_store, in_memory = steps_of(settings, data, *asked, repeats=1)
    words = {'open': 'open', 'begin': 'begin', 'first': 'first answer', 'send': 'next answer'}
    for step, what in {**words, asked[1]: f'evaluate {count:,} queries'}.items():
        for where, steps in {'': on_store, ', in memory': in_memory}.items():
            times = {} if where else {step: steps[step]['seconds' if '=' in step else 'cpu']}
            section.add(data, what + where, *step_cells(steps[step]), times=times)
    section.times.append((*data[:2], {'query': on_store[asked[1]]['seconds'] / count}))
    return section


def step_cells(step: Step) -> list[str]:
    times = [duration(step['seconds']), duration(step['cpu'])]
    return [*times, amount(step['private']), amount(step['peak'])]


def check_same_columns(one: Path, other: Path) -> None:
    names = [path.name for path in other.glob('*.npy')]
    equal, *_ = cmpfiles(one, other, names, shallow=False)
    check_equal([sorted(names), sorted(equal)])


SECTIONS: dict[str, tuple[str, Callable[[Settings], Section]]] = {
    'build': ('Build', build),
    'open': ('Open and answer', opening),
    'queries': ('Many queries', queries),
    'jobs': ('Two processes', jobs),
    'dask': ('Dask', dask),
    'peers': ('Peers', peers),
    'large': ('100 million hypotheses', large),
}
