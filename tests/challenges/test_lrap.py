"""Label ranking AP on the files of its challenge."""

import math

import pandas
import pytest
from challenge_inputs import table
from oracle import CLOSE

from mediaeval_ap import challenges
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError


def test_samples_that_are_unknown():
    truth = table('fname,labels', ('a', 'x'), ('b', 'y'))
    scores = pandas.DataFrame({'fname': list('abc'), 'x': [1, 1, 1], 'y': [0, 1, 1]})
    with pytest.warns(DataWarning, match='1 of 3 rows have an id that'):
        score = challenges.evaluate_lrap(truth, scores, unknown='drop')
    assert (score.value, score.counts['unknown']) == (3 / 4, 1)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    ('missing', 'label_weighted', 'value', 'precision', 'n_labels'),
    [
        ('zero', False, (1 + 0 + 1 + 0) / 4, [1 / 2, 0, math.nan], [1, 2, 0, 0]),
        ('zero', True, 1 / 3, [1 / 2, 0, math.nan], [1, 2, 0, 0]),
        ('skip', False, (1 + 1) / 2, [1, math.nan, math.nan], [1, 0]),
        ('skip', True, 1, [1, math.nan, math.nan], [1, 0]),
    ],
)
def test_missing_samples_count_zero_or_not_at_all(
    missing, label_weighted, value, precision, n_labels
):
    """Of those without a label, c has scores and counts 1, d has none and counts 0."""
    truth = table('fname,labels', ('a', 'x'), ('b', 'x,y'), ('c', ''), ('d', ''))
    scores = pandas.DataFrame({'fname': ['a', 'c'], 'x': [0.5, 1], 'y': [0.25, 0], 'z': [0, 0]})
    settings = {'label_weighted': label_weighted, 'missing': missing}
    score = challenges.evaluate_lrap(truth, scores, per_class=True, **settings)
    assert score.value == pytest.approx(value, **CLOSE)
    assert score.table['class'].tolist() == list('xyz')
    assert score.table['precision'].tolist() == pytest.approx(precision, nan_ok=True, **CLOSE)
    labels = [2, 1, 0] if missing == 'zero' else [1, 0, 0]
    assert score.table['weight'].tolist() == [n / sum(labels) for n in labels]
    assert (score.counts['missing'], score.counts['queries']) == (2, len(n_labels))
    rows = challenges.evaluate_lrap(truth, scores, per_query=True, **settings).table
    assert rows['id'].tolist() == ['a', 'b', 'c', 'd'] if missing == 'zero' else ['a', 'c']
    assert rows['n_labels'].tolist() == n_labels
    told = 'they do not count' if label_weighted else 'each counts 1, or 0 if it has no scores'
    if missing == 'zero':
        assert f'2 of 4 queries have no true label: {told}' in list(score.notes)


def test_one_table_at_most():
    with pytest.raises(ParameterError, match=r'^give per_query or per_class, not'):
        challenges.evaluate_lrap(None, None, per_query=True, per_class=True)


def test_samples_without_labels():
    truth = table('fname,labels', ('a', 'x'), ('b', None))
    scores = pandas.DataFrame({'fname': ['a', 'b'], 'x': [0, 1], 'y': [1, 1]})
    score = challenges.evaluate_lrap(truth, scores)
    assert (score.value, score.counts['without_truth']) == (3 / 4, 1)
    assert list(score.notes) == [
        '1 of 2 queries have no true label: each counts 1',
        "1 class is true for no query, but ranked: 'y'",
    ]
    score = challenges.evaluate_lrap(truth.assign(labels=''), scores, per_class=True)
    assert (score.value, score.table['weight'].tolist()) == (1, [0, 0])


def test_a_saved_index_is_no_class(tmp_path):
    """What pandas adds to a file of its own is refused, not scored."""
    truth = table('fname,labels', ('a', 'x'), ('b', 'x,y'))
    scores = pandas.DataFrame({'fname': ['b', 'a'], 'x': [0.2, 0.9], 'y': [0.3, 0.1]}, index=[1, 0])
    assert challenges.evaluate_lrap(truth, scores).value == 1
    scores.to_csv(tmp_path / 'index.csv')
    pandas.read_csv(tmp_path / 'index.csv').to_csv(tmp_path / 'again.csv', index=False)
    scores.to_parquet(tmp_path / 'index.parquet')
    with pytest.raises(FormatError, match="found column 'index', which looks like a saved index,"):
        challenges.evaluate_lrap(truth, scores.reset_index())
    for name, column in ('index.csv', ''), ('again.csv', 'Unnamed: 0'), ('index.parquet', '__in'):
        with pytest.raises(FormatError, match=f"found column '{column}.*', which looks like a"):
            challenges.evaluate_lrap(truth, tmp_path / name)
    one_hot = scores.round().rename_axis(None).reset_index(drop=True)
    one_hot.to_csv(tmp_path / 'truth.csv')
    with pytest.raises(FormatError, match=r"found column '', .* without it, in pandas index=False"):
        challenges.evaluate_lrap(tmp_path / 'truth.csv', scores)


ROWS = ('p', 0.4, 0.3, 4), ('q', 0.7, 0.9, 31), ('r', 0.1, 0.2, 0.5)
SCORES = pandas.DataFrame(ROWS, columns=['fname', 'wind', 'sea', 'seconds'])
TRUTHS = {  # p has wind and is right, q has wind behind sea, r has both
    'labels': table('fname,labels', ('p', 'wind'), ('q', 'wind'), ('r', 'sea,wind')),
    'columns': pandas.DataFrame({'fname': list('rqp'), 'sea': [1, 0, 0], 'wind': [True] * 3}),
}


@pytest.mark.parametrize('shape', TRUTHS)
@pytest.mark.parametrize('label_weighted', [False, True])
def test_other_columns_of_numbers_are_left_out(shape, label_weighted):
    settings = {'label_weighted': label_weighted, 'per_class': True}
    with pytest.warns(DataWarning, match=r"1 of 3 columns .*<truth>: left out \('seconds'\)"):
        score = challenges.evaluate_lrap(TRUTHS[shape], SCORES, **settings)
    value = (1 + 1 / 2 + 1 + 1) / 4 if label_weighted else (1 + 1 / 2 + 1) / 3
    assert score.value == pytest.approx(value, **CLOSE)
    assert score.table['class'].tolist() == ['wind', 'sea']


@pytest.mark.parametrize('factor', [1, 8])
def test_a_class_that_no_sample_has_is_ranked(factor):
    """Only a column that alone leaves the range of probabilities is known to be no class."""
    scores = SCORES[['fname', 'wind', 'sea']].assign(fog=[0.9, 0.8, 0.0])
    scores[['wind', 'sea', 'fog']] *= factor
    score = challenges.evaluate_lrap(TRUTHS['labels'], scores)
    assert score.value == pytest.approx((1 / 2 + 1 / 3 + 1) / 3, **CLOSE)
    assert (score.counts['classes'], score.warnings) == (3, ())
