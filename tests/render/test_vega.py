"""Charts as files, and their script."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from mediaeval_ap.errors import MissingExtraError
from mediaeval_ap.render import page
from mediaeval_ap.render.figures import leaderboard

CHART = leaderboard(['one', 'two'], [0.5, 0.25], [0.4, 0.2], [0.6, 0.3])


def test_png_has_two_pixels_for_each_of_the_chart(tmp_path):
    png = page.to_bytes(CHART, 'png')
    width, height = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
    svg = ET.fromstring(page.to_svg(CHART))
    assert (width, height) == (2 * int(svg.get('width')), 2 * int(svg.get('height')))


def test_a_chart_is_the_same_bytes_each_time():
    assert page.to_svg(CHART) == page.to_svg(CHART)
    assert page.to_bytes(CHART, 'png') == page.to_bytes(CHART, 'png')


def test_the_script_can_stand_in_a_page():
    script = page.javascript_bundle()
    assert not re.search(r'</script|<!--', script, re.IGNORECASE)
    assert 'window.vegaEmbed=' in script
    assert script.startswith('(() => {')
    assert script.endswith('})();\n')


def test_the_script_is_of_the_version_that_charts_are_written_for():
    schema = page.spec_of(CHART)['$schema']
    (version,) = re.findall(r'/v(\d+\.\d+)', schema)
    assert f'"{version}.' in page.javascript_bundle()


@pytest.mark.parametrize('module', ['altair', 'vl_convert'])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'{module} is not.*mediaeval-ap\[report\]'):
        page.javascript_bundle()
