"""The process of the command: how signals end it, standard streams, and want of memory."""

import gzip
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import ir_measures
import pyarrow
import pytest
from click.testing import CliRunner
from hostile import interrupt
from pyarrow import csv, parquet

from mediaeval_ap import cli, tables
from mediaeval_ap.trec import measures

SEED = 66  # any would do: the moments are random all the same, as the machine's load is
SECONDS_TO_END = 60  # thousands of times what it takes: for what would hang
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


def slow(*cases):
    """Cases that only a slow run takes; `pytest.param` spreads what is a tuple over arguments."""
    given = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*case, marks=pytest.mark.slow) for case in given]


RUN = 'x v 1 ann 0.9\nx w 2 anne 0.8\nx v 2 ann 0.7\nx w 1 bob 0.5\n'

# The command after some lines of code, which change what it is made of.
SCRIPT = """
import os, signal, sys
number = getattr(signal, sys.argv[1])
def end(): os.kill(os.getpid(), number)
{}
from mediaeval_ap.__main__ import main
sys.argv[1:] = sys.argv[2:]
main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'reference.txt').write_text('x v 1 ann\nx v 2 ann\nx w 1 bob\n')
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'bad.txt').write_text('x v 1 ann high\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def started(code, number, *arguments, **options):
    """The command after some code, running; it is killed if the test fails meanwhile."""
    pipes = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.PIPE)
    command = [sys.executable, '-c', SCRIPT.format(code), number.name, *arguments]
    with subprocess.Popen(command, text=True, **{**pipes, **options}) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(code, number, *arguments):
    with started(code, number, *arguments) as process:
        stdout, stderr = process.communicate(timeout=SECONDS_TO_END)
    return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    ('make_inputs', 'jobs', 'tries'),
    [
        pytest.param(interrupt.copy_samples, ['export-trec'], 4, id='some'),
        pytest.param(
            *(interrupt.make_inputs, list(interrupt.JOBS), 60), id='all', marks=pytest.mark.slow
        ),
    ],
)
def test_interrupted_at_any_moment(tmp_path, make_inputs, jobs, tries):
    make_inputs(tmp_path)
    interrupter = interrupt.Interrupter(tmp_path)
    done = list(interrupt.tries(interrupter, jobs, tries, SEED))
    assert [str(each) for each in done if each.defect] == []
    assert {128 + number for number in ENDING} <= {each.ended.code for each in done}


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_waits_ends_at_once(folder, number):
    with started('', number, 'stream', 'reference.txt', 'run.txt', '-K', '1') as process:
        process.stdin.write('ann\n')
        process.stdin.flush()
        assert process.stdout.readline() == 'ann\t2\t1.0\n'
        process.send_signal(number)
        assert process.wait(SECONDS_TO_END) == 128 + number
        assert (process.stdout.read(), process.stderr.read()) == ('', '')


# What is stuck sleeps briefly, again and again: a signal just before a long sleep would not end it.
STUCK_IN_PYARROW = """
import time
from mediaeval_ap import tables
from mediaeval_ap.tables.text import arrow_reader
tables.reading.BULK_BYTES = 0
def stuck(*_):
    print('reading', flush=True)
    while True: time.sleep(0.01)
arrow_reader._normalised = stuck
"""


def test_pyarrow_reads_while_signals_are_taken(folder):
    """In the main thread, pyarrow handles signals itself, after seconds of reading."""
    number = signal.SIGINT  # which pyarrow would take
    with started(STUCK_IN_PYARROW, number, 'evaluate', 'reference.txt', 'run.txt') as process:
        assert process.stdout.readline() == 'reading\n'
        process.send_signal(number)
        assert process.wait(SECONDS_TO_END) == 128 + number
        assert (process.stdout.read(), process.stderr.read()) == ('', '')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_is_ignored_stays_so(folder, number):
    """As nohup asks for it."""
    code = 'signal.signal(number, signal.SIG_IGN)'
    with started(code, number, 'stream', 'reference.txt', 'run.txt') as process:
        process.stdin.write('ann\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        process.communicate(timeout=SECONDS_TO_END)
        assert process.returncode == 0


def test_importing_takes_no_signals():
    code = (
        'import signal\n'
        'def handlers(): return [signal.getsignal(each) for each in signal.valid_signals()]\n'
        'before = handlers()\n'
        'import mediaeval_ap\n'
        'for name in mediaeval_ap.__all__: getattr(mediaeval_ap, name)\n'
        'import mediaeval_ap.cli, mediaeval_ap.__main__\n'
        'assert handlers() == before\n'
    )
    subprocess.run([sys.executable, '-c', code], check=True)


def test_the_library_leaves_the_environment_as_it_is(folder):
    code = (
        'import os\n'
        'before = dict(os.environ)\n'
        'import mediaeval_ap, mediaeval_ap.cli, mediaeval_ap.__main__\n'
        "row = ('x', 'v', '1', 'ann')\n"
        'mediaeval_ap.AveragePrecision([row]).evaluate([(*row, 1)])\n'
        "evaluate = 'evaluate', 'reference.txt', 'run.txt', '--quiet'\n"
        'mediaeval_ap.cli.main(evaluate, standalone_mode=False)\n'
        'assert dict(os.environ) == before\n'
    )
    done = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE, check=True)
    assert b'MAP@' in done.stdout


SETTINGS = """
from mediaeval_ap import cli
def tell(**_):
    print(os.environ.get('OPENBLAS_NUM_THREADS'), 'numpy' in sys.modules)
cli.main = tell
"""


@pytest.mark.parametrize(
    ('command', 'given', 'threads'),
    [
        ('evaluate', None, '1'),
        ('evaluate', '3', '3'),
        ('compare', None, None),
        ('report', None, None),
    ],
)
def test_threads_of_matrix_products_are_chosen_before_numpy_is_loaded(
    monkeypatch, command, given, threads
):
    monkeypatch.delenv('OPENBLAS_NUM_THREADS', raising=False)
    if given is not None:
        monkeypatch.setenv('OPENBLAS_NUM_THREADS', given)
    assert ended(SETTINGS, signal.SIGINT, command) == (0, f'{threads} False\n', '')


@pytest.mark.parametrize('closed', ['0', '12', *slow('1', '2', '01', '02', '012')])
def test_closed_standard_streams(folder, closed):
    """Nothing goes to another stream than it should, nor into a file that is opened."""
    (folder / 'repeating.txt').write_text(RUN + RUN.splitlines()[0])

    def run(*arguments):
        command = f'{sys.executable} -m mediaeval_ap evaluate reference.txt {" ".join(arguments)}'
        for descriptor in closed:
            command += f' {descriptor}{"<" if descriptor == "0" else ">"}&-'
        given = '' if '0' in closed else RUN
        done = subprocess.run(['bash', '-c', command], input=given, capture_output=True, text=True)
        assert done.stdout == '' or '1' not in closed
        assert done.stderr == '' or '2' not in closed
        return done.returncode, done.stdout, done.stderr

    def said(text):
        return '' if '2' in closed else text

    table = CliRunner().invoke(cli.main, ['evaluate', 'reference.txt', 'run.txt']).stdout
    if '1' in closed:
        assert run('run.txt') == (1, '', said('Error: <stdout>: is closed\n'))
        message = 'Error: /dev/stdout: Bad file descriptor\n'
        assert run('run.txt', '-o', '/dev/stdout') == (1, '', said(message))
    else:
        assert run('run.txt') == (0, table, '')
    if '0' in closed:
        assert run('-') == (1, '', said('Error: <stdin>: is closed\n'))
    code, stdout, stderr = run('bad.txt')
    assert (code, stdout, 'Error: bad.txt' in stderr) == (1, '', '2' not in closed)
    code, stdout, stderr = run('no.txt', '--format', 'xml')
    assert (code, stdout, 'Usage: ' in stderr) == (2, '', '2' not in closed)
    code, stdout, stderr = run('repeating.txt', '-o', 'map.csv', '--format', 'csv')
    assert (code, stdout, 'Warning: ' in stderr) == (0, '', '2' not in closed)
    assert Path('map.csv').read_text().startswith('run,definition,query,AP@1,')
    assert 'Warning' not in Path('map.csv').read_text()
    assert Path('run.txt').read_text() == RUN


# Runs a command on little, then on much with no more than so many MiB beyond what it has by then.
# The run on little starts every thread of pyarrow: one that starts without memory aborts.
LIMITED = """
import resource, sys
import pyarrow
from mediaeval_ap import cli, tables
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
tables.reading.BULK_BYTES = int(sys.argv[2])
little = [*sys.argv[3:-1], 'small' + sys.argv[-1], '-o', 'result-of-small.txt']
cli.main(little, standalone_mode=False)
print('small', file=sys.stderr)
with open('/proc/self/statm') as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
limit = size + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
much = [*sys.argv[3:-1], 'large' + sys.argv[-1], '-o', 'result-of-large.txt']
cli.main(much, prog_name='mediaeval-ap')
"""
MANY = 200_000


@pytest.fixture
def runs(tmp_path, request):
    """Runs that are small and large, in the format of the test."""
    suffix = request.getfixturevalue('suffix')
    (tmp_path / 'reference.txt').write_text('x v 1 ann\n')
    (tmp_path / 'qrels.txt').write_text('7 0 d1 1\n')
    for name, n_rows in ('small', 2), ('large', MANY):
        path = tmp_path / f'{name}{suffix}'
        if suffix == '.trec':
            path.write_text(
                ''.join(f'7 Q0 d{row} 1 0.{row + 1} me\n' for row in range(10 * n_rows))
            )
            continue
        rows = [('x', f'v{row}', f's{row}', f'name{row}', row / MANY) for row in range(n_rows)]
        text = ''.join(f'{" ".join(map(str, row))}\n' for row in rows).encode()
        if suffix == '.parquet':
            columns = list(map(list, zip(*rows, strict=True)))
            parquet.write_table(pyarrow.table(columns, list(tables.HYPOTHESIS.fields)), path)
        else:
            path.write_bytes(gzip.compress(text, 1) if suffix == '.txt.gz' else text)
    return tmp_path


OUT_OF_MEMORY = (
    'Error: out of memory: give the command more, or less to do at once '
    '(fewer runs or queries, smaller cutoffs)\n'
)
# Seen in one of some hundred, and on a busy machine in one of six: glibc ends a process where a
# thread of pyarrow finds no room for its own data. Nothing of Python runs then, so nothing is told.
BY_GLIBC = 'cannot allocate memory for thread-local data: ABORT'


@pytest.mark.skipif(not os.path.exists('/proc/self/statm'), reason='needs to know its size')
@pytest.mark.parametrize(
    ('suffix', 'bulk_bytes', 'mib', 'command'),
    [
        ('.txt', 0, 16, 'evaluate reference.txt'),
        ('.parquet', 0, 24, 'evaluate reference.txt'),
        *slow(
            ('.txt', 1 << 40, 8, 'evaluate reference.txt'),
            ('.txt', 1 << 40, 24, 'evaluate reference.txt'),
            ('.txt', 0, 8, 'evaluate reference.txt'),
            ('.txt.gz', 0, 8, 'evaluate reference.txt'),
            ('.parquet', 0, 8, 'evaluate reference.txt'),
            ('.txt', 0, 8, 'validate --rules none'),
            ('.trec', 0, 8, 'evaluate-trec qrels.txt'),
        ),
    ],
)
def test_out_of_memory(runs, suffix, bulk_bytes, command, mib):
    arguments = [str(mib), str(bulk_bytes), *command.split(), suffix]
    for _ in range(8):
        done = subprocess.run(
            [sys.executable, '-c', LIMITED, *arguments],
            cwd=runs,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_TO_END,
        )
        assert not (runs / 'result-of-large.txt').exists()
        if BY_GLIBC not in done.stderr:
            break
    assert done.stderr.partition('small\n')[2] == OUT_OF_MEMORY
    assert (done.returncode, done.stdout) == (1, '')


@pytest.mark.parametrize(
    'error',
    [
        MemoryError(),
        pyarrow.ArrowMemoryError('malloc of size 64 failed'),
        RuntimeError("can't start new thread"),
        ImportError('libarrow.so: failed to map segment from shared object'),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ('owner', 'name', 'arguments'),
    [
        (csv, 'read_csv', ['evaluate', 'reference.txt', 'run.txt']),
        (csv, 'read_csv', ['map', 'truth.csv', 'truth.csv']),
        (parquet.ParquetFile, '__init__', ['evaluate', 'reference.txt', 'run.parquet']),
        (ir_measures, 'iter_calc', ['evaluate', 'reference.txt', 'run.txt', '--measures', 'RR']),
        (
            measures,
            '_checked_measure',
            ['evaluate', 'reference.txt', 'run.txt', '--measures', 'RR'],
        ),
    ],
)
def test_lack_of_memory_is_never_taken_for_another_error(
    folder, monkeypatch, owner, name, arguments, error
):
    def fail(*_, **__):
        raise error

    if owner in (ir_measures, measures) and not isinstance(error, MemoryError):
        pytest.skip('of the tools behind it, every error but lack of memory is said as theirs')
    (folder / 'truth.csv').write_text('customer_id,prediction\nu,7\n')
    (folder / 'run.parquet').write_bytes(b'PAR1\x15')
    monkeypatch.setattr(tables.reading, 'BULK_BYTES', 0)
    monkeypatch.setattr(owner, name, fail)
    result = CliRunner().invoke(cli.main, arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, '', OUT_OF_MEMORY)


def test_other_errors_of_these_kinds_are_not_hidden(folder, monkeypatch):
    for error in RuntimeError('a defect'), ImportError('another'):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(cli.options, 'read_reference', fail)
        result = CliRunner().invoke(cli.main, ['evaluate', 'reference.txt', 'run.txt'])
        assert result.exception is error
