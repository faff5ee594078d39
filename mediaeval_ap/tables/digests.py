"""SHA-256 of files, of values that JSON can express, and of the rows of tables."""

from __future__ import annotations

import hashlib
import json
from io import BufferedIOBase, RawIOBase

from mediaeval_ap.tables.table import Table


def digest_of_file(file: BufferedIOBase | RawIOBase) -> str:
    """Return the digest of a file from its current position to its end."""
    return hashlib.file_digest(file, 'sha256').hexdigest()


def digest_of(value: object, separators: tuple[str, str] | None = None) -> str:
    """Return the digest of a value as JSON; stores use other `separators` than plans do."""
    text = json.dumps(value, sort_keys=True, separators=separators)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_rows(table: Table) -> str:
    """Return the digest of the rows of a table; the numbering of its texts does not matter."""
    # A digest of the file would not show a selection of rows, and rows in memory have no file.
    digest = hashlib.sha256(f'{len(table)} {" ".join(table.layout.fields)}\n'.encode())
    for field in table.layout.texts:
        column = table[field].sorted()
        digest.update(f'{json.dumps(column.values)}\n'.encode())
        digest.update(column.codes.astype('<i4').tobytes())
    if table.numbers is not None:
        digest.update(table.numbers.astype('<f8').tobytes())
    return digest.hexdigest()
