"""The manifest of a store: what it was made of, its counts, and the files of its columns."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Self

from mediaeval_ap import __version__
from mediaeval_ap.errors import ReadError, shown
from mediaeval_ap.store.columns import REMEDY, SUFFIX, ColumnFile, reading, wrong
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.reading import STORE_MANIFEST as NAME
from mediaeval_ap.tables.reading import is_store

FORMAT = 'mediaeval-ap store'
FORMAT_VERSION = 2


@dataclass(frozen=True)
class Input:
    """A file, or what stands for one, whose hypotheses are in a store."""

    name: str
    sha256: str | None
    n_rows: int


@dataclass(frozen=True)
class Subset:
    """The subset whose hypotheses are in a store."""

    name: str
    sha256: str | None
    videos: str  # `digest_of_videos`

    @classmethod
    def of(cls, table: Table | None) -> Self | None:
        if table is None:
            return None
        return cls(table.source.name, table.source.sha256, digest_of_videos(table))


@dataclass(frozen=True)
class RunCounts:
    """Numbers of hypotheses."""

    read: int  # of the inputs
    hypotheses: int  # in the subset: N of the definitions
    repeated: int


@dataclass(frozen=True)
class Manifest:
    """The description of a store."""

    inputs: Sequence[Input]
    subset: Subset | None
    counts: RunCounts
    columns: Mapping[str, ColumnFile]
    version: str = field(default=__version__)

    @cached_property
    def sha256(self) -> str:
        """The digest of all but names, times and the version of the package."""
        described = self._described()
        del described['version']
        for source in described['inputs']:
            del source['name']
        if self.subset is not None:
            described['subset'] = self.subset.videos
        for file in described['columns'].values():
            del file['mtime_ns']
        return digest_of(described)

    def source(self, path: str) -> Source:
        """Return the source of the run, for results."""
        digests = [source.sha256 for source in self.inputs]
        return Source(path, (digests[0] if len(digests) == 1 else None) or self.sha256)

    def write(self, folder: str) -> None:
        """Write it to a folder that has none."""
        with open(os.path.join(folder, NAME), 'x', encoding='utf-8') as file:
            file.write(json.dumps(self._described(), indent=1) + '\n')
            file.flush()
            os.fsync(file.fileno())

    def _described(self) -> dict[str, Any]:
        return {'format': FORMAT, 'format_version': FORMAT_VERSION, **asdict(self)}


def read_manifest(folder: str, path: str) -> Manifest:
    """Read the manifest of a folder; `path` is its name for messages."""
    name = f'{path}/{NAME}'
    if not is_store(folder):
        raise ReadError(path, f'is a folder, but not a store: it has no {NAME}')
    with reading(name), open(os.path.join(folder, NAME), 'rb') as file:
        described = parsed_json(file.read(), name, f'the manifest of a store; {REMEDY}')
    its_format = described.get('format') if isinstance(described, dict) else described
    if its_format != FORMAT:
        raise wrong(name, 'format', shown(its_format), shown(FORMAT))
    if (version := described.get('format_version')) != FORMAT_VERSION:
        expected = f'{FORMAT_VERSION}, which this version of mediaeval_ap reads'
        raise wrong(name, 'format_version', shown(version), expected)
    try:
        return Manifest(
            [Input(**source) for source in described['inputs']],
            described['subset'] and Subset(**described['subset']),
            RunCounts(**described['counts']),
            {column: ColumnFile(**file) for column, file in described['columns'].items()},
            described['version'],
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise wrong(name, '', shown(str(error)), 'the fields of a store') from error


def why_not_replaced(folder: str) -> str | None:
    """Say why a folder must not be replaced: it is not a store of any version, or holds more."""
    try:
        with open(os.path.join(folder, NAME), 'rb') as file:
            described = json.load(file)
        if described['format'] != FORMAT:
            raise ValueError
        ours = {NAME, *(name + SUFFIX for name in described['columns'])}
        others = sorted(set(os.listdir(folder)) - ours)
    except (OSError, LookupError, TypeError, ValueError):
        return 'is there already, and not a store: name another path, or remove it'
    if others:
        return f'holds {shown(others[0])} beside a store: name another path, or move this away'
    return None


def digest_of_videos(subset: Table) -> str:
    """Return the digest of the distinct videos of a subset."""
    return digest_of(sorted(set(subset.rows())))


def digest_of(described: object) -> str:
    """Return the digest of what JSON can describe."""
    text = json.dumps(described, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()
