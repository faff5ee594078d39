"""`AveragePrecision.explain`, and what a diagnosis says of all queries."""

import math

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis.findings import QueryLoss
from mediaeval_ap.errors import EmptyRunWarning, ParameterError, ScoreAboveOneWarning
from mediaeval_ap.ranking.frozen_ranking import Ranking

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'v', '3', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '9', 'bob', 0.9), ('x', 'v', '2', 'bob', 0.5)]


@pytest.fixture
def diagnosis():
    return AveragePrecision(REFERENCE, definition='trec').explain(RUN)


def test_means(diagnosis):
    assert diagnosis.ap.tolist() == [1, 0.25]
    assert diagnosis.map == 0.625
    lost = {part: loss for part, loss in diagnosis.mean_parts.items() if loss}
    assert lost == {'confidence': 0.125, 'absent': 0.25}


def test_each_query_is_ranked_once_for_all_that_is_shown(monkeypatch):
    """One ranking serves the parts, ties, near names and other definitions, at all cutoffs."""
    ranked = []
    top = Ranking.top

    def counted(ranking, *arguments, **settings):
        ranked.append(ranking)
        return top(ranking, *arguments, **settings)

    monkeypatch.setattr(Ranking, 'top', counted)
    run = [*RUN, ('x', 'v', '3', 'bobb', 0.1)]
    found = AveragePrecision(REFERENCE).explain_at(run, ['ann', 'bob'], K=[1, 2], near=0.5)
    for diagnosis in found:
        diagnosis.to_dict()
        diagnosis.to_markdown()
    assert [each.name for each in found[1].near_misses] == ['bobb']
    assert len(ranked) == 2


def test_costliest(diagnosis):
    bob, ann = diagnosis.costliest()
    assert bob == QueryLoss('bob', 0.25, 2, bob.parts)
    assert {part: loss for part, loss in bob.parts.items() if loss} == {
        'confidence': 0.25,
        'absent': 0.5,
    }
    assert ann.query == 'ann'
    assert not any(ann.parts.values())
    assert diagnosis.costliest(1) == [bob]
    with pytest.raises(ParameterError, match=r'^n: found 0, expected positive integers below'):
        diagnosis.costliest(0)


def test_frame_has_every_part(diagnosis):
    frame = diagnosis.to_frame()
    assert frame.loc['bob'].to_dict() == {'ap': 0.25, 'n_relevant': 2, **diagnosis.of('bob').parts}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
@pytest.mark.parametrize('definition', definitions.names())
def test_empty_run(definition):
    average_precision = AveragePrecision(REFERENCE, subset=[('x', 'v')], definition=definition)
    with pytest.warns(EmptyRunWarning):
        diagnosis = average_precision.explain([('x', 'w', '1', 'ann', 0.5)], ['ann', 'zoe'], k=1)
    lost = [{part for part in diagnosis.parts if diagnosis.parts[part][row]} for row in (0, 1)]
    counts_as = definitions.get(definition).without_relevant
    assert lost == [{'absent'}, set() if counts_as else {'unanswerable'}]
    assert diagnosis.ap.tolist() == [0, counts_as]
    assert diagnosis.of('ann').ranking == []
    assert diagnosis.of('zoe').relevant == []


def test_what_the_definition_gave_away():
    """Two hypotheses of one shot count twice, and more than one is AP above 1."""
    reference = [('x', 'v', '1', 'ann')]
    run = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '1', 'ann', 0.4)]
    with pytest.warns(ScoreAboveOneWarning):
        diagnosis = AveragePrecision(reference).explain(run, k=10)
    assert diagnosis.ap.tolist() == [2]
    assert {part: loss for part, loss in diagnosis.mean_parts.items() if loss} == {'repeats': -1}


def test_rows_that_the_reference_repeats_are_out_of_reach():
    reference = [('x', 'v', '1', 'ann'), ('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
    run = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '9', 'ann', 0.4)]
    with pytest.warns(UserWarning, match='repeat an earlier one'):
        average_precision = AveragePrecision(reference)
    diagnosis = average_precision.explain(run, ['ann'])
    assert {part: loss for part, loss in diagnosis.mean_parts.items() if loss} == {'cutoff': 0.5}


def test_dividing_by_hits_is_noted():
    diagnosis = AveragePrecision(REFERENCE, definition='hits').explain(RUN)
    assert diagnosis.notes[-1] == (
        'hits divides by the number of hits, which repairs change: parts can be negative'
    )


def test_a_snapshot_is_explained_like_a_run(diagnosis):
    average_precision = AveragePrecision(REFERENCE, definition='trec')
    live = average_precision.live(RUN)
    again = average_precision.explain(live.snapshot())
    assert again.to_dict()['queries'] == diagnosis.to_dict()['queries']


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'k': 0}, "k: found 0, expected positive integers below 2**63 or 'all'"),
        ({'k': [1, 2]}, "k: found [1, 2], expected positive integers below 2**63 or 'all'"),
        ({'k': 'all'}, 'k: found all, expected numbers: by-k divides by k'),
        ({'near': 1}, 'near: found 1, expected a number from 0 to below 1'),
        ({'near': -0.1}, 'near: found -0.1, expected a number from 0 to below 1'),
        ({'near': math.nan}, 'near: found nan, expected a number from 0 to below 1'),
        ({'near': True}, 'near: found True, expected a number from 0 to below 1'),
        ({'near': '0.2'}, "near: found '0.2', expected a number from 0 to below 1"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        AveragePrecision(REFERENCE, definition='by-k').explain(RUN, **settings)
    assert str(caught.value) == message


def test_numbers_of_numpy():
    explain = AveragePrecision(REFERENCE).explain
    diagnosis = explain(RUN, k=np.int64(10), near=np.float32(0.25))
    assert (diagnosis.k, diagnosis.near) == (10, 0.25)


def test_cutoffs_that_are_asked_for():
    average_precision = AveragePrecision(REFERENCE, K=[1, 10], definition='by-k')
    assert [each.k for each in average_precision.explain_at(RUN)] == [1, 10]
    assert [each.k for each in average_precision.explain_at(RUN, K=5)] == [5]
    with pytest.raises(ParameterError, match='K: found all, expected numbers'):
        average_precision.explain_at(RUN, K=['all'])
