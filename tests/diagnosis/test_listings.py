"""A listing is the ranking down to a depth, and on to the end of the ties there."""

from unittest import mock

import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.diagnosis.reconcile import list_first
from mediaeval_ap.ranking import frozen_ranking
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, read


@pytest.mark.parametrize('few_tied', [0, frozen_ranking.FEW_TIED])  # bisected, and looked at
@given(strategies.hypothesis_rows, strategies.names, st.integers(1, 30), st.randoms())
def test_listing(few_tied, hypotheses, query, depth, random):
    ranking = Ranking(read(hypotheses, HYPOTHESIS))
    (distances,) = ranking.names.measured([query])
    relevant = sorted(random.sample(range(ranking.n_shots), random.randint(0, ranking.n_shots)))
    with mock.patch.object(frozen_ranking, 'FEW_TIED', few_tied):
        listing = list_first(ranking, distances, depth, relevant)

    expected = oracle.ranked(hypotheses, query)
    n_listed = len(listing.places)
    rows = [hypotheses[row] for row in ranking.row_at[listing.places].tolist()]
    assert rows == expected[:n_listed]
    assert len({row[:3] for row in rows}) >= depth or n_listed == len(expected)

    keys = [(oracle.normalized_distance(query, row[3]), row[4]) for row in expected]
    assert n_listed == len(expected) or keys[n_listed - 1] != keys[n_listed]
    assert listing.tie_starts.tolist() == [
        i for i in range(n_listed) if not i or keys[i] != keys[i - 1]
    ]
    shots = ranking.shot_at[listing.places].tolist()
    assert listing.kept.tolist() == [i for i, shot in enumerate(shots) if shot not in shots[:i]]
    assert listing.relevant.tolist() == [i for i, shot in enumerate(shots) if shot in relevant]
