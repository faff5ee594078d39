"""The command ``mediaeval-ap``; each command imports what takes time when it is called."""

# Each module registers its commands with `main`; the list of commands has them in this order.
from mediaeval_ap.cli import (  # noqa: F401, I001
    evaluate,
    stores,
    explain,
    stream_and_watch,
    validate,
    trec_and_2015,
    challenges,
    compare_and_report,
)
from mediaeval_ap.cli.commands import main

__all__ = ['main']
