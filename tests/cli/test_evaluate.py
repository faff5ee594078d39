"""The commands `evaluate` and `rank`."""

import json
import os
from pathlib import Path

import pytest
from commands import expected, run

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import WithoutRelevantWarning
from mediaeval_ap.render.document import Document, Grid
from mediaeval_ap.render.formats import FORMATS, render
from mediaeval_ap.results.result import describe


def test_table(folder):
    result = run('evaluate', 'reference.txt', 'run.txt')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == render(describe([expected()]), 'table')


@pytest.mark.parametrize('format', FORMATS)
def test_options(folder, format):
    result = run(
        *('evaluate', 'reference.txt', 'run.txt', '--queries', 'queries.txt', '--subset'),
        *('subset.txt', '-K', '2,1', '--definition', 'trec', '--format', format),
    )
    told = 'reference.txt: 1 of 2 queries have no relevant shot: each counts 0'
    assert (result.exit_code, result.stderr) == (0, f'Warning: {told}\n')
    average_precision = AveragePrecision(
        'reference.txt', [2, 1], subset='subset.txt', definition='trec'
    )
    with pytest.warns(WithoutRelevantWarning, match=f'^{told}$'):
        evaluation = average_precision.evaluate('run.txt', 'queries.txt')
    assert result.stdout == render(describe([evaluation]), format)


def test_several_runs(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', 'run.txt')
    assert result.stdout == render(describe([expected()] * 2), 'table')
    result = run('evaluate', 'reference.txt', 'run.txt', 'run.txt', '--per-query')
    assert result.stdout == render(describe([expected()] * 2, per_query=True), 'table')


def test_the_best_run_first_by_its_mean_at_the_last_cutoff(folder):
    """The better run by MAP@1 is the worse one by MAP@3."""
    Path('first.txt').write_text('x v 1 ann 0.9\n')
    Path('all.txt').write_text('x w 9 ann 0.9\nx v 1 ann 0.8\nx v 2 ann 0.7\n')
    arguments = ['evaluate', 'reference.txt', 'first.txt', 'all.txt', '--format', 'csv']
    for cutoffs, best in ('3,1', 'first.txt'), ('1,3', 'all.txt'):
        options = ['--definition', 'by-k', '-K', cutoffs, '--queries', '-', '--sort']
        rows = run(*arguments, *options, input='ann').stdout.splitlines()[1:]
        assert [row.split(',')[0] for row in rows] == sorted(
            ['first.txt', 'all.txt'], key=lambda name: name != best
        )
    unsorted = run(*arguments, *options[:-1], input='ann').stdout.splitlines()[1:]
    assert [row.split(',')[0] for row in unsorted] == ['first.txt', 'all.txt']


def test_output_file(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '-o', 'map.csv')
    assert (result.exit_code, result.output) == (0, '')
    assert Path('map.csv').read_text() == render(describe([expected()]), 'csv')


def test_nothing_is_written_when_a_run_is_wrong(folder):
    Path('map.csv').write_text('old')
    result = run('evaluate', 'reference.txt', 'run.txt', 'bad.txt', '-o', 'map.csv')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: run 2 of 2: bad.txt, line 2, confidence: found ')
    assert Path('map.csv').read_text() == 'old'
    assert sorted(os.listdir()) == [
        *('bad.txt', 'map.csv', 'queries.txt', 'reference.txt', 'run.txt', 'subset.txt')
    ]


def test_good_runs_are_scored_beside_bad_ones(folder):
    runs = ['run.txt', 'bad.txt', 'missing.txt']
    result = run('evaluate', 'reference.txt', *runs, '--keep-going', '-o', 'map.json')
    assert (result.exit_code, result.stdout) == (1, '')
    bad, missing = result.stderr.splitlines()
    assert bad.startswith("Error: run 2 of 3: bad.txt, line 2, confidence: found 'high', ")
    assert missing == 'Error: run 3 of 3: missing.txt: No such file or directory'
    written = json.loads(Path('map.json').read_text())
    assert [each['run'] for each in written['results']] == ['run.txt']
    assert written['failed'] == [
        {'run': 'bad.txt', 'error': bad.removeprefix('Error: run 2 of 3: ')},
        {'run': 'missing.txt', 'error': 'missing.txt: No such file or directory'},
    ]


def test_nothing_is_written_if_no_run_is_good(folder):
    arguments = ['evaluate', 'reference.txt', 'bad.txt', '--keep-going', '-o', 'map.csv']
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: bad.txt, line 2, ')
    assert not Path('map.csv').exists()


@pytest.mark.parametrize('role', ['reference', 'run', 'queries', 'subset'])
def test_standard_input(folder, role):
    names = {name: f'{name}.txt' for name in ('reference', 'run', 'queries', 'subset')}
    text = Path(names[role]).read_text()
    before = run(
        *('evaluate', names['reference'], names['run'], '--queries', names['queries']),
        *('--subset', names['subset'], '--format', 'csv'),
    )
    names[role] = '-'
    after = run(
        *('evaluate', names['reference'], names['run'], '--queries', names['queries']),
        *('--subset', names['subset'], '--format', 'csv'),
        input=text,
    )
    assert after.exit_code == 0
    assert after.stdout == before.stdout.replace('run.txt', names['run'].replace('-', '<stdin>'))


def test_cutoffs_of_several_options_add_up(folder):
    K = [2, 'all', 1]
    after = expected(K=K)
    for options in (['-K', '2,all,1'], ['-K', '2', '-K', 'all', '-K', '1'], ['-K2,all', '-K1']):
        result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'json', *options)
        assert result.stdout == render(describe([after]), 'json')


def test_rank(folder):
    result = run('rank', 'reference.txt', 'run.txt', 'ann', '-n', '2', '--format', 'jsonl')
    assert result.exit_code == 0
    assert [json.loads(line)['shot_id'] for line in result.stdout.splitlines()] == ['1', '2']
    assert run('rank', 'reference.txt', 'run.txt', '').exit_code == 2


@pytest.mark.parametrize('options', [[], ['--subset', 'subset.txt'], ['--definition', 'by-k']])
def test_rank_and_stream_take_the_options_of_evaluate(folder, options):
    named = {'subset': 'subset.txt'} if '--subset' in options else {}
    named |= {'definition': 'by-k'} if '--definition' in options else {}
    average_precision = AveragePrecision('reference.txt', [2], **named)
    ap, n_relevant = average_precision('run.txt').send('bob')
    result = run('stream', 'reference.txt', 'run.txt', '-K', '2', *options, input='bob')
    assert result.stdout == f'bob\t{n_relevant}\t{ap[0]}\n'
    result = run('rank', 'reference.txt', 'run.txt', 'bob', '--format', 'csv', *options)
    table = average_precision.rank('run.txt', 'bob', 20)
    assert result.stdout == render(Document.from_grid(Grid.from_frame(table)), 'csv')


def test_cutoffs_up_to_the_largest(folder):
    largest = str(2**63 - 1)
    assert run('evaluate', 'reference.txt', 'run.txt', '-K', largest).exit_code == 0
    assert run('rank', 'reference.txt', 'run.txt', 'ann', '--depth', largest).exit_code == 0
    for command in 'evaluate', 'rank':
        option = '-K' if command == 'evaluate' else '-n'
        arguments = ['reference.txt', 'run.txt', *(['ann'] if command == 'rank' else [])]
        assert run(command, *arguments, option, str(2**63)).exit_code == 2


def test_json_lists_runs_that_failed_also_if_none_is_good(folder):
    Path('bad.txt').write_text('x\n')
    result = run('evaluate', 'reference.txt', 'bad.txt', '--keep-going', '--format', 'json')
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert (document['results'], [each['run'] for each in document['failed']]) == ([], ['bad.txt'])
