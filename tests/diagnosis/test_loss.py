"""The parts of the loss are what literal repairs of a ranking add; kinds of names."""

import oracle_diagnosis
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.errors import ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

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
@strategies.examples(8)
def test_parts_are_what_repairs_add(definition, corpus, k, near, subset, stranger):
    reference, hypotheses = corpus
    (k,) = strategies.allowed([k], definition)
    try:
        average_precision = AveragePrecision(reference, subset=subset, definition=definition)
    except ParameterError:
        assume(False)
    queries = [*sorted({row[3] for row in reference}), stranger]
    diagnosis = average_precision.explain(hypotheses, queries, k=k, near=near)
    assert list(diagnosis.parts) == list(PARTS)
    for row, query in enumerate(queries):
        ap, parts, kinds, adds = oracle_diagnosis.diagnose(
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
@strategies.examples(5)
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
        names = oracle_diagnosis.near_names(reference, counted, query, near)
        assert {name for asked, name in alone if asked == query} == names
        for name in names:
            run = oracle_diagnosis.corrected(hypotheses, name, query)
            # No tolerance: the same terms are added in the same order.
            again = average_precision.evaluate(run, [query]).ap[0, 0]
            assert alone[query, name] == again - ap[query]


@pytest.mark.parametrize(
    ('run', 'parts'),
    [
        # The wrong shot and the hit are tied, and differ in confidence, under a near name alone.
        ([('1', 'anne_lee', 0.5), ('9', 'anne_lee', 0.5)], {'spelling': 0.5}),
        ([('1', 'anne_lee', 0.9), ('9', 'anne_lee', 0.5)], {'spelling': 0.5}),
        ([('1', 'bob', 0.5), ('9', 'bob', 0.5)], {'confused': 0.5}),
        # Under the query itself they are ties and confidence, whatever else the shot has.
        ([('1', 'ann_lee', 0.5), ('9', 'ann_lee', 0.5), ('9', 'anne_lee', 1)], {'ties': 0.5}),
        ([('1', 'ann_lee', 0.9), ('9', 'ann_lee', 0.5)], {'confidence': 0.5}),
        # The query's own miss stands before the shot of the near name, which is behind a tie, too.
        (
            [('2', 'ann_lee', 0.1), ('1', 'anne_lee', 0.5), ('9', 'anne_lee', 0.5)],
            {'spelling': pytest.approx(2 / 3)},
        ),
    ],
)
def test_what_stands_under_another_name_is_lost_to_that_name(run, parts):
    reference = [('x', 'v', '9', 'ann_lee'), ('x', 'w', '1', 'bob')]
    run = [('x', 'v', *row) for row in run]
    found = AveragePrecision(reference, definition='trec').explain(run, ['ann_lee'])
    assert {part: loss for part, loss in found.mean_parts.items() if loss} == parts


@pytest.mark.parametrize('definition', definitions.names())
def test_hits_below_the_cutoff_count_where_they_are_repaired(definition):
    """The hit is the last of the ranking, and the first rank below the cutoff."""
    run = [('x', 'v', '1', 'ann_lee', 0.9), ('x', 'v', '9', 'bob', 0.5)]
    average_precision = AveragePrecision([('x', 'v', '9', 'ann_lee')], definition=definition)
    found = average_precision.explain(run, ['ann_lee', 'bob'], k=1)
    lost = {part: each[0] for part, each in found.parts.items() if each[0]}
    assert lost == {'confused': 1}


@given(registered, few, limits)
@strategies.examples(2)
def test_one_ranking_serves_all_cutoffs(definition, corpus, near):
    reference, hypotheses = corpus
    K = strategies.allowed([2, 7, 1], definition)
    average_precision = AveragePrecision(reference, K, definition=definition)
    found = average_precision.explain_at(hypotheses, ['ann_lee', 'bo'], near=near)
    assert [each.k for each in found] == K
    for diagnosis in found:
        alone = average_precision.explain(hypotheses, ['ann_lee', 'bo'], k=diagnosis.k, near=near)
        assert diagnosis.to_dict() == alone.to_dict()


@given(registered, few | any_corpus, cutoffs, limits)
@strategies.examples(5)
def test_parts_add_up_to_the_loss(definition, corpus, k, near):
    reference, hypotheses = corpus
    (k,) = strategies.allowed([k], definition)
    average_precision = AveragePrecision(reference, [k], definition=definition)
    queries = [row[3] for row in reference]  # some of them twice
    diagnosis = average_precision.explain(hypotheses, queries, k=k, near=near)
    total = sum(diagnosis.parts.values())
    assert total == pytest.approx(1 - diagnosis.ap, abs=ROUNDING)
    evaluation = average_precision.evaluate(hypotheses, queries)
    assert diagnosis.ap.tolist() == evaluation.ap[:, 0].tolist()
    assert diagnosis.n_relevant.tolist() == evaluation.n_relevant.tolist()
    # No tolerance: each repair makes every term greater or equal, and rounding keeps the order of
    # quotients and of sums. `hits` divides by a number that repairs change.
    if definition != 'hits':
        for part, each in diagnosis.parts.items():
            assert (each >= 0).all() or part == 'repeats', part
        assert (diagnosis.parts['repeats'] <= 0).all()


SHOT = ('x', 'v', '1')
REFERENCE = [
    (*SHOT, 'jean_martin'),
    (*SHOT, 'right_person'),
    ('x', 'v', '2', 'wrong_person'),
    (*SHOT, '?unknown?'),
]


def kind_of(names, queries=('jean_martin',), near=0.2):
    hypotheses = [(*SHOT, name, 0.5) for name in names] or [('x', 'v', '2', 'jean_martin', 0.5)]
    diagnosis = AveragePrecision(REFERENCE).explain(hypotheses, queries, near=near)
    return diagnosis.of('jean_martin').relevant[0].kind


@pytest.mark.parametrize(
    ('names', 'kind'),
    [
        ([], 'absent'),
        (['jean_martin'], 'own'),
        (['jean_martiin'], 'spelling'),
        (['wrong_person'], 'confused'),
        (['right_person'], 'copresent'),
        (['martin'], 'part_of_name'),
        (['Martin, the baker'], 'part_of_name'),
        (['O’Neil-JEAN_2'], 'part_of_name'),
        (['martinet'], 'noise'),
        (['?unknown?'], 'noise'),  # stands for nobody, although it is right
        # the first kind of several names, whatever their order in the ranking
        (['wrong_person', 'jean_martin'], 'own'),
        (['wrong_person', 'jean_marti'], 'spelling'),
        (['martin', 'wrong_person', 'right_person'], 'confused'),
        (['noise', 'right_person', 'martin'], 'part_of_name'),
        (['right_person', 'noise'], 'noise'),
    ],
)
def test_kinds(names, kind):
    assert kind_of(names) == kind
    assert kind_of(names[::-1]) == kind


@pytest.mark.parametrize(
    ('name', 'queries', 'near', 'kind'),
    [
        # A query is a person.
        ('someone', [], 0.2, 'noise'),
        ('someone', ['someone'], 0.2, 'confused'),
        ('?1?', ['?1?'], 0.2, 'noise'),
        # The limit is within reach.
        ('jean_marti', [], 0.09, 'part_of_name'),
        ('jean_marti', [], 1 / 11, 'spelling'),
        ('jean_marti', [], 0, 'part_of_name'),
    ],
)
def test_kinds_by_queries_and_limits(name, queries, near, kind):
    assert kind_of([name], ['jean_martin', *queries], near) == kind
