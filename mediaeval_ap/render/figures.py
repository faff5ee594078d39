"""Figures of results, made from plain columns."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import floor, isfinite, log10, nextafter
from operator import itemgetter
from typing import Any

import altair as alt

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.render.document import OF_RESULTS, Terms
from mediaeval_ap.render.page import COLOURS, DASHES

Row = dict[str, Any]
Values = Sequence[Any]

WIDTH = 640
HEIGHT = 320
STEP = 20  # pixels of a row
NAME = 170  # pixels of names at the left
DIGITS = '.4f'
_LISTED = 5  # queries that are named in a tooltip
_LINE = 14  # pixels between labels of lines
RUN_COLOURS = ['blue', 'vermilion', 'green', 'mauve', 'violet', 'maroon', 'navy', 'grey']
SHAPES = ['circle', 'square', 'triangle-up', 'diamond']
PART_COLOURS = {
    'repeats': 'grey',
    'ties': 'navy',
    'confidence': 'blue',
    'spelling': 'green',
    'confused': 'vermilion',
    'part_of_name': 'mauve',
    'noise': 'maroon',
    'copresent': 'violet',
    'absent': 'gold',
    'cutoff': 'slate',
    'unanswerable': 'silver',
}
_CLASSES = [
    ('0', 'vermilion'),
    ('above 0 to ¼', 'quarter'),
    ('to ½', 'half'),
    ('to ¾', 'three-quarters'),
    ('below 1', 'nearly-one'),
    ('1', 'green'),
    ('above 1', 'mauve'),
]
_ENDS = [0, 0.25, 0.5, 0.75, nextafter(1, 0), 1]  # the largest value of each class but the last


class Figure(alt.LayerChart):
    """Layers that a notebook shows without a network."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> Any:
        show: Any = super()._repr_mimebundle_
        if alt.renderers.active != 'default':  # the user has chosen how charts are shown
            return show()
        # Altair's default is HTML that loads scripts from elsewhere.
        with alt.renderers.enable('png', ppi=144):
            spec = self.to_dict()
            (bundle, size) = show()
        # Altair 6 writes a type that no notebook may have: v6.json.
        vega_lite = f'application/vnd.vegalite.{alt.SCHEMA_VERSION[:2]}+json'
        return {vega_lite: spec, **bundle}, size


def leaderboard(
    runs: Sequence[str],
    maps: Values,
    lows: Values,
    highs: Values,
    *,
    groups: Values | None = None,
    metric: str = 'MAP',
    terms: Terms = OF_RESULTS,
) -> alt.LayerChart:
    """Draw the runs, best first: each a point with the bar of its interval, and its group."""
    runs = drawn_names(runs)
    rows = _rows(runs, value=maps, low=lows, high=highs)
    for row, group in zip(rows, groups or [''] * len(rows), strict=True):
        row['group'] = group or ''
    tooltip = _tooltip(
        ('run:N', terms.run),
        ('value:Q', metric, DIGITS),
        ('low:Q', 'from', DIGITS),
        ('high:Q', 'to', DIGITS),
    )
    base = alt.Chart().encode(y=_names_at_left('run', runs), tooltip=tooltip)
    blue = _light('blue')
    x = alt.X('value:Q', title=metric, scale=alt.Scale(zero=False), axis=_ticks())
    interval = base.transform_filter('isValid(datum.low) && isValid(datum.high)')
    bars = interval.mark_rule(color=blue, strokeWidth=3).encode(
        x=alt.X('low:Q', title=metric), x2='high:Q'
    )
    points = base.mark_point(color=blue, filled=True, size=80, opacity=1).encode(x=x)
    letters = base.mark_text(align='left', dx=8).encode(x=alt.value('width'), text='group:N')
    words = f'{metric} of {len(runs)} {terms.runs}, best first, with intervals'
    return _finished([bars, points, letters], rows, words, _height(runs))


def pool(
    runs: Sequence[str],
    maps: Values,
    lows: Values,
    highs: Values,
    without: Values,
    *,
    metric: str = 'MAP',
) -> alt.LayerChart:
    """Draw the runs, best first: each a point with its bounds, and a tick without its own shots."""
    runs = drawn_names(runs)
    rows = _rows(runs, value=maps, low=lows, high=highs, without=without)
    tick = "without its own team's shots"
    marks = {metric: 'blue'}
    told = [('run:N', 'run'), ('value:Q', metric, DIGITS)]
    if has_bounds := any(row['low'] is not None for row in rows):
        marks['bounds'] = 'silver'
        told += [('low:Q', 'from', DIGITS), ('high:Q', 'to', DIGITS)]
    marks[tick] = 'vermilion'
    colour = _colours('mark', list(marks), [_light(each) for each in marks.values()])
    base = alt.Chart().encode(
        y=_names_at_left('run', runs),
        color=colour,
        tooltip=_tooltip(*told, ('without:Q', tick, DIGITS)),
    )
    point, own, bounds = (
        base.transform_calculate(mark=f'"{each}"') for each in (metric, tick, 'bounds')
    )
    x = alt.X('value:Q', title=metric, scale=alt.Scale(zero=False), axis=_ticks())
    bars = bounds.mark_rule(strokeWidth=6, opacity=0.7).encode(
        x=alt.X('low:Q', title=metric), x2='high:Q'
    )
    points = point.mark_point(filled=True, size=80, opacity=1).encode(x=x)
    ticks = own.mark_tick(thickness=3, size=14, opacity=1).encode(
        x=alt.X('without:Q', title=metric)
    )
    words = f'{metric} of {len(runs)} runs, best first, with bounds and without their own shots'
    return _finished([bars] * has_bounds + [points, ticks], rows, words, _height(runs))


def loss(runs: Sequence[str], parts: Mapping[str, Values]) -> alt.LayerChart:
    """Draw the parts of the loss of each run as a stacked bar; negative ones are left of zero."""
    runs = drawn_names(runs)
    shown_parts = {
        part.replace('_', ' '): (_light(PART_COLOURS[part]), values)
        for part, values in parts.items()
        if any(values)
    }
    rows: list[Row] = []
    for i, run in enumerate(runs):
        ends = {True: 0.0, False: 0.0}  # of what is positive, and of what is negative
        for part, (_, values) in shown_parts.items():
            value = float(values[i])
            begin = ends[value > 0]
            ends[value > 0] += value
            if value:
                row = {'run': run, 'part': part, 'value': value}
                rows.append(row | {'begin': begin, 'end': begin + value})
    scale = alt.Scale(nice=False)
    bars = _bars(
        runs,
        alt.X('begin:Q', title='loss of MAP (1 − MAP)', scale=scale, axis=_ticks()),
        _colours('part', list(shown_parts), [colour for colour, _ in shown_parts.values()]),
        _tooltip(('run:N', 'run'), ('part:N', 'part'), ('value:Q', 'loss', DIGITS)),
    )
    zero = alt.Chart().mark_rule(color=_light('axis'), aria=False).encode(x=alt.datum(0))
    words = f'Parts of the loss of MAP of {len(runs)} runs'
    return _finished([bars, zero], rows, words, _height(runs))


def _classes(low: float, high: float) -> tuple[list[tuple[str, str]], list[float]]:
    """Return classes of values with their colours, and the largest value of each but the last."""
    if (low, high) == (0, 1):
        return _CLASSES, _ENDS
    width = high - low or 1
    digits = 2 - floor(log10(width))
    ends = [round(low + part * width, digits) for part in _ENDS[1:4]]
    names = [f'to {end:.{max(digits, 0)}f}' for end in ends]
    names.append(names[-1].replace('to', 'above'))
    return [(name, colour) for name, (_, colour) in zip(names, _CLASSES[1:5], strict=True)], ends


def distribution(
    runs: Sequence[str], values: Sequence[Values], *, metric: str = 'AP', terms: Terms = OF_RESULTS
) -> alt.LayerChart:
    """Draw how many queries of each run are in each of the `_classes` of values."""
    runs = drawn_names(runs)
    classes, ends = _classes(terms.low, terms.high)
    if classes is _CLASSES and not any(float(v) > 1 for line in values for v in line):
        classes = _CLASSES[:-1]
    rows: list[Row] = []
    for run, line in zip(runs, values, strict=True):
        begin = 0
        for number, count in sorted(Counter(bisect_left(ends, v) for v in line).items()):
            row = {'run': run, 'class': classes[number][0], 'count': count}
            rows.append(row | {'begin': begin, 'end': begin + count, 'share': count / len(line)})
            begin += count
    n_queries = max((len(line) for line in values), default=0)
    scale = alt.Scale(domain=[0, max(n_queries, 1)], nice=False)
    labels, colours = zip(*classes, strict=True)
    bars = _bars(
        runs,
        alt.X('begin:Q', title=terms.queries, scale=scale, axis=_ticks('d')),
        _colours('class', labels, [_light(each) for each in colours], title=metric),
        _tooltip(
            ('run:N', terms.run),
            ('class:N', metric),
            ('count:Q', terms.queries),
            ('share:Q', 'share', '.1%'),
        ),
    )
    words = f'{metric} of the {terms.queries} of {len(runs)} {terms.runs}'
    return _finished([bars], rows, words, _height(runs))


def _bars(
    runs: Sequence[str], x: alt.X, colour: alt.Color, tooltip: list[alt.Tooltip]
) -> alt.Chart:
    """Return stacked bars, one for each run, of rows that have a begin and an end."""
    bars: alt.Chart = (
        alt.Chart()
        .mark_bar(stroke=_light('paper'), strokeWidth=1)
        .encode(y=_names_at_left('run', runs), x=x, x2='end:Q', color=colour, tooltip=tooltip)
    )
    return bars


def scatter(
    run_a: str,
    run_b: str,
    queries: Sequence[str],
    a: Values,
    b: Values,
    *,
    metric: str = 'AP',
    terms: Terms = OF_RESULTS,
) -> alt.LayerChart:
    """Draw two runs, query by query; points are as large as the queries there are many."""
    coinciding: dict[tuple[float, float], list[str]] = defaultdict(list)
    for query, across_at, up_at in zip(queries, a, b, strict=True):
        coinciding[float(across_at), float(up_at)].append(printable(query))
    rows: list[Row] = []
    for (x, y), names in sorted(coinciding.items()):
        more = f' and {len(names) - _LISTED} more' if len(names) > _LISTED else ''
        listed = f'{", ".join(names[:_LISTED])}{more}'
        rows.append({'x': x, 'y': y, 'count': len(names), 'names': listed})
    drawn = [terms.low, terms.high, *(row[axis] for row in rows for axis in 'xy')]
    low = min(drawn)
    high = max(drawn)
    ends = alt.Scale(domain=[low, high], nice=False)
    size = alt.Scale(type='linear', domain=[0, max(len(queries), 1)], range=[30, 1500])
    blue = _light('blue')
    # Vega makes code of the titles of fields, and undoes escapes in them; those of axes stay text.
    across = _ticks()
    up = _ticks()
    across.title, up.title = (f'{metric} of {printable(run)}' for run in (run_a, run_b))
    circles = alt.Chart().mark_point(
        filled=True, color=blue, stroke=blue, strokeWidth=1.2, fillOpacity=0.4, opacity=1
    )
    points = circles.encode(
        x=alt.X('x:Q', title='horizontal', scale=ends, axis=across),
        y=alt.Y('y:Q', title='vertical', scale=ends, axis=up),
        size=alt.Size('count:Q', scale=size, legend=None),
        tooltip=_tooltip(
            ('x:Q', 'horizontal', DIGITS),
            ('y:Q', 'vertical', DIGITS),
            ('count:Q', terms.queries),
            ('names:N', 'such as'),
        ),
    )
    corners = alt.InlineData(values=[{'x': low, 'y': low}, {'x': high, 'y': high}], name='diagonal')
    line = alt.Chart(corners).mark_line(color=_light('axis'), strokeDash=[4, 4], strokeWidth=1)
    words = f'{metric} of two {terms.runs}, {terms.query} by {terms.query}'
    layers = [line.encode(x='x:Q', y='y:Q'), points]
    return _finished(layers, rows, words, HEIGHT + 40, HEIGHT + 40)


def confused(queries: Sequence[str], names: Sequence[str], counts: Values) -> alt.LayerChart:
    """Draw how many relevant shots of a query were returned under another name only."""
    labels = drawn_names([f'{query} as {name}' for query, name in zip(queries, names, strict=True)])
    rows = [
        {'pair': label, 'query': printable(query), 'name': printable(name), 'count': int(count)}
        for label, query, name, count in zip(labels, queries, names, counts, strict=True)
    ]
    tooltip = _tooltip(('query:N', 'query'), ('name:N', 'returned as'), ('count:Q', 'shots'))
    at_most = max(map(int, counts), default=1)
    whole = alt.Axis(tickCount=min(at_most, 8), tickMinStep=1, format='d')
    x = alt.X('count:Q', title='relevant shots', axis=whole)
    base = alt.Chart().encode(y=_names_at_left('pair', labels, 230), x=x, tooltip=tooltip)
    bars = base.mark_bar(color=_light('vermilion'))
    numbers = base.mark_text(align='left', dx=4).encode(text='count:Q')
    return _finished([bars, numbers], rows, 'Names most often confused', _height(rows))


def map_by_k(
    runs: Sequence[str],
    cutoffs: Values,
    maps: Sequence[Values],
    *,
    metric: str = 'MAP',
    teams: Sequence[str] | None = None,
) -> alt.LayerChart:
    """Draw MAP against the cutoff, a line for each run, best first, with its name at the end.

    Of more runs than there are colours, the best of each team is named, and the others are grey.
    """
    best: dict[str, str] = {}
    for run, team in zip(runs, teams or runs, strict=True):
        best.setdefault(team, run)
    n_colours = len(RUN_COLOURS)
    named = runs if len(runs) <= n_colours else [*best.values()][: n_colours - 1]  # but for grey
    positions = [str(cutoff) for cutoff in cutoffs]
    title = f'{metric}@K'
    runs = drawn_names(runs)
    named = drawn_names(named)
    lines = dict(zip(runs, maps, strict=True))
    grey = [run for run in runs if run not in named]
    rows: list[Row] = [
        {'series': run, 'x': position, 'value': _number(value)}
        for run in [*grey, *named]  # on top
        for position, value in zip(positions, lines[run], strict=True)
    ]
    numbers = [row['value'] for row in rows if row['value'] is not None]
    low = min(numbers, default=0.0)
    high = max(numbers, default=1.0)
    margin = 0.05 * (high - low) or 0.05
    low = low - margin
    high = high + margin
    scale = alt.Scale(type='point', domain=positions, padding=0.1)
    axis = alt.Axis(labelAngle=0, labelOverlap=True)
    x = alt.X('x:O', title='K', scale=scale, sort=None, axis=axis)
    y = alt.Y('value:Q', title=title, scale=alt.Scale(domain=[low, high], nice=False, zero=False))
    tooltip = _tooltip(('series:N', 'line'), ('x:N', 'K'), ('value:Q', title, DIGITS))
    drawn = _lines_with_points([*named, *grey], x, y, tooltip, len(named))
    lasts = {name: lines[name][-1] for name in named if len(lines[name])}
    labels = []
    for name, (value, position) in label_positions(lasts, (high - low) / HEIGHT).items():
        # Names of runs often differ at the end.
        text = name if len(name) <= 18 else f'{name[:10]}…{name[-7:]}'
        labels.append({'series': name, 'text': text, 'value': value, 'label': position})
    ends = alt.Chart(alt.InlineData(values=labels, name='ends'))
    right = alt.value('width')
    leaders = ends.mark_rule(opacity=0.6, xOffset=3, x2Offset=14).encode(
        x=right,
        x2=right,
        y=alt.Y('value:Q', title=title),
        y2='label:Q',
        color=drawn[0].encoding.color,
    )
    texts = ends.mark_text(align='left', dx=17, limit=132).encode(
        x=right, y=alt.Y('label:Q', title=title), text='text:N', tooltip='series:N'
    )
    return _finished([*drawn, leaders, texts], rows, f'{title}, {len(runs)} lines')


def _lines_with_points(
    names: Sequence[str], x: alt.X, y: alt.Y, tooltip: list[alt.Tooltip], n_coloured: int
) -> list[alt.Chart]:
    """Return lines and their points, with colours, dashes and shapes; the last ones are grey."""
    n_grey = len(names) - n_coloured
    rounds = [i // len(RUN_COLOURS) for i in range(n_coloured)]  # each has another dash and shape
    dashes, shapes = (
        alt.Scale(
            domain=list(names),
            range=[*(styles[i % len(styles)] for i in rounds), *styles[:1] * n_grey],
        )
        for styles in (DASHES, SHAPES)
    )
    colours = _of_runs(n_coloured) + [_light('silver')] * n_grey
    colour = _colours('series', names, colours, legend=False)
    base = alt.Chart().encode(x=x, y=y, color=colour)
    return [
        base.mark_line(strokeWidth=1.8).encode(
            strokeDash=alt.StrokeDash('series:N', scale=dashes, legend=None)
        ),
        base.mark_point(filled=True, size=40, opacity=1).encode(
            shape=alt.Shape('series:N', scale=shapes, legend=None), tooltip=tooltip
        ),
    ]


def label_positions(ends: Mapping[str, Any], pixel: float) -> dict[str, tuple[float, float]]:
    """Return the value at the end of each line, and where its label overlaps no other."""
    values = ((_number(value), name) for name, value in reversed([*ends.items()]))
    # From below; of equal ones, the first is on top.
    order = sorted(((v, name) for v, name in values if v is not None), key=itemgetter(0))
    gap = _LINE * pixel
    blocks: list[tuple[float, int]] = []  # middle and number of labels that touch each other
    for value, _ in order:
        middle = value
        size = 1
        while blocks and middle - blocks[-1][0] < gap * (size + blocks[-1][1]) / 2:
            above, n_above = blocks.pop()
            middle = (middle * size + above * n_above) / (size + n_above)
            size += n_above
        blocks.append((middle, size))
    found = [middle + gap * (i - (size - 1) / 2) for middle, size in blocks for i in range(size)]
    return {name: (value, at) for (value, name), at in zip(order, found, strict=True)}


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
    x = alt.X('x:Q', title='recall', scale=alt.Scale(domain=[0, high], nice=False), axis=_ticks())
    y = alt.Y('value:Q', title='precision', scale=alt.Scale(domain=[0, 1], nice=False))
    tooltip = _tooltip(
        ('series:N', 'run'),
        ('rank:Q', 'rank'),
        ('value:Q', 'precision', DIGITS),
        ('x:Q', 'recall', DIGITS),
    )
    lines, points = _lines_with_points(runs, x, y, tooltip, len(runs))
    legend = _colours('series', runs, _of_runs(len(runs)))
    words = f'Precision and recall of {len(runs)} runs'
    title = printable(query)
    layers = [lines.encode(order='rank:Q', color=legend), points.encode(color=legend)]
    chart = _finished(layers, rows, f'{words} for {title}' if query else words)
    return chart.properties(title=title) if query else chart


def _light(name: str) -> str:
    """Return the colour of that name on white paper."""
    return COLOURS[name][0]


def _of_runs(n_runs: int) -> list[str]:
    """Return a colour for each run; they repeat after eight, with another dash and shape."""
    return [_light(RUN_COLOURS[i % len(RUN_COLOURS)]) for i in range(n_runs)]


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


def _rows(runs: Sequence[str], **columns: Values) -> list[Row]:
    """Return a row for each run, of its name and its numbers."""
    lines = zip(*([*map(_number, column)] for column in columns.values()), strict=True)
    return [
        {'run': run, **dict(zip(columns, line, strict=True))}
        for run, line in zip(runs, lines, strict=True)
    ]


def _number(value: Any) -> float | None:
    """Return a number that JSON has, or None."""
    return float(value) if value is not None and isfinite(value) else None


def _tooltip(*fields: tuple[str, ...]) -> list[alt.Tooltip]:
    """Return a tooltip of fields, each with its title and, of a number, its format."""
    return [
        alt.Tooltip(field, title=title, format=''.join(form) or alt.Undefined)
        for field, title, *form in fields
    ]


def _names_at_left(field: str, names: Sequence[str], limit: int = NAME) -> alt.Y:
    """Return the axis of names, in their order."""
    axis = alt.Axis(labelLimit=limit, domain=False, ticks=False, labelPadding=6)
    scale = alt.Scale(domain=list(names))
    return alt.Y(f'{field}:N', title=None, sort=None, scale=scale, axis=axis)


def _ticks(form: str = '') -> alt.Axis:
    """Return an axis of numbers with as many ticks as have room for their labels."""
    least = 1 if form == 'd' else alt.Undefined  # else a number would stand at two ticks
    room = alt.ExprRef('ceil(width / 60)')
    return alt.Axis(tickCount=room, tickMinStep=least, format=form or alt.Undefined)


def _colours(
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


def _height(bars: Sequence[Any]) -> int:
    return STEP * max(len(bars), 1)


def _finished(
    layers: Sequence[alt.Chart],
    rows: list[Row],
    words: str,
    height: float = HEIGHT,
    width: int = WIDTH,
) -> alt.LayerChart:
    """Return a figure with its size, its colours and the words that a screen reader says."""
    text, axis, grid = (_light(name) for name in ('text', 'axis', 'grid'))
    letters: dict[str, Any] = {
        'labelColor': text,
        'titleColor': text,
        'labelFontSize': 12,
        'titleFontSize': 12,
        'titleFontWeight': 'normal',
    }
    lines: dict[str, Any] = {'domainColor': axis, 'tickColor': axis, 'gridColor': grid}
    chart = Figure(layer=list(layers), data=alt.InlineData(values=rows, name='rows'))
    fit = alt.AutoSizeParams(type='fit-x', contains='padding')  # as a container's width does
    finished: alt.LayerChart = chart.properties(
        width=width, height=height, description=words, padding=8, autosize=fit
    ).configure(
        background=_light('paper'),
        axis=alt.AxisConfig(**letters, **lines, titleLimit=HEIGHT, labelSeparation=8),
        legend=alt.LegendConfig(**letters),
        title=alt.TitleConfig(color=text, fontSize=14, fontWeight='normal', limit=WIDTH),
        text=alt.MarkConfig(color=text, fontSize=12),
        view=alt.ViewConfig(stroke=None),
        font='sans-serif',
    )
    return finished
