"""A small campaign with many queries, in files, for tests of blocks that are kept in a folder."""

import random
import warnings

import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import WithoutRelevantWarning
from mediaeval_ap.execute import block_folder
from mediaeval_ap.execute.run_in_blocks import EvaluationRequest, runs_in_blocks


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Files of a campaign in the present folder; its queries are in blocks of three."""
    write_campaign(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(block_folder, 'BLOCK_QUERIES', 3)
    return tmp_path


def write_campaign(folder):
    draw = random.Random(4)  # any: so that a failure can be seen again
    names = [f'{first}_{last}' for first in 'ann bob cid dan'.split() for last in range(10)]
    shots = [(f'v{video}', shot) for video in range(5) for shot in range(8)]
    rows = [(*draw.choice(shots), draw.choice(names)) for _ in range(300)]
    reference = sorted({f'x {video} {shot} {name}\n' for video, shot, name in rows[:80]})
    run = [f'x {video} {shot} {name} {draw.random()}\n' for video, shot, name in rows]
    (folder / 'reference.txt').write_text(''.join(reference))
    (folder / 'run.txt').write_text(''.join(run))
    (folder / 'other.txt').write_text(''.join(run[::2]))
    (folder / 'subset.txt').write_text('x v1\nx v2\n')
    (folder / 'queries.txt').write_text(''.join(f'{name}\n' for name in [*names, 'eve']))


def blocks_in(folder):
    """The files of blocks in a folder, in the order of their numbers."""
    return sorted(folder.glob('*-*.json'), key=lambda path: path.name.split('-')[1])


def part_of(
    run='run.txt', queries='queries.txt', part=(1, 3), measures=(), resume='out', **options
):
    """Compute a part of the queries about the campaign, kept in a folder."""
    options = {'reference': 'reference.txt', 'K': [5, 'all'], 'definition': 'trec', **options}
    with warnings.catch_warnings():  # the campaign asks for names that its reference lacks
        warnings.simplefilter('ignore', WithoutRelevantWarning)
        return AveragePrecision(**options).evaluate_part(
            run, queries, part=part, resume=resume, measures=measures
        )


def kept_in(folder, average_precision, runs):
    """Runs whose blocks are kept in a folder."""
    request = EvaluationRequest.of(average_precision.criteria, None, ())
    return runs_in_blocks(request, runs, folder)
