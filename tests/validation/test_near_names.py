"""Names one edit apart."""

from hypothesis import given
from hypothesis import strategies as st
from oracle import edit_distance

from mediaeval_ap.validation.rules import earlier_neighbours


@given(st.lists(st.text('abé😀', min_size=1, max_size=5), unique=True, max_size=20))
def test_names_one_edit_apart(names):
    expected = [
        next((at for at in range(place) if edit_distance(names[at], name) == 1), -1)
        for place, name in enumerate(names)
    ]
    assert earlier_neighbours(names).tolist() == expected
