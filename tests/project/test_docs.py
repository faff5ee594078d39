"""Every `console` block in the documents shows what its commands print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mediaeval_ap.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def commands(document):
    """Each command of a document, and what it shows."""
    for block in BLOCK.findall(document.read_text()):
        for command in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition('\n')
            yield line, output


@pytest.mark.parametrize(
    'document', [each for each in DOCUMENTS if [*commands(each)]], ids=lambda each: each.name
)
def test_commands_print_what_is_shown(document, monkeypatch, tmp_path):
    """A document's commands share a folder for their files, and no other document has it."""
    monkeypatch.chdir(ROOT)
    for command, output in commands(document):
        shown = ''
        stages = command.split(' | ') if NOT_A_PIPELINE.search(command) is None else [command]
        for stage in stages:
            shown = printed(stage.replace('/tmp/', f'{tmp_path}/'), shown)
        assert shown.replace(f'{tmp_path}/', '/tmp/') == output, command


NOT_A_PIPELINE = re.compile('[;&$<>]')


def printed(stage, given):
    """What a stage of a pipeline prints: our command in this process, all else by the shell."""
    if stage.startswith('mediaeval-ap ') and NOT_A_PIPELINE.search(stage) is None:
        _, *arguments = shlex.split(stage)
        return CliRunner().invoke(main, arguments, given, prog_name='mediaeval-ap').output
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    done = subprocess.run(
        ['bash', '-c', stage],
        env={**os.environ, 'PATH': path},
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout
