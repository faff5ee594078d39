"""Live sessions as Parquet files: a run like any other, with metadata to go on from."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__, definitions
from mediaeval_ap.definitions import Cutoff, Definition, Repeats, check_cutoffs
from mediaeval_ap.errors import FormatError, WriteError, shown
from mediaeval_ap.evaluation.criteria import Task
from mediaeval_ap.plain_text import is_text
from mediaeval_ap.tables import (
    HYPOTHESIS,
    REFERENCE,
    SUBSET,
    Layout,
    Source,
    Table,
    read,
)
from mediaeval_ap.tables.arrow import check_names, from_arrow
from mediaeval_ap.tables.decompression import Limit
from mediaeval_ap.tables.parquet import read_parquet
from mediaeval_ap.tables.parquet_pages import LEAST_OF_METADATA, METADATA_COME_TO
from mediaeval_ap.tables.sources import ByteSource

if TYPE_CHECKING:
    import pyarrow

__all__ = ['Saved', 'from_parquet', 'to_parquet']

METADATA = b'mediaeval_ap.live'
FORMAT = 1
WRITTEN = 'what Live.save wrote'
BYTES_OF_CHARACTER = 8  # at most, in the text and in the values that it becomes
BYTES_OF_VALUE = 64  # and of a value or its place in a list, for each mark beside it
LARGEST_METADATA = 64 << 20  # readers of Parquet refuse more than 100 million bytes


@dataclass(frozen=True)
class Saved:
    """What a live session is made of.

    Parameters
    ----------
    reference : Table
        Who is in which shot.
    K : list of int or 'all'
        The cutoffs.
    definition : Definition
        What average precision is.
    subset : Table or None
        The videos that count, where not all do.
    hypotheses : Table or None
        What was there, where anything was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import AveragePrecision
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'live.parquet')
    >>> AveragePrecision('samples/reference.txt', K=[10]).live().save(path)
    >>> saved = from_parquet(path)
    >>> saved.K, str(saved.definition), saved.reference.source.name, saved.hypotheses
    ([10], 'mediaeval-2016', 'samples/reference.txt', None)
    """

    reference: Table
    K: Sequence[Cutoff]
    definition: Definition
    subset: Table | None
    hypotheses: Table | None


def to_parquet(task: Task, hypotheses: Table, name: str) -> bytes:
    """A live session as the content of a file.

    Parameters
    ----------
    task : Task
        What it is scored against.
    hypotheses : Table
        What is there.
    name : str
        Name of the file, for the error.

    Returns
    -------
    bytes
        Parquet, with a row for each hypothesis.

    Raises
    ------
    WriteError
        When the reference is too large for metadata.

    Examples
    --------
    >>> from mediaeval_ap.evaluation.relevance import Reference
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=True)
    >>> task = Task(reference, [10], definitions.get('trec'), None)
    >>> to_parquet(task, read([('x', 'v', '1', 'ann', 0.5)], HYPOTHESIS), 'live.parquet')[:4]
    b'PAR1'
    """
    import pyarrow
    from pyarrow import parquet

    metadata = json.dumps(
        {
            'format': FORMAT,
            'version': __version__,
            'K': task.K,
            'definition': {**asdict(task.definition), 'repeats': task.definition.repeats.name},
            'reference': _described(task.reference.table),
            'subset': None if task.subset is None else _described(task.subset),
        }
    ).encode()
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


def from_parquet(source: ByteSource) -> Saved:
    """A live session from its file.

    Parameters
    ----------
    source : ByteSource
        Where `to_parquet` wrote it, and how many bytes its metadata may come to, and its rows.

    Returns
    -------
    Saved
        What it was made of.

    Raises
    ------
    ReadError
        When the file cannot be read as Parquet, or comes to more.
    FormatError
        When it is another one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import AveragePrecision
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'live.parquet')
    >>> AveragePrecision('samples/reference.txt').live([('x', 'v', '1', 'ann', 0.5)]).save(path)
    >>> from_parquet(ByteSource(path)).hypotheses.texts('person_name')
    ['ann']
    """
    restored: list[Saved] = []

    def look(schema: pyarrow.Schema) -> Sequence[str]:
        text = (schema.metadata or {}).get(METADATA)
        if text is None:
            raise FormatError(source.name, '', '', 'no saved session', WRITTEN)
        restored.append(_restored(text, source))
        check_names(schema.names, HYPOTHESIS, source.name)
        return HYPOTHESIS.fields

    table, described = read_parquet(source, look)
    hypotheses = from_arrow(table, HYPOTHESIS, described) if len(table) else None
    return replace(restored[0], hypotheses=hypotheses)


def _restored(text: bytes, source: ByteSource) -> Saved:
    """What a session is made of but for its hypotheses."""
    limit = Limit(source.name, max(source.max_bytes, LEAST_OF_METADATA), METADATA_COME_TO)
    limit.add(BYTES_OF_CHARACTER * len(text))
    limit.add(BYTES_OF_VALUE * sum(text.count(mark) for mark in (b'[', b'{', b':', b',')))
    try:
        metadata = json.loads(text)
        if metadata['format'] != FORMAT:
            raise ValueError(f'format {shown(metadata["format"])}, not {FORMAT}')
        reference = _table(metadata['reference'], REFERENCE)
        subset = None if metadata['subset'] is None else _table(metadata['subset'], SUBSET)
        definition = _definition(metadata['definition'])
        K = check_cutoffs(metadata['K'], definition)
        if subset is not None and not reference.within(subset).any():
            raise ValueError('no row of the reference in the subset')
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(source.name, '', 'metadata', shown(str(error)), WRITTEN) from error
    return Saved(reference, K, definition, subset, None)


def _described(table: Table) -> dict[str, Any]:
    columns = {field: table.texts(field) for field in table.layout.texts}
    return {**asdict(table.source), 'columns': columns}


def _table(described: Mapping[str, Any], layout: Layout) -> Table:
    columns = [_listed(described['columns'][field]) for field in layout.texts]
    table = read(list(zip(*columns, strict=True)), layout)
    name, sha256 = described['name'], described['sha256']
    if not isinstance(name, str):
        raise TypeError('a source that has no name')
    name.encode()  # else nobody could write it
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
