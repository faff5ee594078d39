"""The command `evaluate`."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from commands import expected, run

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import WithoutRelevantWarning
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/results-1.schema.json').read_text())


def test_options(folder):
    result = run(
        *('evaluate', 'reference.txt', 'run.txt', '--queries', 'queries.txt', '--subset'),
        *('subset.txt', '-K', '2,1', '--definition', 'trec', '--format', 'json'),
    )
    told = 'reference.txt: 1 of 2 queries have no relevant shot: each counts 0'
    assert (result.exit_code, result.stderr) == (0, f'Warning: {told}\n')
    average_precision = AveragePrecision(
        'reference.txt', [2, 1], subset='subset.txt', definition='trec'
    )
    with pytest.warns(WithoutRelevantWarning, match=f'^{told}$'):
        evaluation = average_precision.evaluate('run.txt', 'queries.txt')
    assert result.stdout == render(results_document([evaluation]), 'json')
    options = ['--queries-without-relevant', 'skip', '--format', 'json']
    result = run(
        'evaluate', 'reference.txt', 'run.txt', '--queries', '-', *options, input='zoe\nann'
    )
    assert json.loads(result.stdout)['results'][0]['means']['MAP@10'] == 1


def test_the_best_run_first_by_its_mean_at_the_last_cutoff(folder):
    """The better run by MAP@1 is the worse one by MAP@3."""
    Path('first.txt').write_text('x v 1 ann 0.9\n')
    Path('all.txt').write_text('x w 9 ann 0.9\nx v 1 ann 0.8\nx v 2 ann 0.7\n')
    arguments = ['evaluate', 'reference.txt', 'first.txt', 'all.txt', '--format', 'csv']
    for cutoffs, best in ('3,1', 'first'), ('1,3', 'all'):
        options = ['--definition', 'by-k', '-K', cutoffs, '--queries', '-', '--sort']
        rows = run(*arguments, *options, input='ann').stdout.splitlines()[1:]
        assert [row.split(',')[0] for row in rows] == sorted(
            ['first', 'all'], key=lambda name: name != best
        )
    unsorted = run(*arguments, *options[:-1], input='ann').stdout.splitlines()[1:]
    assert [row.split(',')[0] for row in unsorted] == ['first', 'all']


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
    jsonschema.Draft202012Validator(SHAPE).validate(written)
    assert [each['run'] for each in written['results']] == ['run']
    assert written['failed'] == [
        {'run': 'bad', 'error': bad.removeprefix('Error: run 2 of 3: ')},
        {'run': 'missing', 'error': 'missing.txt: No such file or directory'},
    ]


def test_only_json_is_written_if_no_run_is_good(folder):
    """It lists the runs that failed."""
    arguments = ['evaluate', 'reference.txt', 'bad.txt', '--keep-going', '-o']
    for path in 'map.csv', 'map.json':
        result = run(*arguments, path)
        assert (result.exit_code, result.stdout) == (1, '')
        assert result.stderr.startswith('Error: bad.txt, line 2, ')
    assert not Path('map.csv').exists()
    document = json.loads(Path('map.json').read_text())
    assert (document['results'], [each['run'] for each in document['failed']]) == ([], ['bad'])


@pytest.mark.parametrize('role', ['reference', 'run', 'queries', 'subset'])
def test_standard_input(folder, role):
    def scored(input=None, **others):
        files = {name: f'{name}.txt' for name in ('reference', 'run', 'queries', 'subset')} | others
        reference, hypothesis, queries, subset = files.values()
        options = ['--queries', queries, '--subset', subset, '--format', 'csv']
        return run('evaluate', reference, hypothesis, *options, input=input).stdout

    after = scored(**{role: '-'}, input=Path(f'{role}.txt').read_text())
    assert after.replace('<stdin>', 'run') == scored() != ''


def test_cutoffs_of_several_options_add_up(folder):
    K = [2, 'all', 1]
    after = expected(K=K)
    for options in (['-K', '2,all,1'], ['-K', '2', '-K', 'all', '-K', '1'], ['-K2,all', '-K1']):
        result = run('evaluate', 'reference.txt', 'run.txt', '--format', 'json', *options)
        assert result.stdout == render(results_document([after]), 'json')


def test_judgements(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\n')
    settings = {'judged': 'judged.txt', 'unjudged': 'skip', 'definition': 'trec'}
    evaluation = AveragePrecision('reference.txt', [2, 1], **settings).evaluate('run.txt')
    options = ('-K', '2,1', '--definition', 'trec', '--judged', 'judged.txt', '--unjudged', 'skip')
    result = run('evaluate', 'reference.txt', 'run.txt', *options, '--per-query')
    assert result.stdout == render(results_document([evaluation], per_query=True), 'table')
    assert 'Judged@2' in result.stdout
    assert 'leave the ranking (condensed lists)' in result.stdout
    shown = run('rank', 'reference.txt', 'run.txt', 'ann', *options[2:], '--format', 'csv')
    assert [line.split(',')[3:5] for line in shown.stdout.splitlines()[1:]] == [
        ['1', 'ann'],
        ['2', 'ann'],
        ['1', 'bob'],  # and not 2 of w, under anne
    ]
    compared = run('compare', 'reference.txt', 'run.txt', 'again=run.txt', *options)
    assert 'leave the ranking (condensed lists)' in compared.stdout
    (folder / 'judged.txt').write_text('x v 1\nx v 2\n')
    wrong = run('evaluate', 'reference.txt', 'run.txt', *options)
    told = "Error: reference.txt, line 3, shot_id: found 'x/w/1', expected a shot that judged.txt "
    assert (wrong.exit_code, wrong.stderr.startswith(told)) == (1, True)
    dropped = run('evaluate', 'reference.txt', 'run.txt', *options, '--drop-unjudged-rows')
    assert '1 row of the reference about shots that are not judged: dropped' in dropped.stdout


@pytest.mark.parametrize('option', ['--unjudged skip', '--drop-unjudged-rows'])
def test_options_of_judgements_need_them(folder, option):
    result = run('evaluate', 'reference.txt', 'run.txt', *option.split())
    assert (result.exit_code, f'{option} needs --judged FILE' in result.stderr) == (2, True)


def test_measures_of_judged_documents_need_judgements(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\nx w 2\n')
    arguments = ('evaluate', 'reference.txt', 'run.txt', '--measures', 'Bpref Judged@3')
    refused = run(*arguments)
    assert (refused.exit_code, '--judged FILE' in refused.stderr) == (2, True)
    result = run(*arguments, '--judged', 'judged.txt', '-K', '10', '--format', 'json')
    means = json.loads(result.stdout)['results'][0]['means']
    assert list(means) == ['MAP@10', 'Judged@10', 'Bpref', 'Judged@3']
    assert means['Judged@3'] == means['Judged@10'] == 1
    jsonschema.Draft202012Validator(SHAPE).validate(json.loads(result.stdout))
