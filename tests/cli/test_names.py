"""Names of runs on the command line: NAME=FILE, a file of names, and else the rule."""

from pathlib import Path

import pytest
from commands import json_of, output_of, refused, run
from page_text import data_of

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

NAMES = 'path,name,team\nruns/run.txt,Best run,Vigo\nother.txt,Öther,\nnone.txt,x,y\n'


@pytest.fixture(autouse=True)
def runs(folder):
    Path('runs').mkdir()
    Path('run.txt').rename('runs/run.txt')
    Path('runs/other.txt').write_text('x v 2 ann 0.9\nx w 1 anne 0.8\nx w 1 bob 0.7\n')
    Path('names.csv').write_text(NAMES)


def named(*arguments, command='evaluate', **settings):
    written = json_of(command, *arguments, **settings)
    runs = written.get('runs')  # best first, in a comparison
    return sorted(runs) if runs else [each['run'] for each in written['results']]


def test_every_command_takes_a_name():
    reference, files = 'reference.txt', ['a=runs/run.txt', 'b=runs/other.txt']
    assert named(reference, *files) == ['a', 'b']
    assert named(reference, 'a=-', input=Path('runs/run.txt').read_text()) == ['a']
    assert named(reference, *files, '--quiet', command='compare') == ['a', 'b']
    page = output_of('report', reference, *files, '--quiet', '-o', '-')
    assert set(data_of(page)['runs']) == {'a', 'b'}
    assert output_of('explain', reference, files[0]).startswith('a (')
    difference = output_of('explain', reference, files[0], '--against', files[1])
    assert {'a', 'b'} <= {*difference.split()}
    for command, *arguments in (
        ('rank', reference, files[0], 'ann'),
        ('stream', reference, files[0]),
        ('validate', files[0]),
    ):
        unnamed = [each.removeprefix('a=') for each in arguments]
        shown = [run(command, *each, input='ann').stdout for each in (arguments, unnamed)]
        assert shown[0] == shown[1] != ''


def test_a_file_may_have_a_name_with_an_equals_sign():
    """A path that exists is not split into NAME and FILE."""
    Path('a=b.txt').write_bytes(Path('runs/run.txt').read_bytes())
    assert named('reference.txt', 'a=b.txt') == ['a=b']
    assert named('reference.txt', './a=b.txt', 'a=runs/run.txt') == ['a=b', 'a']


REFUSED = {
    'a=- b=-': 'standard input (-) can be read once only',
    'a=runs/run.txt -o runs/run.txt': 'refusing to overwrite runs/run.txt',
    'a=runs/run.txt a=runs/other.txt': "found 'a' twice",
    'a=': "found 'a=', expected FILE or NAME=FILE",
    '=runs/run.txt': "found '=runs/run.txt', expected FILE or NAME=FILE",
}


@pytest.mark.parametrize('arguments', REFUSED)
def test_the_checks_see_the_file(arguments):
    """The checks of inputs and outputs compare the file without its name."""
    assert REFUSED[arguments] in refused('evaluate', 'reference.txt', *arguments.split())


def test_a_file_names_runs_by_their_path_or_its_last_part():
    files = ['runs/run.txt', 'runs/other.txt']
    options = ['--names', 'names.csv']
    for given, names in (
        (files, ['Best run', 'Öther']),
        (['./runs/run.txt', 'a=runs/other.txt'], ['Best run', 'a']),
        ([files[1], 'bad=runs/run.txt'], ['Öther', 'bad']),
    ):
        assert named('reference.txt', *given, *options) == names
    given = [*files, *options, '--quiet']
    assert named('reference.txt', *given, command='compare') == ['Best run', 'Öther']
    data = data_of(output_of('report', 'reference.txt', *given, '-o', '-'))
    assert data['teams'] == {'Best run': 'Vigo', 'Öther': 'Öther'}
    Path('my.qrels').write_text('7 0 d1 1\n')
    Path('my.run').write_text('7 Q0 d1 1 0.5 me\n')
    Path('two.csv').write_text('name,path\nme,my.run\n')
    assert named('my.qrels', 'my.run', '--names', 'two.csv', command='evaluate-trec') == ['me']


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('a,b\n', "names.csv, line 1: found no column path in 'a,b', expected path,name"),
        ('path,name\nx.txt,\n', 'names.csv, line 2, name: found nothing, expected non-empty text'),
        ('path,name\nx,y\n./x,z\n', "names.csv, line 3, path: found './x' again, expected each"),
    ],
)
def test_wrong_files_of_names(content, message):
    Path('names.csv').write_text(content)
    arguments = 'evaluate', 'reference.txt', 'runs/run.txt', '--names', 'names.csv'
    assert refused(*arguments, status=1).startswith(f'Error: {message}')


def test_results_keep_names_and_files_of_one_name_are_told_apart():
    """Each was scored by itself: the names that were given stay, the others grow."""
    for folder in 'one', 'two':
        Path(folder).mkdir()
        Path(folder, 'run.txt').write_bytes(Path('runs/run.txt').read_bytes())
        files = f'{folder}/run.txt', '--per-query', '-o', f'{folder}.json'
        output_of('evaluate', 'reference.txt', *files)
    stored = ['one.json', 'two.json']
    assert named(*stored, '--quiet', command='compare') == ['one/run', 'two/run']
    other = 'team=runs/other.txt', '--per-query', '-o', 'other.json'
    output_of('evaluate', 'reference.txt', *other)
    names = ['one/run', 'team', 'two/run']
    assert named('other.json', *stored, '--quiet', command='compare') == names


def test_blocks_do_not_depend_on_names():
    """A run that is renamed is not scored again, and is collected under its last name."""
    arguments = ['evaluate', 'reference.txt', '--resume', 'blocks']
    assert named(*arguments[1:], 'runs/run.txt') == ['run']
    before = {path.name: path.stat().st_mtime_ns for path in Path('blocks').glob('*-*')}
    assert named(*arguments[1:], 'a=runs/run.txt') == ['a']
    assert {path.name: path.stat().st_mtime_ns for path in Path('blocks').glob('*-*')} == before
    assert named('--resume', 'blocks') == ['a']
