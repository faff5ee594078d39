"""Qrels and runs of TREC as columns: topics, documents, numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import run_starts
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables import (
    MAX_BYTES,
    Column,
    Layout,
    Source,
    Wrong,
    error_at,
    has_all_fields,
    read,
)
from mediaeval_ap.tables.bulk import number_column, read_in_bulk, text_column
from mediaeval_ap.tables.sources import ByteSource, Hasher

if TYPE_CHECKING:
    import pyarrow

TOPIC, DOCUMENT = 'qid', 'docno'
# One array of plain strings holds 2 GiB at most, and taking rows makes one array of them. From half
# of that on, a choice, large strings are used, which take a little more memory.
PLAIN_TEXT_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows of a TREC file: a topic, a document and a number each."""

    origin: Any
    layout: Layout
    topic: Column
    document: pyarrow.ChunkedArray  # text; no Python list, as a large run has a million
    number: NDArray[np.float64]  # relevance, or score
    source: Source
    max_bytes: int

    def __len__(self) -> int:
        return len(self.number)

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the documents of some rows."""
        texts: list[str] = self.document.take(_indices(rows)).to_pylist()
        return texts

    def about(
        self, others: Entries, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return the rows about documents of some rows of another file, and these documents."""
        from pyarrow import compute

        documents = others.document.take(_indices(rows)).combine_chunks()
        about = compute.is_in(self.document, documents)
        found = np.from_dlpack(compute.indices_nonzero(about)).astype(np.int64)
        return found, self.document.filter(about).to_pylist()

    def error(self, row: int, field: str, found: str, expected: str) -> FormatError:
        """Return the error of a wrong row; where it was read from a file, it names the line."""
        wrong = Wrong(field, found, expected)
        return error_at(
            self.origin, self.layout, self.source.name, row, wrong, max_bytes=self.max_bytes
        )

    def refuse_repeated(self) -> None:
        """Refuse a document that a topic has twice."""
        from pyarrow import compute

        topic, document = self.topic.codes, self.document
        order = None
        if len(run_starts([topic])) > len(self.topic.values):  # topics between one another
            order = topic.argsort(kind='stable').astype(np.int64)
            topic, document = topic[order], document.take(_indices(order))
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
                raise self.error(row, DOCUMENT, found, 'each document once')


def read_entries(origin: Any, layout: Layout, *, max_bytes: int = MAX_BYTES) -> Entries:
    """Read qrels or a run; tables and tuples need no more than topic, document and number."""
    import pyarrow

    if isinstance(origin, str | os.PathLike):
        source = ByteSource(origin, max_bytes)
        is_read_twice = source.is_stored and not source.is_parquet
        if is_read_twice and (entries := _read_in_bulk(source, layout)) is not None:
            return entries
    if not has_all_fields(origin):
        layout = Layout(layout.name, (TOPIC, DOCUMENT), layout.number)
    table = read(origin, layout, max_bytes=max_bytes)
    document = pyarrow.chunked_array([table.texts(DOCUMENT)], pyarrow.large_string())
    return Entries(
        origin, layout, table[TOPIC], document, table.confidence, table.source, max_bytes
    )


def _read_in_bulk(source: ByteSource, layout: Layout) -> Entries | None:
    """Read a file without a string for each document, or return None on any doubt."""
    import pyarrow

    hasher = Hasher()
    number = str(layout.number)
    with source.open(hasher) as stream:
        table = read_in_bulk(stream, layout, source.name, [TOPIC, DOCUMENT, number], lean=True)
    if table is None:
        return None
    document = table[DOCUMENT]
    if document.nbytes > PLAIN_TEXT_BYTES:
        document = document.cast(pyarrow.large_string())
    return Entries(
        source.origin,
        layout,
        text_column(table[TOPIC].dictionary_encode()),
        document,
        number_column(table[number].chunks),
        Source(source.name, hasher.sha256),
        source.max_bytes,
    )


def _indices(rows: NDArray[np.int64]) -> Any:
    import pyarrow

    # By hand, as pyarrow's own way from an array imports pandas first.
    buffer = pyarrow.py_buffer(np.ascontiguousarray(rows))
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, buffer])
