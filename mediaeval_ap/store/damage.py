"""Find out whether a damaged store is the reason of an unexpected error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from mediaeval_ap.errors import Error, ReadError

# The check of each store that is in use: it compares the files with what was written.
checks: WeakKeyDictionary[object, Callable[[], None]] = WeakKeyDictionary()


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise the error of a damaged store instead of one that undamaged data cannot cause."""
    try:
        yield
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, Error):
            for check in list(checks.values()):
                with suppress(ReadError):  # another store is there by now, or none
                    check()
        raise
