"""The parts of the loss are what literal repairs of a ranking add; kinds of names."""

import math
from itertools import groupby
from unittest import mock

import oracle
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis import loss
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

# A slow, obvious diagnosis: repair a ranking, one thing after another, and score it each time. Rows
# are tuples as in `oracle`. A state is a list of pairs: a row and whether it is a hit.

KINDS = ['spelling', 'confused', 'part_of_name', 'noise', 'copresent']


def words_of(name):
    """Return the words of a name, as letters and digits in a row, without regard to case."""
    spaced = ''.join(character if character.isalnum() else ' ' for character in name)
    return {word.casefold() for word in spaced.split()}


def persons_of(reference, queries):
    return {name for name in [*(row[3] for row in reference), *queries] if name[0] != '?'}


def kind_of_shot(shot, query, reference, hypotheses, persons, near):
    """Return the one kind of a relevant shot: the first that one of its names is of."""
    names = {row[3] for row in hypotheses if row[:3] == shot}
    if not names:
        return 'absent'
    if query in names:
        return 'own'
    others = [name for name in names if name in persons]
    nobody = [name for name in names if name not in persons]
    # A limit is a double, and so is the distance that it is compared with.
    if any(float(oracle.normalized_distance(query, name)) <= near for name in names):
        return 'spelling'
    if any((*shot, name) not in reference for name in others):
        return 'confused'
    if any(words_of(name) & words_of(query) for name in nobody):
        return 'part_of_name'
    if nobody:
        return 'noise'
    return 'copresent'


def as_ranked(hypotheses, query, relevant, repeats):
    """Return the rows that the definition ranks, each with whether it is a hit."""
    rows = oracle.ranked(hypotheses, query)
    marks = oracle.relevance(rows, relevant, repeats)
    if repeats == 'dropped':
        rows = first_of_each_shot(rows)
    return list(zip(rows, map(bool, marks), strict=True))


def first_of_each_shot(rows):
    first = {}
    for row in rows:
        first.setdefault(row[:3], row)
    return list(first.values())


def once(state, relevant):
    """Make a hit of nothing but the first row of each relevant shot."""
    seen = set()
    result = []
    for row, _ in state:
        result.append((row, row[:3] in relevant and row[:3] not in seen))
        seen.add(row[:3])
    return result


def own_hits_first(state, query, key):
    """Put the hits first within each block of rows under the query itself with an equal key."""
    own = [pair for pair in state if pair[0][3] == query]
    others = [pair for pair in state if pair[0][3] != query]
    assert state == own + others
    blocks = [list(block) for _, block in groupby(own, key=lambda pair: key(pair[0]))]
    own = [pair for block in blocks for pair in sorted(block, key=lambda pair: not pair[1])]
    return own + others


def to_front(state, n_front, shots):
    """Put the hits on some shots behind the first `n_front` rows."""
    front, rest = state[:n_front], state[n_front:]
    moved = [pair for pair in rest if pair[1] and pair[0][:3] in shots]
    return front + moved + [pair for pair in rest if pair not in moved]


def repairs(reference, hypotheses, query, near, persons, repeats):
    """Yield each part with the state that its repair leads to; the first is the ranking as it is.

    The kinds of shots are repaired shot by shot: such a part comes once for each of its shots.
    """
    relevant = {row[:3] for row in reference if row[3] == query}
    state = as_ranked(hypotheses, query, relevant, repeats)
    yield None, None, state
    state = once(state, relevant)
    yield 'repeats', None, state
    state = own_hits_first(state, query, lambda row: row[4])
    yield 'ties', None, state
    state = own_hits_first(state, query, lambda row: 'the query')
    yield 'confidence', None, state
    kinds = {
        shot: kind_of_shot(shot, query, reference, hypotheses, persons, near) for shot in relevant
    }
    n_front = sum(kind == 'own' for kind in kinds.values())
    assert all(hit and row[3] == query for row, hit in state[:n_front])
    for kind in KINDS:
        # in the order of the ranking, which no repair has changed among the shots of a kind
        ranked = oracle.ranked(hypotheses, query)
        for row in first_of_each_shot(ranked):
            if kinds.get(row[:3]) == kind:
                state = to_front(state, n_front, {row[:3]})
                n_front += 1
                yield kind, row[:3], state
    for shot in sorted(relevant, key=lambda shot: (shot[1], shot[0], oracle.shot_order(shot[2]))):
        if kinds[shot] == 'absent':
            state = [*state[:n_front], ((*shot, query, math.inf), True), *state[n_front:]]
            n_front += 1
            yield 'absent', shot, state


def diagnose(reference, hypotheses, query, k, definition, near, queries=(), subset=None):
    """Return AP, the parts, and for each relevant shot its kind and what its repair adds."""
    if subset is not None:
        reference = [row for row in reference if row[:2] in subset]
        hypotheses = [row for row in hypotheses if row[:2] in subset]
    repeats = oracle.REPEATS[definition]
    rows = [row for row in reference if row[3] == query]
    n_relevant = len(rows if repeats == 'again' else set(rows))
    persons = persons_of(reference, [*queries, query])
    parts = dict.fromkeys(['repeats', 'ties', 'confidence', *KINDS, 'absent', 'cutoff'], 0)
    parts['unanswerable'] = 0
    kinds = {
        row[:3]: kind_of_shot(row[:3], query, reference, hypotheses, persons, near) for row in rows
    }
    adds = dict.fromkeys(kinds, 0)
    ap = before = None
    for part, shot, state in repairs(reference, hypotheses, query, near, persons, repeats):
        after = oracle.average_precision([int(hit) for _, hit in state], n_relevant, k, definition)
        if part is None:
            ap = after
        else:
            parts[part] += after - before
            if shot is not None:
                adds[shot] = after - before
        before = after
    parts['cutoff' if n_relevant else 'unanswerable'] = 1 - before
    return ap, parts, kinds, adds


def near_names(reference, hypotheses, query, near):
    """Return the names near a query under which relevant shots were returned, but not under it."""
    relevant = {row[:3] for row in reference if row[3] == query}
    own = {row[:3] for row in hypotheses if row[3] == query}
    return {
        row[3]
        for row in hypotheses
        if row[3] != query
        and float(oracle.normalized_distance(query, row[3])) <= near
        and row[:3] in relevant - own
    }


def corrected(hypotheses, name, query):
    """Return a run in which every hypothesis under a name is under the query instead."""
    return [(*row[:3], query if row[3] == name else row[3], row[4]) for row in hypotheses]


# A part is the difference of two values, each of which is rounded in each of its terms.
ROUNDING = 1e-12

# Names that are near one another, share words, or stand for nobody; few shots, so that each is
# returned under several of them.
names = st.sampled_from(
    ['ann_lee', 'anne_lee', 'ANN lee', 'ann', 'lee_bo', 'bo', 'tv', '?1?', 'ab']
)
shots = st.sampled_from(['1', '2', '3', '10'])
confidences = st.sampled_from([0.1, 0.5, -0.0, 0.0])
few_rows = st.lists(
    st.tuples(st.just('x'), strategies.videos, shots, names), min_size=1, max_size=10
)
few_hypotheses = st.lists(
    st.tuples(st.just('x'), strategies.videos, shots, names, confidences), min_size=1, max_size=25
)
few = st.tuples(few_rows, few_hypotheses)
any_corpus = st.tuples(strategies.reference_rows, strategies.hypothesis_rows)
cutoffs = st.integers(1, 30) | st.just('all')
limits = st.sampled_from([0, 0.125, 0.2, 0.25, 0.5, 0.9])
registered = st.sampled_from(definitions.names())


@given(registered, few | any_corpus, cutoffs, limits, strategies.subsets, strategies.names)
@strategies.examples(3)
def test_parts_are_what_repairs_add(definition, corpus, k, near, subset, stranger):
    reference, hypotheses = corpus
    (k,) = strategies.allowed([k], definition)
    try:
        average_precision = AveragePrecision(reference, subset=subset, definition=definition)
    except ParameterError:
        assume(False)
    queries = [*sorted({row[3] for row in reference}), stranger]
    diagnosis = average_precision.explain(hypotheses, queries, k=k, near=near)
    assert list(diagnosis.parts) == [part for part in PARTS if part != 'unjudged']
    for row, query in enumerate(queries):
        ap, parts, kinds, adds = diagnose(
            reference, hypotheses, query, k, definition, near, queries, subset
        )
        found = {part: each[row] for part, each in diagnosis.parts.items()}
        assert found == pytest.approx(
            {part: float(each) for part, each in parts.items()}, abs=ROUNDING
        )
        assert diagnosis.ap[row] == pytest.approx(float(ap), abs=ROUNDING)
        shots = diagnosis.of(query).relevant
        assert {(each.corpus, each.video, each.shot): each.kind for each in shots} == kinds
        assert len(shots) == len(kinds)
        assert {(each.corpus, each.video, each.shot): each.adds for each in shots} == pytest.approx(
            {shot: float(each) for shot, each in adds.items()}, abs=ROUNDING
        )


@given(registered, few, cutoffs, limits, strategies.subsets)
@strategies.examples(3)
def test_corrections_alone_are_scored_again(definition, corpus, k, near, subset):
    reference, hypotheses = corpus
    (k,) = strategies.allowed([k], definition)
    if subset is not None:
        reference = [row for row in reference if row[:2] in subset]
        assume(reference)
    average_precision = AveragePrecision(reference, [k], subset=subset, definition=definition)
    found = average_precision.explain(
        hypotheses, sorted({row[3] for row in reference}), k=k, near=near
    )
    alone = {(each.query, each.name): each.alone for each in found.near_misses}
    ap = dict(zip(found.queries, found.ap.tolist(), strict=True))
    counted = [row for row in hypotheses if subset is None or row[:2] in subset]
    for query in found.queries:
        names = near_names(reference, counted, query, near)
        assert {name for asked, name in alone if asked == query} == names
        for name in names:
            run = corrected(hypotheses, name, query)
            # No tolerance: the same terms are added in the same order.
            again = average_precision.evaluate(run, [query]).ap[0, 0]
            assert alone[query, name] == again - ap[query]


@given(registered, few, limits)
def test_one_ranking_serves_all_cutoffs(definition, corpus, near):
    reference, hypotheses = corpus
    K = strategies.allowed([2, 7, 1], definition)
    average_precision = AveragePrecision(reference, K, definition=definition)
    found = average_precision.explain_at(hypotheses, ['ann_lee', 'bo'], near=near)
    assert [each.k for each in found] == K
    for diagnosis in found:
        alone = average_precision.explain(hypotheses, ['ann_lee', 'bo'], k=diagnosis.k, near=near)
        assert diagnosis.to_dict() == alone.to_dict()


def test_states_in_several_blocks_are_those_of_one():
    """Blocks that cut the states of a query would lose the steps between them."""
    reference = [('x', 'v', shot, 'ann_lee') for shot in '12345']
    run = [('x', 'v', shot, name, 0.5) for shot in '1234' for name in ('bob', 'anne_lee')]
    explain = AveragePrecision([*reference, ('x', 'w', '1', 'bob')]).explain
    at_once = explain(run).to_dict()
    with mock.patch.object(loss, 'RANKS_AT_ONCE', 4):
        assert explain(run).to_dict() == at_once


SHOT = ('x', 'v', '1')
REFERENCE = [(*SHOT, 'jean_martin'), (*SHOT, '?unknown?')]


@pytest.mark.parametrize(
    ('name', 'kind'),
    [
        ('martin', 'part_of_name'),
        ('Martin, the baker', 'part_of_name'),
        ('O’Neil-JEAN_2', 'part_of_name'),
        ('martinet', 'noise'),
        ('?unknown?', 'noise'),  # stands for nobody, although it is right
    ],
)
def test_kinds(name, kind):
    diagnosis = AveragePrecision(REFERENCE).explain([(*SHOT, name, 0.5)], ['jean_martin'])
    assert diagnosis.of('jean_martin').relevant[0].kind == kind
