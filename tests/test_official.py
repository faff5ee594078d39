"""The campaigns' own data and what the published evaluator gave for it.

The folder has the layout of the public evaluation package, with what the evaluator printed beside
it: `2016/expected/NAME.json` for each run.
"""

import json
import random

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.tables import HYPOTHESIS, read

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.ScoreAboveOneWarning')

# The expected figures are written with twelve decimals.
WRITTEN = 1e-12
PUBLISHED = {'ap_may': 'mediaeval-2016', 'ap_september': 'mediaeval-2016-final'}
RUNS = ['samples', 'eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary']


@pytest.fixture(params=RUNS)
def run(request, official_data):
    """(reference, subset, hypothesis, queries, expected) of one run."""
    folder = official_data / '2016'
    expected = json.loads((folder / f'expected/{request.param}.json').read_text())
    if request.param == 'samples':
        samples = folder / 'samples'
        queries = list(expected['queries'])  # of which ?unknown? is not asked by default
        return samples / 'reference.txt', None, samples / 'hypothesis.txt', queries, expected
    return (
        folder / 'reference/reference.2016-10-16.txt',
        folder / 'reference/test.eval',
        folder / f'submissions/{request.param}.txt',
        folder / 'reference/queries.txt',
        expected,
    )


@pytest.mark.parametrize('published', PUBLISHED)
def test_every_query(run, published):
    reference, subset, hypothesis, queries, expected = run
    average_precision = AveragePrecision(
        reference, expected['K'], subset=subset, definition=PUBLISHED[published]
    )
    evaluation = average_precision.evaluate(hypothesis, queries)
    assert sorted(evaluation.queries) == sorted(expected['queries'])
    assert evaluation.counts['hypotheses'] == expected['n_hypotheses']
    assert evaluation.counts['names'] == expected['n_names']
    figures = [expected['queries'][query] for query in evaluation.queries]
    assert evaluation.n_relevant.tolist() == [each['n_relevant'] for each in figures]
    assert np.abs(evaluation.ap - [each[published] for each in figures]).max() < WRITTEN


@pytest.mark.parametrize('definition', ['mediaeval-2016', 'kaggle', 'trec'])
def test_runs_that_grow_come_to_the_same(run, definition):
    """Hypotheses that come in another order, watched, and asked about meanwhile."""
    reference, subset, hypothesis, queries, expected = run
    average_precision = AveragePrecision(
        reference, expected['K'], subset=subset, definition=definition
    )
    evaluation = average_precision.evaluate(hypothesis, queries)
    rows = list(read(hypothesis, HYPOTHESIS).rows())
    random.Random(1).shuffle(rows)  # fixed: some order, whichever
    live = average_precision.live()
    points = live.watch(rows, queries, every=len(rows) // 4)
    *_, (point, _) = [(point, live.send(evaluation.queries[0])) for point in points]
    assert point.n_hypotheses == evaluation.counts['hypotheses']
    assert point.ap.tolist() == evaluation.ap.tolist()
    for query, ap in list(zip(evaluation.queries, evaluation.ap.tolist(), strict=True))[::20]:
        assert live.send(query)[0] == ap


def test_published_table(official_data):
    """The three queries and four cutoffs that the metric was published with."""
    samples = official_data / '2016/samples'
    evaluation = AveragePrecision(samples / 'reference.txt').evaluate(
        samples / 'hypothesis.txt', samples / 'queries.txt'
    )
    assert evaluation.ap.round(3).tolist() == [
        [0.0, 0.299, 0.213, 0.194],
        [0.0, 0.083, 0.15, 0.15],
        [0.0, 0.0, 0.0, 0.002],
    ]
