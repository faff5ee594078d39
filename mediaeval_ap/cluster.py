"""Score queries and metrics on many machines, by Dask (the extra ``cluster``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from typing import TYPE_CHECKING, Any

from mediaeval_ap.average_precision import AveragePrecision
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.execute.dask_tasks import check_client, check_stores, compute_on_workers, results
from mediaeval_ap.execute.evaluating import ask, in_blocks
from mediaeval_ap.metrics import Accumulator
from mediaeval_ap.metrics.datasets import DatasetPart, add_part, planned
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.inputs import Names

if TYPE_CHECKING:
    from distributed import Client


__all__ = ['compute', 'evaluate']


@shows_progress
def evaluate(
    average_precision: AveragePrecision,
    hypothesis: Any,
    queries: Names | None = None,
    *,
    client: Client,
    measures: str | Iterable[str] = (),
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
    name: str | None = None,
) -> Evaluation:
    """Score a run on many queries, on the workers of a Dask cluster.

    Parameters
    ----------
    average_precision : AveragePrecision
        What to score the run by.
    hypothesis : str, path-like or Store
        A store, as `mediaeval_ap.index` writes it, on a path that all workers see.
    queries, measures, progress, name
        As for `AveragePrecision.evaluate`. Queries are read here, not by workers.
    client : distributed.Client
        A client that is connected to the scheduler; not an asynchronous one.
    resume : str or path-like, optional
        A folder that all workers see, which keeps each finished block of queries. What is there
        already is not computed again.

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
    asked = ask(average_precision._criteria, queries, measures)
    check_stores([hypothesis])
    runs = in_blocks(asked, [hypothesis], resume, [check_name(name)])
    compute_on_workers(runs, client)
    evaluation = runs[0].evaluation()
    warn_caller(evaluation.warnings)
    return evaluation


@shows_progress
def compute(
    metric: Accumulator,
    dataset: Any,
    *,
    client: Client,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    progress: bool = False,
) -> float:
    """Compute a metric of all rows of a Parquet dataset on the workers of a Dask cluster.

    Parameters
    ----------
    metric, dataset, columns, progress
        As for `mediaeval_ap.metrics.compute`. All workers have to see the dataset at the same
        place.
    client : distributed.Client
        A client that is connected to the scheduler; not an asynchronous one.

    Returns
    -------
    float
        What ``metric.compute()`` returns after one update with all rows, to the last bit, however
        many workers there are, and whichever of them die.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        As for `mediaeval_ap.metrics.compute`; `ReadError` also when a worker does not see a file,
        `FormatError` when it sees another one, `ParameterError` when a metric cannot be merged.
    ClusterError, MissingExtraError
        As for `evaluate`; when the extra ``cluster`` is not installed.

    Warns
    -----
    WaitingWarning
        As `evaluate`.

    Notes
    -----
    A task reads row groups of one file, of 64 MiB together or one alone, a few thousand rows at a
    time. Only accumulators come back.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow
    >>> from distributed import Client
    >>> from pyarrow import parquet
    >>> from mediaeval_ap import cluster
    >>> from mediaeval_ap.metrics import MeanAveragePrecision
    >>> users = pyarrow.table({'bought': [['a'], ['a', 'b']], 'listed': [['a'], ['x', 'a']]})
    >>> metric, columns = MeanAveragePrecision(k=12), {'y_true': 'bought', 'y_pred': 'listed'}
    >>> with TemporaryDirectory() as folder:
    ...     parquet.write_table(users, f'{folder}/0.parquet')
    ...     with Client(processes=False, dashboard_address=':0') as client:
    ...         cluster.compute(metric, folder, client=client, columns=columns), metric.n_users
    (0.625, 2)
    """
    check_client(client)
    parts, column_of = planned(metric, dataset, columns)
    metric.reset()
    metric.merge(metric)  # refused before anything is computed if it is refused at all
    try:
        shared = copy(metric), column_of
        with closing(results(client, _accumulated, shared, parts)) as finished:
            for _ in tracked(parts, 'scoring', ' parts'):
                metric.merge(next(finished)[1])
    except BaseException:
        metric.reset()
        raise
    return metric.compute()


def _accumulated(shared: tuple[Accumulator, Mapping[str, str]], part: DatasetPart) -> Accumulator:
    metric = copy(shared[0])
    add_part(metric, part, shared[1])
    return metric
