"""Names one edit apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import edit_distance

from mediaeval_ap.validation import near_names
from mediaeval_ap.validation.near_names import earlier_neighbours


@given(st.lists(st.text('abé😀', min_size=1, max_size=5), unique=True, max_size=20))
def test_names_one_edit_apart(names):
    expected = [
        next((at for at in range(place) if edit_distance(names[at], name) == 1), -1)
        for place, name in enumerate(names)
    ]
    assert earlier_neighbours(names).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_names, 'CHARACTERS_AT_ONCE', 4)
        assert earlier_neighbours(names).tolist() == expected
        patch.setattr(near_names, '_mix', lambda values: values & near_names.np.uint64(1))
        assert earlier_neighbours(names).tolist() == expected
