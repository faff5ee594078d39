"""A metric of a dataset is that of all rows at once, however files and row groups divide them."""

import os
import re
from itertools import pairwise
from tempfile import TemporaryDirectory

import pyarrow
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import METRICS, columns_of, rows_of, updated, value_of, write_rows
from pyarrow import dataset, parquet

from mediaeval_ap.errors import FormatError, ParameterError, ReadError, UndefinedScoreError
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    compute,
    datasets,
)
from mediaeval_ap.metrics.datasets import add_part, planned

randoms = st.randoms(use_true_random=True)
IN_ORDER = {**METRICS, 'gap stable': lambda: GlobalAveragePrecision('stable')}
COLUMNS = ('actual', 'predicted')


def write(path, actual, predicted, **settings):
    parquet.write_table(pyarrow.table([actual, predicted], COLUMNS), path, **settings)


@pytest.fixture
def users(tmp_path):
    """Two files of users; MAP@12 is that of docs/map-at-k.md."""
    write(tmp_path / '0.parquet', [['a']], [['a']])
    write(tmp_path / '1.parquet', [['b', 'c']], [['x', 'b']])
    return tmp_path


@pytest.mark.parametrize('name', IN_ORDER)
@strategies.examples(1 / 2)
@given(randoms, st.integers(1, 30), st.data())
def test_any_division_gives_the_value_of_all_rows_at_once(name, random, n, data):
    """Files, row groups, parts and batches are of any size; empty files are among them."""
    rows = rows_of(name, random, n)
    bounds = sorted([0, n, *data.draw(st.lists(st.integers(0, n), max_size=4))])
    sizes = st.integers(1, 12)
    metric = IN_ORDER[name]()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, 'BYTES_IN_PART', data.draw(st.sampled_from([1, 999, 1 << 20])))
        patch.setattr(datasets, 'ROWS_IN_BATCH', data.draw(sizes))
        for number, (begin, end) in enumerate(pairwise(bounds)):
            path = f'{folder}/{number}.parquet'
            write_rows(path, name, rows[begin:end], data.draw(sizes))
        try:
            value = compute(metric, folder, columns=columns_of(name))
        except UndefinedScoreError:
            value = None
    whole = value_of(updated(IN_ORDER[name](), name, rows))
    assert value_of(metric) == whole
    assert value == whole[0]


def test_a_row_group_of_any_size_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, 'BUFFER_BYTES', 1 << 20)
    n_users = 400_000
    labels = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(range(4 * n_users)), 4)
    n_bytes = 2 * labels.nbytes
    path = tmp_path / 'users.parquet'
    write(path, labels, labels, row_group_size=n_users, use_dictionary=False)
    del labels
    (part,), columns = planned(MeanAveragePrecision(), path, COLUMNS)
    before = pyarrow.total_allocated_bytes()
    peak = max(pyarrow.total_allocated_bytes() for _ in part.batches(list(columns.values())))
    assert part.n_rows == n_users
    assert peak - before < n_bytes / 5


def test_what_a_dataset_can_be(users, monkeypatch):
    files = [users / '0.parquet', users / '1.parquet']
    monkeypatch.chdir(users.parent)
    for origin in (
        users,
        f'{users}/',
        users.name,
        f'file://{users}',
        files,
        [os.path.relpath(path) for path in files],
        [files[0].as_uri(), files[1]],
        dataset.dataset(users),
        dataset.dataset(users.name),
        dataset.dataset([dataset.dataset(path) for path in files]),
    ):
        assert compute(MeanAveragePrecision(), origin, columns=COLUMNS) == 0.625
    assert compute(MeanAveragePrecision(), files[1], columns=COLUMNS) == 0.25


def test_columns_are_by_default_called_as_the_arguments(tmp_path):
    labels = pyarrow.array([['a']])
    table = pyarrow.table([labels, labels], ['y_pred', 'y_true'])
    parquet.write_table(table, tmp_path / 'users.parquet')
    assert compute(MeanAveragePrecision(), tmp_path) == 1


def test_an_optional_argument_is_a_further_column(tmp_path):
    truth, scores, weight = [[1, 0], [0, 1]], [[0.5, 0.1], [0.5, 0.1]], [3.0, 1.0]
    names = ['truth', 'score', 'weight']
    parquet.write_table(pyarrow.table([truth, scores, weight], names), tmp_path / 'a.parquet')
    # Ranks 1 and 2 of the true classes, so 1 and 1/2.
    assert compute(LabelRankingAveragePrecision(), tmp_path, columns=names) == 0.875
    assert compute(LabelRankingAveragePrecision(), tmp_path, columns=names[:2]) == 0.75


def test_a_metric_is_that_of_the_dataset_alone(users):
    metric = MeanAveragePrecision()
    metric.update([['a']] * 5, [['a']] * 5)
    for _ in range(2):
        assert compute(metric, users, columns=COLUMNS) == 0.625
        assert (metric.n_users, metric.n_without_truth) == (2, 0)


def test_after_an_error_a_metric_is_empty(users):
    write(users / '2.parquet', [['a']], [[None]])
    metric = MeanAveragePrecision()
    with pytest.raises(FormatError):
        compute(metric, users, columns=COLUMNS)
    assert (metric.n_users, metric.n_without_truth) == (0, 0)


def test_a_wrong_row_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, 'ROWS_IN_BATCH', 7)
    actual, predicted = [['a']] * 40, [['a']] * 40
    actual[29] = None
    write(tmp_path / 'users.parquet', actual, predicted, row_group_size=10)
    found = f'{tmp_path}/users.parquet, row 30, actual: found a missing list, expected lists of'
    with pytest.raises(FormatError, match=f'^{re.escape(found)} labels$'):
        compute(MeanAveragePrecision(), tmp_path, columns=COLUMNS)


@pytest.mark.parametrize(
    ('row', 'found'),
    [
        (([1, 0], [0.5, float('nan')]), 'row 2, predicted: found nan, column 1, expected a finite'),
        (([1, 2], [0.5, 0.5]), 'row 2, actual: found 2, column 1, expected 0 or 1'),
        (([1, 0], [0.5]), r'row 2, predicted: found shape (1, 1), expected (1, 2) as y_true'),
        (([1, None], [0.5, 0.5]), 'row 2, actual: found a missing number, expected numbers'),
    ],
)
def test_wrong_scores_are_named(tmp_path, row, found):
    actual, predicted = zip(([1, 0], [0.5, 0.1]), row, ([0, 1], [0.5, 0.1]), strict=True)
    write(tmp_path / 'samples.parquet', [*actual], [*predicted])
    with pytest.raises(FormatError, match=re.escape(f'{tmp_path}/samples.parquet, {found}')):
        compute(LabelRankingAveragePrecision(), tmp_path, columns=COLUMNS)


def test_wrong_types_are_an_error(tmp_path):
    write(tmp_path / 'users.parquet', [0.5, 0.25], [['a'], ['b']])
    with pytest.raises(FormatError, match=r'row 1, actual: found double, expected lists of labels'):
        compute(MeanAveragePrecision(), tmp_path, columns=COLUMNS)
    write(tmp_path / 'users.parquet', [['a']], [[1]])
    with pytest.raises(FormatError, match=r'row 1, predicted: found integers, expected text as'):
        compute(MeanAveragePrecision(), tmp_path, columns=COLUMNS)


def test_files_of_other_types_are_refused(users):
    write(users / '2.parquet', [[1]], [['a']])
    found = re.escape(f'{users}/2.parquet, actual: found list<element: int64>, expected list<')
    with pytest.raises(
        FormatError, match=f'^{found}.* as in .*0.parquet; write all files with one'
    ):
        compute(MeanAveragePrecision(), users, columns=COLUMNS)


def test_a_file_that_lacks_a_column_is_refused(users):
    with pytest.raises(
        FormatError, match=r'0.parquet, bought: found no column bought among actual,'
    ):
        compute(MeanAveragePrecision(), users, columns=('bought', 'predicted'))
    other = pyarrow.table({'actual': [['a']], 'listed': [['a']]})
    parquet.write_table(other, users / '2.parquet')
    with pytest.raises(
        FormatError, match=r'2.parquet, predicted: found no column predicted among act'
    ):
        compute(MeanAveragePrecision(), users, columns=COLUMNS)


@pytest.mark.parametrize(
    ('columns', 'found'),
    [
        ('actual', "'actual', expected names of columns for y_true, y_pred"),
        (['a', 'b', 'c'], '3 names, expected 2 (y_true, y_pred)'),
        ([1, 2], '[1, 2], expected names of columns for y_true, y_pred'),
        ({'y_true': 'a'}, "'y_true', expected 2 (y_true, y_pred)"),
        ({}, 'none, expected 2 (y_true, y_pred)'),
        (
            {'y_true': 'a', 'y_pred': 'b', 'x': 'c'},
            "'y_true', 'y_pred', 'x', expected 2 (y_true, y_pred)",
        ),
    ],
)
def test_columns_that_fit_no_update_are_refused(users, columns, found):
    with pytest.raises(ParameterError, match=f'^columns: found {re.escape(found)}$'):
        compute(MeanAveragePrecision(), users, columns=columns)


def test_columns_of_arguments_that_need_their_names_are_given_by_name(users):
    expected = re.escape("expected {'y_true': …, 'y_pred': …, 'confidence': …}")
    with pytest.raises(ParameterError, match=f'^columns: found .*, {expected}$'):
        compute(GlobalAveragePrecision(), users, columns=['actual', 'actual', 'predicted'])


def test_what_is_no_dataset_is_refused(tmp_path, users):
    opened = dataset.dataset(users)
    for origin, found in (
        (3, 'found 3, expected the path or URI'),
        ([], r'found \[\], expected the path or URI'),
        (tmp_path / 'empty', 'found no file in .*, expected Parquet files'),
        (opened.filter(dataset.field('actual').is_valid()), 'filtered or projected'),
        (dataset.dataset(opened.to_table()), 'found a Fragment, which is no Parquet file'),
    ):
        (tmp_path / 'empty').mkdir(exist_ok=True)
        with pytest.raises(ParameterError, match=f'^dataset: .*{found}'):
            compute(MeanAveragePrecision(), origin, columns=COLUMNS)


def test_what_is_no_metric_is_refused(users):
    for metric in 0.5, MeanAveragePrecision:
        with pytest.raises(ParameterError, match=r'^metric: found .*, expected an accumulator'):
            compute(metric, users, columns=COLUMNS)


def test_a_dataset_without_rows_is_refused(tmp_path):
    text = pyarrow.array([], pyarrow.list_(pyarrow.string()))
    write(tmp_path / 'users.parquet', text, text)
    with pytest.raises(FormatError, match=r'users.parquet: found no row in any file, expected at'):
        compute(MeanAveragePrecision(), tmp_path, columns=COLUMNS)


def test_what_cannot_be_read_is_an_error(tmp_path, users):
    with pytest.raises(ReadError, match=r'nowhere: No such file or directory$'):
        compute(MeanAveragePrecision(), tmp_path / 'nowhere', columns=COLUMNS)
    whole = (users / '1.parquet').read_bytes()
    (users / '1.parquet').write_bytes(whole[:-20])
    with pytest.raises(ReadError, match=r'1.parquet: '):
        compute(MeanAveragePrecision(), users, columns=COLUMNS)
    (users / '0.parquet').write_text('no Parquet, but long enough to be a file of it')
    with pytest.raises(ReadError, match=r'0.parquet'):
        compute(MeanAveragePrecision(), users, columns=COLUMNS)


def test_a_file_that_was_replaced_is_refused(users):
    parts, names = planned(MeanAveragePrecision(), users, COLUMNS)
    write(users / '1.parquet', [['b', 'c']], [['b', 'x']])
    with pytest.raises(
        FormatError, match=r'1.parquet: found .* bytes of 20.*, expected .* as when the'
    ):
        add_part(MeanAveragePrecision(), parts[1], names)
    batches = parts[0].batches(COLUMNS)
    next(batches)
    write(users / 'new', [['b']], [['b']])
    os.replace(users / 'new', users / '0.parquet')  # while it is read
    with pytest.raises(FormatError, match=r'0.parquet: found .* bytes of 20'):
        next(batches)


def test_a_key_in_an_address_is_not_told():
    with pytest.raises(ReadError) as told:
        compute(MeanAveragePrecision(), 'none://key:secret@bucket/users', columns=COLUMNS)
    assert str(told.value).startswith('none://bucket/users: ')
    assert 'secret' not in str(told.value)


def test_files_of_several_file_systems_are_refused(users):
    elsewhere = 's3://key:secret@bucket/1.parquet?region=eu-west-1'
    found = r"found 's3://bucket/1.parquet\?region=eu-west-1' beside '/.*, expected files of one"
    with pytest.raises(ParameterError, match=f'^dataset: {found}'):
        compute(MeanAveragePrecision(), [users / '0.parquet', elsewhere], columns=COLUMNS)
