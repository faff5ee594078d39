"""The entries of the catalogue, and the words that many of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
ANN = ('x', 'v', '1', 'ann', 0.9)
BOB = ('x', 'v', '2', 'bob', 0.8)
A = b'x v 1 ann 0.9\n'
B = b'x v 2 bob 0.8\n'
BOM = b'\xef\xbb\xbf'
FIVE = 'expected 5 fields: corpus_id video_id shot_id person_name confidence'
FINITE = 'expected a finite decimal number'
EMPTY = f': found an empty file, {FIVE.replace("expected", "expected at least one row of")}'
NUL = 'found a NUL byte at byte {}, expected text'

# What stands beside a file in each of its roles. A run is scored at K = 1, where the average
# precision of a name is 1 when the first hypothesis for it is right, else 0: so MAP is the share of
# names that this holds for.
REFERENCE = b'x v 1 ann\nx v 2 bob\n'
TRUTH = {
    'map': b'customer_id,prediction\n1,a\n2,b\n',
    'gap': b'id,landmark_id\n1,a\n2,b\n',
    'lrap': b'fname,labels\n1,a\n2,b\n',
}


@dataclass(frozen=True)
class Entry:
    """A hostile file, and the outcome that it must have.

    `make` writes it to a path. `error` is the message, in which ``{path}`` stands for the path as
    messages show it; without one, `value` is the score, and `rows` are what was read. A file that
    `is_limited` may come to a million bytes.
    """

    name: str
    make: Callable[[Path], object]
    error: str | None = None
    value: float | None = None
    rows: tuple[tuple[object, ...], ...] | None = None
    role: str = 'hypothesis'
    is_limited: bool = False


def holding(content: bytes) -> Callable[[Path], object]:
    """Return a writer of a file with this content."""
    return lambda path: path.write_bytes(content)


def read(name: str, content: bytes, *rows: tuple[object, ...], value: float = 1.0) -> Entry:
    """A run that is read as these rows."""
    return Entry(name, holding(content), value=value, rows=rows)


def right(role: str, name: str, content: bytes, value: float = 1.0) -> Entry:
    """A file that is scored."""
    return Entry(name, holding(content), value=value, role=role)


def refused(name: str, content: bytes, error: str, role: str = 'hypothesis') -> Entry:
    """A file that is refused: the message goes on after the path."""
    return Entry(name, holding(content), f'{{path}}{error}', role=role)


LIMITED = (
    '{path}: decompresses to N bytes or more, expected at most 1000000: raise the limit by the '
    'environment variable MEDIAEVAL_AP_MAX_BYTES'
)
