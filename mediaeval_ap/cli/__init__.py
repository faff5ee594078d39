"""The command ``mediaeval-ap``; slow imports wait until a command is called."""

# Each of these modules adds its commands to `main`.
from mediaeval_ap.cli import (  # noqa: F401
    compare,
    evaluate,
    help,
    index_and_stream,
    judge,
    other_challenges,
    rank_and_explain,
    report,
    validate,
)
from mediaeval_ap.cli.commands import main

__all__ = ['main']
