"""The command `compare` of score tables, its verdicts, and groups."""

import json
import re
from pathlib import Path

import numpy as np
import pandas
import pytest
from challenge_inputs import SAMPLES
from commands import json_of, output_of, refused, run
from schemas import follow_schema

from mediaeval_ap import compare
from mediaeval_ap.errors import FormatError
from mediaeval_ap.render.formats import render


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """Scores of two systems on 60 items, of which one is worse by 0.1 but for every sixth item."""
    monkeypatch.chdir(tmp_path)
    rows = [(f'q{n:02}', 'fr' if n % 4 else 'en', n / 100, n % 6) for n in range(60)]
    frame = pandas.DataFrame(
        [
            (item, system, value + less * 0.1 * bool(sixth), genre)
            for item, genre, value, sixth in rows
            for system, less in (('old', 1), ('new', 0))
        ],
        columns=['item', 'system', 'value', 'genre'],
    )
    frame.to_csv('scores.csv', index=False)
    frame.to_parquet('scores.parquet')
    frame.to_json('scores.jsonl', orient='records', lines=True)
    for system, each in frame.groupby('system'):
        each[['item', 'value']].to_csv(f'{system}.csv', index=False)
    Path('run.txt').write_text('c v 1 ann 0.5\n')
    Path('groups.csv').write_text('item,group\n' + ''.join(f'{row[0]},g{row[3]}\n' for row in rows))


def compared(*arguments, **settings):
    return output_of('compare', *arguments, '--quiet', **settings)


def in_json(*arguments):
    written = json_of('compare', *arguments, '--quiet')
    follow_schema(written, 'comparison-3')
    return written


def test_every_file_of_scores_is_told_by_what_is_in_it():
    expected = render(compare('scores.csv').document(), 'table')
    for path in 'scores.csv', 'scores.parquet', 'scores.jsonl':
        Path('any').write_bytes(Path(path).read_bytes())
        assert compared('any') == expected
    assert compared('new.csv', 'old.csv') == expected
    given = Path('scores.csv').read_text()
    assert compared('-', '--columns', 'item=item', input=given) == expected


def test_items_in_a_saved_index():
    long = pandas.read_csv('scores.csv').set_index('item').rename_axis(None)
    long.to_csv('long.csv')
    pandas.read_csv('long.csv').to_csv('again.csv', index=False)
    long.to_parquet('long.parquet')
    long.pivot(columns='system', values='value').to_csv('wide.csv')
    expected = compared('scores.csv').splitlines()
    for path in 'long.csv', 'again.csv', 'long.parquet', 'wide.csv':
        note = f'the ids of {path} are its saved index, a column without a name'
        assert compared(path).splitlines() == [*expected[:-2], note, *expected[-2:]]


@pytest.fixture
def second_runs():
    for path in 'fashion_predictions.csv', 'sounds_scores.csv':  # predictions of other ids
        frame = pandas.read_csv(SAMPLES / path, dtype=str, keep_default_na=False)
        frame.iloc[:, 1:] = frame.iloc[:, 1:].to_numpy()[[*range(1, len(frame)), 0]]
        frame.to_csv(f'2_{path}', index=False)
    for path, other in ('hypothesis.txt', '2.txt'), ('discovery_2015/run.label', '2.label'):
        lines = (SAMPLES / path).read_text().splitlines(keepends=True)
        Path(other).write_text(''.join(lines[::3]))
    names = {line.split()[3] for line in (SAMPLES / 'reference.txt').read_text().splitlines()}
    Path('names').write_text('\n'.join(sorted(names)[:9]))
    truth = pandas.read_csv(SAMPLES / 'fashion_truth.csv', dtype=str)
    bought = truth.groupby('customer_id')['article_id'].agg(' '.join).rename('prediction')
    bought.iloc[::7] = ''  # customers that no mean is over
    bought.to_csv('bought.csv')
    Path('qrels').write_text('1 0 a 1\n1 0 b 1\n2 0 a 1\nmean 0 c 1\nall 0 d 1\n')  # topic all
    for name, ranked in ('1.run', 'abcd'), ('2.run', 'dcab'):
        topics = '1', '2', 'mean', 'all'
        rows = [(topic, at, each) for topic in topics for at, each in enumerate(ranked)]
        Path(name).write_text(''.join(f'{t} Q0 {each} 0 {9 - at} r\n' for t, at, each in rows))


OF_2015 = '2015.ref S/discovery_2015/run.label 2.label --shots S/discovery_2015/2015.shot'
OWN = {  # and a column of values of each
    'evaluate S/reference.txt S/hypothesis.txt 2.txt -K 3,50 --queries names': 'AP@50',
    'evaluate S/reference.txt S/hypothesis.txt 2.txt -K 50 --queries names --measures RR,P@5': 'RR',
    'evaluate-trec qrels 1.run 2.run -K 2,all': 'AP',
    f'evaluate-2015 S/discovery_2015/{OF_2015}': 'AP',
    'map bought.csv S/fashion_predictions.csv 2_fashion_predictions.csv -K 5,12': 'AP@12',
    'lrap S/sounds_truth.csv S/sounds_scores.csv 2_sounds_scores.csv': 'value',
    'macro-ap S/sounds_truth.csv S/sounds_scores.csv 2_sounds_scores.csv': 'value',
}


def figures(*arguments):
    """Return what a comparison says by metric, in its order."""
    written = in_json(*arguments)
    said = {row['metric']: [] for row in written['leaderboard']}
    for row in written['leaderboard']:
        said[row['metric']].append((row['run'], row['map']))
    for pair in written['pairs']:
        of_pair = 'a', 'b', 'n_queries', 'difference', 'p', 'p_adjusted', 'wins', 'ties', 'losses'
        said[pair['metric']].append([pair[name] for name in of_pair])
    return said


@pytest.mark.parametrize('command', OWN)
def test_own_values_by_query_say_what_the_results_say(command, second_runs):
    """Without the rows of means, and without queries that the means are not over."""
    arguments = command.replace(' S/', f' {SAMPLES}/').split()
    for suffix in 'json', 'csv', 'jsonl':
        run(*arguments, '--per-query', '-q', '-o', f'own.{suffix}')
    expected = figures('own.json')
    for path in 'own.json', 'own.csv', 'own.jsonl':
        is_noted = 'as independent, not by video' in compared(path)
        assert is_noted == command.startswith('evaluate S/')
    for path in 'own.csv', 'own.jsonl':
        found = figures(path)
        assert [*found.values()] == [*expected.values()]
        named = figures(path, '--columns', f'item=query,system=run,value={OWN[command]}')
        assert named.items() <= found.items()
        assert len(named) == 1


NO_OWN = {  # what a command wrote, changed by arguments, and what is said of it
    'gap S/landmarks_truth.csv S/landmarks_predictions.csv --per-query': (
        'found GAP, expected a metric with a value by query: the rank of a prediction depends'
    ),
    'lrap S/sounds_truth.csv S/sounds_scores.csv --label-weighted --per-query': (
        'it is a mean over labels; give results of --format json --per-query'
    ),
    'evaluate-trec qrels 1.run': 'own.csv: found means alone, expected values of queries: write it',
    'evaluate-trec qrels 1.run -K 2 --per-query --definition hits': (
        "own.csv, definition: found 'hits', expected 'trec' as in "
    ),
    'evaluate-trec qrels 1.run -K 2 --per-query --relevance-level 2': (
        "own.csv, relevance_level: found '2', expected the default as in "
    ),
    'evaluate-trec qrels 1.run -K 3 --per-query': 'found values AP@3, expected AP@2 as in ',
}


@pytest.mark.parametrize('command', NO_OWN)
def test_own_files_that_cannot_be_compared(command, second_runs):
    arguments = command.replace(' S/', f' {SAMPLES}/').split()
    run(*arguments, '-q', '-o', 'own.csv')
    run('evaluate-trec', 'qrels', '2.run', '-K', '2', '--per-query', '-q', '-o', 'first.csv')
    files = ['first.csv', 'own.csv'] if '1.run -K' in command else ['own.csv']
    assert NO_OWN[command] in refused('compare', *files, status=1)


OPTIONS = {
    '--by genre': {'by': 'genre'},
    '--by groups.csv': {'by': 'groups.csv'},
    '--range -1,1': {'range': (-1, 1)},
    '--columns cluster=genre': {'columns': {'cluster': 'genre'}},
    '--missing skip': {'missing': 'skip'},
    '--macro genre': {'macro': 'genre'},
    '--baseline old --require-not-worse 0.2 --power 0.1': {
        'baseline': 'old',
        'require_not_worse': 0.2,
        'power': 0.1,
    },
    '--lower-is-better --baseline old --fail-if-worse 0': {
        'lower_is_better': True,
        'baseline': 'old',
        'fail_if_worse': 0,
    },
}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # two clusters are few
@pytest.mark.parametrize('options', OPTIONS)
def test_options(options):
    written = in_json('scores.csv', *options.split())
    assert written == compare('scores.csv', **OPTIONS[options]).to_dict()


def test_digits_are_texts_and_names_of_columns():
    """Only files of other challenges have columns by position."""
    values = np.linspace(0, 1, 20)
    folds = {'fold': ['1', '01'] * 10, '1': values, '2': values[::-1]}
    frame = pandas.DataFrame({'item': [f'q{n}' for n in range(20)], **folds})
    frame.to_csv('folds.csv', index=False)
    written = in_json('folds.csv', '--where', 'fold=01')
    columns = ['item', '1', '2']
    assert written['leaderboard'] == compare(frame[1::2][columns]).to_dict()['leaderboard']
    (row,) = in_json('folds.csv', '--columns', 'value=2')['leaderboard']
    assert (row['run'], row['metric'], row['n_queries']) == ('folds', '2', 20)


GATES = {  # and the verdict, the line that says it, and the exit status
    'a=new.csv b=old.csv --baseline b --fail-if-worse 0.01': ('worse', 'failed (worse: a)', 3),
    'scores.csv --baseline old --require-better': ('not better', 'failed (not better: new)', 3),
    'scores.csv --baseline old --require-not-worse 0.2': ('not worse', 'passed: not worse by', 0),
    'scores.csv --baseline new --require-better': ('better', 'passed: better', 0),
    'scores.csv --baseline old --fail-if-worse 0.08': ('undecided', 'undecided (new): 60 items', 0),
    'scores.csv --baseline old --require-not-worse 0.08': (
        *('undecided', 'failed (undecided: new): 60 items', 3),
    ),
    'scores.csv --baseline new --fail-if-worse 0.05 --lower-is-better': (
        *('worse', 'failed (worse: old)', 3),
    ),
}


@pytest.mark.parametrize('arguments', GATES)
def test_a_gate_says_one_thing_everywhere(arguments):
    """In Markdown, as the summary of a job, in JSON, on standard error, and as exit status."""
    verdict, words, status = GATES[arguments]
    result = run('compare', *arguments.split(), '--quiet', '--format', 'markdown')
    headline, _, gate, *_ = result.stdout.splitlines()
    is_loss = '--lower-is-better' in arguments
    assert (': difference -0.083 ' if is_loss else ' by 0.083 ') in headline
    assert gate.startswith(f'Gate {words}')
    assert result.exit_code == status
    assert result.stderr == ('' if words.startswith('passed') else f'{gate}\n')
    assert f'| {verdict} ' in result.stdout
    assert ' over 60 items, with 95 % intervals' in result.stdout
    as_json = json.loads(run('compare', *arguments.split(), '-q', '--format', 'json').stdout)
    follow_schema(as_json, 'comparison-3')
    assert as_json['gate'] == {'outcome': gate.split()[1].rstrip(':'), 'words': gate}


def test_the_page_says_what_the_gate_says():
    comparison = compare('scores.csv', baseline='old', fail_if_worse=0.08)
    assert 'Gate undecided (new): 60 items do not tell a difference' in comparison.to_html()


UNKNOWN = {  # files that a gate may find in the place of scores, and what is said of each
    'empty': (b'', ': found an empty file'),
    'foreign': (b'task;model;F1\nt1;a;0.5\n', ", line 1: found 1 field in 'task;model;F1'"),
    'quotes': ('‘item’,‘value’\nq1,0.5\n'.encode(), ", line 1: found 1 field in '‘item’,‘value’'"),
    'object': (b'{"doc": 1, "acc": 0.5}', ', schema: found None'),
    'parquet': (b'', ", corpus_id: found columns 'doc, acc'"),
}


@pytest.mark.parametrize('name', UNKNOWN)
@pytest.mark.parametrize('command', ['compare {}', 'compare {} again', 'report {} -o page.html'])
def test_a_file_that_is_not_recognised_is_named_with_what_was_looked_for(command, name):
    content, told = UNKNOWN[name]
    Path(name).write_bytes(content)
    if name == 'parquet':
        pandas.DataFrame({'doc': [1, 2], 'acc': [0.5, 1]}).to_parquet(name)
    Path('again').write_bytes(Path(name).read_bytes())
    error = refused(*command.format(name).split(), '--quiet', status=1)
    assert error.startswith(f'Error: {name}{told}')
    assert ' score table: item,system,value, or item,value, or item' in error
    assert 'by --columns item=…,system=…,value=…' in error


@pytest.mark.parametrize('file', [None, 'readme.txt', 'notes.json'])
def test_a_folder_without_results_is_said_to_have_none(file):
    Path('nothing').mkdir()
    if file:
        Path('nothing', file).write_text('{"a": 1}')
    told = 'nothing: found no results in this folder, expected JSON of MTEB, lm-evaluation-harness'
    for command in ['compare', 'nothing'], ['report', 'nothing', '-o', 'page.html']:
        assert refused(*command, status=1).startswith(f'Error: {told}')
    with pytest.raises(FormatError, match=told):
        compare('nothing')


def wide():
    return pandas.read_csv('scores.csv').pivot(index='item', columns='system', values='value')


def test_json_lines_of_a_harness_are_told_the_option_that_reads_them():
    rows = wide().reset_index(names='doc_id').assign(target='x', doc=[{}] * 60)
    rows.rename(columns={'old': 'acc'}).to_json('harness.jsonl', orient='records', lines=True)
    error = refused('compare', 'harness.jsonl', status=1)
    columns, _, option = error.rstrip().partition(', expected their roles, as ')
    described = 'JSON lines with the columns doc_id, new, acc and 1 more'
    assert columns == f'Error: harness.jsonl: found {described}'
    (row,) = in_json('harness.jsonl', *option.split())['leaderboard']
    assert row['map'] == pytest.approx(wide()['old'].mean())


@pytest.mark.parametrize('options', [(), ('--columns', 'item=item')])
def test_other_forms_of_score_tables_are_told_to_change(options):
    wide().reset_index().to_json('array.json', orient='records')
    wide().to_csv('tabs.csv', sep='\t')
    for path, message in (
        ('array.json', 'array.json: found an array of JSON, expected JSON lines, or CSV'),
        ('tabs.csv', 'tabs.csv, line 1: found one column .* or tabs if the name .* ends in .tsv'),
    ):
        assert re.fullmatch(f'Error: {message}\n', refused('compare', path, *options, status=1))


def test_standard_input_names_the_option_that_reads_it():
    content = wide().to_csv()
    error = refused('compare', '-', status=1, input=content)
    option = error.rstrip().rpartition(' needs --columns, as ')[2]
    assert compared('-', *option.split(), input=content)


USAGE = {
    'scores.csv --fail-if-worse 0.1': '--fail-if-worse compares with a baseline: give --baseline',
    'scores.csv --baseline old --fail-if-worse -1': "'--fail-if-worse': ",
    'scores.csv -K 1': '--cutoffs: found score tables, which are scored already',
    'scores.csv run.txt': "'run.txt' is not a score table, but another argument is",
    'new.csv task.csv': 'give tables of the same columns, as --columns is for all',
    'scores.csv --columns task=item': "columns: found {'task': 'item'}, expected item=task, in Py",
    'scores.csv --range 1': "found '1', expected two numbers, as 0,1",
    'scores.csv --by genre --format csv': '--by: csv has one table',
    'scores.csv --columns item': "found 'item', expected ROLE=NAME between commas, each once",
    'scores.csv --where fold': "found 'fold', expected COLUMN=TEXT between commas, each once",
    'scores.csv --where tag=x,y': "found 'y', expected COLUMN=TEXT",
}


@pytest.mark.parametrize('arguments', USAGE)
def test_errors_in_the_command_line(arguments):
    Path('task.csv').write_text('task,f1\nq00,0.5\n')
    assert USAGE[arguments] in refused('compare', *arguments.split())


@pytest.mark.parametrize('format', ['csv', 'jsonl'])
@pytest.mark.parametrize(
    ('command', 'told'),
    [
        ('lrap', "metric: found 'LRAP', expected 'macro AP' as in "),
        ('macro-ap --ties expected', "ties: found 'expected', expected 'threshold' as in "),
    ],
)
def test_values_of_another_metric_or_setting_are_not_compared(command, told, format, tmp_path):
    """Not even where no item is in both files, as samples and classes."""
    files = []
    for name, scored_by in ('old', 'macro-ap'), ('new', command):
        inputs = [f'{SAMPLES}/sounds_truth.csv', f'{name}={SAMPLES}/sounds_scores.csv']
        files.append(f'{tmp_path}/{name}.{format}')
        options = ['--per-query', '-q', '--format', format, '-o', files[-1]]
        assert output_of(*scored_by.split(), *inputs, *options) == ''
    assert told in refused('compare', *files, status=1)


def trec_eval(system, *, per_topic=True):
    """Lines of trec_eval for the scores of a system; `P_5` has them in reverse."""
    values = pandas.read_csv(f'{system}.csv')['value'].tolist()
    lines = [
        f'{measure:22}\t{300 + number}\t{value:.4f}\n'
        for number, pair in enumerate(zip(values, values[::-1], strict=True))
        for measure, value in zip(('map', 'P_5'), pair, strict=True)
        if per_topic
    ]
    lines += [f'{"runid":22}\tall\t{system}\n', f'{"map":22}\tall\t0.2500\n']
    Path(f'{system}.eval').write_text(''.join(lines))


@pytest.mark.parametrize('measures', [['map', 'P_5'], ['P_5', 'map'], ['P_5']])
def test_lines_of_trec_eval_are_compared_as_in_python(measures):
    trec_eval('old')
    trec_eval('new')
    expected = compare(['old.eval', 'new.eval'], measures=measures).to_dict()
    repeated = [word for name in measures for word in ('--measures', name)]
    options = [['--measures', ','.join(measures)], repeated]
    if measures[0] == 'map':
        options.append([])
    for each in options:
        assert in_json('old.eval', 'new.eval', *each) == expected


def test_measures_of_one_file_of_several_systems():
    table = pandas.read_csv('scores.csv').rename(columns={'system': 'name', 'item': 'qid'})
    measures = [table.assign(measure=each) for each in ('nDCG@10', 'P(rel=2,judged_only=True)@5')]
    frame = pandas.concat(measures)[['name', 'qid', 'measure', 'value']]
    frame.to_csv('all.csv', index=False)
    chosen = compared('all.csv', '--measures', 'P(rel=2,judged_only=True)@5,nDCG@10')
    assert 'Claims are about P(rel=2,judged_only=True)@5; nDCG@10 is exploratory' in chosen
    assert 'Claims are about nDCG@10' in compared('all.csv')


def test_compare_and_report_have_the_option_that_an_error_names():
    """Of items with one measure each, as in tasks of a benchmark."""
    table = pandas.read_csv('scores.csv').rename(columns={'system': 'name', 'item': 'qid'})
    is_first = table['qid'].map(table['qid'].unique().tolist().index) < 20
    table.assign(measure=is_first.map({True: 'acc', False: 'f1'})).to_csv('tasks.csv', index=False)
    for command in ['compare', 'tasks.csv'], ['report', 'tasks.csv', '-o', 'page.html']:
        option, _, _ = refused(*command, status=1).partition('keep one by ')[2].partition(', in')
        written = output_of(*command, *option.replace('NAME', 'acc').split())
        assert 'Means over 20 items' in (written or Path('page.html').read_text())


def test_errors_about_measures():
    trec_eval('old', per_topic=False)
    trec_eval('new')
    assert 'old.eval: found means alone' in refused('compare', 'old.eval', 'new.eval', status=1)
    for path, measure in ('new.eval', 'AP'), ('scores.csv', 'map'):
        error = refused('compare', path, '--measures', measure)
        assert f"Error: --measures: found '{measure}', expected some of " in error
