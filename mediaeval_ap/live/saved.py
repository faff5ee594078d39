"""Live sessions as Parquet files: a run like any other, with metadata to restore the rest."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from mediaeval_ap import __version__, definitions
from mediaeval_ap.choices import UNJUDGED, check_policy, check_without_relevant, is_text
from mediaeval_ap.definitions import Definition, Repeats, check_cutoffs
from mediaeval_ap.errors import FormatError, WriteError, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, SUBSET, Layout, Source, Table, read
from mediaeval_ap.tables.columnar import (
    check_names,
    from_arrow,
    read_columns,
)
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.layouts import JUDGED, JUDGED_SHOTS
from mediaeval_ap.tables.sources import ByteSource

METADATA = b'mediaeval_ap.live'
FORMAT = 3
# 1 does not say what becomes of queries without a relevant shot: they count; 2 knows no judgements.
READABLE = (1, 2, 3)
WRITTEN = 'what Live.save wrote'
# What JSON may come to in memory, at most, so that a small file cannot fill it: a character of the
# text is 4 bytes there and 4 in a value; a value or its item in a list is less than 64 bytes.
LARGEST_METADATA = 64 << 20  # below the 100 million bytes that readers of Parquet refuse


def to_parquet(criteria: Criteria, hypotheses: Table, name: str) -> bytes:
    """Return a live session as the content of a file; `name` is the file's, for an error."""
    import pyarrow
    from pyarrow import parquet

    definition = criteria.definition
    described = {
        'format': FORMAT,
        'version': __version__,
        'K': criteria.K,
        'definition': {**asdict(definition), 'repeats': definition.repeats.name},
        'reference': _described(criteria.reference.table),
        'elsewhere': sorted(criteria.reference.elsewhere),
        'subset': None if criteria.subset is None else _described(criteria.subset),
        'queries_without_relevant': criteria.queries_without_relevant,
        'judged': None,
    }
    if (judgements := criteria.judgements) is not None:
        described |= {'judged': _described(judgements.judged.table), **judgements.parameters}
    metadata = json.dumps(described).encode()
    if len(metadata) > LARGEST_METADATA:
        raise WriteError(name, f'a reference of {len(metadata)} bytes is too large to be saved')
    columns = {
        field: pyarrow.DictionaryArray.from_arrays(
            hypotheses[field].codes, pyarrow.array(hypotheses[field].values, pyarrow.string())
        ).dictionary_decode()
        for field in HYPOTHESIS.texts
    }
    columns['confidence'] = pyarrow.array(hypotheses.confidence)
    table = pyarrow.table(columns).replace_schema_metadata({METADATA: metadata})
    content = io.BytesIO()
    parquet.write_table(table, content)
    return content.getvalue()


def from_parquet(source: ByteSource) -> tuple[dict[str, Any], list[str], Table | None]:
    """Return what a saved session's `AveragePrecision` is made of, and its hypotheses.

    Between both are the names of the reference outside the subset, whose rows are not saved.
    """
    parameters: dict[str, Any] = {}

    def look(schema: Any) -> Sequence[str]:
        text = (schema.metadata or {}).get(METADATA)
        if text is None:
            raise FormatError(source.name, '', '', 'no saved session', WRITTEN)
        parameters.update(_restored(text, source))
        check_names(schema.names, HYPOTHESIS, source.name)
        return HYPOTHESIS.fields

    table, described = read_columns(source, look)
    elsewhere = parameters.pop('elsewhere')
    return parameters, elsewhere, from_arrow(table, described, HYPOTHESIS) if len(table) else None


def _restored(text: bytes, source: ByteSource) -> dict[str, Any]:
    try:
        metadata = parsed_json(text, 'JSON')
        if metadata['format'] not in READABLE:
            raise ValueError(f'format {shown(metadata["format"])}, not {FORMAT}')
        reference = _table(metadata['reference'], REFERENCE)
        subset = None if metadata['subset'] is None else _table(metadata['subset'], SUBSET)
        definition = _definition(metadata['definition'])
        K = check_cutoffs(metadata['K'], definition)
        if len(reference) and subset is not None and not reference.within(subset).any():
            raise ValueError('no row of the reference in the subset')
        elsewhere = _listed(metadata.get('elsewhere', []))
        if not all(map(is_text, elsewhere)):
            raise TypeError('a name outside the subset that is none')
        skip_or_count = check_without_relevant(metadata.get('queries_without_relevant', 'count'))
        judged = metadata.get('judged')
        if judged is not None:
            judged = _table(judged, JUDGED if 'relevance' in judged['columns'] else JUDGED_SHOTS)
        unjudged = check_policy('unjudged', metadata.get('unjudged', 'nonrelevant'), UNJUDGED)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(source.name, '', 'metadata', shown(str(error)), WRITTEN) from error
    return {
        'reference': reference,
        'elsewhere': elsewhere,
        'K': K,
        'subset': subset,
        'definition': definition,
        'queries_without_relevant': skip_or_count,
        'judged': judged,
        'unjudged': unjudged,
    }


def _described(table: Table) -> dict[str, Any]:
    columns: dict[str, Any] = {field: table.texts(field) for field in table.layout.texts}
    if table.layout.number is not None:
        columns[table.layout.number] = table.confidence.tolist()
    return {**asdict(table.source), 'columns': columns}


def _table(described: Mapping[str, Any], layout: Layout) -> Table:
    columns = [_listed(described['columns'][field]) for field in layout.fields]
    rows = list(zip(*columns, strict=True))
    table = read(rows, layout) if rows else Table.empty(layout, Source(''))
    name, sha256 = described['name'], described['sha256']
    if not isinstance(name, str):
        raise TypeError('a source that has no name')
    if not (sha256 is None or is_text(sha256)):
        raise TypeError('a source whose digest is none')
    return replace(table, source=Source(name, sha256))


def _listed(values: object) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError(f'{shown(values)} in place of a list')
    return values


def _definition(described: Mapping[str, Any]) -> Definition:
    fields = {**described, 'repeats': Repeats[described['repeats']]}
    for field in ('depth', 'denominator'):
        fields[field] = tuple(_listed(fields[field]))
    definition = Definition(**fields)
    known = {each.name: each for each in definitions.registered()}
    if known.get(definition.name, definition) != definition:
        raise ValueError(f'definition {definition} is {definition.formula}, and another one here')
    return definition
