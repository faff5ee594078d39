"""Evaluate retrieval: average precision of runs at K, and which of them differ.

Begin with these calls. Each file may be a frame, and `help` of each call has more.

>>> from mediaeval_ap import AveragePrecision, compare, evaluate_trec, read_results, summary
>>> scorer = AveragePrecision('samples/reference.txt', K=[10])
>>> run = scorer.evaluate('samples/hypothesis.txt', ['nicolas_sarkozy'], name='run')
>>> frame, mean, table = run.to_frame(), run.means['MAP@10'], summary([run])
>>> text = run.to_json()  # to_json(path) writes a file, from which read_results(path) reads it
>>> comparison = compare('samples/scores.csv', baseline='old', fail_if_worse=0.01)
>>> gate, figure = comparison.gate.outcome, comparison.plot()
>>> diagnosis = scorer.explain('samples/hypothesis.txt', ['nicolas_sarkozy'])
>>> topics = evaluate_trec({'q1': {'d1': 1}}, {'q1': {'d1': 0.5}}, measures=['RR', 'nDCG@10'])
"""

# Each name of `__init__.pyi` is imported at its first use: the command handles signals before that.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = '0.2.0'


def __getattr__(name: str) -> 'Any':
    from lazy_loader import attach_stub

    find, _, names = attach_stub(__name__, __file__)
    return ['__version__', *names] if name == '__all__' else find(name)


def __dir__() -> list[str]:
    return __getattr__('__all__')
