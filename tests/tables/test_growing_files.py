"""Lines of standard input, each as soon as it is there."""

import gzip
import io
import os
import sys

import pytest

from mediaeval_ap.tables.reading import lines_of_standard_input


@pytest.fixture
def writes(monkeypatch):
    reading, writing = os.pipe()
    with open(reading, 'rb') as pipe, open(writing, 'wb', buffering=0) as end:
        monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(pipe))
        yield end


def test_a_short_line_is_there_at_once(writes):
    """Though a few more bytes might tell that it is compressed."""
    lines = lines_of_standard_input()
    writes.write(b'B\n')
    assert next(lines) == (1, b'B')
    writes.write(b'Zh91AY&SY\nx')
    assert next(lines) == (2, b'Zh91AY&SY')
    writes.close()
    assert list(lines) == [(3, b'x')]


def test_compressed_lines(writes):
    writes.write(gzip.compress(b'ann\nbob\n'))
    writes.close()
    assert list(lines_of_standard_input()) == [(1, b'ann'), (2, b'bob')]
