"""What an entry of the catalogue is, and the words that many of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ANN = ('x', 'v', '1', 'ann', 0.9)
BOB = ('x', 'v', '2', 'bob', 0.8)
A = b'x v 1 ann 0.9\n'
B = b'x v 2 bob 0.8\n'
FIVE = 'expected 5 fields: corpus_id video_id shot_id person_name confidence'
FINITE = 'expected a finite decimal number'
EMPTY = f'{{path}}: found an empty file, {FIVE.replace("expected", "expected at least one of")}'

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
    """A hostile file, and what has to become of it.

    `make` writes it to a path. `error` is the message, in which ``{path}`` stands for the path as
    messages show it; without one, `value` is the score, and `rows` are what was read.
    """

    name: str
    why: str
    make: Callable[[Path], object]
    error: str | None = None
    value: float | None = None
    rows: tuple[tuple[object, ...], ...] | None = None
    role: str = 'hypothesis'
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        assert (self.error is None) != (self.value is None)


def holding(content: bytes) -> Callable[[Path], object]:
    """What writes a file that holds this."""
    return lambda path: path.write_bytes(content)


def read(
    name: str, why: str, content: bytes, *rows: tuple[object, ...], value: float = 1.0
) -> Entry:
    """A run that is read as these rows."""
    return Entry(name, why, holding(content), value=value, rows=rows)


def refused(name: str, why: str, content: bytes, error: str, role: str = 'hypothesis') -> Entry:
    """A file that is refused: the message goes on after the path."""
    return Entry(name, why, holding(content), error=f'{{path}}{error}', role=role)
