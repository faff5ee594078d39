"""Qrels and runs in files of other tools, recognised by their content.

These are predictions of sentence-transformers (JSON lines) and MTEB (JSON), qrels and runs of ranx
(JSON), and tables whose columns have the names of a tool, as CSV, TSV or records of JSON.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from glob import glob
from itertools import chain
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from mediaeval_ap.errors import FormatError, ParameterError, ReadError, abridged, shown, with_noun
from mediaeval_ap.tables.columnar import parquet_columns
from mediaeval_ap.tables.layouts import QRELS, RUN, Layout, RecordLayout
from mediaeval_ap.tables.reading import is_series
from mediaeval_ap.tables.rows import explain_row, from_rows
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource, parsed_json, parsed_lines
from mediaeval_ap.tables.table import LineNumbers, Table
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK, Faults, explain_number, no_rows

EntryTuples: TypeAlias = list[tuple[Any, ...]]  # topic, document, number
Reader: TypeAlias = Callable[[BinaryIO, Layout, ByteSource], Table]
MOST_FIRST_BYTES = 1 << 16  # of the first line, enough to recognise a tool
# Columns of BEIR, of datasets at Hugging Face, and of ranx: the same for qrels and runs.
_SHARED_COLUMNS = 'query-id corpus-id score', 'query_id corpus_id score', 'q_id doc_id score'
# Before these, columns of TREC, of ir_measures and ir_datasets, and of PyTerrier, whose runs have
# the columns of TREC.
TOOL_COLUMNS = {
    'relevance': (
        'qid docno relevance',
        'query_id doc_id relevance',
        'qid docno label',
        *_SHARED_COLUMNS,
    ),
    'score': ('qid docno score', 'query_id doc_id score', *_SHARED_COLUMNS),
}
LZ4 = b'\x04\x22\x4d\x18'  # ranx compresses CBOR by it
META = 'mteb_model_meta'  # a key that MTEB writes beside its subsets
# The brace of an object, followed by a key and its colon, or alone in its line.
_is_json = re.compile(rb'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}|\Z)').match
# A first value that is not an object or list: by topic, it would be one.
_is_record = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[^\s{[]').match
_is_array = re.compile(rb'\s*\[\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\Z)|(?:\]\s*)?\Z)').match
_keys = re.compile(rb'"([^"\\]+)"\s*:').findall
# Results of ours have a text there.
_is_by_topic = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{').match
# After comments, six fields; the fourth is a rank, and the fifth a score.
_is_run = re.compile(
    rb'(?:\s*#.*\n)*\s*(?:\S+[ \t]+){3}-?\d+[ \t]+[-+\d.eE]+[ \t]+\S+\s*(?:\n|\Z)'
).match
PREDICTION_LINES = 'lines of {"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}'


def reader_of(line: bytes, name: str, part: str | None) -> Reader | None:
    """Return the reader of a tool's file that begins with this line, or None for lines of TREC."""
    if line.startswith(LZ4):
        raise FormatError(name, '', '', 'LZ4', 'lines of TREC, TSV, Parquet or JSON, as run.json')
    line = line.removeprefix(BYTE_ORDER_MARK)
    if _is_json(line) and not (_is_record(line) or _has_columns(line)):
        return partial(_read_by_topic, part=part)
    refuse_part(part)
    if _is_json(line) or _is_array(line):
        return partial(_read_records, is_array=not _is_json(line))
    delimiter = '\t' if b'\t' in line else ','
    return partial(_read_csv, delimiter=delimiter) if _has_columns(line) else None


def _has_columns(begin: bytes) -> bool:
    """Return True if CSV or JSON begins with a tool's columns of qrels or a run."""
    names = _keys(begin)
    if not begin.lstrip().startswith((b'{', b'[')):
        names = re.split(rb' *[\t,] *', begin.partition(b'\n')[0].replace(b'"', b'').strip())
    decoded = {name.decode(errors='replace') for name in names}
    return any(decoded.issuperset(columns.split()) for columns in chain(*TOOL_COLUMNS.values()))


def layouts_of(layout: Layout) -> list[Layout]:
    """Return layouts of topic, document and number, under the names of TREC and of each tool."""
    layouts = []
    for columns in TOOL_COLUMNS[str(layout.number)]:
        topic, document, number = columns.split()
        layouts.append(Layout(layout.name, (topic, document), number, integers=layout.integers))
    return layouts


def is_for_trec(path: str) -> bool:
    """Return True if a file can only be qrels or a run: another tool's file, or a run of TREC."""
    source = ByteSource(file_in(path))
    with suppress(ReadError, FormatError):  # reading the file raises them again
        if source.is_regular_file and source.format in COLUMNAR_FORMATS:
            names = parquet_columns(source)
            ids = [columns.split()[:2] for columns in chain(*TOOL_COLUMNS.values())]
            return any(set(id_columns).issubset(names) for id_columns in ids)
    begin = source.first_bytes(MOST_FIRST_BYTES)
    tests = _is_by_topic, _has_columns, _is_run
    return begin.startswith(LZ4) or any(matches(begin) for matches in tests)


def refuse_part(part: str | None) -> None:
    if part is not None:
        expected = 'no part: only predictions of MTEB have subsets and splits'
        raise ParameterError(f'part: found {shown(part)}, expected {expected}')


def file_in(folder: Any) -> Any:
    """Return the one file of predictions in a folder of MTEB; other inputs unchanged."""
    if not (isinstance(folder, str | os.PathLike) and os.path.isdir(folder)):
        return folder
    path = os.fsdecode(folder)
    names = sorted(glob('*_predictions.json', root_dir=path))  # MTEB writes one for each task
    if len(names) > 1:
        expected = 'one file of predictions: give it in place of its folder'
        raise FormatError(path, '', '', f'{len(names)}: {abridged(names)}', expected)
    return os.path.join(path, names[0]) if names else folder


def from_mapping(by_topic: Mapping[Any, Any], layout: Layout, name: str) -> Table:
    """Read a dictionary of topics, each a dictionary of documents."""
    if not by_topic:
        raise no_rows(name, layout)
    rows: EntryTuples = []
    for topic, documents in by_topic.items():
        location = f'topic {shown(topic)}'
        if not (isinstance(documents, Mapping) or is_series(documents)):
            actual = f'{shown(documents)} ({type(documents).__name__})'
            expected = f'a dictionary of docno to {layout.number}'
            raise FormatError(name, location, '', actual, expected)
        if not len(documents) and layout.number == QRELS.number:
            raise FormatError(name, location, '', 'no documents', 'at least one that is judged')
        rows += [(topic, document, number) for document, number in documents.items()]
    locations = (f'topic {shown(topic)}, docno {shown(document)}' for topic, document, _ in rows)
    return _located_table(rows, locations, layout, name)


def _located_table(rows: EntryTuples, locations: Iterator[str], layout: Layout, name: str) -> Table:
    """Make a table of rows; the error of a wrong row names its location, not its number."""
    try:
        return from_rows(rows, layout, name)
    except FormatError:
        for row, location in zip(rows, locations, strict=True):
            if fault := explain_row(row, layout):
                raise fault.error(name, location) from None
        raise


def _table_with_lines(rows: EntryTuples, lines: LineNumbers, layout: Layout, name: str) -> Table:
    locations = (f'{lines.unit} {lines[row]}' for row in range(len(rows)))
    return replace(_located_table(rows, locations, layout, name), lines=lines)


def _read_records(stream: BinaryIO, layout: Layout, source: ByteSource, *, is_array: bool) -> Table:
    """Read records, or lines by `write_predictions` of sentence-transformers (6.2.0)."""
    name = source.name
    layouts = layouts_of(layout)
    queries = set()
    expected = f'records of {" or ".join(",".join(tool_layout.fields) for tool_layout in layouts)}'
    if layout.number == RUN.number:
        expected = f'{PREDICTION_LINES}, or {expected}'
    unit: Literal['line', 'row'] = 'row' if is_array else 'line'
    if is_array:
        values: list[Any] = parsed_json(stream.read(), name, expected)
        numbers = [*range(1, len(values) + 1)]
    else:
        values, numbers = parsed_lines(stream, name, expected)
    first = values[0] if values and isinstance(values[0], dict) else {}
    if 'results' in first and layout.number == QRELS.number:
        predictions = 'predictions of sentence-transformers'
        raise FormatError(name, '', '', predictions, 'qrels: are qrels and run exchanged?')
    layout = next(
        (tool_layout for tool_layout in layouts if first.keys() >= {*tool_layout.fields}),
        layouts[0],
    )
    rows: EntryTuples = []
    lines: list[int] = []
    for value, number in zip(values, numbers, strict=True):
        location = f'{unit} {number}'
        try:
            if 'results' in first:
                query = value['query_id']
                results = value['results']
                ranked = [(query, result['corpus_id'], result['score']) for result in results]
                if str(query) in queries:
                    again = f'{shown(query)} again'
                    raise FormatError(name, location, 'query_id', again, 'each query once')
                queries.add(str(query))
            else:
                ranked = [tuple(value[field] for field in layout.fields)]
        except (LookupError, TypeError):
            actual = f'fields {shown(",".join(value))}' if isinstance(value, dict) else shown(value)
            raise FormatError(name, location, '', actual, expected) from None
        rows += ranked
        lines += [number] * len(ranked)
    fields = zip(layout.texts, zip(*rows, strict=True), strict=False)
    integers = frozenset(field for field, ids in fields if int in map(type, ids))
    rows = [
        (_integer_text(query), _integer_text(document), score) for query, document, score in rows
    ]
    table = _table_with_lines(rows, LineNumbers(unit, np.array(lines)), layout, name)
    return replace(table, integers=integers)


def _integer_text(value: Any) -> Any:
    """Return an integer as text; other values unchanged."""
    return str(value) if type(value) is int else value


def _read_by_topic(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read predictions of MTEB (2.26.24), or qrels or a run of ranx (0.3.21), as JSON."""
    expected = 'JSON of MTEB, {subset: {split: {qid: {docno: score}}}}, or ranx, {qid: {docno: …}}'
    value = parsed_json(stream.read(), source.name, expected)
    if META not in value and _nesting_depth(value) < 4:
        refuse_part(part)
        return from_mapping(value, layout, source.name)
    part_by_name = {
        f'{subset}/{split}': (subset, split, topics)
        for subset, splits in value.items()
        if subset != META and isinstance(splits, dict)
        for split, topics in splits.items()
    }
    fitting = [
        topics
        for name, (subset, split, topics) in part_by_name.items()
        if part in (None, name, subset, split)
    ]
    if len(fitting) != 1 or not isinstance(fitting[0], dict):
        n_fitting = f'{len(fitting)} for {shown(part)} in'
        if part is None:
            n_fitting = f'{with_noun(len(fitting), "split", "splits")}:'
        actual = f'{n_fitting} {abridged(list(part_by_name))}'
        expected = "one with rankings; choose it by --part SUBSET/SPLIT, in Python part='…'"
        raise FormatError(source.name, 'subset/split', '', actual, expected)
    return from_mapping(fitting[0], layout, source.name)


def _nesting_depth(value: Any, most: int = 4) -> int:
    """Return the nesting depth of objects, following the first non-empty value of each."""
    if not isinstance(value, dict) or not most:
        return 0
    first = next((nested for nested in value.values() if nested), None)
    return 1 + _nesting_depth(first, most - 1)


def _read_csv(stream: BinaryIO, layout: Layout, source: ByteSource, *, delimiter: str) -> Table:
    """Read a table with a header, such as qrels of BEIR (2.2.0) with tabs between the fields."""
    from mediaeval_ap.tables.records import parse_csv

    layouts = [
        RecordLayout(tool_layout.texts, numbers=(str(tool_layout.number),))
        for tool_layout in layouts_of(layout)
    ]
    chosen, columns, lines = parse_csv(stream.read(), layouts, source.name, delimiter)
    layout = replace(layout, texts=chosen.texts, number=chosen.numbers[0])
    topics, documents, numbers = (columns[field].to_pylist() for field in layout.fields)
    faults = Faults('line')
    for row, text in enumerate(numbers):
        if fault := explain_number(text.encode(), layout):
            faults.add(lines[row], fault)
    faults.refuse(source.name)
    rows = list(zip(topics, documents, map(float, numbers), strict=True))
    return _table_with_lines(rows, lines, layout, source.name)
