"""The comparison with published figures, on a clone that the test makes."""

import importlib
import re
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
BENCHMARKS = PROJECT / 'benchmarks'
FILES = {
    'qrels': 'q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n',
    'good.run': 'q1 Q0 a 1 2 x\nq2 Q0 c 1 1 x\n',
    'late.run': 'q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 c 1 1 x\n',
    'README.md': '| good | 1.000 |\n| late | 1.00 |\n| lost | 0.500 |\n',
}
TABLE = """
[expressions]
cell = '^\\| (?P<run>\\w+) \\| (?P<figures>[\\d.]+)'
["me/mine@{commit}"]
printed = ["README.md", "{cell}"]
files = ["qrels", "{run}.run"]
instead = ["good.run"]
["nobody/nothing@0123456789012345678901234567890123456789"]
files = ["qrels", "{run}.run"]
figures = "good 1.000"
"""


@pytest.fixture
def published(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module('published')


def git(clone, *arguments):
    who = ['-c', 'user.name=me', '-c', 'user.email=me@example.org', '-c', 'commit.gpgsign=false']
    command = ['git', '-C', clone, *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def results(published, tmp_path, monkeypatch, commit):
    (tmp_path / 'sources.toml').write_text(TABLE.replace('{commit}', commit))
    monkeypatch.setattr(published, 'SOURCES', tmp_path / 'sources.toml')
    monkeypatch.setattr(published, 'ProcessPoolExecutor', ThreadPoolExecutor)
    monkeypatch.setattr(published.machine, 'RESULTS', tmp_path / 'results')
    monkeypatch.setattr('sys.argv', ['published.py', str(tmp_path)])
    published.main()
    return (tmp_path / 'results/published.md').read_text()


def test_figures_equal_or_with_a_cause_and_what_is_not_there(published, tmp_path, monkeypatch):
    clone = tmp_path / 'me+mine'
    clone.mkdir()
    for name, content in FILES.items():
        (clone / name).write_text(content)
    git(clone, 'init', '-q')
    git(clone, 'add', '.')
    git(clone, 'commit', '-q', '-m', 'all')
    commit = git(clone, 'rev-parse', 'HEAD')
    page = results(published, tmp_path, monkeypatch, commit)
    assert '1 repositories, 1 parts, 2 runs, 2 figures: 1 equal in all printed digits' in page
    assert ', 1 not, 0 of them without a cause.' in page
    link = f'[me/mine](https://github.com/me/mine/tree/{commit})'
    assert f'| {link} | `README.md` |  | 2 | 2 | 1 | 1 | 1 | 1 |' in page
    assert '| me/mine | late | `good.run`, rounded | 1 | AP 1.00 | 0.750000 | 1.000000 |' in page
    assert '- me/mine: 1 runs' in page
    assert '- nobody/nothing: no clone, or at another commit' in page
    (clone / 'README.md').write_text('')
    git(clone, 'commit', '-q', '-a', '-m', 'less')
    page = results(published, tmp_path, monkeypatch, commit)
    assert '0 repositories' in page
    assert '- me/mine: no clone, or at another commit' in page


def test_each_file_of_an_archive_is_a_topic(published, tmp_path):
    clone = tmp_path / 'me+mine'
    clone.mkdir()
    with zipfile.ZipFile(clone / 'gold.zip', 'w') as archive:
        for name, content in {'in/q1.tsv': 'a true\nb false\n', 'in/q2.tsv': 'a false\n'}.items():
            archive.writestr(name, content)
    source = {'repository': 'me/mine', 'clone': clone}
    files = published.matches(source, 'gold.zip!in/{topic}.tsv')
    rows = published.table(files, r'^(?P<document>\w) (?P<value>\w+)')
    assert rows == [('q1', 'a', 1), ('q1', 'b', 0), ('q2', 'a', 0)]


def test_the_tables_of_the_documents_have_the_totals_of_the_page():
    page = (BENCHMARKS / 'results/published.md').read_text()
    totals = re.search(r'(\d+) repositories, .* ([\d,]+) figures: ([\d,]+) equal', page)
    repositories, figures, equal = totals.groups()
    document = (PROJECT / 'docs/published-figures.md').read_text()
    rows = re.findall(r'^\|.*\| ([\d,]+) \| ([\d,]+) \|$', document, re.MULTILINE)
    sums = [sum(int(row[i].replace(',', '')) for row in rows) for i in range(2)]
    assert [f'{total:,}' for total in sums] == [figures, equal]
    assert f'{figures} figures of' in ' '.join(document.split())
    assert f'that {repositories} public repositories print' in (PROJECT / 'README.md').read_text()
