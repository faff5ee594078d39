"""The files of a run, listed: of a path, a folder or an address; copied where reading needs it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mediaeval_ap.atomic_files import named
from mediaeval_ap.choices import is_uri, plain_text
from mediaeval_ap.errors import ReadError, printable
from mediaeval_ap.progress import Bar
from mediaeval_ap.tables import STANDARD_INPUT
from mediaeval_ap.tables.sources import BUFFER_BYTES, ByteSource, opening, standard_input

COPY = 'copy'  # the name of the copy of a file that is not on this machine


@dataclass(frozen=True)
class RunFile:
    """A file of a run: its name, and when it was last changed, where that is known.

    `open` opens what is copied before it is read: a remote file, a pipe, standard input. None for a
    file that is read where it is.
    """

    name: str
    path: str
    version: list[int] | None
    open: Callable[[], Any] | None = None

    @contextmanager
    def source(self, work: Path) -> Iterator[ByteSource]:
        """Yield what its bytes are read from; a copy is in a folder meanwhile."""
        if self.open is None:
            yield ByteSource(self.path)
            return
        copy = work / COPY
        with named(str(copy)), copy.open('wb') as file:
            for chunk in self._chunks(self.open):
                file.write(chunk)
        source = ByteSource(str(copy))
        source.name = self.name
        yield source
        copy.unlink()

    def _chunks(self, open_stream: Callable[[], Any]) -> Iterator[bytes]:
        # A generator, so that errors of the file that they are written to are none of this one.
        size = None if self.version is None else self.version[0]
        bar = Bar(f'copying {printable(self.name)}', size, 'B')
        with opening(self.name), open_stream() as stream, bar:
            while chunk := stream.read(BUFFER_BYTES):
                yield chunk
                bar.add(len(chunk))


def files_of(run: str | os.PathLike[str]) -> list[RunFile]:
    """Return the files of a path: of a folder, all in it in the order of their paths."""
    if is_uri(run):
        return _of_uri(str(run))
    if plain_text(run) == STANDARD_INPUT:
        return [RunFile('<stdin>', '', None, lambda: nullcontext(standard_input()))]
    name = ByteSource(run).name  # refuses what is no path
    path = os.fsdecode(run)
    with opening(name):
        status = os.stat(path)
    if stat.S_ISREG(status.st_mode):
        return [RunFile(name, path, [status.st_size, status.st_mtime_ns])]
    if not stat.S_ISDIR(status.st_mode):
        return [RunFile(name, path, None, lambda: open(path, 'rb', buffering=0))]
    with opening(name):
        walked = os.walk(path, onerror=_raise)
        found = [os.path.join(folder, each) for folder, _, names in walked for each in names]
    return [file for each in _data_files(found, path, name) for file in files_of(each)]


def _data_files(found: list[str], folder: str, name: str) -> list[str]:
    """Return files without those that tools write beside data, as ``_SUCCESS`` and ``.crc``."""
    begin = len(folder)
    files = sorted(path for path in found if not re.search('/[._]', f'/{path[begin:]}'))
    if not files:
        raise ReadError(name, 'is a folder without files of a run')
    return files


def _raise(error: OSError) -> None:
    raise error


def _of_uri(uri: str) -> list[RunFile]:
    """Return the files at an address that `pyarrow.fs` knows."""
    import pyarrow
    from pyarrow import fs

    scheme = uri.partition('://')[0]
    shown = uri.partition('?')[0]
    if '@' in shown:  # a key may stand before it
        shown = f'{scheme}://{shown.rpartition("@")[2]}'
    try:
        system, path = fs.FileSystem.from_uri(uri)
        if isinstance(system, fs.LocalFileSystem):
            return files_of(path)
        found = system.get_file_info(path)
        if found.type == fs.FileType.Directory:
            inside = system.get_file_info(fs.FileSelector(path, recursive=True))
            of_path = {each.path: each for each in inside if each.is_file}
            infos = [of_path[each] for each in _data_files(list(of_path), path, shown)]
        else:
            infos = [found]
    except ReadError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise ReadError(shown, (str(error).splitlines() or ['not readable'])[0]) from error
    if infos[0].type == fs.FileType.NotFound:
        raise ReadError(shown, os.strerror(2))
    return [
        RunFile(
            f'{scheme}://{info.path}',
            '',
            [info.size, info.mtime_ns or 0],
            partial(system.open_input_stream, info.path),
        )
        for info in infos
    ]
