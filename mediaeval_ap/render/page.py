"""HTML pages, each in one file that requests nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import printable, require
from mediaeval_ap.render.formats import short_p

HERE = 'mediaeval_ap.render'
AS_GZIP = 16 + zlib.MAX_WBITS
SCRIPTS = ('page.js',)  # what every page has


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
    from mediaeval_ap.render.page_figures import style_sheet

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
