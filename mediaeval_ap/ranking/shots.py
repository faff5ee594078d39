"""The distinct shots of a table, numbered in the order of video, corpus and shot id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, number_keys, run_starts
from mediaeval_ap.tables import Column, Table
from mediaeval_ap.tables.table import texts_at

DIGITS_OF_INT64 = 18  # all numbers of so many digits fit


def shot_order(shot_id: str) -> tuple[int, int, str, str]:
    """Return the sort key of a shot id: numbers, by value and then text, before other ids."""
    if shot_id.isascii() and shot_id.isdigit():
        digits = shot_id.lstrip('0')
        # Not int(), which refuses thousands of digits: the longer number is larger.
        return (0, len(digits), digits, shot_id)
    return (1, 0, '', shot_id)


def in_shot_order(column: Column) -> Column:
    """Return a column with its values sorted by `shot_order`, without a key for each if plain."""
    are_numbers = {text.isascii() and text.isdigit() for text in column.values}
    if are_numbers == {False}:
        return column.sorted()
    if are_numbers == {True} and max(map(len, column.values)) <= DIGITS_OF_INT64:
        numbers = np.fromiter(map(int, column.values), np.int64, len(column.values))
        order = numbers.argsort()
        if np.diff(numbers[order]).all():  # equal numbers are sorted by their text
            return column.in_order(order)
    return column.sorted(key=shot_order)


@dataclass(frozen=True, eq=False)
class Shots:
    """The distinct shots of a table, numbered in order, and the shot number of each row."""

    ids: Mapping[str, Sequence[str]]  # the distinct corpus, video and shot ids, in order, by field
    video_keys: NDArray[Any]  # position of video id * number of corpus ids + position of corpus id
    shot_keys: NDArray[Any]  # position of video key * number of shot ids + position of shot id
    codes: NDArray[np.int32]  # for each row, the number of its shot: its position in `shot_keys`

    @classmethod
    def of(cls, table: Table) -> Shots:
        """Find the shots of a table."""
        corpus = table['corpus_id'].sorted()
        video = table['video_id'].sorted()
        shot = in_shot_order(table['shot_id'])
        video_keys, videos = number_keys(
            _pair_keys(video.codes, len(video.values), corpus.codes, len(corpus.values))
        )
        shot_keys, codes = number_keys(
            _pair_keys(videos, len(video_keys), shot.codes, len(shot.values))
        )
        ids = {'corpus_id': corpus.values, 'video_id': video.values, 'shot_id': shot.values}
        return cls(ids, video_keys, shot_keys, codes)

    def __len__(self) -> int:
        return len(self.shot_keys)

    def videos_of(self, shots: NDArray[np.integer]) -> NDArray[Any]:
        """Return the video number of each shot; videos are numbered by video, then corpus id."""
        videos: NDArray[Any] = self.shot_keys[shots] // len(self.ids['shot_id'])
        return videos

    @property
    def n_videos(self) -> int:
        """The number of distinct videos."""
        return len(self.video_keys)

    def codes_of(self, shots: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
        """Return the positions of the ids of some shots among the distinct `ids`, by field."""
        n_corpora, _, n_ids = map(len, self.ids.values())
        videos, shot = np.divmod(self.shot_keys[shots], n_ids)
        video, corpus = np.divmod(self.video_keys[videos], n_corpora)
        return {'corpus_id': corpus, 'video_id': video, 'shot_id': shot}

    def ids_of(self, shots: NDArray[np.integer]) -> dict[str, list[str]]:
        """Return the corpus, video and shot ids of some shots, by field."""
        ids = self.ids
        codes = self.codes_of(shots)
        return {field: texts_at(ids[field], codes[field]) for field in ids}

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return the shot number of each row of another table; -1 for unknown shots."""
        video = self._find_videos(table)
        shot = self._find_ids('shot_id', table)
        shot_keys = _pair_keys(video, len(self.video_keys), shot, len(self.ids['shot_id']))
        code = find(self.shot_keys, shot_keys)
        # A key made from -1 may equal the key of another shot.
        return np.where((video >= 0) & (shot >= 0), code, -1)

    def n_videos_in(self, table: Table) -> int:
        """Return how many of the distinct videos are in another table."""
        videos = self._find_videos(table)
        return len(run_starts([np.sort(videos[videos >= 0])]))

    def _find_ids(self, field: str, table: Table) -> NDArray[np.int32]:
        return Column(np.empty(0, dtype=np.int32), self.ids[field]).find(table[field])

    def _find_videos(self, table: Table) -> NDArray[np.int64]:
        corpus = self._find_ids('corpus_id', table)
        video = self._find_ids('video_id', table)
        n_corpora, n_videos, _ = map(len, self.ids.values())
        video_keys = _pair_keys(video, n_videos, corpus, n_corpora)
        code = find(self.video_keys, video_keys)
        return np.where((corpus >= 0) & (video >= 0), code, -1)


def _pair_keys(
    major: NDArray[np.integer], n_major: int, minor: NDArray[np.integer], n_minor: int
) -> NDArray[Any]:
    """Return an integer for each pair of numbers; integers sort as the pairs do."""
    keys: NDArray[Any] = major.astype(np.int32 if n_major * n_minor < 2**31 else np.int64)
    keys *= n_minor
    keys += minor
    return keys
