"""Every reader, on bytes that may be anything: `tests/hostile/fuzz.py` does it for longer."""

import signal
from contextlib import contextmanager

import pytest
from hostile.targets import TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st

SECONDS_OF_INPUT = 20  # thousands of times what the slowest takes
EXAMPLES = 200

tokens = st.sampled_from(
    [b'\n', b'\r\n', b'\0', b'"', b',', b' ', b'\t', b'nan', b'1e999', b'-', b'\xff', b'\xc2\xa0']
) | st.binary(min_size=1, max_size=4)


@st.composite
def mutated(draw, seeds):
    """Bytes that are right, with some changed, cut, repeated, or put between."""
    data = draw(st.sampled_from(seeds))
    for kind in draw(st.lists(st.sampled_from(['set', 'cut', 'repeat', 'insert']), max_size=5)):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(1, 16)))
        token = draw(tokens)
        middle = {
            'set': token[: end - begin],
            'cut': b'',
            'repeat': data[begin:end] * draw(st.sampled_from([2, 3, 50])),
            'insert': token + data[begin:end],
        }[kind]
        rest = data[begin + len(middle) :] if kind == 'set' else data[end:]
        data = data[:begin] + middle + rest
    return data


@contextmanager
def no_hang():
    """What takes very long is a defect."""

    def stop(*_):
        raise TimeoutError(f'not done in {SECONDS_OF_INPUT} seconds')

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS_OF_INPUT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize('name', TARGETS)
def test_a_table_or_an_error(name):
    target = TARGETS[name]

    @settings(max_examples=EXAMPLES)
    @given(mutated(target.seeds) | st.binary(max_size=100))
    def run(data):
        with no_hang():
            target(data)

    run()


@pytest.mark.parametrize('name', TARGETS)
def test_seeds_are_right(name):
    """Else nothing behind the first check of a reader would be fuzzed."""
    first = TARGETS[name].seeds[0]
    TARGETS[name].read(first)
