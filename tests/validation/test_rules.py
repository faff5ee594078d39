"""Each rule of validation, alone and with others."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import edit_distance
from submissions import EVIDENCE, RUN, SHOTS, found, named

from mediaeval_ap import validate
from mediaeval_ap.validation import rules
from mediaeval_ap.validation.problems import PROBLEM_KINDS

ROOT = Path(__file__).parents[2]


def test_nothing_is_wrong():
    reference = 'x v 1 ann\nx v 2 bob\n'
    evidence = EVIDENCE.replace('0.5', '0')
    assert found(RUN, shots=SHOTS, videos='x v\n', evidence=evidence, reference=reference) == []


def case(problem, run=RUN, **files):
    return problem, run, files


HEADER = 'corpus_id video_id shot_id start_time End_time'
ERRORS = [
    case("field-count hypothesis 1: 4 fields in 'x v 1 ann'", 'x v 1 ann\n'),
    case("field-count hypothesis 2: 6 fields in 'x v 1 ann 0.5 \\t0.6'", '\nx v 1 ann 0.5 \t0.6\n'),
    case(
        'columns hypothesis 2: columns person_name corpus_id video_id shot_id confidence',
        '\nann_lee INA F2_TS/1.mpg 000001 0.5\nbob INA F2_TS/1.mpg 000002 0.4\n',
    ),
    case('joined hypothesis 3: each row 2 times', f'{RUN}{RUN}'),
    case('joined hypothesis 3: each row 3 times', 'x v 1 ann 1\nx v 2 ann 2\n' * 3),
    case("confidence hypothesis 1 confidence: '1_0'", 'é  v 1 ann 1_0\n'),
    case('encoding hypothesis 1: a NUL byte at byte 9', 'x v 1 an\0n 1\n'),
    case("name hypothesis 1 person_name: 'b-b'", 'x v 1 b-b 1\n'),
    case('empty hypothesis 1: only blank lines', ' \n\n'),
    case(f'header shots 2: the header {HEADER!r}', shots=f'\n{HEADER}\n{SHOTS}'),
    *(
        case(f'leading-zeros hypothesis 1 {problem}', run, reference=reference, rules=rules)
        for problem, run, reference, rules in (
            ("shot_id: '1' in 1 row", RUN, 'x v 001 ann\nx v 2 bob\n', '2016'),
            ("shot_id: '001' in 1 row", 'x v 001 ann 1\n', 'x v 1 ann\n', 'none'),
            ("shot_id: 's1' in 1 row", 'v s1 ann 1\n', 'v s01 ann\n', '2015'),
        )
    ),
    case("unknown-shot hypothesis 2 shot_id: '3'", 'x v 1 ann 1\nx v 3 ann 2\n', shots=SHOTS),
    case(
        "unknown-shot hypothesis 2 video_id: 'w' of corpus 'x'",
        'x v 1 ann 1\nx w 1 ann 2\n',
        shots=SHOTS,
    ),
    case("timestamp shots 3 end_time: 'inf'", shots=SHOTS + 'x v 3 3 inf\n'),
    case("timestamp evidence 1 timestamp: 'inf'", evidence=EVIDENCE.replace('0.5', 'inf')),
    case('timestamp evidence 1 timestamp: -0.5', evidence=EVIDENCE.replace('0.5', '-0.5')),
    case("modality evidence 1 modality: 'image'", evidence=EVIDENCE.replace('written', 'image')),
    case(
        "repeated-evidence evidence 3 person_name: 'ann' again, as in line 1",
        evidence=EVIDENCE + 'ann x v written 7\n',
    ),
    case(
        "missing-evidence hypothesis 2 person_name: 'bob' in 1 row",
        evidence='ann x v written 0.5\n',
    ),
    case(
        "unused-evidence evidence 3 person_name: 'cleo' in 1 row",
        evidence=EVIDENCE + 'cleo x v written 0.5\n',
    ),
    *(
        case(
            "unknown-video evidence 2 video_id: 'w' of corpus 'x'",
            evidence=EVIDENCE.replace('bob x v', 'bob x w'),
            **lists,
        )
        for lists in ({'shots': SHOTS}, {'videos': 'x v\n'}, {'shots': SHOTS, 'videos': 'x v\n'})
    ),
]


WARNINGS = [
    case(
        'other-file hypothesis 1: a first row that fits a shot list file',
        'x v 1 0.5 1.5\n',
        rules='none',
    ),
    case(
        "repeated-row hypothesis 3 corpus_id: 'x v 1 ann' again, as in line 1",
        RUN + 'x v 1 ann 0.90\n',
    ),
    case("two-confidences hypothesis 3 confidence: 0.7 for 'x v 1 ann'", RUN + 'x v 1 ann 0.7\n'),
    case(
        "several-names hypothesis 2 person_name: 'bob' after 'ann' of line 1, 3 names in all",
        'x v 1 ann 0.9\nx v 1 bob 0.8\nx v 1 cleo 0.7\n',
    ),
    case(
        "near-names hypothesis 3 person_name: 'anne', one edit from 'ann' of line 1",
        RUN + 'x v 3 anne 0.7\n',
    ),
    case(
        "not-nfc hypothesis 1 person_name: 'zoe\\u0308'",
        RUN.replace('ann', 'zoe\u0308'),
        rules='none',
    ),
    case("upper-case hypothesis 1 person_name: 'Ann'", RUN.replace('ann', 'Ann'), rules='none'),
    case(
        'equal-confidences hypothesis 1 confidence: 1.0 in each of 2 rows',
        'x v 1 ann 1\nx v 2 bob 1.0\n',
    ),
    case(
        'single-precision hypothesis 2 confidence: 0.50000000001, which is 0.5 of line 1 in '
        'single precision',
        'x v 1 ann 0.5\nx v 2 bob 0.50000000001\nx v 3 ann 0.5\n',
    ),
    case(
        "unlisted-video hypothesis 3 video_id: 'w' of corpus 'x' in 1 row",
        RUN + 'x w 1 bob 0.5\n',
        videos='x v\n',
    ),
    case(
        "unreferenced-video hypothesis 3 video_id: 'w' of corpus 'x' in 1 row",
        RUN + 'x w 1 bob 0.5\n',
        reference='x v 1 ann\nx v 1 bob\n',
    ),
    case("unreferenced-name hypothesis 2 person_name: 'bob' in 1 row", reference='x v 1 ann\n'),
]


@pytest.mark.parametrize(
    ('severity', 'problem', 'run', 'files'),
    [('error', *each) for each in ERRORS] + [('warning', *each) for each in WARNINGS],
)
def test_one_problem(severity, problem, run, files):
    (each,) = found(run, **files)
    assert ' '.join(filter(None, map(str, each[:4]))) + f': {each[4]}' == problem
    assert PROBLEM_KINDS[each[0]].severity == severity


@pytest.mark.parametrize(
    ('run', 'files', 'role', 'fits'),
    [
        ('ann x v written 0.5\n', {}, 'hypothesis', 'an evidence'),
        (RUN, {'evidence': RUN}, 'evidence', 'a hypothesis'),
        (RUN, {'shots': EVIDENCE}, 'shots', 'an evidence'),
        (RUN, {'shots': RUN}, 'shots', 'a hypothesis'),
    ],
)
def test_right_rows_of_another_file(run, files, role, fits):
    (problem,) = (each for each in found(run, **files) if each[0] == 'other-file')
    assert problem[1:] == (role, 1, '', f'a first row that fits {fits} file')


@given(
    st.lists(st.sampled_from(['ann', 'bob', 'cy']), min_size=1, max_size=5),
    st.permutations(range(4)),
    st.sampled_from(['reference', 'videos', 'shots', '']),
    st.sampled_from(['2016', 'none']),
)
def test_columns_in_another_order_are_one_problem(names, order, role, campaign):
    """By the ids of another file, whichever two or more columns are exchanged."""
    rows = [('corpus', f'video{n}', f'{n:06}', name) for n, name in enumerate(names)]
    files = {
        'reference': rows,
        'videos': [row[:2] for row in rows],
        'shots': [(*row[:3], '0', '1') for row in rows],
    }
    others = {
        name: ''.join(' '.join(row) + '\n' for row in rows)
        for name, rows in files.items()
        if name == role
    }
    run = ''.join(' '.join([*(row[place] for place in order), '0.5']) + '\n' for row in rows)
    problems = found(run, **others, rules=campaign)
    seen = {'reference': 4, 'videos': 2, 'shots': 3, '': 0}[role]
    is_moved = [place != column for column, place in enumerate(order)]
    by_ids = any(
        is_moved[column] and place < seen for column, place in enumerate(order) if column < seen
    )
    if by_ids:
        ((kind, *_),) = problems
        assert kind == 'columns'
    if not any(is_moved):
        assert 'columns' not in [kind for kind, *_ in problems]


def test_a_file_that_may_be_cut_is_told_of():
    """As where it is scored; a cut within another field is a wrong line."""
    whole = 'x v 1 ann 0.25\nx v 2 bob 0.125\n'
    for end in range(len(whole) - 16, len(whole)):
        kinds = [problem[0] for problem in found(whole[:end])]
        is_row = len(whole[:end].split('\n')[-1].split()) == 5
        assert ('cut-line' in kinds) == is_row, whole[:end]
    assert found(whole) == []


@pytest.mark.parametrize(
    'start', ['PK\x03\x04\x14\0', '<!DOCTYPE html>', 'version https://git-lfs']
)
def test_files_of_other_formats_are_a_kind_of_their_own(start):
    (
        (
            kind,
            *_,
        ),
        *further,
    ) = found(f'{start} more\n{start} {RUN}')
    assert (kind, further) == ('other-format', [])


def test_zeros_of_video_and_shot_are_told_with_the_ids_of_the_reference():
    """Once for each shot; 0.5 and 0.05 are different numbers."""
    run = named(b'x v7 1 ann 1\nx v7 1 bob 2\nx v7 2 ann 3\nx v7 0.5 ann 4\nx v9 9 ann 5\n', 'run')
    reference = named(b'x v8 2 ann\nx v07 01 ann\nx v07 2 ann\nx v07 0.05 ann\n', 'reference')
    problems = [each for each in validate(run, reference=reference) if each.severity == 'error']
    assert [(str(each.kind), each.line, each.field, each.found) for each in problems] == [
        ('leading-zeros', 1, 'video_id', "'v7' in 2 rows"),
        ('leading-zeros', 3, 'video_id', "'v7' in 1 row"),
    ]
    assert [each.expected for each in problems] == [
        f"'v07', as in line {line} of reference: equal but for leading zeros" for line in (2, 3)
    ]


def test_what_lists_hold_is_expected():
    lists = {'videos': b'y v\n', 'evidence': b'ann x v written 1\n'}
    problems = validate(
        named(RUN.encode(), 'run'), **{role: named(text, role) for role, text in lists.items()}
    )
    assert [(str(each.kind), each.expected) for each in problems] == [
        ('unknown-video', 'a video of videos'),
        ('missing-evidence', 'a name of evidence'),
        ('unlisted-video', 'a video of videos'),
    ]


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
        ('name', 'hypothesis', 2, 'person_name', "'b2b'"),
        ('unknown-shot', 'hypothesis', 1, 'shot_id', "'3'"),
        ('unknown-shot', 'evidence', 1, 'video_id', "'w'"),
        ('unknown-shot', 'evidence', 2, 'shot_id', "'3'"),
        ('unknown-video', 'evidence', 1, 'video_id', "'w'"),
        ('modality', 'evidence', 2, 'source', "'written'"),
        ('missing-evidence', 'hypothesis', 2, 'person_name', "'b2b' in 1 row"),
        ('unused-evidence', 'evidence', 2, 'person_name', "'bob' in 1 row"),
    ]


def test_kinds_are_in_the_docs():
    page = (ROOT / 'docs/validation.md').read_text()
    _, *tables = re.split(r'^\| (error|warning) \|', page, flags=re.MULTILINE)
    rows = [
        (kind, severity)
        for severity, table in zip(tables[::2], tables[1::2], strict=True)
        for kind in re.findall(r'^\| `([a-z0-9-]+)` \|', table.split('\n\n')[0], re.MULTILINE)
    ]
    assert rows == [(kind.name, kind.severity) for kind in PROBLEM_KINDS.values()]


@given(st.lists(st.text('abé😀', min_size=1, max_size=5), unique=True, max_size=20))
def test_names_one_edit_apart(names):
    expected = [
        next((at for at in range(place) if edit_distance(names[at], name) == 1), -1)
        for place, name in enumerate(names)
    ]
    assert rules.earlier_neighbours(names).tolist() == expected


def test_names_without_end_are_passed_over(monkeypatch):
    monkeypatch.setattr(rules, 'MOST_NAMES', 2)
    assert rules.earlier_neighbours(['ann', 'anne']).tolist() == [-1, 0]
    assert rules.earlier_neighbours(['ann', 'anne', 'anna']).tolist() == [-1, -1, -1]
