"""The command that writes stores, and writes them as Parquet."""

import pytest
from commands import run

from mediaeval_ap import index, open_store


def test_parts_are_one_run_in_a_subset(folder):
    result = run('index', 'run.txt', 'run.txt', '-o', 'run.store', '--subset', 'subset.txt')
    assert (result.exit_code, result.output) == (0, '')
    assert len(open_store('run.store')) == 4
    result = run('index', '--export', 'run.store', '-o', 'run.parquet')
    assert (result.exit_code, result.output) == (0, '')
    assert len(index('run.parquet', 'again.store')) == 4


def test_standard_input_is_stored(folder):
    result = run('index', '-', '-o', 'run.store', input='x v 1 ann 0.5\n')
    assert (result.exit_code, result.output) == (0, '')
    assert [each.name for each in open_store('run.store').sources] == ['<stdin>']


@pytest.mark.parametrize(
    'arguments', [['index', '--check', 'run.txt'], ['index', '--export', 'run.txt', '-o', 'out']]
)
def test_a_file_is_no_store(folder, arguments):
    result = run(*arguments)
    assert (result.exit_code, result.output) == (1, 'Error: run.txt: is not a store\n')


def test_stores_are_checked(folder):
    index('run.txt', 'run.store')
    index('run.txt', 'other.store')
    result = run('index', '--check', 'run.store', 'other.store')
    assert result.output == 'run.store: as it was written\nother.store: as it was written\n'
    with open('run.store/shot_at.npy', 'r+b') as file:
        file.seek(-1, 2)
        file.write(b'\1')
    result = run('index', '--check', 'run.store')
    assert result.exit_code == 1
    assert 'run.store/shot_at.npy' in result.stderr
    assert 'index the run again' in result.stderr


def test_wrong_usage_is_told(folder):
    result = run('index', 'run.txt')
    assert result.exit_code == 2
    assert '-o: found nothing, expected the folder of the store to write' in result.stderr
    for arguments, told in (
        ('--check run.store --subset s.txt', '--check takes no --subset: it reads the whole store'),
        ('--check run.store -o out', '--check takes no -o and no --export'),
        ('--export run.store', '-o: found nothing, expected the Parquet file to write'),
        ('--export run.store run.store -o out', '--export: found 2 stores, expected one'),
    ):
        result = run('index', *arguments.split())
        assert (result.exit_code, result.stdout) == (2, '')
        assert told in result.stderr
