"""Scores as text: values of every kind, in every format."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas
import pyarrow
import pytest

from mediaeval_ap import Score
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document
from mediaeval_ap.tables import Provenance

INPUTS = {'truth': Provenance('truth.csv', 'ab'), 'predictions': Provenance('r\x1b.csv', 'cd')}
PREDICTIONS = pandas.DataFrame(
    {
        'id': ['a|b', 'é'],
        'truth': ['x', None],
        'confidence': [0.12345, 1.0],
        'correct': [True, False],
        'precision': [1 / 3, np.nan],
        'term': [2 / 3, 0.0],
    }
)
CLASSES = pandas.DataFrame(
    {'class': ['x', 'y'], 'precision': [0.5, np.nan], 'weight': [1.0, 0.0], 'n_labels': [2, 0]}
)
PLAIN = Score('GAP', 2 / 3, {'ties': 'best'}, INPUTS, {'queries': 3, 'without_truth': 1})
FULL = replace(PLAIN, table=PREDICTIONS, notes=['1 of 2 has none'])
IDS = pyarrow.array(['1', 'all'])
LISTS = Score(
    'MAP@2',
    0.75,
    {'k': 2, 'definition': 'kaggle'},
    INPUTS,
    {'queries': 2, 'without_truth': 1},
    queries=IDS,
    values={'AP@2': np.array([np.nan, 0.75]), 'n_relevant': np.array([0, 3])},
)
LABELS = Score(
    'LRAP', 0.5, {}, INPUTS, {'queries': 2}, CLASSES, queries=IDS, values={'LRAP': np.ones(2)}
)


def rows_of(score, **options):
    return list(csv.reader(io.StringIO(render(results_document([score], **options), 'csv'))))


def lines_of(*scores):
    return render(results_document(scores), 'table').splitlines()


def test_table():
    assert render(results_document([FULL], per_query=True), 'table') == (
        'r\\x1b (ties: correct ones first)\n\n'
        'query      value  truth      confidence    correct    precision\n'
        '-------  -------  -------  ------------  ---------  -----------\n'
        'a|b        0.667  x             0.12345        yes        0.333\n'
        'é          0.000                    1.0\n\n'
        'METRIC      2 queries with a true label\n'
        '--------  -----------------------------\n'
        'GAP                               0.667\n\n'
        '1 of 2 has none\n'
    )


def test_settings_that_all_runs_share_stand_above_the_table():
    other = replace(PLAIN, run='other', value=0.5)
    heading, _, header, *_ = lines_of(PLAIN, other)
    assert heading == 'Over 2 queries with a true label (ties: correct ones first):'
    assert header.split() == ['run', 'GAP']
    other = replace(other, parameters={'ties': 'worst'})
    assert lines_of(PLAIN, other)[2].split() == ['run', 'ties', 'GAP']


def test_classes():
    assert rows_of(LABELS) == [
        ['run', 'metric', 'class', 'value', 'weight', 'n_labels', 'n_queries'],
        ['r\\x1b', 'LRAP', 'x', '0.5', '1.0', '2', ''],
        ['r\\x1b', 'LRAP', 'y', '', '0.0', '0', ''],
        ['r\\x1b', 'LRAP', 'all', '0.5', '', '2', '2'],
    ]
    assert [row[2:] for row in rows_of(LABELS, per_query=True)] == [
        ['query', 'value', 'n_queries'],
        *(['1', '1.0', ''], ['all', '1.0', ''], ['all', '0.5', '2']),
    ]
    (described,) = json.loads(render(results_document([LABELS]), 'json'))['results']
    assert described['classes'][1] == {'class': 'y', 'value': None, 'weight': 0.0, 'n_labels': 0}


def test_lwlrap_is_over_labels():
    counts = {'queries': 2, 'without_truth': 1, 'labels': 5}
    score = replace(LABELS, metric='lwlrap', counts=counts)
    assert score.mean_counts == {'lwlrap': 5}
    assert rows_of(replace(score, table=None)) == [
        ['run', 'metric', 'query', 'value', 'n_labels'],
        ['r\\x1b', 'lwlrap', 'all', '0.5', '5'],
    ]
    assert rows_of(score)[0][-1] == 'n_labels'
    assert 'METRIC      5 labels\n' in render(results_document([score]), 'table')
    assert repr(score).endswith(', 2 queries\n  lwlrap  0.500 over 5 labels')
    assert replace(score, metric='LRAP').mean_counts == {'LRAP': 2}


def test_scores_without_queries():
    for call in PLAIN.to_frame, lambda: PLAIN.to_csv(per_query=True):
        with pytest.raises(ParameterError, match=r'this score \(GAP\) has no table of its queries'):
            call()
    assert 'queries' not in PLAIN.to_dict()
    with pytest.raises(ParameterError, match='this score has no values by query'):
        replace(LISTS, queries=None).compared_values()
    assert LISTS.compared_values().queries == ['all']  # the other has no relevant label


def test_a_score_without_several_cutoffs_has_one_mean():
    assert PLAIN.means == {'GAP': 2 / 3}
