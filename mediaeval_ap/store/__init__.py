"""Store a run on disk, ranked once, as columns that processes share."""
