"""The command ``mediaeval-ap``; each command imports what takes time when it is called."""

# Each module registers its commands with `main`.
from mediaeval_ap.cli import challenges, definitions, evaluate, stream, trec, validate, watch  # noqa: F401
from mediaeval_ap.cli.errors import main

__all__ = ['main']
