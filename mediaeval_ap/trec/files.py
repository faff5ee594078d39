"""Qrels and runs of TREC as columns: topics, documents, numbers."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import find, run_starts
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables import Column, Layout, Source, Table, read
from mediaeval_ap.tables.reading import Kind, Origin, read_strictly
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.tables.table import LineCounter, LineNumbers, NumberedRows
from mediaeval_ap.tables.text.format import BYTE_ORDER_MARK, holds_no_row, split, whole_lines
from mediaeval_ap.tables.text.reader import parse
from mediaeval_ap.trec.byte_fields import find_fields, texts_at
from mediaeval_ap.trec.decimals import numbers_at
from mediaeval_ap.trec.documents import Documents, documents_of, pair_keys
from mediaeval_ap.trec.in_memory import read_in_memory

TOPIC, DOCUMENT = 'qid', 'docno'
BLOCK_BYTES = 1 << 18  # four times as many take a tenth more time, as memory is not used again
MARKS_FOR_EACH = 16  # a choice: this makes one key in 16 or fewer a candidate without reason


@dataclass(frozen=True, eq=False)
class Entries(NumberedRows):
    """Rows of a TREC file: a topic, a document and a number each."""

    topic: Column
    document: Documents  # no list of text, as a large run has a million
    number: NDArray[np.float64]  # relevance, or score
    source: Source
    lines: LineNumbers

    def __len__(self) -> int:
        return len(self.number)

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the documents of some rows."""
        return list(map(bytes.decode, self.document[rows].tolist()))

    def distinct_texts(self) -> set[str]:
        """Return the documents, each once."""
        return set(map(bytes.decode, set(self.document.tolist())))

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return pair_keys(self.topic.codes, self.document)

    def rows_of(self, others: Entries, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows with the topic and document of one of some rows of another file.

        The two are `comparable`, and the other has no document twice for a topic.
        """
        topic = self.topic.find(others.topic)[rows]
        rows, topic = rows[topic >= 0], topic[topic >= 0]
        keys = pair_keys(topic, others.document[rows])
        order = keys.argsort()
        candidates = _maybe_in(keys, self._keys)
        places = find(keys[order], self._keys[candidates])
        candidates, same = candidates[places >= 0], order[places[places >= 0]]
        is_same = self.topic.codes[candidates] == topic[same]
        is_same &= self.document[candidates] == others.document[rows[same]]
        if not is_same.all():  # different pairs have one key
            pairs = set(zip(topic.tolist(), others.texts(rows), strict=True))
            own = zip(self.topic.codes[candidates].tolist(), self.texts(candidates), strict=True)
            is_same = np.array([pair in pairs for pair in own])
        found: NDArray[np.int64] = candidates[is_same]
        return found

    def refuse_repeated(self) -> None:
        """Refuse a document that a topic has twice."""
        keys = np.sort(self._keys)
        repeated = keys[1:][keys[1:] == keys[:-1]]
        if not len(repeated):
            return
        rows = np.flatnonzero(np.isin(self._keys, repeated))
        rows = rows[self.topic.codes[rows].argsort(kind='stable')]
        seen: set[tuple[int, str]] = set()
        pairs = zip(self.topic.codes[rows].tolist(), self.texts(rows), strict=True)
        for row, (topic, text) in zip(rows.tolist(), pairs, strict=True):
            if (topic, text) in seen:
                found = f'{shown(text)} again for topic {shown(self.topic.values[topic])}'
                raise self.error([row], DOCUMENT, found, 'each document once')
            seen.add((topic, text))


def _maybe_in(wanted: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of keys that may be among some wanted ones, and of all that are."""
    marks = np.zeros(1 << (MARKS_FOR_EACH * len(wanted)).bit_length(), dtype=np.bool_)
    marks[wanted & (len(marks) - 1)] = True
    return np.flatnonzero(marks[keys & (len(marks) - 1)])


def comparable(first: Entries, second: Entries) -> tuple[Entries, Entries]:
    """Return two files that keep documents in one way, so that their keys can be compared."""
    if first.document.dtype.kind == second.document.dtype.kind:
        return first, second
    one, other = (replace(each, document=each.document.astype(object)) for each in (first, second))
    return one, other


def read_entries(origin: Any, layout: Layout) -> Entries:
    """Read qrels or a run; tables and tuples need no more than topic, document and number."""
    given = Origin.of(origin)
    if given.kind is Kind.TEXT and given.value.is_stored:  # else it could not be read again
        entries = _read_blocks(given.value, layout)
        return _entries(read_strictly(given.value, layout)) if entries is None else entries
    if not given.kind.has_all_fields:
        layout = Layout(layout.name, (TOPIC, DOCUMENT), layout.number, integers=layout.integers)
    table = read_in_memory(given, layout)
    return _entries(read(given, layout) if table is None else table)


def _entries(table: Table) -> Entries:
    document = documents_of(table[DOCUMENT])
    return Entries(table[TOPIC], document, table.confidence, table.source, table.lines)


def _read_blocks(source: ByteSource, layout: Layout) -> Entries | None:
    """Read lines in blocks, without a string for each document, or return None on any doubt."""
    rows = _Rows(layout)
    with source.open() as stream:
        for block in whole_lines(stream.read, BLOCK_BYTES):
            if block is None or not rows.add(block):
                return None
    return rows.entries(source.described())


class _Rows:
    """The rows of a file so far."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._code_of: dict[bytes, int] = {}
        self._topics: list[NDArray[np.int32]] = []
        self._documents: list[Documents] = []
        self._numbers: list[NDArray[np.float64]] = []
        self._lines = LineCounter()

    def add(self, block: bytes) -> bool:
        """Add the rows of whole lines, if each line is right; return whether it is."""
        # A longer block holds a long line; places of its separators might take much memory.
        is_usual = len(block) <= 2 * BLOCK_BYTES
        return (is_usual and self._add_at_once(block)) or self._add_strictly(block)

    def _add_at_once(self, block: bytes) -> bool:
        fields = find_fields(block, self._layout)
        if fields is None:
            return False
        if not len(fields.begins):
            self._lines.count(fields.n_lines, [])
            return True
        numbers = numbers_at(fields, self._layout)
        if numbers is None:
            return False
        topics = texts_at(fields, self._layout.fields.index(TOPIC))
        starts = run_starts([topics])
        codes = self._codes(topics[starts].tolist()).repeat(np.diff(starts, append=len(topics)))
        documents = texts_at(fields, self._layout.fields.index(DOCUMENT))
        self._append(codes, documents, numbers)
        self._lines.count(fields.n_lines, fields.rows)
        return True

    def _add_strictly(self, block: bytes) -> bool:
        if block.startswith(BYTE_ORDER_MARK):  # at the beginning of a file, it is passed over
            return False
        lines = split(block)
        if all(holds_no_row(line, self._layout) for line in lines):
            self._lines.count(len(lines), [])
            return True
        try:
            table = parse(io.BytesIO(block), self._layout, '')
        except FormatError:
            return False
        codes = self._codes([topic.encode() for topic in table[TOPIC].values])[table[TOPIC].codes]
        self._append(codes, documents_of(table[DOCUMENT]), table.confidence)
        self._lines.count(len(lines), table.lines.array(len(table)) - 1)
        return True

    def _codes(self, topics: list[bytes]) -> NDArray[np.int32]:
        code_of = self._code_of
        return np.array([code_of.setdefault(each, len(code_of)) for each in topics], np.int32)

    def _append(
        self, topics: NDArray[np.int32], documents: Documents, numbers: NDArray[np.float64]
    ) -> None:
        self._topics.append(topics)
        self._documents.append(documents)
        self._numbers.append(numbers)

    def entries(self, source: Source) -> Entries | None:
        """Return all rows, of which there may be no more later; None if there is none."""
        if not self._topics:
            return None
        topic = Column(_joined(self._topics), [each.decode() for each in self._code_of])
        lines = self._lines.line_numbers()
        return Entries(topic, _joined(self._documents), _joined(self._numbers), source, lines)


def _joined(chunks: list[NDArray[Any]]) -> NDArray[Any]:
    array = np.concatenate(chunks)
    chunks.clear()  # so that not all columns are there twice at one time
    return array
