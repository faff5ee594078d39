"""Charts as files, and the scripts that show them on a page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.errors import ParameterError, require, shown

if TYPE_CHECKING:
    import altair as alt

FORMATS = 'svg', 'png', 'pdf'
_SCALE = 2  # pixels of a PNG for each of the chart


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
    """Return a chart as ``svg``, ``png`` or ``pdf``."""
    if form == 'svg':
        return to_svg(chart).encode()
    convert = _converter()
    if form == 'png':
        return bytes(convert.vegalite_to_png(spec_of(chart), vl_version=_version(), scale=_SCALE))
    return bytes(convert.vegalite_to_pdf(spec_of(chart), vl_version=_version()))


def save(chart: alt.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Write a chart as SVG, PNG (2 pixels for each of the chart) or PDF, atomically."""
    form = os.path.splitext(os.fsdecode(path))[1].lower().removeprefix('.')
    if form not in FORMATS:
        raise ParameterError(
            f'path of a figure: found {shown(os.fsdecode(path))}, '
            f'expected a name that ends in {", ".join(f".{each}" for each in FORMATS)}'
        )
    write_whole(path, to_bytes(chart, form))


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
