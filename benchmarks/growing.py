"""How times grow: exponents, which are slopes of least squares between logarithms, and a figure.

Needs the extra `report`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
from scipy.stats import linregress
from timing import duration

from mediaeval_ap.render import palette
from mediaeval_ap.render.figures import label_positions
from mediaeval_ap.render.page import drawn

HEADERS = ['', 'grows', 'at', 'time', 'exponent ± standard error']
WIDTH, HEIGHT = 440, 200
DECADE = 'datum.value >= 1 ? datum.value + " s" : format(datum.value * 1000, "~r") + " ms"'

Steps = dict[str, float]  # seconds of each step
Times = dict[tuple[int, int], Steps]  # of hypotheses and names
Batches = dict[int, float]  # seconds of a batch of so many queries


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


def panels(
    times: Times, kinds: Sequence[tuple[str, str, int]], at: tuple[int, int], of_batches: Batches
) -> list[Panel]:
    """Return growth with hypotheses and with names, beginning at these; and with queries there.

    A kind has a title, its step in the times, and the number of queries that shared it.
    """
    hypotheses, names = at
    by_hypotheses = {n: steps for (n, m), steps in sorted(times.items()) if m == names}
    by_names = {n: steps for (m, n), steps in sorted(times.items()) if m == hypotheses}
    batch = growth('whole batch', [*of_batches], [*of_batches.values()])
    there = f'{hypotheses:,} hypotheses'
    return [
        Panel('hypotheses', f'{names:,} names', [*by_hypotheses], lines(by_hypotheses, kinds)),
        Panel('names', there, [*by_names], lines(by_names, kinds)),
        Panel('queries', f'{there}, {names:,} names', [*of_batches], [batch]),
    ]


def lines(by_size: dict[int, Steps], kinds: Sequence[tuple[str, str, int]]) -> list[Growth]:
    """Return the growth of each kind that was measured at all sizes."""
    return [
        growth(what, [*by_size], [steps[step] / per for steps in by_size.values()])
        for what, step, per in kinds
        if all(step in steps for steps in by_size.values())
    ]


def growth(what: str, sizes: Sequence[int], seconds: list[float]) -> Growth:
    fit = linregress(np.log(sizes), np.log(seconds))
    return Growth(what, seconds, fit.slope, fit.stderr)


def rows_of(panel: Panel) -> Iterator[list[str]]:
    for line in panel.lines:
        sizes = ', '.join(f'{size:,}' for size in panel.sizes)
        seconds = ', '.join(map(duration, line.seconds))
        exponent = f'{line.exponent:.2f} ± {line.error:.2f}'
        yield [line.what, f'{panel.of}: {sizes}', panel.at, seconds, exponent]


def picture(all_panels: Sequence[Panel], words: str) -> str:
    """Draw a panel below the other, each line with its exponent at its end; return SVG."""
    seconds = [each for panel in all_panels for line in panel.lines for each in line.seconds]
    ends = [10 ** np.floor(np.log10(min(seconds))), 10 ** np.ceil(np.log10(max(seconds)))]
    whats = [*dict.fromkeys(line.what for panel in all_panels for line in panel.lines)]
    charts = [panel_chart(panel, whats, ends) for panel in all_panels]
    text, axis, grid = (palette.light(name) for name in ('text', 'axis', 'grid'))
    chart = alt.vconcat(*charts, spacing=24, background=palette.light('paper'))
    styled = (
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
    return str(drawn(styled, 'svg'))


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
    places = label_positions(last, (high - low) / HEIGHT)
    exponents = {line.what: line.exponent for line in panel.lines}
    return [
        {'what': what, 'text': f'{what} {exponents[what]:.2f}', 'seconds': 10**place}
        for what, (_, place) in places.items()
    ]
