"""A folder of blocks holds one evaluation, and what is wrong with it is said in one line."""

import errno
import os
import re
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from block_folders import blocks_in, kept_in, part_of

from mediaeval_ap import Definition, collect, platforms
from mediaeval_ap import __version__ as VERSION
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.errors import Error, FormatError, ReadError, WithoutRelevantWarning, WriteError
from mediaeval_ap.execute import plan
from mediaeval_ap.execute.blocks import TEMPORARY_SECONDS, Block, BlockFile, BlockFolder
from mediaeval_ap.platforms import IS_POSIX, machine
from mediaeval_ap.results import result

REMEDY = 'this folder holds another evaluation: choose another folder, or delete it'
SAME = 'the content is the same: give it under the name that the folder was begun with'
MINE = Definition('trec', ('k',), ('R', 'k'), 0.0, Repeats.DROP, 'a test')


OTHERS = {
    'K': ({'K': [5]}, 'K: found 5, all, expected 5'),
    'definition': (
        {'definition': 'hits'},
        'definition: found trec (S(k) / R), expected hits (S(k) / H)',
    ),
    'definition of that name': (
        {'definition': MINE},
        'definition: found trec (S(k) / R), expected trec (S(k) / min(R, k))',
    ),
    'measures': ({'measures': 'RR P@5'}, 'measures: found none, expected RR, P@5'),
    'reference': (
        {'reference': './reference.txt'},
        'reference: found reference.txt (SHA-256 …), expected ./reference.txt (SHA-256 …)',
        SAME,
    ),
    'all as subset': (
        {'subset': [('x', f'v{video}') for video in range(5)]},
        'subset: found none, expected <rows> (SHA-256 …)',
    ),
    'no queries': ({'queries': None}, 'queries: found queries.txt (SHA-256 …), expected none'),
    'queries': (
        {'queries': ['ann_1']},
        'queries: found queries.txt (SHA-256 …), expected <rows> (SHA-256 …)',
    ),
    'run': (
        {'run': 'other.txt'},
        'run 1: found run.txt (SHA-256 …), expected other.txt (SHA-256 …)',
    ),
}


def line(error):
    """The message of an error, without the digits of digests."""
    return re.sub('[0-9a-f]{16}…', '…', str(error))


@pytest.mark.parametrize('what', OTHERS)
def test_another_evaluation_is_refused(campaign, what):
    options, told, *remedy = OTHERS[what]
    part_of()
    before = {path: path.read_bytes() for path in Path('out').iterdir()}
    with pytest.raises(FormatError) as caught:
        part_of(**options)
    assert line(caught.value) == f'out/plan.json, {told}; {(remedy or [REMEDY])[0]}'
    assert {path: path.read_bytes() for path in Path('out').iterdir()} == before


def test_other_numbers_of_runs_and_queries_are_refused(average_precision, monkeypatch):
    runs = ['run.txt', 'other.txt']
    kept_in('out', average_precision, runs)
    with pytest.raises(FormatError, match=r'plan\.json, number of runs: found 2, expected 1; t'):
        average_precision.evaluate('run.txt', resume='out')
    monkeypatch.setattr(plan, 'BLOCK_QUERIES', 4)
    with pytest.raises(FormatError, match=r'plan\.json, block_queries: found 3, expected 4; t'):
        kept_in('out', average_precision, runs)


def test_another_version_of_ir_measures_is_refused(campaign, monkeypatch):
    """If measures are asked for: their values may be others."""
    installed = version('ir_measures')
    part_of(measures='RR', resume='with measures')
    part_of()
    monkeypatch.setattr('importlib.metadata.version', lambda _: '0.0.1')
    assert part_of().found > 0
    told = rf'plan\.json, ir_measures: found {installed}, expected 0\.0\.1; {REMEDY}$'
    with pytest.raises(FormatError, match=told):
        part_of(measures='RR', resume='with measures')


def test_another_version_is_refused(campaign, monkeypatch):
    monkeypatch.setattr(plan, '__version__', '0.0.1')
    part_of()
    monkeypatch.undo()
    monkeypatch.chdir(campaign)
    expected = (
        rf'^out/plan\.json, version: found 0\.0\.1, expected {VERSION}; use the version '
        'that began this folder, or begin again in another one$'
    )
    for call in part_of, lambda: collect('out'):
        with pytest.raises(FormatError, match=expected):
            call()


STRAYS = {
    'K': 'K: found 5, expected 5, all',
    'definition': 'definition: found hits (S(k) / H), expected trec (S(k) / R)',
    'run': 'run: found other.txt (SHA-256 …), expected run.txt (SHA-256 …)',
    'all as subset': 'subset: found <rows>, expected none',
    'measures': 'key: found …, expected one of the keys of the plan',
}


@pytest.mark.parametrize('what', STRAYS)
@pytest.mark.parametrize('begins', [True, False])
def test_blocks_of_another_evaluation_are_refused(campaign, what, begins):
    """Files that somebody moved here, or that stay where a plan was deleted."""
    part_of(**OTHERS[what][0], part=(1, 1), resume='other')
    if not begins:
        part_of()
    stray = blocks_in(Path('other'))[0]
    Path('out').mkdir(exist_ok=True)
    moved = stray.rename(Path('out', stray.name))
    told = 'this file is of another evaluation: move it to the folder of that one, or delete it'
    with pytest.raises(FormatError) as caught:
        part_of() if begins else collect('out')
    message = re.sub('[0-9a-f]{16}(?!-)', '…', line(caught.value).removeprefix(f'{moved}, '))
    assert message == f'{STRAYS[what]}; {told}'
    assert Path('out/plan.json').exists() != begins


def test_a_block_of_another_version_is_refused(campaign, monkeypatch):
    for module in plan, result:
        monkeypatch.setattr(module, '__version__', '0.0.1')
    part_of()
    monkeypatch.undo()
    monkeypatch.chdir(campaign)
    os.unlink('out/plan.json')
    with pytest.raises(
        FormatError, match=rf'\.json, version: found 0\.0\.1, expected {VERSION}; this'
    ):
        part_of()


def test_a_block_beyond_the_last_is_refused(campaign):
    part_of(part=(1, 1))
    first = BlockFile.of(str(blocks_in(Path('out'))[0]))
    Block(99, (), first.key, 'out').keep(first.read())
    with pytest.raises(FormatError, match=r'\.json, number: found 99, expected 1 to'):
        collect('out')


def test_two_results_of_a_block_are_refused(campaign):
    """As of two machines that do not compute the same."""
    part_of(part=(1, 1))
    first, *_ = blocks_in(Path('out'))
    content = first.read_bytes()
    file = BlockFile.of(str(first))
    evaluation = file.read()
    evaluation.n_relevant[0] += 1
    Block(file.number, tuple(evaluation.queries), file.key, 'out').keep(evaluation)
    for call in part_of, lambda: collect('out'):
        with pytest.raises(
            FormatError, match=r'found other values, expected those of out/.*; delete'
        ):
            call()
    assert first.read_bytes() == content


def test_an_edited_block_is_refused_before_anything_is_computed(campaign):
    part_of(part=(1, 1))
    first, *_, last = blocks_in(Path('out'))
    first.write_bytes(first.read_bytes()[:-7])
    last.unlink()
    for call in lambda: part_of(part=(1, 1)), lambda: part_of(part=(1, 2)):
        with pytest.raises(FormatError, match=f'^{first}: found content that was cut or edited'):
            call()
    assert not last.exists()
    first.unlink()
    assert part_of(part=(1, 1)).computed == 2


def test_what_is_no_folder(campaign):
    for path, reason in {
        'run.txt': 'is a file, expected a folder',
        'no/out': 'No such file or directory',
        '\0': 'no path holds a NUL',
    }.items():
        with pytest.raises(WriteError, match=f': {reason}$'):
            part_of(resume=path)


@pytest.mark.parametrize('folder', [None, b'out'])
def test_no_path(campaign, folder):
    with pytest.raises(Error, match=r'^resume: found .*, expected the path of a folder$'):
        part_of(resume=folder)
    with pytest.raises(Error, match=r'^collect: found .*, expected the path of a folder$'):
        collect(folder)


@pytest.mark.parametrize(
    ('flag', 'reason'), [(0, 'Permission denied'), (os.ST_RDONLY, 'Read-only file system')]
)
@pytest.mark.skipif(not IS_POSIX, reason='needs a system that tells a read-only disk')
def test_a_folder_that_cannot_be_written_to(campaign, monkeypatch, flag, reason):
    """Told before anything is computed; what is done can be used all the same."""
    part_of(part=(1, 2))
    allowed = os.access
    monkeypatch.setattr(  # the user of the tests may have all rights
        os, 'access', lambda path, *given, **named: path != 'out' and allowed(path, *given, **named)
    )
    monkeypatch.setattr(os, 'statvfs', lambda _: SimpleNamespace(f_flag=flag))
    with pytest.raises(WriteError, match=f'^out: {reason}$'):
        part_of(part=(2, 2))
    assert part_of(part=(1, 2)).computed == 0
    os.rename('out', 'before')
    os.mkdir('out')
    with pytest.raises(WriteError, match=f'^out: {reason}$'):
        part_of(part=(1, 2))
    assert os.listdir('out') == []


def test_a_plan_that_is_replaced_meanwhile(average_precision):
    """As by a process that began at the same moment, on the same empty folder."""
    (kept,) = kept_in('out', average_precision, ['run.txt'])
    os.unlink('out/plan.json')
    part_of()
    with pytest.raises(FormatError, match=r'^out/plan\.json, K: found 5, all, expected 5; this'):
        kept.compute()
    for path in blocks_in(Path('out')):
        path.unlink()
    with pytest.raises(FormatError, match=r'^out/plan\.json, K: found 5, all, expected 5; this'):
        kept.evaluation()


def without_locks(*_):
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


@pytest.mark.parametrize('has_locks', [True, False])
@pytest.mark.skipif(not IS_POSIX, reason='needs outputs that are locked')
def test_what_killed_processes_left_is_removed(campaign, monkeypatch, has_locks):
    """Of this machine, what nobody has locked; where no lock can be seen, what is old."""
    part_of()
    theirs, ours = ([f'.{each}{n:016}.tmp' for n in range(4)] for each in ('0' * 8, machine()))
    unmarked, mine = '.0123456789abcdef.tmp', '.hidden.tmp'
    old, locked = [theirs[0], *ours[:2], unmarked, mine], ours[1:3]
    hour_ago = time.time() - TEMPORARY_SECONDS
    with ExitStack() as held:
        for name in {*old, *locked, theirs[3], ours[3]}:
            file = held.enter_context(open(f'out/{name}', 'w'))
            if name in locked:
                platforms.lock(file.fileno())
        for name in old:
            os.utime(f'out/{name}', (hour_ago - 60, hour_ago - 60))
        if not has_locks:
            monkeypatch.setattr('fcntl.flock', without_locks)
        part_of()
    left = {theirs[3], ours[2], ours[1 if has_locks else 3], mine}
    assert {each for each in os.listdir('out') if each.startswith('.')} == left


@pytest.mark.skipif(not IS_POSIX, reason='needs outputs that are locked')
def test_a_file_that_is_removed_before_it_is_locked_is_begun_again(campaign, monkeypatch):
    """As by another process, which takes it for one that was left."""
    lock, removed = platforms.lock, []

    def late(descriptor):
        if not removed:
            removed.extend(Path('out').glob('.*.tmp'))
            BlockFolder.open('out').remove_temporaries()
        lock(descriptor)

    part_of(part=(1, 2))
    monkeypatch.setattr(platforms, 'lock', late)
    part_of(part=(2, 2))
    assert len(removed) == 1
    with pytest.warns(WithoutRelevantWarning):
        collect('out')


def test_a_named_pipe_is_no_file_of_a_folder(campaign):
    """It is refused at once: to open it would wait for somebody who writes to it."""
    part_of()
    for path in blocks_in(Path('out'))[0], Path('out/plan.json'):
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(ReadError, match=rf'^{path}: is no regular file, expected one$'):
            part_of()
