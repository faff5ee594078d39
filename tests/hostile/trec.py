"""Hostile files of TREC: qrels and runs."""

import pyarrow

from hostile.entries import BOM, FINITE, NUL, Entry, refused, right
from hostile.lines import LONG
from hostile.tables import storing

# At K = 1 a topic is worth 1 when the document that stands first is its one relevant one, else 0.
Q1, Q2 = b'7 0 d1 1\n', b'8 0 d2 1\n'
R1, R2 = b'7 Q0 d1 1 0.9 me\n', b'8 Q0 d2 1 0.8 me\n'
TREC = {'qrels': Q1 + Q2, 'trec-run': R1 + R2}
FOUR = 'expected 4 fields: qid iteration docno relevance'
SIX = 'expected 6 fields: qid q0 docno rank score tag'
NOTHING = f': found only blank lines or comments, expected at least one row of {SIX[9:]}'
ONCE = (
    'expected each document once; keep the row with the higher score by --repeated first, in '
    "Python repeated='first'"
)
INTEGER = 'expected an integer in digits'
DECIMALS = (
    '; decimals need a level with decimals: --relevance-level 0.5, in Python relevance_level=0.5'
)


def no_run(name, content, error):
    return refused(name, content, error, 'trec-run')


def no_qrels(name, content, error):
    return refused(name, content, error, 'qrels')


def relevance(text):
    """Qrels whose second relevance is no integer."""
    remedy = DECIMALS if text in DECIMAL_TEXTS else ''
    error = f', line 2, relevance: found {text!r}, {INTEGER}{remedy}'
    return no_qrels(f'no-integer-{text}', Q1 + f'8 0 d2 {text}\n'.encode(), error)


def stored(role, name, error=None, **columns):
    number = {'qrels': 'relevance', 'trec-run': 'score'}[role]
    content = {'qid': ['7', '8'], 'docno': ['d1', 'd2'], number: [1, 1], **columns}
    outcome = {'value': 1.0} if error is None else {'error': f'{{path}}{error}'}
    return Entry(f'{name}.parquet', storing(pyarrow.table(content)), role=role, **outcome)


RIGHT = {  # lines of a run, which nobody takes for others
    'odd-spaces': BOM + b'\n\t7  Q0\td1 1\t 0.9 me \n \n' + R2.replace(b'\n', b'\r\n')[:-2],
    'nan-document': b'7 Q0 nan 9 0.1 nan\n' + R1 + R2,
    'long': R1 + b'7 Q0 ' + b'd' * LONG + b' 2 0.1 me\n' + R2,
    # In single precision, as of trec_eval 9, both are infinite, and d3 would be before d1.
    'huge': b'7 Q0 d3 1 1e39 me\n7 Q0 d1 2 1e308 me\n' + R2,
    'comments': b'# me\n' + R1 + b'#7 Q0 d2 1 1 me\n \t# 7 Q0 d3 1 1 me\n#\xff\0\r\r\n' + R2 + b'#',
    'comment-document': R1 + b'7 Q0 #d 2 0.1 #\n' + R2,
}
RUNS = [
    *(right('trec-run', name, content) for name, content in RIGHT.items()),
    right('trec-run', 'nbsp', b'7 Q0 d1\xc2\xa0 1 1 me\n' + R1 + R2, 0.5),
    right('trec-run', 'quotes', b'7 Q0 "d1" 1 1 me\n' + R1 + R2, 0.5),
    no_run('only-comments', b'# by me\n#\n\n # end', NOTHING),
    no_run(
        *('repeated', b'# by me\n\n' + R1 + b'#\n' + R1),
        f", line 5, docno: found 'd1' again for topic '7', {ONCE}",
    ),
    no_run(
        *('comment-behind', b'#\n' + R1.replace(b'\n', b' # the best\n') + b'9\n'),
        f", line 2: found 9 fields in '7 Q0 d1 1 0.9 me # the best', {SIX} (1 more wrong line)",
    ),
    no_run(
        *('bad-tag', b'7 Q0 d1 1 0.9 m\xff\n'),  # bytes that nobody looks at
        ', line 1: found invalid UTF-8 at byte 16 (0xff), expected UTF-8',
    ),
    stored('trec-run', 'columns', rank=[[1], [2]]),
    stored(
        *('trec-run', 'twice', f", row 2, docno: found 'd1' again for topic '7', {ONCE}"),
        qid=['7', '7'],
        docno=['d1', 'd1'],
    ),
]

RIGHT_QRELS = {
    'windows': BOM + (Q1 + Q2).replace(b'\n', b'\r\n'),
    'negative': Q1 + b'7 0 d2 -2\n' + Q2,
    'huge': b'7 0 d1 ' + b'9' * 300 + b'\n' + Q2,
    'iteration': b'7 nan d1 1\n8 \xc3\xab d2 1\n',
    'comments': b'# judged\n# 7 d1 1\n' + Q1 + b'#\xff\0\r\r\n#8 0 d1 1\n' + Q2 + b'# end',
    'comment-document': Q1 + b'7 0 #d 0\n' + Q2,
}
DECIMAL_TEXTS = ['1.0', '10e-1']
NO_INTEGERS = [*DECIMAL_TEXTS, '0x1', '\u0661']
QRELS = [
    *(right('qrels', name, content) for name, content in RIGHT_QRELS.items()),
    right('qrels', 'nbsp', b'7 0 d1\xc2\xa0 1\n' + Q2, 0.5),
    right('qrels', 'signs', b'7 0 d1 +1\n8 0 d2 -0\n8 0 d2b 007\n8 0 d1 0\n', 0.5),
    no_qrels(  # white space before # is no comment, as for trec_eval
        *('comment-indented', b' # judged by a program\n' + Q1 + Q2),
        f", line 1: found 5 fields in ' # judged by a program', {FOUR}",
    ),
    no_qrels(
        *('comments-count', b'#\n\n' + Q1 + b'#\n8 0 d2 .5\n'),
        f", line 5, relevance: found '.5', {INTEGER}{DECIMALS}",
    ),
    *map(relevance, NO_INTEGERS),
    no_qrels(
        *('overflow', b'7 0 d1 ' + b'9' * 400 + b'\n' + Q2),
        f", line 1, relevance: found '{'9' * 59}…', {FINITE}",
    ),
    no_qrels('nul', Q1 + bytes(1000), f', line 2: {NUL.format(1)}'),
    stored('qrels', 'columns'),
    stored(
        *('qrels', 'halves', f', row 2, relevance: found 0.5, expected an integer{DECIMALS}'),
        relevance=[1, 0.5],
    ),
    stored(
        *('qrels', 'no-rows'),
        ': found no rows, expected at least one row of 3 fields: qid docno relevance',
        qid=pyarrow.array([], pyarrow.string()),
        docno=pyarrow.array([], pyarrow.string()),
        relevance=pyarrow.array([], pyarrow.int64()),
    ),
]

TREC_FILES = [*RUNS, *QRELS]
