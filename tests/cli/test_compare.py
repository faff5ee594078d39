"""The command `compare`, of runs and of results."""

import json
import sys
from pathlib import Path

import pytest
from commands import json_of, output_of, refused, run
from schemas import follow_schema

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.render.formats import render

NAMES = [f'name_{letter}{number}' for letter in 'abc' for number in range(10)]

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """Thirty people in four videos of two corpora, and runs that find all or half, or find late."""
    monkeypatch.chdir(tmp_path)
    rows = [f'c{n % 2} v{n % 4} {n} {name}' for n, name in enumerate(NAMES)]
    right = [f'{row} 0.9' for row in rows]
    wrong = [f'c0 v0 99 {name} 0.95' for name in NAMES]
    files = {
        'reference.txt': rows,
        'queries.txt': [*NAMES, 'nobody_else'],
        'subset.txt': ['c0 v0', 'c1 v1'],
        'best.txt': right,
        'half.txt': right[::2],
        'late.txt': [line for pair in zip(right, wrong, strict=True) for line in pair],
    }
    for name, lines in files.items():
        Path(name).write_text('\n'.join(lines) + '\n')


RUNS = ['best.txt', 'half.txt', 'late.txt']


def of_runs(*options, files=RUNS):
    return ['reference.txt', *files, '-K', '1,10', '--quiet', *options]


def in_json(*arguments):
    written = json_of('compare', *arguments, '--quiet')
    follow_schema(written, 'comparison-3')
    return written


def compared(*options, files=RUNS):
    return in_json(*of_runs(*options, files=files))


def in_python(*, queries='queries.txt', subset=None, definition='mediaeval-2016', **settings):
    """The same comparison by the functions of the package."""
    scorer = AveragePrecision('reference.txt', [1, 10], subset=subset, definition=definition)
    results = [scorer.evaluate(f'{name}.txt', queries) for name in ('best', 'half', 'late')]
    return compare(results, reference='reference.txt', subset=subset, **settings)


def test_pairs():
    arguments = of_runs('--queries', 'queries.txt')
    written = output_of('compare', *arguments, '--format', 'csv', '--pairs')
    assert written == render(in_python().document(pairs=True), 'csv')
    assert output_of('compare', *arguments) == render(in_python().document(pairs=False), 'table')


OPTIONS = {
    '--baseline half': {'baseline': 'half'},
    '--correction bh --level 0.9': {'correction': 'bh', 'level': 0.9},
    '--cluster video --by corpus': {'cluster': 'video', 'by': 'corpus'},
    '--definition trec --subset subset.txt': {'definition': 'trec', 'subset': 'subset.txt'},
}


@pytest.mark.parametrize('options', OPTIONS)
def test_options(options):
    written = compared(*options.split(), '--queries', 'queries.txt')
    assert written == in_python(**OPTIONS[options]).to_dict()


def test_reasons_instead_of_numbers():
    """Equal runs on one query: no interval, no effect size, and no tau."""
    Path('again.txt').write_text(Path('best.txt').read_text())
    Path('one.txt').write_text(f'{NAMES[0]}\n')
    options = '--queries one.txt --baseline best'.split()
    written = compared(*options, files=['best.txt', 'again.txt'])
    assert written['pairs'][0]['dz'] is written['orders'][0]['tau'] is None


def test_standard_input():
    options = '-K 1 --by corpus --cluster video --quiet'.split()
    given = Path('reference.txt').read_text()
    written = json_of('compare', '-', 'best.txt', 'half.txt', *options, input=given)
    assert written['runs'] == ['best', 'half']


USAGE = {
    'best.txt': 'found 1 run (best), expected two or more',
    'half.txt ./half.txt': 'half.txt was given twice',
    'best.txt half.txt --baseline none.txt': (
        "--baseline: found 'none.txt', expected one of 'best', 'half'"
    ),
    'best.txt half.txt --level 1': "'--level': found 1.0, expected a number between 0 and 1",
}


@pytest.mark.parametrize('arguments', USAGE)
def test_errors_in_the_command_line(arguments):
    assert USAGE[arguments] in refused('compare', 'reference.txt', *arguments.split())


@pytest.mark.parametrize('files', [['reference.txt', 'bad.txt', 'best.txt'], ['bad.json']])
def test_a_missing_extra_is_told_before_the_work(monkeypatch, files):
    monkeypatch.setitem(sys.modules, 'scipy', None)
    Path('bad.txt').write_text('c0 v0 1 ann high\n')
    Path('bad.json').write_text('{"bad')
    assert refused('compare', *files, status=1) == (
        'Error: compare: scipy is not installed; '
        "in the clone of mediaeval_ap, run pip install '.[compare]'\n"
    )


# Of results that were written before.


def results_of(command, *arguments, to):
    output_of(command, *arguments, '--format', 'json', '--per-query', '-o', to, '--quiet')
    return to


def test_the_same_as_of_the_runs():
    """Comparing stored results gives each digit of comparing the runs at once."""
    scored = '-K 1,10 --subset subset.txt --measures RR'.split()
    both = results_of('evaluate', 'reference.txt', *RUNS[:2], *scored, to='both.json')
    late = results_of('evaluate', 'reference.txt', RUNS[2], *scored, to='late.json')
    options = '--cluster video --by corpus --subset subset.txt'.split()
    written = compared(*options, '--measures', 'RR')
    assert in_json('reference.txt', both, late, *options) == written
    assert compared(*options, '--measures', 'RR', files=[both, RUNS[2]]) == written
    assert written['metrics'] == ['RR', 'MAP@1', 'MAP@10']


def test_seeds_of_a_file_of_names():
    """Runs, results, and both: the same figures as in Python, where keys have the seeds."""
    lines = Path('best.txt').read_text().splitlines(keepends=True)
    seeds = {'1': lines[:20], '2': lines[:14], '3': lines[4:21]}
    for seed, some in seeds.items():
        Path(f'some{seed}.txt').write_text(''.join(some))
    names = [f'some{seed}.{suffix},some,{seed}\n' for seed in seeds for suffix in ('txt', 'json')]
    Path('names.csv').write_text('path,name,seed\nhalf.txt,half,\n' + ''.join(names))
    files = [f'some{seed}.txt' for seed in seeds]
    for path in files:
        to = path.replace('txt', 'json')
        results_of('evaluate', 'reference.txt', path, '-K', '1,10', to=to)
    results = [path.replace('txt', 'json') for path in files]
    options = '--names names.csv --baseline half'.split()
    written = compared(*options, files=['half.txt', *files])
    scorer = AveragePrecision('reference.txt', [1, 10])
    of_seeds = {('some', seed): scorer.evaluate(f'some{seed}.txt') for seed in seeds}
    expected = compare({**of_seeds, 'half': scorer.evaluate('half.txt')}, baseline='half')
    assert written == expected.to_dict()
    assert {row['run']: row['n_seeds'] for row in written['leaderboard']} == {'some': 3, 'half': 1}
    runs = ['half', *(f'some (seed {seed})' for seed in seeds)]
    assert [*written['manifest']['inputs']['runs']] == runs
    assert compared(*options, files=['half.txt', files[0], *results[1:]]) == written
    half = results_of('evaluate', 'reference.txt', 'half.txt', '-K', '1,10', to='half.json')
    stored = in_json(half, *results, *options)
    assert (stored['pairs'], stored['verdicts']) == (written['pairs'], written['verdicts'])
    twice = refused('compare', *results, results[0], '--names', 'names.csv')
    assert 'some1.json was given twice' in twice


def test_the_claimed_metric_comes_first_everywhere():
    assert compared('--measures', 'RR')['metrics'] == ['RR', 'MAP@1', 'MAP@10']
    comparison = in_python()
    assert comparison.metrics == ['MAP@10', 'MAP@1']
    assert comparison.pairs[0].metric == comparison.to_frame()['metric'][0] == 'MAP@10'
    assert not comparison.pairs[0].exploratory
    by_k = comparison.plot.map_by_k().to_dict()['data']['values']
    assert [row['x'] for row in by_k[:2]] == ['1', '10']  # but in their order where k is an axis


def test_results_of_standard_input_and_given_names():
    both = results_of('evaluate', 'reference.txt', 'best.txt', 'half.txt', to='both.json')
    one = results_of('evaluate', 'reference.txt', 'best.txt', to='one.json')
    given = Path(both).read_text()
    for arguments in ['-', f'other={one}'], [f'other={one}', '-']:
        written = json_of('compare', *arguments, '--quiet', input=given)
        assert sorted(written['runs']) == ['best', 'half', 'other']
    output_of('compare', '-', '--quiet', input=given)


MIXED = {
    'reference.txt': "Missing argument 'RUN...', as reference.txt was taken for a reference; for a",
    'both.json best.txt': "'best.txt' holds no results, but other arguments do",
    'both.json --queries queries.txt': '--queries: found results, which are scored already',
    'reference.txt both.json best.txt': "runs: found 'best' twice, expected each name once",
    'both.json --by corpus': '--by corpus needs REFERENCE before the results',
    'reference.txt best.txt half.txt --lower-is-better': 'found results, of which more is better',
    'x=both.json': 'found the name x for a file of several runs, expected none',
}


@pytest.mark.parametrize('arguments', MIXED)
def test_errors_about_results_and_runs(arguments):
    results_of('evaluate', 'reference.txt', 'best.txt', 'half.txt', to='both.json')
    assert MIXED[arguments] in refused('compare', *arguments.split(), '--quiet')


# Verdicts, by which a job fails.


@pytest.mark.parametrize('files', ['reference.txt best.txt', 'best.json', 'best=best.csv'])
@pytest.mark.parametrize(
    'gate', ['--baseline best --fail-if-worse 0', '--baseline lost --require-better']
)
def test_a_gate_never_passes_with_nothing_to_compare(files, gate):
    """For example if the baseline is lost, or a pattern of names matches one file."""
    results_of('evaluate', 'reference.txt', 'best.txt', to='best.json')
    Path('best.csv').write_text('item,value\nq1,0.5\nq2,1\n')
    error = refused('compare', *files.split(), *gate.split(), '--quiet', status=1)
    told = f'nothing to compare with {gate.split()[1]}: found best alone, expected two or more'
    assert error == f'Error: compare: {told}\n'


FIRST_MEASURE = {'RR,P@5': 'Gate failed (worse: late)\n', 'P@5,RR': ''}


@pytest.mark.parametrize('measures', FIRST_MEASURE)
def test_runs_pass_by_the_first_measure(measures):
    """Its first hypotheses are right, in five of thirty, at rank 2: RR lacks .5, P@5 nothing."""
    told, gate = FIRST_MEASURE[measures], '--baseline best --fail-if-worse 0.1'
    arguments = of_runs('--measures', measures, *gate.split(), files=['best.txt', 'late.txt'])
    result = run('compare', *arguments, '--format', 'json')
    assert (result.exit_code, result.stderr) == (3 if told else 0, told)
    written = json.loads(result.stdout)
    first, second = measures.split(',')
    assert written['metrics'] == [first, 'MAP@1', 'MAP@10', second]
    assert written['pairs'][0]['metric'] == written['leaderboard'][0]['metric'] == first
    assert [each['metric'] for each in written['verdicts']] == [first]
    table = run('compare', *arguments).stdout
    gate = table.splitlines()[2]
    assert gate == (told.rstrip() or 'Gate passed: not worse by 0.1 or more')
    assert gate == written['gate']['words']
    rules = '95 % interval; worse: all below -0.1; not worse: all above -0.1'
    rules += '' if told else ', or no query differs'
    assert f'\n{first}: difference to best ({rules})\n' in table
    assert f'Claims are about {first}; MAP@1, MAP@10 and {second} are exploratory.' in table


def test_runs_do_not_pass_by_another_measure_if_the_first_is_left_out():
    """One query has no relevant shot, and so no RR."""
    arguments = of_runs(*'--queries queries.txt --measures RR --baseline best'.split())
    told = 'found no value of RR for some queries, expected one for each'
    assert told in refused('compare', *arguments, '--require-better', status=1)
    assert 'RR: left out, as some queries have no value' in output_of('compare', *arguments)


@pytest.mark.parametrize('n_videos', [49, 50])
def test_intervals_are_those_of_python(n_videos):
    """With 50 videos both cluster by video, without being asked, else neither does."""
    rows = [f'x v{n % n_videos} {n} name_{n // 26 + 97:c}{n % 26}' for n in range(60)]
    right = [f'{row} 0.9' for row in rows]
    Path('reference.txt').write_text('\n'.join(rows) + '\n')
    for name, lines in ('best', right), ('half', right[::2]):
        Path(f'{name}.txt').write_text('\n'.join(lines) + '\n')
    written = compared(files=['best.txt', 'half.txt'])
    scorer = AveragePrecision('reference.txt', [1, 10])
    comparison = compare([scorer.evaluate('best.txt'), scorer.evaluate('half.txt')])
    assert written == json.loads(comparison.to_json(per_query=False))
    cluster = 'video' if n_videos >= 50 else 'none'
    assert written['manifest']['parameters']['cluster'] == cluster


@pytest.mark.parametrize(
    'repeated',
    [
        '--where task=qa --where filter=7 --systems a,b',
        '--systems a --systems b --where task=qa,filter=7',
    ],
)
def test_an_option_that_is_repeated_adds_to_itself(repeated, tmp_path):
    """The last one alone would keep other rows, or other systems."""
    path = tmp_path / 'scores.csv'
    rows = [
        f'q{item},0.{item}{number}{len(task)},0.5,{number},{task}\n'
        for item in range(9)
        for number, task in [(7, 'qa'), (8, 'qa'), (7, 'sum')]
    ]
    path.write_text(f'item,a,b,filter,task\n{"".join(rows)}')
    once, repeatedly = (
        run('compare', str(path), *options.split(), '--format', 'csv').stdout
        for options in ('--systems a,b --where task=qa,filter=7', repeated)
    )
    assert once == repeatedly
    assert once.count('\n') == 3
