"""Figures as they stand on a page: colours that follow light and dark, legends beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mediaeval_ap.render import palette, vega

if TYPE_CHECKING:
    import altair as alt

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
    """Return a chart as wide as its place, in the page's colours, and its legend."""
    spec = vega.spec_of(chart)
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
