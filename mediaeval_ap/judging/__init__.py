"""Judging: what an incomplete reference does to runs."""
