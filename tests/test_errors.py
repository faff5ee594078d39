"""Values as error messages quote them."""

import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import FormatError, MissingExtraError, printable, require


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('zoë o"brien', 'zoë o"brien'), ('red\x1b[31m', r'red\x1b[31m'), ('a\u202eb', r'a\u202eb')],
)
def test_characters_that_a_terminal_obeys_or_hides_are_escaped(text, expected):
    assert printable(text) == expected


def test_a_module_that_is_not_installed_names_its_extra():
    expected = r"compare: nowhere is not installed; in the clone .* pip install '\.\[compare\]'"
    with pytest.raises(MissingExtraError, match=expected):
        require('nowhere.at_all', 'compare', 'compare')


def test_a_module_that_is_installed_is_imported():
    assert require('os.path', 'compare', 'compare').join('a', 'b')


def test_a_notebook_shows_the_lines_of_the_user_and_the_message():
    """IPython has a frame of its own before those of a cell."""

    def run_cell():
        AveragePrecision([('x', 'v')])

    with pytest.raises(FormatError) as caught:
        run_cell()
    *frames, message = caught.value._render_traceback_()
    assert message == f'FormatError: {caught.value}'
    assert [each.splitlines()[1].strip() for each in frames] == ["AveragePrecision([('x', 'v')])"]
