"""Outputs that something interrupts: the old file is whole, whatever happens."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.errors import WriteError

ROW = ('x', 'v', '1', 'ann', 0.5)
OLD, NEW = 'old\n' * 1000, 'new\n' * 1000

# Writes a file, and is killed right before or after one of the steps that take it there.
KILLED = """
import os, signal, sys
from mediaeval_ap.atomic_files import write_whole

def killing(name, when):
    step = getattr(os, name)
    def wrapped(*given, **named):
        if when == 'before':
            os.kill(os.getpid(), signal.SIGKILL)
        step(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, name, wrapped)

killing(sys.argv[2], sys.argv[3])
write_whole(sys.argv[1], 'new\\n' * 1000)
"""


@pytest.mark.parametrize(
    ('step', 'when', 'content'),
    [
        ('fsync', 'before', OLD),  # perhaps some of it is written
        ('fsync', 'after', OLD),  # all of it, under another name
        ('replace', 'before', OLD),
        ('replace', 'after', NEW),
    ],
)
def test_killed_at_a_step(tmp_path, step, when, content):
    path = tmp_path / 'map.txt'
    path.write_text(OLD)
    done = subprocess.run([sys.executable, '-c', KILLED, path, step, when], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == content
    # Nobody is left who could remove what was begun: it has a name that nothing looks at.
    left = [name for name in os.listdir(tmp_path) if name != 'map.txt']
    assert all(name.startswith('.') and name.endswith('.tmp') for name in left)
    assert len(left) == (content == OLD)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    mount, unmount = shutil.which('mount'), shutil.which('umount')
    if mount is None or unmount is None:
        pytest.skip('no program here mounts a file system')
    command = [mount, '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip('mounting a small file system needs rights that this user has not')
    yield folder
    subprocess.run([unmount, folder], check=True)


def test_a_read_only_disk(small_disk):
    """Where there is a file or a folder, rights alone would say that permission is denied."""
    path, blocks = small_disk / 'map.txt', small_disk / 'blocks'
    average_precision = AveragePrecision([ROW[:4]])
    write_whole(path, OLD)
    average_precision.evaluate([ROW], ['ann'], resume=blocks)
    for block in blocks.glob('*-*.json'):
        block.unlink()
    subprocess.run([shutil.which('mount'), '-o', 'remount,ro', small_disk], check=True)
    for refused, write in [
        (path, lambda: write_whole(path, NEW)),
        (blocks, lambda: average_precision.evaluate([ROW], ['ann'], resume=blocks)),
    ]:
        with pytest.raises(WriteError) as caught:
            write()
        assert str(caught.value).startswith(str(refused))
        assert str(caught.value).endswith(': Read-only file system')


def test_a_full_disk(small_disk):
    path = small_disk / 'map.txt'
    write_whole(path, OLD)
    with pytest.raises(WriteError) as caught:
        write_whole(path, 'new\n' * 50_000)
    assert str(caught.value) == f'{path}: No space left on device'
    assert path.read_text() == OLD
    assert os.listdir(small_disk) == ['map.txt']
    write_whole(path, NEW)
    assert path.read_text() == NEW
