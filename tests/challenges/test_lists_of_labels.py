"""MAP at k and first-hit MAP on the files of their challenges."""

import oracle
import pytest
from challenge_inputs import SAMPLES, sample, table
from oracle import CLOSE

from mediaeval_ap import challenges
from mediaeval_ap.errors import DataWarning, UndefinedScoreError


@pytest.mark.parametrize('definition', ['kaggle', 'mediaeval-2016'])
@pytest.mark.parametrize('k', [1, 12])
def test_fashion(definition, k):
    bought = {}
    for row in sample('fashion_truth'):
        bought.setdefault(row['customer_id'], []).append(row['article_id'])
    predicted = {
        row['customer_id']: row['prediction'].split() for row in sample('fashion_predictions')
    }
    values = [
        oracle.average_precision_of_labels(articles, predicted[customer], k, definition)
        for customer, articles in bought.items()
    ]
    score = challenges.evaluate_map(
        SAMPLES / 'fashion_truth.csv',
        SAMPLES / 'fashion_predictions.csv',
        k,
        definition=definition,
        per_query=True,
    )
    assert score.value == pytest.approx(float(sum(values) / len(values)), **CLOSE)
    assert score.table[f'AP@{k}'].tolist() == pytest.approx([float(v) for v in values], **CLOSE)
    assert score.table['id'].tolist() == list(bought)
    assert score.table['n_relevant'].tolist() == list(map(len, bought.values()))


def test_users_without_truth_are_left_out_and_counted():
    truth = table('customer_id,prediction', ('a', 'x'), ('b', ''), ('c', 'y z'))
    predictions = table('customer_id,prediction', ('a', 'x'), ('b', 'x'), ('c', 'q y'))
    score = challenges.evaluate_map(truth, predictions)
    assert score.value == (1 + 1 / 4) / 2
    assert score.counts == {'queries': 3, 'without_truth': 1, 'missing': 0, 'unknown': 0}
    assert list(score.notes) == ['1 of 3 queries have no relevant label, and are left out']
    with pytest.raises(UndefinedScoreError, match='nothing is relevant for any of 1 users'):
        challenges.evaluate_map(truth[1:2], predictions[1:2])


def test_repeated_labels_of_a_truth():
    truth = table('customer_id,article_id', ('a', '01'), ('b', '02'), ('a', '01'))
    predictions = table('customer_id,prediction', ('a', '01'), ('b', '02'))
    with pytest.warns(DataWarning, match='<DataFrame>: 1 of 3 labels repeat another'):
        assert challenges.evaluate_map(truth, predictions).value == 1
    score = challenges.evaluate_map(truth, predictions, definition='mediaeval-2016-final')
    assert score.value == (1 / 2 + 1) / 2


def test_scores_above_one():
    truth = table('customer_id,prediction', ('a', 'x'))
    predictions = table('customer_id,prediction', ('a', 'x x'))
    with pytest.warns(DataWarning, match='<DataFrame>: 1 of 1 queries have an AP above'):
        assert challenges.evaluate_map(truth, predictions, definition='mediaeval-2016').value == 2
    assert challenges.evaluate_map(truth, predictions).value == 1


def test_whales():
    predicted = {row['Image']: row['Id'].split() for row in sample('whales_predictions')}
    values = [
        oracle.reciprocal_rank(row['Id'], predicted[row['Image']], 5)
        for row in sample('whales_truth')
    ]
    score = challenges.evaluate_first_hit(
        SAMPLES / 'whales_truth.csv', SAMPLES / 'whales_predictions.csv', per_query=True
    )
    assert score.value == pytest.approx(float(sum(values) / len(values)), **CLOSE)
    assert score.table['RR@5'].tolist() == [float(value) for value in values]
    assert score.table['label'].tolist() == [row['Id'] for row in sample('whales_truth')]
    assert (score.metric, score.counts['queries']) == ('first-hit MAP@5', 40)
