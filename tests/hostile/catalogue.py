"""The catalogue of hostile files: `python catalogue.py FOLDER` makes them all."""

import sys
from pathlib import Path

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.containers import CONTAINERS
from hostile.lines import LINES
from hostile.tables import TABLES
from hostile.trec import TREC_FILES

CATALOGUE = [*LINES, *CONTAINERS, *TABLES, *TREC_FILES]


def make(folder: Path) -> None:
    """Make every file, each role in a folder of its own."""
    for entry in CATALOGUE:
        path = folder / entry.role / entry.name
        path.parent.mkdir(parents=True, exist_ok=True)
        entry.make(path)


if __name__ == '__main__':
    make(Path(sys.argv[1]))
