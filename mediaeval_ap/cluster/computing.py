"""Metrics of datasets, computed on a cluster: parts become accumulators, and these are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from copy import copy
from typing import TYPE_CHECKING, Any

from mediaeval_ap.cluster.tasks import check_client, results
from mediaeval_ap.metrics import Accumulator
from mediaeval_ap.metrics.computing import add_part, planned
from mediaeval_ap.metrics.dataset_parts import Part
from mediaeval_ap.progress import shows_progress, tracked

if TYPE_CHECKING:
    from distributed import Client


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
    ClusterError
        When the scheduler is gone, workers end again and again, or their versions of this package,
        Python or numpy are not those of the client.
    MissingExtraError
        When the extra ``cluster`` is not installed.

    Warns
    -----
    WaitingWarning
        While the scheduler or a worker does not answer; `NoWorkerWarning` while there is no worker.

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
        with closing(results(client, _accumulated, (copy(metric), column_of), parts)) as finished:
            for _ in tracked(parts, 'scoring', ' parts'):
                metric.merge(next(finished)[1])
    except BaseException:
        metric.reset()
        raise
    return metric.compute()


def _accumulated(
    metric_and_columns: tuple[Accumulator, Mapping[str, str]], part: Part
) -> Accumulator:
    """Return a metric of the rows of a part."""
    metric = copy(metric_and_columns[0])
    add_part(metric, part, metric_and_columns[1])
    return metric
