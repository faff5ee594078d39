"""The protocol of MediaEval Person Discovery 2015: one name for a query, and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from mediaeval_ap.arrays import first_occurrences, ranges
from mediaeval_ap.choices import (
    RATIO_2015,
    WithoutRelevant,
    check_ratio,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    printable,
    shown,
    warn_caller,
    with_noun,
)
from mediaeval_ap.evaluation.criteria import queries_or_default, read_queries
from mediaeval_ap.evaluation.data_warnings import (
    likely_cause,
    no_overlap,
    unknown_queries,
    without_relevant,
)
from mediaeval_ap.evaluation.relevance import nearest_name, without_placeholders
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.ranking.edit_distances import BLOCK_CELLS
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.results.evaluation import Evaluation2015
from mediaeval_ap.results.result import SKIPPED
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables import Column, Table, layouts, read
from mediaeval_ap.tables.reading import WITH_ALL_FIELDS, InputKind, TableInput
from mediaeval_ap.tables.table import Names, Rows

__all__ = ['PersonDiscovery2015']

DEFINITION_2015 = Definition(
    'person-discovery-2015',
    depth=('k',),
    denominator=('R',),
    without_relevant=1.0,
    repeats=Repeats.DROP,
    source='MediaEval 2015 Person Discovery',
)
SOURCES = {  # of evidence, and what each also stands for
    'image': ('image', 'both'),
    'audio': ('audio', 'both'),
    'both': ('image', 'audio', 'both'),
}


class PersonDiscovery2015:
    """Scores labels and their evidence by the protocol of 2015.

    Each query is answered by the closest name of a run, if it is close enough: its shots are ranked
    by confidence, and AP is the sum of precisions at relevant shots, divided by R. The name is
    correct if its evidence is in the reference; EwMAP is the mean of correctness times AP.

    Parameters
    ----------
    shots : anything that `mediaeval_ap.tables.read` takes, as all other tables
        All shots: ``video_id shot_id start_time end_time first_frame last_frame``; of a table or
        tuples, the first two are enough.
    reference : like shots
        Who is in which shot: ``video_id shot_id person_name``.
    evidence_reference : like shots, optional
        Where a name is seen (``image``), heard (``audio``) or either (``both``): ``video_id shot_id
        person_name source``.
    consensus : like shots, optional
        The shots that count: ``video_id shot_id``. By default all.
    ratio : float
        A name is close enough to a query above this ratio, from 0 to 1.
    queries_without_relevant : {'count', 'skip'}
        What becomes of queries that are given and have no relevant shot: each has an AP of 1 and
        counts as correct, or all are left out before anything is scored.

    Raises
    ------
    ReadError, FormatError, ParameterError
        When a table cannot be read, has a shot that is not among the shots, or another source.

    Notes
    -----
    The ratio is `Levenshtein.ratio`: the share of the characters of both names that is left when as
    few as possible are deleted and inserted. Ties, which the published scripts leave open, go to
    the first name by code points, and to shots in the order of video and shot.

    Source: MediaEval 2015, Multimodal Person Discovery in Broadcast TV.

    Examples
    --------
    >>> discovery = PersonDiscovery2015([('v', '1'), ('v', '2')], [('v', '1', 'ann_lee')])
    >>> discovery.evaluate([('v', '1', 'ann_lee', 0.5), ('v', '2', 'ann_lee', 0.9)]).map
    0.5
    """

    def __init__(
        self,
        shots: Rows,
        reference: Rows,
        *,
        evidence_reference: Rows | None = None,
        consensus: Rows | None = None,
        ratio: float = RATIO_2015,
        queries_without_relevant: WithoutRelevant = 'count',
    ) -> None:
        check_ratio(ratio)
        self.ratio = float(ratio)
        self._without_relevant = check_without_relevant(queries_without_relevant)
        known = _read_shots(TableInput.of(shots))
        relevant = read(reference, layouts.REFERENCE_2015)
        self._inputs = {'shots': known.source, 'reference': relevant.source}
        self._known = Shots.of(_with_corpus(known))
        self._names = relevant['person_name']
        self._queries = without_placeholders(self._names.values)
        self._relevant = np.unique(self._keys(self._names.codes, self._shots_of(relevant)))
        self._n_relevant = np.bincount(self._relevant // len(self._known))
        self._counted = np.ones(len(self._known), dtype=np.bool_)
        if consensus is not None:
            table = read(consensus, layouts.CONSENSUS_2015)
            self._inputs['consensus'] = table.source
            self._counted = np.isin(np.arange(len(self._known)), self._shots_of(table))
        self._evidence: set[tuple[str, int, str]] = set()
        if evidence_reference is not None:
            table = read(evidence_reference, layouts.EVIDENCE_REFERENCE_2015)
            self._inputs['evidence_reference'] = table.source
            for name, shot, source in self._said(table):
                self._evidence.update((name, shot, also) for also in SOURCES[source])

    def __repr__(self) -> str:
        return (
            f'PersonDiscovery2015(reference={shown(self._inputs["reference"].name)}, '
            f'{with_noun(len(self._queries), "name", "names")}, '
            f'{with_noun(len(self._known), "shot", "shots")}, ratio={self.ratio})'
        )

    def evaluate(
        self,
        labels: Rows,
        evidence: Rows | None = None,
        queries: Names | None = None,
        *,
        name: str | None = None,
    ) -> Evaluation2015:
        """Score labels on many queries at once.

        Parameters
        ----------
        labels : str, path-like, file object, DataFrame or iterable of tuples
            A run: ``video_id shot_id person_name confidence``.
        evidence : like labels, optional
            A row for each name: ``person_name video_id shot_id source``; needs its reference.
        queries : str (a path), path-like, file object, DataFrame or iterable of str, optional
            The names to ask for, by default all of the reference that do not begin with ``?``.
        name : str, optional
            As for `AveragePrecision.evaluate`.

        Returns
        -------
        Evaluation2015
            AP and correctness of each query, and the means. A name without evidence is wrong; a
            query without name or relevant shot counts as correct.

        Raises
        ------
        ReadError, FormatError, ParameterError
            When a table cannot be read, has an unknown shot or source, or evidence a name twice;
            when only one of evidence and its reference is given, or there is no query to ask for.

        Warns
        -----
        DataWarning, NoOverlapWarning, WithoutRelevantWarning
            As `AveragePrecision.evaluate`.

        Examples
        --------
        >>> reference, seen = [('v', '1', 'ann')], [('v', '1', 'ann', 'image')]
        >>> discovery = PersonDiscovery2015([('v', '1')], reference, evidence_reference=seen)
        >>> evaluation = discovery.evaluate([('v', '1', 'ann', 0.5)], [('ann', 'v', '1', 'both')])
        >>> evaluation.map, evaluation.mean_correctness, evaluation.ewmap
        (1.0, 1.0, 1.0)
        """
        run_name = check_name(name)
        if (evidence is not None) != ('evidence_reference' in self._inputs):
            raise ParameterError('give evidence and evidence_reference together, or neither')
        run = read(labels, layouts.HYPOTHESIS_2015)
        tables = {'labels': run}
        if evidence is not None:
            tables['evidence'] = read(evidence, layouts.EVIDENCE_2015)
        if queries is not None:
            tables['queries'] = read_queries(queries)
        reference = self._inputs['reference'].name
        known = self._names.code_of
        skip_or_count = self._without_relevant
        asked, n_skipped, about_queries, about_skipped = queries_or_default(
            tables.get('queries'), self._queries, known, reference, skip_or_count
        )
        if queries is not None:
            about_queries += self._about_unknown(tables['queries']['person_name'].values)
        shots = self._shots_of(run)
        names, ratios = closest(asked, run['person_name'].values, self.ratio)
        codes = np.array([self._names.code_of.get(query, -1) for query in asked])
        n_relevant = np.where(codes < 0, 0, self._n_relevant[codes])
        counts = {
            'queries': len(asked),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            **({SKIPPED: n_skipped} if self._without_relevant == 'skip' else {}),
            'queries_without_name': names.count(None),
            'shots': len(self._known),
            'shots_that_count': int(self._counted.sum()),
            'labels': len(run),
            'labels_that_count': int(np.count_nonzero(self._counted[shots])),
            'names': len(run['person_name'].values),
            'names_in_reference': len({*run['person_name'].values} & {*self._names.values}),
            'shots_returned': len(np.unique(shots)),
            'shots_in_reference': len(np.intersect1d(shots, self._relevant % len(self._known))),
            'placeholders': len(self._names.values) - len(self._queries) if queries is None else 0,
        }
        evaluation = Evaluation2015(
            queries=asked,
            names=names,
            ratios=ratios,
            n_relevant=n_relevant,
            ap=self._ap(codes, names, run, shots, n_relevant),
            correct=None,
            definition=DEFINITION_2015,
            parameters={'ratio': self.ratio, **parameter_of_skipped(self._without_relevant)},
            inputs=self._inputs | {role: table.source for role, table in tables.items()},
            counts=counts,
            run=run_name,
        )
        correct = None if evidence is None else self._correct(evaluation, tables['evidence'])
        warnings = (*about_queries, *about_skipped, *self._warnings(evaluation))
        warn_caller(warnings)
        return replace(evaluation, correct=correct, warnings=warnings)

    def _warnings(self, scored: Evaluation2015) -> list[DataWarning]:
        """Return warnings about shots and queries that are not in the reference."""
        name = printable(scored.inputs['reference'].name)
        counts = scored.counts
        found = []
        if not counts['shots_in_reference']:
            finding = f'0 of {counts["shots_returned"]:,} returned shots occur in {name}'
            found = no_overlap(scored.inputs['labels'].name, finding, '')
        if scored.n_relevant.any():
            return found + without_relevant(name, scored.n_relevant, DEFINITION_2015)
        cause = likely_cause(set(scored.queries), self._names.values)
        finding = f'0 of {len(scored.queries):,} queries occur in {name}'
        return found + no_overlap('queries', finding, cause)

    def _about_unknown(self, queries: Sequence[str]) -> list[DataWarning]:
        """Return the warning of queries that are no names of the reference, if others are."""
        known = self._names.code_of
        unknown = [query for query in queries if query not in known]
        if len(unknown) == len(queries):
            return []
        nearest = partial(nearest_name, names=without_placeholders(known))
        reference = printable(self._inputs['reference'].name)
        return unknown_queries(unknown, len(queries), reference, nearest)

    def _ap(
        self,
        codes: NDArray[np.int64],
        names: Sequence[str | None],
        run: Table,
        shot: NDArray[np.int64],
        n_relevant: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return average precision of each query, by its code, by the shots of its chosen name."""
        name = run['person_name'].codes.astype(np.int64)
        order = np.lexsort((shot, -run.confidence, name))
        order = order[self._counted[shot[order]]]
        order = order[first_occurrences(self._keys(name[order], shot[order]))]
        name = name[order]
        shot = shot[order]
        chosen = [-1 if each is None else run['person_name'].code_of[each] for each in names]
        begins = name.searchsorted(chosen)
        sizes = name.searchsorted(chosen, side='right') - begins
        query = np.arange(len(codes)).repeat(sizes)
        code = codes[query]
        keys = self._keys(code, shot[ranges(begins, sizes)])
        hits = (code >= 0) & np.isin(keys, self._relevant)
        ranks = ranges(np.ones_like(sizes), sizes)
        n = len(run)
        cutoff = [max(1, n)]  # none
        return average_precision_of_hits(
            query[hits], ranks[hits], n_relevant, n, cutoff, DEFINITION_2015
        )[:, 0]

    def _correct(self, scored: Evaluation2015, evidence: Table) -> NDArray[np.bool_]:
        """Return whether the evidence of each chosen name is evidence of the query."""
        pieces: dict[str | None, tuple[int, str]] = {}
        for row, (name, shot, source) in enumerate(self._said(evidence)):
            if name in pieces:
                raise evidence.error([row], 'person_name', f'{shown(name)} again', 'each name once')
            pieces[name] = shot, source
        chosen = zip(scored.queries, scored.names, strict=True)
        found = [(query, *pieces.get(name, ())) in self._evidence for query, name in chosen]
        is_none = np.array([name is None for name in scored.names])
        correct: NDArray[np.bool_] = np.where(is_none, scored.n_relevant == 0, found)
        return correct

    def _said(self, table: Table) -> Iterator[tuple[str, int, str]]:
        """Return name, shot and source of each row of evidence."""
        sources = table.texts('source')
        for row, source in enumerate(sources):
            if source not in SOURCES:
                expected = f'one of {", ".join(SOURCES)}'
                raise table.error([row], 'source', shown(source), expected)
        shots = self._shots_of(table).tolist()
        return zip(table.texts('person_name'), shots, sources, strict=True)

    def _shots_of(self, table: Table) -> NDArray[np.int64]:
        """Return the number of the shot of each row."""
        found = self._known.find(_with_corpus(table))
        if (found < 0).any():
            row = int((found < 0).argmax())
            named = ' of '.join(shown(table[field].text(row)) for field in ('shot_id', 'video_id'))
            expected = f'a shot of {printable(self._inputs["shots"].name)}'
            raise table.error([row], 'shot_id', named, expected)
        return found

    def _keys(self, name: NDArray[np.integer], shot: NDArray[np.int64]) -> NDArray[np.int64]:
        return name.astype(np.int64) * len(self._known) + shot


def closest(
    queries: Sequence[str], names: Sequence[str], ratio: float
) -> tuple[list[str | None], NDArray[np.float64]]:
    """Return for each query the first of the closest names, and its ratio; none up to `ratio`."""
    names = sorted(names)
    lengths = np.array(list(map(len, names)))
    known = set(names) if ratio < 1 else set()
    chosen: list[str | None] = [query if query in known else None for query in queries]
    ratios = np.array([float(name is not None) for name in chosen])
    others = [row for row, name in enumerate(chosen) if name is None]
    size = max(1, BLOCK_CELLS // len(names))
    for begin in range(0, len(others), size):
        rows = others[begin : begin + size]
        asked = [queries[row] for row in rows]
        both = np.array(list(map(len, asked)))[:, None] + lengths
        # No name with a ratio above the least is farther, so comparisons may end there.
        farthest = int((1 - ratio) * both.max()) + 1
        distances = cdist(
            asked, names, scorer=Indel.distance, dtype=np.int64, score_cutoff=farthest
        )
        shares = (both - distances) / both
        best = shares.argmax(axis=1)
        for row, name, share in zip(rows, best.tolist(), shares.max(axis=1).tolist(), strict=True):
            if share > ratio:
                chosen[row], ratios[row] = names[name], share
    return chosen, ratios


def _read_shots(shots: TableInput) -> Table:
    """Read all shots: text has whole lines, of other tables and rows the ids are enough."""
    whole = layouts.SHOTS_2015
    ids = layouts.SHOT_IDS_2015
    if shots.kind is InputKind.ROWS:
        shots = TableInput.of(map(_ids_of_whole, shots.value))
    has_ids_alone = isinstance(shots.value, Table) and shots.value.layout == ids
    return read(shots, whole if shots.kind in WITH_ALL_FIELDS and not has_ids_alone else ids)


def _ids_of_whole(row: Any) -> Any:
    is_whole = isinstance(row, tuple | list) and len(row) == len(layouts.SHOTS_2015.fields)
    return row[:2] if is_whole else row


def _with_corpus(table: Table) -> Table:
    """Return a table with one corpus, as that of 2015 has no field for it."""
    corpus = Column(np.zeros(len(table), dtype=np.int32), [''])
    return replace(table, columns={**table.columns, 'corpus_id': corpus})
