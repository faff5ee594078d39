"""The queue of judging: pool pairs, or their shots, in the order of a strategy, with reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import JudgedBy, Strategy
from mediaeval_ap.errors import DataWarning, ParameterError, shown, with_noun
from mediaeval_ap.judging.candidates import NOT_JUDGED, PairLabels, PoolPairs
from mediaeval_ap.judging.minimal_test_collections import ExpectedAP, RelevanceModel
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.results.described import Described, json_document, manifest_json
from mediaeval_ap.results.rounding import OWN_DECIMALS
from mediaeval_ap.tables.layouts import SHOT_FIELDS

QUEUE_SCHEMA = 'mediaeval-ap/queue/1'


@dataclass(frozen=True)
class ToJudge:
    """A shot, or a shot and a name, to judge, and the reason for it in words."""

    corpus_id: str
    video_id: str
    shot_id: str
    person_name: str | None  # None where shots are judged for all names at once
    score: float  # each strategy has its own unit
    ranks: dict[str, int]  # the best rank in each run that returns it, best first
    n_queries: int  # for which one judgement gives labels
    n_runs: int  # all runs, also those that do not return it
    reason: str
    queries: list[str]  # those of `n_queries`, best rank first


def reason_to_judge(
    ranks: Collection[int], n_queries: int, n_runs: int, depth: int, near: float
) -> str:
    """Say at which ranks runs have a shot, and how many do not have it."""
    first, last = min(ranks), max(ranks)
    verb = 'ranks' if len(ranks) == 1 else 'rank'
    reason = f'{len(ranks)} of {with_noun(n_runs, "run", "runs")} {verb} it {first}'
    if last > first:
        reason += f' to {last}'
    if n_queries > 1:
        reason += f' (best of {n_queries} queries)'
    if n_without := n_runs - len(ranks):
        runs = with_noun(n_without, 'run does', 'runs do')
        first_ranks = 'its first' if n_without == 1 else 'their first'
        first_ranks += f' {depth:,}' if depth > 1 else ' rank'
        name = ' under a near name' if near else ''
        reason += f'; {runs} not have it in {first_ranks}{name}'
    return reason


@dataclass(frozen=True, eq=False)
class Chooser:
    """A strategy over pool pairs: it scores each shot or pair by the judgements so far."""

    pairs: PoolPairs
    by: JudgedBy
    strategy: Strategy

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """Return the number of each pair's unit of judging: its shot, or the pair itself."""
        return self.pairs.shot if self.by == 'shot' else np.arange(len(self.pairs))

    @cached_property
    def _model(self) -> RelevanceModel:
        return RelevanceModel(self.pairs)

    @cached_property
    def _expected(self) -> ExpectedAP:
        return ExpectedAP(self.pairs)

    @cached_property
    def _fixed_values(self) -> Floats:
        """The value of each pair by a strategy that ignores judgements."""
        combine = np.add if self.strategy == 'rank-sum' else np.maximum
        values: Floats = combine.reduce(self.pairs.reciprocal_ranks)
        return values

    def _values(self, labels: PairLabels) -> Floats:
        if self.strategy != 'mtc':
            return self._fixed_values
        # The variance of each label times that of the slopes over runs.
        p = self._model.probabilities(labels)
        values: Floats = p * (1 - p) * self._expected.derivatives(p).var(axis=0)
        return values

    def scores(self, labels: PairLabels) -> Floats:
        """Return the score of each unit, -1 where all its pairs are judged."""
        values = self._values(labels)
        open_pairs = np.flatnonzero(labels == NOT_JUDGED)
        scores = np.full(self.unit.max() + 1, -1.0)
        scores[self.unit[open_pairs]] = 0
        # A shot has the sum of its pairs' scores, or by the strategy of depth the largest of them.
        combine = np.add if self.strategy in ('mtc', 'rank-sum') else np.maximum
        combine.at(scores, self.unit[open_pairs], values[open_pairs])
        return scores

    def first(self, scores: Floats, n: int) -> NDArray[np.int64]:
        """Return the units of the n largest scores; equal ones in the order of their numbers."""
        open_units = np.flatnonzero(scores >= 0)
        relative = scores[open_units] / (scores.max(initial=0) or 1)
        order = np.argsort(-relative.round(OWN_DECIMALS), kind='stable')
        return open_units[order[:n]]


@dataclass(frozen=True, eq=False)
class Queue(Described):
    """The pairs, or shots, to judge next, best first.

    `AveragePrecision.judge_next` makes it.

    Parameters
    ----------
    n : int
        Greatest number of lines.
    parameters, inputs, warnings
        The settings and files for the manifest, and the warnings.

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
    >>> [(line.shot_id, line.score) for line in queue.lines]
    [('1', 1.0), ('2', 1.0)]
    >>> queue.lines[0].reason
    '1 of 2 runs ranks it 1; 1 run does not have it in its first 20 under a near name'
    >>> [line.shot_id for line in queue.after(('x', 'v', '1', 'ann')).lines]
    ['2']
    """

    n: int
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    warnings: tuple[DataWarning, ...] = ()
    _chooser: Chooser = field(kw_only=True, repr=False)
    _labels: PairLabels = field(kw_only=True, repr=False)

    def __repr__(self) -> str:
        judged = f'{self.n_judged:,} of {self.n_pairs:,} pool pairs are judged'
        return f'Queue by {self._chooser.by} ({self._chooser.strategy}; {judged})'

    @property
    def n_judged(self) -> int:
        """Number of pool pairs that are judged."""
        return int(np.count_nonzero(self._labels != NOT_JUDGED))

    @property
    def n_pairs(self) -> int:
        """Number of pool pairs: a query and a shot that some run returned high enough for it."""
        return len(self._labels)

    @cached_property
    def lines(self) -> list[ToJudge]:
        """Shots or pairs to judge, best first; equal scores by video, corpus, shot, then query."""
        chooser = self._chooser
        scores = chooser.scores(self._labels)
        return [self._line(unit, scores[unit]) for unit in chooser.first(scores, self.n).tolist()]

    def _line(self, unit: int, score: float) -> ToJudge:
        pairs = self._chooser.pairs
        open_pairs = np.flatnonzero((self._chooser.unit == unit) & (self._labels == NOT_JUDGED))
        ranks = pairs.ranks[:, open_pairs]
        never = np.iinfo(np.int64).max
        ranks = np.where(ranks > 0, ranks, never)
        best_first = sorted(zip(ranks.min(axis=1).tolist(), pairs.runs, strict=True))
        by_rank = open_pairs[ranks.min(axis=0).argsort(kind='stable')]
        queries = [pairs.queries[query] for query in pairs.query[by_rank].tolist()]
        by_run = {run: rank for rank, run in best_first if rank < never}
        name = pairs.queries[pairs.query[unit]] if self._chooser.by == 'pair' else None
        corpus, video, shot = pairs.texts[pairs.shot[open_pairs[0]]]
        counts = len(open_pairs), len(pairs.runs)
        depth, near = (self.parameters[name] for name in ('depth', 'near'))
        reason = reason_to_judge(by_run.values(), *counts, depth, near)
        return ToJudge(corpus, video, shot, name, float(score), by_run, *counts, reason, queries)

    def after(self, judgement: Sequence[Any]) -> Queue:
        """Return the queue after one more judgement; the newest judgement of a shot counts.

        Parameters
        ----------
        judgement : sequence
            By shot: ``corpus_id video_id shot_id``, then the names that are relevant there; all
            other names are not. By pair: ``corpus_id video_id shot_id person_name relevance``, with
            0 or 1.

        Returns
        -------
        Queue
            The queue that `judge_next` would return with all judgements so far; the model of the
            strategy mtc is fitted again.

        Raises
        ------
        ParameterError
            When no run returned the shot, the name is not a query, or the relevance not 0 or 1.
        """
        pairs = self._chooser.pairs
        by = self._chooser.by
        if not pairs.criteria.has_names and len(judgement) == 3:
            topic, document, relevance = judgement
            judgement = '', '', document, topic, relevance
        shot = tuple(judgement[: len(SHOT_FIELDS)])
        rest = list(judgement[len(SHOT_FIELDS) :])
        relevance_by_name = dict.fromkeys(rest, 1)
        if by == 'pair':
            if len(rest) != 2 or rest[1] not in (0, 1, '0', '1'):
                expected = f'{" ".join(SHOT_FIELDS)} person_name relevance, with 0 or 1'
                raise ParameterError(f'judgement: found {shown(judgement)}, expected {expected}')
            relevance_by_name = {rest[0]: int(rest[1])}
        if shot not in pairs.texts:
            unknown = shown('/'.join(map(str, shot)))
            raise ParameterError(f'judgement: found {unknown}, expected a shot of the pool')
        if strangers := relevance_by_name.keys() - set(pairs.queries):
            expected = 'the name of a query; leave others out'
            raise ParameterError(f'judgement: found {shown(min(strangers))}, expected {expected}')
        labels = self._labels.copy()
        is_of_shot = pairs.shot == pairs.texts.index(shot)
        if by == 'shot':
            labels[is_of_shot] = 0
        for name, relevance in relevance_by_name.items():
            labels[is_of_shot & (pairs.query == pairs.queries.index(name))] = relevance
        return replace(self, _labels=labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the queue and a manifest, for JSON.

        Returns
        -------
        dict
            An object of the JSON schema of queues, ``queue-1``.
        """
        return json_document(
            QUEUE_SCHEMA,
            lines=[asdict(line) for line in self.lines],
            n_judged=self.n_judged,
            n_pairs=self.n_pairs,
            manifest=manifest_json(
                definition=self._chooser.pairs.criteria.definition,
                parameters=self.parameters,
                inputs=self.inputs,
            ),
        )

    def document(self) -> Document:
        return Document(self._blocks, self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        chooser = self._chooser
        judged = f'{self.n_judged:,} of {self.n_pairs:,} pool pairs are judged'
        yield Heading('What to judge next', f'{chooser.strategy}, by {chooser.by}; {judged}')
        yield self._rows(max((line.score for line in self.lines), default=1) or 1)

    def _rows(self, unit: float = 1) -> Grid:
        fields = [*SHOT_FIELDS, *['person_name'] * (self._chooser.by == 'pair')]
        columns = self._chooser.pairs.criteria.columns
        titles = {field: title for field, title in columns.items() if field in fields}
        more = ['queries'] * (self._chooser.by == 'shot')
        rows = [
            [*(getattr(line, field) for field in titles), line.score / unit, line.reason]
            + [', '.join(line.queries) for _ in more]
            for line in self.lines
        ]
        return Grid([*titles.values(), 'score', 'reason', *more], rows)


def first_queue(pairs: PoolPairs, n: int, by: JudgedBy, strategy: Strategy) -> Queue:
    """Return the queue by the judgements of the criteria, or else by the reference."""
    return Queue(
        n,
        {**pairs.parameters, 'n': n, 'by': by, 'strategy': strategy},
        pairs.inputs,
        pairs.warnings,
        _chooser=Chooser(pairs, by, strategy),
        _labels=pairs.initial_labels(by),
    )
