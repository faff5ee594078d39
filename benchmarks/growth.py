"""How time grows with hypotheses, names and queries: `python benchmarks/growth.py`.

Exponents are slopes of least squares between logarithms. Needs the extras `insight` and `report`.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import altair as alt
import machine
import numpy as np
from campaign import large_campaign
from scipy.stats import linregress
from timing import Taken, duration, in_turns, median_taken

from mediaeval_ap.report import palette
from mediaeval_ap.report.figure_lines import label_places
from mediaeval_ap.report.vega import to_svg

HYPOTHESES = (100_000, 1_000_000, 10_000_000)
NAMES = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = (1, 10, 100, 1_000)
FIXED_NAMES = 100_000  # where hypotheses or queries grow
BATCH = 100  # queries of a batch where hypotheses or names grow
REPEATS = 3
WIDTH, HEIGHT = 440, 200
DECADE = 'datum.value >= 1 ? datum.value + " s" : format(datum.value * 1000, "~r") + " ms"'

Times = dict[tuple[int, int], dict[str, float]]  # of hypotheses and names: seconds of each step


class Growth(NamedTuple):
    """Seconds of one kind of work where one thing grows."""

    what: str
    seconds: list[float]
    exponent: float
    error: float  # standard error of the exponent


class Panel(NamedTuple):
    """All that grows with one thing."""

    of: str
    at: str  # what stays the same
    sizes: Sequence[int]
    lines: list[Growth]


def growth(what: str, sizes: Sequence[int], seconds: list[float]) -> Growth:
    fit = linregress(np.log(sizes), np.log(seconds))
    return Growth(what, seconds, fit.slope, fit.stderr)


def steps_at(n_hypotheses: int, n_names: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of each step, of processes of their own."""
    data = large_campaign(folder, n_hypotheses, n_names)
    with open(data / 'queries.txt') as file:
        n_queries = sum(1 for _ in file)  # of few names, there are fewer than 1,000
    steps = ['send', *(f'batch={n}' for n in QUERIES if n <= n_queries)]
    script = Path(__file__).with_name('speed_steps.py')
    command = [sys.executable, script, 'ranking', data, *steps]
    runs = [json.loads(run.printed) for run in in_turns({'': command}, REPEATS)['']]
    taken = {step: median_taken([Taken(*run[step][0]) for run in runs]) for step in runs[0]}
    return {step: each.seconds for step, each in taken.items()}


def measure(folder: Path, smaller: int) -> Times:
    times: Times = {}
    for n_hypotheses in HYPOTHESES:
        for n_names in NAMES:
            if n_names <= n_hypotheses:
                at = n_hypotheses // smaller, n_names // smaller
                times[at] = steps_at(*at, folder)
                print(*at, *(f'{step} {duration(each)}' for step, each in times[at].items()))
    return times


def panels(times: Times, smaller: int) -> list[Panel]:
    """Return growth with hypotheses, with names, and with queries."""
    most, names = HYPOTHESES[-1] // smaller, FIXED_NAMES // smaller
    by_hypotheses = {n: times[n, names] for n in (n // smaller for n in HYPOTHESES)}
    by_names = {n: times[most, n] for n in (n // smaller for n in NAMES)}
    of_queries = times[most, names]
    by_queries = [n for n in QUERIES if f'batch={n}' in of_queries]
    batch = [of_queries[f'batch={n}'] for n in by_queries]
    return [
        Panel('hypotheses', f'{names:,} names', [*by_hypotheses], [*kinds(by_hypotheses)]),
        Panel('names', f'{most:,} hypotheses', [*by_names], [*kinds(by_names)]),
        Panel(
            'queries',
            f'{most:,} hypotheses, {names:,} names',
            by_queries,
            [growth('whole batch', by_queries, batch)],
        ),
    ]


def kinds(by_size: dict[int, dict[str, float]]) -> Iterator[Growth]:
    sizes = [*by_size]
    for what, step, per in [
        ('read', 'read', 1),
        ('index', 'index', 1),
        ('one send', 'send', 1),
        ('query of a batch', f'batch={BATCH}', BATCH),
    ]:
        yield growth(what, sizes, [steps[step] / per for steps in by_size.values()])


def rows_of(panel: Panel) -> Iterator[list[str]]:
    for line in panel.lines:
        sizes = ', '.join(f'{size:,}' for size in panel.sizes)
        seconds = ', '.join(map(duration, line.seconds))
        exponent = f'{line.exponent:.2f} ± {line.error:.2f}'
        yield [line.what, f'{panel.of}: {sizes}', panel.at, seconds, exponent]


def draw(all_panels: Sequence[Panel]) -> alt.VConcatChart:
    """Draw a panel below the other, each line with its exponent at its end."""
    seconds = [each for panel in all_panels for line in panel.lines for each in line.seconds]
    ends = [10 ** np.floor(np.log10(min(seconds))), 10 ** np.ceil(np.log10(max(seconds)))]
    whats = [*dict.fromkeys(line.what for panel in all_panels for line in panel.lines)]
    charts = [panel_chart(panel, whats, ends) for panel in all_panels]
    text, axis, grid = (palette.light(name) for name in ('text', 'axis', 'grid'))
    words = 'Time by number of hypotheses, names and queries, with fitted exponents'
    chart = alt.vconcat(*charts, spacing=24, background=palette.light('paper'))
    styled: alt.VConcatChart = (
        chart.properties(padding=8, description=words)
        .configure(font='sans-serif')
        .configure_axis(
            labelColor=text,
            titleColor=text,
            domainColor=axis,
            tickColor=axis,
            gridColor=grid,
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight='normal',
        )
        .configure_title(color=text, fontSize=13, fontWeight='normal', anchor='start')
        .configure_view(stroke=None)
    )
    return styled


def panel_chart(
    panel: Panel, whats: Sequence[str], ends: Sequence[float]
) -> alt.LayerChart | alt.FacetChart:
    rows = [
        {'what': line.what, 'size': size, 'seconds': seconds}
        for line in panel.lines
        for size, seconds in zip(panel.sizes, line.seconds, strict=True)
    ]
    decades = [10.0**n for n in range(round(np.log10(ends[0])), round(np.log10(ends[1])) + 1)]
    y = alt.Y(
        'seconds:Q',
        title='time',
        scale=alt.Scale(type='log', domain=list(ends)),
        axis=alt.Axis(values=decades, labelExpr=DECADE),
    )
    x = alt.X(
        'size:Q',
        title=panel.of,
        scale=alt.Scale(type='log', domain=[panel.sizes[0], panel.sizes[-1]]),
        axis=alt.Axis(values=list(panel.sizes), format='~s', grid=False, labelFlush=False),
    )
    colours = alt.Scale(domain=list(whats), range=palette.of_runs(len(whats)))
    colour = alt.Color('what:N', scale=colours, legend=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour)
    texts = alt.Chart(alt.InlineData(values=end_labels(panel, ends))).encode(
        x=alt.value(WIDTH), y=alt.Y('seconds:Q', title='time'), text='text:N'
    )
    layers = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=40, opacity=1),
        texts.mark_text(align='left', dx=8, fontSize=12, color=palette.light('text')),
    ]
    return alt.layer(*layers).properties(
        width=WIDTH, height=HEIGHT, title=f'Growth with {panel.of}, at {panel.at}'
    )


def end_labels(panel: Panel, ends: Sequence[float]) -> list[dict[str, str | float]]:
    """Return the words at the ends of the lines, none over another one."""
    low, high = np.log10(ends)
    last = {line.what: float(np.log10(line.seconds[-1])) for line in panel.lines}
    places = label_places(last, (high - low) / HEIGHT)
    exponents = {line.what: line.exponent for line in panel.lines}
    return [
        {'what': what, 'text': f'{what} {exponents[what]:.2f}', 'seconds': 10**place}
        for what, (_, place) in places.items()
    ]


def main(folder: Path, smaller: int) -> None:
    about = f'Load of the machine before: {os.getloadavg()[0]:.1f} (mean of one minute).'
    found = panels(measure(folder, smaller), smaller)
    rows = [row for panel in found for row in rows_of(panel)]
    picture = to_svg(draw(found))
    if smaller > 1:
        print(*rows, sep='\n')
        (folder / 'growth.svg').write_text(picture, encoding='utf-8')
        return
    (machine.RESULTS / 'growth.svg').write_text(picture, encoding='utf-8')
    headers = ['', 'grows', 'at', 'time', 'exponent ± standard error']
    machine.write('growth', headers, rows, ['scipy'], [about])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--folder', type=Path, metavar='DIR', help='where made data is kept')
    parser.add_argument('--smaller', type=int, default=1, metavar='N', help='divide sizes by this')
    given = parser.parse_args()
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        main(given.folder, given.smaller)
    else:
        with TemporaryDirectory() as name:
            main(Path(name), given.smaller)
