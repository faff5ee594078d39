"""A run of which no name is in the reference is told so, once, wherever it is scored."""

import pytest

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, index
from mediaeval_ap.errors import NoOverlapWarning

REFERENCE = [('x', 'v', str(shot), name) for shot in range(4) for name in ('ann_lee', 'bob_ray')]
REFERENCE += [('x', 'w', '1', 'zoe')]


def run(*names):
    return [('x', 'v', str(shot), name, 0.5 + shot / 10) for shot in range(3) for name in names]


CAUSES = {
    'case': (run('Ann_Lee', 'BOB_RAY'), "; equal but for case: 'Ann_Lee' here, 'ann_lee' there"),
    'separators': (run('ann-lee', 'spk1'), "; equal but for separators: 'ann-lee' here, 'ann_lee'"),
    'clusters': (run('SPEAKER_00', 'SPEAKER_01'), '; name people as the reference does'),
    'shots': ([(*row[:2], f'9{row[2]}', *row[3:]) for row in run('ann_lee')], ' (1 of 1 videos); '),
}
WAYS = {
    'evaluate': lambda scorer, rows, folder: scorer.evaluate(rows),
    'two jobs': lambda scorer, rows, folder: scorer.evaluate(rows, jobs=2),
    'session': lambda scorer, rows, folder: scorer(rows),
    'rank': lambda scorer, rows, folder: scorer.rank(rows, 'ann_lee'),
    'live': lambda scorer, rows, folder: scorer.live(rows).evaluate(),
    'store': lambda scorer, rows, folder: scorer.evaluate(index(rows, folder / 'stored')),
    'export_trec': lambda scorer, rows, folder: scorer.export_trec(
        rows, folder / 'qrels', folder / 'run'
    ),
    'report': lambda scorer, rows, folder: scorer.report({'a': rows, 'b': rows}),
}


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('cause', CAUSES)
def test_every_way_tells(way, cause, tmp_path):
    rows, told = CAUSES[cause]
    with pytest.warns(NoOverlapWarning) as caught:
        WAYS[way](AveragePrecision(REFERENCE, [1]), rows, tmp_path)
    (warning,) = caught
    found = '0 of 3 returned shots' if cause == 'shots' else '0 of 2 names'
    assert f': {found} occur in <reference>{told}' in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize('way', WAYS)
def test_one_name_is_enough(way, tmp_path):
    rows = [*run('SPEAKER_00', 'SPEAKER_01'), ('x', 'v', '1', 'ann_lee', 0.1)]
    WAYS[way](AveragePrecision(REFERENCE, [1]), rows, tmp_path)


def test_what_is_told_otherwise_or_not_at_all():
    scorer = AveragePrecision(REFERENCE, [1])
    with pytest.warns(NoOverlapWarning, match='0 of 3 returned shots') as caught:
        scorer.evaluate([(*row[:2], f'9{row[2]}', *row[3:]) for row in run('SPEAKER_00')])
    assert len(caught) == 1
    live = scorer.live()
    assert live.evaluate().warnings == ()
    live.send('ann_lee')
    live.extend(run('SPEAKER_00'))
    live.send('ann_lee')
    subset = AveragePrecision(REFERENCE, [1], subset=[('x', 'v')])
    assert subset.evaluate(run('zoe')).warnings == ()  # a name of the reference, elsewhere
    outside = [('x', 'y', '1', 'SPEAKER_00', 0.5)]
    with pytest.warns(NoOverlapWarning, match='none of its 1 hypotheses is in the') as caught:
        subset.evaluate(outside)
    assert len(caught) == 1


def test_answers_of_2015():
    discovery = PersonDiscovery2015([('v', '1'), ('v', '2')], [('v', '1', 'ann_lee')])
    with pytest.warns(NoOverlapWarning, match='^<hypothesis>: 0 of 2 names .* for case') as caught:
        discovery.evaluate([('v', '1', 'ANN_LEE', 0.5), ('v', '2', 'BOB', 0.4)])
    assert len(caught) == 1
    close = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann_lee')], ratio=0.8)
    assert close.evaluate([('v', '1', 'ann_leeh', 0.5)]).warnings == ()  # it answers the query
