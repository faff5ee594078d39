"""Draw figures of the docs from the samples: leaderboards, the parts of the loss, bounds.

`python docs/images/figures.py` writes `leaderboard.svg` and `loss.svg`, which `docs/report.md`
shows, `is-my-system-better.svg`, which the tutorial of that name shows, and `pool.svg`, which
`docs/judging.md` shows.
"""

from pathlib import Path

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.render.page import render_chart

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / 'samples'
CONFIDENT = 0.5
SURE = 0.3


def sample_run():
    fields = [line.split() for line in (SAMPLES / 'hypothesis.txt').read_text().splitlines()]
    return [(*row, float(confidence)) for *row, confidence in fields]


def better():
    """The leaderboard of the sample run, its rounded confidences, and its sure rows."""
    run = sample_run()
    runs = {
        'ours': run,
        'rounded': [(*row, round(confidence, 1)) for *row, confidence in run],
        'sure': [row for row in run if row[-1] >= SURE],
    }
    reference = SAMPLES / 'reference.txt'
    evaluate = AveragePrecision(reference, K=[10], definition='trec').evaluate
    results = {name: evaluate(rows) for name, rows in runs.items()}
    comparison = compare(results, baseline='ours')
    return comparison.plot.leaderboard()


def runs():
    """The sample run, its confident rows, and its rows with one confidence for all."""
    whole = sample_run()
    confident = [row for row in whole if row[-1] >= CONFIDENT]
    flat = [(*row[:-1], CONFIDENT) for row in whole]
    return {'whole': whole, 'confident': confident, 'flat': flat}


def pool():
    """The bounds of the sample run, its confident rows and its last ones, four fifths judged."""
    reference, run = (SAMPLES / 'reference.txt').read_text().splitlines(), sample_run()
    shots = sorted({tuple(row.split()[:3]) for row in reference} | {row[:3] for row in run})
    judged = [shot for number, shot in enumerate(shots, 1) if number % 5]
    settings = {'K': [100], 'definition': 'trec', 'judged': judged, 'drop_unjudged_rows': True}
    average_precision = AveragePrecision(SAMPLES / 'reference.txt', **settings)
    confident = [row for row in run if row[-1] >= CONFIDENT]
    found = average_precision.pool({'a_all': run, 'a_sure': confident, 'b_late': run[-9000:]})
    return found.plot.leaderboard()


def charts():
    average_precision = AveragePrecision(SAMPLES / 'reference.txt', K=[100], definition='trec')
    evaluations = {name: average_precision.evaluate(run) for name, run in runs().items()}
    comparison = compare(evaluations)
    first, *others = (average_precision.explain(run) for run in runs().values())
    loss = first.plot.loss(*others, names=list(runs()))
    leaderboard = comparison.plot.leaderboard()
    drawn_here = {'leaderboard': leaderboard, 'loss': loss, 'pool': pool()}
    return {**drawn_here, 'is-my-system-better': better()}


if __name__ == '__main__':
    for name, chart in charts().items():
        (HERE / f'{name}.svg').write_text(render_chart(chart, 'svg'), encoding='utf-8')
