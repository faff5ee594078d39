"""Hostile text: lines of a run, of a reference, of queries, of a subset."""

from hostile.entries import (
    ANN,
    BOB,
    BOM,
    EMPTY,
    FINITE,
    FIVE,
    NUL,
    REFERENCE,
    A,
    B,
    Entry,
    holding,
    read,
    refused,
    right,
)

LONG = 5_000_000
HEADER = 'corpus_id video_id shot_id person_name'
ROWS_ONLY = 'expected rows only; remove this line'
ENDLESS = 'found more than 64 MiB without a line end, expected lines of text'
SECOND_MARK = (
    'found a byte order mark (U+FEFF) at byte {}, expected text; were files joined? delete this '
    'mark, which begins the second one'
)
BLOCK = 1 << 20  # how much the strict parser takes at a time


def with_names(file, *names):
    """A run with these names, read exactly as written, after the two that are queried."""
    text = ''.join(f'x v 3 {name} 0.5\n' for name in names)
    rows = [('x', 'v', '3', name, 0.5) for name in names]
    return read(file, A + B + text.encode(), ANN, BOB, *rows)


def with_number(text):
    content = f'x v 1 ann {text}\n'.encode() + B
    return read(f'number{text[:9]}.txt', content, (*ANN[:4], float(text)), BOB)


def without_number(at, text):
    """A run whose first confidence is not a number."""
    content = f'x v 1 ann {text}\n'.encode() + B
    shown = repr(text) if len(text) < 60 else f"'{text[:59]}…'"
    error = f', line 1, confidence: found {shown}, {FINITE}'
    return refused(f'no-number-{at}.txt', content, error)


# Where only ann's line is right, or only bob's, one of two names is found: 0.5.
READ = [
    read('mixed-ends.txt', BOM + A.replace(b'\n', b'\r\n') + B, ANN, BOB),
    read('tabs.txt', b'\r\n\r\n\tx \t v\t1  ann\t\t0.9 \t\n' + B, ANN, BOB),
    with_names('spaces.txt', 'ann\xa0lee', '\xa0ann', 'ann\xa0', 'a\u2028b', 'a\vb', 'a\x1cb'),
    with_names('wide.txt', 'a\x85b', 'a\u3000b', 'a\u200bb', 'zo\u00eb', 'zoe\u0308'),
    with_names('quotes.txt', '"ann', 'ann"', "o'brien", '""', '\\"', '#1', '//x', '%x', '--'),
    with_names('missing.txt', 'nan', 'None', 'NA', '<NA>', '#N/A', 'NULL', '-'),
    with_names('values.txt', '007', '1e3', '0x10', 'inf', 'true', '2016-05-01', '12:30', '=1+1'),
    with_names('escapes.txt', '\x1b[31mann\x1b[0m', '\x1b]0;x\x07', '\x9b2J', '\u202enna'),
    with_names('unicode.txt', '\U0001f600', '\U0010ffff', 'a' + '\u0301' * 500),
    with_names('long-name.txt', 'a' * LONG),
    read('long-blank.txt', b' ' * LONG + b'\n' + A + B, ANN, BOB),
    with_names('block.txt', 'b' * (BLOCK - 35) + 'é' * 9),  # a character between two blocks
    *map(with_number, ['1e308', '5e-324', '1e-400', f'0.{"1" * 100_000}', '+.5', '-1e300']),
]

NOT_UTF8 = {  # name: content, line, byte
    'bad-byte': (A + b'x v 1 \xffann 0.9\n', 2, '7 (0xff)'),
    'overlong': (b'x v 1 \xc0\xaf 0.9\n', 1, '7 (0xc0)'),
    'surrogate': (b'x v 1 \xed\xa0\x80 0.9\n', 1, '7 (0xed)'),
    'cut-character': (A + b'x v 2 bob\xe2\x82', 2, '10 (0xe2)'),
}
OF_2015 = (
    '; its first row fits a 2015 {} file, which only evaluate-2015 reads: '
    'type mediaeval-ap evaluate-2015 REFERENCE RUN --shots SHOTS'
)
FIELDS = {  # name: a line, how many fields it has, what else fits it
    'one-field': ('x', '1 field', ''),
    'nbsp-between': ('x\xa0v 1 ann 0.9', '4 fields', OF_2015.format('hypothesis')),
    'escapes-in-line': ('x v \x1b[2J\x07', '3 fields', OF_2015.format('reference')),
    'direction-in-line': ('x v \u202eann', '3 fields', OF_2015.format('reference')),
    'esc\x1b[31m\n': ('x', '1 field', ''),  # the name of a file is escaped as well
}
NO_NUMBERS = ['1e309', 'nan', '-inf', '1_000', '0x1p3', '٠.٥', '-.', '--1', '1e', '\x1b]0;x\x07']

REFUSED = [
    refused('empty.txt', b'', EMPTY),
    refused('only-bom.txt', BOM, EMPTY),
    refused('only-blank.txt', b'\n \n\t\r\n', EMPTY.replace('an empty file', 'only blank lines')),
    refused(
        *('cr.txt', (A + B).replace(b'\n', b'\r')),
        ', line 1: found a carriage return at byte 14, expected text; end lines with LF or CR LF, '
        'not with CR alone',
    ),
    refused('bom-twice.txt', BOM + BOM + A + B, f', line 1: {SECOND_MARK.format(1)}'),
    refused('bom-later.txt', A + BOM + B, f', line 2: {SECOND_MARK.format(1)}'),
    refused('bom-within.txt', A[:-1] + BOM + B, f', line 1: {SECOND_MARK.format(14)}'),
    refused('hole.txt', A + bytes(100_000), f', line 2: {NUL.format(1)}'),
    *(
        refused(
            f'{name}.txt',
            content,
            f', line {line}: found invalid UTF-8 at byte {at}, expected UTF-8',
        )
        for name, (content, line, at) in NOT_UTF8.items()
    ),
    *(
        refused(
            f'{name}.txt', f'{line}\n'.encode(), f', line 1: found {n} in {line!r}, {FIVE}{other}'
        )
        for name, (line, n, other) in FIELDS.items()
    ),
    refused(
        *('many-wrong.txt', b'x\n' + A + b'y\nz\n'),
        f", line 1: found 1 field in 'x', {FIVE} (2 more wrong lines)",
    ),
    refused(
        *('long-line.txt', b'y' * LONG + b'\n'),
        f", line 1: found 1 field in '{'y' * 59}…', {FIVE}",
    ),
    refused('endless-line.txt', A + b'y' * (65 << 20), f', line 2: {ENDLESS}'),
    *(without_number(at, text) for at, text in enumerate([*NO_NUMBERS, '9' * 400])),
]

OTHER_ROLES = [
    # 'zoe' with a mark is nearer to bob (3/4), who is in shot 2, than to ann (1).
    right('reference', 'nfd.txt', 'x v 1 zo\u00eb\nx v 2 zoe\u0308\nx v 2 bob\n'.encode(), 2 / 3),
    refused(
        *('header.txt', f'\n{HEADER} confidence\n'.encode() + A + B),
        f", line 2: found the header '{HEADER} confidence', {ROWS_ONLY}",
    ),
    refused(
        *('header-alone.txt', f'{HEADER.upper()} CONFIDENCE'.encode()),
        f", line 1: found the header '{HEADER.upper()} CONFIDENCE', {ROWS_ONLY}",
    ),
    refused(
        *('header.txt', f'\n{HEADER}\n'.encode() + REFERENCE),  # which could be a row
        f", line 2: found the header '{HEADER}', {ROWS_ONLY}",
        role='reference',
    ),
    refused(
        *('header-as-comment.txt', f'#{HEADER}\n'.encode() + REFERENCE),
        f", line 1: found the header '#{HEADER}', {ROWS_ONLY}",
        role='reference',
    ),
    right('queries', 'queries.txt', BOM + b'ann\r\nbob'),
    refused('subset.txt', b'x v\0\n', f', line 1: {NUL.format(4)}', role='subset'),
    Entry(
        *('nbsp-subset.txt', holding('x v\xa0\n'.encode())),
        error='{reference}: no row of this reference is in the subset',
        role='subset',
    ),
]

LINES = [*READ, *REFUSED, *OTHER_ROLES]
