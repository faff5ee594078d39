"""Each row of the page about other tools: both lines are called, and give the figure it shows."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import run_line
from trec_rows import qrels_text, run_text

import mediaeval_ap

PAGE = (Path(__file__).parents[2] / 'docs/migration.md').read_text()
ROWS = re.findall(r'^\| ([\w-]+)[ 0-9]* \| `(.*?)` \| `(.*?)` \| ([0-9.]+) \|$', PAGE, re.MULTILINE)
QRELS = {'7': {'d1': 1, 'd2': 0, 'd3': 1}, '8': {'d1': 1}}
RUN = {'7': {'d2': 0.9, 'd1': 0.5, 'd3': 0.4}, '8': {'d2': 0.9, 'd1': 0.5}}


def rows_of(by_topic):
    return [(topic, each, n) for topic, docs in by_topic.items() for each, n in docs.items()]


def names_of(tool):
    """The names that a row's line uses, imported as the documents of the tool do."""
    if tool == 'pytrec_eval':
        return {'pytrec_eval': pytest.importorskip('pytrec_eval')}
    if tool == 'ir_measures':
        library = pytest.importorskip('ir_measures')
        return {'ir_measures': library, 'AP': library.AP, 'RR': library.RR}
    if tool == 'ranx':
        return {'ranx': pytest.importorskip('ranx', reason='the extra benchmarks installs it')}
    if tool == 'scikit-learn':
        return vars(pytest.importorskip('sklearn.metrics'))
    pytest.skip(f'{tool} is large, or no package, or needs an older numpy')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'my.qrels').write_text(qrels_text(rows_of(QRELS)))
    (tmp_path / 'my.run').write_text(run_text(rows_of(RUN)))
    return tmp_path


def test_every_tool_has_a_row():
    assert {tool for tool, *_ in ROWS} == {
        *('trec_eval', 'pytrec_eval', 'ir_measures', 'ranx', 'torchmetrics', 'scikit-learn'),
        *('RecTools', 'revisitop', 'pytorch-metric-learning'),
    }
    assert PAGE.count('` | `') == len(ROWS), 'a row that is not read'


@pytest.mark.parametrize(('tool', 'theirs', 'here', 'figure'), ROWS)
def test_here_is_the_figure(tool, theirs, here, figure, files):
    if here.startswith('mediaeval-ap '):
        code, told = run_line(here, files)
        assert (code, told.split()[-1]) == (0, figure)
        return
    names = {'qrels': QRELS, 'run': RUN, 'metrics': mediaeval_ap.metrics}
    names['evaluate_trec'] = mediaeval_ap.evaluate_trec
    assert f'{eval(here, names):.4f}' == figure


@pytest.mark.filterwarnings('ignore')  # of the other tools
@pytest.mark.parametrize(('tool', 'theirs', 'here', 'figure'), ROWS)
def test_there_is_the_figure(tool, theirs, here, figure, files):
    if tool == 'trec_eval':
        if not shutil.which('trec_eval'):
            pytest.skip('trec_eval is a program in C, which no package index has')
        printed = subprocess.run(theirs.split(), capture_output=True, text=True, check=True).stdout
        assert printed.split()[-1] == figure
        return
    value = eval(theirs, {'qrels': QRELS, 'run': RUN, **names_of(tool)})
    assert f'{float(value):.4f}' == figure
