"""Lines of a user, which type checkers accept; nothing runs them."""

from typing import TYPE_CHECKING

import pandas

from mediaeval_ap import AveragePrecision, Evaluation, compare, read_results, summary

if TYPE_CHECKING:
    average_precision = AveragePrecision('reference.txt', K=[10, 100])
    a = average_precision.evaluate('a.txt', measures=['RR'])
    b = average_precision.evaluate(pandas.DataFrame(), queries=['ann'])
    first: float = a.map[0]
    frame: pandas.DataFrame = summary({'a': a, 'b': b})
    comparison = compare(a, b)
    comparison = compare([a, b], baseline='a')
    comparison = compare({'a': a, 'b': [b]}, fail_if_worse=0.01)
    comparison = compare({('a', 1): a, ('a', 2): b})
    comparison = compare('scores.csv', range=(0, 1))
    comparison = compare(frame, frame, also={'trec': [a, b]})
    text: str = a.to_json() + a.to_csv(per_query=True) + comparison.to_latex() + a.to_markdown()
    a.to_json('a.json')
    evaluations: list[Evaluation] = read_results('a.json', Evaluation)
    means = [evaluation.map[0] + evaluation.ap.mean() for evaluation in evaluations]
    anything = read_results('a.json')[0].map
    outcome: str = comparison.gate.outcome if comparison.gate else ''
    comparison.plot.leaderboard().save('board.png')
    comparison.plot().save('board.png')
    diagnosis = average_precision.explain('a.txt', k=10)
    lost: float = diagnosis.of('ann').parts['absent'] + diagnosis.mean_parts['absent']
