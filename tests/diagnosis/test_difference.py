"""The difference of two runs is split as their losses are; what cannot be compared is refused."""

import dataclasses

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

# A part is the difference of two values, each of which is rounded in each of its terms.
ROUNDING = 1e-12

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'w', '1', 'ann')]
RUN = [('x', 'v', '1', 'ann', 0.5)]
OTHER = [('x', 'v', '2', 'bob', 0.5)]


@given(
    st.sampled_from(definitions.names()),
    *(strategies.reference_rows, strategies.hypothesis_rows, strategies.hypothesis_rows),
)
def test_parts_add_up_to_the_difference(definition, reference, run, other):
    average_precision = AveragePrecision(reference, definition=definition)
    queries = sorted({row[3] for row in reference})
    a = average_precision.explain(run, queries, k=5)
    b = average_precision.explain(other, queries[::-1], k=5)
    difference = a.against(b)
    assert difference.queries == queries
    ap = dict(zip(b.queries, b.ap, strict=True))
    assert difference.ap.tolist() == [
        ap[query] - mine for query, mine in zip(queries, a.ap, strict=True)
    ]
    assert sum(difference.parts.values()) == pytest.approx(difference.ap, abs=ROUNDING)
    assert difference.map == pytest.approx(b.map - a.map, abs=ROUNDING)
    assert sum(difference.mean_parts.values()) == pytest.approx(difference.map, abs=ROUNDING)
    described = difference.to_dict()
    assert described['difference'] == difference.map
    assert [row['loss'] for row in described['queries']] == [
        {part: each[row] for part, each in difference.parts.items()} for row in range(len(queries))
    ]


def explained(
    hypotheses=OTHER, reference=REFERENCE, queries=None, definition='trec', subset=None, **settings
):
    average_precision = AveragePrecision(reference, subset=subset, definition=definition)
    return average_precision.explain(hypotheses, queries, **settings)


def test_the_same_criteria_read_again():
    assert explained(RUN).against(explained(reference=REFERENCE[::-1])).runs == ('<rows>', '<rows>')


@pytest.mark.parametrize(
    ('settings', 'reason'),
    [
        ({'k': 10}, 'k 10, expected 100'),
        ({'near': 0.1}, 'near 0.1, expected 0.2'),
        ({'definition': 'kaggle'}, "definition 'kaggle', expected 'trec'"),
        (
            {'definition': dataclasses.replace(definitions.get('trec'), without_relevant=1)},
            "another definition of the name 'trec', expected the same",
        ),
        ({'queries': ['ann']}, 'other queries (1 query), expected the 2'),
        ({'queries': ['ann', 'bob', 'bob']}, 'other queries (3 queries), expected the 2'),
        (
            {'reference': [*REFERENCE, ('x', 'v', '9', 'ann')]},
            'another reference, expected the same',
        ),
        ({'subset': [('x', 'v'), ('x', 'w')]}, 'another subset, expected the same'),
    ],
)
def test_what_is_refused(settings, reason):
    with pytest.raises(ParameterError) as caught:
        explained(RUN).against(explained(**settings))
    assert str(caught.value) == (
        f"against: '<rows>' was explained with {reason} as for '<rows>'; "
        'explain both in the same way'
    )
