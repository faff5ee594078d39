"""The decision about all verdicts."""

import pandas
import pytest

from mediaeval_ap import compare
from mediaeval_ap.errors import FormatError
from mediaeval_ap.render.formats import render

ITEMS = [f'q{number}' for number in range(40)]


@pytest.mark.parametrize(
    ('changes', 'outcome'),
    [([0.25, 0.125], 'passed'), ([-0.25, -0.125], 'failed'), ([0.25, -0.25], 'undecided')],
)
def test_a_gate_is_true_if_it_passed(changes, outcome):
    """Its line is printed in any case."""
    new = [0.5 + change for change in changes * (len(ITEMS) // 2)]
    frame = pandas.DataFrame({'item': ITEMS, 'old': 0.5, 'new': new})
    comparison = compare(frame, baseline='old', fail_if_worse=0.01)
    assert comparison.gate.outcome == outcome
    assert bool(comparison.gate) == (outcome == 'passed')
    for format in 'table', 'markdown':
        assert comparison.gate.words in render(comparison.document(), format)
    assert compare(frame).gate is None


def test_a_run_in_place_of_scores_is_named():
    columns = 'corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence'
    run = pandas.DataFrame([('x', 'v', 's1', 'ann', 0.5)], columns=columns)
    with pytest.raises(FormatError, match='this is a run: compare REFERENCE RUN, in Python'):
        compare({'a': run, 'b': run})
