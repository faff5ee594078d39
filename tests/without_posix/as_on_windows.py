"""A process that has lost the modules and names that Windows lacks.

It imports all of the package, and evaluates, indexes, resumes and watches; what it computes is
printed as JSON. `python as_on_windows.py FOLDER`, where the files are.
"""

import ctypes
import importlib
import json
import mmap
import os
import pkgutil
import signal
import sys
from pathlib import Path

MODULES = ['fcntl', 'grp', 'pty', 'pwd', 'resource', 'termios', 'tty']
OF_OS = """
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_PATH ST_RDONLY chown chroot fchmod fchown fork
    getegid geteuid getgid getgroups getloadavg getpgid getpgrp getsid getuid killpg lchown mkfifo
    mknod nice openpty pathconf pread preadv pwrite pwritev sched_getaffinity sched_yield sendfile
    setgid setsid setuid statvfs sync sysconf uname wait waitid
""".split()
OF_SIGNAL = """
    SIGALRM SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 SIG_BLOCK SIG_SETMASK alarm
    pthread_sigmask setitimer sigwait
""".split()
OF_MMAP = ['MAP_SHARED', 'MAP_PRIVATE', 'PROT_READ', 'PROT_WRITE']
WITH_FOLDERS = 'access chmod link mkdir open rename replace rmdir stat unlink utime'.split()


def without_descriptors_of_folders(function):
    def called(*arguments, **options):
        given = {each: value for each, value in options.items() if each.endswith('dir_fd')}
        assert set(given.values()) <= {None}, f'{function.__name__}: {given}'
        return function(*arguments, **options)

    return called


def same_parent_for_ever():
    raise AssertionError('os.getppid tells nothing on Windows')


def lose_posix():
    # The standard library and pyarrow may keep what they have imported: they know Windows.
    import asyncio  # noqa: F401
    import platform

    import pandas
    import pyarrow.parquet  # noqa: F401

    platform.uname(), pandas.DataFrame()
    for name in MODULES:
        sys.modules[name] = None
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (mmap, OF_MMAP)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in WITH_FOLDERS:
        setattr(os, name, without_descriptors_of_folders(getattr(os, name)))
    os.getppid, ctypes.CDLL = same_parent_for_ever, None
    os.supports_dir_fd.clear()


def all_names():
    """Import all modules, and give all public names."""
    import mediaeval_ap
    from mediaeval_ap import metrics

    for each in pkgutil.walk_packages(mediaeval_ap.__path__, 'mediaeval_ap.'):
        if each.name != 'mediaeval_ap.__main__':
            importlib.import_module(each.name)
    return [getattr(each, name) for each in (mediaeval_ap, metrics) for name in each.__all__]


def outcomes():
    """What the command computes of `reference.txt` and `run.txt`, by way of what it writes."""
    from click.testing import CliRunner

    from mediaeval_ap.cli import main

    def told(*arguments):
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    scored = ['--per-query', '--format', 'csv']
    told('evaluate', 'reference.txt', 'run.txt', *scored, '-o', 'whole.csv')
    told('index', 'run.txt', '-o', 'run.store')
    told('index', '--check', 'run.store')
    return {
        'evaluate': Path('whole.csv').read_text(),
        'store': told('evaluate', 'reference.txt', 'run=run.store', *scored),
        'jobs': told('evaluate', 'reference.txt', 'run=run.store', *scored, '--jobs', '1'),
        'blocks': told('evaluate', 'reference.txt', 'run.txt', *scored, '--resume', 'blocks'),
        'again': told('evaluate', '--resume', 'blocks', *scored),
        'watch': told('watch', 'reference.txt', 'run.txt', '--format', 'jsonl'),
        'left': sorted(each.name for each in Path().iterdir()),
    }


if __name__ == '__main__':
    os.chdir(sys.argv[1])
    if 'as-it-is' not in sys.argv:
        lose_posix()
        assert all_names()
    json.dump(outcomes(), sys.stdout)
