"""The command `report`."""

import shlex
import sys
from pathlib import Path

import pytest
from commands import output_of, refused
from page_text import data_of

from mediaeval_ap import AveragePrecision, compare, read_results
from mediaeval_ap.cli.report import FIGURES

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


@pytest.fixture
def runs(folder):
    Path('other.txt').write_text('x v 2 ann 0.9\nx w 1 anne 0.8\nx w 1 bob 0.7\n')
    return ['report', 'reference.txt', 'run.txt', 'other.txt', '--quiet']


def test_the_page_is_that_of_python(runs):
    Path('intro.md').write_bytes('\ufeff*zoë* <b>'.encode())
    options = (
        '-K 1,2 --near 0.3 --definition trec --correction bh --level 0.9 --baseline run '
        '--queries queries.txt --by corpus --intro intro.md --link Task=https://a.org/?x=y '
        '--link https://b.org/?x=http://c -o report.html'
    )
    assert output_of(*runs, '--title', 'Zoë & co', *options.split()) == ''
    settings = {'correction': 'bh', 'level': 0.9, 'baseline': 'run', 'by': 'corpus'}
    evaluator = AveragePrecision('reference.txt', [1, 2], definition='trec')
    report = evaluator.report(['run.txt', 'other.txt'], 'queries.txt', near=0.3, **settings)
    links = {'Task': 'https://a.org/?x=y', 'https://b.org/?x=http://c': 'https://b.org/?x=http://c'}
    text = report.to_html(title='Zoë & co', intro='*zoë* <b>', links=links)
    assert Path('report.html').read_text() == text
    assert '<title>Zoë &amp; co</title>' in text
    assert '<p><em>zoë</em> &lt;b&gt;</p>' in text
    assert data_of(text)['title'] == 'Zoë & co'
    assert 'id="by"' in text


BROKEN = {  # runs that cannot be read, and the error of each
    'bad.txt': 'bad.txt, line 2, confidence: ',
    'missing.txt': 'missing.txt: No such file or directory',
    'elsewhere.txt': 'elsewhere.txt: 0 of 1 returned shots occur in reference.txt',
}


@pytest.fixture
def broken(runs):
    Path('elsewhere.txt').write_text('y y 7 ann 0.5\n')
    return ['--strict', '--keep-going', '-o', 'page.html']


@pytest.mark.parametrize('name', BROKEN)
def test_a_run_that_is_broken_does_not_block_the_page(runs, broken, name):
    told = refused(*runs, f'lost={name}', *broken, '--queries', 'queries.txt', status=1)
    (line,) = told.splitlines()
    assert line.startswith(f'Error: {BROKEN[name]}')
    data = data_of(Path('page.html').read_text())
    error = line.removeprefix('Error: ')
    assert (sorted(data['runs']), data['missing']) == (['other', 'run'], {'lost': error})
    assert data['lead']['caveats'][0] == f'1 run is missing: lost ({error}).'
    assert data['title'] == '2 of 3 runs on reference.txt'
    (remark,) = (each for each in data['remarks'] if each['what'] == f'missing: {error}')
    assert remark['runs'] == ['lost']
    hint = '; --keep-going makes the page from the other runs'
    assert refused(*runs, name, '--strict', '-o', 'other.html', status=1) == f'{line}{hint}\n'
    alone = refused('report', 'reference.txt', name, '-q', '--strict', '-o', 'other.html', status=1)
    assert alone == told
    assert not Path('other.html').exists()


@pytest.mark.parametrize(
    ('arguments', 'also'),
    [
        ('bad.txt missing.txt', BROKEN['missing.txt']),
        ('bad.txt run.txt --baseline bad', '--baseline bad: has errors, so there is no page'),
    ],
)
def test_no_page_without_any_run_or_without_the_baseline(runs, broken, arguments, also):
    line = refused('report', 'reference.txt', *arguments.split(), '-q', *broken, status=1)
    assert line.startswith(f'Error: {BROKEN["bad.txt"]}')
    assert line.endswith(f'; {also}\n')
    assert not Path('page.html').exists()


TABLE = 'item,a,b,kind\n' + ''.join(f'i{n},{n},{n * n % 31},{n % 2}\n' for n in range(30))


@pytest.fixture
def scored(folder):
    """A score table in percent, and results of two runs."""
    Path('wide.csv').write_text(TABLE.replace(',kind', ',cluster'))
    Path('other.txt').write_text('x v 2 ann 0.9\n')
    both = ['reference.txt', 'run.txt', 'other.txt', '--queries', 'queries.txt', '-q']
    output_of('evaluate', *both, '--per-query', '-o', 'both.json')


OF_SCORES = {
    'wide.csv --range 0,100': {'range': (0, 100)},
    'both.json --by relevant': {'by': 'relevant'},
}


@pytest.mark.parametrize('arguments', OF_SCORES)
def test_the_page_of_scores_is_that_of_python(scored, arguments):
    output_of('report', *arguments.split(), '--quiet', '--title', 'Two', '-o', 'page.html')
    path = arguments.split()[0]
    results = path if path == 'wide.csv' else read_results(path)
    comparison = compare(results, **OF_SCORES[arguments])
    assert Path('page.html').read_text() == comparison.to_html(title='Two')


def test_figures_of_scores(scored):
    output_of('report', 'wide.csv', '--quiet', '--figure', 'all', '-o', 'figures')
    names = {each.name for each in Path('figures').iterdir()}
    assert names == {'leaderboard.svg', 'scatter.svg', 'distribution.svg'}
    figure = output_of('report', 'both.json', '--quiet', '--figure', 'map_by_k', '-o', '-')
    assert figure.startswith('<svg')
    error = refused('report', 'wide.csv', '--quiet', '--figure', 'map_by_k', '-o', '-', status=1)
    assert 'map_by_k: found the metrics value, expected one' in error


LACKING = {
    'wide.csv --figure loss -o x.svg': '--figure loss needs rankings: found score tables',
    'both.json --figure precision_recall -o x.svg': 'recall needs rankings: found results',
    'wide.csv --judged queries.txt -o x.html': '--judged: found score tables, which are scored',
    'reference.txt both.json -o x.html': "'both.json' holds results, but other arguments are",
    'reference.txt run.txt --missing skip -o x.html': '--missing: found no runs of TREC or',
    'wide.csv --by wide.html -o wide.html': 'refusing to overwrite wide.html: it is an input',
    'reference.txt run.txt --hide-labels --keep-going -o x.html': 'needs the whole page',
    'reference.txt run.txt --hide-labels --figure loss -o x.svg': 'found --hide-labels',
    'reference.txt -o x.html': "Missing argument 'RUN...'",
}


@pytest.mark.parametrize('arguments', LACKING)
def test_what_scores_lack_is_refused(scored, arguments):
    assert LACKING[arguments] in refused('report', *arguments.split(), '--quiet')
    assert not Path('x.html').exists()
    assert not Path('x.svg').exists()


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (None, 'No such file'),
        (b'a\n\xff', 'line 2: found bytes that are not UTF-8, expected Markdown'),
    ],
)
def test_a_wrong_introduction_is_one_line(runs, content, message):
    Path('reference.txt').write_text('wrong\n')
    if content is not None:
        Path('intro.md').write_bytes(content)
    error = refused(*runs, '--intro', 'intro.md', '-o', 'a.html', status=1)
    assert message in error
    assert error.count('\n') == 1


@pytest.mark.parametrize(
    ('figures', 'n_runs', 'format', 'written'),
    [
        ('all', 1, [], {f'{each}.svg' for each in FIGURES if each != 'scatter'}),
        ('loss,scatter,loss', 2, ['--format', 'png'], {'loss.png', 'scatter.png'}),
        ('loss', 2, ['--format', 'pdf'], {'loss.pdf', 'older'}),
    ],
)
def test_several_figures_are_written_to_a_folder(runs, figures, n_runs, format, written):
    if 'older' in written:
        Path('figures').mkdir()
        Path('figures', 'older').touch()
    command = *runs[: 2 + n_runs], '--quiet', *format, '--figure'
    assert output_of(*command, figures, '-o', 'figures') == ''
    assert {each.name for each in Path('figures').iterdir()} == written
    begins = {'.svg': b'<svg', '.png': b'\x89PNG', '.pdf': b'%PDF', '': b''}
    for each in Path('figures').iterdir():
        assert each.read_bytes().startswith(begins[each.suffix])
    name = sorted(written)[0]
    output_of(*command, Path(name).stem, '-o', name)
    assert Path(name).read_bytes() == Path('figures', name).read_bytes()


def test_the_query_of_a_figure_is_chosen(runs):
    command = *runs, '--figure', 'precision_recall', '-o', '-'
    assert '>bob</text>' in output_of(*command)  # of ann, a run has no hit
    assert '>ann</text>' in output_of(*command, '--query', 'ann')
    assert "precision_recall: found 'zoe'" in refused(*command, '--query', 'zoe', status=1)


@pytest.mark.parametrize('module', ['scipy', 'jinja2', 'vl_convert'])
def test_a_missing_library_is_missed_before_anything_is_read(runs, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    Path('reference.txt').write_text('wrong\n')
    assert f'report: {module} is not installed; ' in refused(*runs, '-o', 'a.html', status=1)


@pytest.mark.parametrize(('name', 'begin'), [('a.PDF', b'%PDF'), ('a.svg.gz', b'\x1f\x8b')])
def test_the_suffix_is_the_format_of_a_figure(runs, name, begin):
    assert output_of(*runs, '--figure', 'loss', '-o', name) == ''
    assert Path(name).read_bytes().startswith(begin)


WRONG = {
    '-o a.svg': '--format svg is for figures: give --figure, one of leaderboard',
    '-o a.html --figure loss': '--figure: found the format html, expected one of',
    '-o - --figure loss --format png': '--format png is not text',
    '-o a.pdf.gz --figure loss': 'a.pdf.gz: pdf is compressed already',
    '-o a.csv': '-o: found the suffix .csv, expected one of .html, .svg, .png, .pdf',
    '-o a.html --baseline x': "--baseline: found 'x', expected one of 'run', 'o",
    'run.txt -o a.html': 'run.txt was given twice',
    '-o a': "-o: found 'a', expected a name that ends in .html, .svg, .png, .pdf",
    "-o a.html --title ''": "--title: found '', expected non-empty text",
    '-o a.html --link x=javascript:1': "'--link': found 'x': 'javascript:1', expected",
    '-o a.html --link http://x --link http://x': "found 'http://x' twice, expected each link once",
    '-o a.svg --figure loss --intro x': '--title, --intro and --link are for',
    '-o a.html --lower-is-better': '--lower-is-better: found runs, expected score tables or',
    '-o a.html --query x': '--query is for the figure precision_recall',
    '-o x --figure loss,los': "'--figure': found 'los', expected one of leaderboard",
    '-o a.svg --figure all': "-o: found the file 'a.svg', expected a folder for",
    '-o - --figure all': '--figure: several figures are written to a folder',
    '-o .': "-o: found the folder '.', expected a file",
}


@pytest.mark.parametrize('options', WRONG)
def test_what_is_wrong_is_said_before_anything_is_read(runs, options):
    Path('reference.txt').write_text('wrong\n')
    assert WRONG[options] in refused(*runs, *shlex.split(options))
    assert not Path('a.html').exists()
