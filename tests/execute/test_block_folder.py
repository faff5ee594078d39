"""A folder of blocks holds one evaluation, and what is wrong with it is said in one line."""

import json
import re
import shutil
from pathlib import Path

import pytest
from block_folders import blocks_in, kept_in, part_of
from schemas import follow_schema

from mediaeval_ap import AveragePrecision, Definition, collect, index
from mediaeval_ap import __version__ as VERSION
from mediaeval_ap.definitions import Repeats
from mediaeval_ap.errors import Error, FormatError, ReadError, WithoutRelevantWarning, WriteError
from mediaeval_ap.execute import block_folder, run_in_blocks, worker_processes
from mediaeval_ap.execute.run_in_blocks import EvaluationRequest, runs_in_blocks

REMEDY = 'this folder holds another evaluation: choose another folder, or delete it'
MINE = Definition('trec', ('k',), ('R', 'k'), 0.0, Repeats.DROP, 'a test')


OTHERS = {
    'K': ({'K': [5]}, 'K: found 5, all, expected 5'),
    'definition': (
        {'definition': 'hits'},
        'definition: found trec (S(k) / R), expected hits (S(k) / H)',
    ),
    'definition of that name': ({'definition': MINE}, 'expected trec (S(k) / min(R, k))'),
    'measures': ({'measures': 'RR P@5'}, 'measures: found none, expected RR, P@5'),
    'reference': ({'reference': './reference.txt'}, 'expected ./reference.txt (SHA-256 …)'),
    'all as subset': (
        {'subset': [('x', f'v{video}') for video in range(5)]},
        'subset: found none, expected <subset> (SHA-256 …)',
    ),
    'no queries': ({'queries': None}, 'queries: found queries.txt (SHA-256 …), expected none'),
    'queries': ({'queries': ['ann_1']}, 'expected <queries> (SHA-256 …)'),
    'run': ({'run': 'other.txt'}, 'runs: found run.txt (SHA-256 …), expected other.txt (SHA-2'),
}


def line(error):
    """The message of an error, without the digits of digests."""
    return re.sub('[0-9a-f]{16}…', '…', str(error))


@pytest.mark.parametrize('what', OTHERS)
def test_another_evaluation_is_refused(campaign, what):
    options, told = OTHERS[what]
    part_of()
    before = {path: path.read_bytes() for path in Path('out').iterdir()}
    with pytest.raises(FormatError, match=rf'^out/plan\.json, .*; {REMEDY}$') as caught:
        part_of(**options)
    assert told in line(caught.value)
    assert {path: path.read_bytes() for path in Path('out').iterdir()} == before


def test_another_number_of_runs_is_refused(average_precision):
    kept_in('out', average_precision, ['run.txt', 'other.txt'])
    with pytest.raises(FormatError, match=r'plan\.json, runs: found .*, expected run.txt'):
        average_precision.evaluate('run.txt', resume='out')


def test_slow_queries_are_in_small_blocks(average_precision, monkeypatch):
    """Whoever begins a folder sets their size; others go on with it at any pace."""
    monkeypatch.setattr(run_in_blocks, 'BLOCK_SECONDS', 0)  # as if each query took longer
    (slow,) = kept_in('out', average_precision, ['run.txt'])
    n_queries = len(average_precision.queries)
    assert slow.compute(part=(1, 2)) == ((n_queries + 1) // 2, 0)
    monkeypatch.setattr(run_in_blocks, 'BLOCK_SECONDS', 1000)
    (fast,) = kept_in('out', average_precision, ['run.txt'])
    assert fast.compute() == (n_queries // 2, (n_queries + 1) // 2)
    assert collect('out')[0].to_dict() == average_precision.evaluate('run.txt').to_dict()


def test_another_version_is_refused(campaign, monkeypatch):
    """That of ir_measures if measures are asked for, as their values may be others."""
    part_of()
    part_of(measures='RR', resume='with measures')
    with monkeypatch.context() as patch:
        patch.setattr(worker_processes, 'versions', lambda: ('ir_measures=0.0.1',))
        assert part_of().found > 0
        with pytest.raises(FormatError, match=r'versions: found .*, expected ir_measures=0'):
            part_of(measures='RR', resume='with measures')
    monkeypatch.setattr(block_folder, '__version__', '0.0.1')
    expected = rf"version: found '{VERSION}', expected 0\.0\.1; begin in another fol"
    for call in part_of, lambda: collect('out'):
        with pytest.raises(FormatError, match=expected):
            call()


@pytest.mark.parametrize('what', ['K', 'run', 'queries'])
@pytest.mark.parametrize('begins', [True, False])
def test_blocks_of_another_evaluation_are_no_blocks(campaign, what, begins):
    """Files that somebody moved here, or that stay where a plan was deleted."""
    part_of(**OTHERS[what][0], part=(1, 1), resume='other')
    if not begins:
        part_of()
    Path('out').mkdir(exist_ok=True)
    for stray in blocks_in(Path('other')):
        stray.rename(Path('out', stray.name))
    assert part_of(part=(1, 3)).found == (0 if begins else 5)
    part_of(part=(1, 1))
    part_of(part=(1, 1), resume='alone')
    with pytest.warns(WithoutRelevantWarning):
        (mixed,), (alone,) = collect('out'), collect('alone')
    assert mixed.to_json(per_query=True) == alone.to_json(per_query=True)


def with_value(name, value):
    """Change a value of the first query of a block."""

    def change(block):
        written = json.loads(block.read_text())
        written['results'][0]['queries'][0][name] = value
        block.write_text(json.dumps(written))

    return change


def twice(block):
    written = json.loads(block.read_text())
    written['results'] *= 2
    block.write_text(json.dumps(written))


DAMAGED = 'found a damaged block, or a copy of another, expected what evaluate wrote there'
RANGE = 'AP@5: found 7, expected a number from 0 to 1; it is damaged'
DAMAGE = {  # what happens to the second of three blocks of two runs, and the error
    'a copy of its neighbour': (lambda block: shutil.copy(blocks_in(OUT)[0], block), DAMAGED),
    'the block of the other run': (
        lambda block: shutil.copy(str(block).replace('001-', '002-'), block),
        DAMAGED,
    ),
    'a value out of range': (with_value('AP@5', 7), RANGE),
    'another value': (with_value('AP@5', 0.123), DAMAGED),
    'another number': (with_value('n_relevant', 77), DAMAGED),
    'two results': (twice, DAMAGED),
    'cut': (lambda block: block.write_text(block.read_text()[:-7]), 'found no JSON'),
}
OUT = Path('out')


def in_two_runs(**options):
    """Score all blocks of two runs on nine queries."""
    names = [f'{name}_{number}' for name in ('ann', 'bob', 'cid') for number in range(3)]
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    request = EvaluationRequest.of(average_precision.criteria, names, ())
    return [run.compute() for run in runs_in_blocks(request, ['run.txt', 'other.txt'], 'out')]


@pytest.mark.parametrize('what', DAMAGE)
def test_a_block_that_is_not_as_it_was_written(campaign, what):
    """It is refused before anything is computed, and where blocks are put together."""
    change, reason = DAMAGE[what]
    in_two_runs()
    before = [evaluation.to_dict() for evaluation in collect('out')]
    _, block, last = (path for path in blocks_in(OUT) if path.name.startswith('001-'))
    change(block)
    refused = f'^{block}.*{reason}.*; delete the file, to compute it again$'
    with pytest.raises(FormatError, match=refused):
        collect('out')
    last.unlink()
    with pytest.raises(FormatError, match=refused):
        in_two_runs()
    assert not last.exists()
    block.unlink()
    assert [part.computed for part in in_two_runs()] == [2, 0]
    assert [evaluation.to_dict() for evaluation in collect('out')] == before


def test_blocks_in_another_form(campaign):
    """White space and the order of fields are no damage."""
    in_two_runs()
    for block in blocks_in(OUT):
        block.write_text(json.dumps(json.loads(block.read_text()), indent=3, sort_keys=True))
    assert [part.computed for part in in_two_runs()] == [0, 0]


def test_what_is_no_folder(campaign):
    for path, reason in {
        'run.txt': 'is a file, expected a folder',
        'run.txt/out': '.*Not a directory.*',
        '\0': '.*embedded null .*',  # a byte, or a character in a path since Python 3.13
    }.items():
        with pytest.raises(WriteError, match=f': {reason}$'):
            part_of(resume=path)
    for folder in None, b'out':
        for name, call in ('resume', lambda folder: part_of(resume=folder)), ('collect', collect):
            with pytest.raises(Error, match=f'^{name}: found .*, expected the path of a folder$'):
                call(folder)


EDITED = 'found an edited plan, expected the plan that evaluate wrote; begin in another folder'
EDITS = {
    'a list': (lambda _: '[]', 'schema: found [], expected mediaeval-ap/plan/2; begin in another'),
    'cut': (lambda text: text[:-9], 'found no JSON: '),
    'results': (
        lambda text: text.replace('mediaeval-ap/plan/2', 'mediaeval-ap/results/1'),
        "schema: found 'mediaeval-ap/results/1', expected mediaeval-ap/plan/2; begin in another",
    ),
    'a number': (lambda text: text.replace('"n_queries": 41', '"n_queries": 40'), EDITED),
}


@pytest.mark.parametrize('settings', [{}, {'measures': 'RR', 'subset': 'subset.txt'}])
def test_schema(campaign, settings):
    part_of(**settings)
    follow_schema(json.loads(Path('out/plan.json').read_text()), 'plan-2')


@pytest.mark.parametrize('edit', EDITS)
def test_a_plan_that_was_edited_is_refused(campaign, edit):
    part_of()
    change, told = EDITS[edit]
    path = Path('out/plan.json')
    path.write_text(change(path.read_text()))
    for call in part_of, lambda: collect('out'):
        with pytest.raises(FormatError, match=re.escape(told)):
            call()


def kept_runs(*runs):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    return kept_in('out', average_precision, runs)


def test_parts_share_the_blocks_of_all_runs(average_precision):
    """Collected, they are in the order of the runs."""
    runs = ['run.txt', 'other.txt']
    shares = [
        sum(kept.compute(part=(i, 4)).computed for kept in reversed(kept_runs(*runs)))
        for i in range(1, 5)
    ]
    assert max(shares) - min(shares) <= 1
    assert sum(shares) == len(blocks_in(Path('out')))
    whole = [average_precision.evaluate(run).to_dict() for run in runs]
    assert [each.to_dict() for each in collect('out')] == whole


def test_missing_blocks_are_counted(campaign):
    first, second = kept_runs('run.txt', 'other.txt')
    n_blocks = 2 * first.folder.n_blocks
    n_blocks -= first.compute(part=(2, 2)).computed + second.compute(part=(1, 3)).computed
    assert 0 < n_blocks < 2 * first.folder.n_blocks
    remedy = 'compute them with evaluate … --resume out'
    message = f'^out: {n_blocks} of {2 * first.folder.n_blocks} blocks are missing; {remedy}$'
    with pytest.raises(ReadError, match=message):
        collect('out')


def test_no_folder_of_an_evaluation(campaign):
    for path in 'run.txt', '', '\0':
        with pytest.raises(ReadError, match=r': it has no plan'):
            collect(path)
    reason = r'is not a folder of evaluate --resume: it has no plan\.json'
    with pytest.raises(ReadError, match=rf'^\.: {reason}$'):
        collect('.')


def test_other_files_of_the_folder_are_left_alone(campaign):
    (kept,) = kept_runs('run.txt')
    kept.compute()
    for name in 'notes.txt', 'map.json', '.0123456789abcdef.tmp', 'slurm-17_1.out':
        Path('out', name).write_text('{')
    assert len(collect('out')) == 1


@pytest.mark.parametrize('given', ['path', 'store'])
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_a_store_without_hypotheses_is_a_run(given, tmp_path):
    """Its own digest stands in the plan, not that of the file that it was made of."""
    (tmp_path / 'run.txt').write_text('x v 1 ann 0.5\n')
    store = index(tmp_path / 'run.txt', tmp_path / 'run.store', subset=[('x', 'other')])
    assert not len(store)
    average_precision = AveragePrecision([('x', 'other', '1', 'ann')], subset=[('x', 'other')])
    run = store if given == 'store' else tmp_path / 'run.store'
    kept = [average_precision.evaluate(run, ['ann'], resume=tmp_path / 'blocks') for _ in range(2)]
    whole = average_precision.evaluate(run, ['ann'])
    assert [each.to_dict() for each in kept] == [whole.to_dict()] * 2


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_a_reference_without_rows_is_an_input(tmp_path):
    """With judgements, of a campaign in which nothing was found relevant yet."""
    average_precision = AveragePrecision([], judged=[('x', 'v', '1')])
    run = [('x', 'v', '1', 'ann', 0.5)]
    kept = average_precision.evaluate(run, ['ann'], resume=tmp_path / 'blocks')
    assert kept.to_dict() == average_precision.evaluate(run, ['ann']).to_dict()
    plan = json.loads((tmp_path / 'blocks' / 'plan.json').read_text())
    assert len(plan['reference']['sha256']) == 64
