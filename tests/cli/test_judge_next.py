"""The command `judge-next`: queues in each format."""

import json

import pytest
from commands import json_of, output_of, refused

from mediaeval_ap import AveragePrecision

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
ASKED = ['judge-next', 'reference.txt', 'a=run.txt', 'b=other.txt']


def rows_of(*options):
    return output_of(*ASKED, *options, '--format', 'csv').splitlines()[1:]


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
    assert '(rank-sum, by shot; 0 of 4 pool pairs are judged)' in output_of(*arguments)
    rows = output_of(*arguments, '--format', 'csv').splitlines()
    assert rows[0] == 'corpus_id,video_id,shot_id,score,reason,queries'
    names = ', '.join(first.queries)
    names = f'"{names}"' if ',' in names else names
    assert rows[1] == f'x,{first.video_id},{first.shot_id},{first.score},{first.reason},{names}'
    lines = output_of(*arguments, '--format', 'jsonl').splitlines()
    assert json.loads(lines[0])['reason'] == first.reason
    written = json_of(*arguments)['lines']
    assert [each['score'] for each in written] == [each.score for each in queue.lines]
    assert '| `x`' in output_of(*arguments, '--format', 'markdown')


def test_without_a_judged_list_the_reference_is_judged():
    """All shots of the runs are in the reference, but w 1 is not there for ann."""
    assert rows_of('--strategy', 'depth') == []
    assert rows_of('--strategy', 'depth', '--by', 'pair') == [
        'x,w,1,ann,0.5,1 of 2 runs ranks it 2; '
        '1 run does not have it in its first 20 under a near name'
    ]
    (fitted_to_judgements,) = rows_of('--by', 'pair')
    assert fitted_to_judgements.startswith('x,w,1,ann,')


def test_what_is_judged_is_not_asked_again(folder):
    judged = '--judged', 'judged.txt', '--strategy', 'depth'
    (folder / 'judged.txt').write_text('x v 1\nx v 2\nx w 1\n')
    assert rows_of(*judged) == []
    (folder / 'judged.txt').write_text('x v 1\n')
    assert 'drop such rows by --drop-unjudged-rows' in refused(*ASKED, *judged, status=1)
    rows = rows_of(*judged, '--drop-unjudged-rows', '--queries', 'queries.txt')
    assert [row.split(',')[1:3] for row in rows] == [['w', '1'], ['v', '2']]
