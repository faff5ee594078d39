"""Files of challenges with columns of any name, in any place: what is read, and what is refused."""

import gzip
import re

import pandas
import polars
import pytest
from challenge_inputs import table, written

from mediaeval_ap import challenges
from mediaeval_ap.errors import FormatError, ParameterError

MAP, FIRST_HIT = challenges.evaluate_map, challenges.evaluate_first_hit
GAP, LRAP = challenges.evaluate_gap, challenges.evaluate_lrap
LABELS = {'id': 'user', 'labels': 'items'}
LABEL = {'id': 'user', 'label': 'item'}


@pytest.mark.parametrize(
    ('evaluate', 'truth', 'predictions', 'settings', 'value'),
    [
        (MAP, 'user,items\na,x y\nb,z\n', 'n,items,user\n1,q z,b\n2,x y,a\n', LABELS, 3 / 4),
        (MAP, 'user,item\na,x\nb,z\na,y\n', 'user,item\na,x\nb,q\na,y\nb,z\n', LABEL, 3 / 4),
        (MAP, 'user,article_id\na,x\n', 'user,prediction\na,q x\n', {'id': 'user'}, 1 / 2),
        (MAP, 'a,x y\nb,z\n', 'b,q z\na,x y\n', {'id': 1, 'labels': 2}, 3 / 4),
        (MAP, 'x,a\n"z",b\n', '"q","a"\n\nx,a\n"z",b\n', {'id': 2, 'label': 1}, 3 / 4),
        (FIRST_HIT, 'user,item\na,x\nb,z\n', 'user,item\na,x\nb,q\nb,z\n', LABEL, 3 / 4),
        (
            *(GAP, 'user,item\na,x\nb,z\nc,\n', 'user,item,sure\na,x, 5e-1 \nb,q,0.75\nc,,\n'),
            *({**LABEL, 'confidence': 'sure'}, 1 / 4),
        ),
        (GAP, 'a,x\nb,z\n', 'a,x,0.5\nb,q,0.75\n', {'id': 1, 'label': 2, 'confidence': 3}, 1 / 4),
        (LRAP, 'user,items\na,"x,y"\nb,z\n', 'x,y,user,z\n3,2,a,1\n2,1,b,1\n', LABELS, 2 / 3),
        (
            *(LRAP, 'user,item\na,x\nb,z\na,y\nc,\n'),
            *('x,y,user,z\n3,2,a,1\n2,1,b,1\n2,1,c,1\n', LABEL, 7 / 9),
        ),
    ],
)
def test_both_files_have_these_columns(evaluate, truth, predictions, settings, value, tmp_path):
    files = written(tmp_path, truth, predictions)
    score = evaluate(*files, columns=settings)
    assert score.value == pytest.approx(value, abs=1e-15)  # a rounding of the mean
    in_shell = ','.join(f'{role}={column}' for role, column in settings.items())
    assert score.parameters['columns'] == in_shell


@pytest.mark.parametrize(
    ('evaluate', 'truth', 'predictions', 'columns', 'truth_columns'),
    [
        (MAP, 'customer_id,article_id\na,x\n', 'user,items\na,x\n', LABELS, {}),
        (MAP, 'user,items\na,x\n', 'customer_id,prediction\na,x\n', None, LABELS),
        (MAP, 'user,item\na,x\n', 'a,x\n', {'id': 1, 'labels': 2}, LABEL),
        (GAP, 'user,item\na,x\n', 'id,landmarks\na,x 1\n', None, LABEL),
        (LRAP, 'a,x\n', 'user,x,y\na,2,1\n', {'id': 'user'}, {'id': 1, 'labels': 2}),
    ],
)
def test_files_with_different_columns(
    evaluate, truth, predictions, columns, truth_columns, tmp_path
):
    files = written(tmp_path, truth, predictions)
    assert evaluate(*files, columns=columns, truth_columns=truth_columns).value == 1


def test_tabs(tmp_path):
    (tmp_path / 'truth.tsv.gz').write_bytes(gzip.compress(b'user\titem\na\tx,1"\nb\tz\n'))
    (tmp_path / 'said.TSV').write_text('item\tsure\tuser\nx,1"\t0.5\ta\nz\t0.75\tb\n')
    columns = {**LABEL, 'confidence': 'sure'}
    assert GAP(tmp_path / 'truth.tsv.gz', tmp_path / 'said.TSV', columns=columns).value == 1


FRAME = pandas.DataFrame(
    {'user': ['a', 'b', 'c'], 'item': ['x', 'q', None], 'sure': [0.5, 1, None]}
)


def test_confidences_of_tables(tmp_path):
    truth, predictions = FRAME.assign(item=['x', 'y', 'z']), tmp_path / 'file.parquet'
    FRAME.to_parquet(predictions)
    columns = {**LABEL, 'confidence': 'sure'}
    score = GAP(truth, predictions, columns=columns)
    assert (score.value, score.counts['predictions']) == (1 / 6, 2)
    integers = FRAME[:2].assign(sure=[2**53, 2**53 + 1])
    with pytest.raises(FormatError, match=r'<predictions>, sure: found integers beyond 2\*\*53'):
        GAP(truth[:2], integers, columns=columns)
    with pytest.raises(FormatError, match='<predictions>, row 1, sure: found inf, expected a'):
        GAP(truth, FRAME.assign(sure=float('inf')), columns=columns)
    with pytest.raises(FormatError, match=r'sure: found a column of .*, expected numbers'):
        GAP(truth, FRAME.assign(sure='0.5'), columns=columns)


@pytest.mark.parametrize(
    ('rows', 'expected'),
    [
        ('a,x,\nb,z,0.5\n', 'line 2, sure: found nothing, expected the confidence of the label'),
        ('a,x,1\nb,z,high\n', "line 3, sure: found 'high', expected a finite decimal number"),
        ('a,x,1\nb,z,NA\n', "line 3, sure: found 'NA', expected a finite decimal number"),
        ('a,x y,1\nb,z,1\n', "line 2, item: found 'x y', expected one label, without white space"),
    ],
)
def test_confidences_that_are_wrong(rows, expected, tmp_path):
    files = written(tmp_path, 'user,item\na,x\nb,z\n', f'user,item,sure\n{rows}')
    with pytest.raises(FormatError, match=f'predictions.csv, {expected}'):
        GAP(*files, columns={**LABEL, 'confidence': 'sure'})


TWO = {'columns': {'id': 1, 'labels': 2}}
ERRORS = [
    (
        *(MAP, 'user,items\na,x\n', 'user,items\na,x\n', {}),
        "truth.csv, line 1: found no column customer_id in 'user,items', expected "
        'customer_id,prediction or customer_id,article_id; name other columns by '
        '--truth-columns id=…,labels=… or id=…,label=…, in Python truth_columns=',
    ),
    (
        *(MAP, 'customer_id,prediction\na,x\n', 'user,items\na,x\n', {}),
        "predictions.csv, line 1: found no column customer_id in 'user,items', expected "
        'customer_id,prediction; name other columns by --columns id=…,labels=… or ',
    ),
    (
        *(MAP, 'customer_id,article_id\na,x\n', 'user,items\na,x\n', {'columns': LABELS}),
        "truth.csv, line 1: found no column user in 'customer_id,article_id', expected user,items",
    ),
    (MAP, 'a,x\n', 'a\n', TWO, "predictions.csv, line 1: found no column 2 in 'column 1'"),
    (MAP, 'a,x\n', 'a,x\nb\n', TWO, "predictions.csv, line 2: found 1 field in 'b'"),
    (
        *(MAP, 'user_id,items\na,x\n', 'user_id,items\na,x\n', TWO),
        "truth.csv, line 1, column 1: found 'user_id', as in a header, expected an id",
    ),
    (
        *(FIRST_HIT, 'user,items\na,x y\n', 'user,items\na,x\n', {'columns': LABELS}),
        "truth.csv, line 2, items: found 'x y', expected one label",
    ),
    (
        *(GAP, 'id,landmark_id\na,x\n', 'id,landmarks\na,x\n', {}),
        "predictions.csv, line 2, landmarks: found 'x', expected a label and its finite "
        'confidence, or nothing; name a column of confidences by --columns confidence=…, in Python '
        'columns=',
    ),
    (
        *(LRAP, 'fname,labels\na,x y\nb,x\n', 'fname,x,y\na,1,0\n', {}),
        "truth.csv, line 2, labels: found 'x y', expected classes of ",
    ),
]


@pytest.mark.parametrize(('evaluate', 'truth', 'predictions', 'settings', 'expected'), ERRORS)
def test_one_clear_error(evaluate, truth, predictions, settings, expected, tmp_path):
    with pytest.raises(FormatError, match=f'^{re.escape(f"{tmp_path}/{expected}")}'):
        evaluate(*written(tmp_path, truth, predictions), **settings)


@pytest.mark.parametrize(
    ('evaluate', 'columns', 'expected'),
    [
        (MAP, 'user', "found 'user', expected columns by role, as {'id': 'user', "),
        (MAP, {'user': 7}, 'found user, expected the positions of id,labels or id,label'),
        (
            MAP,
            {'user': 'id'},
            "found {'user': 'id'}, expected id=user, in Python {'id': 'user'}, the",
        ),
        (MAP, {'label': 'x', 'labels': 'y'}, 'found label,labels, expected id,labels or id,label'),
        (MAP, {'id': 'x', 'labels': 'x'}, 'found id=x,labels=x, expected each column once'),
        (MAP, {'id': 1, 'labels': 'x'}, 'found id=1,labels=x, expected either names or, for a'),
        (MAP, {'id': 1}, 'found id, expected the positions of id,labels or id,label'),
        (MAP, {'id': 0, 'labels': 1}, 'found 0, expected the name of a column, or its position'),
        (MAP, {'id': True, 'labels': 1}, 'found True, expected the name of a column'),
        (GAP, {'labels': 'x'}, 'found labels, expected id,label or id,label,confidence'),
        (LRAP, {'id': 1, 'labels': 2}, 'found id=1, expected the name of a column, as only a hea'),
        (LRAP, {'confidence': 'x'}, 'found confidence, expected id or id,labels or id,label'),
    ],
)
def test_columns_that_are_refused(evaluate, columns, expected):
    with pytest.raises(ParameterError, match=f'^columns: {re.escape(expected)}'):
        evaluate('missing.csv', 'missing.csv', columns=columns)


def test_positions_are_for_text():
    rows = table('user,items', ('a', 'x'))
    with pytest.raises(ParameterError, match=r'^columns: found positions .* in a table, expected'):
        MAP(rows, rows, columns={'id': 1, 'labels': 2})


def as_saved(frame, how, path):
    """Save a frame whose index has the ids, but no name, or read what was saved."""
    if how == 'parquet':
        frame.to_parquet(path)
        return path
    frame.to_csv(path)
    if how == 'again':
        pandas.read_csv(path).to_csv(path, index=False)
    return polars.read_csv(path) if how == 'frame' else path


PLANTS = ['fern', 'moss', 'reed']
SAVED = [
    (MAP, {'prediction': ['k l', 'm', 'n']}, {'prediction': ['x k l', 'm', 'x n']}, 25 / 36),
    (FIRST_HIT, {'Id': ['k', 'm', 'n']}, {'Id': ['x y k', 'm', 'n']}, 7 / 9),
    (GAP, {'landmark_id': ['k', 'm', 'n']}, {'landmarks': ['k .9', 'x .5', 'n .8']}, 2 / 3),
    (LRAP, {'labels': ['k', 'k,m', 'm']}, {'k': [0.5, 0.6, 0.7], 'm': [0.1, 0.2, 0.3]}, 5 / 6),
    (LRAP, {'k': [1, 1, 0], 'm': [0, 1, 1]}, {'k': [0.5, 0.6, 0.7], 'm': [0.1, 0.2, 0.3]}, 5 / 6),
]


@pytest.mark.parametrize('how', ['csv', 'again', 'parquet', 'frame'])
@pytest.mark.parametrize(('evaluate', 'truth', 'said', 'value'), SAVED)
def test_ids_in_a_saved_index(evaluate, truth, said, value, how, tmp_path):
    """pandas saves an index without a name as a column without a name."""
    truth = as_saved(pandas.DataFrame(truth, index=PLANTS), how, tmp_path / 'truth')
    said = as_saved(pandas.DataFrame(said, index=PLANTS)[::-1], how, tmp_path / 'said')
    score = evaluate(truth, said)
    assert score.value == pytest.approx(value, abs=1e-15)
    assert list(score.queries.to_pylist()) == PLANTS
    assert score.notes[:2] == [
        'the ids of the truth are its saved index, a column without a name',
        'the ids of predictions are its saved index, a column without a name',
    ]
