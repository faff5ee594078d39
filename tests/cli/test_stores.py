"""The command that writes stores, and writes them as Parquet."""

import pytest
from commands import output_of, refused, run

from mediaeval_ap import index, open_store


def test_parts_are_one_run_in_a_subset(folder):
    parts = 'run.txt', 'run.txt', '--subset', 'subset.txt'
    assert output_of('index', *parts, '-o', 'run.store') == ''
    assert len(open_store('run.store')) == 4
    assert output_of('index', '--export', 'run.store', '-o', 'run.parquet') == ''
    assert len(index('run.parquet', 'again.store')) == 4


def test_standard_input_is_stored(folder):
    assert output_of('index', '-', '-o', 'run.store', input='x v 1 ann 0.5\n') == ''
    assert [each.name for each in open_store('run.store').sources] == ['<stdin>']


@pytest.mark.parametrize('arguments', ['--check run.txt', '--export run.txt -o out'])
def test_a_file_is_no_store(folder, arguments):
    error = refused('index', *arguments.split(), status=1)
    assert error == 'Error: run.txt: is not a store\n'


def test_stores_are_checked(folder):
    index('run.txt', 'run.store')
    index('run.txt', 'other.store')
    shown = output_of('index', '--check', 'run.store', 'other.store')
    assert shown == 'run.store: as it was written\nother.store: as it was written\n'
    with open('run.store/shot_at.npy', 'r+b') as file:
        file.seek(-1, 2)
        file.write(b'\1')
    result = run('index', '--check', 'run.store')
    assert result.exit_code == 1
    assert 'run.store/shot_at.npy' in result.stderr


USAGE = {
    'run.txt': '-o: found nothing, expected the folder of the store to write',
    '--check run.store --subset s.txt': '--check takes no --subset: it reads the whole store',
    '--check run.store -o out': '--check takes no -o and no --export',
    '--export run.store': '-o: found nothing, expected the Parquet file to write',
    '--export run.store run.store -o out': '--export: found 2 stores, expected one',
}


@pytest.mark.parametrize('arguments', USAGE)
def test_wrong_usage(folder, arguments):
    assert USAGE[arguments] in refused('index', *arguments.split())
