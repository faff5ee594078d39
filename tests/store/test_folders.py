"""Stores that something interrupts while they are written."""

import os

import pytest
from stores import stored

from mediaeval_ap.errors import WriteError
from mediaeval_ap.store.store import open_store

OLD = [('x', 'v', '1', 'ann', 0.5)]
NEW = [*OLD, ('x', 'v', '2', 'ann', 0.5)]


@pytest.mark.parametrize('step', ['fsync', 'rename'])
def test_an_interrupted_store_leaves_the_older_one(tmp_path, monkeypatch, step):
    path = tmp_path / 'run.store'
    stored(OLD, path)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            stored(NEW, path)
    assert os.listdir(tmp_path) == ['run.store']
    assert len(open_store(path)) == 1


def test_another_process_that_writes_the_same_store(tmp_path, monkeypatch):
    """It has renamed its store to the place that this call has just emptied."""
    path = tmp_path / 'run.store'
    stored(OLD, path)
    rename, times = os.rename, iter([True])

    def renamed(*names):
        rename(*names)
        if next(times, False):
            stored(OLD, path)

    monkeypatch.setattr(os, 'rename', renamed)
    with pytest.raises(WriteError, match=r'run\.store: Directory not empty'):
        stored(NEW, path)
    assert os.listdir(tmp_path) == ['run.store']
    assert len(open_store(path)) == 1


def test_the_folder_has_to_be_there(tmp_path):
    with pytest.raises(WriteError) as caught:
        stored(OLD, tmp_path / 'none' / 'run.store')
    assert str(caught.value) == f'{tmp_path}/none/run.store: No such file or directory'


def test_a_link_leads_to_the_store_that_is_replaced(tmp_path):
    """To rename a folder to the link would replace the link alone."""
    stored(OLD, tmp_path / 'run.store')
    (tmp_path / 'link').symlink_to('run.store')
    stored(NEW, tmp_path / 'link')
    assert len(open_store(tmp_path / 'run.store')) == 2
    assert (tmp_path / 'link').is_symlink()


@pytest.mark.parametrize(
    'manifest', ['', '{', '[]', '{"name": "my app"}', '{"format": "mediaeval-ap store"}']
)
def test_a_folder_that_is_no_store_stays(tmp_path, manifest):
    path = tmp_path / 'web'
    path.mkdir()
    if manifest:
        (path / 'manifest.json').write_text(manifest)
    with pytest.raises(WriteError, match=r'web: exists and is not a store: give another path, or'):
        stored(OLD, path)
    assert path.is_dir()


def test_a_store_that_holds_something_else_stays(tmp_path):
    path = tmp_path / 'run.store'
    stored(OLD, path)
    (path / 'precious.npy').write_text('precious')
    with pytest.raises(WriteError, match=r"run\.store: holds 'precious\.npy' beside a store: give"):
        stored(NEW, path)
    assert (path / 'precious.npy').exists()
    assert len(open_store(path)) == 1
    assert os.listdir(tmp_path) == ['run.store']
