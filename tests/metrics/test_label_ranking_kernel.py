"""Label ranking in blocks of samples."""

import math

import numpy as np
import pytest

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import (
    LabelRankingAveragePrecision,
    label_ranking_average_precision,
)
from mediaeval_ap.metrics.label_ranking_ap import score_labels


def test_blocks_of_samples(monkeypatch):
    random = np.random.default_rng(2)  # any samples would do
    y_true, y_score = random.integers(0, 2, (40, 7)), random.integers(0, 5, (40, 7))
    whole = label_ranking_average_precision(y_true, y_score)
    for n_scores in 1, 50:
        monkeypatch.setattr('mediaeval_ap.metrics.label_ranking_ap.SCORES_IN_BLOCK', n_scores)
        assert len(list(score_labels(y_true, y_score))) > 1
        assert label_ranking_average_precision(y_true, y_score) == whole


def test_values_that_are_wrong_beyond_the_first_block(monkeypatch):
    monkeypatch.setattr('mediaeval_ap.metrics.label_ranking_ap.SCORES_IN_BLOCK', 4)
    y_true, y_score = np.ones((5, 2)), np.ones((5, 2))
    y_score[3, 1] = math.nan
    metric = LabelRankingAveragePrecision()
    with pytest.raises(ParameterError, match='y_score: found nan in row 3, column 1'):
        metric.update(y_true, y_score)
    assert (metric.n_samples, metric.n_labels.tolist()) == (0, [])
