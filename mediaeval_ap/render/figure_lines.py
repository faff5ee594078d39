"""Figures of lines: means against the cutoff or the length of the run, precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import altair as alt

from mediaeval_ap.errors import printable
from mediaeval_ap.render import palette
from mediaeval_ap.render.figure_parts import (
    DIGITS,
    HEIGHT,
    Column,
    Row,
    colours_of,
    drawn_names,
    finish,
    layered,
    number,
    ticks,
)

_LINE = 14  # pixels between labels of lines
_END = 132  # pixels of labels at the ends of lines
_KEPT = 10, 7  # characters of a long name, from both ends: names of runs often differ at the end


def map_by_k(
    runs: Sequence[str], cutoffs: Column, maps: Sequence[Column], *, metric: str = 'MAP'
) -> alt.LayerChart:
    """Draw MAP against the cutoff, a line for each run with its name at the end."""
    labels = [str(cutoff) for cutoff in cutoffs]
    scale = alt.Scale(type='point', domain=labels, padding=0.1)
    x = alt.X(
        'x:O', title='K', scale=scale, sort=None, axis=alt.Axis(labelAngle=0, labelOverlap=True)
    )
    return _lines(x, alt.Tooltip('x:N', title='K'), labels, runs, maps, f'{metric}@K')


def watch(lines: Column, metrics: Sequence[str], maps: Sequence[Column]) -> alt.LayerChart:
    """Draw means as the run grew, a line for each metric with its name at the end."""
    scale = alt.Scale(zero=False, nice=False)
    x = alt.X('x:Q', title='hypotheses', scale=scale, axis=ticks('d'))
    at = alt.Tooltip('x:Q', title='hypotheses', format='d')
    return _lines(x, at, [int(each) for each in lines], metrics, maps, 'MAP')


def _lines(
    x: alt.X,
    at: alt.Tooltip,
    places: Column,
    names: Sequence[str],
    values: Sequence[Column],
    title: str,
) -> alt.LayerChart:
    """Draw lines over common places, each with its name at the end."""
    names = drawn_names(names)
    rows: list[Row] = [
        {'series': name, 'x': place, 'value': number(value)}
        for name, line in zip(names, values, strict=True)
        for place, value in zip(places, line, strict=True)
    ]
    low, high = _domain([row['value'] for row in rows if row['value'] is not None])
    y = alt.Y('value:Q', title=title, scale=alt.Scale(domain=[low, high], nice=False, zero=False))
    tooltip = [
        alt.Tooltip('series:N', title='line'),
        at,
        alt.Tooltip('value:Q', title=title, format=DIGITS),
    ]
    drawn = _drawn_lines(names, x, y, tooltip)
    pixel = (high - low) / HEIGHT
    ends = label_places(
        {name: line[-1] for name, line in zip(names, values, strict=True) if len(line)}, pixel
    )
    labels = [
        {'series': name, 'text': _shortened(name), 'value': value, 'label': place}
        for name, (value, place) in ends.items()
    ]
    named = alt.Chart(alt.InlineData(values=labels, name='ends'))
    colour = colours_of('series', names, palette.of_runs(len(names)), legend=False)
    right = alt.value('width')
    leaders = named.mark_rule(opacity=0.6, xOffset=3, x2Offset=14).encode(
        x=right, x2=right, y=alt.Y('value:Q', title=title), y2='label:Q', color=colour
    )
    texts = named.mark_text(align='left', dx=17, limit=_END).encode(
        x=right, y=alt.Y('label:Q', title=title), text='text:N', tooltip='series:N'
    )
    chart = layered([*drawn, leaders, texts], rows)
    return finish(chart, f'{title}, {len(names)} lines')


def _drawn_lines(
    names: Sequence[str], x: alt.X, y: alt.Y, tooltip: list[alt.Tooltip]
) -> list[alt.Chart]:
    """Return lines and their points, with colours, dashes and shapes."""
    dashes, shapes = (
        alt.Scale(domain=list(names), range=styles) for styles in palette.of_marks(len(names))
    )
    colour = colours_of('series', names, palette.of_runs(len(names)), legend=False)
    base = alt.Chart().encode(x=x, y=y, color=colour)
    return [
        base.mark_line(strokeWidth=1.8).encode(
            strokeDash=alt.StrokeDash('series:N', scale=dashes, legend=None)
        ),
        base.mark_point(filled=True, size=40, opacity=1).encode(
            shape=alt.Shape('series:N', scale=shapes, legend=None), tooltip=tooltip
        ),
    ]


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that has room for all values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.05 * (high - low) or 0.05
    return low - margin, high + margin


def _shortened(name: str) -> str:
    """Return a name that is cut in the middle if it is long; the tooltip has all of it."""
    begin, end = _KEPT
    return name if len(name) <= begin + 1 + end else f'{name[:begin]}…{name[-end:]}'


def label_places(ends: Mapping[str, Any], pixel: float) -> dict[str, tuple[float, float]]:
    """Return the value at the end of each line, and a place for its label beside no other one."""
    values = ((number(value), name) for name, value in ends.items())
    # From below; of equal ones, the first is on top.
    order = sorted(
        ((v, name) for v, name in reversed([*values]) if v is not None), key=itemgetter(0)
    )
    gap = _LINE * pixel
    blocks: list[tuple[float, int]] = []  # middle and number of labels that touch each other
    for value, _ in order:
        middle, size = value, 1
        while blocks and middle - blocks[-1][0] < gap * (size + blocks[-1][1]) / 2:
            above, n_above = blocks.pop()
            middle = (middle * size + above * n_above) / (size + n_above)
            size += n_above
        blocks.append((middle, size))
    places = [middle + gap * (i - (size - 1) / 2) for middle, size in blocks for i in range(size)]
    return {name: (value, place) for (value, name), place in zip(order, places, strict=True)}


def precision_recall(
    runs: Sequence[str], hits: Sequence[Sequence[int]], n_relevant: int, query: str = ''
) -> alt.LayerChart:
    """Draw precision against recall at the rank of each hit, a line for each run."""
    runs = drawn_names(runs)
    rows: list[Row] = [
        {'series': run, 'rank': rank, 'x': n_hits / n_relevant, 'value': n_hits / rank}
        for run, ranks in zip(runs, hits, strict=True)
        for n_hits, rank in enumerate(ranks, start=1)
    ]
    high = max([1.0, *(row['x'] for row in rows)])
    x = alt.X('x:Q', title='recall', scale=alt.Scale(domain=[0, high], nice=False), axis=ticks())
    y = alt.Y('value:Q', title='precision', scale=alt.Scale(domain=[0, 1], nice=False))
    tooltip = [
        alt.Tooltip('series:N', title='run'),
        alt.Tooltip('rank:Q', title='rank'),
        alt.Tooltip('value:Q', title='precision', format=DIGITS),
        alt.Tooltip('x:Q', title='recall', format=DIGITS),
    ]
    lines, points = _drawn_lines(runs, x, y, tooltip)
    legend = colours_of('series', runs, palette.of_runs(len(runs)))
    lines = lines.encode(order='rank:Q', color=legend)
    chart = layered([lines, points.encode(color=legend)], rows)
    words = f'Precision and recall of {len(runs)} runs'
    if not query:
        return finish(chart, words)
    title = printable(query)
    return finish(chart.properties(title=title), f'{words} for {title}')
