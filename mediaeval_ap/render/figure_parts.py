"""Axes, colours and sizes that figures share."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import altair as alt

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.render import palette

Row = dict[str, Any]
Column = Sequence[Any]

WIDTH, HEIGHT = 640, 320
STEP = 24  # pixels of a row
NAME = 170  # pixels of names at the left
DIGITS = '.4f'


def number(value: Any) -> float | None:
    """Return a number that JSON has, or None."""
    return float(value) if value is not None and isfinite(value) else None


def drawn_names(names: Sequence[str]) -> list[str]:
    """Return the names of bars or lines with an escape for each character that hides text.

    Vega aborts, or writes what is not XML, where a figure has a control character.
    """
    escaped = list(map(printable, names))
    meant: dict[str, str] = {}
    for name, text in zip(names, escaped, strict=True):
        if (other := meant.setdefault(text, name)) != name:  # they would be drawn as one
            raise ParameterError(
                f'figure: found {shown(other)} and {shown(name)}, expected names that differ '
                f'where they are shown, as {text}: rename one of them'
            )
    return escaped


def axis_of_names(field: str, names: Sequence[str], limit: int = NAME) -> alt.Y:
    """Return the axis of names at the left, in their order."""
    axis = alt.Axis(labelLimit=limit, domain=False, ticks=False, labelPadding=6)
    scale = alt.Scale(domain=list(names))
    return alt.Y(f'{field}:N', title=None, sort=None, scale=scale, axis=axis)


def ticks(form: str = '') -> alt.Axis:
    """Return an axis of numbers with as many ticks as have room for their labels."""
    return alt.Axis(tickCount=alt.ExprRef('ceil(width / 60)'), format=form or alt.Undefined)


def colours_of(
    field: str,
    names: Sequence[str],
    colours: Sequence[str],
    *,
    title: str | None = None,
    legend: bool = True,
) -> alt.Color:
    entries = alt.Legend(title=title, orient='top', columns=4, labelLimit=150, symbolType='square')
    scale = alt.Scale(domain=list(names), range=list(colours))
    return alt.Color(f'{field}:N', scale=scale, legend=entries if legend and names else None)


def layered(layers: Sequence[alt.Chart], rows: list[Row]) -> alt.LayerChart:
    return alt.LayerChart(layer=list(layers), data=alt.InlineData(values=rows, name='rows'))


def finish(
    chart: alt.LayerChart, words: str, height: float = HEIGHT, width: int = WIDTH
) -> alt.LayerChart:
    """Give a chart its size, its colours and the words that a screen reader says."""
    text, axis, grid = (palette.light(name) for name in ('text', 'axis', 'grid'))
    axes = alt.AxisConfig(
        labelColor=text,
        titleColor=text,
        domainColor=axis,
        tickColor=axis,
        gridColor=grid,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight='normal',
        titleLimit=HEIGHT,
        labelSeparation=8,
    )
    legend = alt.LegendConfig(
        labelColor=text,
        titleColor=text,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight='normal',
    )
    sized = chart.properties(width=width, height=height, description=words, padding=8)
    fit = alt.AutoSizeParams(type='fit-x', contains='padding')  # as a container's width does
    finished: alt.LayerChart = sized.properties(autosize=fit).configure(
        background=palette.light('paper'),
        axis=axes,
        legend=legend,
        title=alt.TitleConfig(color=text, fontSize=14, fontWeight='normal', limit=WIDTH),
        text=alt.MarkConfig(color=text, fontSize=12),
        view=alt.ViewConfig(stroke=None),
        font='sans-serif',
    )
    return finished
