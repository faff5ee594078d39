"""Score queries and metrics on many machines, by Dask (the extra ``cluster``)."""

from mediaeval_ap.cluster.computing import compute
from mediaeval_ap.cluster.evaluating import evaluate

__all__ = ['compute', 'evaluate']
