"""Figures: the data in them are the data given, and names stay text."""

import json
import sys
import xml.etree.ElementTree as ET
from functools import cache

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from mediaeval_ap.diagnosis.loss import NAME_PARTS, PARTS
from mediaeval_ap.errors import MissingExtraError, ParameterError
from mediaeval_ap.render import figures, page
from mediaeval_ap.render.document import Terms
from mediaeval_ap.render.page import chart_for_page

HOSTILE = [
    *('<script>alert(1)</script>', '"quoted" & \'single\'', 'a.b[0].c', '[0]', 'datum.x'),
    *('{"expr": "alert(1)"}', '\\', 'back\\slash.[x]', '__proto__', 'constructor', '#0072b2'),
    *('null', '2016', '', ' ', '😀', 'أحمد', '安倍晋三', 'x' * 300),
]


def leaderboard(runs):
    maps = [0.9 - 0.9 * i / max(len(runs), 1) for i in range(len(runs))]
    none, all = [0.0] * len(runs), [1.0] * len(runs)
    return figures.leaderboard(runs, maps, none, all, groups=['a'] * len(runs))


def pool(runs):
    maps = [0.9 - 0.9 * i / max(len(runs), 1) for i in range(len(runs))]
    return figures.pool_leaderboard(runs, maps, [0.0] * len(runs), [1.0] * len(runs), maps)


def map_by_k(runs):
    return figures.map_by_k(runs, [1, 10, 'all'], [[0.1 * i, 0.3, 0.4] for i in range(len(runs))])


def scatter(queries):
    return figures.scatter('one', 'other', queries, [0.5] * len(queries), [1.0] * len(queries))


OF_RUNS = {
    'leaderboard': leaderboard,
    'pool': pool,
    'loss': lambda runs: figures.loss(runs, {part: [0.05] * len(runs) for part in PARTS}),
    'map_by_k': map_by_k,
    'distribution': lambda runs: figures.distribution(runs, [[0, 1, 0.5, 0.2]] * len(runs)),
    'precision_recall': lambda runs: figures.precision_recall(runs, [[1, 3]] * len(runs), 2),
}
CONFUSED = {
    'confused': lambda names: figures.confused(names, names[::-1], range(1, len(names) + 1))
}
ALL = OF_RUNS | CONFUSED | {'scatter': scatter}
TITLES = {
    'titles of axes': lambda names: figures.scatter(*names[:2], names, *[range(len(names))] * 2),
    'title': lambda names: figures.precision_recall(names, [[1, 3]] * len(names), 2, names[0]),
}


def of_each(figures):
    return pytest.mark.parametrize('figure', figures.values(), ids=figures)


def rows_of(chart):
    return chart.to_dict()['data']['values']


def texts_of(svg):
    return [
        ''.join(each.itertext()) for each in ET.fromstring(svg).iter() if each.tag.endswith('}text')
    ]


@pytest.fixture(autouse=True)
def no_word_from_vega(capfd):
    """Fail a test in which Vega-Lite warns: it does so on standard error."""
    yield
    assert 'WARN' not in capfd.readouterr().err


@cache
def drawn(figure, n):
    """The chart of so many names, as SVG."""
    chart = figure([f'name_{i}' for i in range(n)])
    assert isinstance(chart, alt.LayerChart)
    return page.render_chart(chart, 'svg')


@of_each(ALL)
@pytest.mark.parametrize('n', [0, 1, len(HOSTILE)])
def test_any_number_of_rows_can_be_drawn(figure, n):
    """Without rows, or with hostile names, no size is NaN."""
    svg = drawn(figure, n)
    assert 'NaN' not in svg
    assert 'undefined' not in svg
    assert float(ET.fromstring(svg).get('height')) < 700


@of_each(OF_RUNS)
def test_hostile_names_stay_text_and_are_drawn_as_others_are(figure):
    chart = figure(HOSTILE)
    svg = page.render_chart(chart, 'svg')
    shown = texts_of(svg)
    # MAP against K names a run of each team, as many as there are colours but grey.
    for name in HOSTILE[:7] if figure is map_by_k else HOSTILE:
        begin = name.strip()[:10]
        assert any(text.strip().startswith(begin) for text in shown), name
    marks = marks_of(svg)
    assert marks == marks_of(drawn(figure, len(HOSTILE)))
    assert len(marks) >= len(HOSTILE)
    assert len({row.get('run', row.get('series')) for row in rows_of(chart)}) == len(HOSTILE)


def marks_of(svg):
    """What is drawn, with its colours and dashes, in order."""
    looks = ('aria-roledescription', 'fill', 'stroke', 'stroke-dasharray')
    return [
        tuple(map(each.get, looks))
        for each in ET.fromstring(svg).iter()
        if each.get('aria-roledescription')
        in {'bar', 'line mark', 'point', 'rule mark', 'text mark'}
    ]


# Vega aborts the process on some, and writes what is not XML of others.
UNSEEN = [f'{char}name {ord(char)}' for char in '\0\1\b\t\n\x1b\x7f\x9f\u202e\ud800\ufffe\uffff']


@of_each(ALL | TITLES)
def test_characters_that_hide_text_are_escaped_as_on_the_page(figure, tmp_path):
    chart = figure(UNSEEN)
    ET.fromstring(page.render_chart(chart, 'svg'))
    written = json.dumps(chart.to_dict(), ensure_ascii=False)
    assert written.isprintable()
    assert '\\\\ufffename' in written or figure is scatter  # which names the first five
    if figure is leaderboard:  # other forms are made of the same
        chart.save(tmp_path / 'x.svg')
        ET.parse(tmp_path / 'x.svg')
        assert page.render_chart(chart, 'png').startswith(b'\x89PNG')
        assert page.render_chart(chart, 'pdf').startswith(b'%PDF')


@of_each(OF_RUNS | CONFUSED)
def test_names_that_look_the_same_are_not_drawn_as_one(figure):
    """A control character and its written escape look the same, and would be one bar."""
    with pytest.raises(ParameterError, match=r'^figure: .*a\\x01.* would both be drawn as'):
        figure(['a\x01', 'b', 'a\\x01'])


def test_leaderboard_draws_no_interval_that_is_not_there():
    chart = figures.leaderboard(['one', 'two'], [0.5, 0.2], [0.4, None], [0.6, float('nan')])
    expected = [
        {'run': 'one', 'value': 0.5, 'low': 0.4, 'high': 0.6, 'group': ''},
        {'run': 'two', 'value': 0.2, 'low': None, 'high': None, 'group': ''},
    ]
    assert rows_of(chart) == expected
    assert page.render_chart(chart, 'svg').count('aria-roledescription="rule mark"') == 1
    assert page.render_chart(chart, 'svg').count('aria-roledescription="point"') == 2


def test_pool_draws_bounds_only_where_they_are_known():
    marks = {}
    for bounds in (0.25, 0.75), (None, None):
        low, high = ([each, each] for each in bounds)
        svg = page.render_chart(
            figures.pool_leaderboard(['one', 'two'], [0.5, 0.4], low, high, [0.5, 0.3]), 'svg'
        )
        roles = ('rule mark', 'point', 'tick')
        marks[bounds] = [svg.count(f'aria-roledescription="{role}"') for role in roles]
        assert ('bounds' in texts_of(svg)) == (bounds[0] is not None)
    assert [*marks.values()] == [[2, 2, 2], [0, 2, 2]]


def test_loss_stacks_what_is_negative_to_the_left():
    parts = {'repeats': -0.25, 'ties': 0.0, 'confidence': 0.5, 'absent': 0.25, 'cutoff': -0.5}
    chart = figures.loss(['run'], {part: [value] for part, value in parts.items()})
    assert [(row['part'], row['begin'], row['end']) for row in rows_of(chart)] == [
        ('repeats', 0, -0.25),
        ('confidence', 0, 0.5),
        ('absent', 0.5, 0.75),
        ('cutoff', -0.25, -0.75),
    ]
    axis = chart.to_dict()['layer'][0]['encoding']['x']  # which begins at the least part
    assert axis['scale'] == {'nice': False}


def test_every_part_of_the_loss_has_its_own_colour():
    assert list(figures.PART_COLOURS) == list(PARTS)
    for absent in ['unjudged'], NAME_PARTS:  # of names, and of topics
        colours = [colour for part, colour in figures.PART_COLOURS.items() if part not in absent]
        assert len({*colours}) == len(colours)


values = st.floats(0, 1)


@given(st.lists(values, min_size=1, max_size=17))
def test_labels_of_lines_never_overlap_and_keep_their_order(ends):
    named = {f'run {i}': value for i, value in enumerate(ends)}
    places = figures.label_positions(named, 1 / 320)
    order = sorted(places.values(), key=lambda place: place[1])
    assert [value for value, _ in order] == sorted(ends)
    gaps = np.diff([place for _, place in order])
    assert (gaps >= 14 / 320 - 1e-9).all()  # the sum of labels' heights is rounded


def test_of_many_runs_the_best_of_each_team_is_named_and_the_others_are_grey():
    runs = [f'{team}_{i}' for i in range(4) for team in 'abc']
    maps = [[1 - n / 10, 0.5] for n in range(len(runs))]
    teams = [run[0] for run in runs]
    spec = figures.map_by_k(runs, [1, 10], maps, teams=teams).to_dict()
    ends = next(each['data']['values'] for each in spec['layer'] if 'data' in each)
    assert {each['series'] for each in ends} == {'a_0', 'b_0', 'c_0'}
    scale = spec['layer'][0]['encoding']['color']['scale']
    colours = dict(zip(scale['domain'], scale['range'], strict=True))
    grey = figures._light('silver')
    assert {run for run in runs if colours[run] != grey} == {'a_0', 'b_0', 'c_0'}
    assert {row['series'] for row in spec['data']['values']} == set(runs)
    few = figures.map_by_k(runs[:8], [1, 10], maps[:8], teams=teams[:8]).to_dict()
    assert grey not in few['layer'][0]['encoding']['color']['scale']['range']


@pytest.mark.parametrize('name', ['team-a_run-of-the-year', 'sentence-transformers_mpnet_run-10'])
@pytest.mark.parametrize('figure', [OF_RUNS['leaderboard'], map_by_k])
def test_names_of_runs_are_shown_whole(figure, name):
    assert name in texts_of(page.render_chart(figure([name, 'b']), 'svg'))


@examples(1 / 2)
@given(
    st.lists(st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1.5)), min_size=1)
)
def test_distribution_counts_every_query_in_one_class(line):
    counts = {row['class']: row['count'] for row in rows_of(figures.distribution(['run'], [line]))}
    ends = {'above 0 to ¼': (0, 0.25), 'to ½': (0.25, 0.5), 'to ¾': (0.5, 0.75)}
    expected = {label: sum(low < v <= high for v in line) for label, (low, high) in ends.items()}
    expected |= {'0': line.count(0), '1': line.count(1)}
    expected |= {'below 1': sum(0.75 < v < 1 for v in line), 'above 1': sum(v > 1 for v in line)}
    assert counts == {label: count for label, count in expected.items() if count}


def test_other_bounds():
    terms = Terms(low=-5, high=-1)
    line, points = figures.scatter('a', 'b', ['q'], [-3], [-3], terms=terms).to_dict()['layer']
    assert [points['encoding'][axis]['scale']['domain'] for axis in 'xy'] == [[-5, -1]] * 2
    assert [tuple(row.values()) for row in line['data']['values']] == [(-5, -5), (-1, -1)]
    chart = figures.distribution(['run'], [[-5, -4, -3.5, -1]], terms=terms)
    assert {row['class']: row['count'] for row in rows_of(chart)} == {
        'to -4.00': 2,
        'to -3.00': 1,
        'above -2.00': 1,
    }


@pytest.mark.parametrize('bounds', [(0, 1), (0, 50)])
def test_low_values_have_the_colours_of_good_ones_if_lower_is_better(bounds):
    scales = []
    for is_loss in False, True:
        terms = Terms(low=bounds[0], high=bounds[1], lower_is_better=is_loss)
        chart = figures.distribution(['run'], [[*bounds]], terms=terms).to_dict()
        scales.append(chart['layer'][0]['encoding']['color']['scale'])
    assert scales[0]['domain'] == scales[1]['domain']
    assert scales[0]['range'] == scales[1]['range'][::-1]


@of_each(ALL)
def test_on_a_page_colours_are_variables_and_data_stay(figure):
    chart = figure(['first', 'second', 'third'])
    spec = chart_for_page(chart)['spec']
    rows = chart.to_dict()['data']['values']
    for drawn, row in zip(spec['data']['values'], rows, strict=True):
        assert drawn.keys() == row.keys()
        for name, value in row.items():
            if isinstance(value, float):
                value = pytest.approx(value, rel=5e-6)  # six significant digits are drawn
            assert drawn[name] == value
    written = json.dumps(spec)
    assert 'var(--figure-' in written
    assert not [light for light, _ in page.COLOURS.values() if light in written]
    for layer in spec['layer']:
        colour = layer['encoding'].get('color')
        assert colour is None or colour['legend'] is None
    assert spec['width'] == 'container'


def test_legends_of_a_page_name_each_line_with_its_colour_and_dash():
    runs = [f'run {i}' for i in range(17)]
    assert chart_for_page(map_by_k(runs))['legend'] == []  # lines are named at their ends
    legend = chart_for_page(OF_RUNS['precision_recall'](runs))['legend']
    assert [entry['label'] for entry in legend] == runs
    assert len({(entry['colour'], entry['dash']) for entry in legend}) == 17
    assert {entry['dash'] for entry in legend[:8]} == {''}


def luminance(colour):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize('shade', [0, 1], ids=['light', 'dark'])
def test_contrast_is_enough_on_paper(shade):
    colours = {name: pair[shade] for name, pair in page.COLOURS.items()}
    paper = colours.pop('paper')
    del colours['grid']  # not needed to read a figure
    assert contrast(colours['text'], paper) >= 4.5
    assert {name for name, colour in colours.items() if contrast(colour, paper) < 3} == set()


CHART = figures.leaderboard(['one', 'two'], [0.5, 0.25], [0.4, 0.2], [0.6, 0.3])


def test_a_notebook_shows_a_picture_beside_the_specification():
    """Altair's default would load scripts from elsewhere."""
    bundle, size = CHART._repr_mimebundle_()
    (vega_lite,) = (bundle[each] for each in bundle if 'vegalite' in each)
    assert vega_lite == CHART.to_dict()
    width, height = (int.from_bytes(bundle['image/png'][i : i + 4]) for i in (16, 20))
    assert size == {'image/png': {'width': width / 2, 'height': height / 2}}
    assert set(bundle) == {f'application/vnd.vegalite.{alt.SCHEMA_VERSION[:2]}+json', 'image/png'}
    with alt.renderers.enable('svg'):  # what a user has chosen
        assert set(CHART._repr_mimebundle_()) == {'image/svg+xml'}
    assert alt.renderers.active == 'default'


@pytest.mark.parametrize('module', ['altair', 'vl_convert'])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'{module} is not.*\.\[report\]'):
        page.javascript_bundle()
