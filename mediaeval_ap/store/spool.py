"""The rows of a run as they are read, on disk: codes of texts and confidences, with a journal.

The journal is replaced whole whenever rows were added, and says how much of each file counts. So
what was added is there after the process was killed, and half of what was being added is not. It
has the SHA-256 of what counts and of itself: a build never goes on with what was damaged meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import ReadError
from mediaeval_ap.store.manifest import digest_of
from mediaeval_ap.tables import HYPOTHESIS, Table

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

JOURNAL = 'journal.json'
CHUNK_ROWS = 1 << 22  # a choice: 32 MiB for each column of eight bytes
HASHED_BYTES = 1 << 20  # a choice: of a file at a time
FILES = (
    *(f'{field}.{kind}' for field in HYPOTHESIS.texts for kind in ('codes', 'texts')),
    'confidence',
)


class Spool:
    """Rows in a folder: a file of codes and one of texts for each field, one of confidences."""

    def __init__(self, folder: Path) -> None:
        """Take up what the journal counts, if there is one; refuse what was changed."""
        self.journal: dict[str, Any] = {}
        self._folder = folder
        self._clear()
        if os.path.lexists(folder / JOURNAL):
            self._resume()

    def _clear(self) -> None:
        self.n_rows = 0
        self._texts = {field: _Texts() for field in HYPOTHESIS.texts}
        self._hashes = {name: hashlib.sha256() for name in FILES}

    def _resume(self) -> None:
        name = JOURNAL
        try:
            with _opened(self._folder / JOURNAL) as file:
                journal = json.load(file)
            if journal.pop('sha256') != digest_of(journal):
                raise ValueError(name)
            for name, (size, digest) in journal['files'].items():
                self._hash(name, size)
                if self._hashes[name].hexdigest() != digest:
                    raise ValueError(name)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            remedy = f'remove the folder {self._folder}, and index the run again'
            reason = f'is not as the build that was stopped left it: {remedy}'
            raise ReadError(str(self._folder / name), reason) from error
        for name, (size, _) in journal['files'].items():  # what was added did not count yet
            os.truncate(self._folder / name, size)
        self.n_rows = journal['files']['confidence'][0] // 8
        self.journal = journal
        for field, texts in self._texts.items():
            texts.load(self._folder / f'{field}.texts')

    def _hash(self, name: str, size: int) -> None:
        """Hash what counts of a file."""
        with _opened(self._folder / name) as file:
            left = size
            while left > 0 and (block := file.read(min(left, HASHED_BYTES))):
                self._hashes[name].update(block)
                left -= len(block)

    def begin(self, journal: dict[str, Any]) -> None:
        """Begin anew, with nothing."""
        with suppress(FileNotFoundError):
            os.unlink(self._folder / JOURNAL)
        for name in FILES:
            (self._folder / name).write_bytes(b'')
        self._clear()
        self.journal = journal
        self.save()

    def add(self, table: Table) -> None:
        """Add the rows of a table; they count when they are saved."""
        for field, texts in self._texts.items():
            codes = texts.codes_of(table[field].values)[table[field].codes]
            self._append(f'{field}.codes', codes.data)
        self._append('confidence', np.ascontiguousarray(table.confidence).data)
        self.n_rows += len(table)

    def save(self) -> None:
        """Make all rows so far count, whatever happens to the process or the system."""
        for field, texts in self._texts.items():
            self._append(f'{field}.texts', texts.unsaved())
        files = {}
        for name in FILES:
            with open(self._folder / name, 'rb') as file:
                os.fsync(file.fileno())
                files[name] = os.fstat(file.fileno()).st_size, self._hashes[name].hexdigest()
        self.journal['files'] = files
        new = self._folder / f'{JOURNAL}.new'
        with open(new, 'w') as text:
            json.dump({**self.journal, 'sha256': digest_of(self.journal)}, text)
            text.flush()
            os.fsync(text.fileno())
        os.replace(new, self._folder / JOURNAL)

    def texts(self, field: str) -> list[str]:
        """Return the distinct texts of a field, by code."""
        return list(self._texts[field].code_of)

    def chunks(self, *fields: str) -> Iterator[list[NDArray[Any]]]:
        """Yield the codes of fields, or ``confidence``, for some rows after others."""
        for start in range(0, self.n_rows, CHUNK_ROWS):
            count = min(CHUNK_ROWS, self.n_rows - start)
            yield [self._column(field, start, count) for field in fields]

    def _column(self, field: str, start: int, count: int) -> NDArray[Any]:
        if field == 'confidence':
            return np.fromfile(self._folder / field, np.float64, count, offset=8 * start)
        path = self._folder / f'{field}.codes'
        return np.fromfile(path, np.int32, count, offset=4 * start)

    def _append(self, name: str, content: ReadableBuffer) -> None:
        with open(self._folder / name, 'ab') as file:
            file.write(content)
        self._hashes[name].update(content)


def _opened(path: Path) -> BinaryIO:
    # To open a pipe would wait; what a link leads to is not ours to cut.
    if path.is_symlink() or not path.is_file():
        raise ValueError(path)
    return path.open('rb')


class _Texts:
    """The distinct texts of a field, numbered as they come, one a line in a file."""

    def __init__(self) -> None:
        self.code_of: defaultdict[str, int] = defaultdict()
        self.code_of.default_factory = self.code_of.__len__
        self._n_saved = 0

    def codes_of(self, texts: Any) -> NDArray[np.int32]:
        """Return the codes of texts, of which some may be new."""
        return np.fromiter(map(self.code_of.__getitem__, texts), np.int32, len(texts))

    def unsaved(self) -> bytes:
        """Return the lines of the texts that are new since the last call."""
        new = islice(self.code_of, self._n_saved, None)
        self._n_saved = len(self.code_of)
        return ''.join(f'{text}\n' for text in new).encode()

    def load(self, path: Path) -> None:
        """Take up the texts of a file."""
        texts = path.read_bytes().decode().split('\n')[:-1]
        self.code_of.update(zip(texts, range(len(texts)), strict=True))
        self._n_saved = len(texts)
