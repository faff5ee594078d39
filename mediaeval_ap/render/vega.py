"""Charts as files, and the scripts that show them on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import require

if TYPE_CHECKING:
    import altair as alt

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
    """Return a chart as ``png``, with 2 pixels for each of the chart, or ``pdf``."""
    convert = _converter()
    if form == 'png':
        return bytes(convert.vegalite_to_png(spec_of(chart), vl_version=_version(), scale=_SCALE))
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
