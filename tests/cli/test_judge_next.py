"""The command `judge-next`: queues, judgements that come, and replays."""

import json

import pytest
from commands import run

from mediaeval_ap import AveragePrecision

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
ASKED = ['judge-next', 'reference.txt', 'a=run.txt', 'b=other.txt']


@pytest.fixture(autouse=True)
def campaign(folder):
    (folder / 'other.txt').write_text('x v 1 ann 0.9\nx w 1 ann 0.8\nx w 1 bob 0.5\n')


def test_a_queue_in_each_format():
    arguments = [*ASKED, '--strategy', 'rank-sum', '-n', '2']
    queue = AveragePrecision('reference.txt').judge_next(
        {'a': 'run.txt', 'b': 'other.txt'}, n=2, strategy='rank-sum'
    )
    first = queue.lines[0]
    done = run(*arguments)
    assert done.exit_code == 0
    assert '(rank-sum, by shot; 0 of 4 pool pairs are judged)' in done.stdout
    rows = run(*arguments, '--format', 'csv').stdout.splitlines()
    assert rows[0] == 'corpus_id,video_id,shot_id,score,reason'
    assert rows[1] == f'x,{first.video_id},{first.shot_id},{first.score},"{first.reason}"'
    lines = run(*arguments, '--format', 'jsonl').stdout.splitlines()
    assert json.loads(lines[0])['reason'] == first.reason
    written = json.loads(run(*arguments, '--format', 'json').stdout)
    assert [each['score'] for each in written['lines']] == [each.score for each in queue.lines]
    assert '| `x`' in run(*arguments, '--format', 'markdown').stdout


def test_what_is_judged_is_not_asked_again(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\n')
    done = run(*ASKED, '--judged', 'judged.txt', '--strategy', 'depth', '--format', 'csv')
    assert done.stdout.splitlines()[1:] == []
    (folder / 'judged.txt').write_text('x v 1\n')
    refused = run(*ASKED, '--judged', 'judged.txt', '--strategy', 'depth')
    assert (refused.exit_code, 'drop such rows by --judged-only' in refused.stderr) == (1, True)
    judged_only = ['--judged', 'judged.txt', '--judged-only', '--strategy', 'depth']
    rows = run(*ASKED, *judged_only, '--format', 'csv', '--queries', 'queries.txt').stdout
    assert [row.split(',')[1:3] for row in rows.splitlines()[1:]] == [['w', '1'], ['v', '2']]


def test_each_judgement_is_answered_with_the_next_line():
    given = 'x v 1 ann\nnobody\nx v 9\nx w 1 eve\n\nx w 1 bob\nx v 2\n'
    done = run(*ASKED, '--strategy', 'rank-sum', '--follow', input=given)
    lines = done.stdout.splitlines()
    assert [line.split('\t')[:3] for line in lines if 'error' not in line] == [
        ['x', 'w', '1'],
        ['x', 'w', '1'],
        ['x', 'v', '2'],
    ]
    assert [line for line in lines if 'error' in line] == [
        "nobody\terror: <stdin>, line 2: found 1 field in 'nobody', expected 3 fields: "
        'corpus_id video_id shot_id',
        "x v 9\terror: <stdin>, line 3: found 'x/v/9', expected a shot of the pool",
        "x w 1 eve\terror: <stdin>, line 4: found 'eve', expected the name of a query; leave "
        'others out',
        '\terror: <stdin>, line 5: found an empty line, expected 3 fields: corpus_id video_id '
        'shot_id',
    ]
    assert done.exit_code == 1
    assert done.stderr == 'all is judged\nError: <stdin>: 4 of 7 lines are not judgements\n'


def test_pairs_are_judged_by_name_and_relevance():
    arguments = [*ASKED, '--strategy', 'depth', '--by', 'pair', '--follow', '--format', 'jsonl']
    done = run(*arguments, input='x v 1 ann 1\nx w 1 bob 3\n')
    first, second, error = map(json.loads, done.stdout.splitlines())
    assert (first['shot_id'], first['person_name']) == ('1', 'ann')
    assert (second['video_id'], second['person_name']) == ('w', 'bob')
    assert error['error'].startswith('<stdin>, line 2: found ')
    assert 'with 0 or 1' in error['error']


def test_the_answers_are_those_of_python():
    """The model is fitted again after each judgement, so a queue made anew has the same line."""
    done = run(*ASKED, '--follow', '--by', 'pair', input='x v 1 ann 1\nx w 1 ann 0\n')
    scores = [line.split('\t')[4] for line in done.stdout.splitlines()]
    for n, judged in enumerate(([], [('x', 'v', '1', 'ann', 1)])):
        again = AveragePrecision([row[:4] for row in judged], judged=judged).judge_next(
            {'a': 'run.txt', 'b': 'other.txt'}, ['ann', 'bob'], by='pair'
        )
        assert scores[n] == str(again.lines[0].score)


def test_a_replay(folder):
    done = run(*ASKED, '--replay', 'reference.txt', '-K', '10')
    assert done.exit_code == 0
    assert (
        'Judgements until tau-b stays at 0.95 or above (by shot, MAP@10, 4.4 s each' in done.stdout
    )
    chosen = ['--strategy', 'depth,random', '--seconds-each', '3600']
    rows = run(*ASKED, '--replay', 'reference.txt', *chosen, '--format', 'csv').stdout.splitlines()
    assert [row.split(',')[0] for row in rows] == ['strategy', *['depth'] * 2, *['random'] * 2]
    assert [row.split(',')[1] == f'{float(row.split(",")[-1]):g}' for row in rows[1:]] == [True] * 4
    drawn = run(*ASKED, '--replay', 'reference.txt', '--plot', 'found', '--format', 'svg')
    assert drawn.stdout.startswith('<svg')
    run(*ASKED, '--replay', 'reference.txt', '--plot', 'order', '-o', 'order.png')
    assert (folder / 'order.png').read_bytes()[1:4] == b'PNG'


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--strategy', 'best'], "found 'best', expected one of mtc"),
        (['--strategy', 'mtc,depth'], 'several strategies are of --replay'),
        (['--plot', 'order'], 'figures and several strategies are of --replay'),
        (['--replay', 'reference.txt', '--follow'], '--replay starts with nothing judged'),
        (['--replay', 'reference.txt', '--judged', 'run.txt'], '--replay starts with nothing'),
        (['--replay', 'reference.txt', '--plot', 'order'], 'found --plot order and format table'),
        (['--replay', 'reference.txt', '--plot', 'order', '--format', 'png'], 'is not text'),
        (['--follow', '-n', '3'], '-n: --follow goes on until all is judged'),
        (['--follow', '--format', 'csv'], '--follow writes to standard output'),
        (['--seconds-each', '0'], 'expected a number above 0'),
    ],
)
def test_wrong_options(options, message):
    done = run(*ASKED, *options)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
