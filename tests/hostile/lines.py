"""Hostile text: lines of a run, of a reference, of queries, of a subset."""

from hostile.entries import (
    ANN,
    BOB,
    EMPTY,
    FINITE,
    FIVE,
    REFERENCE,
    A,
    B,
    Entry,
    holding,
    read,
    refused,
)

BOM = b'\xef\xbb\xbf'
LONG = 10_000_000
HEADER = 'corpus_id video_id shot_id person_name'
ONLY_BLANK = EMPTY.removeprefix('{path}').replace('an empty file', 'only blank lines')
ROWS_ONLY = 'expected rows only; remove this line'
BLOCK = 1 << 20  # how much the strict parser takes at a time


def named(name, confidence=0.5):
    """One more hypothesis, for a shot that is in no reference."""
    return 'x', 'v', '3', name, confidence


def with_names(file, why, *names):
    """A run in which these names stand behind the two that are asked for."""
    text = ''.join(f'x v 3 {name} 0.5\n' for name in names)
    return read(file, why, A + B + text.encode(), ANN, BOB, *map(named, names))


def number(file, why, text):
    """A run whose first confidence is no number."""
    content = f'x v 1 ann {text}\n'.encode() + B
    return refused(file, why, content, f', line 1, confidence: found {text!r}, {FINITE}')


def with_number(file, why, text, confidence):
    content = f'x v 1 ann {text}\n'.encode() + B
    return read(file, why, content, (*ANN[:4], confidence), BOB)


# Where only ann's line is right, or only bob's, one of two names is found: 0.5.
READ = [
    read('plain.txt', 'nothing is wrong', A + B, ANN, BOB),
    read('bom.txt', 'a byte order mark is passed over', BOM + A + B, ANN, BOB),
    read(
        *('bom-twice.txt', 'the second one is part of a corpus id', BOM + BOM + A + B),
        *(('\ufeffx', *ANN[1:]), BOB),
        value=0.5,
    ),
    read(
        *('bom-later.txt', 'as is one on another line', A + BOM + B),
        *(ANN, ('\ufeffx', *BOB[1:])),
        value=0.5,
    ),
    read('crlf.txt', 'line ends of Windows', (A + B).replace(b'\n', b'\r\n'), ANN, BOB),
    read('mixed-ends.txt', 'line ends of both kinds', A.replace(b'\n', b'\r\n') + B, ANN, BOB),
    read('no-last-end.txt', 'the file ends within a line', (A + B)[:-1], ANN, BOB),
    read('crlf-cut.txt', 'blank lines of Windows', b'\r\n\r\n' + A + B + b'\r\n', ANN, BOB),
    read('tabs.txt', 'tabs and several spaces', b'\tx \t v\t1  ann\t\t0.9 \t\n' + B, ANN, BOB),
    with_names(
        'nbsp.txt', 'a no-break space is part of a name', 'ann\xa0lee', '\xa0ann', 'ann\xa0'
    ),
    with_names('u2028.txt', 'so are separators of lines to Unicode', 'a\u2028b', 'a\u2029b'),
    with_names('spaces.txt', 'and white space of other kinds', 'a\vb', 'a\fb', 'a\x1cb', 'a\x85b'),
    with_names('wide.txt', 'and that of other scripts', 'a\u3000b', 'a\u2003b', 'a\u200bb'),
    with_names('quotes.txt', 'quotes are characters', '"ann', 'ann"', "o'brien", '""', '\\"'),
    with_names('nan.txt', 'names that others take for missing', 'nan', 'NaN', 'None', 'null', 'NA'),
    with_names('missing.txt', 'and more of them', 'N/A', '<NA>', '#N/A', 'NULL', '-', '.'),
    with_names('numbers.txt', 'names like numbers', '007', '1e3', '0x10', 'inf', 'true', '1_0'),
    with_names('dates.txt', 'names like dates', '2016-05-01', '1/2', '12:30'),
    with_names('comments.txt', 'names like comments', '#1', '//x', '%x', ';', '--'),
    with_names('formulas.txt', 'names like formulas', '=1+1', '@SUM(A1)', '+1', "-1+cmd|'/C'!A0"),
    with_names('nfc-nfd.txt', 'two spellings are two names', 'zo\u00eb', 'zoe\u0308'),
    with_names('rtl.txt', 'marks of direction', 'a\u200fnn', '\u202enna', '\u2066ann\u2069'),
    with_names(
        'escapes.txt', 'what terminals obey', '\x1b[31mann\x1b[0m', '\x1b]0;x\x07', '\x9b2J'
    ),
    with_names('astral.txt', 'characters of four bytes', '\U0001f600', '\U0010ffff', '\U00020000'),
    with_names('combining.txt', 'one letter, many marks', 'a' + '\u0301' * 500),
    with_names('long-name.txt', 'a line of 10 MB', 'a' * LONG),
    read('long-blank.txt', 'a blank line of 10 MB', b' ' * LONG + b'\n' + A + B, ANN, BOB),
    with_names('block.txt', 'a character between two blocks', 'b' * (BLOCK - 35) + 'é' * 9),
    with_number('huge.txt', 'a huge confidence', '1e308', 1e308),
    with_number('tiny.txt', 'the least confidence of a double', '5e-324', 5e-324),
    with_number('underflow.txt', 'a confidence that is 0 as a double', '1e-400', 0.0),
    with_number(
        'digits.txt', 'a number of 100 000 digits', f'0.{"1" * 100_000}', 0.1111111111111111
    ),
    with_number('signs.txt', 'a sign, and no digit before the point', '+.5', 0.5),
    with_number('negative.txt', 'a confidence below 0', '-1e300', -1e300),
]

UTF16 = b'\xff\xfe' + (A + B).decode().encode('utf-16-le')

REFUSED = [
    refused('empty.txt', 'nothing at all', b'', EMPTY.removeprefix('{path}')),
    refused('only-bom.txt', 'a mark of nothing', BOM, EMPTY.removeprefix('{path}')),
    refused('only-blank.txt', 'blank lines', b'\n \n\t\r\n', ONLY_BLANK),
    refused(
        *('cr.txt', 'line ends of old', (A + B).replace(b'\n', b'\r')),
        ', line 1: found a carriage return at byte 14, expected text',
    ),
    refused(
        *('cr-in-name.txt', 'a carriage return in a name', B + b'x v 1 an\rn 0.9\n'),
        ', line 2: found a carriage return at byte 9, expected text',
    ),
    refused(
        *('nul.txt', 'a NUL in a name', b'x v 1 a\0n 0.9\n' + B),
        ', line 1: found a NUL byte at byte 8, expected text',
    ),
    refused(
        *('hole.txt', 'a file that was preallocated', A + bytes(100_000)),
        ', line 2: found a NUL byte at byte 1, expected text',
    ),
    refused(
        *('utf-16.txt', 'text of another encoding', UTF16),
        ', line 1: found invalid UTF-8 at byte 1 (0xff), expected UTF-8; '
        'these are bytes as in UTF-16: save the file as UTF-8 (2 more wrong lines)',
    ),
    refused(
        *('bad-byte.txt', 'a byte that UTF-8 never has', A + b'x v 1 \xffann 0.9\n'),
        ', line 2: found invalid UTF-8 at byte 7 (0xff), expected UTF-8',
    ),
    refused(
        *('latin-1.txt', 'text of another encoding', 'x v 1 zoë 0.9\n'.encode('latin-1')),
        ', line 1: found invalid UTF-8 at byte 9 (0xeb), expected UTF-8',
    ),
    refused(
        *('overlong.txt', 'a slash in two bytes', b'x v 1 \xc0\xaf 0.9\n'),
        ', line 1: found invalid UTF-8 at byte 7 (0xc0), expected UTF-8',
    ),
    refused(
        *('surrogate.txt', 'half a character of UTF-16', b'x v 1 \xed\xa0\x80 0.9\n'),
        ', line 1: found invalid UTF-8 at byte 7 (0xed), expected UTF-8',
    ),
    refused(
        *('cut-character.txt', 'the file ends within a character', A + b'x v 2 bob\xe2\x82'),
        ', line 2: found invalid UTF-8 at byte 10 (0xe2), expected UTF-8',
    ),
    refused(
        *('nbsp-between.txt', 'a no-break space separates nothing', 'x\xa0v 1 ann 0.9\n'.encode()),
        f", line 1: found 4 fields in 'x\\xa0v 1 ann 0.9', {FIVE}",
    ),
    refused('one-field.txt', 'one field', b'x\n', f", line 1: found 1 field in 'x', {FIVE}"),
    refused(
        'three-fields.txt', 'three', b'x v 1\n', f", line 1: found 3 fields in 'x v 1', {FIVE}"
    ),
    refused(
        *('six-fields.txt', 'a name of two words', b'x v 1 ann lee 0.9\n'),
        f", line 1: found 6 fields in 'x v 1 ann lee 0.9', {FIVE}",
    ),
    refused(
        *('many-wrong.txt', 'the first is named, the others counted', b'x\n' + A + b'y\nz\n'),
        f", line 1: found 1 field in 'x', {FIVE} (2 more wrong lines)",
    ),
    refused(
        *('csv.txt', 'commas separate nothing', b'x,v,1,ann,0.9\n'),
        f", line 1: found 1 field in 'x,v,1,ann,0.9', {FIVE}; commas separate its fields: "
        'write spaces or tabs instead',
    ),
    refused(
        *('escapes-in-line.txt', 'a wrong line is shown, not obeyed', b'x v \x1b[2J\x07\n'),
        f", line 1: found 3 fields in 'x v \\x1b[2J\\x07', {FIVE}",
    ),
    refused(
        *('direction-in-line.txt', 'nor turned around', 'x v \u202eann\n'.encode()),
        f", line 1: found 3 fields in 'x v \\u202eann', {FIVE}",
    ),
    refused(
        *('long-line.txt', 'a wrong line of 10 MB is shown in short', b'y' * LONG + b'\n'),
        f", line 1: found 1 field in '{'y' * 59}…, {FIVE}",
    ),
    refused(
        *('endless-line.txt', 'a line of 65 MiB', A + b'y' * (65 << 20)),
        ', line 2: found more than 64 MiB without a line end, expected lines of text',
    ),
    refused(
        *('escape-as-number.txt', 'a title for the terminal', b'x v 1 ann \x1b]0;x\x07\n'),
        f", line 1, confidence: found '\\x1b]0;x\\x07', {FINITE}",
    ),
    refused(
        *('quoted.txt', 'quotes are part of a number, too', b'"x" "v" "1" "ann" "0.9"\n'),
        f""", line 1, confidence: found '"0.9"', {FINITE}; write the fields without quotes""",
    ),
    refused(
        *('too-long-number.txt', 'a number beyond doubles', b'x v 1 ann ' + b'9' * 400 + b'\n'),
        f", line 1, confidence: found '{'9' * 59}…, {FINITE}",
    ),
    number('overflow.txt', 'a number beyond doubles', '1e309'),
    number('nan-confidence.txt', 'no number', 'nan'),
    number('inf.txt', 'no finite number', '-inf'),
    number('infinity.txt', 'no finite number', 'Infinity'),
    number('underscore.txt', 'a number to Python only', '1_000'),
    number('hexadecimal.txt', 'a number to C only', '0x1p3'),
    refused(
        *('comma.txt', 'a number in Paris', b'x v 1 ann 0,5\n' + B),
        f", line 1, confidence: found '0,5', {FINITE}; write a decimal point, not a comma",
    ),
    number('arabic.txt', 'a number to Unicode', '٠.٥'),
    number('percent.txt', 'a hundredth', '90%'),
    number('no-digit.txt', 'a sign and a point', '-.'),
    number('two-signs.txt', 'two signs', '--1'),
    number('no-exponent.txt', 'an exponent is missing', '1e'),
    refused(
        *('esc\x1b[31m\n.txt', 'the name of a file is escaped as well', b'x\n'),
        f", line 1: found 1 field in 'x', {FIVE}",
    ),
]

OTHER_ROLES = [
    # 'zoe' with a mark is nearer to bob (3/4), who is in shot 2, than to ann (1).
    Entry(
        *('nfc-nfd-reference.txt', 'two spellings are asked for apart'),
        holding('x v 1 zo\u00eb\nx v 2 zoe\u0308\n'.encode()),
        value=0.5,
        role='reference',
    ),
    Entry(
        *('nan-reference.txt', 'the nearest to nan is ann (2/3), who is in shot 1'),
        holding(b'x v 1 nan\n'),
        value=1.0,
        role='reference',
    ),
    refused(
        *('run-as-reference.txt', 'a run in place of a reference', A),
        ", line 1: found 5 fields in 'x v 1 ann 0.9', "
        'expected 4 fields: corpus_id video_id shot_id person_name'
        '; its first row fits a hypothesis file: are two files exchanged?',
        role='reference',
    ),
    refused(
        *('reference-as-run.txt', 'and the other way about', REFERENCE),
        f", line 1: found 4 fields in 'x v 1 ann', {FIVE}"
        '; its first row fits a reference file: are two files exchanged? (1 more wrong line)',
    ),
    refused(
        *('header.txt', 'a header', f'\n{HEADER} confidence\n'.encode() + A + B),
        f", line 2: found the header '{HEADER} confidence', {ROWS_ONLY}",
    ),
    refused(
        *('header-alone.txt', 'nothing but a header', f'{HEADER.upper()} CONFIDENCE'.encode()),
        f", line 1: found the header '{HEADER.upper()} CONFIDENCE', {ROWS_ONLY}",
    ),
    refused(
        *('header.txt', 'a header that could be a row', f'\n{HEADER}\n'.encode() + REFERENCE),
        f", line 2: found the header '{HEADER}', {ROWS_ONLY}",
        role='reference',
    ),
    refused(
        *('header.txt', 'a header that could be a name', b'person_name\nann\nbob\n'),
        f", line 1: found the header 'person_name', {ROWS_ONLY}",
        role='queries',
    ),
    refused(
        *('header.txt', 'a header that could be a video', BOM + b'corpus_id\tvideo_id\nx v\n'),
        f", line 1: found the header 'corpus_id\\tvideo_id', {ROWS_ONLY}",
        role='subset',
    ),
    Entry(
        *('queries.txt', 'a byte order mark, CR LF, no last line end'),
        holding(BOM + b'ann\r\nbob'),
        value=1.0,
        role='queries',
    ),
    refused(
        *('two-words.txt', 'a query of two words', b'ann\nann lee\n'),
        ", line 2: found 2 fields in 'ann lee', expected 1 field: person_name",
        role='queries',
    ),
    refused(
        *('subset.txt', 'a subset with a NUL', b'x v\0\n'),
        ', line 1: found a NUL byte at byte 4, expected text',
        role='subset',
    ),
    Entry(
        *('nbsp-subset.txt', 'no video is left'),
        holding('x v\xa0\n'.encode()),
        error='{reference}: no row of this reference is in the subset',
        role='subset',
    ),
]

LINES = [*READ, *REFUSED, *OTHER_ROLES]
