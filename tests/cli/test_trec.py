"""The commands `evaluate-trec` and `export-trec`, and `evaluate --measures`."""

import json
from pathlib import Path

import pytest
from commands import run
from trec_rows import QRELS, RUN, qrels_text, quiet, run_text

from mediaeval_ap import compare, evaluate_trec
from mediaeval_ap.render.formats import render
from mediaeval_ap.tables.first_look import Kind, kind_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'qrels').write_text(qrels_text(QRELS))
    (tmp_path / 'run').write_text(run_text(RUN))
    return tmp_path


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'reference').write_text('x v 1 ann\nx v 3 ann\n')
    (tmp_path / 'run.txt').write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    return tmp_path


def test_the_command_prints_a_table(folder):
    result = run('evaluate-trec', 'qrels', 'run', '-K', '10', '--per-query', '-o', 'map.csv')
    assert (result.exit_code, result.output) == (0, '')
    assert (folder / 'map.csv').read_text() == (
        'run,definition,query,AP@10,n_relevant,n_queries\n'
        'run,trec,7,0.25,2,\nrun,trec,8,1.0,1,\nrun,trec,all,0.625,3,2\n'
    )
    options = ['--definition', 'kaggle', '--relevance-level', '2', '--ties', 'worst', '-K', '1,2']
    result = run('evaluate-trec', 'qrels', 'run', *options, '--format', 'csv')
    assert result.stdout == (
        'run,definition,ties,relevance_level,query,AP@1,AP@2,n_relevant,n_queries\n'
        'run,kaggle,worst,2,all,0.0,0.0,1,2\n'
    )
    told = 'qrels: 1 of 2 queries have no relevant shot: each counts 0'
    assert result.stderr == f'Warning: {told}\n'
    (folder / 'run').write_text(run_text(RUN[:1]))
    for ties in 'best', 'expected', 'worst':
        result = run('evaluate-trec', 'qrels', 'run', '--ties', ties, '--definition', 'hits')
        assert (result.exit_code, result.stdout) == (2, '')
        assert f'found {ties}, which hits is not defined for, as it divides' in result.stderr
    result = run('evaluate-trec', 'qrels', 'run', '--missing', 'skip')
    assert result.stderr == 'Warning: run: 1 of 2 topics of qrels are missing, and left out\n'


def test_the_command_exports(campaign):
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels', '--run', 'run']
    result = run(*command, '-n', '1')
    assert (result.exit_code, result.output) == (0, '')
    assert (campaign / 'run').read_text() == 'ann Q0 x/v/2 1 1 mediaeval_ap\n'
    (campaign / 'queries').write_text('zoe\nann\n')
    result = run(*command, '--queries', 'queries', '--tag', 'a b')
    assert (result.exit_code, result.stdout) == (2, '')
    assert "found 'a b', expected one word" in result.stderr
    result = run(*command[:-1], './qrels')
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'refusing to overwrite ./qrels: it is another output\n' in result.stderr


def test_standard_output_is_not_two_files(campaign):
    command = ['export-trec', 'reference.txt', 'run.txt', '--qrels', '-', '--run', 'run']
    result = run(*command)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'are files, not standard output' in result.stderr
    assert not (campaign / '-').exists()


@quiet
def test_the_command_adds_measures(campaign):
    command = ['evaluate', 'reference', 'run.txt', '-K', '10', '--measures', 'RR R@10']
    result = run(*command, '--format', 'csv')
    assert result.output == (
        'run,definition,query,AP@10,RR,R@10,n_relevant,n_queries,n_queries_RR,n_queries_R@10\n'
        'run,mediaeval-2016,all,0.25,0.5,0.5,2,1,1,1\n'
    )


def test_several_runs_and_ids_of_one_side(folder):
    (folder / 'part').write_text(run_text(RUN[:1]))
    result = run('evaluate-trec', 'qrels', 'run', 'part', '-K', '10', '--format', 'csv')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: run 2 of 2: part')
    command = ['evaluate-trec', 'qrels', 'run', 'part', '-K', '10', '--format', 'csv', '--quiet']
    for missing, n_relevant in ('zero', 3), ('skip', 2):
        result = run(*command, '--missing', missing, '--unknown', 'drop')
        assert (result.exit_code, result.stderr) == (0, '')
        names, counts = zip(
            *((row.split(',')[0], row.split(',')[-2]) for row in result.stdout.splitlines()[1:]),
            strict=True,
        )
        assert (names, counts) == (('run', 'part'), ('3', str(n_relevant)))
    result = run('evaluate-trec', '-', 'run', 'part')
    assert 'can be read once only, and QRELS is read 2 times' in result.stderr


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--ties', 'expected', '--measures', 'P@5'], 'measures'),
        (['--relevance-level', '2', '--measures', 'P@5'], 'expected its rel as well'),
        (['--measures', 'alpha_nDCG@10'], 'ir_measures cannot compute this'),
    ],
)
def test_parameters_that_do_not_go_together_are_errors_of_usage(folder, options, message):
    pytest.importorskip('ir_measures')
    result = run('evaluate-trec', 'qrels', 'run', *options)
    assert (result.exit_code, result.stdout) == (2, '')
    assert message in result.stderr


# As Python compares them, for the command's files of each kind below.
JUDGED = {f'q{n}': {'d1': 1, 'd2': 0, 'd3': n % 3} for n in range(12)}
FIRST = {topic: {'d1': 0.9, 'd2': 0.5, 'd3': 0.4} for topic in JUDGED}
SECOND = {topic: {'d2': 0.9, 'd1': n / 10, 'd3': 0.45} for n, topic in enumerate(JUDGED)}


def rows_of(by_topic):
    return [
        (topic, each, n) for topic, documents in by_topic.items() for each, n in documents.items()
    ]


def write_runs(kind='TREC'):
    """Write the qrels, and two runs of TREC or folders of MTEB."""
    Path('qrels').write_text(qrels_text(rows_of(JUDGED)))
    for name, by_topic in ('a', FIRST), ('b', SECOND):
        if kind == 'records':
            names = ('query_id', 'doc_id', 'score')
            records = [dict(zip(names, row, strict=True)) for row in rows_of(by_topic)]
            Path(name).write_text(json.dumps(records, indent=1))
        elif kind == 'TREC':
            Path(name).write_text(f'# a comment\n\n{run_text(rows_of(by_topic))}')
        else:
            Path(name).mkdir()
            parts = {'mteb_model_meta': {}, 'en': {'test': by_topic}}
            if kind == 'parts':
                parts['en']['dev'] = by_topic
            Path(name, 'Task_predictions.json').write_text(json.dumps(parts))


def compared_trec(*arguments, expected=0):
    result = run('compare', *arguments, '--quiet', '-K', '1,10')
    assert result.exit_code == expected, result.output
    return result


def in_python(*, qrels='qrels', baseline=None, **settings):
    runs = {'a': FIRST, 'b': SECOND}
    results = {name: evaluate_trec(qrels, each, [1, 10], **settings) for name, each in runs.items()}
    return compare(results, baseline=baseline)


@pytest.mark.parametrize('kind', ['TREC', 'folder', 'records'])
def test_compare_recognises_runs_of_other_tools(kind, tmp_path, monkeypatch):
    """It scores them as `evaluate_trec` does, whatever the names of the files."""
    monkeypatch.chdir(tmp_path)
    write_runs(kind)
    table = compared_trec('qrels', 'a', 'b', '--format', 'csv').stdout
    assert table == render(in_python().document(), 'csv')


@quiet
def test_compare_takes_the_options_of_trec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    Path('Q').write_text(Path('qrels').read_text() + 'other 0 d1 1\n')
    for options, settings in (
        ('--relevance-level 2', {'relevance_level': 2}),
        ('--ties worst --unjudged skip', {'ties': 'worst', 'unjudged': 'skip'}),
        ('--queries-without-relevant skip', {'queries_without_relevant': 'skip'}),
        ('--measures nDCG@2', {'measures': 'nDCG@2'}),
        ('--definition kaggle', {'definition': 'kaggle'}),
        ('--baseline b', {'baseline': 'b'}),
    ):
        result = compared_trec('qrels', 'a', 'b', *options.split(), '--format', 'markdown')
        assert result.stdout == render(in_python(**settings).document(), 'markdown')
    result = compared_trec('Q', 'a', 'b', '--missing', 'zero', '--format', 'csv')
    assert result.stdout == render(in_python(qrels='Q', missing='zero').document(), 'csv')
    options = ['-K', '1,10', '--format', 'json', '--per-query', '-o', 'a.json']
    run('evaluate-trec', 'qrels', 'a', *options)
    assert 'video' not in compared_trec('qrels', 'a.json', 'b').stdout
    beside = compared_trec('qrels', 'a.json', 'b', '--format', 'csv')
    assert beside.stdout == compared_trec('qrels', 'a', 'b', '--format', 'csv').stdout


@quiet
@pytest.mark.parametrize('option', ['--unknown drop', '--repeated first', '--part SUBSET/SPLIT'])
def test_compare_names_the_command_that_chooses_topics_or_a_part(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs('parts' if '--part' in option else 'TREC')
    further_line = {'--unknown drop': 'new Q0 d1', '--repeated first': 'q1 Q0 d1'}.get(option)
    if further_line:
        Path('a').write_text(f'{Path("a").read_text()}{further_line} 1 0.5 me\n')
    result = compared_trec('qrels', 'a', 'b', expected=1)
    command = f'evaluate-trec QRELS RUN... {option} --format json --per-query'
    assert f' by {command}, and compare its results; in Python ' in result.stderr
    command = command.replace('QRELS RUN...', 'qrels a b -K 1,10').replace('SUBSET/SPLIT', 'test')
    assert run(*command.split(), '-o', 'both.json').exit_code == 0
    result = run('compare', 'both.json', '--format', 'csv')
    assert result.stdout == render(in_python().document(), 'csv')


@pytest.mark.parametrize('options', ['--ignore=-1 --ignore=2', '--ignore 2 --ignore -1'])
def test_the_command_ignores_relevances(options, folder):
    (folder / 'qrels').write_text(qrels_text([*QRELS, ('7', 'd9', -1)]))
    (folder / 'run').write_text(run_text([*RUN, ('7', 'd9', 1.0), RUN[0]]))
    command = ['evaluate-trec', 'qrels', 'run', '-K', '10', *options.split()]
    result = run(*command, '--repeated', 'first', '--format', 'json')
    assert result.exit_code == 0
    (evaluation,) = json.loads(result.stdout)['results']
    assert evaluation['means'] == {'MAP@10': 0.75}  # d2, d1, of which d1 is relevant; and 1
    settings = evaluation['manifest']['parameters']
    assert (settings['ignore'], settings['repeated']) == ('-1,2', 'first')
    assert evaluation['notes'] == ['1 of 4 returned documents are ignored (relevance -1, 2)']


@pytest.mark.parametrize(
    ('value', 'told'),
    [
        ('-1,2', "'-1,2' is not a valid integer"),
        ('', "'' is not a valid integer"),
        ('9999999999999999', 'ignore: found 9999999999999999, expected an integer from -2**53'),
    ],
)
def test_relevances_that_are_no_integers(value, told, folder):
    result = run('evaluate-trec', 'qrels', 'run', '--ignore', value)
    assert (result.exit_code, result.stdout) == (2, '')
    assert told in result.stderr


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        ('qrels a b --queries qrels', '--queries: found runs of TREC or another tool'),
        ('qrels a b --judged qrels', '--judged: found runs of TREC or another tool'),
        ('qrels a b --missing skip', '--missing skip: all runs need the same topics; give zero'),
        ('- a b', 'standard input (-) can be read once only, and QRELS is read 2 times'),
        ('qrels a own', 'own, line 1: found 5 fields'),
        ('qrels a b --cluster video', 'cluster: found no reference'),
        ('reference own own.2 --ties best', '--ties: found no runs of TREC or another tool'),
        ('scores --ties best', '--ties: found score tables, which are scored already'),
        ('a.json b', "'b' holds no results, but other arguments do"),
    ],
)  # fmt: skip
def test_compare_refuses_what_is_not_of_trec(options, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    Path('reference').write_text('x v 1 ann\n')
    for own in 'own', 'own.2':
        Path(own).write_text('x v 1 ann 0.5\n')
    Path('scores').write_text('item,new,old\n1,0.5,0.25\n')
    Path('a.json').write_text(evaluate_trec(JUDGED, FIRST, 1).to_json())
    result = run('compare', *options.split())
    assert result.exit_code
    assert result.stdout == ''
    assert told in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    'lines',
    [
        'x v 1 ann 0.5\n',
        'x v 12 50 0.5\n',
        'x v 1 ann lee 0.5\n',  # a name of two words, which is an error
        'x v 1 50 cent 0.5\n',
        'q1 0 d1 1\n',
        '{"schema": "mediaeval-ap/results/1", "run": {}}',
        '{"failed": [], "results": [{"kind": "evaluation"}], "schema": "mediaeval-ap/results/1"}',
        '{"item": "a", "value": 1}',
        '{"query_id": "a", "system": "b", "value": 1}',
        'qid,docno,value\na,b,1\n',
        '',
    ],
)
def test_what_may_be_of_this_package_is_not_taken_for_trec(lines, tmp_path):
    (tmp_path / 'file').write_text(lines)
    assert kind_of(tmp_path / 'file') is not Kind.TREC
