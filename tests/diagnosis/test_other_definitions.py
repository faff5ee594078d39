"""Listings, and what definitions say of them: against the oracle, reasons by undoing them."""

from dataclasses import replace

import oracle
import oracle_fields
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.diagnosis.examined_run import ExaminedRun
from mediaeval_ap.diagnosis.other_definitions import causes, reconcile, reconcile_run
from mediaeval_ap.evaluation.prepared_run import prepare_run
from tests.strategies import examples, hypothesis_rows, names, reference_rows

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

RULES = {'again': 'COUNT', 'irrelevant': 'IRRELEVANT', 'dropped': 'DROP'}
registered = st.sampled_from(definitions.names())
cutoffs = st.integers(1, 12) | st.just('all')


def facts_about(reference, run, queries, k, definition):
    criteria = AveragePrecision(reference, K=[k], definition=definition).criteria
    examined = ExaminedRun(prepare_run(criteria, run), queries, near=0)
    return examined.examine(queries, *definitions.depths([k])).facts


def by_fields(reference, run, query, k, definition):
    """The oracle's value by the fields of a definition."""
    (rule,) = (rule for rule, name in RULES.items() if name == definition.repeats.name)
    fields = definition.depth, definition.denominator, definition.without_relevant
    arguments = rule, *fields, definition.precision
    return oracle_fields.average_precision(reference, run, query, k, *arguments)


@examples(2)
@given(reference_rows, hypothesis_rows, names, cutoffs, registered)
@example(  # two hypotheses of one shot: N is 2 or 1
    [('x', 'v', shot, 'ann') for shot in '123'],
    [('x', 'v', '1', name, 0.5) for name in ('ann', 'anna')],
    *('ann', 5, 'mediaeval-2016'),
)
def test_each_definition_and_what_changes_its_value(reference, run, query, k, name):
    in_use = definitions.get(name)
    assume(k != 'all' or in_use.has_uncut)
    (facts,) = facts_about(reference, run, [query], k, in_use)
    rows = reconcile(facts, k, in_use)
    assert rows[0].definition == name
    assert sorted(row.definition for row in rows) == definitions.names()
    for row in rows:
        other = definitions.get(row.definition)
        if k == 'all' and not other.has_uncut:
            assert (row.ap, row.why) == (None, 'by-k divides by k alone, and there is no cutoff')
            continue
        ((expected,), _) = oracle.evaluate(reference, run, query, [k], row.definition)
        assert row.ap == pytest.approx(float(expected), **oracle.CLOSE)
        named = causes(facts, k, in_use, other)
        taken = {field: getattr(other, field) for field in named}
        # With what the reason names, and nothing else, the definition in use gives this value.
        assert by_fields(reference, run, query, k, replace(in_use, **taken)) == expected
        for field in named:  # and with anything less it does not
            less = {name: value for name, value in taken.items() if name != field}
            assert by_fields(reference, run, query, k, replace(in_use, **less)) != expected
        is_equal = by_fields(reference, run, query, k, in_use) == expected
        assert (row.why in ('in use', 'no difference for this ranking')) == is_equal


SHOTS = [('x', 'v', str(shot), 'ann') for shot in range(1, 4)]
RUN = [(*row, 1 - number / 10) for number, row in enumerate(SHOTS)]
AGAIN = [('x', 'v', '1', 'ann', 0.95), *RUN]
ONCE_MORE, DOWN_TO = '(1 repeated shot in the top 5)', 'adds precisions down to'
FIRST, FINAL = 'mediaeval-2016', 'mediaeval-2016-final'


@pytest.mark.parametrize(
    ('reference', 'run', 'k', 'in_use', 'other', 'why'),
    [
        (SHOTS, RUN[:1], 5, FIRST, 'trec', 'divides by R = 3 instead of N = 1'),
        (SHOTS, RUN, 2, 'trec', 'kaggle', 'divides by k = 2 instead of R = 3'),
        (SHOTS, RUN, 2, 'trec', 'hits', 'divides by H = 2 instead of R = 3'),
        (SHOTS[1:2], RUN, 3, 'kaggle', FINAL, f'{DOWN_TO} rank R = 1 instead of k = 3'),
        (SHOTS[1:2], RUN, 'all', 'kaggle', FINAL, f'{DOWN_TO} rank R = 1 instead of N = 3'),
        (SHOTS, AGAIN, 5, 'kaggle', FIRST, f'counts a shot each time it is returned {ONCE_MORE}'),
        (
            *(SHOTS * 2, RUN, 5, 'kaggle', FINAL),
            'counts a row that the reference repeats each time: R = 6, not 3',
        ),
        (
            *(SHOTS[1:], AGAIN, 5, 'kaggle', 'trec'),
            f'drops repeated shots with their ranks {ONCE_MORE}',
        ),
        (SHOTS[:0], RUN, 5, 'trec', FIRST, 'no shot is relevant: counts 1 instead of 0'),
        (SHOTS[1:], RUN, 5, 'trec', 'oxford', 'adds the mean of precisions before and at each hit'),
        (SHOTS[1:], RUN, 5, 'oxford', 'trec', 'adds the precision at each hit'),
        (SHOTS[1:], RUN, 5, 'trec', 'map-at-r', f'{DOWN_TO} rank R = 2 instead of N = 3'),
    ],
)
def test_reasons(reference, run, k, in_use, other, why):
    reference = [*reference, ('x', 'v', '1', 'bob')]
    (facts,) = facts_about(reference, run, ['ann'], k, in_use)
    rows = {row.definition: row for row in reconcile(facts, k, definitions.get(in_use))}
    assert rows[other].why == why


@examples(1)
@given(reference_rows, hypothesis_rows, st.lists(names, min_size=1, max_size=3), cutoffs)
def test_map_of_a_run_by_each_definition(reference, run, queries, k):
    facts = facts_about(reference, run, queries, k, 'trec')
    rows = {row.definition: row for row in reconcile_run(facts, [k], definitions.get('trec'))[0]}
    values = {}
    for name in rows:
        if k == 'all' and name == 'by-k':
            assert (rows[name].map, rows[name].n_changed) == (None, None)
            assert rows[name].reason == 'by-k divides by k alone, and there is no cutoff'
            continue
        values[name] = [oracle.evaluate(reference, run, q, [k], name)[0][0] for q in queries]
        mean = sum(values[name]) / len(queries)
        assert rows[name].map == pytest.approx(float(mean), **oracle.CLOSE)
        changed = sum(a != b for a, b in zip(values[name], values['trec'], strict=True))
        assert rows[name].n_changed == changed
