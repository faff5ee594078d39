"""The composite action: its steps do what its users are told."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / 'action.yml').read_text())


def test_inputs_reach_scripts_by_the_environment_alone():
    """A script that holds an input would run what is in it."""
    steps = [step for step in ACTION['runs']['steps'] if 'run' in step]
    assert not any('${{' in step['run'] for step in steps)
    used = ''.join(value for step in steps for value in step['env'].values())
    assert all(f'inputs.{name} ' in used for name in ACTION['inputs'])


@pytest.mark.slow
def test_its_steps(tmp_path):
    """The script of each step, with a stand-in for the installation; a path has a space."""
    folder = tmp_path / 'mediaeval-ap/bin'
    folder.mkdir(parents=True)
    command = folder / 'mediaeval-ap'
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m mediaeval_ap "$@"\n')
    command.chmod(0o755)
    for name, drop in ('old', 0), ('new', 0.1):
        rows = ''.join(f'q{n},{0.5 + n % 2 / 10 - drop}\n' for n in range(60))
        (tmp_path / f'the {name}.csv').write_text(f'item,value\n{rows}')
    summary = tmp_path / 'summary.md'
    outputs = tmp_path / 'outputs'
    given = {
        'FILES': 'old=the old.csv\nfirst=the new.csv\n',
        'BASELINE': 'old',
        'FAIL_IF_WORSE': '0.01',
    }
    given |= {
        'OPTIONS': '--correction\nbh\n',
        'RUNNER_TEMP': str(tmp_path),
        'REQUIRE_NOT_WORSE': '',
    }
    given |= {'GITHUB_STEP_SUMMARY': str(summary), 'GITHUB_OUTPUT': str(outputs)}
    given |= {'PYTHONPATH': str(ROOT), 'ACTION_PATH': str(ROOT), 'RUNNER_OS': 'Linux'}
    name, install, compare = (step['run'] for step in ACTION['runs']['steps'] if 'run' in step)
    bash = shutil.which('bash')
    assert subprocess.run([bash, '-n', '-c', install], check=True).returncode == 0
    keys = []
    for _ in range(2):
        outputs.write_text('')
        subprocess.run(
            [bash, '-eo', 'pipefail', '-c', name], env={**os.environ, **given}, check=True
        )
        keys.append(outputs.read_text())
    assert keys[0] == keys[1]
    assert re.fullmatch('key=mediaeval-ap-Linux-[0-9a-f]{16}\n', keys[0])
    arguments = [bash, '--noprofile', '--norc', '-eo', 'pipefail', '-c', compare]
    for changed, told, verdict, status in (
        ({}, 'Gate failed (worse: first)', 'failed', 3),
        (
            {'REQUIRE_NOT_WORSE': '0.1'},
            'Gate failed (undecided: first): 60 items do not',
            'failed',
            3,
        ),
        ({'FAIL_IF_WORSE': '0.1'}, 'Gate undecided (first)', 'undecided', 0),
        ({'FAIL_IF_WORSE': '0.2'}, 'Gate passed', 'passed', 0),
    ):
        summary.write_text('before\n')
        outputs.write_text('')
        result = subprocess.run(
            arguments,
            cwd=tmp_path,
            env={**os.environ, **given, **changed},
            capture_output=True,
            text=True,
        )
        assert result.returncode == status, result.stderr
        text = summary.read_text()
        assert text.startswith('before\nold is better than first by 0.100 ')
        assert f'\n{told}' in text
        assert result.stderr.startswith(told) or not status
        markdown, _, said = outputs.read_text().partition('\n')
        assert said == f'verdict={verdict}\n'
        assert Path(markdown.removeprefix('markdown=')).read_text() in text


def test_the_workflow_of_the_tutorial_passes_inputs_that_there_are():
    tutorial = (ROOT / 'docs/tutorials/scores-and-gate.md').read_text()
    workflow = yaml.safe_load(tutorial.split('```yaml\n')[1].split('```')[0])
    (step,) = (step for step in workflow['jobs']['compare']['steps'] if step.get('id') == 'gate')
    inputs = step['with']
    required = {name for name, spec in ACTION['inputs'].items() if spec.get('required')}
    assert required <= inputs.keys() <= ACTION['inputs'].keys()
