"""The command `judge-next`: queues in each format."""

import json

import pytest
from commands import run

from mediaeval_ap import AveragePrecision

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
ASKED = ['judge-next', 'reference.txt', 'a=run.txt', 'b=other.txt']


@pytest.fixture(autouse=True)
def campaign(folder):
    (folder / 'other.txt').write_text('x v 1 ann 0.9\nx w 1 ann 0.8\nx w 1 bob 0.5\n')
    (folder / 'empty.txt').touch()


def test_a_queue_in_each_format():
    unjudged = ['judge-next', 'empty.txt', *ASKED[2:], '--judged', 'empty.txt']
    arguments = [*unjudged, '--queries', 'queries.txt', '--strategy', 'rank-sum', '-n', '2']
    queue = AveragePrecision([], judged=[]).judge_next(
        {'a': 'run.txt', 'b': 'other.txt'}, 'queries.txt', n=2, strategy='rank-sum'
    )
    first = queue.lines[0]
    done = run(*arguments)
    assert done.exit_code == 0
    assert '(rank-sum, by shot; 0 of 4 pool pairs are judged)' in done.stdout
    rows = run(*arguments, '--format', 'csv').stdout.splitlines()
    assert rows[0] == 'corpus_id,video_id,shot_id,score,reason'
    assert rows[1] == f'x,{first.video_id},{first.shot_id},{first.score},{first.reason}'
    lines = run(*arguments, '--format', 'jsonl').stdout.splitlines()
    assert json.loads(lines[0])['reason'] == first.reason
    written = json.loads(run(*arguments, '--format', 'json').stdout)
    assert [each['score'] for each in written['lines']] == [each.score for each in queue.lines]
    assert '| `x`' in run(*arguments, '--format', 'markdown').stdout


def test_without_a_judged_list_the_reference_is_judged():
    """All shots of the runs are in the reference, but w 1 is not there for ann."""
    assert run(*ASKED, '--strategy', 'depth', '--format', 'csv').stdout.splitlines()[1:] == []
    by_pair = ['--by', 'pair', '--strategy', 'depth', '--format', 'csv']
    assert run(*ASKED, *by_pair).stdout.splitlines()[1:] == [
        'x,w,1,ann,0.5,1 of 2 runs ranks it 2; '
        '1 run does not have it in its first 20 under a near name'
    ]
    mtc = run(*ASKED, '--by', 'pair', '--format', 'csv')  # fitted to judgements
    assert [row.split(',')[:4] for row in mtc.stdout.splitlines()[1:]] == [['x', 'w', '1', 'ann']]


def test_what_is_judged_is_not_asked_again(folder):
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\n')
    done = run(*ASKED, '--judged', 'judged.txt', '--strategy', 'depth', '--format', 'csv')
    assert done.stdout.splitlines()[1:] == []
    (folder / 'judged.txt').write_text('x v 1\n')
    refused = run(*ASKED, '--judged', 'judged.txt', '--strategy', 'depth')
    assert (refused.exit_code, 'drop such rows by --drop-unjudged-rows' in refused.stderr) == (
        1,
        True,
    )
    drop_unjudged_rows = ['--judged', 'judged.txt', '--drop-unjudged-rows', '--strategy', 'depth']
    rows = run(*ASKED, *drop_unjudged_rows, '--format', 'csv', '--queries', 'queries.txt').stdout
    assert [row.split(',')[1:3] for row in rows.splitlines()[1:]] == [['w', '1'], ['v', '2']]
