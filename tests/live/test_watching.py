"""A watched run has the scores of runs of each length."""

import itertools
import random
import warnings
from dataclasses import replace

import oracle
import pytest
from live_sessions import ROW, campaign, quiet

from mediaeval_ap import AveragePrecision, WatchPage, definitions
from mediaeval_ap.errors import FormatError, ParameterError, ScoreAboveOneWarning
from mediaeval_ap.live.watching import JudgedRows
from mediaeval_ap.tables import REFERENCE, Source, Table


@quiet
@pytest.mark.parametrize('definition', definitions.names())
@pytest.mark.parametrize('every', [1, 7])
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


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_each_point_is_scored_by_the_reference_of_its_moment(definition):
    reference, hypotheses = campaign(random.Random(5), 60)  # fixed, as above
    ap = AveragePrecision(Table.empty(REFERENCE, Source('r')), [1, 5, 20], definition=definition)
    parts = [JudgedRows(reference[begin : begin + 4]) for begin in range(0, len(reference), 4)]
    rows = [*hypotheses[:10], *parts[:2], *hypotheses[10:30], *parts[2:], *hypotheses[30:]]
    points = list(ap.watch(iter(rows), every=25))
    assert [point.n_hypotheses for point in points] == [10, 10, 25, 30, 30, 50, 60]
    assert [point.n_reference for point in points] == [4, 8, 8, 12, 15, 15, 15]
    before = {}
    for point in points:
        known = reference[: point.n_reference]
        evaluator = AveragePrecision(known, [1, 5, 20], definition=definition)
        assert point.queries == evaluator.queries
        evaluation = evaluator.evaluate(hypotheses[: point.n_hypotheses])
        assert point.ap.tolist() == evaluation.ap.tolist()
        now = dict(zip(point.queries, point.ap.tolist(), strict=True))
        assert point.changed == [query for query in now if now[query] != before.get(query)]
        before = now


@quiet
@pytest.mark.parametrize('definition', definitions.names())
def test_condensed_lists_are_watched(definition):
    reference, hypotheses = campaign(random.Random(6), 60)  # fixed, as above
    judged = sorted({row[:3] for row in reference} | {row[:3] for row in hypotheses[::3]})
    settings = {'definition': definition, 'judged': judged, 'unjudged': 'skip'}
    average_precision = AveragePrecision(reference, [1, 5, 20], **settings)
    for point in average_precision.watch(iter(hypotheses), every=20):
        evaluation = average_precision.evaluate(hypotheses[: point.n_hypotheses])
        assert point.ap.tolist() == evaluation.ap.tolist()


@quiet
def test_only_hypotheses_of_the_subset_are_counted_from_point_to_point():
    rows = [('x', 'wv'[place % 3 == 0], str(place), 'ann', 0.5) for place in range(30)]
    watch = AveragePrecision([ROW[:4]], [10], subset=[('x', 'v')]).watch
    for run, lengths in (rows, [4, 8, 10]), (rows[:10], [4]), (rows[1:3], [0]), (rows[:11], [4]):
        assert [point.n_hypotheses for point in watch(iter(run), every=4)] == lengths


def test_watch_goes_on_from_what_is_there_and_sees_what_others_change():
    other = ('x', 'v', '2', 'ann', 0.9)
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    points = live.watch(iter([other, ('x', 'v', '3', 'ann', 0.1)]), every=1)
    point = next(points)
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (2, [0.5], ['ann'])
    live.discard(other)
    live.send('ann')
    (point,) = points
    assert (point.n_hypotheses, point.map.tolist(), point.changed) == (2, [1.0], ['ann'])
    assert list(live.watch([])) == []


def test_watch_warns_of_a_score_above_one_once():
    average_precision = AveragePrecision([ROW[:4]], [10])
    rows = [(*ROW[:4], confidence) for confidence in (0.5, 0.6, 0.7)]
    with pytest.warns(
        ScoreAboveOneWarning, match='<live>: 1 of 1 queries have an AP above 1: '
    ) as caught:
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


@pytest.mark.parametrize('every', [0, 1.5])
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


def test_a_watch_of_an_open_file_warns_where_it_is_read(tmp_path):
    path = tmp_path / 'run.txt'
    path.write_text('x v 2 ann 0.9\n' + 'x v 1 ann 0.5\n' * 4)
    average_precision = AveragePrecision([ROW[:4]], [10])
    with open(path) as file, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        points = list(average_precision.watch(file, every=3))
    assert [point.n_hypotheses for point in points] == [3, 5]
    assert [(each.category, each.filename) for each in caught] == [(ScoreAboveOneWarning, __file__)]


def test_a_page_refuses_points_of_another_watch(tmp_path):
    average_precision = AveragePrecision([ROW[:4]], [10])
    page = WatchPage(average_precision)
    with pytest.raises(ParameterError, match='points: found none'):
        page.to_html()
    (point,) = average_precision.watch([ROW])
    page.add(point)
    for change, found in [
        ({'map': [0, 0]}, 'found 2 means, expected MAP@10'),
        ({'queries': ['bob']}, 'found other queries'),
        ({'n_hypotheses': 0}, 'found 0 hypotheses, expected 1 or more'),
    ]:
        with pytest.raises(ParameterError, match=found):
            page.add(replace(point, **change))
    page.add(point)
    assert page.to_html(tmp_path / 'page.html') is None
    assert (tmp_path / 'page.html').read_text() == page.to_html()
