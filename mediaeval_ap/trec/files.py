"""Qrels and runs of TREC as columns: topics, documents, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.errors import shown
from mediaeval_ap.tables import Column, Layout, Source, read
from mediaeval_ap.tables.bulk import read_in_bulk, text_column
from mediaeval_ap.tables.byte_sources import ByteSource
from mediaeval_ap.tables.input_kinds import Kind, Origin
from mediaeval_ap.tables.line_numbers import LineNumbers
from mediaeval_ap.tables.table import NumberedRows
from mediaeval_ap.trec.in_memory import read_in_memory

TOPIC, DOCUMENT = 'qid', 'docno'
# One array of plain strings holds 2 GiB at most, and taking rows makes one array of them. From half
# of that on, a choice, large strings are used, which take a little more memory.
PLAIN_TEXT_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class Entries(NumberedRows):
    """Rows of a TREC file: a topic, a document and a number each."""

    topic: Column
    document: Any  # a chunked array of pyarrow; no list of text, as a large run has a million
    number: NDArray[np.float64]  # relevance, or score
    source: Source
    lines: LineNumbers

    def __len__(self) -> int:
        return len(self.number)

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the documents of some rows."""
        texts: list[str] = _taken(self.document, rows).to_pylist()
        return texts

    def about(
        self, others: Entries, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return the rows about documents of some rows of another file, and these documents."""
        from pyarrow import compute

        documents = _taken(others.document, rows).combine_chunks()
        about = compute.is_in(self.document, documents)
        found = np.from_dlpack(compute.indices_nonzero(about)).astype(np.int64)
        return found, self.document.filter(about).to_pylist()

    def refuse_repeated(self) -> None:
        """Refuse a document that a topic has twice."""
        from pyarrow import compute

        topic, document = self.topic.codes, self.document
        order = None
        if len(run_starts([topic])) > len(self.topic.values):  # topics between one another
            order = topic.argsort(kind='stable').astype(np.int64)
            topic, document = topic[order], _taken(document, order)
        begins = run_starts([topic])
        for begin, size in zip(begins, np.diff(begins, append=len(topic)).tolist(), strict=True):
            of_topic = document.slice(begin, size)
            if compute.count_distinct(of_topic).as_py() < size:
                texts = of_topic.to_pylist()
                first: dict[str, int] = {}
                again = next(
                    place
                    for place, text in enumerate(texts)
                    if first.setdefault(text, place) != place
                )
                row = int(begin + again if order is None else order[begin + again])
                found = f'{shown(texts[again])} again for topic {shown(self.topic.text(row))}'
                raise self.error([row], DOCUMENT, found, 'each document once')


def read_entries(origin: Any, layout: Layout) -> Entries:
    """Read qrels or a run; tables and tuples need no more than topic, document and number."""
    import pyarrow

    given = Origin.of(origin)
    if given.kind is Kind.TEXT and given.value.is_stored:  # else it could not be read again
        entries = _read_in_bulk(given.value, layout)
        if entries is not None:
            return entries
    if not given.kind.has_all_fields:
        layout = Layout(layout.name, (TOPIC, DOCUMENT), layout.number, integers=layout.integers)
    table = read_in_memory(given, layout)
    if table is None:
        table = read(given, layout)
    document = pyarrow.chunked_array([table.texts(DOCUMENT)], pyarrow.large_string())
    return Entries(table[TOPIC], document, table.confidence, table.source, table.lines)


def _read_in_bulk(source: ByteSource, layout: Layout) -> Entries | None:
    """Read a file without a string for each document, or return None on any doubt."""
    import pyarrow

    with source.open() as stream:
        read = read_in_bulk(stream, layout, source.name, [TOPIC, DOCUMENT], lean=True)
    if read is None:
        return None
    table, numbers, lines = read
    assert numbers is not None
    document = table[DOCUMENT]
    if document.nbytes > PLAIN_TEXT_BYTES:
        document = document.cast(pyarrow.large_string())
    topic = text_column(table[TOPIC].dictionary_encode())
    return Entries(topic, document, numbers, source.described(), lines)


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    import pyarrow

    # By hand, as pyarrow's own way from an array imports pandas first.
    buffer = pyarrow.py_buffer(np.ascontiguousarray(rows))
    return column.take(pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, buffer]))
