"""The one loop of evaluations: score the missing blocks of queries, here or by an executor."""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from mediaeval_ap import __version__
from mediaeval_ap.cores import one_core
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, ProcessError, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run
from mediaeval_ap.evaluation.prepared_run import (
    PreparedRun,
    SelectedQueries,
    prepare_run,
    select_queries,
)
from mediaeval_ap.evaluation.scoring import finish_evaluation, score_names
from mediaeval_ap.execute import block_folder
from mediaeval_ap.execute.block_folder import BlockFolder
from mediaeval_ap.progress import Bar, after_each, progress_hidden
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Provenance, Table
from mediaeval_ap.tables.digests import digest_of_file, digest_of_rows
from mediaeval_ap.tables.sources import ByteSource, opening
from mediaeval_ap.tables.table import Names

if TYPE_CHECKING:
    from mediaeval_ap.execute.worker_processes import Workers
    from mediaeval_ap.results.described import Path
    from mediaeval_ap.store.store import Store

START_SECONDS = 0.2  # of CPU until a process has imported everything: 0.15 to 0.2
PACKED_ROWS = 20_000_000  # rows in memory that can be sent to a process per second
GAIN_SECONDS = 0.2  # a smaller gain is not worth it: estimates are wrong by as much
PROBE_SECONDS = 0.05  # of work, from which the remaining time is estimated
N_OPENED_RUNS = 4  # in the cache of a worker, and at once on workers
BLOCK_SECONDS = 10  # of one core: a killed evaluation loses seconds of work
BLOCKS_PER_PROCESS = 16  # so that all processes end at about the same time
# Runs with more bytes in total go to processes at once, as reading them takes 0.5 s or more.
WORTH_SHARING_BYTES = 16 << 20


class Part(NamedTuple):
    """The numbers of blocks of a part that were computed now, and that the folder had already.

    Examples
    --------
    >>> Part(computed=3, found=1).found
    1
    """

    computed: int
    found: int


class Clock:
    """Wall time, and CPU time of all threads of this process, since the clock was made."""

    def __init__(self) -> None:
        self._began = perf_counter(), process_time()

    def pays(self, factor: float, jobs: int, n_packed: int = 0) -> bool:  # rows sent to each
        """Return True if processes pay off for `factor` times the work so far."""
        seconds = perf_counter() - self._began[0]
        cpu_seconds = process_time() - self._began[1]
        if jobs == 1 or seconds < PROBE_SECONDS:
            return False
        costs = n_packed / PACKED_ROWS + START_SECONDS + GAIN_SECONDS
        # CPU time is longer than wall time if threads already use several cores.
        return factor * (seconds - cpu_seconds / jobs) > costs


@dataclass(frozen=True, eq=False)
class EvaluationRequest:
    """The criteria, queries and measures by which each run is scored."""

    criteria: Criteria
    selected_queries: SelectedQueries
    query_table: Table | None
    measures: tuple[str, ...]  # of ir_measures

    @classmethod
    def of(
        cls, criteria: Criteria, queries: Names | None, measures: str | Iterable[str]
    ) -> EvaluationRequest:
        """Read the queries, and check the measures."""
        texts: tuple[str, ...] = ()
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures, refuse_nonrelevant
            from mediaeval_ap.trec.sampled import refuse_estimates

            parsed_measures = parse_measures(measures)
            refuse_estimates(parsed_measures)
            if criteria.judgements is None:
                refuse_nonrelevant(parsed_measures)
            check_columns(parsed_measures, criteria.K)
            texts = tuple(map(str, parsed_measures))
        table = criteria.read_queries(queries)
        return cls(criteria, select_queries(criteria, table), table, texts)

    def pack(self, run: Ranking | Store | None = None) -> bytes:
        """Pickle the data that all tasks share; a store as path and digest, a ranking as arrays."""
        if isinstance(run, Ranking):
            run = copy(run)
            vars(run).pop('_table', None)  # scoring does not need it
        shared = self.criteria, run, self.selected_queries.source, self.measures
        return pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)


@dataclass(eq=False)
class RunInBlocks:
    """A run to score in blocks of queries; results are kept in memory, and in a folder if any."""

    request: EvaluationRequest
    hypothesis: Run
    number: int = 0  # of the run in the plan of the folder
    name: str = ''  # of the run, if the user gave one
    planned: dict[str, Any] | None = None  # its entry in the plan
    folder: BlockFolder | None = field(default=None, init=False)
    _blocks: dict[int, Evaluation] = field(default_factory=dict, init=False)

    @cached_property
    def _opened(self) -> tuple[PreparedRun, Any]:
        """The run, ready to be scored, and its ranking or store; raises if not as in the plan."""
        criteria = self.request.criteria
        store = criteria.open_run(self.hypothesis)
        run = prepare_run(criteria, self.hypothesis if store is None else store)
        if self.planned is not None and not isinstance(self.hypothesis, Table | Ranking):
            source = run.ranking.source
            sha256 = source.sha256 if store is None else store.sha256
            if sha256 != self.planned['sha256']:
                remedy = 'the run has changed; begin again in another folder'
                expected = f'{self.planned["sha256"]}, as before: {remedy}'
                raise FormatError(source.name, '', 'SHA-256', f'{sha256}', expected=expected)
        return run, run.ranking if store is None else store

    @property
    def warnings(self) -> list[DataWarning]:
        """Warnings about the run and the queries, before a query is scored."""
        return self._opened[0].warnings_with(self.request.selected_queries.warnings)

    def forget(self) -> None:
        """Free the run and its blocks: a command does not keep all of its runs in memory."""
        vars(self).pop('_opened', None)
        self._blocks.clear()

    def timed_block(self) -> int:
        """Return the number of queries that take some seconds, by the pace of the second query."""
        opened = self._opened[0], self.request.selected_queries.source, self.request.measures
        names = self.request.selected_queries.names
        with progress_hidden(), one_core():
            score_queries(*opened, names[:1])  # also prepares the run
            began = process_time()  # what else the machine does makes no block smaller
            score_queries(*opened, names[1:2])
        return max(int(BLOCK_SECONDS / (process_time() - began + 1e-6)), 1)

    def _block_queries(self, jobs: Workers) -> int:
        if self.folder is not None:
            return int(self.folder.plan['block_queries'])
        most = block_folder.BLOCK_QUERIES
        if isinstance(jobs, int):
            n_blocks = 1 if jobs == 1 else BLOCKS_PER_PROCESS * jobs
            most = -(-len(self.request.selected_queries.names) // n_blocks)
        return most if jobs == 1 else min(self.timed_block(), most)

    def describe_state(self) -> str:
        """Return how many blocks of all runs are kept, and how to go on."""
        if self.folder is None:
            return 'nothing is kept; --resume DIR keeps finished blocks'
        return f'{self.folder.state}; the same command goes on'

    def compute(self, jobs: Workers = 1, part: tuple[int, int] = (1, 1)) -> Part:
        """Compute the missing blocks of a part; `jobs` is a number of processes, or an executor."""
        names = self.request.selected_queries.names
        size = max(self._block_queries(jobs), 1)
        numbers = list(range(1, max(-(-len(names) // size), 1) + 1))
        if self.folder is not None:
            n_before = self.number * len(numbers) - part[0]
            numbers = [number for number in numbers if (n_before + number) % part[1] == 0]
            for number in set(self.folder.finished_blocks(self.number)).intersection(numbers):
                self._blocks[number] = self.folder.read(self.number, number)
        missing_numbers = [number for number in numbers if number not in self._blocks]
        if missing_numbers:
            blocks = [names[(number - 1) * size : number * size] for number in missing_numbers]
            self._score(missing_numbers, blocks, jobs)
        return Part(len(missing_numbers), len(numbers) - len(missing_numbers))

    def _score(self, numbers: Sequence[int], blocks: Sequence[list[str]], jobs: Workers) -> None:
        """Score blocks here; give the remaining ones to workers as soon as that pays off."""
        run, ranking_or_store = self._opened  # first, so that no block's time includes it
        opened = run, self.request.selected_queries.source, self.request.measures
        n_scored = 0
        n_queries = sum(map(len, blocks))
        with Bar('scoring', n_queries, ' queries') as bar, progress_hidden():
            if isinstance(jobs, int) and min(jobs, len(blocks)) > 1:
                score_queries(*opened, blocks[0][:1])  # its preparations would distort the estimate
            clock = Clock()
            n_packed = len(run.ranking) if isinstance(ranking_or_store, Ranking) else 0
            while isinstance(jobs, int) and n_scored < len(blocks):
                with after_each(bar.add):
                    self._keep(numbers[n_scored], score_queries(*opened, blocks[n_scored]))
                n_scored += 1
                if clock.pays(len(blocks) / n_scored - 1, jobs, n_packed):
                    break
            if remaining_blocks := blocks[n_scored:]:
                # Imported here, as small evaluations need no workers.
                from mediaeval_ap.execute import worker_processes

                bar.draw()
                packed = self.request.pack(ranking_or_store)
                with closing(
                    worker_processes.run_tasks(jobs, score_block, packed, remaining_blocks)
                ) as results:
                    for number, block in results:
                        if isinstance(block, Exception):
                            raise block
                        self._keep(numbers[n_scored + number], block)
                        bar.add(len(remaining_blocks[number]))

    def _keep(self, number: int, block: Evaluation) -> None:
        self._blocks[number] = block
        if self.folder is not None:
            self.folder.write(self.number, number, block)

    def compute_part(self, part: tuple[int, int], jobs: Workers = 1) -> Part:
        """Compute the missing blocks of a part; if there are any, warn about run and queries."""
        counts = self.compute(jobs, part)
        if counts.computed:
            warn_caller(self.warnings)
        self.forget()
        return counts

    def evaluation(self) -> Evaluation:
        evaluation = Evaluation.concat(self._blocks[number] for number in sorted(self._blocks))
        warnings = self.warnings
        self.forget()
        n_skipped = self.request.selected_queries.n_skipped
        rows = self.request.criteria.reference.table
        named = replace(evaluation, run=self.name, reference_rows=rows)
        return finish_evaluation(named, n_skipped, warnings)


def runs_in_blocks(
    request: EvaluationRequest,
    runs: Sequence[Run],
    path: Path | None = None,
    names: Sequence[str] = (),
) -> list[RunInBlocks]:
    """Prepare runs to score in blocks; with a path, results are kept in that folder."""
    names = names or [''] * len(runs)
    if path is None:
        return [RunInBlocks(request, run, name=name) for run, name in zip(runs, names, strict=True)]
    entries = [_entry_in_plan(request.criteria, run) for run in runs]
    split_runs = [
        RunInBlocks(request, run, number, name, entry)
        for number, ((entry, run), name) in enumerate(zip(entries, names, strict=True))
    ]
    plan = _plan(request, [entry for entry, _ in entries], names)
    folder = BlockFolder.begin(path, plan, split_runs[0].timed_block)
    for split_run in split_runs:
        split_run.folder = folder
    return split_runs


def _plan(request: EvaluationRequest, runs: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return everything that the values of the runs depend on, for JSON."""
    from mediaeval_ap.execute import worker_processes

    criteria = request.criteria
    versions = request.measures and worker_processes.versions()
    inputs = {
        'reference': criteria.reference.table,
        'subset': criteria.subset,
        'queries': request.query_table,
        'judged': None if criteria.judgements is None else criteria.judgements.table,
    }
    return {
        'schema': block_folder.PLAN_SCHEMA,
        'version': __version__,
        'definition': criteria.definition.to_dict(),
        'K': list(criteria.K),
        'measures': list(request.measures),
        'versions': list(versions),
        'queries_without_relevant': criteria.queries_without_relevant,
        **criteria.parameters,
        **{role: _table_in_plan(table) for role, table in inputs.items()},
        'n_skipped': request.selected_queries.n_skipped,
        'n_queries': len(request.selected_queries.names),
        'runs': list(runs),
        'names': list(names),
    }


def _table_in_plan(table: Table | None) -> dict[str, str] | None:
    if table is None:
        return None
    return {'name': table.source.name, 'sha256': digest_of_rows(table)}


def _entry_in_plan(criteria: Criteria, run: Run) -> tuple[dict[str, Any] | None, Run]:
    """Return name and digest of a run for the plan, and an input that can be read again."""
    if (store := criteria.open_run(run)) is not None:
        return {'name': store.ranking.source.name, 'sha256': store.sha256}, run
    if isinstance(run, str | os.PathLike):
        source = ByteSource(run)
        if not source.is_regular_file:
            raise ParameterError(
                f'resume: found {source.name} as a run, expected a file, which can be read again'
            )
        with opening(source.name), source.open_stored() as file:
            digest = digest_of_file(file)
        return {'name': source.name, 'sha256': digest}, run
    table = criteria.read_run(run)
    if isinstance(run, Ranking):
        return _table_in_plan(table), run
    return _table_in_plan(table), table


def evaluate_runs(runs: Sequence[RunInBlocks], jobs: Workers) -> Generator[Evaluation | Exception]:
    """Yield, for each run, its result with warnings, or the exception about it."""
    if not isinstance(jobs, int):  # several runs at once: no worker waits for the end of one
        contexts = [copy_context() for _ in runs]  # with the bars of this thread
        threads = ThreadPoolExecutor(N_OPENED_RUNS)
        try:
            yield from threads.map(lambda c, run: c.run(_evaluate_run, run, jobs), contexts, runs)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
        return
    sizes = list(map(_size, runs))
    clock = Clock()
    for number, run in enumerate(runs):
        remaining_sizes = sizes[number:]
        # Processes share runs only if each gets one; else they share the queries of each run.
        if 1 < jobs <= len(remaining_sizes) and min(remaining_sizes) >= 0:
            is_large = sum(remaining_sizes) > WORTH_SHARING_BYTES
            if is_large or (number and clock.pays(len(remaining_sizes) / number, jobs)):
                yield from _evaluate_in_parallel(runs[number:], remaining_sizes, jobs)
                return
        yield _evaluate_run(run, jobs)


def _evaluate_run(run: RunInBlocks, jobs: Workers) -> Evaluation | Exception:
    try:
        run.compute(jobs)
        return run.evaluation()
    except ProcessError:  # not about the run
        raise
    except Exception as error:
        run.forget()
        return error


def _evaluate_in_parallel(
    runs: Sequence[RunInBlocks], sizes: Sequence[int], jobs: int
) -> Generator[Evaluation | Exception]:
    """Let processes read and score one run each, the largest first."""
    from mediaeval_ap.execute import worker_processes

    order = sorted(range(len(runs)), key=lambda number: sizes[number], reverse=True)
    paths = [runs[i].hypothesis for i in order]
    waiting: dict[int, Evaluation | Exception] = {}  # until the results of earlier runs are there
    shared = pickle.dumps(runs[0].request)
    n_yielded = 0
    tasks = worker_processes.run_tasks(jobs, evaluate_file, shared, paths)
    with closing(tasks) as results, Bar('scoring', len(runs), ' runs') as bar:
        bar.draw()
        for number, result in results:
            bar.add()
            waiting[order[number]] = result
            while n_yielded in waiting:
                result = waiting.pop(n_yielded)
                if isinstance(result, Evaluation):  # its pickle is without rows of the reference
                    rows = runs[n_yielded].request.criteria.reference.table
                    result = replace(result.called(runs[n_yielded].name), reference_rows=rows)
                yield result
                n_yielded += 1


def evaluate_file(request: bytes, path: Run) -> Evaluation:
    """Read and score a run; runs in a worker."""
    run = RunInBlocks(pickle.loads(request), path)
    run.compute()
    return run.evaluation()


def _size(run: RunInBlocks) -> int:
    """Return the size of a file; 0 for a store; -1 for a run that processes cannot share."""
    path = run.hypothesis
    if run.folder or not isinstance(path, str | os.PathLike) or not os.path.exists(path):
        return -1
    if os.path.isdir(path):
        return 0
    return os.path.getsize(path) if os.path.isfile(path) else -1


def score_block(packed: bytes, names: Sequence[str]) -> Evaluation:
    """Score a packed run on the names of a block; runs in a worker."""
    return score_queries(*unpack_run(packed), names)


@lru_cache(N_OPENED_RUNS)
def unpack_run(packed: bytes) -> tuple[PreparedRun, Provenance | None, Sequence[str]]:
    """Unpack and open a run; later tasks of this worker get it from the cache."""
    from mediaeval_ap.store.store import Store

    criteria, run, queries_source, measures = pickle.loads(packed)
    ranking = run.ranking if isinstance(run, Store) else run
    return PreparedRun(criteria, ranking, len(ranking)), queries_source, measures


def score_queries(
    run: PreparedRun,
    queries_source: Provenance | None,
    measures: Sequence[str],
    names: Sequence[str],
) -> Evaluation:
    """Score a run on names, also by measures of ir_measures, without warnings."""
    evaluation = score_names(run, list(names), queries_source)
    if measures:
        from mediaeval_ap.trec.measures import with_measures

        evaluation = with_measures(evaluation, run, measures)
    return evaluation
