"""Likely causes of wrong lines: what is certain about a line, and what to do about it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from mediaeval_ap.plain_text import BETWEEN_WORDS
from mediaeval_ap.tables import layouts
from mediaeval_ap.tables.faults import Wrong
from mediaeval_ap.tables.layouts import Layout
from mediaeval_ap.tables.line_format import (
    explain,
    find_fields,
    holds_no_row,
    holds_text,
    is_finite_decimal,
    is_number,
)

LONGEST = 1 << 12  # a choice: a longer line is no row that somebody wrote with other separators
SEPARATORS = {',': 'commas', ';': 'semicolons', '|': 'vertical bars', '\t': 'tabs'}
MODALITIES = ('written', 'pronounced', 'image', 'audio', 'both')  # of all campaigns

# Files that may be taken for one another; first those whose rows say most about what they are.
_FAMILIES = (
    (
        *(layouts.EVIDENCE, layouts.SHOTS, layouts.HYPOTHESIS),
        *(layouts.REFERENCE, layouts.SUBSET),
    ),
    (
        *(layouts.EVIDENCE_2015, layouts.SHOTS_2015, layouts.HYPOTHESIS_2015),
        layouts.REFERENCE_2015,
    ),
    (layouts.QRELS, layouts.RUN),
)
_FIELD_NAMES = {field for family in _FAMILIES for layout in family for field in layout.fields}
_has_decimal_comma = re.compile('[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]+)?').fullmatch
_is_code = re.compile(rb'["{},;|]').search  # as in CSV or JSON
_separates_words = re.compile(f'[{BETWEEN_WORDS}]').search


def diagnosed(wrong: Wrong, line: bytes, layout: Layout) -> Wrong:
    """Add to a fault of a line the remedy of its cause, if a cause is certain."""
    if wrong.remedy or len(line) > LONGEST or not holds_text(line):
        return wrong
    return dataclasses.replace(wrong, remedy=_remedy(line, layout))


def _remedy(line: bytes, layout: Layout) -> str:
    words = [word.decode() for word in find_fields(line)]
    if len(words) > 1 and _is_header(words):
        return 'remove this header'
    if len(words) == len(layout.fields):
        return '' if layout.number is None else _of_number(words[layout.number_at], layout)
    for separator, name in SEPARATORS.items():
        fields = _split(line.decode(), separator, layout)
        if fields:
            return f'{name} separate its fields: {_instead(line, separator, fields, layout)}'
    return ''


def _of_number(field: str, layout: Layout) -> str:
    unquoted = field.strip('"\'')
    if unquoted != field and is_number(unquoted.encode(), layout):
        return 'write the fields without quotes'
    if _has_decimal_comma(unquoted):
        return 'write a decimal point, not a comma'
    return ''


def _split(line: str, separator: str, layout: Layout) -> list[str]:
    """Return the fields of a line between other separators; nothing if these do not fit."""
    import csv

    try:
        (fields,) = csv.reader([line], delimiter=separator)
    except csv.Error:
        return []
    fields = [field.strip(BETWEEN_WORDS) for field in fields]
    if len(fields) != len(layout.fields) or len(fields) == 1 or not all(fields):
        return []
    # Two words in any other field are two fields.
    named = zip(layout.fields, fields, strict=True)
    others = (field for name, field in named if name != 'person_name')
    return [] if any(map(_separates_words, others)) else fields


def _instead(line: bytes, separator: str, fields: Sequence[str], layout: Layout) -> str:
    """Tell what to write in place of separated fields."""
    steps = [] if separator == '\t' else ['write spaces or tabs instead']
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


def other_file(line: bytes, layout: Layout) -> str:
    """Name the other file that a row fits, if it does not look like a row of its own."""
    for family in _FAMILIES:
        if layout in family and not _looks_like(line, layout):
            fitting = (each.name for each in family if _looks_like(line, each))
            return next(fitting, '')
    return ''


def exchanged(name: str) -> str:
    """Tell that the first row fits another file."""
    return f'its first row fits {file_of(name)}: are two files exchanged?'


def file_of(name: str) -> str:
    """Return the name of a layout with an article."""
    return f'{"an" if name[0] in "aeiou" else "a"} {name} file'


def _looks_like(line: bytes, layout: Layout) -> bool:
    """Return whether a line holds a right row of a file, with what people write into its fields."""
    if explain(line, layout) is not None or holds_no_row(line, layout) or _is_code(line):
        return False
    fields = dict(zip(layout.fields, find_fields(line), strict=True))
    if 'start_time' in fields:
        times = fields['start_time'], fields['end_time']
        return all(map(is_finite_decimal, times)) and 0 <= float(times[0]) <= float(times[1])
    if word := fields.get('modality') or fields.get('source'):
        return word.decode() in MODALITIES
    # A row of text alone that ends with a number rather lacks a field.
    is_cut = layout.number is None and is_finite_decimal(find_fields(line)[-1])
    name = fields.get('person_name', b'')
    return not (is_cut or is_finite_decimal(name) or name.decode() in MODALITIES)
