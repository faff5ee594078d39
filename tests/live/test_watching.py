"""A watched run has the scores of runs of each length."""

import itertools
import random
import warnings

import oracle
import pytest
from live_sessions import ROW, campaign, quiet

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import FormatError, ParameterError, ScoreAboveOneWarning


@quiet
@pytest.mark.parametrize('definition', definitions.names())
@pytest.mark.parametrize('every', [1, 7, 10_000])
def test_watch_gives_what_runs_of_each_length_give(definition, every):
    reference, hypotheses = campaign(random.Random(4), 60)  # fixed, as above
    average_precision = AveragePrecision(reference, [1, 5, 20], definition=definition)
    queries = [*average_precision.queries, average_precision.queries[0], 'a', 'zz']
    points = list(average_precision.watch(iter(hypotheses), queries, every=every))
    lengths = [*range(every, 60, every), 60]
    assert [point.n_hypotheses for point in points] == lengths
    nothing = [
        list(map(float, oracle.evaluate(reference, [], query, [1, 5, 20], definition)[0]))
        for query in queries
    ]
    before = nothing
    for point in points:
        evaluation = average_precision.evaluate(hypotheses[: point.n_hypotheses], queries)
        assert point.ap.tolist() == evaluation.ap.tolist()
        assert point.map.tolist() == evaluation.map.tolist()
        assert point.queries == queries
        moved = [a != b for a, b in zip(before, evaluation.ap.tolist(), strict=True)]
        changed = [query for query, move in zip(queries, moved, strict=True) if move]
        assert point.changed == list(dict.fromkeys(changed))
        before = evaluation.ap.tolist()


def test_watch_goes_on_from_what_is_there():
    average_precision = AveragePrecision([ROW[:4]], [10])
    live = average_precision.live([ROW])
    (point,) = live.watch([('x', 'v', '2', 'ann', 0.9)])
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (2, [0.5], ['ann'])
    assert len(live) == 2
    assert list(live.watch([])) == []


def test_watch_sees_what_others_change():
    live = AveragePrecision([ROW[:4]], [10]).live()
    points = live.watch(iter([('x', 'v', '2', 'ann', 0.9), ROW]), every=1)
    assert next(points).map.tolist() == [0.0]
    live.discard(('x', 'v', '2', 'ann', 0.9))
    live.send('ann')
    point = next(points)
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (1, [1.0], ['ann'])


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_watch_after_withdrawals_that_bring_hits_nearer(definition):
    chance = random.Random(5)  # fixed, as above
    reference, hypotheses = campaign(chance, 120)
    average_precision = AveragePrecision(reference, [1, 5, 20], definition=definition)
    live = average_precision.live(hypotheses)
    points = live.watch(iter(hypotheses[:6]), every=1)
    rows = list(hypotheses)
    for row in hypotheses[:6]:
        for gone in chance.sample(rows, 15):
            live.discard(gone)
            rows.remove(gone)
        point = next(points)
        rows.append(row)
        assert point.ap.tolist() == average_precision.evaluate(rows).ap.tolist()


def test_watch_warns_of_a_score_above_one_once():
    average_precision = AveragePrecision([ROW[:4]], [10])
    rows = [(*ROW[:4], confidence) for confidence in (0.5, 0.6, 0.7)]
    with pytest.warns(ScoreAboveOneWarning, match='<live>: average precision above 1') as caught:
        points = list(average_precision.watch(rows, every=1))
    assert [point.map.tolist() for point in points] == [[1.0], [2.0], [3.0]]
    assert len(caught) == 1


def test_watch_names_the_wrong_row_and_its_number():
    average_precision = AveragePrecision([ROW[:4]])
    points = average_precision.watch(iter([ROW, ROW, ROW, (*ROW[:4], 'high')]), every=3)
    with pytest.warns(ScoreAboveOneWarning):
        assert next(points).n_hypotheses == 3
    with pytest.raises(FormatError, match="<rows>, row 4, confidence: found 'high'"):
        next(points)


@pytest.mark.parametrize('every', [0, -1, 1.5, '3', None])
def test_watch_refuses_what_is_no_count(every):
    with pytest.raises(ParameterError, match='every: found'):
        AveragePrecision([ROW[:4]]).watch([ROW], every=every)


def test_watch_takes_any_iterable_as_it_comes():
    class Rows:
        def __iter__(self):
            return (('x', 'v', str(shot), 'ann', 0.5) for shot in itertools.count())

    average_precision = AveragePrecision([ROW[:4]], [10])
    points = average_precision.watch(Rows(), every=2)
    assert [next(points).n_hypotheses for _ in range(3)] == [2, 4, 6]
    snapshot = average_precision.live([ROW]).snapshot()
    assert [point.map.tolist() for point in average_precision.watch(snapshot)] == [[1.0]]


def test_a_watch_warns_where_it_is_read():
    average_precision = AveragePrecision([ROW[:4]], [10])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        list(average_precision.watch([ROW] * 2))
    assert [each.category for each in caught] == [ScoreAboveOneWarning]
    assert caught[0].filename == __file__


def test_a_run_is_watched_from_an_open_file(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    average_precision = AveragePrecision([ROW[:4]], [10])
    for mode in ('r', 'rb'):
        with open(path, mode) as file:
            points = list(average_precision.watch(file, every=1))
        assert [point.map.tolist() for point in points] == [[0.0], [0.5]]
