"""The hypotheses that a live session holds, as numbers, and the ranking of them at one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedKeyList, SortedList

from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import plain_text
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.ranking.base_ranking import BaseRanking
from mediaeval_ap.ranking.edit_distances import Names
from mediaeval_ap.ranking.shots import shot_order
from mediaeval_ap.ranking.tie_breaking import TieKeys, first_in_order, in_order, temporal_ranks
from mediaeval_ap.tables import HYPOTHESIS, Column, Provenance, Table
from mediaeval_ap.tables.rows import explain_row
from mediaeval_ap.tables.table import column_of

LEAST_CAPACITY = 64  # rows: an empty session takes 2 KB, and the size doubles from there
VIDEO = ('video_id', 'corpus_id')  # in the order by which shots are ranked
SOURCE = Provenance('<live>')

# The code of its name, minus its confidence, the number of its shot: sorted, these stand by name.
Coded: TypeAlias = tuple[int, float, int]
CodedColumns: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


class GrowingColumns:
    """Append-only columns of one length, whose views other threads may go on reading."""

    def __init__(self, **types: Any) -> None:
        self._buffers = {name: np.empty(LEAST_CAPACITY, kind) for name, kind in types.items()}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._buffers[name][: self._size]

    def extend(self, **columns: NDArray[Any]) -> None:
        """Add rows at the end: O(n) time for n rows on average, as a full buffer doubles."""
        end = self._size + len(next(iter(columns.values())))
        for name, values in columns.items():
            if end > len(self._buffers[name]):
                grown = np.empty(2 * end, self._buffers[name].dtype)
                grown[: self._size] = self[name]
                self._buffers[name] = grown
            self._buffers[name][self._size : end] = values
        self._size = end

    def select(self, rows: NDArray[np.integer]) -> GrowingColumns:
        selected = GrowingColumns(**{name: buffer.dtype for name, buffer in self._buffers.items()})
        selected.extend(**{name: self[name][rows] for name in self._buffers})
        return selected


class Interned:
    """Distinct values that get a code from 0 as they come, and know their sort order."""

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.values: list[Any] = []  # by code
        self.code_of: dict[Any, int] = {}
        self._ordered = SortedKeyList(key=key)
        self._positions = np.empty(0, dtype=np.int64)

    def code(self, value: Any) -> int:
        code = self.code_of.get(value)
        if code is None:
            code = self.code_of[value] = len(self.values)
            self.values.append(value)
        return code

    def positions(self) -> NDArray[np.int64]:
        """Return the position of each value in the sort order, by code; the array never changes."""
        n_known = len(self._positions)
        if n_known < len(self.values):
            new = sorted(self.values[n_known:], key=self._ordered.key)
            before = np.array([self._ordered.bisect_left(value) for value in new])
            positions = np.empty(len(self.values), dtype=np.int64)
            # A known value moves up by the new values that sort before it.
            moved_up = before.searchsorted(self._positions, side='right')
            positions[:n_known] = self._positions + moved_up
            positions[[self.code_of[value] for value in new]] = before + np.arange(len(new))
            self._ordered.update(new)
            self._positions = positions
        return self._positions


class ShotOrder(NamedTuple):
    """The order of the shots that are known at one moment."""

    video: NDArray[np.int32]  # for each shot, the code of its video
    shot: NDArray[np.int32]  # for each shot, the code of its id
    video_positions: NDArray[np.int64]  # for each code of a video, its position in their order
    shot_positions: NDArray[np.int64]  # for each code of an id, its position in their order

    def videos(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the positions of the videos of some shots, in the order of video and corpus."""
        positions: NDArray[np.int64] = self.video_positions[self.video[numbers]]
        return positions

    def positions(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return integers that compare as some shots do: by video, corpus and shot."""
        in_video: NDArray[np.int64] = self.shot_positions[self.shot[numbers]]
        return self.videos(numbers) * len(self.shot_positions) + in_video


class KnownShots:
    """Distinct shots, numbered from 0 as they come, and how many hypotheses are about each."""

    def __init__(self, subset: Table | None) -> None:
        self.subset = None if subset is None else set(zip(*map(subset.texts, VIDEO), strict=True))
        # Two levels: a shot that is known is found without a tuple of three texts to hash.
        self.number_in: dict[tuple[str, str], dict[str, int]] = {}
        self.videos = Interned(key=tuple)  # pairs of video and corpus
        self.ids = Interned(key=shot_order)
        self.counts: list[bool] = []  # of each shot, whether its video is in the subset, if any
        self.n_held = 0  # shots that count and have hypotheses
        self._held: list[int] = []
        self._codes = GrowingColumns(video=np.int32, shot=np.int32)
        self._new: list[tuple[int, int]] = []  # codes that are not in the columns yet

    def __len__(self) -> int:
        return len(self.counts)

    def number(self, corpus_id: str, video_id: str, shot_id: str) -> int:
        video = (video_id, corpus_id)
        in_video = self.number_in.setdefault(video, {})
        number = in_video.get(shot_id)
        if number is None:
            codes = self.videos.code(video), self.ids.code(shot_id)
            self._new.append(codes)
            # The interned text, so that equal ids of many videos are kept in memory once.
            number = in_video[self.ids.values[codes[1]]] = len(self.counts)
            self.counts.append(self.subset is None or video in self.subset)
            self._held.append(0)
        return number

    def hold(self, number: int, change: int) -> None:
        """Count hypotheses about a shot that come (positive) or go (negative)."""
        before = self._held[number]
        after = self._held[number] = before + change
        if self.counts[number]:
            self.n_held += (after > 0) - (before > 0)

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return the number of each row's shot, -1 for a shot that is not known."""
        rows = zip(*map(table.texts, (*VIDEO, 'shot_id')), strict=True)
        numbers = [self.number_in.get((v, c), {}).get(shot, -1) for v, c, shot in rows]
        return np.array(numbers, dtype=np.int64)

    def order(self) -> ShotOrder:
        """Return the order of all shots; it stays as it is when others come later."""
        if self._new:
            video, shot = np.array(self._new, dtype=np.int32).T
            self._codes.extend(video=video, shot=shot)
            self._new = []
        return ShotOrder(
            self._codes['video'], self._codes['shot'], self.videos.positions(), self.ids.positions()
        )


class Hypotheses:
    """A multiset of hypotheses, sorted by name; a step that is refused changes nothing."""

    def __init__(self, shots: KnownShots) -> None:
        self.shots = shots
        self.names = Interned(key=str)  # of all hypotheses that were ever added
        self.changed: set[int] = set()  # codes of names; the ranking of each moment clears it
        self._sorted = SortedList()
        self._waiting: list[Coded] = []  # the last to come; sorted in once needed

    def __len__(self) -> int:
        return len(self._sorted) + len(self._waiting)

    def __contains__(self, row: Sequence[Any]) -> bool:
        coded = self._known(row)
        return coded is not None and coded in self._in_order()

    def add(self, row: Sequence[Any]) -> None:
        self._count(self._known(row) or self._numbered(*plain_row(row)), 1)

    def extend(self, table: Table) -> None:
        names = list(map(self.names.code, table.texts('person_name')))
        shots = list(map(self.shots.number, *map(table.texts, HYPOTHESIS.texts[:3])))
        for shot in shots:
            self.shots.hold(shot, 1)
        self.changed.update(names)
        self._waiting += zip(names, (-table.confidence).tolist(), shots, strict=True)

    def remove(self, row: Sequence[Any]) -> None:
        self._count(self._found(row), -1)

    def change(self, row: Sequence[Any], confidence: float) -> None:
        changed = plain_row((*plain_row(row)[:-1], confidence))
        self._count(self._found(row), -1)
        self._count(self._numbered(*changed), 1)

    def of_names(self, names: Iterable[int]) -> CodedColumns:
        """Return what counts of some names: codes of names, minus confidences, numbers of shots."""
        in_order = self._in_order()
        rows: Iterable[Any] = chain.from_iterable(
            in_order.irange((name,), (name + 1,)) for name in names
        )
        if self.shots.subset is not None:
            rows = (row for row in rows if self.shots.counts[row[2]])
        return _columns(rows)

    def table(self) -> Table:
        """Return all hypotheses as a table, name by name."""
        name, confidence, shot = _columns(self._in_order())
        order = self.shots.order()
        videos = self.shots.videos.values
        video = order.video[shot]
        columns = {
            'corpus_id': column_of([corpus for _, corpus in videos], video),
            'video_id': column_of([video_id for video_id, _ in videos], video),
            'shot_id': Column(order.shot[shot], self.shots.ids.values),
            'person_name': Column(name.astype(np.int32), self.names.values),
        }
        table = Table(HYPOTHESIS, columns, -confidence, SOURCE)
        return table.select(np.ones(len(table), dtype=np.bool_))  # drops values out of use

    def _found(self, row: Sequence[Any]) -> Coded:
        coded = self._known(row)
        if coded is None or coded not in self._in_order():
            plain_row(row)  # raises if the row is no hypothesis
            raise ParameterError(f'{SOURCE.name}: no hypothesis {shown(tuple(row))}')
        return coded

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

    def _count(self, coded: Coded, times: int) -> None:
        """Add a hypothesis (1) or remove it (-1)."""
        in_order = self._in_order()
        self.changed.add(coded[0])
        if times > 0:
            in_order.add(coded)
        else:
            in_order.remove(coded)
        self.shots.hold(coded[2], times)

    def _in_order(self) -> SortedList:
        """Sort in what waits, at once, which is much faster than one by one."""
        if self._waiting:
            self._sorted.update(self._waiting)
            self._waiting = []
        return self._sorted


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


class LiveRows(NamedTuple):
    """Hypotheses as columns. No two of one moment are equal."""

    confidence: NDArray[Any]  # float64: minus the confidence
    temporal_rank: NDArray[Any]  # int32, from 1
    shot: NDArray[Any]  # int32: its number
    name: NDArray[Any]  # int32: its code

    def at(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> LiveRows:
        return LiveRows(*(column[rows] for column in self))


class LiveRanking(BaseRanking):
    """The hypotheses of one moment, ready to be ranked for any query.

    Those of each name are a segment of columns that only grow. The next moment's ranking writes new
    segments for names that changed, and shares all others. Old ones stay, as threads may read them.
    """

    def __init__(self, hypotheses: Hypotheses, before: LiveRanking | None = None) -> None:
        self.source = SOURCE
        self._shot_order = hypotheses.shots.order()
        self._name_positions = hypotheses.names.positions()
        n_names = len(self._name_positions)
        if before is not None and len(before.names) == n_names:
            self.names = before.names
        else:
            self.names = Names(tuple(hypotheses.names.values))
        self.held, self._starts = np.zeros((2, n_names), dtype=np.int64)
        if before is None:
            self._columns = GrowingColumns(
                confidence=np.float64, temporal_rank=np.int32, shot=np.int32, name=np.int32
            )
        else:
            self._columns = before._columns
            self.held[: len(before.names)] = before.held
            self._starts[: len(before.names)] = before._starts
        # A new segment for each name that changed, in its order.
        changed = np.array(sorted(hypotheses.changed), dtype=np.int64)
        name, confidence, shot = hypotheses.of_names(changed.tolist())
        shots = self._shot_order.positions(shot)
        videos = self._shot_order.videos(shot)
        temporal_rank, _ = temporal_ranks(name, confidence, shots, videos)
        order = in_order(name, *TieKeys(confidence, temporal_rank, shots, name))
        held = np.bincount(name, minlength=n_names)[changed]
        self._starts[changed] = len(self._columns) + held.cumsum() - held
        self.held[changed] = held
        self._columns.extend(**LiveRows(confidence, temporal_rank, shot, name).at(order)._asdict())
        hypotheses.changed.clear()
        self._n = int(self.held.sum())
        if len(self._columns) > 2 * self._n:  # so a copy costs no more than was written before it
            self._columns = self._columns.select(ranges(self._starts, self.held))
            self._starts = self.held.cumsum() - self.held
        self._rows = LiveRows(*(self._columns[field] for field in LiveRows._fields))
        self.shot_at = self._rows.shot
        self.n_shots = hypotheses.shots.n_held

    def __len__(self) -> int:
        return self._n

    def condensed(self, is_kept: NDArray[np.bool_]) -> LiveRanking:
        positions = ranges(self._starts, self.held)
        positions = positions[is_kept[self._rows.shot[positions]]]
        ranking = copy(self)
        ranking._rows = self._rows.at(positions)
        ranking.shot_at = ranking._rows.shot
        ranking.held = np.bincount(ranking._rows.name, minlength=len(self.held))
        ranking._starts = ranking.held.cumsum() - ranking.held
        ranking._n = len(positions)
        ranking.n_shots = len(np.unique(ranking.shot_at))
        return ranking

    def _first_of(
        self, positions: NDArray[np.int64], blocks: NDArray[np.int64], depth: int
    ) -> NDArray[np.int64]:
        confidence, temporal_rank, shot, name = self._rows.at(positions)
        shots = self._shot_order.positions(shot)
        names = self._name_positions[name]
        first = first_in_order((blocks, confidence, temporal_rank, shots, names), depth)
        chosen: NDArray[np.int64] = positions[first]
        return chosen

    def _lent_by_tied(self, names: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
        # The surest hypotheses of as many names as are wanted would be enough, so a name whose
        # surest one is less sure than all of these lends nothing.
        held = self.held[names]
        first = np.full(len(names), np.inf)
        first[held > 0] = self._rows.confidence[self._starts[names[held > 0]]]
        worst = np.partition(first, wanted - 1)[wanted - 1]
        return np.where(first <= worst, np.minimum(held, wanted), 0)
