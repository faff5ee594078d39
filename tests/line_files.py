"""Files of lines, and a plain reading of them, for the tests of all readers of lines."""

import io
import math
import re

from hypothesis import strategies as st

from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.text import reader
from mediaeval_ap.tables.text.line_rules import whole_lines

LAYOUTS = st.sampled_from([REFERENCE, HYPOTHESIS, SUBSET, QUERIES, QRELS, RUN])
DECIMAL = r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?'
INTEGER = r'[+-]?[0-9]+'


def right_number(text, layout):
    written = re.fullmatch(INTEGER if layout is QRELS else DECIMAL, text)
    return written and math.isfinite(float(text))


def is_comment(line, layout):
    """As trec_eval 10 has them: white space before the mark only in a run."""
    line = line.lstrip(b' \t') if layout is RUN else line
    return layout in (QRELS, RUN) and line.startswith(b'#')


def read_plainly(data, layout):
    """The rows, their lines and the wrong lines, straight from the description of the format."""
    rows, lines, wrong = [], [], []
    for number, line in enumerate(data.removeprefix(b'\xef\xbb\xbf').split(b'\n'), 1):
        ended = number <= data.count(b'\n')
        line = line.removesuffix(b'\r') if ended else line
        if is_comment(line, layout):
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError:
            wrong.append(number)
            continue
        fields = [field for field in re.split('[ \t]', text) if field]
        if {'\r', '\0', '\ufeff'} & set(text):
            wrong.append(number)
        elif not fields:
            continue
        elif fields[0] == '#' and len(fields) > 1 and layout not in (QRELS, RUN):
            wrong.append(number)  # a comment
        elif len(fields) != len(layout.fields) or (
            layout.number and not right_number(fields[layout.number_at], layout)
        ):
            wrong.append(number)
        else:
            if layout.number:
                fields[layout.number_at] = float(fields[layout.number_at])
            rows.append(tuple(fields))
            lines.append(number)
    return rows, lines, wrong


def as_rows(table, layout):
    assert table.layout is layout
    return list(table.rows())


def parse(data, layout, by_python=math.inf):
    return as_rows(
        reader.parse(whole_lines(io.BytesIO(data).read), layout, 'file', by_python), layout
    )


def parse_in_python(stream, layout, source):
    return reader.parse(whole_lines(stream.read), layout, source)


def parse_in_bulk(stream, layout, source):
    """Read every line by pyarrow first."""
    return reader.parse(whole_lines(stream.read), layout, source, 0)


def causes_and_lines(found):
    """The wrong lines that are kept of a lenient table, in their order: cause, number, fault."""
    kept = found.faults.examples.items()
    wrong = [(cause, *each) for cause, faults in kept for each in faults]
    return sorted(wrong, key=lambda each: each[1])


separators = st.sampled_from([b' ', b'\t', b'  ', b' \t '])
words = st.sampled_from(b'INA 000010 nan NA null o"brien \' #1 ?unknown? \\ a,b'.split()) | st.text(
    st.characters(codec='utf-8', exclude_characters=' \t\n\r\0'), min_size=1
).map(str.encode)
numbers = st.sampled_from(
    b'0.5 1 -3.25e-7 +1.5 5. .5 1E5 1e-400 0.1 123456789012345678'.split()
) | st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value).encode())
oddities = st.sampled_from(
    [
        *b'nan inf -Infinity 1_000 0x1p3 1e400 1e --1 e5 1,5 " ""'.split(),
        *(b'', b'\0', b'\r', b'\xff', b'\xed\xa0\x80', b'\x0b', b'\x0c', b'\x1c'),
        *(each.encode() for each in ('\xa0', '\x85', '1\u2028', '\u0661', '\ufeff')),
    ]
)
integers = st.sampled_from(
    [*b'0 1 -2 +03 .1e1 10e-1 1.0 1. 1- + 0x1'.split(), b'9' * 300, b'9' * 400]
)
margins = st.sampled_from([b'', b'', b'', b' ', b'\t', b'#', b'# ', b' #', b'\t #', b'#\xff\0\r'])
ends = st.sampled_from([b'\n', b'\r\n', b'\n\n', b' \n', b'\t\r\n'])


@st.composite
def files(draw, layout):
    """Mostly right lines, with something odd here and there."""
    data = draw(st.sampled_from([b'', b'', b'\xef\xbb\xbf', b'\n', b' ', b' \xef\xbb\xbf']))
    for _ in range(draw(st.integers(0, 5))):
        fields = [draw(words) for _ in layout.texts]
        if layout.number:
            fields.insert(layout.number_at, draw(integers if layout is QRELS else numbers))
        if draw(st.integers(0, 5)) == 0:
            fields[draw(st.integers(0, len(fields) - 1))] = draw(oddities)
        data += draw(margins) + draw(separators).join(fields) + draw(ends)
    return data.rstrip(b'\n') if draw(st.booleans()) else data


# What means something to some reader of text, in any order.
pieces = st.sampled_from(
    [
        *b'a 1 .5 1e3 NA null nan " \' \\ # , ;'.split(),
        *(b' ', b' ', b'\t', b'\n', b'\n', b'\r\n', b'\r', b'\0', b'\x0b', b'\x0c', b'\x1c'),
        *(b'\xff', b'\xc2', b'\xef\xbb\xbf'),
        *(each.encode() for each in ('\xa0\x85\u2028\u3000', '\U0001d11e')),
    ]
)


@st.composite
def layouts_and_files(draw):
    layout = draw(LAYOUTS)
    in_any_order = st.lists(pieces, max_size=30).map(b''.join)
    return layout, draw(files(layout) | in_any_order | st.binary(max_size=60))
