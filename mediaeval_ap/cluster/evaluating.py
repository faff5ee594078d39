"""Runs scored on a cluster: blocks of queries are tasks, and only their results come back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mediaeval_ap.average_precision import AveragePrecision
from mediaeval_ap.cluster.tasks import results
from mediaeval_ap.errors import DataWarning, ReadError, printable, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import (
    names_asked,
    read_counted,
    with_skipped,
    with_warnings,
)
from mediaeval_ap.execute.block_files import Block
from mediaeval_ap.execute.block_folder import BlockFolder
from mediaeval_ap.execute.job import Job, score_block
from mediaeval_ap.execute.plan import BLOCK_QUERIES
from mediaeval_ap.execute.resuming import KeptRun
from mediaeval_ap.progress import Bar, shows_progress
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.store.store import Store, open_store
from mediaeval_ap.tables import Table

if TYPE_CHECKING:
    from distributed import Client


@shows_progress
def evaluate(
    average_precision: AveragePrecision,
    hypothesis: Any,
    queries: Any = None,
    *,
    client: Client,
    measures: str | Iterable[str] = (),
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Evaluation:
    """Score a run on many queries, on the workers of a Dask cluster.

    Parameters
    ----------
    average_precision : AveragePrecision
        What to score the run by.
    hypothesis : str, path-like or Store
        A store, as `mediaeval_ap.index` writes it, on a path that all workers see.
    queries
        As `AveragePrecision.evaluate` takes them. They are read here, not by workers.
    client : distributed.Client
        A client that is connected to the scheduler; not an asynchronous one.
    measures : str or iterable of str
        As `AveragePrecision.evaluate` takes them.
    resume : str or path-like, optional
        A folder that all workers see. Each block of queries that is finished is kept there by the
        worker that computed it. What is there already is not computed again.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    Evaluation
        Equal, bit for bit, to that of `AveragePrecision.evaluate`.

    Raises
    ------
    ClusterError
        When the scheduler is gone, workers end again and again, or their versions of this package,
        Python or numpy are not those of the client.
    ReadError, FormatError
        When the store or the queries cannot be read, here or on a worker; when a worker sees
        another store on the path.
    ParameterError, MissingExtraError
        When an argument is not valid; when the extra ``trec`` that measures need is not installed.

    Warns
    -----
    DataWarning
        As `AveragePrecision.evaluate`; `NoWorkerWarning` while there is no worker;
        `WaitingWarning` while the scheduler or a worker does not answer.

    Notes
    -----
    Tasks of a worker that ends are given to others. A worker may join at any time; without workers
    the call waits. Tasks are cancelled when it ends by an error or an interrupt.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from distributed import Client, LocalCluster
    >>> from mediaeval_ap import AveragePrecision, cluster, index
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.store')
    >>> store = index('samples/hypothesis.txt', path)
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10], definition='trec')
    >>> with LocalCluster(processes=False, dashboard_address=':0') as local:
    ...     with Client(local) as client:
    ...         evaluation = cluster.evaluate(average_precision, store, client=client)
    >>> evaluation.map.round(3).tolist()
    [0.382]
    """
    if resume is None:
        (evaluation,) = evaluate_runs(average_precision, [hypothesis], queries, measures, client)
    else:
        check_stores([hypothesis])
        (kept,) = average_precision._keep([hypothesis], queries, measures, resume)
        compute_kept([kept], client)
        evaluation = kept.evaluation()
    warn_caller(evaluation.warnings)
    return evaluation


def evaluate_runs(
    average_precision: AveragePrecision,
    runs: Sequence[Any],
    queries: Any,
    measures: str | Iterable[str],
    client: Client,
) -> list[Evaluation]:
    """Score runs side by side; their warnings are not given out."""
    criteria, parsed = average_precision._criteria, average_precision._measures(measures)
    asked = criteria.read_queries(queries)
    names, n_skipped, about_queries = names_asked(criteria, asked)
    check_stores(runs)
    jobs: list[Job] = []
    found: list[list[DataWarning]] = []
    for store in map(_store, runs):  # one open at a time: each has many files
        found.append(read_counted(criteria, store).warnings_with(about_queries))
        jobs.append(_job(criteria, store, asked, parsed))
        del store
    starts = range(0, max(len(names), 1), BLOCK_QUERIES)
    blocks = [names[start : start + BLOCK_QUERIES] for start in starts]
    tasks = [(run, block) for run in range(len(jobs)) for block in blocks]
    done = _done(client, _score, jobs, tasks, '--resume DIR (resume=) keeps finished blocks')
    evaluations = []
    for about_run, first in zip(found, range(0, len(done), len(blocks)), strict=True):
        whole = Evaluation.concat(done[first : first + len(blocks)])
        whole = with_skipped(whole, n_skipped)
        evaluations.append(with_warnings(whole, criteria, about_run))
    return evaluations


def compute_kept(runs: Sequence[KeptRun], client: Client) -> None:
    """Have the workers compute the blocks of runs that are missing, each into its folder."""
    jobs = []
    for kept in runs:  # one open at a time: each has many files
        jobs.append(_job(kept.criteria, kept.given, kept.queries, kept.measures))
        kept.forget_run()
    tasks = [
        (run, replace(block, folder=os.path.abspath(block.folder)))
        for run, kept in enumerate(runs)
        for block in kept.folder.missing(kept.number, kept.names)[0]
    ]
    if tasks:
        go_on = 'call the same again with another scheduler'
        kept_in = f'finished blocks are in {printable(runs[0].folder.path)}'
        _done(client, _score_and_write, jobs, tasks, f'{kept_in}: {go_on}')


def _done(
    client: Client,
    function: Callable[[Any, Any], Any],
    jobs: Sequence[Job],
    tasks: Sequence[tuple[int, Any]],
    go_on: str,
) -> list[Any]:
    """Return what the workers make of the tasks, in their order."""
    done: dict[int, Any] = {}
    with (
        closing(results(client, function, jobs, tasks, go_on)) as finished,
        Bar('scoring', len(tasks), ' blocks') as bar,
    ):
        for number, result in finished:
            done[number] = result
            bar.add()
    return [done[number] for number in range(len(tasks))]


def _score(jobs: Sequence[Job], task: tuple[int, Sequence[str]]) -> Evaluation:
    run, names = task
    return score_block(jobs[run], names)


def _score_and_write(jobs: Sequence[Job], task: tuple[int, Block]) -> None:
    run, block = task
    plan = BlockFolder.open(block.folder).plan  # refuses a folder that is not the client's
    if block.key not in plan.keys:
        raise ReadError(block.folder, 'holds another evaluation than the folder of the client')
    block.write(score_block(jobs[run], block.names))


def _job(criteria: Criteria, store: Store, queries: Table | None, measures: Sequence[Any]) -> Job:
    return Job(
        criteria,
        store.folder,  # absolute: a worker has another working directory
        store.sha256,
        store.ranking.source,
        None if queries is None else queries.source,
        tuple(map(str, measures)),
    )


def check_stores(runs: Iterable[Any]) -> None:
    """Refuse runs that are no stores, which workers would have to read again and again."""
    for run in runs:
        _store(run)


def _store(run: Any) -> Store:
    try:
        return run if isinstance(run, Store) else open_store(run)
    except ReadError as error:
        remedy = 'a cluster scores stores: mediaeval-ap index RUN -o RUN.store'
        raise ReadError(error.name, f'{error.reason}; {remedy}') from error
