"""JSON that has a key twice is an error about this key, as the same rows in text are."""

import json

import pytest

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.sources import parsed_json, parsed_lines
from mediaeval_ap.trec import evaluate_trec

RECORD = '{"qid": "q1", "docno": "d1", "score": 1}'
REPEATED = {
    '{"q1": {"d1": 1}, "q2": {}, "q1": {"d2": 2}}': "f: found 'q1' again",
    '{"q1": {"d1": 1}, "q2": {"d2": 1, "d2": 1}}': "f, 'q2': found 'd2' again",
    '{"q1": {"d1": 1, "\\u0064\\u0031": 2}}': "f, 'q1': found 'd1' again",
    '{"en": {"test": {"q1": {"d": 1, "e": 1, "d": 2}}}}': "f, 'en', 'test', 'q1': found 'd' again",
    f'[{RECORD}, {RECORD[:-1]}, "score": 2}}]': "f, item 2: found 'score' again",
    '[[], [{"a": [{"b": 1, "b": 1}]}]]': "f, item 2, item 1, 'a', item 1: found 'b' again",
    '{"a": {"x": 1, "x": 1}, "b": {"y": 1, "y": 1}}': "f, 'a': found 'x' again",
    '{"": 1, "": 1}': "f: found '' again",
}


@pytest.mark.parametrize('text', REPEATED)
def test_a_repeated_key_is_named_with_the_way_to_it(text):
    with pytest.raises(FormatError) as caught:
        parsed_json(text.encode(), 'f')
    assert str(caught.value) == f'{REPEATED[text]}, expected each key once'


@pytest.mark.parametrize(
    'text',
    [
        '{"q1": {"d1": 1}, "q2": {"d1": 1}}',
        '{"a": 1, "A": 2, " a": 3, "1": 4, "1.0": 5, "e\\u0301": 6, "\\u00e9": 7}',
        f'[{RECORD}, {RECORD}]',
        '{"a": {"a": {"a": {}}}}',
    ],
)
def test_other_keys_are_no_repeated_ones(text):
    assert parsed_json(text.encode(), 'f') == json.loads(text)


def test_other_faults_keep_their_error():
    for text, message in {
        '{"a": 1, "a": 2': 'f, line 1: found no JSON: ',
        '{"a": 1, "a": NaN}': 'f: found NaN, which is not a JSON number',
    }.items():
        with pytest.raises(FormatError, match=f'^{message}'):
            parsed_json(text.encode(), 'f')


def test_lines_have_their_number():
    lines = [b'{"a": 1}\n', b'\n', b'{"r": [{"s": 1}, {"s": 1, "s": 1}]}\n']
    with pytest.raises(FormatError, match=r"^f, line 3, 'r', item 2: found 's' again"):
        parsed_lines(lines, 'f', 'objects')


QRELS = '{"q1": {"d1": 1}}'
FILES = {
    'run of ranx': '{"q1": {"d1": 0.9}, "q1": {"d2": 0.5}}',
    'records': f'[{RECORD[:-1]}, "docno": "d2"}}]',
    'lines': f'{RECORD[:-1]}, "qid": "q2"}}\n',
    'sentence-transformers': '{"query_id": "q1", "results": [{"corpus_id": "d", "corpus_id": 2}]}',
}


@pytest.mark.parametrize('kind', FILES)
def test_files_of_other_tools(kind, tmp_path):
    (tmp_path / 'qrels').write_text(QRELS)
    (tmp_path / 'run').write_text(FILES[kind])
    with pytest.raises(FormatError, match=r'run.*: found .* again, expected each key once$'):
        evaluate_trec(tmp_path / 'qrels', tmp_path / 'run')
