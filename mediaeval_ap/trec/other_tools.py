"""Qrels and runs in files of other tools, recognised by their content.

These are predictions of sentence-transformers (JSON lines) and MTEB (JSON), qrels and runs of ranx
(JSON), and tables whose columns have the names of a tool, as CSV, TSV or records of JSON.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from glob import glob
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from mediaeval_ap.errors import FormatError, ParameterError, abridged, shown, with_noun
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.first_look import TOOL_COLUMNS, Shape, separator_of, shape_of
from mediaeval_ap.tables.layouts import QRELS, RUN, Layout
from mediaeval_ap.tables.reading import is_series
from mediaeval_ap.tables.rows import from_located_rows, from_numbered_rows
from mediaeval_ap.tables.sources import ByteSource, parsed_json, parsed_lines, read_all
from mediaeval_ap.tables.table import LineNumbers, Table
from mediaeval_ap.tables.text.csv_text import read_csv_rows
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK
from mediaeval_ap.tables.values import integer_as_text

EntryTuples: TypeAlias = list[tuple[Any, ...]]  # topic, document, number
Reader: TypeAlias = Callable[[BinaryIO, Layout, ByteSource], Table]
META = 'mteb_model_meta'  # a key that MTEB writes beside its subsets
PREDICTION_LINES = 'lines of {"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}'


def reader_of(line: bytes, name: str, part: str | None) -> Reader | None:
    """Return the reader of a tool's file that begins with this line, or None for lines of TREC."""
    shape = shape_of(line.removeprefix(BYTE_ORDER_MARK))
    if shape is Shape.LZ4:
        raise FormatError(name, '', '', 'LZ4', 'lines of TREC, TSV, Parquet or JSON, as run.json')
    if shape is Shape.TOPICS:
        return partial(_read_by_topic, part=part)
    refuse_part(part)
    if shape in (Shape.RECORDS, Shape.ARRAY):
        return partial(_read_records, is_array=shape is Shape.ARRAY)
    return _read_csv if shape is Shape.TABLE else None


def layouts_of(layout: Layout) -> list[Layout]:
    """Return layouts of topic, document and number, under the names of TREC and of each tool."""
    layouts = []
    for columns in TOOL_COLUMNS[str(layout.number)]:
        topic, document, number = columns.split()
        layouts.append(Layout(layout.name, (topic, document), number, integers=layout.integers))
    return layouts


def refuse_part(part: str | None) -> None:
    if part is not None:
        expected = 'no part: only predictions of MTEB have subsets and splits'
        raise ParameterError(f'found {shown(part)}, expected {expected}', 'part')


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
    return from_located_rows(rows, locations, layout, name)


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
        values: list[Any] = parsed_json(read_all(stream, name), name, expected)
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
    rows = [(integer_as_text(topic), integer_as_text(id), score) for topic, id, score in rows]
    table = from_numbered_rows(rows, LineNumbers(unit, np.array(lines)), layout, name)
    return replace(table, integers=integers)


def _read_by_topic(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read predictions of MTEB (2.26.24), or qrels or a run of ranx (0.3.21), as JSON."""
    expected = 'JSON of MTEB, {subset: {split: {qid: {docno: score}}}}, or ranx, {qid: {docno: …}}'
    value = parsed_json(read_all(stream, source.name), source.name, expected)
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


def _read_csv(stream: BinaryIO, layout: Layout, source: ByteSource) -> Table:
    """Read a table with a header, such as qrels of BEIR (2.2.0) with tabs between the fields."""
    content = read_all(stream, source.name)
    return read_csv_rows(content, layouts_of(layout), source.name, separator_of(content))
