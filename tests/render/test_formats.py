"""Output formats: what is escaped in each, and what a row looks like."""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.document import Captioned, Document, Grid, Heading, Marked
from mediaeval_ap.render.formats import (
    ANSWER_FORMATS,
    FORMATS,
    TEXT_FORMATS,
    render,
    shown_width,
    to_html,
)


def shown(grid, format):
    return render(Document.from_grid(grid), format)


def test_csv_quotes_what_would_break_a_row():
    names = ['a\rb', 'a\nb', 'a,b', 'a"b', 'a b']
    text = shown(Grid(['query', 'AP@1'], [[name, 0.5] for name in names]), 'csv')
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=''))][1:] == names
    assert '\r\n' not in text


def test_latex_rows_do_not_begin_with_an_argument():
    """LaTeX would take `[` or `*` after a line break for its argument."""
    text = shown(Grid(['query', 'AP@1'], [['[a]', 0.5], ['*b', 0.5]]), 'latex')
    assert '\n {}[a]' in text
    assert '\n {}*b' in text


@pytest.mark.parametrize(
    ('name', 'escaped'),
    [
        ('a_b&c%d#e$f{g}', r'a\_b\&c\%d\#e\$f\{g\}'),
        ('\\h^i~', r'\textbackslash{}h\textasciicircum{}i\textasciitilde{}'),
        ('<j>|', r'\textless{}j\textgreater{}\textbar{}'),
        ('k--l---m-n', 'k-{}-l-{}-{}-m-n'),
        ('?`\'"', r'?\textasciigrave{}\textquotesingle{}\char34{}'),
        ('\x1b', r'\textbackslash{}x1b'),
    ],
)
def test_latex_prints_each_character_as_it_is(name, escaped):
    text = shown(Grid(['query', name], [[name, 0.5]]), 'latex')
    assert r'\begin{tabular}{@{}lr@{}}' in text
    assert text.count(escaped) == len(['header', 'cell'])


MARKED = Captioned(
    Grid(
        ['run', 'MAP'],
        [['a|b', Marked(0.75, is_best=True, detail='[0.5,1.0]')], ['c', Marked(0.25, mark='†')]],
    ),
    'Of a_b.',
    'tab:x',
    'By 5 %.',
)


def printed(captioned):
    return render(Document(list, dict, lambda: Grid([], []), lambda: [captioned]), 'latex')


def test_latex_of_a_captioned_table():
    expected = r"""\begin{table}
\centering
\caption{Of a\_b.}
\label{tab:x}
\medskip
\footnotesize\setlength{\tabcolsep}{4pt}
\begin{tabular}{@{}ll@{}}
\toprule
 run & MAP \\
\midrule
 a\textbar{}b & \textbf{0.750} \\
 & {\scriptsize [0.5,1.0]} \\
 c & 0.250\textsuperscript{\dag{}} \\
\bottomrule
\end{tabular}

\smallskip
\parbox{\linewidth}{\footnotesize By 5 \%.}
\end{table}
"""
    assert re.sub(' +', ' ', printed(MARKED)) == expected
    wide = printed(replace(MARKED, is_wide=True))
    assert wide == printed(MARKED).replace('{table}', '{table*}')


def test_markdown_of_marked_cells():
    assert shown(MARKED.grid, 'markdown').splitlines() == [
        '| run    | MAP                 |',
        '|--------|---------------------|',
        r'| `a\|b` | **0.750** [0.5,1.0] |',
        '| `c`    | 0.250†              |',
    ]


def test_markdown_keeps_the_ends_of_lines():
    document = Document(lambda: ['a_b\nc\n', 'd\n'], dict, lambda: Grid([], []))
    assert render(document, 'markdown') == 'a\\_b\\\nc\n\nd\n'


def test_other_formats_have_their_own_blocks():
    document = Document(
        lambda: ['words\n', MARKED.grid], dict, lambda: Grid([], []), lambda: [MARKED]
    )
    assert render(document, 'table').splitlines() == [
        'words',
        '',
        'run    MAP',
        '-----  ---------------',
        'a|b    0.750 [0.5,1.0]',
        'c      0.250†',
    ]
    text = to_html(document)
    assert '<p>words</p>' in text
    assert '<strong>0.750</strong> [0.5,1.0]' in text
    assert '0.250<sup>†</sup>' in text


ROWS = [
    [1, 'F2_2000_news', 'nicolas_sarkozy', 1 / 3, 0.98],
    [2, 'F2_2000_news', '[b]安倍晋三[/b]', 0.0, 0.5],
]
RANKING = Document.from_grid(
    Grid(['rank', 'video_id', 'person_name', 'distance', 'AP lost'], ROWS, best=['AP lost'])
)


def widest(text):
    return max(map(shown_width, text.splitlines()))


def test_tables_are_folded_where_they_do_not_fit():
    natural = render(RANKING, 'table')
    assert render(RANKING, 'table', widest(natural)) == natural
    for format in FORMATS.keys() - {'table'}:
        assert render(RANKING, format, 20) == render(RANKING, format)


FOLDED = {
    # Ids are whole, and the header takes two lines.
    48: """\
                                    tau-b of the
run           MAP@10 (exploratory)          runs
------------------------------------------------
team_primary  0.250a [0.125,0.375]         0.500
a             0.500                        1.000
""",
    # The last column follows below, beside the names; an interval leaves its number.
    28: """\
              MAP@10
run           (exploratory)
----------------------------
team_primary  0.250a
              [0.125,0.375]
a             0.500

                tau-b of the
run                     runs
----------------------------
team_primary           0.500
a                      1.000
""",
}


@pytest.mark.parametrize('width', FOLDED)
def test_no_number_breaks_and_no_word_that_fits(width):
    marked = Marked(0.25, is_best=True, mark='a', detail='[0.125,0.375]')
    rows = [['team_primary', marked, 0.5], ['a', Marked(0.5), 1.0]]
    grid = Grid(['run', 'MAP@10 (exploratory)', 'tau-b of the runs'], rows)
    text = render(Document.from_grid(grid), 'table', width, is_coloured=True)
    assert '\x1b[1m0.250\x1b[0ma' in text
    assert re.sub(r'\x1b\[\dm', '', text) == FOLDED[width]


def test_headings_are_folded():
    document = Document(lambda: [Heading('a run', 'of two words')], dict)
    assert render(document, 'table', 12) == 'a run (of\ntwo words)\n'


texts = st.text(st.characters(exclude_categories=['C', 'Z']), min_size=1, max_size=40)


@strategies.examples(1)
@given(
    st.lists(st.tuples(texts, texts, st.floats(0, 1)), min_size=1, max_size=3), st.integers(30, 90)
)
def test_no_line_is_wider_and_no_letter_is_lost(rows, width):
    grid = Grid(['person_name', 'shot_id', 'AP@1000'], rows)
    text = render(Document.from_grid(grid), 'table', width)
    assert widest(text) <= width
    kept = Counter(''.join(text.split()))
    kept.subtract(''.join(name for row in rows for name in row[:2]))
    assert min(kept.values()) >= 0


def test_the_best_values_are_bold_if_there_are_any():
    rows = [['a', 0.5, None, 1], ['b', 0.25, None, 1]]
    document = Document.from_grid(
        Grid('run MAP@1 MAP@2 MAP@3'.split(), rows, best=('MAP@1', 'MAP@2'))
    )
    text = render(document, 'table', is_coloured=True)
    assert re.findall(r'\x1b\[1m(.*?)\x1b\[0m', text) == ['0.500']
    assert re.sub(r'\x1b\[[01]m', '', text) == render(document, 'table')


@pytest.mark.parametrize('format', FORMATS)
def test_names_are_never_numbers_and_rows_may_lack(format):
    """A name such as 1e3 stays text, also in a column of a table."""
    text = shown(Grid(['query', 'AP@1'], [['1e3', 0.5], ['nan', 0.25]]), format)
    assert '1e3' in text
    assert 'nan' in text
    assert isinstance(shown(Grid(['query', 'AP@1'], []), format), str)


def test_floats_are_exact_for_programs_and_short_for_people():
    grid = Grid(['query', 'AP@1', 'confidence'], [['o_b|c', 0.1 + 0.2, 0.1 + 0.2]], ['confidence'])
    assert shown(grid, 'csv') == f'query,AP@1,confidence\no_b|c,{0.1 + 0.2},{0.1 + 0.2}\n'
    assert shown(grid, 'table').splitlines()[2].split() == ['o_b|c', '0.300', str(0.1 + 0.2)]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        *((prose, prose) for prose in ('', 'not at all', 'l→i at 12, -o at 3')),
        *((text, f'`{text}`') for text in ('one', 'a *b* c', 'a_b c')),
        *(('a|b', r'`a\|b`'), ('a`b', '`` a`b ``'), ('a```b``', '```` a```b`` ````')),
    ],
)
def test_markdown_leaves_prose_as_it_is_and_shows_other_text_as_code(text, expected):
    line = shown(Grid(['name', 'reason'], [['ann', text]]), 'markdown').splitlines()[-1]
    assert line.removeprefix('| `ann`  | ').removesuffix(' |').rstrip() == expected


def test_markdown_escapes_headings():
    document = Document(lambda: [Heading('a_b', 'by *')], dict, lambda: Grid([], []))
    assert render(document, 'markdown') == '**a\\_b (by \\*)**\n'


def test_json_has_no_character_that_a_terminal_obeys():
    """JSON allows DEL and C1 controls in strings, which a terminal obeys."""
    grid = Grid(['query'], [['\x1bé\x7f\x9b']])
    for format, rows in (('json', list), ('jsonl', lambda row: [row])):
        text = shown(grid, format)
        assert all(line.isprintable() for line in text.split('\n'))
        assert rows(json.loads(text)) == grid.objects()


def test_answers():
    headers, row = ['query', 'n_relevant', 'AP'], ['é', 3, 0.1 + 0.2]
    table, tsv, lines = (ANSWER_FORMATS[name] for name in ('table', 'tsv', 'jsonl'))
    assert table.heading(headers) + table.row(headers, row) == (
        'n_relevant     AP  query\n----------  -----  -----\n         3  0.300  é\n'
    )
    assert tsv.row(headers, row) == 'é\t3\t0.30000000000000004\n'
    assert json.loads(lines.row(headers, row)) == dict(zip(headers, row, strict=True))
    assert tsv.error('\x1b', 'found 2 fields') == '\\x1b\terror: found 2 fields\n'
    assert json.loads(lines.error('\x1b', 'wrong')) == {'query': '\x1b', 'error': 'wrong'}


def test_unknown_formats():
    known = 'table, csv, json, jsonl, markdown, latex'
    expected = f"^format: found 'xml', expected one of {known}$"
    with pytest.raises(ParameterError, match=expected):
        shown(Grid(['query'], [['ann']]), 'xml')
    with pytest.raises(ParameterError, match=r"found 'csv', expected one of table, json$"):
        render(Document(list, list), 'csv')


def test_documents_without_rows():
    document = Document(lambda: ['first\n', 'second\n'], lambda: {'a': 1})
    assert [render(document, format) for format in TEXT_FORMATS] == [
        'first\n\nsecond\n',
        '{\n  "a": 1\n}\n',
    ]


def test_nothing_is_markup_in_html():
    name = '<b>&amp;\x1b'
    grid = Grid([f'{name} header', 'AP@1'], [[name, 0.5]])
    document = Document(lambda: [Heading(name, name), grid, f'{name}\nnote\n'], dict)
    text = to_html(document)
    assert '<b>' not in text
    assert '\x1b' not in text
    assert text.count('&lt;b&gt;&amp;amp;\\x1b') == len(['name', 'note', 'header', 'cell', 'text'])
    assert '<p>note</p>' in text
