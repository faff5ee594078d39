"""What a user meets: arguments, sessions, evaluations, ranked lists, warnings."""

import hashlib
import json
import warnings
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas
import pytest

import mediaeval_ap
from mediaeval_ap import AveragePrecision, definitions, errors
from mediaeval_ap.ranking import edit_distances

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann'), ('x', 'w', '1', 'bob')]
RUN = [
    ('x', 'v', '1', 'ann', 0.9),
    ('x', 'w', '2', 'anne', 0.8),
    ('x', 'v', '2', 'ann', 0.7),
    ('x', 'w', '1', 'bob', 0.5),
]


@pytest.fixture
def average_precision():
    return AveragePrecision(REFERENCE, K=[3, 1])


def test_public_arguments():
    average_precision = AveragePrecision(REFERENCE)
    assert average_precision.K == [1, 10, 100, 1000]
    assert average_precision.queries == ['ann', 'bob']
    assert str(average_precision.definition) == 'mediaeval-2016'
    for name in 'K', 'definition':
        with pytest.raises(AttributeError):
            setattr(average_precision, name, None)
    for owned in average_precision.K, average_precision.queries:
        owned.append('mine')
    assert (average_precision.K[-1], average_precision.queries[-1]) == (1000, 'bob')


@pytest.mark.parametrize('K', [(10, 1), range(1, 3), np.array([2, 3])])
def test_cutoffs_as_given(K):
    assert AveragePrecision(REFERENCE, K).K == AveragePrecision(REFERENCE, iter(K)).K == list(K)
    assert {type(k) for k in AveragePrecision(REFERENCE, K).K} == {int}


@pytest.mark.parametrize('k', [np.int64(10), np.str_('all')])
def test_one_cutoff_is_a_list_of_one(k):
    assert AveragePrecision(REFERENCE, k).K == AveragePrecision(REFERENCE, [k]).K == [k]


@pytest.mark.parametrize(
    'K',
    [
        *([], 0, [-1], [1.0], [True], ['1'], '12', b'12', None, [1, None], [2**63], [np.nan]),
        *('ALL', [b'all'], [np.array(['all'])]),
    ],
)
def test_cutoffs_that_mean_nothing(K):
    with pytest.raises(errors.ParameterError, match=r'K: found .*, expected .*positive integers'):
        AveragePrecision(REFERENCE, K)


@pytest.mark.parametrize(
    ('K', 'found'), [([5, 5], '5'), ([1, 5, 2, np.int8(5), 1], '1'), (['all', 1, 'all'], 'all')]
)
def test_a_cutoff_is_given_once(K, found):
    with pytest.raises(errors.ParameterError, match=f'^K: found {found} twice, expected each'):
        AveragePrecision(REFERENCE, K)


def test_uncut_average_precision():
    average_precision = AveragePrecision(REFERENCE, [2, 'all', 1], definition='trec')
    assert average_precision.K == [2, 'all', 1]
    evaluation = average_precision.evaluate(RUN, ['ann', 'bob'])
    # ann's two shots stand at ranks 1 and 2, bob's one at rank 1
    assert evaluation.ap.tolist() == [[1.0, 1.0, 0.5], [1.0, 1.0, 1.0]]
    assert evaluation.to_frame().columns.tolist() == ['AP@2', 'AP', 'AP@1', 'n_relevant']
    assert evaluation.to_dict()['manifest']['parameters'] == {'K': [2, 'all', 1]}
    run = [('x', 'v', str(shot), 'ann', -shot) for shot in range(5000)]
    far = AveragePrecision([('x', 'v', '4999', 'ann')], ['all', 1000], definition='hits')
    assert far(run).send('ann')[0] == [1 / 5000, 0.0]
    assert len(far.rank(run, 'ann')) == 5000


def test_the_cutoff_all_and_the_largest_are_two():
    evaluation = AveragePrecision(REFERENCE, [2**63 - 1, 'all']).evaluate(RUN)
    assert evaluation.ap[:, 0].tolist() == evaluation.ap[:, 1].tolist()
    huge = AveragePrecision(REFERENCE, [2**63 - 1], definition='by-k').evaluate(RUN, ['bob'])
    assert huge.ap.tolist() == [[1 / (2**63 - 1)]]  # bob is found at rank 1


def test_what_divides_by_k_has_no_uncut_value():
    mine = replace(definitions.get('kaggle'), name='mine', denominator=('k',))
    with pytest.raises(errors.ParameterError, match=r'^K: found all, .* mine.* divides by k$'):
        AveragePrecision(REFERENCE, [1, 'all'], definition=mine)


@pytest.mark.parametrize('definition', ['map', None, []])
def test_unknown_definition_lists_the_known(definition):
    with pytest.raises(errors.ParameterError, match='by-k, hits, kaggle, map-at-r'):
        AveragePrecision(REFERENCE, definition=definition)


def test_session_is_a_primed_generator(average_precision):
    session = average_precision(RUN)
    assert isinstance(session, Generator)
    # ann's two shots stand at ranks 1 and 2, bob's one at rank 1
    assert session.send('ann') == ([1.0, 1.0], 2)
    assert session.send('bob') == ([1.0, 1.0], 1)
    ap, n_relevant = session.send('nobody')
    assert (ap, n_relevant) == ([1.0, 1.0], 0)
    assert [type(value) for value in (*ap, n_relevant)] == [float, float, int]


@pytest.mark.parametrize('query', ['', 7, b'ann', ['ann'], float('nan'), '\ud800', 'ann\n'])
def test_bad_query_does_not_end_the_session(average_precision, query):
    session = average_precision(RUN)
    with pytest.raises(errors.ParameterError, match=r'query: found .*, expected non-empty text'):
        session.send(query)
    assert session.send('ann') == ([1.0, 1.0], 2)


@pytest.fixture(params=['session', 'live'])
def any_session(request, average_precision):
    return average_precision(RUN) if request.param == 'session' else average_precision.live(RUN)


@pytest.mark.parametrize('ask', [next, lambda session: session.send(None), list, dict.fromkeys])
def test_none_is_no_name_and_ends_nothing(any_session, ask):
    """`next()` and `send(None)` once ended a session in silence."""
    with pytest.raises(errors.ParameterError, match=r'found None, .* needs no priming, and'):
        ask(any_session)
    assert any_session.send('ann') == ([1.0, 1.0], 2)


def test_answers_have_names(any_session):
    answer = any_session.send('ann')
    assert isinstance(answer, mediaeval_ap.Answer)
    assert (answer.ap, answer.n_relevant) == answer == ([1.0, 1.0], 2)


def throw(session):
    with pytest.raises(KeyError, match='mine'):
        session.throw(KeyError('mine'))


CLOSING = {
    'close': lambda session: session.close(),
    'with': lambda session: session.__exit__(None, None, None),
    'throw': throw,
}


@pytest.mark.parametrize('close', CLOSING.values(), ids=CLOSING)
def test_a_closed_session_says_so(any_session, close):
    """A closed session once raised `StopIteration`, so that `map` came back short."""
    with any_session:
        assert any_session.send('ann').n_relevant == 2
        close(any_session)
    any_session.close()  # again, which does nothing
    for call in (
        *(lambda: any_session.send('ann'), lambda: any_session.send(None), any_session.__next__),
        *(lambda: list(any_session), lambda: any_session.throw(KeyError('mine'))),
        any_session.__enter__,
    ):
        with pytest.raises(errors.SessionClosedError, match='closed; begin another one'):
            call()


def test_a_closed_live_session_does_nothing(average_precision):
    live = average_precision.live(RUN)
    live.close()
    for call in (
        *(lambda: live.add(RUN[0]), lambda: live.extend(RUN), lambda: live.remove(RUN[0])),
        *(lambda: live.update(RUN[0], confidence=0.1), live.evaluate, live.snapshot),
        *(lambda: len(live), lambda: RUN[0] in live),
    ):
        with pytest.raises(errors.SessionClosedError):
            call()


def test_manifest(tmp_path):
    reference = tmp_path / 'reference.txt'
    reference.write_text(''.join(' '.join(row) + '\n' for row in REFERENCE))
    subset = [('x', 'v'), ('x', 'v'), ('y', 'v')]
    evaluation = AveragePrecision(reference, [5], subset=subset).evaluate(RUN)
    document = json.loads(json.dumps(evaluation.to_dict()))
    digest = hashlib.sha256(reference.read_bytes()).hexdigest()
    assert document == {
        'kind': 'evaluation',
        'run': '<hypothesis>',
        'means': {'MAP@5': 1.0},
        'mean_counts': {'MAP@5': 1},
        'n_queries': 1,
        'queries': [{'query': 'ann', 'AP@5': 1.0, 'n_relevant': 2}],
        'notes': [
            'Scored all reference names in the subset. If the campaign has its own list of '
            'queries, give it by --queries FILE'
        ],
        'manifest': {
            'version': mediaeval_ap.__version__,
            'definition': definitions.get('mediaeval-2016').to_dict(),
            'parameters': {'K': [5]},
            'inputs': {
                'reference': {'name': str(reference), 'sha256': digest},
                'hypothesis': {'name': '<hypothesis>', 'sha256': None},
                'subset': {'name': '<subset>', 'sha256': None},
            },
            'counts': {
                'queries': 1,
                'queries_without_relevant': 0,
                'placeholders': 0,
                'reference_rows': 2,
                'hypotheses': 2,
                'names': 1,
                'names_in_reference': 1,
                'videos': 1,
                'videos_in_reference': 1,
                'shots': 2,
                'shots_in_reference': 2,
                'subset_videos': 2,
            },
        },
    }


@pytest.mark.parametrize('queries', [[], ['ann', None], 3, ['ann\n']])
def test_queries_that_are_no_names(average_precision, queries):
    with pytest.raises(errors.Error):
        average_precision.evaluate(RUN, queries)


def test_repeated_queries_are_counted(average_precision):
    with pytest.warns(errors.DataWarning, match='2 of 4 queries repeat'):
        evaluation = average_precision.evaluate(RUN[2:], ['ann', 'bob', 'bob', 'bob'])
    assert evaluation.map.tolist() == [0.875, 1.0]


def test_run_left_empty_by_the_subset():
    average_precision = AveragePrecision(REFERENCE, [1], subset=[('x', 'w')])
    with pytest.warns(errors.NoOverlapWarning, match='none of its 2 hypotheses is in the subset'):
        evaluation = average_precision.evaluate([RUN[0], RUN[2]], ['bob', 'ann'])
    assert evaluation.ap.tolist() == [[0.0], [1.0]]
    with pytest.warns(errors.NoOverlapWarning):
        assert len(average_precision.rank([RUN[0]], 'bob')) == 0


def test_repeated_hypotheses_are_kept(average_precision):
    with pytest.warns(errors.DataWarning, match='<hypothesis>: 1 of 5 rows repeat .* are kept'):
        session = average_precision([*RUN, RUN[0]])
    with pytest.warns(errors.DataWarning, match='trec, kaggle, .*: ann$'):
        ap, _ = session.send('ann')
    assert ap == [1.5, 1.0]
    with (
        pytest.warns(errors.DataWarning, match='an AP above 1'),
        pytest.warns(errors.DataWarning, match='1 of 5 rows'),
    ):
        evaluation = average_precision.evaluate([*RUN, RUN[0]], ['ann'])
    (note,) = evaluation.notes
    assert note.startswith('1 of 1 queries have an AP above 1: mediaeval-2016 counts a shot each')


def test_repeated_reference_rows_count_where_repeats_do():
    repeated = [*REFERENCE, REFERENCE[0]]
    with pytest.warns(errors.DataWarning, match='1 of 4 rows repeat .* are kept'):
        kept = AveragePrecision(repeated, [3])
    with pytest.warns(errors.DataWarning, match='1 of 4 rows repeat .* are counted once'):
        dropped = AveragePrecision(repeated, [3], definition='trec')
    assert kept(RUN).send('ann') == ([2 / 3], 3)
    assert dropped(RUN).send('ann') == ([1.0], 2)


@pytest.mark.parametrize(
    ('n_names', 'named'),
    [(6, 'name3, name4 and 1 more$'), (5, 'name3, name4$')],
)
def test_warning_names_a_few_queries_and_counts_the_rest(n_names, named):
    names = [f'name{i}' for i in range(n_names)]
    reference = [('x', name, '1', name) for name in names]
    run = [(*row, confidence) for row in reference for confidence in (1.0, 2.0)]
    with pytest.warns(errors.DataWarning, match=f'name0, name1, .*{named}'):
        AveragePrecision(reference, [2]).evaluate(run)


def test_only_counting_again_is_warned_of():
    """A definition of one's own may exceed 1 for reasons of its own."""
    deep = replace(definitions.get('by-k'), name='deep', depth=('N',))
    evaluation = AveragePrecision(REFERENCE, [1, 4], definition=deep).evaluate(RUN, ['ann'])
    ap, _ = AveragePrecision(REFERENCE, [1, 4], definition=deep)(RUN).send('ann')
    assert evaluation.ap.tolist() == [ap]
    assert ap[0] > 1


def test_ranked_list(average_precision):
    table = average_precision.rank(RUN, 'ann', k=3)
    expected = [
        [1, 'x', 'v', '1', 'ann', 0.0, 0.9, 1, True, 1.0],
        [2, 'x', 'v', '2', 'ann', 0.0, 0.7, 1, True, 1.0],
        [3, 'x', 'w', '2', 'anne', 0.25, 0.8, 1, False, 2 / 3],
    ]
    assert table.values.tolist() == expected
    assert [*table][:6] == ['rank', 'corpus_id', 'video_id', 'shot_id', 'person_name', 'distance']
    assert [*table][6:] == ['confidence', 'temporal_rank', 'relevant', 'precision']
    with pytest.raises(errors.ParameterError):
        average_precision.rank(RUN, '')
    with pytest.raises(errors.ParameterError):
        average_precision.rank(RUN, 'ann', k=0)


def test_ranked_list_is_as_scored():
    run = [*RUN, ('x', 'v', '1', 'ann', 0.1)]

    def relevant(definition):
        table = AveragePrecision(REFERENCE, definition=definition).rank(run, 'ann')
        return table['relevant'].tolist()

    assert relevant('mediaeval-2016') == [True, True, True, False, False]
    assert relevant('kaggle') == [True, True, False, False, False]
    assert relevant('trec') == [True, True, False, False]


def test_the_frame_of_a_caller_stays(average_precision):
    names = ['corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence']
    frame = pandas.DataFrame(RUN, columns=names)
    average_precision.evaluate(frame)
    pandas.testing.assert_frame_equal(frame, pandas.DataFrame(RUN, columns=names))


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        AveragePrecision([*REFERENCE, REFERENCE[0]])
        average_precision = AveragePrecision(REFERENCE, subset=[('x', 'v')])
        average_precision([*RUN, RUN[0]]).send('ann')
        average_precision.evaluate([RUN[1]], ['ann', 'ann'])
        average_precision.rank([RUN[0], RUN[0]], 'ann')
    assert len(caught) == 6
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.usefixtures('side_by_side')
def test_one_session_in_many_threads(monkeypatch):
    monkeypatch.setattr(edit_distances, 'CACHED_BYTES', 100)  # so that threads drop letters, too
    names = [f'name{i}' for i in range(40)]
    reference = [('x', f'v{i % 7}', str(j), name) for i, name in enumerate(names) for j in range(i)]
    run = [(*row, float(i % 3)) for i, row in enumerate(reference) if i % 4]
    session = AveragePrecision(reference, [10], definition='kaggle')(run)
    expected = [session.send(name) for name in names]
    with ThreadPoolExecutor(8) as threads:
        for answers in threads.map(lambda _: [session.send(name) for name in names], range(40)):
            assert answers == expected
