"""Options that several commands have."""

import pytest
from commands import RUN, output_of, refused, run

from mediaeval_ap.cli import main

CUTOFF_COMMANDS = sorted(
    name for name, each in main.commands.items() if 'cutoffs' in {p.name for p in each.params}
)

FILES = {command: ['missing.txt', 'missing.txt'] for command in CUTOFF_COMMANDS} | {
    'compare': ['missing.txt', 'one.txt', 'other.txt'],
    'report': ['missing.txt', 'missing.txt', '-o', 'report.html'],
}


@pytest.mark.parametrize('command', CUTOFF_COMMANDS)
@pytest.mark.parametrize('options', ['-K 1,5 -K 05', '-K 5,all --definition by-k'])
def test_cutoffs_that_are_refused(folder, command, options):
    """Before anything is read."""
    assert 'K: found ' in refused(command, *FILES[command], *options.split())


@pytest.mark.parametrize(
    ('arguments', 'bounds'),
    [
        (['rank', 'reference.txt', 'run.txt', 'ann', '-n'], (1, 2**63 - 1)),
        (['export-trec', 'a', 'b', '--qrels', 'c', '--run', 'd', '--depth'], (1, 2**24)),
    ],
)
def test_integers_out_of_bounds(folder, arguments, bounds):
    least, largest = bounds
    for value in least - 1, largest + 1:
        expected = f'found {value}, expected an integer from {least} to {largest}\n'
        assert refused(*arguments, str(value)).endswith(expected)
    for value in least, largest:
        assert 'an integer from' not in run(*arguments, str(value)).stderr


@pytest.mark.parametrize('command', ['evaluate', 'evaluate-trec'])
@pytest.mark.parametrize('measures', ['P@5,foo', 'AP@10'])
def test_measures_that_are_no_use(folder, command, measures):
    """Before anything is read; the option is named."""
    pytest.importorskip('ir_measures')
    error = refused(command, 'missing.txt', 'missing.txt', '--measures', measures)
    assert '--measures: ' in error


def test_quiet_hides_warnings_and_not_errors(folder):
    arguments = ['evaluate', 'reference.txt', '-']
    repeated = RUN + 'x v 1 ann 0.9\n'
    told = run(*arguments, input=repeated)
    assert told.stderr.startswith('Warning: ')
    quiet = run(*arguments, '--quiet', input=repeated)
    assert (quiet.exit_code, quiet.stderr, quiet.stdout) == (0, '', told.stdout)
    strict = refused(*arguments, '--quiet', '--strict', status=1, input='y v 1 ann 0.9\n')
    assert strict.startswith('Error: <stdin>: 0 of ')
    assert strict.count('\n') == 1


@pytest.mark.parametrize(
    ('usual', 'other'),
    [
        ('evaluate -K 1,5 --definition trec', 'evaluate -k 1,5 --definition TREC'),
        ('explain -k 1', 'explain -K 1 --definition Mediaeval-2016 -q'),
    ],
)
def test_other_spellings_of_options(folder, usual, other):
    arguments = 'reference.txt', 'run.txt', '--format', 'json'
    assert output_of(*usual.split(), *arguments) == output_of(*other.split(), *arguments)
