"""MAP at k and first-hit MAP on the files of their challenges."""

import pandas
import pytest
from challenge_inputs import table

from mediaeval_ap import challenges
from mediaeval_ap.errors import DataWarning, FormatError, NoOverlapWarning, UndefinedScoreError


def test_users_without_truth_are_left_out_and_counted():
    truth = table('customer_id,prediction', ('a', 'x'), ('b', ''), ('c', 'y z'))
    predictions = table('customer_id,prediction', ('a', 'x'), ('b', 'x'), ('c', 'q y'))
    score = challenges.evaluate_map(truth, predictions, per_query=True)
    assert score.value == (1 + 1 / 4) / 2
    assert score.table.values.tolist() == [['a', 1, 1], ['b', 0, 0], ['c', 1 / 4, 2]]
    assert score.counts == {'queries': 3, 'without_truth': 1, 'missing': 0, 'unknown': 0}
    assert list(score.notes) == ['1 of 3 queries have no relevant label, and are left out']
    with pytest.raises(UndefinedScoreError, match='none of 1 users has a relevant label'):
        challenges.evaluate_map(truth[1:2], predictions[1:2])


def test_repeated_labels_of_a_truth():
    truth = table('customer_id,article_id', ('a', '01'), ('b', '02'), ('a', '01'))
    predictions = table('customer_id,prediction', ('a', '01'), ('b', '02'))
    with pytest.warns(DataWarning, match='<truth>: 1 of 3 labels repeat another'):
        assert challenges.evaluate_map(truth, predictions).value == 1
    score = challenges.evaluate_map(truth, predictions, definition='mediaeval-2016-final')
    assert score.value == (1 / 2 + 1) / 2


def test_scores_above_one():
    truth = table('customer_id,prediction', ('a', 'x'))
    predictions = table('customer_id,prediction', ('a', 'x x'))
    with pytest.warns(DataWarning, match='<predictions>: 1 of 1 queries have an AP above'):
        assert challenges.evaluate_map(truth, predictions, definition='mediaeval-2016').value == 2
    assert challenges.evaluate_map(truth, predictions).value == 1


TRUTH = table('customer_id,prediction', ('a', 'oak elm'), ('b', 'ash'), ('c', 'yew fir'))


JOINED = {'oak,elm': ',', 'oak|elm': '|', 'pine;oak': ';', "['oak', 'elm']": ', [ ]'}


@pytest.mark.parametrize('field', JOINED)
@pytest.mark.parametrize('others', [['ash', 'yew fir'], ['pine', 'palm']])
def test_labels_that_are_joined(field, others):
    """They would be one label that is never relevant, and the score a little too low."""
    said = table('customer_id,prediction', *zip('abc', [field, *others], strict=True))
    with pytest.warns(NoOverlapWarning) as caught:
        challenges.evaluate_map(TRUTH, said)
    (told,) = (str(each.message) for each in caught)
    ending = f'but their parts are; labels are separated by spaces, not by {JOINED[field]}'
    assert ' predicted labels, as ' in told
    assert told.endswith(ending)


def test_separators_that_belong_to_labels():
    """As in names of a hierarchy: a label of both files holds one."""
    truth = table('customer_id,prediction', ('a', 'tree|oak tree'), ('b', 'tree'))
    said = table('customer_id,prediction', ('a', 'tree|oak'), ('b', 'tree|elm tree'))
    assert challenges.evaluate_map(truth, said).value == (1 / 2 + 1 / 2) / 2


COLUMNS = {'id': 'user', 'label': 'item'}
BOUGHT = table('user,item', ('ann', 'cup'), ('ann', 'mug'), ('bob', 'jar'))
OFFERED = pandas.DataFrame(  # the right order: cup pan mug, jar pot
    [
        ('bob', 'pot', 2, 0.1),
        ('ann', 'mug', 7, -4),
        ('ann', 'pan', 3, 0),
        ('bob', 'jar', 1, 0.6),
        ('ann', 'cup', 1, 12),
    ],
    columns=['user', 'item', 'rank', 'score'],
)


@pytest.mark.parametrize('kind', ['frame', 'csv', 'parquet'])
@pytest.mark.parametrize('by', ['rank', 'score'])
def test_a_column_sorts_rows_of_one_label(by, kind, tmp_path):
    said = OFFERED if by == 'rank' else OFFERED.drop(columns='rank')
    if kind != 'frame':
        getattr(said, f'to_{kind}')(said := tmp_path / 'said', index=False)
    score = challenges.evaluate_map(BOUGHT, said, columns=COLUMNS)
    assert score.value == ((1 + 2 / 3) / 2 + 1) / 2
    assert list(score.notes) == [f'predictions are sorted by {by}']
    images = table('user,item', ('ann', 'pan'), ('bob', 'jar'))
    assert challenges.evaluate_first_hit(images, said, columns=COLUMNS).value == (1 / 2 + 1) / 2


def test_a_role_says_what_sorts():
    """Roles say which column does; `gap` has confidences; a label may be in a column score."""
    named = OFFERED.rename(columns={'rank': 'at'})
    score = challenges.evaluate_map(BOUGHT, named, columns={**COLUMNS, 'rank': 'at'})
    assert list(score.notes) == ['predictions are sorted by at']
    truth = table('id,landmark_id', ('a', 'oak'))
    said = table('id,landmarks,score', ('a', 'oak 0.5', 'x'))
    assert list(challenges.evaluate_gap(truth, said).notes) == []
    scores = table('user,score', ('ann', 'pan'), ('ann', 'cup'), ('bob', 'jar'))
    columns = {'columns': {'id': 'user', 'label': 'score'}, 'truth_columns': COLUMNS}
    assert challenges.evaluate_map(BOUGHT, scores, **columns).value == (1 / 4 + 1) / 2


def test_equal_scores_keep_the_order_of_rows():
    """An unstable sort would reorder rows of equal scores."""
    tied = OFFERED.drop(columns='rank').assign(score=[1, 2, 2, 1, 2])  # mug pan cup, pot jar
    score = challenges.evaluate_map(BOUGHT, tied, columns=COLUMNS)
    assert score.value == ((1 + 2 / 3) / 2 + 1 / 2) / 2


@pytest.mark.parametrize(
    ('changed', 'expected'),
    [
        ({'rank': [2, 3, None, 1, 1]}, 'line 4, rank: found nothing, expected a number to sort'),
        ({'score': [1, 2, 3, 'high', 5]}, "line 5, score: found 'high', expected a finite decimal"),
    ],
)
def test_columns_that_cannot_sort(changed, expected, tmp_path):
    said = OFFERED[['user', 'item']].assign(**changed)
    said.astype(object).to_csv(tmp_path / 'said.csv', index=False)
    with pytest.raises(FormatError, match=f'said.csv, {expected}'):
        challenges.evaluate_map(BOUGHT, tmp_path / 'said.csv', columns=COLUMNS)
