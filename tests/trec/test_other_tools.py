"""Files of other tools: as their versions named here write them, or written by the tools."""

import csv
import gzip
import io
import json

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trec_rows import quiet

from mediaeval_ap import evaluate_trec
from mediaeval_ap.errors import FormatError, ParameterError, ReadError
from mediaeval_ap.tables import reading

JUDGED = {'q1': {'d1': 1, 'd2': 0, 'd3': 2}, 'q2': {'d1': 1}}
RETURNED = {'q1': {'d2': 0.9, 'd1': 0.5, 'd4': 0.5}, 'q2': {'d1': 0.25}}
META = {'model_name': 'a/b', 'revision': '1'}


def sentence_transformers(path, run):
    """Write what `InformationRetrievalEvaluator(write_predictions=True)` does (6.2.0)."""
    with open(path, 'w') as file:
        for query, documents in run.items():
            results = [{'corpus_id': each, 'score': score} for each, score in documents.items()]
            results.sort(key=lambda each: (-each['score'], each['corpus_id']))
            line = {'query_id': query, 'query': 'Who "is" it?', 'results': results}
            file.write(json.dumps(line) + '\n')


def mteb(path, run):
    """Write what a retrieval task does with a `prediction_folder` (2.26.24)."""
    path.write_text(json.dumps({'mteb_model_meta': META, 'default': {'test': run}}))


def ranx_json(path, by_topic):
    """Write what `save` of `Run` and `Qrels` does (0.3.21), with indentation."""
    path.write_text(json.dumps(by_topic, indent=2))


def beir_tsv(path, qrels):
    """Write what `beir.util.write_to_tsv` does (2.2.0): the lines of `csv` end with CR LF."""
    with open(path, 'w', newline='') as file:
        writer = csv.writer(file, delimiter='\t', quoting=csv.QUOTE_MINIMAL)
        writer.writerow(['query-id', 'corpus-id', 'score'])
        for topic, documents in qrels.items():
            writer.writerows([topic, each, grade] for each, grade in documents.items())


def hugging_face(path, qrels):
    """Write what `Dataset.to_parquet` does of BEIR (datasets 5.2.0): a score may be a float."""
    rows = [(topic, each, float(n)) for topic, docs in qrels.items() for each, n in docs.items()]
    pandas.DataFrame(rows, columns=['query-id', 'corpus-id', 'score']).to_parquet(path)


RUN_WRITERS = [sentence_transformers, mteb, ranx_json]
QRELS_WRITERS = [ranx_json, beir_tsv, hugging_face]


def scored(qrels, run, **settings):
    evaluation = evaluate_trec(qrels, run, [1, 10], **settings)
    return evaluation.queries, evaluation.ap.tolist(), evaluation.n_relevant.tolist()


@pytest.fixture(params=['small', 'large'])
def size(request, monkeypatch):
    if request.param == 'large':  # each file is read as one of many megabytes
        monkeypatch.setattr(reading, 'BULK_BYTES', 0)


@pytest.mark.parametrize('write', RUN_WRITERS)
def test_runs_are_as_dictionaries(write, size, tmp_path):
    """Whatever the name of the file, also as an open file, and compressed."""
    path = tmp_path / 'my.run'
    write(path, RETURNED)
    expected = scored(JUDGED, RETURNED)
    assert scored(JUDGED, path) == expected
    evaluation = evaluate_trec(JUDGED, path)
    assert evaluation.inputs['hypothesis'].name == str(path)
    assert evaluation.inputs['hypothesis'].sha256
    assert scored(JUDGED, io.BytesIO(path.read_bytes())) == expected
    (tmp_path / 'packed').write_bytes(gzip.compress(path.read_bytes()))
    assert scored(JUDGED, tmp_path / 'packed') == expected


@pytest.mark.parametrize('write', QRELS_WRITERS)
def test_qrels_are_as_dictionaries(write, size, tmp_path):
    path = tmp_path / 'qrels'
    write(path, JUDGED)
    assert scored(path, RETURNED) == scored(JUDGED, RETURNED)


OF_BOTH = ['query-id corpus-id score', 'query_id corpus_id score', 'q_id doc_id score']
OF_RUNS = [*OF_BOTH, 'qid docno score', 'query_id doc_id score']
OF_QRELS = [*OF_BOTH, 'qid docno label', 'qid docno relevance', 'query_id doc_id relevance']


def table_of(form, path, by_topic, names):
    """The rows under these names, beside what else tools write, in a file or a frame."""
    rows = [(topic, each, n) for topic, docs in by_topic.items() for each, n in docs.items()]
    frame = pandas.DataFrame(rows, columns=names)[[names[2], names[0], names[1]]].assign(rank=1)
    records = [{'of': {'no': [None]}, **each} for each in frame.to_dict('records')]
    match form:
        case 'frame':
            return frame
        case 'parquet':
            frame.to_parquet(path)
        case 'csv':
            frame.to_csv(path, index=False)
        case 'lines':
            path.write_text(''.join(f'{json.dumps(each)}\n\n' for each in records))
        case 'array':
            path.write_text(json.dumps(records, indent=2))
    return path


@pytest.mark.parametrize('form', ['frame', 'parquet', 'csv', 'lines', 'array'])
def test_tables_of_tools_are_as_dictionaries(form, size, tmp_path):
    """Of PyTerrier, ir_measures, ir_datasets, BEIR, ranx; extra columns in any order."""
    expected = scored(JUDGED, RETURNED)
    for names in OF_RUNS:
        run = table_of(form, tmp_path / 'run', RETURNED, names.split())
        assert scored(JUDGED, run) == expected
    for names in OF_QRELS:
        qrels = table_of(form, tmp_path / 'qrels', JUDGED, names.split())
        assert scored(qrels, RETURNED) == expected


ids = st.sampled_from(['1', 'q', '{"a":', '{', '"', 'query-id', 'query_id', 'é'])
documents = st.dictionaries(ids, st.sampled_from([0.0, 0.5, 1.0, -2.5, 1e30]), min_size=1)


@quiet
@given(st.dictionaries(ids, documents, min_size=1))
def test_any_ids(tmp_path_factory, run):
    judged = {topic: {'1': 1, '{': 0} for topic in run}
    path = tmp_path_factory.getbasetemp() / 'run'
    for write in (sentence_transformers, mteb, ranx_json):
        write(path, run)
        assert scored(judged, path) == scored(judged, run)
    beir_tsv(path, judged)
    assert scored(path, run) == scored(judged, run)


@pytest.mark.parametrize('separator', [',', '\t'])
def test_spaces_around_the_names_of_columns_are_cut(separator, tmp_path):
    """As hand-written tables have them."""
    path = tmp_path / 'any'
    expected = scored(JUDGED, RETURNED)
    for number, by_topic in ('label', JUDGED), ('score', RETURNED):
        rows = [(topic, *row) for topic, documents in by_topic.items() for row in documents.items()]
        lines = [separator.join(map(str, row)) for row in rows]
        path.write_text('\n'.join([f'qid {separator} docno{separator} {number} ', *lines, '']))
        files = (path, RETURNED) if by_topic is JUDGED else (JUDGED, path)
        assert scored(*files) == expected


def test_integer_ids_keep_their_digits(tmp_path):
    """`InformationRetrievalEvaluator` writes ids as it was given them (6.2.0)."""
    run = {7: {10**25: 0.5, 3: 0.25}, 0: {3: 0.5, 10**25: 0.1}}
    judged = {'7': {'3': 1, '1': 0}, '0': {str(10**25): 1}}
    sentence_transformers(tmp_path / 'run', run)
    as_text = {str(topic): {str(d): n for d, n in each.items()} for topic, each in run.items()}
    assert scored(judged, tmp_path / 'run') == scored(judged, as_text)
    hugging_face(tmp_path / 'qrels', {int(topic): {3: 1} for topic in judged})
    qrels = {topic: {'3': 1} for topic in judged}
    assert scored(tmp_path / 'qrels', tmp_path / 'run') == scored(qrels, as_text)
    padded = [('07', '3', 1), ('0', '3', 1)]
    with pytest.raises(FormatError, match="found '07', expected no leading zero or sign, as"):
        evaluate_trec(padded, tmp_path / 'run')


def test_one_part_of_several(tmp_path):
    path = tmp_path / 'Task_predictions.json'
    other = {'q1': {'d1': 0.5}, 'q2': {'d9': 0.5}}
    parts = {'en': {'test': RETURNED, 'dev': other}, 'de': {'test': other}}
    path.write_text(json.dumps(parts))  # older versions leave out the model
    expected = scored(JUDGED, RETURNED)
    assert scored(JUDGED, path, part='en/test') == expected
    assert scored(JUDGED, tmp_path, part='dev') == scored(JUDGED, other)
    assert scored(JUDGED, path, part='de') == scored(JUDGED, other)
    names = 'en/test, en/dev, de/test, expected one with rankings; choose it by --part SUBSET/SPLIT'
    for part, found in (None, '3 splits: '), ('test', "2 for 'test' in "), ('fr', "0 for 'fr' in "):
        with pytest.raises(FormatError, match=rf'subset/split: found {found}{names}'):
            evaluate_trec(JUDGED, path, part=part)
    sentence_transformers(tmp_path / 'lines', RETURNED)
    array = table_of('array', tmp_path / 'array', RETURNED, OF_RUNS[0].split())
    for run in (tmp_path / 'lines', RETURNED, array):
        with pytest.raises(ParameterError, match=r"^part: found 'test', expected no part: only"):
            evaluate_trec(JUDGED, run, part='test')
    (tmp_path / 'Other_predictions.json').write_text('{}')
    found = 'found 2: Other_predictions.json, Task_predictions.json, expected one file of pred'
    with pytest.raises(FormatError, match=found):
        evaluate_trec(JUDGED, tmp_path)
    (tmp_path / 'none').mkdir()
    with pytest.raises(ReadError, match='Is a directory'):
        evaluate_trec(JUDGED, tmp_path / 'none')


A_LINE = r'expected lines of \{"query_id"'
RIGHT = '{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1}]}'


@pytest.mark.parametrize(
    ('run', 'message'),
    [
        (f'{RIGHT}\n\n{{"query_id"\n', r'^run, line 3: found no JSON: Expecting'),
        (f'{RIGHT}\n{RIGHT}', r"^run, line 2, query_id: found 'q1' again, expected each query on"),
        (
            '{"query_id": "q1", "query": "a", "documents": ["d"]}',
            rf"line 1: found fields 'query_id,query,documents', {A_LINE}.*, or records of qid,doc",
        ),
        ('[{"qid": "q1", "docno": "d1", "score": 1}, 7]', rf'^run, row 2: found 7, {A_LINE}'),
        ('{"qid": "q1", "docno": "d1", "score": null}', r'line 1, score: found None \(NoneType\)'),
        ('[\n  {"qid": "q1"', r'^run, line 2: found no JSON: .* expected lines of'),
        ('qid,docno,label\nq1,d1,1\n', r"no column score in 'qid,docno,label', expected qid,doc"),
        ('{"query_id": "q1", "results": [{"corpus_id": "d1"}]}', rf'line 1: .* {A_LINE}'),
        (RIGHT.replace('1}]', 'NaN}]'), r'^run, line 1: found NaN, which is not a JSON number'),
        (RIGHT.replace('"d1"', '""'), r"^run, line 1, docno: found '' \(str\), expected"),
        (RIGHT + '\n' + RIGHT.replace('"q1"', '1.5'), r'^run, line 2, qid: found 1.5 \(float\)'),
        (f'{RIGHT}\n[1]', rf'^run, line 2: found \[1\], {A_LINE}'),
        (RIGHT.replace(' 1}', ' 1}, {"corpus_id": "d1", "score": 2}'), r"docno: found 'd1' again"),
        ('{"q1": {"d1": 1}', r'^run, line 1: found no JSON: .* expected JSON of MTEB'),
        ('{"en": {"test": {"q1": {"d1": {}}}}}', r"topic 'q1', docno 'd1', score: found \{\} \(d"),
        ('{"mteb_model_meta": {}, "en": {"test": [1]}}', r'found 1 split: en/test, exp'),
        ('{}', r'^run: found no rows'),
        ('query-id\tcorpus-id\tscore\nq1\td1\tx\n', r"^run, line 2, score: found 'x', expected"),
        ('query-id\tcorpus-id\tscore\nq1\t\t1\n', r"^run, line 2, corpus-id: found ''"),
        ('\x04\x22\x4d\x18', r'^run: found LZ4, expected lines of TREC, TSV, Parquet or JSON'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(run, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'run').write_text(run, 'latin-1')
    with pytest.raises(FormatError, match=message):
        evaluate_trec(JUDGED, 'run')


@pytest.mark.parametrize(
    ('qrels', 'message'),
    [
        (RIGHT, r'found predictions of sentence-transformers, expected qrels: .* exchanged\?'),
        (
            '{"query_id": "q1", "doc_id": "d1", "score": 1}',
            "line 1: found fields 'query_id,doc_id,score', expected records of qid,docno,relevance "
            'or query_id,doc_id,relevance or qid,docno,label or',
        ),
        ('query-id\tcorpus-id\tscore\nq1\td1\t0.5\n', r"line 2, score: found '0\.5', expected an"),
    ],
)
def test_wrong_qrels_are_refused(qrels, message, tmp_path):
    (tmp_path / 'qrels').write_text(qrels)
    with pytest.raises(FormatError, match=message):
        evaluate_trec(tmp_path / 'qrels', RETURNED)
