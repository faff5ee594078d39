"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mediaeval_ap.errors import WriteError

__all__ = ['write_whole']


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that whoever looks sees what was there before, or all of the new.

    Parameters
    ----------
    path : str or path-like
        Where to. What is there already is replaced; a pipe or device is written to as it is.
    content : str or bytes
        What to write; text as UTF-8.

    Raises
    ------
    WriteError
        When that cannot be done; then nothing has changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'map.txt')
    >>> write_whole(path, 'MAP@1 0.5')
    >>> path.read_text()
    'MAP@1 0.5'
    """
    content = content.encode() if isinstance(content, str) else content
    path = os.fsdecode(path)
    if '\0' in path:
        raise WriteError(path, 'no path holds a NUL')
    try:
        if _is_stream(path):
            with open(path, 'ab') as stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error


def _is_stream(path: str) -> bool:
    """Whether it is a pipe, a device, or a name for what is open already, as /dev/stdout."""
    if path.startswith(('/dev/', '/proc/')):
        return True
    return os.path.exists(path) and not os.path.isfile(path)


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f'.{os.urandom(8).hex()}.tmp')
    with open(temporary, 'xb') as file:  # before the try: a file that is not ours is not removed
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
