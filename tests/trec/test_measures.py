"""Measures of ir_measures stand beside average precision."""

import json

import ir_measures
import numpy as np
import pytest
from trec_rows import REFERENCE, ROWS, quiet

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import MissingExtraError, ParameterError
from mediaeval_ap.trec.measures import depth_of, parse_measures


@quiet
def test_measures_are_those_of_ir_measures(tmp_path):
    average_precision = AveragePrecision(REFERENCE, [2], definition='trec')
    queries = ['ann', 'zoe', 'ann', 'bob lee']
    evaluation = average_precision.evaluate(ROWS, queries, measures='RR P@2')
    assert list(evaluation.measures) == ['RR', 'P@2']
    assert evaluation.measures['RR'].tolist() == pytest.approx([0.5, np.nan, 0.5, 1], nan_ok=True)
    assert evaluation.mean_measures == {'RR': pytest.approx(2 / 3), 'P@2': 0.5}
    frame = evaluation.to_frame()
    assert frame.columns.tolist() == ['AP@2', 'RR', 'P@2', 'n_relevant']
    described = json.loads(json.dumps(evaluation.to_dict()))
    assert [query['P@2'] for query in described['queries']] == [0.5, None, 0.5, 0.5]
    nothing = average_precision.evaluate(ROWS, ['zoe'], measures=['RR'])
    assert nothing.mean_measures == {'RR': None}
    assert average_precision.evaluate(ROWS).measures == {}


WRONG_MEASURES = [5, ir_measures.RR, [5], 'AP@10', 'foo@10', 'P@0', 'P(cutoff=-1)', 'P@', ' ']


@pytest.mark.parametrize('measures', [*WRONG_MEASURES, ['P@5 RR'], 'BPM'])
@quiet
def test_measures_that_there_are_not(measures):
    with pytest.raises(ParameterError, match='measures: '):
        AveragePrecision(REFERENCE, K=[10]).evaluate(ROWS, measures=measures)


@pytest.mark.parametrize(
    ('measure', 'expected'),
    [
        ('P@2147483653', 'expected a cutoff from 1 to 16777216'),
        ('P@16777217', 'expected a cutoff from 1 to 16777216'),
        ('P@0', 'expected a cutoff from 1 to 16777216'),
        ('P', 'expected its cutoff as well'),
        ('IPrec', 'expected its recall as well'),
    ],
)
def test_measures_that_could_not_be_right(measure, expected):
    with pytest.raises(ParameterError, match=f'measures: found {measure!r}, {expected}'):
        parse_measures(f'P@5 {measure}')


@quiet
@pytest.mark.parametrize(('K', 'measure'), [([10], 'AP@10'), (['all'], 'AP'), ([1, 'all'], 'AP')])
def test_measures_that_are_columns_already(K, measure):
    with pytest.raises(ParameterError, match=f'measures: found {measure}, which is a column'):
        AveragePrecision(REFERENCE, K).evaluate(ROWS, measures=measure)


@quiet
def test_measures_see_as_deep_as_they_ask():
    reference = [('x', 'v', str(shot), 'ann') for shot in range(20)]
    run = [(*row, 1 - int(row[2]) / 100) for row in reference]
    average_precision = AveragePrecision(reference, K=[5], definition='trec')
    names = 'AP@20 R@20 nDCG@20 Rprec AP'
    evaluation = average_precision.evaluate(run, measures=names)
    assert evaluation.mean_measures == dict.fromkeys(names.split(), pytest.approx(1.0))


@quiet
def test_measures_do_not_depend_on_one_another():
    average_precision = AveragePrecision([('x', 'v', '7', 'ann'), *REFERENCE[2:]], K=[5])
    alone = average_precision.evaluate(ROWS, measures='Accuracy Accuracy')
    both = average_precision.evaluate(ROWS, measures='Accuracy nDCG@10')
    assert alone.measures['Accuracy'].tolist() == both.measures['Accuracy'].tolist()
    assert alone.measures['Accuracy'][0] == 0


def test_measures_do_not_depend_on_cutoffs():
    """Some look below their own: what is judged may stand there."""
    judged = [('x', 'v', str(shot), 'ann') for shot in range(10, 30)]
    run = [('x', 'v', str(shot), 'ann', 1 - shot / 100) for shot in range(40)]
    measures = ['P(judged_only=True)@5', 'Accuracy@5', 'AP', 'P@2']
    by_cutoff = [
        AveragePrecision(judged, K).evaluate(run, measures=measures).mean_measures
        for K in ([1], [10], [1000])
    ]
    assert by_cutoff[0] == by_cutoff[1] == by_cutoff[2]
    assert by_cutoff[0]['P(judged_only=True)@5'] == 1.0


@quiet
def test_measures_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'ir_measures', None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mediaeval-ap\[trec\]'"):
        AveragePrecision(REFERENCE).evaluate(ROWS, measures='RR')


def test_measures_get_as_many_documents_as_their_largest_cutoff():
    assert depth_of(parse_measures('P@20')) == 1000
    assert depth_of(parse_measures('RR P@3000')) == 3000
