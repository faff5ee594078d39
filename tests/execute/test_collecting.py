"""Results that are collected: of all runs in their order, or what is missing."""

from pathlib import Path

import pytest
from block_folders import blocks_in, kept_in

from mediaeval_ap import AveragePrecision, collect
from mediaeval_ap.errors import FormatError, ReadError


def kept_runs(*runs):
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    return kept_in('out', average_precision, runs)


def test_several_runs_in_their_order(campaign):
    runs = ['run.txt', 'other.txt', 'run.txt']
    for kept in reversed(kept_runs(*runs)):
        kept.compute()
    average_precision = AveragePrecision('reference.txt', [5], definition='trec')
    whole = [average_precision.evaluate(run).to_dict() for run in runs]
    assert [each.to_dict() for each in collect('out')] == whole


def test_parts_share_the_blocks_of_all_runs(campaign):
    n_blocks = [
        [kept.compute(part=(i, 4)).computed for kept in kept_runs('run.txt', 'other.txt')]
        for i in range(1, 5)
    ]
    shares = [sum(each) for each in n_blocks]
    assert max(shares) - min(shares) <= 1
    assert sum(shares) == len(blocks_in(Path('out')))
    assert len(collect('out')) == 2


def test_missing_blocks_are_counted(campaign):
    first, second = kept_runs('run.txt', 'other.txt')
    n_blocks = first.folder.plan.n_blocks
    remedy = 'compute them with evaluate … --resume out'
    with pytest.raises(ReadError) as caught:
        collect('out')
    assert str(caught.value) == f'out: no block is computed yet; {remedy}'
    first.compute(part=(2, 2))
    second.compute(part=(1, 3))
    n_first = n_blocks - first.compute(part=(2, 2)).found
    n_second = n_blocks - second.compute(part=(1, 3)).found
    with pytest.raises(ReadError) as caught:
        collect('out')
    assert str(caught.value) == (
        f'out: {n_first} of {n_blocks} blocks of run.txt are missing (the first is block 1), and '
        f'{n_second} of other runs; {remedy}'
    )
    first.compute()
    second.compute()
    lost = blocks_in(Path('out'))[-1]
    lost.unlink()
    with pytest.raises(ReadError) as caught:
        collect('out')
    run = 'run.txt' if lost.name.startswith(first.folder.plan.key(0)) else 'other.txt'
    assert str(caught.value) == (
        f'out: 1 of {n_blocks} blocks of {run} are missing (the first is block {n_blocks}); '
        f'{remedy}'
    )


def test_no_folder_of_an_evaluation(campaign):
    for path in 'none', 'run.txt', '', '\0':
        with pytest.raises(ReadError, match=r': is no folder$'):
            collect(path)
    reason = r'holds no plan\.json, which evaluate with --resume begins'
    with pytest.raises(ReadError, match=rf'^\.: {reason}$'):
        collect('.')


def test_an_edited_block_is_refused(campaign):
    (kept,) = kept_runs('run.txt')
    kept.compute()
    path = blocks_in(Path('out'))[1]
    path.write_text(path.read_text().replace('"n_relevant": ', '"n_relevant": 1'))
    with pytest.raises(FormatError) as caught:
        collect('out')
    assert str(caught.value) == (
        f'{path}: found content that was cut or edited, expected the one that its name is made '
        'of; delete the file, to compute it again'
    )


def test_other_files_of_the_folder_are_left_alone(campaign):
    (kept,) = kept_runs('run.txt')
    kept.compute()
    for name in 'notes.txt', 'map.json', '.0123456789abcdef.tmp', 'slurm-17_1.out':
        Path('out', name).write_text('{')
    assert len(collect('out')) == 1
