"""Labels in fields of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow

__all__ = ['none_if_empty', 'split']


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
    r"""The words of texts: what stands between white space, however much.

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
    >>> split(pyarrow.array(['a \t b ', ''], pyarrow.large_string())).to_pylist()
    [['a', 'b'], []]
    """
    import pyarrow
    from pyarrow import compute

    lists = compute.ascii_split_whitespace(texts)
    words = lists.flatten()
    kept = compute.not_equal(words, '')
    before = np.concatenate([[0], kept.to_numpy(zero_copy_only=False).cumsum()])
    offsets = before[lists.offsets.to_numpy()]
    return pyarrow.LargeListArray.from_arrays(offsets, words.filter(kept))
