"""Parts of a diagnosis as plain values: lost names, a single query, a difference of two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mediaeval_ap.arrays import Floats
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.diagnosis.loss import PARTS
from mediaeval_ap.diagnosis.other_definitions import ByDefinition
from mediaeval_ap.diagnosis.ties import BOUND_KEYS
from mediaeval_ap.errors import printable, with_noun
from mediaeval_ap.render.document import Block, Document, Grid, Heading
from mediaeval_ap.results.described import Described, json_document
from mediaeval_ap.results.result import ALL_QUERIES, N_QUERIES
from mediaeval_ap.results.rounding import OWN_ROUNDING, exact_mean

DIAGNOSIS_SCHEMA = 'mediaeval-ap/diagnosis/1'
TIE_LEVELS = {
    'equal_confidence': 'equal distance and confidence',
    'arbitrary': 'equal temporal rank, too',
}
HOW_RETURNED = {
    'own': 'under the query',
    'spelling': 'under a near spelling',
    'confused': 'under a wrong person',
    'part_of_name': 'under part of the name',
    'noise': 'under a name of nobody',
    'copresent': 'under others shown in it',
    'absent': 'not at all',
}
NAME_COLUMNS = ('names', 'name', 'distance')
N_LISTED = 10  # names of a table; first ranks of a query, besides its hits
LEAST_PRINTED = 0.0005  # smaller parts would be printed as 0.000


def grid_of_loss(parts: Mapping[str, float], n_losing: Mapping[str, int] | None = None) -> Grid:
    """Return a row for each part: loss, cause and, if given, the number of queries that lose."""
    rows: list[list[Any]] = [[part, loss, PARTS[part]] for part, loss in parts.items()]
    rows.append(['all', math.fsum(parts.values()), 'all causes: 1 - AP'])
    headers = ['LOSS', 'AP', 'cause']
    if n_losing is not None:
        headers.insert(2, 'queries')
        for row in rows:
            row.insert(2, n_losing.get(row[0]))
    return Grid(headers, rows)


def loss_ahead(ap: float, has_parts: bool) -> str:
    """Return the end of a sentence about AP or MAP that announces the parts of the loss, if any."""
    if not has_parts:
        return '.'
    return f'. Where the other {1 - ap:.3f} was lost:' if ap < 1 else '. Why it is not 1:'


def grid_of_ties(ties: Mapping[str, Mapping[str, Any]], *, has_names: bool = True) -> Grid:
    """Return a row for each level of ties: least, mean and greatest value over all orders."""
    titles = TIE_LEVELS if has_names else {'equal_confidence': 'equal score'}
    rows = [[title, *(ties[level][key] for key in BOUND_KEYS)] for level, title in titles.items()]
    return Grid(['ORDERS OF TIES', 'minimum', 'mean', 'maximum'], rows)


def json_value(kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for JSON, with the schema in front."""
    return json_document(DIAGNOSIS_SCHEMA, kind=kind, **value)


@dataclass(frozen=True)
class QueryLoss:
    """The loss of a query; the fields are as in `QueryDiagnosis`."""

    query: str
    ap: float
    n_relevant: int
    parts: dict[str, float]


@dataclass(frozen=True)
class ConfusedName:
    """Another person under whose name a run returned relevant shots of a query.

    Parameters
    ----------
    name, query : str
        The name in the run, and the query.
    count : int
        The number of relevant shots of the query, of the kind ``confused``, that the run returned
        under this name although that person is not in them.
    distance : float
        The distance from the query to the name, from 0 to 1.
    letters : tuple of str
        The edits that make the name of the query: ``o→u at 5``, ``+n at 9``, ``-e at 2``; positions
        in the query, from 1.
    adds : float
        The AP of the query that the repair of these shots adds, as in `RelevantShot.adds`.
    """

    name: str
    query: str
    count: int
    distance: float
    letters: tuple[str, ...]
    adds: float


@dataclass(frozen=True)
class NearMiss:
    """A name near a query under which a run returned relevant shots of the query.

    Parameters
    ----------
    name, query, distance, letters, adds
        As in `ConfusedName`; the distance is at most `near` of the diagnosis.
    count : int
        The number of relevant shots of the query that the run returned under this name, but not
        under the query itself.
    n_hypotheses : int
        The number of hypotheses that the run has under this name.
    alone : float
        The gain in AP of the query if every hypothesis under this name had the name of the query
        instead: the run is scored again. The shots do not move to the front but to the ranks that
        their confidence gives them, so the gains of several names do not add up. Negative where
        wrong shots push hits down.
    """

    name: str
    query: str
    count: int
    n_hypotheses: int
    distance: float
    letters: tuple[str, ...]
    adds: float
    alone: float


@dataclass(frozen=True)
class Before:
    """The misses before a hit in a ranking, by the reason why they come first.

    Parameters
    ----------
    nearer : int
        The number whose names are nearer to the query.
    more_confident : int
        The number whose names are equally far and whose confidence is higher.
    tied : int
        The number whose distance and confidence are equal: the order of ties decides.
    unjudged : int or None
        The number of all these misses whose shots nobody judged; None without judgements.
    """

    nearer: int
    more_confident: int
    tied: int
    unjudged: int | None = None


@dataclass(frozen=True)
class RankedHypothesis:
    """A hypothesis in the ranking of a query.

    Parameters
    ----------
    rank : int
        Its rank, from 1.
    corpus, video, shot, name : str
        The shot and the name.
    distance, confidence : float
        The distance from the query to the name, and the confidence.
    temporal_rank : int
        Its position in time, from 1, among hypotheses of equal name, confidence and video.
    relevant : bool
        True if it counts as a hit.
    before : Before or None
        The misses before it, if it is a hit.
    judged : bool or None
        True if its shot is judged for the query; None without judgements.
    """

    rank: int
    corpus: str
    video: str
    shot: str
    name: str
    distance: float
    confidence: float
    temporal_rank: int
    relevant: bool
    before: Before | None
    judged: bool | None = None


@dataclass(frozen=True)
class RelevantShot:
    """A relevant shot of a query: where and how the run returned it, if it did.

    Parameters
    ----------
    corpus, video, shot : str
        The shot.
    rank : int or None
        The rank at which the run first returned it, also beyond the cutoff; None if it did not.
    names : tuple of str
        The names under which the run returned it, in the order of the ranking.
    kind : {'own', 'spelling', 'confused', 'part_of_name', 'noise', 'copresent', 'absent'}
        The part of the loss that it belongs to; ``own`` where it was returned under the query.
    adds : float
        The AP that its repair adds: it moves to the front, behind the shots that moved before it.
        The shots of a kind move in the order of their ranks, so their gains add up to that part.
    """

    corpus: str
    video: str
    shot: str
    rank: int | None
    names: tuple[str, ...]
    kind: str
    adds: float


@dataclass(frozen=True)
class QueryDiagnosis(Described):
    """The diagnosis of a single query; `Diagnosis.of` makes it.

    Parameters
    ----------
    query : str
        The query.
    k, ap, n_relevant
        The cutoff, average precision there, and the number of relevant shots.
    parts : dict of str to float
        The parts of the loss, which add up to 1 - AP.
    ranking : list of RankedHypothesis
        The ranking down to the cutoff.
    relevant : list of RelevantShot
        The relevant shots: first the returned ones, by rank, then the others.
    ties : dict of str to dict
        The least, mean and greatest AP over all orders of ties, as in `Diagnosis.to_dict`.
    definitions : list of ByDefinition
        AP by each registered definition, and why it differs; the one in use comes first.
    run, definition : str
        The names of the run, and of the definition in use.
    notes : list of str
        For a query without a relevant shot, this and the nearest name in the reference; with
        judgements, how shots that are not judged count.
    """

    query: str
    k: Cutoff
    ap: float
    n_relevant: int
    parts: dict[str, float]
    ranking: list[RankedHypothesis] = field(repr=False)
    relevant: list[RelevantShot] = field(repr=False)
    ties: dict[str, dict[str, Any]] = field(repr=False)
    definitions: list[ByDefinition] = field(repr=False)
    run: str
    definition: str
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields of the diagnosis, for JSON; ``loss`` has the parts."""
        fields = asdict(self)
        for hypothesis in fields['ranking']:
            if hypothesis['judged'] is None:  # without judgements
                del hypothesis['judged']
                if hypothesis['before'] is not None:
                    del hypothesis['before']['unjudged']
        return {('loss' if name == 'parts' else name): value for name, value in fields.items()}

    def document(self) -> Document:
        """Describe the query; the rows are its relevant shots."""
        return Document(
            self._blocks, lambda: json_value('query-diagnosis', self.to_dict()), self._rows
        )

    def _blocks(self) -> Iterator[Block]:
        ap = ap_column(self.k)
        yield Heading(self.run, self.definition)
        n_relevant = with_noun(self.n_relevant, 'relevant shot', 'relevant shots')
        lost = {part: loss for part, loss in self.parts.items() if abs(loss) >= LEAST_PRINTED}
        score = f'{ap} {self.ap:.3f}, {n_relevant}{loss_ahead(self.ap, bool(lost))}'
        yield f'{printable(self.query)}: {score}\n'
        if self.notes:
            yield ''.join(f'{note}\n' for note in self.notes)
        if lost:
            yield grid_of_loss(lost)
        if self.relevant:
            rows = [
                [_path(shot), shot.rank, HOW_RETURNED[shot.kind], ' '.join(shot.names), shot.adds]
                for shot in self.relevant
            ]
            headers = ['RELEVANT SHOT', 'rank', 'returned', 'names', 'AP lost']
            yield self._without_names(Grid(headers, rows))
        ranking = [row for row in self.ranking if row.rank <= N_LISTED or row.relevant]
        if ranking:  # the first, and all hits with the misses before them
            headers = ['RANK', 'hit', 'shot', 'name', 'distance', 'confidence', 'misses before']
            rows = []
            for row in ranking:
                name = (row.name, row.distance, row.confidence)
                rows.append([row.rank, row.relevant, _path(row), *name, _misses_before(row.before)])
            if ranking[0].judged is not None:
                headers.insert(2, 'judged')
                for cells, row in zip(rows, ranking, strict=True):
                    cells.insert(2, bool(row.judged))
            yield self._without_names(Grid(headers, rows, exact=('confidence',)))
        if n_left_out := len(self.ranking) - len(ranking):
            ranks = with_noun(n_left_out, 'rank', 'ranks')
            yield f'{ranks} below {N_LISTED} without a hit left out\n'
        yield grid_of_ties(self.ties, has_names=self._has_names)
        yield Grid(
            ['DEFINITION', ap, 'reason'],
            [[row.definition, row.ap, row.why] for row in self.definitions],
        )

    @property
    def _has_names(self) -> bool:
        """False for a topic of TREC, whose documents are shots of no corpus."""
        corpora = [*(row.corpus for row in self.ranking), *(shot.corpus for shot in self.relevant)]
        return not corpora or any(corpora)

    def _without_names(self, grid: Grid) -> Grid:
        """Drop the columns about names if the query is a topic of TREC."""
        if self._has_names:
            return grid
        kept = [i for i, header in enumerate(grid.headers) if header not in NAME_COLUMNS]
        rows = [[row[i] for i in kept] for row in grid.rows]
        return replace(grid, headers=[grid.headers[i] for i in kept], rows=rows)

    def _rows(self) -> Grid:
        headers = ['query', 'corpus', 'video', 'shot', 'rank', 'kind', 'names', 'adds']
        rows = []
        for shot in self.relevant:
            ids = (shot.corpus, shot.video, shot.shot)
            names = ' '.join(shot.names)
            rows.append([self.query, *ids, shot.rank, shot.kind, names, shot.adds])
        return Grid(headers, rows)


def _path(row: RankedHypothesis | RelevantShot) -> str:
    return '/'.join(filter(None, (row.corpus, row.video, row.shot)))


def _misses_before(before: Before | None) -> str:
    """Return the misses before a hit in words: ``2 nearer, 1 tied (1 unjudged)``."""
    if before is None:
        return ''
    *counts, n_unjudged = asdict(before).values()
    reasons = zip(counts, ('nearer', 'more confident', 'tied'), strict=True)
    text = ', '.join(f'{count} {reason}' for count, reason in reasons if count) or 'none'
    return f'{text} ({n_unjudged} unjudged)' if n_unjudged else text


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Described):
    """The difference of average precision between two runs, split; `Diagnosis.against` makes it.

    Parameters
    ----------
    runs : tuple of str
        The two runs, a and b.
    k, definition, queries
        The cutoff, the name of the AP definition, and the queries.
    maps : tuple of float
        MAP of a and of b.
    ap : ndarray of float64, shape (n_queries,)
        AP of b minus AP of a.
    parts : dict of str to ndarray of float64, shape (n_queries,)
        The loss of a minus the loss of b, part by part; for each query they add up to `ap`.
    """

    runs: tuple[str, str]
    k: Cutoff
    definition: str
    maps: tuple[float, float]
    queries: list[str]
    ap: Floats
    parts: dict[str, Floats]

    @property
    def map(self) -> float:
        """The mean of `ap`: MAP of b minus MAP of a."""
        return exact_mean(self.ap)

    @property
    def mean_parts(self) -> dict[str, float]:
        """The mean of each part, by its name."""
        return {part: exact_mean(values) for part, values in self.parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the difference and its parts in ``loss``, in the mean and by query, for JSON."""
        rows = zip(*(values.tolist() for values in self.parts.values()), strict=True)
        return {
            'runs': list(self.runs),
            'k': self.k,
            'definition': self.definition,
            'difference': self.map,
            'loss': self.mean_parts,
            'queries': [
                {'query': query, 'difference': ap, 'loss': dict(zip(self.parts, row, strict=True))}
                for query, ap, row in zip(self.queries, self.ap.tolist(), rows, strict=True)
            ],
        }

    def document(self, *, per_query: bool = False, costliest: int = N_LISTED) -> Document:
        """Describe the difference, with all queries (`per_query`) or the most different ones."""
        return Document(
            lambda: self._blocks(per_query, costliest),
            lambda: json_value('difference', self.to_dict()),
            self._rows,
        )

    def _blocks(self, per_query: bool, costliest: int) -> Iterator[Block]:
        first, second = self.runs
        ap = ap_column(self.k)
        yield Heading(f'{second} minus {first}', self.definition)
        score, n_queries = f'M{ap}', f' over {len(self.queries):,} queries'
        rows: list[list[Any]] = [
            [part, mean, *_better_and_worse(self.parts[part]), PARTS[part]]
            for part, mean in self.mean_parts.items()
        ]
        rows.append(['all', self.map, *_better_and_worse(self.ap), 'all causes'])
        headers = ['DIFFERENCE', ap, 'queries better', 'queries worse', 'cause']
        is_single = len(self.queries) == 1
        if is_single:
            score, n_queries = f'{printable(self.queries[0])}: {ap}', ''
            rows = [[*row[:2], row[-1]] for row in rows if abs(row[1]) >= LEAST_PRINTED]
            headers[2:4] = []
        map_of_first, map_of_second = self.maps
        against = f'{self.map:+z.3f} against {printable(first)} ({map_of_first:.3f})'
        causes = ' Causes:' if rows else ''
        yield f'{score} {map_of_second:.3f}{n_queries}, {against}.{causes}\n'
        if rows:
            yield Grid(headers, rows)
        if is_single:
            return
        if per_query:
            grid = self._rows()
            yield Grid(grid.headers[2:], [row[2:] for row in grid.rows])
            return
        for title, sign in ('BETTER QUERIES', 1), ('WORSE QUERIES', -1):
            order = (-sign * self.ap).argsort(kind='stable').tolist()
            most_different = [row for row in order if sign * self.ap[row] > OWN_ROUNDING]
            rows = []
            for row in most_different[:costliest]:
                parts = {part: float(values[row]) for part, values in self.parts.items()}
                part = max(parts, key=lambda name: sign * parts[name])
                rows.append([self.queries[row], float(self.ap[row]), part, parts[part]])
            if rows:
                yield Grid([title, f'gain of {ap}', 'main cause', 'AP from it'], rows)

    def _rows(self) -> Grid:
        """Return a row for each query, and a last row for all queries."""
        means = self.mean_parts
        columns: dict[str, list[Any]] = {
            'query': [*self.queries, ALL_QUERIES],
            ap_column(self.k): [*self.ap.tolist(), self.map],
        }
        columns |= {part: [*values.tolist(), means[part]] for part, values in self.parts.items()}
        columns[N_QUERIES] = [*[None] * len(self.queries), len(self.queries)]
        rows = zip(*columns.values(), strict=True)
        return Grid(['run', 'minus', *columns], [[*self.runs[::-1], *row] for row in rows])


def _better_and_worse(values: Floats) -> list[int]:
    return [int((values > OWN_ROUNDING).sum()), int((values < -OWN_ROUNDING).sum())]
