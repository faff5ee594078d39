"""The one loop of evaluations: blocks of queries that are missing, scored here or by executors."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from time import perf_counter, process_time
from typing import Any, NamedTuple

from mediaeval_ap import __version__
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, ProcessError, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import (
    PreparedRun,
    SelectedQueries,
    completed,
    prepare_run,
    score_names,
    select_queries,
)
from mediaeval_ap.execute import block_folder
from mediaeval_ap.execute.block_folder import Folder, digest_of_rows
from mediaeval_ap.progress import Bar, progress_hidden, tracked
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Provenance, Table
from mediaeval_ap.tables.sources import ByteSource, opening

START_SECONDS = 0.2  # of CPU, until a process has imported all: 0.15 to 0.2
PACKED_ROWS = 20_000_000  # rows of a run in memory that are given to a process in a second
GAIN_SECONDS = 0.2  # a smaller gain is not worth it: estimates are wrong by as much
PROBE_SECONDS = 0.05  # of work that tells how long the rest will take
BLOCKS_EACH = 16  # of each process, so that all end at about the same time
# Files of several runs together that are given to processes at once: reading them takes 0.5 s.
WORTH_SHARING_BYTES = 16 << 20


class Part(NamedTuple):
    """How many blocks of a part of an evaluation were computed now, and found done before.

    Examples
    --------
    >>> Part(computed=3, found=1).found
    1
    """

    computed: int
    found: int


@dataclass(frozen=True, eq=False)
class Asked:
    """The question that each run answers: criteria, names and measures."""

    criteria: Criteria
    questions: SelectedQueries
    queries: Table | None
    measures: tuple[str, ...]  # of ir_measures

    def packed(self, run: Any = None) -> bytes:
        """Return what tasks share: a store goes as its path and digest, a ranking as arrays."""
        if isinstance(run, Ranking):
            run = copy(run)
            vars(run).pop('_table', None)  # which nothing needs that is scored
        shared = self.criteria, run, self.questions.source, self.measures
        return pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)


class Clock:
    """Time of this process since this was made: wall time, and of all its threads together."""

    def __init__(self) -> None:
        self._began = perf_counter(), process_time()

    def pays(self, factor: float, jobs: int, n_packed: int = 0) -> bool:  # rows for each of them
        """Return whether starting processes pays off for `factor` times the work done so far."""
        seconds = perf_counter() - self._began[0]
        cpu_seconds = process_time() - self._began[1]
        if jobs == 1 or seconds < PROBE_SECONDS:
            return False
        costs = n_packed / PACKED_ROWS + START_SECONDS + GAIN_SECONDS
        # CPU time is longer than wall time where threads use several cores already.
        return factor * (seconds - cpu_seconds / jobs) > costs


def ask(criteria: Criteria, queries: Any, measures: str | Iterable[str]) -> Asked:
    """Read what each run is asked."""
    texts: tuple[str, ...] = ()
    if measures:
        from mediaeval_ap.trec.measures import check_columns, parse_measures, refuse_nonrelevant

        parsed = parse_measures(measures)
        if criteria.judgements is None:
            refuse_nonrelevant(parsed)
        check_columns(parsed, criteria.K)
        texts = tuple(map(str, parsed))
    table = criteria.read_queries(queries)
    return Asked(criteria, select_queries(criteria, table), table, texts)


def score_block(packed: bytes, names: Sequence[str]) -> Evaluation:
    """Score a run on some names, where its task is done."""
    return _scored(*_unpacked(packed), names)


@lru_cache(4)
def _unpacked(packed: bytes) -> tuple[PreparedRun, Provenance | None, Sequence[str]]:
    from mediaeval_ap.store.store import Store

    criteria, run, queries, measures = pickle.loads(packed)
    ranking = run.ranking if isinstance(run, Store) else run
    return PreparedRun(criteria, ranking, len(ranking)), queries, measures


def _scored(
    run: PreparedRun, queries: Provenance | None, texts: Sequence[str], names: Sequence[str]
) -> Evaluation:
    """Score a run on names, also by measures of ir_measures; warn of nothing."""
    if not texts:
        return score_names(run, list(names), queries)
    from mediaeval_ap.trec.measures import (
        counts_nonrelevant,
        depth_of,
        parse_measures,
        with_measures,
    )
    from mediaeval_ap.trec.topics import topics

    measures = parse_measures(texts)
    depth = depth_of(measures)
    evaluation = score_names(run, list(names), queries)
    asked = topics(run, list(names), depth, with_all_judged=any(map(counts_nonrelevant, measures)))
    return with_measures(evaluation, asked, measures)


@dataclass(eq=False)
class RunInBlocks:
    """A run that is scored in blocks of queries, which are kept in memory, or in a folder too."""

    asked: Asked
    hypothesis: Any
    folder: Folder | None = None
    number: int = 0  # of the run in the plan of the folder
    name: str = ''  # of the run, where one was given
    _blocks: dict[int, Evaluation] = field(default_factory=dict, init=False)

    @cached_property
    def _read(self) -> tuple[PreparedRun, Any]:
        """The run ready to be scored, if it still is the one of the plan; and what is packed."""
        criteria = self.asked.criteria
        store = criteria.open_run(self.hypothesis)
        run = prepare_run(criteria, self.hypothesis if store is None else store)
        if self.folder is not None and not isinstance(self.hypothesis, Table | Ranking):
            source = run.ranking.source
            planned = self.folder.plan['runs'][self.number]['sha256']
            if (found := source.sha256 if store is None else store.sha256) != planned:
                expected = f'{planned}, as before; it was changed; begin again in another folder'
                raise FormatError(source.name, '', 'SHA-256', f'{found}', expected)
        return run, run.ranking if store is None else store

    @property
    def warnings(self) -> list[DataWarning]:
        """Warnings about the run and the queries, before a query is scored."""
        return self._read[0].warnings_with(self.asked.questions.warnings)

    def forget(self) -> None:
        """Let go of the run and its blocks: all of a command need not be in memory together."""
        vars(self).pop('_read', None)
        self._blocks.clear()

    def compute(self, jobs: Any = 1, part: tuple[int, int] = (1, 1)) -> Part:
        """Compute the blocks of a part that are missing; jobs are a number, or an executor."""
        names = self.asked.questions.names
        size = block_folder.BLOCK_QUERIES
        if self.folder is None and isinstance(jobs, int):
            size = max(-(-len(names) // (BLOCKS_EACH * jobs if jobs > 1 else 1)), 1)
        numbers = list(range(1, max(-(-len(names) // size), 1) + 1))
        if self.folder is not None:
            before = self.number * len(numbers) - part[0]
            numbers = [each for each in numbers if (before + each) % part[1] == 0]
            for each in set(self.folder.done(self.number)).intersection(numbers):
                self._blocks[each] = self.folder.read(self.number, each)
        missing = [each for each in numbers if each not in self._blocks]
        if missing:
            self._score(missing, [names[(each - 1) * size : each * size] for each in missing], jobs)
        return Part(len(missing), len(numbers) - len(missing))

    def _score(self, numbers: Sequence[int], blocks: Sequence[list[str]], jobs: Any) -> None:
        """Score blocks here, and let processes share the rest as soon as that pays."""
        run, given = self._read  # here, so that no block's time includes it
        here = run, self.asked.questions.source, self.asked.measures
        n_here = 0
        if isinstance(jobs, int):
            if len(blocks) == 1:  # whose queries have a bar themselves
                self._take(numbers[0], _scored(*here, blocks[0]))
                return
            if jobs > 1:  # what is laid out for the first query alone is not timed
                with progress_hidden():
                    _scored(*here, blocks[0][:1])
        with Bar('scoring', len(blocks), ' blocks') as bar, progress_hidden():
            clock = Clock()
            n_packed = len(run.ranking) if isinstance(given, Ranking) else 0
            while isinstance(jobs, int) and n_here < len(blocks):
                self._take(numbers[n_here], _scored(*here, blocks[n_here]))
                bar.add()
                n_here += 1
                if clock.pays(len(blocks) / n_here - 1, jobs, n_packed):
                    break
            if rest := blocks[n_here:]:
                from mediaeval_ap.execute import (
                    worker_processes,  # here, as small evaluations need none
                )

                packed = self.asked.packed(given)
                with closing(
                    worker_processes.finished(jobs, score_block, packed, rest)
                ) as finished:
                    for number, block in finished:
                        if isinstance(block, Exception):
                            raise block
                        self._take(numbers[n_here + number], block)
                        bar.add()

    def _take(self, number: int, block: Evaluation) -> None:
        self._blocks[number] = block
        if self.folder is not None:
            self.folder.keep(self.number, number, block)

    def compute_part(self, part: tuple[int, int], jobs: Any = 1) -> Part:
        """Compute what is missing of a part; if anything is, warn of the run and the queries."""
        done = self.compute(jobs, part)
        if done.computed:
            warn_caller(self.warnings)
        self.forget()
        return done

    def evaluation(self) -> Evaluation:
        """Return the result of all blocks, with the warnings."""
        whole = Evaluation.concat(self._blocks[each] for each in sorted(self._blocks))
        found = self.warnings
        self.forget()
        return completed(replace(whole, run=self.name), self.asked.questions.n_skipped, found)


def in_blocks(
    asked: Asked, runs: Sequence[Any], path: Any = None, names: Sequence[str] = ()
) -> list[RunInBlocks]:
    """Return runs that are scored in blocks, kept in memory or in a folder too."""
    folder = None
    names = names or [''] * len(runs)
    if path is not None:
        planned = [_planned(asked.criteria, run) for run in runs]
        runs = [run for _, run in planned]
        folder = Folder.begin(path, _plan(asked, [each for each, _ in planned], names))
        names = folder.plan['names']
    return [
        RunInBlocks(asked, run, folder, number, name)
        for number, (run, name) in enumerate(zip(runs, names, strict=True))
    ]


def _plan(asked: Asked, runs: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return all that the values of runs depend on, as JSON."""
    from mediaeval_ap.execute import worker_processes

    criteria = asked.criteria
    versions = asked.measures and worker_processes.versions()
    inputs = {
        'reference': criteria.reference.table,
        'subset': criteria.subset,
        'queries': asked.queries,
        'judged': None if criteria.judgements is None else criteria.judgements.table,
    }
    return {
        'schema': block_folder.SCHEMA,
        'version': __version__,
        'definition': criteria.definition.to_dict(),
        'K': list(criteria.K),
        'measures': list(asked.measures),
        'versions': list(versions),
        'queries_without_relevant': criteria.queries_without_relevant,
        **criteria.parameters,
        **{
            role: None
            if table is None  # one without rows is a table, too
            else {'name': table.source.name, 'sha256': digest_of_rows(table)}
            for role, table in inputs.items()
        },
        'n_skipped': asked.questions.n_skipped,
        'n_queries': len(asked.questions.names),
        'block_queries': block_folder.BLOCK_QUERIES,
        'runs': list(runs),
        'names': list(names),
    }


def _planned(criteria: Criteria, run: Any) -> tuple[dict[str, Any], Any]:
    """Return a run as a plan has it, and what it can be read from again."""
    if (store := criteria.open_run(run)) is not None:
        return {'name': store.ranking.source.name, 'sha256': store.sha256}, run
    if isinstance(run, str | os.PathLike):
        source = ByteSource(run)
        if not source.is_stored:
            expected = 'a file, which can be read again'
            raise ParameterError(f'resume: found {source.name} as a run, expected {expected}')
        with opening(source.name), source.open_stored() as file:
            digest = hashlib.file_digest(file, 'sha256').hexdigest()
        return {'name': source.name, 'sha256': digest}, run
    table = criteria.read_run(run)
    planned = {'name': table.source.name, 'sha256': digest_of_rows(table)}
    return planned, run if isinstance(run, Ranking) else table


def evaluate_runs(runs: Sequence[RunInBlocks], jobs: Any) -> Generator[Evaluation | Exception]:
    """Yield for each run its result, with warnings, or the error that it is wrong by."""
    sizes = list(map(_size, runs)) if isinstance(jobs, int) and jobs > 1 else []
    clock = Clock()
    for number, run in enumerate(runs):
        rest = sizes[number:]
        # As many as there are processes; of fewer runs, the queries are shared.
        if sizes and jobs <= len(rest) and min(rest) >= 0:
            is_large = sum(rest) > WORTH_SHARING_BYTES
            if is_large or (number and clock.pays(len(rest) / number, jobs)):
                yield from _side_by_side(runs[number:], rest, jobs)
                return
        result: Evaluation | Exception
        try:
            run.compute(jobs)
            result = run.evaluation()
        except ProcessError:  # which say nothing of the run
            raise
        except Exception as error:
            run.forget()
            result = error
        yield result


def _side_by_side(
    runs: Sequence[RunInBlocks], sizes: Sequence[int], jobs: int
) -> Generator[Evaluation | Exception]:
    """Let each of several processes read and score other runs, the largest first."""
    from mediaeval_ap.execute import worker_processes

    order = sorted(range(len(runs)), key=sizes.__getitem__, reverse=True)
    paths = [runs[i].hypothesis for i in order]
    done: dict[int, Evaluation | Exception] = {}
    shared = pickle.dumps(runs[0].asked)
    n_given = 0
    with closing(worker_processes.finished(jobs, evaluate_file, shared, paths)) as finished:
        for number, result in tracked(finished, 'scoring', ' runs'):
            done[order[number]] = result
            while n_given in done:
                result = done.pop(n_given)
                name = runs[n_given].name
                yield result.called(name) if isinstance(result, Evaluation) else result
                n_given += 1


def evaluate_file(asked: bytes, path: Any) -> Evaluation:
    """Read and score a run, where its task is done."""
    run = RunInBlocks(pickle.loads(asked), path)
    run.compute()
    return run.evaluation()


def _size(run: RunInBlocks) -> int:
    """Return the size of a file; 0 for a store; -1 for what no other process is to read."""
    path = run.hypothesis
    if run.folder or not isinstance(path, str | os.PathLike) or not os.path.exists(path):
        return -1
    if os.path.isdir(path):
        return 0
    return os.path.getsize(path) if os.path.isfile(path) else -1
