"""Figures of results, made from plain columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import altair as alt

from mediaeval_ap.errors import printable
from mediaeval_ap.render import palette
from mediaeval_ap.render.figure_parts import (
    DIGITS,
    HEIGHT,
    STEP,
    Column,
    Row,
    axis_of_names,
    colours_of,
    drawn_names,
    finish,
    layered,
    number,
    ticks,
)

_LISTED = 5  # queries that are named in a tooltip
_CLASSES = [
    ('0', 'vermilion'),
    ('above 0 to ¼', 'quarter'),
    ('to ½', 'half'),
    ('to ¾', 'three-quarters'),
    ('below 1', 'nearly-one'),
    ('1', 'green'),
    ('above 1', 'mauve'),
]


def leaderboard(
    runs: Sequence[str],
    maps: Column,
    lows: Column,
    highs: Column,
    *,
    groups: Column | None = None,
    metric: str = 'MAP',
) -> alt.LayerChart:
    """Draw the runs, best first: each a point with the bar of its interval, and its group."""
    runs = drawn_names(runs)
    columns = zip(runs, maps, lows, highs, groups or [''] * len(runs), strict=True)
    rows: list[Row] = [
        {
            'run': run,
            'value': number(value),
            'low': number(low),
            'high': number(high),
            'group': group or '',
        }
        for run, value, low, high, group in columns
    ]
    tooltip = [
        alt.Tooltip('run:N', title='run'),
        alt.Tooltip('value:Q', title=metric, format=DIGITS),
        alt.Tooltip('low:Q', title='from', format=DIGITS),
        alt.Tooltip('high:Q', title='to', format=DIGITS),
    ]
    base = alt.Chart().encode(y=axis_of_names('run', runs), tooltip=tooltip)
    blue = palette.light('blue')
    x = alt.X('value:Q', title=metric, scale=alt.Scale(zero=False), axis=ticks())
    interval = base.transform_filter('isValid(datum.low) && isValid(datum.high)')
    bars = interval.mark_rule(color=blue, strokeWidth=3).encode(
        x=alt.X('low:Q', title=metric), x2='high:Q'
    )
    points = base.mark_point(color=blue, filled=True, size=80, opacity=1).encode(x=x)
    letters = base.mark_text(align='left', dx=8).encode(x=alt.value('width'), text='group:N')
    chart = layered([bars, points, letters], rows)
    words = f'{metric} of {len(runs)} runs, best first, with intervals'
    return finish(chart, words, STEP * max(len(runs), 1))


def loss(runs: Sequence[str], parts: Mapping[str, Column]) -> alt.LayerChart:
    """Draw the parts of the loss of each run as a stacked bar; negative ones are left of zero."""
    runs = drawn_names(runs)
    parts = {part: values for part, values in parts.items() if any(values)}
    rows = _stacked(runs, parts)
    labels = [_part_label(part) for part in parts]
    colours = [palette.light(palette.PARTS[part]) for part in parts]
    tooltip = [
        alt.Tooltip('run:N', title='run'),
        alt.Tooltip('part:N', title='part'),
        alt.Tooltip('value:Q', title='loss', format=DIGITS),
    ]
    title = 'loss of MAP (1 − MAP)'
    bars = (
        alt.Chart()
        .mark_bar(stroke=palette.light('paper'), strokeWidth=1)
        .encode(
            y=axis_of_names('run', runs),
            x=alt.X('begin:Q', title=title, scale=alt.Scale(nice=False), axis=ticks()),
            x2='end:Q',
            color=colours_of('part', labels, colours),
            tooltip=tooltip,
        )
    )
    zero = alt.Chart().mark_rule(color=palette.light('axis'), aria=False).encode(x=alt.datum(0))
    chart = layered([bars, zero], rows)
    return finish(chart, f'Parts of the loss of MAP of {len(runs)} runs', STEP * max(len(runs), 1))


def _stacked(runs: Sequence[str], parts: Mapping[str, Column]) -> list[Row]:
    """Return each part of each run with the ends of its bar."""
    rows = []
    for i, run in enumerate(runs):
        ends = {True: 0.0, False: 0.0}  # of what is positive, and of what is negative
        for part, values in parts.items():
            value = float(values[i])
            begin = ends[value > 0]
            ends[value > 0] += value
            if value:
                row = {'run': run, 'part': _part_label(part), 'value': value}
                rows.append(row | {'begin': begin, 'end': begin + value})
    return rows


def _part_label(part: str) -> str:
    return part.replace('_', ' ')


def scatter(
    run_a: str, run_b: str, queries: Sequence[str], a: Column, b: Column, *, metric: str = 'AP'
) -> alt.LayerChart:
    """Draw two runs, query by query; points are as large as the queries there are many."""
    rows = coinciding(queries, a, b)
    high = max([1.0, *(row['x'] for row in rows), *(row['y'] for row in rows)])
    ends = alt.Scale(domain=[0, high], nice=False)
    size = alt.Scale(type='linear', domain=[0, max(len(queries), 1)], range=[30, 1500])
    blue = palette.light('blue')
    # Vega makes code of the titles of fields, and undoes escapes in them; those of axes stay text.
    across, up = ticks(), ticks()
    across.title, up.title = (f'{metric} of {printable(run)}' for run in (run_a, run_b))
    points = (
        alt.Chart()
        .mark_point(
            filled=True, color=blue, stroke=blue, strokeWidth=1.2, fillOpacity=0.4, opacity=1
        )
        .encode(
            x=alt.X('x:Q', title='horizontal', scale=ends, axis=across),
            y=alt.Y('y:Q', title='vertical', scale=ends, axis=up),
            size=alt.Size('count:Q', scale=size, legend=None),
            tooltip=[
                alt.Tooltip('x:Q', title='horizontal', format=DIGITS),
                alt.Tooltip('y:Q', title='vertical', format=DIGITS),
                alt.Tooltip('count:Q', title='queries'),
                alt.Tooltip('names:N', title='such as'),
            ],
        )
    )
    corners = alt.InlineData(values=[{'x': 0, 'y': 0}, {'x': high, 'y': high}], name='diagonal')
    diagonal = (
        alt.Chart(corners)
        .mark_line(color=palette.light('axis'), strokeDash=[4, 4], strokeWidth=1)
        .encode(x='x:Q', y='y:Q')
    )
    chart = layered([diagonal, points], rows)
    return finish(chart, f'{metric} of two runs, query by query', HEIGHT + 40, width=HEIGHT + 40)


def coinciding(queries: Sequence[str], a: Column, b: Column) -> list[Row]:
    """Return each point of a scatter with its queries."""
    found: dict[tuple[float, float], list[str]] = defaultdict(list)
    for query, x, y in zip(queries, a, b, strict=True):
        found[float(x), float(y)].append(query)
    return [
        {'x': x, 'y': y, 'count': len(names), 'names': _listed(names)}
        for (x, y), names in sorted(found.items())
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ', '.join(map(printable, names[:_LISTED])) + (f' and {more} more' if more > 0 else '')


def distribution(
    runs: Sequence[str], values: Sequence[Column], *, metric: str = 'AP'
) -> alt.LayerChart:
    """Draw how many queries of each run have a value of 0, of 1, and between them."""
    runs = drawn_names(runs)
    classes = _CLASSES if any(float(v) > 1 for line in values for v in line) else _CLASSES[:-1]
    labels = [label for label, _ in classes]
    rows = _counted(runs, values)
    tooltip = [
        alt.Tooltip('run:N', title='run'),
        alt.Tooltip('class:N', title=metric),
        alt.Tooltip('count:Q', title='queries'),
        alt.Tooltip('share:Q', title='share', format='.1%'),
    ]
    n_queries = max((len(line) for line in values), default=0)
    scale = alt.Scale(domain=[0, max(n_queries, 1)], nice=False)
    bars = (
        alt.Chart()
        .mark_bar(stroke=palette.light('paper'), strokeWidth=1)
        .encode(
            y=axis_of_names('run', runs),
            x=alt.X('begin:Q', title='queries', scale=scale, axis=ticks('d')),
            x2='end:Q',
            color=colours_of(
                'class', labels, [palette.light(name) for _, name in classes], title=metric
            ),
            tooltip=tooltip,
        )
    )
    chart = layered([bars], rows)
    return finish(chart, f'{metric} of the queries of {len(runs)} runs', STEP * max(len(runs), 1))


def _counted(runs: Sequence[str], values: Sequence[Column]) -> list[Row]:
    """Return each class of each run with the number of its queries and the ends of its bar."""
    rows = []
    for run, line in zip(runs, values, strict=True):
        classes = Counter(_class_of(float(value)) for value in line)
        begin = 0
        for place, count in sorted(classes.items()):
            row = {'run': run, 'class': _CLASSES[place][0], 'count': count}
            rows.append(row | {'begin': begin, 'end': begin + count, 'share': count / len(line)})
            begin += count
    return rows


def _class_of(value: float) -> int:
    if value > 1:
        return 6
    if value in (0, 1):
        return 0 if value == 0 else 5
    return 1 + sum(value > end for end in (0.25, 0.5, 0.75))


def confused(queries: Sequence[str], names: Sequence[str], counts: Column) -> alt.LayerChart:
    """Draw how many relevant shots of a query were returned under another name only."""
    labels = drawn_names([f'{query} as {name}' for query, name in zip(queries, names, strict=True)])
    rows = [
        {
            'pair': label,
            'query': printable(query),
            'name': printable(name),
            'count': int(count),
        }
        for label, query, name, count in zip(labels, queries, names, counts, strict=True)
    ]
    tooltip = [
        alt.Tooltip('query:N', title='query'),
        alt.Tooltip('name:N', title='returned as'),
        alt.Tooltip('count:Q', title='shots'),
    ]
    at_most = max(map(int, counts), default=1)
    whole = alt.Axis(tickCount=min(at_most, 8), tickMinStep=1, format='d')
    x = alt.X('count:Q', title='relevant shots', axis=whole)
    base = alt.Chart().encode(y=axis_of_names('pair', labels, 230), x=x, tooltip=tooltip)
    bars = base.mark_bar(color=palette.light('vermilion'))
    numbers = base.mark_text(align='left', dx=4).encode(text='count:Q')
    chart = layered([bars, numbers], rows)
    return finish(chart, 'Names most often confused', STEP * max(len(rows), 1))
