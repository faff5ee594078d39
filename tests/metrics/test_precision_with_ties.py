"""Tie blocks of ranges that are sorted apart."""

import numpy as np
import pytest

from mediaeval_ap.metrics import ap_of_hits, global_average_precision


@pytest.mark.parametrize('ties', ['expected', 'best', 'worst'])
def test_ranges_are_sorted_apart(ties, monkeypatch):
    random = np.random.default_rng(4)  # any predictions would do
    rows = {
        'y_pred': random.integers(0, 3, 500),
        'confidence': random.integers(0, 40, 500) / 8,
        'y_true': random.integers(0, 3, 500),
    }
    expected = global_average_precision(**rows, ties=ties)
    monkeypatch.setattr(ap_of_hits, 'WORTH_SHARING', 1)
    for n_cores, n_edges in (1, 2), (2, 3), (4, 5), (64, 5):
        monkeypatch.setattr(ap_of_hits, 'own_cores', lambda n_cores=n_cores: n_cores)
        assert len(ap_of_hits._edges(rows['confidence'])) == n_edges
        assert global_average_precision(**rows, ties=ties) == expected
