"""The rows of a run as they are read, on disk: codes of texts and confidences, with a journal.

The journal is replaced whole whenever rows were added, and says how much of each file counts. So
what was added is there after the process was killed, and half of what was being added is not.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import HYPOTHESIS, Table

JOURNAL = 'journal.json'
CHUNK_ROWS = 1 << 22  # a choice: 32 MiB for each column of eight bytes


class Spool:
    """Rows in a folder: a file of codes and one of texts for each field, one of confidences."""

    def __init__(self, folder: Path) -> None:
        self.n_rows = 0
        self.journal: dict[str, Any] = {}
        self._folder = folder
        self._texts = {field: _Texts(folder, field) for field in HYPOTHESIS.texts}

    def resume(self) -> bool:
        """Take up what the journal counts; return whether there is one that can be read."""
        try:
            journal = json.loads((self._folder / JOURNAL).read_bytes())
            sizes = journal['sizes']
            self._cut({name: int(sizes[name]) for name in self._files()})
        except (OSError, ValueError, KeyError, TypeError):
            return False
        self.n_rows = sizes['confidence'] // 8
        self.journal = journal
        for texts in self._texts.values():
            texts.load()
        return True

    def begin(self, journal: dict[str, Any]) -> None:
        """Begin anew, with nothing."""
        with suppress(FileNotFoundError):
            os.unlink(self._folder / JOURNAL)
        for name in self._files():
            (self._folder / name).write_bytes(b'')
        self.n_rows = 0
        self._texts = {field: _Texts(self._folder, field) for field in HYPOTHESIS.texts}
        self.journal = journal
        self.save()

    def add(self, table: Table) -> None:
        """Add the rows of a table; they count when they are saved."""
        for field, texts in self._texts.items():
            codes = texts.codes_of(table[field].values)[table[field].codes]
            self._append(f'{field}.codes', codes)
        self._append('confidence', table.confidence)
        self.n_rows += len(table)

    def save(self) -> None:
        """Make all rows so far count, whatever happens to the process or the system."""
        for texts in self._texts.values():
            texts.save()
        sizes = {}
        for name in self._files():
            with open(self._folder / name, 'rb') as file:
                os.fsync(file.fileno())
                sizes[name] = os.fstat(file.fileno()).st_size
        self.journal['sizes'] = sizes
        new = self._folder / f'{JOURNAL}.new'
        with open(new, 'w') as file:
            json.dump(self.journal, file)
            file.flush()
            os.fsync(file.fileno())
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

    def _files(self) -> list[str]:
        names = [f'{field}.{kind}' for field in HYPOTHESIS.texts for kind in ('codes', 'texts')]
        return [*names, 'confidence']

    def _cut(self, sizes: dict[str, int]) -> None:
        """Cut off what was added to the files and did not count yet."""
        for name, size in sizes.items():
            with open(self._folder / name, 'r+b') as file:
                if os.fstat(file.fileno()).st_size < size:
                    raise ValueError(name)
                file.truncate(size)

    def _append(self, name: str, values: NDArray[Any]) -> None:
        with open(self._folder / name, 'ab') as file:
            values.tofile(file)


class _Texts:
    """The distinct texts of a field, numbered as they come, one a line in a file."""

    def __init__(self, folder: Path, field: str) -> None:
        self._path = folder / f'{field}.texts'
        self.code_of: defaultdict[str, int] = defaultdict()
        self.code_of.default_factory = self.code_of.__len__
        self._n_saved = 0

    def codes_of(self, texts: Any) -> NDArray[np.int32]:
        """Return the codes of texts, of which some may be new."""
        return np.fromiter(map(self.code_of.__getitem__, texts), np.int32, len(texts))

    def save(self) -> None:
        """Write the new texts."""
        if len(self.code_of) > self._n_saved:
            new = list(self.code_of)[self._n_saved :]
            with open(self._path, 'ab') as file:
                file.writelines(f'{text}\n'.encode() for text in new)
            self._n_saved = len(self.code_of)

    def load(self) -> None:
        """Take up the texts of the file."""
        texts = self._path.read_bytes().decode().split('\n')[:-1]
        self.code_of.update(zip(texts, range(len(texts)), strict=True))
        self._n_saved = len(texts)
