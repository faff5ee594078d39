"""The help of each command: its headings, and examples that run."""

import re
import shutil

import click
import pytest
from challenge_inputs import SAMPLES
from commands import json_of, refused, run, run_line

from mediaeval_ap import definitions
from mediaeval_ap.cli import main
from mediaeval_ap.cli.commands import GROUPS
from mediaeval_ap.cli.help import TOPICS

EXAMPLES = [example for each in main.commands.values() for example in each.examples]


@pytest.fixture(scope='module')
def samples(tmp_path_factory):
    """A folder with all samples, some of them shorter, and with the files of `export-trec`."""
    folder = tmp_path_factory.mktemp('samples')
    for each in SAMPLES, SAMPLES / 'discovery_2015':
        shutil.copytree(each, folder, dirs_exist_ok=True)
    for name in 'reference.txt', 'hypothesis.txt', 'judged.txt':
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text(''.join(lines[::4]))
    assert run_line(main.commands['export-trec'].examples[0], folder)[0] == 0
    return folder


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('example', EXAMPLES)
def test_examples_run(samples, example):
    code, told = run_line(example, samples)
    assert code == 0, told
    _, has_output, rest = example.rpartition(' -o ')
    assert not has_output or (samples / rest).stat().st_size


@pytest.mark.parametrize('command', main.commands.values(), ids=main.commands)
def test_help_ends_with_two_examples_and_the_exit_status(command):
    text = run(command.name, '--help').stdout
    assert len(command.examples) == 2
    lines = ''.join(f'  {example}\n' for example in command.examples)
    assert f'\n\nExamples:\n{lines}\nExit status:\n  0: ' in text
    assert all(f'mediaeval-ap {command.name} ' in f'{each} ' for each in command.examples)


@pytest.mark.parametrize('command', main.commands.values(), ids=main.commands)
def test_each_option_stands_once_and_few_above_advanced(command):
    text = run(command.name, '--help').stdout
    common, _, _ = text.partition('\nAdvanced:\n')
    assert len(re.findall(r'^  -', common, re.MULTILINE)) <= 14
    # Of report; eight are for score tables, ten for TREC.
    assert len(re.findall(r'^  -', text, re.MULTILINE)) <= 41
    for each in command.params:
        name = max(each.opts, key=len)
        if isinstance(each, click.Option) and not each.hidden:
            assert len(re.findall(rf'^  (?:-\w, )*{name}(?= |$)', text, re.MULTILINE)) == 1


def test_no_summary_is_cut_off(monkeypatch):
    monkeypatch.setenv('COLUMNS', '60')
    text = ' '.join(run('--help').stdout.split())
    for command in main.commands.values():
        summary, _, _ = command.help.partition('\n\n')
        assert f'{command.name} {" ".join(summary.split())}' in text


@pytest.mark.parametrize('columns', ['60', '80', '100'])
def test_no_name_is_broken_at_a_hyphen(monkeypatch, columns):
    monkeypatch.setenv('COLUMNS', columns)
    for command in main.commands:
        assert not re.search(r'\w-$', run(command, '--help').stdout, re.MULTILINE)


def test_each_command_stands_in_one_group_on_one_line():
    text = run('--help').stdout
    for heading, names in GROUPS.items():
        listed = text.partition(f'\n{heading}:\n')[2].partition('\n\n')[0]
        assert [line.split()[0] for line in listed.splitlines()] == names.split()
    assert sorted(' '.join(GROUPS.values()).split()) == sorted(main.commands)


def test_help_of_everything_and_of_commands():
    assert run('help').stdout == run('--help').stdout
    for name in main.commands:
        assert run('help', name).stdout == run(name, '--help').stdout


@pytest.mark.parametrize(('topic', 'near'), [('explian', '; did you mean explain?'), ('qq', '\n')])
def test_help_of_nothing_known(topic, near):
    expected = f'found {topic!r}, expected a command, or one of {", ".join(TOPICS)}'
    assert f'{expected}{near}' in refused('help', topic)


LAST = """
map-at-r
    AP@k            S(min(R, k)) / R
    R = 0           0
    repeated shots  dropped, rank and all
    source          MAP@R of pytorch-metric-learning and CodeXGLUE
"""


def test_definitions():
    text = run('help', 'definitions').stdout
    assert text.endswith(LAST)
    assert 'mediaeval-2016 (default)\n    AP@k            S(k) / min(R, k, N)\n' in text
    described = [definition.to_dict() for definition in definitions.registered()]
    assert json_of('help', 'definitions') == described
