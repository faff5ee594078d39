"""What a diagnosis shows to people, and draws."""

import csv
import io
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import MissingExtraError, ParameterError, WithoutRelevantWarning
from mediaeval_ap.render.formats import render

QUERY = 'ann_lee'
REFERENCE = [('x', 'v', str(shot), QUERY) for shot in range(1, 7)] + [('x', 'v', '3', 'bob')]
REFERENCE += [('x', 'v', '4', 'cat'), ('x', 'w', '1', 'dan')]
RUN = [
    ('x', 'v', '9', QUERY, 0.9),
    ('x', 'v', '1', QUERY, 0.5),
    ('x', 'v', '7', QUERY, 0.5),  # tied with the next
    ('x', 'v', '8', QUERY, 0.5),
    ('x', 'v', '2', 'anne_lee', 0.4),  # a near spelling
    ('x', 'v', '3', 'bob', 0.4),  # right for that shot
    ('x', 'v', '4', 'bob', 0.4),  # a wrong person
    ('x', 'v', '5', 'lee', 0.4),  # nobody, with a shared word
]

OF_NAMES = [part for part in PARTS if part != 'unjudged']


def explain(run=RUN, queries=(QUERY, 'bob', 'dan'), **settings):
    return AveragePrecision(REFERENCE).explain(run, list(queries), **settings)


def shown(thing, width=None, **options):
    return render(thing.document(**options), 'table', width)


def table_of(text, title):
    """The rows of the table that begins with a title."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith(title))
    next(lines)
    return [row.split() for row in iter(lambda: next(lines, ''), '')]


def test_costliest_queries_with_the_part_that_costs_most():
    rows = table_of(shown(explain(), costliest=2), 'COSTLIEST QUERIES')
    assert [(row[0], row[3]) for row in rows] == [('dan', 'absent'), (QUERY, 'absent')]
    diagnosis = explain([('x', 'v', '3', 'bob', 0.5), ('x', 'u', '1', 'zed', 0.5)], ['bob', QUERY])
    rows = table_of(shown(diagnosis), 'COSTLIEST QUERIES')
    assert [row[0] for row in rows] == [QUERY]
    text = shown(explain(), per_query=True)
    assert 'COSTLIEST' not in text
    assert [row[0] for row in table_of(text, 'query')] == [QUERY, 'bob', 'dan', 'all']


def test_queries_that_differ_most_with_the_main_cause():
    """Queries that differ the same stay in their order."""
    reference = [('x', 'v', name, name) for name in ('bob', 'ann', 'dan')]
    average_precision = AveragePrecision(reference, definition='trec')
    bob, ann, dan = ((*shot, 0.5) for shot in reference)
    queries = ['bob', 'ann', 'dan']
    worse = average_precision.explain([dan], queries)
    text = shown(worse.against(average_precision.explain([bob, ann], queries)))
    assert re.search('^BETTER QUERIES +gain of AP@100 +main cause +AP from it$', text, re.M)
    assert table_of(text, 'BETTER QUERIES') == [
        ['bob', '1.000', 'absent', '1.000'],
        ['ann', '1.000', 'absent', '1.000'],
    ]
    assert table_of(text, 'WORSE QUERIES') == [['dan', '-1.000', 'absent', '-1.000']]


def test_both_scores_of_a_difference():
    """AP of ann is 1/2 behind a miss, else 1; bob is absent from both runs, so MAP is half."""
    reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
    explain_run = AveragePrecision(reference, definition='trec').explain
    hit, miss = ('x', 'v', '1', 'ann', 0.5), ('x', 'v', '9', 'ann', 0.9)
    for queries, score, causes in (
        (['ann', 'bob'], 'MAP@100 0.500 over 2 queries', [*OF_NAMES, 'all']),
        (['ann'], 'ann: AP@100 1.000', ['confidence', 'all']),
    ):
        runs = explain_run([miss, hit], queries), explain_run([hit], queries)
        worse, better = (diagnosis.called(name) for diagnosis, name in zip(runs, 'ab', strict=True))
        heading, _, line, *_ = shown(worse.against(better)).splitlines()
        assert heading == 'b minus a (trec)'
        gain = 1 / 2 / len(queries)
        low = '0.250' if len(queries) == 2 else '0.500'
        assert line == f'{score}, +{gain:.3f} against a ({low}). Causes:'
        assert [row[0] for row in table_of(shown(worse.against(better)), 'DIFFERENCE')] == causes
    assert 'BETTER' not in shown(worse.against(better))
    line = shown(worse.against(worse.called('c'))).splitlines()[2:]
    assert line == ['ann: AP@100 0.500, +0.000 against a (0.500).']


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    ('returned', 'score', 'has_loss'),
    [
        (['9', '1'], 'AP@100 0.500, 1 relevant shot. Where the other 0.500 was lost:', True),
        (['1'], 'AP@100 1.000, 1 relevant shot.', False),
        (['1', '1'], 'AP@100 2.000, 1 relevant shot. Why it is not 1:', True),
    ],
)
def test_a_loss_is_announced_only_where_there_is_one(returned, score, has_loss):
    """By the definition of 2016, a shot that is returned twice counts twice."""
    rows = [('x', 'v', shot, 'ann', 0.9 - rank / 10) for rank, shot in enumerate(returned)]
    diagnosis = AveragePrecision([('x', 'v', '1', 'ann')]).explain(rows)
    assert f'\nann: {score}\n' in shown(diagnosis.of('ann'))
    of_run = score.replace('AP@100', 'MAP@100').replace(', 1 relevant shot', ' over 1 query')
    assert f'\n{of_run}\n' in shown(diagnosis)
    for text in shown(diagnosis), shown(diagnosis.of('ann')):
        assert ('LOSS' in text) == has_loss
    assert ('COSTLIEST' in shown(diagnosis)) == ('other 0.500' in score)


def test_ranking_of_a_query_down_to_ten_and_to_its_last_hit():
    far = [('x', 'u', str(shot), QUERY, 0.8) for shot in range(20)]
    text = shown(explain([*far, *RUN]).of(QUERY))
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if 'misses before' in line)
    rows = [line.split() for line in lines[begin + 2 :]]
    rows = rows[: rows.index([])]
    assert [int(row[0]) for row in rows] == [*range(1, 11), 22, 25, 26, 27, 28]
    assert rows[10][1:3] == ['yes', 'x/v/1']
    assert ' '.join(rows[10][6:]) == '21 more confident'
    assert ' '.join(rows[11][6:]) == '23 nearer'
    assert '13 ranks below 10 without a hit left out' in text


@pytest.mark.parametrize(('ap', 'mean'), [('ap', 'map'), ('difference', 'difference')])
def test_rows_and_json_hold_the_same(ap, mean):
    found = explain(RUN[:4])
    if ap == 'difference':
        found = replace(found.against(explain(RUN[1:4])), runs=('one', 'other'))
    value = json.loads(found.to_json())
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    of_all = value | {'query': 'all', ap: value[mean]}
    for row, query in zip(rows, [*value['queries'], of_all], strict=True):
        assert (row['query'], float(row['AP@100'])) == (query['query'], query[ap])
        assert {part: float(row[part]) for part in OF_NAMES} == query['loss']
        for level, bounds in query.get('ties', {}).items():
            for name, bound in bounds.items():
                assert float(row[f'{level}_{name}']) == bound
    if ap == 'difference':
        assert {(row['run'], row['minus']) for row in rows} == {('other', 'one')}
        assert [row['n_queries'] for row in rows] == ['', '', '', '3']
    else:
        assert {row['reason'] for row in rows} == {''}


def nulls(value):
    """Each null of a JSON value: its name, and the object that it is a value of."""
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            if each is None:
                yield name, value
            yield from nulls(each)


# Where a null stands for "there is none", another field says so.
SAYS_SO = {
    'rank': lambda shot: shot['kind'] == 'absent',
    'before': lambda ranked: ranked['relevant'] is False,
    'sha256': lambda source: source['name'].startswith('<'),  # no bytes
}
TIED = [('x', 'v', '1', 'anna', 0.5), ('x', 'v', '1', 'anne', 0.5), ('x', 'v', '2', 'anna', 0.5)]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NoOverlapWarning')
@pytest.mark.parametrize(('k', 'names'), [(1, []), ('all', ['map', 'n_changed'])])
def test_every_null_has_a_reason_beside_it(k, names):
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], definition='trec')
    diagnosis = average_precision.explain(TIED, k=k)
    for each in diagnosis, diagnosis.of('ann'):
        found = [*nulls(json.loads(each.to_json()))]
        unexplained = [
            (name, value)
            for name, value in found
            if name not in SAYS_SO and not (value.get('reason') or value.get('why'))
        ]
        assert not unexplained
        assert all(SAYS_SO[name](value) for name, value in found if name in SAYS_SO)
    of_run = [name for name, _ in nulls(diagnosis.to_dict()) if name not in SAYS_SO]
    bounds = ['expected', 'expected', 'max', 'max', 'min', 'min']  # of the query, and of the run
    assert sorted(of_run) == sorted([*bounds, *names])


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NoOverlapWarning')
def test_reasons_in_rows_and_tables():
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], definition='trec')
    cut, uncut = (average_precision.explain(TIED, k=k) for k in (1, 'all'))
    why = 'x/v/1 is returned several times in one block of ties'
    of_ann, of_all = csv.DictReader(io.StringIO(cut.to_csv()))
    assert of_ann['reason'] == why
    assert of_all['reason'] == f'1 of 1 queries have no known bounds: {why}'
    assert why in shown(cut, per_query=True).partition('DEFINITION')[2].partition('reason')[2]
    by_k = next(
        row for row in table_of(shown(uncut, per_query=True), 'DEFINITION') if row[0] == 'by-k'
    )
    assert ' '.join(by_k[1:]) == 'by-k divides by k alone, and there is no cutoff'


def test_what_is_rounded_to_nothing_has_no_sign():
    """A mean just below zero would be printed as -0.000."""
    parts = {part: np.full(3, -1e-5) for part in PARTS}
    tiny = replace(explain().against(explain()), ap=np.full(3, -1e-5), parts=parts)
    text = shown(tiny)
    assert 'over 3 queries, +0.000 against' in text
    assert '-0.000' not in text


DRAWN_REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann'), ('x', 'v', '3', 'bob')]
DRAWN_RUN = [('x', 'v', '3', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)]
explain_drawn = AveragePrecision(DRAWN_REFERENCE, definition='trec').explain
DRAWN = explain_drawn(DRAWN_RUN)


def rows_of(chart):
    return chart.to_dict()['data']['values']


def test_loss_has_the_mean_parts_of_each_run():
    better = explain_drawn(DRAWN_RUN[1:])
    rows = rows_of(DRAWN.plot.loss(better, names=['worse', 'better']))
    for name, diagnosis in [('worse', DRAWN), ('better', better)]:
        parts = {row['part']: row['value'] for row in rows if row['run'] == name}
        expected = {part.replace('_', ' '): v for part, v in diagnosis.mean_parts.items() if v}
        assert parts == expected
        assert sum(parts.values()) == pytest.approx(1 - diagnosis.map, abs=1e-12)  # rounded sums


@pytest.mark.parametrize('names', [['one', 'one'], ['one', 'two', 'three']])
def test_runs_need_names_that_differ(names):
    with pytest.raises(ParameterError, match='expected 2 names, all different'):
        DRAWN.plot.loss(explain_drawn(DRAWN_RUN[1:]), names=names)
    with pytest.raises(ParameterError, match='quer'):
        DRAWN.plot.loss(explain_drawn(DRAWN_RUN, ['ann']), names=['one', 'two'])


def test_figures_of_names_and_ranks(monkeypatch):
    rows = rows_of(DRAWN.plot.confused())
    found = [(row['query'], row['name'], row['count']) for row in rows]
    assert found == [(each.query, each.name, each.count) for each in DRAWN.confused]
    assert ('ann', 'bob', 1) in found
    assert len(rows_of(DRAWN.plot.confused(1))) == 1
    rows = rows_of(DRAWN.plot.precision_recall('ann'))
    assert [(row['rank'], row['x'], row['value']) for row in rows] == [
        (2, 0.5, 0.5),
        (3, 1, 2 / 3),
    ]
    with pytest.warns(WithoutRelevantWarning):
        diagnosis = explain_drawn(DRAWN_RUN, ['ann', 'carl'])
    with pytest.raises(ParameterError, match='expected a query with a relevant shot'):
        diagnosis.plot.precision_recall('carl')
    monkeypatch.setitem(sys.modules, 'altair', None)
    with pytest.raises(MissingExtraError, match=r'\.\[report\]'):
        _ = DRAWN.plot
