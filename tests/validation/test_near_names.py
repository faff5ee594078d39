"""Names one edit apart."""

from hypothesis import given
from hypothesis import strategies as st
from oracle import edit_distance

from mediaeval_ap.validation import rules


@given(st.lists(st.text('abé😀', min_size=1, max_size=5), unique=True, max_size=20))
def test_names_one_edit_apart(names):
    expected = [
        next((at for at in range(place) if edit_distance(names[at], name) == 1), -1)
        for place, name in enumerate(names)
    ]
    assert rules.earlier_neighbours(names).tolist() == expected


def test_names_without_end_are_passed_over(monkeypatch):
    monkeypatch.setattr(rules, 'MOST_NAMES', 2)
    assert rules.earlier_neighbours(['ann', 'anne']).tolist() == [-1, 0]
    assert rules.earlier_neighbours(['ann', 'anne', 'anna']).tolist() == [-1, -1, -1]
