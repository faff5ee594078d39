"""Judgements: the shots that assessors judged, each for all names or for one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine
from mediaeval_ap.choices import Unjudged
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.relevance import PLACEHOLDER, NumberedShots, ShotsByName
from mediaeval_ap.tables import REFERENCE, Table
from mediaeval_ap.tables.layouts import JUDGED, JUDGED_SHOTS, QRELS, SHOT_FIELDS
from mediaeval_ap.tables.reading import read_one_of
from mediaeval_ap.tables.table import column_of, consistent


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged shots, each for all names or for one, and the treatment of unjudged shots."""

    table: Table
    unjudged: Unjudged = 'nonrelevant'
    n_dropped: int | None = None  # unjudged rows of the reference, if they may be dropped

    @property
    def is_of_pairs(self) -> bool:
        """True if shots were judged for one name each, not for all names."""
        return self.table.layout == JUDGED

    @classmethod
    def read(cls, rows: Any) -> Judged:
        """Read a judged list: shots, pairs with their relevance, or qrels of TREC."""
        table = read_one_of(rows, (JUDGED_SHOTS, JUDGED, QRELS))
        if table.layout == QRELS:
            table = _from_qrels(table)
        if table.layout == JUDGED:
            wrong_rows = np.flatnonzero(~np.isin(table.confidence, (0, 1)))
            if len(wrong_rows):
                relevance = f'{table.confidence[wrong_rows[0]]:g}'
                raise table.error(wrong_rows, 'relevance', relevance, '0 or 1')
            _refuse_contradictions(table)
        return cls(table)

    def check_reference(self, reference: Table, *, drop: bool) -> tuple[Table, int | None]:
        """Return the judged rows, and how many were dropped; raise FormatError if none may be."""
        consistent(self.table, reference)
        is_unjudged = ~reference.within(
            self.table, REFERENCE.texts if self.is_of_pairs else SHOT_FIELDS
        )
        if self.is_of_pairs:  # placeholders need no judgement
            name = reference['person_name']
            is_person = [not value.startswith(PLACEHOLDER) for value in name.values]
            is_unjudged &= np.array(is_person, dtype=np.bool_)[name.codes]
        unjudged_rows = np.flatnonzero(is_unjudged)
        if len(unjudged_rows) and not drop:
            first = unjudged_rows[0]
            shot = shown('/'.join(reference[field].text(first) for field in SHOT_FIELDS))
            for_name = f' for {shown(reference["person_name"].text(first))}' * self.is_of_pairs
            expected = (
                f'a shot that {printable(self.table.source.name)} lists{for_name}; drop such rows '
                'by --drop-unjudged-rows, in Python drop_unjudged_rows=True'
            )
            raise reference.error(unjudged_rows, 'shot_id', shot, expected)
        judged_rows = reference.select(~is_unjudged)
        self._check_relevance(judged_rows)
        return judged_rows, len(unjudged_rows) if drop else None

    def _check_relevance(self, reference: Table) -> None:
        """Raise FormatError if a judgement of a pair contradicts the reference."""
        if not self.is_of_pairs:
            return
        is_relevant = self.table.confidence > 0
        differs = is_relevant != self.table.within(reference, REFERENCE.texts)
        wrong_rows = np.flatnonzero(differs)
        if len(wrong_rows):
            relevance = int(is_relevant[wrong_rows[0]])
            has = 'has no such row' if relevance else 'has this row'
            expected = f'{1 - relevance}, as {reference.source.name} {has}'
            raise self.table.error(wrong_rows, 'relevance', str(relevance), expected)

    def within(self, subset: Table | None) -> Judged:
        """Return the judgements of the videos of a subset; all without a subset."""
        if subset is None:
            return self
        return Judged(self.table.select(self.table.within(subset)))


class JudgedShots:
    """The judged shots, as numbers of the shots of one run; a live run may get further shots."""

    def __init__(self, judged: Judged, shots: NumberedShots) -> None:
        self.is_of_pairs = judged.is_of_pairs
        self._shots = shots
        if judged.is_of_pairs:
            self._by_name = ShotsByName(judged.table, shots)
        else:
            numbers = shots.find(judged.table)
            self._for_all_names = numbers[numbers >= 0]

    def mask(self, query: str) -> NDArray[np.bool_]:
        """Return a mask of the shots of the run that are judged for a query."""
        mask = np.zeros(len(self._shots), dtype=np.bool_)
        mask[self._by_name.shots(query) if self.is_of_pairs else self._for_all_names] = True
        return mask


def _from_qrels(table: Table) -> Table:
    """Convert qrels, whose documents are corpus/video/shot, to pairs of shots and names."""
    documents = table['docno']
    shots = [document.split('/') for document in documents.values]
    if wrong := [code for code, shot in enumerate(shots) if len(shot) != 3 or not all(shot)]:
        wrong_rows = np.flatnonzero(np.isin(documents.codes, wrong))
        document = shown(documents.text(wrong_rows[0]))
        raise table.error(
            wrong_rows, 'docno', document, 'corpus/video/shot, as export-trec writes it'
        )
    columns = {
        field: column_of([unquote(shot[part]) for shot in shots], documents.codes)
        for part, field in enumerate(SHOT_FIELDS)
    }
    qid = table['qid']
    columns['person_name'] = column_of(list(map(unquote, qid.values)), qid.codes)
    return replace(table, layout=JUDGED, columns=columns)


def _refuse_contradictions(table: Table) -> None:
    """Raise FormatError if one pair is judged both 0 and 1."""
    pairs = combine([table[field].codes for field in JUDGED.texts])
    _, pair = np.unique(pairs, return_inverse=True)
    first = np.full(pair.max(initial=-1) + 1, len(pair))
    np.minimum.at(first, pair, np.arange(len(pair)))
    wrong_rows = np.flatnonzero(table.confidence != table.confidence[first[pair]])
    if len(wrong_rows):
        earlier_row = first[pair[wrong_rows[0]]]
        later, earlier = (f'{table.confidence[row]:g}' for row in (wrong_rows[0], earlier_row))
        expected = f'{earlier}, as {table.place(earlier_row)} has for the same shot and name'
        raise table.error(wrong_rows, 'relevance', later, expected)
