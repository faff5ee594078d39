"""A past campaign, judged again by strategies: how soon the order of its runs is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
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
LEAST_ROUND, SHARE_OF_ROUND = 10, 10  # a round judges so many, or this part of all before
ROWS = [0, *(base * 10**power for power in (1, 2, 3, 4, 5) for base in (1, 2, 5)), 10**6]


@dataclass(frozen=True)
class ReplayStep:
    """The state of a replay after a number of judgements.

    Errors are means over runs, of MAP where what is not judged is not relevant, and of expected
    MAP. tau is Kendall's tau-b of the runs by these against the truth; None without an order.
    """

    strategy: str
    n_judged: int  # shots or pairs
    n_found: int  # relevant pool pairs among them
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
    n_pairs, n_relevant, n_outside : int
        Number of pool pairs; of relevant ones, which are the truth; of other relevant shots.
    whole_tau, whole_error : float
        Kendall's tau-b (None without an order) and mean absolute difference between MAP by this
        truth and by all of the reference.
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
        strategy, expected, level
            One of the strategies; by expected MAP instead of MAP; the least tau.

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
            As the schema of a replay says.
        """
        strategies = [
            {
                'strategy': each,
                'settled': self.settled(each),
                'expected_settled': self.settled(each, expected=True),
                'steps': [asdict(step) for step in self.steps if step.strategy == each],
            }
            for each in self.parameters['strategies']
        ]
        fields = 'n_pairs', 'n_relevant', 'n_outside', 'whole_tau', 'whole_error'
        manifest = {'version': __version__, 'parameters': self.parameters, 'inputs': self.inputs}
        of_pool = {name: getattr(self, name) for name in fields}
        head = {'schema': SCHEMA, 'version': __version__, 'strategies': strategies}
        return {**head, **of_pool, 'manifest': manifest}

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
        last = {each.strategy: each for each in self.steps}
        yield self._grid(
            [each for each in self.steps if each.n_judged in ROWS or each is last[each.strategy]]
        )
        tau = 'none' if self.whole_tau is None else f'{self.whole_tau:.3f}'
        yield (
            f'{self.n_outside:,} relevant shots are no pool pairs: by all of the truth, {metric} '
            f'differs by {self.whole_error:.3f} on average, and the order has tau-b {tau}\n'
        )

    def _rows(self) -> Grid:
        return self._grid(self.steps)

    def _grid(self, steps: Sequence[ReplayStep]) -> Grid:
        values = list(map(asdict, steps))
        headers = [*values[0], 'hours']
        return Grid(headers, [[*each.values(), self._hours(each['n_judged'])] for each in values])


class ReplayPlot(Plot):
    """Figures of a replay, each with a line for each strategy; `Replay.plot` makes it."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def order(self, *, expected: bool = True) -> altair.LayerChart:
        """Draw tau-b of the runs against judgements, by expected MAP or by MAP."""
        field, kind = ('expected_tau', 'expected MAP') if expected else ('tau', 'MAP')
        return self._drawn(field, f'tau-b by {kind}', 1)

    def found(self) -> altair.LayerChart:
        """Draw the share of relevant pool pairs that is found against judgements."""
        return self._drawn('n_found', 'share of relevant pool pairs', self._replay.n_relevant)

    def _drawn(self, field: str, title: str, whole: int) -> altair.LayerChart:
        from mediaeval_ap.render import figures

        series: dict[str, list[tuple[float, float]]] = {}
        for step in self._replay.steps:
            if (value := getattr(step, field)) is not None:
                series.setdefault(step.strategy, []).append((step.n_judged, value / max(whole, 1)))
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
    target, whole = pairs.maps(right), pairs.maps_by(truth)
    compared = agreement('the truth', whole.tolist(), 'the pool', target.tolist())
    steps: list[ReplayStep] = []
    model, expected = RelevanceModel(pairs, prior), ExpectedAP(pairs)
    with Bar('judging', len(strategies) * len(pairs), ' pool pairs') as bar:
        for strategy in strategies:
            chooser = Chooser(pairs, by, strategy, seed)
            labels, n_judged = np.full(len(pairs), UNJUDGED, dtype=np.int8), 0
            while True:
                p = model.probabilities(labels)
                by_mean = pairs.maps(labels), expected(p).mean(axis=1)
                found = [each for means in by_mean for each in _compared(means, target)]
                n_found = int(np.count_nonzero(labels == 1))
                steps.append(ReplayStep(strategy, n_judged, n_found, *found))
                upto = n_judged + max(LEAST_ROUND, n_judged // SHARE_OF_ROUND)
                upto = min([upto, *(each for each in ROWS if each > n_judged)])
                units = chooser.first(chooser.scores(labels, p), upto - n_judged)
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
