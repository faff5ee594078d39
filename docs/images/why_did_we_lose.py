"""Draw the figure of the tutorial "Why did we lose?": the loss before and after a correction.

`python docs/images/why_did_we_lose.py` writes `why-did-we-lose.svg`.
"""

from pathlib import Path

from mediaeval_ap import AveragePrecision
from mediaeval_ap.render.page import render_chart

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / 'samples'
CORRECTED = {'nicolas_sarkosy': 'nicolas_sarkozy', 'francois_hoilande': 'francois_hollande'}


def chart():
    average_precision = AveragePrecision(SAMPLES / 'reference.txt')
    fields = [line.split() for line in (SAMPLES / 'hypothesis.txt').read_text().splitlines()]
    run = [(*shot, name, float(confidence)) for *shot, name, confidence in fields]
    corrected = [(*shot, CORRECTED.get(name, name), number) for *shot, name, number in run]
    before, after = (
        average_precision.explain(each, SAMPLES / 'queries.txt') for each in (run, corrected)
    )
    return before.plot.loss(after, names=['as it was', 'names corrected'])


if __name__ == '__main__':
    (HERE / 'why-did-we-lose.svg').write_text(render_chart(chart(), 'svg'))
