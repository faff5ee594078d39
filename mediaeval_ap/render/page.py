"""HTML pages that load nothing else, the colours of figures, and image files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__
from mediaeval_ap.choices import is_text
from mediaeval_ap.errors import ParameterError, printable, require, shown
from mediaeval_ap.render.formats import cell_text, short_p

if TYPE_CHECKING:
    import altair as alt

HERE = 'mediaeval_ap.render'
DRAWN_DIGITS = 6  # significant ones, of the values of a figure
AS_GZIP = 16 + zlib.MAX_WBITS
_is_link = re.compile(r'(?:https?://|mailto:)[^\s<>"]+', re.IGNORECASE).fullmatch
_COLOUR_KEYS = {'background', 'color', 'fill', 'range', 'stroke'}  # and all that end in Color
_TOOLTIP = """
#vg-tooltip-element {
  position: fixed; z-index: 1000; visibility: hidden; max-width: 24rem; padding: 0.5rem;
  overflow-wrap: anywhere; pointer-events: none; font: 0.8rem system-ui, sans-serif;
  color: var(--figure-text); background: var(--figure-paper); border: 1px solid var(--figure-axis);
}
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element .key { padding-right: 0.5rem; text-align: right; vertical-align: top; }
"""
# Colours on a light page and on a dark one. Colour-blind readers can distinguish them. Marks have a
# contrast of 3 to the paper, text of 4.5.
COLOURS = {
    'text': ('#333a42', '#d5d9de'),
    'axis': ('#7a828c', '#8a929c'),
    'grid': ('#e3e6ea', '#2c3138'),
    'paper': ('#ffffff', '#15181c'),
    'blue': ('#0072b2', '#56b4e9'),
    'vermilion': ('#d55e00', '#e69f00'),
    'green': ('#009e73', '#12b886'),
    'mauve': ('#c973a3', '#f2a6cf'),
    'violet': ('#8a2be2', '#9a7dff'),
    'navy': ('#1b2640', '#e8eaee'),
    'grey': ('#7d7d7d', '#84868c'),
    'maroon': ('#7d1022', '#e0562b'),
    'gold': ('#8c6d00', '#f0d264'),
    'slate': ('#56626d', '#a3b1bd'),
    'silver': ('#919191', '#6c7078'),
    'quarter': ('#4f93d2', '#4779a8'),
    'half': ('#2f74b5', '#6199d0'),
    'three-quarters': ('#1d5590', '#8bbbe8'),
    'nearly-one': ('#12365e', '#c6e0fa'),
}
DASHES: list[list[float]] = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
VARIABLES = {light: f'var(--figure-{name})' for name, (light, _) in COLOURS.items()}


def page(template: str, *, data: Mapping[str, Any], bundle: str, **context: Any) -> str:
    """Return a page; the script `bundle` draws the specifications in ``data['figures']``."""
    style = static('page.css') + style_sheet()
    scripts = [static(name) for name in ('page.js', 'campaign.js')]
    sources = ' '.join(map(_source, [*scripts, bundle]))
    policy = (
        f"default-src 'none'; script-src {sources}; style-src {_source(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    render = _environment().get_template(template).render
    text: str = render(
        version=__version__,
        policy=policy,
        style=style,
        scripts=scripts,
        data=pack(json.dumps(as_columns(data), ensure_ascii=False, separators=(',', ':'))),
        bundle=pack(bundle),
        **context,
    )
    return text


def pack(text: str) -> str:
    """Return text as gzip in Base64."""
    # Text compresses best by the first strategy, columns of numbers by the second.
    packers = [
        zlib.compressobj(level=9, wbits=AS_GZIP, strategy=strategy)
        for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED)
    ]
    content = text.encode()
    smallest = min((packer.compress(content) + packer.flush() for packer in packers), key=len)
    return base64.b64encode(smallest).decode()


def as_columns(part: Any) -> Any:
    """Return JSON with rows of equal fields as columns, and their number below an empty key.

    >>> as_columns({'rows': [{'run': 'a', 'n': 1}, {'run': 'b', 'n': 1}]})
    {'rows': {'': 2, 'run': ['a', 'b'], 'n': 1}}
    """
    if isinstance(part, Mapping):
        return {key: as_columns(value) for key, value in part.items()}
    if not (
        isinstance(part, list | tuple) and part and isinstance(part[0], Mapping | list | tuple)
    ):
        return part
    fields = list(part[0]) if isinstance(part[0], Mapping) else []
    if not fields or any(not isinstance(row, Mapping) or list(row) != fields for row in part):
        return list(map(as_columns, part))
    columns = {field: as_columns([row[field] for row in part]) for field in fields}
    for field, column in columns.items():
        first = part[0][field]
        is_constant = all(type(value) is type(first) and value == first for value in column)
        if isinstance(first, str | int | None) and is_constant:
            columns[field] = first
    return {'': len(part), **columns}


def check_links(links: Mapping[str, str]) -> dict[str, str]:
    """Return links by their texts; raise if one is not an http, https or mailto URL."""
    for text, url in links.items():
        if not (is_text(text) and isinstance(url, str) and url.isprintable() and _is_link(url)):
            expected = 'a text and a URL of http, https or mailto'
            raise ParameterError(f'found {shown(text)}: {shown(url)}, expected {expected}', 'links')
    return dict(links)


def markdown_to_html(text: str) -> str:
    """Return Markdown as HTML, without raw HTML, pictures and styles; its headings start at h2."""
    parser = require('markdown_it', 'report', 'the introduction').MarkdownIt('commonmark')
    parser.options['html'] = False
    parser.enable('table').disable('image').validateLink = _is_link
    tokens = parser.parse(text)
    headings = [token for token in tokens if token.type in ('heading_open', 'heading_close')]
    least = min((int(token.tag[1]) for token in headings), default=1)
    level = 1
    for token in headings:
        if token.type == 'heading_open':  # skip no level: screen readers expect each
            level = min(int(token.tag[1]) - least + 2, level + 1)
        token.tag = f'h{level}'
    for token in tokens:
        token.attrs.pop('style', None)  # the security policy forbids it
    html = parser.renderer.render(tokens, parser.options, {}).expandtabs(4)
    return '\n'.join(map(printable, html.splitlines()))


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def static(name: str) -> str:
    """Return the text of a script or style sheet."""
    return files(HERE).joinpath('static', name).read_text(encoding='utf-8')


@cache
def _environment() -> Any:
    jinja2 = require('jinja2', 'report', 'the page')
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(HERE, 'templates'),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_escape_hidden,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters['decimals'] = fixed_decimals
    environment.filters['parts'] = re.compile('(?<=[_/-])').split
    environment.filters['p_value'] = p_value
    environment.filters['count'] = '{:,}'.format
    environment.filters['cell'] = cell_text
    return environment


def _escape_hidden(value: Any) -> Any:
    """Escape the characters in a string that would hide or reverse text; keep other values."""
    return printable(value) if type(value) is str else value  # not Markup, a subclass


def fixed_decimals(value: float | None, digits: int = 3) -> str:
    """Return a number with fixed decimals; a dash for None."""
    if value is None:
        return '–'
    return f'{value:z.{digits}f}'


def p_value(p: float | None) -> str:
    """Return a p for a table; a dash for None."""
    if p is None:
        return fixed_decimals(p)
    return short_p(p, below='below ')


def chart_for_page(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return a chart's ``spec`` (as wide as its container, colours as variables) and ``legend``."""
    spec = _with_variables(chart.to_dict(validate=False))  # as in `render_chart`
    spec['data']['values'] = [
        {
            name: float(f'{value:.{DRAWN_DIGITS}g}') if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in spec['data']['values']
    ]
    spec['width'] = 'container'
    spec['config'] |= {'background': 'transparent', 'font': 'system-ui, sans-serif'}
    scales = {}
    for layer in spec.get('layer', [spec]):
        encoding = layer.get('encoding', {})
        if 'scale' in encoding.get('color', {}):
            if encoding['color'].get('legend', True) is None:
                continue  # lines have their names at their ends
            encoding['color']['legend'] = None
        for channel in 'color', 'strokeDash':
            if 'domain' in (scale := encoding.get(channel, {}).get('scale', {})):
                scales[channel] = dict(zip(scale['domain'], scale['range'], strict=True))
    dashes = {
        label: ' '.join(map(str, dash))  # the syntax of stroke-dasharray
        for label, dash in scales.get('strokeDash', {}).items()
        if dash != DASHES[0]
    }
    legend = [
        {'label': label, 'colour': colour, 'dash': dashes.get(label, '')}
        for label, colour in scales.get('color', {}).items()
    ]
    return {'spec': spec, 'legend': legend}


def style_sheet() -> str:
    """Return the style sheet of figures: light and dark colours, and tooltips."""
    light = ''.join(f'  --figure-{name}: {colour};\n' for name, (colour, _) in COLOURS.items())
    dark = ''.join(f'  --figure-{name}: {colour};\n' for name, (_, colour) in COLOURS.items())
    dark_rules = f'@media (prefers-color-scheme: dark) {{\n:root {{\n{dark}}}\n}}\n'
    print_rules = f'@media print {{\n:root {{\n{light}}}\n}}\n'
    return f':root {{\n{light}}}\n{dark_rules}{print_rules}{_TOOLTIP}'


def _with_variables(part: Any, is_colour: bool = False) -> Any:
    """Replace colours by CSS variables; leave the data unchanged."""
    if isinstance(part, dict):
        changed = {
            key: _with_variables(value, key in _COLOUR_KEYS or key.endswith('Color'))
            for key, value in part.items()
            if key not in ('data', 'datasets', 'domain')
        }
        return part | changed
    if isinstance(part, list):
        return [_with_variables(item, is_colour) for item in part]
    if is_colour and isinstance(part, str):
        return VARIABLES.get(part, part)
    return part


def javascript_bundle() -> str:
    """Return Vega, Vega-Lite and vegaEmbed as one script that defines them as globals."""
    return _javascript_bundle(require('vl_convert', 'report', 'figures'), **_version())


@cache
def _javascript_bundle(vl_convert: Any, **version: str) -> str:
    # In a function, the short names of the script cannot collide with other globals.
    return f'(() => {{\n{vl_convert.javascript_bundle(**version)}\n}})();\n'


def render_chart(chart: alt.TopLevelMixin, format: str) -> Any:
    """Return a chart as ``svg`` (text), ``pdf`` or ``png`` (at twice its size)."""
    draw = getattr(require('vl_convert', 'report', 'figures'), f'vegalite_to_{format}')
    # Without validation, which would take three times as long as all else; the tests validate.
    spec = chart.to_dict(validate=False)
    settings: dict[str, Any] = dict(_version())
    if format == 'svg':  # room for viewers that have none of its fonts, but one with wider letters
        spec['padding'] = {'left': 32, 'right': 32, 'top': 8, 'bottom': 8}
    elif format == 'png':
        settings['scale'] = 2
    return draw(spec, **settings)


def _version() -> dict[str, str]:
    """Return the version of Vega-Lite that Altair writes, as a setting of vl-convert."""
    altair = require('altair', 'report', 'figures')
    major, minor, *_ = altair.SCHEMA_VERSION.removeprefix('v').split('.')
    return {'vl_version': f'{major}.{minor}'}
