"""What comes of a call with hostile bytes: a result, or an error of one printable line."""

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

from mediaeval_ap.errors import DataWarning, Error


def outcome(call: Callable[[], object]) -> object:
    """What a call returns; nothing, when it raises as it should."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        warnings.simplefilter('ignore', DataWarning)
        try:
            return call()
        except Error as error:
            message = str(error)
    assert message.isprintable(), f'{message!r} is not one printable line'
    return None


@cache
def folder() -> Path:
    """Where files are, which readers of paths need."""
    keeping = tempfile.TemporaryDirectory()
    FOLDERS.append(keeping)
    return Path(keeping.name)


FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def as_file(name: str, call: Callable[[Path], object], data: bytes) -> object:
    path = folder() / name
    path.write_bytes(data)
    return call(path)
