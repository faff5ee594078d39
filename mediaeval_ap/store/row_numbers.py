"""Rows on disk as numbers from 0, each in the order of what it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.shots import ShotColumns, shot_order
from mediaeval_ap.store.external_sort import DistinctKeys, Numbering
from mediaeval_ap.store.spool import Spool
from mediaeval_ap.tables import Column

SIGN = np.uint64(1 << 63)
WITHOUT_SIGN = np.int64(2**63 - 1)
NARROW = 2**31  # if no key reaches it, keys are int32, as those of `Shots` of a table


class RowNumbers:
    """The rows of a spool as numbers: name, confidence (0 is the largest) and shot.

    Equal confidences may differ in one thing, the sign of zero. Where a negative zero is there,
    rows also have their position and whether theirs is one.
    """

    def __init__(self, spool: Spool, work: Path, bar: Bar) -> None:
        self._spool = spool
        corpora, self._corpus = _in_order(spool.texts('corpus_id'))
        videos, self._video = _in_order(spool.texts('video_id'))
        shots, self._shot = _in_order(spool.texts('shot_id'), shot_order)
        self.names, self._name = _in_order(spool.texts('person_name'))
        self.has_negative_zero = False
        self._n_corpora, self._n_shot_ids = len(corpora), len(shots)
        video_keys, confidences = self._videos_and_confidences(work, bar)
        self._videos, self._confidences = Numbering(video_keys), Numbering(confidences)
        self._shots = Numbering(self._shot_keys(work, bar))
        self.n_confidences, self.n_shots = len(confidences), len(self._shots)
        self.shots = ShotColumns(
            corpora,
            videos,
            shots,
            _as_stored(video_keys, len(videos) * len(corpora)),
            _as_stored(self._shots.distinct, len(video_keys) * len(shots)),
            np.empty(0, dtype=np.int32),
        )

    def _videos_and_confidences(
        self, work: Path, bar: Bar
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        videos, confidences = DistinctKeys(work, 'video'), DistinctKeys(work, 'confidence')
        for corpus, video, confidence in self._spool.chunks('corpus_id', 'video_id', 'confidence'):
            videos.add(self._keys_of_videos(corpus, video))
            confidences.add(descending_keys(confidence))
            self.has_negative_zero |= bool(_is_negative_zero(confidence).any())
            bar.add(len(corpus))
        return videos.values(), confidences.values()

    def _shot_keys(self, work: Path, bar: Bar) -> NDArray[np.uint64]:
        found = DistinctKeys(work, 'shot')
        for codes in self._spool.chunks('corpus_id', 'video_id', 'shot_id'):
            found.add(self._keys_of_shots(*codes))
            bar.add(len(codes[0]))
        return found.values()

    def _keys_of_videos(
        self, corpus: NDArray[np.int32], video: NDArray[np.int32]
    ) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = self._video[video].astype(np.uint64)
        keys *= np.uint64(self._n_corpora)
        keys += self._corpus[corpus].astype(np.uint64)
        return keys

    def _keys_of_shots(
        self, corpus: NDArray[np.int32], video: NDArray[np.int32], shot: NDArray[np.int32]
    ) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = self._videos(self._keys_of_videos(corpus, video)).astype(
            np.uint64
        )
        keys *= np.uint64(self._n_shot_ids)
        keys += self._shot[shot].astype(np.uint64)
        return keys

    def rows(self) -> Iterator[list[NDArray[Any]]]:
        """Yield the numbers of rows, column by column, for some rows after others."""
        begin = 0
        fields = 'corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence'
        for *ids, name, confidence in self._spool.chunks(*fields):
            shot = self._shots(self._keys_of_shots(*ids))
            columns = [self._name[name], self._confidences(descending_keys(confidence)), shot]
            if self.has_negative_zero:
                columns += [np.arange(begin, begin + len(name)), _is_negative_zero(confidence)]
            begin += len(name)
            yield columns

    def videos_of(self, shot: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the number of the video of each shot."""
        videos: NDArray[np.integer] = self.shots.shot_keys[shot] // self._n_shot_ids
        return videos

    def confidence(self, numbers: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the confidences that numbers stand for, of which none is a negative zero."""
        bits = (self._confidences.distinct[numbers] ^ SIGN).view(np.int64)
        bits ^= (bits >> 63) & WITHOUT_SIGN
        confidence: NDArray[np.float64] = 0.0 - bits.view(np.float64)
        return confidence


def descending_keys(confidence: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return integers that ascend where confidences descend; the same one for both zeros."""
    bits = (0.0 - confidence).view(np.int64)
    bits ^= (bits >> 63) & WITHOUT_SIGN
    keys: NDArray[np.uint64] = bits.view(np.uint64) ^ SIGN
    return keys


def _is_negative_zero(confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
    is_negative_zero: NDArray[np.bool_] = np.signbit(confidence) & (confidence == 0)
    return is_negative_zero


def _in_order(
    texts: list[str], key: Callable[[str], Any] | None = None
) -> tuple[list[str], NDArray[np.int32]]:
    """Return texts in order, and the place there of each as they are given."""
    column = Column(np.arange(len(texts), dtype=np.int32), texts).sorted(key)
    return list(column.values), column.codes


def _as_stored(keys: NDArray[np.uint64], n_possible: int) -> NDArray[Any]:
    return keys.astype(np.int32) if n_possible < NARROW else keys.view(np.int64)
