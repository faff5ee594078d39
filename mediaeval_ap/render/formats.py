"""Output formats: exact for programs; for people rounded, with control characters escaped."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from itertools import accumulate, count
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

from mediaeval_ap.choices import check_policy
from mediaeval_ap.errors import printable
from mediaeval_ap.render.document import Captioned, Document, Grid, Heading, Marked, Remarks

BOLD = '\x1b[1m{}\x1b[0m'
N_DECIMALS: ContextVar[int] = ContextVar('N_DECIMALS', default=3)  # for people
fill = partial(textwrap.fill, break_on_hyphens=False, break_long_words=False)
P_DECIMALS = 4
MIN_P = 0.0001  # a smaller p is shown as <0.0001
MOST_DIGITS = 17  # enough to distinguish any two doubles
MOST_LINES = 3  # of a header or cell on a narrow terminal, where possible
GAP = 2  # columns of the terminal between those of a table
MIN_WIDTH = len('0.000')  # of the values in a stream, also under a shorter header
_replace_controls = re.compile('[\x7f-\x9f]').sub  # JSON allows these, but a terminal obeys them
_escape_markdown = re.compile(r'[\\`*_\[\]<>#|&~]').sub
_LATEX = {
    **{character: f'\\{character}' for character in '&%$#_{}'},
    '\\': r'\textbackslash{}',
    '^': r'\textasciicircum{}',
    '~': r'\textasciitilde{}',
    '<': r'\textless{}',
    '>': r'\textgreater{}',
    '|': r'\textbar{}',
    '`': r'\textasciigrave{}',
    "'": r'\textquotesingle{}',
    '"': r'\char34{}',
    '-': '-{}',  # before another hyphen: else LaTeX would make one dash of both
    '†': r'\dag{}',
    '≤': r'\ensuremath{\leq}',
}
_escape_latex = re.compile('-(?=-)|' + '|'.join(map(re.escape, _LATEX.keys() - {'-'}))).sub
Cells: TypeAlias = Sequence[str]
TEXT_FORMATS = ('table', 'json')  # of documents without rows


class AlignedText:
    """Headings, aligned tables and text; the other formats for people override details."""

    suffixes: tuple[str, ...] = ('.txt',)
    is_folded = True  # if the terminal is too narrow
    is_for_papers = False
    bold = '{}'

    def render(self, document: Document, width: int | None = None) -> str:
        blocks = (self.is_for_papers and document.for_papers) or document.blocks
        if not self.is_folded:
            width = None
        render_block: dict[type, Callable[..., str]] = {
            Heading: lambda block: _folded(
                self.heading(block.name, block.note and f' ({block.note})'), width
            ),
            Remarks: self.remarks,
            Captioned: self.captioned,
            Grid: partial(self.grid, width=width),
            str: lambda block: _folded(self.paragraph(block), width),
        }
        return '\n'.join(render_block[type(block)](block) for block in blocks())

    def heading(self, name: str, note: str) -> str:
        return f'{printable(name)}{note}\n'

    def paragraph(self, text: str) -> str:
        return text

    def captioned(self, block: Captioned) -> str:
        raise NotImplementedError  # only papers have captions

    def remarks(self, remarks: Remarks) -> str:
        """Return a line for each remark, and each remedy once."""
        lines = []
        remedies = set()
        for remark, remedy in remarks.remarks:
            lines.append(f'{remark}\n')
            if remedy not in remedies:
                lines.append(f'  remedy: {remedy}\n')
                remedies.add(remedy)
        if remarks.more:
            lines.append(f'  {remarks.more}\n')
        return ''.join(lines)

    def grid(self, grid: Grid, width: int | None = None) -> str:
        are_rounded = [header not in grid.exact for header in grid.headers]
        cells = [
            [self._cell(*cell).strip() for cell in zip(row, are_rounded, strict=True)]
            for row in grid.rows
        ]
        self.emphasize(grid, cells)
        rows = [list(map(self.header, grid.headers)), *cells]
        first_row = grid.rows[0] if grid.rows else [''] * len(grid.headers)
        are_text = [isinstance(value, str | Marked) for value in first_row]
        text = self.table(*_pad(rows, are_text), are_text)
        if width is not None and max(map(shown_width, text.splitlines()), default=0) > width:
            are_prose = [isinstance(value, str) for value in first_row]
            n_names = (are_prose.index(False) if False in are_prose else 0) or 1
            texts = zip(*rows, strict=True)
            return _fold(list(map(_Column, texts, are_text, are_prose)), n_names, width)
        return f'{text}\n'

    def table(self, header: Cells, rows: Iterable[Cells], are_text: Sequence[bool]) -> str:
        rule = ['-' * shown_width(cell) for cell in header]
        return '\n'.join('  '.join(row).rstrip() for row in [header, rule, *rows])

    def emphasize(self, grid: Grid, cells: list[list[str]]) -> None:
        """Make the best cells bold, in place, and those that look the same."""
        for column, header in enumerate(grid.headers):
            if header not in grid.best:
                continue
            values = {row[column] for row in grid.rows} - {None}
            if len(values) > 1:
                best = self._cell(max(values), True)
                for row_cells in cells:
                    if row_cells[column] == best:
                        row_cells[column] = self.bold.format(best)

    def text(self, text: str) -> str:
        return printable(text)

    header = text  # also where a subclass has another text

    def marked(self, text: str, marked: Marked) -> str:
        """Return the text of a value with its mark and detail."""
        return f'{self.value_text(text, marked)}{marked.mark} {marked.detail}'.rstrip()

    def value_text(self, text: str, marked: Marked) -> str:
        return self.bold.format(text) if marked.is_best else text

    def _cell(self, value: Any, is_rounded: bool) -> str:
        if isinstance(value, Marked):
            if isinstance(value.value, str):
                return self.marked(self.header(value.value), value)
            return self.marked(self._cell(value.value, is_rounded), value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float) and not is_rounded:
            return str(value)
        return short(value)


class Markdown(AlignedText):
    """Tables of GitHub's Markdown; text is escaped, so that it neither formats nor ends a cell."""

    suffixes = ('.md',)
    is_folded = False
    bold = '**{}**'

    def table(self, header: Cells, rows: Iterable[Cells], are_text: Sequence[bool]) -> str:
        rule = '|'.join('-' * (shown_width(cell) + 2) for cell in header)
        header_line, *lines = (f'| {" | ".join(row)} |' for row in [header, *rows])
        return '\n'.join([header_line, f'|{rule}|', *lines])

    def heading(self, name: str, note: str) -> str:
        return f'**{self.paragraph(printable(name) + note)}**\n'

    def paragraph(self, text: str) -> str:
        escaped = _escape_markdown(r'\\\g<0>', '\n'.join(map(printable, text.split('\n'))))
        return re.sub('\n(?=.)', r'\\\n', escaped)  # a backslash keeps the end of a line

    def text(self, text: str) -> str:
        """Return text as code, but prose and empty text unchanged."""
        text = printable(text)
        if not text or (' ' in text and text == self.paragraph(text)):
            return text
        text = text.replace('|', r'\|')
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

    def table(self, header: Cells, rows: Iterable[Cells], are_text: Sequence[bool]) -> str:
        letters = ''.join(['@{}', *('l' if is_text else 'r' for is_text in are_text), '@{}'])
        # LaTeX would take a bracket or star after a line break for its argument.
        header_line, *lines = (
            re.sub(r'^ (?=[\[*])', ' {}', f' {" & ".join(row)} \\\\') for row in [header, *rows]
        )
        begin = [f'\\begin{{tabular}}{{{letters}}}', r'\toprule', header_line, r'\midrule']
        return '\n'.join([*begin, *lines, r'\bottomrule', r'\end{tabular}'])

    def heading(self, name: str, note: str) -> str:
        return f'% {super().heading(name, note)}'

    def text(self, text: str) -> str:
        return _escape_latex(lambda match: _LATEX[match[0]], printable(text))

    def header(self, text: str) -> str:
        """Return a header with its cutoff or its note below it, so that columns stay narrow."""
        name, parenthesis, note = text.rpartition(' (')
        if not parenthesis:
            name, sign, cutoff = map(self.text, text.partition('@'))
            if not sign:
                return name
            return rf'\shortstack[l]{{{name}\\{sign}{cutoff}}}'
        return rf'\shortstack[l]{{{self.text(name)}\\{{\scriptsize ({self.text(note)}}}}}'

    def paragraph(self, text: str) -> str:
        """Return text as comments, because a paper has its own words around tables."""
        return ''.join(f'% {printable(line)}\n' for line in text.splitlines())

    def captioned(self, block: Captioned) -> str:
        """Return a float; the details of a row, and the note, stand below in small print."""
        rows: list[Sequence[Any]] = []
        for row in block.grid.rows:
            details = [cell.detail if isinstance(cell, Marked) else '' for cell in row]
            rows.append(row)
            if any(details):
                rows.append([Marked('', detail=detail) for detail in details])
        environment = 'table'
        if block.is_wide:
            environment = 'table*'
        note = ''
        if block.note:
            text = self.text(block.note)
            note = f'\n\\smallskip\n\\parbox{{\\linewidth}}{{\\footnotesize {text}}}\n'
        return (
            f'\\begin{{{environment}}}\n\\centering\n\\caption{{{self.text(block.caption)}}}\n'
            f'\\label{{{block.label}}}\n\\medskip\n'
            '\\footnotesize\\setlength{\\tabcolsep}{4pt}\n'
            f'{self.grid(replace(block.grid, rows=rows))}{note}\\end{{{environment}}}\n'
        )

    def marked(self, text: str, marked: Marked) -> str:
        if not text and not marked.detail:
            return ''
        if not text:
            return rf'{{\scriptsize {self.text(marked.detail)}}}'
        value = self.value_text(text, marked)
        if marked.mark:
            value += rf'\textsuperscript{{{self.text(marked.mark)}}}'
        return value


class Html(AlignedText):
    """HTML for a notebook; text is escaped."""

    is_folded = False
    bold = '<strong>{}</strong>'

    def table(self, header: Cells, rows: Iterable[Cells], are_text: Sequence[bool]) -> str:
        styles = ['' if is_text else ' style="text-align: right;"' for is_text in are_text]

        def line(tag: str, row: Cells) -> str:
            cells = (
                f'<{tag}{style}>{cell}</{tag}>' for cell, style in zip(row, styles, strict=True)
            )
            return f'<tr>{"".join(cells)}</tr>'

        head = ['<table>', '<thead>', line('th', header), '</thead>', '<tbody>']
        return '\n'.join([*head, *(line('td', row) for row in rows), '</tbody>', '</table>'])

    def heading(self, name: str, note: str) -> str:
        return f'<p><strong>{self.text(name)}</strong>{self.text(note)}</p>\n'

    def paragraph(self, text: str) -> str:
        return ''.join(f'<p>{self.text(line)}</p>\n' for line in text.splitlines())

    def text(self, text: str) -> str:
        from html import escape

        return escape(printable(text))

    header = text

    def marked(self, text: str, marked: Marked) -> str:
        value = self.value_text(text, marked)
        if marked.mark:
            value += f'<sup>{self.text(marked.mark)}</sup>'
        return f'{value} {self.text(marked.detail)}'.rstrip()


class Csv:
    suffixes: tuple[str, ...] = ('.csv',)

    def render(self, document: Document, width: int | None = None) -> str:
        import csv

        grid = _require_rows(document)
        lines: list[str] = []  # each ends in \r\n, so that fields with \r or \n are quoted
        writer = csv.writer(SimpleNamespace(write=lines.append))
        writer.writerows([grid.headers, *grid.rows])
        return ''.join(f'{line.removesuffix(writer.dialect.lineterminator)}\n' for line in lines)


class Json:
    suffixes: tuple[str, ...] = ('.json',)

    def render(self, document: Document, width: int | None = None) -> str:
        return f'{_json(document.value(), indent=2)}\n'


class JsonLines:
    suffixes: tuple[str, ...] = ('.jsonl', '.ndjson')

    def render(self, document: Document, width: int | None = None) -> str:
        grid = _require_rows(document)
        return ''.join(self.row(grid.headers, row) for row in grid.rows)

    def heading(self, headers: Sequence[str]) -> str:
        return ''

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        return f'{_json(dict(zip(headers, row, strict=True)))}\n'

    def error(self, query: str, message: str) -> str:
        return self.row(['query', 'error'], [query, message])


class Tsv:
    def heading(self, headers: Sequence[str]) -> str:
        return ''

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        return '\t'.join(map(str, row)) + '\n'

    def error(self, query: str, message: str) -> str:
        return f'{printable(query)}\terror: {message}\n'


class AlignedAnswers:
    """Values aligned under headers; the query comes last and is never cut."""

    def heading(self, headers: Sequence[str]) -> str:
        rules = ['-' * max(len(header), MIN_WIDTH) for header in headers]
        return self.row(headers, headers) + self.row(headers, rules)

    def row(self, headers: Sequence[str], row: Sequence[Any]) -> str:
        query, *values = row
        widths = [max(len(header), MIN_WIDTH) for header in headers[1:]]
        return '  '.join([*map(str.rjust, map(short, values), widths), printable(query)]) + '\n'

    def error(self, query: str, message: str) -> str:
        return f'error: {message}\n'


# To add a format, write a class with its suffixes.
_TABLE = AlignedText()
_JSON_LINES = JsonLines()
FORMATS: dict[str, AlignedText | Csv | Json | JsonLines] = {
    'table': _TABLE,
    'csv': Csv(),
    'json': Json(),
    'jsonl': _JSON_LINES,
    'markdown': Markdown(),
    'latex': Latex(),
}
ANSWER_FORMATS: dict[str, AlignedAnswers | Tsv | JsonLines] = {
    'table': AlignedAnswers(),
    'tsv': Tsv(),
    'jsonl': _JSON_LINES,
}
FORMAT_OF_SUFFIX = {
    **{suffix: name for name, format in FORMATS.items() for suffix in format.suffixes},
    **{f'.{name}': name for name in ('html', 'svg', 'png', 'pdf')},  # written by `render.page`
}


def render(
    document: Document, format: str, width: int | None = None, is_coloured: bool = False
) -> str:
    """Return a document in one of the `FORMATS`, with tables folded to the width."""
    allowed = tuple(FORMATS)
    if document.rows is None:
        allowed = TEXT_FORMATS
    renderer = FORMATS[check_policy('format', format, allowed)]
    if is_coloured and renderer is _TABLE:
        renderer = AlignedText()
        renderer.bold = BOLD
    return renderer.render(document, width)


def to_html(document: Document) -> str:
    """Return a document as HTML for a notebook."""
    return Html().render(document)


def cell_text(cell: Any) -> str:
    return _TABLE._cell(cell, True)


def short(value: Any) -> str:
    """Return a value for people: floats rounded, True as yes, lists as their length."""
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'yes' if value else ''
    if isinstance(value, float):
        return f'{value:z.{N_DECIMALS.get()}f}'  # z: no -0.000
    if isinstance(value, list):
        return str(len(value))
    return str(value)


def short_p(p: float, *, below: str = '<', equal: str = '', limit: float = 1.0) -> str:
    """Return a p with four decimals, or as many as leave it on its side of a limit; none is 0."""
    for n_decimals in range(P_DECIMALS, MOST_DIGITS):
        if (round(p, n_decimals) <= limit) == (p <= limit):
            break
    else:
        return f'{equal}{p!r}'
    if n_decimals == P_DECIMALS and p < MIN_P:
        return f'{below}{MIN_P}'
    return f'{equal}{p:.{n_decimals}f}'


def shown_width(text: str) -> int:
    """Return the number of columns that a text, bold or not, takes on a terminal."""
    plain = text.replace(BOLD[:4], '').replace(BOLD[-4:], '')
    if plain.isascii():
        return len(plain)
    from rich.cells import cell_len

    return cell_len(plain)


def _folded(text: str, width: int | None) -> str:
    """Return text with its long lines folded between words."""
    lines = text.split('\n')
    for number, line in enumerate(lines):
        if width is not None and len(line) > width:
            lines[number] = fill(line, width)
    return '\n'.join(lines)


def _pad(rows: Sequence[Cells], are_text: Sequence[bool]) -> tuple[Cells, Iterable[Cells]]:
    """Return header and rows padded to the widths of their columns, numbers right-aligned."""
    columns = []
    for (header, *cells), is_text in zip(zip(*rows, strict=True), are_text, strict=True):
        width = max([shown_width(header) + 2, *map(shown_width, cells)])
        spaced = ((cell, ' ' * (width - shown_width(cell))) for cell in (header, *cells))
        columns.append(
            [f'{cell}{space}' if is_text else f'{space}{cell}' for cell, space in spaced]
        )
    header, *cells = zip(*columns, strict=True) if columns else [()]
    return header, cells


class _Column(NamedTuple):
    texts: Sequence[str]  # the header and the cells
    is_text: bool  # left-aligned
    is_prose: bool  # not a number with its interval, which takes one line where possible


def _fold(columns: Sequence[_Column], n_names: int, width: int) -> str:
    """Return a table that fits the terminal, if need be in parts that repeat the names of rows."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    room = width + GAP  # all sizes include the gap after a column
    least = [_least_width(column) + GAP for column in columns]
    n_fitting = max(n_names + 1, sum(end <= room for end in accumulate(least)))
    if n_fitting < len(columns):
        parts = columns[:n_fitting], [*columns[:n_names], *columns[n_fitting:]]
        return '\n'.join(_fold(part, n_names, width) for part in parts)
    sizes = [max(map(shown_width, column.texts)) + GAP for column in columns]
    while sum(sizes) > room:
        reducible = [n for n, size in enumerate(sizes) if size > least[n]] or range(len(sizes))
        sizes[max(reducible, key=sizes.__getitem__)] -= 1
    rule = Box('    \n    \n -- \n    \n    \n    \n    \n    \n')  # below the headers alone
    table = Table(box=rule, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style='')
    for column, size in zip(columns, sizes, strict=True):
        justify: Literal['left', 'right'] = 'left' if column.is_text else 'right'
        table.add_column(Text(column.texts[0]), justify=justify, width=size - GAP, overflow='fold')
    for row in zip(*(column.texts[1:] for column in columns), strict=True):
        table.add_row(*map(Text.from_ansi, row))
    console = Console(
        file=io.StringIO(), width=sum(sizes), color_system='standard', legacy_windows=False
    )
    with console.capture() as capture:
        console.print(table, crop=False)
    return ''.join(f'{line.rstrip()}\n' for line in capture.get().rstrip().splitlines())


def _least_width(column: _Column) -> int:
    """Return the width at which no word and no number breaks, and texts take few lines."""
    header, *cells = column.texts
    widths = [shown_width(cell) for cell in cells]
    folded_texts = [header]
    if column.is_prose:
        widths = []
        folded_texts = [*column.texts]
    for text in folded_texts:
        longest = max(map(shown_width, text.split()), default=1)
        sizes = count(longest)
        widths.append(next(size for size in sizes if fill(text, size).count('\n') < MOST_LINES))
    return max(widths)


def _require_rows(document: Document) -> Grid:
    assert document.rows is not None  # else `render` allows only formats without rows
    return document.rows()


def _json(value: Any, indent: int | None = None) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _replace_controls(lambda match: f'\\u{ord(match[0]):04x}', text)
