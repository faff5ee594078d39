"""Why lines are wrong, and what their user meant: the remedies that errors give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mediaeval_ap.choices import BETWEEN_WORDS
from mediaeval_ap.errors import DataWarning, FormatError, printable, shown, warn_caller
from mediaeval_ap.tables import layouts
from mediaeval_ap.tables.faults import Cause, Fault, explain_number, invalid_utf8, no_rows
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.text import line_rules
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK, find_fields, holds_text
from mediaeval_ap.tables.values import is_finite_decimal, is_number

_NOT_IN_TEXT = {  # with their names
    b'\0': 'a NUL byte',
    b'\r': 'a carriage return',
    BYTE_ORDER_MARK: 'a byte order mark (U+FEFF)',
}
JOINED = 'were files joined? delete this mark, which begins the second one'
MODALITIES = ('written', 'pronounced', 'image', 'audio', 'both')  # of all campaigns
SEPARATORS = {',': 'commas', ';': 'semicolons', '|': 'vertical bars', '\t': 'tabs'}
QUOTED_BYTES = 1000  # more than a message shows, but few of an endless line
MAX_REMEDY_BYTES = 1 << 12  # a longer line is hardly a row with other separators

_EVALUATE_LAYOUTS = layouts.HYPOTHESIS, layouts.REFERENCE
_TREC = 'needs its qrels: type mediaeval-ap evaluate-trec QRELS RUN'
_2015 = 'only evaluate-2015 reads: type mediaeval-ap evaluate-2015 REFERENCE RUN --shots SHOTS'
_OTHER_COMMANDS = {  # files that users pass to `evaluate`, and the commands that read them
    'TREC run': (layouts.RUN, _TREC),
    '2015 hypothesis': (layouts.HYPOTHESIS_2015, _2015),
    '2015 reference': (layouts.REFERENCE_2015, _2015),
}
EXCHANGED = 'are two files exchanged?'
# Lines that no table has, and what to do about them; all but the last begin files of other kinds.
_FOREIGN_LINES = (
    ('PK\x03\x04', 'this is a ZIP archive: unpack it by unzip, or save an .xlsx as text'),
    ('(?s:.{257}ustar)', 'this is a tar archive: unpack it by tar -xf'),
    ('version https://git-lfs', 'this is a pointer of Git LFS: get the file by git lfs pull'),
    (r'\s*<(?i:[!?]|(?:html|head|body)\b)', 'this is a web page: download the file itself'),
    (r'<{7} |={7}\s*\Z|>{7} ', 'this is a mark of a merge conflict: keep one of the two versions'),
)
begins_other_file = re.compile('|'.join(start for start, _ in _FOREIGN_LINES[:-1]).encode()).match
# What the fields of a row look like; ids of corpora and videos look like none of these.
_LOOKS = {
    'shot_id': re.compile('[0-9]+').fullmatch,
    'person_name': re.compile('[a-z]+(?:_[a-z]+)*').fullmatch,
    'confidence': re.compile(r'[-+]?[0-9]+(?:\.[0-9]*(?:e[-+]?[0-9]+)?|e[-+]?[0-9]+)').fullmatch,
}
_FIELD_NAMES = {name for family in layouts.FAMILIES for layout in family for name in layout.fields}

_has_decimal_comma = re.compile('[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?').fullmatch
_is_code = re.compile(rb'["{},;|]').search  # as in CSV or JSON
_separates_words = re.compile(f'[{BETWEEN_WORDS}]').search


def no_rows_in_text(source: str, layout: Layout, n_lines: int) -> FormatError:
    """Make the error for a text file whose lines, if it has any, are blank or comments."""
    content = 'only blank lines' if layout.comment is None else 'only blank lines or comments'
    return no_rows(source, layout, content if n_lines else 'an empty file')


def explain_endless_line() -> Fault:
    limit = f'{line_rules.MAX_LINE_BYTES >> 20} MiB'
    return Fault('', f'more than {limit} without a line end', 'lines of text')


def warn_of_cut_line(source: str, line: int, layout: Layout) -> None:
    """Warn that the number in the last line may have lost digits, as the line has no end."""
    note = f'no line end after line {line}: is its {layout.number} whole, or cut?'
    warn_caller([DataWarning('cut-line', printable(source), note)])


def explain(line: bytes, cause: Cause, layout: Layout) -> Fault:
    """Explain a line that is wrong for this cause, with the remedy if one is certain."""
    fault: Fault | None
    match line_rules.cause_of(line, layout) if cause is Cause.FOREIGN else cause:
        case Cause.LENGTH:
            return explain_endless_line()
        case Cause.HEADER:
            header = f'the header {shown(line.decode())}'
            return Fault('', header, 'rows only', remedy='remove this line')
        case Cause.FIELDS:
            quoted = shown(line[:QUOTED_BYTES].decode(errors='ignore'))
            if layout.comment is None and line.lstrip(b' \t').startswith(b'#'):
                return Fault('', f'a comment line {quoted}', 'rows only', remedy='delete it')
            fields = layouts.fields_in_words(line_rules.count_fields(line))
            fault = Fault('', f'{fields} in {quoted}', layout.expected)
        case Cause.NUMBER:
            fault = explain_number(find_fields(line)[layout.number_at], layout)
        case Cause.BYTES:
            fault = explain_bytes(line)
    assert fault is not None
    remedy = fault.remedy or remedy_of_foreign(line[:QUOTED_BYTES].decode(errors='replace'))
    if not remedy and len(line) <= MAX_REMEDY_BYTES:
        remedy = _remedy(line, layout)
    return replace(fault, remedy=remedy)


def explain_bytes(line: bytes) -> Fault | None:
    """Explain the first NUL, CR, U+FEFF or byte that is not UTF-8; None without any."""
    even_bytes = line[::2]
    odd_bytes = line[1::2]
    is_every_second_nul = len(line) > 3 and (
        (not any(even_bytes) and 0 not in odd_bytes) or (not any(odd_bytes) and 0 not in even_bytes)
    )
    remedy = remedy_of_foreign(line[:QUOTED_BYTES].decode('latin-1'))
    if is_every_second_nul or line.startswith((b'\xff\xfe', b'\xfe\xff')):
        remedy = 'these bytes look like UTF-16: save the file as UTF-8'
    faults = []  # (first byte, problem, expected)
    for mark, name in _NOT_IN_TEXT.items():
        if (position := line.find(mark)) >= 0:
            faults.append((position, f'{name} at byte {position + 1}', 'text'))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        faults.append((error.start, invalid_utf8(error), 'UTF-8'))
    if not faults:
        return None
    position, problem, expected = min(faults)
    if line.startswith(BYTE_ORDER_MARK, position):
        remedy = JOINED
    elif line.startswith(b'\r', position) and not remedy:
        remedy = 'end lines with LF or CR LF; this one ends with CR CR LF'
        if position < len(line) - 1:
            remedy = 'end lines with LF or CR LF, not with CR alone'
    return Fault('', problem, expected, remedy)


def remedy_of_foreign(line: str) -> str:
    """Return the remedy for a line that no table has; '' for any other line."""
    return next((remedy for start, remedy in _FOREIGN_LINES if re.match(start, line)), '')


def _remedy(line: bytes, layout: Layout) -> str:
    """Say how to mend a wrong line, or return '' where that is not certain."""
    if not holds_text(line):
        return ''
    words = [word.decode() for word in find_fields(line)]
    if words == ['{'] or words[0].startswith('{"'):
        return 'it looks like JSON: mediaeval-ap compare reads results; write rows as CSV'
    if len(words) > 1 and _is_header(words):
        return 'remove this header'
    if len(words) == len(layout.fields):
        field = dict(zip(layout.fields, words, strict=True)).get(str(layout.number), '')
        unquoted = field.strip('"\'')
        if unquoted != field and is_number(unquoted.encode(), layout.integers):
            return 'write the fields without quotes'
        if _has_decimal_comma(unquoted):
            return 'write a decimal point, not a comma'
        return _remedy_of_exchanged(words, layout)
    for separator, name in SEPARATORS.items():
        if fields := _fields_between(separator, line.decode(), layout):
            return f'{name} separate its fields: {_how_to_rewrite(line, separator, fields, layout)}'
        n_fields = line.count(separator.encode()) + 1
        if len(words) == 1 and n_fields > 2 and abs(n_fields - len(layout.fields)) == 1:
            all_fields = f'the {len(layout.fields)} fields, with spaces or tabs between them'
            return f'{name} separate its {n_fields} fields: write {all_fields}'
    return _remedy_of_spaces(words, layout)


def order_of(words: Sequence[str], layout: Layout) -> list[str]:
    """Return the fields of words, by their looks, if not in a row's order; '' is not known."""
    order = [next((field for field in _LOOKS if _LOOKS[field](word)), '') for word in words]
    columns = [column for column, word in enumerate(words) if word and not order[column]]
    columns.sort(key=lambda column: len(words[column]))  # ids of videos are longer than of corpora
    ids = (field for field in layout.fields if field not in _LOOKS)
    for column, field in zip(columns, ids, strict=False):
        order[column] = field
    if '' in words:
        order[words.index('')] = next((field for field in _LOOKS if field not in order), '')
    pairs = zip(order, layout.fields, strict=True)
    is_moved = any(field in _LOOKS and field != expected for field, expected in pairs)
    return order if is_moved and sorted(order) == sorted(layout.fields) else []


def _remedy_of_exchanged(words: Sequence[str], layout: Layout) -> str:
    """Name the field of each column, or of the number, if one column alone holds a fraction."""
    if order := order_of(words, layout):
        return f'its columns look like {" ".join(order)}: write {" ".join(layout.fields)}'
    fractions = [
        column
        for column, word in enumerate(words, 1)
        if re.search('[.eE]', word) and is_number(word.encode(), layout.integers)
    ]
    if len(fractions) != 1:
        return ''
    return f'column {fractions[0]} holds the {layout.number}: write {" ".join(layout.fields)}'


def _remedy_of_spaces(words: Sequence[str], layout: Layout) -> str:
    """Say how to write a name, if the line would fit with _ for the spaces of its name."""
    if 'person_name' not in layout.fields or len(words) <= len(layout.fields):
        return ''
    begin = layout.fields.index('person_name')
    end = begin + 1 + len(words) - len(layout.fields)
    name = '_'.join(words[begin:end])
    line = ' '.join([*words[:begin], name, *words[end:]]).encode()
    if re.search('[0-9#]', name) or not _looks_like(line, layout):
        return ''
    return f'write _ for each space within a name, as {shown(name)}'


def _fields_between(separator: str, line: str, layout: Layout) -> list[str]:
    """Split a line at a separator such as a comma; [] if the fields do not fit the layout."""
    import csv

    try:
        (fields,) = csv.reader([line], delimiter=separator)
    except csv.Error:
        return []
    fields = [field.strip(BETWEEN_WORDS) for field in fields]
    if len(fields) != len(layout.fields) or len(fields) == 1 or not all(fields):
        return []
    # Only names of persons may hold spaces: two words in another field are two fields.
    field_by_name = zip(layout.fields, fields, strict=True)
    other_fields = (field for name, field in field_by_name if name != 'person_name')
    return [] if any(map(_separates_words, other_fields)) else fields


def _how_to_rewrite(line: bytes, separator: str, fields: Sequence[str], layout: Layout) -> str:
    """Say how to turn a line with another separator into a row."""
    steps = []
    if separator == ',':
        header = ','.join(layout.fields)
        steps.append(f'write spaces or tabs instead, or begin with the header {header}')
    elif separator != '\t':
        steps.append('write spaces or tabs instead')
    if any(map(_separates_words, fields)):
        steps.append('write _ for each space within a field')
    if b'"' in line:
        steps.append('write them without quotes')
    if layout.number is not None and _has_decimal_comma(fields[layout.number_at]):
        steps.append('write a decimal point, not a comma')
    if _is_header(fields):
        steps.append('remove this header')
    return ', '.join(steps)


def _is_header(words: Sequence[str]) -> bool:
    return all(word.casefold() in _FIELD_NAMES for word in words)


def better_layout(line: bytes, layout: Layout) -> str:
    """Name the first other layout that a line fits; '' if it fits `layout`, or no other."""
    for family in layouts.FAMILIES:
        if layout in family and not _looks_like(line, layout):
            candidates = {other.name: other for other in family}
            if layout in _EVALUATE_LAYOUTS:
                candidates |= {name: other for name, (other, _) in _OTHER_COMMANDS.items()}
            fitting = (name for name, other in candidates.items() if _looks_like(line, other))
            return next(fitting, '')
    return ''


def explain_better_layout(name: str, layout: Layout) -> str:
    """Say that the first row fits another layout, and which command reads such files."""
    finding = f'its first row fits {with_article(name)}'
    if layout in _EVALUATE_LAYOUTS and name in _OTHER_COMMANDS:
        _, command = _OTHER_COMMANDS[name]
        return f'{finding}, which {command}'
    return f'{finding}: {EXCHANGED}'


def with_article(name: str) -> str:
    """Name a file of a layout, with an article: 'a subset file'."""
    return f'{"an" if name[0] in "aeiou" else "a"} {name} file'


def _looks_like(line: bytes, layout: Layout) -> bool:
    """Return True if a line is a valid row, and its fields hold plausible values."""
    if (
        line_rules.cause_of(line, layout) is not None
        or line_rules.holds_no_row(line, layout)
        or _is_code(line)
    ):
        return False
    fields = dict(zip(layout.fields, find_fields(line), strict=True))
    if 'start_time' in fields:
        times = fields['start_time'], fields['end_time']
        return all(map(is_finite_decimal, times)) and 0 <= float(times[0]) <= float(times[1])
    if word := fields.get('modality') or fields.get('source'):
        return word.decode() in MODALITIES
    if not fields.get('rank', b'1').isdigit():
        return False
    # In a layout of texts alone, a number at the end suggests that a field is missing.
    is_cut = layout.number is None and is_finite_decimal(find_fields(line)[-1])
    name = fields.get('person_name', b'')
    return not (is_cut or is_finite_decimal(name) or name.decode() in MODALITIES)
