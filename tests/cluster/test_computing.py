"""Metrics of datasets on a real scheduler and workers: the same as in one process, or an error."""

import re
import sys
from random import Random

import pyarrow
import pytest
from metric_rows import METRICS, columns_of, rows_of, updated, value_of, write_rows
from pyarrow import parquet

from mediaeval_ap import cluster as package
from mediaeval_ap.errors import (
    FormatError,
    MissingExtraError,
    ParameterError,
    ReadError,
    UndefinedScoreError,
)
from mediaeval_ap.metrics import GlobalAveragePrecision, MeanAveragePrecision, datasets

COLUMNS = ('actual', 'predicted')
N_FILES = 6


@pytest.fixture
def users(tmp_path):
    """Some files of users, of whom one in three is answered."""
    folder = tmp_path / 'users'
    folder.mkdir()
    for number in range(N_FILES):
        table = pyarrow.table([[['a'], ['b'], ['c']], [['a'], ['x'], []]], COLUMNS)
        parquet.write_table(table, folder / f'{number}.parquet')
    return folder


@pytest.mark.parametrize('name', METRICS)
def test_workers_give_the_value_of_one_process(client, tmp_path, monkeypatch, name):
    monkeypatch.setattr(datasets, 'BYTES_IN_PART', 1)  # a task for each row group
    rows = rows_of(name, Random(7), 600)  # any rows would do
    for number, n_rows in enumerate((1, 0, 199, 400)):
        path = tmp_path / f'{number}.parquet'
        write_rows(path, name, [rows.pop() for _ in range(n_rows)], rows_in_group=40)
    rows = rows_of(name, Random(7), 600)
    metric = METRICS[name]()
    value = package.compute(metric, tmp_path, client=client, columns=columns_of(name))
    whole = value_of(updated(METRICS[name](), name, rows))
    assert value_of(metric) == whole
    assert value == whole[0]


def meanwhile(monkeypatch, change):
    """Do something between planning and reading: what a worker sees is not what the client saw."""
    planned = package.planned

    def planned_and_changed(*arguments):
        parts = planned(*arguments)
        change()
        return parts

    monkeypatch.setattr(package, 'planned', planned_and_changed)


def test_a_worker_that_does_not_see_a_file_is_an_error(client, users, monkeypatch):
    file = users / '3.parquet'
    meanwhile(monkeypatch, lambda: file.rename(users / 'elsewhere'))
    shown = re.escape(str(file))
    found = rf'^{shown} \(worker tcp://.*\): .*No such file .*; every worker needs'
    metric = MeanAveragePrecision()
    with pytest.raises(ReadError, match=found):
        package.compute(metric, users, client=client, columns=COLUMNS)
    assert metric.n_users == 0


def test_a_worker_that_sees_another_file_is_an_error(client, users, monkeypatch):
    file = users / '3.parquet'
    table = pyarrow.table([[['a'], ['b'], ['c']], [['a'], [], ['x']]], COLUMNS)
    meanwhile(monkeypatch, lambda: parquet.write_table(table, file))
    found = (
        rf'^{re.escape(str(file))} \(worker tcp://.*\): found \d+ bytes of .*, expected \d+ bytes'
    )
    with pytest.raises(FormatError, match=found):
        package.compute(MeanAveragePrecision(), users, client=client, columns=COLUMNS)


def test_a_wrong_row_is_named(client, users):
    table = pyarrow.table([[['a'], ['b']], [['a'], None]], COLUMNS)
    parquet.write_table(table, users / '3.parquet')
    found = (
        r'3\.parquet \(worker tcp://.*\), row 2, predicted: found a missing list, expected lists'
    )
    with pytest.raises(FormatError, match=found):
        package.compute(MeanAveragePrecision(), users, client=client, columns=COLUMNS)


def test_what_cannot_be_merged_is_refused_before_anything_is_computed(client, users):
    metric = GlobalAveragePrecision('stable')
    columns = {'y_true': 'actual', 'y_pred': 'actual', 'confidence': 'predicted'}
    with pytest.raises(ParameterError, match=r"^merge: found ties='stable'"):
        package.compute(metric, users, client=client, columns=columns)


def test_what_is_not_defined_is_an_error_and_counted(client, tmp_path):
    table = pyarrow.table([[[], []], [['a'], ['b']]], COLUMNS)
    parquet.write_table(table, tmp_path / 'users.parquet')
    metric = MeanAveragePrecision()
    with pytest.raises(UndefinedScoreError, match='nothing is relevant for any of 2 users'):
        package.compute(metric, tmp_path, client=client, columns=COLUMNS)
    assert metric.n_without_truth == 2


@pytest.mark.parametrize('client', [None, 'tcp://127.0.0.1:8786'])
def test_what_is_no_client_is_refused(users, client):
    with pytest.raises(ParameterError, match=r'client: found .*, expected a distributed\.Client'):
        package.compute(MeanAveragePrecision(), users, client=client, columns=COLUMNS)


def test_without_the_extra_an_error_names_it(users, monkeypatch):
    monkeypatch.setitem(sys.modules, 'distributed', None)
    found = (
        r"mediaeval_ap.cluster: distributed is not installed; pip install 'mediaeval-ap\[cluster\]'"
    )
    with pytest.raises(MissingExtraError, match=found):
        package.compute(MeanAveragePrecision(), users, client=None, columns=COLUMNS)
