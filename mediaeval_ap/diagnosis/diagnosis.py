"""`Diagnosis`: the loss of a run, 1 - MAP, split into parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.definitions import Cutoff, Definition, ap_column, check_cutoff, depths
from mediaeval_ap.diagnosis.examined_run import (
    ExaminedRun,
    notes_of_query,
    ranked_hypotheses,
    relevant_shots,
)
from mediaeval_ap.diagnosis.findings import (
    LEAST_PRINTED,
    N_LISTED,
    ConfusedName,
    Difference,
    NearMiss,
    QueryDiagnosis,
    QueryLoss,
    grid_of_loss,
    grid_of_ties,
    json_value,
    loss_ahead,
)
from mediaeval_ap.diagnosis.other_definitions import MapByDefinition, reconcile
from mediaeval_ap.diagnosis.ties import BOUND_KEYS, TieBounds
from mediaeval_ap.errors import DataWarning, ParameterError, printable, require, shown, with_noun
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.listing import WholeListing
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.render.formats import short
from mediaeval_ap.render.plot import Plot
from mediaeval_ap.results.described import DescribedTable, manifest_json
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.notes import notes_of
from mediaeval_ap.results.result import ALL_QUERIES, N_QUERIES, distinct_run_names
from mediaeval_ap.results.rounding import OWN_ROUNDING, exact_mean
from mediaeval_ap.tables import Provenance

if TYPE_CHECKING:
    import altair
    import pandas

ALONE_EXPLAINED = 'alone: gain in AP if only this name is corrected.\nThese gains do not add up.\n'
MOST_EDITS = 4  # a longer list only says that the names differ


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(DescribedTable):
    """The loss of a run, split into parts; `AveragePrecision.explain` makes it.

    The loss 1 - AP of each query is split by repairing one thing after another, in this order. A
    part is the AP that its repair adds, so the parts add up to the loss:

    ``repeats``
        Each relevant shot counts once, where it is returned first. Negative where the
        definition counts shots again.
    ``ties``
        Relevant shots that were returned under the query come first among its hypotheses of equal
        confidence. Shots that were returned only under other names keep their ranks.
    ``confidence``
        Relevant shots that were returned under the query come before all others.
    ``spelling``, ``confused``, ``part_of_name``, ``noise``, ``copresent``
        Relevant shots that were returned, but not under the query, move to the front. A shot
        belongs to the first of these kinds that any of its names in the run has: a name within
        `near` of the query; another person (of the reference or the queries) who is not in
        that shot; a name of nobody that shares a word with the query; a name of nobody; a
        person who is in that shot, too.
    ``absent``
        Relevant shots that were not returned are put at the front.
    ``cutoff``, ``unanswerable``
        The rest: the definition allows no more at this cutoff, or no shot is relevant.

    Parameters
    ----------
    evaluation : Evaluation
        Average precision of the queries at the one cutoff, as `AveragePrecision.evaluate` gives it.
    near : float
        The largest distance between a query and another spelling of it.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The parts of the loss, in the order of the repairs.
    ties : dict of str to TieBounds
        Bounds of average precision over all orders of ties: of hypotheses with equal distance and
        confidence (``equal_confidence``), and with equal temporal rank, too (``arbitrary``).
    confused : list of ConfusedName
        The other persons under whose names relevant shots were returned, costliest first.
    near_misses : list of NearMiss
        The names near a query under which relevant shots were returned, costliest first.
    definitions : list of MapByDefinition
        MAP of the run by each registered definition, and the number of queries that change.

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
    >>> [(loss.query, loss.ap) for loss in diagnosis.costliest(1)]
    [('bob', 0.0)]
    >>> ann = diagnosis.of('ann')
    >>> ann.ranking[1].before
    Before(nearer=0, more_confident=1, tied=0, unjudged=None)
    >>> [(shot.shot, shot.rank, shot.kind) for shot in ann.relevant]
    [('1', 2, 'own')]
    >>> difference = diagnosis.against(explain([right]))
    >>> difference.map, difference.mean_parts['confidence']
    (0.25, 0.25)
    >>> diagnosis.to_frame()[['ap', 'absent']].values.tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """

    evaluation: Evaluation
    near: float
    parts: dict[str, Floats]
    ties: dict[str, TieBounds]
    confused: list[ConfusedName]
    near_misses: list[NearMiss]
    definitions: list[MapByDefinition]
    # None in a diagnosis that was read from JSON.
    _examined: ExaminedRun = field(default=None, repr=False)  # type: ignore[assignment]

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.evaluation.run

    def called(self, name: str) -> Diagnosis:
        """Return the diagnosis under another name of the run.

        Parameters
        ----------
        name : str
            The name; an empty one keeps the present name.

        Returns
        -------
        Diagnosis
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
        """The queries, in the given order."""
        return self.evaluation.queries

    @property
    def ap(self) -> Floats:
        """Average precision of each query."""
        return self.evaluation.ap[:, 0]

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
        return {part: exact_mean(losses) for part, losses in self.parts.items()}

    @property
    def inputs(self) -> Mapping[str, Provenance]:
        """The tables that were read, by their role."""
        return self.evaluation.inputs

    @property
    def notes(self) -> list[str]:
        """Sentences about special queries, unknown bounds, and parts that can be negative."""
        notes = [*self.evaluation.notes]
        if 'H' in self.definition.denominator:
            notes.append(
                f'{self.definition} divides by the number of hits, which repairs change: parts can '
                'be negative'
            )
        reasons = {
            row: reason for bounds in self.ties.values() for row, reason in bounds.reasons.items()
        }
        if reasons:
            row, reason = min(reasons.items())
            finding = 'have no known bounds over the orders of ties'
            (note,) = notes_of(len(reasons), len(self.queries), finding)
            notes.append(f'{note}; for {printable(self.queries[row])}, {reason}')
        return notes

    @property
    def warnings(self) -> tuple[DataWarning, ...]:
        """The warnings about the data; not part of `to_dict`."""
        return tuple(self.evaluation.warnings)

    def __repr__(self) -> str:
        n_queries = with_noun(len(self.queries), 'query', 'queries')
        settings = f'{self.definition}, {n_queries}'
        means = {f'M{ap_column(self.k)}': self.map, **self.mean_parts}
        means = {name: value for name, value in means.items() if value or name.startswith('M')}
        width = max(map(len, means))
        lines = [f'{name:{width}}  {short(value)}' for name, value in means.items()]
        return '\n  '.join([f'Diagnosis of {shown(self.run)} ({settings})', *lines])

    @property
    def plot(self) -> DiagnosisPlot:
        """Figures: ``loss()``, ``confused()``, ``precision_recall(query)``."""
        require('altair', 'report', 'plot')
        return DiagnosisPlot(self)

    def costliest(self, n: int = 10) -> list[QueryLoss]:
        """Return the `n` queries that lost most, the costliest first.

        Parameters
        ----------
        n : int

        Returns
        -------
        list of QueryLoss
            Of equal losses, the largest number of relevant shots comes first, then the first name.
        """
        rows = self.evaluation._order_by_loss()[: check_cutoff(n, 'n')]
        return self._losses(rows.tolist())

    def of(self, query: str) -> QueryDiagnosis:
        """Return the diagnosis of one of the queries.

        Parameters
        ----------
        query : str

        Returns
        -------
        QueryDiagnosis
            Making it takes time in proportion to the hypotheses of the run.
        """
        if query not in self.queries:
            n_queries = with_noun(len(self.queries), 'query', 'queries')
            raise ParameterError(
                f'found {shown(query)}, expected one of the {n_queries} of this diagnosis; '
                'explain the run with this query',
                'of',
            )
        if self._examined is None:
            raise ParameterError('found no ranking, as in JSON; explain the run again', 'of')
        row = self.queries.index(query)
        (loss,) = self._losses([row])
        (depth,) = depths([self.k])
        run = self._examined
        listings: list[WholeListing] = []
        examined = run.examine([query], depth, listings.append)
        listing = listings[0].as_ranked(self.definition, depth)
        return QueryDiagnosis(
            query,
            self.k,
            ap=loss.ap,
            n_relevant=loss.n_relevant,
            parts=loss.parts,
            ranking=ranked_hypotheses(run, listing),
            relevant=relevant_shots(run, listing, examined, depth),
            ties=self._bounds_by_level(row),
            definitions=reconcile(examined.facts[0], self.k, self.definition),
            run=self.run,
            definition=self.definition.name,
            notes=notes_of_query(run, query),
        )

    def against(self, other: Diagnosis) -> Difference:
        """Split the difference to another run into the parts of the loss.

        Parameters
        ----------
        other : Diagnosis
            The diagnosis of another run, with the same queries (in any order), cutoff, definition,
            reference, subset and `near`.

        Returns
        -------
        Difference
            AP of the other run minus AP of this one, and how much less the other one loses in each
            part.

        Raises
        ------
        ParameterError
            If the diagnoses differ in more than the run.
        """
        _check_comparable(self, other)
        row_of = {query: row for row, query in enumerate(other.queries)}
        rows = [row_of[query] for query in self.queries]
        name, other_name = distinct_run_names([self.evaluation, other.evaluation])
        return Difference(
            (name, other_name),
            self.k,
            self.definition.name,
            maps=(self.map, other.map),
            queries=list(self.queries),
            ap=other.ap[rows] - self.ap,
            parts={part: losses - other.parts[part][rows] for part, losses in self.parts.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis, with a manifest of its inputs and settings, for JSON.

        Returns
        -------
        dict
            An object of the JSON schema of diagnoses, ``diagnosis-1``. Unknown values are None,
            with a ``reason`` beside them.
        """
        value = {
            'run': self.run,
            'k': self.k,
            'map': self.map,
            'loss': self.mean_parts,
            'ties': self._bounds_by_level(),
            'definitions': [asdict(values) for values in self.definitions],
            'queries': [
                {'query': loss.query, 'ap': loss.ap, 'n_relevant': loss.n_relevant}
                | {'loss': loss.parts, 'ties': self._bounds_by_level(row)}
                for row, loss in enumerate(self._losses(range(len(self.queries))))
            ],
            'confused': [asdict(name) for name in self.confused],
            'near_misses': [asdict(name) for name in self.near_misses],
            'notes': self.notes,
            'manifest': manifest_json(
                definition=self.definition,
                parameters={'k': self.k, 'near': self.near, **self.evaluation.parameters},
                inputs=self.inputs,
                counts=self.evaluation.counts,
            ),
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
        losses_by_part = {part: losses.tolist() for part, losses in self.parts.items()}
        ap = self.ap.tolist()
        n_relevant = self.n_relevant.tolist()
        return [
            QueryLoss(
                self.queries[row],
                ap[row],
                n_relevant[row],
                {part: losses[row] for part, losses in losses_by_part.items()},
            )
            for row in rows
        ]

    def _bounds_by_level(self, row: int | None = None) -> dict[str, dict[str, Any]]:
        """Return the bounds of a query, or else the means over all queries, by level."""
        return {
            level: bounds.means() if row is None else bounds.of_query(row)
            for level, bounds in self.ties.items()
        }

    def document(self, *, per_query: bool = False, costliest: int = N_LISTED) -> Document:
        """Describe the diagnosis for all output formats.

        Parameters
        ----------
        per_query : bool
            Show all queries to people, not only the costliest.
        costliest : int
            How many queries, and how many names of each kind, to show.

        Returns
        -------
        Document
        """
        return Document(lambda: self._blocks(per_query, costliest), self.to_dict, self._rows)

    def _blocks(self, per_query: bool, n: int) -> Iterator[Block]:
        ap = ap_column(self.k)
        n_queries = with_noun(len(self.queries), 'query', 'queries')
        yield Heading(self.run, str(self.definition))
        n_losing = {
            part: int((abs(losses) > OWN_ROUNDING).sum()) for part, losses in self.parts.items()
        }
        has_parts = any(n_losing.values())
        yield f'M{ap} {self.map:.3f} over {n_queries}{loss_ahead(self.map, has_parts)}\n'
        if has_parts:
            yield grid_of_loss(self.mean_parts, n_losing)
        has_names = 'ties' not in self.evaluation.parameters  # which only topics of TREC have
        yield grid_of_ties(self._bounds_by_level(), has_names=has_names)
        rows: list[list[Any]] = [
            [values.definition, values.map, values.n_changed, values.reason]
            for values in self.definitions
        ]
        headers = ['DEFINITION', f'M{ap}', 'queries changed', 'reason']
        yield _without_empty_reasons(Grid(headers, rows))
        if per_query:
            grid = _without_empty_reasons(self._rows())
            yield Grid(grid.headers[2:], [row[2:] for row in grid.rows])
        elif (costliest := self._costliest_grid(n)).rows:
            yield costliest
        yield from self._blocks_of_names(n)
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)

    def _costliest_grid(self, n: int) -> Grid:
        rows: list[list[Any]] = []
        for query_loss in self.costliest(n):
            if 1 - query_loss.ap < OWN_ROUNDING:
                break  # the other queries lost nothing
            part, loss = max(query_loss.parts.items(), key=lambda item: item[1])
            largest = [part, loss] if loss >= LEAST_PRINTED else ['', None]
            rows.append([query_loss.query, query_loss.ap, query_loss.n_relevant, *largest])
        ap = ap_column(self.k)
        headers = ['COSTLIEST QUERIES', ap, 'relevant shots', 'main cause', 'AP lost to it']
        return Grid(headers, rows)

    def _blocks_of_names(self, n: int) -> Iterator[Block]:
        """Yield, of each kind, a grid of the first names, and a line with the number of others."""
        confused = 'query', 'name', 'adds', 'count', 'distance'
        headers = ['CONFUSED QUERY', 'returned under', 'AP lost', 'shots', 'distance', 'edits']
        near = 'query', 'name', 'adds', 'alone', 'count', 'n_hypotheses'
        near_headers = ['NEAR MISS OF', 'name', 'AP lost', 'alone', 'shots', 'hypotheses', 'edits']
        kinds = (self.confused, confused, headers), (self.near_misses, near, near_headers)
        for names, fields, titles in kinds:
            rows = [[*attrgetter(*fields)(name), _edits(name.letters)] for name in names[:n]]
            if names:
                yield Grid(titles, rows)
            if len(names) > n:
                more = with_noun(len(names) - n, 'more name', 'more names')
                yield f'… and {more} (see --costliest)\n'
        if self.near_misses:
            yield ALONE_EXPLAINED

    def _rows(self) -> Grid:
        """Return a row for each query and one for all; the last column has reasons for None."""
        n_queries = len(self.queries)
        means = self.mean_parts
        columns: dict[str, list[Any]] = {
            'query': [*self.queries, ALL_QUERIES],
            ap_column(self.k): [*self.ap.tolist(), self.map],
            'n_relevant': [*self.n_relevant.tolist(), int(self.n_relevant.sum())],
        }
        columns |= {part: [*losses.tolist(), means[part]] for part, losses in self.parts.items()}
        bounds = [*map(self._bounds_by_level, range(n_queries)), self._bounds_by_level()]
        for level in self.ties:
            for key in BOUND_KEYS:
                columns[f'{level}_{key}'] = [by_level[level][key] for by_level in bounds]
        columns[N_QUERIES] = [*[None] * n_queries, n_queries]
        columns['reason'] = [_reasons(by_level) for by_level in bounds]
        settings = [self.run, self.definition.name]
        rows = zip(*columns.values(), strict=True)
        return Grid(['run', 'definition', *columns], [[*settings, *row] for row in rows])


def _reasons(bounds_by_level: Mapping[str, Mapping[str, Any]]) -> str:
    """Join the reasons of all levels, each reason once."""
    reasons = [bounds['reason'] for bounds in bounds_by_level.values() if 'reason' in bounds]
    return '; '.join(dict.fromkeys(reasons))


def _without_empty_reasons(grid: Grid) -> Grid:
    """Drop the last column of a grid, the reasons, if it is empty."""
    if any(row[-1] for row in grid.rows):
        return grid
    return Grid(grid.headers[:-1], [row[:-1] for row in grid.rows])


def _edits(letters: Sequence[str]) -> str:
    """Join the edits, or return their number if the names have little in common."""
    return ', '.join(letters) if len(letters) <= MOST_EDITS else f'{len(letters)} edits'


def _check_comparable(diagnosis: Diagnosis, other: Diagnosis) -> None:
    """Raise ParameterError if two diagnoses differ in more than the run."""

    def expect(value: object, other_value: object, actual: str, expected: str = 'the same') -> None:
        if value != other_value:
            raise ParameterError(
                f'against: {shown(other.run)} was explained with {actual}, expected '
                f'{expected} as for {shown(diagnosis.run)}; explain both in the same way'
            )

    expect(diagnosis.k, other.k, f'k {shown(other.k)}', shown(diagnosis.k))
    expect(diagnosis.near, other.near, f'near {shown(other.near)}', shown(diagnosis.near))
    name, other_name = (shown(either.definition.name) for either in (diagnosis, other))
    expect(name, other_name, f'definition {other_name}', name)
    another = f'another definition of the name {other_name}'
    expect(diagnosis.definition, other.definition, another)
    queries, other_queries = (sorted(either.queries) for either in (diagnosis, other))
    actual = f'other queries ({with_noun(len(other_queries), "query", "queries")})'
    expect(queries, other_queries, actual, f'the {len(queries):,}')
    if None in (diagnosis._examined, other._examined):  # read from JSON
        hashes, other_hashes = (
            {role: source.sha256 for role, source in either.inputs.items() if role != 'hypothesis'}
            for either in (diagnosis, other)
        )
        expect(hashes, other_hashes, 'another reference, subset or list of judged shots')
        return
    criteria, other_criteria = (either._examined.criteria for either in (diagnosis, other))
    if criteria is not other_criteria:
        rows, other_rows = (
            Counter(either.reference.table.rows()) for either in (criteria, other_criteria)
        )
        expect(rows, other_rows, 'another reference')
        expect(_videos(criteria), _videos(other_criteria), 'another subset')


def _videos(criteria: Criteria) -> set[Any] | None:
    return None if criteria.subset is None else {*criteria.subset.rows()}


class DiagnosisPlot(Plot):
    """Figures of a diagnosis, as Altair charts; `Diagnosis.plot` makes it.

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

        Each run has a bar, whose parts add up to 1 - MAP.

        Parameters
        ----------
        *others : Diagnosis
            Diagnoses of other runs that differ in nothing but the run (see `Diagnosis.against`).
        names : sequence of str, optional
            Names of the runs, this one first, all different; by default the names of their files.
        """
        diagnoses = [self._diagnosis, *others]
        for other in others:
            self._diagnosis.against(other)
        evaluations = [diagnosis.evaluation for diagnosis in diagnoses]
        runs = distinct_run_names(evaluations) if names is None else list(names)
        if not len(set(runs)) == len(runs) == len(diagnoses):
            raise ParameterError(
                f'found {shown(runs)}, expected {len(diagnoses)} names, all different', 'names'
            )
        means = [diagnosis.mean_parts for diagnosis in diagnoses]
        columns = {part: [mean[part] for mean in means] for part in means[0]}
        return self._figures.loss(runs, columns)

    def confused(self, n: int = 20) -> altair.LayerChart:
        """Draw the names that are most often confused.

        Parameters
        ----------
        n : int
            The largest number of pairs: a query, and the name under which its shots were returned.
        """
        names = self._diagnosis.confused[: check_cutoff(n, 'n')]
        return self._figures.confused(
            [name.query for name in names],
            [name.name for name in names],
            [name.count for name in names],
            self._diagnosis.run,
        )

    def precision_recall(self, query: str | None = None) -> altair.LayerChart:
        """Draw precision against recall at the rank of each hit of a query.

        Parameters
        ----------
        query : str, optional
            A query with a relevant shot, by default the first; its hits down to the cutoff.
        """
        diagnosis = self._diagnosis
        if query is None:
            relevant = zip(diagnosis.queries, diagnosis.n_relevant, strict=True)
            query = next((query for query, n in relevant if n), diagnosis.queries[0])
        query_diagnosis = diagnosis.of(query)
        if not query_diagnosis.n_relevant:
            raise ParameterError(
                f'found {shown(query)}, expected a query with a relevant shot', 'precision_recall'
            )
        hits = [row for row in query_diagnosis.ranking if row.relevant]
        ranks = [row.rank for row in hits]
        first_ranks = {(row.corpus, row.video, row.shot): row.rank for row in reversed(hits)}
        repeats = set(ranks).difference(first_ranks.values())
        return self._figures.precision_recall(
            [diagnosis.run], [ranks], query_diagnosis.n_relevant, query, [repeats]
        )
