"""Stores that were edited, cut, mixed or made by another version: each with its exact error."""

import errno
import gc
import hashlib
import json
import os
import random
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from stores import stored

from mediaeval_ap import AveragePrecision, errors, index
from mediaeval_ap.cli import main
from mediaeval_ap.diagnosis import diagnosis
from mediaeval_ap.errors import Error, FormatError, ReadError
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.store import manifest
from mediaeval_ap.store.store import open_store

ROWS = [('x', 'v', str(number % 4), 'ann'[: number % 3 + 1], number / 8) for number in range(9)]
EDITS = [0, 1, 2, 3, 8, 127, 128, 255]
AGAIN = 'index the run again'
NO_JSON = 'line 1: found no JSON: Expecting property name enclosed in double quotes'


def of_bytes(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def flipped(path):
    """Change the last bit of a file, and return what is told of its hash."""
    before, content = of_bytes(path), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    found = f'found {of_bytes(path)}…, expected {before}…, as it was written'
    return f'{path}, SHA-256: {found}; {AGAIN}'


def replaced(path, make):
    path.unlink()
    make(path)


def huge(path):
    with path.open('wb') as file:
        file.truncate((16 << 20) + 1)


def rewritten(path, change, *, signed=True):
    """Change a manifest, and sign it again."""
    described = json.loads(path.read_text())
    change(described)
    if signed:
        del described['sha256']
        described['sha256'] = manifest.digest_of(described)
    path.write_text(json.dumps(described))


DAMAGE = {  # by what a file is changed, and what is told
    'cut': (
        *('confidence.npy', lambda path: path.write_bytes(path.read_bytes()[:-8])),
        '/confidence.npy, size: found 192 bytes, expected 200',
    ),
    'missing': ('held.npy', os.unlink, '/held.npy: No such file or directory'),
    'a pipe': (
        *('held.npy', lambda path: replaced(path, os.mkfifo)),
        '/held.npy: is no regular file',
    ),
    'no manifest': (
        *('manifest.json', os.unlink),
        ': is a folder, but no store: it has no manifest.json',
    ),
    'a folder as manifest': (
        *('manifest.json', lambda path: replaced(path, os.mkdir)),
        '/manifest.json: is no regular file',
    ),
    'no JSON': (
        *('manifest.json', lambda path: path.write_text('{')),
        f'/manifest.json, {NO_JSON}, expected the manifest of a store',
    ),
    'other JSON': (
        *('manifest.json', lambda path: path.write_text('[1]')),
        "/manifest.json, format: found [1], expected 'mediaeval-ap store'",
    ),
    'huge': (
        *('manifest.json', huge),
        '/manifest.json: found more than 16777216 bytes, expected the manifest of a store',
    ),
    'an edited manifest': (
        'manifest.json',
        lambda path: rewritten(path, lambda told: told.update(keep=3), signed=False),
        '/manifest.json, sha256: found another hash, expected that of the text: the manifest was '
        'edited',
    ),
    'another version': (
        'manifest.json',
        lambda path: rewritten(path, lambda told: told.update(format_version=2)),
        '/manifest.json, format_version: found 2, expected 1, which this version of mediaeval_ap '
        'reads',
    ),
}


@pytest.mark.parametrize('damage', DAMAGE)
def test_damage(tmp_path, damage):
    store = tmp_path / 'run.store'
    stored(ROWS, store)
    name, change, told = DAMAGE[damage]
    change(store / name)
    with pytest.raises(Error) as caught:
        open_store(store)
    assert str(caught.value) == f'{store}{told}' + (damage != 'no manifest') * f'; {AGAIN}'


def test_an_edited_column(tmp_path):
    store = tmp_path / 'run.store'
    stored(ROWS, store)
    message = flipped(store / 'confidence.npy')
    os.utime(store / 'confidence.npy', ns=(0, 0))  # as the clock may not have moved on
    with pytest.raises(Error) as caught:
        open_store(store)
    assert str(caught.value) == message
    reference = tmp_path / 'reference.txt'
    reference.write_text('x v 1 ann\n')
    for arguments in (['evaluate', str(reference), str(store)], ['index', '--check', str(store)]):
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert (done.exit_code, done.stdout) == (1, '')
        assert done.stderr == f'Error: {message}\n'


def columns(**changes):
    return lambda told: [told['columns'][name].update(change) for name, change in changes.items()]


def letters_of_no_name(told):
    about = told['columns']['held'] | {'shape': [4, 8], 'dtype': '|u1'}
    told['columns']['name_letters_8'] = about


SIGNED = {  # edits of a manifest whose hash was computed again, and what is found
    'text for a number': (lambda told: told.update(keep='10'), "'10' as a number"),
    'a fraction': (lambda told: told['counts'].update(hypotheses=9.5), '9.5 as a number'),
    'a negative count': (lambda told: told['counts'].update(repeated=-1), '-1 as a number'),
    'no length': (columns(held={'shape': ['3']}), "'3' as a number"),
    'no input': (lambda told: told.update(inputs=[]), 'names of inputs'),
    'an input without a name': (lambda told: told['inputs'][0].update(name=7), 'names of inputs'),
    'no size': (lambda told: told['columns']['held'].pop('size'), 'missing 1 required'),
    'no counts': (lambda told: told.pop('counts'), 'counts'),
    'another length': (columns(shot_at={'shape': [4]}), 'shot_at as <i4 of shape (4,)'),
    'another type': (columns(shot_at={'dtype': '|O'}), 'shot_at as |O of shape (9,)'),
    'two axes': (columns(name_bytes={'shape': [1, 6]}), 'name_bytes as |u1 of shape (1, 6)'),
    'letters of no name': (letters_of_no_name, 'name_letters_8 as |u1 of shape (4, 8)'),
    'a column too much': (
        lambda told: told['columns'].update(other=told['columns']['held']),
        'other missing or unknown',
    ),
}


@pytest.mark.parametrize('edit', SIGNED)
def test_a_manifest_that_was_edited_and_signed(tmp_path, edit):
    """One line that names the file is all that this owes to anybody."""
    change, found = SIGNED[edit]
    stored(ROWS, tmp_path / 'run.store')
    path = tmp_path / 'run.store/manifest.json'
    rewritten(path, change)
    with pytest.raises(FormatError) as caught:
        open_store(tmp_path / 'run.store')
    assert str(caught.value).startswith(f'{path}: found ')
    assert str(caught.value).endswith(f', expected the fields of a store; {AGAIN}')
    assert found in str(caught.value).replace('\\', '')
    assert '\n' not in str(caught.value)


def test_a_column_without_room_for_its_values(tmp_path):
    store = tmp_path / 'run.store'
    stored(ROWS, store)
    rewritten(store / 'manifest.json', columns(name_bytes={'shape': [1 << 40]}))
    with pytest.raises(FormatError, match=r'/name_bytes.npy, size: found 134 bytes, expected 134'):
        open_store(store)


def test_an_edit_that_hides_is_found_by_check(tmp_path):
    path = tmp_path / 'run.store' / 'confidence.npy'
    store = stored(ROWS, tmp_path / 'run.store')
    status = path.stat()
    message = flipped(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    for each in (store, open_store(store.path)):
        with pytest.raises(Error) as caught:
            each.check()
        assert str(caught.value) == message


def hidden(path, at, content):
    """Write bytes to a file that keeps its size and times."""
    status = path.stat()
    with path.open('r+b') as file:
        file.seek(at, os.SEEK_SET if at >= 0 else os.SEEK_END)
        file.write(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'an'), ('x', 'v', '7', 'ann')]


def ask_all(path, folder):
    """Use a store in every way."""
    average_precision = AveragePrecision(REFERENCE, K=[1, 3, 1000])
    average_precision.evaluate(path)
    AveragePrecision(REFERENCE, K=[2], definition='trec').evaluate(path)
    average_precision.rank(path, 'ann')
    with average_precision(path) as session:
        session.send('an')
    explained = average_precision.explain(path)
    explained.of('ann').to_dict()
    average_precision.export_trec(path, folder / 'qrels', folder / 'run')
    average_precision.live(path).send('ann')
    index(path, folder / 'kept.store', keep=2)
    open_store(path).to_parquet(folder / 'run.parquet')


@pytest.mark.parametrize(
    ('name', 'content', 'found'),
    [
        ('shot_at', '<i4 -1', 'found -1, expected a number from 0 below 4'),
        ('name_at', '<i4 3', 'found 3, expected a number from 0 below 3'),
        ('places', '<i4 2147483647', 'found 2147483647, expected a number from 0 below 9'),
        ('video_keys', '<i4 1', 'found 1, expected a number from 0 below 1'),
        ('shot_keys', '<i4 4', 'found 4, expected a number from 0 below 4'),
        ('shot_id_ends', '<i8 5', 'found 5, expected a number from 0 below 5'),
        ('shot_id_bytes', '|u1 255', 'found what are no texts, expected those of a store'),
    ],
)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_damage_that_hides_is_found_by_the_query(tmp_path, name, content, found):
    """A number out of range would be an IndexError, or lead to a loop without an end."""
    store = stored(ROWS, tmp_path / 'run.store')
    dtype, value = content.split()
    path = tmp_path / f'run.store/{name}.npy'
    hidden(path, -np.dtype(dtype).itemsize, np.array(int(value), dtype).tobytes())
    with pytest.raises(FormatError) as caught:
        ask_all(store.path, tmp_path)
    message = str(caught.value)
    of_file = str(path).replace('bytes', 'ends')
    assert message.startswith(f'{of_file}: {found}')
    assert message.endswith('; find what was damaged by mediaeval-ap index --check')


@pytest.mark.parametrize(
    ('name', 'value'),
    [('held', 2), ('held', -3), ('name_lengths', 1 << 62), ('name_lengths', 0), ('name_ends', -1)],
)
def test_numbers_with_which_a_search_would_not_end(tmp_path, name, value):
    """They are looked at when a store is opened."""
    path = tmp_path / f'run.store/{name}.npy'
    stored(ROWS, tmp_path / 'run.store')
    hidden(path, -8, np.int64(value).tobytes())
    with pytest.raises(FormatError, match=f'^{path}, SHA-256: found '):
        open_store(tmp_path / 'run.store')


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_no_other_error_comes_of_hidden_damage(tmp_path):
    """Plausible values may give other numbers, or contradict each other."""
    store = stored(ROWS, tmp_path / 'run.store')
    choose = random.Random(7)  # any other will do
    messages = []
    for _ in range(15):
        path = tmp_path / f'run.store/{choose.choice(sorted(store.manifest.columns))}.npy'
        before = path.read_bytes()
        for _ in range(choose.choice([1, 1, 1, 5])):
            hidden(path, choose.randrange(128, len(before)), bytes([choose.choice(EDITS)]))
        try:
            ask_all(store.path, tmp_path)
        except Error as error:
            messages.append(str(error))
        hidden(path, 0, before)
    assert 0 < len(messages) < 15
    assert '\n' not in ''.join(messages)


def test_values_that_contradict_each_other(tmp_path, monkeypatch):
    """An error that no right data lead to is that of the store, in Python and in the shell."""
    store = stored(ROWS, tmp_path / 'run.store')
    errors.checks_of_stores.clear()  # other stores that are open would be looked at too
    store = open_store(store.path)
    hidden(tmp_path / 'run.store/shot_id_bytes.npy', -4, b'1')
    message = f'{store.path}/shot_id_bytes.npy, SHA-256: found '

    def confused(*_):
        raise KeyError(8)

    monkeypatch.setattr(diagnosis, 'relevant_shots', confused)
    monkeypatch.setattr(Scorer, 'score', confused)
    with pytest.raises(FormatError, match=f'^{message}'):
        AveragePrecision(REFERENCE, K=[1]).explain(store.path).of('ann')
    (tmp_path / 'reference.txt').write_text('x v 1 ann\n')
    arguments = ['evaluate', str(tmp_path / 'reference.txt'), store.path]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert (done.exit_code, done.stdout, done.stderr.count('\n')) == (1, '', 1)
    assert done.stderr.startswith(f'Error: {message}')
    shutil.rmtree(store.path)
    stored(ROWS, store.path)
    explained = AveragePrecision(REFERENCE, K=[1]).explain(store.path)
    with pytest.raises(KeyError):  # not the store's fault
        explained.of('ann')
    shutil.rmtree(store.path)
    with pytest.raises(KeyError):  # nor that of another one in its place, or of none
        explained.of('ann')


@pytest.mark.parametrize(
    ('step', 'number', 'file'),
    [('FileIO', errno.EMFILE, 'manifest.json'), ('file_bytes', errno.ENOMEM, 'shot_at.npy')],
)
def test_lack_of_descriptors_or_memory(tmp_path, monkeypatch, step, number, file):
    """To index the run again would not help."""
    stored(ROWS, tmp_path / 'run.store')

    def full(path, *_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(f'mediaeval_ap.store.mapped_columns.{step}', full)
    with pytest.raises(ReadError) as caught:
        open_store(tmp_path / 'run.store')
    assert str(caught.value) == f'{tmp_path}/run.store/{file}: {os.strerror(number)}'


def test_a_store_that_is_open_holds_no_descriptor(tmp_path):
    store = stored(ROWS, tmp_path / 'run.store')
    os.close(lowest := os.dup(0))
    opened = [open_store(store.path) for _ in range(20)]
    os.close(after := os.dup(0))
    assert after == lowest
    part = opened[0].ranking.name_at[2:4]
    expected = part.tolist()
    del opened, store
    gc.collect()
    assert part.tolist() == expected  # it stays mapped


def test_paths_that_are_no_folder(tmp_path):
    (tmp_path / 'file').touch()
    for name, reason in (
        ('file', 'is no store'),
        ('none', 'No such file or directory'),
        ('no\0path', 'no path holds a NUL'),
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
    (tmp_path / 'copy' / 'held.npy').rename(tmp_path / 'held')
    (tmp_path / 'copy' / 'held.npy').symlink_to(tmp_path / 'held')
    for name in ('copy', 'link', 'moved'):
        again = open_store(tmp_path / name)
        again.check()
        assert again.sha256 == store.sha256


def test_a_replaced_store_is_not_checked_in_place_of_the_open_one(tmp_path):
    store = stored(ROWS, tmp_path / 'run.store')
    stored(ROWS[1:], tmp_path / 'run.store')
    with pytest.raises(Error) as caught:
        store.check()
    assert str(caught.value) == f'{store.path}: was replaced since it was opened: open it again'
