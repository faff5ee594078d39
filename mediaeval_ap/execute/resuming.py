"""Runs scored in blocks that are kept in a folder: what is done is not computed again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from mediaeval_ap.atomic_files import undone_at_once
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import (
    CountedRun,
    names_asked,
    read_counted,
    with_warnings,
)
from mediaeval_ap.execute.beginning import Asked, Clock, job_about
from mediaeval_ap.execute.block_files import Block
from mediaeval_ap.execute.block_folder import WHOLE, BlockFolder
from mediaeval_ap.execute.job import Job, score_block, score_with_measures
from mediaeval_ap.execute.plan import described, digest_of_rows, plan_of
from mediaeval_ap.execute.processes import Processes, Task
from mediaeval_ap.progress import Bar, hidden
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.sources import ByteSource, opening


def write_block(job: Job, block: Block) -> None:
    """Compute a block of a job, and write it."""
    block.write(score_block(job, block.names))


class Part(NamedTuple):
    """The blocks of queries of one part of an evaluation.

    Parameters
    ----------
    computed : int
        Number of blocks that were computed now.
    found : int
        Number of blocks that were done before.

    Examples
    --------
    >>> Part(computed=3, found=1).found
    1
    """

    computed: int
    found: int


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A run whose blocks of queries are kept in a folder."""

    folder: BlockFolder
    number: int  # of the run in the plan, from 0
    criteria: Criteria
    hypothesis: Any
    queries: Table | None
    names: list[str]
    about_queries: list[DataWarning]
    measures: Sequence[Any]

    @cached_property
    def run(self) -> CountedRun:
        """The run, ready to be scored, if it still is the one of the plan."""
        run = read_counted(self.criteria, self.given)
        planned, source = self.folder.plan.runs[self.number], run.ranking.source
        if planned['content'] is None:
            _check_unchanged(source.name, source.sha256, planned['sha256'])
        return run

    @cached_property
    def given(self) -> Any:
        """The run as it was given; a store is opened, if it still is the one of the plan."""
        store = self.criteria.open_run(self.hypothesis)
        if store is None:
            return self.hypothesis
        planned = self.folder.plan.runs[self.number]
        _check_unchanged(store.path, store.sha256, planned['content'])
        return store

    def compute(
        self,
        part: tuple[int, int] = WHOLE,
        score: Callable[[Sequence[Block]], None] | None = None,
        jobs: int = 1,
    ) -> Part:
        """Compute the blocks of a part that are missing; `score` writes each where it computes."""
        blocks, n_found = self.folder.missing(self.number, self.names, part)
        if blocks:
            (score or partial(self._score, jobs))(blocks)
        return Part(len(blocks), n_found)

    def compute_part(self, part: tuple[int, int], jobs: int = 1) -> Part:
        """Compute what is missing of a part; if anything is, warn of the run and the queries."""
        done = self.compute(part, jobs=jobs)
        if done.computed:
            warn_caller(self.run.warnings_with(self.about_queries))
        self.forget_run()
        return done

    def evaluation(self) -> Evaluation:
        """Return the result of all blocks, with the warnings of the run."""
        evaluation = self.folder.evaluation(self.number)
        found = self.run.warnings_with(self.about_queries)
        self.forget_run()
        return with_warnings(evaluation, self.criteria, found)

    def forget_run(self) -> None:
        """Let go of the run: all of a command need not be in memory or open together."""
        for name in 'run', 'given':
            vars(self).pop(name, None)

    def _score(self, jobs: int, blocks: Sequence[Block]) -> None:
        source = None if self.queries is None else self.queries.source
        run = self.run  # read here, so that no block's time includes it
        with Bar('scoring', len(blocks), ' blocks') as bar, hidden():
            for n_done, block in enumerate(blocks, 1):
                clock = Clock()
                names = list(block.names)
                block.write(score_with_measures(run, names, source, self.measures))
                bar.add()
                rest = blocks[n_done:]
                if clock.worth_sharing(len(rest), jobs, run) and self._share(rest, jobs, bar):
                    return

    def _share(self, blocks: Sequence[Block], jobs: int, bar: Bar) -> bool:
        """Compute blocks by several processes, if there is room for a temporary store."""
        source = None if self.queries is None else self.queries.source
        texts = tuple(map(str, self.measures))
        asked = Asked(self.criteria, self.names, source, self.about_queries, texts)
        # A process that is killed as it writes leaves its file.
        with undone_at_once(self.folder.remove_temporaries), Processes(jobs) as processes:
            job = job_about(asked, self.run, self.given, processes.folder)
            if job is None:
                return False
            processes.add(Task(write_block, job, block, block.number) for block in blocks)
            for done in processes.results():
                if done.error is not None:
                    raise done.error
                bar.add()
        return True


def keep(
    criteria: Criteria,
    runs: Sequence[Any],
    queries: Table | None,
    measures: Sequence[Any],
    path: str | os.PathLike[str],
) -> list[KeptRun]:
    """Begin to score runs in blocks that are kept in a folder, or go on with it."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'resume: found {shown(path)}, expected the path of a folder')
    questions = names_asked(criteria, queries)
    names, about_queries = questions.names, questions.warnings
    planned = [_planned(criteria, run) for run in runs]
    plan = plan_of(criteria, questions, queries, measures, [inputs for inputs, _ in planned])
    folder = BlockFolder.begin(os.fsdecode(path), plan)
    return [
        KeptRun(folder, number, criteria, run, queries, names, about_queries, measures)
        for number, (_, run) in enumerate(planned)
    ]


def _check_unchanged(name: str, found: str | None, expected: str | None) -> None:
    if found != expected:
        remedy = 'it was changed; begin again in another folder'
        raise FormatError(name, '', 'SHA-256', f'{found}', f'{expected}, as before; {remedy}')


def _planned(criteria: Criteria, run: Any) -> tuple[Mapping[str, str | None], Any]:
    """Return a run as a plan has it, and what it can be read from again."""
    if (store := criteria.open_run(run)) is not None:
        return described(store.ranking.source, store.sha256), run  # which is opened again later
    if isinstance(run, str | os.PathLike):
        source = ByteSource(run, criteria.max_bytes)
        if not source.is_stored:
            expected = 'a file, which can be read again'
            raise ParameterError(f'resume: found {source.name} as a run, expected {expected}')
        with opening(source.name), source.open_stored() as file:
            digest = hashlib.file_digest(file, 'sha256').hexdigest()
        return described(Source(source.name, digest)), run
    table = criteria.read_run(run)
    planned = described(table.source, digest_of_rows(table))
    return planned, run if isinstance(run, Ranking) else table
