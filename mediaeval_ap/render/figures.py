"""Figures of results, made from plain columns."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from math import floor, isfinite, log10, nextafter
from operator import itemgetter
from typing import Any

import altair as alt

from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.render.document import RESULT_TERMS, Terms
from mediaeval_ap.render.page import COLOURS, DASHES

Row = dict[str, Any]
Values = Sequence[Any]

WIDTH = 640  # this and all below in pixels
HEIGHT = 320
ROW_HEIGHT = 20
NAME_WIDTH = 300  # at most, of a name: some 45 letters
LETTER_WIDTH = 6.5  # about, on average
VALUE_FORMAT = '.4f'
_N_LISTED = 5  # queries in a tooltip
_LABEL_HEIGHT = 14
RUN_COLOURS = ['blue', 'vermilion', 'green', 'mauve', 'violet', 'maroon', 'navy', 'grey']
POINT_SHAPES = ['circle', 'square', 'triangle-up', 'diamond']
PART_COLOURS = {
    'repeats': 'grey',
    'ties': 'navy',
    'unjudged': 'green',
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
_CLASS_ENDS = [0, 0.25, 0.5, 0.75, nextafter(1, 0), 1]  # the largest values of all but the last


class Figure(alt.LayerChart):
    """A layered chart that a notebook shows without network."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> Any:
        show: Any = super()._repr_mimebundle_
        if alt.renderers.active != 'default':  # the user chose another renderer
            return show()
        # Altair's default is HTML that loads scripts from elsewhere.
        with alt.renderers.enable('png', ppi=144):
            spec = self.to_dict()
            bundle, size = show()
        # Altair 6 names the type v6.json, which notebooks may not know.
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
    terms: Terms = RESULT_TERMS,
) -> alt.LayerChart:
    """Draw a point for each run, best first, with the bar of its interval and its letters."""
    runs = drawn_names(runs)
    rows = _run_rows(runs, value=maps, low=lows, high=highs)
    for row, group in zip(rows, groups or [''] * len(rows), strict=True):
        row['group'] = group or ''
    tooltip = _tooltip(
        ('run:N', terms.run),
        ('value:Q', metric, VALUE_FORMAT),
        ('low:Q', 'from', VALUE_FORMAT),
        ('high:Q', 'to', VALUE_FORMAT),
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
    description = f'{metric} of {len(runs)} {terms.runs}, best first, with intervals'
    return _finish([bars, points, letters], rows, description, _height(runs))


def pool_leaderboard(
    runs: Sequence[str],
    maps: Values,
    lows: Values,
    highs: Values,
    maps_without_own: Values,
    *,
    metric: str = 'MAP',
) -> alt.LayerChart:
    """Draw for each run, best first, its MAP, its bounds, and MAP without its team's own shots."""
    runs = drawn_names(runs)
    rows = _run_rows(runs, value=maps, low=lows, high=highs, without=maps_without_own)
    tick = "without its own team's shots"
    marks = {metric: 'blue'}
    fields = [('run:N', 'run'), ('value:Q', metric, VALUE_FORMAT)]
    if has_bounds := any(row['low'] is not None for row in rows):
        marks['bounds'] = 'silver'
        fields += [('low:Q', 'from', VALUE_FORMAT), ('high:Q', 'to', VALUE_FORMAT)]
    marks[tick] = 'vermilion'
    colour = _colours('mark', list(marks), [_light(name) for name in marks.values()])
    base = alt.Chart().encode(
        y=_names_at_left('run', runs),
        color=colour,
        tooltip=_tooltip(*fields, ('without:Q', tick, VALUE_FORMAT)),
    )
    map_base, tick_base, bounds_base = (
        base.transform_calculate(mark=f'"{mark}"') for mark in (metric, tick, 'bounds')
    )
    x = alt.X('value:Q', title=metric, scale=alt.Scale(zero=False), axis=_ticks())
    bars = bounds_base.mark_rule(strokeWidth=6, opacity=0.7).encode(
        x=alt.X('low:Q', title=metric), x2='high:Q'
    )
    points = map_base.mark_point(filled=True, size=80, opacity=1).encode(x=x)
    ticks = tick_base.mark_tick(thickness=3, size=14, opacity=1).encode(
        x=alt.X('without:Q', title=metric)
    )
    description = (
        f'{metric} of {len(runs)} runs, best first, with bounds and without their own shots'
    )
    layers = [points, ticks]
    if has_bounds:
        layers = [bars, *layers]
    return _finish(layers, rows, description, _height(runs))


def loss(runs: Sequence[str], parts: Mapping[str, Values]) -> alt.LayerChart:
    """Draw the loss of each run as a stacked bar of its parts; negative parts are left of zero."""
    runs = drawn_names(runs)
    shown_parts = {
        part.replace('_', ' '): (_light(PART_COLOURS[part]), values)
        for part, values in parts.items()
        if any(values)
    }
    rows: list[Row] = []
    for i, run in enumerate(runs):
        ends = {True: 0.0, False: 0.0}  # of the positive parts, and of the negative ones
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
        _tooltip(('run:N', 'run'), ('part:N', 'part'), ('value:Q', 'loss', VALUE_FORMAT)),
    )
    zero = alt.Chart().mark_rule(color=_light('axis'), aria=False).encode(x=alt.datum(0))
    description = f'Parts of the loss of MAP of {len(runs)} runs'
    return _finish([bars, zero], rows, description, _height(runs))


def _classes(low: float, high: float) -> tuple[list[tuple[str, str]], list[float]]:
    """Return (label, colour) of each class of values, and the largest value of all but the last."""
    if (low, high) == (0, 1):
        return _CLASSES, _CLASS_ENDS
    width = high - low or 1
    digits = 2 - floor(log10(width))
    ends = [round(low + part * width, digits) for part in _CLASS_ENDS[1:4]]
    labels = [f'to {end:.{max(digits, 0)}f}' for end in ends]
    labels.append(labels[-1].replace('to', 'above'))
    colours = [colour for _, colour in _CLASSES[1:5]]
    return list(zip(labels, colours, strict=True)), ends


def distribution(
    runs: Sequence[str],
    values: Sequence[Values],
    *,
    metric: str = 'AP',
    terms: Terms = RESULT_TERMS,
) -> alt.LayerChart:
    """Draw each run as a bar of its number of queries in each class of values."""
    runs = drawn_names(runs)
    classes, ends = _classes(terms.low, terms.high)
    if classes is _CLASSES and not any(
        float(value) > 1 for run_values in values for value in run_values
    ):
        classes = _CLASSES[:-1]
    rows: list[Row] = []
    for run, run_values in zip(runs, values, strict=True):
        begin = 0
        n_values = len(run_values)
        for index, count in sorted(Counter(bisect_left(ends, v) for v in run_values).items()):
            row = {'run': run, 'class': classes[index][0], 'count': count}
            rows.append(row | {'begin': begin, 'end': begin + count, 'share': count / n_values})
            begin += count
    n_queries = max(map(len, values), default=0)
    scale = alt.Scale(domain=[0, max(n_queries, 1)], nice=False)
    labels, colours = zip(*classes, strict=True)
    if terms.lower_is_better:
        colours = colours[::-1]
    bars = _bars(
        runs,
        alt.X('begin:Q', title=terms.queries, scale=scale, axis=_ticks('d')),
        _colours('class', labels, [_light(colour) for colour in colours], title=metric),
        _tooltip(
            ('run:N', terms.run),
            ('class:N', metric),
            ('count:Q', terms.queries),
            ('share:Q', 'share', '.1%'),
        ),
    )
    description = f'{metric} of the {terms.queries} of {len(runs)} {terms.runs}'
    return _finish([bars], rows, description, _height(runs))


def _bars(
    runs: Sequence[str], x: alt.X, colour: alt.Color, tooltip: list[alt.Tooltip]
) -> alt.Chart:
    """Return a stacked bar for each run; its rows have `begin` and `end`."""
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
    terms: Terms = RESULT_TERMS,
) -> alt.LayerChart:
    """Draw the values of one run against another; the area of a point is its number of queries."""
    queries_at: dict[tuple[float, float], list[str]] = defaultdict(list)
    for query, value_a, value_b in zip(queries, a, b, strict=True):
        queries_at[float(value_a), float(value_b)].append(printable(query))
    rows: list[Row] = []
    for (x, y), names in sorted(queries_at.items()):
        text = ', '.join(names[:_N_LISTED])
        if len(names) > _N_LISTED:
            text += f' and {len(names) - _N_LISTED} more'
        rows.append({'x': x, 'y': y, 'count': len(names), 'names': text})
    coordinates = [terms.low, terms.high, *(row[axis] for row in rows for axis in 'xy')]
    low = min(coordinates)
    high = max(coordinates)
    ends = alt.Scale(domain=[low, high], nice=False)
    size = alt.Scale(type='linear', domain=[0, max(len(queries), 1)], range=[30, 1500])
    blue = _light('blue')
    # Vega evaluates titles of fields as code, which undoes escapes; titles of axes stay text.
    x_axis = _ticks()
    y_axis = _ticks()
    x_axis.title = f'{metric} of {printable(run_a)}'
    y_axis.title = f'{metric} of {printable(run_b)}'
    circles = alt.Chart().mark_point(
        filled=True, color=blue, stroke=blue, strokeWidth=1.2, fillOpacity=0.4, opacity=1
    )
    points = circles.encode(
        x=alt.X('x:Q', title='horizontal', scale=ends, axis=x_axis),
        y=alt.Y('y:Q', title='vertical', scale=ends, axis=y_axis),
        size=alt.Size('count:Q', scale=size, legend=None),
        tooltip=_tooltip(
            ('x:Q', 'horizontal', VALUE_FORMAT),
            ('y:Q', 'vertical', VALUE_FORMAT),
            ('count:Q', terms.queries),
            ('names:N', 'such as'),
        ),
    )
    corners = alt.InlineData(values=[{'x': low, 'y': low}, {'x': high, 'y': high}], name='diagonal')
    line = alt.Chart(corners).mark_line(color=_light('axis'), strokeDash=[4, 4], strokeWidth=1)
    description = f'{metric} of two {terms.runs}, {terms.query} by {terms.query}'
    layers = [line.encode(x='x:Q', y='y:Q'), points]
    return _finish(layers, rows, description, height=HEIGHT + 40, width=HEIGHT + 40)


def confused(
    queries: Sequence[str], names: Sequence[str], counts: Values, run: str = ''
) -> alt.LayerChart:
    """Draw, per query and name, how many relevant shots were returned under that name only."""
    labels = drawn_names([f'{query} as {name}' for query, name in zip(queries, names, strict=True)])
    rows = [
        {'pair': label, 'query': printable(query), 'name': printable(name), 'count': int(count)}
        for label, query, name, count in zip(labels, queries, names, counts, strict=True)
    ]
    tooltip = _tooltip(('query:N', 'query'), ('name:N', 'returned as'), ('count:Q', 'shots'))
    largest = max(map(int, counts), default=1)
    integer_ticks = alt.Axis(tickCount=min(largest, 8), tickMinStep=1, format='d')
    x = alt.X('count:Q', title='relevant shots', axis=integer_ticks)
    base = alt.Chart().encode(y=_names_at_left('pair', labels), x=x, tooltip=tooltip)
    bars = base.mark_bar(color=_light('vermilion'))
    numbers = base.mark_text(align='left', dx=4).encode(text='count:Q')
    chart = _finish([bars, numbers], rows, 'Names most often confused', _height(rows))
    if run:
        chart = chart.properties(title=f'Confused names of {printable(run)}')
    return chart


def map_by_k(
    runs: Sequence[str],
    cutoffs: Values,
    maps: Sequence[Values],
    *,
    metric: str = 'MAP',
    teams: Sequence[str] | None = None,
) -> alt.LayerChart:
    """Draw MAP against the cutoff: a line for each run, best first, with its name at the end."""
    best_by_team: dict[str, str] = {}
    for run, team in zip(runs, teams or runs, strict=True):
        best_by_team.setdefault(team, run)
    n_colours = len(RUN_COLOURS)
    labelled = runs
    if len(runs) > n_colours:  # only the best run of each team is named
        labelled = list(best_by_team.values())[: n_colours - 1]  # one of the colours is grey
    positions = [str(cutoff) for cutoff in cutoffs]
    title = f'{metric}@K'
    runs = drawn_names(runs)
    labelled = drawn_names(labelled)
    lines = dict(zip(runs, maps, strict=True))
    grey = [run for run in runs if run not in labelled]
    rows: list[Row] = [
        {'series': run, 'x': position, 'value': _finite_or_none(value)}
        for run in [*grey, *labelled]  # drawn last, on top
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
    tooltip = _tooltip(('series:N', 'line'), ('x:N', 'K'), ('value:Q', title, VALUE_FORMAT))
    layers = _lines_with_points([*labelled, *grey], x, y, tooltip, n_coloured=len(labelled))
    last_values = {name: lines[name][-1] for name in labelled if len(lines[name])}
    labels = [
        {'series': name, 'value': value, 'label': position}
        for name, (value, position) in label_positions(last_values, (high - low) / HEIGHT).items()
    ]
    ends = alt.Chart(alt.InlineData(values=labels, name='ends'))
    right = alt.value('width')
    leaders = ends.mark_rule(opacity=0.6, xOffset=3, x2Offset=14).encode(
        x=right,
        x2=right,
        y=alt.Y('value:Q', title=title),
        y2='label:Q',
        color=layers[0].encoding.color,
    )
    texts = ends.mark_text(align='left', dx=17, limit=NAME_WIDTH).encode(
        x=right, y=alt.Y('label:Q', title=title), text='series:N', tooltip='series:N'
    )
    return _finish([*layers, leaders, texts], rows, f'{title}, {len(runs)} lines')


def _lines_with_points(
    names: Sequence[str], x: alt.X, y: alt.Y, tooltip: list[alt.Tooltip], n_coloured: int
) -> list[alt.Chart]:
    """Return lines and points in each run's colour, dash and shape; the last runs are grey."""
    n_grey = len(names) - n_coloured
    rounds = [i // len(RUN_COLOURS) for i in range(n_coloured)]  # of colours
    dashes, shapes = (
        alt.Scale(
            domain=list(names),
            range=[*(styles[i % len(styles)] for i in rounds), *styles[:1] * n_grey],
        )
        for styles in (DASHES, POINT_SHAPES)
    )
    colours = _run_colours(n_coloured) + [_light('silver')] * n_grey
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
    """Return the last value of each line, and a position where its label overlaps no other."""
    values = ((_finite_or_none(value), name) for name, value in reversed([*ends.items()]))
    # From below; of equal values the first is on top.
    ascending = sorted(((v, name) for v, name in values if v is not None), key=itemgetter(0))
    gap = _LABEL_HEIGHT * pixel
    # Labels that would overlap become one block, at the mean of their values.
    blocks: list[tuple[float, int]] = []  # middle and number of labels
    for value, _ in ascending:
        middle = value
        size = 1
        while blocks and middle - blocks[-1][0] < gap * (size + blocks[-1][1]) / 2:
            below, n_below = blocks.pop()
            middle = (middle * size + below * n_below) / (size + n_below)
            size += n_below
        blocks.append((middle, size))
    positions = [
        middle + gap * (i - (size - 1) / 2) for middle, size in blocks for i in range(size)
    ]
    return {
        name: (value, position)
        for (value, name), position in zip(ascending, positions, strict=True)
    }


def precision_recall(
    runs: Sequence[str],
    hits: Sequence[Sequence[int]],
    n_relevant: int,
    query: str = '',
    repeats: Sequence[Collection[int]] | None = None,
) -> alt.LayerChart:
    """Draw precision against recall, which counts each shot once, at the rank of each hit."""
    runs = drawn_names(runs)
    rows: list[Row] = []
    for run, ranks, ranks_of_repeats in zip(runs, hits, repeats or [()] * len(runs), strict=True):
        n_found = accumulate(rank not in ranks_of_repeats for rank in ranks)
        rows[:0] = [  # best last, on top
            {'series': run, 'rank': rank, 'x': n / n_relevant, 'value': n_hits / rank}
            for n_hits, (rank, n) in enumerate(zip(ranks, n_found, strict=True), start=1)
        ]
    x = alt.X('x:Q', title='recall', scale=alt.Scale(domain=[0, 1], nice=False), axis=_ticks())
    y = alt.Y('value:Q', title='precision', scale=alt.Scale(domain=[0, 1], nice=False))
    tooltip = _tooltip(
        ('series:N', 'run'),
        ('rank:Q', 'rank'),
        ('value:Q', 'precision', VALUE_FORMAT),
        ('x:Q', 'recall', VALUE_FORMAT),
    )
    lines, points = _lines_with_points(runs, x, y, tooltip, n_coloured=len(runs))
    legend = _colours('series', runs, _run_colours(len(runs)))
    description = f'Precision and recall of {len(runs)} runs'
    layers = [lines.encode(order='rank:Q', color=legend), points.encode(color=legend)]
    if not query:
        return _finish(layers, rows, description)
    title = printable(query)
    return _finish(layers, rows, f'{description} for {title}').properties(title=title)


def _light(name: str) -> str:
    """Return a colour on white paper."""
    return COLOURS[name][0]


def _run_colours(n_runs: int) -> list[str]:
    """Return a colour for each run; after the last colour comes the first again."""
    return [_light(RUN_COLOURS[i % len(RUN_COLOURS)]) for i in range(n_runs)]


def drawn_names(names: Sequence[str]) -> list[str]:
    """Escape characters that hide text in names; raise if two names would look the same."""
    # Control characters would make Vega abort or write invalid XML.
    texts = list(map(printable, names))
    name_by_text: dict[str, str] = {}
    for name, text in zip(names, texts, strict=True):
        if (other := name_by_text.setdefault(text, name)) != name:  # they would be drawn as one
            raise ParameterError(
                f'figure: {shown(other)} and {shown(name)} would both be drawn as {text}; '
                'rename one of them'
            )
    return texts


def _run_rows(runs: Sequence[str], **columns: Values) -> list[Row]:
    numbers = zip(*([*map(_finite_or_none, column)] for column in columns.values()), strict=True)
    return [
        {'run': run, **dict(zip(columns, run_numbers, strict=True))}
        for run, run_numbers in zip(runs, numbers, strict=True)
    ]


def _finite_or_none(value: Any) -> float | None:
    """Return a float; None for None and for values that JSON cannot hold."""
    return float(value) if value is not None and isfinite(value) else None


def _tooltip(*fields: tuple[str, ...]) -> list[alt.Tooltip]:
    """Return a tooltip of fields, each with its title and, if it is a number, its format."""
    return [
        alt.Tooltip(field, title=title, format=''.join(form) or alt.Undefined)
        for field, title, *form in fields
    ]


def _names_at_left(field: str, names: Sequence[str]) -> alt.Y:
    """Return the axis of names, in the given order."""
    axis = alt.Axis(labelLimit=NAME_WIDTH, domain=False, ticks=False, labelPadding=6)
    scale = alt.Scale(domain=list(names))
    return alt.Y(f'{field}:N', title=None, sort=None, scale=scale, axis=axis)


def _ticks(form: str = '') -> alt.Axis:
    """Return an axis of numbers with about one tick per 60 pixels."""
    min_step = 1 if form == 'd' else alt.Undefined  # else two ticks could have the same label
    n_ticks = alt.ExprRef('ceil(width / 60)')
    return alt.Axis(tickCount=n_ticks, tickMinStep=min_step, format=form or alt.Undefined)


def _colours(
    field: str,
    names: Sequence[str],
    colours: Sequence[str],
    *,
    title: str | None = None,
    legend: bool = True,
) -> alt.Color:
    longest = max(map(len, names), default=0)
    columns = max(1, min(4, int(WIDTH / (LETTER_WIDTH * longest + 44))))
    entries = alt.Legend(
        title=title, orient='top', columns=columns, labelLimit=WIDTH, symbolType='square'
    )
    scale = alt.Scale(domain=list(names), range=list(colours))
    return alt.Color(f'{field}:N', scale=scale, legend=entries if legend and names else None)


def _height(bars: Sequence[Any]) -> int:
    return ROW_HEIGHT * max(len(bars), 1)


def _finish(
    layers: Sequence[alt.Chart],
    rows: list[Row],
    description: str,
    height: float = HEIGHT,
    width: int = WIDTH,
) -> alt.LayerChart:
    """Return a figure with its size, its colours and a description for screen readers."""
    text, axis, grid = (_light(name) for name in ('text', 'axis', 'grid'))
    label_style: dict[str, Any] = {
        'labelColor': text,
        'titleColor': text,
        'labelFontSize': 12,
        'titleFontSize': 12,
        'titleFontWeight': 'normal',
    }
    line_style: dict[str, Any] = {'domainColor': axis, 'tickColor': axis, 'gridColor': grid}
    data = alt.InlineData(values=[], name='rows')
    data.values = rows  # altair would validate each row
    chart = Figure(layer=list(layers), data=data)
    fit = alt.AutoSizeParams(type='fit-x', contains='padding')  # as for width='container'
    finished: alt.LayerChart = chart.properties(
        width=width, height=height, description=description, padding=8, autosize=fit
    ).configure(
        background=_light('paper'),
        axis=alt.AxisConfig(**label_style, **line_style, titleLimit=HEIGHT, labelSeparation=8),
        legend=alt.LegendConfig(**label_style, columnPadding=24),
        title=alt.TitleConfig(color=text, fontSize=14, fontWeight='normal', limit=WIDTH),
        text=alt.MarkConfig(color=text, fontSize=12),
        view=alt.ViewConfig(stroke=None),
        font="'Liberation Sans', Arial, Helvetica, sans-serif",  # of equal widths
    )
    return finished
