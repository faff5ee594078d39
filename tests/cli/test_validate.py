"""The command `validate`: what it prints, and exit status."""

import csv
import dataclasses
import gzip
import io
import json
import re
from functools import partial
from pathlib import Path

import commands
import jsonschema
import pytest
from schemas import follow_schema, schema_of
from submissions import EVIDENCE, RUN, SHOTS

from mediaeval_ap import validate
from mediaeval_ap.render.formats import render
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.problems import PROBLEM_KINDS, problems_document

run = partial(commands.run, 'validate')
BAD = 'x v 1 Ann 0,5\nx v 1 bob\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'shots.txt').write_text(SHOTS)
    (tmp_path / 'evidence.txt').write_text(EVIDENCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_list_that_is_cut_says_so(folder):
    Path('bad.txt').write_text('x v 1 a2 high\n' * 7 + 'x\n' * 5)
    problems = problems_document({'bad': examine('bad.txt', max_problems=4)})
    told = '\n  … and 3 more [confidence]; at most 4 of a kind are listed\n'
    assert told in render(problems, 'table')
    document = json.loads(render(problems, 'json'))
    assert (document['max_problems'], len(document['problems'])) == (4, 12)
    assert (document['truncated'], document['left_out']['field-count']) == (True, 1)


def test_command(folder):
    files = 'run.txt', '--shots', 'shots.txt', '--evidence', 'evidence.txt'
    found = commands.output_of('validate', *files)
    assert found == '0 errors, 0 warnings in 2 rows of run.txt (rules 2016)\n'


def test_exit_code_is_1_for_errors_alone(folder):
    assert run('-', input='x v 1 ann 1\nx v 2 anne 1\n').exit_code == 0
    assert run('-', input='x v 1 ann 1\nx v 2 bob\n').exit_code == 1
    assert run('run.txt', '--rules', '2015').exit_code == 1


@pytest.mark.parametrize(
    ('arguments', 'remedy'),
    [
        (['reference.txt', 'run.txt'], 'give the reference by --reference FILE'),
        (['reference.txt', '--reference', 'run.txt'], 'are two files exchanged?'),
    ],
)
def test_a_reference_in_the_place_of_a_run(folder, arguments, remedy):
    """Other commands take the reference first."""
    Path('reference.txt').write_text('x v 1 ann\n')
    result = run(*arguments, '--examples')
    assert result.exit_code == 1
    assert f'  remedy: its first row fits a reference file: {remedy}\n' in result.stdout


def test_the_first_20_of_each_kind(folder):
    Path('bad.txt').write_text('x v 1 a2 high\n' * 25)
    result = run('bad.txt')
    assert result.exit_code == 1
    blocks = result.stdout.split('\n\n')
    assert [len(block.splitlines()) for block in blocks] == [22, 22, 1]
    assert blocks[1].splitlines()[-1] == '  … and 5 more [name]'
    assert blocks[2] == '50 errors, 0 warnings in 25 rows of bad.txt (rules 2016)\n'
    assert run('bad.txt', '--all').stdout.count('bad.txt:') == 50


def test_json(folder):
    """The schema names every key, and the type and the choices of each."""
    Path('bad.txt').write_text('x v 1 a2 high\n' * 21)
    result = run('bad.txt', '--shots', 'shots.txt', '--format', 'json')
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert (document['errors'], document['counts']) == (42, {'confidence': 21, 'name': 21})
    assert document['left_out'] == {'confidence': 1, 'name': 1}
    everything = json.loads(run('bad.txt', '--format', 'json', '--all').stdout)
    assert everything['problems'] == [
        {**dataclasses.asdict(each), 'kind': str(each.kind)} for each in validate('bad.txt')
    ]
    rows = render(problems_document({'run': examine([('x', 'v', '1', 'A', 0.5)])}), 'json')
    for each in document, everything, json.loads(rows):
        follow_schema(each, 'problems-1')
    with pytest.raises(jsonschema.ValidationError):
        follow_schema({**document, 'more': 1}, 'problems-1')
    listed = schema_of('problems-1')['properties']['problems']['items']['properties']
    assert listed['kind']['enum'] == [kind.name for kind in PROBLEM_KINDS.values()]


def test_lines_are_as_editors_and_ci_read_them(folder):
    """Each line matches GCC's expression for messages; a remedy does not."""
    of_gcc = re.compile(r'^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$')
    Path('bad.txt').write_text(BAD)
    matches = filter(None, map(of_gcc.match, run('bad.txt').stdout.splitlines()))
    assert [(*each.groups()[:4], each[5].split()[0]) for each in matches] == [
        ('bad.txt', '2', '', 'error', '[field-count]'),
        ('bad.txt', '1', '', 'error', '[confidence]'),
        ('bad.txt', '1', '', 'error', '[name]'),
        ('bad.txt', '1', '', 'warning', '[upper-case]'),
    ]


def test_each_remedy_is_told_once(folder):
    Path('bad.txt').write_text('x v 1 ann 0,5\nx v 2 ann high\nx v 3 ann 0,7\nx v 4 ann low\n')
    assert re.findall('^  remedy: (.*)$', run('bad.txt').stdout, re.MULTILINE) == [
        'write a decimal point, not a comma',
        'write a finite decimal number',
    ]


def test_several_runs(folder):
    Path('bad.txt').write_text(BAD)
    names = ['run.txt', 'mine=bad.txt']
    alone, both = run('bad.txt'), run(*names, '--examples')
    assert both.exit_code == alone.exit_code == 1
    assert f'mine\n\n{alone.stdout}' in both.stdout
    assert both.stdout.startswith('run\n\n0 errors')
    assert run(*names, '--all').stdout == both.stdout
    listed = json.loads(run(*names, '--format', 'json').stdout)
    assert [each['run'] for each in listed] == ['run', 'mine']
    rows = list(csv.DictReader(io.StringIO(run(*names, '--format', 'csv').stdout)))
    assert [(row['run'], row['kind']) for row in rows] == [
        ('mine', problem['kind']) for problem in listed[1]['problems']
    ]
    counted = run(*names)
    assert counted.exit_code == 1
    assert counted.stdout == run(*names, '--statistics').stdout
    header, _, *lines, _, hint = counted.stdout.splitlines()
    assert re.split('  +', header) == ['run', 'verdict', 'errors', 'warnings', *listed[1]['counts']]
    assert [re.split('  +', line.strip()) for line in lines] == [
        ['run', 'valid', '0', '0'],
        ['mine', 'not valid', '3', '1', *map(str, listed[1]['counts'].values())],
    ]
    assert hint == '--examples lists the problems'
    of_one = run('bad.txt', '--statistics', '--format', 'csv').stdout.splitlines()
    assert of_one == ['run,kind,severity,count'] + [
        f'bad,{kind},{PROBLEM_KINDS[kind].severity},{count}'
        for kind, count in listed[1]['counts'].items()
    ]
    commands.refused('validate', *names, '--evidence', 'evidence.txt')


def test_runs_that_are_the_same_file(folder):
    """They may be compressed or renamed by the teams, but not read twice under one name."""
    Path('other.txt').write_text(RUN + 'x v 3 ann 0.1\n')
    for name in 'b.txt', 'again.txt':
        Path(name).write_text(RUN)
    assert 'The same file' not in run('run.txt', 'other.txt').stdout
    told = run('run.txt', 'other.txt', 'again.txt', 'zoe=b.txt').stdout.splitlines()
    assert told[-2] == 'The same file: run, again, zoe'


def test_names_of_a_file_that_lacks_one(folder):
    Path('b.txt').write_text(RUN)
    Path('names.csv').write_text('path,name\nrun.txt,First\n')
    result = run('run.txt', 'b.txt', '--names', 'names.csv')
    assert [line.split()[0] for line in result.stdout.splitlines()[2:4]] == ['First', 'b']
    assert result.stderr == 'Warning: names.csv: no row for b.txt\n'
    assert run('run.txt', 'c=b.txt', '--names', 'names.csv').stderr == ''


def test_what_is_usual_is_counted_without_examples(folder):
    Path('usual.txt').write_text('x v 1 ann 0.9\nx v 1 bob 0.8\n')
    counted = '  1 [several-names], as is usual: --all lists them\n'
    assert run('usual.txt').stdout.startswith(counted)
    for more in (['--all'], ['--rules', 'none']):
        assert run('usual.txt', *more).stdout.startswith('usual.txt:2: warning: [several-names]')


@pytest.mark.parametrize(
    'options', [(), ('--format', 'json'), ('--format', 'csv'), ('--examples',)]
)
def test_a_run_that_cannot_be_read_does_not_hide_the_others(folder, options):
    packed = gzip.compress(''.join(f'x v {shot} ann 0.5\n' for shot in range(99)).encode())
    Path('cut.gz').write_bytes(packed[:-9])
    Path('header.csv').write_text(
        'corpus_id,video_id,shot_id,person_name,confidence\nx,v,1,ann,z\n'
    )
    result = run('cut.gz', 'run.txt', 'header.csv', 'run.txt.old', *options)
    assert result.exit_code == 1
    alone = [run(path) for path in ('cut.gz', 'header.csv', 'run.txt.old')]
    assert result.stderr == ''.join(each.stderr for each in alone)
    assert result.stdout == run('run.txt', *(options or ['--statistics'])).stdout
    assert run('cut.gz', 'header.csv').exit_code == 1
    assert json.loads(run('cut.gz', 'header.csv', '--format', 'json').stdout) == []


def test_an_error_in_the_file_of_all_runs_is_told_once(folder):
    Path('other.txt').write_text(RUN)
    result = run('run.txt', 'other.txt', '--shots', 'none.txt')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.count('none.txt') == 1
