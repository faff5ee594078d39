"""A store that is built beyond memory has the files of one that is written from memory."""

import fcntl
import gzip
import os
import resource
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
    (format, 'BLOCK_BYTES'): 128,
    (reading, 'PART_BYTES'): 256,
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


@pytest.mark.parametrize(
    'seed', [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(2, 30))]
)
def test_a_build_that_is_killed_goes_on(tmp_path, seed):
    command = [sys.executable, KILLED_BUILDS, str(seed), 'run.store', *write_parts(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, '')
    assert seed > 1 or int(done.stdout) > 2  # processes that were killed
    assert files(open_store(tmp_path / 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')
    assert_nothing_else(tmp_path)


def assert_nothing_else(folder):
    """No leftover of a store stands beside it."""
    assert [path.name for path in folder.glob('run.store*')] == ['run.store']


class Interrupted(BaseException):
    """As of Ctrl-C."""


@pytest.fixture
def small_steps(monkeypatch):
    for (module, name), value in SMALL.items():
        monkeypatch.setattr(module, name, value)


def added(patch, most=200):
    """A list that gets the number of rows of each table that is added; more are interrupted."""
    sizes = []
    add = indexing._RowsOfFiles._add

    def counted(self, table):
        sizes.append(len(table))
        if sum(sizes) > most:
            raise Interrupted
        add(self, table)

    patch.setattr(indexing._RowsOfFiles, '_add', counted)
    return sizes


@pytest.fixture
def interrupted(tmp_path, small_steps, monkeypatch):
    """Parts of a run, whose build was interrupted when the third part was read."""
    monkeypatch.chdir(tmp_path)
    paths = write_parts(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        added(patch, most=120)
        with pytest.raises(Interrupted):
            index(paths, 'run.store')
    assert os.path.isdir('run.store.building')
    return paths


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


@pytest.mark.parametrize('keep', [None, 2])
def test_what_was_read_is_not_read_again(interrupted, tmp_path, monkeypatch, keep):
    """Whatever depth is asked for now."""
    sizes = added(monkeypatch)
    store = index(interrupted, 'run.store', keep=keep)
    assert files(store) == in_memory(ROWS, tmp_path / 'other.store', keep)
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


def test_a_damaged_build_is_refused(interrupted, tmp_path):
    path = tmp_path / 'run.store.building' / large.DATABASE
    content = path.read_bytes()
    for other in content[: -(1 << 18)], b'another file' * 1000:
        path.write_bytes(other)
        with pytest.raises(errors.ReadError) as caught:
            index(interrupted, 'run.store')
        assert str(caught.value) == (
            f'{path}: is not as the build that was stopped left it: '
            f'remove the folder {path.parent}, and index the run again'
        )
    path.write_bytes(content)
    assert files(index(interrupted, 'run.store')) == in_memory(ROWS, tmp_path / 'other.store')


def test_two_do_not_build_the_same_store(interrupted):
    with open('run.store.building/mediaeval-ap.lock', 'ab') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(errors.WriteError, match=r'run.store: another process is building'):
            index(interrupted, 'run.store')


@pytest.mark.parametrize(
    ('path', 'reason'),
    [
        (3, '^store: found 3, expected a path$'),
        (b'run.store', "^store: found b'run.store', expected a path$"),
        ('s3://b/x', 'a path of this machine, which can be mapped to memory: s3://b/x'),
    ],
)
def test_what_is_no_path_is_refused(path, reason):
    with pytest.raises(errors.ParameterError, match=reason):
        index([('TV', 'v', '1', 'ann', '1')], path)


def test_a_folder_of_that_name_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (one, *_) = write_parts(tmp_path)
    (tmp_path / 'run.store.building').mkdir()
    for name in ('lock', 'mine.txt'):
        (tmp_path / 'run.store.building' / name).write_text('mine')
    with pytest.raises(errors.WriteError, match='is there already, and no store that is being'):
        index(one, 'run.store')
    assert sorted(os.listdir('run.store.building')) == ['lock', 'mine.txt']


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
    with open(write, 'w') as file:
        file.write(as_text(ROWS))
    with open(read), largest_file(2500), pytest.raises(errors.WriteError) as caught:
        index(f'/dev/fd/{read}', path)
    assert str(caught.value) == f'{path}.building/copy: File too large'
    assert len(index(tmp_path / 'run.txt', path)) == 200


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
    """No store with such a manifest would be opened."""
    (tmp_path / 'one.txt').write_text('TV v1 1 ann .5\n')
    monkeypatch.setattr(manifest, 'LARGEST_MANIFEST', 9_000)
    with pytest.raises(errors.ParameterError) as caught:
        index([tmp_path / 'one.txt'] * 60, tmp_path / 'run.store')
    reason = 'found 60 files, more than a store can name; join some of them'
    assert str(caught.value) == f'run: {reason}'
    assert os.listdir(tmp_path) == ['one.txt']


def test_a_folder_without_files_is_no_run(tmp_path):
    (tmp_path / 'empty').mkdir()
    with pytest.raises(errors.ReadError, match='empty: is a folder without files of a run'):
        index(tmp_path / 'empty', tmp_path / 'run.store')


def test_what_killed_calls_left_is_put_back_or_removed(tmp_path):
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
        index([('TV', 'v1')], path)
    assert open_store(path).sha256 == older
    assert sorted(tmp_path.glob('run.store*')) == [path, theirs]


def test_a_store_whose_last_step_was_interrupted(tmp_path):
    """Killed after the new store came to its place, and before the older one was removed."""
    one, *_ = write_parts(tmp_path)
    path = tmp_path / 'run.store'
    index(ROWS, tmp_path / f'run.store.{1:016x}.old')
    index(one, path)
    assert_nothing_else(tmp_path)


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
        ({'keep': 2}, {}, 'with keep 2, expected one of the whole run'),
        ({'keep': 2}, {'keep': 3}, 'with keep 2, expected one with keep 3 or more, or none'),
        (
            {'keep': 2},
            {'keep': 1, 'subset': [('TV', 'v1')]},
            'with keep 2, expected one of the whole run, to take a subset of',
        ),
        (
            {'subset': [('TV', 'v1')]},
            {'keep': 1},
            "of the subset '<rows>', expected one without a subset",
        ),
    ],
)
def test_a_store_that_has_not_all(tmp_path, its, asked, reason):
    store = index(ROWS, tmp_path / 'run.store', **its)
    with pytest.raises(errors.ParameterError) as caught:
        index(store, tmp_path / 'again.store', **asked)
    assert str(caught.value) == f'{store.path}: found a store {reason}; index the run itself'
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
