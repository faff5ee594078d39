"""The one loop of evaluations: the blocks of queries that are missing, scored here or elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from time import perf_counter, process_time
from typing import Any, NamedTuple

from mediaeval_ap.atomic_files import undone_at_once
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    ParameterError,
    ProcessError,
    WriteError,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import (
    CountedRun,
    Questions,
    names_asked,
    read_counted,
    score_names,
    with_skipped,
    with_warnings,
)
from mediaeval_ap.execute.blocks import WHOLE, Block, BlockFolder
from mediaeval_ap.execute.plan import described, digest_of_rows, plan_of
from mediaeval_ap.progress import Bar, hidden
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.sources import ByteSource, opening

START_SECONDS = 0.2  # of CPU, until a process has imported all and has opened a store: 0.15 to 0.2
WRITTEN_ROWS = 3_000_000  # rows of a temporary store that are written in a second
GAIN_SECONDS = 0.2  # a smaller gain is not worth it: estimates are wrong by as much
PROBE_SECONDS = 0.05  # of work that tells how long the rest will take
BLOCKS_EACH = 16  # of each process, so that all end at about the same time
# Files of several runs together that are given to processes at once: reading them takes 0.5 s.
WORTH_SHARING_BYTES = 16 << 20
OPENED_RUNS = 4  # blocks come run by run, so that more would rarely be asked for again


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
class Asked:
    """The question that each run answers: criteria, names and measures; it can be pickled."""

    criteria: Criteria
    questions: Questions
    queries: Table | None
    measures: tuple[str, ...]  # of ir_measures

    @property
    def source(self) -> Source | None:
        """Source of the names; None if they are those of the reference."""
        return None if self.queries is None else self.queries.source


@dataclass(frozen=True, eq=False)
class Job:
    """All that another process needs to score blocks of one run; it can be pickled."""

    criteria: Criteria
    run: str  # absolute path of a store
    sha256: str  # of the store
    source: Source  # what results name as the run: of a temporary store, the file behind it
    queries: Source | None  # as of `Asked.source`
    measures: tuple[str, ...]  # of ir_measures


class Clock:
    """Time of this process since this was made: wall time, and of all its threads together."""

    def __init__(self) -> None:
        self._began = perf_counter(), process_time()

    def pays(self, factor: float, jobs: int, n_written: int = 0) -> bool:
        """Return whether processes should share so many times the work that was done since.

        `n_written` is the number of rows that are written before they can begin.
        """
        seconds, cpu_seconds = perf_counter() - self._began[0], process_time() - self._began[1]
        if jobs == 1 or seconds < PROBE_SECONDS:
            return False
        costs = n_written / WRITTEN_ROWS + START_SECONDS + GAIN_SECONDS
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
    return Asked(criteria, names_asked(criteria, table), table, texts)


@dataclass(eq=False)
class RunInBlocks:
    """A run that is scored in blocks of queries, which are kept in memory or in a folder."""

    asked: Asked
    hypothesis: Any
    folder: BlockFolder | None = None
    number: int = 0  # of the run in the plan of the folder
    name: str = ''  # of the run, where one was given
    _values: dict[int, Evaluation] = field(default_factory=dict, init=False)  # without a folder

    @cached_property
    def given(self) -> Any:
        """The run as it was given; a store is opened, if it still is the one of the plan."""
        # Opened once: another store may take its place while the first queries are scored.
        store = self.asked.criteria.open_run(self.hypothesis)
        if store is None:
            return self.hypothesis
        if self.folder is not None:
            planned = self.folder.plan.runs[self.number]
            _check_unchanged(store.path, store.sha256, planned['content'])
        return store

    @cached_property
    def run(self) -> CountedRun:
        """The run, ready to be scored, if it still is the one of the plan."""
        run = read_counted(self.asked.criteria, self.given)
        if self.folder is not None:
            planned, source = self.folder.plan.runs[self.number], run.ranking.source
            if planned['content'] is None:
                _check_unchanged(source.name, source.sha256, planned['sha256'])
        return run

    @cached_property
    def warnings(self) -> list[DataWarning]:
        """Warnings about the run and the queries, before a query is scored."""
        return self.run.warnings_with(self.asked.questions.warnings)

    def forget_run(self) -> None:
        """Let go of the run: all of a command need not be in memory or open together."""
        for name in 'run', 'given':
            vars(self).pop(name, None)

    def missing(self, n_blocks: int = 1, part: tuple[int, int] = WHOLE) -> tuple[list[Block], int]:
        """Return the blocks of a part that are not done, and how many of it are.

        In memory there are up to `n_blocks`; a plan says how many a folder has.
        """
        names = self.asked.questions.names
        if self.folder is not None:
            return self.folder.missing(self.number, names, part)
        if self._values:
            return [], len(self._values)
        size = max(-(-len(names) // n_blocks), 1)
        starts = range(0, max(len(names), 1), size)
        return [Block(n, tuple(names[i : i + size])) for n, i in enumerate(starts, 1)], 0

    def take(self, block: Block, evaluation: Evaluation | None) -> None:
        """Take the result of a block, unless it is in the folder already."""
        if evaluation is not None:
            self._values[block.number] = evaluation

    def compute(self, jobs: int = 1, part: tuple[int, int] = WHOLE) -> Part:
        """Compute the blocks of a part that are missing."""
        blocks, n_found = self.missing(1 if jobs == 1 else BLOCKS_EACH * jobs, part)
        if blocks:
            self._score(blocks, jobs)
        return Part(len(blocks), n_found)

    def compute_part(self, part: tuple[int, int], jobs: int = 1) -> Part:
        """Compute what is missing of a part; if anything is, warn of the run and the queries."""
        done = self.compute(jobs, part)
        if done.computed:
            warn_caller(self.warnings)
        self.forget_run()
        return done

    def evaluation(self) -> Evaluation:
        """Return the result of all blocks, with the warnings."""
        if self.folder is not None:
            whole = self.folder.evaluation(self.number)
        else:
            whole = Evaluation.concat(self._values[each] for each in sorted(self._values))
            whole = with_skipped(whole, self.asked.questions.n_skipped)
            self._values.clear()  # a command may have many runs
        found = self.warnings
        self.forget_run()
        return with_warnings(whole._called(self.name), found)

    def job(self, folder: str = '') -> Job:
        """Return the run as other processes open it: a store, which is written if it is none."""
        from mediaeval_ap.store.store import as_store
        from mediaeval_ap.store.writing import write_store

        criteria, store = self.asked.criteria, as_store(self.given)
        if store is not None:
            source = store.ranking.source
        else:
            source = self.run.ranking.source
            path = os.path.join(folder, 'run.store')
            store = write_store(self.run.ranking, path, subset=criteria.subset)
        measures = self.asked.measures
        return Job(criteria, store.folder, store.sha256, source, self.asked.source, measures)

    def _score(self, blocks: Sequence[Block], jobs: int) -> None:
        """Score blocks here, and let processes share the rest as soon as that pays."""
        run = self.run  # read here, so that no block's time includes it
        if len(blocks) == 1:  # whose queries have a bar themselves
            self._score_here(blocks[0])
            return
        n_unstored = 0 if self._is_stored else len(run.ranking)
        with Bar('scoring', len(blocks), ' blocks') as bar, hidden():
            if jobs > 1:  # what is laid out for the first query alone is not timed
                self._values_of(blocks[0].names[:1])
            clock = Clock()
            for n_done, block in enumerate(blocks, 1):
                self._score_here(block)
                bar.add()
                rest = blocks[n_done:]
                if clock.pays(len(rest) / n_done, jobs, n_unstored):
                    if self._share(rest, jobs, bar):
                        return
                    jobs = 1

    def _score_here(self, block: Block) -> None:
        self.take(block, block.keep(self._values_of(block.names)))

    def _values_of(self, names: Sequence[str]) -> Evaluation:
        return _scored(self.run, names, self.asked.source, self.asked.measures)

    @property
    def _is_stored(self) -> bool:
        """True if other processes can open the run as it is."""
        from mediaeval_ap.store.store import StoredRanking

        return isinstance(self.run.ranking, StoredRanking)

    def _share(self, blocks: Sequence[Block], jobs: int, bar: Bar) -> bool:
        """Score blocks by several processes, if there is room for a temporary store."""
        from mediaeval_ap.execute.processes import results, temporary_folder

        with ExitStack() as stack:
            if self.folder is not None:  # a process that is killed as it writes leaves its file
                stack.enter_context(undone_at_once(self.folder.remove_temporaries))
            try:
                job = self.job('' if self._is_stored else stack.enter_context(temporary_folder()))
            except WriteError:
                return False
            finished = stack.enter_context(closing(results(jobs, score_block, job, blocks)))
            for number, evaluation in finished:
                if isinstance(evaluation, Exception):
                    raise evaluation
                self.take(blocks[number], evaluation)
                bar.add()
        return True


def score_block(job: Job, block: Block) -> Evaluation | None:
    """Score a block where its store can be opened; write it to its folder, or return it."""
    with hidden():
        run = _opened(job.criteria, job.run, job.sha256)
        evaluation = _scored(run, block.names, job.queries, job.measures)
    inputs = {**evaluation.inputs, 'hypothesis': job.source}
    return block.keep(replace(evaluation, inputs=inputs, run=''))


@lru_cache(OPENED_RUNS)
def _opened(criteria: Criteria, path: str, sha256: str) -> CountedRun:
    """Open a store; criteria are compared as objects, so keep those of a job for all its blocks."""
    from mediaeval_ap.store.store import open_store

    store = open_store(path)
    if store.sha256 != sha256:
        expected = f'{sha256}, as when the evaluation was begun; begin it again'
        raise FormatError(store.path, '', 'sha256', store.sha256, expected)
    return read_counted(criteria, store)


def _scored(
    run: CountedRun, names: Sequence[str], queries: Source | None, texts: Sequence[str]
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
    depth, kept = depth_of(measures), run.ranking.kept
    if kept is not None and kept < depth:  # no cutoff was asked for
        found = f'{", ".join(texts)}, computed on rankings of {depth} shots'
        remedy = f'index the run with --keep {depth} or without --keep'
        expected = f'rankings of at most {kept}, which this store keeps; {remedy}'
        raise FormatError(run.ranking.source.name, '', 'measures', found, expected)
    evaluation = score_names(run, list(names), queries)
    asked = topics(run, list(names), depth, with_all_judged=any(map(counts_nonrelevant, measures)))
    return with_measures(evaluation, asked, measures)


def in_blocks(
    asked: Asked, runs: Sequence[Any], path: Any = None, names: Sequence[str] = ()
) -> list[RunInBlocks]:
    """Return runs that are scored in blocks, kept in memory or in a folder."""
    if path is not None:
        return in_folder(asked, runs, path, names)
    names = names or [''] * len(runs)
    return [RunInBlocks(asked, run, name=name) for run, name in zip(runs, names, strict=True)]


def in_folder(
    asked: Asked, runs: Sequence[Any], path: Any, names: Sequence[str] = ()
) -> list[RunInBlocks]:
    """Begin to score runs in blocks that a folder keeps, or go on with it."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'resume: found {shown(path)}, expected the path of a folder')
    planned = [_planned(asked.criteria, run) for run in runs]
    plan = plan_of(
        asked.criteria,
        asked.questions,
        asked.queries,
        asked.measures,
        [inputs for inputs, _ in planned],
        names,
    )
    folder = BlockFolder.begin(os.fsdecode(path), plan)
    return [
        RunInBlocks(asked, run, folder, number, name)
        for number, ((_, run), name) in enumerate(zip(planned, plan.given, strict=True))
    ]


def evaluate_runs(runs: Sequence[RunInBlocks], jobs: int) -> Generator[Evaluation | Exception]:
    """Yield for each run its result, with warnings, or the error that it is wrong by."""
    sizes = list(map(_size, runs)) if jobs > 1 else []
    clock = Clock()
    for number, run in enumerate(runs):
        rest = sizes[number:]
        # As many as there are processes; of fewer runs, the queries are shared.
        if 1 < jobs <= len(rest) and min(rest) >= 0:
            is_large = sum(rest) > WORTH_SHARING_BYTES
            if is_large or (number and clock.pays(len(rest) / number, jobs)):
                yield from _side_by_side(runs[number:], rest, jobs)
                return
        result: Evaluation | Exception
        try:
            run.compute(jobs)
            result = run.evaluation()
        except ProcessError:  # which says nothing of the run
            raise
        except Exception as error:
            run.forget_run()
            result = error
        yield result


def _side_by_side(
    runs: Sequence[RunInBlocks], sizes: Sequence[int], jobs: int
) -> Generator[Evaluation | Exception]:
    """Let each of several processes read and score other runs, the largest first."""
    from mediaeval_ap.execute.processes import results

    order = sorted(range(len(runs)), key=sizes.__getitem__, reverse=True)
    paths = [runs[i].hypothesis for i in order]
    done: dict[int, Evaluation | Exception] = {}
    n_given = 0
    with (
        closing(results(jobs, _evaluated, runs[0].asked, paths)) as finished,
        Bar('scoring', len(runs), ' runs') as bar,
    ):
        for number, result in finished:
            done[order[number]] = result
            bar.add()
            while n_given in done:
                result = done.pop(n_given)
                name = runs[n_given].name
                yield result._called(name) if isinstance(result, Evaluation) else result
                n_given += 1


def _evaluated(asked: Asked, path: Any) -> Evaluation:
    run = RunInBlocks(asked, path)
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


def _check_unchanged(name: str, found: str | None, expected: str | None) -> None:
    if found != expected:
        remedy = 'it was changed; begin again in another folder'
        raise FormatError(name, '', 'SHA-256', f'{found}', f'{expected}, as before; {remedy}')


def _planned(criteria: Criteria, run: Any) -> tuple[Mapping[str, str | None], Any]:
    """Return a run as a plan has it, and what it can be read from again."""
    if (store := criteria.open_run(run)) is not None:
        return described(store.ranking.source, store.sha256), run  # which is opened again later
    if isinstance(run, str | os.PathLike):
        source = ByteSource(run)
        if not source.is_stored:
            expected = 'a file, which can be read again'
            raise ParameterError(f'resume: found {source.name} as a run, expected {expected}')
        with opening(source.name), source.open_stored() as file:
            digest = hashlib.file_digest(file, 'sha256').hexdigest()
        return described(Source(source.name, digest)), run
    table = criteria.read_run(run)
    planned = described(table.source, digest_of_rows(table))
    return planned, run if isinstance(run, Ranking) else table
