"""The runs of a comparison: what can be compared, orders, videos and groups of queries."""

import pickle

import numpy as np
import oracle_comparison as oracle
import pandas
import polars
import pytest
from compared_runs import evaluation, several
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, compare
from mediaeval_ap.challenges import evaluate_first_hit, evaluate_lrap, evaluate_map
from mediaeval_ap.comparison.clusters_and_groups import (
    cluster_numbers,
    largest,
    members_of_groups,
    videos_of_queries,
)
from mediaeval_ap.comparison.comparable_runs import agreements, read_runs
from mediaeval_ap.errors import DataWarning, ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')

A = [0.5, 0.25]


def test_order_of_runs_and_queries_is_that_of_their_names():
    runs = read_runs(
        [
            evaluation([[0.1, 0.2], [0.3, 0.4]], 'z', queries=['y', 'x'], n_relevant=[1, 2]),
            evaluation([[0.5, 0.6], [0.7, 0.8]], 'a', queries=['x', 'y'], n_relevant=[2, 1]),
        ]
    )
    assert (runs.names, runs.queries, runs.metrics) == (['a', 'z'], ['x', 'y'], ['MAP@10', 'MAP@1'])
    assert runs.values.tolist() == [[[0.6, 0.8], [0.4, 0.2]], [[0.5, 0.7], [0.3, 0.1]]]
    assert runs.n_relevant.tolist() == [2, 1]
    assert (runs.definition, runs.sources['z'].name) == ('trec', 'z')
    assert read_runs(several(A, A, sha256=None)).notes == [
        'Reference: without the hash of a file, so only the number of relevant shots of each query '
        'was compared'
    ]


def test_a_query_asked_twice_stays_twice():
    """A mapping by query would merge the two values."""
    queries = ['x', 'y', 'x']
    runs = read_runs(several([1, 0.5, 1], [0, 0.25, 0], queries=queries))
    assert runs.queries == ['x', 'x', 'y']
    assert runs.values.tolist() == [[[1, 1, 0.5], [0, 0, 0.25]]]
    assert runs.notes == ['1 repeated queries count again, as if they were other queries']
    with pytest.raises(ParameterError, match='some queries more than once'):
        read_runs({'a': evaluation(A, queries='xy'), 'b': evaluation([1, 1, 1], queries='xxy')})


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'definition': 'kaggle'}, "definition: found kaggle for 'b', expected trec as for 'a'"),
        ({'queries': ['q000', 'z']}, "queries: found 2 .*'q001' only for 'a'"),
        ({'sha256': 'other'}, 'reference: found reference.txt .*SHA-256'),
        ({'n_relevant': [1, 2], 'sha256': None}, "found 2 relevant shots of 'q001' for 'b', exp"),
        ({'parameters': {'ties': 'worst'}}, "ties: found 'worst' for 'b', expected None"),
        ({'measures': {'P@5': [1, 0]}}, "metrics: found 'MAP@1, P@5' for 'b'"),
        ({'values': [A, A]}, "metrics: found 'MAP@1, MAP@10' for 'b'"),
    ],
)
def test_a_run_that_was_scored_otherwise_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        read_runs({'a': evaluation(A), 'b': evaluation(**{'values': A, **settings})})


def test_subsets_and_kinds_are_not_mixed():
    reference, run = [('x', 'v', '1', 'ann')], [('x', 'v', '1', 'ann', 0.5)]
    whole = AveragePrecision(reference, K=[1]).evaluate(run)
    part = AveragePrecision(reference, K=[1], subset=[('x', 'v')]).evaluate(run)
    with pytest.raises(ParameterError, match="subset: found '<subset>' for 'b', expected 'none'"):
        read_runs({'a': whole, 'b': part})
    of_2015 = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')]).evaluate([run[0][1:]])
    with pytest.raises(ParameterError, match="kind: found 'Evaluation2015' for 'b'"):
        read_runs({'a': whole, 'b': of_2015})
    with pytest.raises(ParameterError, match='cluster: found results without videos'):
        compare({'a': of_2015}, cluster='video', reference=reference)


@pytest.mark.parametrize(
    ('results', 'message'),
    [
        ([], 'found no result'),
        ({'a': []}, "found no result of 'a'"),
        (5, "<class 'int'>, expected results"),
        ({' a': evaluation(A)}, "found ' a' as the name of a run"),
        ([evaluation(A), evaluation(A)], r"the run 'run' twice.*compare\(\{'one'"),
        ({'a': {'q1': 0.5}}, r"found <class 'dict'>.*DataFrame\(…\)\.rename_axis\('item'\), or"),
        ({'a': [0.5, 0.25]}, r"found list of float.*DataFrame\(…\)\.rename_axis\('item'\), or"),
        ({'a': pandas.Series({'q1': 0.5})}, r"found Series of float.*\.rename_axis\('item'\), or"),
        (pandas.Series([0.5], name='a'), r"found Series of float.*\.rename_axis\('item'\)"),
        ({'item': ['q1'], 'a': [0.5]}, r'found list of str.*pandas.DataFrame\(…\)$'),
        (evaluation(A).to_frame(), r'found a frame of results, .* themselves: compare\(a, b\)$'),
        ({'a': evaluation(A).to_frame()}, r'found a frame of results'),
        (polars.LazyFrame({'item': ['q1']}), r'found .*LazyFrame.*: give it as \.collect\(\)$'),
    ],
)
def test_what_is_no_run_is_refused(results, message):
    with pytest.raises(ParameterError, match=message):
        compare(results)


def test_the_index_of_a_series_gets_the_name_that_the_error_gives():
    values = pandas.Series({f'q{n}': n / 10 for n in range(10)})
    runs = {'a': values, 'b': values[::-1] / 2}
    named = {run: series.rename_axis('item') for run, series in runs.items()}
    as_frame = pandas.DataFrame(runs).rename_axis('item')
    assert compare(named).pairs == compare(as_frame).pairs


def test_unnamed_tables_are_told_apart_by_numbers():
    evaluate = AveragePrecision([('x', 'v', '1', 'ann')]).evaluate
    a, b = (evaluate([('x', 'v', '1', 'ann', confidence)]) for confidence in (0.5, 0.25))
    assert sorted(compare(a, b).runs) == ['<hypothesis> 1', '<hypothesis> 2']
    assert sorted(compare(b.called('mine'), a).runs) == ['<hypothesis>', 'mine']


def test_first_hits_at_several_cutoffs_are_put_side_by_side(tmp_path):
    truth = pandas.DataFrame({'Image': ['2', '1'], 'Id': ['a', 'b']})
    guesses = pandas.DataFrame({'Image': ['1', '2'], 'Id': ['b', 'b a']})
    path = tmp_path / 'guesses.csv'
    guesses.to_csv(path, index=False)
    of_file = [evaluate_first_hit(truth, path, k) for k in (1, 2)]
    assert read_runs(of_file).names == ['guesses']
    scores = [evaluate_first_hit(truth, guesses, k) for k in (1, 2)]
    with pytest.raises(ParameterError, match="'<predictions>' twice"):
        read_runs(scores)  # tables in memory are not known to be of one run
    runs = read_runs({'a': scores})
    assert runs.metrics == ['first-hit MAP@2', 'first-hit MAP@1']
    assert (runs.queries, runs.values.tolist()) == (['1', '2'], [[[1, 0.5]], [[1, 0]]])
    with pytest.raises(ParameterError, match="'a' twice"):
        read_runs({'a': [*scores, *scores]})
    with pytest.raises(ParameterError, match=r"by: found 'relevant' for results without numbers"):
        compare({'a': scores[0]}, by='relevant')


def test_label_ranking_and_map_of_labels():
    truth = pandas.DataFrame({'fname': ['1', '2'], 'labels': ['x', 'y']})
    scores = pandas.DataFrame({'fname': ['1', '2'], 'x': [0.9, 0.8], 'y': [0.1, 0.2]})
    columns = {'id': 'fname', 'label': 'labels'}
    runs = read_runs({'a': evaluate_lrap(truth, scores, columns=columns)})
    assert (runs.metrics, runs.values.tolist()) == (['LRAP'], [[[1, 0.5]]])
    score = evaluate_map('samples/fashion_truth.csv', 'samples/fashion_predictions.csv')
    runs = read_runs([score])  # without what its mean leaves out
    # A sum of some doubles in another order.
    assert runs.values.mean() == pytest.approx(score.value, rel=1e-12)
    assert runs.n_relevant.min() > 0
    assert runs.definition == 'kaggle'


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7))
@example([(1, 2)])
@example([(1, 2), (2, 2)])
def test_tau_is_that_of_all_pairs(means):
    (found,) = agreements(read_runs(several(*[[[x / 4, y / 4]] for x, y in means])), None)
    expected = oracle.kendall_tau_b(*zip(*means, strict=True))  # in any order of the two
    assert (found.a, found.b) == ('MAP@10', 'MAP@1')
    # A quotient of a small integer and a square root.
    assert found.tau == (None if expected is None else pytest.approx(expected, abs=1e-14))
    equal_by = 'MAP@10' if len({ten for _, ten in means}) == 1 else 'MAP@1'
    reason = 'one run has no order' if len(means) == 1 else f'all runs are equal by {equal_by}'
    assert found.reason == (reason if expected is None else '')


def test_orders_by_several_definitions():
    trec, kaggle = several([1.0], [0.5], [0.25]), several([0.5], [1], [0.25], definition='kaggle')
    also = {'kaggle': kaggle, 'again': trec}
    found = [(each.a, each.b, each.tau) for each in agreements(read_runs(trec), also)]
    assert found == [
        ('MAP@1', 'kaggle MAP@1', pytest.approx(1 / 3)),
        ('MAP@1', 'again MAP@1', pytest.approx(1)),
        ('kaggle MAP@1', 'again MAP@1', pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize(
    ('also', 'message'),
    [
        ([evaluation([1])], 'also: found .*expected {name: results}'),
        ({'x': {'b': evaluation([1])}}, r"also: 'x': found other runs.*\('a' is only in one"),
        ({'x': {'a': evaluation([1, 0])}}, r"found other queries.*\('q001' is only in one"),
    ],
)
def test_other_runs_and_queries_are_refused(also, message):
    with pytest.raises(ParameterError, match=message):
        agreements(read_runs({'a': evaluation([1])}), also)


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


def results_of(reference, **settings):
    evaluate = AveragePrecision(reference, K=[10], definition='trec', **settings).evaluate
    return {'a': evaluate(RUN, ASKED), 'b': evaluate(RUN[:1], ASKED)}


def test_queries_without_relevant_shots_are_clusters_of_their_own():
    results = results_of(REFERENCE)
    runs = read_runs(results)
    videos = videos_of_queries(runs, 'cluster', REFERENCE, None)
    members = members_of_groups(runs, 'corpus', videos)
    assert {corpus: rows.tolist() for corpus, rows in members.items()} == {
        'x': [0, 1],
        'y': [2],
        'no relevant shot': [3, 4],
    }
    # The video with most of the relevant shots, and of equal ones the first.
    assert [largest(videos[query]) for query in ASKED[:2]] == [('x', 'w'), ('x', 'w')]
    assert cluster_numbers(runs, 'video', videos).tolist() == [0, 0, 1, 2, 3]
    assert cluster_numbers(runs, 'none', videos).tolist() == [0, 1, 2, 3, 4]
    with pytest.warns(DataWarning, match='^4 clusters count as 3.6 of equal size, '):  # 5² / 7
        comparison = compare(results, cluster='video', reference=REFERENCE)
    assert comparison.counts['units'] == 4
    read_back = pickle.loads(pickle.dumps(results))
    for name, value in ('cluster', 'video'), ('by', 'corpus'):
        with pytest.raises(ParameterError, match=f'{name}: found no reference'):
            compare(read_back, **{name: value})


def test_the_subset_is_that_of_the_runs():
    results = results_of(REFERENCE, subset=[('x', 'w')])
    runs = read_runs(results)
    videos = videos_of_queries(runs, 'cluster', REFERENCE, [('x', 'w')])
    assert [largest(videos[query]) for query in ASKED[:3]] == [('x', 'w'), ('x', 'w'), None]
    message = r"found 3 relevant shots of 'ann', expected 2 .*subset"
    with pytest.raises(ParameterError, match=message):
        videos_of_queries(runs, 'cluster', REFERENCE, None)


def test_means_by_corpus():
    comparison = compare(results_of(REFERENCE), by='corpus', reference=REFERENCE)
    assert [(one.group, one.n_queries, one.run, one.map) for one in comparison.groups_by] == [
        # ann: one of three shots, at rank 1. bob: both of two; b has one of them, under the other
        # name. cy: no name is near, so the more confident one of ann comes first.
        ('x', 2, 'a', (1 / 3 + 1) / 2),
        ('x', 2, 'b', (1 / 3 + 1 / 2) / 2),
        ('y', 1, 'a', 1 / 2),
        ('y', 1, 'b', 0),
        *(('no relevant shot', 2, run, 0) for run in 'ab'),
    ]


def test_means_by_number_of_relevant_shots():
    values = np.arange(8) / 8
    results = several(values, values[::-1], n_relevant=[0, 1, 2, 5, 6, 20, 21, 99])
    found = compare(results, by='relevant').groups_by
    assert [(each.group, each.n_queries, each.map) for each in found if each.run == 'a'] == [
        ('0', 1, 0),
        ('1', 1, 1 / 8),
        ('2–5', 2, 2.5 / 8),
        ('6–20', 2, 4.5 / 8),
        ('21+', 2, 6.5 / 8),
    ]
