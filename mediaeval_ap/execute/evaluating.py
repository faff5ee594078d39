"""Runs and blocks of queries, scored by several processes as by one."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any

from mediaeval_ap.errors import DataWarning, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import names_asked, with_skipped, with_warnings
from mediaeval_ap.execute.beginning import START_SECONDS, Asked, Begun, Unbegun, begin
from mediaeval_ap.execute.job import Job, score_block
from mediaeval_ap.execute.processes import Done, Processes, Task
from mediaeval_ap.progress import Bar, hidden
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Table

# Of several runs together: reading and ranking them takes half a second.
WORTH_SHARING_BYTES = 16 << 20


def evaluate_runs(
    criteria: Criteria,
    runs: Sequence[Any],
    queries: Table | None,
    measures: Sequence[Any],
    jobs: int,
) -> Generator[Evaluation | Exception]:
    """Yield for each run its result, with warnings, or the error that one process would raise."""
    names, n_skipped, about_queries = names_asked(criteria, queries)
    source = None if queries is None else queries.source
    with ExitStack() as stack:
        processes = stack.enter_context(Processes(jobs))
        bar = stack.enter_context(Bar('scoring', len(runs) * len(names), ' queries'))
        if len(runs) > 1:
            stack.enter_context(hidden())  # the bars of single runs
        texts = tuple(map(str, measures))
        asked = Asked(criteria, names, source, about_queries, texts, n_skipped)
        yield from _Evaluating(asked, runs, jobs, processes, bar).results()


def given_out(result: Evaluation | Exception) -> Evaluation:
    """Return a result, and give out its warnings; or raise what stands in its place."""
    if isinstance(result, Exception):
        raise result
    warn_caller(result.warnings)
    return result


@dataclass
class _Run:
    """The blocks and errors of a run so far."""

    found: list[DataWarning] = field(default_factory=list)
    blocks: dict[int, Evaluation] = field(default_factory=dict)  # by number
    errors: dict[int, BaseException] = field(default_factory=dict)
    n_open: int = 1  # tasks

    def result(self, asked: Asked) -> Evaluation | Exception:
        """Put the blocks together, or return the error that comes first."""
        if self.errors:
            error = self.errors[min(self.errors)]
            if not isinstance(error, Exception):
                raise error
            return error
        whole = Evaluation.concat(block for _, block in sorted(self.blocks.items()))
        return with_warnings(with_skipped(whole, asked.n_skipped), asked.criteria, self.found)


class _Evaluating:
    def __init__(
        self, asked: Asked, runs: Sequence[Any], jobs: int, processes: Processes, bar: Bar
    ) -> None:
        self._asked, self._runs, self._jobs = asked, runs, jobs
        self._processes, self._bar = processes, bar
        self._known = [_Run() for _ in runs]
        self._later: list[Task] = []
        self._began = process_time()

    def results(self) -> Iterator[Evaluation | Exception]:
        self._begin()
        n_given = 0
        for done in self._processes.results():
            self._note(done)
            if self._later:
                self._go_on()
            while n_given < len(self._known) and not self._known[n_given].n_open:
                run, self._known[n_given] = self._known[n_given], _Run(n_open=0)
                yield run.result(self._asked)
                n_given += 1

    def _begin(self) -> None:
        """Let runs be read where that is best: the largest last, whose queries can be shared."""
        sizes = list(map(_size, self._runs))
        order = sorted(range(len(sizes)), key=sizes.__getitem__)
        last = order[-self._jobs :]

        def task(i: int) -> Task:
            jobs = self._jobs if i in last else 1
            unbegun = Unbegun(self._runs[i], jobs, self._processes.folder)
            return Task(begin, self._asked, unbegun, (i, 0))

        self._processes.add_here(task(i) for i in order if sizes[i] < 0)
        readable = [task(i) for i in order if sizes[i] >= 0]
        if sum(sizes) > WORTH_SHARING_BYTES:
            self._processes.add(readable)
        else:  # the first one tells how long the others will take
            self._processes.add_here(readable[:1])
            self._later = readable[1:]

    def _go_on(self) -> None:
        """Let the runs that wait be read by all processes, if the first one took long enough."""
        saved = (process_time() - self._began) * len(self._later) * (1 - 1 / self._jobs)
        add = self._processes.add if saved > START_SECONDS else self._processes.add_here
        add(self._later)
        self._later = []

    def _note(self, done: Done) -> None:
        """Take what a task gave, and add the tasks that follow from it."""
        number, block = done.task.key
        run = self._known[number]
        run.n_open -= 1
        if done.error is not None:
            run.errors[block] = done.error
            # Those that nobody has begun come later: their errors would not be told.
            run.n_open -= self._processes.discard(done.task.shared) if block else 0
        elif isinstance(done.value, Begun):
            run.found = done.value.found
            self._keep(run, 0, Evaluation.concat(done.value.first))
            if (job := done.value.job) is not None:
                # Of another process it has a copy of the criteria, which need not be held here.
                job = replace(job, criteria=self._asked.criteria)
                self._share(number, job, done.value.block_queries)
        else:
            self._keep(run, block, done.value)

    def _keep(self, run: _Run, number: int, block: Evaluation) -> None:
        run.blocks[number] = block
        self._bar.add(len(block.queries))

    def _share(self, number: int, job: Job, block_queries: int) -> None:
        rest = self._asked.names[len(self._known[number].blocks[0].queries) :]
        blocks = [rest[i : i + block_queries] for i in range(0, len(rest), block_queries)]
        self._known[number].n_open += len(blocks)
        self._processes.add(
            Task(score_block, job, block, (number, i)) for i, block in enumerate(blocks, 1)
        )


def _size(run: Any) -> int:
    """Return the size of a file; 0 for a store; -1 for what no other process can read."""
    if not isinstance(run, str | os.PathLike) or not os.path.exists(run):
        return -1
    if os.path.isdir(run):
        return 0
    return os.path.getsize(run) if os.path.isfile(run) else -1
