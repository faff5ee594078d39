"""Figures of a diagnosis hold its values."""

import sys

import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import MissingExtraError, ParameterError, WithoutRelevantWarning

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann'), ('x', 'v', '3', 'bob')]
RUN = [('x', 'v', '3', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)]
explain = AveragePrecision(REFERENCE, definition='trec').explain
DIAGNOSIS = explain(RUN)


def rows_of(chart):
    return chart.to_dict()['data']['values']


def test_loss_has_the_mean_parts_of_each_run():
    better = explain(RUN[1:])
    rows = rows_of(DIAGNOSIS.plot.loss(better, names=['worse', 'better']))
    for name, diagnosis in [('worse', DIAGNOSIS), ('better', better)]:
        parts = {row['part']: row['value'] for row in rows if row['run'] == name}
        expected = {part.replace('_', ' '): v for part, v in diagnosis.mean_parts.items() if v}
        assert parts == expected
        assert sum(parts.values()) == pytest.approx(1 - diagnosis.map, abs=1e-12)  # rounded sums


@pytest.mark.parametrize('names', [None, ['one'], ['one', 'one'], ['one', 'two', 'three']])
def test_runs_need_names_that_differ(names):
    with pytest.raises(ParameterError, match='expected 2 names, all different'):
        DIAGNOSIS.plot.loss(explain(RUN[1:]), names=names)


def test_runs_of_other_queries_are_refused():
    with pytest.raises(ParameterError, match='quer'):
        DIAGNOSIS.plot.loss(explain(RUN, ['ann']), names=['one', 'two'])


def test_runs_are_named_by_their_files(tmp_path):
    paths = [tmp_path / 'a' / 'run.txt', tmp_path / 'b' / 'run.txt', tmp_path / 'b' / 'other.txt']
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text('x v 1 ann 0.5\n')
    same_a, same_b, other = map(explain, paths)
    chart = same_a.plot.loss(other)
    assert {row['run'] for row in rows_of(chart)} == {'run.txt', 'other.txt'}
    chart = same_a.plot.loss(same_b)
    assert {row['run'] for row in rows_of(chart)} == {str(paths[0]), str(paths[1])}


def test_confused_has_the_pairs_of_the_diagnosis():
    rows = rows_of(DIAGNOSIS.plot.confused())
    found = [(row['query'], row['name'], row['count']) for row in rows]
    assert found == [(each.query, each.name, each.count) for each in DIAGNOSIS.confused]
    assert ('ann', 'bob', 1) in found
    assert len(rows_of(DIAGNOSIS.plot.confused(1))) == 1
    with pytest.raises(ParameterError):
        DIAGNOSIS.plot.confused(0)


def test_precision_recall_counts_hits_by_rank():
    rows = rows_of(DIAGNOSIS.plot.precision_recall('ann'))
    found = [(row['rank'], row['x'], row['value']) for row in rows]
    assert found == [(2, 0.5, 0.5), (3, 1, 2 / 3)]


def test_precision_recall_needs_a_relevant_shot():
    with pytest.raises(ParameterError, match="'carl'"):
        DIAGNOSIS.plot.precision_recall('carl')
    with pytest.warns(WithoutRelevantWarning):
        diagnosis = explain(RUN, ['ann', 'carl'])
    with pytest.raises(ParameterError, match='expected a query with a relevant shot'):
        diagnosis.plot.precision_recall('carl')


def test_without_altair_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'altair', None)
    with pytest.raises(MissingExtraError, match=r'mediaeval-ap\[report\]'):
        _ = DIAGNOSIS.plot
