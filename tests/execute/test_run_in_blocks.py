"""Several processes give what one gives, whatever the run is."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import commands
import process_tasks
import pytest
from hanging import SECONDS, no_hang
from stores import stored

from mediaeval_ap import AveragePrecision, choices
from mediaeval_ap.errors import Error, FormatError, ParameterError, ProcessError, ReadError
from mediaeval_ap.execute import run_in_blocks, worker_processes
from mediaeval_ap.execute.run_in_blocks import Clock, EvaluationRequest

folder = commands.folder


@pytest.fixture(autouse=True)
def _always_shared(monkeypatch):
    """Share every evaluation; small ones would stay in one process."""
    for name in ('PROBE_SECONDS', 'GAIN_SECONDS'):
        monkeypatch.setattr(run_in_blocks, name, -1e9)


@pytest.fixture
def here(monkeypatch):
    """Do in this process what several would do."""
    monkeypatch.setattr(worker_processes, 'run_tasks', process_tasks.here)


def told(function, *arguments, **settings):
    """What a function returns or raises, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            result = function(*arguments, **settings)
        except Error as error:
            return repr(error), []
    places = {(each.filename, str(each.message)) for each in caught}
    return result, sorted(places)


def test_other_processes_give_what_one_gives(tmp_path):
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    asked = 'samples/hypothesis.txt', average_precision.queries
    one, of_one = told(average_precision.evaluate, *asked)
    with no_hang():
        kept, of_kept = told(average_precision.evaluate, *asked, jobs=2, resume=tmp_path / 'blocks')
    assert kept.to_json(per_query=True) == one.to_json(per_query=True)
    assert of_kept == of_one
    assert len(list(tmp_path.rglob('*-*.json'))) == 21


@pytest.mark.parametrize('side_by_side', [False, True])
@pytest.mark.parametrize('options', [(), ('--keep-going',)])
def test_runs_of_the_command(folder, monkeypatch, here, side_by_side, options):
    """Several runs, one of them wrong or without a shot in common, read by any process."""
    monkeypatch.setattr(run_in_blocks, 'WORTH_SHARING_BYTES', 0 if side_by_side else 1e9)
    (folder / 'strange.txt').write_text('x z 1 ann 0.5\n')
    for runs in ['run.txt', 'run.txt'], ['strange.txt', 'bad.txt', 'run.txt']:
        command = 'evaluate', 'reference.txt', *runs, '--format', 'json', '--per-query', *options
        one = commands.run(*command)
        several = commands.run(*command, '--jobs', '2')
        assert (several.exit_code, several.output) == (one.exit_code, one.output)


@pytest.mark.parametrize(
    ('sizes', 'jobs', 'shared'),
    [
        ([3, 9, 4], 2, [[9, 4, 3]]),  # the largest first, so that all processes end together
        ([3, 9, 4], 3, [[9, 4, 3]]),
        ([3, 9], 3, []),  # fewer than processes: the queries of each are shared
        ([3, 9, 4], 1, []),
        ([3, None, 9, 4], 2, [[9, 4]]),  # rows in memory are scored here
    ],
)
def test_files_are_read_side_by_side(tmp_path, monkeypatch, sizes, jobs, shared):
    monkeypatch.setattr(run_in_blocks, 'WORTH_SHARING_BYTES', 0)
    monkeypatch.setattr(Clock, 'pays', lambda *_: False)
    seen = []

    def results(n_jobs, function, asked, runs):
        seen.append([os.path.getsize(run) // 100 for run in runs])
        assert n_jobs == jobs
        return process_tasks.here(n_jobs, function, asked, runs)

    monkeypatch.setattr(worker_processes, 'run_tasks', results)
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
    row, runs = ('x', 'v', '1', 'ann', '0.5'), []
    for size in sizes:
        runs.append(tmp_path / f'{size}.txt' if size else [(*row[:4], 0.5)])
        if size:
            runs[-1].write_text(' '.join(row).ljust(100 * size) + '\n')
    request = EvaluationRequest.of(average_precision.criteria, None, ())
    blocks = run_in_blocks.runs_in_blocks(request, runs)
    found = list(run_in_blocks.evaluate_runs(blocks, jobs))
    names = [evaluation.inputs['hypothesis'].name for evaluation in found]
    assert names == [str(run) if isinstance(run, Path) else '<hypothesis>' for run in runs]
    assert seen == shared


@pytest.mark.parametrize(
    ('seconds', 'cpu_seconds', 'factor', 'jobs', 'n_written', 'expected'),
    [
        (1, 1, 10, 2, 0, True),  # 5 s are saved, and 0.4 s paid
        (1, 1, 10, 1, 0, False),
        (1, 2, 10, 2, 0, False),  # threads use both cores already
        (1, 2, 10, 4, 0, True),
        (0.04, 0.04, 1000, 2, 0, False),  # too short to tell anything
        (0.06, 0.06, 1000, 2, 0, True),
        (0.1, 0.1, 7, 2, 0, False),  # 0.35 s are saved, and 0.4 s paid
        (0.1, 0.1, 9, 2, 0, True),
        (1, 1, 10, 2, 80_000_000, True),  # 4 s more are paid to give the run to a process
        (1, 1, 10, 2, 95_000_000, False),
    ],
)
def test_when_processes_pay(monkeypatch, seconds, cpu_seconds, factor, jobs, n_written, expected):
    monkeypatch.undo()
    monkeypatch.setattr(run_in_blocks, 'perf_counter', iter([3, 3 + seconds]).__next__)
    monkeypatch.setattr(run_in_blocks, 'process_time', iter([2, 2 + cpu_seconds]).__next__)
    assert Clock().pays(factor, jobs, n_written) is expected


def test_numbers_of_processes(monkeypatch):
    found = []

    def results(jobs, *arguments):
        found.append(jobs)
        return process_tasks.here(jobs, *arguments)

    monkeypatch.setattr(worker_processes, 'run_tasks', results)
    monkeypatch.setattr(choices, 'machine_cores', lambda: 3)
    average_precision = AveragePrecision('samples/reference.txt', [10], definition='trec')
    average_precision.evaluate('samples/hypothesis.txt', jobs='all')
    assert found == [3]
    for jobs in 0, 1025, 1.5, True, '2':
        with pytest.raises(ParameterError, match=r'^jobs: found .*, expected an integer from 1 to'):
            average_precision.evaluate('samples/hypothesis.txt', jobs=jobs)


def test_a_store_that_is_replaced_meanwhile_is_refused(tmp_path, monkeypatch, here):
    """Blocks of two stores would make one result."""
    path = tmp_path / 'run.store'
    stored('samples/hypothesis.txt', path)

    def replaced(*_):
        stored([('x', 'v', '1', 'ann', 0.5)], path)
        return True

    monkeypatch.setattr(Clock, 'pays', replaced)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    with pytest.raises(ReadError, match=rf'^{path}: is not the store that was'):
        average_precision.evaluate(path, jobs=2)


class Together(ThreadPoolExecutor):
    """Tasks wait until those of several runs are there."""

    def __init__(self, n_runs):
        super().__init__()
        self.runs = set()
        self.n_runs = n_runs
        self.are_there = Event()

    def submit(self, function, *task):
        self.runs.add(task[1])
        if len(self.runs) == self.n_runs:
            self.are_there.set()
        return super().submit(lambda: self.are_there.wait(SECONDS) and function(*task))


def test_an_executor_gets_several_runs_at_once():
    """Results are in the order of the runs, and an error stands for the run that has it."""
    rows = [('x', 'v', str(shot), f'name_{shot}', 0.5) for shot in range(6)]
    average_precision = AveragePrecision([row[:4] for row in rows])
    runs = [rows[:3], rows[2:], [('x', 'v')], rows, rows[::2]]
    request = EvaluationRequest.of(average_precision.criteria, None, ())
    with Together(4) as executor, no_hang():
        found = list(
            run_in_blocks.evaluate_runs(run_in_blocks.runs_in_blocks(request, runs), executor)
        )
    assert isinstance(found.pop(2), FormatError)
    del runs[2]
    assert [each.to_dict() for each in found] == [
        average_precision.evaluate(run).to_dict() for run in runs
    ]


def test_a_process_that_is_killed_ends_the_command(folder, monkeypatch):
    """Also with --keep-going, which is for runs that are wrong."""

    def killed(*_):
        raise ProcessError('a process of this evaluation ended')

    monkeypatch.setattr(worker_processes, 'run_tasks', killed)
    monkeypatch.setattr(run_in_blocks, 'WORTH_SHARING_BYTES', 0)
    given = 'evaluate', 'reference.txt', 'run.txt', 'again=run.txt', '--jobs', '2', '--keep-going'
    result = commands.run(*given)
    told = 'Error: a process of this evaluation ended\n'
    assert (result.exit_code, result.output) == (1, told)
