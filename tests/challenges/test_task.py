"""Files of all challenges: formats, pieces, ids, policies, errors."""

import io

import pandas
import pytest
from challenge_inputs import SAMPLES, table, written

from mediaeval_ap import challenges, progress, read_results
from mediaeval_ap.challenges import scores_of_classes
from mediaeval_ap.challenges import task as task_room
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    NoOverlapWarning,
    ParameterError,
    UndefinedScoreError,
)

MAP, FIRST_HIT = challenges.evaluate_map, challenges.evaluate_first_hit
GAP, LRAP = challenges.evaluate_gap, challenges.evaluate_lrap
SAMPLE_CALLS = {
    'whales': (FIRST_HIT, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'fashion': (MAP, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'landmarks': (GAP, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'sounds': (LRAP, 'scores', scores_of_classes, 'SCORES_IN_PIECE'),
}


@pytest.mark.parametrize('name', SAMPLE_CALLS)
def test_pieces_formats_and_the_order_of_the_rows_do_not_matter(name, monkeypatch, tmp_path):
    evaluate, answers, module, size = SAMPLE_CALLS[name]
    files = SAMPLES / f'{name}_truth.csv', SAMPLES / f'{name}_{answers}.csv'
    expected = evaluate(*files)
    monkeypatch.setattr(module, size, 7)
    assert evaluate(*files).value == expected.value
    frames = [pandas.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    if name == 'sounds':
        frames[1] = frames[1].astype(dict.fromkeys(frames[1].columns[1:], float))
    tables = [tmp_path / f'{file.stem}.parquet' for file in files]
    for seed, (frame, file) in enumerate(zip(frames, tables, strict=True)):
        frame.sample(frac=1, random_state=seed).to_parquet(
            file, index=False
        )  # any two orders would do
    score = evaluate(*tables)
    assert (score.value, score.counts) == (expected.value, expected.counts)


WHALES = FIRST_HIT, 'Image,Id', 'Image,Id', 'w'
FASHION = MAP, 'customer_id,prediction', 'customer_id,prediction', 'w'
PURCHASES = MAP, 'customer_id,article_id', 'customer_id,prediction', 'w'
LANDMARKS = GAP, 'id,landmark_id', 'id,landmarks', 'w 0.5'


@pytest.mark.parametrize('challenge', [WHALES, FASHION, PURCHASES, LANDMARKS])
def test_ids_that_are_missing_or_unknown(challenge):
    evaluate, header, predicted, answer = challenge
    name = header.split(',')[0]
    truth = table(header, ('a', 'w'), ('b', 'w'))
    assert evaluate(truth, table(predicted, ('a', answer), ('b', answer))).value == 1
    some, more = table(predicted, ('a', answer)), table(predicted, *((x, answer) for x in 'abc'))
    with pytest.raises(FormatError) as caught:
        evaluate(truth, some)
    assert str(caught.value) == (
        f"<predictions>, {name}: found no row for 'b', expected one for each id of <truth>; "
        "score it 0 or leave it out by --missing zero or skip, in Python missing='zero' or 'skip'"
    )
    with pytest.warns(DataWarning, match='no row for 1 of 2 ids of <truth>, scored as'):
        score = evaluate(truth, some, missing='zero')
    assert (score.value, score.counts['missing'], score.counts['queries']) == (1 / 2, 1, 2)
    with pytest.warns(DataWarning, match='no row for 1 of 2 ids of <truth>, left out'):
        score = evaluate(truth, some, missing='skip')
    assert (score.value, score.counts['missing'], score.counts['queries']) == (1, 1, 1)
    assert score.queries.to_pylist() == ['a']
    with pytest.raises(FormatError) as caught:
        evaluate(truth, more)
    assert str(caught.value) == (
        f"<predictions>, row 3, {name}: found 'c', which <truth> lacks, expected an id of the "
        "truth; leave others out by --unknown drop, in Python unknown='drop'"
    )
    with pytest.warns(DataWarning, match='1 of 3 rows have an id that <truth> lacks'):
        score = evaluate(truth, more, unknown='drop')
    assert (score.value, score.counts['unknown'], score.counts['queries']) == (1, 1, 2)


def test_no_id_is_left():
    truth, other = table('Image,Id', ('a', 'w')), table('Image,Id', ('b', 'w'))
    with (
        pytest.warns(NoOverlapWarning, match='0 of 1 ids occur in <truth>'),
        pytest.warns(DataWarning, match='no row for 1 of 1 ids'),
        pytest.warns(DataWarning, match='1 of 1 rows'),
        pytest.raises(UndefinedScoreError, match='no id of <truth> is left to score'),
    ):
        FIRST_HIT(truth, other, missing='skip', unknown='drop')


@pytest.mark.parametrize(('evaluate', 'name'), [(MAP, 'fashion'), (FIRST_HIT, 'whales')])
def test_several_cutoffs_in_one_reading(evaluate, name):
    files = [SAMPLES / f'{name}_{role}.csv' for role in ('truth', 'predictions')]
    with files[0].open() as truth, files[1].open() as predictions:  # which can be read once
        score = evaluate(truth, predictions, [12, 1, 3], per_query=True)
    alone = [evaluate(*files, k, per_query=True) for k in (12, 1, 3)]
    assert score.means == {each.metric: each.value for each in alone}
    assert (score.metric, score.value) == (alone[-1].metric, alone[-1].value)
    assert score.counts == alone[0].counts
    assert score.parameters == {**alone[0].parameters, 'k': [12, 1, 3]}
    for each in alone:
        assert score.table[each.table.columns].equals(each.table)
        (column, *_) = each.values
        assert score.to_frame()[column].tolist() == each.to_frame()['value'].tolist()
    (again,) = read_results(io.StringIO(score.to_json()))
    assert (again.means, again.mean_counts) == (score.means, score.mean_counts)
    assert again.to_frame().equals(score.to_frame())


@pytest.mark.parametrize(
    ('k', 'message'),
    [([], 'k: found none, exp'), ([3, 3], 'k: found 3 twice'), ([3, 0], 'k: found 0, exp')],
)
def test_cutoffs_that_are_wrong(k, message):
    for evaluate in MAP, FIRST_HIT:
        with pytest.raises(ParameterError, match=f'^{message}'):
            evaluate(None, None, k)


def test_no_progress_unless_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(progress, 'DELAY_SECONDS', 0)
    truth = table('Image,Id', ('a', 'w'))
    challenges.evaluate_first_hit(truth, truth)
    assert capsys.readouterr().err == ''
    challenges.evaluate_first_hit(truth, truth, progress=True)
    assert 'scoring: ' in capsys.readouterr().err


@pytest.mark.parametrize('challenge', [WHALES, FASHION, LANDMARKS])
@pytest.mark.parametrize('role', ['truth', 'predictions'])
@pytest.mark.parametrize(
    ('ids', 'expected'),
    [
        ('abbb', "row 3, {}: found 'b' again, as in row 2, .* each id once \\(1 more wrong row\\)"),
        (['a', ''], 'row 2, {}: found nothing, expected text'),
    ],
)
def test_ids_that_are_repeated_or_empty(challenge, role, ids, expected):
    evaluate, header, predicted, answer = challenge
    shapes = {'truth': (header, 'w'), 'predictions': (predicted, answer)}
    tables = {
        each: table(header, *((x, value) for x in (ids if each == role else 'ab')))
        for each, (header, value) in shapes.items()
    }
    with pytest.raises(FormatError, match=expected.format(shapes[role][0].split(',')[0])):
        evaluate(**tables)


PURCHASED = 'customer_id,article_id'
BOUGHT, SURE = 'customer_id,prediction\na,1\n', 'id,landmark_id\na,1\nb,2\n'
ERRORS = [
    (FIRST_HIT, 'Image,Id\na,\n', 'Image,Id\na,w\n', 'truth.csv, line 2, Id: found nothing, exp'),
    (MAP, f'{PURCHASED}\na,1\na,\n', BOUGHT, 'truth.csv, line 3, article_id: found nothing, e'),
    (GAP, f'{SURE}c, \n', 'id,landmarks\na,1 0.5\nb,\nc,\n', "line 4, landmark_id: found ' '"),
    (LRAP, 'fname,labels\na,"x,y,x,x"\n', 'fname,x,y\na,1,0\n', "line 2, labels: found 'x' twice"),
    (LRAP, 'fname,labels\na,"x,"\n', 'fname,x,y\na,1,0\n', "line 2, labels: found '', expected"),
]


@pytest.mark.parametrize(('evaluate', 'truth', 'predictions', 'expected'), ERRORS)
def test_one_clear_error(evaluate, truth, predictions, expected, tmp_path):
    with pytest.raises(FormatError, match=expected):
        evaluate(*written(tmp_path, truth, predictions))
