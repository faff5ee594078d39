"""The hypotheses that a live session holds now, as numbers, and the names that changed lately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from mediaeval_ap.errors import MissingHypothesisError, shown
from mediaeval_ap.live.numbering import Interned, KnownShots
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.tables import HYPOTHESIS, Column, Source, Table
from mediaeval_ap.tables.rows import explain_row

SOURCE = Source('<live>')

# The code of its name, minus its confidence, the number of its shot: sorted, these stand by name.
Coded: TypeAlias = tuple[int, float, int]
CodedColumns: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


class Hypotheses:
    """A multiset of hypotheses, sorted by name; a step that is refused changes nothing."""

    def __init__(self, shots: KnownShots) -> None:
        self.shots = shots
        self.names = Interned(key=str)  # of all hypotheses that were ever added
        self.changed: set[int] = set()  # codes of names, until `forget_changes`
        # What came since then if nothing else changed: it need not be looked up name by name.
        self._came: list[Coded] | None = []
        self.is_whole = True  # False within a step, and for good if an interrupt ends it halfway
        self._counted = SortedList()
        self._waiting: list[Coded] = []  # the last to come that count; sorted in once needed
        self._others = SortedList()  # of videos that do not count

    def __len__(self) -> int:
        return len(self._counted) + len(self._waiting) + len(self._others)

    def __contains__(self, row: Sequence[Any]) -> bool:
        coded = self._known(row)
        return coded is not None and coded in self._among(coded)

    def add(self, row: Sequence[Any]) -> None:
        """Add a hypothesis, once more if it is there."""
        coded = self._known(row)
        fields = plain_row(row) if coded is None else ()  # raises before anything changes
        self.is_whole = False
        self._put(self._numbered(*fields) if coded is None else coded)
        self.is_whole = True

    def extend(self, table: Table) -> None:
        """Add all hypotheses of a run."""
        self.is_whole = False
        names = list(map(self.names.code, table.texts('person_name')))
        shots = list(map(self.shots.number, *map(table.texts, HYPOTHESIS.texts[:3])))
        coded = list(zip(names, (-table.confidence).tolist(), shots, strict=True))
        for shot in shots:
            self.shots.hold(shot, 1)
        self.changed.update(names)
        counted = [row for row in coded if self.shots.counts[row[2]]]
        if self._came is not None:
            # More than there are now would not be worth the memory.
            if len(self._came) + len(counted) < len(self._counted) + len(self._waiting):
                self._came += counted
            else:
                self._came = None
        self._waiting += counted
        if len(counted) < len(coded):
            self._others.update(row for row in coded if not self.shots.counts[row[2]])
        self.is_whole = True

    def remove(self, row: Sequence[Any]) -> None:
        """Remove a hypothesis, once if it is there more often."""
        coded = self._found(row)
        self.is_whole = False
        self._take(coded)
        self.is_whole = True

    def change(self, row: Sequence[Any], confidence: float) -> None:
        """Give a hypothesis another confidence."""
        changed = plain_row((*plain_row(row)[:-1], confidence))
        coded = self._found(row)
        self.is_whole = False
        self._take(coded)
        self._put(self._numbered(*changed))
        self.is_whole = True

    def forget_changes(self) -> None:
        self.changed.clear()
        self._came = []

    def came(self) -> CodedColumns | None:
        """Return what counts of all that changed if it only came at once, else None."""
        return None if self._came is None else _columns(self._came)

    def of_names(self, names: Iterable[int]) -> CodedColumns:
        """Return what counts of some names: codes of names, minus confidences, numbers of shots."""
        self._sort()
        ranges = (self._counted.irange((name,), (name + 1,)) for name in names)
        return _columns(chain.from_iterable(ranges))

    def table(self, *, counted_only: bool) -> Table:
        """Return the hypotheses as a table; with `counted_only`, those of videos that count."""
        self._sort()
        rows = self._counted if counted_only else chain(self._counted, self._others)
        name, confidence, shot = _columns(rows)
        order = self.shots.order()
        video = order.video[shot]
        columns = {
            'corpus_id': _column([corpus for _, corpus in self.shots.videos.values], video),
            'video_id': _column([video for video, _ in self.shots.videos.values], video),
            'shot_id': Column(order.shot[shot], self.shots.ids.values),
            'person_name': Column(name.astype(np.int32), self.names.values),
        }
        table = Table(HYPOTHESIS, columns, -confidence, SOURCE)
        return table.select(np.ones(len(table), dtype=np.bool_))  # drops values out of use

    def _found(self, row: Sequence[Any]) -> Coded:
        coded = self._known(row)
        if coded is not None and coded in self._among(coded):
            return coded
        plain_row(row)  # raises if the row is no hypothesis
        raise MissingHypothesisError(f'{SOURCE.name}: no hypothesis {shown(tuple(row))}')

    def _known(self, row: Sequence[Any]) -> Coded | None:
        """Return a hypothesis in numbers if all of it is known and right, None on any doubt."""
        try:
            corpus, video, shot, name, confidence = row
            # A class of text may hash and compare as it likes: only plain text is looked up.
            is_plain = type(corpus) is type(video) is type(shot) is type(name) is str
            if not is_plain or type(confidence) is not float or type(row) is not tuple:
                corpus, video, shot, name, confidence = plain_row(row)
            number = self.shots.number_in[video, corpus][shot]
            return (self.names.code_of[name], -confidence, number) if isfinite(confidence) else None
        except (KeyError, TypeError, ValueError):
            return None

    def _numbered(self, corpus: str, video: str, shot: str, name: str, confidence: float) -> Coded:
        return self.names.code(name), -confidence, self.shots.number(corpus, video, shot)

    def _put(self, coded: Coded) -> None:
        self._came = None
        self.changed.add(coded[0])
        self._among(coded).add(coded)
        self.shots.hold(coded[2], 1)

    def _take(self, coded: Coded) -> None:
        self._came = None
        self.changed.add(coded[0])
        self._among(coded).remove(coded)
        self.shots.hold(coded[2], -1)

    def _sort(self) -> None:
        """Sort in what waits, at once, which is much faster than one by one."""
        if self._waiting:
            was_whole, self.is_whole = self.is_whole, False
            self._counted.update(self._waiting)
            self._waiting = []
            self.is_whole = was_whole

    def _among(self, coded: Coded) -> SortedList:
        self._sort()
        return self._counted if self.shots.counts[coded[2]] else self._others


def plain_row(row: object) -> tuple[Any, ...]:
    """Return the fields of a hypothesis as plain text and a double, whatever their classes."""
    wrong = explain_row(row, HYPOTHESIS)
    if wrong is not None:
        raise wrong.error(SOURCE.name, '')
    *texts, confidence = cast('Sequence[Any]', row)
    return *map(plain_text, texts), float(confidence)


def _columns(rows: Iterable[Coded]) -> CodedColumns:
    # One stream of doubles, which hold every code exactly: twice as fast as column by column.
    values = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, 3)
    name, confidence, shot = values.T
    return name.astype(np.int64), confidence, shot.astype(np.int64)


def _column(values: Sequence[str], codes: NDArray[np.int32]) -> Column:
    """Return a column of codes into values of which some are equal."""
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    distinct = np.array([code_of[value] for value in values], dtype=np.int32)
    return Column(distinct[codes], list(code_of))
