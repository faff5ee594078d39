"""Standard streams and files of the command."""

import gzip
import itertools
import lzma
import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from commands import COMMAND, RUN, expected, output_of, refused, run

from mediaeval_ap.cli import commands, main
from mediaeval_ap.cli.output import NEW_FILE
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document


def outputs_and_inputs():
    for name, command in main.commands.items():
        params = {each.name: each for each in command.params}
        paths = {each for each in params if isinstance(params[each].type, click.Path)}
        outputs = {each for each in paths if isinstance(params[each].type, type(NEW_FILE))}
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
    error = refused(command, *arguments)
    assert 'refusing to overwrite ./run.txt: it is an input\n' in error
    assert error.startswith(f'Usage: mediaeval-ap {command} ')
    assert (folder / 'run.txt').read_text() == RUN


def test_standard_input_is_not_written_over(folder):
    """With `< FILE` and `-o FILE` the input would be replaced while it is read."""
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


def test_output_is_utf8_whatever_the_locale(folder):
    Path('reference.txt').write_text('x v 1 é\n')
    done = subprocess.run(
        [*COMMAND, 'evaluate', 'reference.txt', 'run.txt', '--format', 'csv', '--per-query'],
        env={**os.environ, 'PYTHONIOENCODING': 'ascii', 'LC_ALL': 'C'},
        capture_output=True,
        check=True,
    )
    assert ',é,'.encode() in done.stdout


def test_progress_is_for_terminals(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(commands, 'progress_shown', lambda on: asked.append(on) or nullcontext())
    monkeypatch.setattr(commands, 'is_on_terminal', lambda: True)
    for options in [], ['--quiet']:
        run('evaluate', 'reference.txt', 'run.txt', *options)
    assert asked == [True, False]


@pytest.mark.parametrize(
    ('name', 'format'),
    [('MAP.JSON', 'json'), ('map', 'table'), ('map.csv.gz', 'csv'), ('map.txt.xz', 'table')],
)
def test_the_suffix_of_the_output_is_its_format(folder, name, format):
    assert run('evaluate', 'reference.txt', 'run.txt', '-o', name).output == ''
    content = Path(name).read_bytes()
    content = {'.gz': gzip.decompress, '.xz': lzma.decompress}.get(name[-3:], bytes)(content)
    assert content.decode() == render(results_document([expected()]), format)


def test_a_format_that_is_given_wins(folder):
    output_of('validate', 'run.txt', '-o', 'problems.csv', '--format', 'table')
    assert Path('problems.csv').read_text() == output_of('validate', 'run.txt')
    output_of('evaluate', 'reference.txt', 'run.txt', '-o', 'map.csv', '--format', 'json')
    assert Path('map.csv').read_text() == render(results_document([expected()]), 'json')


@pytest.mark.parametrize(
    ('output', 'message'),
    [
        ('', 'found an empty path, expected a file'),
        ('map.out', '-o: found the suffix .out, expected one of .txt, .csv, .json, .jsonl'),
        ('map.tar.gz', '-o: found the suffix .tar, expected one of .txt, .csv'),
        ('map.pdf', 'or --format; figures: report --figure'),
    ],
)
def test_a_path_that_names_no_format_is_refused(folder, output, message):
    assert message in refused('evaluate', 'reference.txt', 'run.txt', '-o', output)
