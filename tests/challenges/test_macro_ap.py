"""Macro AP: AP of each class over the samples, on the files of label ranking."""

import numpy as np
import pandas
import pytest
from challenge_inputs import SAMPLES, table
from oracle import CLOSE

from mediaeval_ap import compare, evaluate_lrap, evaluate_macro_ap
from mediaeval_ap.errors import DataWarning, ParameterError, UndefinedScoreError

FILES = SAMPLES / 'sounds_truth.csv', SAMPLES / 'sounds_scores.csv'
# x is true for a and c. Of three samples, a and b are tied at the top, so c is at rank 3.
TRUTH = table('fname,labels', ('a', 'x'), ('b', ''), ('c', 'x'))
SCORES = pandas.DataFrame({'fname': [*'bac'], 'x': [0.5, 0.5, 0.25], 'y': [0.1, 0.2, 0.3]})


@pytest.mark.parametrize(
    ('ties', 'value', 'without_c'),
    [
        ('threshold', (1 / 2 + 2 / 3) / 2, 1 / 4),
        ('expected', ((1 + 1 / 2) / 2 + 2 / 3) / 2, (1 + 1 / 2) / 2 / 2),
        ('best', (1 + 2 / 3) / 2, 1 / 2),
        ('worst', (1 / 2 + 2 / 3) / 2, 1 / 4),
        ('stable', (1 / 2 + 2 / 3) / 2, 1 / 4),
    ],
)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_by_hand(ties, value, without_c):
    """Without scores, c is in no ranking, but counts as a positive."""
    missing = evaluate_macro_ap(TRUTH, SCORES[:2], ties=ties, missing='zero')
    assert missing.value == without_c
    assert missing.values['n_relevant'].tolist() == [2, 0]
    score = evaluate_macro_ap(TRUTH, SCORES, ties=ties, per_query=True)
    assert score.value == pytest.approx(value, **CLOSE)
    assert score.metric == 'macro AP'
    assert list(score.notes) == ['1 of 2 classes have no positive, and are left out']
    assert score.table['id'].tolist() == ['x', 'y']
    assert score.table['n_relevant'].tolist() == [2, 0]
    sizes = {'queries': 2, 'samples': 3, 'labels': 2, 'without_truth': 1}
    assert score.counts == sizes | {'missing': 0, 'unknown': 0}
    assert f'{score!r}'.splitlines()[0].endswith('2 classes')


def test_files_score_as_in_scikit_learn():
    from sklearn.metrics import average_precision_score, label_ranking_average_precision_score

    truth, scores = (pandas.read_csv(file, index_col='fname') for file in FILES)
    scores = scores.loc[truth.index].round(1)  # full of ties
    y_true = truth['labels'].str.get_dummies(',').reindex(columns=scores.columns, fill_value=0)
    tied = scores[::-1].reset_index()
    peer = label_ranking_average_precision_score(y_true, scores)
    assert evaluate_lrap(FILES[0], tied).value == pytest.approx(peer, **CLOSE)
    classes = y_true.columns[y_true.any()]
    peers = average_precision_score(y_true[classes], scores[classes], average=None)
    macro = evaluate_macro_ap(FILES[0], tied, per_query=True)
    by_class = macro.table.set_index('id')['AP'][classes]
    assert by_class.tolist() == pytest.approx(peers.tolist(), abs=1e-12)
    assert macro.value == pytest.approx(peers.mean(), abs=1e-12)  # another order of sums


def test_stable_ties_are_in_the_order_of_the_scores():
    best_first = evaluate_macro_ap(TRUTH, SCORES.iloc[[1, 0, 2]], ties='stable')
    assert best_first.value == pytest.approx((1 + 2 / 3) / 2, **CLOSE)


@pytest.mark.parametrize(
    'truth',
    [
        table('fname,label', ('c', 'x'), ('a', 'x'), ('b', '')),
        pandas.DataFrame({'fname': [*'cab'], 'y': [0, 0, 0], 'x': [1, 1, 0]}),
        pandas.DataFrame({'fname': [*'cab'], 'labels': [['x'], ['x'], []]}),
        np.array([[False, False], [True, False], [True, False]]),
    ],
    ids=['label', 'columns', 'lists', 'array'],
)
def test_every_shape_of_a_truth(truth):
    columns = {'label': 'label'} if 'label' in getattr(truth, 'columns', ()) else None
    score = evaluate_macro_ap(truth, SCORES, truth_columns=columns)
    assert score.value == evaluate_macro_ap(TRUTH, SCORES).value


def test_samples_without_scores():
    """The top of x is a alone without b; c is a positive that is never returned."""
    with pytest.warns(DataWarning, match='no row for 1 of 3 ids of <truth>, left out'):
        score = evaluate_macro_ap(TRUTH, SCORES[SCORES.fname != 'c'], missing='skip')
    assert (score.value, score.counts['samples']) == (1 / 2, 2)
    with pytest.warns(DataWarning, match='1 of 3 rows have an id that <truth> lacks'):
        score = evaluate_macro_ap(TRUTH[TRUTH.fname != 'b'], SCORES, unknown='drop')
    assert score.value == 1


def test_no_class_has_a_positive():
    with pytest.raises(UndefinedScoreError, match=r'^macro AP: no class has a positive in <truth>'):
        evaluate_macro_ap(TRUTH.assign(labels=''), SCORES)


def test_classes_are_compared_as_queries():
    """Without the class that has no positive; in groups by the number of positives."""
    low = pandas.read_csv(FILES[1]).assign(Rain=0.5, Bark=0.5)
    runs = {'sounds': evaluate_macro_ap(*FILES), 'low': evaluate_macro_ap(FILES[0], low)}
    comparison = compare(runs, by='relevant')
    assert len(comparison.queries) == 7
    assert 'Whistle' not in comparison.queries
    assert [standing.map for standing in comparison.leaderboard] == [
        run.value for run in runs.values()
    ]
    ((pair),) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses) == (2, 5, 0)
    sizes = {mean.group: mean.n_queries for mean in comparison.groups_by}
    assert sizes == {'2–5': 1, '6–20': 6}
    text = repr(comparison)
    assert 'Means over 7 classes' in text
    assert 'quer' not in text
    page = comparison.to_html()
    assert 'Every class' in page
    assert 'Distribution of AP<' in page


def test_classes_ranked_among_different_samples_are_not_compared():
    """A run would gain by each negative that it lacks; the numbers of positives would not tell."""
    truth = pandas.DataFrame({'fname': [*'abcd'], 'rain': [1, 0, 0, 1], 'bark': [1, 1, 0, 0]})
    whole = truth.assign(rain=[0.1, 0.4, 0.3, 0.2], bark=[0.1, 0.2, 0.3, 0.4])
    cut = whole[whole['fname'] != 'c']  # it has no label
    runs = {'whole': evaluate_macro_ap(truth, whole)}
    with pytest.warns(DataWarning):
        runs['cut'] = evaluate_macro_ap(truth, cut, missing='skip')
    runs['whole'] = evaluate_macro_ap(truth, whole, missing='skip')
    told = r"found samples left out for 'cut' \(1\), expected none: score all runs by --missing"
    with pytest.raises(ParameterError, match=told):
        compare(runs)
