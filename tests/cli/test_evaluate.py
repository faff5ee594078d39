"""The commands `evaluate` and `rank`."""

import json
import os
from pathlib import Path

import pytest
from commands import expected, run

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import WithoutRelevantWarning
from mediaeval_ap.report.document import Document, Grid
from mediaeval_ap.report.formats import FORMATS, render
from mediaeval_ap.results.documents import describe


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
    result = run('evaluate', 'reference.txt', 'run.txt', 'run.txt', '--mean-only')
    assert result.stdout == render(describe([expected()] * 2, mean_only=True), 'table')


def test_output_file(folder):
    result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'csv', '-o', 'map.csv')
    assert (result.exit_code, result.output) == (0, '')
    assert Path('map.csv').read_text() == render(describe([expected()]), 'csv')


def test_nothing_is_written_when_a_run_is_wrong(folder):
    Path('map.csv').write_text('old')
    result = run('evaluate', 'reference.txt', 'run.txt', 'bad.txt', '-o', 'map.csv')
    assert (result.exit_code, result.stdout) == (1, '')
    assert Path('map.csv').read_text() == 'old'
    assert sorted(os.listdir()) == [
        *('bad.txt', 'map.csv', 'queries.txt', 'reference.txt', 'run.txt', 'subset.txt')
    ]


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
        assert json.loads(result.stdout) == after.to_dict()
    result = run('evaluate', 'reference.txt', 'run.txt', *options, '--mean-only', '--format', 'csv')
    assert result.stdout.splitlines()[0] == 'run,definition,MAP@2,MAP,MAP@1'


def test_rank(folder):
    result = run('rank', 'reference.txt', 'run.txt', 'ann', '-k', '2', '--format', 'jsonl')
    assert result.exit_code == 0
    assert [json.loads(line)['shot_id'] for line in result.stdout.splitlines()] == ['1', '2']
    assert run('rank', 'reference.txt', 'run.txt', '').exit_code == 1


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
    assert run('rank', 'reference.txt', 'run.txt', 'ann', '-k', largest).exit_code == 0
    for command in 'evaluate', 'rank':
        option = '-K' if command == 'evaluate' else '-k'
        arguments = ['reference.txt', 'run.txt', *(['ann'] if command == 'rank' else [])]
        assert run(command, *arguments, option, str(2**63)).exit_code == 2
