"""`Diagnosis`: where the average precision of a run was lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import Levenshtein
import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, check_cutoff, depths
from mediaeval_ap.diagnosis.examined_run import (
    ExaminedRun,
    Found,
    notes_of_query,
    ranking_of,
    relevant_shots,
)
from mediaeval_ap.diagnosis.findings import (
    NOTHING,
    ROUNDED,
    TOP,
    ConfusedName,
    Difference,
    NearMiss,
    QueryDiagnosis,
    QueryLoss,
    grid_of_loss,
    grid_of_ties,
    json_value,
)
from mediaeval_ap.diagnosis.loss import (
    CONFUSED,
    NO_RANKS,
    SPELLING,
    average_precisions,
    gains,
    parts_of,
)
from mediaeval_ap.diagnosis.other_definitions import MapByDefinition, reconcile, reconcile_run
from mediaeval_ap.diagnosis.ties import BOUNDS, TieBounds, tie_bounds
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    counted,
    printable,
    require,
    shown,
)
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import (
    PreparedRun,
    completed,
    evaluation_of,
    select_queries,
)
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.render.formats import short
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import (
    ALL_QUERIES,
    N_QUERIES,
    Described,
    distinct_run_names,
    notes_of,
)
from mediaeval_ap.tables import Provenance, Table

if TYPE_CHECKING:
    import altair
    import pandas

ABOUT_ALONE = 'alone: gain in AP if only this name is corrected.\nThese gains do not add up.\n'
FEW_LETTERS = 4  # more edits say nothing but that the names differ


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Described):
    """The loss of a run, split into parts; `AveragePrecision.explain` makes it.

    The loss 1 - AP of each query is split by repairing one thing after another, in this order. Each
    part is the AP that its repair adds, so the parts add up to the loss:

    ``repeats``
        Each relevant shot counts once, where it is returned first. Negative where the
        definition counts shots again.
    ``ties``
        Shots that were returned under the query come first among its hypotheses of equal
        confidence. What was returned only under other names stays.
    ``confidence``
        Shots that were returned under the query come before all others.
    ``spelling``, ``confused``, ``part_of_name``, ``noise``, ``copresent``
        Relevant shots that were returned, but not under the query, come to the front. A shot
        belongs to the first of these that one of its names in the run is of: a name within
        `near` of the query; another person (of the reference or the queries) who is not in
        that shot; a name of nobody that shares a word with the query; a name of nobody; names
        that are all right for that shot.
    ``absent``
        Relevant shots that were not returned are put at the front.
    ``cutoff``, ``unanswerable``
        What remains: the definition allows no more at this cutoff, or no shot is relevant.

    Parameters
    ----------
    evaluation : Evaluation
        Average precision of the queries at the one cutoff, as `AveragePrecision.evaluate` gives it.
    near : float
        The largest distance at which a name is taken for another spelling of a query.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The parts of the loss, in the order of the repairs.
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
    >>> explain = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]).explain
    >>> wrong, right = ('x', 'v', '9', 'ann', 0.9), ('x', 'v', '1', 'ann', 0.5)
    >>> diagnosis = explain([wrong, right])
    >>> {part: loss for part, loss in diagnosis.mean_parts.items() if loss}
    {'confidence': 0.25, 'absent': 0.5}
    >>> diagnosis.map, 1 - sum(diagnosis.mean_parts.values())
    (0.25, 0.25)
    >>> [(each.query, each.ap) for each in diagnosis.costliest(1)]
    [('bob', 0.0)]
    >>> found = diagnosis.of('ann')
    >>> found.ranking[1].before
    Before(nearer=0, more_confident=1, tied=0, unjudged=None)
    >>> [(shot.shot, shot.rank, shot.kind) for shot in found.relevant]
    [('1', 2, 'own')]
    >>> difference = diagnosis.against(explain([right]))
    >>> difference.map, difference.mean_parts['confidence']
    (0.25, 0.25)
    >>> diagnosis.to_frame()[['ap', 'absent']].values.tolist()
    [[0.5, 0.0], [0.0, 1.0]]
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
        return self.evaluation.run

    def called(self, name: str) -> Diagnosis:
        """Return the diagnosis under another name of the run.

        Parameters
        ----------
        name : str
            The name; an empty one changes nothing.

        Returns
        -------
        Diagnosis
            The same findings.
        """
        return replace(self, evaluation=self.evaluation.called(name))

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
    def inputs(self) -> Mapping[str, Provenance]:
        """The tables that were read, by their role."""
        return self.evaluation.inputs

    @property
    def notes(self) -> list[str]:
        """Sentences about queries that are special, and about parts that can be negative."""
        notes = [*self.evaluation.notes]
        if 'H' in self.definition.denominator:
            notes.append(
                f'{self.definition} divides by the number of hits, which repairs change: parts can '
                'be negative'
            )
        reasons = {row: why for each in self.ties.values() for row, why in each.reasons.items()}
        if reasons:
            row, why = min(reasons.items())
            what = 'have no known bounds over the orders of ties'
            (note,) = notes_of(len(reasons), len(self.queries), what)
            notes.append(f'{note}, as {printable(self.queries[row])}: {why}')
        return notes

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
            Of queries that lost the same, that with the most relevant shots comes first, then the
            first that was asked.
        """
        first = np.lexsort((-self.n_relevant, self.ap))[: check_cutoff(n, 'n')]
        return self._losses(first)

    def of(self, query: str) -> QueryDiagnosis:
        """Return the diagnosis of a single query.

        Parameters
        ----------
        query : str
            One of the queries.

        Returns
        -------
        QueryDiagnosis
            It takes time in proportion to the hypotheses of the run.
        """
        if query not in self.queries:
            asked = counted(len(self.queries), 'query', 'queries')
            raise ParameterError(
                f'of: found {shown(query)}, expected one of the {asked} of this diagnosis; '
                'explain the run with this query'
            )
        row = self.queries.index(query)
        (loss,) = self._losses([row])
        examined = self._examined
        (depth,) = depths([self.k])
        found = examined.find([query], depth)
        return QueryDiagnosis(
            query,
            self.k,
            *(loss.ap, loss.n_relevant, loss.parts),
            ranking_of(examined, query, self.k),
            relevant_shots(examined, query, found, depth),
            self._ties(row),
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
            part. What must be the same and is not is a `ParameterError`.
        """
        _check_comparable(self, other)
        row_of = {query: row for row, query in enumerate(other.queries)}
        rows = [row_of[query] for query in self.queries]
        one, another = distinct_run_names([self.evaluation, other.evaluation])
        return Difference(
            (one, another),
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
        """
        value = {
            'run': self.run,
            'k': self.k,
            'map': self.map,
            'loss': self.mean_parts,
            'ties': self._ties(),
            'definitions': [asdict(each) for each in self.definitions],
            'queries': [
                {'query': each.query, 'ap': each.ap, 'n_relevant': each.n_relevant}
                | {'loss': each.parts, 'ties': self._ties(row)}
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
        return json_value('diagnosis', value)

    def to_frame(self) -> pandas.DataFrame:
        """Return the parts of each query as a table.

        Returns
        -------
        pandas.DataFrame
            Indexed by query: ``ap``, ``n_relevant`` and each part.
        """
        import pandas

        columns = {'ap': self.ap, 'n_relevant': self.n_relevant, **self.parts}
        return pandas.DataFrame(columns, index=pandas.Index(self.queries, name='query'))

    def _losses(self, rows: Any) -> list[QueryLoss]:
        parts = {part: each.tolist() for part, each in self.parts.items()}
        ap = self.ap.tolist()
        n_relevant = self.n_relevant.tolist()
        return [
            QueryLoss(
                *(self.queries[row], ap[row], n_relevant[row]),
                {part: each[row] for part, each in parts.items()},
            )
            for row in rows
        ]

    def _ties(self, row: int | None = None) -> dict[str, dict[str, Any]]:
        """Return the bounds of a query, or else the means over all queries, by level."""
        return {
            level: each.means() if row is None else each.of_query(row)
            for level, each in self.ties.items()
        }

    def document(self, *, per_query: bool = False, costliest: int = TOP) -> Document:
        """Describe the diagnosis for all output formats.

        Parameters
        ----------
        per_query : bool
            Show all queries to people, not only the costliest.
        costliest : int
            How many queries to show without `per_query`.

        Returns
        -------
        Document
            Blocks for people, an object for JSON, and a table for programs.
        """
        return Document(lambda: self._blocks(per_query, costliest), self.to_dict, self._rows)

    def _blocks(self, per_query: bool, n: int) -> Iterator[Block]:
        ap = ap_column(self.k)
        over = counted(len(self.queries), 'query', 'queries')
        yield Heading(self.run, str(self.definition))
        yield f'M{ap} {self.map:.3f} over {over}. The rest to 1:\n'
        n_losing = {part: int((abs(each) > NOTHING).sum()) for part, each in self.parts.items()}
        yield grid_of_loss(self.mean_parts, n_losing)
        yield grid_of_ties(self._ties())
        rows: list[list[Any]] = [
            [each.definition, each.map, each.n_changed, each.reason] for each in self.definitions
        ]
        yield _with_reasons(Grid(['DEFINITION', f'M{ap}', 'queries changed', 'reason'], rows))
        if per_query:
            grid = _with_reasons(self._rows())
            yield Grid(grid.headers[2:], [row[2:] for row in grid.rows])
        else:
            rows = []
            for loss in self.costliest(n):
                if 1 - loss.ap < NOTHING:
                    break  # the rest lost nothing
                part, lost = max(loss.parts.items(), key=lambda item: item[1])
                most = [part, lost] if lost >= ROUNDED else ['', None]
                rows.append([loss.query, loss.ap, loss.n_relevant, *most])
            yield Grid(['COSTLIEST QUERIES', ap, 'n_relevant', 'most lost to', 'AP lost'], rows)
        rows = [
            [each.query, each.name, each.adds, each.count, each.distance, _letters(each.letters)]
            for each in self.confused
        ]
        headers = ['CONFUSED QUERY', 'returned under', 'AP lost', 'shots', 'distance', 'letters']
        yield from _first(headers, rows, n)
        rows = [
            [each.query, each.name, each.adds, each.alone, each.count, each.n_hypotheses, letters]
            for each, letters in ((each, _letters(each.letters)) for each in self.near_misses)
        ]
        headers = ['NEAR MISS OF', 'name', 'AP lost', 'alone', 'shots', 'hypotheses', 'letters']
        yield from _first(headers, rows, n)
        if rows:
            yield ABOUT_ALONE
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _rows(self) -> Grid:
        """Return a row for each query, and one for all; the last column says what is not known."""
        n_queries = len(self.queries)
        means = self.mean_parts
        columns: dict[str, list[Any]] = {
            'query': [*self.queries, ALL_QUERIES],
            ap_column(self.k): [*self.ap.tolist(), self.map],
            'n_relevant': [*self.n_relevant.tolist(), int(self.n_relevant.sum())],
        }
        columns |= {part: [*each.tolist(), means[part]] for part, each in self.parts.items()}
        ties = [*map(self._ties, range(n_queries)), self._ties()]
        for level in self.ties:
            for name in BOUNDS:
                columns[f'{level}_{name}'] = [each[level][name] for each in ties]
        columns[N_QUERIES] = [*[None] * n_queries, n_queries]
        columns['reason'] = [  # of both levels, each reason once
            '; '.join(dict.fromkeys(of['reason'] for of in each.values() if 'reason' in of))
            for each in ties
        ]
        settings = [self.run, self.definition.name]
        rows = zip(*columns.values(), strict=True)
        return Grid(['run', 'definition', *columns], [[*settings, *row] for row in rows])


def _with_reasons(grid: Grid) -> Grid:
    """Return a grid without its last column, the reasons, if there are none."""
    if any(row[-1] for row in grid.rows):
        return grid
    return Grid(grid.headers[:-1], [row[:-1] for row in grid.rows])


def _first(headers: Sequence[str], rows: Sequence[Sequence[Any]], n: int) -> Iterator[Block]:
    """Return the costliest names that shots of queries were lost to."""
    if rows:
        yield Grid(headers, rows[:n])
    if len(rows) > n:
        yield f'… and {counted(len(rows) - n, "more name", "more names")} (see --costliest)\n'


def _letters(letters: Sequence[str]) -> str:
    """Return the edits, or how many they are if the names have little in common."""
    return ', '.join(letters) if len(letters) <= FEW_LETTERS else f'{len(letters)} edits'


def _check_comparable(a: Diagnosis, b: Diagnosis) -> None:
    """Refuse two diagnoses that differ in more than the run."""
    name = shown(b.definition.name)
    n_others = counted(len(b.queries), 'query', 'queries')
    both = [a._examined.criteria, b._examined.criteria]
    references: Sequence[Any] = (None, None)
    subsets: Sequence[Any] = (None, None)
    if both[0] is not both[1]:
        references = [Counter(each.reference.table.rows()) for each in both]
        subsets = [None if each.subset is None else {*each.subset.rows()} for each in both]
    for one, other, found, expected in (
        (a.k, b.k, f'k {shown(b.k)}', shown(a.k)),
        (a.near, b.near, f'near {shown(b.near)}', shown(a.near)),
        (a.definition.name, b.definition.name, f'definition {name}', shown(a.definition.name)),
        (a.definition, b.definition, f'another definition of the name {name}', 'the same'),
        (
            *(sorted(a.queries), sorted(b.queries)),
            *(f'other queries ({n_others})', f'the {len(a.queries):,}'),
        ),
        (*references, 'another reference', 'the same'),
        (*subsets, 'another subset', 'the same'),
    ):
        if one != other:
            raise ParameterError(
                f'against: {shown(b.run)} was explained with {found}, expected {expected} as for '
                f'{shown(a.run)}; explain both in the same way'
            )


class DiagnosisPlot(Plot):
    """Figures of a diagnosis; `Diagnosis.plot` makes it.

    Each figure is an Altair chart: a notebook shows it, and its ``save`` writes it.

    Parameters
    ----------
    diagnosis : Diagnosis
        The diagnosis to draw.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann'), ('x', 'v', '3', 'bob')]
    >>> hypothesis = [('x', 'v', '9', 'ann', 0.9), ('x', 'v', '1', 'bob', 0.5)]
    >>> plot = AveragePrecision(reference, definition='trec').explain(hypothesis, ['ann']).plot
    >>> [(row['part'], row['value']) for row in plot.loss().to_dict()['data']['values']]
    [('confused', 0.25), ('absent', 0.5)]
    >>> [(row['name'], row['count']) for row in plot.confused().to_dict()['data']['values']]
    [('bob', 1)]
    >>> rows = plot.precision_recall('ann').to_dict()['data']['values']
    >>> [(row['x'], row['value']) for row in rows]
    [(0.5, 0.5)]
    """

    def __init__(self, diagnosis: Diagnosis) -> None:
        from mediaeval_ap.render import figures

        self._diagnosis = diagnosis
        self._figures = figures

    def loss(self, *others: Diagnosis, names: Sequence[str] | None = None) -> altair.LayerChart:
        """Draw the parts of the loss, of this run and of others.

        Parameters
        ----------
        *others : Diagnosis
            Diagnoses of other runs, alike as `Diagnosis.against` needs them.
        names : sequence of str, optional
            Names of the runs, this one first, all different; by default those of their files.

        Returns
        -------
        altair.LayerChart
            A bar for each run; its parts add up to 1 - MAP.
        """
        diagnoses = [self._diagnosis, *others]
        for other in others:
            self._diagnosis.against(other)
        evaluations = [each.evaluation for each in diagnoses]
        runs = distinct_run_names(evaluations) if names is None else list(names)
        if not len(set(runs)) == len(runs) == len(diagnoses):
            raise ParameterError(
                f'names: found {shown(runs)}, expected {len(diagnoses)} names, all different'
            )
        means = [each.mean_parts for each in diagnoses]
        return self._figures.loss(runs, {part: [each[part] for each in means] for part in means[0]})

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the names that are most often confused.

        Parameters
        ----------
        n : int
            How many pairs of names to draw at most.

        Returns
        -------
        altair.LayerChart
            A bar for each query with the name under which its relevant shots were returned.
        """
        names = self._diagnosis.confused[: check_cutoff(n, 'n')]
        return self._figures.confused(
            [each.query for each in names],
            [each.name for each in names],
            [each.count for each in names],
        )

    def precision_recall(self, query: str | None = None) -> altair.LayerChart:
        """Draw precision against recall at the rank of each hit of a query.

        Parameters
        ----------
        query : str, optional
            A query with a relevant shot; by default the first.

        Returns
        -------
        altair.LayerChart
            A line through the hits down to the cutoff.
        """
        diagnosis = self._diagnosis
        if query is None:
            relevant = zip(diagnosis.queries, diagnosis.n_relevant, strict=True)
            query = next((each for each, n in relevant if n), diagnosis.queries[0])
        found = diagnosis.of(query)
        if not found.n_relevant:
            raise ParameterError(
                f'precision_recall: found {shown(query)}, expected a query with a relevant shot'
            )
        hits = [each.rank for each in found.ranking if each.relevant]
        return self._figures.precision_recall([diagnosis.run], [hits], found.n_relevant, query)


def diagnose(
    criteria: Criteria, run: PreparedRun, queries: Table | None, K: Sequence[Cutoff], near: float
) -> list[Diagnosis]:
    """Diagnose a run on the queries, by default those of the reference, at each cutoff."""
    questions = select_queries(criteria, queries)
    asked = questions.names
    number = {query: number for number, query in enumerate(dict.fromkeys(asked))}
    names = list(number)
    rows = np.array([number[query] for query in asked])
    definition = criteria.definition
    at = depths(K)
    examined = ExaminedRun(criteria, run, names, near)
    found = examined.find(names, max(at))
    n_relevant = found.counts.relevant
    n_ranked = found.counts.ranked
    how = found.shots, found.ranks, found.counts, at, definition
    values = average_precisions(*how)
    added = gains(*how)
    ap = values[0][rows]
    evaluation = evaluation_of(run, asked, questions.source, ap, n_relevant[rows])
    found_before = run.warnings_with(questions.warnings)
    evaluation = completed(evaluation, questions.n_skipped, found_before)
    corrected = np.array([query for query, _ in found.corrected], dtype=np.int64)
    ranks = list(found.corrected.values())
    again = average_precision_of_hits(
        np.repeat(np.arange(len(ranks)), list(map(len, ranks))),
        np.concatenate([NO_RANKS, *ranks]),
        *(n_relevant[corrected], n_ranked[corrected], at, definition),
    )
    alone = dict(zip(found.corrected, (again - values[0][corrected]).tolist(), strict=True))
    ties = [
        tie_bounds(tied, n_relevant, n_ranked, at, definition, examined.shot_id)
        for tied in found.tied
    ]
    facts = [found.facts[row] for row in rows.tolist()]
    diagnoses = []
    for column, k in enumerate(K):
        confused, missed = (
            _lost_to(kind, found, added[:, column], names, run.ranking)
            for kind in (CONFUSED, SPELLING)
        )
        parts = parts_of(values[:, :, column], n_relevant)
        levels = zip(('equal_confidence', 'arbitrary'), ties, strict=True)
        diagnoses.append(
            Diagnosis(
                replace(evaluation, K=[k], ap=ap[:, [column]]),
                near,
                {part: each[rows] for part, each in parts.items()},
                {level: each[column].of(rows) for level, each in levels},
                [lost for _, lost in confused],
                [
                    NearMiss(
                        n_hypotheses=int(run.ranking.name_counts[pair[1]]),
                        alone=alone[pair][column],
                        **vars(lost),
                    )
                    for pair, lost in missed
                ],
                reconcile_run(facts, k, definition),
                examined,
            )
        )
    return diagnoses


def _lost_to(
    kind: int, found: Found, added: NDArray[np.float64], queries: Sequence[str], ranking: Ranking
) -> list[tuple[tuple[int, int], ConfusedName]]:
    """Return the names that relevant shots of a kind were lost to, the costliest first.

    Before each stand the numbers of query and name. `added` is what the repair of each shot adds.
    """
    returned = found.returned
    shots = found.shots
    sizes = np.diff(run_starts([returned.query, returned.shot]), append=len(returned.shot))
    of_shot = np.lexsort((shots.shot, shots.query)).repeat(sizes)  # the row in `shots`
    rows = ((found.kinds == kind) & (shots.kind[of_shot] == kind)).nonzero()[0]
    rows = rows[np.lexsort((returned.shot[rows], returned.name[rows], returned.query[rows]))]
    # A shot counts once, however often it is returned.
    rows = rows[run_starts([returned.query[rows], returned.name[rows], returned.shot[rows]])]
    begins = run_starts([returned.query[rows], returned.name[rows]])
    counts = np.diff(begins, append=len(rows)).tolist()
    adds = np.add.reduceat(added[of_shot[rows]], begins).tolist()
    rows = rows[begins]
    columns = (returned.query[rows], returned.name[rows], returned.distance[rows])
    lost = []
    for count, add, at, name_at, distance in zip(
        counts, adds, *(column.tolist() for column in columns), strict=True
    ):
        query = queries[at]
        name = ranking.names.values[name_at]
        letters = letters_that_differ(query, name)
        confused = ConfusedName(name, query, count, distance, letters, add)
        lost.append(((at, name_at), confused))

    # What differs by rounding alone is the same.
    lost.sort(key=lambda at: (-round(at[1].adds, 12), -at[1].count, at[1].query, at[1].name))
    return lost


def letters_that_differ(query: str, name: str) -> tuple[str, ...]:
    """Return the edits that make a name of a query, each at a position in the query, from 1."""
    edits = []
    for kind, in_query, in_name in Levenshtein.editops(query, name):
        old = query[in_query : in_query + 1]
        new = name[in_name : in_name + 1]
        what = {'replace': f'{old}→{new}', 'insert': f'+{new}', 'delete': f'-{old}'}[kind]
        edits.append(printable(f'{what} at {in_query + 1}'))
    return tuple(edits)
