"""Stores that were cut, mixed, edited or made by another version: each with its exact error."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from stores import stored

from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, FormatError
from mediaeval_ap.store.store import open_store

ROWS = [('x', 'v', str(number % 4), 'ann'[: number % 3 + 1], number / 8) for number in range(9)]
AGAIN = 'index the run again'
NO_JSON = 'line 1: found no JSON: Expecting property name enclosed in double quotes'


@pytest.fixture
def folder(tmp_path):
    stored(ROWS, tmp_path / 'run.store')
    return tmp_path / 'run.store'


def edited(change):
    """Change what the manifest says."""

    def edit(path):
        described = json.loads(path.read_text())
        change(described)
        path.write_text(json.dumps(described))

    return edit


DAMAGE = {  # how a file is changed, and the error
    'cut': (
        *('confidence.npy', lambda path: path.write_bytes(path.read_bytes()[:-8])),
        '/confidence.npy, size: found 192 bytes, expected 200',
    ),
    'missing': ('held.npy', os.unlink, '/held.npy: No such file or directory'),
    'no manifest': (
        *('manifest.json', os.unlink),
        ': is a folder, but not a store: it has no manifest.json',
    ),
    'no JSON': (
        *('manifest.json', lambda path: path.write_text('{')),
        f'/manifest.json, {NO_JSON}, expected the manifest of a store',
    ),
    'other JSON': (
        *('manifest.json', lambda path: path.write_text('[1]')),
        "/manifest.json, format: found [1], expected 'mediaeval-ap store'",
    ),
    'no counts': (
        *('manifest.json', edited(lambda told: told.pop('counts'))),
        '/manifest.json: found "\'counts\'", expected the fields of a store',
    ),
    'another version': (
        *('manifest.json', edited(lambda told: told.update(format_version=1))),
        '/manifest.json, format_version: found 1, expected 2, which this version of mediaeval_ap '
        'reads',
    ),
}


@pytest.mark.parametrize('damage', DAMAGE)
def test_damage(folder, damage):
    name, change, told = DAMAGE[damage]
    change(folder / name)
    with pytest.raises(Error) as caught:
        open_store(folder)
    assert str(caught.value) == f'{folder}{told}' + (damage != 'no manifest') * f'; {AGAIN}'


def flipped(path):
    """Change the last bit of a file, and return the error about its hash."""
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    before, after = (hashlib.sha256(each).hexdigest()[:12] for each in (content, path.read_bytes()))
    return f'{path}, SHA-256: found {after}…, expected {before}…, as it was written; {AGAIN}'


def test_an_edited_column(folder):
    message = flipped(folder / 'confidence.npy')
    os.utime(folder / 'confidence.npy', ns=(0, 0))  # as the clock may not have moved on
    reference = folder.parent / 'reference.txt'
    reference.write_text('x v 1 ann\n')
    for arguments in (['evaluate', str(reference), str(folder)], ['index', '--check', str(folder)]):
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert (done.exit_code, done.stdout) == (1, '')
        assert done.stderr == f'Error: {message}\n'


@pytest.mark.parametrize('value', [2, -3])
def test_numbers_with_which_a_search_would_not_end(folder, value):
    path = folder / 'held.npy'
    status = path.stat()
    held = np.load(path)
    held[-1] = value
    np.save(path, held)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(FormatError) as caught:
        open_store(folder)
    assert str(caught.value) == f'{path}: found a sum of {held.sum()}, expected 9; {AGAIN}'


def test_paths_that_are_no_folder(tmp_path):
    (tmp_path / 'file').touch()
    for name, reason in (
        ('file', 'is not a store'),
        ('none', 'No such file or directory'),
        ('no\0path', 'a path cannot contain NUL'),
    ):
        with pytest.raises(Error) as caught:
            open_store(f'{tmp_path}/{name}')
        assert str(caught.value) == f'{tmp_path}/{name}: {reason}'.replace('\0', '\\x00')
    with pytest.raises(Error, match='store: found 7, expected a path'):
        open_store(7)


def test_copies_and_links_are_the_same_store(tmp_path):
    """Times of change may be lost, and folders may be links."""
    store = stored(ROWS, tmp_path / 'run.store')
    shutil.copytree(store.path, tmp_path / 'copy', copy_function=shutil.copyfile)
    (tmp_path / 'link').symlink_to('copy')
    os.rename(store.path, tmp_path / 'moved')
    for name in ('copy', 'link', 'moved'):
        again = open_store(tmp_path / name)
        again.check()
        assert again.sha256 == store.sha256


def test_a_replaced_store_is_not_checked_in_place_of_the_open_one(tmp_path):
    """All files of the new store are as its own manifest describes them."""
    store = stored(ROWS, tmp_path / 'run.store')
    stored(ROWS[1:], tmp_path / 'run.store')
    with pytest.raises(Error) as caught:
        store.check()
    assert str(caught.value) == f'{store.path}: was replaced since it was opened: open it again'
