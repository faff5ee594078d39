"""Figures of a comparison hold its values."""

import sys

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.errors import MissingExtraError, ParameterError

REFERENCE = [('x', 'v', str(shot), f'name{shot}') for shot in range(140)]
RUN = [(*row, 0.5) for row in REFERENCE]
RUNS = {'few': RUN[:20], 'all': RUN, '<b>': RUN[80:]}


@pytest.fixture(scope='module')
def comparison():
    evaluate = AveragePrecision(REFERENCE, K=[1, 10, 'all'], definition='trec').evaluate
    runs = {name: evaluate(run) for name, run in RUNS.items()}
    return compare(runs, correction='tukey', resamples=100, permutations=100)


def rows_of(chart):
    return chart.to_dict()['data']['values']


@pytest.mark.parametrize('metric', [None, 'MAP@1', 'MAP@10', 'MAP'])
def test_leaderboard(comparison, metric):
    found = [tuple(row.values()) for row in rows_of(comparison.plot.leaderboard(metric))]
    assert found == [
        (each.run, each.map, each.interval.low, each.interval.high, each.group or '')
        for each in comparison.leaderboard
        if each.metric == (metric or 'MAP')
    ]
    assert len(found) == 3


def test_scatter_has_the_first_run_horizontally(comparison):
    rows = rows_of(comparison.plot.scatter('few', 'all', 'MAP@10'))
    assert [(row['x'], row['y'], row['count']) for row in rows] == [(0, 1, 120), (1, 1, 20)]


def test_distribution_counts_queries(comparison):
    counts = {
        (row['run'], row['class']): row['count'] for row in rows_of(comparison.plot.distribution())
    }
    assert counts[('all', '1')] == 140
    assert counts[('few', '0')] == 120
    assert sum(counts.values()) == 3 * 140


def test_map_by_k_has_each_mean(comparison):
    rows = rows_of(comparison.plot.map_by_k())
    found = {(row['series'], row['x']): row['value'] for row in rows}
    for row, run in enumerate(comparison.runs):
        for label, metric in [('1', 'MAP@1'), ('10', 'MAP@10'), ('all', 'MAP')]:
            mean = np.mean(comparison.values[metric][row])
            assert found[run, label] == pytest.approx(mean, abs=1e-12)  # sums are rounded


@pytest.mark.parametrize(
    ('draw', 'message'),
    [
        (lambda plot: plot.leaderboard('AP'), "metric: found 'AP', expected one of MAP@1, MAP@10"),
        (lambda plot: plot.scatter('all', 'none'), "run: found 'none', expected one of 'all'"),
    ],
)
def test_what_is_not_there_is_refused_by_name(comparison, draw, message):
    with pytest.raises(ParameterError, match=message):
        draw(comparison.plot)


def test_without_altair_the_extra_is_named(comparison, monkeypatch):
    monkeypatch.setitem(sys.modules, 'altair', None)
    with pytest.raises(MissingExtraError, match=r'mediaeval-ap\[report\]'):
        _ = comparison.plot
