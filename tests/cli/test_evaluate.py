"""The command `evaluate`."""

import json
import os
from pathlib import Path

import pytest
from commands import expected, json_of, output_of, refused, run
from schemas import follow_schema

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import WithoutRelevantWarning
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document


def test_options(folder):
    result = run(
        *('evaluate', 'reference.txt', 'run.txt', '--queries', 'queries.txt', '--subset'),
        *('subset.txt', '-K', '2,1', '--definition', 'trec', '--format', 'json'),
    )
    told = 'reference.txt: 1 of 2 queries have nothing relevant: each counts 0'
    assert (result.exit_code, result.stderr) == (0, f'Warning: {told}\n')
    average_precision = AveragePrecision(
        'reference.txt', [2, 1], subset='subset.txt', definition='trec'
    )
    with pytest.warns(WithoutRelevantWarning, match=f'^{told}$'):
        evaluation = average_precision.evaluate('run.txt', 'queries.txt')
    assert result.stdout == render(results_document([evaluation]), 'json')
    options = '--queries', '-', '--queries-without-relevant', 'skip'
    written = json_of('evaluate', 'reference.txt', 'run.txt', *options, input='zoe\nann')
    assert written['results'][0]['means']['MAP@10'] == 1


def test_the_best_run_first_by_its_mean_at_the_last_cutoff(folder):
    """The better run by MAP@1 is the worse one by MAP@3."""
    Path('first.txt').write_text('x v 1 ann 0.9\n')
    Path('all.txt').write_text('x w 9 ann 0.9\nx v 1 ann 0.8\nx v 2 ann 0.7\n')
    arguments = ['evaluate', 'reference.txt', 'first.txt', 'all.txt', '--queries', '-']
    for options, names in (
        ('-K 3,1 --sort', ['first', 'all']),
        ('-K 1,3 --sort', ['all', 'first']),
        ('-K 1,3', ['first', 'all']),
    ):
        written = json_of(*arguments, '--definition', 'by-k', *options.split(), input='ann')
        assert [each['run'] for each in written['results']] == names


def test_nothing_is_written_when_a_run_is_wrong(folder):
    Path('map.csv').write_text('old')
    before = os.listdir()
    arguments = 'evaluate', 'reference.txt', 'run.txt', 'bad.txt', '-o', 'map.csv'
    assert refused(*arguments, status=1).startswith('Error: run 2 of 2: bad.txt, line 2, ')
    assert Path('map.csv').read_text() == 'old'
    assert sorted(os.listdir()) == sorted(before)


def test_good_runs_are_scored_beside_bad_ones(folder):
    runs = ['run.txt', 'bad.txt', 'missing.txt']
    told = refused('evaluate', 'reference.txt', *runs, '--keep-going', '-o', 'map.json', status=1)
    bad, missing = told.splitlines()
    assert bad.startswith('Error: run 2 of 3: bad.txt, line 2, ')
    assert missing == 'Error: run 3 of 3: missing.txt: No such file or directory'
    written = json.loads(Path('map.json').read_text())
    follow_schema(written, 'results-1')
    assert [each['run'] for each in written['results']] == ['run']
    assert written['failed'] == [
        {'run': 'bad', 'error': bad.removeprefix('Error: run 2 of 3: ')},
        {'run': 'missing', 'error': 'missing.txt: No such file or directory'},
    ]


def test_only_json_is_written_if_no_run_is_good(folder):
    """It lists the runs that failed."""
    arguments = ['evaluate', 'reference.txt', 'bad.txt', '--keep-going', '-o']
    for path in 'map.csv', 'map.json':
        assert refused(*arguments, path, status=1).startswith('Error: bad.txt, line 2, ')
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
    after = render(results_document([expected(K=[2, 'all', 1])]), 'json')
    for options in '-K 2,all,1', '-K 2 -K all -K 1', '-K2,all -K1':
        arguments = 'reference.txt', 'run.txt', '--format', 'json', *options.split()
        assert output_of('evaluate', *arguments) == after


def test_judgements(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\n')
    settings = {'judged': 'judged.txt', 'unjudged': 'skip', 'definition': 'trec'}
    evaluation = AveragePrecision('reference.txt', [2, 1], **settings).evaluate('run.txt')
    options = ('-K', '2,1', '--definition', 'trec', '--judged', 'judged.txt', '--unjudged', 'skip')
    arguments = 'evaluate', 'reference.txt', 'run.txt', *options
    shown = output_of(*arguments, '--per-query')
    assert shown == render(results_document([evaluation], per_query=True), 'table')
    assert 'Judged@2' in shown
    shown = output_of('rank', 'reference.txt', 'run.txt', 'ann', *options[2:], '--format', 'csv')
    assert [line.split(',')[3:5] for line in shown.splitlines()[1:]] == [
        ['1', 'ann'],
        ['2', 'ann'],
        ['1', 'bob'],  # and not 2 of w, under anne
    ]
    compared = output_of('compare', 'reference.txt', 'run.txt', 'again=run.txt', *options)
    assert 'leave the ranking (condensed lists)' in compared
    (folder / 'judged.txt').write_text('x v 1\nx v 2\n')
    assert refused(*arguments, status=1).startswith('Error: reference.txt, line 3, shot_id: ')
    assert ': dropped' in output_of(*arguments, '--drop-unjudged-rows')


@pytest.mark.parametrize('option', ['--unjudged skip', '--drop-unjudged-rows'])
def test_options_of_judgements_need_them(folder, option):
    error = refused('evaluate', 'reference.txt', 'run.txt', *option.split())
    assert f'{option} needs --judged FILE' in error


def test_measures_of_judged_documents_need_judgements(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\nx w 2\n')
    arguments = 'evaluate', 'reference.txt', 'run.txt', '--measures', 'Bpref Judged@3'
    assert '--judged FILE' in refused(*arguments)
    written = json_of(*arguments, '--judged', 'judged.txt', '-K', '10')
    follow_schema(written, 'results-1')
    means = written['results'][0]['means']
    assert list(means) == ['MAP@10', 'Judged@10', 'Bpref', 'Judged@3']
    assert means['Judged@3'] == means['Judged@10'] == 1
