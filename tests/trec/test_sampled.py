"""Qrels that are a sample by strata: how they are recognised, and what is estimated from them."""

import io
import json
import math
import re

import oracle
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemas import follow_schema
from trec_rows import QRELS, RUN, quiet, run_text

from mediaeval_ap import compare, evaluate_trec, read_results, summary
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError
from mediaeval_ap.render.formats import FORMATS, render

COLUMNS = ['qid', 'docno', 'stratum', 'relevance']
# Stratum 1 is judged whole, with 1 of 2 relevant. Of the 4 of stratum 2 one half is judged, and one
# half of this is relevant: it stands for 2.
SAMPLE = [
    ('7', 'd1', '1', 1),
    ('7', 'd2', '1', 0),
    ('7', 'd3', '2', -1),
    ('7', 'd4', '2', 1),
    ('7', 'd5', '2', 0),
    ('7', 'd6', '2', -1),
]
RANKED = [('7', 'd3', 0.9), ('7', 'd1', 0.8), ('7', 'x', 0.7), ('7', 'd4', 0.6)]
NOTE = 'xinfAP is estimated from a sample, down to rank 1,000: 4 of 6 pooled documents are judged'
SMOOTHING = 1e-4  # the smoothing of 1e-5 and 3e-5 is not in the figures by hand


def frame(rows):
    return pandas.DataFrame(rows, columns=COLUMNS)


def sample_text(rows):
    return ''.join(f'{topic} 0 {text} {stratum} {level}\n' for topic, text, stratum, level in rows)


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'qrels').write_text(sample_text(SAMPLE))
    (tmp_path / 'run').write_text(run_text(RANKED))
    return tmp_path


def test_an_example_by_hand(written):
    evaluation = evaluate_trec('qrels', 'run', measures='xinfNDCG, infP@2 infP@10')
    # Above d1, d3 is not judged: without any judgement, 1/3 of a stratum counts as relevant. Above
    # d4 there are d3, d1, and x, which is not pooled.
    at_d1 = 1 / 2 + 1 / 2 * (1 / 3)
    at_d4 = 1 / 4 + 2 / 4 * (1 / 2 * 1 + 1 / 2 * 1 / 3)
    assert evaluation.ap[0, 0] == pytest.approx(1 / 3 * at_d1 + 2 / 3 * at_d4, abs=SMOOTHING)
    # d4 is 1 of 1 judged of the 2 returned ones of its stratum. The ideal ranking has 3 documents.
    gains = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    ndcg = (gains[1] + 2 * gains[3]) / sum(gains[:3])
    expected = {'xinfNDCG': ndcg, 'infP@2': (1 + 1 / 3) / 2, 'infP@10': (1 + 2 * 1) / 10}
    assert evaluation.mean_measures == pytest.approx(expected, abs=SMOOTHING)
    assert (evaluation.K, evaluation.n_relevant.tolist()) == ([1000], [2])
    assert evaluation.notes == [NOTE]


levels = st.sampled_from([-1, -1, 0, 0, 1, 1, 2, 3])
judgements = st.tuples(st.sampled_from(['1', '10', '2']), levels)
pairs = st.tuples(st.sampled_from('ab'), st.sampled_from([f'd{number}' for number in range(7)]))
scores = st.integers(0, 3)
K = [1, 3, 9]


@quiet
@given(
    st.dictionaries(pairs, judgements, min_size=1, max_size=14),
    st.dictionaries(pairs, scores, min_size=1),
    st.integers(1, 6) | st.just(1000),
    st.sampled_from([0, 1, 2]),
)
def test_against_the_oracle(judged, returned, depth, level):
    qrels = [(*pair, *judgement) for pair, judgement in judged.items()]
    run = [(*pair, score) for pair, score in returned.items()]
    topics = list(dict.fromkeys(row[0] for row in qrels))
    run += [(topic, 'unpooled', 2) for topic in topics[:1]]  # not all of its topics are unknown
    evaluation = evaluate_trec(
        frame(qrels),
        run,
        depth,
        relevance_level=level,
        missing='zero',
        unknown='drop',
        measures=['xinfNDCG', *(f'infP@{k}' for k in K)],
    )
    assert evaluation.queries == topics
    values = evaluation.to_frame().drop(columns='n_relevant').to_numpy().tolist()
    for topic, found in zip(topics, values, strict=True):
        strata = oracle.Strata(qrels, run, topic, depth, level)
        expected = [strata.average_precision(), strata.ndcg(), *map(strata.precision, K)]
        assert found == pytest.approx(list(map(float, expected)), rel=1e-13)  # sums of quotients


def write_parquet(path):
    frame(SAMPLE).to_parquet(path)


def write_lines(path):
    frame(SAMPLE).to_json(path, orient='records', lines=True)


@pytest.mark.parametrize(
    'write',
    [
        lambda path: path.write_text('# pooled by strata\n\n' + sample_text(SAMPLE)),
        lambda path: path.write_text(sample_text(SAMPLE).replace(' ', '\t')),
        lambda path: frame(SAMPLE).to_csv(path, index=False),
        lambda path: frame(SAMPLE)[COLUMNS[::-1]].to_csv(path, index=False, sep='\t'),
        write_parquet,
        write_lines,
        lambda path: frame(SAMPLE).to_json(path, orient='records'),
    ],
)
@pytest.mark.parametrize('bulk', [1, 1 << 22])  # by pyarrow, by Python
def test_files_of_a_sample(written, monkeypatch, write, bulk):
    monkeypatch.setattr('mediaeval_ap.tables.reading.BULK_BYTES', bulk)
    expected = evaluate_trec('qrels', 'run').ap.tolist()
    write(written / 'other')
    evaluation = evaluate_trec('other', 'run')
    assert (evaluation.ap.tolist(), evaluation.notes) == (expected, [NOTE])


@pytest.mark.parametrize(
    'convert',
    [
        lambda rows: polars.DataFrame(rows.to_dict('list')),
        lambda rows: rows.astype({'qid': int, 'stratum': int}),
        lambda rows: rows.set_index(['qid', 'stratum']),
        lambda rows: rows.to_dict('list'),
        lambda rows: rows.rename(columns={'qid': 'query_id', 'docno': 'doc_id'}),
        lambda rows: rows.rename(columns={'relevance': 'label'}).assign(iteration=0),
        lambda rows: rows.assign(docno='a long name of a document' * 4 + rows['docno']),
    ],
)
def test_tables_of_a_sample(convert):
    qrels = convert(frame(SAMPLE))
    run = RANKED
    if isinstance(qrels, pandas.DataFrame) and 'docno' in qrels and len(qrels['docno'].iloc[0]) > 9:
        run = [(topic, 'a long name of a document' * 4 + text, score) for topic, text, score in run]
    evaluation = evaluate_trec(qrels, run)
    assert evaluation.ap.tolist() == evaluate_trec(frame(SAMPLE), RANKED).ap.tolist()
    assert evaluation.notes == [NOTE]


def test_documents_with_one_key(monkeypatch):
    """Different pairs with one hash still have their own strata."""
    expected = evaluate_trec(frame(SAMPLE), RANKED).ap.tolist()
    import mediaeval_ap.trec.entries as module

    keys = module.pair_keys
    monkeypatch.setattr(module, 'pair_keys', lambda topic, texts: keys(topic, texts) & 1)
    monkeypatch.setattr(module.Entries, 'refuse_repeated', lambda *_: None)
    assert evaluate_trec(frame(SAMPLE), RANKED).ap.tolist() == expected


@pytest.mark.parametrize(
    ('qrels', 'run', 'expected'),
    [
        ('7 0 d1 1 0.5\n', '', 'expected 4 fields: qid iteration docno relevance'),
        ('7 0 d1 1 1\n7 0 d2 1\n', '', 'line 2: found 4 fields .* expected 5 fields: qid iter'),
        ('7 0 d1 1 1\n7 0 d2 1 x\n', '', "line 2, relevance: found 'x', expected an integer"),
        ('7 0 d1 1 1\n7 0 d1 2 0\n', '', "line 2, docno: found 'd1' again for topic '7'"),
        ('7 0 d1 1 1\n', '7 Q0 d1 1 1\n', 'run, line 1: found 5 fields .* expected 6 fields'),
        ('# 0 rows\n\n', '', 'qrels: found only blank lines or comments'),
    ],
)
def test_other_files_are_refused(written, qrels, run, expected):
    (written / 'qrels').write_text(qrels)
    if run:
        (written / 'run').write_text(run)
    with pytest.raises(FormatError, match=expected):
        evaluate_trec('qrels', 'run')


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('definition', 'trec'),
        ('K', [10, 100]),
        ('K', 'all'),
        ('measures', 'infP@5 nDCG@10'),
        ('ties', 'trec_eval-9'),
        ('ties', 'expected'),
        ('relevance_level', -1),
        ('unjudged', 'skip'),
        ('ignore', -1),
    ],
)
def test_settings_that_a_sample_does_not_have(name, value):
    pytest.importorskip('ir_measures')
    with pytest.raises(ParameterError, match=r'a sample .* expected') as caught:
        evaluate_trec(frame(SAMPLE), RANKED, **{name: value})
    assert caught.value.parameters == (name,)


def test_estimates_need_strata():
    with pytest.raises(ParameterError, match='measures: found infP@5, expected it only for a samp'):
        evaluate_trec(QRELS, RUN, measures='infP@5')
    with pytest.raises(ParameterError, match="found 'infP@0', expected a measure of ir_measures"):
        evaluate_trec(frame(SAMPLE), RANKED, measures='infP@0')


@quiet
def test_topics_and_repeats_are_treated_as_always():
    qrels = frame([*SAMPLE, ('8', 'd1', '1', 0), ('9', 'd1', '1', 1)])
    run = [*RANKED, ('7', 'd4', 0.95), ('7', 'd3', 0.1), ('8', 'd1', 0.5), ('elsewhere', 'd1', 0.5)]
    settings = {'unknown': 'drop', 'repeated': 'first'}
    first = evaluate_trec(qrels, run, missing='zero', **settings)
    best = {'d4': 0.95, 'd3': 0.9, 'd1': 0.8, 'x': 0.7}
    alone = evaluate_trec(frame(SAMPLE), {'7': best}).ap[0, 0]
    assert first.queries == ['7', '8', '9']
    assert first.ap[:, 0].tolist() == [alone, 0, 0]
    settings |= {'missing': 'skip', 'queries_without_relevant': 'skip'}
    assert evaluate_trec(qrels, run, **settings).to_frame()['xinfAP'].to_dict() == {'7': alone}


def test_an_estimate_may_exceed_1():
    """Its relevant document stands for two, but the ranking is cut at one."""
    evaluation = evaluate_trec(frame(SAMPLE), [('7', 'd4', 1.0)], 1)
    assert evaluation.ap.tolist() == [[2.0]]
    assert evaluation.notes[0] == '1 of 1 queries have an AP above 1: xinfAP is an estimate'
    (again,) = read_results(io.StringIO(evaluation.to_json()))
    assert again.to_dict() == evaluation.to_dict()


def test_formats():
    evaluation = evaluate_trec(frame(SAMPLE), RANKED, 10, measures='infP@2')
    for format in FORMATS:
        text = render(evaluation.document(per_query=True), format)
        assert 'xinfAP' in text
        assert not re.search('MxinfAP|xinfAP@', text)
        if format not in ('csv', 'jsonl'):
            assert 'estimated from a sample, down to rank 10: 4 of 6 pooled documents' in text
    follow_schema(json.loads(evaluation.to_json()), 'results-1')
    (again,) = read_results(io.StringIO(evaluation.to_json()))
    assert again.to_dict() == evaluation.to_dict()
    assert again.to_frame().columns.tolist() == ['xinfAP', 'infP@2', 'n_relevant']
    assert summary([again]).columns.tolist()[:3] == ['definition', 'xinfAP', 'infP@2']


def test_comparing_runs():
    other = [('7', 'd2', 0.9), ('7', 'd4', 0.8)]
    runs = {'one': RANKED, 'other': other}
    results = {name: evaluate_trec(frame(SAMPLE), run) for name, run in runs.items()}
    comparison = compare(results)
    assert (comparison.metrics, NOTE in comparison.notes) == (['xinfAP'], True)
    results['other'] = evaluate_trec(frame(SAMPLE), other, 10)
    with pytest.raises(ParameterError, match=r'depth: found 10 .* expected 1000'):
        compare(results)


def test_infap_takes_one_sample():
    pytest.importorskip('ir_measures')
    qrels = [(topic, text, relevance) for topic, text, _, relevance in SAMPLE]
    with pytest.warns(DataWarning, match='infAP takes the judged documents as one uniform sample'):
        evaluation = evaluate_trec(qrels, RANKED, measures='infAP P@5')
    assert [warning.kind for warning in evaluation.warnings] == ['one-sample']
    assert not evaluate_trec(qrels, RANKED, measures='P@5').warnings
    judged = [row for row in qrels if row[2] >= 0]
    assert not evaluate_trec(judged, RANKED, measures='infAP').warnings
