"""Arrays without ids, in memory and in .npy files, score as the same numbers with ids."""

import bz2
import gzip
import hashlib
import io
import json
from contextlib import suppress

import numpy as np
import pandas
import pytest
from challenge_inputs import SAMPLES
from commands import run
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.challenges import evaluate_gap, evaluate_lrap, evaluate_macro_ap
from mediaeval_ap.errors import FormatError, ParameterError, ReadError
from mediaeval_ap.results.score import Score

EVALUATE = {'lrap': evaluate_lrap, 'macro-ap': evaluate_macro_ap}
Y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]])
S = np.array([[0.5, 0.25, 0.5], [0.75, 0.0, 0.5], [0.5, 0.5, 0.25], [0.0, 0.25, 1.0]])
KINDS = {
    'int and double': (np.int64, np.float64),
    'bool and single': (np.bool_, np.float32),
    'double and half': (np.float64, np.float16),
    'big-endian': ('>i4', '>f8'),
}


def npy(array, **settings):
    content = io.BytesIO()
    np.save(content, array, **settings)
    return content.getvalue()


def content_of(score: Score):
    """All that a score tells, without the names and hashes of its inputs."""
    return score.metric, score.value, score.parameters, score.counts, *map(str, score.notes)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'truth.npy').write_bytes(npy(Y))
    (tmp_path / 'scores.npy').write_bytes(npy(S))
    return tmp_path


class Tensor:
    """An array of another library, as numpy reads it."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __dlpack__(self, **settings):
        return self.array.__dlpack__(**settings)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('order', 'CF')
@pytest.mark.parametrize('name', EVALUATE)
def test_arrays_and_files_score_as_tables_with_ids(folder, name, order, kind):
    evaluate = EVALUATE[name]
    truth, scores = (array.astype(dtype) for array, dtype in zip((Y, S), KINDS[kind], strict=True))
    frames = [
        pandas.DataFrame(array, columns=list('012')).assign(fname=list('0123')) for array in (Y, S)
    ]
    expected = evaluate(*frames, per_query=True)
    for number, frame in enumerate(frames):
        frame.to_csv(folder / f'{number}.csv', index=False)
    assert evaluate('0.csv', '1.csv', per_query=True).value == expected.value
    truth, scores = (np.asarray(array, order=order) for array in (truth, scores))
    (folder / 'truth').write_bytes(npy(truth))
    (folder / 'scores').write_bytes(npy(scores))
    doors = (truth, scores), ('truth', 'scores'), ('truth', scores), (truth, 'scores')
    for door in *doors, (Tensor(truth), Tensor(scores)):
        score = evaluate(*door, per_query=True)
        assert content_of(score) == content_of(expected)
        pandas.testing.assert_frame_equal(score.table, expected.table)


@pytest.mark.parametrize('name', EVALUATE)
def test_a_matrix_of_numpy_is_an_array(name):
    matrices = Y.view(np.matrix), S.view(np.matrix)
    assert EVALUATE[name](*matrices).value == EVALUATE[name](Y, S).value


@pytest.mark.parametrize('name', EVALUATE)
def test_commands_read_any_npy(folder, name):
    """By any name, compressed, from a pipe or an open file: the first bytes decide."""
    (folder / 'truth.gz').write_bytes(gzip.compress(npy(Y)))
    (folder / 'plain').write_bytes(bz2.compress(npy(S)))
    expected = EVALUATE[name](Y, S).value
    for truth, scores in ('truth.gz', 'plain'), ('truth.npy', '-'), ('-', 'scores.npy'):
        content = npy(S) if scores == '-' else npy(Y)
        result = run(name, truth, scores, '--format', 'json', input=content)
        assert (result.exit_code, result.stderr) == (0, '')
        assert [*json.loads(result.stdout)['results'][0]['means'].values()] == [expected]
    with open('truth.npy', 'rb') as truth, open('scores.npy', 'rb') as scores:
        score = EVALUATE[name](truth, scores)
    assert score.value == expected


def test_results_name_the_files(folder):
    inputs = evaluate_lrap('truth.npy', 'scores.npy').inputs
    for role, array in ('truth', Y), ('predictions', S):
        name = 'truth.npy' if role == 'truth' else 'scores.npy'
        assert inputs[role].name == name
        assert inputs[role].sha256 == hashlib.sha256(npy(array)).hexdigest()


def test_a_truth_array_takes_the_ids_of_scores_with_ids(folder):
    """The array has the order of the scores."""
    scores = pandas.DataFrame(S, columns=['rain', 'bark', 'wind'], index=list('dbca'))
    scores = scores.rename_axis('fname').reset_index()
    for truth in Y, 'truth.npy':
        score = evaluate_lrap(truth, scores, per_query=True)
        assert score.table['id'].tolist() == list('dbca')
        assert score.value == evaluate_lrap(Y, S).value


HEADER = npy(S)[:128]
WRONG = {
    'ids beside scores without': (
        (SAMPLES / 'sounds_truth.csv', S),
        'found no array, expected an array or a .npy file, as <scores> has no ids',
    ),
    'shapes': ((Y[:, 1:], S), '<truth>: found shape (4, 2), expected (4, 3) as <scores> has'),
    'neither 0 nor 1': (
        (Y + np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0], [2, 0, 1]]), S),
        '<truth>, row 3, column 0: found 2, expected 0 or 1',
    ),
    'truth of NaN': ((Y * [[1, np.nan, 1]], S), '<truth>, row 0, column 1: found nan, expected 0'),
    'scores of NaN': ((Y, np.where(S == 1, np.nan, S)), '<scores>, row 3, column 2: found nan'),
    'large integers': ((Y, Y + 2**53), '<scores>, 0: found integers beyond 2**53, expected a fini'),
    'truth of three dimensions': ((Y[None], S), '<truth>: found 3 dimensions of int64, expected 2'),
    'booleans': ((Y, S > 0.5), '<scores>: found 2 dimensions of bool, expected 2 of numbers'),
    'objects': ((Y.astype(object), S), '<truth>: found 2 dimensions of object, expected 2 of num'),
    'masked truth': ((np.ma.masked_equal(Y, 1), S), '<truth>: found 2 dimensions of int64 with a'),
    'no rows': ((Y[:0], S[:0]), '<scores>: found no rows, expected at least one row of fname, and'),
    'no columns': ((Y[:, :0], S[:, :0]), "<scores>: found no column of numbers in 'fname', expec"),
    'objects in a file': (
        (Y, npy(S.astype(object), allow_pickle=True)),
        'file: not readable as .npy of numbers: Object arrays cannot be loaded',
    ),
    'a file cut in the numbers': ((Y, npy(S)[:-1]), 'file: not readable as .npy of numbers: EOF'),
    'two arrays in a file': ((Y, npy(S) * 2), 'file: not readable as .npy of numbers: more bytes'),
    'a version to come': ((Y, b'\x93NUMPY\x09\x00' + HEADER[8:]), 'file: not readable as .npy of'),
    'a shape beyond memory': (
        (Y, HEADER.replace(b'(4, 3), }', b'(9, -3),}')),
        'file: not readable as .npy of numbers: negative dimensions are not allowed',
    ),
}
if np.dtype(np.longdouble).itemsize > 8:  # on some systems it is a double
    WRONG['long doubles'] = (Y, S.astype(np.longdouble)), '<scores>: found 2 dimensions of float128'


@pytest.mark.parametrize('name', EVALUATE)
@pytest.mark.parametrize('fault', WRONG)
def test_wrong_arrays_are_one_line(folder, name, fault):
    (truth, scores), message = WRONG[fault]
    if isinstance(scores, bytes):
        (folder / 'file').write_bytes(scores)
        scores = 'file'
    with pytest.raises((FormatError, ReadError)) as caught:
        EVALUATE[name](truth, scores)
    assert message in str(caught.value)
    assert '\n' not in str(caught.value)


@given(st.data())
def test_any_change_of_a_header_is_an_array_or_an_error(data):
    """Numpy evaluates the header as Python, which may fail in many ways."""
    header = bytearray(HEADER)
    for _ in range(data.draw(st.integers(1, 3))):
        header[data.draw(st.integers(8, 90))] = data.draw(st.integers(0, 255))
    content = bytes(header) + npy(S)[128:]
    # A shape may ask for more memory than there is.
    with suppress(FormatError, ReadError, MemoryError):
        assert 0 <= evaluate_lrap(Y, io.BytesIO(content)).value <= 1


def test_other_challenges_take_no_arrays(folder):
    with pytest.raises(ParameterError, match=r'^truth: found .* expected a path, an open file'):
        evaluate_gap(Y, S)
    with pytest.raises(FormatError, match=r'^truth.npy, line 1: found invalid UTF-8'):
        evaluate_gap('truth.npy', 'scores.npy')
