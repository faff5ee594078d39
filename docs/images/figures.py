"""Draw the figures of `docs/figures.md` from the samples: a leaderboard, and the parts of the loss.

`python docs/images/figures.py` writes `leaderboard.svg` and `loss.svg`.
"""

from pathlib import Path

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.report.vega import save

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / 'samples'
CONFIDENT = 0.5
FEW = 1000  # resamples and permutations: enough for pictures


def runs():
    """The sample run, its confident rows, and its rows with one confidence for all."""
    fields = [line.split() for line in (SAMPLES / 'hypothesis.txt').read_text().splitlines()]
    whole = [(*row, float(confidence)) for *row, confidence in fields]
    confident = [row for row in whole if row[-1] >= CONFIDENT]
    flat = [(*row[:-1], CONFIDENT) for row in whole]
    return {'whole': whole, 'confident': confident, 'flat': flat}


def charts():
    average_precision = AveragePrecision(SAMPLES / 'reference.txt', K=[100], definition='trec')
    evaluations = {name: average_precision.evaluate(run) for name, run in runs().items()}
    comparison = compare(evaluations, correction='tukey', resamples=FEW, permutations=FEW)
    first, *others = (average_precision.explain(run) for run in runs().values())
    loss = first.plot.loss(*others, names=list(runs()))
    return {'leaderboard': comparison.plot.leaderboard(), 'loss': loss}


if __name__ == '__main__':
    for name, chart in charts().items():
        save(chart, HERE / f'{name}.svg')
