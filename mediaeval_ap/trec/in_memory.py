"""Qrels and runs that are neither files nor tables: dictionaries, and those of other libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mediaeval_ap.errors import FormatError, ParameterError, shown
from mediaeval_ap.tables import Layout, Table
from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.reading import Kind, Origin
from mediaeval_ap.tables.rows import explain_row, from_rows
from mediaeval_ap.tables.text.format import no_rows


def read_in_memory(given: Origin, layout: Layout) -> Table | None:
    """Read a dictionary, rows of ir_measures, or an object of ranx; None for any other origin."""
    value = given.value
    if isinstance(value, Mapping):
        return _from_mapping(value, layout, '<dict>')
    known = [getattr(sys.modules.get('ranx'), name, ()) for name in ('Qrels', 'Run')]
    expected, other = known if layout.number == QRELS.number else known[::-1]
    if isinstance(value, other):
        found = f'{layout.name}: found {type(value).__name__} of ranx'
        raise ParameterError(f'{found}: are qrels and run exchanged?')
    if isinstance(value, expected):
        return _from_mapping(value.to_dict(), layout, f'<{type(value).__name__}>')
    return from_rows(_by_attribute(value, layout), layout) if given.kind is Kind.ROWS else None


def _from_mapping(by_topic: Mapping[Any, Any], layout: Layout, name: str) -> Table:
    """Read a dictionary of topics, each a dictionary of documents."""
    if not by_topic:
        raise no_rows(name, layout)
    rows: list[tuple[Any, ...]] = []
    for topic, documents in by_topic.items():
        place = f'topic {shown(topic)}'
        if not isinstance(documents, Mapping):
            found = f'{shown(documents)} ({type(documents).__name__})'
            raise FormatError(name, place, '', found, f'a dictionary of docno to {layout.number}')
        if not documents and layout.number == QRELS.number:
            raise FormatError(name, place, '', 'no documents', 'at least one that is judged')
        rows += [(topic, document, number) for document, number in documents.items()]
    try:
        return from_rows(rows, layout, name=name)
    except FormatError:
        for row in rows:  # which have no number that anybody knows
            if wrong := explain_row(row, layout):
                raise wrong.error(name, f'topic {shown(row[0])}, docno {shown(row[1])}') from None
        raise


def _by_attribute(rows: Iterable[Any], layout: Layout) -> Iterator[Any]:
    """Yield named tuples of ir_measures in the order of the layout, and all else as it is."""
    attribute = str(layout.number)
    for number, row in enumerate(rows, 1):
        if not (hasattr(row, 'query_id') and hasattr(row, 'doc_id')):
            yield row
        elif hasattr(row, attribute):
            yield row.query_id, row.doc_id, getattr(row, attribute)
        else:
            found = f'{type(row).__name__} without it'
            expected = f'a {attribute}: are qrels and run exchanged?'
            raise FormatError('<rows>', f'row {number}', attribute, found, expected)
