"""What waits for ever is stopped, and is a failure."""

import signal
from contextlib import contextmanager

SECONDS = 20  # thousands of times what the slowest takes


@contextmanager
def no_hang(seconds=SECONDS):
    """Stop what takes very long: a defect, or a pipe that is waited for again."""
    if not hasattr(signal, 'SIGALRM'):  # as on Windows
        yield
        return

    def stop(*_):
        raise TimeoutError(f'not done in {seconds} seconds')

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
