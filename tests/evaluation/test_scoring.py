"""Rankings of queries whose generators take turns, and the memory that they ask for."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.relevance import Reference, Relevance
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

NAMES = [f'name{number}' * (1 + number % 3) for number in range(60)]
ROWS = [('x', f'v{i % 7}', str(j), name) for i, name in enumerate(NAMES) for j in range(i)]

PAGE_FAULTS = """
import resource
from mediaeval_ap import AveragePrecision
names = [format(number * 7919 % 99991, 'b') for number in range(40_000)]
run = [('x', 'v', str(number), name, 0.5) for number, name in enumerate(names)]
with AveragePrecision([row[:4] for row in run[:40]], [10])(run) as session:
    for name in names[:40]:
        session.send(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for name in names[:40]:
        session.send(name)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 40)
"""


@pytest.mark.usefixtures('side_by_side')
def test_generators_that_take_turns_in_threads():
    """Two references, one ranking: answers that wait for their turn are not overwritten."""
    ranking = Ranking(read([(*row, i % 3) for i, row in enumerate(ROWS)], HYPOTHESIS))
    listers = []
    for step in (2, 3):
        reference = Reference(read(ROWS[::step], REFERENCE), True)
        criteria = Criteria(reference, [10], definitions.get('trec'), None)
        listers.append(Lister(criteria, ranking, Relevance(reference, ranking.shots)))

    def shown(listing):
        return listing.places.tolist(), listing.hits.tolist(), listing.distances[:].tolist()

    expected = [[shown(*lister.listings([name], 50)) for name in NAMES] for lister in listers]

    def take_turns(_):
        turns = list(zip(*(lister.listings(NAMES, 50) for lister in listers), strict=True))
        return [list(map(shown, listings)) for listings in zip(*turns, strict=True)]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(take_turns, range(8))) == [expected] * 8


def test_hits_after_a_query_that_was_interrupted():
    """Shots are marked on an array that is used again: not on one that an error left marked."""
    run = read([('x', 'v', shot, 'ann', 0.5) for shot in '12'], HYPOTHESIS)
    reference = [('x', 'v', '1', 'bob'), ('x', 'v', '2', 'ann')]
    relevance = Relevance(Reference(read(reference, REFERENCE), True), Shots.of(run))
    with pytest.raises(IndexError):
        relevance.hits('ann', np.array([3]))
    assert relevance.hits('bob', np.array([0, 1])).tolist() == [0]
    assert relevance.hits('ann', np.array([0, 1])).tolist() == [1]


@pytest.mark.parametrize(('repeats', 'ap'), [(Repeats.DROP, 1.0), (Repeats.IRRELEVANT, 0.5)])
def test_dropped_hypotheses_are_not_returned(repeats, ap):
    """A definition that divides by what is returned counts a shot once if repeats are dropped."""
    mine = Definition('mine', ('k',), ('R', 'N'), without_relevant=0, repeats=repeats, source='x')
    reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')]
    run = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '1', 'ann', 0.4)]
    assert AveragePrecision(reference, [10], definition=mine).evaluate(run).map == [ap]


@pytest.mark.skipif(sys.platform != 'linux', reason='the variable is of the GNU C library')
def test_a_query_maps_little_memory_where_it_is_given_back_at_once():
    """With the setting of Dask's workers: 40,000 names took over a hundred page faults."""
    environment = {**os.environ, 'MALLOC_TRIM_THRESHOLD_': '65536'}
    command = [sys.executable, '-c', PAGE_FAULTS]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
    # 40 of them are as much as one array of four bytes for each name
    assert float(done.stdout) < 40
