"""Outputs that are files: whole or not at all, with their mode; streams are written through."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from mediaeval_ap.atomic_files import write_all_whole, write_first, write_whole
from mediaeval_ap.errors import WriteError
from mediaeval_ap.tables import QUERIES, read


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize(('mode', 'mask'), [(0o640, 0o022), (0o604, 0o022), (0o666, 0o077)])
def test_a_replaced_file_lends_its_mode(tmp_path, mode, mask):
    """Also beyond the umask, which decides about a new file."""
    path, new = tmp_path / 'map.txt', tmp_path / 'new.txt'
    path.write_text('old')
    path.chmod(mode)
    before = os.umask(mask)
    try:
        write_all_whole({path: 'new', new: 'new'})
    finally:
        os.umask(before)
    assert (mode_of(path), mode_of(new)) == (mode, 0o666 & ~mask)
    assert path.read_text() == 'new'
    assert sorted(os.listdir(tmp_path)) == ['map.txt', 'new.txt']


def test_a_link_leads_to_the_file_that_is_replaced(tmp_path):
    (tmp_path / 'link').symlink_to('map.txt')
    for content in 'one', 'two':
        write_whole(tmp_path / 'link', content)
        assert (tmp_path / 'map.txt').read_text() == content
    assert (tmp_path / 'link').is_symlink()


def test_processes_that_write_one_output_leave_one_whole_file(tmp_path):
    path = tmp_path / 'map.txt'
    path.write_text('')
    script = (
        'import sys\n'
        'from mediaeval_ap.atomic_files import write_whole\n'
        'for _ in range(10): write_whole(sys.argv[1], (sys.argv[2] + "\\n") * 50_000)\n'
    )
    words = ['one', 'two']
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


@pytest.mark.parametrize('links', [True, False])
def test_of_several_processes_the_first_writes(tmp_path, monkeypatch, links):
    if not links:  # as on some network drives
        monkeypatch.setattr(os, 'link', refuse)
    write_first(str(tmp_path / 'plan'), 'first')
    assert (tmp_path / 'plan').read_text() == 'first'
    if links:
        write_first(str(tmp_path / 'plan'), 'second')
    assert [path.read_text() for path in tmp_path.iterdir()] == ['first']


def refuse(*_):
    raise PermissionError


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


@pytest.mark.skipif(os.geteuid() != 0, reason='only root becomes somebody else')
def test_not_written_where_writing_is_not_allowed():
    """Neither in the place of a file nor into a folder that others may only read."""
    script = (
        'import os, sys\n'
        'from mediaeval_ap.atomic_files import write_whole\n'
        'from mediaeval_ap.errors import WriteError\n'
        'os.setuid(65534)\n'
        'for path in sys.argv[1:]:\n'
        '    try: write_whole(path, "new")\n'
        '    except WriteError as error: print(error)\n'
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.mkdir(f'{folder}/all')
        os.chmod(f'{folder}/all', 0o777)
        Path(folder, 'all/map.txt').write_text('old')
        paths = [f'{folder}/all/map.txt', f'{folder}/new.txt']
        done = subprocess.run(
            [sys.executable, '-c', script, *paths], stdout=subprocess.PIPE, text=True, check=True
        )
        assert done.stdout == ''.join(f'{path}: Permission denied\n' for path in paths)
        assert Path(paths[0]).read_text() == 'old'


@pytest.mark.parametrize('path', ['missing/map.txt', '.', 'missing/', 'loop'])
def test_not_written(tmp_path, path):
    (tmp_path / 'loop').symlink_to(tmp_path / 'loop')
    with pytest.raises(WriteError, match=str(tmp_path)):
        write_whole(f'{tmp_path}/{path}', 'text')
    assert os.listdir(tmp_path) == ['loop']
    with pytest.raises(WriteError):
        write_whole('', 'text')
