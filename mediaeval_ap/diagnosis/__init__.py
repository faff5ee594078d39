"""Diagnosis of one run: where average precision was lost, and what ties decide."""
