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


@pytest.mark.parametrize(
    ('arguments', 'bounds'),
    [
        (['rank', 'reference.txt', 'run.txt', 'ann', '-k'], (1, 2**63 - 1)),
        (['watch', 'reference.txt', '--every'], (1, 2**63 - 1)),
        (['validate', 'run.txt', '--max-problems'], (1, 2**63 - 1)),
        (['export-trec', 'a', 'b', '--qrels', 'c', '--run', 'd', '-k'], (1, 2**24)),
        (['evaluate-trec', 'a', 'b', '--relevance-level'], (-(2**53), 2**53)),
    ],
)
def test_integers_out_of_bounds(folder, arguments, bounds):
    least, largest = bounds
    for value in least - 1, largest + 1:
        result = run(*arguments, str(value))
        assert (result.exit_code, result.stdout) == (2, '')
        expected = f'found {value}, expected an integer from {least} to {largest}\n'
        assert result.stderr.endswith(expected)
    for value in least, largest:
        assert 'an integer from' not in run(*arguments, str(value)).stderr


def test_help_is_short_and_plain():
    assert '...' not in run('--help').stdout.partition('Commands:')[2]
    for name in main.commands:
        text = run(name, '--help').stdout
        assert '<=' not in text
        assert 'RANGE' not in text
