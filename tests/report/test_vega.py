"""Charts as files, and their script."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from mediaeval_ap.errors import MissingExtraError, ParameterError, WriteError
from mediaeval_ap.report import vega
from mediaeval_ap.report.figures import leaderboard

CHART = leaderboard(['one', 'two'], [0.5, 0.25], [0.4, 0.2], [0.6, 0.3])
BEGIN = {'svg': b'<svg', 'png': b'\x89PNG\r\n', 'pdf': b'%PDF'}


@pytest.mark.parametrize('form', vega.FORMATS)
def test_the_suffix_decides_the_format(tmp_path, form):
    for name in (f'figure.{form}', f'FIGURE.{form.upper()}'):
        vega.save(CHART, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(BEGIN[form])


def test_png_has_two_pixels_for_each_of_the_chart(tmp_path):
    png = vega.to_bytes(CHART, 'png')
    width, height = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
    svg = ET.fromstring(vega.to_svg(CHART))
    assert (width, height) == (2 * int(svg.get('width')), 2 * int(svg.get('height')))


@pytest.mark.parametrize('name', ['figure', 'figure.jpeg', 'figure.svg.gz', 'svg'])
def test_another_suffix_is_refused_and_nothing_written(tmp_path, name):
    with pytest.raises(ParameterError, match=r'expected a name that ends in \.svg, \.png, \.pdf'):
        vega.save(CHART, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WriteError, match='nowhere'):
        vega.save(CHART, tmp_path / 'nowhere' / 'figure.svg')


def test_a_chart_is_the_same_bytes_each_time():
    for form in ('svg', 'png'):
        assert vega.to_bytes(CHART, form) == vega.to_bytes(CHART, form)


def test_the_script_can_stand_in_a_page():
    script = vega.javascript_bundle()
    assert not re.search(r'</script|<!--', script, re.IGNORECASE)
    assert 'window.vegaEmbed=' in script
    assert script.startswith('(() => {')
    assert script.endswith('})();\n')


def test_the_script_is_of_the_version_that_charts_are_written_for():
    schema = vega.spec_of(CHART)['$schema']
    (version,) = re.findall(r'/v(\d+\.\d+)', schema)
    assert f'"{version}.' in vega.javascript_bundle()


@pytest.mark.parametrize('module', ['altair', 'vl_convert'])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'{module} is not.*mediaeval-ap\[report\]'):
        vega.javascript_bundle()
