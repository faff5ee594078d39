"""A store that keeps what cutoffs up to K need scores them as the whole run."""

import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from stores import stored

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import FormatError
from mediaeval_ap.store.store import open_store


def kept_by_definition(rows, keep):
    """What has to be kept, hypothesis by hypothesis, straight from the rule."""
    kept = []
    for name in {row[3] for row in rows}:
        held = oracle.ranked([row for row in rows if row[3] == name], name)
        shots = []
        for rank, row in enumerate(held, 1):
            is_first = row[:3] not in shots and len(shots) < keep
            if row[:3] not in shots:
                shots.append(row[:3])
            if rank <= keep or is_first:
                kept.append(row)
    return kept


@given(strategies.hypothesis_rows, st.integers(1, 6))
def test_what_is_kept(tmp_path_factory, rows, keep):
    store = stored(rows, tmp_path_factory.mktemp('store') / 'run.store', keep=keep)
    ranking = store.ranking
    codes = ranking.codes(slice(None))
    held = zip(
        *(
            [texts[code] for code in codes[field].tolist()]
            for field, texts in ranking.texts.items()
        ),
        ranking.confidence_at.tolist(),
        strict=True,
    )
    assert sorted(held) == sorted(kept_by_definition(rows, keep))
    assert (len(store), store.n_hypotheses) == (len(kept_by_definition(rows, keep)), len(rows))


ROWS = [('x', 'v', str(number), 'ann', 0.5) for number in range(9)]
REFERENCE = [('x', 'v', '1', 'ann')]
DEEPER = {
    'evaluate': lambda deep, store: deep.evaluate(store),
    'a session': lambda deep, store: deep(store),
    'rank': lambda deep, store: deep.rank(store, 'ann'),
}
WHOLE = {
    'explain': lambda some, store: some.explain(store, k=2),
    'explain_at': lambda some, store: some.explain_at(store, K=[1, 2]),
    'live': lambda some, store: some.live(store),
    'report': lambda some, store: some.report({'a': store, 'b': ROWS}, k=2),
    'to_parquet': lambda _, store: open_store(store).to_parquet(store.with_suffix('.parquet')),
}


@pytest.mark.parametrize('ask', DEEPER.values(), ids=DEEPER)
def test_deeper_cutoffs_are_refused(tmp_path, ask):
    path = tmp_path / 'run.store'
    stored(ROWS, path, keep=3)
    for k, way in (4, 'with --keep 4 or without'), ('all', 'without'):
        with pytest.raises(FormatError) as caught:
            ask(AveragePrecision(REFERENCE, [1, k]), path)
        assert str(caught.value) == (
            f'{path}, cutoff: found {k}, expected at most 3, which this store keeps; ask for at '
            f'most 3 (-K, -n), or index the run {way} --keep'
        )


def test_a_deeper_cutoff_of_one_call(tmp_path):
    path = tmp_path / 'run.store'
    stored(ROWS, path, keep=3)
    average_precision = AveragePrecision(REFERENCE, [100])
    assert len(average_precision.rank(path, 'ann', 3)) == 3
    average_precision.export_trec(path, tmp_path / 'qrels', tmp_path / 'run', k=3)
    for ask in (
        lambda: average_precision.rank(path, 'ann', 4),
        lambda: average_precision.export_trec(path, tmp_path / 'qrels', tmp_path / 'run', k=4),
        lambda: AveragePrecision(REFERENCE, [1]).evaluate(path, measures='P@4'),
        lambda: AveragePrecision(REFERENCE, [4]).evaluate(path, ['zoe']),  # which has no hit
    ):
        found = (
            r'(cutoff: found 4, expected|measures: found P@4, .* of 1000 .* of) at most 3, which'
        )
        with pytest.raises(FormatError, match=found):
            ask()


@pytest.mark.parametrize('ask', WHOLE.values(), ids=WHOLE)
def test_what_needs_the_whole_run_is_refused(tmp_path, ask):
    path = tmp_path / 'run.store'
    stored(ROWS, path, keep=3)
    with pytest.raises(FormatError) as caught:
        ask(AveragePrecision(REFERENCE, [2]), path)
    assert str(caught.value) == (
        f'{path}: found a store that keeps what cutoffs up to 3 need, expected a whole run; index '
        'the run without --keep'
    )
