"""Lines of text: the strict and the lenient reader, and their wrong lines."""

import io
import math
import pickle
import warnings
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_files import causes_and_lines, parse, parse_in_bulk, parse_in_python

from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, SUBSET
from mediaeval_ap.tables.faults import Cause
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.text import line_rules, reader
from mediaeval_ap.tables.text.line_rules import cause_of, split_lines, whole_lines


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        (b'a b\xff\0\r c d 1', r'found invalid UTF-8 at byte 4 \(0xff\), expected UTF-8'),
        (b'a b\r\0\xff c d 1', r'found a carriage return at byte 4, expected text'),
    ],
)
def test_messages(line, message):
    with pytest.raises(FormatError, match=f'^file, line 3, {message}|^file, line 3: {message}'):
        parse(b'a b c d 1\n\n' + line + b'\na b c d 2\n', HYPOTHESIS)


def test_lines_that_are_not_kept_are_not_held():
    """Memory: only the first faults of a cause are kept, and of a long line only its fault."""
    content = b'x\n\xff\n' * 1000 + b'x v w ' + b'y' * 5000 + b'\n'
    found = read_leniently(io.BytesIO(content), SUBSET, max_problems=3)
    assert [line for _, line, _ in causes_and_lines(found)] == [1, 2, 3, 4, 5, 6]
    assert found.faults.counts == {Cause.FIELDS: 1001, Cause.BYTES: 1000}
    *_, last = causes_and_lines(read_leniently(io.BytesIO(content), SUBSET))[-1]
    assert len(pickle.dumps(last)) < 1000
    assert last.found.startswith("4 fields in 'x v w yyy")


dirty = [b'\v', b'\f', b'\r', b'\0', b'\xff', b'\xc3', b'\xc3\xa9', b'\xed\xa0\x80', b'\xf0\x9f']
words = st.sampled_from([b'x', b'v', b'1', b'-', b' ', b' ', b'\t', b'nan', b'#', *dirty])
some_lines = st.lists(st.lists(words, max_size=12).map(b''.join), min_size=1)


@given(some_lines, st.sampled_from([HYPOTHESIS, SUBSET, QRELS]), st.sampled_from([0, math.inf]))
def test_lines_of_a_block_are_wrong_for_the_cause_of_each(lines, layout, by_python):
    block = b'\n'.join((*lines, b''))
    each = {at: (cause_of(line, layout), line) for at, line in enumerate(split_lines(block))}
    expected = {at: wrong for at, wrong in each.items() if wrong[0]}
    (piece,) = reader.pieces([block], layout, by_python)
    assert piece.wrong == expected


@pytest.mark.parametrize('parser', [parse_in_python, parse_in_bulk])
def test_nothing_is_read_behind_an_endless_line(parser, monkeypatch):
    class Stream(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 1000:
                raise OSError
            return super().read(size)

    monkeypatch.setattr(line_rules, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 16)
    monkeypatch.setattr(line_rules, 'MAX_LINE_BYTES', 500)
    with pytest.raises(FormatError, match='line 2: found more than 0 MiB without a line end'):
        parser(Stream(b'a b\n' + b'x' * 5000), SUBSET, 'file')


def cut_lines(content, layout, by_python):
    """The warnings when a file is read, or the error as text if it is refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            reader.parse(whole_lines(io.BytesIO(content).read), layout, 'file', by_python)
        except FormatError as error:
            return str(error)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize('by_python', [0, 30, math.inf])
def test_a_cut_number_is_not_read_in_silence(by_python):
    """A run that was cut anywhere is refused, gives a warning, or ends after a whole line."""
    content = b'c v 1 ann 0.445\nc v 2 bob 12.5e-1\r\n\nc v 3 eve 7\n'
    for length in range(1, len(content) + 1):
        outcome = cut_lines(content[:length], HYPOTHESIS, by_python)
        if content[:length].endswith(b'\n'):
            assert outcome == []
        elif not isinstance(outcome, str):
            n_lines = content.count(b'\n', 0, length) + 1
            words = f'no line end after line {n_lines}: is its confidence whole, or cut?'
            assert outcome == [f'file: {words}']
    for layout, line in (REFERENCE, b'c v 1 ann'), (RUN, b'7 Q0 d1 1 0.5 me'), (QRELS, b'7 0 d1 1'):
        assert cut_lines(line, layout, by_python) == []  # none of these ends in a decimal


@pytest.mark.parametrize('before', [b'', b'a b\n', b'\xef\xbb\xbf'])
@pytest.mark.parametrize('after', [b'', b'\na b\n'])
@pytest.mark.parametrize('too_many', [0, 1, 16])
def test_every_reader_takes_lines_of_the_same_length(before, after, too_many, monkeypatch):
    """The limit holds for any split of the line into blocks, and with any line end."""
    monkeypatch.setattr(line_rules, 'BLOCK_BYTES', 16)
    monkeypatch.setattr(reader, 'PROVED_BYTES', 16)
    monkeypatch.setattr(line_rules, 'MAX_LINE_BYTES', 100)
    data = before + b'a ' + b'x' * (98 + too_many) + after
    expected = too_many <= 0
    for parser in parse_in_python, parse_in_bulk:
        with nullcontext() if expected else pytest.raises(FormatError, match='without a line end'):
            parser(io.BytesIO(data), SUBSET, 'file')
    wrong = causes_and_lines(read_leniently(io.BytesIO(data), SUBSET))
    assert [cause for cause, *_ in wrong] == [Cause.LENGTH] * (not expected)
