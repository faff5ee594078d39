"""A store that is built beyond memory has the files of one that is written from memory."""

import fcntl
import gzip
import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from stores import stored

from mediaeval_ap import errors, index, open_store
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store import indexing, large, manifest, writing
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import HYPOTHESIS, read, reading
from mediaeval_ap.tables.text import format

KILLED_BUILDS = Path(__file__).parent / 'killed_builds.py'
SMALL = {  # a few rows and bytes at a time, so that little data takes many steps
    (indexing, 'LARGEST_IN_MEMORY'): 5,
    (large, 'BLOCK_ROWS'): 3,
    (writing, 'BLOCK_ROWS'): 3,
    (format, 'BLOCK_BYTES'): 32,
    (reading, 'PART_BYTES'): 64,
}


@pytest.fixture(params=['beyond memory', 'in memory'], scope='module')
def steps(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, 'fsync', lambda _: None)  # nothing is killed here
        if request.param == 'beyond memory':
            for (module, name), value in SMALL.items():
                patch.setattr(module, name, value)
        yield


def in_memory(rows, path, keep=None, subset=None):
    """The files of the store that the reference implementation writes."""
    return files(stored(rows, path, subset, keep))


def files(store):
    columns = store.manifest.columns
    return {name: (each.dtype, each.shape, each.sha256) for name, each in columns.items()} | {
        'counts': store.manifest.counts,
        'keep': store.manifest.keep,
    }


def as_text(rows):
    return ''.join(' '.join([*ids, repr(confidence)]) + '\n' for *ids, confidence in rows)


confidences = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1e-300, 3.0])
ids = st.sampled_from(['1', '01', '10', 'v', 'ä', '\U0001f600'])
people = st.text('abß', min_size=1, max_size=3) | st.sampled_from(['\U0001f600' * 40, 'a' * 70])
rows = st.lists(
    st.tuples(st.sampled_from(['TV', 'x']), ids, ids, people, confidences), min_size=1, max_size=60
)
skewed = st.builds(
    lambda row, times, others: [*[row] * times, *others],
    st.tuples(st.just('TV'), ids, ids, people, confidences),
    st.integers(1, 40),
    rows,
)


@settings(max_examples=20)  # each writes two stores to the disk
@given(
    rows | skewed,
    st.none() | st.integers(1, 4),
    st.none() | st.sets(st.tuples(st.just('TV'), ids), min_size=1),
)
def test_files_are_those_of_a_store_from_memory(steps, tmp_path_factory, rows, keep, subset):
    folder = tmp_path_factory.mktemp('index')
    subset = None if subset is None else sorted(subset)
    expected = in_memory(rows, folder / 'memory.store', keep, subset)
    (folder / 'run.txt').write_text(as_text(rows), encoding='utf-8')
    store = index(folder / 'run.txt', folder / 'run.store', keep=keep, subset=subset)
    assert files(store) == expected
    assert sorted(each.name for each in folder.iterdir()) == [
        'memory.store',
        'run.store',
        'run.txt',
    ]


@settings(max_examples=10)  # each writes six stores to the disk
@given(rows | skewed, st.none() | st.integers(1, 4), st.integers(0, 3))
def test_a_store_that_is_indexed_again(steps, tmp_path_factory, rows, keep, less):
    folder = tmp_path_factory.mktemp('index')
    expected = in_memory(rows, folder / 'memory.store', keep)
    (folder / 'run.txt').write_text(as_text(rows), encoding='utf-8')
    whole = index(folder / 'run.txt', folder / 'whole.store')
    kept = index(whole, folder / 'kept.store', keep=keep and keep + less)
    for again in (kept, whole):
        store = index([again], folder / 'run.store', keep=keep)
        assert files(store) == expected
        assert store.manifest.inputs == whole.manifest.inputs
    assert index([kept.folder], kept.folder, keep=keep).sha256 == store.sha256
    assert {each.suffix for each in folder.iterdir()} == {'.txt', '.store'}


ROWS = [
    ('TV', f'v{number % 4}', str(number % 9), f'näme{number % 11}', number % 5 / 4)
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


def killed_until_built(folder, seed):
    """Build the store of the parts in processes that are killed; return how many were."""
    command = [sys.executable, KILLED_BUILDS, str(seed), 'run.store', *write_parts(folder)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert not done.returncode, done.stderr
    assert not done.stderr
    return int(done.stdout)


def test_a_build_that_is_killed_goes_on(tmp_path):
    assert killed_until_built(tmp_path, seed=1) > 2
    assert files(open_store(tmp_path / 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')
    assert_nothing_else(tmp_path)


def assert_nothing_else(folder):
    """No leftover of a store stands beside it."""
    assert [path.name for path in folder.glob('run.store*')] == ['run.store']


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(2, 30))
def test_builds_that_are_killed_go_on(tmp_path, seed):
    killed_until_built(tmp_path, seed)
    assert files(open_store(tmp_path / 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')
    assert_nothing_else(tmp_path)


class Interrupted(BaseException):
    """As of Ctrl-C."""


@pytest.fixture
def small_steps(monkeypatch):
    for (module, name), value in SMALL.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def interrupted(tmp_path, small_steps, monkeypatch):
    """Parts of a run, whose build was interrupted when the third part was read."""
    monkeypatch.chdir(tmp_path)
    paths = write_parts(tmp_path)
    n_rows = 0
    add = indexing._RowsOfFiles._add

    def add_some(self, table):
        nonlocal n_rows
        n_rows += len(table)
        if n_rows > 120:
            raise Interrupted
        add(self, table)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing._RowsOfFiles, '_add', add_some)
        with pytest.raises(Interrupted):
            index(paths, 'run.store')
    assert os.path.isdir('run.store.building')
    return paths


def added(monkeypatch):
    """A list that gets the number of rows of each table that is added from now on."""
    sizes = []
    add = indexing._RowsOfFiles._add

    def counted(self, table):
        sizes.append(len(table))
        add(self, table)

    monkeypatch.setattr(indexing._RowsOfFiles, '_add', counted)
    return sizes


def test_temporal_ranks_go_on_in_the_next_chunk(tmp_path, small_steps, monkeypatch):
    """One name and one confidence, of several videos and repeated shots, in three chunks."""
    monkeypatch.setattr(large, 'CHUNK_VECTORS', 1)
    monkeypatch.setattr(format, 'BLOCK_BYTES', 1 << 16)
    monkeypatch.setattr(large, 'BLOCK_ROWS', 700)
    rows = [('TV', f'v{number % 2}', str(number % 1999), 'ann', 0.5) for number in range(5_000)]
    (tmp_path / 'run.txt').write_text(as_text(rows))
    store = index(tmp_path / 'run.txt', tmp_path / 'run.store')
    assert files(store) == in_memory(rows, tmp_path / 'other.store')
    assert store.ranking.temporal_rank_at.max() == 2_500
    for keep in (1, 900, 3_000):
        kept = index(store, tmp_path / 'kept.store', keep=keep)
        assert files(kept) == in_memory(rows, tmp_path / 'other.store', keep)


def test_an_interrupt_while_rows_are_sorted_is_one(tmp_path):
    """DuckDB makes an error of its own of it."""
    database = large.RowDatabase(tmp_path, 5)
    with pytest.raises(KeyboardInterrupt), database.errors():
        raise RuntimeError('Query interrupted')
    with pytest.raises(RuntimeError, match='another'), database.errors():
        raise RuntimeError('another error')
    database.close()


def test_a_run_beyond_memory_needs_an_extra(tmp_path, small_steps, monkeypatch):
    monkeypatch.setitem(sys.modules, 'duckdb', None)
    (tmp_path / 'run.txt').write_text(as_text(ROWS))
    with pytest.raises(errors.MissingExtraError) as caught:
        index(tmp_path / 'run.txt', tmp_path / 'run.store')
    assert str(caught.value) == (
        'a run of more than 5 hypotheses: duckdb is not installed; '
        "pip install 'mediaeval-ap[large]'"
    )
    assert os.listdir(tmp_path) == ['run.txt']


def test_what_was_read_is_not_read_again(interrupted, tmp_path, monkeypatch):
    sizes = added(monkeypatch)
    store = index(interrupted, 'run.store')
    assert files(store) == in_memory(ROWS, tmp_path / 'other.store')
    assert 50 < sum(sizes) <= 200 - 100 - 14  # two row groups of the third part are there


def test_a_part_that_was_read_and_is_gone_is_an_error(interrupted):
    os.remove(interrupted[0])
    with pytest.raises(errors.ReadError, match=r'one.txt: No such file or directory'):
        index(interrupted, 'run.store')


@pytest.mark.parametrize('changed', [0, 2])
def test_a_part_that_changed_begins_the_build_anew(interrupted, tmp_path, monkeypatch, changed):
    path = interrupted[changed]
    os.utime(path, ns=(1, 1))
    sizes = added(monkeypatch)
    with pytest.warns(errors.RestartedBuildWarning) as warned:
        store = index(interrupted, 'run.store')
    assert str(warned[0].message) == (
        f'{path} changed since the build was interrupted: begins anew'
    )
    assert warned[0].filename == __file__
    assert sum(sizes) == 200
    assert files(store) == in_memory(ROWS, tmp_path / 'other.store')


def test_a_part_that_changed_unseen_begins_the_build_anew(interrupted, tmp_path):
    path = interrupted[2]
    before = os.stat(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'v3', b'v4'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.warns(errors.RestartedBuildWarning, match=r'three.parquet changed since'):
        store = index(interrupted, 'run.store')
    assert store.sha256 == index(interrupted, 'other.store').sha256


@pytest.mark.parametrize(
    ('settings', 'what'), [({'subset': [('TV', 'v1')]}, 'the subset'), ({}, 'the list of files')]
)
def test_another_build_begins_anew(interrupted, settings, what):
    parts = interrupted if settings else interrupted[:3]
    with pytest.warns(errors.RestartedBuildWarning, match=f'^{what} changed since the build'):
        store = index(parts, 'run.store', **settings)
    assert store.n_hypotheses == (50 if settings else 150)


def test_a_build_with_another_depth_goes_on(interrupted, tmp_path, monkeypatch):
    sizes = added(monkeypatch)
    assert files(index(interrupted, 'run.store', keep=2)) == in_memory(
        ROWS, tmp_path / 'other.store', keep=2
    )
    assert sum(sizes) < 100


def edited(path, at=-2):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def as_link(path):
    elsewhere = path.parents[1] / 'elsewhere'
    elsewhere.write_bytes(path.read_bytes() + b'more')
    path.unlink()
    path.symlink_to(elsewhere)


DAMAGES_OF_A_BUILD = [
    lambda path: edited(path, at=10),
    lambda path: path.write_bytes(path.read_bytes()[: -(1 << 18)]),
    lambda path: path.write_bytes(b'another file' * 1000),
    lambda path: path.write_bytes(path.read_bytes()[:3]),
    as_pipe,
    as_link,
]


def test_a_damaged_build_is_refused(interrupted, tmp_path):
    work = tmp_path / 'run.store.building'
    work.rename(tmp_path / 'as_it_was')
    for damage in DAMAGES_OF_A_BUILD:
        shutil.copytree(tmp_path / 'as_it_was', work)
        damage(work / large.DATABASE)
        with pytest.raises(errors.ReadError) as caught:
            index(interrupted, 'run.store')
        assert str(caught.value) == (
            f'{work / large.DATABASE}: is not as the build that was stopped left it: '
            f'remove the folder {work}, and index the run again'
        )
        assert os.listdir(work) != ['mediaeval-ap.lock']
        shutil.rmtree(work)
    assert (tmp_path / 'elsewhere').read_bytes().endswith(b'more')
    assert files(index(interrupted, 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')


def test_an_edited_row_does_not_reach_the_store(interrupted, tmp_path):
    """DuckDB compares each block that it reads with its checksum."""
    path = tmp_path / 'run.store.building' / large.DATABASE
    content = path.read_bytes()
    for at in range(12 << 10, len(content), 80_021):  # behind its headers
        edited(path, at)
        with pytest.raises(errors.ReadError, match='is not as the build that was stopped left it'):
            index(interrupted, 'run.store')
        path.write_bytes(content)
    assert files(index(interrupted, 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')


def test_two_do_not_build_the_same_store(interrupted):
    with open('run.store.building/mediaeval-ap.lock', 'ab') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(errors.WriteError, match=r'run.store: another process is building'):
            index(interrupted, 'run.store')


@pytest.mark.parametrize('path', [3, None, b'run.store'])
def test_what_is_no_path_is_refused(path):
    found = f'^store: found {path!r}, expected a path$'
    with pytest.raises(errors.ParameterError, match=found):
        index([('TV', 'v', '1', 'ann', '1')], path)


def test_a_folder_of_that_name_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (one, *_) = write_parts(tmp_path)
    (tmp_path / 'run.store.building').mkdir()
    (tmp_path / 'run.store.building/mine.txt').write_text('mine')
    with pytest.raises(errors.WriteError, match='is there already, and no store that is being'):
        index(one, 'run.store')
    assert (tmp_path / 'run.store.building/mine.txt').read_text() == 'mine'


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


def test_the_reason_why_a_file_cannot_be_written(tmp_path, small_steps):
    """Of each step: what is read, sorted, numbered and put together."""
    path = tmp_path / 'run.store'
    (tmp_path / 'run.txt').write_text(as_text(ROWS))
    for n_bytes in (60, 400, 1000):
        with largest_file(n_bytes), pytest.raises(errors.WriteError) as caught:
            index(tmp_path / 'run.txt', path)
        assert str(caught.value) == f'{path}: File too large'
    read, write = os.pipe()
    with open(write, 'w') as file, open(read):
        file.write(as_text(ROWS))
        file.close()
        with largest_file(2500), pytest.raises(errors.WriteError) as caught:
            index(f'/dev/fd/{read}', path)
    assert str(caught.value) == f'{path}.building/copy: File too large'
    assert len(index(tmp_path / 'run.txt', path)) == 200


def test_an_older_store_stays_until_the_new_one_is_there(tmp_path):
    paths = write_parts(tmp_path)
    path = tmp_path / 'run.store'
    older = index(paths[0], path).sha256
    paths[1].write_text('wrong')
    with pytest.raises(errors.FormatError):
        index(paths, path)
    assert open_store(path).sha256 == older
    assert index(paths[3], path).sha256 != older


def test_identity_does_not_depend_on_the_builder(tmp_path):
    one, *_ = write_parts(tmp_path)
    table = read(str(one), HYPOTHESIS)
    expected = write_store(Ranking(table), tmp_path / 'other.store')
    store = index(one, tmp_path / 'run.store')
    assert store.sha256 == expected.sha256
    assert store.sources == [table.source] == expected.sources


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


def test_more_files_than_a_store_can_name(tmp_path, monkeypatch):
    """Refused before they are read, as no store with such a manifest would be opened."""
    paths = [tmp_path / name for name in ('one.txt', 'two.txt')]
    for path in paths:
        path.write_text('TV v1 1 ann .5\n')
    monkeypatch.setattr(manifest, 'LARGEST_MANIFEST', 5_000)
    with pytest.raises(errors.ParameterError) as caught:
        index(paths * 30, tmp_path / 'run.store')
    reason = 'found 60 files, more than a store can name; join some of them'
    assert str(caught.value) == f'run: {reason}'


def test_a_folder_without_files_is_no_run(tmp_path):
    (tmp_path / 'empty').mkdir()
    with pytest.raises(errors.ReadError, match='empty: is a folder without files of a run'):
        index(tmp_path / 'empty', tmp_path / 'run.store')


@pytest.mark.parametrize('run', ['one.txt', 'rows'])
def test_what_killed_calls_left_is_put_back_or_removed(tmp_path, run):
    one, *_ = write_parts(tmp_path)
    path = tmp_path / 'run.store'
    older = index(one, path).sha256
    path.rename(tmp_path / f'run.store.{1:016x}.old')
    (tmp_path / f'run.store.{2:016x}.tmp').mkdir()
    (tmp_path / f'run.store.{2:016x}.tmp/held.npy').touch()
    theirs = tmp_path / f'run.store.{3:016x}.tmp'
    theirs.mkdir()
    (theirs / 'mine.txt').touch()
    with pytest.raises(errors.FormatError):  # nothing takes the place of the older store
        index([('TV', 'v1')] if run == 'rows' else write_wrong(tmp_path), path)
    assert open_store(path).sha256 == older
    assert sorted(tmp_path.glob('run.store*')) == [path, theirs]


def write_wrong(folder):
    path = folder / 'wrong.txt'
    path.write_text('TV v1\n')
    return path


def test_a_store_whose_last_step_was_interrupted(tmp_path):
    """Killed after the new store came to its place, and before the older one was removed."""
    one, *_ = write_parts(tmp_path)
    path = tmp_path / 'run.store'
    index(ROWS, tmp_path / f'run.store.{1:016x}.old')
    index(one, path)
    assert_nothing_else(tmp_path)


def test_another_program_may_lock_the_same_name(tmp_path):
    one, *_ = write_parts(tmp_path)
    work = tmp_path / 'run.store.building'
    work.mkdir()
    for name in ('lock', 'mine.txt'):
        (work / name).write_text('mine')
    with pytest.raises(errors.WriteError, match='is there already, and no store that is being'):
        index(one, tmp_path / 'run.store')
    assert sorted(os.listdir(work)) == ['lock', 'mine.txt']


def test_another_process_that_begins_at_the_end(tmp_path, monkeypatch):
    """It makes its lock after ours is removed, and before the folder is."""
    one, *_ = write_parts(tmp_path)
    rmdir = Path.rmdir

    def begun(folder):
        (folder / 'mediaeval-ap.lock').touch()
        rmdir(folder)

    monkeypatch.setattr(Path, 'rmdir', begun)
    assert len(index(one, tmp_path / 'run.store')) == 50


@pytest.mark.parametrize(
    ('its', 'asked', 'reason'),
    [
        (
            {'keep': 2},
            {},
            'found a store with keep 2, expected one of the whole run',
        ),
        (
            {'keep': 2},
            {'keep': 3},
            'found a store with keep 2, expected one with keep 3 or more, or none',
        ),
        (
            {'keep': 2},
            {'keep': 1, 'subset': [('TV', 'v1')]},
            'found a store with keep 2, expected one of the whole run, to take a subset of',
        ),
        (
            {'subset': [('TV', 'v1')]},
            {'keep': 1},
            "found a store of the subset '<rows>', expected one without a subset",
        ),
    ],
)
def test_a_store_that_has_not_all(tmp_path, its, asked, reason):
    store = index(ROWS, tmp_path / 'run.store', **its)
    with pytest.raises(errors.ParameterError) as caught:
        index(store, tmp_path / 'again.store', **asked)
    assert str(caught.value) == f'{store.path}: {reason}; index the run itself'
    assert sorted(os.listdir(tmp_path)) == ['run.store']


def test_a_subset_of_a_store(tmp_path):
    whole, subset = index(ROWS, tmp_path / 'run.store'), [('TV', 'v1')]
    store = index(whole, tmp_path / 'again.store', keep=2, subset=subset)
    assert files(store) == in_memory(ROWS, tmp_path / 'other.store', 2, subset)


def test_a_store_inside_its_run(tmp_path):
    folder = tmp_path / 'run'
    folder.mkdir()
    write_parts(folder)
    with pytest.raises(errors.ParameterError) as caught:
        index(folder, folder / 'x.store')
    assert str(caught.value) == (
        f'store: found a path in {folder}, which is a part of the run, expected one outside it'
    )
    assert len(os.listdir(folder)) == 4
