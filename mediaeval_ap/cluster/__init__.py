"""Score queries and metrics on many machines, by Dask."""

from mediaeval_ap.cluster.computing import compute

__all__ = ['compute']
