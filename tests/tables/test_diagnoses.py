"""Likely causes of wrong lines, as both readers tell them."""

import io

import pytest

from mediaeval_ap import validate
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, read
from mediaeval_ap.tables.layouts import (
    EVIDENCE,
    EVIDENCE_2015,
    HYPOTHESIS_2015,
    QRELS,
    RUN,
    SHOTS,
    SHOTS_2015,
)
from mediaeval_ap.tables.text.format import other_file

ROW = 'x v 1 ann_lee 0.5'
SPACES = 'write spaces or tabs instead'


def strict_remedy(content, layout=HYPOTHESIS):
    with pytest.raises(FormatError) as caught:
        read(io.BytesIO(content), layout)
    return caught.value.expected.partition('; ')[2]


@pytest.mark.parametrize(
    ('line', 'remedy'),
    [
        (ROW.replace(' ', ','), f'commas separate its fields: {SPACES}'),
        (ROW.replace(' ', ';'), f'semicolons separate its fields: {SPACES}'),
        (ROW.replace(' ', '|'), f'vertical bars separate its fields: {SPACES}'),
        (
            'x;v;1;ann lee;0,5',
            f'semicolons separate its fields: {SPACES}, write _ for each space within a field, '
            'write a decimal point, not a comma',
        ),
        (
            '"x","v","1","ann_lee","0.5"',
            f'commas separate its fields: {SPACES}, write them without quotes',
        ),
        (
            'corpus_id,video_id,shot_id,person_name,confidence',
            f'commas separate its fields: {SPACES}, remove this header',
        ),
        (
            'x\tv\t1\tann lee\t0.5',
            'tabs separate its fields: write _ for each space within a field',
        ),
        ('video_id shot_id person_name confidence', 'remove this header'),
        ('x v 1 ann_lee 0,5', 'write a decimal point, not a comma'),
        ('x v 1 ann_lee -1,5e-3', 'write a decimal point, not a comma'),
        ('"x" "v" "1" "ann_lee" "0.5"', 'write the fields without quotes'),
        ('x v 1 ann_lee', 'its first row fits a reference file: are two files exchanged?'),
        ('x v', 'its first row fits a subset file: are two files exchanged?'),
    ],
)
def test_causes(line, remedy):
    content = f'{line}\n{ROW}\n'.encode()
    assert strict_remedy(content) == remedy
    assert validate(io.BytesIO(content), rules='none')[0].remedy == remedy


@pytest.mark.parametrize(
    'line',
    [
        'x',
        'x,v',
        'x v 1 ann lee 0.5',
        'x v 1 ann high',
        'x v 1 ann 1,000,000',
        'x v a,b,c,d',
        'x,v,1,,0.5',
        'x v "1 ann',
        'x v 1 0.5',
        '{"x": "v"}',
        ',' * 5000,
        'ann\xa00.5',
    ],
)
def test_no_cause_is_guessed(line):
    content = f'{line}\n'.encode()
    assert strict_remedy(content) == ''
    (problem,) = validate(io.BytesIO(content), rules='none')
    assert problem.remedy == problem.kind.remedy


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be'])
def test_utf_16(encoding):
    content = f'{ROW}\n{ROW}\n'.encode(encoding)
    remedy = 'these are bytes as in UTF-16: save the file as UTF-8'
    assert strict_remedy(content) == remedy
    assert validate(io.BytesIO(content))[0].remedy == remedy


def test_a_spreadsheet():
    remedy = 'these bytes begin a ZIP archive, as .xlsx is: save the table as text'
    assert strict_remedy(b'PK\x03\x04\x14\0\x06\0\n') == remedy


def test_the_remedy_of_another_file_is_told_of_its_lines_alone():
    """Of a reference with a line that no file has, in place of a run."""
    problems = validate(io.BytesIO(b'x v 1 ann\nx v 2\nx v 3 bob\n'))
    fits = [problem.remedy.startswith('its first row fits') for problem in problems]
    assert fits == [True, False, True]


def test_a_line_that_only_lacks_a_field_is_no_other_file():
    problems = validate(io.BytesIO(f'{ROW}\nx v 1 ann\n'.encode()), rules='none')
    (problem,) = (each for each in problems if each.line == 2)
    assert problem.remedy == problem.kind.remedy


@pytest.mark.parametrize(
    ('line', 'layout', 'name'),
    [
        (b'x v 1 ann 0.5', REFERENCE, 'hypothesis'),
        (b'x v 1 ann', SUBSET, 'reference'),
        (b'x v 1 0 1.5', REFERENCE, 'shot list'),
        (b'x v 1 0 1.5', HYPOTHESIS, 'shot list'),
        (b'x v 1 17 0.5', HYPOTHESIS, ''),  # a name in digits: the end would be before the start
        (b'x v 1 0 1.5', EVIDENCE, 'shot list'),
        (b'ann x v written 0.5', HYPOTHESIS, 'evidence'),
        (b'ann x v written 0.5', SHOTS, 'evidence'),
        (b'x v 1 ann 0.5', SHOTS, 'hypothesis'),
        (b'ann v 1 image', HYPOTHESIS_2015, 'evidence'),
        (b'v 1 ann 0.5', EVIDENCE_2015, 'hypothesis'),
        (b'v 1 0 1.5 0 37', HYPOTHESIS_2015, 'shot list'),
        (b'v 1 ann', SHOTS_2015, 'reference'),
        (b'7 0 d1 1', RUN, 'qrels'),
        (b'7 Q0 d1 1 0.5 me', QRELS, 'TREC run'),
        (b'ann lee', QUERIES, ''),
        (b'x v 1 ann 0.5', HYPOTHESIS, ''),
    ],
)
def test_other_files(line, layout, name):
    assert other_file(line, layout) == name
