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
from mediaeval_ap.errors import FormatError, ParameterError, ReadError, shown
from mediaeval_ap.ranking.edit_distances import WIDTHS
from mediaeval_ap.store.mapped_columns import (
    DTYPES,
    LETTERS,
    SUFFIX,
    ColumnFile,
    opened_file,
    wrong,
)
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.reading import STORE_MANIFEST as NAME
from mediaeval_ap.tables.reading import is_store

FORMAT = 'mediaeval-ap store'
FORMAT_VERSION = 1
LARGEST_MANIFEST = 16 << 20  # bytes: one that is no honest one takes 0.5 GB to parse, at most


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
    """Numbers of a run before pruning, and of the hypotheses that are kept."""

    read: int  # hypotheses of the inputs
    hypotheses: int  # … in the subset: N of the definitions
    repeated: int
    names: int
    videos: int
    shots: int
    held: int  # hypotheses that are kept


@dataclass(frozen=True)
class Manifest:
    """The description of a store."""

    inputs: Sequence[Input]
    subset: Subset | None
    keep: int | None
    counts: RunCounts
    columns: Mapping[str, ColumnFile]
    version: str = field(default=__version__)

    @cached_property
    def sha256(self) -> str:
        """The digest of all but names, times and the version of the package."""
        described = self._described()
        del described['version']
        for each in described['inputs']:
            del each['name']
        if self.subset is not None:
            described['subset'] = self.subset.videos
        for each in described['columns'].values():
            del each['mtime_ns']
        return digest_of(described)

    def source(self, path: str) -> Source:
        """Return what a result names as the run."""
        digests = [each.sha256 for each in self.inputs]
        return Source(path, (digests[0] if len(digests) == 1 else None) or self.sha256)

    def write(self, folder: str) -> None:
        """Write it to a folder that has none."""
        described = self._described()
        text = json.dumps({**described, 'sha256': digest_of(described)}, indent=1)
        if len(text) >= LARGEST_MANIFEST:
            reason = f'found {len(self.inputs):,} files, more than a store can name'
            raise ParameterError(f'run: {reason}; join some of them')
        with open(os.path.join(folder, NAME), 'x', encoding='utf-8') as file:
            file.write(text + '\n')
            file.flush()
            os.fsync(file.fileno())

    def _described(self) -> dict[str, Any]:
        about = {'format': FORMAT, 'format_version': FORMAT_VERSION}
        described: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # tuples as lists
        return about | described


def read_manifest(folder: str, path: str) -> Manifest:
    """Read the manifest of a folder; `path` is its name for messages."""
    name = f'{path}/{NAME}'
    if not is_store(folder):
        raise ReadError(path, f'is a folder, but no store: it has no {NAME}')
    with opened_file(folder, path, NAME) as file:
        content = file.read(LARGEST_MANIFEST + 1)
    if len(content) > LARGEST_MANIFEST:
        raise wrong(name, '', f'more than {LARGEST_MANIFEST} bytes', 'the manifest of a store')
    try:
        described = parsed_json(content, name, 'the manifest of a store')
    except FormatError as error:
        raise wrong(name, error.place, error.found, error.expected) from None
    its_format = described.get('format') if isinstance(described, dict) else described
    if its_format != FORMAT:
        raise wrong(name, 'format', shown(its_format), shown(FORMAT))
    if (version := described.get('format_version')) != FORMAT_VERSION:
        expected = f'{FORMAT_VERSION}, which this version of mediaeval_ap reads'
        raise wrong(name, 'format_version', shown(version), expected)
    digest = described.pop('sha256', None)
    if digest != digest_of(described):
        raise wrong(name, 'sha256', 'another hash', 'that of the text: the manifest was edited')
    try:
        return _checked(described)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise wrong(name, '', shown(str(error)), 'the fields of a store') from error


def why_not_replaced(folder: str) -> str | None:
    """Say why a folder must not be replaced: it is no store, of any version, or holds more."""
    try:
        with opened_file(folder, folder, NAME) as file:
            described = json.loads(file.read(LARGEST_MANIFEST))
        if described['format'] != FORMAT:
            raise ValueError
        ours = {NAME, *(name + SUFFIX for name in described['columns'])}
        others = sorted(set(os.listdir(folder)) - ours)
    except (OSError, LookupError, TypeError, ValueError, RecursionError):
        return 'is there already, and no store: name another path, or remove it'
    if others:
        return f'holds {shown(others[0])} beside a store: name another path, or move this away'
    return None


def _checked(described: dict[str, Any]) -> Manifest:
    """Return what a manifest says; somebody may have edited it, and computed its hash again."""
    columns = {
        column: ColumnFile(**{**each, 'shape': tuple(each['shape'])})
        for column, each in described['columns'].items()
    }
    subset = described['subset'] and Subset(**described['subset'])
    inputs, counts = (
        [Input(**each) for each in described['inputs']],
        RunCounts(**described['counts']),
    )
    keep, version = described['keep'], described['version']
    numbers = [
        *(keep or 0, *asdict(counts).values(), *(each.n_rows for each in inputs)),
        *(number for each in columns.values() for number in (each.size, *each.shape)),
    ]
    for number in numbers:
        if type(number) is not int or number < 0:
            raise ValueError(f'{shown(number)} as a number')
    if not inputs or not all(
        isinstance(text, str) for text in (version, *(each.name for each in inputs))
    ):
        raise ValueError('names of inputs that are none')
    if strange := columns.keys() ^ (DTYPES.keys() - LETTERS | columns.keys() & set(LETTERS)):
        raise ValueError(f'{min(strange)} missing or unknown')
    by_place = ('shot_at', 'name_at', 'confidence', 'temporal_rank', 'places')
    lengths = {
        **dict.fromkeys(by_place, counts.held),
        **dict.fromkeys(('held', 'name_ends', 'name_lengths'), counts.names),
        'video_keys': counts.videos,
        'shot_keys': counts.shots,
    }
    n_left = counts.names  # whose letters are in no column so far
    for column, each in columns.items():
        shape: tuple[int, ...] = (lengths.get(column, each.shape[0]),)
        if column in LETTERS:
            shape += (WIDTHS[LETTERS.index(column)],)
            n_left -= shape[0]
        if each.shape != shape or each.dtype not in DTYPES[column] or n_left < 0:
            raise ValueError(f'{column} as {each.dtype} of shape {each.shape}')
    return Manifest(inputs, subset, keep, counts, columns, version)


def digest_of_videos(subset: Table) -> str:
    """Return the digest of the distinct videos of a subset."""
    return digest_of(sorted(set(subset.rows())))


def digest_of(described: object) -> str:
    """Return the digest of what JSON can describe."""
    text = json.dumps(described, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()
