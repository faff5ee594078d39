"""Evaluations in blocks equal those of one process, however they are shared and interrupted."""

import io
import os
import tempfile
import warnings
from pathlib import Path

import pandas
import process_tasks
import pytest
from block_folders import blocks_in, kept_in
from hypothesis import given
from hypothesis import strategies as st
from strategies import allowed, cutoffs, examples, hypothesis_rows, names, reference_rows, subsets

from mediaeval_ap import AveragePrecision, Live, Part, choices, collect, definitions
from mediaeval_ap.errors import DataWarning, FormatError, ParameterError, ReadError
from mediaeval_ap.execute import evaluating, plan, processes
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import HYPOTHESIS, read


def with_warnings(call):
    """What a call returns, and the warnings that it gives out."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        result = call()
    return result, [(type(each.message), str(each.message)) for each in found]


def same(one, other):
    assert one.to_dict() == other.to_dict()
    assert one.to_json(per_query=True) == other.to_json(per_query=True)
    assert one.ap.tobytes() == other.ap.tobytes()
    assert one.notes == other.notes


@st.composite
def evaluations(draw):
    """What to evaluate, with how, and the size of blocks."""
    definition = draw(st.sampled_from(definitions.names()))
    reference, subset = draw(reference_rows), draw(subsets)
    if subset is not None:
        subset |= {reference[0][:2]}  # else the reference may be empty
    policy = draw(st.sampled_from(choices.WITHOUT_RELEVANT))
    average_precision = with_warnings(
        lambda: AveragePrecision(
            reference,
            allowed(draw(cutoffs), definition),
            subset=subset,
            definition=definition,
            queries_without_relevant=policy,
        )
    )[0]
    asked = draw(st.lists(names, min_size=1, max_size=9))
    if policy == 'skip':
        asked.append(reference[0][3])  # else nothing may be left to score
    queries = draw(st.sampled_from([asked, None])) if average_precision.queries else asked
    return average_precision, draw(hypothesis_rows), queries, draw(st.integers(1, 4))


def equal_in_parts(average_precision, rows, queries, options, n_parts, order):
    whole, told = with_warnings(lambda: average_precision.evaluate(rows, queries, **options))
    with tempfile.TemporaryDirectory() as folder:
        options = {**options, 'resume': Path(folder, 'blocks')}
        parts, told_of_run = with_warnings(
            lambda: [
                average_precision.evaluate_part(rows, queries, part=(i, n_parts), **options)
                for i in order
            ]
        )
        assert sum(part.found for part in parts) == 0
        assert sum(part.computed for part in parts) == len(blocks_in(options['resume']))
        (collected,), told_of_values = with_warnings(lambda: collect(options['resume']))
        same(collected, whole)
        assert [*dict.fromkeys(told_of_run), *told_of_values] == told
        again, told_again = with_warnings(
            lambda: average_precision.evaluate(rows, queries, **options)
        )
        same(again, whole)
        assert told_again == told


@given(evaluations(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_parts_in_any_order_equal_the_whole(evaluation, n_parts, draw):
    *given, block_queries = evaluation
    order = draw.sample(range(1, n_parts + 1), n_parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, 'BLOCK_QUERIES', block_queries)
        equal_in_parts(*given, {}, n_parts, order)


@examples(0.3)  # ir_measures takes some milliseconds for each block
@given(evaluations())
def test_parts_with_measures_equal_the_whole(evaluation):
    *given, block_queries = evaluation
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, 'BLOCK_QUERIES', block_queries)
        equal_in_parts(*given, {'measures': 'nDCG@10 P@5 RR'}, 2, (2, 1))


@given(evaluations(), st.randoms(use_true_random=False))
def test_what_is_missing_is_computed_again(evaluation, draw):
    average_precision, rows, queries, block_queries = evaluation
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(plan, 'BLOCK_QUERIES', block_queries)
        whole, _ = with_warnings(lambda: average_precision.evaluate(rows, queries, resume=folder))
        files = blocks_in(Path(folder))
        lost = draw.sample(files, draw.randint(0, len(files)))
        content = {path: path.read_bytes() for path in files}
        for path in lost:
            path.unlink()
        part, _ = with_warnings(
            lambda: average_precision.evaluate_part(rows, queries, part=(1, 1), resume=folder)
        )
        assert part == (len(lost), len(files) - len(lost))
        assert {path: path.read_bytes() for path in blocks_in(Path(folder))} == content
        same(with_warnings(lambda: collect(folder))[0][0], whole)


def rows_of(path):
    return list(read(path, HYPOTHESIS).rows())


RUNS = {
    'path': lambda path: path,
    'rows': rows_of,
    'rows that can be taken once': lambda path: iter(rows_of(path)),
    'frame': lambda path: pandas.DataFrame(rows_of(path), columns=HYPOTHESIS.fields),
    'table': lambda path: read(path, HYPOTHESIS),
    'open file': lambda path: io.BytesIO(Path(path).read_bytes()),
    'snapshot': lambda path: snapshot_of(path),
    'store': lambda path: store_of(path),
    'path of a store': lambda path: store_of(path).path,
}


def open_files():
    return len(os.listdir('/proc/self/fd'))


def store_of(path, **options):
    return write_store(Ranking(read(path, HYPOTHESIS)), 'run.store', **options)


def snapshot_of(path):
    live = AveragePrecision('reference.txt', definition='trec').live(path)
    assert isinstance(live, Live)
    return live.snapshot()


@pytest.mark.parametrize('kind', RUNS)
def test_runs_from_anywhere(campaign, kind):
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    whole = average_precision.evaluate(RUNS[kind]('run.txt'))
    part = average_precision.evaluate_part(RUNS[kind]('run.txt'), part=(2, 3), resume='out')
    assert (part.computed > 1, part.found) == (True, 0)
    same(average_precision.evaluate(RUNS[kind]('run.txt'), resume='out'), whole)
    same(collect('out')[0], whole)


@pytest.mark.parametrize('kind', ['path', 'frame', 'store'])
@pytest.mark.parametrize('measures', ['', 'RR'])
def test_processes_share_what_is_missing(campaign, monkeypatch, kind, measures):
    monkeypatch.setattr(evaluating, 'pays', lambda *_: True)
    monkeypatch.setattr(processes, 'results', process_tasks.here)
    average_precision = AveragePrecision('reference.txt', [5, 'all'], definition='trec')
    options = {'measures': measures}
    whole = average_precision.evaluate(RUNS[kind]('run.txt'), **options)
    options |= {'resume': 'out', 'jobs': 3}
    part = average_precision.evaluate_part(RUNS[kind]('run.txt'), part=(1, 2), **options)
    assert part == (len(blocks_in(Path('out'))), 0)
    same(average_precision.evaluate(RUNS[kind]('run.txt'), **options), whole)
    same(collect('out')[0], whole)
    assert [path for path in Path('out').iterdir() if path.name.startswith('.')] == []


@pytest.mark.parametrize('kind', sorted(RUNS.keys() - {'path'}))
def test_another_run_in_memory_is_another_plan(campaign, kind):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    average_precision.evaluate_part(RUNS[kind]('run.txt'), part=(1, 9), resume='out')
    with pytest.raises(FormatError, match=r'out/plan\.json, run 1: found .* \(SHA-256 .*, expecte'):
        average_precision.evaluate_part(RUNS[kind]('other.txt'), part=(1, 9), resume='out')


def test_rows_that_were_selected_are_another_run(campaign):
    """Though their table still names the file, and its digest."""
    table = read('run.txt', HYPOTHESIS)
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    average_precision.evaluate(table, resume='out')
    some = table.select(table.confidence > 0.5)
    assert some.source == table.source
    with pytest.raises(FormatError, match=r'out/plan\.json, run 1: found run\.txt \(SHA-256 '):
        average_precision.evaluate(some, resume='out')


def test_another_store_of_the_same_run_is_another_plan(campaign):
    """Its values may be the same, or not there."""
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    average_precision.evaluate_part(store_of('run.txt'), part=(1, 9), resume='out')
    with pytest.raises(FormatError, match=r'out/plan\.json, run 1: found run\.store \(SHA-256 '):
        average_precision.evaluate(store_of('run.txt', keep=5), resume='out')


def test_a_store_that_changes_before_it_is_opened_again(campaign):
    path = store_of('run.txt').path
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    (kept,) = kept_in('out', average_precision, [path])
    store_of('other.txt')
    with pytest.raises(FormatError, match=r'^run\.store, SHA-256: found [0-9a-f]{64}, expected '):
        kept.compute()
    assert blocks_in(Path('out')) == []


def test_few_stores_are_open_at_once(campaign):
    """However many runs a command has: each store has many files."""
    path = store_of('run.txt').path
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    before = open_files()
    runs = kept_in('out', average_precision, [path, Path(path), f'./{path}'])
    assert open_files() == before
    for kept in runs:
        kept.compute()
        kept.evaluation()
        assert open_files() == before


def test_a_run_that_changes_before_it_is_read(campaign, monkeypatch):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    (kept,) = kept_in('out', average_precision, ['run.txt'])
    Path('run.txt').write_bytes(Path('other.txt').read_bytes())
    with pytest.raises(FormatError, match=r'^run\.txt, SHA-256: found [0-9a-f]{64}, expected '):
        kept.compute()
    assert blocks_in(Path('out')) == []


@pytest.mark.parametrize('run', ['-', '/dev/null', '/dev/stdin'])
def test_a_run_that_cannot_be_read_again(campaign, run):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    with pytest.raises(ParameterError, match=r'^resume: found .* as a run, expected a file, which'):
        average_precision.evaluate(run, resume='out')
    assert not Path('out').exists()


def test_a_run_that_is_not_there(campaign):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    with pytest.raises(ReadError, match=r'^none\.txt: No such file or directory$'):
        average_precision.evaluate('none.txt', resume='out')
    assert not Path('out').exists()


def test_a_run_is_read_only_where_blocks_are_missing(campaign):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    average_precision.evaluate_part('run.txt', part=(1, 1), resume='out')
    (kept,) = kept_in('out', average_precision, ['run.txt'])
    kept.compute()
    assert 'run' not in vars(kept)


def test_a_run_is_let_go_of_when_it_is_done(campaign):
    """All runs of a command need not fit in memory together."""
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    (kept,) = kept_in('out', average_precision, ['run.txt'])
    kept.compute_part((1, 2))
    assert 'run' not in vars(kept)
    kept.compute()
    assert 'run' in vars(kept)
    kept.evaluation()
    assert 'run' not in vars(kept)


@pytest.mark.parametrize(
    'part', [(0, 1), (2, 1), (1, 0), (-1, 2), (1,), (1, 2, 3), '1/2', 1, None, (1.0, 2), (True, 2)]
)
def test_a_part_that_is_none(campaign, part):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    with pytest.raises(ParameterError, match=r'^part: found .*, expected \(i, n\), with i from 1'):
        average_precision.evaluate_part('run.txt', part=part, resume='out')
    assert not Path('out').exists()


def test_more_parts_than_blocks(campaign):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    whole = average_precision.evaluate('run.txt', ['ann_1'])
    parts = [
        average_precision.evaluate_part('run.txt', ['ann_1'], part=(i, 3), resume='out')
        for i in (3, 2, 1)
    ]
    assert parts == [Part(0, 0), Part(0, 0), Part(1, 0)]
    same(collect('out')[0], whole)


@pytest.mark.parametrize('measures', ['', 'nDCG@10 P@5 RR NumRet'])
def test_blocks_of_repeated_and_unknown_queries(campaign, measures):
    """Also where no query of a block has a relevant shot."""
    average_precision = AveragePrecision('reference.txt', [5])
    queries = ['eve'] * 4 + ['ann_1', 'ann_1'] * 3 + ['eve', 'bob_3', 'nobody', 'eve', 'eve']
    whole, told = with_warnings(
        lambda: average_precision.evaluate('run.txt', queries, measures=measures)
    )
    kept, told_again = with_warnings(
        lambda: average_precision.evaluate('run.txt', queries, measures=measures, resume='out')
    )
    same(kept, whole)
    assert told_again == told
    assert all(issubclass(kind, DataWarning) for kind, _ in told)
