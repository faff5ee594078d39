"""The command `watch`: what it prints as a run grows, and how it ends."""

import gzip
import hashlib
import html
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice

import commands
import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import ReadError
from mediaeval_ap.tables import reading
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.text import format

COMMAND = [*commands.COMMAND, 'watch']
run = partial(commands.run, 'watch')
RUN = ['x v 1 ann 0.9\n', 'x w 2 anne 0.8\n', 'x v 2 ann 0.7\n', 'x w 1 bob 0.5\n', 'x w 3 b 1\n']
HEADING = (
    'hypotheses  MAP@1  MAP@2  changed  n_queries\n----------  -----  -----  -------  ---------\n'
)
LINES = [
    '         2  0.500  0.250        1          2\n',
    '         4  1.000  1.000        2          2\n',
    '         5  1.000  1.000        0          2\n',
]
OPTIONS = ('-K', '1,2', '--every', '2')


def after_skipped(line, n):
    """A line with a count of skipped lines before its number of queries."""
    last = '          2\n'
    return f'{line.removesuffix(last)}        {n}{last}'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'reference.txt').write_text('x v 1 ann\nx v 2 ann\nx w 1 bob\n')
    (tmp_path / 'run.txt').write_text(''.join(RUN))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # of a subset, of queries
def test_json_lines_hold_what_python_gets(folder):
    (folder / 'subset.txt').write_text('x v\n')
    (folder / 'queries.txt').write_text('bob\nann\nbob\n')
    settings = {'subset': 'subset.txt', 'definition': 'by-k'}
    average_precision = AveragePrecision('reference.txt', [2, 1], **settings)
    result = run(
        *('reference.txt', 'run.txt', '-K', '2,1', '--every', '3', '--queries', 'queries.txt'),
        *('--format', 'jsonl', '--subset', 'subset.txt', '--definition', 'by-k'),
    )
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            'hypotheses': point.n_hypotheses,
            **dict(zip(['MAP@2', 'MAP@1'], point.map.tolist(), strict=True)),
            'changed': point.changed,
            'n_queries': 3,
        }
        for point in average_precision.watch('run.txt', 'queries.txt', every=3)
    ]


def test_standard_input_is_the_default(folder):
    for arguments in ['reference.txt'], ['reference.txt', '-', '--follow']:
        result = run(*arguments, *OPTIONS, input='\ufeff' + '\r\n\n'.join(map(str.strip, RUN)))
        assert result.stdout == HEADING + ''.join(LINES)


def test_other_formats_of_runs(folder):
    (folder / 'run.txt.gz').write_bytes(gzip.compress((folder / 'run.txt').read_bytes()))
    AveragePrecision('reference.txt').live('run.txt').save('run.parquet')
    assert run('reference.txt', 'run.txt.gz', *OPTIONS).stdout == HEADING + ''.join(LINES)
    assert run('reference.txt', 'run.parquet', *OPTIONS).stdout.splitlines()[-1] == LINES[-1][:-1]
    for name, kind in (('run.txt.gz', 'gzip'), ('run.parquet', 'Parquet')):
        result = run('reference.txt', name, '--follow')
        assert (result.exit_code, result.stdout) == (1, '')
        assert result.stderr == (f'Error: {name}: {kind} cannot be followed, only plain text\n')


WRONG = "line 3, confidence: found 'high', expected a finite decimal number\n"


def test_a_bad_line_is_an_error(folder):
    """What came before it is scored."""
    result = run('reference.txt', *OPTIONS, input=''.join([*RUN[:2], 'x v 1 ann high\n', *RUN[2:]]))
    assert (result.exit_code, result.stdout) == (1, HEADING + LINES[0])
    assert result.stderr == f'Error: <stdin>, {WRONG}'
    result = run('reference.txt', '-K', '1', input=''.join([*RUN[:3], 'x v 1 ann high\n']))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].split() == ['3', '0.500', '1', '2']


def test_bad_lines_are_skipped_and_counted(folder):
    text = ''.join([*RUN[:2], 'x v 1 ann high\n', *RUN[2:4], 'x\n', RUN[4]])
    result = run('reference.txt', *OPTIONS, '--skip-bad', input=text)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        'hypotheses  MAP@1  MAP@2  changed  skipped  n_queries',
        '----------  -----  -----  -------  -------  ---------',
        *(after_skipped(line, n)[:-1] for n, line in enumerate(LINES)),
    ]
    first, second, last = result.stderr.splitlines(keepends=True)
    assert first == f'Error: <stdin>, {WRONG}'
    assert second.startswith("Error: <stdin>, line 6: found 1 field in 'x'")
    assert last == 'skipped 2 wrong lines\n'
    result = run('reference.txt', *OPTIONS, '--skip-bad', '--format', 'jsonl', input=text)
    assert [json.loads(line)['skipped'] for line in result.stdout.splitlines()] == [0, 1, 2]


@pytest.mark.parametrize(
    ('text', 'options', 'found'),
    [
        ('\n', [], 'only blank lines'),
        ('x\n', ['--skip-bad'], 'no rows'),
    ],
)
def test_nothing_to_score_is_an_error(folder, text, options, found):
    result = run('reference.txt', *options, input=text)
    assert (result.exit_code, result.stdout) == (1, '')
    assert ('skipped 1 wrong line\n' in result.stderr) == bool(options)
    assert result.stderr.endswith(
        f'Error: <stdin>: found {found}, expected at least one of 5 fields: '
        'corpus_id video_id shot_id person_name confidence\n'
    )


@pytest.mark.parametrize(
    'arguments', [['--queries', '-'], ['run.txt', '--format', 'html'], ['run.txt', '-o', 'a.csv']]
)
def test_wrong_usage_is_exit_code_2(folder, arguments):
    assert run('reference.txt', *arguments).exit_code == 2


@contextmanager
def started(*arguments, **options):
    """The command, running; it is killed if the test fails meanwhile."""
    options = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options}
    with subprocess.Popen([*COMMAND, *arguments], text=True, bufsize=1, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_growing_file_is_followed_to_the_interrupt(folder):
    path = folder / 'run.txt'
    path.write_text(RUN[0])
    arguments = ('reference.txt', 'run.txt', *OPTIONS, '--follow', '--skip-bad')
    with started(*arguments) as process, open(path, 'a') as file:

        def grow(text):
            file.write(text)
            file.flush()

        grow(RUN[1][:6])
        grow(RUN[1][6:])
        shown = [process.stdout.readline() for _ in range(3)]
        assert shown[2] == after_skipped(LINES[0], 0)
        grow(''.join(RUN[2:4]))
        assert process.stdout.readline() == after_skipped(LINES[1], 0)
        grow(f'{RUN[4]}bad\nhalf a li')
        assert 'line 6' in process.stderr.readline()  # so the line before it was read
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stdout.read() == after_skipped(LINES[2], 1)
        assert process.stderr.read() == 'skipped 1 wrong line\n'


def test_a_reference_is_followed_while_the_run_is_scored(folder):
    (folder / 'empty.txt').touch()
    path = folder / 'judged.txt'
    path.touch()
    arguments = ('empty.txt', 'run.txt', '-K', '2', '--format', 'jsonl', '--follow-reference')
    with started(*arguments, 'judged.txt') as process, open(path, 'a') as file:
        for text, known in ('x v 2 ann\n', 1), ('x w 1 bob\nx v 1 ann\n', 3):
            file.write(text)
            file.flush()
            point = {}
            while point.get('reference_rows') != known or point['hypotheses'] != len(RUN):
                point = json.loads(process.stdout.readline())
            whole = AveragePrecision('judged.txt', [2]).evaluate('run.txt')
            assert point['MAP@2'] == whole.map[0]
            assert point['n_queries'] == len(whole.queries)
        file.write('x v 3\n')
        file.flush()
        assert process.wait() == 1
        error = 'Error: judged.txt, line 4: found 3 fields'
        assert process.stderr.read().splitlines()[-1].startswith(error)


def test_the_reference_may_be_the_file_that_is_followed(folder):
    text = (folder / 'reference.txt').read_text()
    ended = run('reference.txt', 'run.txt', '-K', '2', '--follow-reference', '-', input=text)
    assert ended.exit_code == 0  # its rows came twice, which this definition counts
    _, _, *lines = ended.stdout.splitlines()
    assert lines[-1].split()[:2] == ['5', '6']
    with started(
        'reference.txt', 'run.txt', *OPTIONS, '--follow-reference', 'reference.txt'
    ) as its:
        line = ''
        while line.split()[:2] != ['5', '3']:
            line = its.stdout.readline()
        its.send_signal(signal.SIGINT)
        assert its.wait() == 130


def test_a_page_of_a_followed_reference_needs_queries(folder):
    wrong = run('reference.txt', 'run.txt', '--follow-reference', 'r.txt', '-o', 'page.html')
    assert (wrong.exit_code, '--queries FILE beside it' in wrong.stderr) == (2, True)


def test_a_file_that_becomes_shorter_is_an_error(folder):
    with started('reference.txt', 'run.txt', *OPTIONS, '--follow') as process:
        assert [process.stdout.readline() for _ in range(4)][-1] == LINES[1]
        os.truncate('run.txt', 5)
        assert process.wait() == 1
        assert process.stderr.read() == ('Error: run.txt: became shorter while it was followed\n')


def test_half_a_line_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / 'run.txt'
    path.write_bytes(b'a\nb')
    with reading.open_arriving(ByteSource(path), True) as read_more, open(path, 'ab') as file:

        def grow(_):
            file.write(b'c\n')
            file.flush()

        monkeypatch.setattr(reading, 'sleep', grow)
        assert list(islice(format.whole_lines(read_more), 3)) == [b'a\n', b'bc\n', b'c\n']


def test_followed_lines_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(format, 'MAX_LINE_BYTES', 9)
    path = tmp_path / 'run.txt'
    path.write_bytes(b'ab\n' + b'ab' * 5)
    with reading.open_arriving(ByteSource(path), True) as read_more:
        blocks = format.whole_lines(read_more, 4)
        assert next(blocks) == b'ab\n'
        assert next(blocks) is None
    with (
        pytest.raises(ReadError, match='No such file'),
        reading.open_arriving(ByteSource('none'), True),
    ):
        pass


def on_a_terminal(columns=80, rows=24, term='xterm'):
    """What the command writes to standard output when that is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (rows, columns))
    environment = {**os.environ, 'TERM': term}
    for name in ('COLUMNS', 'LINES', 'NO_COLOR', 'FORCE_COLOR', 'TTY_INTERACTIVE'):
        environment.pop(name, None)
    done = subprocess.run(
        [*COMMAND, 'reference.txt', 'run.txt', *OPTIONS],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment,
        check=True,
    )
    os.close(theirs)
    assert done.stderr == b''
    shown = b''
    with suppress(OSError):  # at the end, on Linux
        while part := os.read(ours, 1 << 16):
            shown += part
    os.close(ours)
    return shown.decode()


def test_a_table_on_a_terminal_is_shown_anew(folder):
    shown = on_a_terminal()
    last_frame = shown[shown.rindex('hypotheses') :]
    assert [line.split() for line in last_frame.splitlines() if '.' in line] == [
        line.split() for line in LINES
    ]
    assert '\x1b[' in shown


@pytest.mark.parametrize('terminal', [{'term': 'dumb'}, {'columns': 30}, {'rows': 4}])
def test_a_terminal_that_cannot_show_it_gets_lines(folder, terminal):
    shown = on_a_terminal(**terminal)
    assert shown.replace('\r\n', '\n') == HEADING + ''.join(LINES)


def test_output_that_fails_is_said_to_be_the_output(folder):
    command = f'{" ".join(COMMAND)} reference.txt - < run.txt > /dev/full'
    done = subprocess.run(['bash', '-c', command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, 'Error: <stdout>: No space left on device\n')


def test_a_pipe_is_followed_after_its_writer_has_gone(folder):
    os.mkfifo('pipe')
    with started('reference.txt', 'pipe', *OPTIONS, '--follow') as process:
        for rows in (RUN[:2], RUN[2:4]):
            with open('pipe', 'w') as pipe:
                pipe.writelines(rows)
            lines = 3 if rows == RUN[:2] else 1
            shown = [process.stdout.readline() for _ in range(lines)]
            assert shown[-1] == LINES[0 if lines == 3 else 1]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_closed_pipe_is_no_traceback(folder):
    command = f'{" ".join(COMMAND)} reference.txt run.txt --every 1 | true'
    done = subprocess.run(['bash', '-c', command], capture_output=True, text=True, check=False)
    assert done.stderr == ''


def test_output_goes_to_a_file_in_the_format_of_its_suffix(folder):
    assert run('reference.txt', 'run.txt', *OPTIONS, '-o', 'points').stdout == ''
    assert (folder / 'points').read_text() == HEADING + ''.join(LINES)
    lines = run('reference.txt', 'run.txt', *OPTIONS, '--format', 'jsonl').stdout
    run('reference.txt', 'run.txt', *OPTIONS, '-o', 'points.jsonl.gz')
    assert gzip.decompress((folder / 'points.jsonl.gz').read_bytes()).decode() == lines


def test_a_pipe_gets_each_line_as_it_comes(folder):
    os.mkfifo('lines')
    with (
        started('reference.txt', *OPTIONS, '-o', 'lines', stdin=subprocess.PIPE) as process,
        open('lines', opener=lambda path, _: os.open(path, os.O_RDWR)) as lines,
    ):
        process.stdin.write(''.join(RUN[:2]))
        assert [lines.readline() for _ in range(3)][-1] == LINES[0]
        process.stdin.close()
        assert process.wait() == 0


def rows_of(path):
    """The points that a page shows, oldest first, each as the texts of its cells."""
    text = path.read_text(encoding='utf-8')
    (body,) = re.findall('id="points".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    rows = re.findall('<tr>(.*?)</tr>', body, re.DOTALL)[::-1]
    return [re.findall('<t[hd][^>]*>([^<]*)', row) for row in rows]


CELLS = [line.split()[:-1] for line in LINES]  # without the count, which stands in the caption


def test_a_page_has_all_points_and_what_was_watched(folder):
    result = run('reference.txt', 'run.txt', *OPTIONS, '-o', 'watch.html')
    assert (result.exit_code, result.output) == (0, '')
    assert rows_of(folder / 'watch.html') == CELLS
    text = (folder / 'watch.html').read_text()
    assert 'The run has ended' in text
    assert 'id="reload"' not in text
    assert hashlib.sha256((folder / 'reference.txt').read_bytes()).hexdigest() in text


def test_a_page_lists_warnings_and_errors(folder):
    lines = ''.join([RUN[0], 'x v 1 <b> high\n', 'x\n', *RUN[1:]])
    result = run('reference.txt', *OPTIONS, '--skip-bad', '-o', 'watch.html', input=lines)
    assert result.exit_code == 0
    text = (folder / 'watch.html').read_text()
    assert text.count('<li>&lt;stdin&gt;, line') == 2
    result = run('reference.txt', '--subset', 'all.txt', '-o', 'watch.html', input=lines)
    assert result.exit_code == 1  # there is no such file
    assert (folder / 'watch.html').read_text() == text
    (folder / 'w.txt').write_text('x w\n')
    (folder / 'q.txt').write_text('ann\n')
    options = ('--subset', 'w.txt', '--queries', 'q.txt', '-o', 'watch.html')
    result = run('reference.txt', *options, input=''.join([*RUN[:3], 'x v 1 ann high\n']))
    assert result.exit_code == 1
    warnings = re.findall('Warning: (.*)', result.stderr)
    text = (folder / 'watch.html').read_text()
    assert warnings
    assert all(f'<li>{html.escape(each, quote=False)}</li>' in text for each in warnings)
    assert 'The run ended with an error: &lt;stdin&gt;, line 4' in text


def test_a_page_is_written_as_the_run_grows_and_whole_after_a_signal(folder):
    path = folder / 'run.txt'
    path.write_text(''.join(RUN[:2]))
    options = (*OPTIONS, '--follow', '--skip-bad', '-o', 'watch.html')
    with started('reference.txt', 'run.txt', *options) as process:
        while not (folder / 'watch.html').exists():
            assert process.poll() is None
            time.sleep(0.05)
        assert rows_of(folder / 'watch.html') == CELLS[:1]
        assert 'The run was growing' in (text := (folder / 'watch.html').read_text())
        assert 'id="reload" data-seconds="5"' in text
        with open(path, 'a') as file:
            file.writelines([*RUN[2:], 'bad\n'])
        assert 'line 6' in process.stderr.readline()  # so the lines before it were read
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    assert rows_of(folder / 'watch.html') == CELLS
    assert 'The command was interrupted' in (folder / 'watch.html').read_text()
    assert not [each for each in os.listdir(folder) if each.endswith('.tmp')]
