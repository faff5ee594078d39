"""Distinct shots, numbered as they come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.live.numbering import Columns, Distinct
from mediaeval_ap.ranking.shots import shot_order
from mediaeval_ap.tables import Table

__all__ = ['KnownShots', 'ShotOrder']


class ShotOrder(NamedTuple):
    """The order of the shots that are known at a moment.

    Parameters
    ----------
    video, shot : ndarray of int32, shape (n_shots,)
        For each shot, the codes of its video and of its id.
    video_places, shot_places : ndarray of int64
        For each code, where it stands in the order of videos, or of ids.

    Examples
    --------
    >>> shots = KnownShots(None)
    >>> [shots.number('x', video, shot) for video, shot in (('w', '1'), ('v', '10'), ('v', '9'))]
    [0, 1, 2]
    >>> shots.order().places(np.arange(3)).argsort().tolist()
    [2, 1, 0]
    """

    video: NDArray[np.int32]
    shot: NDArray[np.int32]
    video_places: NDArray[np.int64]
    shot_places: NDArray[np.int64]

    def videos(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where the videos of some shots stand in ascending order of video and corpus.

        Parameters
        ----------
        numbers : ndarray of int, shape (n,)
            Shots.

        Returns
        -------
        ndarray of int64, shape (n,)
            From 0.
        """
        places: NDArray[np.int64] = self.video_places[self.video[numbers]]
        return places

    def places(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Where some shots stand in ascending order of video, corpus and shot.

        Parameters
        ----------
        numbers : ndarray of int, shape (n,)
            Shots.

        Returns
        -------
        ndarray of int64, shape (n,)
            Integers that compare as the shots do.
        """
        in_video: NDArray[np.int64] = self.shot_places[self.shot[numbers]]
        return self.videos(numbers) * len(self.shot_places) + in_video


class KnownShots:
    """Distinct shots, numbered as they come.

    Parameters
    ----------
    subset : Table or None
        The videos that count; all, where there is none.

    Attributes
    ----------
    number_in : dict of (str, str) to dict of str to int
        For each video and corpus, the number of each shot.
    videos : Distinct
        Pairs of video and corpus.
    ids : Distinct
        What shots are called in their videos.
    counts : list of bool
        Whether each shot is of a video that counts.
    n_held : int
        How many that count have hypotheses.

    Examples
    --------
    >>> shots = KnownShots(None)
    >>> shots.number('x', 'v', '1'), shots.number('x', 'v', '2'), shots.number('x', 'v', '1')
    (0, 1, 0)
    """

    def __init__(self, subset: Table | None) -> None:
        self._subset = None
        if subset is not None:
            videos = zip(subset.texts('video_id'), subset.texts('corpus_id'), strict=True)
            self._subset = set(videos)
        self.number_in: dict[tuple[str, str], dict[str, int]] = {}
        self.videos: Distinct[tuple[str, str]] = Distinct(key=tuple)
        self.ids: Distinct[str] = Distinct(key=shot_order)
        self.counts: list[bool] = []
        self.n_held = 0
        self._held: list[int] = []
        self._codes = Columns(video=np.int32, shot=np.int32)
        self._new: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.counts)

    def number(self, corpus_id: str, video_id: str, shot_id: str) -> int:
        """The number of a shot, which is a new one where the shot is new.

        Parameters
        ----------
        corpus_id, video_id, shot_id : str
            The shot.

        Returns
        -------
        int
            From 0.
        """
        video = (video_id, corpus_id)
        in_video = self.number_in.setdefault(video, {})
        number = in_video.get(shot_id)
        if number is None:
            codes = self.videos.code(video), self.ids.code(shot_id)
            self._new.append(codes)
            number = in_video[self.ids.values[codes[1]]] = len(self.counts)
            self.counts.append(self._subset is None or video in self._subset)
            self._held.append(0)
        return number

    def hold(self, number: int, change: int) -> None:
        """Count hypotheses that come or go.

        Parameters
        ----------
        number : int
            Their shot.
        change : int
            How many come, or minus how many go.
        """
        before = self._held[number]
        after = self._held[number] = before + change
        if self.counts[number]:
            self.n_held += (after > 0) - (before > 0)

    def find(self, table: Table) -> NDArray[np.int64]:
        """The number of each row's shot.

        Parameters
        ----------
        table : Table
            A reference or a hypothesis.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            The numbers, -1 for a shot that is not here.
        """
        shots = zip(*map(table.texts, ('video_id', 'corpus_id', 'shot_id')), strict=True)
        nowhere: dict[str, int] = {}
        found = (
            self.number_in.get((video, corpus), nowhere).get(shot, -1)
            for video, corpus, shot in shots
        )
        return np.fromiter(found, dtype=np.int64, count=len(table))

    def holds_any_of(self, table: Table) -> bool:
        """Return whether a hypothesis that counts is about a shot of a table.

        Parameters
        ----------
        table : Table
            A reference.

        Returns
        -------
        bool
            False where there is no hypothesis.
        """
        return any(self._held[number] for number in set(self.find(table).tolist()) - {-1})

    def order(self) -> ShotOrder:
        """The order of all shots.

        Returns
        -------
        ShotOrder
            What comes later does not change it.
        """
        if self._new:
            video, shot = np.array(self._new, dtype=np.int32).T
            self._codes.extend(video=video, shot=shot)
            self._new = []
        return ShotOrder(
            self._codes['video'], self._codes['shot'], self.videos.places(), self.ids.places()
        )

    def _check(self) -> None:
        """Assert what always holds."""
        self.videos._check()
        self.ids._check()
        numbers = {}
        for (video, corpus), in_video in self.number_in.items():
            for shot, number in in_video.items():
                numbers[number] = (video, corpus, shot)
        assert sorted(numbers) == list(range(len(self)))
        assert len(self._held) == len(self)
        counted = zip(self._held, self.counts, strict=True)
        assert self.n_held == sum(held > 0 and counts for held, counts in counted)
        order = self.order()
        assert len(order.video) == len(order.shot) == len(self)
        for number, (video, corpus, shot) in numbers.items():
            assert self.videos.values[order.video[number]] == (video, corpus)
            assert self.ids.values[order.shot[number]] == shot
