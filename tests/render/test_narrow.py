"""Tables on terminals that are narrower than they are."""

import strategies
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mediaeval_ap.render.document import Document, Grid
from mediaeval_ap.render.formats import FORMATS, render

HEADERS = 'rank corpus_id video_id shot_id person_name distance confidence'.split()
ROWS = [
    [1, 'INA', 'F2_2000_news', '000626', 'nicolas_sarkozy', 0.0, 0.98],
    [2, 'INA', 'F2_2000_news', '000010', '[b]安倍晋三[/b]', 1 / 3, 0.5],
]
RANKING = Document.from_grid(Grid(HEADERS, ROWS))
NATURAL = render(RANKING, 'table')


def widest(text):
    return max(map(cell_len, text.splitlines()))


def test_nothing_changes_where_the_table_fits():
    assert render(RANKING, 'table', widest(NATURAL)) == NATURAL


def test_headers_and_text_are_folded_and_numbers_are_not():
    headers, second, rule, *rows = render(RANKING, 'table', 64).splitlines()
    assert headers.split() == ['corpus', 'video', 'shot', 'person']
    assert second.split() == ['rank', 'id', 'id', 'id', 'name', 'distance', 'confidence']
    assert len(rule.split()) == len(HEADERS)
    assert rows[0].split()[-2:] == ['0.000', '0.980']
    assert rows[0].split()[4] == 'nicolas_sarkozy'
    assert [rows[0].split()[2], rows[1].strip()] == ['F2_2000_', 'news']


def test_only_headers_that_take_too_much_room_are_folded():
    table = Document.from_grid(Grid(['near miss of', 'AP lost', 'alone'], [['x' * 18, 0.5, 0.25]]))
    heads = {width: render(table, 'table', width).splitlines()[:2] for width in (32, 31)}
    assert heads[32] == ['near miss of       AP lost alone', '------------------ ------- -----']
    assert heads[31] == ['                      AP', 'near miss of        lost alone']


def test_names_get_the_room_first_and_break_between_words():
    names = ['gtm-uvigo_contrastive2', 'eumssi_primary']
    rows = [[name, 'mediaeval-2016', *[0.5] * 4] for name in names]
    grid = Grid(['run', 'definition', *(f'MAP@{k}' for k in (1, 10, 100, 1000))], rows)
    *_, first, second, third, _ = render(Document.from_grid(grid), 'table', 60).splitlines()
    assert [first[:19], second, third[:19]] == [
        'gtm-uvigo_         ',
        'contrastive2        2016',
        'eumssi_primary     ',
    ]


def test_a_row_takes_two_lines_where_folding_is_not_enough():
    lines = render(RANKING, 'table', 50).splitlines()
    assert [line.split() for line in lines[:2]] == [HEADERS[:4], HEADERS[4:]]
    assert lines[3].split() == ['1', 'INA', 'F2_2000_news', '000626']
    assert lines[4].split() == ['nicolas_sarkozy', '0.000', '0.980']
    assert lines[5] == ''


def test_at_last_a_line_for_each_field():
    fields = [line.split() for line in render(RANKING, 'table', 30).splitlines()]
    values = ['1', 'INA', 'F2_2000_news', '000626', 'nicolas_sarkozy', '0.000', '0.980']
    assert fields[: len(HEADERS)] == list(map(list, zip(HEADERS, values, strict=True)))
    assert fields[len(HEADERS)] == []


def test_other_formats_are_never_folded():
    for format in FORMATS.keys() - {'table'}:
        assert render(RANKING, format, 20) == render(RANKING, format)


texts = st.text(st.characters(exclude_categories=['C', 'Z']), min_size=1, max_size=40)


@strategies.examples(1)
@given(
    st.lists(st.tuples(texts, texts, st.floats(0, 1)), min_size=1, max_size=3), st.integers(24, 90)
)
def test_no_line_is_wider_and_no_letter_is_lost(rows, width):
    grid = Grid(['person_name', 'shot_id', 'AP@1000'], rows)
    text = render(Document.from_grid(grid), 'table', width)
    assert widest(text) <= width
    kept = sorted(''.join(text.split()))
    for letter in ''.join(name for row in rows for name in row[:2]):
        assert letter in kept
        kept.remove(letter)
