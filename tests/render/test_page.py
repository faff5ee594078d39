"""Pages in one file: what may run there, what is requested, and what data cannot do."""

import base64
import hashlib
import re

import pytest
from page_text import PageText, data_of, unpacked

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.page import check_links, p_value, page, static

HOSTILE = '</script><script>alert(1)</script>'
TITLE = f'A {HOSTILE}, turned \u202e around'
DATA = {'names': [HOSTILE, '<!--', '\u2028'], 'figures': {}}
BUNDLE = 'window.drawn = "<b>";'


def made(title=TITLE):
    return page('base.html.j2', title=title, data=DATA, bundle=BUNDLE)


def directives(text):
    ((_, attributes),) = [
        (tag, attributes)
        for tag, attributes in PageText(text).elements
        if attributes.get('http-equiv') == 'Content-Security-Policy'
    ]
    parts = [each.split() for each in attributes['content'].split(';')]
    return {name: sources for name, *sources in parts}


def source_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_every_script_and_style_by_its_hash_and_allows_nothing_else():
    text = made()
    parsed, allowed = PageText(text), directives(text)
    types = [each.get('type') for tag, each in parsed.elements if tag == 'script']
    run = [script for script, type in zip(parsed.inside['script'], types, strict=True) if not type]
    assert allowed['script-src'] == [*map(source_of, run), source_of(BUNDLE)]
    assert allowed['style-src'] == [source_of(parsed.inside['style'][0])]
    assert allowed['default-src'] == ["'none'"]
    assert allowed['img-src'] == ['data:']
    assert 'unsafe' not in str(allowed)


def test_nothing_is_requested():
    text = made()
    parsed = PageText(text)
    assert parsed.attributes('src') == []
    assert {each for each in parsed.attributes('href') if not each.startswith('#')} == {'data:,'}
    assert not re.search(r'@import|url\(', parsed.inside['style'][0])
    for script in ('page.js', 'campaign.js'):
        assert not re.search('fetch|XMLHttpRequest|WebSocket|importScripts', static(script))
        addresses = set(re.findall('https?://[^\'"]*', static(script)))
        assert addresses <= {'http://www.w3.org/2000/svg'}  # the name of the language SVG


def test_nothing_needs_a_style_or_a_script_in_an_attribute():
    names = {name for _, attributes in PageText(made()).elements for name in attributes}
    assert 'style' not in names
    assert not {name for name in names if name.startswith('on')}


def test_hostile_text_stays_text():
    harmless, parsed = PageText(made('')), PageText(made())
    assert [tag for tag, _ in parsed.elements] == [tag for tag, _ in harmless.elements]
    shown = TITLE.replace('\u202e', '\\u202e')  # hidden characters are shown as escapes
    assert parsed.inside['title'] == [shown]


@pytest.mark.parametrize(('text', 'url'), [('x', 'javascript:x'), ('x', ''), ('', 'http://x')])
def test_links_are_of_the_web(text, url):
    with pytest.raises(
        ParameterError, match=f"^links: found '{text}': '{url}', expected a text and"
    ):
        check_links({text: url})


def test_data_and_bundle_arrive_as_they_are():
    text = made()
    assert data_of(text) == DATA
    assert unpacked(text, 'page-bundle') == BUNDLE


@pytest.mark.parametrize(
    ('p', 'shown'),
    [(None, '–'), (1 / 100_001, 'below 0.0001'), (0.0001, '0.0001'), (0.5, '0.5000')],
)
def test_no_p_is_shown_as_nothing(p, shown):
    """A small p must not be rounded to 0, which no p is."""
    assert p_value(p) == shown
