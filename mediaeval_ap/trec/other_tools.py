"""Qrels and runs in the files of other tools, recognised by what is in them.

=======================  ==========================================================================
what                     layout
=======================  ==========================================================================
sentence-transformers    JSON lines ``{"query_id", "results": [{"corpus_id", "score"}]}``
MTEB                     JSON ``{subset: {split: {qid: {docno: score}}}}``
ranx                     JSON ``{qid: {docno: number}}``; the same as CBOR in two frames of LZ4
BEIR                     TSV with the header ``query-id corpus-id score``
=======================  ==========================================================================
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from glob import glob
from importlib import import_module
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from mediaeval_ap.errors import FormatError, ParameterError, ReadError, printable, shown, some
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.layouts import QRELS, Layout, RecordLayout
from mediaeval_ap.tables.rows import explain_row, from_rows
from mediaeval_ap.tables.sources import BUFFER_BYTES, ByteSource
from mediaeval_ap.tables.table import LineNumbers, Table
from mediaeval_ap.tables.text.format import BYTE_ORDER_MARK, Faults, explain_number, no_rows

Rows: TypeAlias = list[tuple[Any, ...]]
MOST_LOOKED_AT = 1 << 16  # bytes of the first line
# Columns of BEIR's TSV and of datasets at Hugging Face; of ranx' Parquet.
COLUMNS = (('query-id', 'corpus-id', 'score'), ('q_id', 'doc_id', 'score'))
LZ4 = b'\x04\x22\x4d\x18'
META = 'mteb_model_meta'  # a key that MTEB writes beside its subsets
PREDICTIONS = '*_predictions.json'  # what MTEB calls the file of a task
# The brace of an object, with a key and its colon, or alone in its line.
_is_json = re.compile(rb'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}|\Z)').match
_has_header = re.compile(rb'query-id\tcorpus-id\tscore\r?(?:\n|\Z)').match
A_LINE = (
    'lines of sentence-transformers, {"query_id": …, "results": [{"corpus_id": …, "score": …}]}'
)
EXCHANGED = 'qrels, as a file of qid iteration docno relevance: are qrels and run exchanged?'


def reader_of(line: bytes) -> Callable[..., Table] | None:
    """Return what reads a file of another tool that begins with this line; None for TREC's."""
    line = line.removeprefix(BYTE_ORDER_MARK)
    if line.startswith(LZ4):
        return _from_lz4
    if _is_json(line):
        return _from_json_lines if b'"query_id"' in line else _from_json
    return _from_tsv if _has_header(line) else None


def file_in(folder: Any) -> Any:
    """Return the one file of predictions in a folder of MTEB; anything else as it is."""
    if not (isinstance(folder, str | os.PathLike) and os.path.isdir(folder)):
        return folder
    path = os.fsdecode(folder)
    names = sorted(glob(PREDICTIONS, root_dir=path))
    if len(names) > 1:
        found = f'{len(names)} files of predictions ({some(names)})'
        raise FormatError(path, '', '', found, 'one: give the file in place of its folder')
    return os.path.join(path, names[0]) if names else folder


def from_mapping(by_topic: Mapping[Any, Any], layout: Layout, name: str) -> Table:
    """Read a dictionary of topics, each a dictionary of documents."""
    if not by_topic:
        raise no_rows(name, layout)
    rows: Rows = []
    for topic, documents in by_topic.items():
        at_topic = f'topic {shown(topic)}'
        if not isinstance(documents, Mapping):
            found = f'{shown(documents)} ({type(documents).__name__})'
            raise FormatError(
                name, at_topic, '', found, f'a dictionary of docno to {layout.number}'
            )
        if not documents and layout.number == QRELS.number:
            raise FormatError(name, at_topic, '', 'no documents', 'at least one that is judged')
        rows += [(topic, document, number) for document, number in documents.items()]

    def place(at: int) -> str:
        return f'topic {shown(rows[at][0])}, docno {shown(rows[at][1])}'

    return _explained(rows, layout, name, place)


def _explained(rows: Rows, layout: Layout, name: str, place: Callable[[int], str]) -> Table:
    """Read rows; the error of a wrong one names its place, as rows have no number here."""
    try:
        return from_rows(rows, layout, name=name)
    except FormatError:
        for at, row in enumerate(rows):
            if wrong := explain_row(row, layout):
                raise wrong.error(name, place(at)) from None
        raise


def _from_lines(rows: Rows, lines: LineNumbers, layout: Layout, name: str) -> Table:
    table = _explained(rows, layout, name, lambda at: f'line {lines[at]}')
    return replace(table, lines=lines)


def _from_json_lines(
    stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None
) -> Table:
    """Read what `write_predictions` of sentence-transformers (6.2.0) writes."""
    refuse_part(part, source)
    name = source.name
    if layout.number == QRELS.number:
        raise FormatError(name, '', '', 'predictions of sentence-transformers', EXCHANGED)
    rows: Rows = []
    lines: list[int] = []
    seen = set()
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        where = f'line {number}'
        try:
            value = parsed_json(line, name, A_LINE)
        except FormatError as error:  # which has the place within the line
            field = error.place if not error.place.startswith('line ') else ''
            raise FormatError(name, where, field, error.found, error.expected) from None
        query = value.get('query_id') if isinstance(value, dict) else None
        results = value.get('results') if query is not None else None
        if not isinstance(results, list):
            raise FormatError(name, where, 'results', 'no list of them', A_LINE)
        if query in seen:
            raise FormatError(name, where, 'query_id', f'{shown(query)} again', 'each query once')
        seen.add(query)
        for each in results:
            if not (isinstance(each, dict) and each.keys() >= {'corpus_id', 'score'}):
                raise FormatError(name, where, 'results', shown(each), A_LINE)
            rows.append((query, each['corpus_id'], each['score']))
            lines.append(number)
    columns = list(zip(*rows, strict=True))
    integers = [at for at, each in enumerate(columns[:2]) if set(map(type, each)) == {int}]
    for at in integers:  # as keys of a dictionary of Python may be
        columns[at] = tuple(map(str, columns[at]))
    rows = list(zip(*columns, strict=True))
    table = _from_lines(rows, LineNumbers('line', np.array(lines)), layout, name)
    return replace(table, integers=frozenset(layout.texts[at] for at in integers))


def _from_json(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read predictions of MTEB (2.26.24), or what ranx (0.3.21) saves as JSON."""
    expected = 'JSON of MTEB, {subset: {split: {qid: {docno: score}}}}, or ranx, {qid: {docno: …}}'
    value = parsed_json(stream.read(), source.name, expected)
    if META not in value and _depth(value) < 4:
        refuse_part(part, source)
        return from_mapping(value, layout, source.name)
    parts = {
        f'{subset}/{split}': (subset, split, topics)
        for subset, splits in value.items()
        if subset != META and isinstance(splits, dict)
        for split, topics in splits.items()
    }
    fitting = [each for key, each in parts.items() if part in (None, key, *each[:2])]
    if len(fitting) != 1:
        found = f'{len(fitting)} of them named {shown(part)} among' if part else f'{len(parts)}:'
        expected = "one; choose it by --part SUBSET/SPLIT, in Python part='SUBSET/SPLIT'"
        raise FormatError(source.name, '', 'subset/split', f'{found} {some(list(parts))}', expected)
    subset, split, topics = fitting[0]
    if not isinstance(topics, dict):
        place, found = f'{shown(subset)}/{shown(split)}', f'a {type(topics).__name__}'
        raise FormatError(source.name, place, '', found, 'a ranking for each topic: {qid: {…}}')
    return from_mapping(topics, layout, source.name)


def _depth(value: Any, most: int = 4) -> int:
    """Return how deep objects stand in one another, by the first of each that holds anything."""
    if not isinstance(value, dict) or not most:
        return 0
    return 1 + _depth(next((each for each in value.values() if each), None), most - 1)


def refuse_part(part: str | None, source: ByteSource) -> None:
    if part is not None:
        found = f'found {shown(part)}, and {printable(source.name)} has no subsets and splits'
        raise ParameterError(f'part: {found}; expected a file of predictions of MTEB, or no part')


def _from_lz4(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read what ranx saves as LZ4: CBOR, compressed and written to a file that compresses, too."""
    refuse_part(part, source)
    try:
        loads = import_module('cbor2').loads
    except ModuleNotFoundError:
        raise ReadError(
            source.name, 'is LZ4, as ranx saves runs: pip install ranx, or save it as JSON'
        ) from None
    add = source.limit().add
    content = stream.read()
    try:
        for _ in range(2):
            content = b''.join(_decompressed(content, add))
        value = loads(content)
    except (ReadError, MemoryError):
        raise
    except Exception as error:  # of pyarrow or cbor2
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ReadError(source.name, f'is LZ4, and no run of ranx: {reason}') from error
    if not isinstance(value, Mapping):
        raise FormatError(source.name, '', '', type(value).__name__, 'a run of ranx')
    return from_mapping(value, layout, source.name)


def _decompressed(content: bytes, count: Callable[[int], None]) -> Iterator[bytes]:
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(content), 'lz4') as stream:
        while chunk := stream.read(BUFFER_BYTES):
            count(len(chunk))
            yield chunk


def _from_tsv(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read qrels of BEIR (2.2.0): a header, and tabs between the fields."""
    from mediaeval_ap.tables.records import parse_csv

    refuse_part(part, source)
    *texts, number = COLUMNS[0]
    fields = RecordLayout(tuple(texts), numbers=(number,))
    _, columns, lines = parse_csv(stream.read(), [fields], source.name, '\t')
    topics, documents, numbers = (column.to_pylist() for column in columns.columns)
    faults = Faults(source.name, 'line')
    for row, text in enumerate(numbers):
        if wrong := explain_number(text.encode(), layout):
            faults.add(lines[row], wrong)
    if faults.count:
        raise faults.error
    rows = list(zip(topics, documents, map(float, numbers), strict=True))
    return _from_lines(rows, lines, layout, source.name)
