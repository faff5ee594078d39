"""The order of judging: pool pairs or their shots by a strategy, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import JudgedBy, Strategy
from mediaeval_ap.errors import DataWarning, ParameterError, shown, with_noun
from mediaeval_ap.judging.candidates import SHOT, UNJUDGED, Labels, PoolPairs
from mediaeval_ap.judging.minimal_test_collections import ExpectedAP, RelevanceModel
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.results.result import Described

SCHEMA = 'mediaeval-ap/queue/1'
NAMED_RUNS = 2  # in a reason, of those at each end
DECIMALS = 12  # of scores that are ranked: the last bits depend on the order of sums


@dataclass(frozen=True)
class ToJudge:
    """A shot, or a shot and a name, that is to be judged, and what speaks for it.

    Examples
    --------
    >>> ToJudge('x', 'v', '1', 'ann', 0.5, {'a': 1, 'b': 7}, 1, 3).reason
    'a has it at 1, b at 7, 1 run not'
    """

    corpus_id: str
    video_id: str
    shot_id: str
    person_name: str | None  # None where a judgement says who of all names is in the shot
    score: float  # each strategy has its own unit
    ranks: dict[str, int]  # the best at which each run returns it, for the runs that do, best first
    n_queries: int  # that a judgement of it answers
    n_runs: int  # in all

    @property
    def reason(self) -> str:
        """Return the runs that have it, the highest first, and those that do not, as a sentence."""
        (first, best), *others = self.ranks.items()
        words = [f'{first} has it at {best}']
        ends = others if len(others) <= NAMED_RUNS else [others[0], others[-1]]
        words += [f'{run} at {rank}' for run, rank in ends]
        if between := len(others) - len(ends):
            words.insert(2, f'{with_noun(between, "run", "runs")} between')
        if without := self.n_runs - len(self.ranks):
            words.append(f'{with_noun(without, "run", "runs")} not')
        if self.n_queries > 1:
            words.append(f'for {self.n_queries} queries')
        return ', '.join(words)


@dataclass(frozen=True, eq=False)
class Chooser:
    """A strategy over pool pairs: the score of each shot or pair, from what is judged so far."""

    pairs: PoolPairs
    by: JudgedBy
    strategy: Strategy

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """Return for each pair the number of what is judged at once: its shot, or itself."""
        return self.pairs.shot if self.by == 'shot' else np.arange(len(self.pairs))

    @cached_property
    def model(self) -> RelevanceModel:
        return RelevanceModel(self.pairs)

    @cached_property
    def _expected(self) -> ExpectedAP:
        return ExpectedAP(self.pairs)

    @cached_property
    def fixed(self) -> Floats:
        """The score of each pair by a strategy that learns nothing."""
        combine = np.add if self.strategy == 'rank-sum' else np.maximum
        scores: Floats = combine.reduce(self.pairs.reciprocal_ranks)
        return scores

    def scores(self, labels: Labels) -> Floats:
        """Return the score of each unit, -1 where nothing of it is to be judged."""
        if self.strategy == 'mtc':
            p = self.model.probabilities(labels)
            spread = self._expected.derivatives(p).var(axis=0)
            values = p * (1 - p) * spread
        else:
            values = self.fixed
        open_ = np.flatnonzero(labels == UNJUDGED)
        scores = np.full(self.unit.max() + 1, -1.0)
        scores[self.unit[open_]] = 0
        # A shot is as good as all its pairs together, or as the first of them.
        combine = np.add if self.strategy in ('mtc', 'rank-sum') else np.maximum
        combine.at(scores, self.unit[open_], values[open_])
        return scores

    def first(self, scores: Floats, n: int) -> NDArray[np.int64]:
        """Return the units of the n largest scores; equal ones in the order of their numbers."""
        open_ = np.flatnonzero(scores >= 0)
        relative = scores[open_] / (scores.max(initial=0) or 1)
        found: NDArray[np.int64] = open_[np.argsort(-relative.round(DECIMALS), kind='stable')[:n]]
        return found


@dataclass(frozen=True, eq=False)
class Queue(Described):
    """The pairs, or shots, to judge next, best first.

    `AveragePrecision.judge_next` makes it.

    Parameters
    ----------
    n : int
        How many lines it has at most.
    parameters, inputs, warnings
        Of the manifest, and what there was to warn of.

    Notes
    -----
    For mtc, a logistic regression gives each pair the probability p that it is relevant, from
    the teams, ranks, distances and confidences of the runs, and the judgements. First comes the
    largest p (1 - p) times the variance over runs of the derivative of expected AP by p; the
    score of a shot is the sum over its pairs. Relevant shots that no run returned high enough
    count in no expected AP. No strategy wins everywhere: mtc may need more judgements than depth.

    References
    ----------
    B. Carterette, J. Allan and R. Sitaraman, "Minimal test collections for retrieval
    evaluation", SIGIR 2006.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([], K=[10], judged=[])
    >>> runs = {'a': [('x', 'v', '1', 'ann', 0.5)], 'b': [('x', 'v', '2', 'ann', 0.5)]}
    >>> queue = average_precision.judge_next(runs, ['ann'], strategy='rank-sum')
    >>> [(each.shot_id, each.score, each.reason) for each in queue.lines]
    [('1', 1.0, 'a has it at 1, 1 run not'), ('2', 1.0, 'b has it at 1, 1 run not')]
    >>> [each.shot_id for each in queue.after(('x', 'v', '1', 'ann')).lines]
    ['2']
    """

    n: int
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    warnings: tuple[DataWarning, ...] = ()
    _chooser: Chooser = field(kw_only=True, repr=False)
    _labels: Labels = field(kw_only=True, repr=False)

    def __repr__(self) -> str:
        judged = f'{self.n_judged:,} of {self.n_pairs:,} pool pairs are judged'
        return f'Queue by {self._chooser.by} ({self._chooser.strategy}; {judged})'

    @property
    def n_judged(self) -> int:
        """Number of pool pairs that are judged."""
        return int(np.count_nonzero(self._labels != UNJUDGED))

    @property
    def n_pairs(self) -> int:
        """Number of pool pairs: a query and a shot that some run returned high enough for it."""
        return len(self._labels)

    @cached_property
    def lines(self) -> list[ToJudge]:
        """Return what to judge, best first; equal scores by video, corpus, shot and then query."""
        chooser = self._chooser
        scores = chooser.scores(self._labels)
        return [self._line(unit, scores[unit]) for unit in chooser.first(scores, self.n).tolist()]

    def _line(self, unit: int, score: float) -> ToJudge:
        pairs = self._chooser.pairs
        at = np.flatnonzero((self._chooser.unit == unit) & (self._labels == UNJUDGED))
        never = np.iinfo(np.int64).max
        best = np.where(pairs.ranks[:, at] > 0, pairs.ranks[:, at], never).min(axis=1).tolist()
        ranked = sorted(zip(best, pairs.runs, strict=True))
        ranks = {run: rank for rank, run in ranked if rank < never}
        name = pairs.queries[pairs.query[unit]] if self._chooser.by == 'pair' else None
        corpus, video, shot = pairs.texts[pairs.shot[at[0]]]
        return ToJudge(corpus, video, shot, name, float(score), ranks, len(at), len(pairs.runs))

    def after(self, judgement: Sequence[Any]) -> Queue:
        """Return the queue once something is judged; the newest judgement of a shot counts.

        Parameters
        ----------
        judgement : sequence
            By shot: ``corpus_id video_id shot_id``, then the names that are relevant there; it was
            looked at for all names. By pair: ``corpus_id video_id shot_id person_name relevance``,
            with 0 or 1.

        Returns
        -------
        Queue
            What `judge_next` would return with all judgements so far: the model of the strategy mtc
            is fitted again.

        Raises
        ------
        ParameterError
            When no run returned the shot, the name is no query, or the relevance not 0 or 1.
        """
        pairs = self._chooser.pairs
        by = self._chooser.by
        shot = tuple(judgement[: len(SHOT)])
        rest = list(judgement[len(SHOT) :])
        names = dict.fromkeys(rest, 1)
        if by == 'pair':
            if len(rest) != 2 or f'{rest[1]}' not in ('0', '1'):
                expected = f'{" ".join(SHOT)} person_name relevance, with 0 or 1'
                raise ParameterError(f'judgement: found {shown(judgement)}, expected {expected}')
            names = {rest[0]: int(rest[1])}
        if shot not in pairs.texts:
            found = shown('/'.join(map(str, shot)))
            raise ParameterError(f'judgement: found {found}, expected a shot of the pool')
        if strangers := names.keys() - set(pairs.queries):
            expected = 'the name of a query; leave others out'
            raise ParameterError(f'judgement: found {shown(min(strangers))}, expected {expected}')
        labels = self._labels.copy()
        of_shot = pairs.shot == pairs.texts.index(shot)
        if by == 'shot':
            labels[of_shot] = 0
        for name, is_relevant in names.items():
            labels[of_shot & (pairs.query == pairs.queries.index(name))] = is_relevant
        return replace(self, _labels=labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the queue, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            As the schema of a queue says.
        """
        return {
            'schema': SCHEMA,
            'version': __version__,
            'lines': [{**asdict(each), 'reason': each.reason} for each in self.lines],
            'n_judged': self.n_judged,
            'n_pairs': self.n_pairs,
            'manifest': {
                'version': __version__,
                'definition': self._chooser.pairs.criteria.definition.to_dict(),
                'parameters': self.parameters,
                'inputs': self.inputs,
            },
        }

    def document(self) -> Document:
        return Document(lambda: self._blocks(), self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        chooser = self._chooser
        judged = f'{self.n_judged:,} of {self.n_pairs:,} pool pairs are judged'
        yield Heading('What to judge next', f'{chooser.strategy}, by {chooser.by}; {judged}')
        yield self._rows(max((each.score for each in self.lines), default=1) or 1)

    def _rows(self, unit: float = 1) -> Grid:
        fields = [*SHOT, *['person_name'] * (self._chooser.by == 'pair')]
        rows = [
            [*(getattr(each, name) for name in fields), each.score / unit, each.reason]
            for each in self.lines
        ]
        return Grid([*fields, 'score', 'reason'], rows)


def first_queue(pairs: PoolPairs, n: int, by: JudgedBy, strategy: Strategy) -> Queue:
    """Return the queue of what could be judged, before anything else is."""
    return Queue(
        n,
        {**pairs.parameters, 'n': n, 'by': by, 'strategy': strategy},
        pairs.inputs,
        pairs.warnings,
        _chooser=Chooser(pairs, by, strategy),
        _labels=pairs.known(),
    )
