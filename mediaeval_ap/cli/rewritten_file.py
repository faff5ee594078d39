"""A file that is written anew, whole, while what it shows grows."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Self

from mediaeval_ap.atomic_files import Destination, write_whole

SECONDS_BETWEEN_WRITES = 2  # a choice: new enough for a person who looks again, and little work


class RewrittenFile:
    """A file that a thread writes some time after each change, and that is whole at the end.

    A pipe or device, which keeps all that is written to it, is written to at the end alone.
    """

    def __init__(self, output: Destination, content: Callable[[], str]) -> None:
        self._output = output
        self._content = content
        self._has_content = False
        self._changed = Event()
        self._ended = Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._write_changes, daemon=True)

    def __enter__(self) -> Self:
        if not self._output.is_stream:
            self._thread.start()
        return self

    def change(self) -> None:
        """Have the file written soon; raise the error if it could not be written."""
        if self._error is not None:
            raise self._error
        self._has_content = True
        self._changed.set()

    def _write_changes(self) -> None:
        try:
            while self._changed.wait() and not self._ended.is_set():
                self._changed.clear()
                write_whole(self._output, self._content(), is_last=False)
                self._ended.wait(SECONDS_BETWEEN_WRITES)
        except Exception as error:
            self._error = error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._changed.set()
        if self._thread.ident is not None:
            self._thread.join()
        if kind is None and self._has_content:
            write_whole(self._output, self._content())
