"""Results of MTEB, and logs of lm-evaluation-harness and Inspect, as values by item and measure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.tables.digests import digest_of
from mediaeval_ap.tables.sources import ByteSource, parsed_json, parsed_lines, read_all
from mediaeval_ap.tables.table import Provenance
from mediaeval_ap.tables.values import EXACT_NUMBER, as_double

MAIN_SCORE = 'main_score'  # of MTEB, whose other measures differ between tasks
VALUE_BY_LETTER = {'C': 1.0, 'P': 0.5, 'I': 0.0, 'N': 0.0}  # as Inspect counts them
SUPPORTED = 'JSON of MTEB, lm-evaluation-harness or Inspect (.eval: inspect log convert --to json)'
ONCE = 'each once: give such files as NAME=FILE'


def _of_mteb(file: Any, path: Path) -> Iterator[Any]:
    system = path.parent.parent.name
    if {*path.parent.parent.glob('*/*.json')} - {*path.parent.glob('*')}:
        system = f'{system}@{path.parent.name}'  # one of several revisions
    for split, parts in file['scores'].items():
        for part in parts:
            numbers = {key: part[key] for key in part if isinstance(part[key], float | int)}
            name = f'{split}-{part["hf_subset"]}'.removesuffix('-default')
            yield (system, file['task_name'], name, ''), {**numbers, MAIN_SCORE: part[MAIN_SCORE]}


def _of_sample(line: Any, path: Path) -> Iterator[Any]:
    if not path.name.startswith('samples_'):
        raise TypeError('a file name samples_TASK.jsonl')
    task = re.sub(r'^samples_|(_\d{4}-\d\d-\d\dT[-.\d]+)?\.jsonl.*$', '', path.name)
    values = {f'{name},{line["filter"]}': line[name] for name in line['metrics']}
    yield (path.parent.name, task, line['doc_id'], ''), values


def _of_tasks(file: Any, path: Path) -> Iterator[Any]:
    for task, fields in file['results'].items():
        if not file['group_subtasks'].get(task):  # a group is a mean of tasks that are there, too
            names = (name for name in fields if ',' in name and '_stderr,' not in name)
            yield (path.parent.name, task, '', ''), {name: fields[name] for name in names}


def _of_inspect(log: Any, path: Path) -> Iterator[Any]:
    if log['status'] != 'success':
        expected = "'success', of a run that came to its end"
        raise FormatError(str(path), '', 'status', shown(log['status']), expected)
    for sample in log['samples']:
        values: dict[str, Any] = {}
        for scorer, score in (sample.get('scores') or {}).items():  # none after an error
            value = score['value']
            for key, number in (value if isinstance(value, dict) else {'': value}).items():
                measure = f'{scorer}:{key}'.removesuffix(':')
                values[measure] = VALUE_BY_LETTER.get(f'{number}', number)
        yield (log['eval']['model'], log['eval']['task'], sample['id'], sample['epoch']), values


_READERS = {'mteb': _of_mteb, 'samples': _of_sample, 'tasks': _of_tasks, 'inspect': _of_inspect}


def read_logs(
    path: str, logs: Sequence[tuple[str, ByteSource]], measures: Sequence[str]
) -> tuple[Any, Provenance]:
    """Return a frame of values by item and measure; those of measures not chosen are missing."""
    import pandas

    rows: dict[tuple[str, ...], tuple[float, str]] = {}
    for kind, source in logs:
        for place, (system, task, name, seed), values in _entries_in(kind, source):
            for field, value in (values or {'': None}).items():
                measure = field.removesuffix(',none').replace(',', ':')
                number: float | None = math.nan
                if value is not None and value == value and measure in (measures or [measure]):
                    number = as_double(value, allow_boolean=True)
                if number is None:
                    raise FormatError(source.name, place, field, shown(value), EXACT_NUMBER)
                key = system, task, f'{task}-{name}'.removesuffix('-'), seed, measure
                if key in rows:
                    found = f'{shown(key[2])} of {shown(system)} again, as in {rows[key][1]}'
                    raise FormatError(source.name, place, '', found, ONCE)
                rows[key] = number, source.name
    columns = ['system', 'task', 'qid', 'seed', 'measure', 'value']
    frame = pandas.DataFrame([(*key, row[0]) for key, row in rows.items()], columns=columns)
    names = [name for name in frame['measure'].unique() if name]
    frame['measure'] = frame['measure'].replace('', next(iter(names), ''))  # a missing value
    if not measures and MAIN_SCORE in names:
        frame = frame[frame['measure'] == MAIN_SCORE]
    if frame['seed'].nunique() == 1:
        frame = frame.drop(columns='seed')
    digest, *others = [source.provenance().sha256 for _, source in logs]
    if others:
        digest = digest_of([digest, *others])
    return frame, Provenance(f'{path}', digest)


def _entries_in(kind: str, source: ByteSource) -> Iterator[Any]:
    """Yield the place of an item, its system, task, name there and seed, and values by measure."""
    if kind not in _READERS:
        raise FormatError(source.name, '', '', 'another file', SUPPORTED)
    lines = [0]
    with source.open() as stream:
        if kind == 'samples':
            objects, lines = parsed_lines(stream, source.name, 'JSON lines', nan=True)
        else:
            objects = [parsed_json(read_all(stream, source.name), source.name, nan=True)]
    for fields, line in zip(objects, lines, strict=True):
        place = f'line {line}' if line else ''
        try:
            for names, values in _READERS[kind](fields, Path(source.name).absolute()):
                if not {*map(type, names)} <= {str, int}:
                    raise TypeError(f'no ids: {names}')
                yield place, [*map(str, names)], values
        except (AttributeError, KeyError, TypeError) as error:
            found = 'nothing, or another shape'
            raise FormatError(source.name, place, str(error), found, SUPPORTED) from None
