"""Average precision of this package as measures of other libraries."""

from mediaeval_ap.compat import ir_measures

__all__ = ['ir_measures']
