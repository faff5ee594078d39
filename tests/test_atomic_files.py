"""Outputs that are files: their folder, owner and mode, and who else writes there."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from mediaeval_ap import AveragePrecision, cli
from mediaeval_ap.atomic_files import write_all_whole, write_whole
from mediaeval_ap.errors import WriteError
IS_POSIX = True
from mediaeval_ap.tables import QUERIES, read

as_root = pytest.mark.skipif(os.geteuid() != 0, reason='only root gives files to others')
NOBODY = 65534


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which the test works."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def modes(folder, monkeypatch):
    """The modes that a temporary file has had: as it was made, and as it was when all was in it."""
    seen = []

    def look(file):
        seen.append(stat.S_IMODE(os.fstat(file).st_mode))
        return file

    made, synced = os.open, os.fsync

    def watched(*given, **named):
        is_new = len(given) > 1 and given[1] & os.O_CREAT
        return look(made(*given, **named)) if is_new else made(*given, **named)

    monkeypatch.setattr(os, 'open', watched)
    monkeypatch.setattr(os, 'fsync', lambda file: synced(look(file)))
    return seen


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize('mask', [0o022, 0o077])
def test_a_new_file_has_its_mode_from_the_start(folder, modes, mask):
    with umask(mask):
        write_whole('map.txt', 'new')
    assert [*modes, mode_of('map.txt')] == [0o666 & ~mask] * 3


@pytest.mark.parametrize(('mode', 'mask'), [(0o640, 0o022), (0o604, 0o022), (0o666, 0o077)])
@pytest.mark.skipif(not IS_POSIX, reason='needs files with modes')
def test_a_replaced_file_lends_its_mode_before_the_content(folder, modes, mode, mask):
    """Also beyond the umask; never more than it will have."""
    Path('map.txt').write_text('old')
    os.chmod('map.txt', mode)
    with umask(mask):
        write_whole('map.txt', 'new')
    assert [*modes, mode_of('map.txt')] == [0o600, mode, mode]
    assert Path('map.txt').read_text() == 'new'
    assert os.listdir() == ['map.txt']


@as_root
@pytest.mark.parametrize('mode', [0o640, 0o4755, 0o2664])
@pytest.mark.skipif(not IS_POSIX, reason='needs files with owners')
def test_owner_and_group_are_kept(folder, modes, mode):
    Path('map.txt').write_text('old')
    os.chown('map.txt', 1234, 5678)
    os.chmod('map.txt', mode)
    write_whole('map.txt', 'new')
    status = os.stat('map.txt')
    assert (status.st_uid, status.st_gid, mode_of('map.txt')) == (1234, 5678, mode)
    # Nobody else may have opened it before it had its owner.
    assert modes == [0o600, mode]


@as_root
@pytest.mark.skipif(not IS_POSIX, reason='needs files with owners')
def test_what_the_system_does_not_allow_is_not_kept(tmp_path):
    """An owner; and with it what lets a file be run in the owner's name."""
    path = tmp_path / 'map.txt'
    path.write_text('old')
    path.chmod(0o4757)
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents:
        if parent.name.startswith(('pytest-', 'popen-')):  # those that pytest has made
            parent.chmod(0o755)
    script = f"""
import os, sys
from mediaeval_ap.atomic_files import write_whole
import mediaeval_ap.errors
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
write_whole(sys.argv[1], 'new')
"""
    subprocess.run([sys.executable, '-c', script, path], check=True)
    status = path.stat()
    assert path.read_text() == 'new'
    assert (status.st_uid, status.st_gid, mode_of(path)) == (NOBODY, NOBODY, 0o757)


@pytest.mark.skipif(not IS_POSIX, reason='needs descriptors of folders')
def test_the_folder_is_that_of_the_beginning(tmp_path):
    (tmp_path / 'out').mkdir()
    (tmp_path / 'elsewhere').mkdir()
    with Destination(tmp_path / 'out/map.txt') as destination:
        (tmp_path / 'out').rename(tmp_path / 'moved')
        (tmp_path / 'out').symlink_to(tmp_path / 'elsewhere')
        write_whole(destination, 'new')
    assert os.listdir(tmp_path / 'elsewhere') == []
    assert (tmp_path / 'moved/map.txt').read_text() == 'new'


def test_a_link_that_is_planted_later_is_replaced(folder):
    Path('precious.txt').write_text('old')
    with Destination('map.txt') as destination:
        Path('map.txt').symlink_to('precious.txt')
        write_whole(destination, 'new')
    assert not Path('map.txt').is_symlink()
    assert (Path('map.txt').read_text(), Path('precious.txt').read_text()) == ('new', 'old')
    assert sorted(os.listdir()) == ['map.txt', 'precious.txt']


def test_a_link_of_the_beginning_is_followed_as_it_was_then(folder):
    Path('target.txt').write_text('old')
    Path('map.txt').symlink_to('target.txt')
    with Destination('map.txt') as destination:
        Path('map.txt').unlink()
        Path('map.txt').symlink_to('precious.txt')
        write_whole(destination, 'new')
    assert Path('map.txt').is_symlink()
    assert Path('target.txt').read_text() == 'new'
    assert not Path('precious.txt').exists()


def test_a_link_in_the_place_of_a_pipe_is_not_followed(folder):
    os.mkfifo('pipe')
    Path('precious.txt').write_text('old')
    with Destination('pipe') as destination:
        os.unlink('pipe')
        Path('pipe').symlink_to('precious.txt')
        with pytest.raises(WriteError, match='pipe: '):
            write_whole(destination, 'new')
    assert Path('precious.txt').read_text() == 'old'


def test_a_destination_serves_for_more_than_one_output(folder):
    with Destination('map.txt') as destination:
        for content in 'one', 'two':
            write_all_whole({destination: content, 'other.txt': content})
            assert Path('map.txt').read_text() == Path('other.txt').read_text() == content


def test_a_destination_that_is_closed_is_none(folder):
    with Destination('map.txt') as destination:
        pass
    with pytest.raises(WriteError, match=r'map\.txt: Bad file descriptor'):
        write_whole(destination, 'new')
    assert os.listdir() == []


COMMANDS = {
    'evaluate': ['-o', 'out/file'],
    'export-trec': ['--qrels', 'out/file', '--run', 'run.trec'],
}


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.skipif(not IS_POSIX, reason='needs descriptors of folders')
def test_commands_find_their_outputs_before_they_read(folder, monkeypatch, command):
    Path('reference.txt').write_text('x v 1 ann\n')
    Path('run.txt').write_text('x v 1 ann 0.5\n')
    result = CliRunner().invoke(cli.main, [command, 'none', 'none', *COMMANDS[command]])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == 'Error: out/file: No such file or directory\n'

    os.mkdir('out')
    Path('precious.txt').write_text('old')
    read = AveragePrecision.__init__

    def plant(*given, **named):
        Path('out/file').symlink_to('../precious.txt')
        os.rename('out', 'moved')
        os.mkdir('out')
        read(*given, **named)

    monkeypatch.setattr(AveragePrecision, '__init__', plant)
    before = len(os.listdir('/proc/self/fd'))
    arguments = [command, 'reference.txt', 'run.txt', *COMMANDS[command]]
    result = CliRunner().invoke(cli.main, arguments, catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, '')
    assert (os.listdir('out'), os.listdir('moved')) == ([], ['file'])
    assert not Path('moved/file').is_symlink()
    assert Path('precious.txt').read_text() == 'old'
    assert len(os.listdir('/proc/self/fd')) == before  # the folder is let go of


def test_processes_that_write_one_output_leave_one_whole_file(tmp_path):
    path = tmp_path / 'map.txt'
    path.write_text('')
    script = (
        'import sys\n'
        'from mediaeval_ap.atomic_files import write_whole\n'
        'for _ in range(30): write_whole(sys.argv[1], (sys.argv[2] + "\\n") * 50_000)\n'
    )
    words = ['one', 'two', 'six', 'ten']
    writers = [subprocess.Popen([sys.executable, '-c', script, path, word]) for word in words]
    waiting = threading.Thread(target=lambda: [writer.wait() for writer in writers])
    waiting.start()
    whole = {'', *(f'{word}\n' * 50_000 for word in words)}
    seen = set()
    while waiting.is_alive():
        content = path.read_text()
        assert content in whole
        seen.add(content)
    waiting.join()
    assert [writer.returncode for writer in writers] == [0] * len(words)
    assert path.read_text() in whole - {''}
    assert os.listdir(tmp_path) == ['map.txt']


@pytest.mark.parametrize('suffix', ['.gz', '.BZ2', '.xz', '.zst'])
def test_written_as_it_is_read(tmp_path, suffix):
    path = tmp_path / f'queries{suffix}'
    write_whole(path, 'zoé\n' * 100)
    stored = path.read_bytes()
    assert len(stored) < 100
    assert read(path, QUERIES).texts('person_name') == ['zoé'] * 100
    write_whole(path, 'zoé\n' * 100)
    assert path.read_bytes() == stored
    write_whole(path, b'as it is')
    assert path.read_bytes() == b'as it is'


def test_written_to_pipes_in_their_order(tmp_path):
    """Whoever reads one to its end before the next is not kept waiting."""
    pipes = [tmp_path / name for name in 'badc']
    for pipe in pipes:
        os.mkfifo(pipe)
    with subprocess.Popen(['cat', *pipes], stdout=subprocess.PIPE) as reader:
        write_all_whole({pipe: pipe.name for pipe in pipes})
        assert reader.communicate()[0] == b'badc'


@pytest.mark.skipif(not os.path.isdir('/dev/shm'), reason='no files below /dev on this system')
def test_a_file_below_dev_is_a_file():
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        path = os.path.join(folder, 'map.txt')
        write_whole(path, 'old')
        write_whole(path, 'new')
        assert Path(path).read_text() == 'new'


@pytest.mark.parametrize('path', ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])
def test_written_between_what_others_write(tmp_path, path):
    script = f'from mediaeval_ap.atomic_files import write_whole; write_whole("{path}", "new\\n")'
    shell = f"(echo first; {sys.executable} -c '{script}'; echo last) > out"
    subprocess.run(['sh', '-c', shell], cwd=tmp_path, check=True)
    assert (tmp_path / 'out').read_text() == 'first\nnew\nlast\n'


def test_not_written_where_writing_would_not_be_allowed(tmp_path, monkeypatch):
    path = tmp_path / 'map.txt'
    path.write_text('old')
    monkeypatch.setattr(os, 'access', lambda *_, **__: False)  # the tests' user may have all rights
    with pytest.raises(WriteError, match=r'map\.txt: Permission denied'):
        write_whole(path, 'new')
    assert path.read_text() == 'old'
    assert os.listdir(tmp_path) == ['map.txt']


@pytest.mark.parametrize('path', ['missing/map.txt', '.', 'missing/', 'loop'])
def test_not_written(tmp_path, path):
    (tmp_path / 'loop').symlink_to(tmp_path / 'loop')
    with pytest.raises(WriteError, match=str(tmp_path)):
        write_whole(f'{tmp_path}/{path}', 'text')
    assert os.listdir(tmp_path) == ['loop']
    with pytest.raises(WriteError):
        write_whole('', 'text')
