"""Documents that leave a ranking by their relevance, and those that a run lists again."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trec_rows import QRELS, RUN, quiet

from mediaeval_ap import TrecTopics, compare, evaluate_trec, read_qrels
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError

# Easy, hard and junk images, as in the queries of revisited Oxford and Paris.
EASY, HARD, JUNK = 1, 2, -1
LEVELS = {'easy': EASY, 'hard': HARD, 'junk': JUNK, 'other': 0, 'hard, too': HARD}
RANKED = ['junk', 'hard', 'other', 'easy', 'hard, too']  # best first


def rows_of(numbers, **settings):
    """Rows whose documents may have the id of a topic."""
    ids = st.sampled_from(['7', 'b', 'ü'])
    return st.lists(st.tuples(ids, ids, numbers), min_size=1, max_size=9, **settings)


def by_rank(documents):
    return {document: float(-rank) for rank, document in enumerate(documents)}


@pytest.mark.parametrize(
    ('settings', 'ap', 'n_relevant', 'n_ignored'),
    [
        ({'ignore': [JUNK, HARD]}, 1 / 2, 1, 3),  # easy: other, easy
        ({'ignore': JUNK}, (1 / 1 + 2 / 3 + 3 / 4) / 3, 3, 1),  # medium: all but the junk
        ({'ignore': (JUNK, EASY), 'relevance_level': 2}, (1 / 1 + 2 / 3) / 2, 2, 2),  # hard
        ({'ignore': [JUNK, JUNK], 'unjudged': 'skip'}, (1 / 1 + 2 / 3 + 3 / 4) / 3, 3, 1),
        ({'ignore': ()}, (1 / 2 + 2 / 4 + 3 / 5) / 3, 3, None),
    ],
)
def test_ignored_documents_leave_the_ranking(settings, ap, n_relevant, n_ignored):
    evaluation = evaluate_trec({'q': LEVELS}, {'q': by_rank(RANKED)}, 'all', **settings)
    assert evaluation.map[0] == pytest.approx(ap, rel=1e-15)  # added in another order
    assert evaluation.n_relevant.tolist() == [n_relevant]
    assert evaluation.counts.get('ignored') == n_ignored
    assert evaluation.counts['hypotheses'] == 5


@quiet
def test_topics_with_ignored_documents_alone_are_not_missing():
    """The run returned something for them; one without a relevant document counts as always."""
    qrels = {'7': {'d1': 1, 'd2': -1}, '8': {'d3': -1}}
    run = {'7': {'d2': 1.0}, '8': {'d3': 1.0}}
    evaluation = evaluate_trec(qrels, run, 'all', ignore=-1)
    assert evaluation.ap.tolist() == [[0.0], [0.0]]
    assert evaluation.notes == [
        '1 of 2 queries have nothing relevant: each counts 0',
        '2 of 2 returned documents are ignored (relevance -1)',
    ]
    assert [warning.kind for warning in evaluation.warnings] == ['without-relevant']
    assert (evaluation.counts['missing'], evaluation.counts['unknown']) == (0, 0)
    skipped = evaluate_trec(qrels, run, 'all', ignore=-1, queries_without_relevant='skip')
    assert skipped.queries == ['7']


@quiet
@pytest.mark.parametrize('ties', ['trec_eval', 'best', 'worst'])
@pytest.mark.parametrize('seed', range(10))
def test_measures_are_as_if_neither_file_had_ignored_documents(seed, ties):
    pytest.importorskip('ir_measures')
    chance = random.Random(seed)
    pairs = [(topic, f'd{number}') for topic in 'abc' for number in range(9)]
    relevance = {pair: chance.randint(-1, 2) for pair in chance.sample(pairs, 20)}
    relevance |= {(topic, 'd0'): 1 for topic in 'abc'} | {('a', 'd1'): 0, ('b', 'd1'): -1}
    qrels = [(*pair, number) for pair, number in relevance.items()]
    run = [(*pair, chance.randint(0, 4)) for pair in chance.sample(pairs, 24)]
    settings = {'ties': ties, 'missing': 'zero', 'measures': 'nDCG@4 P@3 RR Bpref Judged@5'}
    evaluation = evaluate_trec(qrels, run, 'all', ignore=[-1, 2], **settings)
    expected = evaluate_trec(
        [row for row in qrels if row[2] not in (-1, 2)],
        [row for row in run if relevance.get(row[:2]) not in (-1, 2)],
        'all',
        **settings,
    )
    assert evaluation.to_frame().equals(expected.to_frame().loc[evaluation.queries])


@pytest.mark.parametrize(('definition', 'is_trapezoid'), [('trec', False), ('oxford', True)])
def test_ranks_of_person_reidentification(definition, is_trapezoid):
    """The loop of Market-1501: the same person by the same camera is junk, as are bad boxes (-1).

    With trapezoids as in its evaluation code, without them as in torchreid.
    """
    chance = random.Random(1)  # any gallery would do
    person, camera = 1, 1
    gallery = [(chance.choice([-1, 1, 2, 3]), chance.randint(1, 4)) for _ in range(300)]
    is_junk = [who == -1 or (who, where) == (person, camera) for who, where in gallery]
    ranked = [who for (who, _), junk in zip(gallery, is_junk, strict=True) if not junk]
    ranks = [rank for rank, who in enumerate(ranked) if who == person]
    ap = 0
    for n_before, rank in enumerate(ranks):
        precision = (n_before + 1) / (rank + 1)
        precision_before = n_before / rank if rank else 1
        ap += ((precision_before + precision) / 2 if is_trapezoid else precision) / len(ranks)

    qrels = [
        ('q', str(image), -1 if is_junk[image] else int(who == person))
        for image, (who, _) in enumerate(gallery)
    ]
    run = {'q': by_rank(str(image) for image in range(len(gallery)))}
    evaluation = evaluate_trec(qrels, run, 'all', definition=definition, ignore=-1)
    assert evaluation.map[0] == pytest.approx(ap, rel=1e-14)  # divided before it is added


def test_a_relevance_that_no_row_has_is_a_warning():
    """A mistyped one leaves junk in the ranking, but a campaign without junk is scored."""
    with pytest.warns(DataWarning) as caught:
        evaluation = evaluate_trec(QRELS, RUN, ignore=[0, -1])
    assert [str(warning.message) for warning in caught] == [
        '<qrels>: no row of -1 to ignore, only of 0, 1, 2'
    ]
    assert evaluation.warnings[0].kind == 'nothing-ignored'
    assert evaluation.ap.tolist() == evaluate_trec(QRELS, RUN, ignore=0).ap.tolist()


@pytest.mark.parametrize('settings', [{'unjudged': 'skip'}, {'measures': 'Bpref'}])
def test_ignored_documents_are_not_judged_not_relevant(settings):
    pytest.importorskip('ir_measures')
    with pytest.raises(FormatError, match='found no row of 0, expected documents that are judged'):
        evaluate_trec(QRELS, RUN, ignore=0, **settings)


AGAIN = [('7', 'd1', 0.95), ('7', 'd2', 0.1), ('7', 'd1', 0.2), ('8', 'd1', 0.5)]


def test_the_better_place_of_a_repeated_document_is_kept():
    with pytest.warns(DataWarning) as caught:
        evaluation = evaluate_trec(QRELS, [*RUN, *AGAIN], [1, 'all'], repeated='first')
    assert [str(warning.message) for warning in caught] == [
        '<run>: 4 of 7 rows list a document again for its topic, and are dropped: the '
        'higher score stays'
    ]
    assert evaluation.ap.tolist() == [[0.5, 0.5], [1.0, 1.0]]  # d1 is above d2; d3 is missing
    assert evaluation.parameters['repeated'] == 'first'
    assert 'repeated' not in evaluate_trec(QRELS, RUN).parameters
    assert evaluate_trec(QRELS, RUN, repeated='first').warnings == ()


def test_repeated_documents_are_errors_by_default():
    with pytest.raises(FormatError) as caught:
        evaluate_trec(QRELS, [*RUN, *AGAIN])
    assert str(caught.value) == (
        "<run>, row 4, docno: found 'd1' again for topic '7', expected each document once; keep "
        "the row with the higher score by --repeated first, in Python repeated='first'"
    )
    with pytest.raises(FormatError, match=r'<qrels>, row 5, .* expected each document once$'):
        evaluate_trec([*QRELS, QRELS[0]], RUN, repeated='first')


def test_only_runs_that_ignore_alike_are_compared():
    """A note says how many documents each run lost."""
    topics = [f'q{number}' for number in range(6)]
    qrels = {topic: {'a': 1, 'b': -1, 'c': 0} for topic in topics}
    good = evaluate_trec(qrels, {topic: by_rank('abc') for topic in topics}, ignore=-1)
    bad_run = {topic: by_rank('ca') for topic in topics}
    bad = evaluate_trec(qrels, bad_run, ignore=-1)
    comparison = compare({'good': good, 'bad': bad})
    note = '0 to 6 of 12 to 18 returned documents are ignored (relevance -1)'
    assert note in comparison.notes
    bad = evaluate_trec(qrels, bad_run)
    with pytest.raises(ParameterError, match="ignore: found '-1' for 'good', expected 'none' as"):
        compare({'good': good, 'bad': bad})
    other = evaluate_trec(qrels, bad_run, repeated='first')
    with pytest.raises(ParameterError, match="repeated: found 'first' for 'other', expected 'erro"):
        compare({'other': other, 'bad': bad})


@quiet
@given(
    rows_of(st.integers(-1, 3), unique_by=lambda row: row[:2]),
    rows_of(st.sampled_from([0.0, 1.0, 2.0]), unique_by=lambda row: row[:2]),
)
def test_a_topic_that_is_left_out_of_its_own_ranking(judged, returned):
    """As if neither file had its row; but a topic that returns nothing else is not missing."""
    # Rows that keep each topic in both files.
    judged += [(topic, 'other', 0) for topic in {row[0] for row in judged}]
    returned += [(topic, 'other', -1.0) for topic in {row[0] for row in judged}]
    settings = {'K': [1, 'all'], 'ties': 'expected', 'unknown': 'drop'}
    evaluation = evaluate_trec(judged, returned, exclude_self=True, **settings)
    without = [[row for row in rows if row[0] != row[1]] for rows in (judged, returned)]
    expected = evaluate_trec(*without, **settings)
    values = dict(zip(evaluation.queries, evaluation.ap.tolist(), strict=True))
    assert values == dict(zip(expected.queries, expected.ap.tolist(), strict=True))
    assert evaluation.counts['excluded_self'] == len(returned) - len(without[1])
    topics = TrecTopics(judged, [1, 'all'], exclude_self=True, unknown='drop')
    ranked = topics.rank(returned, judged[0][0])['docno'].tolist()
    assert judged[0][0] not in ranked


def test_runs_that_leave_topics_out_are_not_compared_with_others():
    qrels = {topic: {'a': 1, 'b': 1} for topic in 'ab'}
    run = {topic: {'a': 1.0, 'b': 0.5} for topic in 'ab'}
    evaluations = [evaluate_trec(qrels, run, exclude_self=own) for own in (True, False)]
    assert '2 of 4 returned documents are the topic itself, and left out' in evaluations[0].notes
    with pytest.raises(ParameterError, match='exclude_self: found '):
        compare(dict(zip('ab', evaluations, strict=True)))


@pytest.mark.parametrize('kind', ['file', 'dictionary', 'rows'])
@given(rows_of(st.integers(-1, 7), unique_by=lambda row: row[:2]), st.integers(-1, 7))
@quiet
def test_relevance_with_decimals(tmp_path_factory, kind, judged, level):
    """A quarter of the levels is the same relevance."""
    returned = [(topic, document, 1 / rank) for rank, (topic, document, _) in enumerate(judged, 1)]
    quarters = [(topic, document, relevance / 4) for topic, document, relevance in judged]
    qrels = quarters
    if kind == 'file':
        qrels = tmp_path_factory.mktemp('q') / 'qrels'
        qrels.write_text(''.join(f'{topic} 0 {doc} {number}\n' for topic, doc, number in quarters))
    elif kind == 'dictionary':
        qrels = {topic: {} for topic, *_ in quarters}
        for topic, document, number in quarters:
            qrels[topic][document] = number
    evaluation = evaluate_trec(qrels, returned, relevance_level=level / 4)
    expected = evaluate_trec(judged, returned, relevance_level=level)
    assert evaluation.ap.tolist() == expected.ap.tolist()
    assert evaluation.n_relevant.tolist() == expected.n_relevant.tolist()
    if any(relevance % 4 for *_, relevance in judged):
        with pytest.raises(FormatError, match=r'relevance: found .*; decimals need a level with'):
            evaluate_trec(qrels, returned)


def test_measures_of_other_tools_take_no_decimals():
    pytest.importorskip('ir_measures')
    qrels = {'7': {'d1': 0.5, 'd2': 1.0}}
    found = 'relevance: found 0.5, expected integers: measures of ir_measures take no decimals'
    with pytest.raises(FormatError, match=found):
        evaluate_trec(qrels, {'7': {'d1': 1.0}}, relevance_level=1.0, measures='P(rel=1)@5')


def test_qrels_that_are_read_once(tmp_path):
    """They are read with the decimals that a level allows, and checked against another level."""
    (tmp_path / 'qrels').write_text('7 0 d1 0.5\n7 0 d2 0\n')
    qrels = read_qrels(tmp_path / 'qrels', relevance_level=0.5)
    assert repr(qrels) == f'<Entries: 2 rows of {tmp_path / "qrels"}>'
    (tmp_path / 'qrels').unlink()
    run = {'7': {'d2': 0.9, 'd1': 0.5}}
    assert evaluate_trec(qrels, run, 10, relevance_level=0.5).map.tolist() == [0.5]
    assert TrecTopics(qrels, 10, relevance_level=0.5).evaluate(run).map.tolist() == [0.5]
    with pytest.raises(FormatError, match=r'line 1, relevance: found 0\.5, expected an integer; d'):
        evaluate_trec(qrels, run)
