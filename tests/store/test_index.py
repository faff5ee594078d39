"""A store that is built out of core has the files of one that is written from memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import index
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store import external_sort, spool
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, parts, read

SMALL = {  # a few keys, rows and bytes at a time, so that little data takes many steps
    (external_sort, 'RUN_KEYS'): 5,
    (external_sort, 'MERGED_KEYS'): 4,
    (spool, 'CHUNK_ROWS'): 3,
    (parts, 'BLOCK_BYTES'): 16,
    (parts, 'BLOCKS_OF_PART'): 2,
}


@pytest.fixture(params=['small', 'large'], scope='module')
def steps(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == 'small':
            for (module, name), value in SMALL.items():
                patch.setattr(module, name, value)
            patch.setattr(external_sort, 'LARGEST_TABLE', 2)
        yield


def in_memory(rows, path, keep=None, subset=None):
    """The files of the store that the reference implementation writes."""
    table = read(rows, HYPOTHESIS)
    n_read = len(table)
    if subset is not None:
        subset = read(subset, SUBSET)
        table = table.select(table.within(subset))
    return files(write_store(Ranking(table), path, keep=keep, subset=subset, n_read=n_read))


def files(store):
    columns = store.manifest.columns
    return {name: (each.dtype, each.shape, each.sha256) for name, each in columns.items()} | {
        'counts': store.manifest.counts,
        'keep': store.manifest.keep,
    }


def as_text(rows):
    return ''.join(' '.join([*ids, repr(confidence)]) + '\n' for *ids, confidence in rows)


confidences = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1e-300, 3.0])
ids = st.sampled_from(['1', '01', '10', 'v', 'ä', '\U0001f600'])
people = st.text('abß', min_size=1, max_size=3) | st.sampled_from(['\U0001f600' * 40, 'a' * 70])
rows = st.lists(
    st.tuples(st.sampled_from(['TV', 'x']), ids, ids, people, confidences), min_size=1, max_size=60
)
skewed = st.builds(
    lambda row, times, others: [*[row] * times, *others],
    st.tuples(st.just('TV'), ids, ids, people, confidences),
    st.integers(1, 40),
    rows,
)


@given(
    rows | skewed,
    st.none() | st.integers(1, 4),
    st.none() | st.sets(st.tuples(st.just('TV'), ids), min_size=1),
)
def test_files_are_those_of_a_store_from_memory(steps, tmp_path_factory, rows, keep, subset):
    folder = tmp_path_factory.mktemp('index')
    subset = None if subset is None else sorted(subset)
    expected = in_memory(rows, folder / 'memory.store', keep, subset)
    (folder / 'run.txt').write_text(as_text(rows), encoding='utf-8')
    store = index(folder / 'run.txt', folder / 'run.store', keep=keep, subset=subset)
    assert files(store) == expected
    assert sorted(each.name for each in folder.iterdir()) == [
        'memory.store',
        'run.store',
        'run.txt',
    ]
