"""Targets of fuzzers: files of TREC, and lines that may be wrong.

A call with hostile bytes has a result, or an error of one printable line.
"""

import io
import json
import re
import tempfile
import warnings
from functools import cache
from pathlib import Path
from unittest.mock import patch

from line_files import causes_and_lines

from hostile.entries import A, B
from mediaeval_ap import evaluate_trec
from mediaeval_ap.errors import DataWarning, Error, FormatError
from mediaeval_ap.render.formats import render
from mediaeval_ap.tables import read, reading
from mediaeval_ap.tables.layouts import QRELS, RUN, SAMPLED_QRELS
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.trec import entries as trec_entries
from mediaeval_ap.trec.entries import read_entries
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import problems_document as listed_problems

kept = cache(tempfile.TemporaryDirectory)


def folder():
    """The folder of files, for readers that need paths."""
    return Path(kept().name)


def outcome(call):
    """Return the result of a call; None if it raises an expected error."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        warnings.simplefilter('ignore', DataWarning)
        try:
            return call()
        except Error as error:
            message = str(error)
    assert message.isprintable(), f'{message!r} is not one printable line'
    return None


BETWEEN = b'----\n'  # stands between the files of one input

TREC = {
    QRELS: (
        b'7 0 d1 1\n7 0 d2 0\n8 0 d1 2\n',
        '7 0\td\xa0\xe9  1\r\n\n7 0 d -1'.encode(),
        b'# judged\n7 0 #1 +02\n #8 0 d 1\n',
        b'# five fields\n7$0 #1 + d 1\n',
    ),
    RUN: (
        b'7 Q0 d1 1 0.9 me\n7 Q0 d2 2 0.9 me\n8 Q0 d1 1 1e-7 me\n',
        '\ufeff7 Q0\td\xa0\xe9 1  -3 me\r\n\n8 Q0 d 1 +.5 me'.encode(),
        b'#\xff\n \t# mine\n7 Q0 #1 1 2 #\n',
    ),
}


def entries(layout, data):
    """A file of TREC in blocks, and as the strict parser reads it; then scored."""
    path = folder() / 'entries'
    path.write_bytes(data)
    fast = outcome(lambda: rows_of_entries(read_entries(path, layout)))
    blocks = patch.object(trec_entries, 'TREC_BLOCK_BYTES', 40)  # of a line or two
    with blocks, patch.object(reading, 'BULK_BYTES', 0):
        by_blocks = outcome(lambda: rows_of_entries(read_entries(path, layout)))
    slow = outcome(lambda: rows_of_entries(read_entries(io.BytesIO(data), layout)))
    strict = outcome(lambda: rows_of_table(read(io.BytesIO(data), layout)))
    if strict is None and layout == QRELS:  # five fields are a sample
        strict = outcome(lambda: rows_of_table(read(io.BytesIO(data), SAMPLED_QRELS)))
    assert fast == by_blocks == slow == strict, 'the readers of TREC files disagree'
    pair = [path if each == layout else io.BytesIO(TREC[each][0]) for each in (QRELS, RUN)]
    for ties in ('trec_eval', 'trec_eval-9', 'expected'):
        for file in pair:
            if file != path:
                file.seek(0)
        scored = outcome(lambda ties=ties: evaluate_trec(*pair, [3], ties=ties))
        if scored is not None:
            assert strict is not None
            assert 0 <= scored.map[0] <= 1


def rows_of_entries(read_entries):
    topics = [read_entries.topic.values[code] for code in read_entries.topic.codes]
    numbers, numbered = read_entries.number.tolist(), read_entries.lines.array(len(topics))
    return topics, read_entries.texts('docno'), list(map(repr, numbers)), numbered.tolist()


def rows_of_table(table):
    numbers, numbered = table.confidence.tolist(), table.lines.array(len(table))
    return table.texts('qid'), table.texts('docno'), list(map(repr, numbers)), numbered.tolist()


def leniently(layout, data):
    """Every line is a row or wrong; right files are read as ever."""
    found = read_leniently(io.BytesIO(data), layout)
    n_wrong = found.faults.counts.total()
    try:
        strict = read(io.BytesIO(data), layout)
    except FormatError as error:
        strict = error
    if isinstance(strict, FormatError):
        assert strict.further == max(n_wrong - 1, 0)
        assert n_wrong or not len(found.table)
    else:
        assert not n_wrong
        assert list(found.table.rows()) == list(strict.rows())
    n_lines = data.count(b'\n') + 1
    assert all(0 < line <= n_lines for _, line, _ in causes_and_lines(found))


SHOT_LIST = b'x v 1 0 1.5\nx v 2 1.5 3\n'
EVIDENCE = b'ann x v written 0.5\nbob x v pronounced 2\n'
SUBMISSIONS = (
    BETWEEN.join([A + B, EVIDENCE, SHOT_LIST]),
    BETWEEN.join([b'v 1 ann 0.5\nv 2 bob 0.4', b'ann v 1 image\nbob v 2 both', b'v 1 0 1 0 24\n']),
    BETWEEN.join([A.upper() + b'x\nx v 1 anne high\n\xff\n', b'ann x v image -1\n' * 2, b'\n']),
)


def parts_of(data, names):
    """The files of one input; those that it lacks are empty."""
    parts = data.split(BETWEEN, len(names) - 1)
    return dict(zip(names, parts + [b''] * (len(names) - len(parts)), strict=True))


def validated(data):
    """Every problem of three files is listed, in lines that no terminal obeys, and in JSON."""
    parts = parts_of(data, ['hypothesis', 'evidence', 'shots'])
    for rules in ('2016', '2015', 'none'):
        submission = {role: io.BytesIO(content) for role, content in parts.items()}
        findings = examine(**submission, rules=rules)
        text = render(listed_problems({'run': findings}), 'table')
        assert all(line.isprintable() for line in text.split('\n'))
        listed = json.loads(render(listed_problems({'run': findings}), 'json'))['problems']
        assert len(listed) == findings.count('error') + findings.count('warning')
        assert len(re.findall('^.+?:[0-9]+: (?:error|warning): \\[', text, re.M)) == len(listed)
