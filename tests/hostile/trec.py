"""Hostile files of TREC: qrels and runs."""

import pyarrow

from hostile.containers import CUT, MILLION, gzip_of, limited
from hostile.entries import FINITE, Entry, holding, refused
from hostile.lines import BOM, LONG
from hostile.tables import storing

# At K = 1 a topic is worth 1 when the document that stands first is its one relevant one, else 0.
Q1, Q2 = b'7 0 d1 1\n', b'8 0 d2 1\n'
R1, R2 = b'7 Q0 d1 1 0.9 me\n', b'8 Q0 d2 1 0.8 me\n'
TREC = {'qrels': Q1 + Q2, 'trec-run': R1 + R2}
FOUR = 'expected 4 fields: qid iteration docno relevance'
SIX = 'expected 6 fields: qid q0 docno rank score tag'
ONCE = 'expected each document once'
INTEGER = 'expected an integer in digits'


def run(name, why, content, value=1.0):
    return Entry(name, why, holding(content), value=value, role='trec-run')


def no_run(name, why, content, error):
    return refused(name, why, content, error, 'trec-run')


def qrels(name, why, content, value=1.0):
    return Entry(name, why, holding(content), value=value, role='qrels')


def no_qrels(name, why, content, error):
    return refused(name, why, content, error, 'qrels')


def score(name, text):
    """A run whose second score is no number."""
    error = f', line 2, score: found {text!r}, {FINITE}'
    return no_run(name, 'no number', R1 + f'8 Q0 d2 1 {text} me\n'.encode(), error)


def relevance(name, text):
    """Qrels whose second relevance is no integer."""
    error = f', line 2, relevance: found {text!r}, {INTEGER}'
    return no_qrels(name, 'no integer', Q1 + f'8 0 d2 {text}\n'.encode(), error)


def stored(role, name, why, error=None, **columns):
    number = {'qrels': 'relevance', 'trec-run': 'score'}[role]
    right = {'qid': ['7', '8'], 'docno': ['d1', 'd2'], number: [1, 1]}
    content = {name: column for name, column in {**right, **columns}.items() if column is not None}
    outcome = {'value': 1.0} if error is None else {'error': f'{{path}}{error}'}
    return Entry(f'{name}.parquet', why, storing(pyarrow.table(content)), role=role, **outcome)


RUNS = [
    run('plain', 'nothing is wrong', R1 + R2),
    run('bom', 'a byte order mark is passed over', BOM + R1 + R2),
    run('crlf', 'line ends of Windows', (R1 + R2).replace(b'\n', b'\r\n')),
    run('tabs', 'tabs, spaces, blank lines', b'\n\t7  Q0\td1 1\t 0.9 me \n \n' + R2),
    run('no-last-end', 'the file ends within a line', (R1 + R2)[:-1]),
    run('ranks', 'ranks and tags are not looked at', b'7 - d1 nan 0.9 #\n8 - d2 \xc3\xab 1 "\n'),
    run(
        *('nbsp', 'a no-break space is part of a document', b'7 Q0 d1\xc2\xa0 1 1 me\n' + R1 + R2),
        value=0.5,
    ),
    run('quotes', 'and so are quotes', b'7 Q0 "d1" 1 1 me\n' + R1 + R2, value=0.5),
    run('nan-document', 'and what others take for missing', b'7 Q0 nan 9 0.1 nan\n' + R1 + R2),
    run('long', 'a document of 10 MB', R1 + b'7 Q0 ' + b'd' * LONG + b' 2 0.1 me\n' + R2),
    run('other-topics', 'a document of two topics', R1 + b'7 Q0 d2 2 0.1 me\n' + R2),
    # In single precision, as of trec_eval 9, both are infinite, and d3 would be before d1.
    run(
        'huge',
        'scores that single precision does not hold',
        b'7 Q0 d3 1 1e39 me\n7 Q0 d1 2 1e308 me\n' + R2,
    ),
    run(
        'comments',
        'lines that begin with #, after white space or not, whatever their bytes',
        b'# by me\n' + R1 + b'#7 Q0 d2 1 1 me\n \t# 7 Q0 d3 1 1 me\n#\xff\0\r\r\n' + R2 + b'#',
    ),
    run('crlf-comments', 'comments of Windows', BOM + b'# by me\r\n#\r\n' + R1 + b'# end\r\n' + R2),
    run('comment-document', 'a document that begins with #', R1 + b'7 Q0 #d 2 0.1 #\n' + R2),
    no_run(
        *('only-comments', 'nothing but comments', b'# by me\n#\n\n # end'),
        f': found only blank lines or comments, expected at least one of {SIX[9:]}',
    ),
    no_run(
        *('comments-count', 'lines are counted, comments too', b'# by me\n\n' + R1 + b'#\n' + R1),
        f", line 5, docno: found 'd1' again for topic '7', {ONCE}",
    ),
    no_run(
        *('comment-behind', 'a comment is a line', b'#\n' + R1.replace(b'\n', b' # the best\n')),
        f", line 2: found 9 fields in '7 Q0 d1 1 0.9 me # the best', {SIX}",
    ),
    run('lines.gz', 'lines in gzip', gzip_of(R1 + R2)),
    no_run(
        *('empty', 'nothing at all', b''),
        f': found an empty file, expected at least one of {SIX[9:]}',
    ),
    no_run(
        *('only-blank', 'blank lines', b'\n \t\r\n'),
        f': found only blank lines or comments, expected at least one of {SIX[9:]}',
    ),
    no_run(
        *('repeated', 'a document twice', b'\n' + R1 + b'\n' + R1 + R2),
        f", line 4, docno: found 'd1' again for topic '7', {ONCE}",
    ),
    no_run(
        *('repeated-later', 'topics between one another', BOM + b'\n' + R2 + R1 + R2),
        f", line 4, docno: found 'd2' again for topic '8', {ONCE}",
    ),
    no_run(
        *('repeated-escape', 'what a terminal obeys', b'\x1b[2J Q0 \xc2\x9b 1 1 me\n' * 2),
        f", line 2, docno: found '\\x9b' again for topic '\\x1b[2J', {ONCE}",
    ),
    no_run(
        *('five', 'no tag', R1 + b'8 Q0 d2 1 0.8\n'),
        f", line 2: found 5 fields in '8 Q0 d2 1 0.8', {SIX}",
    ),
    no_run(
        *('seven', 'a tag of two words', R1 + b'8 Q0 d2 1 0.8 my run\n' + b'9\n'),
        f", line 2: found 7 fields in '8 Q0 d2 1 0.8 my run', {SIX} (1 more wrong line)",
    ),
    no_run(
        *('nbsp-between', 'a no-break space separates nothing', b'7\xc2\xa0Q0 d1 1 0.9 me\n'),
        f", line 1: found 5 fields in '7\\xa0Q0 d1 1 0.9 me', {SIX}",
    ),
    no_run(
        *('qrels-as-run', 'qrels in place of a run', Q1),
        f", line 1: found 4 fields in '7 0 d1 1', {SIX}"
        '; its first row fits a qrels file: are two files exchanged?',
    ),
    no_run(
        *('nul', 'a NUL', R1 + b'8 Q0 d\0 1 0.8 me\n'),
        ', line 2: found a NUL byte at byte 7, expected text',
    ),
    no_run(
        *('cr', 'a carriage return in a document', b'7 Q0 d\r1 1 0.9 me\n'),
        ', line 1: found a carriage return at byte 7, expected text',
    ),
    no_run(
        *('bad-tag', 'bytes that nobody looks at are no text', b'7 Q0 d1 1 0.9 m\xff\n'),
        ', line 1: found invalid UTF-8 at byte 16 (0xff), expected UTF-8',
    ),
    no_run(
        *('endless', 'a line of 65 MiB', R1 + b'y' * (65 << 20)),
        ', line 2: found more than 64 MiB without a line end, expected lines of text',
    ),
    score('nan', 'nan'),
    score('inf', 'inf'),
    score('minus-infinity', '-Infinity'),
    score('overflow', '1e309'),
    score('underscore', '1_0'),
    score('hexadecimal', '0x1p3'),
    no_run(
        *('comma', 'a number in Paris', R1 + b'8 Q0 d2 1 0,5 me\n'),
        f", line 2, score: found '0,5', {FINITE}; write a decimal point, not a comma",
    ),
    score('word', 'high'),
    no_run(
        *('cut.gz', 'a download that broke', gzip_of(R1 * 50)[:-9]),
        f': not readable as gzip: {CUT["gz"]}',
    ),
    Entry(
        *('bomb.gz', 'a bomb', holding(gzip_of(b'x' * (8 * MILLION)))),
        error=limited('decompresses to'),
        role='trec-run',
        max_bytes=MILLION,
    ),
    stored('trec-run', 'right', 'just the columns that are looked at'),
    stored('trec-run', 'more', 'and others', rank=[[1], [2]]),
    stored(
        *('trec-run', 'topics', 'topics are numbers'),
        ', qid: found a column of int64, expected text; '
        'read them as text (dtype=str), so that leading zeros stay',
        qid=[7, 8],
    ),
    stored(
        *('trec-run', 'texts', 'scores are text'),
        ', score: found a column of string, expected numbers',
        score=['0.9', '0.8'],
    ),
    stored(
        *('trec-run', 'bytes', 'documents are bytes'),
        ', docno: found a column of binary, expected text',
        docno=[b'd1', b'd2'],
    ),
    stored(
        *('trec-run', 'lacking', 'a column is missing'),
        ", docno: found columns 'qid, score', expected one column docno",
        docno=None,
    ),
    stored(
        *('trec-run', 'nan', 'no number'),
        f', row 2, score: found nan, {FINITE}',
        score=[0.5, float('nan')],
    ),
    stored(
        *('trec-run', 'twice', 'a document twice'),
        f", row 2, docno: found 'd1' again for topic '7', {ONCE}",
        qid=['7', '7'],
        docno=['d1', 'd1'],
    ),
]

QRELS = [
    qrels('plain', 'nothing is wrong', Q1 + Q2),
    qrels('bom-crlf', 'as Windows writes', BOM + (Q1 + Q2).replace(b'\n', b'\r\n')),
    qrels('negative', 'relevance below 0', Q1 + b'7 0 d2 -2\n' + Q2),
    qrels('huge', 'relevance of 300 digits', b'7 0 d1 ' + b'9' * 300 + b'\n' + Q2),
    qrels('nbsp', 'a no-break space is part of a document', b'7 0 d1\xc2\xa0 1\n' + Q2, value=0.5),
    qrels('iteration', 'nobody looks at iterations', b'7 nan d1 1\n8 \xc3\xab d2 1\n'),
    qrels('lines.gz', 'lines in gzip', gzip_of(Q1 + Q2)),
    qrels(
        'signs',
        'integers with a sign, and zeros before them',
        b'7 0 d1 +1\n8 0 d2 -0\n8 0 d2b 007\n8 0 d1 0\n',
        value=0.5,
    ),
    qrels(
        'comments',
        'lines that begin with #, whatever their bytes, also one after another',
        b'# judged by a program\n# 7 d1 1\n' + Q1 + b'#\xff\0\r\r\n#8 0 d1 1\n' + Q2 + b'# end',
    ),
    qrels('comment-document', 'a document that begins with #', Q1 + b'7 0 #d 0\n' + Q2),
    no_qrels(
        *('comment-indented', 'white space before # is no comment, as for trec_eval'),
        b' # judged by a program\n' + Q1 + Q2,
        f", line 1: found 5 fields in ' # judged by a program', {FOUR}",
    ),
    no_qrels(
        *('comments-count', 'lines are counted, comments too', b'#\n\n' + Q1 + b'#\n8 0 d2 .5\n'),
        f", line 5, relevance: found '.5', {INTEGER}",
    ),
    no_qrels(
        *('empty', 'nothing at all', b''),
        f': found an empty file, expected at least one of {FOUR[9:]}',
    ),
    no_qrels(
        *('half', 'relevance is an integer', Q1 + b'\n' + b'8 0 d2 0.5\n'),
        f", line 3, relevance: found '0.5', {INTEGER}",
    ),
    no_qrels(
        *('tiny', 'and nothing near one', BOM + b'\n' + Q1 + b'8 0 d2 1e-300\n'),
        f", line 3, relevance: found '1e-300', {INTEGER}",
    ),
    relevance('nan', 'nan'),
    relevance('inf', 'inf'),
    relevance('word', 'relevant'),
    relevance('point', '1.0'),
    relevance('point-behind', '1.'),
    relevance('exponent', '.1e1'),
    relevance('exponent-of-ten', '10e-1'),
    relevance('hexadecimal', '0x1'),
    relevance('underscore', '1_0'),
    relevance('digits', '\u0661'),
    relevance('sign-behind', '1-'),
    no_qrels(
        *('overflow', 'an integer that no double holds', b'7 0 d1 ' + b'9' * 400 + b'\n' + Q2),
        f", line 1, relevance: found '{'9' * 59}…, {FINITE}",
    ),
    no_qrels(
        *('repeated', 'a document twice', Q1 + b'7 0 d1 0\n' + Q2),
        f", line 2, docno: found 'd1' again for topic '7', {ONCE}",
    ),
    no_qrels(
        *('three', 'no iteration', b'7 d1 1\n' + Q2),
        f", line 1: found 3 fields in '7 d1 1', {FOUR}",
    ),
    no_qrels(
        *('run-as-qrels', 'a run in place of qrels', R1),
        f", line 1: found 6 fields in '7 Q0 d1 1 0.9 me', {FOUR}"
        '; its first row fits a TREC run file: are two files exchanged?',
    ),
    no_qrels(
        *('nul', 'a hole', Q1 + bytes(1000)), ', line 2: found a NUL byte at byte 1, expected text'
    ),
    no_qrels(
        *('latin-1', 'text of another encoding', b'7 0 \xeb 1\n'),
        ', line 1: found invalid UTF-8 at byte 5 (0xeb), expected UTF-8',
    ),
    no_qrels(
        *('long-line', 'a wrong line of 10 MB', b'y' * LONG + b'\n'),
        f", line 1: found 1 field in '{'y' * 59}…, {FOUR}",
    ),
    no_qrels(
        *('cut.gz', 'a download that broke', gzip_of(Q1 * 50)[:-9]),
        f': not readable as gzip: {CUT["gz"]}',
    ),
    stored('qrels', 'right', 'just the columns that are looked at'),
    stored(
        *('qrels', 'truths', 'relevance is yes and no'),
        ', relevance: found a column of bool, expected numbers',
        relevance=[True, False],
    ),
    stored(
        *('qrels', 'halves', 'relevance is an integer'),
        ', row 2, relevance: found 0.5, expected an integer',
        relevance=[1, 0.5],
    ),
    stored(
        *('qrels', 'no-rows', 'columns of nothing'),
        ': found no rows, expected at least one of 3 fields: qid docno relevance',
        qid=pyarrow.array([], pyarrow.string()),
        docno=pyarrow.array([], pyarrow.string()),
        relevance=pyarrow.array([], pyarrow.int64()),
    ),
]

TREC_FILES = [*RUNS, *QRELS]
