"""Text that a field can hold."""

from enum import Enum

import pytest

from mediaeval_ap.plain_text import is_text, plain_text


def test_text_of_a_subclass_is_made_plain():
    person = Enum('Person', {'ANN': 'ann'}, type=str).ANN
    assert (plain_text(person), str(person), plain_text(7)) == ('ann', 'Person.ANN', None)


@pytest.mark.parametrize('name', ['nan', 'ann lee', 'ann\u2028lee'])
def test_names(name):
    assert is_text(name)


@pytest.mark.parametrize(
    'value', ['', 'ann ', '\tann', 'a\nn', 'ann\n', 'a\0n', '\ud800', b'ann', 7]
)
def test_no_names(value):
    assert not is_text(value)
