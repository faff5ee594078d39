"""A single query and the difference of two runs; what cannot be compared is refused."""

import dataclasses

import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis.findings import Before
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.formats import render


def before(rows, marks, query, at):
    """Count the rows before a hit that are no hits, by the first key that differs."""
    counts = [0, 0, 0]
    for row, mark in zip(rows[:at], marks[:at], strict=True):
        if not mark:
            is_nearer = oracle.edit_distance(query, row[3]) and (
                oracle.normalized_distance(query, row[3])
                < oracle.normalized_distance(query, rows[at][3])
            )
            if is_nearer or (row[3] == query != rows[at][3]):
                counts[0] += 1
            else:
                counts[1 if row[4] > rows[at][4] else 2] += 1
    return Before(*counts)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@given(
    st.sampled_from(definitions.names()),
    *(strategies.reference_rows, strategies.hypothesis_rows),
    *(st.integers(1, 30), strategies.subsets),
)
@strategies.examples(5)
def test_ranking_and_ranks(definition, reference, hypotheses, k, subset):
    query = reference[0][3]
    reference = [row for row in reference if subset is None or row[:2] in subset]
    if not reference:
        return
    average_precision = AveragePrecision(reference, subset=subset, definition=definition)
    found = average_precision.explain(hypotheses, [query], k=k).of(query)
    rows = oracle.ranked([row for row in hypotheses if subset is None or row[:2] in subset], query)
    relevant = {row[:3] for row in reference if row[3] == query}
    marks = oracle.relevance(rows, relevant, oracle.REPEATS[definition])
    if oracle.REPEATS[definition] == 'dropped':
        rows = [row for i, row in enumerate(rows) if row[:3] not in [each[:3] for each in rows[:i]]]

    assert [
        (each.rank, each.corpus, each.video, each.shot, each.name, each.confidence)
        for each in found.ranking
    ] == [(rank, *row) for rank, row in enumerate(rows[:k], 1)]
    assert [each.distance for each in found.ranking] == [
        float(oracle.normalized_distance(query, row[3])) for row in rows[:k]
    ]
    assert [each.relevant for each in found.ranking] == [bool(mark) for mark in marks[:k]]
    assert [each.before for each in found.ranking] == [
        before(rows, marks, query, at) if mark else None for at, mark in enumerate(marks[:k])
    ]

    shots = [row[:3] for row in rows]
    ranks = {shot: shots.index(shot) + 1 if shot in shots else None for shot in relevant}
    assert {(each.corpus, each.video, each.shot): each.rank for each in found.relevant} == ranks
    returned = [each.rank for each in found.relevant if each.rank is not None]
    assert returned == sorted(returned)
    assert [each.rank for each in found.relevant[len(returned) :]] == [None] * (
        len(relevant) - len(returned)
    )


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_names_are_in_the_order_of_the_ranking():
    reference = [('x', 'v', '1', 'anna')]
    returned = [('bob', 1), ('annb', 0.1), ('annc', 0.2), ('annb', 0.3)]
    found = AveragePrecision(reference).explain([('x', 'v', '1', *each) for each in returned])
    (shot,) = found.of('anna').relevant
    assert (shot.rank, shot.names, shot.adds) == (1, ('annb', 'annc', 'bob'), 0)
    assert found.of('anna').to_csv().splitlines()[1] == 'anna,x,v,1,1,noise,annb annc bob,0.0'
    with pytest.raises(ParameterError) as caught:
        found.of('bob')
    assert str(caught.value) == (
        "of: found 'bob', expected one of the 1 query of this diagnosis; "
        'explain the run with this query'
    )


REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'w', '1', 'ann')]
RUN = [('x', 'v', '1', 'ann', 0.5)]
OTHER = [('x', 'v', '2', 'bob', 0.5)]


def explained(run=OTHER, reference=REFERENCE, definition='trec', subset=None, **settings):
    average_precision = AveragePrecision(reference, subset=subset, definition=definition)
    return average_precision.explain(run, **settings)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_a_difference_is_the_second_run_minus_the_first():
    """Each run returns one shot: of two of ann, or the one of bob; the others are absent."""
    difference = explained(RUN).against(explained(OTHER, queries=['bob', 'ann']))
    assert difference.queries == ['ann', 'bob']
    assert difference.ap.tolist() == difference.parts['absent'].tolist() == [0 - 1 / 2, 1 - 0]
    assert sum(map(abs, sum(difference.parts.values()) - difference.ap)) == 0
    assert difference.map == difference.mean_parts['absent'] == 1 / 4
    described = difference.to_dict()
    assert described['difference'] == 1 / 4
    assert [row['loss']['absent'] for row in described['queries']] == [-1 / 2, 1]


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
        ({'reference': REFERENCE[:2]}, 'another reference, expected the same'),
        ({'subset': [('x', 'v'), ('x', 'w')]}, 'another subset, expected the same'),
    ],
)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_what_is_refused(settings, reason):
    with pytest.raises(ParameterError) as caught:
        explained(RUN).against(explained(**settings))
    assert str(caught.value) == (
        f"against: '<hypothesis>' was explained with {reason} as for '<hypothesis>'; "
        'explain both in the same way'
    )
    again = explained(RUN).against(explained(reference=REFERENCE[::-1]))
    assert again.runs == ('<hypothesis> 1', '<hypothesis> 2')


def test_a_difference_is_shown_as_by_the_command():
    difference = explained(RUN).against(explained(RUN[:1]))
    assert f'{difference!r}\n' == render(difference.document(), 'table')
