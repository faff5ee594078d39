"""Results that are collected: of all runs in their order, or what is missing."""

from pathlib import Path

import pytest
from block_folders import blocks_in, kept_in

from mediaeval_ap import AveragePrecision, collect
from mediaeval_ap.errors import ReadError


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
    n_blocks = first.folder.n_blocks
    remedy = 'compute them with evaluate … --resume out'
    with pytest.raises(ReadError) as caught:
        collect('out')
    assert (
        str(caught.value) == f'out: {2 * n_blocks} of {2 * n_blocks} blocks are missing; {remedy}'
    )
    first.compute(part=(2, 2))
    second.compute(part=(1, 3))
    n_first = n_blocks - first.compute(part=(2, 2)).found
    n_second = n_blocks - second.compute(part=(1, 3)).found
    with pytest.raises(ReadError) as caught:
        collect('out')
    assert str(caught.value) == (
        f'out: {n_first + n_second} of {2 * n_blocks} blocks are missing; {remedy}'
    )
    first.compute()
    second.compute()
    blocks_in(Path('out'))[-1].unlink()
    remaining = rf'^out: 1 of {2 * n_blocks} blocks are missing; com'
    with pytest.raises(ReadError, match=remaining):
        collect('out')


def test_no_folder_of_an_evaluation(campaign):
    for path in 'run.txt', '', '\0':
        with pytest.raises(ReadError, match=r': holds no plan'):
            collect(path)
    reason = r'holds no plan\.json, which evaluate with --resume begins'
    with pytest.raises(ReadError, match=rf'^\.: {reason}$'):
        collect('.')


def test_other_files_of_the_folder_are_left_alone(campaign):
    (kept,) = kept_runs('run.txt')
    kept.compute()
    for name in 'notes.txt', 'map.json', '.0123456789abcdef.tmp', 'slurm-17_1.out':
        Path('out', name).write_text('{')
    assert len(collect('out')) == 1
