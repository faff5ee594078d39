"""The names of other libraries for what this package computes."""

from mediaeval_ap.compat import ir_measures

__all__ = ['ir_measures']
