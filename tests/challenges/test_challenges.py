"""The challenges on their own files: samples against the oracle, ids, policies, errors."""

import csv
import gzip
import io
import math
from pathlib import Path

import oracle
import pandas
import pyarrow
import pytest

from mediaeval_ap import challenges
from mediaeval_ap.challenges import gap, label_ranking, map_at_k
from mediaeval_ap.errors import (
    FormatError,
    MissingIdsWarning,
    ParameterError,
    RepeatedRowsWarning,
    ScoreAboveOneWarning,
    UndefinedScoreError,
    UnknownIdsWarning,
)
from mediaeval_ap.tables.csv_text import explain_number
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import read_records

SAMPLES = Path(__file__).parents[2] / 'samples'
CLOSE = {'rel': 1e-14, 'abs': 1e-15}  # as the metrics are to the oracle


def sample(name):
    with (SAMPLES / f'{name}.csv').open(newline='') as file:
        return list(csv.DictReader(file))


def table(header, *rows):
    return pandas.DataFrame(rows, columns=header.split(','), dtype=object)


# The samples, read by Python's csv and scored in exact fractions.


def test_whales():
    predicted = {row['Image']: row['Id'].split() for row in sample('whales_predictions')}
    values = [
        oracle.reciprocal_rank(row['Id'], predicted[row['Image']], 5)
        for row in sample('whales_truth')
    ]
    score = challenges.evaluate_first_hit(
        SAMPLES / 'whales_truth.csv', SAMPLES / 'whales_predictions.csv', per_query=True
    )
    assert score.value == pytest.approx(float(sum(values) / len(values)), **CLOSE)
    assert score.table['RR@5'].tolist() == [float(value) for value in values]
    assert score.table['Id'].tolist() == [row['Id'] for row in sample('whales_truth')]
    assert (score.metric, score.counts['queries']) == ('first-hit MAP@5', 40)


@pytest.mark.parametrize('definition', ['kaggle', 'trec', 'mediaeval-2016'])
@pytest.mark.parametrize('k', [1, 12])
def test_fashion(definition, k):
    bought = {}
    for row in sample('fashion_truth'):
        bought.setdefault(row['customer_id'], []).append(row['article_id'])
    predicted = {
        row['customer_id']: row['prediction'].split() for row in sample('fashion_predictions')
    }
    values = [
        oracle.average_precision_of_labels(articles, predicted[customer], k, definition)
        for customer, articles in bought.items()
    ]
    score = challenges.evaluate_map(
        SAMPLES / 'fashion_truth.csv',
        SAMPLES / 'fashion_predictions.csv',
        k,
        definition=definition,
        per_query=True,
    )
    assert score.value == pytest.approx(float(sum(values) / len(values)), **CLOSE)
    assert score.table[f'AP@{k}'].tolist() == pytest.approx([float(v) for v in values], **CLOSE)
    assert score.table['customer_id'].tolist() == list(bought)
    assert score.table['n_relevant'].tolist() == list(map(len, bought.values()))


@pytest.mark.parametrize('ties', ['expected', 'best', 'worst'])
def test_landmarks(ties):
    truth = {row['id']: row['landmark_id'] or None for row in sample('landmarks_truth')}
    rows = [(row['id'], *row['landmarks'].split()) for row in sample('landmarks_predictions')]
    rows = [(truth[row[0]], row[1], float(row[2])) for row in rows if len(row) == 3]
    true, predicted, confidence = zip(*rows, strict=True)
    expected = oracle.global_average_precision(predicted, confidence, true, ties)
    # The oracle counts the queries that it was given; some more have a true label.
    expected *= sum(label is not None for label in true)
    expected /= sum(label is not None for label in truth.values())
    score = challenges.evaluate_gap(
        SAMPLES / 'landmarks_truth.csv',
        SAMPLES / 'landmarks_predictions.csv',
        ties=ties,
        per_query=True,
    )
    assert score.value == pytest.approx(float(expected), **CLOSE)
    assert score.table['term'].sum() == pytest.approx(float(expected), **CLOSE)
    assert score.table['confidence'].tolist() == sorted(confidence, reverse=True)
    for row in score.table.itertuples():
        assert row.correct == (row.predicted == truth[row.id])


@pytest.mark.parametrize('label_weighted', [False, True])
def test_sounds(label_weighted):
    scores = {row.pop('fname'): row for row in sample('sounds_scores')}
    classes = list(next(iter(scores.values())))
    y_true, y_score = [], []
    for row in sample('sounds_truth'):
        y_true.append([int(name in row['labels'].split(',')) for name in classes])
        y_score.append([float(scores[row['fname']][name]) for name in classes])
    weighted, means, shares = oracle.label_weighted_label_ranking_average_precision(y_true, y_score)
    plain = oracle.label_ranking_average_precision(y_true, y_score, [1] * len(y_true))
    score = challenges.evaluate_lrap(
        SAMPLES / 'sounds_truth.csv',
        SAMPLES / 'sounds_scores.csv',
        label_weighted=label_weighted,
        per_class=True,
    )
    assert score.value == pytest.approx(float(weighted if label_weighted else plain), **CLOSE)
    assert score.metric == ('lwlrap' if label_weighted else 'LRAP')
    assert score.table['class'].tolist() == classes
    assert score.counts['labels'] == sum(map(sum, y_true))
    assert score.table['weight'].tolist() == pytest.approx(list(map(float, shares)), **CLOSE)
    assert score.table['precision'].tolist() == pytest.approx(
        [math.nan if mean is None else float(mean) for mean in means], nan_ok=True, **CLOSE
    )


SAMPLE_CALLS = {
    'whales': (challenges.evaluate_first_hit, 'predictions', map_at_k, 'QUERIES_IN_PIECE'),
    'fashion': (challenges.evaluate_map, 'predictions', map_at_k, 'QUERIES_IN_PIECE'),
    'landmarks': (challenges.evaluate_gap, 'predictions', gap, 'QUERIES_IN_PIECE'),
    'sounds': (challenges.evaluate_lrap, 'scores', label_ranking, 'SCORES_IN_PIECE'),
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


# What the definitions say of strange lists


def test_users_without_truth_are_left_out_and_counted():
    truth = table('customer_id,prediction', ('a', 'x'), ('b', ''), ('c', 'y z'))
    predictions = table('customer_id,prediction', ('a', 'x'), ('b', 'x'), ('c', 'q y'))
    score = challenges.evaluate_map(truth, predictions)
    assert score.value == (1 + 1 / 4) / 2
    assert score.counts == {'queries': 3, 'without_truth': 1, 'missing': 0, 'unknown': 0}
    assert list(score.notes) == ['1 of 3 queries have no relevant label, and are left out']


def test_nobody_with_truth():
    truth = table('customer_id,prediction', ('a', ''))
    with pytest.raises(UndefinedScoreError, match='nothing is relevant for any of 1 users'):
        challenges.evaluate_map(truth, truth)


def test_white_space_between_labels_is_as_much_as_you_like():
    truth = table('customer_id,prediction', ('a', ' x  y '))
    predictions = table('customer_id,prediction', ('a', '\ty \t x'))
    assert challenges.evaluate_map(truth, predictions).value == 1
    no_break = table('customer_id,prediction', ('a', 'y\xa0x x'))
    assert challenges.evaluate_map(truth, no_break).value == 1 / 4


def test_repeated_labels_of_a_truth():
    truth = table('customer_id,article_id', ('a', '01'), ('b', '02'), ('a', '01'))
    predictions = table('customer_id,prediction', ('a', '01'), ('b', '02'))
    with pytest.warns(RepeatedRowsWarning, match='<DataFrame>: 1 of 3 labels repeat another'):
        assert challenges.evaluate_map(truth, predictions).value == 1
    score = challenges.evaluate_map(truth, predictions, definition='mediaeval-2016-final')
    assert score.value == (1 / 2 + 1) / 2


def test_scores_above_one():
    truth = table('customer_id,prediction', ('a', 'x'))
    predictions = table('customer_id,prediction', ('a', 'x x'))
    with pytest.warns(ScoreAboveOneWarning, match='<DataFrame>: average precision above 1, as med'):
        assert challenges.evaluate_map(truth, predictions, definition='mediaeval-2016').value == 2
    assert challenges.evaluate_map(truth, predictions).value == 1


def test_stable_ties_are_in_the_order_of_the_predictions():
    truth = table('id,landmark_id', ('p', '1'), ('q', '2'))
    for first, value in ('p', 1 / 2), ('q', 1 / 4):
        rows = [('p', '1 0.5'), ('q', '3 0.5')]
        predictions = table('id,landmarks', *sorted(rows, key=lambda row: row[0] != first))
        assert challenges.evaluate_gap(truth, predictions, ties='stable').value == value


# Ids


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
        f"<DataFrame>, {name}: found no row for 'b', expected one for each id of <DataFrame>, "
        'unless missing ids count zero'
    )
    with pytest.warns(MissingIdsWarning, match='no row for 1 of 2 ids of <DataFrame>, scored as'):
        score = evaluate(truth, some, missing='zero')
    assert (score.value, score.counts['missing'], score.counts['queries']) == (1 / 2, 1, 2)
    with pytest.raises(FormatError) as caught:
        evaluate(truth, more)
    assert str(caught.value) == (
        f"<DataFrame>, row 3, {name}: found 'c', which <DataFrame> lacks, expected an id of the "
        'truth, unless unknown ids are dropped'
    )
    with pytest.warns(UnknownIdsWarning, match='1 of 3 rows have an id that <DataFrame> lacks'):
        score = evaluate(truth, more, unknown='drop')
    assert (score.value, score.counts['unknown'], score.counts['queries']) == (1, 1, 2)
    for policy in {'missing': 'skip'}, {'unknown': 'zero'}:
        with pytest.raises(ParameterError, match=r": found '\w+', expected one of error, "):
            evaluate(truth, some, **policy)


@pytest.mark.parametrize(('ids', 'found'), [('abc', "'b' and 1 more"), ('abcd', "'b' and 2 more")])
def test_several_ids_that_are_missing(ids, found):
    truth = table('Image,Id', *((x, 'w') for x in ids))
    with pytest.raises(FormatError, match=f'found no row for {found}, expected one'):
        challenges.evaluate_first_hit(truth, table('Image,Id', ('a', 'w')))


def test_warnings_point_to_who_called():
    truth = table('Image,Id', ('a', 'w'), ('b', 'w'))
    for predictions, policy in (
        (table('Image,Id', ('a', 'w')), {'missing': 'zero'}),
        (table('Image,Id', *((x, 'w') for x in 'abc')), {'unknown': 'drop'}),
    ):
        with pytest.warns() as caught:
            challenges.evaluate_first_hit(truth, predictions, **policy)
        assert caught[0].filename == __file__


def test_no_progress_unless_asked_for(capsys):
    truth = table('Image,Id', ('a', 'w'))
    challenges.evaluate_first_hit(truth, truth)
    assert capsys.readouterr().err == ''
    challenges.evaluate_first_hit(truth, truth, progress=True)
    assert '1/1' in capsys.readouterr().err


def test_samples_that_are_missing_or_unknown():
    truth = table('fname,labels', ('a', 'x'), ('b', 'y'))
    scores = pandas.DataFrame({'fname': list('abc'), 'x': [1, 1, 1], 'y': [0, 1, 1]})
    with pytest.warns(UnknownIdsWarning):
        score = challenges.evaluate_lrap(truth, scores, unknown='drop')
    assert (score.value, score.counts['unknown']) == (3 / 4, 1)
    with pytest.raises(FormatError, match="row 3, fname: found 'c', which <DataFrame> lacks"):
        challenges.evaluate_lrap(truth, scores)
    with pytest.raises(FormatError, match=r"fname: found no row for 'b', .* id of <DataFrame>$"):
        challenges.evaluate_lrap(truth, scores[:1])


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


# Errors in the files themselves


def files(tmp_path, truth, predictions):
    for name, text in ('truth', truth), ('predictions', predictions):
        (tmp_path / f'{name}.csv').write_text(text)
    return tmp_path / 'truth.csv', tmp_path / 'predictions.csv'


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
            "line 1: found no column landmarks in 'id,label', expected id,landmarks$",
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
        evaluate(*files(tmp_path, truth, predictions))


def test_confidences_that_only_the_format_knows(tmp_path):
    """Whatever pyarrow makes of them, they are what Python's float says."""
    truth, predictions = files(
        tmp_path,
        'id,landmark_id\na,1\nb,2\nc,3\n',
        'id,landmarks\na,1 +.5\nb,9 1e-3\nc,3 00.25\n',
    )
    score = challenges.evaluate_gap(truth, predictions, per_query=True)
    assert score.table['confidence'].tolist() == [0.5, 0.25, 1e-3]
    assert score.table['id'].tolist() == ['a', 'c', 'b']


def test_labels_that_spell_missing_values(tmp_path):
    truth, predictions = files(
        tmp_path,
        'id,landmark_id\nnan,nan\nNA,None\nnull,\n',
        'id,landmarks\nnan,nan 0.9\nNA,None 0.8\nnull,nan 0.7\n',
    )
    score = challenges.evaluate_gap(truth, predictions)
    assert (score.value, score.counts['without_truth']) == (1, 1)


def test_samples_without_labels():
    truth = table('fname,labels', ('a', 'x'), ('b', None))
    scores = pandas.DataFrame({'fname': ['a', 'b'], 'x': [0, 1], 'y': [1, 1]})
    score = challenges.evaluate_lrap(truth, scores)
    assert (score.value, score.counts['without_truth']) == (3 / 4, 1)
    assert list(score.notes) == ['1 of 2 queries have no true label: each counts 1']
    score = challenges.evaluate_lrap(
        table('fname,labels', ('a', ''), ('b', '')), scores, per_class=True
    )
    assert (score.value, score.table['weight'].tolist()) == (1, [0, 0])
    score = challenges.evaluate_lrap(truth, scores, label_weighted=True)
    assert score.value == 1 / 2
    assert list(score.notes) == ['1 of 2 queries have no true label: they do not count']


ROUNDED = [[2**53, 2**53 + 1], [0.5, 0.25]]
SCORED = {
    'csv': lambda rows: text_of(rows, '{}'),
    'quoted': lambda rows: text_of(rows, '"{}"'),
    'frame': lambda rows: pandas.DataFrame(rows[:1], columns=['a', 'b'], dtype='int64'),
    'objects': lambda rows: pandas.DataFrame(rows, columns=['a', 'b'], dtype=object),
    'pyarrow': lambda rows: pyarrow.table([[value] for value in rows[0]], ['a', 'b']),
}


def text_of(rows, field):
    lines = [['a', 'b'], *rows]
    return io.StringIO(''.join(','.join(map(field.format, line)) + '\n' for line in lines))


@pytest.mark.parametrize('door', SCORED)
def test_scores_that_doubles_would_round(door):
    """By whatever door, a score is the number that it says, or refused."""
    with pytest.raises(FormatError, match=r'\bb: found .*(9007199254740993|beyond 2\*\*53)'):
        read_records(SCORED[door](ROUNDED), [RecordLayout((), other_numbers=True)])
    read = read_records(SCORED[door]([[1, 2]]), [RecordLayout((), other_numbers=True)])
    assert [read['a'].to_pylist(), read['b'].to_pylist()] == [[1.0], [2.0]]


@pytest.mark.parametrize(
    'number',
    ['9007199254740993', '+9007199254740993', '-0009007199254740993', '1' + '0' * 22 + '1'],
)
def test_integers_in_text_that_no_double_holds(number):
    assert float(number) != int(number)
    assert explain_number(number.encode()) == 'a finite number that a double can hold'
    answers = pandas.DataFrame({'id': ['1', '2'], 'landmarks': ['a 0.5', f'a {number}']})
    truth = pandas.DataFrame({'id': ['1', '2'], 'landmark_id': ['a', 'a']})
    with pytest.raises(FormatError) as caught:
        challenges.evaluate_gap(truth, answers)
    assert str(caught.value) == (
        f"<DataFrame>, row 2, landmarks: found 'a {number}', expected a label and a finite number "
        'that a double can hold'
    )


@pytest.mark.parametrize(
    'number',
    ['9007199254740992', '9007199254740994', '1e23', '9007199254740993.0', '0.1', '0' * 5000 + '7'],
)
def test_decimals_in_text_are_the_nearest_doubles(number):
    assert explain_number(number.encode()) is None
    answers = pandas.DataFrame({'id': ['1'], 'landmarks': [f'a {number}']})
    truth = pandas.DataFrame({'id': ['1'], 'landmark_id': ['a']})
    table = challenges.evaluate_gap(truth, answers, per_query=True).table
    assert table['confidence'].tolist() == [float(number)]


def test_a_saved_index_is_no_class(tmp_path):
    """What pandas adds to a file of its own is refused, not scored."""
    truth = table('fname,labels', ('a', 'x'), ('b', 'x,y'))
    scores = pandas.DataFrame({'fname': ['b', 'a'], 'x': [0.2, 0.9], 'y': [0.3, 0.1]}, index=[1, 0])
    assert challenges.evaluate_lrap(truth, scores).value == 1
    scores.to_csv(tmp_path / 'index.csv')
    pandas.read_csv(tmp_path / 'index.csv').to_csv(tmp_path / 'again.csv', index=False)
    scores.to_parquet(tmp_path / 'index.parquet')
    for name, column in ('index.csv', ''), ('again.csv', 'Unnamed: 0'), ('index.parquet', '__in'):
        with pytest.raises(FormatError, match=f"found column '{column}.*', as of a saved index,"):
            challenges.evaluate_lrap(truth, tmp_path / name)
    scores.to_csv(tmp_path / 'none.csv', index=False)
    assert challenges.evaluate_lrap(truth, tmp_path / 'none.csv').value == 1


def test_manifest():
    truth, predictions = SAMPLES / 'landmarks_truth.csv', SAMPLES / 'landmarks_predictions.csv'
    described = challenges.evaluate_gap(truth, predictions, ties='best', per_query=True).to_dict()
    assert described['metric'] == 'GAP'
    assert described['manifest']['parameters'] == {
        'ties': 'best',
        'missing': 'error',
        'unknown': 'error',
    }
    assert described['manifest']['counts'] == {
        'queries': 60,
        'predictions': 48,
        'without_truth': 25,
        'missing': 0,
        'unknown': 0,
    }
    assert described['manifest']['inputs']['truth']['name'] == str(truth)
    assert len(described['manifest']['inputs']['predictions']['sha256']) == 64
    assert described['table'][0]['truth'] is None
    assert 'table' not in challenges.evaluate_gap(truth, predictions).to_dict()
