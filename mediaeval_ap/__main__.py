"""The process of the command: its signals and standard streams, before anything is imported.

SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed terminal) and SIGQUIT end it at once, with exit code
128 + the signal's number: nothing is raised in the middle of an import, or of a thread of another
library. Temporary files are removed.
"""

import _signal  # type: ignore[import-not-found]  # signal imports others first, Ctrl-C a traceback
import os
import sys

NAMES = ('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGBREAK')  # those that the system has
SIGNALS = [getattr(_signal, name) for name in NAMES if hasattr(_signal, name)]
MULTIPLYING = ('compare', 'report')  # matrices, where threads may help


def main() -> None:
    """Run the command, and exit."""
    for number in SIGNALS:
        if _signal.getsignal(number) != _signal.SIG_IGN:  # as nohup has it
            _signal.signal(number, _leave)
    _fill_closed_streams()
    if not set(MULTIPLYING).intersection(sys.argv[1:2]):
        # Threads of OpenBLAS that have nothing to multiply would take time from others.
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    status = 0
    try:
        from mediaeval_ap.cli import main as command

        command(prog_name='mediaeval-ap')
    except MemoryError:  # while that was imported, which says it otherwise
        os.write(2, b'Error: out of memory\n')
        status = 1
    except SystemExit as end:
        status = int(end.code or 0)
    # The interpreter is not taken down: a thread of pyarrow that still frees memory would abort it.
    os._exit(status)


def _leave(number: int, _: object) -> None:
    files = sys.modules.get('mediaeval_ap.atomic_files')
    give_up = getattr(files, 'give_up', None)  # not there yet while it is imported
    if give_up is not None:
        give_up()
    try:
        if os.isatty(2):  # on a line of it may stand a progress bar, or ^C
            os.write(2, b'\n')
    finally:
        os._exit(128 + number)


def _fill_closed_streams() -> None:
    """Let no file that is opened later take the place of a standard stream that is closed."""
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:  # closed; what takes its place, the lowest free number, cannot be used
            os.open(os.devnull, mode)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, 'w')  # noqa: SIM115


if __name__ == '__main__':
    main()
