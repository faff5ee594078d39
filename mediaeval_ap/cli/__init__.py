"""The command ``mediaeval-ap``: arguments, progress and exit codes.

Whatever it does, a Python session can do with the same words. Data goes to standard output,
everything else to standard error. Exit codes: 0, all is well; 1, the data is wrong; 2, the usage
is; 130, interrupted; 143, terminated.

Modules that cost time to import are imported by the command that needs them.
"""

from mediaeval_ap.cli import challenges, evaluate, evaluate_2015, live, trec, validate
from mediaeval_ap.cli.errors import main

__all__ = ['challenges', 'evaluate', 'evaluate_2015', 'live', 'main', 'trec', 'validate']
