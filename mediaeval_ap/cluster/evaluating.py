"""Runs scored on a cluster: blocks of queries are tasks, and only their results come back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mediaeval_ap.average_precision import AveragePrecision
from mediaeval_ap.batches.block_files import Block
from mediaeval_ap.batches.block_folder import BlockFolder
from mediaeval_ap.batches.job import Job, score_block
from mediaeval_ap.batches.plan import BLOCK_QUERIES
from mediaeval_ap.batches.resuming import KeptRun
from mediaeval_ap.cluster.tasks import results
from mediaeval_ap.errors import ReadError, warn_caller
from mediaeval_ap.evaluation.whole_run import names_asked, read_counted, with_warnings
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
        As `AveragePrecision.evaluate`.

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
    >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
    >>> with LocalCluster(processes=False, dashboard_address=':0') as local:
    ...     with Client(local) as client:
    ...         evaluation = cluster.evaluate(average_precision, store, client=client)
    >>> evaluation.map.round(3).tolist()
    [0.185]
    """
    store = _store(hypothesis)
    if resume is not None:
        (kept,) = average_precision._keep([store], queries, measures, resume)
        kept.compute(score=scorer(client, kept, store))
        evaluation = kept.evaluation()
    else:
        evaluation = _evaluation(average_precision, store, queries, client, measures)
    warn_caller(evaluation.warnings)
    return evaluation


def scorer(client: Client, kept: KeptRun, store: Store) -> Callable[[Sequence[Block]], None]:
    """Return what has the workers score blocks of a run, and write each into its folder."""
    job = _job(kept.criteria, store, kept.queries, kept.measures)
    return partial(_score_blocks, client, job)


def _evaluation(
    average_precision: AveragePrecision, store: Store, queries: Any, client: Client, measures: Any
) -> Evaluation:
    criteria = average_precision._criteria
    parsed = average_precision._measures(measures)
    asked = criteria.read_queries(queries)
    run = read_counted(criteria, store)
    names, about_queries = names_asked(criteria, asked)
    starts = range(0, max(len(names), 1), BLOCK_QUERIES)
    blocks = [names[start : start + BLOCK_QUERIES] for start in starts]
    job = _job(criteria, store, asked, parsed)
    done: dict[int, Evaluation] = {}
    with (
        closing(results(client, score_block, job, blocks)) as finished,
        Bar('scoring', len(names), ' queries') as bar,
    ):
        for number, evaluation in finished:
            done[number] = evaluation
            bar.add(len(evaluation.queries))
    whole = Evaluation.concat(done[number] for number in range(len(blocks)))
    return with_warnings(whole, criteria, run.warnings_with(about_queries))


def _job(criteria: Any, store: Store, queries: Table | None, measures: Sequence[Any]) -> Job:
    return Job(
        criteria,
        os.path.abspath(store.path),  # a worker has another working directory
        store.sha256,
        store.ranking.source,
        None if queries is None else queries.source,
        tuple(map(str, measures)),
    )


def _score_blocks(client: Client, job: Job, blocks: Sequence[Block]) -> None:
    seen = [replace(block, folder=os.path.abspath(block.folder)) for block in blocks]
    with (
        closing(results(client, _score_and_write, job, seen)) as finished,
        Bar('scoring', len(blocks), ' blocks') as bar,
    ):
        for _ in finished:
            bar.add()


def _score_and_write(job: Job, block: Block) -> None:
    plan = BlockFolder.open(block.folder).plan  # refuses a folder that is not the client's
    if block.key not in map(plan.key, range(len(plan.runs))):
        raise ReadError(block.folder, 'holds another evaluation than the folder of the client')
    block.write(score_block(job, block.names))


def _store(run: Any) -> Store:
    try:
        return run if isinstance(run, Store) else open_store(run)
    except ReadError as error:
        remedy = 'a cluster scores stores: mediaeval-ap index RUN -o RUN.store'
        raise ReadError(error.name, f'{error.reason}; {remedy}') from error
