"""Evaluations, rankings and definitions as text."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mediaeval_ap import AveragePrecision, errors
from mediaeval_ap.files import write_all_whole
from mediaeval_ap.report import (
    FORMATS,
    point_headers,
    render_answer,
    render_definitions,
    render_evaluations,
    render_point,
    render_point_headers,
    render_ranking,
    write_whole,
)
from mediaeval_ap.report.grids import Grid
from mediaeval_ap.tables import QUERIES, read

REFERENCE = [('x', 'v', '1', 'a|b_c'), ('x', 'v', '2', 'é\x1b[31m')]
RUN = [('x', 'v', '1', 'a|b_c', 1 / 3), ('x', 'v', '2', 'a|b_c', 0.25)]


@pytest.fixture
def evaluation():
    with pytest.warns(errors.WithoutRelevantWarning):
        return AveragePrecision(REFERENCE, [1, 2]).evaluate(RUN, ['a|b_c', 'é\x1b[31m', 'none'])


TABLE = r"""<rows> (mediaeval-2016)

query        AP@1    AP@2    n_relevant
---------  ------  ------  ------------
a|b_c       1.000   1.000             1
é\x1b[31m   0.000   0.500             1
none        1.000   1.000             0

MEAN AVERAGE PRECISION      3 queries
------------------------  -----------
MAP@1                           0.667
MAP@2                           0.833

1 of 3 queries have no relevant shot: each counts 1, and an empty run has MAP 0.333
"""

RUNS = """run     definition        MAP@1    MAP@2
------  --------------  -------  -------
<rows>  mediaeval-2016    0.667    0.833
<rows>  mediaeval-2016    0.667    0.833
"""


def test_table(evaluation):
    assert render_evaluations([evaluation]) == TABLE


def test_table_of_means(evaluation):
    lines = TABLE.splitlines(keepends=True)
    assert render_evaluations([evaluation], mean_only=True) == ''.join(lines[:2] + lines[8:])


def test_several_runs(evaluation):
    assert render_evaluations([evaluation] * 2) == '\n'.join([TABLE, TABLE, RUNS])
    assert render_evaluations([evaluation] * 2, mean_only=True) == RUNS


def test_csv_holds_every_value_exactly(evaluation):
    rows = list(csv.reader(io.StringIO(render_evaluations([evaluation] * 2, 'csv'))))
    assert rows[0] == ['run', 'query', 'AP@1', 'AP@2', 'n_relevant']
    assert rows[2] == ['<rows>', 'é\x1b[31m', '0.0', '0.5', '1']
    assert len(rows) == 7
    means = list(csv.reader(io.StringIO(render_evaluations([evaluation], 'csv', mean_only=True))))
    assert means[0] == ['run', 'definition', 'MAP@1', 'MAP@2']
    assert [float(value) for value in means[1][2:]] == evaluation.map.tolist()


def test_csv_quotes_what_would_break_a_row():
    names = ['a\rb', 'a\nb', 'a,b', 'a"b', 'a b']
    text = Grid(['query', 'AP@1'], [[name, 0.5] for name in names]).render('csv')
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=''))][1:] == names
    assert '\r\n' not in text


def test_one_query_is_one():
    evaluation = AveragePrecision(REFERENCE, [1]).evaluate(RUN, ['a|b_c'])
    assert 'PRECISION      1 query\n' in render_evaluations([evaluation])


def test_json(evaluation):
    assert json.loads(render_evaluations([evaluation], 'json')) == evaluation.to_dict()
    assert json.loads(render_evaluations([evaluation] * 2, 'json')) == [evaluation.to_dict()] * 2
    means = json.loads(render_evaluations([evaluation], 'json', mean_only=True))
    assert set(evaluation.to_dict()) - set(means) == {'queries', 'n_relevant', 'ap'}


def test_json_lines(evaluation):
    lines = render_evaluations([evaluation], 'jsonl').splitlines()
    assert json.loads(lines[1]) == {
        'run': '<rows>',
        'query': 'é\x1b[31m',
        'AP@1': 0.0,
        'AP@2': 0.5,
        'n_relevant': 1,
    }
    (means,) = render_evaluations([evaluation], 'jsonl', mean_only=True).splitlines()
    assert json.loads(means)['MAP@2'] == evaluation.map[1]


def test_markdown_shows_names_as_they_are(evaluation):
    lines = render_evaluations([evaluation], 'markdown').splitlines()
    assert lines[0] == '**`<rows>` (mediaeval-2016)**'
    assert lines[4] == r'| `a\|b_c`    |  1.000 |  1.000 |            1 |'
    assert lines[5] == r'| `é\x1b[31m` |  0.000 |  0.500 |            1 |'
    assert '| `` a`b ``' in Grid(['query'], [['a`b']]).render('markdown')
    assert '| ```` a```b`` ````' in Grid(['query'], [['a```b``']]).render('markdown')


def test_latex_escapes_names(evaluation):
    text = render_evaluations([evaluation], 'latex')
    assert text.startswith('% <rows> (mediaeval-2016)\n')
    assert r' a|b\_c ' in text
    assert r'n\_relevant \\' in text
    assert '\x1b' not in text


def test_latex_rows_do_not_begin_with_an_argument():
    text = Grid(['query', 'AP@1'], [['[a]', 0.5], ['*b', 0.5]]).render('latex')
    assert '\n {}[a]' in text
    assert '\n {}*b' in text


@pytest.mark.parametrize('format', FORMATS)
def test_names_are_never_numbers(format):
    text = Grid(['query', 'AP@1'], [['1e3', 0.5], ['nan', 0.25]]).render(format)
    assert '1e3' in text
    assert 'nan' in text


@pytest.mark.parametrize('format', FORMATS)
def test_no_rows(format):
    assert isinstance(Grid(['query', 'AP@1'], []).render(format), str)


def test_ranking():
    ranking = AveragePrecision(REFERENCE).rank(RUN, 'a|b_c')
    lines = render_ranking(ranking).splitlines()
    assert lines[0].split() == list(ranking.columns)
    assert lines[2].split() == [
        *('1', 'x', 'v', '1', 'a|b_c', '0.000', '0.3333333333333333', '1', 'yes', '1.000')
    ]
    assert json.loads(render_ranking(ranking, 'json')) == ranking.to_dict('records')


def test_points_and_answers_without_a_cutoff():
    """A header that is shorter than the value below it does not shift what follows.

    The first query's shot stands first, the other one's second.
    """
    (point,) = AveragePrecision(REFERENCE, ['all', 1]).watch(RUN)
    assert render_point_headers(point_headers(['all', 1])) + render_point(point, ['all', 1]) == (
        'hypotheses    MAP  MAP@1  changed\n'
        '----------  -----  -----  -------\n'
        '         2  0.750  0.500        2\n'
    )
    line = json.loads(render_point(point, ['all', 1], 'jsonl'))
    assert list(line) == ['hypotheses', 'MAP', 'MAP@1', 'changed']
    answer = json.loads(render_answer('ann', [0.5, 1.0], 2, [1, 'all'], 'jsonl'))
    assert answer == {'query': 'ann', 'n_relevant': 2, 'AP@1': 0.5, 'AP': 1.0}


def test_definitions():
    text = render_definitions()
    assert 'mediaeval-2016 (default)\n    AP@k            S(k) / min(R, k, N)\n' in text
    described = json.loads(render_definitions('json'))
    assert [each['name'] for each in described if each['without_relevant'] == 1] == [
        'mediaeval-2016',
        'mediaeval-2016-final',
    ]


def test_written_whole(tmp_path):
    path = tmp_path / 'map.txt'
    write_whole(path, 'é\n')
    assert path.read_bytes() == 'é\n'.encode()
    path.chmod(0o640)
    write_whole(path, 'new')
    assert path.read_text() == 'new'
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ['map.txt']


@pytest.mark.parametrize('suffix', ['.gz', '.BZ2', '.xz', '.zst'])
def test_written_as_it_is_read(tmp_path, suffix):
    path = tmp_path / f'queries{suffix}'
    write_whole(path, 'zoé\n' * 100)
    stored = path.read_bytes()
    assert len(stored) < 100
    assert read(path, QUERIES).texts('person_name') == ['zoé'] * 100
    write_whole(path, 'zoé\n' * 100)
    assert path.read_bytes() == stored
    write_whole(path, b'as it is')
    assert path.read_bytes() == b'as it is'


def test_written_through_a_link(tmp_path):
    (tmp_path / 'link').symlink_to(tmp_path / 'map.txt')
    write_whole(tmp_path / 'link', 'text')
    assert (tmp_path / 'link').is_symlink()
    assert (tmp_path / 'map.txt').read_text() == 'text'


def test_written_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with subprocess.Popen(['cat', tmp_path / 'pipe'], stdout=subprocess.PIPE) as reader:
        write_whole(tmp_path / 'pipe', 'text')
        assert reader.communicate()[0] == b'text'


def test_written_to_pipes_in_their_order(tmp_path):
    """Whoever reads one to its end before the next is not kept waiting."""
    pipes = [tmp_path / name for name in 'badc']
    for pipe in pipes:
        os.mkfifo(pipe)
    with subprocess.Popen(['cat', *pipes], stdout=subprocess.PIPE) as reader:
        write_all_whole({pipe: pipe.name for pipe in pipes})
        assert reader.communicate()[0] == b'badc'


@pytest.mark.skipif(not os.path.isdir('/dev/shm'), reason='no files below /dev on this system')
def test_a_file_below_dev_is_a_file():
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        path = os.path.join(folder, 'map.txt')
        write_whole(path, 'old')
        write_whole(path, 'new')
        assert Path(path).read_text() == 'new'


def test_written_to_what_is_open_already(tmp_path):
    """/dev/stdout is the stream, not the file behind it: what stands there stays."""
    script = 'from mediaeval_ap.report import write_whole; write_whole("/dev/stdout", "new")'
    (tmp_path / 'log').write_text('old ')
    with open(tmp_path / 'log', 'a') as log:
        subprocess.run([sys.executable, '-c', script], stdout=log, check=True)
    assert (tmp_path / 'log').read_text() == 'old new'
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, check=True)
    assert done.stdout == b'new'


@pytest.mark.parametrize('path', ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])
def test_written_between_what_others_write(tmp_path, path):
    script = f'from mediaeval_ap.files import write_whole; write_whole("{path}", "new\\n")'
    shell = f"(echo first; {sys.executable} -c '{script}'; echo last) > out"
    subprocess.run(['sh', '-c', shell], cwd=tmp_path, check=True)
    assert (tmp_path / 'out').read_text() == 'first\nnew\nlast\n'


def test_not_written_where_writing_would_not_be_allowed(tmp_path, monkeypatch):
    path = tmp_path / 'map.txt'
    path.write_text('old')
    monkeypatch.setattr(os, 'access', lambda *_, **__: False)  # the tests' user may have all rights
    with pytest.raises(errors.WriteError, match=r'map\.txt: Permission denied'):
        write_whole(path, 'new')
    assert path.read_text() == 'old'
    assert os.listdir(tmp_path) == ['map.txt']


def test_written_under_a_long_name(tmp_path):
    path = tmp_path / ('名' * 84)
    write_whole(path, 'text')
    assert path.read_text() == 'text'


@pytest.mark.parametrize('path', ['missing/map.txt', '.', 'missing/', 'loop'])
def test_not_written(tmp_path, path):
    (tmp_path / 'loop').symlink_to(tmp_path / 'loop')
    with pytest.raises(errors.WriteError, match=str(tmp_path)):
        write_whole(f'{tmp_path}/{path}', 'text')
    assert os.listdir(tmp_path) == ['loop']
    with pytest.raises(errors.WriteError):
        write_whole('', 'text')


def test_failed_write_leaves_the_old_file(tmp_path):
    """A limit on file sizes stands for the full disk."""
    path = tmp_path / 'map.txt'
    path.write_text('old')
    script = (
        'import resource, signal, sys\n'
        'from mediaeval_ap.errors import WriteError\n'
        'from mediaeval_ap.report import write_whole\n'
        'signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n'
        'resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n'
        'try:\n'
        '    write_whole(sys.argv[1], "new" * 1000)\n'
        'except WriteError as error:\n'
        '    print(error)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', script, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == f'{path}: File too large\n'
    assert path.read_text() == 'old'
    assert os.listdir(tmp_path) == ['map.txt']


@pytest.mark.parametrize(
    'render',
    [
        lambda: Grid(['query'], [['ann']]).render('xml'),
        lambda: render_definitions('xml'),
        lambda: render_answer('ann', [1.0], 1, [1], 'xml'),
    ],
)
def test_unknown_formats(render):
    with pytest.raises(errors.ParameterError, match="format: found 'xml', expected one of "):
        render()


def test_unknown_format_of_evaluations(evaluation):
    with pytest.raises(errors.ParameterError, match="format: found 'xml', expected one of table, "):
        render_evaluations([evaluation], 'xml')


def test_answers():
    assert render_answer('é', [0.1 + 0.2, 1.0], 3, [1, 2]) == 'é\t3\t0.30000000000000004\t1.0\n'
