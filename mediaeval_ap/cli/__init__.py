"""The command ``mediaeval-ap``; each command imports what takes time when it is called."""

# Each module registers its commands with `main`, whose help lists them by `GROUPS`.
from mediaeval_ap.cli import (  # noqa: F401
    compare_and_report,
    evaluate,
    help,
    index_and_stream,
    judge,
    other_challenges,
)
from mediaeval_ap.cli.commands import main

__all__ = ['main']
