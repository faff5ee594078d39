"""The documents show what commands and scripts print, link to files, and name what is public."""

import contextlib
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import mediaeval_ap
from mediaeval_ap.cli import main
from mediaeval_ap.render.vega import to_svg

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def commands(document):
    """Each command of a document, and what it shows."""
    for block in BLOCK.findall(document.read_text()):
        for command in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition('\n')
            yield line, output


@pytest.mark.parametrize(
    'document', [each for each in DOCUMENTS if [*commands(each)]], ids=lambda each: each.name
)
def test_commands_print_what_is_shown(document, monkeypatch, tmp_path):
    """A document's commands share a folder for their files, and no other document has it."""
    monkeypatch.chdir(ROOT)
    for command, output in commands(document):
        shown = ''
        stages = command.split(' | ') if NOT_A_PIPELINE.search(command) is None else [command]
        for stage in stages:
            shown = printed(stage.replace('/tmp/', f'{tmp_path}/'), shown)
        assert shown.replace(f'{tmp_path}/', '/tmp/') == output, command


NOT_A_PIPELINE = re.compile('[;&$<>]')
IN_A_FOLDER = re.compile(r'(?:cd (\S+)(?: &&|;) )?(.*)', re.DOTALL)


def printed(stage, given):
    """What a stage of a pipeline prints: our command in this process, all else by the shell."""
    folder, command = IN_A_FOLDER.fullmatch(stage).groups()
    if command.startswith('mediaeval-ap ') and NOT_A_PIPELINE.search(command) is None:
        _, *arguments = shlex.split(command)
        with contextlib.chdir(folder or '.'):
            return CliRunner().invoke(main, arguments, given, prog_name='mediaeval-ap').output
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    done = subprocess.run(
        ['bash', '-c', stage],
        env={**os.environ, 'PATH': path},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def test_the_picture_of_the_readme_is_that_of_the_samples():
    script = runpy.run_path(str(ROOT / 'docs/images/rankings.py'))
    assert f'```text\n{script["as_text"]()}```' in DOCUMENTS[0].read_text()
    assert (ROOT / 'docs/images/rankings.svg').read_text() == script['as_svg']()


def test_the_figures_of_the_docs_are_those_of_the_samples():
    charts = runpy.run_path(str(ROOT / 'docs/images/figures.py'))['charts']()
    for name, chart in charts.items():
        picture = (ROOT / f'docs/images/{name}.svg').read_text()
        # Where marks and labels stand depends on the fonts of the machine, what they say does not.
        said = re.findall('aria-label="(.*?)"', picture)
        assert said == re.findall('aria-label="(.*?)"', to_svg(chart))
        assert len(said) > 3


def test_the_figure_of_the_tutorial_is_that_of_the_samples():
    chart = runpy.run_path(str(ROOT / 'docs/images/why_did_we_lose.py'))['chart']()
    said = re.findall('aria-label="(.*?)"', (ROOT / 'docs/images/why-did-we-lose.svg').read_text())
    assert said == re.findall('aria-label="(.*?)"', to_svg(chart))
    assert len(said) > 3


def test_the_page_of_the_command_line_is_that_of_the_help():
    script = runpy.run_path(str(ROOT / 'docs/command_line.py'))
    assert script['PAGE'].read_text() == script['page']()


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r'^   (\w+)$', (ROOT / 'docs/reference/api.md').read_text(), re.MULTILINE)
    assert sorted([*listed, '__version__']) == sorted(mediaeval_ap.__all__)


LINK = re.compile(r'\]\((?!https?:)([^)#\s]+)')


@pytest.mark.parametrize(
    'page',
    ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'samples/README.md', 'benchmarks/README.md'],
)
def test_links_of_pages_outside_the_site_reach_files(page):
    """Those of the site are checked when it is built."""
    path = ROOT / page
    broken = [each for each in LINK.findall(path.read_text()) if not (path.parent / each).exists()]
    assert not broken
