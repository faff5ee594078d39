"""`Diagnosis`: where the average precision of a run was lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, check_cutoff, depths
from mediaeval_ap.diagnosis.difference import Difference, check_comparable, check_same_data
from mediaeval_ap.diagnosis.documents import SCHEMA, describe
from mediaeval_ap.diagnosis.examined_run import ExaminedRun
from mediaeval_ap.diagnosis.reconcile import MapByDefinition, reconcile
from mediaeval_ap.diagnosis.rows import ConfusedName, NearMiss, QueryDiagnosis, QueryLoss
from mediaeval_ap.diagnosis.single_query import notes_of_query, ranking_of, relevant_shots
from mediaeval_ap.diagnosis.ties import TieBounds, mean_ties, ties_of_query
from mediaeval_ap.errors import DataWarning, ParameterError, printable, require, shown
from mediaeval_ap.render.document import Document, counted
from mediaeval_ap.render.formats import short
from mediaeval_ap.results.described import Described
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.means_and_notes import notes_of
from mediaeval_ap.store.damage import damage_told
from mediaeval_ap.tables import Source

if TYPE_CHECKING:
    import pandas

    from mediaeval_ap.diagnosis.plot import DiagnosisPlot


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Described):
    """The loss of a run, split into parts; `AveragePrecision.explain` makes it.

    The loss 1 - AP of each query is split by repairing one thing after another. Each part is the AP
    that its repair adds, so the parts add up to the loss.

    Parameters
    ----------
    evaluation : Evaluation
        Average precision of the queries at the one cutoff, as `AveragePrecision.evaluate` gives it.
    near : float
        The largest distance at which a name is taken for another spelling of a query.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The parts of the loss, in the order of the repairs: ``repeats``, ``ties``, ``confidence``,
        ``spelling``, ``confused``, ``part_of_name``, ``noise``, ``copresent``, ``absent``,
        ``cutoff``, ``unanswerable``.
    ties : dict of str to TieBounds
        Average precision over all orders of ties: of ``equal_confidence``, and of what is left to
        ``arbitrary`` order behind temporal rank.
    confused : list of ConfusedName
        The other persons under whose names relevant shots were returned, costliest first.
    near_misses : list of NearMiss
        The names near a query under which relevant shots were returned, costliest first.
    definitions : list of MapByDefinition
        The run by each registered definition: definition, MAP, queries changed.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision('samples/reference.txt')
    >>> diagnosis = average_precision.explain('samples/hypothesis.txt', ['nicolas_sarkozy'], k=10)
    >>> {part: round(loss, 3) for part, loss in diagnosis.mean_parts.items() if loss}
    {'ties': 0.117, 'confidence': 0.584}
    >>> round(diagnosis.map, 3), round(1 - sum(diagnosis.mean_parts.values()), 3)
    (0.299, 0.299)
    """

    evaluation: Evaluation
    near: float
    parts: dict[str, NDArray[np.float64]]
    ties: dict[str, TieBounds]
    confused: list[ConfusedName]
    near_misses: list[NearMiss]
    definitions: list[MapByDefinition]
    _examined: ExaminedRun = field(repr=False)

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.evaluation.inputs['hypothesis'].name

    @property
    def k(self) -> Cutoff:
        """The cutoff."""
        return self.evaluation.K[0]

    @property
    def definition(self) -> Definition:
        """The AP definition."""
        return self.evaluation.definition

    @property
    def queries(self) -> list[str]:
        """The queries, in their order."""
        return self.evaluation.queries

    @property
    def ap(self) -> NDArray[np.float64]:
        """Average precision of each query."""
        ap: NDArray[np.float64] = self.evaluation.ap[:, 0]
        return ap

    @property
    def n_relevant(self) -> NDArray[np.int64]:
        """The number of relevant shots of each query."""
        return self.evaluation.n_relevant

    @property
    def map(self) -> float:
        """Mean average precision."""
        return float(self.evaluation.map[0])

    @property
    def mean_parts(self) -> dict[str, float]:
        """The mean of each part over the queries; together they are 1 - MAP."""
        n_queries = len(self.queries)
        return {part: math.fsum(each) / n_queries for part, each in self.parts.items()}

    @property
    def inputs(self) -> Mapping[str, Source]:
        """The tables that were read, by their role."""
        return self.evaluation.inputs

    @property
    def notes(self) -> list[str]:
        """Sentences about queries that are special, and about parts that can be negative."""
        of_ties = _notes_of_ties(self.ties, self.queries)
        return [*self.evaluation.notes, *_notes_of(self.definition), *of_ties]

    @property
    def warnings(self) -> tuple[DataWarning, ...]:
        """The warnings about the data; not part of `to_dict`."""
        return tuple(self.evaluation.warnings)

    def __repr__(self) -> str:
        n_queries = counted(len(self.queries), 'query', 'queries')
        how = f'{self.definition}, {n_queries}'
        means = {f'M{ap_column(self.k)}': self.map, **self.mean_parts}
        means = {name: value for name, value in means.items() if value or name.startswith('M')}
        width = max(map(len, means))
        lines = [f'{name:{width}}  {short(value)}' for name, value in means.items()]
        return '\n  '.join([f'Diagnosis of {shown(self.run)} ({how})', *lines])

    @property
    def plot(self) -> DiagnosisPlot:
        """Figures: ``loss()``, ``confused()``, ``precision_recall(query)``."""
        require('altair', 'report', 'plot')
        from mediaeval_ap.diagnosis.plot import DiagnosisPlot

        return DiagnosisPlot(self)

    def costliest(self, n: int = 10) -> list[QueryLoss]:
        """Return the queries that lost most, the costliest first.

        Parameters
        ----------
        n : int
            How many queries to return at most.

        Returns
        -------
        list of QueryLoss
            Query, AP, number of relevant shots and parts. Of queries that lost the same, that with
            the most relevant shots comes first, then the first that was asked.

        Raises
        ------
        ParameterError
            When n is not a positive integer.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')])
        >>> diagnosis = average_precision.explain([('x', 'v', '1', 'ann', 0.5)])
        >>> [(each.query, each.ap) for each in diagnosis.costliest(1)]
        [('bob', 0.0)]
        """
        first = np.lexsort((-self.n_relevant, self.ap))[: check_cutoff(n, 'n')]
        return self._losses(first)

    @damage_told()
    def of(self, query: str) -> QueryDiagnosis:
        """Return the diagnosis of a single query.

        Parameters
        ----------
        query : str
            One of the queries.

        Returns
        -------
        QueryDiagnosis
            Its ranking down to the cutoff with what stands before each hit, and each relevant shot
            with what became of it.

        Raises
        ------
        ParameterError
            When the query is not one of those that were asked.

        Notes
        -----
        Takes time in proportion to the hypotheses of the run.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')])
        >>> hypothesis = [('x', 'v', '9', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5)]
        >>> found = average_precision.explain(hypothesis).of('ann')
        >>> found.ranking[1].before
        Before(nearer=0, more_confident=1, tied=0)
        >>> [(shot.shot, shot.rank, shot.kind, shot.adds) for shot in found.relevant]
        [('1', 2, 'own', 0.0), ('2', None, 'absent', 0.5)]
        """
        if query not in self.queries:
            asked = counted(len(self.queries), 'query', 'queries')
            raise ParameterError(
                f'of: found {shown(query)}, expected one of the {asked} of this diagnosis; '
                'explain the run with this query'
            )
        (loss,) = self._losses([self.queries.index(query)])
        examined, (depth,) = self._examined, depths([self.k])
        found = examined.find([query], depth)
        return QueryDiagnosis(
            query,
            self.k,
            loss.ap,
            loss.n_relevant,
            loss.parts,
            ranking_of(examined, query, self.k),
            relevant_shots(examined, query, found, depth),
            ties_of_query(self.ties, self.queries.index(query)),
            reconcile(found.facts[0], self.k, self.definition),
            self.run,
            self.definition.name,
            notes_of_query(examined, query),
        )

    def against(self, other: Diagnosis) -> Difference:
        """Split the difference to another run into the parts of the loss.

        Parameters
        ----------
        other : Diagnosis
            The diagnosis of another run: of the same queries in any order, cutoff, definition,
            reference, subset and `near`.

        Returns
        -------
        Difference
            AP of the other run minus AP of this one, and how much less the other one loses in each
            part.

        Raises
        ------
        ParameterError
            When something that must be the same is not.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> explain = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).explain
        >>> right, wrong = ('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'ann', 0.9)
        >>> difference = explain([wrong, right], k=1).against(explain([right], k=1))
        >>> difference.map, difference.mean_parts['confidence']
        (1.0, 1.0)
        """
        check_comparable(self, other)
        check_same_data(self, other, self._examined.criteria, other._examined.criteria)
        row_of = {query: row for row, query in enumerate(other.queries)}
        rows = [row_of[query] for query in self.queries]
        return Difference(
            (self.run, other.run),
            self.k,
            self.definition.name,
            list(self.queries),
            other.ap[rows] - self.ap,
            {part: each - other.parts[part][rows] for part, each in self.parts.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis, and a manifest of what it was computed from, for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``kind``, ``run``, ``k``, ``map``, ``loss`` (the mean
            of each part), ``ties`` (``min``, ``expected`` and ``max``, of ``equal_confidence`` and
            ``arbitrary``), ``definitions``, ``queries`` (``query``, ``ap``, ``n_relevant``,
            ``loss``, ``ties``), ``confused``, ``near_misses``, ``notes`` and ``manifest``. A value
            that is not known is None, and has a ``reason`` beside it.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
        >>> diagnosis = AveragePrecision(reference).explain([('x', 'v', '1', 'ann', 0.5)])
        >>> diagnosis.to_dict()['loss']['absent']
        0.5
        """
        return {
            'schema': SCHEMA,
            'version': __version__,
            'kind': 'diagnosis',
            'run': self.run,
            'k': self.k,
            'map': self.map,
            'loss': self.mean_parts,
            'ties': mean_ties(self.ties),
            'definitions': [asdict(each) for each in self.definitions],
            'queries': [
                {'query': each.query, 'ap': each.ap, 'n_relevant': each.n_relevant}
                | {'loss': each.parts, 'ties': ties_of_query(self.ties, row)}
                for row, each in enumerate(self._losses(range(len(self.queries))))
            ],
            'confused': [asdict(each) for each in self.confused],
            'near_misses': [asdict(each) for each in self.near_misses],
            'notes': self.notes,
            'manifest': {
                'version': __version__,
                'definition': self.definition.to_dict(),
                'parameters': {'k': self.k, 'near': self.near, **self.evaluation.parameters},
                'inputs': {role: asdict(source) for role, source in self.inputs.items()},
                'counts': dict(self.evaluation.counts),
            },
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return the parts of each query as a table.

        Returns
        -------
        pandas.DataFrame
            Indexed by query: ``ap``, ``n_relevant`` and each part.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
        >>> diagnosis = AveragePrecision(reference).explain([('x', 'v', '1', 'ann', 0.5)])
        >>> diagnosis.to_frame()[['ap', 'absent']].values.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        import pandas

        columns = {'ap': self.ap, 'n_relevant': self.n_relevant, **self.parts}
        return pandas.DataFrame(columns, index=pandas.Index(self.queries, name='query'))

    def _losses(self, rows: Any) -> list[QueryLoss]:
        chosen = np.asarray(rows, dtype=np.int64)
        columns = [self.ap, self.n_relevant, *self.parts.values()]
        values = zip(*(each[chosen].tolist() for each in columns), strict=True)
        return [
            QueryLoss(self.queries[row], ap, n_relevant, dict(zip(self.parts, parts, strict=True)))
            for row, (ap, n_relevant, *parts) in zip(chosen.tolist(), values, strict=True)
        ]

    def _document(self) -> Document:
        return describe(self)


def _notes_of(definition: Definition) -> list[str]:
    if 'H' in definition.denominator:
        return [
            f'{definition} divides by the number of hits, which repairs change: parts can be '
            'negative'
        ]
    return []


def _notes_of_ties(ties: Mapping[str, TieBounds], queries: Sequence[str]) -> list[str]:
    reasons = {row: reason for each in ties.values() for row, reason in each.reasons.items()}
    if not reasons:
        return []
    row, reason = min(reasons.items())
    (note,) = notes_of(len(reasons), len(queries), 'have no expected AP over the orders of ties')
    return [f'{note}, as {printable(queries[row])}: {reason}']
