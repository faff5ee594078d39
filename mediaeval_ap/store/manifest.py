"""The files of a store: its manifest, and a file of numpy for each column, mapped to memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.errors import FormatError, ReadError, shown
from mediaeval_ap.tables import Provenance, Table
from mediaeval_ap.tables.digests import digest_of, digest_of_file
from mediaeval_ap.tables.reading import STORE_MANIFEST, is_store
from mediaeval_ap.tables.sources import opening, parsed_json

STORE_FORMAT = 'mediaeval-ap store'
FORMAT_VERSION = 2
SUFFIX = '.npy'
INDEX_AGAIN = 'index the run again'
COMPACT = (',', ':')  # the separators of JSON in digests


@dataclass(frozen=True)
class Input:
    """A file, table or other run whose hypotheses are in a store."""

    name: str
    sha256: str | None
    n_rows: int


@dataclass(frozen=True)
class Subset:
    name: str
    sha256: str | None
    videos: str  # `digest_of_videos`

    @classmethod
    def of(cls, table: Table | None) -> Self | None:
        if table is None:
            return None
        return cls(table.source.name, table.source.sha256, digest_of_videos(table))


@dataclass(frozen=True)
class ColumnFile:
    """Size, time and digest of the file of a column when it was written."""

    size: int  # in bytes
    mtime_ns: int
    sha256: str


@dataclass(frozen=True)
class RunCounts:
    read: int  # from the inputs
    hypotheses: int  # in the subset: N in the definitions
    repeated: int


@dataclass(frozen=True)
class Manifest:
    inputs: Sequence[Input]
    subset: Subset | None
    counts: RunCounts
    columns: Mapping[str, ColumnFile]
    version: str = field(default=__version__)

    @cached_property
    def sha256(self) -> str:
        """The digest of the manifest without names, times and the version of the package."""
        description = self._to_json()
        del description['version']
        for source in description['inputs']:
            del source['name']
        if self.subset is not None:
            description['subset'] = self.subset.videos
        for file in description['columns'].values():
            del file['mtime_ns']
        return digest_of(description, COMPACT)

    def source(self, path: str) -> Provenance:
        if len(self.inputs) == 1 and self.inputs[0].sha256:
            return Provenance(path, self.inputs[0].sha256)
        return Provenance(path, self.sha256)

    def write(self, folder: str) -> None:
        with open(os.path.join(folder, STORE_MANIFEST), 'x', encoding='utf-8') as file:
            file.write(json.dumps(self._to_json(), indent=1) + '\n')
            file.flush()
            os.fsync(file.fileno())

    def _to_json(self) -> dict[str, Any]:
        return {'format': STORE_FORMAT, 'format_version': FORMAT_VERSION, **asdict(self)}


def read_manifest(folder: str, path: str) -> Manifest:
    """Read the manifest of a folder; `path` is its name for messages."""
    name = f'{path}/{STORE_MANIFEST}'
    if not is_store(folder):
        remedy = f'of a folder of runs give the files: {path}/*'
        fault = f'is a folder, but not a store: it has no {STORE_MANIFEST}; {remedy}'
        raise ReadError(path, fault)
    with as_read_errors(name), open(os.path.join(folder, STORE_MANIFEST), 'rb') as file:
        description = parsed_json(file.read(), name, f'the manifest of a store; {INDEX_AGAIN}')
    if not isinstance(description, dict):
        description = {'format': description}
    if (format_name := description.get('format')) != STORE_FORMAT:
        raise store_error(name, 'format', shown(format_name), shown(STORE_FORMAT))
    if (version := description.get('format_version')) != FORMAT_VERSION:
        expected = f'{FORMAT_VERSION}, which this version of mediaeval_ap reads'
        raise store_error(name, 'format_version', shown(version), expected)
    try:
        columns = description['columns'].items()
        return Manifest(
            inputs=[Input(**source) for source in description['inputs']],
            subset=description['subset'] and Subset(**description['subset']),
            counts=RunCounts(**description['counts']),
            columns={column: ColumnFile(**file) for column, file in columns},
            version=description['version'],
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise store_error(name, '', shown(str(error)), 'the fields of a store') from error


def why_not_replaced(folder: str) -> str | None:
    """Return the reason not to replace a folder: it is not a store, or has other files; or None."""
    try:
        with open(os.path.join(folder, STORE_MANIFEST), 'rb') as file:
            description = parsed_json(file.read(), '')
        if description['format'] != STORE_FORMAT:
            raise ValueError
        store_files = {STORE_MANIFEST, *(name + SUFFIX for name in description['columns'])}
        other_files = sorted(set(os.listdir(folder)) - store_files)
    except (OSError, LookupError, TypeError, ValueError):
        return 'exists and is not a store: give another path, or remove it'
    if other_files:
        return f'holds {shown(other_files[0])} beside a store: give another path, or move it away'
    return None


def digest_of_videos(subset: Table) -> str:
    return digest_of(sorted(set(subset.rows())), COMPACT)


def write_column(folder: str, name: str, values: NDArray[Any]) -> ColumnFile:
    with open(os.path.join(folder, name + SUFFIX), 'x+b') as file:
        np.save(file, values)
        file.flush()
        os.fsync(file.fileno())
        status = os.fstat(file.fileno())
        file.seek(0)
        digest = digest_of_file(file)
    return ColumnFile(status.st_size, status.st_mtime_ns, digest)


def map_column(folder: str, path: str, name: str, column: ColumnFile) -> NDArray[Any]:
    """Map the file of a column; if its time has changed, first compare its digest."""
    file = os.path.join(folder, name + SUFFIX)
    printed_path = f'{path}/{name}{SUFFIX}'
    with as_read_errors(printed_path):
        status = os.stat(file)
        if status.st_size != column.size:
            raise store_error(printed_path, 'size', f'{status.st_size} bytes', f'{column.size}')
        if status.st_mtime_ns != column.mtime_ns:
            check_column(folder, path, name, column)
        try:
            values = np.lib.format.open_memmap(file, mode='r')
            described = values.dtype.kind, values.dtype.isnative, values.ndim
            n_bytes = values.offset + values.nbytes
            if (*described, n_bytes) != (*_header_of(name), column.size):
                raise ValueError(f'{values.shape} of {values.dtype}')
        except OSError:
            raise
        except Exception as error:  # numpy raises many kinds
            actual = shown(str(error))
            raise store_error(printed_path, '', actual, 'the header that index wrote') from error
    return values.view(np.ndarray)


def _header_of(name: str) -> tuple[str, bool, int]:
    """Return the kind, the native byte order and the dimensions of a column."""
    if '_letters_' in name:
        return 'u', True, 2
    if name.endswith('_bytes'):
        return 'u', True, 1
    return 'f' if name == 'confidence' else 'i', True, 1


def check_column(folder: str, path: str, name: str, column: ColumnFile) -> None:
    """Raise FormatError if the file of a column has another digest than in the manifest."""
    printed_path = f'{path}/{name}{SUFFIX}'
    with as_read_errors(printed_path), open(os.path.join(folder, name + SUFFIX), 'rb') as file:
        digest = digest_of_file(file)
    if digest != column.sha256:
        expected = f'{column.sha256[:12]}…, as it was written'
        raise store_error(printed_path, 'SHA-256', f'{digest[:12]}…', expected)


@contextmanager
def as_read_errors(printed_path: str) -> Iterator[None]:
    with opening(printed_path):
        try:
            yield
        except FileNotFoundError as error:
            raise ReadError(printed_path, f'{error.strerror}; {INDEX_AGAIN}') from error


def store_error(printed_path: str, field: str, actual: str, expected: str) -> FormatError:
    """Return the error about a file of a store, which advises to index again."""
    return Provenance(printed_path).error(actual, f'{expected}; {INDEX_AGAIN}', field=field)
