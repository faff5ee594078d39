"""The fast path gives what the slow one gives."""

import random
import warnings

import oracle
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

# The oracle's fractions are exact; each P(i), each sum and the quotient round once in doubles.
ROUNDING = 1e-12


@pytest.mark.usefixtures('side_by_side')
@pytest.mark.parametrize('definition', definitions.names())
@given(
    strategies.reference_rows,
    strategies.hypothesis_rows,
    strategies.cutoffs,
    strategies.subsets,
    strategies.names,
)
def test_average_precision(definition, reference, hypotheses, K, subset, stranger):
    K = strategies.allowed(K, definition)
    try:
        average_precision = AveragePrecision(reference, K, subset=subset, definition=definition)
    except ParameterError:
        assert not any(row[:2] in subset for row in reference)
        assume(False)
    names = sorted({row[3] for row in reference if subset is None or row[:2] in subset})
    assert average_precision.queries == [name for name in names if name[0] != '?']
    queries = [*names, stranger]
    evaluation = average_precision.evaluate(hypotheses, queries)
    session = average_precision(hypotheses)
    for query, ap, n_relevant in zip(queries, evaluation.ap, evaluation.n_relevant, strict=True):
        assert session.send(query) == (ap.tolist(), n_relevant)
        expected = oracle.evaluate(reference, hypotheses, query, K, definition, subset)
        assert n_relevant == expected[1]
        assert ap.tolist() == pytest.approx([float(value) for value in expected[0]], abs=ROUNDING)


@given(strategies.reference_rows, strategies.hypothesis_rows, strategies.subsets)
def test_what_run_and_reference_have_in_common(reference, hypotheses, subset):
    counted = [row for row in reference if subset is None or row[:2] in subset]
    assume(counted)
    average_precision = AveragePrecision(reference, [1], subset=subset)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        counts = average_precision.evaluate(hypotheses, ['a']).counts
    rows = [row for row in hypotheses if subset is None or row[:2] in subset]
    for id_of, key in [
        (lambda row: row[3], 'names'),
        (lambda row: row[:2], 'videos'),
        (lambda row: row[:3], 'shots'),
    ]:
        returned = {id_of(row) for row in rows}
        in_both = returned & {id_of(row) for row in counted}
        assert (counts[key], counts[f'{key}_in_reference']) == (len(returned), len(in_both))
    no_shot = any('returned shots occur' in str(each.message) for each in caught)
    assert no_shot == (bool(rows) and not counts['shots_in_reference'])


@given(strategies.hypothesis_rows, strategies.names, st.integers(1, 30))
def test_order_of_hypotheses(hypotheses, query, k):
    average_precision = AveragePrecision([('x', 'v', '1', 'a')])
    table = average_precision.rank(hypotheses, query, k)
    fields = ['corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence']
    expected = oracle.ranked(hypotheses, query)[:k]
    assert list(table[fields].itertuples(index=False, name=None)) == expected
    temporal = oracle.temporal_ranks(hypotheses)
    ranks = {}
    for i, row in enumerate(hypotheses):
        ranks.setdefault(row, []).append(temporal[i])
    for row, rank in zip(expected, table['temporal_rank'], strict=True):
        assert rank in ranks[row]
    assert table['distance'].tolist() == [
        float(oracle.normalized_distance(query, row[3])) for row in expected
    ]


@given(
    strategies.reference_rows,
    strategies.hypothesis_rows,
    st.sampled_from(definitions.names()),
    st.randoms(),
)
def test_order_of_lines_is_nothing(reference, hypotheses, definition, random):
    def evaluate():
        evaluation = AveragePrecision(reference, definition=definition).evaluate(hypotheses)
        return evaluation.queries, evaluation.ap.tolist(), evaluation.map.tolist()

    assume(any(row[3][0] != '?' for row in reference))
    before = evaluate()
    for lines in reference, hypotheses:
        random.shuffle(lines)
    assert evaluate() == before


@pytest.mark.parametrize('definition', ['mediaeval-2016', 'trec'])
def test_larger_run_than_any_cutoff(definition):
    """Many names and hypotheses: only the nearest are looked at, whole tie blocks of them."""
    chance = random.Random(7)  # fixed: the corpus is one example of its size, not a search

    def word():
        return ''.join(chance.choices('abcd', k=chance.randrange(1, 6)))

    hypotheses = [
        ('x', f'v{chance.randrange(5)}', str(chance.randrange(30)), word(), chance.randrange(4) / 4)
        for _ in range(600)
    ]
    reference = [(*row[:3], word()) for row in chance.sample(hypotheses, 300)]
    K = [1, 3, 10, 100, 5000, 'all']
    evaluation = AveragePrecision(reference, K, definition=definition).evaluate(hypotheses)
    for query, ap in list(zip(evaluation.queries, evaluation.ap, strict=True))[::25]:
        expected, _ = oracle.evaluate(reference, hypotheses, query, K, definition)
        assert ap.tolist() == pytest.approx([float(value) for value in expected], abs=ROUNDING)
