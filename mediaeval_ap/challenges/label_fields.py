"""Labels in fields of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mediaeval_ap.plain_text import BETWEEN_LABELS
from mediaeval_ap.tables.arrow import holds_any

if TYPE_CHECKING:
    import pyarrow

OTHERWISE_SPLIT = '\v\f\r'  # pyarrow splits at each; the format at none, but at CR LF


def none_if_empty(texts: pyarrow.Array) -> pyarrow.Array:
    """Return texts, null where empty."""
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.equal(texts, ''), pyarrow.scalar(None, texts.type), texts)


def split(texts: pyarrow.Array) -> pyarrow.LargeListArray:
    """Split texts at spaces, tabs and line ends, however many, into a list of words each."""
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
