"""Options that several commands have."""

import pytest
from commands import run

from mediaeval_ap.cli import main

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


def test_unknown_definition_lists_the_known(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '--definition', 'map')
    assert "'mediaeval-2016-final', 'trec'" in result.stderr
