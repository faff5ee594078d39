"""The distinct shots of a table, numbered in the order of video, corpus and shot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, numbered
from mediaeval_ap.tables import Column, Table


def shot_order(shot_id: str) -> tuple[int, int, str, str]:
    """Return the sort key of a shot id: numbers by value, then by text; then other ids."""
    if shot_id.isascii() and shot_id.isdigit():
        digits = shot_id.lstrip('0')
        # Not int(), which refuses thousands of digits: more digits are more.
        return (0, len(digits), digits, shot_id)
    return (1, 0, '', shot_id)


class ShotColumns(NamedTuple):
    """The distinct shots of a table as columns, and the number of each row's shot."""

    corpus_ids: Sequence[str]  # distinct ones, as the following two, in order
    video_ids: Sequence[str]
    shot_ids: Sequence[str]
    video_keys: NDArray[np.int64]  # position of the video id · number of corpus ids + of corpus id
    shot_keys: NDArray[np.int64]  # position among video keys · number of shot ids + of the shot id
    codes: NDArray[np.int32]  # for each row, the position among shot keys


class Shots:
    """The distinct shots of a table, numbered in order: `codes` has the number of each row's."""

    def __init__(self, table: Table) -> None:
        corpus = table['corpus_id'].sorted()
        video = table['video_id'].sorted()
        shot = table['shot_id'].sorted(key=shot_order)
        ids = corpus.values, video.values, shot.values
        video_keys, video_codes = numbered(_keys(video.codes, corpus.codes, corpus.values))
        shot_keys, codes = numbered(_keys(video_codes, shot.codes, shot.values))
        self._set(ShotColumns(*ids, video_keys, shot_keys, codes))

    @classmethod
    def from_columns(cls, columns: ShotColumns) -> Shots:
        """Make the shots of which these are the columns."""
        shots = cls.__new__(cls)
        shots._set(columns)
        return shots

    def _set(self, columns: ShotColumns) -> None:
        self.columns = columns
        self.codes = columns.codes
        no_rows = np.empty(0, dtype=np.int32)
        self._corpus = Column(no_rows, columns.corpus_ids)
        self._video = Column(no_rows, columns.video_ids)
        self._shot = Column(no_rows, columns.shot_ids)

    def __len__(self) -> int:
        return len(self.columns.shot_keys)

    @cached_property
    def videos(self) -> NDArray[np.int64]:
        """The video of each shot, numbered in the order of video and corpus."""
        return self.columns.shot_keys // max(1, len(self.columns.shot_ids))

    def distinct_videos(self) -> list[tuple[str, str]]:
        """Return the distinct videos as pairs of corpus and video."""
        corpus_ids, video_ids = self.columns.corpus_ids, self.columns.video_ids
        n_corpora = max(1, len(corpus_ids))
        return [
            (corpus_ids[key % n_corpora], video_ids[key // n_corpora])
            for key in self.columns.video_keys.tolist()
        ]

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return the number that each row's shot of another table has here, or -1."""
        corpus = self._corpus.find(table['corpus_id'])
        video = self._video.find(table['video_id'])
        shot = self._shot.find(table['shot_id'])
        video_keys = _keys(video, corpus, self.columns.corpus_ids)
        video_code = find(self.columns.video_keys, video_keys)
        code = find(self.columns.shot_keys, _keys(video_code, shot, self.columns.shot_ids))
        # Keys made from -1 may be those of other shots.
        known = (corpus >= 0) & (video >= 0) & (shot >= 0) & (video_code >= 0)
        return np.where(known, code, -1)


def _keys(
    major: NDArray[np.integer], minor: NDArray[np.integer], values: Sequence[str]
) -> NDArray[np.int64]:
    """Return one integer for each pair of a number and a code of the values, in their order."""
    keys = major.astype(np.int64)
    keys *= len(values)
    keys += minor
    return keys
