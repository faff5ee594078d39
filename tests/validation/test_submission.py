"""Every problem of a submission: found, counted, placed."""

import dataclasses
import gzip
import io
import json
import os
import pickle
import re
from pathlib import Path

import pandas
import pytest
import slow_validation
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from oracle import edit_distance

from mediaeval_ap import Problem, errors, validate
from mediaeval_ap.cli import main
from mediaeval_ap.report.formats import render
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, lenient_text, lines, read, wrong_lines
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.tables.line_format import Cause, cause_of, count_fields, find_fields
from mediaeval_ap.tables.wrong_lines import CAUSES, RIGHT, causes_of
from mediaeval_ap.validation import examine, near_names
from mediaeval_ap.validation.document import describe
from mediaeval_ap.validation.near_names import earlier_neighbours
from mediaeval_ap.validation.registry import KINDS

ROOT = Path(__file__).parents[2]


def named(content, name):
    stream = io.BytesIO(content)
    stream.name = name
    return stream


def found(run, **files):
    """(kind, line, column, field, found) of each problem of the run, a text."""
    rules = files.pop('rules', '2016')
    streams = {role: named(text.encode(), role) for role, text in files.items()}
    problems = validate(named(run.encode(), 'hypothesis'), rules=rules, **streams)
    return [
        (str(each.kind), each.source, each.line, each.column, each.field, each.found)
        for each in problems
    ]


RUN = 'x v 1 ann 0.9\nx v 2 bob 0.8\n'
SHOTS = 'x v 1 0 1.5\nx v 2 1.5 3\n'
EVIDENCE = 'ann x v written 0.5\nbob x v pronounced 2\n'


def test_nothing_is_wrong():
    assert found(RUN) == []
    reference = 'x v 1 ann\nx v 2 bob\n'
    assert found(RUN, shots=SHOTS, videos='x v\n', evidence=EVIDENCE, reference=reference) == []


ERRORS = [
    ('x v 1 ann\n', {}, ('field-count', 'hypothesis', 1, 10, '', "4 fields in 'x v 1 ann'")),
    (
        '\nx v 1 ann 0.5 \t0.6\n',
        {},
        ('field-count', 'hypothesis', 2, 16, '', "6 fields in 'x v 1 ann 0.5 \\t0.6'"),
    ),
    ('x v 1 ann nan\n', {}, ('confidence', 'hypothesis', 1, 11, 'confidence', "'nan'")),
    ('é  v 1 ann 1_0\n', {}, ('confidence', 'hypothesis', 1, 12, 'confidence', "'1_0'")),
    ('x v 1 an\0n 1\n', {}, ('encoding', 'hypothesis', 1, 9, '', 'a NUL byte at byte 9')),
    ('x v 1 b-b 1\n', {}, ('name', 'hypothesis', 1, 7, 'person_name', "'b-b'")),
    (' \n\n', {}, ('empty', 'hypothesis', 1, 1, '', 'no rows')),
    (
        'x v 1 ann 1\nx v 3 ann 2\n',
        {'shots': SHOTS},
        ('unknown-shot', 'hypothesis', 2, 5, 'shot_id', "'3'"),
    ),
    (
        'x v 1 ann 1\nx w 1 ann 2\n',
        {'shots': SHOTS},
        ('unknown-shot', 'hypothesis', 2, 3, 'video_id', "'w' of corpus 'x'"),
    ),
    (
        RUN,
        {'shots': SHOTS + 'x v 3 3 inf\n'},
        ('timestamp', 'shots', 3, 9, 'end_time', "'inf'"),
    ),
    (
        RUN,
        {'evidence': EVIDENCE.replace('0.5', 'inf')},
        ('timestamp', 'evidence', 1, 17, 'timestamp', "'inf'"),
    ),
    (
        RUN,
        {'evidence': EVIDENCE.replace('0.5', '-0.5')},
        ('timestamp', 'evidence', 1, 17, 'timestamp', '-0.5'),
    ),
    (
        RUN,
        {'evidence': EVIDENCE.replace('written', 'image')},
        ('modality', 'evidence', 1, 9, 'modality', "'image'"),
    ),
    (
        RUN,
        {'evidence': EVIDENCE + 'ann x v written 7\n'},
        ('repeated-evidence', 'evidence', 3, 1, 'person_name', "'ann' again, as in line 1"),
    ),
    (
        RUN,
        {'evidence': 'ann x v written 0.5\n'},
        ('missing-evidence', 'hypothesis', 2, 7, 'person_name', "'bob' in 1 row"),
    ),
    (
        RUN,
        {'evidence': EVIDENCE + 'cleo x v written 0.5\n'},
        ('unused-evidence', 'evidence', 3, 1, 'person_name', "'cleo' in 1 row"),
    ),
    *(
        (
            RUN,
            {'evidence': EVIDENCE.replace('bob x v', 'bob x w'), **lists},
            ('unknown-video', 'evidence', 2, 7, 'video_id', "'w' of corpus 'x'"),
        )
        for lists in ({'shots': SHOTS}, {'videos': 'x v\n'}, {'shots': SHOTS, 'videos': 'x v\n'})
    ),
]


@pytest.mark.parametrize(('run', 'files', 'problem'), ERRORS)
def test_one_error(run, files, problem):
    assert found(run, **files) == [problem]
    assert KINDS[problem[0]].severity == 'error'


WARNINGS = [
    (
        RUN + 'x v 1 ann 0.90\n',
        {},
        ('repeated-row', 'hypothesis', 3, 1, 'corpus_id', "'x v 1 ann' again, as in line 1"),
    ),
    (
        RUN + 'x v 1 ann 0.7\n',
        {},
        ('two-confidences', 'hypothesis', 3, 11, 'confidence', "0.7 for 'x v 1 ann'"),
    ),
    (
        'x v 1 ann 0.9\nx v 1 bob 0.8\nx v 1 cleo 0.7\n',
        {},
        (
            *('several-names', 'hypothesis', 2, 7, 'person_name'),
            "'bob' after 'ann' of line 1, 3 names in all",
        ),
    ),
    (
        RUN + 'x v 3 anne 0.7\n',
        {},
        (
            *('near-names', 'hypothesis', 3, 7, 'person_name'),
            "'anne', one edit from 'ann' of line 1",
        ),
    ),
    (
        RUN.replace('ann', 'zoe\u0308'),
        {'rules': 'none'},
        ('not-nfc', 'hypothesis', 1, 7, 'person_name', "'zoe\\u0308'"),
    ),
    (
        RUN.replace('ann', 'Ann'),
        {'rules': 'none'},
        ('upper-case', 'hypothesis', 1, 7, 'person_name', "'Ann'"),
    ),
    (
        'x v 1 ann 1\nx v 2 bob 1.0\n',
        {},
        ('equal-confidences', 'hypothesis', 1, 11, 'confidence', '1.0 in each of 2 rows'),
    ),
    (
        'x v 1 ann 0.5\nx v 2 bob 0.50000000001\nx v 3 ann 0.5\n',
        {},
        (
            *('single-precision', 'hypothesis', 2, 11, 'confidence'),
            '0.50000000001, which is 0.5 of line 1 in single precision',
        ),
    ),
    (
        RUN + 'x w 1 bob 0.5\n',
        {'videos': 'x v\n'},
        ('unlisted-video', 'hypothesis', 3, 3, 'video_id', "'w' of corpus 'x' in 1 row"),
    ),
    (
        RUN + 'x w 1 bob 0.5\n',
        {'reference': 'x v 1 ann\nx v 1 bob\n'},
        ('unreferenced-video', 'hypothesis', 3, 3, 'video_id', "'w' of corpus 'x' in 1 row"),
    ),
    (
        RUN,
        {'reference': 'x v 1 ann\n'},
        ('unreferenced-name', 'hypothesis', 2, 7, 'person_name', "'bob' in 1 row"),
    ),
]


@pytest.mark.parametrize(('run', 'files', 'problem'), WARNINGS)
def test_one_warning(run, files, problem):
    assert found(run, **files) == [problem]
    assert KINDS[problem[0]].severity == 'warning'


def test_every_kind_is_tested_alone():
    tested = {problem[0] for _, _, problem in ERRORS + WARNINGS}
    assert tested | {'long-line'} == set(KINDS)


def test_overflow_and_underflow_tie_in_single_precision():
    run = 'x v 1 ann 1e300\nx v 2 bob 1e301\nx v 3 ann 1e-60\nx v 4 bob 2e-60\nx v 5 ann -0\n'
    places = [each[2] for each in found(run) if each[0] == 'single-precision']
    assert places == [2, 4, 5]


def test_wrong_lines_do_not_hide_what_else_is_wrong_in_them():
    problems = found('x v 9 Ann high\n', shots=SHOTS)
    assert [each[0] for each in problems] == ['confidence', 'name', 'unknown-shot', 'upper-case']


def test_rules_none_looks_at_format_alone():
    evidence = 'ann x w image -1\nann x w image nan\n'
    shots = f'{SHOTS}x v 8 -1 end\n'
    problems = found('x v 9 An-n 1\n', shots=shots, evidence=evidence, rules='none')
    last = shots.count('\n')
    assert [each[:3] for each in problems] == [
        ('timestamp', 'shots', last),
        ('timestamp', 'shots', last),
        ('timestamp', 'evidence', 1),
        ('timestamp', 'evidence', 2),
        ('upper-case', 'hypothesis', 1),
    ]


def test_rules_of_2015():
    shots = 'v 1 0 1.5 0 37\nv 2 1.5 3 38 75\n'
    evidence = 'ann v 1 image\nbob v 2 both\n'
    files = {'shots': shots, 'evidence': evidence, 'videos': 'v\n', 'rules': '2015'}
    assert found('v 1 ann 0.5\nv 2 bob 0.4\n', **files) == []
    files['evidence'] = 'ann w 1 image\nbob v 3 written\n'
    assert found('v 3 ann 0.5\nv 2 b2b 0.4\n', **files) == [
        ('name', 'hypothesis', 2, 5, 'person_name', "'b2b'"),
        ('unknown-shot', 'hypothesis', 1, 3, 'shot_id', "'3'"),
        ('unknown-shot', 'evidence', 1, 5, 'video_id', "'w'"),
        ('unknown-shot', 'evidence', 2, 7, 'shot_id', "'3'"),
        ('unknown-video', 'evidence', 1, 5, 'video_id', "'w'"),
        ('modality', 'evidence', 2, 9, 'source', "'written'"),
        ('missing-evidence', 'hypothesis', 2, 5, 'person_name', "'b2b' in 1 row"),
        ('unused-evidence', 'evidence', 2, 1, 'person_name', "'bob' in 1 row"),
    ]


# Against the slow validator.

texts = st.sampled_from(['x', 'v', '1', 'w', 'ann', 'anne', 'bob', 'Bob', 'zoé', 'zoe\u0308'])
numbers = st.sampled_from(['0.5', '1', '-0', '0', '0.50000000001', '-2', 'nan', '1e400', '1e39'])
spaces = st.sampled_from([' '] * 8 + ['  ', '\t', ' \t'])
ends = st.sampled_from([b'\n'] * 6 + [b'\r\n', b'  \n', b'\n\n'])
dirt = st.sampled_from([b''] * 12 + [b' ', b'\xe9', b'\0', b'\r', b' more', b'\xef\xbb\xbf'])


@st.composite
def contents(draw, fields, n_lines):
    """Lines of some fields, a few of them wrong in every way."""
    content = draw(st.sampled_from([b'', b'', b'\xef\xbb\xbf']))
    for _ in range(draw(st.integers(0, n_lines))):
        values = [draw(field) for field in fields]
        line = values[0] + ''.join(draw(spaces) + value for value in values[1:])
        before, after = (b'', draw(dirt)) if draw(st.booleans()) else (draw(dirt), b'')
        content += before + line.encode() + after + draw(ends)
    return content


corpora, videos, shots = (st.sampled_from(values) for values in ('xy', 'vw', '12'))
names = st.sampled_from(['ann', 'anne', 'bob', 'Bob', 'bobo', 'zoé', 'zoe\u0308', 'a_b'])
modality = st.sampled_from(['written', 'pronounced', 'image'])
submissions = st.fixed_dictionaries(
    {'hypothesis': contents((corpora, videos, shots, names, numbers), 8)},
    optional={
        'shots': contents((corpora, videos, shots, numbers, numbers), 3),
        'videos': contents((corpora, videos), 2),
        'evidence': contents((names, corpora, videos, modality, numbers), 4),
        'reference': contents((corpora, videos, shots, names), 3),
    },
)


def as_slow(submission, rules):
    submission = {role: submission[role] for role in slow_validation.FIELDS if role in submission}
    streams = {role: named(content, role) for role, content in submission.items()}
    problems = validate(streams.pop('hypothesis'), rules=rules, **streams)
    order = [
        (list(KINDS.values()).index(each.kind), list(submission).index(each.source), each.line)
        for each in problems
    ]
    assert order == sorted(order)
    return sorted((each.kind.name, each.source, each.line, each.column) for each in problems)


@given(submissions, st.sampled_from(['2016', 'none']))
def test_as_the_slow_validator(submission, rules):
    expected = slow_validation.problems(submission, judges=rules == '2016')
    assert as_slow(submission, rules) == expected


@given(submissions)
def test_in_blocks_as_at_once(submission):
    """Tiny blocks, so that a few lines take every path of the reading."""
    expected = as_slow(submission, '2016')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, 'BLOCK_BYTES', 30)
        patch.setattr(lenient_text, 'STRICT_BLOCKS', 1)
        patch.setattr(lenient_text, 'BLOCKS_AT_ONCE', 3)
        patch.setattr(lenient_text, 'PROVED_LINES', 2)
        assert as_slow(submission, '2016') == expected


@given(st.lists(st.text('abé😀', min_size=1, max_size=5), unique=True, max_size=20))
def test_names_one_edit_apart(names):
    expected = [
        next((at for at in range(place) if edit_distance(names[at], name) == 1), -1)
        for place, name in enumerate(names)
    ]
    assert earlier_neighbours(names).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_names, 'CHARACTERS_AT_ONCE', 4)
        assert earlier_neighbours(names).tolist() == expected
        patch.setattr(near_names, '_mix', lambda values: values & near_names.np.uint64(1))
        assert earlier_neighbours(names).tolist() == expected


@given(contents((corpora, videos, shots, names, numbers), 8))
def test_rows_are_those_of_the_strict_parser(content):
    """Where all lines are right, the lenient table is the strict one; else as many are wrong."""
    lenient_table = read_leniently(io.BytesIO(content), HYPOTHESIS)
    if not lenient_table.wrong and len(lenient_table.table):
        strict = read(io.BytesIO(content), HYPOTHESIS)
        assert list(lenient_table.table.rows()) == list(strict.rows())
        return
    with pytest.raises(errors.FormatError) as raised:
        read(io.BytesIO(content), HYPOTHESIS)
    assert raised.value.further == max(len(lenient_table.wrong) - 1, 0)


dirty = st.sampled_from(
    [
        b' ',
        b'\t',
        b'\v',
        b'\f',
        b'\r',
        b'\0',
        b'\xff',
        b'\xc3',
        b'\xc3\xa9',
        b'\xed\xa0\x80',
        b'\xf0\x9f',
    ]
)
some_lines = st.lists(
    st.lists(
        st.sampled_from([b'x', b'v', b'1', b'-', b' ', b' ', b'nan']) | dirty, max_size=12
    ).map(b''.join)
)


@given(some_lines, st.sampled_from([HYPOTHESIS, SUBSET]))
def test_causes_of_many_lines_are_those_of_each(lines, layout):
    """The slow way is the specification; so it is for a line that is long, and goes that way."""
    each = [cause_of(line, layout) for line in lines]
    many = [None if cause == RIGHT else CAUSES[cause] for cause in causes_of(lines, layout)]
    assert many == each
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrong_lines, 'LONG', 3)
        assert causes_of(lines, layout).tolist() == [
            RIGHT if cause is None else CAUSES.index(cause) for cause in each
        ]


@given(
    st.lists(st.sampled_from([b'a', b'\xc3\xa9e', b' ', b'\t', b'  ']), max_size=9).map(b''.join)
)
def test_fields_of_a_line_are_counted_as_they_are_found(line):
    assert count_fields(line) == len(find_fields(line))


def test_wrong_lines_are_a_sequence():
    wrong = read_leniently(io.BytesIO(b'x\nx v\n\xff\n'), SUBSET).wrong
    assert [each.line for each in wrong] == [1, 3]
    assert wrong[-1] == list(wrong)[1] == wrong[1:][0]
    with pytest.raises(IndexError):
        wrong[2]


# How many problems are kept.

MANY = 'x v 1 a2 high\n' * 7 + 'x\n' * 5 + 'x v 2 ann 1\n'


def test_problems_are_counted_on_and_kept_up_to_a_limit():
    run, evidence = named(MANY.encode(), 'run'), named(b'a x v image -1\n' * 9, 'evidence')
    everything = examine(run, evidence=evidence)
    assert everything.left_out == {}
    run.seek(0), evidence.seek(0)
    limited = examine(run, evidence=evidence, max_problems=4)
    assert limited.counts == everything.counts
    assert limited.count('error') == everything.count('error')
    assert limited.problems() == everything.problems(most=4)
    assert limited.problems(most=2) == everything.problems(most=2)
    counted = {str(kind): count for kind, count in limited.left_out.items()}
    assert counted['field-count'] == 1
    assert counted['confidence'] == counted['name'] == 3
    assert counted['timestamp'] == 5
    assert 'repeated-row' not in counted


def test_a_list_that_is_cut_says_so(folder):
    Path('bad.txt').write_text(MANY)
    message = 'max_problems=4 are not listed: 1 field-count, 3 confidence, 3 name'
    with pytest.warns(errors.UnlistedProblemsWarning, match=message):
        assert len(validate('bad.txt', max_problems=4)) == 12
    done = run('bad.txt', '--max-problems', '4', '--all')
    assert (done.exit_code, done.stderr) == (1, '')
    assert done.stdout.count('\n  bad.txt, line ') == 12
    assert '\nerror confidence: 7\n' in done.stdout
    assert '\n  … and 3 more, 3 of them beyond --max-problems 4\n' in done.stdout
    document = json.loads(run('bad.txt', '--max-problems', '4', '--format', 'json').stdout)
    assert (document['max_problems'], len(document['problems'])) == (4, 12)
    assert document['left_out'] == {'field-count': 1, 'confidence': 3, 'name': 3}
    assert document['counts']['field-count'] == 5
    assert document['errors'] == 19


@pytest.mark.parametrize('wrong', [0, -1, True, 1.5, '5', None])
def test_what_is_no_limit_of_problems(wrong):
    with pytest.raises(
        errors.ParameterError, match=r'^max_problems: found .*, expected a positive'
    ):
        validate([('x', 'v', '1', 'ann', 0.5)], max_problems=wrong)


def test_lines_that_are_not_kept_are_not_held():
    """Of each cause the first are, and of a long line what is wrong with it."""
    content = b'x\n\xff\n' * 1000 + b'x v w ' + b'y' * 5000 + b'\n'
    wrong = read_leniently(io.BytesIO(content), SUBSET, max_problems=3).wrong
    assert [each.line for each in wrong] == [1, 2, 3, 4, 5, 6]
    assert sum(map(wrong.n_of, Cause)) == 2001
    assert (wrong.n_of(Cause.FIELDS), wrong.n_of(Cause.BYTES)) == (1001, 1000)
    whole = read_leniently(io.BytesIO(content), SUBSET).wrong
    assert len(pickle.dumps(whole[-1])) < wrong_lines.LONG_LINE / 4
    assert whole[-1].wrong.found.startswith("4 fields in 'x v w yyy")
    assert whole[-1].column == 5


def test_findings_can_be_pickled(folder):
    Path('bad.txt').write_text(MANY)
    findings = examine('bad.txt', max_problems=4)
    Path('bad.txt').unlink()
    again = pickle.loads(pickle.dumps(findings))
    assert again.problems() == findings.problems()
    assert again.problems(most=1) == findings.problems(most=1)
    assert (again.counts, again.left_out) == (findings.counts, findings.left_out)
    assert again.inputs == findings.inputs
    for most, format in ((20, 'text'), (None, 'json')):
        assert render(describe(again, most), format) == render(describe(findings, most), format)
    (empty,) = pickle.loads(pickle.dumps(examine(io.BytesIO(b'\n')))).problems()
    assert str(empty.kind) == 'empty'


# Where files come from.


def test_a_line_without_end_is_passed_over(monkeypatch):
    monkeypatch.setattr(lines, 'MAX_LINE_BYTES', 1 << 20)
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 1 << 18)
    endless = 'x' * (3 << 20)
    (problem,) = found(f'x v 1 ann 1\n{endless}\nx v 2 bob 2\n')
    assert problem[:4] == ('long-line', 'hypothesis', 2, 1)
    assert [each[:3] for each in found(f'x v 1 ann 1\n{endless}\nx v 2 bob\n')] == [
        ('long-line', 'hypothesis', 2),
        ('field-count', 'hypothesis', 3),
    ]
    assert [each[:3] for each in found(f'x v 1 ann 1\n{endless}')] == [
        ('long-line', 'hypothesis', 2)
    ]


def test_large_files_are_read_in_bulk(monkeypatch):
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 1 << 12)
    rows = [f'x v {shot} name_{"ab"[shot % 2] * 3} {shot}\n' for shot in range(5000)]
    assert [each[0] for each in found(''.join(rows)) if each[0] != 'near-names'] == []
    rows[4000] = 'x v\n'
    rows[4500] = '\n  x v 4500 name_aaa high\n'
    assert [each[:4] for each in found(''.join(rows))] == [
        ('field-count', 'hypothesis', 4001, 4),
        ('confidence', 'hypothesis', 4502, 21),
    ]


def test_tables_of_values_have_rows_and_no_columns(tmp_path):
    rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'b2', 0.25)]
    frame = pandas.DataFrame(rows, columns=HYPOTHESIS.fields)
    path = str(tmp_path / 'run.parquet')
    frame.to_parquet(path)
    for table, source in ((rows, '<rows>'), (frame, '<DataFrame>'), (path, path)):
        (problem,) = validate(table)
        assert problem == Problem(
            *(KINDS['name'], 'error', source, 2, None, 'person_name', "'b2'"),
            *('a name of a-z and _ only', KINDS['name'].mend),
        )
    with pytest.raises(errors.FormatError):
        validate([('x', 'v', '1', 'ann', float('nan'))])


def test_unknown_rules():
    with pytest.raises(errors.ParameterError, match="rules: found '2017', expected one of 2015"):
        validate([('x', 'v', '1', 'ann', 0.5)], rules='2017')


# The command and what it prints.


def run(*arguments, input=None):
    return CliRunner().invoke(main, ['validate', *arguments], input=input, catch_exceptions=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'shots.txt').write_text(SHOTS)
    (tmp_path / 'evidence.txt').write_text(EVIDENCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_command(folder):
    result = run('run.txt', '--shots', 'shots.txt', '--evidence', 'evidence.txt')
    assert (result.exit_code, result.stderr) == (0, '')
    assert result.stdout == 'run.txt: rules 2016, 2 rows\n\n0 errors, 0 warnings\n'


def test_exit_code_is_1_for_errors_alone(folder):
    assert run('-', input='x v 1 ann 1\nx v 2 anne 1\n').exit_code == 0
    assert run('-', input='x v 1 ann 1\nx v 2 bob\n').exit_code == 1
    assert run('run.txt', '--rules', '2015').exit_code == 1
    assert run('run.txt', '--rules', '2014').exit_code == 2
    assert run('-', '--shots', '-').exit_code == 2


def test_the_first_20_of_each_kind(folder):
    Path('bad.txt').write_text('x v 1 a2 high\n' * 25)
    result = run('bad.txt')
    assert result.exit_code == 1
    blocks = result.stdout.split('\n\n')
    assert [block.splitlines()[0] for block in blocks] == [
        'bad.txt: rules 2016, 25 rows',
        'error confidence: 25',
        'error name: 25',
        '50 errors, 0 warnings',
    ]
    assert [len(block.splitlines()) for block in blocks] == [1, 22, 22, 1]
    assert blocks[1].splitlines()[1] == (
        "  bad.txt, line 1, column 10, confidence: found 'high', expected a finite decimal number; "
        'write a finite decimal number'
    )
    assert blocks[2].splitlines()[-1] == '  … and 5 more'
    everything = run('bad.txt', '--all').stdout
    assert everything.count('bad.txt, line ') == 50
    assert '… and' not in everything


@pytest.mark.parametrize('compress', [gzip.compress, None])
def test_compressed_files_and_standard_input(folder, compress):
    content = b'x v 1 ann 1\nx v 2 b2 2\n'
    if compress:
        Path('run.gz').write_bytes(compress(content))
        result = run('run.gz')
        name = 'run.gz'
    else:
        result, name = run('-', input=content), '<stdin>'
    assert f'  {name}, line 2, column 7, person_name: found ' in result.stdout


def test_a_file_that_cannot_be_read_is_one_line(folder):
    result = run('missing.txt')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == 'Error: missing.txt: No such file or directory\n'
    Path('cut.gz').write_bytes(gzip.compress(RUN.encode())[:-12])
    result = run('run.txt', '--evidence', 'cut.gz')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: cut.gz: not readable as .gz: Compressed')
    assert result.stderr.count('\n') == 1


def test_nothing_printed_is_obeyed_by_a_terminal(folder):
    Path('red\x1b[31m.txt').write_text('x v 1 a\x1b[31mn 1\nx \x9bv 2 Bob\x07 hi\x1bgh\n')
    Path('list\x1b.txt').write_text('x w 1 0 1\n')
    result = run('red\x1b[31m.txt', '--shots', 'list\x1b.txt')
    assert result.exit_code == 1
    assert result.stdout.replace('\n', '').isprintable()
    Path('\x9b31m').write_text('x v 1 \x9b31m hi\x7fgh\n')
    result = run('\x9b31m', '--format', 'json')
    assert result.stdout.replace('\n', '').isprintable()
    assert json.loads(result.stdout)['problems'][0]['source'] == '\x9b31m'


def test_json(folder):
    Path('bad.txt').write_text('x v 1 a2 high\n' * 21)
    result = run('bad.txt', '--shots', 'shots.txt', '--format', 'json')
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    problems = document.pop('problems')
    assert [problem['kind'] for problem in problems] == ['confidence'] * 20 + ['name'] * 20
    everything = json.loads(run('bad.txt', '--format', 'json', '--all').stdout)['problems']
    assert everything == [
        {**dataclasses.asdict(each), 'kind': str(each.kind)} for each in validate('bad.txt')
    ]
    assert {role: each['rows'] for role, each in document.pop('inputs').items()} == {
        'hypothesis': 21,
        'shots': 2,
    }
    del document['version']
    counts = {'confidence': 21, 'name': 21}
    limits = {'max_problems': 20_000, 'left_out': {}}
    assert document == {'rules': '2016', 'errors': 42, 'warnings': 0, 'counts': counts, **limits}


def test_json_is_as_its_schema_says(folder):
    """The schema in the docs names every key, and the type and the choices of each."""
    page = (ROOT / 'docs/validation.md').read_text()
    schema = json.loads(re.search(r'```json\n(.*?)```', page, re.DOTALL).group(1))
    Path('bad.txt').write_text('x v 1 a2 high\nx v\n')
    document = json.loads(run('bad.txt', '--shots', 'shots.txt', '--format', 'json').stdout)
    rows = render(describe(examine([('x', 'v', '1', 'A', 0.5)])), 'json')
    for each in document, json.loads(rows):
        conforms(each, schema)
    assert schema['properties']['problems']['items']['properties']['kind']['enum'] == [
        kind.name for kind in KINDS.values()
    ]


TYPES = {'object': dict, 'array': list, 'string': str, 'integer': int, 'null': type(None)}


def conforms(value, schema):
    types = schema.get('type', list(TYPES))
    assert type(value) in [TYPES[each] for each in ([types] if isinstance(types, str) else types)]
    assert value in schema.get('enum', [value])
    if isinstance(value, list):
        for each in value:
            conforms(each, schema['items'])
    if isinstance(value, dict):
        known = schema.get('properties', {})
        assert set(schema.get('required', [])) <= set(value)
        for key, each in value.items():
            conforms(each, known[key] if key in known else schema['additionalProperties'])


def test_kinds_are_in_the_docs():
    page = (ROOT / 'docs/validation.md').read_text()
    row = r'^\| `([a-z0-9-]+)` \| (error|warning) \| .+ \| (.*) \|$'
    rows = re.findall(row, page, re.MULTILINE)
    assert rows == [(kind.name, kind.severity, kind.mend) for kind in KINDS.values()]


# Official data.


@pytest.mark.parametrize('name', ['eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary'])
def test_official_submissions_have_no_errors(official_data, name):
    folder = official_data / '2016'
    findings = examine(
        folder / f'submissions/{name}.txt',
        videos=folder / 'reference/test.eval',
        reference=folder / 'reference/reference.2016-10-16.txt',
    )
    assert findings.count('error') == 0
    counts = {str(kind): count for kind, count in findings.counts.items()}
    assert counts['unlisted-video'] > 0
    assert ('equal-confidences' in counts) == (name == 'tokyotech_primary')


def test_the_official_baseline_of_2015_has_no_errors(official_data):
    folder = official_data / '2015'
    findings = examine(
        folder / 'baseline.label',
        shots=folder / '2015.shot',
        evidence=folder / 'baseline.evidence',
        reference=folder / '2015.ref',
        rules='2015',
    )
    assert findings.count('error') == 0
    assert findings.rows == {
        role: (folder / name).read_bytes().count(b'\n')
        for role, name in (
            ('hypothesis', 'baseline.label'),
            ('shots', '2015.shot'),
            ('evidence', 'baseline.evidence'),
            ('reference', '2015.ref'),
        )
    }


def test_official_files_under_other_rules(official_data):
    """Each line has a field less than the rules ask for."""
    path = official_data / '2015/baseline.label'
    findings = examine(path)
    n_lines = path.read_bytes().count(b'\n')
    assert {str(kind): count for kind, count in findings.counts.items()} == {'field-count': n_lines}
    assert os.fspath(path) == findings.problems(most=1)[0].source
