"""Faults of lines and rows."""

from mediaeval_ap.tables.text.format import Wrong


def test_where_a_fault_stands_is_not_compared():
    """A line and a tuple are told the same; the place is for who points at it."""
    one, other = (Wrong('confidence', "'high'", 'a number', at) for at in (3, 5))
    assert one == other
    assert hash(one) == hash(other)
    assert (
        repr(one) == "Wrong(field='confidence', found=\"'high'\", expected='a number', remedy='')"
    )
