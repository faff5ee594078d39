"""HTML pages, each in one file that requests nothing, their figures, and figures as files."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import printable, require
from mediaeval_ap.render import palette
from mediaeval_ap.render.formats import short_p

if TYPE_CHECKING:
    import altair as alt

HERE = 'mediaeval_ap.render'
AS_GZIP = 16 + zlib.MAX_WBITS
SCRIPTS = ('page.js',)  # what every page has
_PIXELS = 2  # of a PNG for each of the chart
_COLOURED = {'background', 'color', 'fill', 'range', 'stroke'}  # and those that end in Color
_FONT = 'system-ui, sans-serif'
_TOOLTIP = """
#vg-tooltip-element {
  position: fixed; z-index: 1000; visibility: hidden; max-width: 24rem; padding: 0.5rem;
  overflow-wrap: anywhere; pointer-events: none; font: 0.8rem system-ui, sans-serif;
  color: var(--figure-text); background: var(--figure-paper); border: 1px solid var(--figure-axis);
}
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element .key { padding-right: 0.5rem; text-align: right; vertical-align: top; }
"""


def page(
    template: str,
    *,
    title: str,
    data: Mapping[str, Any],
    bundle: str,
    scripts: Sequence[str] = (),
    **context: Any,
) -> str:
    """Return a page that asks no other site for anything.

    The template gets the context, and what `base.html.j2` needs. `data` goes into the page as JSON,
    compressed, for its scripts; `bundle` is the script that draws the specifications of figures in
    ``data['figures']``. Equal arguments give equal bytes.
    """
    style = static('page.css') + style_sheet()
    inline = [static(name) for name in (*SCRIPTS, *scripts)]
    text: str = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            version=__version__,
            policy=policy([*inline, bundle], style),
            style=style,
            scripts=inline,
            data=packed(json.dumps(data, ensure_ascii=False, separators=(',', ':'))),
            bundle=packed(bundle),
            **context,
        )
    )
    return text


def policy(scripts: Sequence[str], style: str) -> str:
    """Return a content security policy that runs these scripts alone, and requests nothing."""
    hashes = ' '.join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_source(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def packed(text: str) -> str:
    """Return text as gzip in Base64."""
    # Text and columns of numbers, which repeat little, compress best in different ways.
    packers = [
        zlib.compressobj(9, zlib.DEFLATED, AS_GZIP, zlib.DEF_MEM_LEVEL, strategy)
        for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED)
    ]
    content = text.encode()
    smallest = min((each.compress(content) + each.flush() for each in packers), key=len)
    return base64.b64encode(smallest).decode()


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def static(name: str) -> str:
    """Return one of the scripts and styles."""
    return files(HERE).joinpath('static', name).read_text(encoding='utf-8')


@cache
def _environment() -> Any:
    jinja2 = require('jinja2', 'report', 'the page')
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(HERE, 'templates'),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters['figure'] = figure
    environment.filters['p_value'] = p_value
    environment.filters['count'] = '{:,}'.format
    return environment


def _shown(value: Any) -> Any:
    """Return text of the data with an escape for each character that hides or turns text."""
    return printable(value) if type(value) is str else value  # not what is marked up already


def figure(value: float | None, digits: int = 3) -> str:
    """Return a number as a table shows it; a dash where there is none."""
    return '–' if value is None else f'{value:z.{digits}f}'


def p_value(p: float | None) -> str:
    """Return a p as a table shows it; a dash where there is none."""
    return figure(p) if p is None else short_p(p, 'below ')


@dataclass(frozen=True)
class Entry:
    """An entry of a legend; ``dash`` is what ``stroke-dasharray`` takes."""

    label: str
    colour: str
    dash: str = ''


@dataclass(frozen=True)
class PageFigure:
    spec: dict[str, Any]
    legend: list[Entry]


def on_page(chart: alt.TopLevelMixin) -> PageFigure:
    """Return a chart as wide as its container, in the page's colours, and its legend."""
    spec = spec_of(chart)
    spec = _coloured(spec)
    spec['width'] = 'container'
    spec['config'] |= {'background': 'transparent', 'font': _FONT}
    for encoding in _encodings(spec):
        if 'color' in encoding and 'scale' in encoding['color']:
            encoding['color']['legend'] = None
    return PageFigure(spec, _legend(spec))


def style_sheet() -> str:
    """Return the colours of figures, light and dark, and the style of their tooltips."""
    light, dark = (
        ''.join(f'  --figure-{name}: {pair[shade]};\n' for name, pair in palette.COLOURS.items())
        for shade in (0, 1)
    )
    by_system = f'@media (prefers-color-scheme: dark) {{\n:root {{\n{dark}}}\n}}\n'
    as_printed = f'@media print {{\n:root {{\n{light}}}\n}}\n'
    return f':root {{\n{light}}}\n{by_system}{as_printed}{_TOOLTIP}'


def _coloured(part: Any, is_colour: bool = False) -> Any:
    """Replace colours by their variables, and nothing that is data."""
    if isinstance(part, dict):
        return {
            key: value
            if key in ('data', 'datasets', 'domain')
            else _coloured(value, key in _COLOURED or key.endswith('Color'))
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_coloured(each, is_colour) for each in part]
    if is_colour and isinstance(part, str):
        return palette.VARIABLES.get(part, part)
    return part


def _encodings(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in spec.get('layer', [spec]):
        yield layer.get('encoding', {})


def _legend(spec: dict[str, Any]) -> list[Entry]:
    """Return what the colours of a chart stand for, and the dashes where it has them."""
    scales = {
        channel: dict(zip(scale['domain'], scale['range'], strict=True))
        for encoding in _encodings(spec)
        for channel in ('color', 'strokeDash')
        if 'domain' in (scale := encoding.get(channel, {}).get('scale', {}))
    }
    dashes = {
        label: ' '.join(map(str, dash))
        for label, dash in scales.get('strokeDash', {}).items()
        if dash != palette.DASHES[0]
    }
    return [
        Entry(label, colour, dashes.get(label, ''))
        for label, colour in scales.get('color', {}).items()
    ]


def javascript_bundle() -> str:
    """Return Vega, Vega-Lite and vegaEmbed as one script that makes them globals."""
    script: str = _converter().javascript_bundle(vl_version=_version())
    # Its own names are short and would be globals too: they must not meet those of other scripts.
    return f'(() => {{\n{script}\n}})();\n'


def to_svg(chart: alt.TopLevelMixin) -> str:
    """Return a chart as SVG."""
    svg: str = _converter().vegalite_to_svg(spec_of(chart), vl_version=_version())
    return svg


def to_bytes(chart: alt.TopLevelMixin, form: str) -> bytes:
    """Return a chart as ``png``, with 2 pixels for each of the chart, or ``pdf``."""
    convert = _converter()
    if form == 'png':
        return bytes(convert.vegalite_to_png(spec_of(chart), vl_version=_version(), scale=_PIXELS))
    return bytes(convert.vegalite_to_pdf(spec_of(chart), vl_version=_version()))


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart with all its rows."""
    import altair as alt

    with alt.data_transformers.enable('default', max_rows=None):
        spec: dict[str, Any] = chart.to_dict()
    return spec


def _converter() -> Any:
    return require('vl_convert', 'report', 'figures')


def _version() -> str:
    """Return the Vega-Lite version that Altair writes for, as vl-convert names it."""
    altair = require('altair', 'report', 'figures')
    major, minor, *_ = altair.SCHEMA_VERSION.removeprefix('v').split('.')
    return f'{major}.{minor}'
