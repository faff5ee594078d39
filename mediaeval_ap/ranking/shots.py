"""The distinct shots of a table: which they are, and in what order they stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find
from mediaeval_ap.tables import Table

__all__ = ['Shots', 'shot_order']


def shot_order(shot_id: str) -> tuple[int, int, str, str]:
    """What shot ids are ordered by: as numbers where all digits, and before all others; as text.

    Parameters
    ----------
    shot_id : str
        The id of a shot in its video.

    Returns
    -------
    tuple
        A key to sort by. Ids of one number differ by their text: ``'10'`` stands after ``'010'``.

    Examples
    --------
    >>> sorted(['10', '9', 'b', '010', 'a1'], key=shot_order)
    ['9', '010', '10', 'a1', 'b']
    """
    if shot_id.isascii() and shot_id.isdigit():
        digits = shot_id.lstrip('0')
        return (0, len(digits), digits, shot_id)
    return (1, 0, '', shot_id)


class Shots:
    """The distinct shots of a table, numbered in ascending order of video, corpus and shot.

    Parameters
    ----------
    table : Table
        A reference or a hypothesis.

    Attributes
    ----------
    codes : ndarray of int64, shape (n_rows,)
        The number of each row's shot.
    videos : ndarray of int64, shape (n_shots,)
        The number of each shot's video, in ascending order of video and corpus.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> rows = [('x', 'v', '10', 'ann'), ('x', 'v', '9', 'bob'), ('x', 'v', '10', 'cleo')]
    >>> Shots(read(rows, REFERENCE)).codes.tolist()
    [1, 0, 1]
    """

    def __init__(self, table: Table) -> None:
        self._corpus = table['corpus_id'].sorted()
        self._video = table['video_id'].sorted()
        self._shot = table['shot_id'].sorted(key=shot_order)
        self._video_keys, video_codes = np.unique(
            self._video_key(self._video.codes, self._corpus.codes), return_inverse=True
        )
        self._keys, self.codes = np.unique(
            self._shot_key(video_codes, self._shot.codes), return_inverse=True
        )
        self.videos = self._keys // max(1, len(self._shot.values))

    def __len__(self) -> int:
        return len(self._keys)

    def distinct_videos(self) -> list[tuple[str, str]]:
        """Return the distinct videos.

        Returns
        -------
        list of tuple of str
            Pairs of corpus and video.
        """
        n_corpora = max(1, len(self._corpus.values))
        return [
            (self._corpus.values[key % n_corpora], self._video.values[key // n_corpora])
            for key in self._video_keys.tolist()
        ]

    def find(self, table: Table) -> NDArray[np.int64]:
        """The number that each row's shot of another table has here.

        Parameters
        ----------
        table : Table
            A reference or a hypothesis.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            The numbers, -1 for a shot that is not here.
        """
        corpus = self._corpus.find(table['corpus_id'])
        video = self._video.find(table['video_id'])
        shot = self._shot.find(table['shot_id'])
        video_code = find(self._video_keys, self._video_key(video, corpus))
        code = find(self._keys, self._shot_key(video_code, shot))
        known = (corpus >= 0) & (video >= 0) & (shot >= 0) & (video_code >= 0)
        return np.where(known, code, -1)

    def _video_key(
        self, video: NDArray[np.integer], corpus: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        return video.astype(np.int64) * len(self._corpus.values) + corpus

    def _shot_key(
        self, video_code: NDArray[np.integer], shot: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        return video_code.astype(np.int64) * len(self._shot.values) + shot
