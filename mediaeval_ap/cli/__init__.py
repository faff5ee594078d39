"""The command ``mediaeval-ap``: arguments, progress and exit codes.

Data goes to standard output, everything else to standard error. A Python session can do whatever
the command does. Modules that take time to import are imported by the command that needs them.
"""

# Each module registers its commands with `main`.
from mediaeval_ap.cli import challenges, definitions, evaluate, stream, trec, validate, watch  # noqa: F401
from mediaeval_ap.cli.errors import main

__all__ = ['main']
