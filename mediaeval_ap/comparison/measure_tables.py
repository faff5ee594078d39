"""Values by topic and measure, as trec_eval, ir_measures, PyTerrier and pytrec_eval give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Real
from typing import Any

from mediaeval_ap.tables.first_look import TOPIC_COLUMNS
from mediaeval_ap.tables.layouts import RecordLayout, column_at
from mediaeval_ap.tables.records import Records, from_csv
from mediaeval_ap.tables.sources import ByteSource, parsed_json, read_all

TEXT_ROLES = ('measure', 'item')


def has_measures(records: Records) -> bool:
    """Return True for values by topic and measure."""
    return records.layout.roles[:2] == TEXT_ROLES


def read_trec_eval(source: ByteSource) -> Records:
    """Read lines of trec_eval -q, or of ir_measures -q, which has the topic before the measure."""
    with source.open() as stream:
        lines = [line.split() for line in read_all(stream, source.name).split(b'\n')]
    is_text = {b'runid', b'relstring'}.intersection
    rows = b'\n'.join(b'' if is_text(line[:1]) else b'\t'.join(line) for line in lines)
    is_topic_first = re.search(rb'(?m)\A\s*\d+\t|^all\t', rows)
    layout = RecordLayout(
        tuple(map(column_at, (2, 1) if is_topic_first else (1, 2))),
        numbers=(column_at(3),),
        roles=(*TEXT_ROLES, 'value'),
        has_header=False,
        allow_na=True,
    )
    return from_csv(rows, [layout], source.provenance(), '\t')


def frame_of_json(source: ByteSource) -> Any:
    """Read a dictionary of pytrec_eval that was saved as JSON."""
    with source.open() as stream:
        content = read_all(stream, source.name)
    return with_frame_of_topics(parsed_json(content, source.name, 'measures by topic', nan=True))


def with_frame_of_topics(table: Any) -> Any:
    """Return a frame of a dictionary of pytrec_eval, {topic: {measure: value}}; else the table."""
    topics = [*table.values()] if isinstance(table, Mapping) else []
    first = next(iter(topics), None)
    if not isinstance(first, Mapping) or not isinstance(next(iter(first.values()), None), Real):
        return table
    import pandas

    rows = [(topic, *pair) for topic, values in table.items() for pair in values.items()]
    return pandas.DataFrame(rows, columns=[TOPIC_COLUMNS[0], 'measure', 'value'])
