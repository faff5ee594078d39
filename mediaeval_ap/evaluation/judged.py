"""Judgements: which shots were looked at, for all names or for one."""

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
from mediaeval_ap.tables.layouts import JUDGED, JUDGED_SHOTS, QRELS
from mediaeval_ap.tables.reading import read_one_of
from mediaeval_ap.tables.table import column_of, consistent

SHOT = JUDGED_SHOTS.texts


@dataclass(frozen=True, eq=False)
class Judged:
    """The shots that were judged, for all names or for one, and the rule for all others."""

    table: Table
    unjudged: Unjudged = 'nonrelevant'
    n_dropped: int | None = None  # rows of the reference that are not judged, if these may be left

    @property
    def is_of_pairs(self) -> bool:
        return self.table.layout == JUDGED

    @classmethod
    def read(cls, origin: Any) -> Judged:
        """Read a judged list: shots, pairs with their relevance, or qrels of TREC."""
        table = read_one_of(origin, (JUDGED_SHOTS, JUDGED, QRELS))
        if table.layout == QRELS:
            table = _from_qrels(table)
        if table.layout == JUDGED:
            rows = np.flatnonzero(~np.isin(table.confidence, (0, 1)))
            if len(rows):
                found = f'{table.confidence[rows[0]]:g}'
                raise table.error(rows, 'relevance', found, '0 or 1')
            _refuse_contradictions(table)
        return cls(table)

    def unjudged_rows_of(self, reference: Table) -> NDArray[np.bool_]:
        """Find the rows of a reference that nobody has judged; placeholders are not asked for."""
        lacking = ~reference.within(self.table, REFERENCE.texts if self.is_of_pairs else SHOT)
        if self.is_of_pairs:
            name = reference['person_name']
            is_person = [not value.startswith(PLACEHOLDER) for value in name.values]
            lacking &= np.array(is_person, dtype=np.bool_)[name.codes]
        return lacking

    def applied(self, reference: Table, *, drop: bool) -> tuple[Table, int | None]:
        """Return a reference of the same videos if it has no unjudged row, or without these.

        Beside it stands how many rows were dropped, if they may be.
        """
        consistent(self.table, reference)
        is_unjudged = self.unjudged_rows_of(reference)
        rows = np.flatnonzero(is_unjudged)
        if len(rows) and not drop:
            found = shown('/'.join(reference[field].text(rows[0]) for field in SHOT))
            whom = f' for {shown(reference["person_name"].text(rows[0]))}' * self.is_of_pairs
            expected = (
                f'a shot that {printable(self.table.source.name)} lists{whom}; drop such rows by '
                '--drop-unjudged-rows, in Python drop_unjudged_rows=True'
            )
            raise reference.error(rows, 'shot_id', found, expected)
        kept = reference.select(~is_unjudged)
        self._refuse_other_relevance(kept)
        return kept, len(rows) if drop else None

    def _refuse_other_relevance(self, reference: Table) -> None:
        """Refuse judgements of pairs that the reference has otherwise."""
        if not self.is_of_pairs:
            return
        is_relevant = self.table.confidence > 0
        differs = is_relevant != self.table.within(reference, REFERENCE.texts)
        rows = np.flatnonzero(differs)
        if len(rows):
            found = f'{int(is_relevant[rows[0]])}'
            has = 'has no such row' if is_relevant[rows[0]] else 'has this row'
            expected = f'{1 - int(is_relevant[rows[0]])}, as {reference.source.name} {has}'
            raise self.table.error(rows, 'relevance', found, expected)

    def within(self, subset: Table | None) -> Judged:
        """Return the judgements of the videos that count."""
        if subset is None:
            return self
        return Judged(self.table.select(self.table.within(subset)))


class JudgedShots:
    """The judged shots by their numbers in one run, of which more may come."""

    def __init__(self, judged: Judged, shots: NumberedShots) -> None:
        self.is_of_pairs = judged.is_of_pairs
        self._shots = shots
        if judged.is_of_pairs:
            self._by_name = ShotsByName(judged.table, shots)
        else:
            found = shots.find(judged.table)
            self._of_all = found[found >= 0]

    def mask(self, query: str) -> NDArray[np.bool_]:
        """Return for each shot of the run whether it is judged for a query."""
        mask = np.zeros(len(self._shots), dtype=np.bool_)
        mask[self._by_name.shots(query) if self.is_of_pairs else self._of_all] = True
        return mask


def _from_qrels(table: Table) -> Table:
    """Return qrels whose documents are corpus/video/shot as pairs of shots and names."""
    documents = table['docno']
    parts = [value.split('/') for value in documents.values]
    if wrong := [code for code, each in enumerate(parts) if len(each) != 3 or not all(each)]:
        rows = np.flatnonzero(np.isin(documents.codes, wrong))
        found = shown(documents.text(rows[0]))
        raise table.error(rows, 'docno', found, 'corpus/video/shot, as export-trec writes it')
    columns = {
        field: column_of([unquote(each[at]) for each in parts], documents.codes)
        for at, field in enumerate(SHOT)
    }
    qid = table['qid']
    columns['person_name'] = column_of(list(map(unquote, qid.values)), qid.codes)
    return replace(table, layout=JUDGED, columns=columns)


def _refuse_contradictions(table: Table) -> None:
    """Refuse a pair that is judged once 0 and once 1."""
    pairs = combine([table[field].codes for field in JUDGED.texts])
    _, pair = np.unique(pairs, return_inverse=True)
    first = np.full(pair.max(initial=-1) + 1, len(pair))
    np.minimum.at(first, pair, np.arange(len(pair)))
    rows = np.flatnonzero(table.confidence != table.confidence[first[pair]])
    if len(rows):
        earlier = first[pair[rows[0]]]
        found, before = (f'{table.confidence[row]:g}' for row in (rows[0], earlier))
        expected = f'{before}, as {table.place(earlier)} has for the same shot and name'
        raise table.error(rows, 'relevance', found, expected)
