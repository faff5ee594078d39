"""Tasks that tests give to processes: functions of a module, as another process imports them."""

import os
import signal


def here(_, function, shared, arguments):
    """Do in this process what several would do, from the last task to the first."""
    for number, argument in reversed(list(enumerate(arguments))):
        try:
            yield number, function(shared, argument)
        except Exception as error:
            yield number, error


def process(_, __):
    return os.getpid()


def add(shared, argument):
    return shared + argument


def fail(_, error):
    raise error from ValueError('the cause')


def be_killed(_, __):
    os.kill(os.getpid(), signal.SIGKILL)


def tell_and_wait(fifo, _):
    """Tell the number of the process, then compute for ever."""
    with open(fifo, 'w') as told:
        told.write(f'{os.getpid()}\n')
    while True:
        pass
