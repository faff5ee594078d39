"""The command that lists every problem of a submission."""

import dataclasses
import gzip
import json
import re
from functools import partial
from pathlib import Path

import commands
import pytest
from submissions import EVIDENCE, RUN, SHOTS

from mediaeval_ap import errors, validate
from mediaeval_ap.report.formats import render
from mediaeval_ap.validation import examine
from mediaeval_ap.validation.document import describe
from mediaeval_ap.validation.kinds import KINDS

ROOT = Path(__file__).parents[2]


run = partial(commands.run, 'validate')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / 'run.txt').write_text(RUN)
    (tmp_path / 'shots.txt').write_text(SHOTS)
    (tmp_path / 'evidence.txt').write_text(EVIDENCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


MANY = 'x v 1 a2 high\n' * 7 + 'x\n' * 5 + 'x v 2 ann 1\n'


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
    page = (ROOT / 'docs/reference/json-schemas.md').read_text()
    schema = json.loads(
        re.search(r'^## Validation\n.*?```json\n(.*?)```', page, re.DOTALL | re.MULTILINE).group(1)
    )
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
