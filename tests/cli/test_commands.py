"""How a command ends: exit status, errors and warnings of one line each, help."""

import gzip
import os
import subprocess
from pathlib import Path

import click
import pytest
from commands import COMMAND, RUN, run

from mediaeval_ap import __version__
from mediaeval_ap.cli import main


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
        (b'', 'found an empty file, expected at least one of 5 fields: '),
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
        'Error: run.txt.gz: not readable as gzip: Compressed file ended before'
    )
    assert result.stderr.count('\n') == 1


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
        ['reference.txt', 'run.txt', '--keep-going', '-K', '0'],
    ],
)
def test_wrong_usage_is_exit_code_2(folder, arguments):
    result = run('evaluate', *arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'Traceback' not in result.stderr


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
    special = {
        'columns': 'id=1',
        'truth_columns': 'id=1',
        'queries': 'queries.txt',
        'cutoff': '5',
        'jobs': '1',
        'level': '0.9',
        'near': '0.1',
        'part': '1/2',
    }
    if option.name in special:
        return special[option.name]
    numbers = click.types.IntParamType | click.types.FloatParamType
    return '1' if isinstance(option.type, numbers) else 'RR'


def test_warnings_are_one_line_each(folder):
    Path('run.txt').write_text(RUN + 'x v 1 ann 0.9\n')
    result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'csv')
    assert result.exit_code == 0
    assert result.stderr == (
        'Warning: run.txt: 1 of 5 rows repeat an earlier one exactly, and are kept\n'
        'Warning: run.txt: average precision above 1, as mediaeval-2016 counts a shot again that '
        'is returned again: ann; trec, kaggle, by-k, hits count it once\n'
    )


def test_version_and_help():
    assert run('--version').stdout == f'mediaeval-ap, version {__version__}\n'
    assert run('-h').stdout.startswith('Usage: mediaeval-ap')


@pytest.mark.parametrize(
    'arguments', [['--help'], ['--version'], ['map', '--help'], ['definitions']]
)
def test_what_cannot_be_printed_is_one_line(arguments):
    with open('/dev/full', 'w') as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, 'Error: <stdout>: No space left on device\n')


def test_module_is_the_command(folder):
    done = subprocess.run([*COMMAND, '--version'], capture_output=True, text=True, check=True)
    assert done.stdout == f'mediaeval-ap, version {__version__}\n'


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
