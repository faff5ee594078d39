"""Stores that something interrupts while they are written."""

import os
import signal
import subprocess
import sys

import pytest
from stores import stored

from mediaeval_ap.errors import WriteError
from mediaeval_ap.store.store import open_store

OLD = [('x', 'v', '1', 'ann', 0.5)]
NEW = [*OLD, ('x', 'v', '2', 'ann', 0.5)]

# Writes a store, and gets a signal at a step, as the command would.
INTERRUPTED = """
import os, sys
sys.path.insert(0, sys.argv[4])
from stores import stored
from mediaeval_ap.__main__ import _leave
import signal
signal.signal(signal.SIGTERM, _leave)
step = getattr(os, sys.argv[2])
def interrupted(*given, **named):
    os.kill(os.getpid(), int(sys.argv[3]))
    return step(*given, **named)
setattr(os, sys.argv[2], interrupted)
stored([('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'ann', 0.5)], sys.argv[1])
"""


@pytest.mark.parametrize(
    ('step', 'number', 'n_left'),
    [
        ('fsync', signal.SIGTERM, 0),
        ('fsync', signal.SIGKILL, 1),  # nobody is left who could remove the folder
    ],
)
def test_a_signal(tmp_path, step, number, n_left):
    path = tmp_path / 'run.store'
    stored(OLD, path)
    here = os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, '-c', INTERRUPTED, str(path), step, str(int(number)), here]
    done = subprocess.run(command, check=False, timeout=60)  # it takes a second
    assert done.returncode == (143 if number == signal.SIGTERM else -number)
    assert len(open_store(path)) == 1
    assert len(os.listdir(tmp_path)) == 1 + n_left


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
