"""Notes and warnings of all runs stand in one list, each with its runs and queries."""

import pytest
from page_text import PageText

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import DataWarning

REFERENCE = [('x', 'v', str(shot), name) for shot, name in enumerate(['ann', 'bob', 'cat', 'ann'])]
RIGHT = [(*row, 0.5) for row in REFERENCE]
RUNS = {
    'right': RIGHT,
    'again': [*RIGHT[1:], *RIGHT[:1] * 3, *RIGHT[1:2] * 2],
    'once': [*RIGHT[:1] * 3, *RIGHT[1:2], RIGHT[3]],
}
ABOVE = 'queries have an AP above 1: mediaeval-2016 counts a shot each time it is returned'


@pytest.fixture(scope='module')
def report():
    average_precision = AveragePrecision(REFERENCE, K=[1, 10])
    with pytest.warns(DataWarning):
        return average_precision.report(RUNS, ['ann', 'bob', 'cat', 'zoe'])


def test_every_note_and_warning_of_each_run_is_there_once(report):
    """Warnings that a note says in other words, about the same queries, are not repeated."""
    told = {run: [] for run in RUNS}
    for remark in report.to_dict()['remarks']:
        n, of, what = (remark[name] for name in ('queries', 'of', 'what'))
        for run in remark['runs']:
            told[run].append(what if n is None else f'{n} of {of} {what}')
    comparison = report.comparison
    for run, texts in told.items():
        evaluation = report.evaluations[run]
        name = evaluation.inputs['hypothesis'].name
        expected = {
            *evaluation.notes,
            *(note for note in comparison.notes if ABOVE not in note),  # told by run
            *map(str, comparison.warnings),
            *(
                str(each).removeprefix(f'{name}: ')
                for each in evaluation.warnings
                if each.kind not in ('score-above-one', 'without-relevant')
            ),
        }
        assert sorted(texts) == sorted(expected)
        assert any(text.endswith("not names in the reference: 'zoe'") for text in texts)
        assert len(expected) > (2 if run == 'right' else 4)


def test_counts_of_runs_that_differ_stand_together(report):
    remarks = report.to_dict()['remarks']
    above = [each for each in remarks if each['what'] == ABOVE]
    assert [(each['runs'], each['queries'], each['of']) for each in above] == [
        (['again'], 2, 4),
        (['once'], 1, 4),
    ]
    places = [place for place, each in enumerate(remarks) if each['what'] == ABOVE]
    assert places[1] - places[0] == 1
    floor = next(each for each in remarks if 'nothing relevant: each' in each['what'])
    assert (sorted(floor['runs']), floor['queries'], floor['of']) == (sorted(RUNS), 1, 4)
    page = PageText(report.to_html())
    assert page.attributes('rowspan').count('2') == page.cells.count(ABOVE) == 1
    rows = next(each for each in remarks if 'repeat an earlier one' in each['what'])
    assert rows['queries'] is None
