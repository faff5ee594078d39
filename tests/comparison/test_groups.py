"""Videos and corpora of queries, and means over groups."""

import numpy as np
import oracle_comparison as oracle
import pandas
import pytest
from compared_runs import evaluation, several
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, compare
from mediaeval_ap.challenges import evaluate_first_hit
from mediaeval_ap.comparison.runs import VideosOfQueries, cluster_numbers, read_runs
from mediaeval_ap.errors import ParameterError

REFERENCE = [
    ('x', 'v', '1', 'ann'),
    ('x', 'w', '1', 'ann'),
    ('x', 'w', '2', 'ann'),
    ('y', 'a', '1', 'bob'),
    ('x', 'w', '1', 'bob'),
    ('y', 'a', '1', 'cy'),
    ('y', 'a', '9', '?unknown?'),
]
RUN = [('x', 'w', '1', 'ann', 0.5), ('y', 'a', '1', 'bob', 0.25)]
ASKED = ['ann', 'bob', 'cy', 'nobody', 'none']


def runs_of(reference, asked=ASKED, **settings):
    average_precision = AveragePrecision(reference, K=[10], definition='trec', **settings)
    return {
        name: average_precision.evaluate(run, asked) for name, run in (('a', RUN), ('b', RUN[:1]))
    }


pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


def test_videos_and_corpora():
    videos = VideosOfQueries(read_runs(runs_of(REFERENCE)), 'cluster', REFERENCE, None)
    assert [videos.video(query) for query in ASKED] == [
        ('x', 'w'),
        ('x', 'w'),  # as many as in y/a, which is later
        ('y', 'a'),
        None,
        None,
    ]
    assert [videos.corpus(query) for query in ASKED] == ['x', 'x', 'y', None, None]


@given(
    st.lists(
        st.tuples(*map(st.sampled_from, ('xy', 'vw', '123', ['ann', 'bob']))),
        min_size=1,
        max_size=9,
    )
)
def test_the_video_has_most_of_the_relevant_shots(reference):
    videos = VideosOfQueries(read_runs(runs_of(reference)), 'cluster', reference, None)
    for query in ('ann', 'bob'):
        assert videos.video(query) == oracle.cluster_of(query, reference)


def test_queries_without_relevant_shots_are_clusters_of_their_own():
    runs = read_runs(runs_of(REFERENCE))
    videos = VideosOfQueries(runs, 'cluster', REFERENCE, None)
    assert cluster_numbers(runs, videos).tolist() == [0, 0, 1, 2, 3]
    assert cluster_numbers(runs, None).tolist() == [0, 1, 2, 3, 4]
    comparison = compare(runs_of(REFERENCE), cluster='video', reference=REFERENCE, resamples=50)
    assert comparison.counts['units'] == 4
    assert 'each query without a relevant shot is a cluster of its own' in comparison.notes


def test_the_subset_is_that_of_the_runs():
    results = runs_of(REFERENCE, subset=[('x', 'w')])
    runs = read_runs(results)
    videos = VideosOfQueries(runs, 'cluster', REFERENCE, [('x', 'w')])
    assert [videos.video(query) for query in ASKED[:3]] == [('x', 'w'), ('x', 'w'), None]
    with pytest.raises(
        ParameterError, match=r"found 3 relevant shots of 'ann', expected 2 .*subset"
    ):
        VideosOfQueries(runs, 'cluster', REFERENCE, None)


@pytest.mark.parametrize('settings', [{'cluster': 'video'}, {'by': 'corpus'}])
def test_without_the_reference_there_are_no_videos(settings):
    with pytest.raises(ParameterError, match=f'{next(iter(settings))}: found no reference'):
        compare(runs_of(REFERENCE), **settings)


def test_results_without_videos_or_numbers_of_relevant_shots():
    of_2015 = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    results = {'a': of_2015.evaluate([('v', '1', 'ann', 0.5)])}
    with pytest.raises(ParameterError, match='cluster: found results without videos'):
        compare(results, cluster='video', reference=REFERENCE)
    table = pandas.DataFrame({'Image': ['1', '2'], 'Id': ['a', 'b']})
    with pytest.raises(ParameterError, match=r"by: found 'relevant' for results without numbers"):
        compare({'a': evaluate_first_hit(table, table)}, by='relevant', resamples=50)


def test_means_by_corpus():
    comparison = compare(runs_of(REFERENCE), by='corpus', reference=REFERENCE, resamples=50)
    assert comparison.to_frame('by').to_dict('list') == {
        'group': ['x', 'x', 'y', 'y', 'no relevant shot', 'no relevant shot'],
        'n_queries': [2, 2, 1, 1, 2, 2],
        'metric': ['MAP@10'] * 6,
        'run': ['a', 'b'] * 3,
        # ann: one of three shots, at rank 1. bob: both of two; b has one of them, under the other
        # name. cy: no name is near, so the more confident one of ann comes first.
        'map': [(1 / 3 + 1) / 2, (1 / 3 + 1 / 2) / 2, 1 / 2, 0, 0, 0],
    }


def test_means_by_number_of_relevant_shots():
    n_relevant = [0, 1, 2, 5, 6, 20, 21, 99]
    values = np.arange(8) / 8
    results = several(values, values[::-1], n_relevant=n_relevant)
    found = compare(results, by='relevant', resamples=50).groups_by
    assert [(each.group, each.n_queries, each.map) for each in found if each.run == 'a'] == [
        ('0', 1, 0),
        ('1', 1, 1 / 8),
        ('2–5', 2, 2.5 / 8),
        ('6–20', 2, 4.5 / 8),
        ('21+', 2, 6.5 / 8),
    ]


def test_groups_without_queries_are_left_out():
    found = compare({'a': evaluation([1, 0])}, by='relevant', resamples=50).groups_by
    assert [each.group for each in found] == ['1']
