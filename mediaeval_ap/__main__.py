"""The process of the command: its signals and standard streams, before anything is imported.

SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed terminal) and SIGQUIT end it at once, with exit code
128 + the signal's number. No exception is raised in the middle of an import, or of a thread of
another library. Temporary files are removed.
"""

# The module `signal` imports others first; Ctrl-C meanwhile would print a traceback.
import _signal  # type: ignore[import-not-found]
import os
import sys

SIGNAL_NAMES = ('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGBREAK')
SIGNALS = [getattr(_signal, name) for name in SIGNAL_NAMES if hasattr(_signal, name)]
COMMANDS_WITH_MATRICES = ('compare', 'report')  # threads may help to multiply them


def main() -> None:
    """Run the command, and exit."""
    for number in SIGNALS:
        if _signal.getsignal(number) != _signal.SIG_IGN:  # nohup ignores SIGHUP
            _signal.signal(number, _leave)
    _fill_closed_streams()
    if not set(COMMANDS_WITH_MATRICES).intersection(sys.argv[1:2]):
        # Idle threads of OpenBLAS would take time from others.
        os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    status = 0
    try:
        from mediaeval_ap.cli import main as command

        command(prog_name='mediaeval-ap')
    except MemoryError:  # in an import: the command reports all others itself
        os.write(2, b'Error: out of memory\n')
        status = 1
    except SystemExit as end:
        status = int(end.code or 0)
    # Skip the interpreter's shutdown: a thread of pyarrow that still frees memory would abort it.
    os._exit(status)


def _leave(number: int, _: object) -> None:
    files = sys.modules.get('mediaeval_ap.atomic_files')
    clean_up = getattr(files, 'clean_up_now', None)  # missing while the module is being imported
    if clean_up is not None:
        clean_up()
    describe_state = getattr(sys.modules.get('mediaeval_ap.progress'), 'describe_state', str)
    try:
        if os.isatty(2):  # the line may hold a progress bar, or ^C
            os.write(2, b'\n')
        if state := describe_state():
            os.write(2, f'Interrupted: {state}\n'.encode())
    finally:
        os._exit(128 + number)


def _fill_closed_streams() -> None:
    """Open the null device for closed standard streams: no later file takes their numbers."""
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:  # closed; the wrong mode makes its use fail
            os.open(os.devnull, mode)  # which takes the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, 'w')  # noqa: SIM115


if __name__ == '__main__':
    main()
