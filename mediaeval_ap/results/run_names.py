"""Names of runs, from the files that they were read from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files, with the folder where two have the same."""
    files = ['<stdin>' if path == '-' else os.path.basename(path) for path in paths]
    times = Counter(files)
    return [file if times[file] == 1 else path for file, path in zip(files, paths, strict=True)]
