"""Output formats: exact for programs; for people three decimals, with what is obeyed escaped."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import partial
from types import SimpleNamespace
from typing import Any

from mediaeval_ap.choices import check_policy
from mediaeval_ap.errors import printable
from mediaeval_ap.render.document import Captioned, Document, Grid, Heading, Marked, Remarks

BOLD = '\x1b[1m{}\x1b[0m'
DIGITS: ContextVar[int] = ContextVar('DIGITS', default=3)  # decimals that people see
fill = partial(textwrap.fill, break_on_hyphens=False, break_long_words=False)
LEAST_P = 0.0001  # a smaller p is shown as below it
LEAST_TEXT = 8  # columns of a terminal; text that is folded more often is hard to read
LEAST_WIDTH = len('0.000')  # of a column whose values come later: MAP under the header "MAP"
_replace_controls = re.compile('[\x7f-\x9f]').sub  # JSON may hold these, and a terminal obeys them
_escape_markdown = re.compile(r'[\\`*_\[\]<>#|&~]').sub
_LATEX = {
    **{each: f'\\{each}' for each in '&%$#_{}'},
    '\\': r'\textbackslash{}',
    '^': r'\textasciicircum{}',
    '~': r'\textasciitilde{}',
    '<': r'\textless{}',
    '>': r'\textgreater{}',
    '|': r'\textbar{}',
    '`': r'\textasciigrave{}',
    "'": r'\textquotesingle{}',
    '"': r'\char34{}',
    '-': '-{}',  # before another one: else LaTeX makes one dash of both
    '†': r'\dag{}',
    '≤': r'\ensuremath{\leq}',
}
_escape_latex = re.compile('-(?=-)|' + '|'.join(map(re.escape, _LATEX.keys() - {'-'}))).sub
TEXT_FORMATS = ('table', 'json')  # of a document without rows


class AlignedText:
    """Headings, aligned tables and text; the other formats for people differ in details."""

    suffixes: tuple[str, ...] = ('.txt',)
    is_folded = True  # on a terminal that is narrower
    is_for_papers = False
    bold = '{}'

    def render(self, document: Document, width: int | None = None) -> str:
        blocks = (self.is_for_papers and document.for_papers) or document.blocks
        width = width if self.is_folded else None
        shown: dict[type, Callable[..., str]] = {
            Heading: lambda each: self.heading(each.name, f' ({each.note})' if each.note else ''),
            Remarks: self.remarks,
            Captioned: partial(self.captioned, width=width),
            Grid: partial(self.grid, width=width),
            str: partial(self.paragraph, width=width),
        }
        return '\n'.join(shown[type(block)](block) for block in blocks())

    def heading(self, name: str, note: str) -> str:
        return f'{printable(name)}{note}\n'

    def paragraph(self, text: str, width: int | None = None) -> str:
        """Return lines of text, of which those that are too long are folded between words."""
        lines = text.split('\n')
        if width is not None:
            lines = [fill(each, width) if len(each) > width else each for each in lines]
        return '\n'.join(lines)

    def captioned(self, block: Captioned, width: int | None) -> str:
        caption = self.paragraph(printable(block.caption), width)
        return f'{caption}\n\n{self.grid(block.grid, width)}'

    def remarks(self, remarks: Remarks) -> str:
        """Return a line for each, as GNU's tools write them, and each remedy once."""
        lines = []
        told = set()
        for each in remarks.remarks:
            head = f'{printable(each.file)}:{each.line}: {each.severity}'
            lines.append(f'{head}: [{each.kind}] {each.text}\n')
            if each.remedy not in told:
                lines.append(f'  remedy: {each.remedy}\n')
                told.add(each.remedy)
        if remarks.more:
            lines.append(f'  {remarks.more}\n')
        return ''.join(lines)

    def grid(self, grid: Grid, width: int | None = None) -> str:
        rounded = [header not in grid.exact for header in grid.headers]
        cells = [
            [self._cell(*each).strip() for each in zip(row, rounded, strict=True)]
            for row in grid.rows
        ]
        self.emphasize(grid, cells)
        rows = [list(map(self.header, grid.headers)), *cells]
        first = grid.rows[0] if grid.rows else [''] * len(grid.headers)
        are_text = [isinstance(value, str | Marked) for value in first]
        text = self.table(*_padded(rows, are_text), are_text)
        if width is not None and max(map(shown_width, text.splitlines()), default=0) > width:
            return _folded(rows, are_text, width)
        return f'{text}\n'

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], are_text: Sequence[bool]
    ) -> str:
        """Return a table of cells that are as wide as their columns."""
        rule = ['-' * shown_width(each) for each in header]
        return '\n'.join('  '.join(row).rstrip() for row in [header, rule, *rows])

    def emphasize(self, grid: Grid, cells: list[list[str]]) -> None:
        """Change cells by what they hold."""

    def text(self, text: str) -> str:
        return printable(text)

    def header(self, text: str) -> str:
        return printable(text)

    def marked(self, text: str, marked: Marked) -> str:
        """Return the text of a value with what stands beside it."""
        text = self.bold.format(text) if marked.is_best else text
        return f'{text}{marked.mark} {marked.detail}'.rstrip()

    def _cell(self, value: Any, is_rounded: bool) -> str:
        if isinstance(value, Marked):
            is_words = isinstance(value.value, str)
            words = self.header(value.value) if is_words else self._cell(value.value, is_rounded)
            return self.marked(words, value)
        if isinstance(value, str):
            return self.text(value)
        return short(value) if is_rounded or not isinstance(value, float) else str(value)


class ColouredText(AlignedText):
    """Aligned text for a terminal, with the best values in bold."""

    bold = BOLD

    def emphasize(self, grid: Grid, cells: list[list[str]]) -> None:
        for at, header in enumerate(grid.headers):
            values = {row[at] for row in grid.rows} - {None} if header in grid.best else ()
            if len(values) > 1:
                for row, shown in zip(grid.rows, cells, strict=True):
                    if row[at] == max(values):
                        shown[at] = BOLD.format(shown[at])


class Markdown(AlignedText):
    """Tables of GitHub's Markdown, in which no text formats anything or ends a cell."""

    suffixes = ('.md',)
    is_folded = False
    is_for_papers = True
    bold = '**{}**'

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], are_text: Sequence[bool]
    ) -> str:
        rule = '|'.join('-' * (shown_width(each) + 2) for each in header)
        first, *others = (f'| {" | ".join(row)} |' for row in [header, *rows])
        return '\n'.join([first, f'|{rule}|', *others])

    def heading(self, name: str, note: str) -> str:
        return f'**{self.text(name)}{note}**\n'

    def paragraph(self, text: str, width: int | None = None) -> str:
        return _escape_markdown(r'\\\g<0>', '\n'.join(map(printable, text.split('\n'))))

    def text(self, text: str) -> str:
        """Return text that looks like code."""
        text = printable(text).replace('|', r'\|')
        backticks = re.findall('`+', text)
        if not backticks:
            return f'`{text}`'
        fence = '`' * (max(map(len, backticks)) + 1)
        return f'{fence} {text} {fence}'


class Latex(AlignedText):
    """Tables of LaTeX with booktabs."""

    suffixes = ('.tex',)
    is_folded = False
    is_for_papers = True
    bold = r'\textbf{{{}}}'

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], are_text: Sequence[bool]
    ) -> str:
        letters = ''.join('l' if is_text else 'r' for is_text in are_text)
        # After a line break LaTeX would take a bracket or a star for an argument of it.
        first, *others = (
            re.sub(r'^ (?=[\[*])', ' {}', f' {" & ".join(row)} \\\\') for row in [header, *rows]
        )
        begin = [f'\\begin{{tabular}}{{{letters}}}', r'\toprule', first, r'\midrule']
        return '\n'.join([*begin, *others, r'\bottomrule', r'\end{tabular}'])

    def heading(self, name: str, note: str) -> str:
        return f'% {super().heading(name, note)}'

    def text(self, text: str) -> str:
        return _escape_latex(lambda match: _LATEX[match[0]], printable(text))

    def header(self, text: str) -> str:
        """Return a header with what is in parentheses below it, so that columns stay narrow."""
        name, opened, note = text.rpartition(' (')
        if not opened:
            return self.text(text)
        return rf'\shortstack[l]{{{self.text(name)}\\{{\scriptsize ({self.text(note)}}}}}'

    def paragraph(self, text: str, width: int | None = None) -> str:
        return '\n'.join(map(self.text, text.split('\n')))

    def captioned(self, block: Captioned, width: int | None) -> str:
        """Return a float whose rows have their details in small print below them."""
        rows: list[Sequence[Any]] = []
        for row in block.grid.rows:
            details = [each.detail if isinstance(each, Marked) else '' for each in row]
            rows.append(row)
            if any(details):
                rows.append([Marked('', detail=each) for each in details])
        return (
            f'\\begin{{table}}\n\\centering\n\\caption{{{self.text(block.caption)}}}\n'
            f'\\label{{{block.label}}}\n\\medskip\n'
            f'{self.grid(Grid(block.grid.headers, rows))}\\end{{table}}\n'
        )

    def marked(self, text: str, marked: Marked) -> str:
        if not text:
            return rf'{{\scriptsize {self.text(marked.detail)}}}' if marked.detail else ''
        value = self.bold.format(text) if marked.is_best else text
        return value + (rf'\textsuperscript{{{self.text(marked.mark)}}}' if marked.mark else '')


class Html(AlignedText):
    """HTML for a notebook, in which no text is markup."""

    is_folded = False
    bold = '<strong>{}</strong>'

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], are_text: Sequence[bool]
    ) -> str:
        aligned = ['' if is_text else ' style="text-align: right;"' for is_text in are_text]

        def line(tag: str, row: Sequence[str]) -> str:
            cells = (f'<{tag}{at}>{each}</{tag}>' for each, at in zip(row, aligned, strict=True))
            return f'<tr>{"".join(cells)}</tr>'

        head = ['<table>', '<thead>', line('th', header), '</thead>', '<tbody>']
        return '\n'.join([*head, *(line('td', row) for row in rows), '</tbody>', '</table>'])

    def heading(self, name: str, note: str) -> str:
        return f'<p><strong>{self.text(name)}</strong>{self.text(note)}</p>\n'

    def paragraph(self, text: str, width: int | None = None) -> str:
        return ''.join(f'<p>{self.text(line)}</p>\n' for line in text.splitlines())

    def text(self, text: str) -> str:
        from html import escape

        return escape(printable(text))

    header = text

    def captioned(self, block: Captioned, width: int | None) -> str:
        return f'{self.paragraph(block.caption)}{self.grid(block.grid)}'

    def marked(self, text: str, marked: Marked) -> str:
        value = self.bold.format(text) if marked.is_best else text
        mark = f'<sup>{self.text(marked.mark)}</sup>' if marked.mark else ''
        return f'{value}{mark} {self.text(marked.detail)}'.rstrip()


class Csv:
    """Rows of CSV under a header."""

    suffixes: tuple[str, ...] = ('.csv',)

    def render(self, document: Document, width: int | None = None) -> str:
        import csv

        grid = _rows(document)
        lines: list[str] = []  # with the writer's own line ends, for which it quotes
        writer = csv.writer(SimpleNamespace(write=lines.append))
        writer.writerows([grid.headers, *grid.rows])
        return ''.join(f'{line.removesuffix(writer.dialect.lineterminator)}\n' for line in lines)


class Json:
    """An indented JSON value."""

    suffixes: tuple[str, ...] = ('.json',)

    def render(self, document: Document, width: int | None = None) -> str:
        return f'{_json(document.value(), indent=2)}\n'


class JsonLines:
    """A JSON object a row, on one line."""

    suffixes: tuple[str, ...] = ('.jsonl', '.ndjson')

    def render(self, document: Document, width: int | None = None) -> str:
        grid = _rows(document)
        return ''.join(self.row(grid.headers, row) for row in grid.rows)

    def heading(self, headers: Sequence[str]) -> str:
        return ''

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        return f'{_json(dict(zip(headers, row, strict=True)))}\n'

    def error(self, query: str, message: str) -> str:
        return self.row(['query', 'error'], [query, message])


class Tsv:
    """Values between tabs."""

    def heading(self, headers: Sequence[str]) -> str:
        return ''

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        return '\t'.join(map(str, row)) + '\n'

    def error(self, query: str, message: str) -> str:
        return f'{printable(query)}\terror: {message}\n'


class AlignedAnswers:
    """Values under headers that are as wide; the query stands last and is never cut."""

    def heading(self, headers: Sequence[str]) -> str:
        rules = ['-' * max(len(header), LEAST_WIDTH) for header in headers]
        return self.row(headers, headers) + self.row(headers, rules)

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        query, *values = row
        widths = [max(len(header), LEAST_WIDTH) for header in headers[1:]]
        return '  '.join([*map(str.rjust, map(short, values), widths), printable(query)]) + '\n'

    def error(self, query: str, message: str) -> str:
        return f'error: {message}\n'


# The formats of documents, and of a stream of answers. A new format is a class with its suffixes.
_TABLE = AlignedText()
_LINES = JsonLines()
FORMATS: dict[str, AlignedText | Csv | Json | JsonLines] = {
    'table': _TABLE,
    'csv': Csv(),
    'json': Json(),
    'jsonl': _LINES,
    'markdown': Markdown(),
    'latex': Latex(),
}
ANSWER_FORMATS: dict[str, AlignedAnswers | Tsv | JsonLines] = {
    'table': AlignedAnswers(),
    'tsv': Tsv(),
    'jsonl': _LINES,
}
FORMAT_OF_SUFFIX = {
    **{suffix: name for name, each in FORMATS.items() for suffix in each.suffixes},
    **{f'.{name}': name for name in ('html', 'svg', 'png', 'pdf')},  # which `render.page` makes
}


def render(
    document: Document, format: str, width: int | None = None, is_coloured: bool = False
) -> str:
    """Return a document in one of the `FORMATS`, with tables that are folded to the width."""
    known = TEXT_FORMATS if document.rows is None else tuple(FORMATS)
    found = FORMATS[check_policy('format', format, known)]
    return (ColouredText() if is_coloured and found is _TABLE else found).render(document, width)


def to_html(document: Document) -> str:
    """Return a document as HTML for a notebook."""
    return Html().render(document)


def text_of(cell: Any) -> str:
    """Return a cell of a grid as a terminal shows it."""
    return _TABLE._cell(cell, True)


def short(value: Any) -> str:
    """Return a value as people read it: few decimals, yes or nothing, the length of a list."""
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'yes' if value else ''
    if isinstance(value, float):
        return f'{value:z.{DIGITS.get()}f}'  # z: what is rounded to 0 has no sign
    return str(len(value)) if isinstance(value, list) else str(value)


def short_p(p: float, below: str = '<', equal: str = '') -> str:
    """Return a p with four decimals; a small one is never shown as 0, which none is."""
    return f'{below}{LEAST_P}' if p < LEAST_P else f'{equal}{p:.4f}'


def shown_width(text: str) -> int:
    """Return how many columns of a terminal a text takes, bold or not."""
    plain = text.replace(BOLD[:4], '').replace(BOLD[-4:], '')
    if plain.isascii():
        return len(plain)
    from rich.cells import cell_len

    return cell_len(plain)


def _padded(
    rows: Sequence[Sequence[str]], are_text: Sequence[bool]
) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    """Return the header and the rows under it, with numbers at the right."""
    columns = []
    for (header, *cells), is_text in zip(zip(*rows, strict=True), are_text, strict=True):
        wide = max([shown_width(header) + 2, *map(shown_width, cells)])
        room = ((each, ' ' * (wide - shown_width(each))) for each in (header, *cells))
        columns.append([f'{each}{space}' if is_text else f'{space}{each}' for each, space in room])
    header, *cells = zip(*columns, strict=True) if columns else [()]
    return header, cells


def _folded(rows: Sequence[Sequence[str]], are_text: Sequence[bool], width: int) -> str:
    """Return a table as wide as the terminal, in which headers and text take several lines."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False, header_style='')
    for (header, *cells), is_text in zip(zip(*rows, strict=True), are_text, strict=True):
        whole = max(map(shown_width, [*header.split(), *cells]), default=1)
        table.add_column(
            Text(header),
            justify='left' if is_text else 'right',
            overflow='fold',
            width=None if is_text else whole,
            min_width=min(whole, LEAST_TEXT) if is_text else None,
        )
    for row in rows[1:]:
        table.add_row(*map(Text.from_ansi, row))
    console = Console(
        file=io.StringIO(), width=width, color_system='standard', legacy_windows=False
    )
    with console.capture() as capture:
        console.print(table, crop=False)
    return ''.join(f'{line.rstrip()}\n' for line in capture.get().rstrip().splitlines())


def _rows(document: Document) -> Grid:
    assert document.rows is not None  # else `render` refuses the formats that have rows
    return document.rows()


def _json(value: Any, indent: int | None = None) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _replace_controls(lambda match: f'\\u{ord(match[0]):04x}', text)
