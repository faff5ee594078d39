"""Evaluations in blocks equal those of one process, however they are shared and interrupted."""

import shutil
import tempfile
from pathlib import Path

import pandas
import process_tasks
import pytest
from block_folders import blocks_in, kept_in
from hypothesis import given
from hypothesis import strategies as st
from stores import stored, told
from strategies import allowed, cutoffs, hypothesis_rows, names, reference_rows, subsets

from mediaeval_ap import AveragePrecision, choices, collect, definitions
from mediaeval_ap.errors import FormatError, ParameterError, ReadError
from mediaeval_ap.execute import block_folder, run_in_blocks, worker_processes
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, read


def snapshot(rows):
    return Ranking(read(rows, HYPOTHESIS))


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
    average_precision = told(
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
    rows = [(*row[:3], row[3].replace('\xa0', '_'), row[4]) for row in draw(hypothesis_rows)]
    return average_precision, rows, queries, draw(st.integers(1, 4))


@given(
    evaluations(),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
    st.sampled_from(['', '', '', 'nDCG@10 P@5 RR']),  # these take some milliseconds for each block
)
def test_parts_in_any_order_equal_the_whole(evaluation, n_parts, draw, measures):
    average_precision, rows, queries, block_queries = evaluation
    order = draw.sample(range(1, n_parts + 1), n_parts)
    options = {'measures': measures}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(block_folder, 'BLOCK_QUERIES', block_queries)
        whole, told_at_once = told(lambda: average_precision.evaluate(rows, queries, **options))
        options['resume'] = Path(folder, 'blocks')
        parts, told_of_run = told(
            lambda: [
                average_precision.evaluate_part(rows, queries, part=(i, n_parts), **options)
                for i in order
            ]
        )
        assert sum(part.found for part in parts) == 0
        assert sum(part.computed for part in parts) == len(blocks_in(options['resume']))
        (collected,), told_of_values = told(lambda: collect(options['resume']))
        same(collected, whole)
        assert [*dict.fromkeys(told_of_run), *told_of_values] == told_at_once
        kept = {path: path.read_bytes() for path in blocks_in(options['resume'])}
        for path in draw.sample(list(kept), draw.randint(0, len(kept))):
            path.unlink()
        again, told_again = told(lambda: average_precision.evaluate(rows, queries, **options))
        same(again, whole)
        assert told_again == told_at_once
        assert {path: path.read_bytes() for path in blocks_in(options['resume'])} == kept


def rows_of(path):
    return list(read(path, HYPOTHESIS).rows())


RUNS = {
    'path': lambda path: path,
    'rows that can be taken once': lambda path: iter(rows_of(path)),
    'frame': lambda path: pandas.DataFrame(rows_of(path), columns=HYPOTHESIS.fields),
    'table': lambda path: read(path, HYPOTHESIS),
    'snapshot': lambda path: AveragePrecision('reference.txt').live(path).snapshot(),
    'store': lambda path: stored(path, 'run.store'),
    'path of a store': lambda path: stored(path, 'run.store').path,
}


@pytest.mark.parametrize('kind', RUNS)
@pytest.mark.parametrize('jobs', [1, 3])
def test_runs_from_anywhere(average_precision, monkeypatch, kind, jobs):
    monkeypatch.setattr(run_in_blocks.Clock, 'pays', lambda *_: True)
    monkeypatch.setattr(worker_processes, 'run_tasks', process_tasks.here)
    whole = average_precision.evaluate(RUNS[kind]('run.txt'))
    options = {'resume': 'out', 'jobs': jobs}
    part = average_precision.evaluate_part(RUNS[kind]('run.txt'), part=(2, 3), **options)
    assert part == (len(blocks_in(Path('out'))), 0)
    same(average_precision.evaluate(RUNS[kind]('run.txt'), **options), whole)
    same(collect('out')[0], whole)
    assert [path for path in Path('out').iterdir() if path.name.startswith('.')] == []


@pytest.mark.parametrize('store', [False, True])
def test_a_run_that_changes_before_it_is_opened_again(average_precision, store):
    """Else the folder of the old run would get blocks of the new one."""
    run = stored('run.txt', 'run.store').path if store else 'run.txt'
    kept_in('out', average_precision, [run])  # opens the run, to measure the pace
    (kept,) = kept_in('out', average_precision, [run])
    if store:
        stored('other.txt', run)
    else:
        shutil.copy('other.txt', run)
    with pytest.raises(FormatError, match=f'^{run}, SHA-256: found [0-9a-f]{{64}}, expected '):
        kept.compute()
    assert blocks_in(Path('out')) == []


def test_rows_that_were_selected_are_another_run(average_precision):
    """Though their table still names the file, and its digest."""
    table = read('run.txt', HYPOTHESIS)
    average_precision.evaluate(table, resume='out')
    with pytest.raises(FormatError, match=r'out/plan\.json, runs: found run\.txt \(SHA-256 '):
        average_precision.evaluate(table.select(table.confidence > 0.5), resume='out')


@pytest.mark.parametrize(
    ('run', 'error', 'reason'),
    [
        ('-', ParameterError, '^resume: found .* as a run, expected a file, which'),
        ('/dev/null', ParameterError, '^resume: found .* as a run, expected a file, which'),
        ('none.txt', ReadError, r'^none\.txt: No such file or directory$'),
    ],
)
def test_a_run_that_cannot_be_read_again(average_precision, run, error, reason):
    with pytest.raises(error, match=reason):
        average_precision.evaluate(run, resume='out')
    assert not Path('out').exists()


@pytest.mark.parametrize('part', [(0, 1), (2, 1), (1,), '1/2', None, (1.0, 2), (True, 2)])
def test_a_part_that_is_none(average_precision, part):
    with pytest.raises(ParameterError, match=r'^part: found .*, expected \(i, n\), with i from 1'):
        average_precision.evaluate_part('run.txt', part=part, resume='out')
    assert not Path('out').exists()
