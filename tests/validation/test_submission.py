"""Every problem of a submission: found, counted, placed."""

import pandas
import pytest
import submissions
from hypothesis import given
from submissions import found, named

from mediaeval_ap import Problem, errors, validate
from mediaeval_ap.tables import HYPOTHESIS, reading
from mediaeval_ap.tables.text import line_rules, reader
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import PROBLEM_KINDS


def problems_of(submission):
    streams = {role: named(content, role) for role, content in submission.items()}
    return validate(streams.pop('hypothesis'), **streams)


@given(submissions.whole)
def test_in_blocks_as_at_once(submission):
    """Tiny blocks, so that a few lines take every path of the reading."""
    expected = problems_of(submission)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_rules, 'BLOCK_BYTES', 30)
        patch.setattr(reader, 'PROVED_BYTES', 20)
        patch.setattr(reading, 'BULK_BYTES', 45)
        assert problems_of(submission) == expected


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


# Where files come from.


def test_rows_under_a_header_are_those_of_lines():
    """Commas separate fields of CSV for all other commands, too."""
    lines = 'x v 1 ann 0.5\nx v 1 ann 0.5\nx v 2 Bob 0.5\n'
    fields = ','.join(HYPOTHESIS.fields)
    rows = named(f'{fields}\n{lines.replace(" ", ",")}'.encode(), 'run')
    expected = [(each.kind, each.line + 1) for each in validate(named(lines.encode(), ''))]
    assert [(each.kind, each.line) for each in validate(rows)] == expected != []
    with pytest.raises(errors.FormatError, match=r'^run, line 2, confidence: found '):
        validate(named(f'{fields}\nx,v,1,ann,high\n'.encode(), 'run'))


def test_nothing_is_read_after_a_line_without_end(monkeypatch):
    monkeypatch.setattr(line_rules, 'MAX_LINE_BYTES', 1 << 20)
    monkeypatch.setattr(line_rules, 'BLOCK_BYTES', 1 << 18)
    endless = 'x' * (3 << 20)
    for rest in f'{endless}\nx v 2 bob 2\n', f'{endless}\nx v 2 bob\n', endless:
        problems = found(f'x v 1 ann 1\n{rest}')
        assert [each[:3] for each in problems] == [('long-line', 'hypothesis', 2)]


def test_tables_of_values_have_rows(tmp_path):
    rows = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'b2', 0.25)]
    frame = pandas.DataFrame(rows, columns=HYPOTHESIS.fields)
    path = str(tmp_path / 'run.parquet')
    frame.to_parquet(path)
    for table, source in ((rows, '<hypothesis>'), (frame, '<hypothesis>'), (path, path)):
        (problem,) = validate(table)
        assert problem == Problem(
            *(PROBLEM_KINDS['name'], 'error', source, 2, 'person_name', "'b2'"),
            *('a name of a-z and _ only', PROBLEM_KINDS['name'].remedy),
        )
    with pytest.raises(errors.FormatError):
        validate([('x', 'v', '1', 'ann', float('nan'))])


# Official data.


def test_an_official_submission_has_no_errors(official_data):
    folder = official_data / '2016'
    findings = examine(
        folder / 'submissions/tokyotech_primary.txt',
        videos=folder / 'reference/test.eval',
        reference=folder / 'reference/reference.2016-10-16.txt',
    )
    assert findings.count('error') == 0
    assert {'unlisted-video', 'equal-confidences'} <= set(map(str, findings.counts))


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
    n_lines = (folder / 'baseline.label').read_bytes().count(b'\n')
    assert findings.rows['hypothesis'] == n_lines
    # Each line has a field less than other rules ask for.
    findings = examine(folder / 'baseline.label')
    assert {str(kind): count for kind, count in findings.counts.items()} == {'field-count': n_lines}
