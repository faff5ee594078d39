"""Score queries and metrics on many machines, by Dask."""
