"""Scores of blocks of queries, put together."""

import json
import pickle
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pandas
import pytest
import strategies
from challenge_inputs import table
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import Score, challenges, definitions
from mediaeval_ap.errors import FormatError, ParameterError, UndefinedScoreError
from mediaeval_ap.tables import Source

labels = st.lists(st.sampled_from('abcd'), max_size=5).map(' '.join)
label = st.sampled_from('abc')
answer = st.just('') | st.tuples(label, st.sampled_from(['0.5', '-1', '0.25'])).map(' '.join)
some = st.lists(st.sampled_from('xyz'), unique=True).map(','.join)
numbers = st.sampled_from([0.0, 0.5, 1.0])

CHALLENGES = {
    'first-hit': (challenges.evaluate_first_hit, 'Image,Id', label, 'Image,Id', (labels,)),
    **{
        f'MAP {name}': (
            partial(challenges.evaluate_map, k=3, definition=name),
            'customer_id,prediction',
            labels,
            'customer_id,prediction',
            (labels,),
        )
        for name in ('kaggle', 'mediaeval-2016')  # dividing by numbers of labels, or by k
    },
    **{
        f'GAP {ties}': (
            partial(challenges.evaluate_gap, ties=ties),
            'id,landmark_id',
            st.just('') | label,
            'id,landmarks',
            (answer,),
        )
        for ties in ('expected', 'best')
    },
    **{
        f'LRAP {weighted}': (
            partial(challenges.evaluate_lrap, label_weighted=weighted),
            'fname,labels',
            some,
            'fname,x,y,z',
            (numbers,) * 3,
        )
        for weighted in (False, True)
    },
}


def scored(name, truth, predictions, settings):
    """The score, or None where it is not defined."""
    try:
        return CHALLENGES[name][0](truth, predictions, **settings)
    except UndefinedScoreError:
        return None


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('name', CHALLENGES)
@strategies.examples(1 / 4)
@given(st.data(), st.integers(1, 8))
def test_blocks_of_queries_put_together_are_one_score(name, data, n):
    _, header, one, predicted, others = CHALLENGES[name]
    truth = table(header, *((str(row), data.draw(one)) for row in range(n)))
    rows = [(str(row), *map(data.draw, others)) for row in range(n)]
    predictions = table(predicted, *rows)
    if len(others) > 1:
        predictions = predictions.astype(dict.fromkeys('xyz', float))
    tables = ['per_query', *(['per_class'] if name.startswith('LRAP') else [])]
    with_table = data.draw(st.none() | st.sampled_from(tables))
    settings = {'missing': data.draw(st.sampled_from(['zero', 'skip']))}
    if with_table:
        settings[with_table] = True
    missing = data.draw(st.sets(st.sampled_from(range(n))))
    bounds = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=3))})
    try:
        expected, *blocks = [
            scored(
                name,
                truth[begin:end],
                predictions[begin:end].drop(index=missing & set(range(begin, end))),
                settings,
            )
            for begin, end in [(0, n), *pairwise(bounds)]
        ]
    except FormatError:  # of predictions without a row
        return
    if None in blocks:
        return
    before = [json.dumps(block.to_dict()) for block in blocks]
    joined = Score.concat([Score.concat(blocks[:-1]), blocks[-1]] if blocks[1:] else blocks)
    assert [json.dumps(block.to_dict()) for block in blocks] == before  # nothing has changed
    for score in joined, Score.concat(pickle.loads(pickle.dumps(blocks))):
        assert json.dumps(score.to_dict()) == json.dumps(expected.to_dict())
        assert score.queries.equals(expected.queries)
        assert [*score.values] == [*expected.values]
        for column, values in score.values.items():
            assert values.dtype == expected.values[column].dtype
            assert values.tobytes() == expected.values[column].tobytes()
        if with_table:
            rows = expected.table.reset_index(drop=True)
            assert score.table.reset_index(drop=True).equals(rows)


def whales(*ids, label='a', **settings):
    rows = table('Image,Id', *((id, label) for id in ids))
    return challenges.evaluate_first_hit(rows, rows, **settings)


def lrap(id, *classes, **settings):
    truth = table('fname,labels', (id, 'x'))
    scores = pandas.DataFrame({'fname': [id], **dict.fromkeys(classes, 0.5)})
    return challenges.evaluate_lrap(truth, scores, **settings)


def gap(id, **settings):
    truth, predictions = table('id,landmark_id', (id, 'a')), table('id,landmarks', (id, 'a 1'))
    return challenges.evaluate_gap(truth, predictions, **settings)


def fashion(id, definition):
    rows = table('customer_id,prediction', (id, 'a'))
    return challenges.evaluate_map(rows, rows, definition=definition)


OTHER = replace(definitions.get('kaggle'), denominator=('k',))  # under the same name


@pytest.mark.parametrize(
    ('scores', 'reason'),
    [
        ([], 'found no result'),
        ([whales('1'), gap('2')], "metric: found 'GAP', expected 'first-hit MAP@5'"),
        ([whales('1'), whales('2', k=3)], "metric: found 'first-hit MAP@3', expected 'first-hit "),
        ([gap('1'), gap('2', ties='best')], "parameters, ties: found 'best', expected 'expected'"),
        ([whales('1'), whales('2', missing='zero')], "parameters, missing: found 'zero', expected"),
        ([lrap('1', 'x'), lrap('2', 'x', 'y')], 'classes: found 2, expected 1'),
        ([lrap('1', 'x', 'y'), lrap('2', 'y', 'x')], r"classes: found \['y', 'x'\], expected \['x"),
        ([whales('1'), whales('2', per_query=True)], "table: found 'some', expected 'none'"),
        (
            [whales('1', '2'), whales('3', '2')],
            "queries: found '2' in two blocks, expected it in o",
        ),
        (
            [whales('1'), replace(whales('2'), inputs={'truth': Source('t')})],
            r"inputs: found \['truth'\], expected \['predictions', 'truth'\]",
        ),
        ([Score('GAP', 1.0, {}, {}, {'queries': 1}, run='r')], 'found a score without its queries'),
    ],
)
def test_mixtures_of_scores_are_refused(scores, reason):
    with pytest.raises(ParameterError, match=f'^concat: {reason}'):
        Score.concat(scores)


def test_what_metrics_do_not_merge():
    with pytest.raises(
        ParameterError, match=r"^merge: found ties='stable', the order of the input"
    ):
        Score.concat([gap('1', ties='stable'), gap('2', ties='stable')])
    with pytest.raises(ParameterError, match=r'^merge: found MeanAveragePrecision\(k=12, def'):
        Score.concat([fashion('1', 'kaggle'), fashion('2', OTHER)])


def test_one_block_is_itself():
    score = gap('1', ties='stable', per_query=True)
    assert Score.concat([score]).to_dict() == score.to_dict()
    assert gap('1').table is None
    assert gap('1').values['confidence'].tolist() == [1]
    assert 'basis' not in repr(score)
