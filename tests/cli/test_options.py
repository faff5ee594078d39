"""Options that several commands have."""

import pytest
from commands import RUN, run

from mediaeval_ap.cli import main

CUTOFF_COMMANDS = sorted(
    name for name, each in main.commands.items() if 'cutoffs' in {p.name for p in each.params}
)

FILES = {command: ['missing.txt', 'missing.txt'] for command in CUTOFF_COMMANDS} | {
    'compare': ['missing.txt', 'one.txt', 'other.txt'],
    'report': ['missing.txt', 'missing.txt', '-o', 'report.html'],
}


@pytest.mark.parametrize('command', CUTOFF_COMMANDS)
@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['-K', '1,5', '-K', '05'], 'K: found 5 twice, expected each cutoff once'),
        (
            ['-K', '5,all', '--definition', 'by-k'],
            'K: found all, expected numbers: by-k divides by k',
        ),
    ],
)
def test_cutoffs_that_are_refused(folder, command, options, message):
    """Before anything is read."""
    if command == 'map' and 'by-k' in options:
        message = '-K: found all, expected positive integers'
    result = run(command, *FILES[command], *options)
    assert (result.exit_code, result.stdout) == (2, '')
    assert result.stderr.endswith(f'Error: {message}\n')


@pytest.mark.parametrize(
    ('arguments', 'bounds'),
    [
        (['rank', 'reference.txt', 'run.txt', 'ann', '-n'], (1, 2**63 - 1)),
        (['export-trec', 'a', 'b', '--qrels', 'c', '--run', 'd', '--depth'], (1, 2**24)),
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


@pytest.mark.parametrize('command', ['evaluate', 'evaluate-trec'])
@pytest.mark.parametrize(
    ('measures', 'message'),
    [
        ('P@5,foo', "--measures: found 'foo', expected a measure of ir_measures, such as nDCG"),
        ('map', "--measures: found 'map', expected a measure of ir_measures, such as AP"),
        ('P@5,ndcg@10', "found 'ndcg@10', expected a measure of ir_measures, such as nDCG@10"),
        ('AP@10', '--measures: found AP@10, which is already a column of the definition'),
    ],
)
def test_measures_that_are_no_use(folder, command, measures, message):
    pytest.importorskip('ir_measures')
    result = run(command, 'missing.txt', 'missing.txt', '--measures', measures)
    assert (result.exit_code, result.stdout) == (2, '')
    assert message in result.stderr


def test_quiet_hides_warnings_and_not_errors(folder):
    arguments = ['evaluate', 'reference.txt', '-']
    repeated = RUN + 'x v 1 ann 0.9\n'
    told = run(*arguments, input=repeated)
    assert told.stderr.startswith('Warning: ')
    quiet = run(*arguments, '--quiet', input=repeated)
    assert (quiet.exit_code, quiet.stderr, quiet.stdout) == (0, '', told.stdout)
    other = 'y v 1 ann 0.9\n'
    strict = run(*arguments, '--quiet', '--strict', input=other)
    assert (strict.exit_code, strict.stdout) == (1, '')
    assert strict.stderr.startswith('Error: <stdin>: 0 of ')
    assert strict.stderr.count('\n') == 1


@pytest.mark.parametrize(
    ('usual', 'other'),
    [
        ('evaluate -K 1,5 --definition trec', 'evaluate -k 1,5 --definition TREC'),
        ('explain -k 1', 'explain -K 1 --definition Mediaeval-2016 -q'),
    ],
)
def test_other_spellings_of_options(folder, usual, other):
    arguments = 'reference.txt', 'run.txt', '--format', 'json'
    first, second = (run(*each.split(), *arguments) for each in (usual, other))
    assert (first.exit_code, first.stdout) == (0, second.stdout)
