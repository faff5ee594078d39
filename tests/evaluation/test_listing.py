"""Listings: the record from which all figures are made, and how often it is asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, hypothesis_rows, names, reference_rows

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.evaluation.prepared_run import prepare_run
from mediaeval_ap.judging import candidates
from mediaeval_ap.ranking.edit_distances import NamesByLength

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
JUDGED = [('x', 'v', shot, 'ann', relevance) for shot, relevance in (('1', 1), ('2', 0), ('3', 0))]
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '4', 'bob')]
RUN = [('x', 'v', shot, name, 0.5) for name in ('ann', 'anne', 'bob') for shot in '1234']


@examples(3)
@given(
    reference_rows,
    hypothesis_rows,
    st.lists(names, min_size=1, max_size=3),
    st.integers(1, 12),
    st.sampled_from(definitions.names()),
)
def test_a_whole_listing_holds_the_listing_of_the_definition(reference, run, queries, depth, name):
    """Repeats and ties are looked at in one record, and scores read the same ranking from it."""
    lister = prepare_run(AveragePrecision(reference, definition=name).criteria, run).lister
    definition = definitions.get(name)
    listings = lister.listings(queries, depth)
    for whole, listing in zip(lister.whole_listings(queries, depth), listings, strict=True):
        read = whole.as_ranked(definition, depth)
        assert read.places.tolist() == listing.places.tolist()
        assert read.hits.tolist() == listing.hits.tolist()
        assert (read.n_relevant, read.n_ranked) == (listing.n_relevant, listing.n_ranked)


@pytest.mark.parametrize(
    ('ask', 'judgements'),
    [
        *((ask, {}) for ask in ('report', 'pool', 'judge_next')),
        *((ask, {'judged': JUDGED}) for ask in ('report', 'pool', 'judge_next')),
        ('report', {'judged': JUDGED, 'unjudged': 'skip'}),
    ],
)
def test_each_query_of_a_run_is_ordered_once(ask, judgements, monkeypatch):
    asked = Counter()
    distances_from = NamesByLength.distances_from

    def counted(self, queries):
        asked.update((id(self), query) for query in queries)
        return distances_from(self, queries)

    monkeypatch.setattr(NamesByLength, 'distances_from', counted)
    average_precision = AveragePrecision(
        REFERENCE, K=[1, 3], drop_unjudged_rows=bool(judgements), **judgements
    )
    made = getattr(average_precision, ask)({'a': RUN, 'b': RUN[::-1]}, ['ann', 'bob'])
    assert made
    assert list(asked.values()) == [1] * 4


def test_rankings_that_are_too_many_to_keep_are_ranked_again(monkeypatch):
    average_precision = AveragePrecision(REFERENCE, K=[3])
    runs = {'a': RUN, 'b': RUN[::-1]}
    expected = average_precision.judge_next(runs, ['ann', 'bob'], depth=1).to_dict()
    monkeypatch.setattr(candidates, 'MOST_KEPT_RANKS', 0)
    assert average_precision.judge_next(runs, ['ann', 'bob'], depth=1).to_dict() == expected
