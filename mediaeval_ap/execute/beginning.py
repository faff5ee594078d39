"""The beginning of a run: its first queries, which tell whether processes should share the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any, NamedTuple

from mediaeval_ap.errors import DataWarning, WriteError
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun, read_counted
from mediaeval_ap.execute.job import Job, parsed, score_with_measures
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.store.store import StoredRanking, as_store
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
    """A question that each run is to answer: criteria, names and measures."""

    criteria: Criteria
    names: list[str]
    queries: Source | None
    about_queries: list[DataWarning]
    measures: tuple[str, ...]
    n_skipped: int = 0  # queries that were left out


class Unbegun(NamedTuple):
    """A run as it was given, how many processes may share it, and a folder for its store."""

    run: Any
    jobs: int
    folder: str


class Begun(NamedTuple):
    """The values of the first queries, and how those of the others are to be computed, if any."""

    found: list[DataWarning]
    first: list[Evaluation]
    job: Job | None
    block_queries: int


class Clock:
    """Time of this process since this was made: wall time, and of all its threads together."""

    def __init__(self) -> None:
        self._began = perf_counter(), process_time()

    @property
    def seconds(self) -> float:
        """Wall time."""
        return perf_counter() - self._began[0]

    @property
    def cpu_seconds(self) -> float:
        """CPU time, which is longer where threads use several cores already."""
        return process_time() - self._began[1]

    def worth_sharing(self, factor: float, jobs: int, run: CountedRun) -> bool:
        """Return whether processes should share so many times the work that was timed."""
        if jobs == 1 or self.seconds < PROBE_SECONDS:
            return False
        is_stored = isinstance(run.ranking, StoredRanking)
        writing = 0 if is_stored else len(run.ranking) / WRITTEN_ROWS
        costs = writing + START_SECONDS * (jobs - 1) / jobs + GAIN_SECONDS
        return factor * (self.seconds - self.cpu_seconds / jobs) > costs


def begin(asked: Asked, unbegun: Unbegun) -> Begun:
    """Read a run, and score all queries; or the first ones, if processes should share the others.

    Blocks of queries grow until one takes so long that the time of the others is known.
    """
    run_given, jobs, folder = unbegun
    # Opened once: another store may take its place while the first queries are scored.
    store = asked.criteria.open_run(run_given)
    given = run_given if store is None else store
    run = read_counted(asked.criteria, given)
    measures = parsed(asked.measures)
    found = run.warnings_with(asked.about_queries)
    first: list[Evaluation] = []
    rest, size = asked.names, 1 if jobs > 1 else len(asked.names)
    while rest:
        block, rest = rest[:size], rest[size:]
        is_first = not first  # which also pays for what is laid out once
        clock = Clock()
        first.append(score_with_measures(run, block, asked.queries, measures))
        if not is_first and clock.worth_sharing(len(rest) / len(block), jobs, run):
            least = round(LEAST_BLOCK_SECONDS / clock.cpu_seconds * len(block))
            if job := job_about(asked, run, given, folder):
                return Begun(found, first, job, max(1, least, len(rest) // (BLOCKS_EACH * jobs)))
        is_known = not is_first and clock.seconds > PROBE_SECONDS
        size = len(rest) if is_known else 2 * size
    return Begun(found, first, None, 0)


def job_about(asked: Asked, run: CountedRun, given: Any, folder: str) -> Job | None:
    """Return the job about a run, stored in a folder if it is no store; None without the room."""
    store = as_store(given)
    if store is None:
        path = os.path.join(folder, f'{os.urandom(8).hex()}.store')
        try:
            store = write_store(run.ranking, path, subset=asked.criteria.subset)
        except WriteError:
            return None
    criteria, source = asked.criteria, run.ranking.source
    return Job(criteria, store.folder, store.sha256, source, asked.queries, asked.measures)
