"""Which topics are scored, by which parameters, and how ties are broken."""

import itertools
import warnings

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from trec_rows import QRELS, RUN, quiet, run_text

from mediaeval_ap import definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES, UNJUDGED
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    NoOverlapWarning,
    ParameterError,
    UndefinedScoreError,
    WithoutRelevantWarning,
)


def test_topics_that_are_missing_or_unknown_are_reported(folder):
    (folder / 'run').write_text(run_text([*RUN[:1], RUN[2], ('9', 'd1', 0.5)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluation = evaluate_trec('qrels', 'run', [10], missing='zero', unknown='drop')
    assert [(each.category, str(each.message)) for each in caught] == [
        (
            DataWarning,
            'run: 1 of 2 topics of qrels are missing, and scored as if nothing were returned',
        ),
        (DataWarning, 'run: 1 of 2 topics are not in qrels, and left out'),
    ]
    assert {each.filename for each in caught} == {__file__}
    assert (evaluation.queries, evaluation.ap.tolist()) == (['7', '8'], [[0.25], [0.0]])
    assert (evaluation.counts['missing'], evaluation.counts['unknown']) == (1, 1)
    with (
        pytest.warns(DataWarning, match='missing, and left out'),
        pytest.warns(DataWarning, match='not in qrels, and left out'),
    ):
        evaluation = evaluate_trec('qrels', 'run', [10], missing='skip', unknown='drop')
    assert (evaluation.queries, evaluation.map.tolist()) == (['7'], [0.25])


def test_topics_that_are_missing_or_unknown_are_errors_by_default(folder):
    rows = [RUN[1], ('9', 'd1', 0.5), ('9', 'd2', 0.4)]
    (folder / 'run').write_text(run_text(rows))
    found = r"^run, line 2, qid: found '9', which qrels lacks, .* \(1 more wrong line\)$"
    with pytest.raises(FormatError, match=found):
        evaluate_trec('qrels', 'run', missing='zero')
    for qrels, missing in ('qrels', "'7'"), ([*QRELS, ('a', 'd', 1)], "'7' and 1 more"):
        with pytest.raises(FormatError, match=f'^run, qid: found no row for {missing}, '):
            evaluate_trec(qrels, 'run', unknown='drop')


def test_topics_with_another_spelling_are_told_of():
    run = [('07', 'd1', 0.5), ('08', 'd1', 0.5)]
    with pytest.raises(FormatError, match=r'; no topic is in both files: .* leading zeros'):
        evaluate_trec(QRELS, run)
    with (
        pytest.warns(DataWarning, match='not in'),
        pytest.warns(DataWarning, match='missing'),
        pytest.warns(NoOverlapWarning, match='leading zeros'),
    ):
        evaluate_trec(QRELS, run, missing='zero', unknown='drop')


@quiet
def test_nothing_to_score_is_an_error():
    with pytest.raises(UndefinedScoreError, match='no topic of this run is judged'):
        evaluate_trec(QRELS, [('9', 'd1', 0.5)], missing='skip', unknown='drop')


@pytest.mark.parametrize(
    'parameters',
    [
        {'ties': 'random'},
        {'missing': 'drop'},
        {'unknown': 'zero'},
        {'K': []},
        {'definition': 'map'},
        {'definition': 'hits', 'ties': 'expected'},
        {'relevance_level': '1'},
        {'relevance_level': True},
        {'relevance_level': 10**400},
        {'ignore': '-1'},
        {'ignore': [-1, 0.5]},
        {'ignore': None},
        {'repeated': 'last'},
    ],
)
def test_parameters_that_there_are_not(parameters):
    with pytest.raises(ParameterError):
        evaluate_trec(QRELS, RUN, **parameters)


def rows_of(numbers, **settings):
    documents = st.sampled_from(['d1', 'd10', 'D2', 'é', 'd/3', 'x'])
    row = st.tuples(st.sampled_from(['7', 'b', 'ü']), documents, numbers)
    return st.lists(row, min_size=1, max_size=12, **settings)


qrels = rows_of(st.integers(-1, 3), unique_by=lambda row: row[:2])
# In single precision some of these are equal.
runs = rows_of(st.sampled_from([-1e300, -1.0, 0.0, 2.5, 1e-300, 1e39, 1e300, 0.5, 0.5 + 1e-12]))
K = [1, 2, 'all', 3, 100]
# Precisions are added in doubles, and expected ones are products of a few quotients.
ROUNDING = 1e-14
LENIENT = {'missing': 'zero', 'unknown': 'drop'}


UNDEFINED = {('hits', ties) for ties in ('best', 'expected', 'worst')}
DEFINED = set(itertools.product(definitions.names(), TREC_TIES)) - UNDEFINED


@quiet
@pytest.mark.parametrize(('definition', 'ties'), sorted(DEFINED))
@strategies.examples(1 / 2)
@given(
    judged=qrels,
    returned=runs,
    level=st.integers(0, 2),
    unjudged=st.sampled_from(UNJUDGED),
    ignored=st.sets(st.integers(-1, 3), max_size=2),
)
def test_like_every_order_of_equal_scores(
    ties, definition, judged, returned, level, unjudged, ignored
):
    """With relevances that are ignored, and documents that a topic lists again."""
    skips = unjudged == 'skip'
    ignored &= {relevance for *_, relevance in judged}
    assume(not skips or any(0 <= rel < level and rel not in ignored for *_, rel in judged))
    repeats = len({row[:2] for row in returned}) < len(returned)
    K_allowed = strategies.allowed(K, definition)
    evaluation = evaluate_trec(
        judged,
        returned,
        K_allowed,
        definition=definition,
        ties=ties,
        relevance_level=level,
        unjudged=unjudged,
        ignore=ignored,
        repeated='first' if repeats else 'error',
        **LENIENT,
    )
    assert evaluation.queries == list(dict.fromkeys(row[0] for row in judged))
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        expected = oracle.evaluate_trec(
            judged, returned, topic, K_allowed, definition, ties, level, skips, ignored
        )
        assert ap == pytest.approx([float(value) for value in expected], abs=ROUNDING)


@quiet
@pytest.mark.parametrize('definition', ['trec', 'mediaeval-2016'])
@given(judged=qrels, returned=runs, queries=st.permutations(['7', 'b', 'ü', 'none']))
def test_all_topics_may_be_given(definition, judged, returned, queries):
    """Those that the qrels lack have no relevant document, whether the run has them or not."""
    returned = list({row[:2]: row for row in returned}.values())
    settings = {'definition': definition, 'missing': 'zero', 'queries': queries}
    evaluation = evaluate_trec(judged, returned, K, **settings)
    assert evaluation.queries == queries
    for topic, ap in zip(queries, evaluation.ap.tolist(), strict=True):
        expected = oracle.evaluate_trec(judged, returned, topic, K, definition, 'trec_eval', 1)
        assert ap == pytest.approx([float(value) for value in expected], abs=ROUNDING)


def test_given_topics_are_all_topics(folder):
    (folder / 'queries').write_text('8\n9\n')
    with pytest.raises(
        FormatError, match=r"^qrels, line 1, qid: found '7', expected one of the to"
    ):
        evaluate_trec('qrels', 'run', queries='queries')
    (folder / 'queries').write_text('8\n9\n7\n')
    with pytest.warns(WithoutRelevantWarning, match='qrels: 1 of 3 queries have nothing relevant'):
        evaluation = evaluate_trec('qrels', 'run', 10, queries='queries')
    assert (evaluation.queries, evaluation.map.tolist()) == (['8', '9', '7'], [1.25 / 3])
    with pytest.raises(FormatError, match=r"^<run>, row 4, qid: found '1', which qrels lacks"):
        evaluate_trec('qrels', [*RUN, ('1', 'd', 0.5)], queries='queries')
    with pytest.raises(ParameterError, match=r'^queries: found topics beside a matrix'):
        evaluate_trec(np.eye(2, dtype=int), np.eye(2), queries=['0', '1'])


@quiet
@pytest.mark.parametrize('ties', TREC_TIES)
@given(judged=qrels, returned=rows_of(st.sampled_from([0.5, 1.0, 2.5])), data=st.data())
def test_the_order_of_topics_does_not_matter(ties, judged, returned, data):
    """Bit for bit, as topics of the qrels, one after the other or scattered, have one sum."""
    definition = 'hits' if ties in {'trec_eval', 'trec_eval-9'} else 'trec'
    settings = {'ties': ties, 'definition': definition, 'repeated': 'first', **LENIENT}
    topics = data.draw(st.permutations(sorted({row[0] for row in returned})))
    orders = [returned, sorted(returned, key=lambda row: topics.index(row[0]))]
    orders.append(sorted(returned, key=lambda row: row[0]))
    first, *others = (evaluate_trec(judged, rows, **settings).ap.tolist() for rows in orders)
    assert others == [first, first]


def test_what_is_not_judged_cannot_be_told_from_positives_alone():
    found = (
        r'<qrels>, relevance: found no row of 0, expected documents that are judged not relevant'
    )
    with pytest.raises(FormatError, match=found):
        evaluate_trec([('7', 'd1', 1)], [('7', 'd2', 0.5)], unjudged='skip')
    with pytest.raises(FormatError, match='found none from 0 to below 2, expected documents that'):
        evaluate_trec([('7', 'd1', 2)], [('7', 'd1', 1)], unjudged='skip', relevance_level=2)
    evaluation = evaluate_trec(QRELS, [*RUN, ('7', 'd9', 2.0)], 10, unjudged='skip')
    assert evaluation.map.tolist() == evaluate_trec(QRELS, RUN, 10).map.tolist()
    assert evaluation.parameters['unjudged'] == 'skip'
    assert evaluation.notes == [
        'Returned shots that are not judged leave the ranking (condensed lists)'
    ]
    assert 'unjudged' not in evaluate_trec(QRELS, RUN, 10).parameters


@given(st.lists(st.integers(0, 2), min_size=1, max_size=5), st.integers(1, 3))
def test_topics_without_anything_relevant_are_always_told(relevances, level):
    judged = [(f't{number}', 'd', relevance) for number, relevance in enumerate(relevances)]
    returned = [(topic, 'd', 0.5) for topic, *_ in judged]
    scores = np.full((len(judged), 1), 0.5)
    n_without = sum(relevance < level for relevance in relevances)
    note = f'{n_without} of {len(judged)} queries have nothing relevant: each counts 0'
    for truth, run in (judged, returned), (np.array(relevances)[:, None], scores):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            evaluation = evaluate_trec(truth, run, [1], relevance_level=level)
        told = [str(each.message) for each in caught if each.category is WithoutRelevantWarning]
        assert [text.partition(': ')[2] for text in told] == [note] * (n_without > 0)
        assert [text for text in evaluation.notes if 'nothing relevant' in text] == [note] * (
            n_without > 0
        )
