"""The beginning of a run: its first queries, which tell whether processes should share the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any, NamedTuple

from mediaeval_ap.batches.job import Job, parsed, score_with_measures
from mediaeval_ap.errors import DataWarning, WriteError
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun, read_counted
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.store.store import Store, as_store
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import Source

START_SECONDS = 0.2  # of CPU, until a process has imported all and has opened a store: 0.15 to 0.2
WRITTEN_ROWS = 3_000_000  # rows of a temporary store that are written in a second
GAIN_SECONDS = 0.2  # a choice: a smaller gain is not worth it; estimates are wrong by as much
PROBE_SECONDS = 0.05  # of a block of queries that tells how long the others will take
BLOCKS_EACH = 16  # of each process, so that all end at about the same time
LEAST_BLOCK_SECONDS = 0.03  # a choice: what surrounds a block takes a millisecond or two


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked about each run."""

    criteria: Criteria
    names: list[str]
    queries: Source | None
    about_queries: list[DataWarning]
    measures: tuple[str, ...]
    folder: str  # of temporary stores


class Begun(NamedTuple):
    """The values of the first queries, and how those of the others are to be computed, if any."""

    found: list[DataWarning]
    first: list[Evaluation]
    job: Job | None
    block_queries: int


def begin(asked: Asked, run_and_jobs: tuple[Any, int]) -> Begun:
    """Read a run, and score all queries; or the first ones, if processes should share the others.

    Blocks of queries grow until one takes so long that the time of the others is known.
    """
    given, jobs = run_and_jobs
    store = as_store(given)
    run = read_counted(asked.criteria, given if store is None else store)
    costs = _costs(run, store, jobs)
    measures = parsed(asked.measures)
    first: list[Evaluation] = []
    rest, size = asked.names, 1 if jobs > 1 else len(asked.names)
    job, block_queries = None, 0
    while rest and job is None:
        block, rest = rest[:size], rest[size:]
        wall, cpu = perf_counter(), process_time()
        first.append(score_with_measures(run, block, asked.queries, measures))
        wall, cpu = perf_counter() - wall, process_time() - cpu
        size *= 2
        if wall > PROBE_SECONDS and rest:
            seconds_alone, cpu_seconds = (each / len(block) * len(rest) for each in (wall, cpu))
            size = len(rest)
            if seconds_alone - cpu_seconds / jobs > costs:
                job = _job(asked, run, store)
                least = round(LEAST_BLOCK_SECONDS / cpu * len(block))
                block_queries = max(1, least, len(rest) // (BLOCKS_EACH * jobs))
    return Begun(run.warnings_with(asked.about_queries), first, job, block_queries)


def _costs(run: CountedRun, store: Store | None, jobs: int) -> float:
    """Return how many seconds the others must take less if processes share them."""
    writing = len(run.ranking) / WRITTEN_ROWS if store is None else 0
    return writing + START_SECONDS * (jobs - 1) / jobs + GAIN_SECONDS


def _job(asked: Asked, run: CountedRun, store: Store | None) -> Job | None:
    """Return the job about a run, which is stored first; None where that is not possible."""
    if store is None:
        path = os.path.join(asked.folder, f'{os.urandom(8).hex()}.store')
        try:
            store = write_store(run.ranking, path, subset=asked.criteria.subset)
        except WriteError:  # no room, above all: one process needs none
            return None
    criteria, source = asked.criteria, run.ranking.source
    path = os.path.realpath(store.path)
    return Job(criteria, path, store.sha256, source, asked.queries, asked.measures)
