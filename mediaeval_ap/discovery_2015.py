"""The protocol of MediaEval Person Discovery 2015: one name per query, and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

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
    REMEDY_OF_NAMES,
    no_overlap,
    overlap,
    without_relevant,
)
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.ranking.edit_distances import BLOCK_CELLS
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.results.evaluation import Evaluation2015
from mediaeval_ap.results.notes import count_of_skipped
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables import Column, Table, layouts, read
from mediaeval_ap.tables.reading import InputKind, TableInput
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
MATCHING_SOURCES = {  # by the source in the reference: the sources of evidence that match it
    'image': ('image', 'both'),
    'audio': ('audio', 'both'),
    'both': ('image', 'audio', 'both'),
}


class Evidence(NamedTuple):
    """The claim that a name is seen or heard in a shot."""

    name: str
    shot: int  # its number
    source: str  # a key of `MATCHING_SOURCES`


class PersonDiscovery2015:
    """Scores labels and their evidence by the protocol of 2015.

    The closest name of a run answers a query, if it is close enough: its shots are ranked by
    confidence, and AP is the sum of precisions at relevant shots, divided by R. The name is correct
    if its evidence is in the reference; EwMAP is the mean of correctness times AP.

    Parameters
    ----------
    shots : anything that `mediaeval_ap.tables.read` takes, like all other tables
        All shots: ``video_id shot_id start_time end_time first_frame last_frame``; in a table or
        tuples, the first two are enough.
    reference : like shots
        The people in each shot: ``video_id shot_id person_name``.
    evidence_reference : like shots, optional
        The shots where a name is seen (``image``), heard (``audio``) or either (``both``):
        ``video_id shot_id person_name source``.
    consensus : like shots, optional
        The shots that count: ``video_id shot_id``. By default all.
    ratio : float
        The similarity, from 0 to 1, above which a name is close enough to a query.
    queries_without_relevant : {'count', 'skip'}
        Given queries without a relevant shot have an AP of 1 and count as correct, or are left out.

    Raises
    ------
    ReadError, FormatError, ParameterError
        When a table cannot be read, or has a shot that is not in `shots`, or an unknown source.

    Notes
    -----
    The ratio is `Levenshtein.ratio`. Ties, which the published scripts leave open, go to the first
    name by code points, and to shots in the order of video and shot.

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
        shot_list = _read_shots(TableInput.of(shots))
        relevant = read(reference, layouts.REFERENCE_2015)
        self._inputs = {'shots': shot_list.source, 'reference': relevant.source}
        self._shots = Shots.of(_with_empty_corpus(shot_list))
        self._reference = Reference(_with_empty_corpus(relevant), counts_again=False)
        names = relevant['person_name']
        self._code_of = names.code_of
        self._relevant = np.unique(self._keys(names.codes, self._shot_numbers(relevant)))
        self._in_consensus = np.ones(len(self._shots), dtype=np.bool_)
        if consensus is not None:
            table = read(consensus, layouts.CONSENSUS_2015)
            self._inputs['consensus'] = table.source
            self._in_consensus = np.isin(np.arange(len(self._shots)), self._shot_numbers(table))
        self._evidence: set[Evidence] = set()
        if evidence_reference is not None:
            table = read(evidence_reference, layouts.EVIDENCE_REFERENCE_2015)
            self._inputs['evidence_reference'] = table.source
            for name, shot, source in self._read_evidence(table):
                for matching in MATCHING_SOURCES[source]:
                    self._evidence.add(Evidence(name, shot, matching))

    def __repr__(self) -> str:
        return (
            f'PersonDiscovery2015(reference={shown(self._inputs["reference"].name)}, '
            f'{with_noun(len(self._reference.queries), "name", "names")}, '
            f'{with_noun(len(self._shots), "shot", "shots")}, ratio={self.ratio})'
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
            A row for each name: ``person_name video_id shot_id source``; needs
            `evidence_reference`.
        queries : str (a path), path-like, file object, DataFrame or iterable of str, optional
            By default all names of the reference that do not begin with ``?``.
        name : str, optional
            As in `AveragePrecision.evaluate`.

        Returns
        -------
        Evaluation2015
            A name without evidence is wrong; a query that has neither a name nor a relevant shot
            counts as correct.

        Raises
        ------
        ReadError, FormatError, ParameterError
            When a table cannot be read, or has an unknown shot or source; when evidence repeats a
            name, or is given without its reference; when there is no query.

        Warns
        -----
        DataWarning, NoOverlapWarning, WithoutRelevantWarning
            As in `AveragePrecision.evaluate`.

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
            raise ParameterError('Give evidence and evidence_reference together, or neither')
        run = read(labels, layouts.HYPOTHESIS_2015)
        tables = {'labels': run}
        if evidence is not None:
            tables['evidence'] = read(evidence, layouts.EVIDENCE_2015)
        if queries is not None:
            tables['queries'] = read_queries(queries)
        reference = self._reference
        policy = self._without_relevant
        query_names, n_skipped, about_queries, about_skipped = queries_or_default(
            tables.get('queries'), reference, policy
        )
        if queries is not None:
            distinct = tables['queries']['person_name'].values
            if any(query in reference for query in distinct):  # else `_warnings` warns
                about_queries += reference.about_unknown(distinct)
        shots = self._shot_numbers(run)
        names, ratios = closest_names(query_names, run['person_name'].values, self.ratio)
        n_relevant = np.array([reference.n_relevant(query) for query in query_names])
        counts = {
            'queries': len(query_names),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            **count_of_skipped(policy, n_skipped),
            'queries_without_name': names.count(None),
            **self._run_counts(run, shots),
            'placeholders': reference.n_placeholders if queries is None else 0,
        }
        evaluation = Evaluation2015(
            queries=query_names,
            names=names,
            ratios=ratios,
            n_relevant=n_relevant,
            ap=self._ap(run, shots, query_names, names, n_relevant=n_relevant),
            correct=None,
            definition=DEFINITION_2015,
            parameters={'ratio': self.ratio, **parameter_of_skipped(policy)},
            inputs=self._inputs | {role: table.source for role, table in tables.items()},
            counts=counts,
            run=run_name,
        )
        if evidence is not None:
            correct = self._correct(evaluation, tables['evidence'])
            evaluation = replace(evaluation, correct=correct)
        warnings = (*about_queries, *about_skipped, *self._warnings(evaluation, run))
        warn_caller(warnings)
        return replace(evaluation, warnings=warnings)

    def _run_counts(self, run: Table, shots: NDArray[np.int64]) -> dict[str, int]:
        """Count shots, labels and names of a run; `shots` has the shot of each of its rows."""
        names = run['person_name'].values
        return {
            'shots': len(self._shots),
            'shots_that_count': int(self._in_consensus.sum()),
            'labels': len(run),
            'labels_that_count': int(np.count_nonzero(self._in_consensus[shots])),
            'names': len(names),
            'names_in_reference': len({*names} & {*self._reference.names}),
            'shots_returned': len(np.unique(shots)),
            'shots_in_reference': len(np.intersect1d(shots, self._relevant % len(self._shots))),
        }

    def _warnings(self, evaluation: Evaluation2015, run: Table) -> list[DataWarning]:
        """Return warnings about shots and queries that are not in the reference."""
        name = self._reference.name
        names = name, self._reference.names
        counts = evaluation.counts
        warnings = []
        if not counts['shots_in_reference']:
            finding = f'0 of {counts["shots_returned"]:,} returned shots occur in {name}'
            warnings = no_overlap(run.source.name, finding, '')
        elif not (counts['names_in_reference'] or any(evaluation.names)):
            run_names = run['person_name'].values
            warnings = overlap(run.source.name, 'names', run_names, *names, REMEDY_OF_NAMES)
        if evaluation.n_relevant.any():
            return warnings + without_relevant(name, evaluation.n_relevant, DEFINITION_2015)
        return warnings + overlap('queries', 'queries', evaluation.queries, *names)

    def _ap(
        self,
        run: Table,
        shots: NDArray[np.int64],  # of each row of the run
        queries: Sequence[str],
        answers: Sequence[str | None],
        n_relevant: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return average precision of each query, from the shots of the name that answers it."""
        name = run['person_name'].codes.astype(np.int64)
        order = np.lexsort((shots, -run.confidence, name))
        order = order[self._in_consensus[shots[order]]]
        order = order[first_occurrences(self._keys(name[order], shots[order]))]
        name = name[order]
        shots = shots[order]
        code_of = run['person_name'].code_of
        answer_codes = [-1 if answer is None else code_of[answer] for answer in answers]
        begins = name.searchsorted(answer_codes)
        sizes = name.searchsorted(answer_codes, side='right') - begins
        query = np.arange(len(queries)).repeat(sizes)
        code = np.array([self._code_of.get(query, -1) for query in queries])[query]
        keys = self._keys(code, shots[ranges(begins, sizes)])
        hits = (code >= 0) & np.isin(keys, self._relevant)
        ranks = ranges(np.ones_like(sizes), sizes)
        no_cutoff = [max(1, len(run))]
        ranked = RankedHits(query[hits], ranks[hits], n_relevant, len(run))
        return ranked.ap(no_cutoff, DEFINITION_2015)[:, 0]

    def _correct(self, evaluation: Evaluation2015, evidence: Table) -> NDArray[np.bool_]:
        """Return a mask of the queries whose name has evidence that the reference confirms."""
        evidence_by_name: dict[str | None, Evidence] = {}
        for row, claim in enumerate(self._read_evidence(evidence)):
            if claim.name in evidence_by_name:
                repetition = f'{shown(claim.name)} again'
                raise evidence.error([row], 'person_name', repetition, 'each name once')
            evidence_by_name[claim.name] = claim
        is_confirmed = [
            name in evidence_by_name
            and evidence_by_name[name]._replace(name=query) in self._evidence
            for query, name in zip(evaluation.queries, evaluation.names, strict=True)
        ]
        has_no_name = np.array([name is None for name in evaluation.names])
        return np.where(has_no_name, evaluation.n_relevant == 0, is_confirmed)

    def _read_evidence(self, table: Table) -> Iterator[Evidence]:
        sources = table.texts('source')
        for row, source in enumerate(sources):
            if source not in MATCHING_SOURCES:
                allowed = ', '.join(MATCHING_SOURCES)
                raise table.error([row], 'source', shown(source), f'one of {allowed}')
        shots = self._shot_numbers(table).tolist()
        return map(Evidence, table.texts('person_name'), shots, sources)

    def _shot_numbers(self, table: Table) -> NDArray[np.int64]:
        """Return the number of the shot of each row."""
        numbers = self._shots.find(_with_empty_corpus(table))
        if (numbers < 0).any():
            row = int((numbers < 0).argmax())
            shot = ' of '.join(shown(table[field].text(row)) for field in ('shot_id', 'video_id'))
            shots = printable(self._inputs['shots'].name)
            raise table.error([row], 'shot_id', shot, f'a shot of {shots}')
        return numbers

    def _keys(self, name: NDArray[np.integer], shot: NDArray[np.int64]) -> NDArray[np.int64]:
        return name.astype(np.int64) * len(self._shots) + shot


def closest_names(
    queries: Sequence[str], names: Sequence[str], ratio: float
) -> tuple[list[str | None], NDArray[np.float64]]:
    """Return the closest name to each query and its ratio; None and 0 if none is above `ratio`."""
    names = sorted(names)  # of equally close names, the first by code points counts
    lengths = np.array(list(map(len, names)))
    exact = {name: name for name in names if ratio < 1}
    answers = list(map(exact.get, queries))
    ratios = np.array([float(name is not None) for name in answers])
    unanswered = [row for row, name in enumerate(answers) if name is None]
    size = max(1, BLOCK_CELLS // len(names))
    for begin in range(0, len(unanswered), size):
        rows = unanswered[begin : begin + size]
        block = [queries[row] for row in rows]
        total_lengths = np.array(list(map(len, block)))[:, None] + lengths
        # Names beyond this distance have too small a ratio, so comparisons may stop there.
        farthest = int((1 - ratio) * total_lengths.max()) + 1
        distances = cdist(
            block, names, scorer=Indel.distance, dtype=np.int64, score_cutoff=farthest
        )
        shares = (total_lengths - distances) / total_lengths
        positions = shares.argmax(axis=1).tolist()
        for row, position, share in zip(rows, positions, shares.max(axis=1).tolist(), strict=True):
            if share > ratio:
                answers[row] = names[position]
                ratios[row] = share
    return answers, ratios


def _read_shots(shots: TableInput) -> Table:
    """Read all shots: text has all fields; in other tables and in rows, the ids are enough."""
    all_fields = layouts.SHOTS_2015
    ids = layouts.SHOT_IDS_2015
    if shots.kind is InputKind.ROWS:
        shots = TableInput.of(map(_ids_of_row, shots.value))
    has_ids_alone = isinstance(shots.value, Table) and shots.value.layout == ids
    if shots.kind in (InputKind.TEXT, InputKind.TABLE) and not has_ids_alone:
        return read(shots, all_fields)
    return read(shots, ids)


def _ids_of_row(row: object) -> object:
    if isinstance(row, tuple | list) and len(row) == len(layouts.SHOTS_2015.fields):
        return row[:2]
    return row


def _with_empty_corpus(table: Table) -> Table:
    """Add a column of empty corpus ids, as the layouts of 2015 have none."""
    corpus = Column(np.zeros(len(table), dtype=np.int32), [''])
    return replace(table, columns={**table.columns, 'corpus_id': corpus})
