"""Values by topic and measure of other tools give the same as a table of one measure."""

import json
import random

import ir_measures
import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import compare
from mediaeval_ap.errors import Error, FormatError, ParameterError
from mediaeval_ap.tables.first_look import Kind, kind_of

# Fixed: any values would do. Topics of digits, with zeros that must stay, and of letters.
DRAWN = random.Random(5)
TOPICS = ['301', '0302', 'q-3', *map(str, range(400, 417))]
SCORES = {
    system: {
        topic: {'num_rel': float(n), 'map': round(DRAWN.random(), 4), 'P_10': n / 10}
        for topic in TOPICS
        if (n := DRAWN.randint(1, 9))
    }
    for system in 'ab'
}


def rows_of(system, *, n=None):
    return [
        (topic, measure, value)
        for topic, by_measure in list(SCORES[system].items())[:n]
        for measure, value in by_measure.items()
    ]


def frame_of(*columns):
    rows = [(system, *row) for system in SCORES for row in rows_of(system)]
    return pandas.DataFrame(rows, columns=columns)


def trec_eval(system, folder, *, padding=' ', rows=None):
    """Lines as trec_eval -q writes them: a padded name, a tab, the topic, a tab, the value."""
    path = folder / f'{system}.eval'
    lines = [f'{"runid":22}\tall\tthe run {system}', f'{"num_q":22}\tall\t{len(TOPICS)}']
    for topic, measure, value in rows_of(system) if rows is None else rows:
        text = f'{value:.0f}' if measure.startswith('num_') else f'{value:.4f}'
        lines.insert(-2, f'{measure:22}\t{topic}\t{text}'.replace(' ', padding))
    lines += [f'{"relstring":22}\tall\t1101', f'{"map":22}\tall\t0.5000', '']
    path.write_text('\n'.join(lines))
    return path


def expected(measure):
    """The pairs of a wide table of one measure."""
    wide = {
        system: [values[measure] for values in scores.values()] for system, scores in SCORES.items()
    }
    return compare(pandas.DataFrame({'item': TOPICS, **wide})).pairs[0]


def check(comparison, names=('a', 'b'), measures=('map', 'P_10')):
    """Same pairs as by one measure; the first measure is claimed, the others are exploratory."""
    assert comparison.metrics == [*measures]
    assert sorted(comparison.runs) == [*names]
    assert sorted(comparison.queries) == sorted(TOPICS)
    original = dict(zip(names, 'ab', strict=True))
    for pair, measure in zip(comparison.pairs, measures, strict=True):
        single = expected(measure)
        assert (pair.metric, original[pair.a], original[pair.b]) == (measure, single.a, single.b)
        assert (pair.difference, pair.p) == (single.difference, single.p)
    exploratory = {entry.metric: entry.exploratory for entry in comparison.leaderboard}
    assert exploratory == {measure: measure != measures[0] for measure in measures}


@pytest.mark.parametrize('padding', [' ', ''])
def test_lines_of_trec_eval(padding, tmp_path):
    """Counts, rows of `all` and rows of text are left out; --measures chooses and orders."""
    paths = [trec_eval(system, tmp_path, padding=padding) for system in 'ab']
    assert all(kind_of(path) is Kind.SCORES for path in paths)
    check(compare(paths))
    check(compare(paths, measures=['P_10', 'map']), measures=('P_10', 'map'))
    check(compare({'x': paths[0], 'y': paths[1]}, measures=['map']), ('x', 'y'), ('map',))
    check(compare(paths, measures=('P_10', 'num_rel')), measures=('P_10', 'num_rel'))
    check(compare(paths, where={'measure': 'P_10'}), measures=('P_10',))
    with pytest.raises(FormatError, match=r'a.eval: found no header, expected a column task'):
        compare(paths, where={'task': 'qa'})
    with pytest.raises(ParameterError, match="measures: found 'AP', expected some of num_rel, map"):
        compare(paths, measures=['AP'])


def test_lines_of_ir_measures(tmp_path):
    """The topic stands before the measure."""
    for system in 'ab':
        lines = [f'{topic}\t{measure}\t{value:.4f}' for topic, measure, value in rows_of(system)]
        lines += [f'all\t{measure}\t0.5000' for measure in ('num_rel', 'map', 'P_10')]
        (tmp_path / system).write_text('\n'.join(lines))
    check(compare([tmp_path / system for system in 'ab']))


@pytest.mark.parametrize(('topic', 'system'), [('qid', 'name'), ('query_id', 'system')])
def test_frames_of_several_systems(topic, system, tmp_path, monkeypatch):
    """As PyTerrier gives them, in any holder; also with the index that pandas saves."""
    monkeypatch.chdir(tmp_path)
    frame = frame_of(system, topic, 'measure', 'value')
    frame.to_csv('plain.csv', index=False)
    frame.to_csv('saved.csv')
    frame.to_csv('tabs.tsv', index=False, sep='\t')
    frame.to_parquet('columns.parquet')
    frame.to_json('lines.jsonl', orient='records', lines=True)
    names = 'plain.csv', 'saved.csv', 'tabs.tsv', 'columns.parquet', 'lines.jsonl'
    assert all(kind_of(name) is Kind.SCORES for name in names)
    others = frame, frame.set_index([system, topic]), polars.from_pandas(frame)
    for table in *names, *others:
        check(compare(table))
    means = frame_of(system, topic, 'measure', 'value').assign(**{topic: 'all'})
    check(compare(pandas.concat([means.drop_duplicates([system, 'measure']), frame])))


def test_frames_and_dictionaries_of_one_system_each():
    frames = [frame_of('system', 'query_id', 'measure', 'value').query('system == @name')
              for name in 'ab']  # fmt: skip
    alone = [frame.drop(columns='system') for frame in frames]
    for tables in alone, list(SCORES.values()), [SCORES['a'], alone[1]]:
        check(compare(tables), ('table 1', 'table 2'))
    check(compare(SCORES))
    check(compare(SCORES, measures=['map']), measures=('map',))


def test_values_of_ir_measures():
    """Its frames hold measures, not their names."""
    measures = [ir_measures.AP, ir_measures.P @ 2]
    qrels = [ir_measures.Qrel(topic, f'd{n}', n % 2) for topic in 'abc' for n in range(4)]
    frames = {}
    for name, sign in ('up', 1), ('down', -1):
        run = [ir_measures.ScoredDoc(topic, f'd{n}', sign * n) for topic in 'abc' for n in range(4)]
        frames[name] = pandas.DataFrame(ir_measures.iter_calc(measures, qrels, run))
    comparison = compare(frames, measures=[ir_measures.P @ 2, 'AP'])
    assert comparison.metrics == ['P@2', 'AP']
    means = [(entry.run, entry.map) for entry in comparison.leaderboard]
    assert means[:2] == [('down', 0.5), ('up', 0.5)]
    assert means[2:] == [('up', pytest.approx((1 + 2 / 3) / 2)), ('down', (1 / 2 + 2 / 4) / 2)]


def test_seeds_of_several_measures():
    """Each measure has its own values by seed."""
    seeds = {('a', 1): SCORES['a'], ('a', 2): SCORES['b'], 'c': SCORES['b']}
    for pair in compare(seeds).pairs:
        (single,) = compare(seeds, measures=[pair.metric]).pairs
        assert (pair.difference, pair.p) == (single.difference, single.p)


def test_means_alone_are_told_apart(tmp_path):
    """trec_eval without -q writes them."""
    path = trec_eval('a', tmp_path, rows=[])
    assert kind_of(path) is Kind.SCORES
    with pytest.raises(
        FormatError, match=r'a.eval: found means alone, .*: write it with trec_eval'
    ):
        compare([path, trec_eval('b', tmp_path)])


def test_topics_that_a_system_lacks_are_missing(tmp_path):
    """trec_eval leaves out topics without a document, and may have no value of one measure."""
    paths = [trec_eval('a', tmp_path), trec_eval('b', tmp_path, rows=rows_of('b', n=18))]
    with pytest.raises(ParameterError, match=r"2 of 20 items without a value .* as '415' of 'b'"):
        compare(paths)
    assert len(compare(paths, missing='skip').queries) == 18
    zeros = compare(paths, missing='zero')
    mean = sum(values['map'] for values in list(SCORES['b'].values())[:18]) / 20
    (b,) = (entry.map for entry in zeros.leaderboard if (entry.run, entry.metric) == ('b', 'map'))
    assert b == pytest.approx(mean, abs=1e-12)
    rows = [row for row in rows_of('b') if row[:2] != ('301', 'P_10')]
    paths[1] = trec_eval('b', tmp_path, rows=rows)
    one_metric = 'metrics of different items, expected one metric: keep one by --where measure='
    with pytest.raises(ParameterError, match=one_metric):
        compare(paths, missing='skip')
    assert len(compare(paths, missing='skip', measures=['map']).queries) == 20
    assert len(compare(paths, missing='skip', measures=['P_10']).queries) == 19


LINES = 'map\t1\t0.5000\nmap\t2\t0.5\nmap\t3\t0.6\n'
WRONG = {
    f'{LINES}map\t4\t0.4x\n': "line 4, column 3: found '0.4x', expected a finite decimal number$",
    f'{LINES}\nP_5\t4\n': 'line 5: found 2 fields .*, expected 3 fields as in',
    f'{LINES}map\t1\t0.4\n': "line 4, column 2: found 2 rows for '1' of .*, expected each measure",
    'qid,measure,value\n1,map,0.5\n1,map,0.25\n': "line 3, qid: found 2 rows for '1' .* each meas",
    'qid,measure,value\n1,map,high\n': "line 2, value: found 'high', expected a finite decimal",
}


@pytest.mark.parametrize('text', WRONG)
def test_wrong_lines_are_named(text, tmp_path):
    path = tmp_path / 'scores.csv'
    path.write_text(text)
    with pytest.raises(FormatError, match=WRONG[text]):
        compare(path)


def test_files_need_the_same_measures(tmp_path):
    """Or the measures that they share are named; their order does not matter."""
    rows = [row for row in rows_of('b') if row[1] != 'P_10']
    paths = [trec_eval('a', tmp_path), trec_eval('b', tmp_path, rows=rows)]
    with pytest.raises(FormatError, match=r'b.eval: found values map, expected map, P_10 .*where'):
        compare(paths)
    for choice in {'measures': ['map']}, {'where': {'measure': 'map'}}:
        check(compare(paths, **choice), measures=('map',))
    trec_eval('b', tmp_path, rows=rows_of('b')[::-1])
    check(compare(paths))


@pytest.mark.parametrize(
    'text',
    [
        *('c1 v1 12 ann\nc1 v1 13 bob\n', 'v1 12 ann\n', 'video 12 13\n', ''),
        *('301 0 doc 1\n', '301 Q0 doc 1 0.5 tag\n', 'corpus map 301 0.5\n'),
        *(
            'map 301 0.5\nmap 302 ann\nmap 303 0.5\n',
            'measure,value\nmap,0.5\n',
            'qid,value\n1,0.5\n',
        ),
    ],
)
def test_other_files_hold_no_measures(text, tmp_path):
    path = tmp_path / 'file'
    path.write_text(text)
    assert kind_of(path) is not Kind.SCORES


def test_what_could_be_measures_is_asked_for():
    """Averages over map and P_10 mean nothing; {system: {item: value}} looks like one system."""
    frame = frame_of('name', 'qid', 'measure', 'value')
    with pytest.raises(
        FormatError, match=r'as measure differs, .* qid,measure,value need no --col'
    ):
        compare(frame, columns={'item': 'qid', 'system': 'name'})
    with pytest.raises(Error, match=r'pandas[.]DataFrame'):
        compare({'a': {'q1': 0.5, 'q2': 0.25}, 'b': {'q1': 0.25, 'q2': 0.5}})


def test_columns_of_these_names_may_be_systems():
    wide = pandas.DataFrame({'item': TOPICS, 'measure': 0.25, 'other': 0.5})
    assert sorted(compare(wide).runs) == ['measure', 'other']
    long = pandas.DataFrame({'item': TOPICS, 'system': 's', 'measure': 'map', 'value': 0.5})
    assert (compare(long).runs, compare(long).metrics) == (['s'], ['value'])


def test_json_of_pytrec_eval(tmp_path):
    """Also of measures that are whole numbers, which could be relevances by document."""
    for system, scores in SCORES.items():
        whole = {topic: {'success_5': 1.0, **values} for topic, values in scores.items()}
        (tmp_path / f'{system}.json').write_text(json.dumps(whole))
    paths = [tmp_path / f'{system}.json' for system in SCORES]
    assert all(kind_of(path) is Kind.SCORES for path in paths)
    check(compare(paths, measures=['map', 'P_10']))
    for keys in b'"d_1": 1, "map": 0', b'"\x9c": 1', b'':
        (tmp_path / 'qrels.json').write_bytes(b'{"1": {%b}}' % keys)
        assert kind_of(tmp_path / 'qrels.json') is Kind.TREC


def test_columns_of_measures_are_no_systems(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text(',map,P_5,ndcg_cut_10\nq1,0.5,0.25,1\nq2,0.5,0.25,1\n')
    with pytest.raises(FormatError, match=r'found measures map, P_5, .*choose one by .*value=map'):
        compare(path)
    assert compare(path, columns={'value': 'P_5'}).leaderboard[0].map == 0.25
    assert sorted(compare(path, systems=['map', 'P_5']).runs) == ['P_5', 'map']
    path.write_text('item,run_1,run_2\nq1,0.5,0.25\nq2,0.5,0.25\n')
    assert compare(path).runs == ['run_1', 'run_2']


@given(
    st.lists(st.sampled_from(['acc', 'f1', 'bleu']), min_size=3, max_size=8),
    st.sampled_from(['acc', 'f1', 'bleu', None]),
)
def test_items_of_different_measures_need_a_choice(measures, chosen):
    """The remedy of the error gives what a table of the chosen items gives."""
    values = np.random.default_rng(0).random((2, len(measures)))
    rows = [
        (system, f'q{item}', measure, values[row, item])
        for row, system in enumerate(['a', 'b'])
        for item, measure in enumerate(measures)
    ]
    frame = pandas.DataFrame(rows, columns=['system', 'qid', 'measure', 'value'])
    settings = {} if chosen is None else {'measures': [chosen]}
    if len({*measures}) == 1:
        assert compare(frame).queries == [f'q{item}' for item in range(len(measures))]
    elif chosen in {None, *measures}:
        with pytest.raises(ParameterError, match='keep one by --where measure=NAME'):
            compare(frame, **settings)
        measure = chosen or measures[0]
        for right in {'measures': [measure], 'missing': 'skip'}, {'where': {'measure': measure}}:
            assert compare(frame, **right).queries == [
                f'q{item}' for item, name in enumerate(measures) if name == measure
            ]
