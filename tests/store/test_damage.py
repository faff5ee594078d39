"""Stores that were cut, mixed, edited or made by another version: each with its exact error."""

import hashlib
import io
import json
import os
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from click.testing import CliRunner
from hanging import no_hang
from stores import stored

from mediaeval_ap import AveragePrecision
from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, FormatError
from mediaeval_ap.store.store import open_store

ROWS = [('x', 'v', str(number % 4), 'ann'[: number % 3 + 1], number / 8) for number in range(9)]
AGAIN = 'index the run again'


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


DAMAGE = [  # which file is changed, and how, and the error
    ('confidence.npy', lambda path: os.truncate(path, 192), ', size: found 192 bytes, expected 2'),
    ('held.npy', os.unlink, ': No such file or directory'),
    ('manifest.json', lambda path: path.write_text('{'), ', line 1: found no JSON: .*, expected'),
    ('manifest.json', lambda path: path.write_text('[1]'), r', format: found \[1\], expected'),
    ('manifest.json', edited(lambda told: told.pop('counts')), ': found .*counts.*, expected the'),
    (
        'manifest.json',
        edited(lambda told: told.update(format_version=1)),
        ', format_version: found 1, expected 2, which this version of mediaeval_ap reads',
    ),
]


@pytest.mark.parametrize(('name', 'change', 'told'), DAMAGE)
def test_damage(folder, name, change, told):
    change(folder / name)
    with pytest.raises(Error, match=f'^{folder}/{name}{told}.*; {AGAIN}$'):
        open_store(folder)


def test_a_folder_without_a_manifest_is_no_store(folder):
    os.unlink(folder / 'manifest.json')
    with pytest.raises(Error, match=r'run\.store: is a folder, but not a store: it has no'):
        open_store(folder)


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
    wrong = replaced(path.read_bytes(), -1, value)
    total = np.load(io.BytesIO(wrong)).sum()
    with with_content(path, wrong), pytest.raises(FormatError) as caught:
        open_store(folder)
    assert str(caught.value) == f'{path}: found a sum of {total}, expected 9; {AGAIN}'


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


# Names with letters of one and two bytes, as many as are compared side by side.
MANY_NAMES = [f'{"ann" if number % 3 else "änn"}_{number:04}' for number in range(2_100)]
MANY_ROWS = [
    ('xy'[row % 2], f'v{row % 5}', str(row % 11), MANY_NAMES[row % 2_100], row % 8 / 8)
    for row in range(4_200)
]
FEW_ROWS = [
    (*shot, f'n{row % 13}', confidence) for row, (*shot, _, confidence) in enumerate(MANY_ROWS[:60])
]


def uses_of(rows, path):
    """All that may be done with a store, each as a function; most of it ranks."""
    reference = [row[:4] for row in rows[:: len(rows) // 6]]
    names = [reference[0][3], reference[3][3], 'nobody']
    shots = sorted({row[:3] for row in rows[::2]} | {row[:3] for row in reference})
    by_name = [
        AveragePrecision(reference, [2, 'all'], definition=name)
        for name in ('mediaeval-2016', 'trec')
    ]
    condensed = AveragePrecision(reference, [3], judged=shots, unjudged='skip')
    for average_precision in [*by_name, condensed]:
        yield lambda scorer=average_precision: scorer.evaluate(path, names)
        yield lambda scorer=average_precision: [*map(scorer(path).send, names)]
        yield lambda scorer=average_precision: scorer.rank(path, names[0], k=len(rows))
        yield lambda scorer=average_precision: scorer.explain(path, names).to_json()
    yield lambda: by_name[0].pool([path], names, depth=3)
    yield lambda: open_store(path).to_parquet(path.parent / 'run.parquet')
    yield lambda: open_store(path).ranking.to_frame()


def outcomes(rows, path, uses):
    """Return the errors of opening a store, and of each use; None for a value."""
    try:
        open_store(path)
    except Error as error:
        return [error]
    errors = []
    for use in uses:
        try:
            with no_hang():
                use()
            errors.append(None)
        except Error as error:
            errors.append(error)
    return errors


@contextmanager
def with_content(path, content):
    """Change a file, but not its size and its time of change."""
    status = path.stat()
    before = path.read_bytes()
    assert len(content) == len(before)
    try:
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def told_to_index(errors, path, column):
    return all(
        f'{path}/{column}.npy' in str(error) and str(error).endswith(AGAIN)
        for error in errors
        if error is not None
    )


COLUMNS = (
    'confidence corpus_id_bytes corpus_id_ends held name_at name_bytes name_ends name_lengths '
    'places shot_at shot_id_bytes shot_id_ends shot_keys temporal_rank video_id_bytes '
    'video_id_ends video_keys'
).split()


@pytest.fixture(scope='module')
def few(tmp_path_factory):
    path = tmp_path_factory.mktemp('few') / 'run.store'
    assert sorted(stored(FEW_ROWS, path).manifest.columns) == COLUMNS
    return path, list(uses_of(FEW_ROWS, path))


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('column', COLUMNS)
def test_bytes_of_a_header(column, few):
    path, uses = few
    file = path / f'{column}.npy'
    content = file.read_bytes()
    size = content.index(b'\n') + 1
    assert outcomes(FEW_ROWS, path, uses) == [None] * len(uses)
    for position in range(0, size, 5):
        flipped = bytearray(content)
        flipped[position] ^= 1 << position % 8
        with with_content(file, flipped):
            errors = outcomes(FEW_ROWS, path, uses[:1])
        assert told_to_index(errors, path, column)
    # most of a header is white space
    with with_content(file, content.replace(b'False', b'Galse')):
        assert len(outcomes(FEW_ROWS, path, uses)) == 1
    other_type = {b'<i4': b'<f4', b'<i8': b'>i8', b'<f8': b'<u8', b'|u1': b'|b1'}
    (written,) = (name for name in other_type if name in content[:size])
    with with_content(file, content.replace(written, other_type[written])):
        (error,) = outcomes(FEW_ROWS, path, uses)
    assert told_to_index([error], path, column)


def replaced(content, position, value):
    """Return the content of a column with another number at a position."""
    array = np.load(io.BytesIO(content))
    header = content[: len(content) - array.nbytes]
    array[position] = value
    return header + array.tobytes()


OUT_OF_RANGE = {  # columns whose numbers are positions: the first that is out of range
    'name_at': 13,
    'places': 60,
    'shot_at': 60,
    'name_ends': None,
    'corpus_id_ends': None,
    'video_id_ends': None,
    'shot_id_ends': None,
    'video_keys': 10,
    'shot_keys': 110,
}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    'column',
    [
        pytest.param(column, marks=[] if column in ('places', 'name_ends') else pytest.mark.slow)
        for column in OUT_OF_RANGE
    ],
)
def test_positions_that_are_out_of_range(column, few):
    path, uses = few
    file = path / f'{column}.npy'
    content = file.read_bytes()
    array = np.load(file)
    first_wrong = OUT_OF_RANGE[column] or int(array[-1]) + 1
    for position in 0, len(array) // 2, -1:
        for value in -1, first_wrong:
            with with_content(file, replaced(content, position, value)):
                errors = outcomes(FEW_ROWS, path, uses)
            assert any(errors)
            assert told_to_index(errors, path, column)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.slow
def test_a_store_of_many_names(tmp_path):
    """Their lengths and letters are compared side by side."""
    path = tmp_path / 'run.store'
    columns = stored(MANY_ROWS, path).manifest.columns
    uses = list(uses_of(MANY_ROWS, path))[:4]
    assert outcomes(MANY_ROWS, path, uses) == [None] * 4
    n_errors = 0
    for column in 'name_letters_8', 'name_lengths', 'name_at', 'places':
        assert column in columns
        content = (path / f'{column}.npy').read_bytes()
        for position in 0, 7, -1:
            for value in (0, 200) if 'letters' in column else (0, -1, 20, 5_000, 1 << 30):
                with with_content(path / f'{column}.npy', replaced(content, position, value)):
                    errors = outcomes(MANY_ROWS, path, uses)
                assert told_to_index(errors, path, column)
                n_errors += any(errors)
    assert n_errors >= 10
