"""The documents show what commands and scripts print, link to files, and name what is public."""

import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import json_of, run_line

import mediaeval_ap
from mediaeval_ap.render.page import render_chart

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
TUTORIALS = ROOT / 'docs/tutorials'
IN_ORDER = re.findall(r'^[a-z0-9-]+$', (TUTORIALS / 'index.md').read_text(), re.MULTILINE)
TOGETHER = [TUTORIALS / f'{name}.md' for name in IN_ORDER]  # as a reader follows them


def blocks(document, language):
    """The text of each block of code in a language."""
    block = rf'^```{language}\n(.*?)^```$'
    return re.findall(block, document.read_text(), re.MULTILINE | re.DOTALL)


def commands(document):
    """Each command of a document, and what it shows."""
    for block in blocks(document, 'console'):
        for command in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition('\n')
            yield line, output


@pytest.mark.parametrize(
    'documents',
    [*([each] for each in DOCUMENTS if each.parent != TUTORIALS and [*commands(each)]), TOGETHER],
    ids=lambda each: each[0].stem if len(each) == 1 else 'tutorials',
)
def test_commands_print_what_is_shown(documents, monkeypatch, tmp_path):
    """The shell stays where a command leaves it; all tutorials share it, and a folder for files."""
    monkeypatch.chdir(ROOT)
    folder = ROOT
    for document in documents:
        for command, output in commands(document):
            line = command.replace('/tmp/', f'{tmp_path}/')
            _, shown = run_line(line, folder)
            assert shown.replace(f'{tmp_path}/', '/tmp/') == output, f'{document.name}: {command}'
            if entered := re.match(r'cd ([^\s;]+)', line):
                folder = folder / entered[1]


def sh_commands():
    """Our commands in `sh` blocks whose files are the reader's. The help's run elsewhere."""
    for document in DOCUMENTS:
        for block in blocks(document, 'sh') * ('cli' not in document.parts):
            for line in re.findall('^(mediaeval-ap .*?)(?:  +#.*)?$', block, re.MULTILINE):
                # A folder in the cloud needs a network, and measures of other tools their files.
                if 's3://' not in line and '--measures' not in line:
                    yield pytest.param(line, id=f'{document.stem}: {line}')


@pytest.mark.parametrize('command', [*sh_commands()])
def test_commands_without_their_files_are_right(command, tmp_path):
    """They fail for want of a file (1), and not by their options (2)."""
    code, shown = run_line(command, tmp_path)
    assert code < 2, shown


FILES_OF_MEASURES = {  # of each command, under the names in the table of measures
    'evaluate': 'REFERENCE=reference.txt RUN=hypothesis.txt',
    'map': 'TRUTH=fashion_truth.csv PREDICTIONS=fashion_predictions.csv',
    'map --first-hit': 'TRUTH=whales_truth.csv PREDICTIONS=whales_predictions.csv',
    'gap': 'TRUTH=landmarks_truth.csv PREDICTIONS=landmarks_predictions.csv',
    'lrap': 'TRUTH=sounds_truth.csv SCORES=sounds_scores.csv',
    'macro-ap': 'TRUTH=sounds_truth.csv SCORES=sounds_scores.csv',
    'evaluate-2015': 'REFERENCE=2015.ref LABELS=run.label SHOTS=2015.shot',
    'evaluate-trec': 'QRELS=qrels RUN=run SAMPLE=sample',
}
JUDGED = '7 0 d1 1\n7 0 d2 0\n7 0 d3 2\n8 0 d1 1\n8 0 d2 0\n'
RETURNED = '7 Q0 d2 1 9 me\n7 Q0 d1 2 8 me\n7 Q0 d3 3 7 me\n8 Q0 d1 1 6 me\n'
TABLE_OF_MEASURES = re.findall(
    r'\| `([^`]+)`<br>`([^`]+)` \|$',
    (ROOT / 'docs/measures.md').read_text(),
    re.MULTILINE,
)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(('command', 'call'), TABLE_OF_MEASURES)
def test_command_and_call_of_a_measure_give_one_number(command, call, tmp_path, monkeypatch):
    for folder in ROOT / 'samples', ROOT / 'samples/discovery_2015':
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / 'qrels').write_text(JUDGED)
    (tmp_path / 'run').write_text(RETURNED)
    (tmp_path / 'sample').write_text(re.sub(' (.)$', r' 1 \1', JUDGED, flags=re.MULTILINE))
    monkeypatch.chdir(tmp_path)
    name = max((name for name in FILES_OF_MEASURES if command.startswith(f'{name} ')), key=len)
    files = dict(pair.split('=') for pair in FILES_OF_MEASURES[name].split())
    shown = json_of(*(files.get(word, word) for word in command.split()))
    names = {name: getattr(mediaeval_ap, name) for name in mediaeval_ap.__all__}
    found = eval(call, names | {key.lower(): path for key, path in files.items()})
    values = [*found.values()] if isinstance(found, dict) else np.atleast_1d(found).tolist()
    assert values[-1] in shown['results'][0]['means'].values()


def test_the_picture_of_rankings_is_that_of_the_samples():
    script = runpy.run_path(str(ROOT / 'docs/images/rankings.py'))
    assert (ROOT / 'docs/images/rankings.svg').read_text() == script['as_svg']()


def test_the_figures_of_the_docs_are_those_of_the_samples():
    charts = runpy.run_path(str(ROOT / 'docs/images/figures.py'))['charts']()
    for name, chart in charts.items():
        picture = (ROOT / f'docs/images/{name}.svg').read_text()
        # Where marks and labels stand depends on the fonts of the machine, what they say does not.
        said = re.findall('aria-label="(.*?)"', picture)
        assert said == re.findall('aria-label="(.*?)"', render_chart(chart, 'svg'))
        assert len(said) > 3


def test_the_figure_of_the_tutorial_is_that_of_the_samples():
    chart = runpy.run_path(str(ROOT / 'docs/images/why_did_we_lose.py'))['chart']()
    said = re.findall('aria-label="(.*?)"', (ROOT / 'docs/images/why-did-we-lose.svg').read_text())
    assert said == re.findall('aria-label="(.*?)"', render_chart(chart, 'svg'))
    assert len(said) > 3


def test_the_pages_of_the_command_line_are_those_of_the_help():
    pages = runpy.run_path(str(ROOT / 'docs/command_line.py'))['pages']()
    folder = ROOT / 'docs/reference'
    assert {folder / 'cli.md', *folder.glob('cli/*.md')} == {*pages}
    assert [path.name for path, text in pages.items() if path.read_text() != text] == []


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
