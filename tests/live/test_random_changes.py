"""After any changes, a live session answers as a session about a run of the same hypotheses."""

from unittest import mock

import oracle
import pytest
import strategies
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from live_sessions import WRONG_ROWS, check_live, order_of, order_of_frozen

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.live.incremental import IncrementalScorer


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
        self.reference = list(reference)
        self.rows = list(begin)
        self.live = self.average_precision.live(begin)
        self.queries = [*self.average_precision.queries, 'ab', 'zz']
        self.keep_up()
        self.snapshots = []
        # Small enough that hits are looked at in several blocks.
        self.patch = mock.patch('mediaeval_ap.live.incremental.BLOCK_CELLS', 3)
        self.patch.start()

    def keep_up(self):
        """Begin to keep up scores by the reference of this moment."""
        self.incremental = IncrementalScorer(
            self.queries,
            self.live._judged_now()[0],
            self.K,
            self.average_precision.definition,
            self.live._current(),
        )

    def judged(self, reference):
        self.reference = reference
        self.average_precision = AveragePrecision(
            reference, self.K, definition=self.definition, subset=self.subset
        )
        self.keep_up()

    @rule(rows=st.lists(st.tuples(*strategies.fields[:3], strategies.names), max_size=3))
    def judge(self, rows):
        self.live.judge(iter(rows))
        self.judged([*self.reference, *rows])

    @rule(data=st.data())
    def unjudge(self, data):
        row = data.draw(st.sampled_from(self.reference))
        left = list(self.reference)
        left.remove(row)
        if any(self.subset is None or each[:2] in self.subset for each in left):
            self.live.unjudge([row])
            self.judged(left)

    @rule(row=st.tuples(*strategies.fields[:3], strategies.names))
    def unjudge_what_is_not_there(self, row):
        if row not in self.reference:
            with pytest.raises(KeyError, match='no row'):
                self.live.unjudge([*self.reference[:1], row])

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
    def withdraw(self, data):
        row = data.draw(st.sampled_from(self.rows))
        self.live.discard(list(row))
        self.rows.remove(row)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), confidence=strategies.confidences)
    def change(self, data, confidence):
        row = data.draw(st.sampled_from(self.rows))
        self.live.update(row, confidence=confidence)
        self.rows.remove(row)
        self.rows.append((*row[:4], confidence))

    @rule(row=st.tuples(*strategies.fields))
    def withdraw_what_is_not_there(self, row):
        if row not in self.rows:
            for work in (self.live.discard, lambda row: self.live.update(row, confidence=0.25)):
                with pytest.raises(KeyError):
                    work(row)

    @rule(wrong=st.sampled_from(WRONG_ROWS), rows=st.lists(st.tuples(*strategies.fields)))
    def wrong(self, wrong, rows):
        with pytest.raises(FormatError):
            self.live.extend([*rows, wrong])
        with pytest.raises(FormatError):
            self.live.discard(wrong)
        with pytest.raises(FormatError):
            self.live.update(wrong, confidence=0.5)

    @rule()
    def snapshot(self):
        snapshot = self.live.snapshot()
        self.snapshots.append((snapshot, order_of_frozen(snapshot, 'ab')))

    @invariant()
    def is_what_is_built_anew(self):
        live = self.live
        check_live(live)
        assert len(live) == len(self.rows)
        counted = [row for row in self.rows if self.subset is None or row[:2] in self.subset]
        self.incremental.update(live._current())
        scores = self.incremental.ap().tolist()
        if not counted:
            for query, ap in zip(self.queries, scores, strict=True):
                expected, n = oracle.evaluate(
                    self.reference, [], query, self.K, self.definition, self.subset
                )
                assert live.send(query) == ([float(value) for value in expected], n)
                assert ap == [float(value) for value in expected]
            assert order_of(live, 'ab') == []
            return
        ranking = self.average_precision(self.rows)._scorer.ranking
        expected = self.average_precision.evaluate(ranking, self.queries)
        assert scores == expected.ap.tolist()
        for query, ap, n in zip(
            self.queries, expected.ap.tolist(), expected.n_relevant.tolist(), strict=True
        ):
            assert live.send(query) == (ap, n)
        assert order_of(live, 'ab') == order_of_frozen(ranking, 'ab')
        evaluation = live.evaluate(self.queries)
        assert evaluation.ap.tolist() == expected.ap.tolist()
        assert evaluation.n_relevant.tolist() == expected.n_relevant.tolist()
        assert evaluation.counts == expected.counts

    def teardown(self):
        self.patch.stop()
        for snapshot, order in self.snapshots:
            assert order_of_frozen(snapshot, 'ab') == order


TestChanges = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')(
    Changes.TestCase
)


# Each step builds everything anew: fewer and shorter sequences than the default keep it short.
TestChanges.settings = settings(strategies.examples(0.5), stateful_step_count=25)
