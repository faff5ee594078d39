"""A past campaign, judged again by strategies: how soon the order of its runs is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap import __version__
from mediaeval_ap.choices import JudgedBy, Strategy
from mediaeval_ap.comparison.comparable_runs import agreement
from mediaeval_ap.errors import DataWarning, require
from mediaeval_ap.judging.candidates import UNJUDGED, Floats, PoolPairs
from mediaeval_ap.judging.expected_ap import ExpectedAP
from mediaeval_ap.judging.judging_queue import DECIMALS, Chooser
from mediaeval_ap.judging.relevance_model import RelevanceModel
from mediaeval_ap.progress import Bar
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.described import Described

if TYPE_CHECKING:
    import altair

    from mediaeval_ap.evaluation.relevance import Reference

SCHEMA = 'mediaeval-ap/replay/1'
SETTLED = 0.95  # tau-b from which the order counts as right
LEAST_ROUND, SHARE_OF_ROUND = 10, 20  # a round judges so many, or this part of all before
ROWS = [0, *(base * 10**power for power in (1, 2, 3, 4, 5) for base in (1, 2, 5)), 10**6]


@dataclass(frozen=True)
class ReplayStep:
    """What is known after so many judgements.

    Parameters
    ----------
    strategy : str
        Who chose them.
    n_judged : int
        Number of judgements: shots or pairs.
    n_found : int
        Number of relevant pool pairs among them.
    tau, expected_tau : float or None
        Kendall's tau-b between the order of the runs by the truth and that by MAP, where what is
        not judged is not relevant, and by expected MAP of the model; None without an order.
    error, expected_error : float
        Mean absolute error of these MAPs over runs.

    Examples
    --------
    >>> ReplayStep('depth', 10, 3, 0.5, 0.25, 1.0, 0.125).n_found
    3
    """

    strategy: str
    n_judged: int
    n_found: int
    tau: float | None
    error: float
    expected_tau: float | None
    expected_error: float


@dataclass(frozen=True, eq=False)
class Replay(Described):
    """A past campaign, judged again by each strategy, from nothing to the whole pool.

    `AveragePrecision.replay` makes it.

    Parameters
    ----------
    steps : list of ReplayStep
        The state after each round, strategy after strategy.
    n_pairs, n_relevant : int
        Number of pool pairs, and of the relevant ones among them, which are the truth.
    whole_tau : float or None
        Kendall's tau-b between the order by this truth and that by all of the reference, some of
        whose shots no run returned high enough.
    whole_error : float
        Mean absolute difference of these MAPs.
    n_outside : int
        Number of relevant shots of the reference that are no pool pairs.
    parameters, inputs, warnings
        Of the manifest, and what there was to warn of.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> one, two = ('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')
    >>> runs = {'a': [(*one, 0.5), (*two, 0.4)], 'b': [(*two, 0.5), (*one, 0.4)]}
    >>> truth = [one]
    >>> replay = AveragePrecision(truth, K=[10]).replay(runs, truth, strategies=['depth'])
    >>> [(step.n_judged, step.n_found, step.tau) for step in replay.steps]
    [(0, 0, None), (2, 1, 1.0)]
    >>> replay.settled('depth')
    2
    """

    steps: list[ReplayStep]
    n_pairs: int
    n_relevant: int
    whole_tau: float | None
    whole_error: float
    n_outside: int
    parameters: dict[str, Any]
    inputs: dict[str, Any]
    warnings: tuple[DataWarning, ...] = ()

    def __repr__(self) -> str:
        return (
            f'Replay of {self.n_pairs:,} pool pairs by {", ".join(self.parameters["strategies"])}'
        )

    def settled(
        self, strategy: str, *, expected: bool = False, level: float = SETTLED
    ) -> int | None:
        """Return after how many judgements tau stays at a level or above.

        Parameters
        ----------
        strategy : str
            One of the strategies.
        expected : bool
            By expected MAP instead of MAP.
        level : float
            The least tau.

        Returns
        -------
        int or None
            The number of judgements; None where the last order is another one.
        """
        found = None
        for step in reversed([each for each in self.steps if each.strategy == strategy]):
            tau = step.expected_tau if expected else step.tau
            if tau is None or tau < level:
                break
            found = step.n_judged
        return found

    @property
    def plot(self) -> ReplayPlot:
        """Figures: ``order()``, ``found()``."""
        require('altair', 'report', 'plot')
        return ReplayPlot(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``strategies`` (``strategy``, ``settled``,
            ``expected_settled``, ``steps`` as `ReplayStep`), the other fields, and ``manifest``.
        """
        strategies = [
            {
                'strategy': strategy,
                'settled': self.settled(strategy),
                'expected_settled': self.settled(strategy, expected=True),
                'steps': [asdict(each) for each in steps],
            }
            for strategy, steps in groupby(self.steps, lambda each: each.strategy)
        ]
        fields = 'n_pairs', 'n_relevant', 'n_outside', 'whole_tau', 'whole_error'
        return {
            'schema': SCHEMA,
            'version': __version__,
            'strategies': strategies,
            **{name: getattr(self, name) for name in fields},
            'manifest': {
                'version': __version__,
                'parameters': self.parameters,
                'inputs': self.inputs,
            },
        }

    def _hours(self, n_judged: int | None) -> float | None:
        return None if n_judged is None else n_judged * self.parameters['seconds_each'] / 3600

    def _document(self) -> Document:
        return Document(lambda: self._blocks(), self.to_dict, self._rows)

    def _blocks(self) -> Iterator[Block]:
        by, metric = self.parameters['by'], self.parameters['metric']
        yield Heading(
            f'Judgements until tau-b stays at {SETTLED:g} or above',
            f'by {by}, {metric}, {self.parameters["seconds_each"]:g} s each; '
            f'{self.n_relevant:,} of {self.n_pairs:,} pool pairs are relevant',
        )
        rows = []
        for strategy in self.parameters['strategies']:
            both = self.settled(strategy), self.settled(strategy, expected=True)
            rows.append([strategy, both[0], self._hours(both[0]), both[1], self._hours(both[1])])
        yield Grid(['strategy', 'by MAP', 'hours', 'by expected MAP', 'hours'], rows)
        yield Heading('After so many judgements')
        yield self._grid([each for each in self.steps if each.n_judged in {*ROWS} | self._lasts])
        tau = 'none' if self.whole_tau is None else f'{self.whole_tau:.3f}'
        yield (
            f'{self.n_outside:,} relevant shots are no pool pairs: by all of the truth, {metric} '
            f'differs by {self.whole_error:.3f} on average, and the order has tau-b {tau}\n'
        )

    @cached_property
    def _lasts(self) -> set[int]:
        groups = groupby(self.steps, lambda each: each.strategy)
        return {[*steps][-1].n_judged for _, steps in groups}

    def _rows(self) -> Grid:
        return self._grid(self.steps)

    def _grid(self, steps: Sequence[ReplayStep]) -> Grid:
        values = list(map(asdict, steps))
        headers = [*values[0], 'hours']
        return Grid(headers, [[*each.values(), self._hours(each['n_judged'])] for each in values])


class ReplayPlot(Plot):
    """Figures of a replay; `Replay.plot` makes it.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> runs, truth = {'a': [('x', 'v', '1', 'ann', 0.5)]}, [('x', 'v', '1', 'ann')]
    >>> replay = AveragePrecision(truth, K=[10]).replay(runs, truth, strategies=['depth'])
    >>> rows = replay.plot.found().to_dict()['data']['values']
    >>> [(row['x'], row['value']) for row in rows]
    [(0, 0.0), (1, 1.0)]
    """

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def order(self, *, expected: bool = False) -> altair.LayerChart:
        """Draw tau of the runs against judgements.

        Parameters
        ----------
        expected : bool
            By expected MAP instead of MAP.

        Returns
        -------
        altair.LayerChart
            A line for each strategy; it begins where the runs have an order.
        """
        name = 'expected_tau' if expected else 'tau'
        return self._drawn(name, 'tau-b by expected MAP' if expected else 'tau-b', 1)

    def found(self) -> altair.LayerChart:
        """Draw the share of relevant pool pairs that is found against judgements.

        Returns
        -------
        altair.LayerChart
            A line for each strategy.
        """
        return self._drawn('n_found', 'share of relevant pool pairs', self._replay.n_relevant)

    def _drawn(self, field: str, title: str, whole: int) -> altair.LayerChart:
        from mediaeval_ap.render import figures

        series = {
            strategy: [
                (each.n_judged, getattr(each, field) / max(whole, 1))
                for each in steps
                if getattr(each, field) is not None
            ]
            for strategy, steps in groupby(self._replay.steps, lambda each: each.strategy)
        }
        return figures.curves(series, 'judgements', title)


def replay_pool(
    pairs: PoolPairs,
    truth: Reference,
    by: JudgedBy,
    strategies: Sequence[Strategy],
    seed: int,
    prior: Floats | None = None,
) -> tuple[list[ReplayStep], dict[str, Any]]:
    """Return the steps of each strategy, and what the pool has of the truth."""
    right = pairs.labels(truth)
    nothing = np.zeros(len(pairs.queries), dtype=np.int64)
    target, whole = pairs.maps(right, nothing), pairs.maps_by(truth)
    compared = agreement('the truth', whole.tolist(), 'the pool', target.tolist())
    steps: list[ReplayStep] = []
    model, expected = RelevanceModel(pairs, prior), ExpectedAP(pairs)
    with Bar('judging', len(strategies) * len(pairs), ' pool pairs') as bar:
        for strategy in strategies:
            chooser = Chooser(pairs, by, strategy, seed)
            labels, n_judged = np.full(len(pairs), UNJUDGED, dtype=np.int8), 0
            while True:
                p = model.probabilities(labels)
                by_mean = pairs.maps(labels, nothing), expected(p).mean(axis=1)
                found = [each for means in by_mean for each in _compared(means, target)]
                n_found = int(np.count_nonzero(labels == 1))
                steps.append(ReplayStep(strategy, n_judged, n_found, *found))
                upto = n_judged + max(LEAST_ROUND, n_judged // SHARE_OF_ROUND)
                upto = min([upto, *(each for each in ROWS if each > n_judged)])
                units = chooser.first(chooser.scores(labels, nothing, p), upto - n_judged)
                if not len(units):
                    break
                asked = np.isin(chooser.unit, units)
                labels[asked] = right[asked]
                n_judged += len(units)
                bar.add(int(np.count_nonzero(asked)))
    n_relevant = int(right.sum())
    n_all = sum(truth.n_shots(query) for query in pairs.queries)
    return steps, {
        'n_pairs': len(pairs),
        'n_relevant': n_relevant,
        'whole_tau': compared.tau,
        'whole_error': float(np.abs(whole - target).mean()),
        'n_outside': n_all - n_relevant,
    }


def _compared(means: Floats, target: Floats) -> tuple[Any, Any]:
    """Return tau-b and the mean absolute error of MAP; the last bits make no order."""
    both = target.round(DECIMALS).tolist(), means.round(DECIMALS).tolist()
    order = agreement('the truth', both[0], 'what is known', both[1])
    return order.tau, float(np.abs(means - target).mean())
