"""What to judge next: strategies and the queue, beside slow versions."""

import json
import math
import random
from collections import defaultdict

import oracle
import oracle_judging
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from schemas import follow_schema, schema_of

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.choices import STRATEGIES
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.judging.judging_queue import reason_to_judge

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
FIXED = [each for each in STRATEGIES if each != 'mtc']

runs = st.dictionaries(
    st.sampled_from(['a_1', 'a_2', 'b_1', 'c']), strategies.hypothesis_rows, min_size=1
)


def slow_score(strategy, ranks, pairs):
    """The score of a unit, which is judged for some pairs."""
    if strategy == 'depth':
        return max(1 / rank for pair in pairs for rank in ranks[pair].values())
    return math.fsum(1 / rank for pair in pairs for rank in ranks[pair].values())


def unit_of(line):
    return (line.corpus_id, line.video_id, line.shot_id), line.person_name


@given(strategies.reference_rows, runs, st.integers(1, 5), st.sampled_from([0, 0.25, 0.5]))
@pytest.mark.parametrize('strategy', FIXED)
@pytest.mark.parametrize('by', ['shot', 'pair'])
@strategies.examples(1 / 5)
def test_a_queue_is_what_slow_scores_say(by, strategy, reference, runs, depth, near):
    queries = sorted({row[3] for row in reference if row[3][0] != '?'})
    pool = oracle_judging.pool_of(runs, queries, depth, near)
    assume(pool)
    ranks = {pair: {run: rank for run, (rank, _) in at.items()} for pair, at in pool.items()}
    found = AveragePrecision([], K=[3], judged=[]).judge_next(
        runs, queries, by=by, strategy=strategy, depth=depth, near=near
    )
    units = defaultdict(list)
    for query, shot in ranks:
        units[shot, None if by == 'shot' else query].append((query, shot))
    assert {unit_of(line) for line in found.lines} == set(units)
    for line in found.lines:
        pairs = units[unit_of(line)]
        # Sums are rounded in another order.
        assert line.score == pytest.approx(slow_score(strategy, ranks, pairs), rel=1e-12)
        assert line.n_queries == len(pairs) == len(line.queries)
        assert sorted(line.queries) == sorted(query for query, _ in pairs)
        best_ranks = [min(ranks[query, unit_of(line)[0]].values()) for query in line.queries]
        assert best_ranks == sorted(best_ranks)
        best = defaultdict(list)
        for pair in pairs:
            for run, rank in ranks[pair].items():
                best[run].append(rank)
        assert line.ranks == {run: min(each) for run, each in best.items()}
    scores = [line.score for line in found.lines]
    assert scores == sorted(scores, reverse=True) or strategy == 'rank-sum'


@pytest.mark.parametrize(
    ('ranks', 'n_queries', 'n_runs', 'depth', 'near', 'reason'),
    [
        ([1] * 5, 1, 5, 20, 0.2, '5 of 5 runs rank it 1'),
        ([1], 1, 1, 20, 0.2, '1 of 1 run ranks it 1'),
        ([2, 14, 3], 3, 3, 20, 0.2, '3 of 3 runs rank it 2 to 14 (best of 3 queries)'),
        (
            [4],
            1,
            10,
            20,
            0.2,
            '1 of 10 runs ranks it 4; 9 runs do not have it in their first 20 under a near name',
        ),
        (
            [1, 1],
            1,
            3,
            1,
            0,
            '2 of 3 runs rank it 1; 1 run does not have it in its first rank',
        ),
    ],
)
def test_reasons(ranks, n_queries, n_runs, depth, near, reason):
    assert reason_to_judge(ranks, n_queries, n_runs, depth, near) == reason


REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '3', 'ann'), ('x', 'v', '2', 'bob')]
RUNS = {
    'a_1': [('x', 'v', n, 'ann', c) for n, c in (('1', 0.9), ('2', 0.8), ('3', 0.7))],
    'a_2': [('x', 'v', '3', 'ann', 0.9), ('x', 'v', '2', 'bob', 0.3)],
    'b_1': [('x', 'v', '4', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.8), ('x', 'v', '5', 'bob', 0.1)],
}
EMPTY = AveragePrecision([], K=[3], judged=[], definition='trec')


def check_mtc(runs, queries, depth, near, k, definition, labels):
    """Compare the model of relevance, and the derivatives, with the slow version."""
    definition = definitions.get(definition)
    rows = [(*shot, query, label) for (query, shot), label in labels.items()]
    relevant = [row[:4] for row in rows if row[4]]
    evaluator = AveragePrecision(relevant, K=[k], definition=definition, judged=rows)
    of_pairs = oracle_judging.mtc_scores(runs, queries, depth, near, k, definition, labels)
    of_shots = defaultdict(float)
    for (_, shot), score in of_pairs.items():
        of_shots[None, shot] += score
    for by, scores in ('pair', of_pairs), ('shot', of_shots):
        lines = evaluator.judge_next(runs, queries, by=by, depth=depth, near=near).lines
        found = {unit_of(line)[::-1]: line.score for line in lines}
        assert found == pytest.approx(dict(scores), rel=1e-5, abs=1e-9)  # the search ends near it


def test_scores_of_mtc():
    """Of pairs that are judged and not, and from first in all runs to last in one."""
    chance = random.Random(3)  # fixed: names at three distances, and queries of uneven size
    shots = [('x', 'v', str(number)) for number in range(30)]
    names = ['ann', 'ann', 'ann', 'anne', 'bob', 'eve']
    queries = ['ann', 'bob', 'eve']
    runs = {
        run: [
            (*shots[0], 'ann', 2.0),
            *(
                (
                    *chance.choice(shots),
                    chance.choice(names),
                    chance.random(),
                )
                for _ in range(24)
            ),
        ]
        for run in ('a_1', 'a_2', 'b_1', 'c_1')
    }
    pool = oracle_judging.pool_of(runs, queries, 20, 0.3)
    labels = {pair: chance.randrange(2) for pair in chance.sample(list(pool), 12)}
    for judged in {}, labels:
        check_mtc(runs, queries, 20, 0.3, 12, 'mediaeval-2016', judged)


@pytest.mark.parametrize('definition', definitions.names())
@given(
    runs,
    st.lists(strategies.names, min_size=1, max_size=3, unique=True),
    st.integers(1, 5),
    st.sampled_from([0, 0.25, 0.5]),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
@strategies.examples(1 / 4)
def test_scores_of_mtc_of_any_runs(definition, runs, queries, depth, near, k, chance):
    queries = [query for query in queries if query[0] != '?']
    repeats = oracle.REPEATS[definition]
    pool = list(oracle_judging.pool_of(runs, queries, depth, near, repeats))
    assume(pool)
    judged = chance.sample(pool, chance.randint(0, len(pool) - 1))
    labels = {pair: chance.randint(0, 1) for pair in judged}
    check_mtc(runs, queries, depth, near, k, definition, labels)


@pytest.mark.parametrize('strategy', STRATEGIES)
@pytest.mark.parametrize('by', ['shot', 'pair'])
@given(st.data())
@strategies.examples(1 / 10)
def test_a_judgement_is_as_if_it_were_there_at_the_start(by, strategy, data):
    """The next queue equals that of an evaluator with all judgements; nothing is asked twice."""
    queue = EMPTY.judge_next(RUNS, ['ann', 'bob'], by=by, strategy=strategy)
    relevant, judged = set(), {}
    for _ in range(data.draw(st.integers(1, 4))):
        n, name = data.draw(st.sampled_from('12345')), data.draw(st.sampled_from(['ann', 'bob']))
        shot, said = ('x', 'v', n), data.draw(st.booleans())
        if by == 'pair':
            judged[*shot, name] = int(said)
            kind = data.draw(st.sampled_from([int, bool]))
            queue = queue.after((*shot, name, kind(said)))
        else:
            for each in ('ann', 'bob'):
                judged[*shot, each] = int(said and each == name)
            queue = queue.after((*shot, *[name] * said))
    relevant = [row for row, label in judged.items() if label]
    rows = [(*row, label) for row, label in judged.items()]
    evaluator = AveragePrecision(
        relevant,
        K=[3],
        definition='trec',
        judged=rows if by == 'pair' else list(dict.fromkeys(row[:3] for row in rows)),
    )
    again = evaluator.judge_next(RUNS, ['ann', 'bob'], by=by, strategy=strategy)
    assert again.lines == queue.lines
    if by == 'shot':
        assert not {line.shot_id for line in queue.lines} & {row[2] for row in judged}
    else:
        asked = {(*shot, name) for shot, name in map(unit_of, queue.lines)}
        assert not asked & set(judged)


@pytest.mark.parametrize(('by', 'n_judged'), [('pair', 3), ('shot', 4)])
def test_without_judgements_the_reference_has_been_judged(by, n_judged):
    """Its pairs, or its shots for both names: 2 is one of bob, and was returned for ann, too."""
    queue = AveragePrecision(REFERENCE, K=[3]).judge_next(RUNS, by=by, strategy='depth')
    assert (queue.n_judged, queue.n_pairs) == (n_judged, 6)


@pytest.mark.parametrize(
    ('by', 'judgement', 'message'),
    [
        ('shot', ('x', 'v', '9'), "found 'x/v/9', expected a shot of the pool"),
        ('shot', ('x', 'v', '1', 'eve'), "found 'eve', expected the name of a query"),
        ('pair', ('x', 'v', '1', 'ann'), 'person_name relevance, with 0 or 1'),
        ('pair', ('x', 'v', '1', 'ann', 2), 'person_name relevance, with 0 or 1'),
    ],
)
def test_wrong_judgements(by, judgement, message):
    queue = EMPTY.judge_next(RUNS, ['ann', 'bob'], by=by, strategy='depth')
    with pytest.raises(ParameterError, match=message):
        queue.after(judgement)


@pytest.mark.parametrize(('name', 'value'), [('n', 0), ('by', 'name'), ('strategy', 'best')])
def test_wrong_settings(name, value):
    with pytest.raises(ParameterError, match=f'^{name}: found {value!r}'):
        EMPTY.judge_next(RUNS, ['ann'], **{name: value})
    with pytest.raises(ParameterError, match='no run returns a shot whose name is within'):
        EMPTY.judge_next(RUNS, ['somebody_else'])


def test_json_is_as_the_schema_says():
    value = json.loads(EMPTY.judge_next(RUNS, ['ann', 'bob']).to_json())
    follow_schema(value, 'queue-1')
    assert set(value) == set(schema_of('queue-1')['required'])
