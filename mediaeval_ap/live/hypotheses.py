"""The hypotheses of a live session, as numbers, and their ranking at one moment."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sortedcontainers import SortedKeyList, SortedList

from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import plain_text
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.ranking.base_ranking import BaseRanking, NearestNames
from mediaeval_ap.ranking.edit_distances import DistinctNames
from mediaeval_ap.ranking.shots import shot_order
from mediaeval_ap.ranking.tie_breaking import TieKeys, first_in_order, in_order, temporal_ranks
from mediaeval_ap.tables import HYPOTHESIS, Column, Provenance, Table
from mediaeval_ap.tables.faults import explain_row
from mediaeval_ap.tables.layouts import SHOT_FIELDS
from mediaeval_ap.tables.table import Argument, SortKey, column_of

LEAST_CAPACITY = 64  # rows: an empty session takes 2 KB, and the size doubles from there
VIDEO_ORDER = ('video_id', 'corpus_id')  # the fields by which videos are sorted
SOURCE = Provenance('<live>')

# A hypothesis: the code of its name, minus its confidence, the number of its shot. Sorting groups
# hypotheses by name, surest first.
Coded: TypeAlias = tuple[int, float, int]
CodedColumns: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


class GrowingColumns:
    """Append-only columns of equal length; other threads can go on reading older views."""

    def __init__(self, **types: DTypeLike) -> None:
        self._buffers = {name: np.empty(LEAST_CAPACITY, kind) for name, kind in types.items()}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._buffers[name][: self._size]

    def extend(self, **columns: NDArray[Any]) -> None:
        """Append rows: n rows take O(n) time on average, as a full buffer doubles."""
        end = self._size + len(next(iter(columns.values())))
        for name, values in columns.items():
            if end > len(self._buffers[name]):
                grown = np.empty(2 * end, self._buffers[name].dtype)
                grown[: self._size] = self[name]
                self._buffers[name] = grown
            self._buffers[name][self._size : end] = values
        self._size = end

    def select(self, rows: NDArray[np.integer]) -> GrowingColumns:
        selected = copy(self)
        selected._buffers = {name: self[name][rows] for name in self._buffers}
        selected._size = len(rows)
        return selected


class Interned:
    """Distinct values, numbered from 0 by first occurrence, and their sort order."""

    def __init__(self, key: Callable[[Any], SortKey]) -> None:
        self.values: list[Any] = []  # by code
        self.code_of: dict[Any, int] = {}
        self._ordered = SortedKeyList(key=key)
        self._positions = np.empty(0, dtype=np.int64)

    def code(self, value: Hashable) -> int:
        code = self.code_of.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def positions(self) -> NDArray[np.int64]:
        """Return the position of each value in the sort order, by code; the array never changes."""
        n_older = len(self._positions)
        if n_older < len(self.values):
            new_values = sorted(self.values[n_older:], key=self._ordered.key)
            before = np.array([self._ordered.bisect_left(value) for value in new_values])
            positions = np.empty(len(self.values), dtype=np.int64)
            # An older value moves up by the number of new values that sort before it.
            moved_up = before.searchsorted(self._positions, side='right')
            positions[:n_older] = self._positions + moved_up
            new_codes = [self.code_of[value] for value in new_values]
            positions[new_codes] = before + np.arange(len(new_values))
            self._ordered.update(new_values)
            self._positions = positions
        return self._positions


class ShotOrder(NamedTuple):
    video: NDArray[np.int32]  # for each shot, the code of its video
    shot: NDArray[np.int32]  # for each shot, the code of its id
    video_positions: NDArray[np.int64]  # by the code of a video: its position in the sort order
    shot_positions: NDArray[np.int64]  # by the code of an id: its position in the sort order

    def videos(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the positions of the videos of some shots, sorted by video and corpus."""
        positions: NDArray[np.int64] = self.video_positions[self.video[numbers]]
        return positions

    def positions(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return integers that sort as the shots do: by video, corpus and shot."""
        in_video: NDArray[np.int64] = self.shot_positions[self.shot[numbers]]
        return self.videos(numbers) * len(self.shot_positions) + in_video


class KnownShots:
    """Distinct shots, numbered from 0 by first occurrence, each with its number of hypotheses."""

    def __init__(self, subset: Table | None) -> None:
        self.subset: set[tuple[str, ...]] | None = None
        if subset is not None:
            self.subset = set(zip(*map(subset.texts, VIDEO_ORDER), strict=True))
        # Two levels, because hashing a tuple of three texts takes longer.
        self.number_in: dict[tuple[str, str], dict[str, int]] = {}
        self.videos = Interned(key=tuple)  # pairs of video and corpus
        self.ids = Interned(key=shot_order)
        self.is_in_subset: list[bool] = []  # for each shot; True without a subset
        self.n_returned = 0  # shots in the subset that have hypotheses
        self._hypothesis_counts: list[int] = []  # for each shot
        self._codes = GrowingColumns(video=np.int32, shot=np.int32)
        self._new: list[tuple[int, int]] = []  # codes to be appended to the columns

    def __len__(self) -> int:
        return len(self.is_in_subset)

    def number(self, corpus_id: str, video_id: str, shot_id: str) -> int:
        video = (video_id, corpus_id)
        in_video = self.number_in.setdefault(video, {})
        number = in_video.get(shot_id)
        if number is None:
            codes = self.videos.code(video), self.ids.code(shot_id)
            self._new.append(codes)
            # The interned text, so that equal ids of many videos are kept in memory once.
            number = in_video[self.ids.values[codes[1]]] = len(self.is_in_subset)
            self.is_in_subset.append(self.subset is None or video in self.subset)
            self._hypothesis_counts.append(0)
        return number

    def count_hypotheses(self, number: int, change: int) -> None:
        """Add `change`, which may be negative, to the number of hypotheses about a shot."""
        before = self._hypothesis_counts[number]
        after = self._hypothesis_counts[number] = before + change
        if self.is_in_subset[number]:
            self.n_returned += (after > 0) - (before > 0)

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return the number of the shot of each row; -1 for an unknown shot."""
        rows = zip(*map(table.texts, (*VIDEO_ORDER, 'shot_id')), strict=True)
        numbers = [self.number_in.get((v, c), {}).get(shot, -1) for v, c, shot in rows]
        return np.array(numbers, dtype=np.int64)

    def order(self) -> ShotOrder:
        """Return the sort order of all shots, which does not change when shots are added."""
        if self._new:
            video, shot = np.array(self._new, dtype=np.int32).T
            self._codes.extend(video=video, shot=shot)
            self._new = []
        return ShotOrder(
            self._codes['video'], self._codes['shot'], self.videos.positions(), self.ids.positions()
        )


class Hypotheses:
    """A multiset of hypotheses, sorted by name; a change that raises changes nothing."""

    def __init__(self, shots: KnownShots) -> None:
        self.shots = shots
        self.names = Interned(key=str)  # also of hypotheses that were removed
        # By name: the least and the greatest of minus the confidences that changed since the last
        # ranking.
        self.changed: dict[int, tuple[float, float]] = {}
        self._sorted = SortedList()
        self._unsorted: list[Coded] = []  # the last ones; merged when they are needed

    def __len__(self) -> int:
        return len(self._sorted) + len(self._unsorted)

    def __contains__(self, row: Argument) -> bool:
        coded = self._encode_known(row)
        return coded is not None and coded in self._all_sorted()

    def add(self, row: Argument) -> None:
        self._change_count(self._encode_known(row) or self._encode(*plain_row(row)), 1)

    def extend(self, table: Table) -> None:
        names = list(map(self.names.code, table.texts('person_name')))
        shots = list(map(self.shots.number, *map(table.texts, SHOT_FIELDS)))
        for shot in shots:
            self.shots.count_hypotheses(shot, 1)
        confidences = (-table.confidence).tolist()
        for name, confidence in zip(names, confidences, strict=True):
            self._mark_changed(name, confidence)
        self._unsorted += zip(names, confidences, shots, strict=True)

    def remove(self, row: Argument) -> None:
        self._change_count(self._encode_stored(row), -1)

    def change(self, row: Argument, confidence: float) -> None:
        changed = plain_row((*plain_row(row)[:-1], confidence))
        self._change_count(self._encode_stored(row), -1)
        self._change_count(self._encode(*changed), 1)

    def changed_columns(self) -> CodedColumns:
        """Return the hypotheses within the changes of each name; only those in the subset."""
        all_sorted = self._all_sorted()
        segments = (
            all_sorted.irange((name, low), (name, high, len(self.shots)))
            for name, (low, high) in sorted(self.changed.items())
        )
        rows: Iterable[Any] = chain.from_iterable(segments)
        if self.shots.subset is not None:
            rows = (row for row in rows if self.shots.is_in_subset[row[2]])
        return _coded_columns(rows)

    def table(self) -> Table:
        """Return all hypotheses as a table, name by name."""
        name, confidence, shot = _coded_columns(self._all_sorted())
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
        return table.select(np.ones(len(table), dtype=np.bool_))  # drops unused values

    def _encode_stored(self, row: Argument) -> Coded:
        """Return a hypothesis in numbers; raise unless it is in this multiset."""
        coded = self._encode_known(row)
        if coded is None or coded not in self._all_sorted():
            plain_row(row)  # raises if the row is not a hypothesis
            raise ParameterError(f'{SOURCE.name}: no hypothesis {shown(tuple(row))}')
        return coded

    def _encode_known(self, row: Argument) -> Coded | None:
        """Return a hypothesis in numbers; None if its name or shot is new, or a field is wrong."""
        try:
            corpus, video, shot, name, confidence = row
            # Only plain text is looked up: a subclass may define its own hash and equality.
            is_plain = type(corpus) is type(video) is type(shot) is type(name) is str
            if not is_plain or type(confidence) is not float or type(row) is not tuple:
                corpus, video, shot, name, confidence = plain_row(row)
            number = self.shots.number_in[video, corpus][shot]
            return (self.names.code_of[name], -confidence, number) if isfinite(confidence) else None
        except (KeyError, TypeError, ValueError):
            return None

    def _encode(self, corpus: str, video: str, shot: str, name: str, confidence: float) -> Coded:
        return self.names.code(name), -confidence, self.shots.number(corpus, video, shot)

    def _change_count(self, coded: Coded, change: int) -> None:
        all_sorted = self._all_sorted()
        self._mark_changed(*coded[:2])
        if change > 0:
            all_sorted.add(coded)
        else:
            all_sorted.remove(coded)
        self.shots.count_hypotheses(coded[2], change)

    def _mark_changed(self, name: int, confidence: float) -> None:
        low, high = self.changed.get(name, (confidence, confidence))
        self.changed[name] = min(low, confidence), max(high, confidence)

    def _all_sorted(self) -> SortedList:
        """Merge the unsorted hypotheses at once; one by one would take much longer."""
        if self._unsorted:
            self._sorted.update(self._unsorted)
            self._unsorted = []
        return self._sorted


def plain_row(row: object) -> tuple[Any, ...]:
    """Convert the fields of a hypothesis, of any classes, to plain text and a double."""
    if (fault := explain_row(row, HYPOTHESIS)) is not None:
        raise fault.error(SOURCE.name, '')
    *texts, confidence = cast('Sequence[Any]', row)
    return *map(plain_text, texts), float(confidence)


def _coded_columns(rows: Iterable[Coded]) -> CodedColumns:
    # One stream of doubles, exact for all codes: twice as fast as column by column.
    values = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, 3)
    name, confidence, shot = values.T
    return name.astype(np.int64), confidence, shot.astype(np.int64)


class LiveRanking(BaseRanking):
    """The hypotheses of one moment, ready to be ranked for any query."""

    # The hypotheses of a name are a segment of append-only columns. The next ranking appends new
    # segments for the names that changed, and shares all others: other threads may read the old.

    def __init__(self, hypotheses: Hypotheses, previous: LiveRanking | None = None) -> None:
        self.source = SOURCE
        self._shot_order = hypotheses.shots.order()
        self._name_positions = hypotheses.names.positions()
        n_names = len(self._name_positions)
        if previous is not None and len(previous.names) == n_names:
            self.names = previous.names
        else:
            self.names = DistinctNames(tuple(hypotheses.names.values))
        self.name_counts, self._starts = np.zeros((2, n_names), dtype=np.int64)
        if previous is None:
            self._columns = GrowingColumns(  # minus the confidence; the number of the shot
                confidence=np.float64, temporal_rank=np.int32, shot=np.int32, name=np.int32
            )
        else:
            self._columns = previous._columns
            self.name_counts[: len(previous.names)] = previous.name_counts
            self._starts[: len(previous.names)] = previous._starts
        name, confidence, shot = hypotheses.changed_columns()
        shots = self._shot_order.positions(shot)
        videos = self._shot_order.videos(shot)
        ranks, _ = temporal_ranks(name, confidence, shots, videos)
        order = in_order(name, *TieKeys(confidence, ranks, shots, name))
        rows: dict[str, NDArray[Any]]
        rows = {'confidence': confidence, 'temporal_rank': ranks, 'shot': shot, 'name': name}
        # A new segment for each name that changed, best first. Only hypotheses of equal confidence
        # move each other, so those that are surer, or less sure, than all changes are copied.
        changes = sorted(hypotheses.changed.items())
        changed = np.array([code for code, _ in changes], dtype=np.int64)
        begins, counts = self._starts[changed], self.name_counts[changed]
        n_surer, n_upto = np.zeros((2, len(changed)), dtype=np.int64)
        for index in counts.nonzero()[0].tolist():
            segment = self._columns['confidence'][begins[index] :][: counts[index]]
            low, high = changes[index][1]
            n_surer[index] = segment.searchsorted(low)
            n_upto[index] = segment.searchsorted(high, side='right')
        n_copied = np.column_stack([n_surer, counts - n_upto]).ravel()
        copied = ranges(np.column_stack([begins, begins + n_upto]).ravel(), n_copied)
        new_counts = np.bincount(name, minlength=n_names)[changed]
        insert_at = n_copied.cumsum()[::2].repeat(new_counts)
        new_counts += n_copied.reshape(-1, 2).sum(axis=1)
        self._starts[changed] = len(self._columns) + new_counts.cumsum() - new_counts
        self.name_counts[changed] = new_counts
        self._columns.extend(
            **{
                field: np.insert(self._columns[field][copied], insert_at, column[order])
                for field, column in rows.items()
            }
        )
        hypotheses.changed.clear()
        self._n_hypotheses = int(self.name_counts.sum())
        # The limit of 2 keeps this cheap: less than half of the rows are copied.
        if len(self._columns) > 2 * self._n_hypotheses:
            self._columns = self._columns.select(ranges(self._starts, self.name_counts))
            self._starts = self.name_counts.cumsum() - self.name_counts
        self.shot_at = self._columns['shot']
        self.n_shots = hypotheses.shots.n_returned

    def __len__(self) -> int:
        return self._n_hypotheses

    def condensed(self, is_kept: NDArray[np.bool_]) -> LiveRanking:
        positions = ranges(self._starts, self.name_counts)
        positions = positions[is_kept[self.shot_at[positions]]]
        ranking = copy(self)
        ranking._columns = columns = self._columns.select(positions)
        ranking.shot_at = columns['shot']
        ranking.name_counts = np.bincount(columns['name'], minlength=len(self.name_counts))
        ranking._starts = ranking.name_counts.cumsum() - ranking.name_counts
        ranking._n_hypotheses = len(positions)
        ranking.n_shots = len(np.unique(ranking.shot_at))
        return ranking

    def _first_hypotheses(self, nearest: NearestNames, depth: int) -> NDArray[np.int64]:
        positions = self._positions(nearest)
        blocks = nearest.blocks.repeat(nearest.counts)
        columns = self._columns.select(positions)
        shots = self._shot_order.positions(columns['shot'])
        names = self._name_positions[columns['name']]
        keys = blocks, columns['confidence'], columns['temporal_rank'], shots, names
        return positions.take(first_in_order(keys, depth))

    def _counts_in_last_block(self, names: NDArray[np.int64], n_needed: int) -> NDArray[np.int64]:
        # The surest hypotheses of the surest `n_needed` names are enough, so a name is not needed
        # if its surest hypothesis is less sure than all of these.
        counts = self.name_counts[names]
        surest = np.full(len(names), np.inf)  # minus the confidence
        surest[counts > 0] = self._columns['confidence'][self._starts[names[counts > 0]]]
        last = np.partition(surest, n_needed - 1)[n_needed - 1]
        return np.where(surest <= last, np.minimum(counts, n_needed), 0)
