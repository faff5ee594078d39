"""How a command ends: exit status, errors and warnings of one line each, help."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from commands import COMMAND, RUN, on_terminal, output_of, refused, run

from mediaeval_ap import __version__, errors, progress

WRONG_DATA = {
    'missing.txt run.txt': 'missing.txt: No such file or directory',
    'reference.txt bad.txt': (
        "bad.txt, line 2, confidence: found 'high', expected a finite decimal number "
        '(1 more wrong line)'
    ),
    'reference.txt run.txt -o missing/map.txt': 'missing/map.txt: No such file or directory',
}


@pytest.mark.parametrize('arguments', WRONG_DATA)
def test_wrong_data_is_one_line_and_exit_code_1(folder, arguments):
    error = refused('evaluate', *arguments.split(), status=1)
    assert error == f'Error: {WRONG_DATA[arguments]}\n'


@pytest.mark.parametrize('options', ['-K 0', f'-K {2**63}', '- --queries -', '--keep-going -K 1,'])
def test_wrong_usage_is_exit_code_2(folder, options):
    refused('evaluate', 'reference.txt', 'run.txt', *options.split())


def test_a_command_without_a_run_names_it(folder):
    assert "Missing argument 'RUN...'" in refused('evaluate', 'reference.txt')


@pytest.fixture
def worse(folder):
    text = 'x w 9 bob 0.9\nx v 1 ann 0.8\nx v 7 ann 0.75\nx v 2 ann 0.7\nx w 1 bob 0.5\n'
    (folder / 'worse.txt').write_text(text)


def test_warnings_are_one_line_each(folder):
    Path('run.txt').write_text(RUN + 'x v 1 ann 0.9\n')
    repeated, above = run('evaluate', 'reference.txt', 'run.txt').stderr.splitlines()
    assert repeated == 'Warning: run.txt: 1 of 5 rows repeat an earlier one exactly, and are kept'
    assert above.startswith('Warning: run.txt: 1 of 2 queries have an AP above 1: ')


def test_a_terminal_shows_each_kind_of_warning_once(folder, monkeypatch):
    """A warning is not repeated above a table whose note says it; several runs share one."""
    monkeypatch.setattr(progress, 'DELAY_SECONDS', 60)  # no bars on a slow machine
    runs = [f'run{number}.txt' for number in range(1, 18)]
    for number, name in enumerate(runs, 1):
        Path(name).write_text(RUN + 'x v 1 ann 0.9\n' * number)
    shown = on_terminal('evaluate', 'reference.txt', runs[0])
    assert 'Warning' not in shown.partition('1 of 2')[2]
    shown = on_terminal('evaluate', 'reference.txt', *runs, columns=90)
    warning, _, rest = shown.partition('Over 2 queries')
    assert warning.splitlines() == [
        'Warning: in 17 runs: 1 to 17 of 5 to 21 rows repeat an earlier one exactly, and are kept',
        '  (run1, run2, run3 and 14 more)',
        'What to do about warnings: mediaeval-ap help warnings',
    ]
    assert rest.count('AP above 1') == 1
    narrow = on_terminal('evaluate', 'reference.txt', runs[0], columns=40)
    assert narrow.count('AP above 1') == 1  # the note is folded
    shown = on_terminal('evaluate', 'reference.txt', *runs, '-o', 'map.csv')
    assert shown.count('AP above 1') == 1


def test_a_narrow_terminal_shows_warnings_whole(folder):
    """The cause stands at the end of a warning."""
    Path('reference.txt').write_text('x v 01 ann\nx v 02 ann\n')
    Path('run.txt').write_text('x v 1 ann 0.9\nx v 2 ann 0.8\n')
    shown = on_terminal('evaluate', 'reference.txt', 'run.txt', columns=40)
    warning = shown.partition('What to do')[0]
    assert "equal but for leading zeros: '1' here, '01' there" in ' '.join(warning.split())
    assert max(map(len, warning.splitlines())) <= 40


def test_the_best_of_several_runs_is_bold_on_a_terminal(worse):
    """Without the codes, the output is that of a pipe, byte for byte."""
    arguments = 'evaluate', 'reference.txt', 'run.txt', 'worse.txt', '-K', '1,10', '-q'
    plain = run(*arguments).stdout
    for columns in 80, 30:
        bold = on_terminal(*arguments, columns=columns, TERM='xterm')
        best = re.findall(r'\x1b\[1m(.*?)\x1b\[0m', bold)
        assert best == ['1.000', '1.000']
        without = re.sub(r'\x1b\[[01]m', '', bold)
        assert without == on_terminal(*arguments, columns=columns, TERM='xterm', NO_COLOR='1')
        assert (without == plain) == (columns == 80)
    assert plain == on_terminal(*arguments, TERM='dumb')
    assert '\x1b' not in plain
    assert '\x1b[1m' in on_terminal(*arguments, '--format', 'table', FORCE_COLOR='1')
    assert '\x1b' not in on_terminal(*arguments, '--format', 'markdown', TERM='xterm')


def test_decimals(worse):
    arguments = 'evaluate', 'reference.txt', 'worse.txt', '-K', '10', '--per-query', '--precision'
    shown = {n: run(*arguments, n).stdout for n in ('0', '3', '9')}
    assert shown['3'] == run(*arguments[:-1]).stdout
    assert [re.search('^MAP@10 +(.*)', shown[n], re.M)[1] for n in ('3', '9')] == [
        '0.667',
        '0.666666667',
    ]
    csv = [run(*arguments, n, '--format', 'csv').stdout for n in ('0', '9')]
    assert csv[0] == csv[1]


@pytest.mark.parametrize('format', ['csv', 'json', 'table'])
def test_queries_from_the_worst_on(worse, format):
    command = 'evaluate', 'reference.txt', 'worse.txt', '-K', '1,10', '--format', format
    shown, as_asked = (output_of(*command, each) for each in ('--sort-queries', '--per-query'))
    assert sorted(as_asked) == sorted(shown)
    assert shown.index('bob') < shown.index('ann')
    assert as_asked.index('ann') < as_asked.index('bob')


def test_each_kind_of_warning_is_explained():
    explained = run('help', 'warnings').stdout
    assert re.findall(r'^[a-z-]+$', explained, re.MULTILINE) == [*errors.KINDS]


def test_version():
    assert run('--version').stdout == f'mediaeval-ap, version {__version__}\n'


def test_what_cannot_be_printed_is_one_line():
    """A full disk behind standard output gives an error, not a traceback."""
    with open('/dev/full', 'w') as full:
        done = subprocess.run(
            [*COMMAND, '--version'], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, 'Error: <stdout>: No space left on device\n')


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
