"""The table that compares runs."""

import pytest

from mediaeval_ap import AveragePrecision, Score, summary
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables import Source

REFERENCE = [('x', 'v', '1', 'ann')]
RIGHT, WRONG = ('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'ann', 0.9)
SCORE = Score(
    'GAP',
    0.5,
    {'ties': 'best', 'unknown': 'drop'},
    {'truth': Source('t.csv'), 'predictions': Source('p.csv')},
    {'queries': 1},
)


def evaluated(*run, K=(1, 'all')):
    return AveragePrecision(REFERENCE, K, definition='trec').evaluate(run)


def test_a_row_for_each_run():
    table = summary([evaluated(RIGHT), evaluated(WRONG, RIGHT)])
    assert table.index.name == 'run'
    assert table.index.tolist() == ['<rows>', '<rows>']
    assert table.to_dict('list') == {
        'definition': ['trec', 'trec'],
        'MAP@1': [1.0, 0.0],
        'MAP': [1.0, 0.5],
        'n_queries': [1, 1],
    }


def test_scores():
    assert summary(iter([SCORE])).reset_index().to_dict('records') == [
        {'run': 'p.csv', 'metric': 'GAP', 'ties': 'best', 'value': 0.5, 'n_queries': 1}
    ]


@pytest.mark.parametrize(
    ('results', 'reason'),
    [
        ([], 'results: found none, expected one or more'),
        ([evaluated(RIGHT), SCORE], 'results: found Evaluation, Score, expected one kind'),
        ([evaluated(RIGHT), evaluated(RIGHT, K=(2,))], 'found the columns run, definition, MAP@2'),
        ([evaluated(RIGHT), 0.5], "summary: found <class 'float'>, expected a list of results"),
        (SCORE, 'summary: found <class .*Score.*>, expected a list of results'),
    ],
)
def test_what_cannot_be_compared_is_refused(results, reason):
    with pytest.raises(ParameterError, match=reason):
        summary(results)
