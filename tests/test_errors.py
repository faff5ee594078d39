"""Values as error messages quote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import (
    SHOWN_CHARACTERS,
    DataWarning,
    FormatError,
    MissingExtraError,
    printable,
    require,
    shown,
)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('zoë o"brien', 'zoë o"brien'), ('red\x1b[31m', r'red\x1b[31m'), ('a\u202eb', r'a\u202eb')],
)
def test_characters_that_a_terminal_obeys_or_hides_are_escaped(text, expected):
    assert printable(text) == expected


@given(st.text() | st.binary() | st.integers(58, 70).map('a'.__mul__))
def test_a_quoted_value_ends_with_its_quote_however_long(value):
    quoted = shown(value).removeprefix('b')
    assert quoted[0] == quoted[-1]
    assert quoted[0] in '\'"'
    assert len(quoted) <= SHOWN_CHARACTERS + 2
    is_cut = quoted != printable(repr(value)).removeprefix('b')
    assert is_cut == (len(printable(repr(value))) > SHOWN_CHARACTERS + 2)
    assert not is_cut or quoted[-2] == '…'


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


@pytest.mark.parametrize('feature', ['evaluate', 'rank', 'explain', 'export_trec', 'report'])
def test_warnings_point_at_the_line_of_the_caller(feature, tmp_path):
    """Also those of a reader, between which and the caller other libraries call functions."""
    run = tmp_path / 'run.txt'
    run.write_text('x v 1 ann 0.5\nx v 2 ann 0.25')  # no line end: the last row may be cut
    arguments = {'rank': ['ann'], 'export_trec': [tmp_path / 'qrels', tmp_path / 'run']}
    function = getattr(AveragePrecision([('x', 'v', '1', 'ann')]), feature)
    with pytest.warns(DataWarning, match='no line end') as caught:
        function({'run': run} if feature == 'report' else run, *arguments.get(feature, ()))
    assert {warning.filename for warning in caught} == {__file__}
