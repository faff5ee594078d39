"""Labels in fields of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mediaeval_ap.plain_text import BETWEEN_LABELS
from mediaeval_ap.tables.arrow import holds_any

if TYPE_CHECKING:
    import pyarrow

__all__ = ['none_if_empty', 'split']

OTHERWISE_SPLIT = '\v\f\r'  # at which pyarrow splits, and the format does not, or not at each


def none_if_empty(texts: pyarrow.Array) -> pyarrow.Array:
    """Texts, with what is empty as missing.

    Parameters
    ----------
    texts : pyarrow.Array
        Strings.

    Returns
    -------
    pyarrow.Array
        The same, null where empty.

    Examples
    --------
    >>> import pyarrow
    >>> none_if_empty(pyarrow.array(['nan', ''])).to_pylist()
    ['nan', None]
    """
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.equal(texts, ''), pyarrow.scalar(None, texts.type), texts)


def split(texts: pyarrow.Array) -> pyarrow.LargeListArray:
    r"""Split texts into words: what stands between spaces, tabs and line ends, however many.

    Parameters
    ----------
    texts : pyarrow.Array
        Large strings.

    Returns
    -------
    pyarrow.LargeListArray
        A list for each, empty for empty text.

    Examples
    --------
    >>> import pyarrow
    >>> split(pyarrow.array(['a \t b\r\n', '', 'a\fb'], pyarrow.large_string())).to_pylist()
    [['a', 'b'], [], ['a\x0cb']]
    """
    import pyarrow
    from pyarrow import compute

    if holds_any(texts, OTHERWISE_SPLIT):
        lists = compute.split_pattern_regex(texts, BETWEEN_LABELS)
    else:
        lists = compute.ascii_split_whitespace(texts)  # in half the time
    words = lists.flatten()
    kept = compute.not_equal(words, '')
    before = np.concatenate([[0], kept.to_numpy(zero_copy_only=False).cumsum()])
    offsets = before[lists.offsets.to_numpy()]
    return pyarrow.LargeListArray.from_arrays(offsets, words.filter(kept))
