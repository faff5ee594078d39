"""Average precision of retrieval by name: who is in which shot, and how sure.

Everything public is here; nothing is imported before it is used.
"""

TYPE_CHECKING = False  # as of typing, without its import: the command takes signals after this one
if TYPE_CHECKING:
    from typing import Any

    from mediaeval_ap import challenges, definitions, errors, metrics, tables
    from mediaeval_ap.definitions import Definition
    from mediaeval_ap.discovery_2015 import PersonDiscovery2015
    from mediaeval_ap.evaluation import Evaluation, Score
    from mediaeval_ap.evaluation_2015 import Evaluation2015
    from mediaeval_ap.evaluator import AveragePrecision
    from mediaeval_ap.live import Live, Point
    from mediaeval_ap.session import Answer, Session
    from mediaeval_ap.trec import evaluate_trec
    from mediaeval_ap.validation import Problem, validate

__all__ = [
    'Answer',
    'AveragePrecision',
    'Definition',
    'Evaluation',
    'Evaluation2015',
    'Live',
    'PersonDiscovery2015',
    'Point',
    'Problem',
    'Score',
    'Session',
    '__version__',
    'challenges',
    'definitions',
    'errors',
    'evaluate_trec',
    'metrics',
    'tables',
    'validate',
]

__version__ = '0.1.0'

_HOME = {
    'Answer': 'session',
    'AveragePrecision': 'evaluator',
    'Definition': 'definitions',
    'Evaluation': 'evaluation',
    'Evaluation2015': 'evaluation_2015',
    'Live': 'live',
    'PersonDiscovery2015': 'discovery_2015',
    'Point': 'live',
    'Problem': 'validation',
    'Score': 'evaluation',
    'Session': 'session',
    'evaluate_trec': 'trec',
    'validate': 'validation',
}


def __getattr__(name: str) -> 'Any':
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)
    if name in __all__:
        return import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return __all__
