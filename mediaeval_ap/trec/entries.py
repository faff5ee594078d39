"""Qrels and runs of TREC as columns, from files, tables, dictionaries and other libraries.

Short documents are in an array of fixed width, filled up with NUL bytes, which no text of a table
holds. So equal texts are equal in arrays of any width, and the order of the bytes is kept. Where
one is longer than `WIDEST`, the array holds a `bytes` object for each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import WIDEST, WORD, find, width_for, words_at
from mediaeval_ap.choices import TrecTies
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, shown
from mediaeval_ap.tables import Column, Layout, Provenance, Table, read, reading
from mediaeval_ap.tables.layouts import QRELS
from mediaeval_ap.tables.reading import InputKind, TableInput, by_python, read_one_of
from mediaeval_ap.tables.rows import from_rows
from mediaeval_ap.tables.sources import ByteSource, with_first_line
from mediaeval_ap.tables.table import LineCounter, LineNumbers, NumberedRows
from mediaeval_ap.tables.text import arrow_reader
from mediaeval_ap.tables.text.line_rules import whole_lines
from mediaeval_ap.tables.text.reader import parse
from mediaeval_ap.trec.other_tools import (
    MOST_LOOKED_AT,
    from_mapping,
    layouts_of,
    reader_of,
    refuse_part,
)

Documents: TypeAlias = NDArray[Any]  # of `S8`, `S16`, … or of objects
TOPIC = 'qid'
DOCUMENT = 'docno'
BLOCK_BYTES = 3 << 16  # twice as many take 8 MiB more memory; half, a tenth more time
MARKS_FOR_EACH = 16  # this makes one key in 16 or fewer a candidate without reason
ROWS_AT_ONCE = 1 << 15  # 32 times as many take a third more time to hash
NO_ROWS = np.empty(0, dtype=np.int64)
# Odd, so that no bit of a product is lost.
_FACTORS = [pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(1, WIDEST // WORD + 2)]


@dataclass(frozen=True, eq=False)
class Entries(NumberedRows):
    """Rows of a TREC file: a topic, a document and a number each."""

    layout = QRELS  # a run has the same two fields of text
    topic: Column
    document: Documents  # no list of text, as a large run has a million
    number: NDArray[np.float64]  # relevance, or score
    source: Provenance
    lines: LineNumbers
    integers: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.number)

    def texts(self, field: str) -> list[str]:
        if field == DOCUMENT:
            return self.documents(slice(None))
        return [self.topic.values[code] for code in self.topic.codes]

    def documents(self, rows: NDArray[np.int64] | slice) -> list[str]:
        return list(map(bytes.decode, self.document[rows].tolist()))

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return pair_keys(self.topic.codes, self.document)

    def rows_of(self, others: Entries, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows with the topic and document of one of some rows of another file.

        The other has no document twice for a topic.
        """
        if self.document.dtype.kind != others.document.dtype.kind:  # their keys would differ
            one, other = (
                replace(each, document=each.document.astype(object)) for each in (self, others)
            )
            return one.rows_of(other, rows)
        topic = self.topic.find(others.topic)[rows]
        rows = rows[topic >= 0]
        topic = topic[topic >= 0]
        keys = pair_keys(topic, others.document[rows])
        order = keys.argsort()
        candidates = _maybe_in(keys, self._keys)
        places = find(keys[order], self._keys[candidates])
        candidates = candidates[places >= 0]
        same = order[places[places >= 0]]
        is_same = self.topic.codes[candidates] == topic[same]
        is_same &= self.document[candidates] == others.document[rows[same]]
        if not is_same.all():  # different pairs have one key
            pairs = set(zip(topic.tolist(), others.documents(rows), strict=True))
            own = zip(
                self.topic.codes[candidates].tolist(), self.documents(candidates), strict=True
            )
            is_same = np.array([pair in pairs for pair in own])
        found: NDArray[np.int64] = candidates[is_same]
        return found

    def select(self, rows: NDArray[np.bool_]) -> Entries:
        """Return some rows, which keep their line numbers, and all topics."""
        return replace(
            self,
            topic=Column(self.topic.codes[rows], self.topic.values),
            document=self.document[rows],
            number=self.number[rows],
            lines=self.lines.select(rows),
        )

    def refuse_repeated(self) -> None:
        """Refuse a document that a topic has twice."""
        keys = np.sort(self._keys)
        repeated = keys[1:][keys[1:] == keys[:-1]]
        if not len(repeated):
            return
        rows = np.flatnonzero(np.isin(self._keys, repeated))
        rows = rows[self.topic.codes[rows].argsort(kind='stable')]
        seen: set[tuple[int, str]] = set()
        pairs = zip(self.topic.codes[rows].tolist(), self.documents(rows), strict=True)
        for row, (topic, text) in zip(rows.tolist(), pairs, strict=True):
            if (topic, text) in seen:
                found = f'{shown(text)} again for topic {shown(self.topic.values[topic])}'
                raise self.error([row], DOCUMENT, found, 'each document once')
            seen.add((topic, text))

    def expect_nonrelevant(self, level: int, what_for: str) -> None:
        """Refuse qrels in which no document is judged not relevant."""
        if not ((self.number >= 0) & (self.number < level)).any():
            found = f'none from 0 to {level - 1}' if level > 1 else 'no row of 0'
            expected = f'documents that are judged not relevant, {what_for}'
            raise FormatError(self.source.name, '', str(QRELS.number), found, expected)


def _maybe_in(wanted: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of keys that may be among some wanted ones, and of all that are."""
    marks = np.zeros(1 << (MARKS_FOR_EACH * len(wanted)).bit_length(), dtype=np.bool_)
    marks[wanted & (len(marks) - 1)] = True
    found = [NO_ROWS]
    for begin in range(0, len(keys), ROWS_AT_ONCE):
        block = keys[begin : begin + ROWS_AT_ONCE]
        found.append(begin + np.flatnonzero(marks[block & (len(marks) - 1)]))
    return np.concatenate(found)


def is_large(given: TableInput) -> bool:
    """Return whether a file is so large that importing pyarrow to read it pays."""
    with suppress(ReadError):  # who reads it says why, in the order of the files
        return given.kind is InputKind.TEXT and given.value.size() > reading.BULK_BYTES
    return False


def read_entries(
    origin: Any, layout: Layout, *, in_blocks: bool = False, part: str | None = None
) -> Entries:
    """Read qrels or a run; tables and tuples need no more than topic, document and number.

    A file is read in blocks by pyarrow if it is large, or if `in_blocks` says that pyarrow is
    needed anyway. `part` is the subset, split or both of a file of MTEB.
    """
    given = TableInput.of(origin)
    is_stored = given.kind is InputKind.TEXT and given.value.is_stored
    if part is None and (is_large(given) or (in_blocks and is_stored)):
        entries = _read_blocks(given.value, layout)
        if entries is not None:
            return entries
    if given.kind is InputKind.TEXT:
        table = _read_text(given.value, layout, part)
    else:
        refuse_part(part)
        is_table = given.kind is InputKind.TABLE
        table = read(given, layout) if is_table else _read_in_memory(given, layouts_of(layout)[0])
    fields = table.layout.texts
    topic, document = fields if len(fields) == 2 else (TOPIC, DOCUMENT)
    texts = table[document]
    documents = array_of([value.encode() for value in texts.values])[texts.codes]
    names = {topic: TOPIC, document: DOCUMENT}
    integers = frozenset(names.get(field, field) for field in table.integers)
    return Entries(table[topic], documents, table.confidence, table.source, table.lines, integers)


def _read_text(source: ByteSource, layout: Layout, part: str | None) -> Table:
    """Read lines of TREC, or what another tool wrote."""
    with source.open() as opened:
        line, stream = with_first_line(opened, MOST_LOOKED_AT)
        if reads := reader_of(line, source.name, part):
            table = reads(stream, layouts_of(layout)[0], source)
        else:
            table = parse(whole_lines(stream.read), layout, source.name, by_python(source))
    return replace(table, source=source.described())


def _read_blocks(source: ByteSource, layout: Layout) -> Entries | None:
    """Read lines in blocks, without a string for each document, or return None on any doubt."""
    import pyarrow

    counter = LineCounter()
    code_of: dict[str, int] = {}
    topics: list[NDArray[Any]] = []
    documents: list[Documents] = []
    numbers: list[NDArray[np.float64]] = []
    # One thread, as memory that several free is hardly used again; none would leave signals to
    # pyarrow. What is kept is made here.
    with source.open() as stream, ThreadPoolExecutor(1) as thread:
        blocks = whole_lines(stream.read, BLOCK_BYTES)
        prove = partial(arrow_reader.proved_block, layout=layout, as_written=(TOPIC, DOCUMENT))
        for piece in arrow_reader.results_of(prove, blocks, thread):
            if piece is None:
                return None
            counter.count(piece.n_lines, piece.rows)
            texts: Any = piece.texts  # a table of pyarrow
            topic = texts[TOPIC].combine_chunks().dictionary_encode()
            values = topic.dictionary.to_pylist()
            codes = [code_of.setdefault(value, len(code_of)) for value in values]
            topics.append(np.array(codes, np.int32)[np.from_dlpack(topic.indices)])
            documents.append(_documents_of(texts[DOCUMENT].combine_chunks()))
            numbers.append(np.asarray(piece.numbers))
    pyarrow.default_memory_pool().release_unused()
    if not counter.n_rows:
        return None
    topic = Column(np.concatenate(topics), list(code_of))
    lines = counter.line_numbers()
    columns = np.concatenate(documents), np.concatenate(numbers)
    return Entries(topic, *columns, source.described(), lines)


def _documents_of(texts: Any) -> Documents:
    """Return texts of pyarrow as an array."""
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
    sizes = np.diff(ends)
    if sizes.max(initial=0) > WIDEST:
        return array_of([text.encode() for text in texts.to_pylist()])
    # So a whole window around the last text is in the buffer.
    buffer = np.concatenate([np.frombuffer(content, np.uint8), np.zeros(WIDEST, np.uint8)])
    words = words_at(buffer, ends[:-1], sizes)
    return words.view(f'S{words.shape[1] * WORD}')[:, 0]


def array_of(texts: list[bytes]) -> Documents:
    """Return an array of some texts."""
    longest = max(map(len, texts), default=1)
    if longest <= WIDEST:
        return np.array(texts, dtype=f'S{width_for(longest)}')
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def pair_keys(topic: NDArray[np.integer], documents: Documents) -> NDArray[np.int64]:
    """Return hashes of topics and documents: equal pairs have equal keys, others hardly ever.

    Documents of two arrays can be compared so if both or neither are objects.
    """
    keys = topic.astype(np.uint64)
    keys *= np.uint64(_FACTORS[-1])
    if documents.dtype == object:
        keys += np.fromiter(map(hash, documents), np.int64, len(documents)).view(np.uint64)
        return keys.view(np.int64)
    words = documents.view('<u8').reshape(-1, documents.itemsize // WORD)
    for begin in range(0, len(words), ROWS_AT_ONCE):
        rows = slice(begin, begin + ROWS_AT_ONCE)
        for word, factor in zip(words[rows].T, _FACTORS, strict=False):
            # A word of 0 adds 0, so that keys do not depend on the width.
            mixed = (word ^ (word >> 32)) * factor
            keys[rows] += (mixed ^ (mixed >> 29)) * factor
    return keys.view(np.int64)


def descending(documents: Documents) -> NDArray[np.int64]:
    """Return a number for each document, by which they are in descending order of their bytes."""
    return -np.unique(documents, return_inverse=True)[1]


def compared(score: NDArray[np.float64], ties: TrecTies) -> NDArray[np.floating]:
    """Return scores in the precision in which they are compared."""
    if ties != 'trec_eval-9':
        return score
    with np.errstate(over='ignore'):  # what single precision does not hold is infinite, as in C
        return score.astype(np.float32)


def _read_in_memory(given: TableInput, layout: Layout) -> Table:
    """Read a dictionary, rows of ir_measures, an object of ranx, or a table."""
    value = given.value
    if isinstance(value, Mapping):
        return from_mapping(value, layout, '<dict>')
    expected, other = (getattr(sys.modules.get('ranx'), name, ()) for name in ('Qrels', 'Run'))
    if layout.number != QRELS.number:
        expected, other = other, expected
    if isinstance(value, other):
        found = f'{layout.name}: found {type(value).__name__} of ranx'
        raise ParameterError(f'{found}: are qrels and run exchanged?')
    if isinstance(value, expected):
        return from_mapping(value.to_dict(), layout, f'<{type(value).__name__}>')
    if given.kind is InputKind.ROWS:
        return from_rows(_by_attribute(value, layout), layout)
    if given.kind in (InputKind.COLUMNAR, InputKind.FRAME):
        return read_one_of(given, layouts_of(layout))
    return read(given, layout)


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
