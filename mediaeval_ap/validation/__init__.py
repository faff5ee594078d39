"""Validation: all problems of a submission at once, each with its line and a remedy."""

from mediaeval_ap.validation.problems import Finding, Findings, Problem
from mediaeval_ap.validation.submission import examine, validate

__all__ = ['Finding', 'Findings', 'Problem', 'examine', 'validate']
