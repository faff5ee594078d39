"""The columns of a ranking, made in each way and taken as they are."""

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.ranking import frozen_ranking
from mediaeval_ap.ranking.edit_distances import Quotients
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, read

many = st.integers(0, 10**9).map(str)
finite = st.floats(allow_nan=False, allow_infinity=False)
spread_rows = st.lists(st.tuples(many, many, many, many, finite), min_size=1, max_size=12)
rows = strategies.hypothesis_rows | spread_rows


def columns_of(ranking):
    """All columns of a ranking and of its shots, as lists."""
    fields = 'shot_at', 'name_at', 'temporal_rank_at', 'places', 'name_counts', 'n_repeated'
    columns = {field: getattr(ranking, field) for field in fields} | vars(ranking.shots)
    return {name: np.asarray(column).tolist() for name, column in columns.items()}


@given(rows)
def test_columns_are_the_same_in_each_way(rows):
    """Keys that are too wide or too far apart are rare, so limits of 0 stand for them."""
    table = read(rows, HYPOTHESIS)
    ranking = Ranking(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.ranking.tie_breaking.KEY_BITS', 0)
        patch.setattr('mediaeval_ap.arrays.DENSE', 0)
        assert columns_of(Ranking(table)) == columns_of(ranking)


@given(rows)
def test_each_row_has_one_place(rows):
    ranking = Ranking(read(rows, HYPOTHESIS))
    (distances,) = ranking.names.distances_from(['ab'])
    columns = ranking.columns_at(np.arange(len(rows)), distances)
    at_places = list(zip(*(list(columns[field]) for field in HYPOTHESIS.fields), strict=True))
    assert sorted(at_places) == sorted(rows)
    assert [row[4] for row in at_places] == sorted((row[4] for row in rows), reverse=True)
    groups = {}
    for row, rank in zip(at_places, columns['temporal_rank'].tolist(), strict=True):
        groups.setdefault((row[3], row[4], *row[:2]), []).append(rank)
    assert all(sorted(ranks) == list(range(1, len(ranks) + 1)) for ranks in groups.values())


def test_a_run_without_rows():
    table = read([('x', 'v', '1', 'ann', 0.5)], HYPOTHESIS).select(np.array([False]))
    ranking = Ranking(table)
    assert (len(ranking), ranking.n_shots, ranking.n_repeated) == (0, 0, 0)
    assert ranking.top(Quotients(np.empty(0)), 3).tolist() == []
    assert ranking.confidence_at.tolist() == ranking.temporal_rank_at.tolist() == []


def test_more_hypotheses_than_places_count(monkeypatch):
    monkeypatch.setattr(frozen_ranking, 'MOST_HYPOTHESES', 1)
    table = read([('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'ann', 0.5)], HYPOTHESIS)
    with pytest.raises(ParameterError, match=r'^<hypothesis>: found 2 hypotheses, expected at'):
        Ranking(table)


def ranking_of(pairs):
    """A ranking of names and confidences, each with a shot of its own, in the order of pairs."""
    rows = [('x', 'v', str(shot), *pair) for shot, pair in enumerate(pairs)]
    return Ranking(read(rows, HYPOTHESIS))


@pytest.mark.parametrize('few_tied', [0, 10])  # bisected by name, and looked at
def test_later_ties(few_tied, monkeypatch):
    """Those of one confidence whose names are as far as that at a place."""
    monkeypatch.setattr(frozen_ranking, 'FEW_TIED', few_tied)
    ranking = ranking_of([('ann', 0.9), ('ann', 0.5), ('zzb', 0.5), ('bob', 0.5), ('bob', 0.2)])
    (distances,) = ranking.names.distances_from(['zzz'])
    places = [ranking.later_ties(place, distances).tolist() for place in range(5)]
    assert places == [[], [3], [], [], []]


def test_under_one_name_the_confidence_decides_before_the_temporal_rank():
    ranking = ranking_of([('ann', 0.9), ('ann', 0.9), ('ann', 0.5)])
    assert ranking.under_one_name(np.array([0])).tolist() == [0, 1, 2]
