"""Global AP on the files of its challenge."""

import pytest
from challenge_inputs import table, written

from mediaeval_ap import challenges
from mediaeval_ap.errors import FormatError


def test_stable_ties_are_in_the_order_of_the_predictions():
    """Matching by id puts rows in the order of the truth, which must not break ties."""
    truth = table('id,landmark_id', ('p', '1'), ('q', '2'))
    for first, value in ('p', 1 / 2), ('q', 1 / 4):
        rows = [('p', '1 0.5'), ('q', '3 0.5')]
        predictions = table('id,landmarks', *sorted(rows, key=lambda row: row[0] != first))
        assert challenges.evaluate_gap(truth, predictions, ties='stable').value == value


def test_labels_that_spell_missing_values(tmp_path):
    """pandas reads the texts nan, NA and None as missing values."""
    truth, predictions = written(
        tmp_path,
        'id,landmark_id\nnan,nan\nNA,None\nnull,\n',
        'id,landmarks\nnan,nan 0.9\nNA,None 0.8\nnull,nan 0.7\n',
    )
    score = challenges.evaluate_gap(truth, predictions)
    assert (score.value, score.counts['without_truth']) == (1, 1)


@pytest.mark.parametrize('number', ['-0009007199254740993', '1' + '0' * 22 + '1'])
def test_integers_in_text_that_no_double_holds(number):
    """A rounded confidence would tie with its neighbour."""
    answers = table('id,landmarks', ('1', 'a 0.5'), ('2', f'a {number}'))
    with pytest.raises(FormatError) as caught:
        challenges.evaluate_gap(table('id,landmark_id', ('1', 'a'), ('2', 'a')), answers)
    assert str(caught.value) == (
        f"<predictions>, row 2, landmarks: found 'a {number}', expected a label and a finite "
        'number that a double can hold'
    )


@pytest.mark.parametrize(
    'number', ['9007199254740994', '1e23', '9007199254740993.0', '+.5', '00.25', '0' * 5000 + '7']
)
def test_decimals_in_text_are_the_nearest_doubles(number):
    truth = table('id,landmark_id', ('1', 'a'))
    answers = table('id,landmarks', ('1', f'a {number}'))
    rows = challenges.evaluate_gap(truth, answers, per_query=True).table
    assert rows['confidence'].tolist() == [float(number)]
