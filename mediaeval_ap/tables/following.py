"""Lines of a file that grows."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import BinaryIO

from mediaeval_ap.errors import ReadError
from mediaeval_ap.tables.sources import ByteSource, opening

__all__ = ['Following', 'following']

SECONDS_BETWEEN_LOOKS = 0.1


class Following:
    r"""A stream of whole lines, which waits for more where the file ends.

    Parameters
    ----------
    file : binary file
        Stands where it is read from.
    name : str
        Its name, for errors.

    Examples
    --------
    >>> with open('samples/queries.txt', 'rb') as file:
    ...     Following(file, 'queries.txt').readline(1000)
    b'nicolas_sarkozy\n'
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._begun = b''

    def readline(self, limit: int, /) -> bytes:
        """The next line, as soon as all of it is there.

        Parameters
        ----------
        limit : int
            So many bytes are given as they are, line or not.

        Returns
        -------
        bytes
            The line with its end.

        Raises
        ------
        ReadError
            When the file has become shorter than what was read of it.
        """
        while True:
            self._begun += self._file.readline(limit - len(self._begun))
            if self._begun.endswith(b'\n') or len(self._begun) >= limit:
                line, self._begun = self._begun, b''
                return line
            if self._file.seekable() and os.fstat(self._file.fileno()).st_size < self._file.tell():
                raise ReadError(self._name, 'became shorter while it was followed')
            sleep(SECONDS_BETWEEN_LOOKS)


@contextmanager
def following(source: ByteSource) -> Iterator[Following]:
    r"""Follow a file that grows, as ``tail -f``.

    Parameters
    ----------
    source : ByteSource
        A path of plain text.

    Yields
    ------
    Following
        Its lines, from the first.

    Raises
    ------
    ReadError
        When it cannot be opened or read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), 'run.txt')
    >>> path.write_bytes(b'a\nb')
    3
    >>> with following(ByteSource(path)) as stream:
    ...     stream.readline(9)  # the second is not whole yet
    b'a\n'
    """
    if not source.is_plain:
        raise ReadError(source.name, f'{source.suffix} cannot be followed, only plain text')
    with opening(source.name), source.open_stored(may_change=True) as stored:
        yield Following(io.BufferedReader(stored), source.name)
