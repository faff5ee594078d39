"""Caveats: what else could change the order of the runs."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.campaign.campaign_report import Alternatives, caveat_of_floor, caveats_of
from mediaeval_ap.definitions import Repeats, get

AGAIN = 'mediaeval-2016 counts a repeated shot twice. If each shot counted once, '


def fixed(mean):
    """A run without ties or repeated shots."""
    return Alternatives(mean, mean, mean)


def said(alternatives, definition='mediaeval-2016', above=False):
    """Runs a, b, … have 0.5, 0.4, …, and two of three queries an AP above 1 or not."""
    means = {run: (5 - place) / 10 for place, run in enumerate('abcd'[: len(alternatives)])}
    given = dict(zip(means, alternatives, strict=True))
    values = np.full((len(means), 3), 0.5)
    if above:
        values[:, 0] = values[-1, 1] = 1.25
    return caveats_of(means, given, values, 'MAP', get(definition))


SAME = 'the order of the runs would be the same (a: MAP 0.450).'
REPEATED = [
    ([0.45, 0.4, 0.3], SAME),
    ([0.3, 0.4, 0.3], 'b would lead: MAP 0.400, and a would have 0.300.'),
    ([0.4, 0.4 + 1e-15, 0.3], 'a and b would lead: MAP 0.400.'),
    (
        [0.5, 0.2, 0.3],
        'a would still lead, but the order of the others would change (a: MAP 0.500).',
    ),
]


@pytest.mark.parametrize(('once', 'caveat'), REPEATED)
def test_repeated_shots(once, caveat):
    given = [Alternatives(each, 0, 0) for each in once]
    above = '2 of 3 queries have an AP above 1 in some run: '
    assert said(given, above=True) == [above + AGAIN + caveat]
    # Without an AP above 1, only a change of the order is worth a sentence.
    assert said(given) == ([] if caveat == SAME else [AGAIN + caveat])


def test_repeated_shots_of_one_run():
    (caveat,) = said([Alternatives(0.3, 0, 0)], above=True)
    assert caveat.endswith(f'{AGAIN}MAP would be 0.300.')


def test_no_repeats_are_looked_at_where_they_do_not_count():
    assert said([Alternatives(0.1, 0, 0), fixed(0.4)], 'trec', above=True) == []


def test_ties_that_decide_the_lead():
    tied = Alternatives(0.5, 0.35, 0.55)
    begin = (
        'Ties can change the lead: over all orders of hypotheses with equal distance and '
        'confidence, a has MAP 0.350 to 0.550, and b 0.400; these overlap'
    )
    assert said([tied, fixed(0.4), fixed(0.3)]) == [f'{begin}.']
    both = [tied, fixed(0.4), Alternatives(0.3, 0.1, 0.35)]
    assert said(both) == [f'{begin}, as do those of c.']
    assert said([Alternatives(0.5, 0.41, 0.55), fixed(0.4)]) == []
    assert said([fixed(0.5), Alternatives(0.4, 0.4, 0.499)]) == []
    assert len(said([fixed(0.5), Alternatives(0.4, 0.4, 0.5)])) == 1
    assert said([fixed(0.5), fixed(0.5)], 'trec') == []  # equal, but not by ties


def test_queries_without_a_relevant_shot():
    assert caveat_of_floor(60, 100, 0.6) == [
        '60 of 100 queries have nothing relevant and score the same in every run: an empty run '
        'has 0.600.'
    ]
    assert caveat_of_floor(1, 2, None)[0].endswith('in every run.')
    assert caveat_of_floor(0, 2, 0.5) == []


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # repeated shots
def test_a_report_has_the_means_of_the_other_definition_and_of_all_orders():
    """At the last cutoff, whatever that of the loss."""
    reference = [('x', 'v', str(shot), 'ann') for shot in range(3)] + [('x', 'v', '7', 'bob')]

    def scored(shots, confidences, definition):
        run = [('x', 'v', shot, 'ann', each) for shot, each in zip(shots, confidences, strict=True)]
        run.append(('x', 'v', '7', 'bob', 0.5))
        evaluate = AveragePrecision(reference, K=[1, 5], definition=definition).evaluate
        return run, evaluate(run).map[-1]

    shots, definition = '0091', get('mediaeval-2016')
    run, mean = scored(shots, [0.5] * 4, definition)
    _, once = scored(shots, [0.5] * 4, replace(definition, repeats=Repeats.IRRELEVANT))
    orders = [scored(each, [0.9, 0.8, 0.7, 0.6], definition)[1] for each in permutations(shots)]
    report = AveragePrecision(reference, K=[1, 5]).report({'a': run}, k=1)
    found = report.alternatives['a']
    assert found.once == pytest.approx(once, abs=1e-12)
    assert found.once < mean
    assert [found.least, found.greatest] == pytest.approx([min(orders), max(orders)], abs=1e-12)
    assert found.least < found.greatest
