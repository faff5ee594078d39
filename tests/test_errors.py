"""Values as error messages quote them."""

import pytest

from mediaeval_ap.errors import MissingExtraError, printable, require, shown


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('zoë o"brien', 'zoë o"brien'), ('red\x1b[31m', r'red\x1b[31m'), ('a\u202eb', r'a\u202eb')],
)
def test_characters_that_a_terminal_obeys_or_hides_are_escaped(text, expected):
    assert printable(text) == expected


class Unshowable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('nan', "'nan'"),
        pytest.param(10**5000, '<int of 16610 bits>', id='digits'),
        (Unshowable(), '<Unshowable that cannot be shown>'),
        ('x' * 1000, f"'{'x' * 59}…"),
    ],
)
def test_values_are_quoted_on_one_short_line(value, expected):
    assert shown(value) == expected


def test_a_module_that_is_not_installed_names_its_extra():
    expected = r"compare: nowhere is not installed; pip install 'mediaeval-ap\[insight\]'"
    with pytest.raises(MissingExtraError, match=expected):
        require('nowhere.at_all', 'insight', 'compare')


def test_a_module_that_is_installed_is_imported():
    assert require('os.path', 'insight', 'compare').join('a', 'b')
