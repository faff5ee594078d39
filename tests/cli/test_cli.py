"""The command: what it prints where, and with what exit code."""

import gzip
import itertools
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mediaeval_ap import AveragePrecision, __version__, definitions
from mediaeval_ap.cli import main
from mediaeval_ap.errors import WithoutRelevantWarning, printable
from mediaeval_ap.report.document import Document, Grid
from mediaeval_ap.report.formats import ANSWER_FORMATS, FORMATS, render
from mediaeval_ap.results import describe
from mediaeval_ap.tables import lines

COMMAND = [sys.executable, '-m', 'mediaeval_ap']
REFERENCE = 'x v 1 ann\nx v 2 ann\nx w 1 bob\n'
RUN = 'x v 1 ann 0.9\nx w 2 anne 0.8\nx v 2 ann 0.7\nx w 1 bob 0.5\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'reference.txt').write_text(REFERENCE)
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'queries.txt').write_text('bob\nann\n')
    (tmp_path / 'subset.txt').write_text('x w\n')
    (tmp_path / 'bad.txt').write_text('x v 1 ann 0.9\nx v 1 ann high\nx v 1\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, input=None):
    return CliRunner().invoke(main, arguments, input=input, catch_exceptions=False)


def expected(*queries, K=(1, 10, 100, 1000), **options):
    return AveragePrecision('reference.txt', K, **options).evaluate('run.txt', queries or None)


def test_table(folder):
    result = run('evaluate', 'reference.txt', 'run.txt')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == render(describe([expected()]), 'table')


@pytest.mark.parametrize('format', FORMATS)
def test_options(folder, format):
    result = run(
        *('evaluate', 'reference.txt', 'run.txt', '--queries', 'queries.txt', '--subset'),
        *('subset.txt', '-K', '2,1', '--definition', 'trec', '--format', format),
    )
    told = 'reference.txt: 1 of 2 queries have no relevant shot: each counts 0'
    assert (result.exit_code, result.stderr) == (0, f'Warning: {told}\n')
    average_precision = AveragePrecision(
        'reference.txt', [2, 1], subset='subset.txt', definition='trec'
    )
    with pytest.warns(WithoutRelevantWarning, match=f'^{told}$'):
        evaluation = average_precision.evaluate('run.txt', 'queries.txt')
    assert result.stdout == render(describe([evaluation]), format)


def test_several_runs(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', 'run.txt', '--mean-only')
    assert result.stdout == render(describe([expected()] * 2, mean_only=True), 'table')


def test_output_file(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'csv', '-o', 'map.csv')
    assert (result.exit_code, result.output) == (0, '')
    assert Path('map.csv').read_text() == render(describe([expected()]), 'csv')


def test_nothing_is_written_when_a_run_is_wrong(folder):
    Path('map.csv').write_text('old')
    result = run('evaluate', 'reference.txt', 'run.txt', 'bad.txt', '-o', 'map.csv')
    assert (result.exit_code, result.stdout) == (1, '')
    assert Path('map.csv').read_text() == 'old'
    assert sorted(os.listdir()) == [
        *('bad.txt', 'map.csv', 'queries.txt', 'reference.txt', 'run.txt', 'subset.txt')
    ]


def outputs_and_inputs():
    for name, command in main.commands.items():
        params = {each.name: each for each in command.params}
        paths = {each for each in params if isinstance(params[each].type, click.Path)}
        outputs = {each for each in paths if not params[each].type.dir_okay}
        yield from ((name, *pair) for pair in itertools.product(outputs, paths - outputs))


@pytest.mark.parametrize(('command', 'output', 'read'), sorted(outputs_and_inputs()))
def test_no_input_is_written_over(folder, command, output, read):
    arguments = []
    for each in main.commands[command].params:
        if each.name in (output, read):
            value = './run.txt' if each.name == output else 'run.txt'
        elif each.required or 'evidence' in each.name:  # evidence and its reference go together
            value = f'{each.name}.txt'
        else:
            continue
        arguments += [each.opts[0], value] if isinstance(each, click.Option) else [value]
    result = run(command, *arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'refusing to overwrite ./run.txt: it is an input\n' in result.stderr
    assert (folder / 'run.txt').read_text() == RUN


def test_standard_input_is_not_written_over(folder):
    name = folder / 'run\x1b[31m.txt'
    name.write_text(RUN)
    with open(name) as stdin:
        done = subprocess.run(
            [*COMMAND, 'evaluate', 'reference.txt', '-', '-o', name],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, '')
    assert 'run\\x1b[31m.txt: it is an input\n' in done.stderr
    assert '\x1b' not in done.stderr
    assert name.read_text() == RUN


@pytest.mark.parametrize('role', ['reference', 'run', 'queries', 'subset'])
def test_standard_input(folder, role):
    names = {name: f'{name}.txt' for name in ('reference', 'run', 'queries', 'subset')}
    text = Path(names[role]).read_text()
    before = run(
        *('evaluate', names['reference'], names['run'], '--queries', names['queries']),
        *('--subset', names['subset'], '--format', 'csv'),
    )
    names[role] = '-'
    after = run(
        *('evaluate', names['reference'], names['run'], '--queries', names['queries']),
        *('--subset', names['subset'], '--format', 'csv'),
        input=text,
    )
    assert after.exit_code == 0
    assert after.stdout == before.stdout.replace('run.txt', names['run'].replace('-', '<stdin>'))


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['missing.txt', 'run.txt'], 'Error: missing.txt: No such file or directory\n'),
        (['.', 'run.txt'], 'Error: .: Is a directory\n'),
        (
            ['reference.txt', 'bad.txt'],
            "Error: bad.txt, line 2, confidence: found 'high', expected a finite decimal number "
            '(1 more wrong line)\n',
        ),
        (
            ['reference.txt', 'reference.txt'],
            "Error: reference.txt, line 1: found 4 fields in 'x v 1 ann', expected 5 fields: "
            'corpus_id video_id shot_id person_name confidence; its first row fits a reference '
            'file: are two files exchanged? (2 more wrong lines)\n',
        ),
        (
            ['reference.txt', 'run.txt', '-o', 'missing/map.txt'],
            'Error: missing/map.txt: No such file or directory\n',
        ),
    ],
)
def test_wrong_data_is_one_line_and_exit_code_1(folder, arguments, message):
    result = run('evaluate', *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, '', message)


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (b'', 'found no rows, expected at least one of 5 fields: '),
        (b'a b c d \xff\n', 'line 1: found invalid UTF-8 at byte 9 (0xff), expected UTF-8'),
        (b'a b\0 c d 1\n', 'line 1: found a NUL byte at byte 4, expected text'),
    ],
)
def test_content_that_is_no_text(folder, content, message):
    Path('bytes.txt').write_bytes(content)
    result = run('evaluate', 'reference.txt', 'bytes.txt')
    assert (result.exit_code, result.stdout) == (1, '')
    assert message in result.stderr
    assert result.stderr.count('\n') == 1


def test_truncated_gzip(folder):
    Path('run.txt.gz').write_bytes(gzip.compress(RUN.encode())[:-9])
    result = run('evaluate', 'reference.txt', 'run.txt.gz')
    assert result.exit_code == 1
    assert result.stderr.startswith(
        'Error: run.txt.gz: not readable as .gz: Compressed file ended before'
    )
    assert result.stderr.count('\n') == 1


@pytest.mark.parametrize('redirection', ['<&-', '>&-', '> /dev/full'])
def test_standard_streams_that_do_not_work(folder, redirection):
    reference = '-' if '<' in redirection else 'reference.txt'
    command = f'{" ".join(COMMAND)} evaluate {reference} run.txt {redirection}'
    done = subprocess.run(['bash', '-c', command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr in {
        'Error: <stdin>: is closed\n',
        'Error: <stdout>: is closed\n',
        'Error: <stdout>: No space left on device\n',
    }


@pytest.mark.parametrize(
    'arguments',
    [
        [],
        ['reference.txt'],
        ['reference.txt', 'run.txt', '-K', '0'],
        ['reference.txt', 'run.txt', '-K', '1,'],
        ['reference.txt', 'run.txt', '-K', '1.5'],
        ['reference.txt', 'run.txt', '-K', 'ALL'],
        ['reference.txt', 'run.txt', '-K', '1', '-K', ''],
        ['reference.txt', 'run.txt', '-K', '9' * 5000],
        ['reference.txt', 'run.txt', '--definition', 'map'],
        ['reference.txt', 'run.txt', '--format', 'xml'],
        ['-', '-'],
        ['reference.txt', '-', '--queries', '-'],
    ],
)
def test_wrong_usage_is_exit_code_2(folder, arguments):
    result = run('evaluate', *arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'Traceback' not in result.stderr


def test_cutoffs_of_several_options_add_up(folder):
    K = [2, 'all', 1]
    after = expected(K=K)
    for options in (['-K', '2,all,1'], ['-K', '2', '-K', 'all', '-K', '1'], ['-K2,all', '-K1']):
        result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'json', *options)
        assert json.loads(result.stdout) == after.to_dict()
    result = run('evaluate', 'reference.txt', 'run.txt', *options, '--mean-only', '--format', 'csv')
    assert result.stdout.splitlines()[0] == 'run,definition,MAP@2,MAP,MAP@1'


CUTOFF_COMMANDS = sorted(
    name for name, each in main.commands.items() if 'cutoffs' in {p.name for p in each.params}
)


@pytest.mark.parametrize('command', CUTOFF_COMMANDS)
@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['-K', '5,5'], 'K: found 5 twice, expected each cutoff once'),
        (['-K', '1,5', '-K', '05'], 'K: found 5 twice, expected each cutoff once'),
        (['-K', 'all', '-K', 'all'], 'K: found all twice, expected each cutoff once'),
        (
            ['-K', '5,all', '--definition', 'by-k'],
            'K: found all, expected numbers: by-k divides by k',
        ),
    ],
)
def test_cutoffs_that_are_no_use(folder, command, options, message):
    """Before anything is read."""
    result = run(command, 'missing.txt', 'missing.txt', *options)
    assert (result.exit_code, result.stdout) == (2, '')
    assert result.stderr.endswith(f'Error: {message}\n')


def options_given_once():
    for name, command in main.commands.items():
        for option in command.params:
            if isinstance(option, click.Option) and not option.multiple:
                yield name, option.name


@pytest.mark.parametrize(('command', 'twice'), sorted(options_given_once()))
def test_an_option_is_given_once(folder, command, twice):
    arguments = []
    for each in main.commands[command].params:
        if isinstance(each, click.Argument):
            arguments.append('run.txt')
        elif each.name == twice or each.required or 'evidence' in each.name:
            value = [] if each.is_flag else [_some(each)]
            arguments += [each.opts[0], *value] * (1 + (each.name == twice))
    (option,) = (each for each in main.commands[command].params if each.name == twice)
    result = run(command, *arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert result.stderr.endswith(f'Error: {option.opts[-1]} is given twice\n')
    assert run(command, *arguments, '--help').exit_code == 0


def _some(option):
    """A value that an option takes."""
    if isinstance(option.type, click.Choice):
        return option.type.choices[0]
    numbers = click.IntRange | click.types.FloatParamType
    return '1' if isinstance(option.type, numbers) else 'RR'


def test_unknown_definition_lists_the_known(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '--definition', 'map')
    assert "'mediaeval-2016-final', 'trec'" in result.stderr


def test_warnings_are_one_line_each(folder):
    Path('run.txt').write_text(RUN + 'x v 1 ann 0.9\n')
    result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'csv')
    assert result.exit_code == 0
    assert result.stderr == (
        'Warning: run.txt: 1 of 5 rows repeat an earlier one exactly, and are kept\n'
        'Warning: run.txt: average precision above 1, as mediaeval-2016 counts a shot again that '
        'is returned again: ann; trec, kaggle, by-k, hits count it once\n'
    )


def test_rank(folder):
    result = run('rank', 'reference.txt', 'run.txt', 'ann', '-k', '2', '--format', 'jsonl')
    assert result.exit_code == 0
    assert [json.loads(line)['shot_id'] for line in result.stdout.splitlines()] == ['1', '2']
    assert run('rank', 'reference.txt', 'run.txt', '').exit_code == 1


HITS = """
hits
    AP@k            S(k) / H
    R = 0           0
    repeated shots  not relevant, keeps its rank
    source          torchmetrics retrieval_average_precision, top_k
"""


def test_definitions():
    text = run('definitions').stdout
    assert text.endswith(HITS)
    assert 'mediaeval-2016 (default)\n    AP@k            S(k) / min(R, k, N)\n' in text
    described = json.loads(run('definitions', '--format', 'json').stdout)
    assert described == [definition.to_dict() for definition in definitions.registered()]
    assert [each['name'] for each in described if each['without_relevant'] == 1] == [
        'mediaeval-2016',
        'mediaeval-2016-final',
    ]


def test_version_and_help():
    assert run('--version').stdout == f'mediaeval-ap, version {__version__}\n'
    assert run('-h').stdout.startswith('Usage: mediaeval-ap')
    for command in main.commands:
        assert run(command, '--help').exit_code == 0


def test_stream_answers_each_line(folder):
    result = run('stream', 'reference.txt', 'run.txt', '-K', '1,2', input='\ufeffann\r\nbob')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == 'ann\t2\t1.0\t1.0\nbob\t1\t1.0\t1.0\n'
    result = run('stream', 'reference.txt', 'run.txt', '-K', '2', '--format', 'jsonl', input='ann')
    assert json.loads(result.stdout) == {'query': 'ann', 'n_relevant': 2, 'AP@2': 1.0}
    result = run(
        'stream', 'reference.txt', 'run.txt', '-K', 'all,2', '--format', 'jsonl', input='ann'
    )
    assert json.loads(result.stdout) == {'query': 'ann', 'n_relevant': 2, 'AP': 1.0, 'AP@2': 1.0}


@pytest.mark.parametrize('options', [[], ['--subset', 'subset.txt'], ['--definition', 'by-k']])
def test_rank_and_stream_take_the_options_of_evaluate(folder, options):
    named = {'subset': 'subset.txt'} if '--subset' in options else {}
    named |= {'definition': 'by-k'} if '--definition' in options else {}
    average_precision = AveragePrecision('reference.txt', [2], **named)
    ap, n_relevant = average_precision('run.txt').send('bob')
    result = run('stream', 'reference.txt', 'run.txt', '-K', '2', *options, input='bob')
    assert result.stdout == f'bob\t{n_relevant}\t{ap[0]}\n'
    result = run('rank', 'reference.txt', 'run.txt', 'bob', '--format', 'csv', *options)
    table = average_precision.rank('run.txt', 'bob', 20)
    assert result.stdout == render(Document.from_grid(Grid.from_frame(table)), 'csv')


NO_NAMES = {
    b'\n': ('', 'line 1: found an empty line, expected a name'),
    b' \t\r\n': (' \t', 'line 1: found an empty line, expected a name'),
    b'a b\n': ('a b', "line 1: found 2 fields in 'a b', expected 1 field: person_name"),
    b'a\0\n': ('a\0', 'line 1: found a NUL byte at byte 2, expected text'),
    b'\xff\n': ('\\xff', 'line 1: found invalid UTF-8 at byte 1 (0xff), expected UTF-8'),
}


@pytest.mark.parametrize('line', NO_NAMES)
def test_stream_answers_what_is_no_name_in_its_place(folder, line):
    text, error = NO_NAMES[line]
    arguments = ['stream', 'reference.txt', 'run.txt', '-K', '1']
    result = run(*arguments, input=line + b'ann\n')
    assert result.exit_code == 1
    assert result.stdout == f'{printable(text)}\terror: <stdin>, {error}\nann\t2\t1.0\n'
    assert result.stderr == 'Error: <stdin>: 1 of 2 lines are not names\n'
    first, second = run(*arguments, '--format', 'jsonl', input=line + b'ann').stdout.splitlines()
    assert json.loads(first) == {'query': text, 'error': f'<stdin>, {error}'}
    assert json.loads(second)['query'] == 'ann'


@pytest.mark.parametrize('format', ANSWER_FORMATS)
def test_stream_is_as_long_as_its_input(folder, format):
    lines = [*NO_NAMES, b'ann\n', b'nobody\n'] * 3
    result = run(*('stream', 'reference.txt', 'run.txt', '--format', format), input=b''.join(lines))
    assert result.stdout.count('\n') == len(lines)


def test_stream_refuses_an_endless_line(folder, monkeypatch):
    monkeypatch.setattr(lines, 'MAX_LINE_BYTES', 1 << 20)
    result = run('stream', 'reference.txt', 'run.txt', '-K', '1', input='ann\n' + 'x' * (2 << 20))
    assert (result.exit_code, result.stdout) == (1, 'ann\t2\t1.0\n')
    assert result.stderr.startswith('Error: <stdin>, line 2: found more than 1 MiB without a line')


def test_no_standard_error(folder):
    command = f'{" ".join(COMMAND)} evaluate reference.txt run.txt 2>&-'
    done = subprocess.run(['bash', '-c', command], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == render(describe([expected()]), 'table')


def test_stream_keeps_standard_input_for_names(folder):
    assert run('stream', 'reference.txt', '-').exit_code == 2


def test_module_is_the_command(folder):
    done = subprocess.run([*COMMAND, '--version'], capture_output=True, text=True, check=True)
    assert done.stdout == f'mediaeval-ap, version {__version__}\n'


def test_output_is_utf8_whatever_the_locale(folder):
    Path('reference.txt').write_text('x v 1 é\n')
    done = subprocess.run(
        [*COMMAND, 'evaluate', 'reference.txt', 'run.txt', '--format', 'csv'],
        env={**os.environ, 'PYTHONIOENCODING': 'ascii', 'LC_ALL': 'C'},
        capture_output=True,
        check=True,
    )
    assert 'run.txt,é,'.encode() in done.stdout


def test_closed_pipe_is_no_traceback(folder):
    done = subprocess.run(
        ['bash', '-c', f'{" ".join(COMMAND)} definitions | true'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'Traceback' not in done.stderr


def on_a_terminal(arguments):
    """What a command writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    try:
        return os.read(ours, 1 << 16).decode()
    except OSError:  # what Linux says when there is nothing to read
        return ''


def test_progress_is_for_terminals(folder):
    assert '2/2' in on_a_terminal(['evaluate', 'reference.txt', 'run.txt'])


def test_interrupt_is_exit_code_130(folder):
    with subprocess.Popen(
        [*COMMAND, 'stream', 'reference.txt', 'run.txt', '-K', '1'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        process.stdin.write('ann\n')
        assert process.stdout.readline() == 'ann\t2\t1.0\n'
        process.send_signal(2)
        assert process.wait() == 130
        assert process.stderr.read() == ''


def test_shell_completion():
    done = subprocess.run(
        COMMAND,
        env={
            **os.environ,
            '_MEDIAEVAL_AP_COMPLETE': 'bash_complete',
            'COMP_WORDS': 'mediaeval-ap evaluate --definition t',
            'COMP_CWORD': '3',
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == 'plain,trec\n'


def test_cutoffs_up_to_the_largest(folder):
    largest = str(2**63 - 1)
    assert run('evaluate', 'reference.txt', 'run.txt', '-K', largest).exit_code == 0
    assert run('rank', 'reference.txt', 'run.txt', 'ann', '-k', largest).exit_code == 0
    for command in 'evaluate', 'rank':
        option = '-K' if command == 'evaluate' else '-k'
        arguments = ['reference.txt', 'run.txt', *(['ann'] if command == 'rank' else [])]
        assert run(command, *arguments, option, str(2**63)).exit_code == 2
