"""Qrels and runs in files of other tools, recognised by what is in them.

These are predictions of sentence-transformers (JSON lines) and MTEB (JSON), what ranx saves (JSON),
and tables whose columns have the names of a tool, as CSV, TSV or records of JSON.
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

from mediaeval_ap.errors import FormatError, ParameterError, ReadError, abridged, shown
from mediaeval_ap.tables.columnar import names_of_columns
from mediaeval_ap.tables.layouts import QRELS, RUN, Layout, RecordLayout
from mediaeval_ap.tables.rows import explain_row, from_rows
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource, parsed_json, parsed_lines
from mediaeval_ap.tables.table import LineNumbers, Table
from mediaeval_ap.tables.text.line_rules import BYTE_ORDER_MARK, Faults, explain_number, no_rows

Rows: TypeAlias = list[tuple[Any, ...]]
Reader: TypeAlias = Callable[[BinaryIO, Layout, ByteSource], Table]
MOST_LOOKED_AT = 1 << 16  # bytes of the first line
# Columns of BEIR and of datasets at Hugging Face, and of ranx; then of TREC, of ir_measures and
# ir_datasets, and of PyTerrier, whose runs have those of TREC.
_OF_BOTH = 'query-id corpus-id score', 'query_id corpus_id score', 'q_id doc_id score'
COLUMNS = {
    'relevance': ('qid docno relevance', 'query_id doc_id relevance', 'qid docno label', *_OF_BOTH),
    'score': ('qid docno score', 'query_id doc_id score', *_OF_BOTH),
}
LZ4 = b'\x04\x22\x4d\x18'  # as ranx compresses CBOR
META = 'mteb_model_meta'  # a key that MTEB writes beside its subsets
# The brace of an object, with a key and its colon, or alone in its line.
_is_json = re.compile(rb'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}|\Z)').match
# A first value that is no object or list, as of a topic it is.
_is_record = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[^\s{[]').match
_is_array = re.compile(rb'\s*\[\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\Z)|(?:\]\s*)?\Z)').match
_keys = re.compile(rb'"([^"\\]+)"\s*:').findall
_is_by_topic = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{').match  # no results of ours
# Behind comments: six fields, of which the fourth is a rank, and the fifth a score.
_is_run = re.compile(
    rb'(?:\s*#.*\n)*\s*(?:\S+[ \t]+){3}-?\d+[ \t]+[-+\d.eE]+[ \t]+\S+\s*(?:\n|\Z)'
).match
A_LINE = 'lines of {"query_id": …, "results": [{"corpus_id": …, "score": …}, …]}'


def reader_of(line: bytes, name: str, part: str | None) -> Reader | None:
    """Return the reader of a file of another tool that begins with this line; None for TREC's."""
    if line.startswith(LZ4):
        raise FormatError(name, '', '', 'LZ4', 'lines of TREC, TSV, Parquet or JSON, as run.json')
    line = line.removeprefix(BYTE_ORDER_MARK)
    if _is_json(line) and not (_is_record(line) or _has_columns(line)):
        return partial(_from_json, part=part)
    refuse_part(part)
    if _is_json(line) or _is_array(line):
        return partial(_from_records, is_array=not _is_json(line))
    delimiter = '\t' if b'\t' in line else ','
    return partial(_from_csv, delimiter=delimiter) if _has_columns(line) else None


def _has_columns(begin: bytes) -> bool:
    """Return whether CSV or JSON begins with the columns that a tool gives qrels or a run."""
    names = _keys(begin)
    if not begin.lstrip().startswith((b'{', b'[')):
        names = re.split(rb'[\t,]', begin.partition(b'\n')[0].replace(b'"', b'').strip())
    known = {name.decode(errors='replace') for name in names}
    return any(known.issuperset(each.split()) for each in chain(*COLUMNS.values()))


def layouts_of(layout: Layout) -> list[Layout]:
    """Return layouts of topic, document and number, under the names of TREC and of each tool."""
    known = [each.split() for each in COLUMNS[str(layout.number)]]
    return [Layout(layout.name, (*each[:2],), each[2], integers=layout.integers) for each in known]


def is_for_trec(path: str) -> bool:
    """Return whether a file can only be qrels or a run: of another tool, or a run of TREC."""
    source = ByteSource(file_in(path))
    with suppress(ReadError, FormatError):  # told by whoever reads it
        if source.is_stored and source.format in COLUMNAR_FORMATS:
            names = names_of_columns(source)
            return any({*each.split()[:2]}.issubset(names) for each in chain(*COLUMNS.values()))
    begin = source.first_bytes(MOST_LOOKED_AT)
    is_one = _is_by_topic, _has_columns, _is_run
    return begin.startswith(LZ4) or any(matches(begin) for matches in is_one)


def refuse_part(part: str | None) -> None:
    if part is not None:
        expected = 'no part: only predictions of MTEB have subsets and splits'
        raise ParameterError(f'part: found {shown(part)}, expected {expected}')


def file_in(folder: Any) -> Any:
    """Return the one file of predictions in a folder of MTEB; anything else as it is."""
    if not (isinstance(folder, str | os.PathLike) and os.path.isdir(folder)):
        return folder
    path = os.fsdecode(folder)
    names = sorted(glob('*_predictions.json', root_dir=path))  # as MTEB calls that of a task
    if len(names) > 1:
        expected = 'one file of predictions: give it in place of its folder'
        raise FormatError(path, '', '', f'{len(names)}: {abridged(names)}', expected)
    return os.path.join(path, names[0]) if names else folder


def from_mapping(by_topic: Mapping[Any, Any], layout: Layout, name: str) -> Table:
    """Read a dictionary of topics, each a dictionary of documents."""
    if not by_topic:
        raise no_rows(name, layout)
    rows: Rows = []
    for topic, documents in by_topic.items():
        place = f'topic {shown(topic)}'
        if not isinstance(documents, Mapping):
            found = f'{shown(documents)} ({type(documents).__name__})'
            raise FormatError(name, place, '', found, f'a dictionary of docno to {layout.number}')
        if not documents and layout.number == QRELS.number:
            raise FormatError(name, place, '', 'no documents', 'at least one that is judged')
        rows += [(topic, document, number) for document, number in documents.items()]
    places = (f'topic {shown(topic)}, docno {shown(document)}' for topic, document, _ in rows)
    return _explained(rows, places, layout, name)


def _explained(rows: Rows, places: Iterator[str], layout: Layout, name: str) -> Table:
    """Read rows; the error of a wrong one names its place, as rows have no number here."""
    try:
        return from_rows(rows, layout, name=name)
    except FormatError:
        for row, place in zip(rows, places, strict=True):
            if wrong := explain_row(row, layout):
                raise wrong.error(name, place) from None
        raise


def _from_lines(rows: Rows, lines: LineNumbers, layout: Layout, name: str) -> Table:
    places = (f'{lines.unit} {lines[at]}' for at in range(len(rows)))
    return replace(_explained(rows, places, layout, name), lines=lines)


def _from_records(stream: BinaryIO, layout: Layout, source: ByteSource, *, is_array: bool) -> Table:
    """Read records, or what `write_predictions` of sentence-transformers (6.2.0) writes."""
    name = source.name
    known = layouts_of(layout)
    seen = set()
    expected = f'records of {" or ".join(",".join(each.fields) for each in known)}'
    if layout.number == RUN.number:
        expected = f'{A_LINE}, or {expected}'
    unit: Literal['line', 'row'] = 'row' if is_array else 'line'
    if is_array:
        values: list[Any] = parsed_json(stream.read(), name, expected)
        numbers = [*range(1, len(values) + 1)]
    else:
        values, numbers = parsed_lines(stream, name, expected)
    first = values[0] if values and isinstance(values[0], dict) else {}
    if 'results' in first and layout.number == QRELS.number:
        found = 'predictions of sentence-transformers'
        raise FormatError(name, '', '', found, 'qrels: are qrels and run exchanged?')
    layout = next((each for each in known if first.keys() >= {*each.fields}), known[0])
    rows: Rows = []
    lines: list[int] = []
    for value, number in zip(values, numbers, strict=True):
        place = f'{unit} {number}'
        try:
            if 'results' in first:
                query = value['query_id']
                results = value['results']
                ranked = [(query, each['corpus_id'], each['score']) for each in results]
                if str(query) in seen:
                    again = f'{shown(query)} again'
                    raise FormatError(name, place, 'query_id', again, 'each query once')
                seen.add(str(query))
            else:
                ranked = [tuple(value[field] for field in layout.fields)]
        except (LookupError, TypeError):
            found = f'fields {shown(",".join(value))}' if isinstance(value, dict) else shown(value)
            raise FormatError(name, place, '', found, expected) from None
        rows += ranked
        lines += [number] * len(ranked)
    fields = zip(layout.texts, zip(*rows, strict=True), strict=False)
    integers = frozenset(field for field, ids in fields if int in map(type, ids))
    rows = [(_digits(query), _digits(document), score) for query, document, score in rows]
    table = _from_lines(rows, LineNumbers(unit, np.array(lines)), layout, name)
    return replace(table, integers=integers)


def _digits(value: Any) -> Any:
    return str(value) if type(value) is int else value


def _from_json(stream: BinaryIO, layout: Layout, source: ByteSource, part: str | None) -> Table:
    """Read predictions of MTEB (2.26.24), or what ranx (0.3.21) saves as JSON."""
    expected = 'JSON of MTEB, {subset: {split: {qid: {docno: score}}}}, or ranx, {qid: {docno: …}}'
    value = parsed_json(stream.read(), source.name, expected)
    if META not in value and _depth(value) < 4:
        refuse_part(part)
        return from_mapping(value, layout, source.name)
    parts = {
        f'{subset}/{split}': (subset, split, topics)
        for subset, splits in value.items()
        if subset != META and isinstance(splits, dict)
        for split, topics in splits.items()
    }
    fitting = [each for key, each in parts.items() if part in (None, key, *each[:2])]
    if len(fitting) != 1 or not isinstance(fitting[0][2], dict):
        found = f'{len(fitting)} for {shown(part)} in {abridged(list(parts))}'
        expected = "one with rankings; choose it by --part SUBSET/SPLIT, in Python part='…'"
        raise FormatError(source.name, 'subset/split', '', found, expected)
    return from_mapping(fitting[0][2], layout, source.name)


def _depth(value: Any, most: int = 4) -> int:
    """Return how deep objects stand in one another, by the first of each that holds anything."""
    if not isinstance(value, dict) or not most:
        return 0
    return 1 + _depth(next((each for each in value.values() if each), None), most - 1)


def _from_csv(stream: BinaryIO, layout: Layout, source: ByteSource, *, delimiter: str) -> Table:
    """Read a table with a header, as qrels of BEIR (2.2.0), which have tabs between the fields."""
    from mediaeval_ap.tables.records import parse_csv

    known = [RecordLayout(each.texts, numbers=(str(each.number),)) for each in layouts_of(layout)]
    chosen, columns, lines = parse_csv(stream.read(), known, source.name, delimiter)
    layout = replace(layout, texts=chosen.texts, number=chosen.numbers[0])
    topics, documents, numbers = (columns[field].to_pylist() for field in layout.fields)
    faults = Faults('line')
    for row, text in enumerate(numbers):
        if wrong := explain_number(text.encode(), layout):
            faults.add(lines[row], wrong)
    faults.refuse(source.name)
    rows = list(zip(topics, documents, map(float, numbers), strict=True))
    return _from_lines(rows, lines, layout, source.name)
