"""What this package computes, in other libraries."""

from mediaeval_ap.compat import ir_measures

__all__ = ['ir_measures']
