"""Every `console` block in the documents shows what its commands print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
BLOCK = re.compile(r'^```console\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def sessions():
    for document in DOCUMENTS:
        for block in BLOCK.findall(document.read_text()):
            for command in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]:
                line, _, output = command.partition('\n')
                yield pytest.param(line, output, id=f'{document.name}: {line}')


@pytest.mark.parametrize(('command', 'output'), list(sessions()))
def test_command_prints_what_is_shown(command, output):
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    done = subprocess.run(
        ['bash', '-c', command],
        cwd=ROOT,
        env={**os.environ, 'PATH': path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.stdout == output


def test_there_are_such_blocks():
    assert len(list(sessions())) > 5
