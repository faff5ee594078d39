"""Frames of integers, and of lists: the same data in whatever table gives the same bits."""

import re
from functools import partial
from itertools import product

import numpy as np
import oracle
import pandas
import polars
import pyarrow
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from oracle import CLOSE

from mediaeval_ap import AveragePrecision, challenges, compare, evaluate_trec, index
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.metrics import label_ranking_average_precision, mean_average_precision_at_k

MAP, FIRST_HIT = challenges.evaluate_map, challenges.evaluate_first_hit
GAP, LRAP = challenges.evaluate_gap, challenges.evaluate_lrap
LISTS = {'id': 'user', 'labels': 'items'}
NAN = float('nan')
KINDS = {  # of frames, from one of pandas
    'pandas': lambda frame: frame,
    'object': lambda frame: frame.astype(object),
    'pyarrow': pyarrow.Table.from_pandas,
    'polars': polars.from_pandas,
}


def as_frame(users, of_ids, of_labels, kind):
    items = [of_labels(labels) for labels in users.values()]
    return KINDS[kind](pandas.DataFrame({'user': list(map(of_ids, users)), 'items': items}))


of_ids = st.sampled_from([int, str])
of_labels = st.sampled_from(
    [
        list,
        tuple,
        lambda labels: np.array(labels, int),
        lambda labels: list(map(str, labels)),
        lambda labels: joined(labels),
    ]
)
kinds = st.sampled_from(list(KINDS))
users = st.dictionaries(st.integers(-3, 300), st.lists(st.integers(-2, 9), max_size=5), min_size=1)


def joined(labels, between=' '):
    return between.join(map(str, labels))


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@strategies.examples(1 / 2)
@given(users, st.data())
def test_the_same_data_in_any_table(tmp_path_factory, users, data):
    labels = st.lists(st.integers(-2, 9), min_size=1, max_size=5)
    true, listed = users | {301: data.draw(labels)}, {user: data.draw(labels) for user in users}
    listed[301] = data.draw(labels)
    files = [tmp_path_factory.getbasetemp() / name for name in ('truth.csv', 'listed.csv')]
    for file, lists in zip(files, (true, listed), strict=True):
        rows = ''.join(f'{user},{joined(labels)}\n' for user, labels in lists.items())
        file.write_text(f'user,items\n{rows}')
    expected = MAP(*files, 3, columns=LISTS, per_query=True)
    values = [oracle.average_precision_of_labels(true[u], listed[u], 3, 'kaggle') for u in true]
    assert expected.table['AP@3'].tolist() == pytest.approx(list(map(float, values)), **CLOSE)
    frames = [
        as_frame(lists, data.draw(of_ids), data.draw(of_labels), data.draw(kinds))
        for lists in (true, listed)
    ]
    score = MAP(*frames, 3, columns=LISTS, per_query=True)
    assert score.value == expected.value
    pandas.testing.assert_frame_equal(score.table, expected.table)


@pytest.mark.parametrize('kind', KINDS)
def test_other_metrics(kind):
    def frame(**columns):
        return KINDS[kind](pandas.DataFrame(columns))

    users = [1, 20, 3]
    places = frame(id=users, landmark_id=pandas.array([7, None, 8], 'Int64'))
    said = frame(id=list('1 20 3'.split()), landmarks=['7 0.5', '8 0.75', '8 0.25'])
    columns = {'id': 'id', 'label': 'place', 'confidence': 'sure'}
    separate = frame(id=users, place=[7, 8, 8], sure=[0.5, 0.75, 0.25])
    expected = float(
        oracle.global_average_precision([*'788'], [0.5, 0.75, 0.25], ['7', None, '8'], 'stable')
    )
    assert GAP(places, said).value == pytest.approx(expected, **CLOSE)
    given = {'columns': columns, 'truth_columns': {'id': 'id', 'label': 'landmark_id'}}
    assert GAP(places, separate, **given).value == GAP(places, said).value
    images = frame(Image=users, Id=[4, 5, 6])
    assert FIRST_HIT(images, frame(Image=users, Id=[[4], [9, 5], [1]])).value == 0.5
    scores = frame(fname=users, **{'4': [0.5, 0.1, 0.2], 'x': [0.25, 0.9, 0.3]})
    for labels in [['4'], ['x'], ['4', 'x']], ['4', 'x', '4,x']:
        assert LRAP(frame(fname=users, labels=labels), scores).value == 1
    assert LRAP(frame(fname=users, labels=[[4], [4], [4]]), scores).value == 2 / 3


@pytest.mark.parametrize('kind', KINDS)
def test_hypotheses_and_topics(kind):
    reference = pandas.DataFrame(
        {'corpus_id': ['x', 'x'], 'video_id': ['v', 'w'], 'shot_id': [2, 10], 'person_name': 'ann'}
    )
    run = reference.assign(confidence=[0.5, 0.75])
    text = [(*row[:2], str(row[2]), *row[3:]) for row in run.itertuples(index=False)]
    expected = AveragePrecision([row[:4] for row in text], [1, 10]).evaluate(text).ap.tolist()
    for one in reference, [row[:4] for row in text]:
        of_one = KINDS[kind](one) if one is reference else one
        for other in KINDS[kind](run), text:
            assert AveragePrecision(of_one, [1, 10]).evaluate(other).ap.tolist() == expected
    qrels = KINDS[kind](pandas.DataFrame({'qid': [7, 7], 'docno': [1, 2], 'relevance': [1, 0]}))
    run = KINDS[kind](pandas.DataFrame({'qid': [7, 7], 'docno': [2, 1], 'score': [0.5, 0.25]}))
    for judged in qrels, {'7': {'1': 1, '2': 0}}:
        for returned in run, {'7': {'2': 0.5, '1': 0.25}}:
            assert evaluate_trec(judged, returned, 10).map.tolist() == [0.5]
    with pytest.raises(FormatError, match="<run>, row 2, docno: found '02', expected no leading"):
        evaluate_trec(qrels, [('7', '1', 0.5), ('7', '02', 0.5)])


@pytest.mark.parametrize(
    ('truth', 'message'),
    [
        ({'x': [1, 0], 'y': [1, 0], 'z': [0, 0]}, "<truth>: found a column 'z'"),
        ({'x': [1, 0], 'y': [0, 2]}, '<truth>, row 2, y: found 2, expected 0 or 1'),
        ({'x': [1, 0], 'y': [0, NAN]}, '<truth>, row 2, y: found nothing, exp'),
        ({'tag': ['x', 'y']}, '<truth>: found no column labels .* name other'),
    ],
)
def test_a_truth_of_other_numbers(truth, message):
    scores = pandas.DataFrame({'fname': [1, 2], 'x': [0.5, 1.0], 'y': [0.25, 0.5]})
    with pytest.raises(FormatError, match=f'^{message}'):
        LRAP(pandas.DataFrame({'fname': [1, 2], **truth}), scores)


REFERENCE = [('x', 'v', '002', 'ann')]


@pytest.mark.parametrize('kind', KINDS)
def test_zeros_that_integers_do_not_have(kind, tmp_path):
    """Integers beside text with leading zeros would meet in part, and give a wrong number."""
    columns = ['corpus_id', 'video_id', 'shot_id', 'person_name']
    run = pandas.DataFrame(REFERENCE, columns=columns).assign(shot_id=[2], confidence=[0.5])
    run = KINDS[kind](run)
    with pytest.raises(FormatError) as caught:
        AveragePrecision(REFERENCE).evaluate(run)
    assert str(caught.value) == (
        "<reference>, row 1, shot_id: found '002', expected no leading zero or sign, as "
        '<hypothesis> has integers; read them as text (dtype=str), so that leading zeros stay'
    )
    with pytest.raises(FormatError, match='shot_id: found integers, expected text in a run to ind'):
        index(run, tmp_path / 'store')
    truth = KINDS[kind](pandas.DataFrame({'user': [1, 2], 'items': [[7], [8]]}))
    for user, items, found in (
        ('02', '7', "row 2, user: found '02', "),
        ('2', '7 08', "row 2, items: found '7 08', "),
        ('2', ['7', '-0'], "row 2, items: found '-0', "),
    ):
        listed = pandas.DataFrame({'user': ['1', user], 'items': [items[:1], items]})
        with pytest.raises(FormatError, match=f'^<predictions>, {found}expected no leading zero'):
            MAP(truth, KINDS[kind](listed), columns=LISTS)
    whole = pandas.DataFrame({'user': ['1', '2'], 'items': ['07', '8']})
    assert MAP(whole, KINDS[kind](whole), columns=LISTS).value == 1


AS_FLOATS = (
    r'found a column of floats, .*\(dtype=str\).* \(dtype=.Int64.\), which missing values do not'
)


@pytest.mark.parametrize(
    ('changed', 'message'),
    [
        ({'user': [1, NAN]}, f'user: {AS_FLOATS}'),
        ({'items': [[7], [NAN]]}, 'row 2, items: found a list with a missing label, expected'),
        ({'user': [True, False]}, 'user: found a column of bool, expected text or integers$'),
        ({'user': pandas.array([1, None], 'Int64')}, 'row 2, user: found nothing, expected text'),
        ({'items': [[7], None]}, 'row 2, items: found nothing, expected a value'),
        ({'items': [[7], ['8', None]]}, 'items: found .*, expected one kind of value'),
        ({'items': [['7', None], ['8']]}, 'row 1, items: found a list with a missing label, exp'),
        ({'items': [['7'], ['8', '']]}, 'row 2, items: found a list with a missing label, exp'),
        ({'items': [{7}, {8}]}, 'items: found a set, expected an ordered list of labels'),
        ({'user': [1, '2']}, 'user: found .*, expected one kind of value'),
    ],
)
def test_frames_that_are_wrong(changed, message):
    right = pandas.DataFrame({'user': [1, 2], 'items': [[7], [8]]})
    with pytest.raises(FormatError, match=f'^<predictions>, {message}'):
        MAP(right, right.assign(**changed), columns=LISTS)


def test_lists_where_one_label_is_expected():
    images = pandas.DataFrame({'Image': [1], 'Id': [[4]]})
    with pytest.raises(FormatError, match='Id: found lists, expected one label, without white sp'):
        FIRST_HIT(images, images, truth_columns={'id': 'Image', 'labels': 'Id'})


REFERENCE_FRAME = pandas.DataFrame(
    [('x', 'v', '1', 'ann'), ('x', 'w', '2', 'bob')],
    columns=['corpus_id', 'video_id', 'shot_id', 'person_name'],
)
RUN_FRAME = REFERENCE_FRAME.assign(confidence=[0.5, 0.25])
QRELS_FRAME = pandas.DataFrame({'qid': '7', 'docno': ['a', 'b'], 'relevance': [1, 0]})
TREC_FRAME = pandas.DataFrame({'qid': '7', 'docno': ['a', 'b'], 'score': [0.25, 0.5]})
TRUTH_FRAME = pandas.DataFrame({'user': ['u', 'v'], 'items': ['1', '2']})
LISTS_FRAME = pandas.DataFrame({'user': ['u', 'v'], 'items': ['3 1', '2']})
LABELS_FRAME = pandas.DataFrame({'fname': ['u', 'v'], 'labels': ['a', 'b']})
SCORES_FRAME = pandas.DataFrame({'fname': ['u', 'v'], 'a': [0.5, 0.5], 'b': [0.75, 0.75]})
LANDMARKS_FRAME = pandas.DataFrame({'id': ['u', 'v'], 'landmark_id': ['1', '2']})
GUESSES_FRAME = pandas.DataFrame({'id': ['u', 'v'], 'landmarks': ['3 0.5', '2 0.25']})
# By function: the roles of its two tables, the tables, an index, and the score by hand.
TWO_TABLES = {
    'discovery': (
        ('reference', 'hypothesis'),
        lambda one, other: AveragePrecision(one, [1]).evaluate(other).map.tolist(),
        (REFERENCE_FRAME, RUN_FRAME),
        ['person_name', 'shot_id'],
        [1],
    ),
    'trec': (
        ('qrels', 'run'),
        lambda one, other: evaluate_trec(one, other, 10).map.tolist(),
        (QRELS_FRAME, TREC_FRAME),
        ['qid', 'docno'],
        [0.5],
    ),
    'map': (
        ('truth', 'predictions'),
        lambda one, other: MAP(one, other, columns=LISTS).value,
        (TRUTH_FRAME, LISTS_FRAME),
        ['user', 'items'],
        0.75,
    ),
    'gap': (
        ('truth', 'predictions'),
        lambda one, other: GAP(one, other).value,
        (LANDMARKS_FRAME, GUESSES_FRAME),
        ['id'],
        0.25,  # (1/2) · 1/2
    ),
    'lrap': (
        ('truth', 'scores'),
        lambda one, other: LRAP(one, other).value,
        (LABELS_FRAME, SCORES_FRAME),
        ['fname'],
        0.75,  # ranks 2 and 1
    ),
}
EQUIVALENT = {  # to a frame, with some of its columns as index
    'dictionary of lists': lambda frame, index: frame.to_dict('list'),
    'dictionary of series': lambda frame, index: dict(frame.items()),
    'index': lambda frame, index: frame.set_index(index[0]),
    'levels': lambda frame, index: frame.assign(fold=1).set_index(['fold', *index]),
    'series': lambda frame, index: frame.set_index(list(frame.columns[:-1]))[frame.columns[-1]],
}


@pytest.mark.parametrize(
    ('name', 'way'),
    [pair for pair in product(TWO_TABLES, EQUIVALENT) if pair != ('lrap', 'series')],
)
def test_columns_are_also_found_in_an_index_and_in_dictionaries(name, way):
    _, score, tables, index, expected = TWO_TABLES[name]
    assert score(*tables) == expected
    assert score(*(EQUIVALENT[way](table, index) for table in tables)) == expected


@pytest.mark.parametrize('name', TWO_TABLES)
def test_errors_tell_which_of_two_tables_it_is(name):
    roles, score, tables, index, _ = TWO_TABLES[name]
    for wrong, role in enumerate(roles):
        arguments = list(tables)
        for table, message in (
            (tables[wrong].drop(columns=index[0]), f'^<{role}>.*: found .*{index[0]}'),
            (tables[wrong].rename(columns={index[0]: 'x'})[:0], f'^<{role}>.*: found '),
            (
                tables[wrong].drop(columns=index[0]).set_axis(['u', 'v']),
                rf"^<{role}>.*; if the index holds it, name it: \.rename_axis\('{index[0]}'\)$",
            ),
            (polars.from_pandas(tables[wrong]).drop(index[0]), f'^<{role}>.*: found .*{index[0]}'),
        ):
            arguments[wrong] = table
            with pytest.raises(FormatError, match=message):
                score(*arguments)
        arguments[wrong] = polars.from_pandas(tables[wrong]).lazy()
        with pytest.raises(ParameterError, match=r'LazyFrame.*: give it as \.collect\(\)$'):
            score(*arguments)


OWN_CONFIDENCE = {'id': 'photo', 'label': 'label', 'confidence': 'sure'}
PHOTOS = pandas.DataFrame({'label': ['3', '2'], 'sure': [0.5, 0.25]}, index=['u', 'v'])
LAZY_LABELS = polars.LazyFrame({'first': ['b'], 'second': ['a']})
LAZY_SCORES = polars.LazyFrame({'a': [0.25], 'b': [0.5]})
SYSTEMS = pandas.DataFrame({'old': [0.5, 1], 'new': [0.25, 0.5]}, index=['q1', 'q2'])


def gap_of(predictions):
    columns = {'columns': OWN_CONFIDENCE, 'truth_columns': {'id': 'id', 'label': 'landmark_id'}}
    return GAP(LANDMARKS_FRAME, predictions, **columns).value


def means_of(tables):
    return sorted(standing.map for standing in compare(tables).leaderboard)


map_of, lrap_of, discovery_of, trec_of = (
    partial(TWO_TABLES[name][1], TWO_TABLES[name][2][0])
    for name in ('map', 'lrap', 'discovery', 'trec')
)


def unnamed(frame, *index):
    return frame.set_index([*index]).rename_axis([None] * len(index))


@pytest.mark.parametrize(
    ('function', 'wrong', 'expected'),
    [
        (map_of, {'u': ['3', '1'], 'v': ['2']}, 0.75),
        (map_of, pandas.Series({'u': ['3', '1'], 'v': ['2']}), 0.75),
        (map_of, LISTS_FRAME.to_dict(), 0.75),
        (map_of, unnamed(LISTS_FRAME, 'user'), 0.75),
        (map_of, polars.from_pandas(LISTS_FRAME).lazy(), 0.75),
        (gap_of, PHOTOS.to_dict(), 0.25),
        (gap_of, PHOTOS, 0.25),
        (lrap_of, SCORES_FRAME.set_index('fname').to_dict(), 0.75),
        (lrap_of, SCORES_FRAME.set_index('fname').T.to_dict(), 0.75),
        (lrap_of, SCORES_FRAME.to_dict(), 0.75),
        (means_of, SYSTEMS['old'], [0.75]),
        (means_of, SYSTEMS['old'].rename_axis('query'), [0.75]),
        (means_of, SYSTEMS['old'].to_dict(), [0.75]),
        (means_of, dict(SYSTEMS.items()), [0.375, 0.75]),
        (means_of, SYSTEMS.to_dict(), [0.375, 0.75]),
        (means_of, SYSTEMS.to_dict('list'), [0.375, 0.75]),
        (means_of, dict(SYSTEMS.reset_index(names='item').items()), [0.375, 0.75]),
        (means_of, SYSTEMS, [0.375, 0.75]),
        (discovery_of, RUN_FRAME.to_dict(), [1]),
        (discovery_of, unnamed(RUN_FRAME, *REFERENCE_FRAME), [1]),
        (discovery_of, unnamed(RUN_FRAME, *REFERENCE_FRAME)['confidence'], [1]),
        (discovery_of, unnamed(RUN_FRAME, 'shot_id'), [1]),
        (trec_of, TREC_FRAME.to_dict(), [0.5]),
        (lambda y_pred: mean_average_precision_at_k([['a']], y_pred), LAZY_LABELS, 0.5),
        (lambda y_score: label_ranking_average_precision([[1, 0]], y_score), LAZY_SCORES, 0.5),
        (trec_of, unnamed(TREC_FRAME, 'qid', 'docno'), [0.5]),
    ],
)
def test_the_call_that_an_error_names_makes_a_table(function, wrong, expected):
    with pytest.raises((FormatError, ParameterError), match=r'give it as|name it') as caught:
        function(wrong)
    _, calls = re.split('give it as |name it: ', str(caught.value))
    values = []
    for call in calls.removesuffix(' if keys are ids').split(', or '):
        code = f'value{call}' if call.startswith('.') else call.replace('…', 'value')
        table = eval(code, {'pandas': pandas, 'value': wrong})
        try:
            values.append(function(table))
        except FormatError:  # of ids and columns, one alternative exchanges them
            assert ', or ' in calls
    assert expected in values


@pytest.mark.parametrize(
    ('function', 'wrong', 'message'),
    [
        (map_of, {'u': {'3': 0.5}}, 'found .* or a table$'),  # of what, cannot be known
        (map_of, LISTS_FRAME.rename(columns={'user': 'id'})[1:], 'found no column user in [^;]*$'),
        (discovery_of, {'ann': [('x', 'v', '1')]}, r'rows of 5 fields: corpus_id video_id .*ence$'),
        (discovery_of, RUN_FRAME.rename(columns={'shot_id': 'shot'})[1:], 'one column shot_id$'),
        (discovery_of, RUN_FRAME.set_index('shot_id')[['corpus_id']], 'each of video_id, .*ence$'),
        (discovery_of, [RUN_FRAME] * 2, 'expected one table: {name: evaluate'),
        (trec_of, {'a': TREC_FRAME}, '^run: .* expected one table: '),
        (map_of, {'user': ['u', 'v'], 'items': ['1']}, r'expected columns of one length \('),
        (lambda table: AveragePrecision(table), RUN_FRAME, '^<reference>, confidence: .*exchanged'),
    ],
)
def test_other_errors_name_no_call(function, wrong, message):
    with pytest.raises((FormatError, ParameterError), match=message):
        function(wrong)


@pytest.mark.parametrize('columns', [None, {'id': 'customer_id', 'label': 'article_id'}])
def test_lists_in_a_column_of_one_label_are_named_as_lists(columns):
    rows = pandas.DataFrame({'customer_id': ['u', 'u'], 'article_id': ['1', '2']})
    lists = rows.groupby('customer_id')['article_id'].agg(list)
    guesses = pandas.DataFrame({'customer_id': ['u'], 'prediction': ['1']})
    with pytest.raises(FormatError, match='article_id: found lists, expected one') as caught:
        MAP(lists, guesses, truth_columns=columns)
    _, option = str(caught.value).split(' by ')
    assert MAP(lists, guesses, **eval(f'dict({option})')).value == 0.5  # one of two relevant labels
    with pytest.raises(FormatError, match='landmark_id: found a column of lists, expected text or'):
        GAP(LANDMARKS_FRAME.assign(landmark_id=[['1'], ['2']]), GUESSES_FRAME)


@pytest.mark.parametrize('kind', KINDS)
def test_boolean_relevance_counts_as_0_and_1(kind, tmp_path):
    qrels = QRELS_FRAME.assign(relevance=[True, False])
    rows = list(qrels.itertuples(index=False, name=None))
    (tmp_path / 'qrels.json').write_text('{"7": {"a": true, "b": false}}')
    by_topic = {'7': {'a': True, 'b': np.False_}}
    for judged in KINDS[kind](qrels), rows, by_topic, tmp_path / 'qrels.json':
        assert evaluate_trec(judged, TREC_FRAME, 10).map.tolist() == [0.5]
    pairs = REFERENCE_FRAME.assign(relevance=True)
    scorer = AveragePrecision(REFERENCE_FRAME, [1], judged=KINDS[kind](pairs))
    assert scorer.evaluate(RUN_FRAME).judged.tolist() == [[1], [1]]
    classes = pandas.DataFrame({'fname': ['u', 'v'], 'a': [True, False], 'b': [False, True]})
    assert LRAP(KINDS[kind](classes), SCORES_FRAME).value == 0.75
    with pytest.raises(FormatError, match=r'^<run>.*score: found .*(True|bool)'):
        evaluate_trec(qrels, KINDS[kind](TREC_FRAME.assign(score=[True, False])))
