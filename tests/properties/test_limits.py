"""How much a source may come to, wherever one is read; and what that costs."""

import gzip
import io
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars
import pyarrow
import pytest
from click.testing import CliRunner
from hostile import sixteen_mib
from hostile.catalogue import CATALOGUE, make
from hostile.containers import pipe_of
from hostile.entries import MIB, REFERENCE, TRUTH, A, B
from pyarrow import parquet

from mediaeval_ap import (
    AveragePrecision,
    PersonDiscovery2015,
    challenges,
    evaluate_trec,
    validate,
)
from mediaeval_ap.cli import main
from mediaeval_ap.errors import ParameterError, ReadError
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, read

CONTENTS = {
    'reference': REFERENCE,
    'run': A + B,
    'queries': b'ann\nbob\n',
    'subset': b'x v\n',
    'map': b'customer_id,prediction\n1,a b\n2,b\n',
    'gap': b'id,landmarks\n1,a 0.9\n2,b 0.8\n',
    'lrap': b'fname,a,b\n1,.9,.1\n2,.1,.9\n',
    'first-hit': b'Image,Id\n1,a\n2,b\n',
    'first-hit-truth': b'Image,Id\n1,a\n2,b\n',
    **{f'{name}-truth': content for name, content in TRUTH.items()},
    'qrels': b'7 0 d1 1\n',
    'trec-run': b'7 Q0 d1 1 0.5 me\n',
    'shots': b'x v 1 0 1.5\nx v 2 1.5 3\n',
    'evidence': b'ann x v written 0.5\nbob x v pronounced 0.5\n',
    'shots-2015': b'v 1 0 1.5 0 37\n',
    'reference-2015': b'v 1 ann\n',
    'labels-2015': b'v 1 ann 0.5\n',
    'consensus-2015': b'v 1\n',
    'evidence-reference-2015': b'v 1 ann image\n',
    'evidence-2015': b'ann v 1 image\n',
    'queries-2015': b'ann\n',
}


@pytest.fixture
def zipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in CONTENTS.items():
        Path(f'{name}.gz').write_bytes(gzip.compress(content))


def refuses(name, max_bytes):
    return pytest.raises(
        ReadError, match=f'^{name}: decompresses to more than {max_bytes} bytes, the limit: '
    )


@pytest.mark.parametrize('wrong', [0, -5, True, 'x', 1.5, None])
def test_a_limit_is_a_positive_integer(wrong):
    for call in (
        lambda: AveragePrecision([('x', 'v', '1', 'ann')], max_bytes=wrong),
        lambda: read([('x', 'v')], SUBSET, max_bytes=wrong),
        lambda: validate([('x', 'v', '1', 'ann', 0.5)], max_bytes=wrong),
        lambda: PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')], max_bytes=wrong),
        lambda: evaluate_trec([('7', 'd', 1)], [('7', 'd', 0.5)], max_bytes=wrong),
    ):
        with pytest.raises(ParameterError, match=r'max_bytes: found .* expected a positive'):
            call()


def plain(name):
    return io.BytesIO(CONTENTS[name])


def scorer(max_bytes, reference=None, **options):
    return AveragePrecision(reference or plain('reference'), [1], max_bytes=max_bytes, **options)


def challenge(name, compressed, max_bytes):
    files = [
        f'{each}.gz' if each == compressed else plain(each) for each in (f'{name}-truth', name)
    ]
    evaluate = getattr(challenges, f'evaluate_{name.replace("-", "_")}')
    assert evaluate(*files, max_bytes=max_bytes).value == 1.0


def validated(role, name, max_bytes):
    validate(plain('run'), **{role: f'{name}.gz'}, max_bytes=max_bytes)


FILES_2015 = ('shots', 'reference', 'evidence-reference', 'consensus', 'labels', 'evidence')


def evaluate_2015(compressed, max_bytes):
    files = {role.replace('-', '_'): plain(f'{role}-2015') for role in (*FILES_2015, 'queries')}
    files[compressed.replace('-', '_')] = f'{compressed}-2015.gz'
    asked = [files.pop(each) for each in ('labels', 'evidence', 'queries')]
    discovery = PersonDiscovery2015(**files, max_bytes=max_bytes)
    assert discovery.evaluate(*asked).ewmap == 1.0


# The file that alone is compressed, and what reads it within a limit.
DOORS = {
    'reference': ('reference', lambda n: scorer(n, 'reference.gz')),
    'subset': ('subset', lambda n: scorer(n, subset='subset.gz')),
    'session': ('run', lambda n: scorer(n)('run.gz')),
    'evaluate': ('run', lambda n: scorer(n).evaluate('run.gz')),
    'rank': ('run', lambda n: scorer(n).rank('run.gz', 'ann')),
    'live': ('run', lambda n: scorer(n).live('run.gz')),
    'extend': ('run', lambda n: scorer(n).live().extend('run.gz')),
    'queries': ('queries', lambda n: scorer(n).evaluate(plain('run'), 'queries.gz')),
    'live-queries': ('queries', lambda n: scorer(n).live().evaluate('queries.gz')),
    'qrels': ('qrels', lambda n: evaluate_trec('qrels.gz', plain('trec-run'), max_bytes=n)),
    'trec-run': ('trec-run', lambda n: evaluate_trec(plain('qrels'), 'trec-run.gz', max_bytes=n)),
    'validate': ('run', lambda n: validate('run.gz', max_bytes=n)),
    'shots': ('shots', partial(validated, 'shots', 'shots')),
    'evidence': ('evidence', partial(validated, 'evidence', 'evidence')),
    'names': ('reference', partial(validated, 'reference', 'reference')),
    'videos': ('subset', partial(validated, 'videos', 'subset')),
}
for name in ('map', 'gap', 'lrap', 'first-hit'):
    DOORS[f'{name}-truth'] = f'{name}-truth', partial(challenge, name, f'{name}-truth')
    DOORS[name] = name, partial(challenge, name, name)
for role in (*FILES_2015, 'queries'):
    DOORS[f'{role}-2015'] = f'{role}-2015', partial(evaluate_2015, role)


@pytest.mark.parametrize(('name', 'call'), DOORS.values(), ids=DOORS)
def test_every_door_has_the_limit(zipped, name, call):
    size = len(CONTENTS[name])
    call(size)
    with refuses(f'{name}.gz', size - 1):
        call(size - 1)


def test_validation_of_parquet(zipped, tmp_path):
    path = tmp_path / 'subset.parquet'
    parquet.write_table(
        pyarrow.table({'corpus_id': ['x'] * 50, 'video_id': ['v' * 100] * 50}), path
    )
    with refuses(str(path), 5_000):
        validate('run.gz', videos=path, max_bytes=5_000)
    (problem,) = validate('run.gz', videos=path, max_bytes=10_000)
    assert str(problem.kind) == 'unlisted-video'


COMMANDS = {
    'evaluate': ['reference.gz', 'run.gz', '--queries=queries.gz', '--subset=subset.gz'],
    'stream': ['reference.gz', 'run.gz'],
    'rank': ['reference.gz', 'run.gz', 'ann'],
    'map': ['map-truth.gz', 'map.gz'],
    'gap': ['gap-truth.gz', 'gap.gz'],
    'lrap': ['lrap-truth.gz', 'lrap.gz'],
    'evaluate-trec': ['qrels.gz', 'trec-run.gz'],
    'validate': ['run.gz', '--shots', 'shots.gz'],
    'evaluate-2015': ['reference-2015.gz', 'labels-2015.gz', '--shots', 'shots-2015.gz'],
}


@pytest.mark.parametrize('command', COMMANDS)
def test_commands(zipped, command):
    def run(max_bytes):
        arguments = [command, *COMMANDS[command], '--max-bytes', str(max_bytes)]
        return CliRunner().invoke(main, arguments, input='', catch_exceptions=False)

    sizes = {
        name: len(CONTENTS[name.removesuffix('.gz')])
        for name in COMMANDS[command]
        if name.endswith('.gz') and not name.startswith('--')
    }
    name = max(sizes, key=sizes.__getitem__)
    largest = sizes[name]
    done = run(largest)
    assert (done.exit_code, done.stderr) == (0, '')
    done = run(largest - 1)
    assert done.exit_code == 1
    assert done.stderr == (
        f'Error: {name}: decompresses to more than {largest - 1} bytes, the limit: '
        'raise it by --max-bytes, in Python max_bytes\n'
    )
    assert run(0).exit_code == run('many').exit_code == 2


def test_what_has_no_limit(tmp_path):
    """A file of text is as large as it says, and an open one is the matter of who opened it."""
    path = tmp_path / 'run.txt'
    path.write_bytes(A + B)
    assert len(read(path, HYPOTHESIS, max_bytes=1)) == 2
    assert len(read(io.BytesIO(A + B), HYPOTHESIS, max_bytes=1)) == 2


def test_standard_input_and_pipes(tmp_path, monkeypatch):
    def stdin():
        monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(A + B)))

    stdin()
    assert len(read('-', HYPOTHESIS, max_bytes=len(A + B))) == 2
    stdin()
    with pytest.raises(ReadError, match=r'^<stdin>: holds more than 27 bytes, the limit: '):
        read('-', HYPOTHESIS, max_bytes=27)
    pipe_of(A + B)(tmp_path / 'pipe')
    with pytest.raises(ReadError, match='/pipe: holds more than 27 bytes, the limit: '):
        read(tmp_path / 'pipe', HYPOTHESIS, max_bytes=27)


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'row_group_size': 7},
        {'use_dictionary': False},
        {'use_dictionary': False, 'column_encoding': {'video_id': 'DELTA_BYTE_ARRAY'}},
    ],
)
def test_rows_of_parquet_are_counted_as_if_written_out(tmp_path, options):
    """At least the bytes of their text, and at most 8 more for each."""
    path = tmp_path / 'subset.parquet'
    table = pyarrow.table({'corpus_id': ['x' * 100] * 50, 'video_id': ['v' * 100] * 50})
    parquet.write_table(table, path, **options)
    with refuses(str(path), 9_999):
        read(path, SUBSET, max_bytes=9_999)
    assert len(read(path, SUBSET, max_bytes=10_000 + 2 * 8 * 60)) == 50


@pytest.mark.parametrize(
    'options',
    [
        {'compression': 'zstd', 'data_page_version': '2.0', 'row_group_size': 1000},
        {'data_page_size': 100, 'write_batch_size': 5, 'write_page_index': True},
        {'use_dictionary': False, 'write_page_checksum': True, 'version': '1.0'},
        {'use_dictionary': False, 'column_encoding': {'person_name': 'DELTA_BYTE_ARRAY'}},
    ],
)
def test_pages_of_every_kind_have_a_limit(tmp_path, options):
    path = tmp_path / 'run.parquet'
    run = read('samples/hypothesis.txt', HYPOTHESIS)
    columns = dict(zip(HYPOTHESIS.fields, zip(*run.rows(), strict=True), strict=True))
    parquet.write_table(
        pyarrow.table({name: list(each) for name, each in columns.items()}), path, **options
    )
    assert list(read(path, HYPOTHESIS).rows()) == list(run.rows())
    with refuses(str(path), 100_000):
        read(path, HYPOTHESIS, max_bytes=100_000)


@pytest.mark.parametrize(
    'options', [{}, {'use_dictionary': False, 'column_encoding': {'video_id': 'DELTA_BYTE_ARRAY'}}]
)
def test_long_values_that_rows_share_are_not_written_out(tmp_path, options):
    """A hundred rows come to 100 MiB, of which a few are read before the limit refuses them."""
    path = tmp_path / 'subset.parquet'
    table = pyarrow.table({'corpus_id': ['x'] * 100, 'video_id': pyarrow.repeat('v' * MIB, 100)})
    parquet.write_table(table, path, store_schema=False, **options)
    default = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(default)
    pyarrow.set_memory_pool(pool)
    try:
        with refuses(str(path), 4 * MIB):
            read(path, SUBSET, max_bytes=4 * MIB)
    finally:
        pyarrow.set_memory_pool(default)
    assert MIB < pool.max_memory() < 40 * MIB


def test_other_writers(tmp_path):
    path = tmp_path / 'run.parquet'
    run = read('samples/hypothesis.txt', HYPOTHESIS)
    frame = polars.DataFrame(list(run.rows()), schema=list(HYPOTHESIS.fields), orient='row')
    frame.write_parquet(path, row_group_size=1000, data_page_size=5000)
    assert list(read(path, HYPOTHESIS).rows()) == list(run.rows())
    with refuses(str(path), 100_000):
        read(path, HYPOTHESIS, max_bytes=100_000)


# Each file in turn, in a process of its own that has done nothing but imports and one right file:
# what becomes of it, and by how many KiB the memory in use has grown at most.
PEAKS = """
import json, os, sys
from pathlib import Path
from hostile.scored import files_beside, score
from hostile.catalogue import CATALOGUE
from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import Error
from mediaeval_ap.validation import examine
import pyarrow.csv, pyarrow.parquet, pyarrow.compute, pandas

def memory(name):
    status = Path('/proc/self/status').read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(name))

def outcome(call):
    Path('/proc/self/clear_refs').write_text('5')  # forgets the peak
    before = memory('VmRSS')
    try:
        call()
        message = None
    except Error as error:
        message = str(error)
    return message, memory('VmHWM') - before

def measure(entry, path, paths):
    yield outcome(lambda: score(entry, path, paths))
    if entry.role == 'hypothesis' and not path.is_fifo():  # which gives what it holds once
        yield outcome(lambda: examine(path, max_bytes=entry.max_bytes or 100 << 20))

folder = Path(sys.argv[1])
for entry in CATALOGUE:
    path = folder / entry.role / entry.name
    paths = {**files_beside(folder, entry.role), entry.role: path}
    if os.fork() == 0:
        try:
            for message, growth in measure(entry, path, paths):
                print(json.dumps([entry.role, entry.name, message, growth]), flush=True)
        finally:
            os._exit(0)
    os.wait()
"""
LARGEST_GROWTH = 300  # MB
has_proc = pytest.mark.skipif(
    not Path('/proc/self/clear_refs').exists(),
    reason='this system does not say how much memory a process has used',
)


@has_proc
@pytest.mark.slow
def test_hostile_files_take_little_memory(tmp_path):
    """What any of them takes is a fraction of what some of them stand for."""
    make(tmp_path / 'hostile')
    done = subprocess.run(
        [sys.executable, '-c', PEAKS, tmp_path / 'hostile'],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    peaks = list(map(json.loads, done.stdout.splitlines()))
    assert {(role, name) for role, name, _, _ in peaks} == {
        (entry.role, entry.name) for entry in CATALOGUE
    }
    in_mb = {(role, name, message): kib / 1000 for role, name, message, kib in peaks}
    assert {each for each, growth in in_mb.items() if growth >= LARGEST_GROWTH} == set()


# A few of the worst of `sixteen_mib.py`, which prints how long each takes.
WORST = [
    ('words', 'validate-python'),
    ('words', 'validate-all'),
    ('one-line-of-fields', 'evaluate'),
    ('upper-case', 'validate'),
    ('short-names', 'evaluate'),
]


@has_proc
@pytest.mark.parametrize(
    ('shape', 'command', 'mib', 'most'),
    [
        # A million wrong lines: to keep an object of each would take more.
        ('words', 'validate-python', 2, 150_000_000),
        *(pytest.param(*case, 16, 1_000_000_000, marks=pytest.mark.slow) for case in WORST),
    ],
)
def test_problems_take_little_memory(shape, command, mib, most):
    """In a process of a process, as the memory of the one that starts it counts for it as well."""
    done = subprocess.run(
        [sys.executable, sixteen_mib.__file__, shape, command, str(mib)],
        capture_output=True,
        text=True,
        check=True,
    )
    peak, code = re.search(r', (\d+) MiB, exit code (\d+)$', done.stdout).groups()
    assert code in {'0', '1'}
    assert int(peak) << 20 < most
