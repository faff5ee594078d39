"""The commands `evaluate-trec` and `export-trec`, and `evaluate --measures`."""

import csv
import gzip
import json
import tempfile
from contextlib import chdir
from pathlib import Path

import pytest
from commands import json_of, output_of, refused, run
from hypothesis import given
from hypothesis import strategies as st
from trec.conftest import folder
from trec_rows import QRELS, RUN, qrels_text, quiet, run_text

from mediaeval_ap import TrecTopics, compare, evaluate_trec
from mediaeval_ap.render.formats import render
from mediaeval_ap.tables.first_look import Kind, kind_of

__all__ = ['folder']


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'reference').write_text('x v 1 ann\nx v 3 ann\n')
    (tmp_path / 'run.txt').write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    return tmp_path


def test_the_command_prints_a_table(folder):
    options = '-K', '10', '--per-query', '--format', 'csv'
    assert output_of('evaluate-trec', 'qrels', 'run', *options) == (
        'run,definition,query,AP@10,n_relevant,n_queries\n'
        'run,trec,7,0.25,2,\nrun,trec,8,1.0,1,\nrun,trec,all,0.625,3,2\n'
    )
    options = ['--definition', 'kaggle', '--relevance-level', '2', '--ties', 'worst', '-K', '1,2']
    result = run('evaluate-trec', 'qrels', 'run', *options, '--format', 'csv')
    assert result.stdout == (
        'run,definition,ties,relevance_level,query,AP@1,AP@2,n_relevant,n_queries\n'
        'run,kaggle,worst,2,all,0.0,0.0,1,2\n'
    )
    told = 'qrels: 1 of 2 queries have nothing relevant: each counts 0'
    assert result.stderr == f'Warning: {told}\n'


def test_the_command_exports(campaign):
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels', '--run', 'run']
    assert output_of(*command, '-n', '1') == ''
    assert (campaign / 'run').read_text() == 'ann Q0 x/v/2 1 1 mediaeval_ap\n'
    assert "found 'a b', expected one word" in refused(*command, '--tag', 'a b')
    error = refused(*command[:-1], './qrels')
    assert 'refusing to overwrite ./qrels: it is another output\n' in error
    assert 'are files, not standard output' in refused(*command[:-1], '-')
    assert not (campaign / '-').exists()


@quiet
def test_the_command_exports_several_runs_to_a_folder(campaign):
    """Named by themselves, in the name of the file and in the tag."""
    Path('other.txt').write_text('x v 1 ann 0.5\n')
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels']
    Path('names.csv').write_text('path,name\nother.txt,an/other run\n')
    runs = ['run.txt', 'other.txt', '--names', 'names.csv']
    assert output_of(*command[:2], *runs, *command[3:], '--run', 'new') == ''
    assert sorted(path.name for path in Path('new').iterdir()) == [
        'an%2Fother%20run.trec',
        'run.trec',
    ]
    assert Path('new/an%2Fother%20run.trec').read_text() == 'ann Q0 x/v/1 1 1 an/other%20run\n'
    assert output_of(*command, '--run', 'one/', '--tag', 'me') == ''
    assert Path('one/run.trec').read_text().endswith(' me\n')
    Path('file').touch()
    error = refused(*command[:2], *runs, *command[3:], '--run', 'file')
    assert "--run: found the file 'file', expected a folder for several runs\n" in error


@quiet
@given(
    st.lists(st.sampled_from(['right', 'wrong', 'missing']), min_size=1, max_size=3),
    st.sampled_from(['out', 'out.gz']),
)
def test_several_runs_are_exported_with_one_file_of_qrels_or_not_at_all(kinds, qrels):
    lines = {'right': 'x v {} ann 0.5\n', 'wrong': 'x v {} ann high\n'}
    with tempfile.TemporaryDirectory() as name, chdir(name):
        Path('reference').write_text('x v 1 ann\nx v 2 ann\n')
        Path('old').mkdir()
        for number, kind in enumerate(kinds):
            if kind in lines:
                Path(f'{number}.txt').write_text(lines[kind].format(number))
        files = [f'{number}.txt' for number in range(len(kinds))]
        arguments = ['reference', *files, '--qrels', qrels, '--run', 'old/']
        is_right = {*kinds} == {'right'}
        assert (run('export-trec', *arguments).exit_code == 0) == is_right
        written = {path.name: path.read_text() for path in Path('old').iterdir()}
        assert Path(qrels).exists() == is_right
        numbers = range(len(kinds)) if is_right else ()
        assert written == {f'{n}.trec': f'ann Q0 x/v/{n} 1 1 {n}\n' for n in numbers}
        if is_right:
            read = gzip.open if qrels.endswith('.gz') else open
            with read(qrels, 'rt') as file:
                assert file.read() == 'ann 0 x/v/1 1\nann 0 x/v/2 1\n'


@quiet
@pytest.mark.parametrize('folder', ['new', 'old/new', 'old', 'a/b/c/'])
def test_no_export_leaves_no_folder(folder, campaign):
    Path('old').mkdir()
    before = sorted(Path.cwd().rglob('*'))
    Path('other.txt').write_text('x v 1 ann 0.5\n')
    Path('nobody').write_text('zoe\nmax\n')
    command = ['export-trec', 'reference', 'run.txt', 'other.txt', '--qrels', 'qrels']
    error = refused(*command, '--run', folder, '--queries', 'nobody')
    assert '--queries: found none with a relevant shot; no tool reads an empty file, as ' in error
    Path('other.txt').write_text('x v 1 ann high\n')
    refused(*command, '--run', folder, status=1)
    Path('other.txt').unlink()
    Path('nobody').unlink()
    assert sorted(Path.cwd().rglob('*')) == before


def test_an_export_does_not_replace_an_input(campaign):
    Path('runs').mkdir()
    Path('run.txt').rename('runs/mine.trec')
    before = Path('runs/mine.trec').read_text()
    command = ['export-trec', 'reference', 'runs/mine.trec', '--qrels', 'qrels', '--run', 'runs']
    error = refused(*command)
    assert 'refusing to overwrite runs/mine.trec: it is an input\n' in error
    assert Path('runs/mine.trec').read_text() == before


@quiet
def test_exported_runs_have_the_mean_over_all_queries(campaign):
    """Also of queries that are in neither file, as no shot is relevant."""
    Path('queries').write_text('zoe\nann\nmax\n')
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels', '--run', 'run']
    warning = run(*command, '--queries', 'queries').stderr
    assert '2 of 3 queries have nothing relevant, and are not in the files' in warning
    options = '--queries', 'queries', '-K', '1,10'
    of_names = json_of('evaluate', 'reference', 'run.txt', *options, '--definition', 'trec')
    of_topics = json_of('evaluate-trec', 'qrels', 'run', *options, '--per-query')
    (by_name,), (by_topic,) = of_names['results'], of_topics['results']
    assert by_name['means'] == by_topic['means']
    assert [row['query'] for row in by_topic['queries']] == ['zoe', 'ann', 'max']
    assert by_topic['manifest']['inputs']['queries']['name'] == 'queries'


@quiet
def test_the_command_adds_measures(campaign):
    command = ['evaluate', 'reference', 'run.txt', '-K', '10', '--measures', 'RR R@10']
    assert output_of(*command, '--format', 'csv') == (
        'run,definition,query,AP@10,RR,R@10,n_relevant,n_queries,n_queries_RR,n_queries_R@10\n'
        'run,mediaeval-2016,all,0.25,0.5,0.5,2,1,1,1\n'
    )


def test_several_runs_and_ids_of_one_side(folder):
    (folder / 'part').write_text(run_text(RUN[:1]))
    command = ['evaluate-trec', 'qrels', 'run', 'part', '-K', '10']
    assert refused(*command, status=1).startswith('Error: run 2 of 2: part')
    (folder / 'topics').write_text('7\n')
    error = refused(*command[:4], '--queries', 'topics', status=1)
    assert error.startswith('Error: qrels, line ')  # no run is at fault
    (folder / 'bad').write_text('7 0 d1\n')
    error = refused('evaluate-trec', 'bad', 'run', 'part', status=1)
    assert error.startswith('Error: bad, line 1')
    for missing, n_relevant in ('zero', '3'), ('skip', '2'):
        options = '--missing', missing, '--unknown', 'drop', '--format', 'csv', '--quiet'
        rows = csv.DictReader(output_of(*command, *options).splitlines())
        found = [(row['run'], row['n_relevant']) for row in rows]
        assert found == [('run', '3'), ('part', n_relevant)]
    error = refused('evaluate-trec', '-', 'run', 'part')
    assert 'can be read once only, and QRELS is read 2 times' in error


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ('--ties best --definition hits', 'found best, which hits is not defined for'),
        ('--ties expected --measures P@5', 'measures'),
        ('--relevance-level 2 --measures P@5', 'expected its rel as well'),
        ('--measures alpha_nDCG@10', 'ir_measures cannot compute this'),
    ],
)
def test_parameters_that_do_not_go_together_are_errors_of_usage(folder, options, message):
    pytest.importorskip('ir_measures')
    assert message in refused('evaluate-trec', 'qrels', 'run', *options.split())


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


def compared(*arguments):
    return output_of('compare', 'qrels', *arguments, '--quiet', '-K', '1,10')


def in_python(*, qrels='qrels', baseline=None, **settings):
    runs = {'a': FIRST, 'b': SECOND}
    results = {name: evaluate_trec(qrels, each, [1, 10], **settings) for name, each in runs.items()}
    return compare(results, baseline=baseline)


@pytest.mark.parametrize('kind', ['TREC', 'folder', 'records'])
def test_compare_recognises_runs_of_other_tools(kind, tmp_path, monkeypatch):
    """It scores them as `evaluate_trec` does, whatever the names of the files."""
    monkeypatch.chdir(tmp_path)
    write_runs(kind)
    assert compared('a', 'b', '--format', 'csv') == render(in_python().document(), 'csv')


@quiet
def test_compare_takes_the_options_of_trec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    for options, settings in (
        ('--relevance-level 2', {'relevance_level': 2}),
        ('--ties worst --unjudged skip', {'ties': 'worst', 'unjudged': 'skip'}),
        ('--queries-without-relevant skip', {'queries_without_relevant': 'skip'}),
        ('--measures nDCG@2', {'measures': 'nDCG@2'}),
        ('--definition kaggle', {'definition': 'kaggle'}),
        ('--baseline b', {'baseline': 'b'}),
    ):
        table = compared('a', 'b', *options.split(), '--format', 'markdown')
        assert table == render(in_python(**settings).document(), 'markdown')
    options = ['-K', '1,10', '--per-query', '-o', 'a.json']
    run('evaluate-trec', 'qrels', 'a', *options)
    beside = compared('a.json', 'b')
    assert beside == compared('a', 'b')
    assert 'video' not in beside
    Path('qrels').write_text(Path('qrels').read_text() + 'other 0 d1 1\n')
    table = compared('a', 'b', '--missing', 'zero', '--format', 'csv')
    assert table == render(in_python(missing='zero').document(), 'csv')


@quiet
def test_topics_that_the_qrels_lack_count_nothing(tmp_path, monkeypatch):
    """In compare, and in a report of results; other commands name this way."""
    monkeypatch.chdir(tmp_path)
    write_runs()
    Path('topics').write_text('nobody\n' + ''.join(f'{topic}\n' for topic in JUDGED))
    options = '--queries', 'topics'
    assert compared('a', 'b', *options, '--format', 'csv') == render(
        in_python(queries='topics').document(), 'csv'
    )
    of_qrels, of_all = (
        json_of('compare', 'qrels', 'a', 'b', '-K', '10', *more)['leaderboard']
        for more in ((), options)
    )
    assert [row['map'] for row in of_all] == pytest.approx(
        [row['map'] * 12 / 13 for row in of_qrels],
        rel=1e-15,  # one more topic, of 0
    )
    error = refused('explain', 'qrels', 'a', *options, status=1)
    assert "found no topic 'nobody'; evaluate-trec --queries FILE counts it 0" in error
    output_of('evaluate-trec', 'qrels', 'a', 'b', *options, '--per-query', '-o', 'both.json')
    output_of('report', 'both.json', '-o', 'page.html')


@quiet
@pytest.mark.parametrize('option', ['--unknown drop', '--repeated first', '--part test'])
def test_compare_chooses_topics_rows_and_a_part(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs('parts' if '--part' in option else 'TREC')
    further_line = {'--unknown drop': 'new Q0 d1', '--repeated first': 'q1 Q0 d1'}.get(option)
    if further_line:
        Path('a').write_text(f'{Path("a").read_text()}{further_line} 1 0.5 me\n')
    assert option.split()[0] in refused('compare', 'qrels', 'a', 'b', '--quiet', status=1)
    table = compared('a', 'b', *option.split(), '--format', 'csv')
    assert table == render(in_python().document(), 'csv')


@quiet
def test_compare_ignores_relevances(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    table = compared('a', 'b', '--ignore', '2', '--format', 'csv')
    assert table == render(in_python(ignore=2).document(), 'csv')
    assert table != compared('a', 'b', '--format', 'csv')


SETTINGS = [
    ('', {}),
    ('--ties worst --relevance-level 2', {'ties': 'worst', 'relevance_level': 2}),
    ('--ignore 2 --definition kaggle', {'ignore': 2, 'definition': 'kaggle'}),
    ('--queries-without-relevant skip', {'queries_without_relevant': 'skip'}),
]


@quiet
@pytest.mark.parametrize(
    ('kind', 'options', 'settings'),
    [('TREC', *SETTINGS[0]), ('folder', *SETTINGS[1])]
    + [pytest.param('TREC', *case, marks=pytest.mark.slow) for case in SETTINGS[1:]]
    + [pytest.param('records', *SETTINGS[1], marks=pytest.mark.slow)],
)
def test_commands_for_names_take_topics(kind, options, settings, tmp_path, monkeypatch):
    """They print what Python makes of the same files, of TREC and of other tools."""
    monkeypatch.chdir(tmp_path)
    write_runs(kind)
    evaluator = TrecTopics('qrels', [1, 10], **settings)
    runs = {'a': 'a', 'b': 'b'}
    many = ['qrels', 'a', 'b', *options.split(), '-K', '1,10', '--quiet']
    output_of('report', *many, '-o', 'page.html')
    assert Path('page.html').read_text() == evaluator.report(runs).to_html()
    some = ['--queries', 'some', '--hide-labels']
    Path('some').write_text('q1\n')
    for options_of_page, queries in (some[2:], None), (some, ['q1']):
        output_of('report', *many, *options_of_page, '-o', 'page.html')
        results = {name: evaluator.evaluate(name, queries) for name in runs}
        assert Path('page.html').read_text() == compare(results, hide_labels=True).to_html()
    pool = output_of('pool', *many, '--format', 'csv')
    assert pool == render(evaluator.pool(runs).document(), 'csv')
    queue = evaluator.judge_next(runs, strategy='depth')
    lines = output_of('judge-next', *many, '--strategy', 'depth', '--format', 'csv')
    assert lines == render(queue.document(), 'csv')
    assert lines.startswith('qid,docno,score,reason\n')
    one = ['qrels', 'a', 'q1', *options.split(), '--quiet', '--format', 'csv']
    if '--queries-without-relevant' not in options:
        rows = output_of('rank', *one, '-n', '5').splitlines()
        top = evaluator.rank('a', 'q1', 5)
        assert rows[0].split(',') == [*top]
        assert [row.split(',')[2] for row in rows[1:]] == top['docno'].tolist()
    explained = output_of('explain', *one[:2], *one[3:], '-k', '10')
    assert explained == render(evaluator.explain('a', k=10, name='a').document(), 'csv')


def test_explain_tells_of_no_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    told = output_of('explain', 'qrels', 'b', '-k', '10')
    assert 'confidence' in told
    assert not any(word in told for word in ('spelling', 'part_of_name', 'distance', 'temporal'))
    told = output_of('explain', 'qrels', 'b', 'q1', '-k', '10')
    assert '\nd1 ' in told
    assert 'distance' not in told


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        ('explain qrels a --near 0.5', '--near: found runs of TREC or another tool'),
        ('rank qrels a q1 --judged qrels', '--judged: found runs of TREC or another tool'),
        ('pool qrels a b --subset qrels', '--subset: found runs of TREC or another tool'),
        ('report qrels a b --ties expected -o x.html', '--ties: found expected, expected an order'),
        ('judge-next qrels a b --missing skip', '--missing: found skip, expected error or zero'),
        ('judge-next qrels a b --by shot', "--by: found 'shot', expected one of pair"),
        ('explain names names.txt --ignore -1', '--ignore: found no runs of TREC'),
        ('rank names names.txt ann --missing zero', '--missing: found no runs of TREC'),
    ],
)
def test_options_of_names_and_of_topics_are_not_mixed(options, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs()
    Path('names').write_text('x v 1 ann\n')
    Path('names.txt').write_text('x v 1 ann 0.5\n')
    assert told in refused(*options.split())
    assert not Path('x.html').exists()


@pytest.mark.parametrize('options', ['--ignore=-1 --ignore=2', '--ignore 2 --ignore -1'])
def test_the_command_ignores_relevances(options, folder):
    (folder / 'qrels').write_text(qrels_text([*QRELS, ('7', 'd9', -1)]))
    (folder / 'run').write_text(run_text([*RUN, ('7', 'd9', 1.0), RUN[0]]))
    command = ['evaluate-trec', 'qrels', 'run', '-K', '10', *options.split()]
    (evaluation,) = json_of(*command, '--repeated', 'first')['results']
    assert evaluation['means'] == {'MAP@10': 0.75}  # d2, d1, of which d1 is relevant; and 1
    settings = evaluation['manifest']['parameters']
    assert (settings['ignore'], settings['repeated']) == ('-1,2', 'first')


@pytest.mark.parametrize('value', ['-1,2', '', '9999999999999999'])
def test_relevances_that_are_no_integers(value, folder):
    assert 'integer' in refused('evaluate-trec', 'qrels', 'run', '--ignore', value)


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        ('qrels a b --queries -', 'standard input (-) can be read once only, and --queries is'),
        ('qrels a b --missing skip', '--missing skip: all runs need the same topics; give zero'),
        ('- a b', 'standard input (-) can be read once only, and QRELS is read 2 times'),
        ('qrels a own', 'own, line 1: found 5 fields'),
        ('qrels a b --cluster video', 'cluster: found no reference'),
        ('reference own own.2 --ties best', '--ties: found no runs of TREC or another tool'),
        ('scores --ties best', '--ties: found score tables, which are scored already'),
        ('a.json b', "'b' holds no results, but other arguments do"),
    ],
)
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
        '{"query_id": "a", "system": "b", "value": 1}',
        'qid,docno,value\na,b,1\n',
        '',
    ],
)
def test_what_may_be_of_this_package_is_not_taken_for_trec(lines, tmp_path):
    (tmp_path / 'file').write_text(lines)
    assert kind_of(tmp_path / 'file') is not Kind.TREC


@pytest.mark.parametrize('line', ['7 Q0 d1 1 0.5', '7\tQ0\td1\t1\t0.5 me', '7 0 d1 1 0.5 me'])
def test_a_run_without_its_tag_is_not_taken_for_names(line, tmp_path, monkeypatch):
    """As it would be scored against relevances as names."""
    monkeypatch.chdir(tmp_path)
    write_runs()
    Path('run').write_text(f'{line}\n')
    assert kind_of('run') is Kind.TREC
    if len(line.split()) == 5:
        error = refused('explain', 'qrels', 'run', status=1)
        assert error.startswith('Error: run, line 1: found 5 fields')


OF_SAMPLE = 'xinfAP is estimated from a sample, down to rank 1,000:'
SAMPLE = ''.join(
    f'{topic} 0 {document} {stratum} {level}\n'
    for topic in '78'
    for document, stratum, level in [('d1', 1, 1), ('d2', 1, 0), ('d3', 2, 1), ('d4', 2, -1)]
)


@pytest.fixture
def sample(folder):
    (folder / 'qrels').write_text(SAMPLE)
    return folder


def test_a_sample_by_strata(sample):
    """The depth is 1000 unless it is typed; results and score tables are compared as any other."""
    assert output_of('evaluate-trec', 'qrels', 'run').splitlines()[-1] == (
        f'{OF_SAMPLE} 6 of 8 pooled documents are judged'
    )
    command = 'evaluate-trec', 'qrels', 'run', '--per-query'
    default, short = (json_of(*command, *more)['results'][0] for more in ((), ('-K', '1')))
    assert default['means'] == {'xinfAP': evaluate_trec('qrels', 'run').map[0]}
    assert default['manifest']['parameters']['K'] == [1000]
    assert short['means'] == {'xinfAP': evaluate_trec('qrels', 'run', 1).map[0]}
    for suffix in 'csv', 'json':
        assert output_of(*command, '--measures', 'infP@1', '-o', f'a.{suffix}') == ''
        text = (sample / f'a.{suffix}').read_text()
        (sample / f'b.{suffix}').write_text(text.replace('"run": "run"', '"run": "b"'))
        result = json_of('compare', f'a.{suffix}', f'b.{suffix}')
        assert {'xinfAP', 'infP@1'} == {entry['metric'] for entry in result['leaderboard']}


def test_runs_of_a_sample_are_compared_and_reported(sample):
    (sample / 'other').write_text(run_text([('7', 'd3', 0.9), ('8', 'd2', 0.5)]))
    text = output_of('compare', 'qrels', 'run', 'other')
    assert f'{OF_SAMPLE} 6 of 8 pooled documents are judged\n' in text
    assert 'Means over 2 queries (xinfAP)' in text
    for status, *options in (2, '--definition', 'trec'), (1, '-K', '1,10'):
        for command in ['compare', 'qrels', 'run', 'other'], ['evaluate-trec', 'qrels', 'run']:
            assert 'for a sample' in refused(*command, *options, status=status)
    options = '--per-query', '-o', 'results.json'
    assert output_of('evaluate-trec', 'qrels', 'run', 'other', *options) == ''
    assert output_of('report', 'results.json', '-o', 'page.html') == ''
    assert f'{OF_SAMPLE} 6 of 8' in (sample / 'page.html').read_text()
