"""Files of all challenges: formats, pieces, ids, policies, errors."""

import gzip

import pandas
import pytest
from challenge_inputs import SAMPLES, table, written

from mediaeval_ap import challenges, progress
from mediaeval_ap.challenges import lrap
from mediaeval_ap.challenges import task as task_room
from mediaeval_ap.challenges.lists_of_labels import FIRST_HIT, MAP
from mediaeval_ap.errors import (
    FormatError,
    MissingIdsWarning,
    NoOverlapWarning,
    ParameterError,
    UndefinedScoreError,
    UnknownIdsWarning,
)

SAMPLE_CALLS = {
    'whales': (challenges.evaluate_first_hit, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'fashion': (challenges.evaluate_map, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'landmarks': (challenges.evaluate_gap, 'predictions', task_room, 'QUERIES_IN_PIECE'),
    'sounds': (challenges.evaluate_lrap, 'scores', lrap, 'SCORES_IN_PIECE'),
}


@pytest.mark.parametrize('name', SAMPLE_CALLS)
def test_pieces_and_the_order_of_the_rows_do_not_matter(name, monkeypatch):
    evaluate, answers, module, size = SAMPLE_CALLS[name]
    files = SAMPLES / f'{name}_truth.csv', SAMPLES / f'{name}_{answers}.csv'
    expected = evaluate(*files)
    monkeypatch.setattr(module, size, 7)
    assert evaluate(*files).value == expected.value
    frames = [pandas.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    if name == 'sounds':
        frames[1] = frames[1].astype(dict.fromkeys(frames[1].columns[1:], float))
    # Any two orders would do.
    shuffled = [frame.sample(frac=1, random_state=seed) for seed, frame in enumerate(frames)]
    score = evaluate(*shuffled)
    assert (score.value, score.counts) == (expected.value, expected.counts)


@pytest.mark.parametrize('name', SAMPLE_CALLS)
def test_gzip_and_parquet(name, tmp_path):
    evaluate, answers, _, _ = SAMPLE_CALLS[name]
    files = [SAMPLES / f'{name}_truth.csv', SAMPLES / f'{name}_{answers}.csv']
    expected = evaluate(*files).value
    zipped = [tmp_path / f'{file.name}.gz' for file in files]
    tables = [tmp_path / f'{file.stem}.parquet' for file in files]
    for file, target, parquet in zip(files, zipped, tables, strict=True):
        target.write_bytes(gzip.compress(file.read_bytes()))
        frame = pandas.read_csv(file, dtype=str, keep_default_na=False)
        if file.stem == 'sounds_scores':
            frame = frame.astype(dict.fromkeys(frame.columns[1:], float))
        frame.to_parquet(parquet)
    assert evaluate(*zipped).value == evaluate(*tables).value == expected


WHALES = challenges.evaluate_first_hit, 'Image,Id', 'Image,Id', 'w'
FASHION = challenges.evaluate_map, 'customer_id,prediction', 'customer_id,prediction', 'w'
PURCHASES = challenges.evaluate_map, 'customer_id,article_id', 'customer_id,prediction', 'w'
LANDMARKS = challenges.evaluate_gap, 'id,landmark_id', 'id,landmarks', 'w 0.5'


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
        f"<DataFrame>, {name}: found no row for 'b', expected one for each id of <DataFrame>; "
        "score it 0 or leave it out by --missing zero or skip, in Python missing='zero' or 'skip'"
    )
    with pytest.warns(MissingIdsWarning, match='no row for 1 of 2 ids of <DataFrame>, scored as'):
        score = evaluate(truth, some, missing='zero')
    assert (score.value, score.counts['missing'], score.counts['queries']) == (1 / 2, 1, 2)
    with pytest.warns(MissingIdsWarning, match='no row for 1 of 2 ids of <DataFrame>, left out'):
        score = evaluate(truth, some, missing='skip')
    assert (score.value, score.counts['missing'], score.counts['queries']) == (1, 1, 1)
    assert score.queries.to_pylist() == ['a']
    with pytest.raises(FormatError) as caught:
        evaluate(truth, more)
    assert str(caught.value) == (
        f"<DataFrame>, row 3, {name}: found 'c', which <DataFrame> lacks, expected an id of the "
        "truth; leave others out by --unknown drop, in Python unknown='drop'"
    )
    with pytest.warns(UnknownIdsWarning, match='1 of 3 rows have an id that <DataFrame> lacks'):
        score = evaluate(truth, more, unknown='drop')
    assert (score.value, score.counts['unknown'], score.counts['queries']) == (1, 1, 2)
    for policy in {'missing': 'drop'}, {'unknown': 'zero'}:
        with pytest.raises(ParameterError, match=r": found '\w+', expected one of error, "):
            evaluate(truth, some, **policy)


@pytest.mark.parametrize(('ids', 'found'), [('abc', "'b' and 1 more"), ('abcd', "'b' and 2 more")])
def test_several_ids_that_are_missing(ids, found):
    truth = table('Image,Id', *((x, 'w') for x in ids))
    with pytest.raises(FormatError, match=f'found no row for {found}, expected one'):
        challenges.evaluate_first_hit(truth, table('Image,Id', ('a', 'w')))


@pytest.mark.parametrize('challenge', [WHALES, FASHION, PURCHASES, LANDMARKS])
def test_no_id_is_left(challenge):
    evaluate, header, predicted, answer = challenge
    truth, other = table(header, ('a', 'w')), table(predicted, ('b', answer))
    with (
        pytest.warns(NoOverlapWarning, match='0 of 1 ids occur in <DataFrame>'),
        pytest.warns(MissingIdsWarning, match='no row for 1 of 1 ids'),
        pytest.warns(UnknownIdsWarning, match='1 of 1 rows'),
        pytest.raises(UndefinedScoreError, match='no id of <DataFrame> is left to score'),
    ):
        evaluate(truth, other, missing='skip', unknown='drop')


@pytest.mark.parametrize(
    ('task', 'evaluate', 'name'),
    [
        (MAP, challenges.evaluate_map, 'fashion'),
        (FIRST_HIT, challenges.evaluate_first_hit, 'whales'),
    ],
)
def test_several_cutoffs_in_one_reading(task, evaluate, name):
    files = [SAMPLES / f'{name}_{role}.csv' for role in ('truth', 'predictions')]
    with files[0].open() as truth, files[1].open() as predictions:  # which can be read once
        metrics = [task.metric(k) for k in (12, 1, 3)]
        scores = task.scores(truth, predictions, metrics, per_query=True)
    for k, score in zip([12, 1, 3], scores, strict=True):
        alone = evaluate(*files, k, per_query=True)
        assert (score.metric, score.value, score.counts) == (
            alone.metric,
            alone.value,
            alone.counts,
        )
        assert score.parameters == alone.parameters
        assert score.table.equals(alone.table)


def test_warnings_about_files_are_given_out_once_for_several_cutoffs():
    truth = table('Image,Id', ('a', 'w'), ('b', 'w'))
    metrics = [FIRST_HIT.metric(k) for k in (1, 2, 3)]
    predictions = table('Image,Id', ('a', 'w'))
    with pytest.warns() as caught:
        scores = FIRST_HIT.scores(truth, predictions, metrics, per_query=False, missing='zero')
    assert [warning.category for warning in caught] == [MissingIdsWarning]
    assert [len(score.warnings) for score in scores] == [1, 1, 1]


def test_warnings_point_to_who_called():
    truth = table('Image,Id', ('a', 'w'), ('b', 'w'))
    for predictions, policy in (
        (table('Image,Id', ('a', 'w')), {'missing': 'zero'}),
        (table('Image,Id', *((x, 'w') for x in 'abc')), {'unknown': 'drop'}),
    ):
        with pytest.warns() as caught:
            challenges.evaluate_first_hit(truth, predictions, **policy)
        assert caught[0].filename == __file__


def test_no_progress_unless_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(progress, 'DELAY_SECONDS', 0)
    truth = table('Image,Id', ('a', 'w'))
    challenges.evaluate_first_hit(truth, truth)
    assert capsys.readouterr().err == ''
    challenges.evaluate_first_hit(truth, truth, progress=True)
    assert '1/1' in capsys.readouterr().err


@pytest.mark.parametrize('challenge', [WHALES, FASHION, LANDMARKS])
@pytest.mark.parametrize('role', ['truth', 'predictions'])
@pytest.mark.parametrize(
    ('ids', 'expected'),
    [
        ('aa', "row 2, {}: found 'a' again, as in row 1, expected each id once"),
        (
            ['a', 'b', 'b', 'b'],
            "row 3, {}: found 'b' again, as in row 2, .* \\(1 more wrong row\\)",
        ),
        (['a', ''], 'row 2, {}: found nothing, expected text'),
    ],
)
def test_ids_that_are_repeated_or_empty(challenge, role, ids, expected):
    evaluate, header, predicted, answer = challenge
    tables = {
        'truth': table(header, *((x, 'w') for x in 'ab')),
        'predictions': table(predicted, *((x, answer) for x in 'ab')),
    }
    header, value = (header, 'w') if role == 'truth' else (predicted, answer)
    tables[role] = table(header, *((x, value) for x in ids))
    with pytest.raises(FormatError, match=expected.format(header.split(',')[0])):
        evaluate(**tables)


@pytest.mark.parametrize(
    ('evaluate', 'truth', 'predictions', 'expected'),
    [
        (
            challenges.evaluate_first_hit,
            'Image,Id\na,w\nb,w v\n',
            'Image,Id\na,w\nb,w\n',
            "truth.csv, line 3, Id: found 'w v', expected one label, without white space",
        ),
        (
            challenges.evaluate_map,
            'customer_id,article_id\na,1\na,1 2\n',
            'customer_id,prediction\na,1\n',
            "truth.csv, line 3, article_id: found '1 2', expected one label",
        ),
        (
            challenges.evaluate_map,
            'customer_id,article_id\na,1\n,2\n',
            'customer_id,prediction\na,1\n',
            'truth.csv, line 3, customer_id: found nothing, expected text',
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\nb, \n',
            'id,landmarks\na,1 0.5\nb,\n',
            "truth.csv, line 3, landmark_id: found ' ', expected one label",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\nb,2\n',
            'id,landmarks\na,1 nan\nb,1 2 3\n',
            r"predictions.csv, line 2, landmarks: found '1 nan', .* \(1 more wrong line\)$",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\nb,2\n',
            'id,landmarks\na,\nb,1 nan\n',
            "predictions.csv, line 3, landmarks: found '1 nan'",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\n',
            'id,label\na,1 0.5\n',
            "line 1: found no column landmarks in 'id,label', expected id,landmarks; name other ",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,x\n',
            'name,x\na,1\n',
            "line 1: found no column fname in 'name,x', expected fname, and columns of numbers",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,"u,v"\n',
            'fname,x,y\na,1,0\n',
            "truth.csv, line 2, labels: found 'u', expected classes of .*predictions.csv$",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,"x,x,x"\n',
            'fname,x,y\na,1,0\n',
            "truth.csv, line 2, labels: found 'x' twice, expected each label once$",
        ),
        (
            challenges.evaluate_first_hit,
            'Image,Id\na,\n',
            'Image,Id\na,w\n',
            'truth.csv, line 2, Id: found nothing, expected text',
        ),
        (
            challenges.evaluate_map,
            'customer_id,article_id\na,1\na,\n',
            'customer_id,prediction\na,1\n',
            'truth.csv, line 3, article_id: found nothing, expected text',
        ),
        (
            challenges.evaluate_map,
            'customer_id,article_id\na,1\nb,1\n',
            'customer_id,prediction\nb,1\n\nx,1\ny,1\na,1\n',
            "predictions.csv, line 4, customer_id: found 'x', which .*truth.csv lacks, .*"
            r'\(1 more wrong line\)$',
        ),
        (
            challenges.evaluate_map,
            'customer_id,price\na,1\n',
            'customer_id,prediction\nb,1\n',
            "truth.csv, line 1: found no column prediction in 'customer_id,price', expected "
            'customer_id,prediction or customer_id,article_id',
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\nb,2\n',
            'id,landmarks\na,1 0.5\nb,2 high\n',
            "predictions.csv, line 3, landmarks: found '2 high', expected a label and its finite",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\nb,2\n',
            'id,landmarks\na,1 nan\nb,2 inf\n',
            r"line 2, landmarks: found '1 nan', expected a label .* \(1 more wrong line\)",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\n',
            'id,landmarks\na,1 0.5 2 0.4\n',
            "line 2, landmarks: found '1 0.5 2 0.4', expected a label",
        ),
        (
            challenges.evaluate_gap,
            'id,landmark_id\na,1\n',
            'id,landmarks\na,1\n',
            "line 2, landmarks: found '1', expected a label",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,"x,y"\nb,"x,z"\n',
            'fname,x,y\na,1,0\nb,1,0\n',
            "truth.csv, line 3, labels: found 'z', expected classes of .*predictions.csv",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,"x,y,x"\n',
            'fname,x,y\na,1,0\n',
            "truth.csv, line 2, labels: found 'x' twice, expected each label once",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,"x,"\n',
            'fname,x,y\na,1,0\n',
            "truth.csv, line 2, labels: found '', expected classes",
        ),
        (
            challenges.evaluate_lrap,
            'fname,labels\na,x\n',
            'fname,x,y\na,1,nan\n',
            "predictions.csv, line 2, y: found 'nan', expected a finite decimal number",
        ),
    ],
)
def test_one_clear_error(evaluate, truth, predictions, expected, tmp_path):
    with pytest.raises(FormatError, match=expected):
        evaluate(*written(tmp_path, truth, predictions))
