"""Score a run against a reference, one query at a time or many at once."""
