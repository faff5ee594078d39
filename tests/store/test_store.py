"""A store gives what the run gives that it was made of."""

import os
import pickle
import shutil
import warnings

import pytest
import strategies
from hypothesis import example, given
from hypothesis import strategies as st
from stores import about, stored, told

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import FormatError
from mediaeval_ap.store.store import open_store


@given(
    strategies.reference_rows,
    strategies.hypothesis_rows,
    strategies.cutoffs,
    strategies.subsets,
    st.sampled_from([each.name for each in definitions.registered()]),
    st.none() | st.lists(strategies.names, min_size=1),
)
@example(  # a run outside the subset
    reference=[('x', 'v', '1', 'a')],
    rows=[('x', 'v', '1', 'a', 0.5)],
    K=[1],
    subset={('y', 'v')},
    definition='trec',
    queries=None,
)
def test_a_store_scores_as_the_run(
    tmp_path_factory, reference, rows, K, subset, definition, queries
):
    K = strategies.allowed(K, definition)
    subset = subset and sorted(subset)
    if subset and not {row[:2] for row in reference} & set(subset):
        reference = [*reference, (*subset[0], '1', 'ab')]
    inside = [row for row in reference if not subset or row[:2] in subset]
    if queries is None and all(row[3].startswith('?') for row in inside):
        queries = ['ab']
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        average_precision = AveragePrecision(reference, K, subset=subset, definition=definition)
    store = stored(rows, tmp_path_factory.mktemp('store') / 'run.store', subset)
    in_memory = about(*told(average_precision.evaluate, rows, queries), '<hypothesis>')
    assert about(*told(average_precision.evaluate, store, queries), store.path) == in_memory
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        names = [*average_precision.queries, 'ab', 'nan']
        with average_precision(rows) as session, average_precision(store) as other:
            assert list(map(other.send, names)) == list(map(session.send, names))
        whole = average_precision.rank(rows, 'ab', 6)
        assert average_precision.rank(store, 'ab', 6).equals(whole)


def test_stores_of_the_same_run_are_equal(tmp_path):
    rows = [('x', 'v', str(number % 7), 'añn'[: number % 3 + 1], 0.5) for number in range(50)]
    one, other = stored(rows, tmp_path / 'one'), stored(rows, tmp_path / 'other')
    assert one.sha256 == other.sha256 != stored(rows[1:], tmp_path / 'less').sha256
    files = [path.name for path in (tmp_path / 'one').glob('*.npy')]
    assert len(files) == 17
    for name in files:
        assert (tmp_path / 'one' / name).read_bytes() == (tmp_path / 'other' / name).read_bytes()


def test_a_pickled_store_is_opened_again(tmp_path):
    store = stored([('x', 'v', '1', 'ann', 0.5)], tmp_path / 'run.store')
    text = pickle.dumps(store)
    assert len(text) < 500
    assert pickle.loads(text).sha256 == store.sha256
    stored([('x', 'v', '1', 'ann', 0.6)], tmp_path / 'run.store')
    with pytest.raises(OSError, match=r'run.store: is not the store that was copied'):
        pickle.loads(text)


def test_a_copied_session_needs_no_store(tmp_path):
    store = stored([('x', 'v', str(number), 'ann', 0.5) for number in range(50)], tmp_path / 's')
    session = AveragePrecision([('x', 'v', '1', 'ann')], [10])(store)
    text = pickle.dumps(session)
    shutil.rmtree(store.path)
    assert pickle.loads(text).send('ann') == session.send('ann')


def test_a_session_goes_on_when_its_store_is_replaced(tmp_path):
    path = tmp_path / 'run.store'
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], [10])
    stored([('x', 'v', '1', 'ann', 0.5)], path)
    with average_precision(path) as session:
        stored([('x', 'v', '2', 'ann', 0.5), ('x', 'v', '1', 'ann', 0.4)], path)
        assert session.send('ann').ap == [1.0]
    with average_precision(path) as session:
        assert session.send('ann').ap == [0.5]
    assert sorted(each.name for each in tmp_path.iterdir()) == ['run.store']


def test_a_store_is_found_from_another_folder(tmp_path, monkeypatch):
    """A relative path would be looked up in the new working directory."""
    monkeypatch.chdir(tmp_path)
    store = stored([('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'ann', 0.5)], 'run.store')
    monkeypatch.chdir(tmp_path.parent)
    store.check()
    for each in store, pickle.loads(pickle.dumps(store)):
        assert repr(each) == "Store('run.store', 2 hypotheses)"
        assert (each.path, each.folder) == ('run.store', os.path.realpath(tmp_path / 'run.store'))
        assert [(part.name, part.sha256) for part in each.sources] == [('<hypothesis>', None)]


def test_a_path_that_is_no_text(tmp_path):
    path = os.fsencode(tmp_path) + b'/run\xff.store'
    store = stored([('x', 'v', '1', 'ann', 0.5)], os.fsdecode(path))
    store.check()
    assert store.path == f'{tmp_path}/run\\xff.store'
    assert open_store(store.folder).sha256 == store.sha256
    assert pickle.loads(pickle.dumps(store)).sha256 == store.sha256


# A store of a subset is scored with this subset alone.

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'w', '1', 'ann'), ('y', 'v', '1', 'ann')]
ROWS = [(*row, 0.5) for row in REFERENCE]


ONE, TWO = [('x', 'v')], [('x', 'v'), ('x', 'w')]
OTHER_SUBSETS = [
    (ONE, None, "videos of '<subset>', expected none; score with the same --subset, or index the"),
    (None, ONE, "none, expected the videos of '<subset>'; index the run with --subset"),
    (ONE, TWO, "the videos of '<subset>', expected the videos of '<subset>'; index the run with"),
]


@pytest.mark.parametrize(('indexed', 'scored', 'message'), OTHER_SUBSETS)
def test_another_subset_is_refused(tmp_path, indexed, scored, message):
    store = stored(ROWS, tmp_path / 'run.store', indexed)
    average_precision = AveragePrecision(REFERENCE, [10], subset=scored)
    for ask in 'evaluate', '__call__', 'live', 'explain':
        with pytest.raises(FormatError, match=f'run.store, subset: found .*{message}'):
            getattr(average_precision, ask)(store)


def test_equal_subsets_of_other_rows_agree(tmp_path):
    """Videos in another order, and one of them twice."""
    store = stored(ROWS, tmp_path / 'run.store', [('x', 'v'), ('y', 'v')])
    subset = [('y', 'v'), ('x', 'v'), ('y', 'v')]
    average_precision = AveragePrecision(REFERENCE, [10], subset=subset)
    assert average_precision.evaluate(store).map.tolist() == [1.0]
