"""After any changes, a live session answers as a session about a run of the same hypotheses."""

import oracle
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from live_sessions import order_of, order_of_frozen

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import ParameterError


class Changes(RuleBasedStateMachine):
    """Random changes, after each of which everything is compared with what is built anew."""

    @initialize(
        reference=strategies.reference_rows,
        K=strategies.cutoffs,
        definition=st.sampled_from(definitions.names()),
        subset=strategies.subsets,
        begin=st.lists(st.tuples(*strategies.fields), max_size=8),
    )
    def begin(self, reference, K, definition, subset, begin):
        K = strategies.allowed(K, definition)
        try:
            self.average_precision = AveragePrecision(
                reference, K, definition=definition, subset=subset
            )
        except ParameterError:  # the subset leaves nothing
            subset = None
            self.average_precision = AveragePrecision(reference, K, definition=definition)
        self.reference, self.K, self.definition, self.subset = reference, K, definition, subset
        self.rows = list(begin)
        self.live = self.average_precision.live(begin)
        self.queries = [*self.average_precision.queries, 'ab', 'zz']
        self.snapshots = []

    @rule(row=st.tuples(*strategies.fields))
    def add(self, row):
        self.live.add(row)
        self.rows.append(row)

    @rule(rows=st.lists(st.tuples(*strategies.fields), max_size=5))
    def extend(self, rows):
        self.live.extend(iter(rows))
        self.rows.extend(rows)

    @rule(
        rows=st.lists(st.tuples(*strategies.fields), max_size=5),
        row=st.tuples(*strategies.fields),
        step=st.sampled_from('extend add_before add_behind'.split()),
    )
    def extend_and(self, rows, row, step):
        if step == 'add_before':
            self.add(row)
        self.extend(rows)
        if step == 'add_behind':
            self.add(row)
        elif step == 'extend':
            self.extend([row, *rows])

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def repeat(self, data):
        self.add(data.draw(st.sampled_from(self.rows)))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def beside(self, data):
        """A shot more of a name and video that are there, as sure: temporal ranks shift."""
        row = data.draw(st.sampled_from(self.rows))
        self.add((*row[:2], data.draw(strategies.shots), *row[3:]))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def remove(self, data):
        row = data.draw(st.sampled_from(self.rows))
        self.live.remove(list(row))
        self.rows.remove(row)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), confidence=strategies.confidences)
    def change(self, data, confidence):
        row = data.draw(st.sampled_from(self.rows))
        self.live.update(row, confidence=confidence)
        self.rows.remove(row)
        self.rows.append((*row[:4], confidence))

    @rule(row=st.tuples(*strategies.fields))
    def remove_what_is_not_there(self, row):
        if row not in self.rows:
            for work in (self.live.remove, lambda row: self.live.update(row, confidence=0.25)):
                with pytest.raises(ParameterError, match='no hypothesis'):
                    work(row)

    @rule()
    def snapshot(self):
        snapshot = self.live.snapshot()
        self.snapshots.append((snapshot, order_of_frozen(snapshot, 'ab')))

    @rule()
    def go_on_from_a_frame(self):
        if self.rows:
            self.live = self.average_precision.live(self.live.snapshot().to_frame())

    @invariant()
    def is_what_is_built_anew(self):
        live = self.live
        assert len(live) == len(self.rows)
        counted = [row for row in self.rows if self.subset is None or row[:2] in self.subset]
        if not counted:
            for query in self.queries:
                expected, n = oracle.evaluate(
                    self.reference, [], query, self.K, self.definition, self.subset
                )
                assert live.send(query) == ([float(value) for value in expected], n)
            assert order_of(live, 'ab') == []
            return
        ranking = self.average_precision(self.rows)._lister.ranking
        expected = self.average_precision.evaluate(ranking, self.queries)
        for query, ap, n in zip(
            self.queries, expected.ap.tolist(), expected.n_relevant.tolist(), strict=True
        ):
            assert live.send(query) == (ap, n)
        assert order_of(live, 'ab') == order_of_frozen(ranking, 'ab')
        assert live._current_lister().ranking.n_shots == ranking.n_shots
        evaluation = live.evaluate(self.queries)
        assert evaluation.ap.tolist() == expected.ap.tolist()
        assert evaluation.n_relevant.tolist() == expected.n_relevant.tolist()
        assert evaluation.counts == expected.counts

    def teardown(self):
        for snapshot, order in self.snapshots:
            assert order_of_frozen(snapshot, 'ab') == order


TestChanges = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')(
    Changes.TestCase
)


# Each step builds everything anew: fewer and shorter sequences than the default keep it short.
TestChanges.settings = settings(strategies.examples(0.5), stateful_step_count=25)


def rows_of_one_name(confidences, **sizes):
    videos = st.sampled_from('vw')
    fields = st.just('x'), videos, strategies.shots, st.just('ann'), confidences
    return st.lists(st.tuples(*fields), **sizes)


# Few confidences, most of them tied, or many, most of them apart.
many_confidences = st.integers(-(10**6), 10**6).map(float)
sessions_of_one_name = st.sampled_from([strategies.confidences, many_confidences]).flatmap(
    lambda confidences: st.tuples(
        rows_of_one_name(confidences, min_size=10, max_size=40),
        st.lists(rows_of_one_name(confidences, min_size=1, max_size=3), min_size=1, max_size=5),
    )
)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('subset', [None, {('x', 'v')}])
@settings(strategies.examples(2))
@given(session=sessions_of_one_name, data=st.data())
def test_many_hypotheses_of_one_name(subset, session, data):
    """Those that are surer, or less sure, than all changes are not ranked again."""
    rows, batches = session
    average_precision = AveragePrecision(
        [('x', 'v', '1', 'ann'), ('x', 'v', '9', 'ann')], K=[1, 5, 'all'], subset=subset
    )
    always = ('x', 'v', '1', 'ann', 0.25)  # the subset has one at least
    live = average_precision.live([always, *rows])
    live.send('ann')
    for batch in batches:
        for row in batch:
            change = data.draw(st.sampled_from(['add', 'remove', 'update']))
            old = data.draw(st.sampled_from(rows or [row]))
            if change == 'add' or not rows:
                live.add(row)
                rows.append(row)
            elif change == 'remove':
                live.remove(old)
                rows.remove(old)
            else:
                live.update(old, confidence=row[4])
                rows.remove(old)
                rows.append((*old[:4], row[4]))
        anew = average_precision([always, *rows])
        assert live.send('ann') == anew.send('ann')
        assert order_of(live, 'ann') == order_of_frozen(anew._lister.ranking, 'ann')
