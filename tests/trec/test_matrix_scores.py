"""Matrices of relevance and scores have the values of dictionaries with the same ids."""

import itertools
import warnings

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.metrics import average_precision_score
from trec_rows import quiet

from mediaeval_ap import TrecTopics, definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES
from mediaeval_ap.errors import DataWarning, Error, FormatError, ParameterError
from mediaeval_ap.trec import matrix_scores

UNDEFINED = {('hits', ties) for ties in ('best', 'expected', 'worst')}
DEFINED = sorted(set(itertools.product(definitions.names(), TREC_TIES)) - UNDEFINED)
SETTINGS = [{}, {'relevance_level': 2}, {'ignore': [-1, 0]}, {'exclude_self': True}]


@st.composite
def relevance_and_scores(draw):
    """Square, as a query may be one of the documents; some scores are equal, some are left out."""
    shape = (size := draw(st.integers(1, 12)), size)
    relevance = draw(arrays.arrays(np.int64, shape, elements=st.integers(-1, 3)))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int16]))
    elements = [-2.0, -0.0, 0.0, 1.0] + [-np.inf] * (dtype is not np.int16)
    scores = draw(arrays.arrays(np.float64, shape, elements=st.sampled_from(elements)))
    return relevance, scores.astype(dtype)


def as_dictionaries(relevance, scores):
    run = {
        str(query): {
            str(document): float(score) for document, score in enumerate(row) if score != -np.inf
        }
        for query, row in enumerate(scores)
    }
    qrels = {
        str(query): {str(document): int(level) for document, level in enumerate(row)}
        for query, row in enumerate(relevance)
    }
    return qrels, run


def outcome(*arguments, **settings):
    """Return queries, values and counts, or the kind of the error."""
    try:
        evaluation = evaluate_trec(*arguments, **settings)
    except Error:
        return 'error'
    return evaluation.queries, evaluation.ap.tolist(), dict(evaluation.counts), evaluation.notes


@quiet
@pytest.mark.parametrize(('definition', 'ties'), DEFINED)
@strategies.examples(1 / 4)
@given(
    data=relevance_and_scores(),
    settings=st.sampled_from(SETTINGS),
    missing=st.sampled_from(['error', 'zero', 'skip']),
    without=st.sampled_from(['count', 'skip']),
    cells_at_once=st.integers(1, 40),
)
def test_like_dictionaries(definition, ties, data, settings, missing, without, cells_at_once):
    """Bit for bit, for blocks of any size; dictionaries are compared with the oracle."""
    settings = settings | {'missing': missing, 'queries_without_relevant': without}
    settings |= {'definition': definition, 'ties': ties, 'K': [1, 2, 5, 'all']}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_scores, 'CELLS_AT_ONCE', cells_at_once)
        result = outcome(*data, **settings)
    qrels, run = as_dictionaries(*data)
    if any(run.values()):  # an empty dictionary is refused
        assert result == outcome(qrels, run, **settings)


@quiet
@given(relevance_and_scores())
def test_like_scikit_learn(data):
    """Its average precision has the threshold as order of ties."""
    relevance, scores = data
    scores = np.where(scores == -np.inf, -9, scores).astype(np.float64)
    truth = relevance > 0
    rows = np.flatnonzero(truth.any(axis=1))
    if not len(rows):
        return
    evaluation = evaluate_trec(
        truth, scores, 'all', ties='threshold', queries_without_relevant='skip'
    )
    expected = [average_precision_score(truth[row], scores[row]) for row in rows]
    assert evaluation.queries == [str(row) for row in rows]
    # It adds in another order.
    assert evaluation.ap.ravel() == pytest.approx(expected, abs=1e-14)


@quiet
@given(relevance_and_scores(), st.data())
def test_labels_are_a_relevance_of_equal_ones(data, more):
    _, scores = data
    labels = st.lists(st.sampled_from('ab'), min_size=len(scores), max_size=len(scores))
    queries, documents = more.draw(labels), more.draw(labels)
    equal = np.array([[query == document for document in documents] for query in queries])
    settings = {'missing': 'zero', 'K': 'all', 'ties': 'expected'}
    texts = {'query_labels': queries, 'document_labels': np.array(documents, dtype=object)}
    numbers = {'query_labels': [*map(ord, queries)], 'document_labels': [*map(ord, documents)]}
    expected = outcome(equal, scores, **settings)
    assert outcome(None, scores, **texts, **settings) == expected
    assert outcome(None, scores, **numbers, **settings) == expected
    same = np.array([[query == document for document in queries] for query in queries])
    result = outcome(None, scores, query_labels=queries, **settings)
    assert result == outcome(same, scores, **settings)


SCORES = np.array([[0.9, 0.1, 0.3], [0.2, 0.8, 0.1]])
RELEVANCE = np.array([[1, 0, 1], [0, 0, 1]])
AP = [1.0, 1 / 3]


@pytest.mark.parametrize('sparse_of', [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_relevance(sparse_of):
    assert evaluate_trec(sparse_of(RELEVANCE), SCORES, 10).ap.ravel().tolist() == AP
    with pytest.raises(ParameterError, match='scores: found a sparse matrix, expected a dense'):
        evaluate_trec(RELEVANCE, sparse_of(SCORES))


def test_decimals_need_a_level_with_decimals():
    half = RELEVANCE / 2
    with pytest.raises(ParameterError, match=r'^relevance: found 0.5 in row 0, column 0, .*level'):
        evaluate_trec(half, SCORES)
    assert evaluate_trec(half, SCORES, 10, relevance_level=0.5).ap.ravel().tolist() == AP


def test_files(tmp_path):
    """Their hashes are in the result, and another command says that it takes no matrix."""
    names = []
    for name, array in {'relevance': RELEVANCE, 'scores': SCORES}.items():
        names.append(tmp_path / f'{name}.npy')
        np.save(names[-1], array)
    evaluation = evaluate_trec(*names, 10)
    assert evaluation.ap.ravel().tolist() == AP
    assert all(source.sha256 for source in evaluation.inputs.values())
    with pytest.raises(FormatError, match='found a matrix, expected lines of TREC: only evaluate'):
        TrecTopics(names[0])
    (tmp_path / 'qrels').write_text('0 0 1 1\n')
    with pytest.raises(FormatError, match=r'qrels: found text, expected a \.npy file'):
        evaluate_trec(tmp_path / 'qrels', names[1])


@pytest.mark.parametrize(
    ('arguments', 'settings', 'message'),
    [
        ((RELEVANCE.T, SCORES), {}, r'relevance: found shape \(3, 2\), expected \(2, 3\) as sc'),
        ((RELEVANCE, SCORES * np.nan), {}, 'scores: found nan in row 0, column 0, expected a fin'),
        ((RELEVANCE, SCORES + np.inf), {}, 'scores: found inf in row 0, column 0, expected a fini'),
        ((RELEVANCE * np.nan, SCORES), {}, 'relevance: found nan in row 0, column 0, expected an'),
        ((RELEVANCE, SCORES), {'exclude_self': True}, 'True for 2 queries and 3 documents, exp'),
        ((RELEVANCE, SCORES), {'part': 'en'}, 'expected no part'),
        ((None, SCORES), {}, 'qrels: give a matrix of relevance, or None and query_labels'),
        ((None, SCORES), {'document_labels': [1, 2, 3]}, 'qrels: give a matrix of relevance, or'),
        ((RELEVANCE, SCORES), {'query_labels': [1, 2]}, 'qrels: give a matrix of relevance, or '),
        ((None, SCORES), {'query_labels': [1, 2]}, r'labels: found shape \(2, 2\), expected'),
        ((None, SCORES), {'query_labels': [0.5, 1]}, 'found 1 dimensions of float64, expected 1'),
        (
            (None, SCORES),
            {'query_labels': ['1', '2'], 'document_labels': [1, 2, 1]},
            'document_labels: found int64, expected the type of query_labels',
        ),
        (({'0': {'1': 1}}, SCORES), {}, 'relevance: found 0 dimensions of object, expected 2'),
        ((RELEVANCE[:0], SCORES[:0]), {}, r'relevance: found shape \(0, 3\), expected a query'),
    ],
)
def test_what_is_no_pair_of_matrices(arguments, settings, message):
    with pytest.raises(ParameterError, match=message):
        evaluate_trec(*arguments, **settings)


def test_measures_are_refused():
    pytest.importorskip('ir_measures')
    with pytest.raises(ParameterError, match='measures: found P@5, expected none for matrices'):
        evaluate_trec(RELEVANCE, SCORES, measures='P@5')


def doubts(*arguments, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluate_trec(*arguments, 'all', **settings)
    return [str(each.message) for each in caught if each.category is DataWarning]


def test_scores_that_say_little():
    """A query that finds itself first, unless the relevance wants it; and equal scores."""
    scores = np.eye(4) + np.arange(16).reshape(4, 4) / 100
    told = [
        '<run>: 4 of 4 topics return themselves first; leave them out by --exclude-self, in '
        'Python exclude_self=True'
    ]
    labels = ['a', 'a', 'b', 'b']
    assert doubts(None, scores, query_labels=labels) == told
    assert doubts(None, scores, query_labels=labels, exclude_self=True) == []
    assert doubts(None, scores, query_labels=labels, document_labels=labels) == []
    assert doubts(np.eye(4)[::-1], scores) == told
    assert doubts(np.eye(4), scores) == []  # as of pairs of image and text
    equal = np.ones((4, 4))
    assert doubts(np.eye(4), equal) == [
        '<run>: 4 of 4 topics have one score for all documents; take the mean over all orders '
        "by --ties expected, in Python ties='expected'"
    ]
    assert doubts(np.eye(4), equal, ties='stable') == []
