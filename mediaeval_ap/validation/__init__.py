"""Validation: every problem of a submission at once, with its place and how to mend it."""

from mediaeval_ap.validation.problems import Finding, Findings, Problem
from mediaeval_ap.validation.submission import examine, validate

__all__ = ['Finding', 'Findings', 'Problem', 'examine', 'validate']
