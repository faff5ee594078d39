"""A look at the first bytes of a file, once: which kind of file is it, and who reads it?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from contextlib import suppress
from enum import Enum
from itertools import chain
from os.path import splitext
from pathlib import Path
from typing import Any

from mediaeval_ap.atomic_files import COMPRESSED_SUFFIXES
from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.tables.layouts import PARQUET_INDEX, UNNAMED_INDEX
from mediaeval_ap.tables.sources import COLUMNAR_FORMATS, ByteSource
from mediaeval_ap.tables.table import Argument

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
_ALL_TOOL_COLUMNS = [columns.split() for columns in chain(*TOOL_COLUMNS.values())]
OWN_COUNTS = 'n_queries', 'n_labels'  # columns in tables of this package
TOPIC_COLUMNS = ('qid', 'query_id')  # of PyTerrier, and of ir_measures
LZ4 = b'\x04\x22\x4d\x18'  # ranx compresses CBOR by it
NPY = b'\x93NUMPY'
# A key of a JSON object, and its colon.
_KEY = rb'"(?:[^"\\]|\\.)*"\s*:'
# The brace of an object, followed by a key, or alone in its line.
_is_object = re.compile(rb'\s*\{\s*(?:%s|\}|\Z)' % _KEY).match
# A first value that is not an object or list: by topic, it would be one.
_is_record = re.compile(rb'\s*\{\s*%s\s*[^\s{[]' % _KEY).match
_is_array = re.compile(rb'\s*\[\s*(?:\{\s*(?:%s|\Z)|(?:\]\s*)?\Z)' % _KEY).match
_keys = re.compile(rb'"([^"\\]+)"\s*:').findall
# Names of measures in trec_eval, then in ir_measures.
_is_measure = re.compile(
    r'(?:gm_)?map|ndcg|recip_rank|Rprec|bpref|infAP|num_\w+|set_\w+|'
    r'(?:P|map_cut|ndcg_cut|recall|success|iprec_at_recall)_[0-9.]+|'
    r'(?:AP|Bpref|ERR|nDCG|P|R|Rprec|RR|Success)(?:\(\S*\))?(?:@[0-9]+)?'
).fullmatch
_first_topic = re.compile(rb'\s*\{\s*%s\s*\{([^{}]*)' % _KEY).match
_is_trec_eval_line = re.compile(
    rb'(?:(?:runid|relstring|num_\w+)[ \t]+\S+[ \t]+\S.*|'
    rb'(?:\S+[ \t]+){2}-?\d+\.\d+(?:e-?\d+)?)\s*'
).fullmatch
_begins_like_results = re.compile(rb'\s*\{\s*"').match
_is_next_line = re.compile(rb'\}\r?\n\s*\{').search
# Results have a text there.
_is_by_topic = re.compile(rb'\s*\{\s*%s\s*\{' % _KEY).match
# After comments, six fields, or five with Q0; the fourth is a rank, and the fifth a score.
_is_run = re.compile(
    rb'(?:\s*#.*\n)*\s*\S+[ \t]+(?:(Q0)|\S+)[ \t]+\S+[ \t]+-?\d+[ \t]+[-+\d.eE]+'
    rb'(?(1)(?:[ \t]+\S+)?|[ \t]+\S+)\s*(?:\n|\Z)'
).match
# How files begin that MTEB, lm-evaluation-harness and Inspect write.
_LOGS = {
    'mteb': rb'\s*\{\s*"dataset_revision"\s*:[^{}]*"mteb_version"\s*:',
    'samples': rb'\s*\{\s*"doc_id"\s*:[^,{]*,\s*"doc"\s*:',
    'tasks': rb'\s*\{\s*"results"\s*:\s*\{\s*%s\s*\{[^{}]*"alias"\s*:' % _KEY,
    'inspect': rb'\s*\{\s*"version"\s*:\s*\d+,\s*"status"\s*:\s*"\w+",\s*"eval"\s*:',
    'binary': rb'(?s)PK\x03\x04.{26}_journal/',  # of Inspect
}
# Beside those of MTEB are files without values.
_is_log_name = re.compile(r'(?!model_meta|run_settings).*\.(?:jsonl?|eval)\b').match


class Kind(Enum):
    """The kinds of files that `compare` and `report` take."""

    SCORES = 'a score table'
    RESULTS = 'results'
    JSON_LINES = 'JSON lines of other columns'
    TREC = 'qrels or a run of TREC or another tool'
    ROWS = 'a reference or a run'


class Shape(Enum):
    LZ4 = 'LZ4'
    TOPICS = 'a JSON object by topic'
    RECORDS = 'JSON lines'
    ARRAY = 'an array of JSON'
    TABLE = 'a table with the columns of a tool'
    LINES = 'lines of fields'


def kind_of(file: Argument) -> Kind:
    """Return the kind of a file; `Kind.ROWS` if it cannot be read twice."""
    if logs_in(file):
        return Kind.SCORES
    source = ByteSource.of(file)
    columns = columns_of(source)
    names = {*columns}
    start = source.start
    if source.format in COLUMNAR_FORMATS:
        is_score_table = not names.isdisjoint({'item', 'value', PARQUET_INDEX})
        is_trec = any(names.issuperset(tool_columns[:2]) for tool_columns in _ALL_TOOL_COLUMNS)
    else:
        has_index = columns[:1] in ([''], [UNNAMED_INDEX]) and len(columns) > 1
        is_score_table = 'item' in names or has_index
        is_score_table = is_score_table or is_trec_eval(start) or holds_measures_by_topic(start)
        is_trec = start.startswith((LZ4, NPY)) or any((_is_by_topic(start), _is_run(start)))
    if is_score_table or is_own_header(names) or is_measure_header(names):
        return Kind.SCORES
    if is_trec or _has_tool_columns(start):
        return Kind.TREC
    if not _begins_like_results(start):
        return Kind.ROWS
    return Kind.JSON_LINES if 'schema' not in names and _is_next_line(start) else Kind.RESULTS


def logs_in(path: Argument) -> list[tuple[str, ByteSource]]:
    """Return the kinds of a file, or of those in a folder ('' for no log); [] without a log."""
    if not isinstance(path, str | os.PathLike):
        return []
    files = [path]
    if os.path.isdir(path):
        found = sorted(Path(os.fsdecode(path)).rglob('*'))
        folders = {file.parent for file in found if file.match('samples_*')}
        means = {file for folder in folders for file in folder.glob('results_*')}
        files = [file for file in found if _is_log_name(file.name) and file not in means]
    sources = [ByteSource.of(file) for file in files]
    starts = [source.start if source.is_path else b'' for source in sources]
    kinds = [''.join(kind for kind in _LOGS if re.match(_LOGS[kind], start)) for start in starts]
    return [*zip(kinds, sources, strict=True)] if any(kinds) else []


def columns_of(source: ByteSource) -> list[str]:
    """Return the names in the header of a file, or the fields of its first JSON object."""
    with suppress(ReadError, FormatError):  # a reader of the file raises it again
        if source.is_path and source.format in COLUMNAR_FORMATS:
            from mediaeval_ap.tables.columnar import parquet_columns

            return parquet_columns(source)
    if is_json(source.start):
        return [*first_object(source)]
    separators = ',;'
    if re.search('[.][ct]sv', source.name.lower()):  # a run may be separated by tabs, too
        separators += '\t'
    return header_of(source.start, separators)


def is_json(start: bytes) -> bool:
    """Return True if a file begins with an object of JSON, or a list of them."""
    return start.lstrip(b' \r\n').removeprefix(b'[').startswith(b'{')


def first_object(source: ByteSource) -> dict[str, Any]:
    """Return the first JSON object of a file, without its lists and objects; {} if it is large."""
    text = source.start.decode(errors='replace').lstrip(' \r\n').removeprefix('[')
    try:
        values, _ = json.JSONDecoder().raw_decode(text)
    except (RecursionError, ValueError):
        return {}
    return {name: value for name, value in values.items() if not isinstance(value, dict | list)}


def is_own_header(names: Collection[str]) -> bool:
    """Return True if a command of this package wrote values by query under these columns."""
    return {'run', 'query'} <= {*names} and not {*OWN_COUNTS}.isdisjoint(names)


def is_measure_header(names: Collection[str]) -> bool:
    """Return True for columns of a topic, a measure and its value."""
    return {'measure', 'value'} <= {*names} and not {*TOPIC_COLUMNS}.isdisjoint(names)


def are_measures(names: Collection[str]) -> bool:
    return bool(names) and all(map(_is_measure, names))


def holds_measures_by_topic(start: bytes) -> bool:
    """Return True for JSON of pytrec_eval: an object of measures for each topic."""
    topic = _first_topic(start)
    return topic is not None and are_measures(_names_of_keys(topic[1]))


def is_trec_eval(start: bytes) -> bool:
    """Return True if the first lines of a file are values of trec_eval."""
    return all(map(_is_trec_eval_line, start.rstrip().split(b'\n')[:3]))


def shape_of(start: bytes) -> Shape:
    """Return the shape of qrels or a run that begins with these bytes, a line or more."""
    if start.startswith(LZ4):
        return Shape.LZ4
    has_tool_columns = _has_tool_columns(start)
    if _is_object(start):
        return Shape.RECORDS if has_tool_columns or _is_record(start) else Shape.TOPICS
    if _is_array(start):
        return Shape.ARRAY
    return Shape.TABLE if has_tool_columns else Shape.LINES


def _has_tool_columns(start: bytes) -> bool:
    """Return True if CSV or JSON begins with a tool's columns of qrels or a run."""
    names = header_of(start, ',\t')
    if start.lstrip().startswith((b'{', b'[')):
        names = _names_of_keys(start)
    return any(map({*names}.issuperset, _ALL_TOOL_COLUMNS))


def _names_of_keys(start: bytes) -> list[str]:
    return [name.decode(errors='replace') for name in _keys(start)]


def separator_by_suffix(name: str) -> str:
    """Return a tab for a file whose name ends in .tsv, perhaps compressed; else a comma."""
    stem, suffix = splitext(name.lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = splitext(stem)[1]
    return '\t' if suffix == '.tsv' else ','


def separator_of(content: bytes) -> str:
    """Return a tab if the first line has one, else a comma."""
    return '\t' if b'\t' in first_line(content) else ','


def first_line(content: bytes) -> bytes:
    return content[: content.find(b'\n') + 1 or len(content)]  # the rest is not copied


def header_of(start: bytes, separators: str) -> list[str]:
    """Split the first line that is not empty at one of some separators; cut quotes and spaces."""
    line = start.lstrip(b' \r\n').partition(b'\n')[0].decode(errors='replace')
    return [name.strip('" \t\r') for name in re.split(f'[{separators}]', line)]
