"""Warnings about data and queries: their words, and when there is none."""

import os
import re
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

from mediaeval_ap import AveragePrecision, PersonDiscovery2015
from mediaeval_ap.choices import NEAR
from mediaeval_ap.errors import (
    DataWarning,
    NoOverlapWarning,
    ReadError,
    SessionClosedError,
    WithoutRelevantWarning,
)
from mediaeval_ap.evaluation import relevance
from mediaeval_ap.evaluation.session import Session


def test_results_carry_the_warnings_that_were_given_out(recwarn):
    """In one order: the run's rows, the queries, the shots, the scores."""
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    evaluation = average_precision.evaluate(
        [('x', 'v', '2', 'ann', 0.5)] * 2, ['zoe', 'ann', 'zoe']
    )
    assert [type(each) for each in evaluation.warnings] == [
        DataWarning,
        DataWarning,
        WithoutRelevantWarning,
        NoOverlapWarning,
        WithoutRelevantWarning,
    ]
    assert [each.message for each in recwarn] == list(evaluation.warnings)
    assert {each.filename for each in recwarn} == {__file__}
    assert 'warnings' not in evaluation.to_dict()


def test_results_of_2015_carry_them_too(recwarn):
    discovery = PersonDiscovery2015([('v', '1'), ('v', '2')], [('v', '1', 'ann')])
    evaluation = discovery.evaluate([('v', '2', 'ann', 0.5)], queries=['zoe', 'zoe'])
    assert [type(each) for each in evaluation.warnings] == [
        DataWarning,
        NoOverlapWarning,
        NoOverlapWarning,
    ]
    assert [each.message for each in recwarn] == list(evaluation.warnings)
    assert 'warnings' not in evaluation.to_dict()


ALSO = [('x', 'v', '1', 'ann_lee'), ('x', 'w', '1', 'bob_ray'), ('x', 'v', '2', '?unknown?')]
UNKNOWN = "<reference>: the query is not a name in the reference: 'ann_le' (nearest: 'ann_lee')"


def test_a_query_that_is_no_name_of_the_reference_is_a_warning_with_the_nearest():
    """Wherever it is asked; a session warns once of each name."""
    average_precision = AveragePrecision(ALSO, [1])
    run = [('x', 'v', '1', 'ann_lee', 0.5)]
    with pytest.warns(WithoutRelevantWarning, match=f'^{re.escape(UNKNOWN)}$'):
        frame = average_precision.rank(run, 'ann_le')
    assert frame.attrs == {'AP@1': 1.0, 'n_relevant': 0}
    for session in average_precision(run), average_precision.live(run):
        with pytest.warns(WithoutRelevantWarning, match=f'^{re.escape(UNKNOWN)}$'):
            session.send('ann_le')
        assert session.send('ann_le').n_relevant == 0
        assert session.send('ann_lee').n_relevant == 1
    with pytest.warns(WithoutRelevantWarning) as caught:
        average_precision.evaluate(run, ['ann_lee', *(f'bob_ra{number}' for number in range(5))])
    assert str(caught[0].message).endswith("'bob_ra4' (nearest: 'bob_ray')")
    others = ['ann_lee', 'ann_le', *(f'bob_ra{number}' for number in range(5))]
    told = (
        "<reference>: 6 of 7 queries are not names in the reference: 'ann_le' "
        "(nearest: 'ann_lee'), 'bob_ra0' (nearest: 'bob_ray'), "
    )
    for call in average_precision.evaluate, average_precision.explain:
        with pytest.warns(WithoutRelevantWarning) as caught:
            call(run, others)
        (message,) = (
            str(each.message) for each in caught if each.message.kind == 'unknown-queries'
        )
        assert message.startswith(told)
        assert message.endswith("'bob_ra3' (nearest: 'bob_ray') and 1 more")


def test_a_name_that_is_far_from_all_others_is_no_hint():
    average_precision = AveragePrecision(ALSO, [1])
    for query in 'unknown_0', 'bob_xyz':
        with pytest.warns(WithoutRelevantWarning, match=f"the reference: '{query}'$"):
            average_precision.rank([('x', 'v', '1', 'ann_lee', 0.5)], query)


def asked(session, queries, close):
    """Send queries; return the texts of the warnings until the end of the session, and at it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        for query in queries:
            session.send(query)
        n_before = len(caught)
        close(session)
        close(session)
    texts = [str(each.message) for each in caught]
    assert {each.filename for each in caught} <= {__file__}
    return texts[:n_before], texts[n_before:]


def throw(session):
    with suppress(KeyError, SessionClosedError):
        session.throw(KeyError)


def leave(session):
    with suppress(SessionClosedError), session:
        pass


FURTHER = '<reference>: {} in the reference'


@pytest.mark.parametrize('close', [Session.close, leave, throw])
@pytest.mark.parametrize('kind', ['__call__', 'live'])
def test_a_session_names_three_unknown_names_and_counts_the_others(kind, close):
    average_precision = AveragePrecision(ALSO, [1])
    for n_unknown, further in {
        0: [],
        3: [],
        4: ['1 further query is not a name'],
        1_203: ['1,200 further queries are not names'],
    }.items():
        names = [f'unknown_{number}' for number in range(n_unknown)]
        queries = ['ann_lee', *names, 'bob_ray', *names, '?unknown?']
        session = getattr(average_precision, kind)([('x', 'v', '1', 'ann_lee', 0.5)])
        first, last = asked(session, queries, close)
        assert first == [
            f"<reference>: the query is not a name in the reference: '{name}'" for name in names[:3]
        ]
        assert last == list(map(FURTHER.format, further))


def test_no_nearest_name_is_sought_that_nobody_sees(monkeypatch):
    sought = []

    def nearest(query, names, within=1.0):
        sought.append((query, within))

    monkeypatch.setattr(relevance, 'nearest_name', nearest)
    average_precision = AveragePrecision(ALSO, [1])
    unknown = [f'unknown_{number}' for number in range(9)]
    for category in Warning, DataWarning, WithoutRelevantWarning, NoOverlapWarning:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            if category is NoOverlapWarning:  # of another kind
                warnings.simplefilter('default', WithoutRelevantWarning)
            warnings.simplefilter('ignore', category)
            with (
                warnings.catch_warnings(record=category is NoOverlapWarning),
                average_precision([('x', 'v', '1', 'ann_lee', 0.5)]) as session,
            ):
                for query in unknown:
                    session.send(query)
        assert sought == [(query, NEAR) for query in unknown[:3]] * (category is NoOverlapWarning)


def test_names_outside_the_subset_are_names_of_the_reference():
    average_precision = AveragePrecision(ALSO, [1], subset=[('x', 'v')], definition='trec')
    run = [('x', 'v', '1', 'ann_lee', 0.5)]
    assert average_precision(run).send('bob_ray').n_relevant == 0
    assert average_precision.rank(run, 'bob_ray').attrs['n_relevant'] == 0
    with pytest.warns(WithoutRelevantWarning) as caught:
        average_precision.evaluate(run, ['ann_lee', 'bob_ray'])
    assert [each.category for each in caught] == [WithoutRelevantWarning]
    with pytest.warns(WithoutRelevantWarning, match="nearest: 'bob_ray'"):
        average_precision.rank(run, 'bob_rey')


ROWS = [('x', 'v', '1', 'ann')]
HINT = "^ann_lee: No such file or directory; for one name, give a list: queries=\\['ann_lee'\\]$"


def test_a_name_that_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    average_precision = AveragePrecision(ROWS, 10)
    run = [(*row, 0.5) for row in ROWS]
    for ask in (
        lambda: average_precision.evaluate(run, 'ann_lee'),
        lambda: average_precision.live().evaluate('ann_lee'),
        lambda: average_precision.export_trec(run, 'qrels', 'run', 'ann_lee'),
    ):
        with pytest.raises(ReadError, match=HINT):
            ask()
    assert os.listdir() == []
    discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    with pytest.raises(ReadError, match=HINT):
        discovery.evaluate([('v', '1', 'ann', 0.5)], queries='ann_lee')


def test_no_hint_where_a_path_is_meant(tmp_path):
    average_precision = AveragePrecision(ROWS, 10)
    for path in (Path('ann_lee'), str(tmp_path)):
        with pytest.raises(ReadError) as caught:
            average_precision.evaluate([(*ROWS[0], 0.5)], path)
        assert 'list' not in str(caught.value)
