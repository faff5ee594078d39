"""What can be indexed: rows, files, folders, addresses and stores; all that is wrong with it."""

import gzip
import io
import os
import resource
import threading
from contextlib import contextmanager

import pyarrow as pa
import pytest
from pyarrow import fs, parquet
from stores import stored

from mediaeval_ap import errors, index
from mediaeval_ap.tables import HYPOTHESIS, read


def files(store):
    columns = store.manifest.columns
    return {name: each.sha256 for name, each in columns.items()} | {'': store.manifest.counts}


def as_text(rows):
    return ''.join(' '.join([*ids, repr(confidence)]) + '\n' for *ids, confidence in rows)


NAMES = [*(f'näme{number}' for number in range(9)), '\U0001f600' * 40, 'a' * 70]
ROWS = [
    ('TVx'[number % 3 :], f'v{number % 4}', f'{number % 9:02}', NAMES[number % 11], number % 5 / 4)
    for number in range(200)
]


def write_parts(folder):
    """Write the rows as text, compressed text and Parquet; return the paths in order."""
    paths = [folder / 'one.txt', folder / 'two.gz', folder / 'three.parquet', folder / 'four.txt']
    for begin, path in zip(range(0, 200, 50), paths, strict=True):
        part = ROWS[begin : begin + 50]
        if path.suffix == '.parquet':
            columns = dict(zip(HYPOTHESIS.fields, zip(*part, strict=True), strict=True))
            parquet.write_table(pa.table(columns), path, row_group_size=7)
        else:
            text = as_text(part).encode()
            path.write_bytes(gzip.compress(text) if path.suffix == '.gz' else text)
    return paths


@pytest.mark.parametrize('subset', [None, [('TVx', 'v1'), ('x', 'v2')]])
def test_parts_and_stores_give_the_files_of_a_store_of_rows(tmp_path, subset):
    expected = files(stored(ROWS, tmp_path / 'rows.store', subset))
    parts = write_parts(tmp_path)
    store = index(parts, tmp_path / 'run.store', subset=subset)
    assert files(store) == expected
    whole = index(parts, tmp_path / 'run.store')
    again = index([whole], tmp_path / 'run.store', subset=subset)
    assert files(again) == expected
    assert again.manifest.inputs == store.manifest.inputs
    assert len(os.listdir(tmp_path)) == len(parts) + 2


def test_paths_of_no_store():
    for path, reason in {
        3: '^store: found 3, expected a path$',
        b'run.store': "^store: found b'run.store', expected a path$",
        's3://b/x': 'a path of this machine, which can be mapped to memory: s3://b/x',
    }.items():
        with pytest.raises(errors.ParameterError, match=reason):
            index([('TV', 'v', '1', 'ann', '1')], path)


def test_wrong_rows_leave_nothing(tmp_path):
    paths = write_parts(tmp_path)
    with open(paths[3], 'a') as file:
        file.write('TV v1 1 ann high\nTV v1 1\n')
    with pytest.raises(errors.FormatError) as told:
        index(paths, tmp_path / 'run.store')
    with pytest.raises(errors.FormatError) as expected:
        read(str(paths[3]), HYPOTHESIS)
    assert str(told.value) == str(expected.value)
    assert not list(tmp_path.glob('run.store*'))


@contextmanager
def largest_file(n_bytes):
    """Let no file become larger, as where the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize('n_bytes', [60, 1000])
def test_a_full_disk(tmp_path, n_bytes):
    path = tmp_path / 'run.store'
    stored(ROWS[:1], path)
    with largest_file(n_bytes), pytest.raises(errors.WriteError) as caught:
        index(ROWS, path)
    assert str(caught.value) == f'{path}: File too large'
    assert os.listdir(tmp_path) == ['run.store']


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path):
    folder = tmp_path / 'run'
    (folder / 'b').mkdir(parents=True)
    write_parts(folder)
    (folder / 'b/zero.txt').write_text('TV v9 1 zoe 0.5\n')
    for name in ('_SUCCESS', '.one.txt.crc', 'b/_metadata'):
        (folder / name).write_text('no run')
    store = index(folder, tmp_path / 'run.store')
    names = ['b/zero.txt', 'four.txt', 'one.txt', 'three.parquet', 'two.gz']
    assert [each.name for each in store.sources] == [str(folder / name) for name in names]
    assert len(store) == 201


def test_what_is_no_part_of_a_run(tmp_path):
    folder = tmp_path / 'run'
    folder.mkdir()
    with pytest.raises(errors.ReadError, match='run: is a folder without files of a run'):
        index(folder, tmp_path / 'run.store')
    one, *_ = write_parts(folder)
    with pytest.raises(errors.ParameterError, match=f'store: found a path in {folder}, which is a'):
        index(folder, folder / 'x.store')
    store = stored(ROWS, tmp_path / 'run.store', [('x', 'v1')])
    with pytest.raises(errors.ParameterError, match=r'found the store .* among parts'):
        index([one, store.path], tmp_path / 'x.store')
    with pytest.raises(errors.ParameterError, match="found a store of the subset '<subset>', exp"):
        index(store, tmp_path / 'x.store')
    assert sorted(os.listdir(tmp_path)) == ['run', 'run.store']
    assert len(os.listdir(folder)) == 4


def test_ids_that_are_integers_are_refused(tmp_path):
    """A store does not know which ids were integers."""
    path = tmp_path / 'run.parquet'
    columns = [['x'], ['v'], [7], ['ann'], [0.5]]
    parquet.write_table(pa.table(dict(zip(HYPOTHESIS.fields, columns, strict=True))), path)
    with pytest.raises(errors.FormatError, match=r'run.parquet, shot_id: found integers'):
        index(path, tmp_path / 'run.store')


def test_pipes_and_standard_input(tmp_path, monkeypatch):
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(as_text(ROWS),))
    writer.start()
    store = index(path, tmp_path / 'run.store')
    writer.join()
    assert (len(store), store.sources[0].name) == (200, str(path))
    stream = io.TextIOWrapper(io.BytesIO(as_text(ROWS).encode()))
    monkeypatch.setattr('sys.stdin', stream)
    again = index('-', tmp_path / 'run.store')
    assert (again.sha256, again.sources[0].name) == (store.sha256, '<stdin>')


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A folder that stands for another machine: the folder `run` in it has the parts of a run."""
    (tmp_path / 'bucket/run').mkdir(parents=True)
    write_parts(tmp_path / 'bucket/run')
    (tmp_path / 'bucket/run/_SUCCESS').touch()
    remote = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    found = fs.FileSystem

    class System:
        @staticmethod
        def from_uri(uri):
            if uri.startswith('s3://'):
                return remote, uri.partition('://')[2].partition('?')[0].partition('@')[2] or (
                    uri.removeprefix('s3://')
                )
            return found.from_uri(uri)

    monkeypatch.setattr(fs, 'FileSystem', System)
    return tmp_path / 'bucket'


def test_remote_files_are_the_same_parts(bucket, tmp_path):
    store = index('s3://bucket/run', tmp_path / 'run.store')
    here = index(bucket / 'run', tmp_path / 'here.store')
    assert store.sha256 == here.sha256
    names = [each.name for each in here.sources]
    expected = [name.replace(str(bucket), 's3://bucket') for name in names]
    assert [each.name for each in store.sources] == expected
    assert [each.sha256 for each in store.sources] == [each.sha256 for each in here.sources]
    address = 's3://key:secret@bucket/run/one.txt?endpoint_override=localhost'
    assert index(address, tmp_path / 'run.store').sources[0].name == 's3://bucket/run/one.txt'
    local = (bucket / 'run/one.txt').as_uri()
    assert index(local, tmp_path / 'run.store').sources[0].name == str(bucket / 'run/one.txt')


@pytest.mark.parametrize(
    ('address', 'reason'),
    [
        ('s3://me:key@bucket/none?scheme=http', '^s3://bucket/none: No such file or directory$'),
        ('s3://bucket/wrong', '^s3://bucket/wrong, line 1, confidence: found'),
        ('nothing://x', '^nothing://x'),
    ],
)
def test_remote_errors_name_the_address(bucket, tmp_path, address, reason):
    (bucket / 'wrong').write_text('x v 1 ann high\n')
    with pytest.raises((errors.ReadError, errors.FormatError), match=reason):
        index(address, tmp_path / 'run.store')
