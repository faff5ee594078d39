"""Documents as arrays of bytes: equal pairs have equal keys, and keys decide nothing alone."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trec_rows import QRELS, RUN, quiet

from mediaeval_ap import evaluate_trec
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables.byte_words import WIDEST
from mediaeval_ap.trec import files
from mediaeval_ap.trec.documents import array_of, descending, pair_keys

texts = st.text(
    st.characters(exclude_characters='\0', exclude_categories=['Cs']), min_size=1, max_size=20
).map(str.encode)
long_texts = texts.map(lambda text: text * WIDEST)


@given(st.lists(texts, min_size=1), st.sampled_from([[], [b'x' * 9], [b'x' * 17]]))
def test_keys_do_not_depend_on_the_width(short, longer):
    topic = np.zeros(len(short), dtype=np.int32)
    alone = pair_keys(topic, array_of(short))
    beside = pair_keys(topic, array_of([*short, *longer])[: len(short)])
    assert alone.tolist() == beside.tolist()


@given(st.lists(texts), st.lists(texts | long_texts))
def test_keys_tell_pairs_apart(short, others):
    """By chance, the keys of two pairs are equal once in 2**64."""
    for documents in (short, others):
        pairs = [(topic, text) for text in documents for topic in range(3)]
        keys = pair_keys(np.array([t for t, _ in pairs], np.int32), array_of([d for _, d in pairs]))
        assert len(set(keys.tolist())) == len(set(pairs))


def test_keys_of_similar_documents():
    """Where only the last bytes of the words differ, all low bits are equal."""
    documents = [b'1234567%c2345678%c' % (a, b) for a in range(64, 128) for b in range(64, 128)]
    keys = pair_keys(np.zeros(len(documents), np.int32), array_of(documents))
    assert len(set(keys.tolist())) == len(documents)


@given(st.lists(texts | long_texts), st.lists(texts))
def test_the_order_is_that_of_bytes(any_texts, short):
    for documents in (any_texts, short):
        order = descending(array_of(documents)).argsort(kind='stable')
        assert [documents[place] for place in order] == sorted(documents, reverse=True)


def few_keys(topic, documents):
    return pair_keys(topic, documents) & 3


@pytest.mark.parametrize('long', ['', 'x' * WIDEST])
@quiet
@given(st.sets(st.tuples(st.sampled_from('78'), st.integers(0, 9)), min_size=1), st.randoms())
def test_collisions_of_keys_change_nothing(long, pairs, random):
    returned = [(topic, f'{long}{number}', random.random()) for topic, number in pairs]
    judged = [(topic, f'{long}{number}', number % 2) for topic in '78' for number in range(0, 9, 2)]
    judged += [(topic, f'{long}{number}', 1) for topic in '78' for number in range(1, 9, 2)]
    expected = evaluate_trec(judged, returned, missing='zero')
    with patch.object(files, 'pair_keys', few_keys):
        found = evaluate_trec(judged, returned, missing='zero')
    assert (found.ap.tolist(), found.counts) == (expected.ap.tolist(), expected.counts)


def test_repeated_documents_are_found_beside_collisions(monkeypatch):
    monkeypatch.setattr(files, 'pair_keys', few_keys)
    run = [*((topic, f'd{number}', 0.5) for topic in '78' for number in range(9)), ('7', 'd5', 0.1)]
    with pytest.raises(FormatError, match="<rows>, row 19, docno: found 'd5' again for topic '7'"):
        evaluate_trec(QRELS, run)
    assert evaluate_trec(QRELS, RUN, 10).map.tolist() == [0.625]
