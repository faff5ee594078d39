"""Pure kernels over arrays: from ranks to numbers, with no name of a person or a file."""

from mediaeval_ap.metrics.ranked_hits import average_precision_of_hits, precision_at_hits

__all__ = ['average_precision_of_hits', 'precision_at_hits']
