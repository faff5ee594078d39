"""Texts in a block of bytes, as words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.arrays import WIDEST, WORD, words_at


@given(st.lists(st.binary(max_size=WIDEST), min_size=1, max_size=5), st.binary(max_size=WORD))
def test_texts_as_words(texts, front):
    """Whatever stands before and behind a text is no part of it."""
    buffer = np.frombuffer(front + b'#'.join(texts) + b'#' * WIDEST, np.uint8)
    sizes = np.array(list(map(len, texts)))
    begins = len(front) + (sizes + 1).cumsum() - (sizes + 1)
    words = words_at(buffer, begins, sizes)
    width = words.shape[1] * WORD
    assert words.tobytes() == b''.join(text.ljust(width, b'\0') for text in texts)
    assert width - max(map(len, texts)) in range(WORD) or not any(texts)
