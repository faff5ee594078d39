"""First-hit MAP on the files of its challenge."""

import oracle
import pytest
from challenge_inputs import SAMPLES, sample
from oracle import CLOSE

from mediaeval_ap import challenges


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
