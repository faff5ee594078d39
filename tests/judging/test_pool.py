"""The pool of a campaign: who found what, and the runs without what one team found."""

import json
from collections import defaultdict
from pathlib import Path

import oracle
import oracle_judging
import pytest
import strategies
from commands import run
from hypothesis import assume, given
from hypothesis import strategies as st
from schemas import follow_schema, schema_of

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import DataWarning, ParameterError
from mediaeval_ap.render.page import render_chart

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

runs = st.dictionaries(
    st.sampled_from(['a_1', 'a_2', 'b_1', 'c']), strategies.hypothesis_rows, min_size=1
)


@pytest.mark.parametrize('definition', definitions.names())
@given(
    strategies.reference_rows,
    runs,
    st.integers(1, 9),
    st.sampled_from([0, 0.25, 0.5]),
    strategies.subsets,
    strategies.names,
)
@strategies.examples(1 / 2)
def test_a_team_is_left_out_as_by_another_reference(
    definition, reference, runs, depth, near, subset, stranger
):
    """By the slow ranking; and all means are those of `evaluate`, bit for bit."""
    if subset is not None:
        reference = [row for row in reference if row[:2] in subset]
        assume(reference)
    settings = {'K': [3, 7], 'subset': subset, 'definition': definition}
    queries = list(dict.fromkeys([*sorted({row[3] for row in reference}), stranger]))
    pool = AveragePrecision(reference, **settings).pool(runs, queries, depth=depth, near=near)
    counted = {
        name: [row for row in rows if subset is None or row[:2] in subset]
        for name, rows in runs.items()
    }
    repeats = oracle.REPEATS[definition]
    finders = defaultdict(set)
    for (query, shot), at in oracle_judging.pool_of(counted, queries, depth, near, repeats).items():
        if (*shot, query) in reference:
            finders[*shot, query] = {pool.teams[name] for name in at}
    times = [len(finders[row]) for row in set(reference)]
    assert pool.returned_by == {n: times.count(n) for n in pool.returned_by}
    assert sum(pool.returned_by.values()) == len(times)
    for each in pool.without:
        alone = {row for row, of in finders.items() if of == {each.team}}
        assert each.n_alone == len(alone)
        kept = [row for row in reference if row not in alone]
        names = {row[3] for row in kept}
        assert each.n_emptied == len({row[3] for row in reference} - names)
        assume(kept)  # a reference without rows is refused elsewhere
        evaluate = AveragePrecision(kept, **settings).evaluate
        for name, rows in runs.items():
            assert [*each.means[name].values()] == evaluate(rows, queries).map.tolist()


REFERENCE = [('x', 'v', str(n), 'ann') for n in range(4)] + [('x', 'w', '1', 'bob')]
ANN = [('x', 'v', str(n), 'ann', 1 - n / 10) for n in range(4)]
RUNS = {'a_1': ANN[:3], 'a_2': ANN[2:3], 'b_1': [*ANN[1:2], ('x', 'w', '1', 'bob', 0.5)]}


@pytest.fixture
def pool():
    return AveragePrecision(REFERENCE, K=[1, 10]).pool(RUNS)


def test_who_found_what(pool):
    assert pool.teams == {'a_1': 'a', 'a_2': 'a', 'b_1': 'b'}
    assert pool.returned_by == {0: 1, 1: 3, 2: 1}
    assert [(each.team, each.n_alone, each.n_emptied) for each in pool.without] == [
        ('a', 2, 0),
        ('b', 1, 1),
    ]
    assert pool.runs[0] == 'b_1'
    assert pool.notes == [
        'mediaeval-2016 scores a query without a relevant shot as 1, so a team can gain when its '
        'own shots are left out: see queries emptied'
    ]
    assert AveragePrecision(REFERENCE, definition='trec').pool(RUNS).notes == []


def test_teams_can_be_given():
    pool = AveragePrecision(REFERENCE).pool(RUNS, teams={'a_2': 'other'})
    assert [each.team for each in pool.without] == ['a', 'b', 'other']
    with pytest.raises(ParameterError, match=r"^teams: found 'c', expected one of 'a_1'"):
        AveragePrecision(REFERENCE).pool(RUNS, teams={'c': 'other'})


@pytest.mark.parametrize(
    ('name', 'value', 'expected'), [('depth', 0, 'positive integers'), ('near', 1, '')]
)
def test_wrong_settings(name, value, expected):
    with pytest.raises(ParameterError, match=f'^{name}: found {value}, expected {expected}'):
        AveragePrecision(REFERENCE).pool(RUNS, **{name: value})


def test_all_that_was_found_may_be_of_one_team():
    pool = AveragePrecision(REFERENCE[:2], K=[1]).pool({'a': ANN}, depth=2)
    (without,) = pool.without
    assert (without.n_alone, without.n_emptied, without.means) == (2, 1, {'a': {'MAP@1': 1.0}})
    assert (without.tau, without.reason) == (None, 'one run has no order')


def test_json_and_csv_have_each_run(pool):
    value = json.loads(pool.to_json())
    follow_schema(value, 'pool-1')
    assert set(value) == set(schema_of('pool-1')['required'])
    assert [each['run'] for each in value['runs']] == pool.runs
    head, *rows = [line.split(',') for line in pool.to_csv().splitlines()]
    assert head == ['without', 'run', 'team', 'MAP@1', 'MAP@10', 'rank']
    assert [row[:2] for row in rows] == [
        [state, run] for state in ('', 'a', 'b') for run in pool.runs
    ]
    assert [float(row[4]) for row in rows[3:6]] == [
        pool.without[0].means[run]['MAP@10'] for run in pool.runs
    ]


# Two of five shots are judged; 2 and w, which runs return, could be relevant to ann and to bob.
JUDGED = [('x', 'v', '0'), ('x', 'v', '1')]


@pytest.fixture
def of_judged():
    evaluator = AveragePrecision(REFERENCE[:1], K=[1, 10], definition='trec', judged=JUDGED)
    with pytest.warns(DataWarning) as caught:
        pool = evaluator.pool({'a_1': ANN[:3], 'b_1': RUNS['b_1']}, ['ann', 'bob'])
    return pool, [each for each in caught if each.message.kind == 'uncertain-order']


def test_bounds_with_judgements(of_judged):
    pool, _ = of_judged
    assert (pool.counts['pool'], pool.counts['unjudged']) == (4, 2)
    # a_1 has 0 at rank 1, and 2 at rank 3; b_1 has w alone.
    of_a, of_b = pool.bounds['a_1'], pool.bounds['b_1']
    assert of_a.low == {'MAP@1': 1 / 4, 'MAP@10': (1 + 2 / 3) / 4}
    assert of_a.judged == {'Judged@1': 1, 'Judged@10': 2 / 3}
    assert (of_a.n_unjudged, of_b.n_unjudged) == (1, 1)
    assert (pool.certain, pool.uncertain) == ([], [('a_1', 'b_1')])


def test_a_warning_names_two_runs_whose_order_could_turn(of_judged):
    (warning,) = of_judged[1]
    assert str(warning.message) == (
        '<reference>: a_1 (MAP@10 0.500, Judged@10 0.667) and b_1 (MAP@10 0.000, Judged@10 0.500) '
        'could change places if the 2 unjudged shots of the pool were judged'
    )
    evaluator = AveragePrecision(REFERENCE[:1], K=[10], definition='trec', judged=JUDGED)
    pool = evaluator.pool({'a_1': ANN[:3], 'a_2': ANN[2:3]}, ['ann'])
    (order,) = pool.certain
    assert (order.better, order.worse) == ('a_1', 'a_2')
    assert order.margin == pytest.approx((1 + 2 / 3) / 2 - 1 / 2, rel=1e-15)  # two roundings
    assert not [each for each in pool.warnings if each.kind == 'uncertain-order']


def test_bounds_in_every_format(of_judged):
    pool, _ = of_judged
    value = json.loads(pool.to_json())
    follow_schema(value, 'pool-1')
    assert set(value) == set(schema_of('pool-1')['properties'])
    assert [each['run'] for each in value['bounds']] == pool.runs
    head, first, *rest = [line.split(',') for line in pool.to_csv().splitlines()]
    row = dict(zip(head, first, strict=True))
    assert (row['low MAP@1'], row['high MAP@10'], row['n_unjudged']) == ('0.25', '0.5', '1')
    assert [each[6:] for each in rest[1:]] == [[''] * 7] * 4
    for text in pool.to_markdown(), pool.to_latex():
        assert 'Bounds: what unjudged shots could change' in text
        assert 'the order of 0 of 1 pair of runs is certain, for all labels of the unj' in text


def test_condensed_lists_have_no_bounds():
    """A label would move the ranks of other shots, so bounds would not hold."""
    evaluator = AveragePrecision(REFERENCE[:1], judged=JUDGED, unjudged='skip')
    with pytest.raises(ParameterError, match=r"^pool: found unjudged='skip', but bounds need"):
        evaluator.pool(RUNS)


def test_the_command_takes_teams_and_judgements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('reference').write_text('x v 0 ann\nx v 9 ann\n')
    Path('judged').write_text(''.join(f'{" ".join(shot)}\n' for shot in JUDGED))
    Path('names').write_text('path,name,team\na_1,a_1,one\na_2,a_2,other\n')
    for name in 'a_1', 'a_2':
        Path(name).write_text(''.join(f'{" ".join(map(str, row))}\n' for row in RUNS[name]))
    arguments = ['pool', 'reference', 'a_1', 'a_2', '--judged', 'judged', '--names', 'names']
    assert "shot_id: found 'x/v/9', expected a shot that judged lists" in run(*arguments).output
    done = run(*arguments, '--drop-unjudged-rows', '--format', 'json', '-q')
    value = json.loads(done.stdout)
    assert {each['run']: each['team'] for each in value['runs']} == {'a_1': 'one', 'a_2': 'other'}
    assert value['manifest']['counts']['unjudged'] == 1
    evaluator = AveragePrecision('reference', judged='judged', drop_unjudged_rows=True)
    runs = {name: name for name in ('a_1', 'a_2')}
    pool = evaluator.pool(runs, teams={'a_1': 'one', 'a_2': 'other'})
    assert {**value, 'manifest': None} == {**json.loads(pool.to_json()), 'manifest': None}
    assert run(*arguments, '--drop-unjudged-rows', '-q', '-o', 'pool.svg').exit_code == 0
    assert Path('pool.svg').read_text() == render_chart(pool.plot.leaderboard(), 'svg')
