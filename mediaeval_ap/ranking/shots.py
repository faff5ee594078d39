"""The distinct shots of a table, numbered in the order of video, corpus and shot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find
from mediaeval_ap.tables import Column, Table


def shot_order(shot_id: str) -> tuple[int, int, str, str]:
    """Return the sort key of a shot id: numbers by value, then by text; then other ids."""
    if shot_id.isascii() and shot_id.isdigit():
        digits = shot_id.lstrip('0')
        # Not int(), which refuses thousands of digits: more digits are more.
        return (0, len(digits), digits, shot_id)
    return (1, 0, '', shot_id)


class Shots:
    """The distinct shots of a table, numbered in order: `codes` has the number of each row's."""

    def __init__(self, table: Table) -> None:
        self._corpus = table['corpus_id'].sorted()
        self._video = table['video_id'].sorted()
        self._shot = table['shot_id'].sorted(key=shot_order)
        videos = _keys(self._video.codes, self._corpus.codes, self._corpus)
        self._video_keys, video_codes = np.unique(videos, return_inverse=True)
        shots = _keys(video_codes, self._shot.codes, self._shot)
        self._keys, self.codes = np.unique(shots, return_inverse=True)
        # the video of each shot, numbered in the order of video and corpus
        self.videos = self._keys // max(1, len(self._shot.values))

    def __len__(self) -> int:
        return len(self._keys)

    def distinct_videos(self) -> list[tuple[str, str]]:
        """Return the distinct videos as pairs of corpus and video."""
        n_corpora = max(1, len(self._corpus.values))
        return [
            (self._corpus.values[key % n_corpora], self._video.values[key // n_corpora])
            for key in self._video_keys.tolist()
        ]

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return the number that each row's shot of another table has here, or -1."""
        corpus = self._corpus.find(table['corpus_id'])
        video = self._video.find(table['video_id'])
        shot = self._shot.find(table['shot_id'])
        video_code = find(self._video_keys, _keys(video, corpus, self._corpus))
        code = find(self._keys, _keys(video_code, shot, self._shot))
        # Keys made from -1 may be those of other shots.
        known = (corpus >= 0) & (video >= 0) & (shot >= 0) & (video_code >= 0)
        return np.where(known, code, -1)


def _keys(
    major: NDArray[np.integer], minor: NDArray[np.integer], column: Column
) -> NDArray[np.int64]:
    """Return one integer for each pair of a number and a code of the column, in their order."""
    return major.astype(np.int64) * len(column.values) + minor
