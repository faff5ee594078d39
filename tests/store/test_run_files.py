"""Runs that are remote, or streams, are copied first and then read as files."""

import io
import os
import threading
from types import SimpleNamespace

import pytest
from pyarrow import fs

from mediaeval_ap import errors, index
from mediaeval_ap.store.run_files import files_of

ROWS = ''.join(f'x v{number % 3} {number} ann 0.5\n' for number in range(40))


@pytest.fixture
def bucket(tmp_path_factory, monkeypatch):
    """A bucket with two parts of a run: a folder that pyarrow takes for another file system."""
    folder = tmp_path_factory.mktemp('remote')
    system = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
    (folder / 'bucket/run').mkdir(parents=True)
    for name, text in (('one.txt', ROWS), ('two.txt', ROWS), ('_SUCCESS', 'no run')):
        (folder / 'bucket/run' / name).write_text(text)
    from_uri = fs.FileSystem.from_uri

    def opened(uri):
        scheme, _, path = uri.partition('?')[0].partition('://')
        return (system, path.rpartition('@')[2]) if scheme == 's3' else from_uri(uri)

    monkeypatch.setattr(fs, 'FileSystem', SimpleNamespace(from_uri=opened))
    return folder / 'bucket'


def test_remote_files_are_read(bucket, tmp_path):
    store = index('s3://bucket/run', tmp_path / 'run.store')
    assert [each.name for each in store.sources] == [
        's3://bucket/run/one.txt',
        's3://bucket/run/two.txt',
    ]
    (tmp_path / 'one.txt').write_text(ROWS)
    (tmp_path / 'two.txt').write_text(ROWS)
    here = index([tmp_path / 'one.txt', tmp_path / 'two.txt'], tmp_path / 'other.store')
    assert store.sha256 == here.sha256
    assert sorted(os.listdir(tmp_path)) == ['one.txt', 'other.store', 'run.store', 'two.txt']


@pytest.mark.usefixtures('bucket')
def test_keys_and_options_of_an_address_are_not_shown(tmp_path):
    store = index('s3://key:secret@bucket/run/one.txt?scheme=http', tmp_path / 'run.store')
    assert [each.name for each in store.sources] == ['s3://bucket/run/one.txt']


def test_remote_errors_name_the_address(bucket, tmp_path):
    with pytest.raises(errors.ReadError, match=r'^s3://bucket/none: No such file or directory$'):
        index('s3://bucket/none', tmp_path / 'run.store')
    with pytest.raises(errors.ReadError, match=r'one.txt: holds more than 100 bytes, the limit'):
        index('s3://bucket/run/one.txt', tmp_path / 'run.store', max_bytes=100)
    (bucket / 'wrong').write_text('x v 1 ann high\n')
    with pytest.raises(errors.FormatError, match=r'^s3://bucket/wrong, line 1, confidence: found'):
        index('s3://bucket/wrong', tmp_path / 'run.store')
    with pytest.raises(errors.ReadError, match=r'^nothing://x'):
        index('nothing://x', tmp_path / 'run.store')


def test_local_addresses_are_paths(tmp_path):
    (tmp_path / 'run.txt').write_text(ROWS)
    (file,) = files_of((tmp_path / 'run.txt').as_uri())
    assert (file.name, file.open) == (str(tmp_path / 'run.txt'), None)


def test_a_pipe_is_copied_first(tmp_path):
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(ROWS,))
    writer.start()
    store = index(path, tmp_path / 'run.store')
    writer.join()
    assert (len(store), store.sources[0].name) == (40, str(path))


def test_standard_input_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr('sys.stdin', io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    with pytest.raises(errors.ReadError, match=r'^<stdin>: holds more than 100 bytes, the limit'):
        index('-', tmp_path / 'run.store', max_bytes=100)
