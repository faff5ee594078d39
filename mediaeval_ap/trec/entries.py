"""Qrels and runs of TREC as columns, from files, tables, dictionaries and other libraries.

Short documents are in an array of fixed width, padded with NUL bytes, which no text of a table
holds. So equal texts are equal in arrays of any width, and sort by their bytes. Where one is longer
than `MAX_PACKED_BYTES`, the array holds a `bytes` object for each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mediaeval_ap import arrays
from mediaeval_ap.arrays import MAX_PACKED_BYTES, WORD
from mediaeval_ap.choices import TrecTies
from mediaeval_ap.errors import ParameterError, ReadError, printable, shown
from mediaeval_ap.tables import Column, Layout, Provenance, Table, read, reading
from mediaeval_ap.tables.layouts import QRELS, SAMPLED_QRELS, STRATUM
from mediaeval_ap.tables.reading import InputKind, TableInput, by_python, first_row, read_one_of
from mediaeval_ap.tables.rows import from_rows
from mediaeval_ap.tables.sources import ByteSource, with_first_line
from mediaeval_ap.tables.table import Argument, LineCounter, LineNumbers, NumberedRows
from mediaeval_ap.tables.text import arrow_reader
from mediaeval_ap.tables.text.line_rules import count_fields, find_fields, whole_lines
from mediaeval_ap.tables.text.reader import parse
from mediaeval_ap.tables.values import is_number
from mediaeval_ap.trec.other_tools import from_mapping, layouts_of, reader_of, refuse_part

if TYPE_CHECKING:
    import pyarrow

Documents: TypeAlias = NDArray[Any]  # of `S8`, `S16`, … or of objects
TOPIC = 'qid'
DOCUMENT = 'docno'
TREC_BLOCK_BYTES = 3 << 18  # a quarter starts four times as many threads: a fifth more time
MARKS_PER_KEY = 16  # so at most one of 16 other keys is a false candidate
ROWS_AT_ONCE = 1 << 15  # keys that are looked up
ROWS_SORTED_AT_ONCE = 1 << 11  # a quarter of the time of one sort
NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Entries(NumberedRows):
    """Rows of a TREC file, each a topic, a document and a number."""

    layout = QRELS  # a run has the same two fields of text
    topic: Column
    document: Documents  # no list of text, as a large run has a million
    number: NDArray[np.float64]  # relevance, or score
    source: Provenance
    lines: LineNumbers
    integers: frozenset[str] = frozenset()
    stratum: Column | None = None  # of qrels that are a sample by strata

    def __len__(self) -> int:
        return len(self.number)

    def texts(self, field: str) -> list[str]:
        if field == DOCUMENT:
            return self.documents(slice(None))
        return [self.topic.values[code] for code in self.topic.codes]

    def documents(self, rows: NDArray[np.int64] | slice) -> list[str]:
        return list(map(bytes.decode, self.document[rows].tolist()))

    def __repr__(self) -> str:
        return f'<{type(self).__name__}: {len(self)} rows of {printable(self.source.name)}>'

    def is_own_topic(self, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.bool_]:
        """Mark the rows whose document is their topic."""
        topics = array_of([topic.encode() for topic in self.topic.values])
        is_own: NDArray[np.bool_] = topics[self.topic.codes[rows]] == self.document[rows]
        return is_own

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return pair_keys(self.topic.codes, self.document)

    def rows_of(self, other: Entries, other_rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows whose topic and document `other_rows` hold, each document once."""
        return self.matches(other, other_rows)[0]

    def matches(
        self, other: Entries, other_rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return these rows, and the row of `other` with the same topic and document for each."""
        if self.document.dtype.kind != other.document.dtype.kind:  # their keys would differ
            own_objects = replace(self, document=self.document.astype(object))
            other_objects = replace(other, document=other.document.astype(object))
            return own_objects.matches(other_objects, other_rows)
        topic = self.topic.find(other.topic)[other_rows]
        other_rows = other_rows[topic >= 0]
        topic = topic[topic >= 0]
        keys = pair_keys(topic, other.document[other_rows])
        order = keys.argsort()
        candidates = _candidate_positions(keys, self._keys)
        positions = arrays.find(keys[order], self._keys[candidates])
        candidates = candidates[positions >= 0]
        partners = order[positions[positions >= 0]]  # with the same key
        is_same = self.topic.codes[candidates] == topic[partners]
        is_same &= self.document[candidates] == other.document[other_rows[partners]]
        if not is_same.all():  # different pairs have one key
            pairs = zip(topic.tolist(), other.documents(other_rows), strict=True)
            partner_of = {pair: partner for partner, pair in enumerate(pairs)}
            own_topics = self.topic.codes[candidates].tolist()
            own_pairs = zip(own_topics, self.documents(candidates), strict=True)
            partners = np.array([partner_of.get(pair, -1) for pair in own_pairs], np.int64)
            is_same = partners >= 0
        return candidates[is_same], other_rows[partners[is_same]]

    def select(self, rows: NDArray[np.bool_]) -> Entries:
        """Return the marked rows with their line numbers; all topics and strata stay."""
        return replace(
            self,
            topic=Column(self.topic.codes[rows], self.topic.values),
            document=self.document[rows],
            number=self.number[rows],
            lines=self.lines.select(rows),
            stratum=self.stratum and Column(self.stratum.codes[rows], self.stratum.values),
        )

    def with_topics(self, queries: Table) -> Entries:
        """Return these rows among all topics, some of them without a row; refuse other topics."""
        topics = queries['person_name']
        codes = topics.find(self.topic)
        if len(rows := np.flatnonzero(codes < 0)):
            expected = f'one of the topics of {printable(queries.source.name)}'
            raise self.error(rows, TOPIC, shown(self.topic.text(rows[0])), expected)
        return replace(self, topic=Column(codes, topics.values))

    def without_repeated(self) -> Entries:
        """Keep the row with the highest number if a topic has a document twice."""
        order = (-self.number).argsort(kind='stable')
        document = np.unique(self.document[order], return_inverse=True)[1]
        pairs = arrays.combine([self.topic.codes[order], document])
        is_kept = np.zeros(len(self), dtype=np.bool_)
        is_kept[order[np.unique(pairs, return_index=True)[1]]] = True
        return self.select(is_kept)

    def refuse_repeated(self, remedy: str = '') -> None:
        halves = self._keys.astype(np.int32)  # to sort whole keys takes twice as long
        starts = arrays.run_starts([self.topic.codes])
        if np.bincount(self.topic.codes[starts]).max(initial=0) > 1:
            starts = starts[:1]  # rows of a topic are in several places
        begins = starts[1:][np.diff(starts // ROWS_SORTED_AT_ONCE) > 0]
        for whole_topics in np.split(halves, begins):
            whole_topics.sort()
        repeated = halves[1:][halves[1:] == halves[:-1]]
        if not len(repeated):
            return
        rows = _candidate_positions(repeated, self._keys)
        rows = rows[np.isin(self._keys[rows].astype(np.int32), repeated)]
        rows = rows[self.topic.codes[rows].argsort(kind='stable')]
        seen: set[tuple[int, str]] = set()
        pairs = zip(self.topic.codes[rows].tolist(), self.documents(rows), strict=True)
        for row, (topic, text) in zip(rows.tolist(), pairs, strict=True):
            if (topic, text) in seen:
                actual = f'{shown(text)} again for topic {shown(self.topic.values[topic])}'
                raise self.error([row], DOCUMENT, actual, f'each document once{remedy}')
            seen.add((topic, text))

    def expect_nonrelevant(self, level: float, purpose: str) -> None:
        """Raise FormatError for qrels without a document that is judged not relevant."""
        if not ((self.number >= 0) & (self.number < level)).any():
            actual = 'no row of 0' if level == 1 else f'none from 0 to below {level}'
            expected = f'documents that are judged not relevant, {purpose}'
            raise self.source.error(actual, expected, field=str(QRELS.number))


def _candidate_positions(
    searched: NDArray[np.integer], keys: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the positions of all keys that are among the searched ones, and of a few others."""
    marks = np.zeros(1 << (MARKS_PER_KEY * len(searched)).bit_length(), dtype=np.bool_)
    marks[searched & (len(marks) - 1)] = True
    positions = [NO_ROWS]
    for begin in range(0, len(keys), ROWS_AT_ONCE):
        block = keys[begin : begin + ROWS_AT_ONCE]
        positions.append(begin + np.flatnonzero(marks[block & (len(marks) - 1)]))
    return np.concatenate(positions)


def is_large(table_input: TableInput) -> bool:
    """Return True if a file is so large that importing pyarrow to read it pays."""
    with suppress(ReadError):  # reading it raises the same error, in the order of the files
        return table_input.kind is InputKind.TEXT and table_input.value.size() > reading.BULK_BYTES
    return False


def first_ranks(run: TableInput) -> NDArray[np.float64]:
    """Return the ranks of the first rows of a run; none if it has none or cannot be read again."""
    with suppress(Exception):  # each library of tables raises another one
        if run.kind is not InputKind.TEXT:
            return np.asarray(run.value['rank'], np.float64)
        if not run.value.is_regular_file:
            return np.empty(0)
        rows = [line.replace(b',', b' ').split() for line in run.value.start.splitlines()]
        column = 3
        if b'rank' in rows[0]:
            column = rows[0].index(b'rank')
        fields = [row[column] for row in rows if len(row) > column]
        return np.array([float(field) for field in fields if field.isdigit()])
    return np.empty(0)


def read_entries(
    origin: Argument, layout: Layout, *, in_blocks: bool = False, part: str | None = None
) -> Entries:
    """Read qrels or a run; tables and tuples need only topic, document and number."""
    table_input = TableInput.of(origin, layout.name)
    is_stored = table_input.kind is InputKind.TEXT and table_input.value.is_regular_file
    # With `in_blocks`, pyarrow is imported in any case.
    if part is None and (is_large(table_input) or (in_blocks and is_stored)):
        entries = _read_blocks(table_input.value, layout)
        if entries is not None:
            return entries
    if table_input.kind is InputKind.TEXT:
        table = _read_lines(table_input.value, layout, part)
    else:
        refuse_part(part)
        if table_input.kind is InputKind.TABLE:
            table = read(table_input, layout)
        else:
            table = _read_in_memory(table_input, layouts_of(layout)[0])
    topic, document = TOPIC, DOCUMENT
    if not table.columns.keys() >= {TOPIC, DOCUMENT}:  # of another tool
        topic, document, *_ = table.layout.texts
    texts = table[document]
    documents = array_of(texts.values)[texts.codes]
    trec_names = {topic: TOPIC, document: DOCUMENT}
    integers = frozenset(trec_names.get(field, field) for field in table.integers)
    columns = table[topic], documents, table.confidence, table.source
    stratum = table.columns.get(STRATUM)
    return Entries(*columns, lines=table.lines, integers=integers, stratum=stratum)


def _read_lines(source: ByteSource, layout: Layout, part: str | None) -> Table:
    """Read lines of TREC, or the file of another tool."""
    with source.open() as opened:
        line, stream = with_first_line(opened)
        if tool_reader := reader_of(line, source.name, part):
            table = tool_reader(stream, layouts_of(layout)[0], source)
        else:
            row, blocks = first_row(whole_lines(stream.read), [layout])
            has_five = count_fields(row) == len(SAMPLED_QRELS.fields)
            is_sample = has_five and layout.number == QRELS.number
            if is_sample and is_number(find_fields(row)[-1], integers=True):
                layout = SAMPLED_QRELS
            table = parse(blocks, layout, source.name, by_python(source))
    return replace(table, source=source.provenance())


def _read_blocks(source: ByteSource, layout: Layout) -> Entries | None:
    """Read lines in blocks, with no string per document; return None for anything unusual."""
    import pyarrow

    codes_of_texts = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {TOPIC: codes_of_texts, DOCUMENT: pyarrow.string()}
    counter = LineCounter()
    code_of: dict[str, int] = {}
    topics = GrowingArray(np.int32)
    documents = GrowingArray(f'S{WORD}')
    numbers = GrowingArray(np.float64)
    # One thread: memory that several threads free is hardly used again, and with none, pyarrow
    # would handle signals. All arrays that outlive a block are made on the calling thread.
    with source.open() as stream, ThreadPoolExecutor(1) as thread:
        blocks = whole_lines(stream.read, TREC_BLOCK_BYTES)
        prove = partial(arrow_reader.prove_block, layout=layout, types=types)
        for piece in arrow_reader.parse_in_threads(prove, blocks, thread):
            if piece is None:
                return None
            counter.count(piece.n_lines, piece.rows)
            texts = cast('pyarrow.Table', piece.texts)
            topic = texts[TOPIC].combine_chunks()
            values = topic.dictionary.to_pylist()
            codes = [code_of.setdefault(value, len(code_of)) for value in values]
            topics.append(np.array(codes, np.int32)[np.from_dlpack(topic.indices)])
            documents.append(_documents_of(texts[DOCUMENT].combine_chunks()))
            numbers.append(np.asarray(piece.numbers))
    pyarrow.default_memory_pool().release_unused()
    if not counter.n_rows:
        return None
    topic = Column(topics.whole, list(code_of))
    columns = topic, documents.whole, numbers.whole
    return Entries(*columns, source.provenance(), counter.line_numbers())


class GrowingArray:
    """Arrays that are joined as they come: joining all at the end would need twice the memory."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._items: Any = bytearray()  # or a list of objects

    def append(self, array: NDArray[Any]) -> None:
        dtype = np.result_type(self._dtype, array)
        if dtype != self._dtype:  # longer texts
            longer = self.whole.astype(dtype)
            self._dtype = dtype
            self._items = longer.tolist() if dtype.hasobject else bytearray(longer.data)
        array = array.astype(dtype, copy=False)
        self._items += array.tolist() if dtype.hasobject else array.data

    @property
    def whole(self) -> NDArray[Any]:
        if self._dtype.hasobject:
            return np.fromiter(self._items, self._dtype)
        return np.frombuffer(self._items, self._dtype)


def _documents_of(texts: pyarrow.StringArray) -> Documents:
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
    sizes = np.diff(ends)
    if sizes.max(initial=0) > MAX_PACKED_BYTES:
        return array_of([text.encode() for text in texts.to_pylist()])
    # The padding gives the last text a whole window of the buffer, too.
    buffer = np.pad(np.frombuffer(content, np.uint8), (0, MAX_PACKED_BYTES))
    words = arrays.words_at(buffer, ends[:-1], sizes)
    return words.view(f'S{words.shape[1] * WORD}')[:, 0]


def array_of(texts: Sequence[Any]) -> Documents:
    """Return texts, or their bytes, as an array of fixed width, or of objects if one is long."""
    longest = max(map(len, texts), default=1)
    if longest <= MAX_PACKED_BYTES:
        with suppress(UnicodeEncodeError):  # numpy encodes ASCII alone
            return np.array(texts, dtype=f'S{arrays.width_for(longest)}')
    if isinstance(texts[0], str):
        return array_of([text.encode() for text in texts])
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def pair_keys(topic: NDArray[np.integer], documents: Documents) -> NDArray[np.int64]:
    """Return hashes of topics and documents: equal pairs have equal keys, others hardly ever."""
    # Keys of two arrays can be compared if both or neither hold objects.
    if documents.dtype == object:
        hashes = np.fromiter(map(hash, documents), np.int64, len(documents))
        words = [hashes.view(np.uint64)]
    else:
        words = [*documents.view('<u8').reshape(-1, documents.itemsize // WORD).T]
    return arrays.hash_words([topic, *words], len(topic)).view(np.int64)


def descending_keys(documents: Documents) -> NDArray[np.int64]:
    """Return sort keys that put documents in descending order of their bytes."""
    return -np.unique(documents, return_inverse=True)[1]


def comparable_scores(score: NDArray[np.floating], ties: TrecTies) -> NDArray[np.floating]:
    if ties != 'trec_eval-9':
        return score
    with np.errstate(over='ignore'):  # too large for single precision is infinite, as in C
        return score.astype(np.float32)


def _read_in_memory(table_input: TableInput, layout: Layout) -> Table:
    """Read a dictionary, rows of ir_measures, an object of ranx, or a table."""
    layouts = [*layouts_of(layout), *layouts_of(layout, [STRATUM])]
    fields = {field for tool_layout in layouts for field in tool_layout.fields}
    table_input = table_input.with_columns(fields)
    value = table_input.value
    if isinstance(value, Mapping):
        if any(0 in value[name] for name in fields & value.keys()):  # of `DataFrame.to_dict`
            raise table_input.error('{qid: {docno: …}} or a table', [*value])
        return from_mapping(value, layout, table_input.name)
    expected, other = (getattr(sys.modules.get('ranx'), name, ()) for name in ('Qrels', 'Run'))
    if layout.number != QRELS.number:
        expected, other = other, expected
    if isinstance(value, other):
        actual = f'{type(value).__name__} of ranx'
        raise ParameterError(f'{layout.name}: found {actual}: are qrels and run exchanged?')
    if isinstance(value, expected):
        return from_mapping(value.to_dict(), layout, table_input.name)
    if table_input.kind is InputKind.ROWS:
        rows = _with_plain_tuples(value, layout, table_input.name)
        return from_rows(rows, layout, table_input.name)
    if table_input.kind in (InputKind.COLUMNAR, InputKind.FRAME):
        return read_one_of(table_input, layouts)
    return read(table_input, layout)


def _with_plain_tuples(rows: Iterable[Argument], layout: Layout, name: str) -> Iterator[Argument]:
    """Yield rows, and turn rows of ir_measures into tuples in the order of the layout."""
    attribute = str(layout.number)
    for number, row in enumerate(rows, 1):
        if not (hasattr(row, 'query_id') and hasattr(row, 'doc_id')):
            yield row
        elif hasattr(row, attribute):
            yield row.query_id, row.doc_id, getattr(row, attribute)
        else:
            expected = f'a {attribute}: are qrels and run exchanged?'
            raise Provenance(name).error(
                f'{type(row).__name__} without it', expected, place=f'row {number}', field=attribute
            )
