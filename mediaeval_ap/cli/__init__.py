"""The command ``mediaeval-ap``; each command imports what takes time when it is called."""

# Each module registers its commands with `main`; the list of commands has them in this order.
from mediaeval_ap.cli import (  # noqa: F401, I001
    evaluate,
    kept_blocks,
    index,
    explain,
    stream,
    watch,
    validate,
    definitions,
    trec,
    discovery_2015,
    challenges,
    compare,
    report,
)
from mediaeval_ap.cli.errors import main

__all__ = ['main']
