"""Numbers for names, videos and shots, given as they come, and the order of what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedKeyList

from mediaeval_ap.live.columns import Columns
from mediaeval_ap.ranking.shots import shot_order
from mediaeval_ap.tables import Table

VIDEO = ('video_id', 'corpus_id')  # in the order by which shots are ranked


class Interned:
    """Distinct values that get a code from 0 as they come, and know their sort order."""

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.values: list[Any] = []  # by code
        self.code_of: dict[Any, int] = {}
        self._ordered = SortedKeyList(key=key)
        self._places = np.empty(0, dtype=np.int64)

    def code(self, value: Any) -> int:
        """Return the code of a value; a new value gets the next one."""
        code = self.code_of.get(value)
        if code is None:
            code = self.code_of[value] = len(self.values)
            self.values.append(value)
        return code

    def places(self) -> NDArray[np.int64]:
        """Return the place of each value in the sort order, by code; the array never changes."""
        n_known = len(self._places)
        if n_known < len(self.values):
            new = sorted(self.values[n_known:], key=self._ordered.key)
            before = np.array([self._ordered.bisect_left(value) for value in new])
            places = np.empty(len(self.values), dtype=np.int64)
            # A known value moves up by the new values that sort before it.
            places[:n_known] = self._places + before.searchsorted(self._places, side='right')
            places[[self.code_of[value] for value in new]] = before + np.arange(len(new))
            self._ordered.update(new)
            self._places = places
        return self._places


class ShotOrder(NamedTuple):
    """The order of the shots that are known at one moment."""

    video: NDArray[np.int32]  # for each shot, the code of its video
    shot: NDArray[np.int32]  # for each shot, the code of its id
    video_places: NDArray[np.int64]  # for each code of a video, its place
    shot_places: NDArray[np.int64]  # for each code of an id, its place

    def videos(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the places of the videos of some shots, in the order of video and corpus."""
        places: NDArray[np.int64] = self.video_places[self.video[numbers]]
        return places

    def places(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return integers that compare as some shots do: by video, corpus and shot."""
        in_video: NDArray[np.int64] = self.shot_places[self.shot[numbers]]
        return self.videos(numbers) * len(self.shot_places) + in_video


class KnownShots:
    """Distinct shots, numbered from 0 as they come, and how many hypotheses are about each."""

    def __init__(self, subset: Table | None) -> None:
        self._subset = None
        if subset is not None:
            self._subset = set(zip(*map(subset.texts, VIDEO), strict=True))
        # Two levels: a shot that is known is found without a tuple of three texts to hash.
        self.number_in: dict[tuple[str, str], dict[str, int]] = {}
        self.videos = Interned(key=tuple)  # pairs of video and corpus
        self.ids = Interned(key=shot_order)
        self.counts: list[bool] = []  # whether a subset, if any, has the video of each shot
        self.n_held = 0  # shots that count and have hypotheses
        self._held: list[int] = []
        self._codes = Columns(video=np.int32, shot=np.int32)
        self._new: list[tuple[int, int]] = []  # codes that are not in the columns yet

    def __len__(self) -> int:
        return len(self.counts)

    def number(self, corpus_id: str, video_id: str, shot_id: str) -> int:
        """Return the number of a shot; a new shot gets the next one."""
        video = (video_id, corpus_id)
        in_video = self.number_in.get(video)
        if in_video is None:
            in_video = self.number_in[video] = {}
        number = in_video.get(shot_id)
        if number is None:
            codes = self.videos.code(video), self.ids.code(shot_id)
            self._new.append(codes)
            # The interned text, so that equal ids of many videos are kept in memory once.
            number = in_video[self.ids.values[codes[1]]] = len(self.counts)
            self.counts.append(self._subset is None or video in self._subset)
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
        return np.fromiter(self._find(table), dtype=np.int64, count=len(table))

    def _find(self, table: Table) -> Iterator[int]:
        nowhere: dict[str, int] = {}
        videos, ids = zip(*map(table.texts, VIDEO), strict=True), table.texts('shot_id')
        for video, shot in zip(videos, ids, strict=True):
            yield self.number_in.get(video, nowhere).get(shot, -1)

    def holds_any_of(self, table: Table) -> bool:
        """Return whether a hypothesis that counts is about a shot of a reference."""
        return any(number >= 0 and self._held[number] for number in self._find(table))

    def order(self) -> ShotOrder:
        """Return the order of all shots; it stays as it is when others come later."""
        if self._new:
            video, shot = np.array(self._new, dtype=np.int32).T
            self._codes.extend(video=video, shot=shot)
            self._new = []
        return ShotOrder(
            self._codes['video'], self._codes['shot'], self.videos.places(), self.ids.places()
        )
