import errno
import json
import os
import subprocess
import sys
from importlib.util import module_from_spec
from pathlib import Path

import pytest

from mediaeval_ap import platforms

sitecustomize = pytest.importorskip(
    'without_posix.sitecustomize', reason='takes the other side on POSIX', exc_type=ImportError
)
FOLDER = Path(sitecustomize.__file__).parent


@pytest.fixture(params=['here', 'without POSIX'])
def side(request):
    """The module as it is, and as it is where there is no `fcntl`."""
    if request.param == 'here':
        return platforms
    spec = sitecustomize.Finder.find_spec(platforms.__name__, platforms_path())
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not module.IS_POSIX
    return module


def platforms_path():
    return [str(Path(platforms.__file__).parent)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'file'
    path.touch()
    return path


def test_a_lock_is_of_one_open_file_until_that_is_closed(side, path):
    with path.open('r+b') as one, path.open('r+b') as other:
        side.lock_at_once(one.fileno())
        with pytest.raises(BlockingIOError):
            side.lock_at_once(other.fileno())
        with pytest.raises(BlockingIOError), side.lock_abandoned(path):
            pass
    with path.open('ab') as third:
        third.write(b'x')  # as a file that stands elsewhere than at its beginning
        third.flush()
        side.lock_at_once(third.fileno())


def test_waiting_for_a_lock_of_nobody_ends_with_the_lock(side, path):
    with path.open('r+b') as one, path.open('r+b') as other:
        side.lock(one.fileno())
        with pytest.raises(BlockingIOError):
            side.lock_at_once(other.fileno())


def test_what_is_abandoned_can_be_removed(side, path):
    with side.lock_abandoned(path):
        is_open = os.path.realpath(path) in open_files()
        path.unlink()
    # Windows removes nothing that is open; elsewhere the lock is held meanwhile.
    assert is_open == side.IS_POSIX


def open_files():
    numbers = os.listdir('/dev/fd')
    return [os.path.realpath(f'/dev/fd/{number}') for number in numbers]


def test_a_folder_to_write_into_must_be_one(side, path):
    with pytest.raises(NotADirectoryError):
        side.open_folder(str(path))
    with pytest.raises(FileNotFoundError):
        side.open_folder(str(path.with_name('none')))
    folder = side.open_folder(str(path.parent))
    if folder is not None:
        os.close(folder)
    assert (folder is None) == (not side.IS_POSIX)


def test_the_bytes_of_a_file_outlive_its_descriptor_and_cannot_be_written_to(side, path):
    numpy = pytest.importorskip('numpy')
    path.write_bytes(b'abc')
    with path.open('rb') as file:
        array = numpy.asarray(side.file_bytes(file.fileno(), 3))
    assert (array.tobytes(), array.dtype, array.flags.writeable) == (b'abc', numpy.uint8, False)


def test_new_files_and_streams_follow_no_link_and_write_bytes(side, path):
    with open(os.open(path.with_name('new'), side.NEW_FILE), 'wb') as file:
        file.write(b'a\n')
    assert path.with_name('new').read_bytes() == b'a\n'
    with pytest.raises(FileExistsError):
        os.open(path, side.NEW_FILE)


def test_without_proc_the_network_address_stands_for_the_machine(monkeypatch):
    """As on macOS; the digits are those of a name of a temporary file."""

    def missing(*_):
        raise FileNotFoundError(errno.ENOENT, 'No such file or directory')

    monkeypatch.setattr('uuid.getnode', lambda: 0x12_3456_789A)
    monkeypatch.setattr('builtins.open', missing)
    if platforms.IS_POSIX:
        assert platforms.machine.__wrapped__() == '3456789a'


def told(folder, *options, paths=()):
    folder.mkdir()
    names = [f'name{number}' for number in range(30)]
    lines = [f'x v {n % 7} {name}' for n, name in enumerate(names)]
    (folder / 'reference.txt').write_text(''.join(f'{line}\n' for line in lines))
    run = [f'x v {n % 5} {name} 0.{n + 1}\n' for n, name in enumerate(names)]
    (folder / 'run.txt').write_text(''.join(run))
    done = subprocess.run(
        [sys.executable, FOLDER / 'as_on_windows.py', folder, *options],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, [*paths, *sys.path]))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, '')
    return json.loads(done.stdout)


def test_all_is_there_where_posix_is_not(tmp_path):
    """A process without the modules and names: all imports, and what it writes gives the same."""
    outcome = told(tmp_path / 'without', paths=[FOLDER])
    assert outcome == told(tmp_path / 'with', 'as-it-is')
    assert outcome['left'] == ['blocks', 'reference.txt', 'run.store', 'run.txt', 'whole.csv']
    scores = {outcome[each] for each in ('evaluate', 'store', 'jobs', 'blocks', 'again')}
    assert len(scores) == 1
    assert outcome['watch']
