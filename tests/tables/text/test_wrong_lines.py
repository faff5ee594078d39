"""The faults and remedies of wrong lines."""

import io
import math
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_files import parse

from mediaeval_ap import validate
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, read
from mediaeval_ap.tables.faults import Cause
from mediaeval_ap.tables.layouts import (
    EVIDENCE_2015,
    HYPOTHESIS_2015,
    QRELS,
    RUN,
    SHOTS,
)
from mediaeval_ap.tables.text import reader
from mediaeval_ap.tables.text.wrong_lines import better_layout

ROW = 'x v 1 ann_lee 0.5'
OR_A_HEADER = ', or begin with the header corpus_id,video_id,shot_id,person_name,confidence'
JSON = 'it looks like JSON: mediaeval-ap compare reads results; write rows as CSV'
WITH_UNDERSCORES = 'write _ for each space within a name'
HOLDS_CONFIDENCE = 'holds the confidence: write corpus_id video_id shot_id person_name confidence'
WEB_PAGE = 'this is a web page: download the file itself'
CONFLICT = 'this is a mark of a merge conflict: keep one of the two versions'
SPACES = 'write spaces or tabs instead'


def strict_remedy(content, layout=HYPOTHESIS):
    with pytest.raises(FormatError) as caught:
        read(io.BytesIO(content), layout)
    return caught.value.remedy


@pytest.mark.parametrize(
    ('line', 'remedy'),
    [
        (ROW.replace(' ', ','), f'commas separate its fields: {SPACES}{OR_A_HEADER}'),
        (ROW.replace(' ', '|'), f'vertical bars separate its fields: {SPACES}'),
        ('{"corpus_id": "x", "video_id": "v"}', JSON),
        (
            'x;v;1;ann lee;0,5',
            f'semicolons separate its fields: {SPACES}, write _ for each space within a field, '
            'write a decimal point, not a comma',
        ),
        (
            '"x","v","1","ann_lee","0.5"',
            f'commas separate its fields: {SPACES}{OR_A_HEADER}, write them without quotes',
        ),
        (
            'corpus_id;video_id;shot_id;person_name;confidence',
            f'semicolons separate its fields: {SPACES}, remove this header',
        ),
        (
            'x,v,1,ann_lee',
            'commas separate its 4 fields: write the 5 fields, with spaces or tabs between them',
        ),
        ('x v 1 ann van der lee 0.5', f"{WITH_UNDERSCORES}, as 'ann_van_der_lee'"),
        ('0.5 x v 1 ann_lee', f'column 1 {HOLDS_CONFIDENCE}'),
        ('x v 1 5e-1 ann_lee', f'column 4 {HOLDS_CONFIDENCE}'),
        ('Corpus Video Shot Name Score', 'remove this line'),
        ('<!DOCTYPE html>', WEB_PAGE),
        ('<html lang="en"><head><title>404</title>', WEB_PAGE),
        (
            'version https://git-lfs.github.com/spec/v1',
            'this is a pointer of Git LFS: get the file by git lfs pull',
        ),
        ('<<<<<<< HEAD', CONFLICT),
        ('=======', CONFLICT),
        ('>>>>>>> our-branch', CONFLICT),
        (
            'x\tv\t1\tann lee\t0.5',
            'tabs separate its fields: write _ for each space within a field',
        ),
        ('video_id shot_id person_name confidence', 'remove this header'),
        ('x v 1 ann_lee 0,5', 'write a decimal point, not a comma'),
        ('"x" "v" "1" "ann_lee" "0.5"', 'write the fields without quotes'),
        ('x vid', 'its first row fits a subset file: are two files exchanged?'),
        (
            '7 Q0 d1 1 0.5 me',
            'its first row fits a TREC run file, which needs its qrels: '
            'type mediaeval-ap evaluate-trec QRELS RUN',
        ),
    ],
)
def test_causes(line, remedy):
    content = f'{line}\n{ROW}\n'.encode()
    assert strict_remedy(content) == remedy
    assert validate(io.BytesIO(content), rules='none')[0].remedy == remedy


@pytest.mark.parametrize('by_python', [math.inf, 0])
@pytest.mark.parametrize('layout', [REFERENCE, HYPOTHESIS, SUBSET, QUERIES, EVIDENCE_2015])
def test_a_comment_line_is_named(layout, by_python):
    """Also one with as many words as a row has fields, or as another file has."""
    row = b' '.join(b'0.5' if field == layout.number else b'x' for field in layout.fields)
    for n_words in range(1, 8):
        comment = b' '.join([b'#', b'by', b'us', b'of', b'here', b'50', b'a', b'b'][: n_words + 1])
        for lines, at in ([row, comment, row], 2), ([comment, row, comment], 1):
            with pytest.raises(FormatError) as caught:
                parse(b'\n'.join(lines), layout, by_python)
            assert str(caught.value).startswith(f'file, line {at}: found a comment line ')
            assert (caught.value.expected, caught.value.remedy) == ('rows only', 'delete it')
            lenient = reader.parse_leniently(io.BytesIO(b'\n'.join(lines)), layout, 9, by_python)
            assert lenient.faults.counts == {Cause.FIELDS: 3 - at}


@pytest.mark.parametrize(
    'line',
    [
        *('x', 'x,v', 'x v 1 ann high', 'x v 1 ann 1,000,000', 'x v a,b,c,d', 'x v 0.5 0.9 ann'),
        *('x v 1 ann 2 0.5', 'x v 1 # ann 0.5', 'html', '<<<', '====', 'x v 1 score ann'),
        *('x,v,1,,0.5', 'x v "1 ann', 'x v 1 0.5', '{x', ',' * 5000, 'ann\xa00.5'),
    ],
)
def test_no_cause_is_guessed(line):
    content = f'{line}\n'.encode()
    assert strict_remedy(content) == ''
    (problem,) = validate(io.BytesIO(content), rules='none')
    assert problem.remedy == problem.kind.remedy


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be'])
def test_files_that_are_no_text(encoding):
    content = f'{ROW}\n{ROW}\n'.encode(encoding)
    assert strict_remedy(content) == 'these bytes look like UTF-16: save the file as UTF-8'
    assert strict_remedy(b'a\0b\n') == ''


def archive(kind):
    """Return an archive whose only file has rows and, stored, text between binary lines."""
    content = io.BytesIO()
    if kind == 'zip':
        with zipfile.ZipFile(content, 'w') as archive:
            archive.writestr('run.txt', f'{ROW}\n' * 9)
    else:
        with tarfile.open(fileobj=content, mode=f'w:{kind}') as archive:
            member = tarfile.TarInfo('run.txt')
            member.size = 9 * len(f'{ROW}\n')
            archive.addfile(member, io.BytesIO(f'{ROW}\n'.encode() * 9))
    return content.getvalue()


@pytest.mark.parametrize(
    ('content', 'remedy'),
    [
        (archive('zip'), 'this is a ZIP archive: unpack it by unzip, or save an .xlsx as text'),
        (archive(''), 'this is a tar archive: unpack it by tar -xf'),
        (archive('gz'), 'this is a tar archive: unpack it by tar -xf'),
        (f'<html>\n{ROW}\n<p>\n'.encode(), WEB_PAGE),
        (f'\n\n  <!doctype html><html>{" " * 5000}\n{ROW}\n<p>\n'.encode(), WEB_PAGE),
        (b'<?xml version="1.0"?>\n<!-- saved -->\n<html>\n', WEB_PAGE),
        (b'<!-- saved from url -->\n<html>\n', WEB_PAGE),
    ],
)
def test_files_that_are_no_tables_are_read_no_further(content, remedy):
    (problem,) = validate(io.BytesIO(content), rules='2016')
    assert problem.remedy == remedy
    with pytest.raises(FormatError) as caught:
        read(io.BytesIO(content), HYPOTHESIS)
    assert (caught.value.remedy, caught.value.further) == (remedy, 0)


FIELDS = {
    'corpus_id': 'DW',
    'video_id': 'DW-news/0045aed9',
    'shot_id': '000019',
    'person_name': 'ann_lee',
    'confidence': '0.5',
}


@given(st.permutations(list(FIELDS)))
def test_columns_in_another_order(order):
    rows = [' '.join({**FIELDS, 'shot_id': f'00001{row}'}[name] for name in order) for row in '123']
    lines = '\n'.join([*rows, '']).encode()
    if order[-1] not in ('confidence', 'shot_id'):  # the number is wrong, and its remedy says more
        assert strict_remedy(lines).startswith(f'its columns look like {" ".join(order)}: write')
        return
    problems = [each for each in validate(io.BytesIO(lines)) if str(each.kind) != 'other-file']
    if order[3] == 'person_name':  # names are right, and without a list of shots ids may be any
        assert 'columns' not in {str(problem.kind) for problem in problems}
    else:
        (problem,) = problems
        assert (problem.line, problem.found) == (1, f'columns {" ".join(order)}')


@pytest.mark.parametrize(
    'line', ['x v 1 2 0.5', 'DW DW-1 19 20 0.5', 'ann bob 000019 DW 0.5', 'DW ann 19 high 0.5x']
)
def test_columns_that_look_alike_are_not_told_apart(line):
    assert 'columns' not in {str(each.kind) for each in validate(io.BytesIO(line.encode()))}


def test_the_remedy_of_another_file_is_told_of_its_lines_alone():
    """A reference is read as a run; its second line fits no layout, so no remedy is certain."""
    problems = validate(io.BytesIO(b'x v 1 ann\nx v 2\nx v 3 bob\n'))
    fits = [problem.remedy.startswith('its first row fits') for problem in problems]
    assert fits == [True, False, True]


@pytest.mark.parametrize(
    ('line', 'layout', 'name'),
    [
        (b'x v 1 ann 0.5', REFERENCE, 'hypothesis'),
        (b'x v 1 ann', SUBSET, 'reference'),
        (b'x v 1 0 1.5', REFERENCE, 'shot list'),
        (b'x v 1 17 0.5', HYPOTHESIS, ''),  # a name in digits: the end would be before the start
        (b'ann x v written 0.5', HYPOTHESIS, 'evidence'),
        (b'x v 1 ann 0.5', SHOTS, 'hypothesis'),
        (b'ann v 1 image', HYPOTHESIS_2015, 'evidence'),
        (b'v 1 0 1.5 0 37', HYPOTHESIS_2015, 'shot list'),
        (b'7 0 d1 1', RUN, 'qrels'),
        (b'7 Q0 d1 1 0.5 me', QRELS, 'TREC run'),
        (b'7 Q0 d1 1 0.5 me', HYPOTHESIS, 'TREC run'),
        (b'v 1 0 1.5 0 37', HYPOTHESIS, ''),  # a list of shots has no rank
        (b'v 1 ann 0.5', HYPOTHESIS, '2015 hypothesis'),
        (b'ann lee', QUERIES, ''),
        (b'x v 1 ann 0.5', HYPOTHESIS, ''),
    ],
)
def test_other_files(line, layout, name):
    assert better_layout(line, layout) == name
