"""Qrels and runs in files of other tools, recognised by their content."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from glob import glob
from itertools import chain, compress, repeat
from typing import BinaryIO, TypeAlias

import numpy as np

from mediaeval_ap.errors import FormatError, ParameterError, abridged, shown, with_noun
from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.first_look import (
    NPY,
    TOOL_COLUMNS,
    Shape,
    header_of,
    separator_of,
    shape_of,
)
from mediaeval_ap.tables.layouts import QRELS, RUN, STRATUM, Layout
from mediaeval_ap.tables.reading import is_series
from mediaeval_ap.tables.rows import from_numbered_rows, from_rows, prove_columns, text_column
from mediaeval_ap.tables.sources import ByteSource, JsonValue, parsed_json, parsed_lines, read_all
from mediaeval_ap.tables.table import Argument, Column, Fields, LineNumbers, Provenance, Table
from mediaeval_ap.tables.text.csv_text import read_csv_rows
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK
from mediaeval_ap.tables.values import integer_as_text

EntryTuples: TypeAlias = list[Fields]  # topic, document, number
Reader: TypeAlias = Callable[[BinaryIO, Layout, ByteSource], Table]
META = 'mteb_model_meta'  # a key that MTEB writes beside its subsets
PREDICTION_LINES = 'lines of {"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}'


def reader_of(line: bytes, name: str, part: str | None) -> Reader | None:
    """Return the reader of a tool's file that begins with this line, or None for lines of TREC."""
    if line.startswith(NPY):
        expected = 'lines of TREC: only evaluate-trec and compare take matrices'
        raise Provenance(name).error('a matrix', expected)
    shape = shape_of(line.removeprefix(BYTE_ORDER_MARK))
    if shape is Shape.LZ4:
        raise Provenance(name).error('LZ4', 'lines of TREC, TSV, Parquet or JSON, as run.json')
    if shape is Shape.TOPICS:
        return partial(_read_by_topic, part=part)
    refuse_part(part)
    if shape in (Shape.RECORDS, Shape.ARRAY):
        return partial(_read_records, is_array=shape is Shape.ARRAY)
    return _read_csv if shape is Shape.TABLE else None


def layouts_of(layout: Layout, header: Collection[str] = ()) -> list[Layout]:
    """Return layouts of topic, document and number, under the names of TREC and of each tool.

    Qrels have a stratum, too, if the header has one.
    """
    stratum = [STRATUM] if layout.number == QRELS.number and STRATUM in header else []
    layouts = []
    for columns in TOOL_COLUMNS[str(layout.number)]:
        topic, document, number = columns.split()
        texts = (topic, document, *stratum)
        one = Layout(layout.name, texts, number, integers=layout.integers, unnumbered=document)
        layouts.append(one)
    return layouts


def refuse_part(part: str | None) -> None:
    if part is not None:
        raise ParameterError(
            f'found {shown(part)}, expected no part: only predictions of MTEB have subsets and '
            'splits',
            'part',
        )


def file_in(folder: Argument) -> Argument:
    """Return the one file of predictions in a folder of MTEB; other inputs unchanged."""
    if not (isinstance(folder, str | os.PathLike) and os.path.isdir(folder)):
        return folder
    path = os.fsdecode(folder)
    names = sorted(glob('*_predictions.json', root_dir=path))  # MTEB writes one for each task
    if not names:
        return folder
    if len(names) > 1:
        expected = 'one file of predictions: give it in place of its folder'
        raise FormatError(path, '', '', found=f'{len(names)}: {abridged(names)}', expected=expected)
    return os.path.join(path, names[0])


def from_mapping(by_topic: Mapping[object, Argument], layout: Layout, name: str) -> Table:
    """Read a dictionary of topics, each a dictionary of documents."""
    if not by_topic:
        raise no_rows(name, layout)
    source = Provenance(name)
    texts: list[object] = []
    numbers: list[object] = []
    for topic, documents in by_topic.items():
        has_index = is_series(documents)
        if not (has_index or isinstance(documents, Mapping)):
            actual = f'{shown(documents)} ({type(documents).__name__})'
            expected = f'a dictionary of docno to {layout.number}'
            raise source.error(actual, expected, place=f'topic {shown(topic)}')
        if not len(documents) and layout.number == QRELS.number:
            expected = 'at least one that is judged'
            raise source.error('no documents', expected, place=f'topic {shown(topic)}')
        texts.extend(documents.keys())
        numbers.extend(documents.tolist() if has_index else documents.values())
    sizes = np.array([len(documents) for documents in by_topic.values()])
    if topics := text_column([*compress(by_topic, sizes)]):
        topic = Column(topics.codes.repeat(sizes[sizes > 0]), topics.values)
        if table := prove_columns([topic, texts, numbers], layout, name):
            return table
    rows = [*zip(chain.from_iterable(map(repeat, by_topic, sizes)), texts, numbers, strict=True)]
    locations = (f'topic {shown(topic)}, docno {shown(document)}' for topic, document, _ in rows)
    return from_rows(rows, layout, name, locations)


def _read_records(stream: BinaryIO, layout: Layout, source: ByteSource, *, is_array: bool) -> Table:
    """Read records, or lines by `write_predictions` of sentence-transformers (6.2.0)."""
    name = source.name
    layouts = layouts_of(layout)
    expected = f'records of {" or ".join(",".join(tool_layout.fields) for tool_layout in layouts)}'
    if layout.number == RUN.number:
        expected = f'{PREDICTION_LINES}, or {expected}'
    if is_array:
        values: list[JsonValue] = parsed_json(read_all(stream, name), name, expected)
        lines = LineNumbers('row')
    else:
        values, numbers = parsed_lines(stream, name, expected)
        lines = LineNumbers('line', np.array(numbers))
    keys = {key for value in values[:1] if isinstance(value, dict) for key in value}
    if 'results' in keys and layout.number == QRELS.number:
        expected = 'qrels: are qrels and run exchanged?'
        raise Provenance(name).error('predictions of sentence-transformers', expected)
    layout = next((one for one in layouts_of(layout, keys) if keys.issuperset(one.fields)), layout)
    rows_of = _ranked if 'results' in keys else partial(_row, layout)
    rows: EntryTuples = []
    lines_of_rows: list[int] = []
    queries = set()
    for position, value in enumerate(values):
        place = f'{lines.unit} {lines[position]}'
        try:
            rows_of_value = rows_of(value)
        except (LookupError, TypeError):
            actual = shown(value)
            if isinstance(value, dict):
                actual = f'fields {shown(",".join(value))}'
            raise FormatError(name, place, '', found=actual, expected=expected) from None
        if 'results' in keys:
            query = value['query_id']
            if str(query) in queries:
                actual = f'{shown(query)} again'
                raise FormatError(name, place, 'query_id', actual, expected='each query once')
            queries.add(str(query))
        rows += rows_of_value
        lines_of_rows += [lines[position]] * len(rows_of_value)
    fields = zip(layout.texts, zip(*rows, strict=True), strict=False)
    integers = frozenset(field for field, ids in fields if int in map(type, ids))
    rows = [(*map(integer_as_text, texts), score) for *texts, score in rows]
    numbered = LineNumbers(lines.unit, np.array(lines_of_rows))
    return replace(from_numbered_rows(rows, numbered, layout, name), integers=integers)


def _ranked(prediction: JsonValue) -> EntryTuples:
    query = prediction['query_id']
    return [(query, result['corpus_id'], result['score']) for result in prediction['results']]


def _row(layout: Layout, record: JsonValue) -> EntryTuples:
    return [tuple(record[field] for field in layout.fields)]


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
        raise FormatError(source.name, 'subset/split', '', found=actual, expected=expected)
    return from_mapping(fitting[0], layout, source.name)


def _nesting_depth(value: JsonValue, most: int = 4) -> int:
    """Return the nesting depth of objects, following the first non-empty value of each."""
    if not isinstance(value, dict) or not most:
        return 0
    first = next((nested for nested in value.values() if nested), None)
    return 1 + _nesting_depth(first, most - 1)


def _read_csv(stream: BinaryIO, layout: Layout, source: ByteSource) -> Table:
    """Read a table with a header, such as qrels of BEIR (2.2.0) with tabs between the fields."""
    content = read_all(stream, source.name)
    separator = separator_of(content)
    layouts = layouts_of(layout, header_of(content, separator))
    return read_csv_rows(content, layouts, source.name, separator)
