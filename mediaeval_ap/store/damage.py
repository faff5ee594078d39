"""What a damaged store says where its values contradict each other, and an error comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from mediaeval_ap.errors import Error, ReadError

# By what is alive as long as a store is used: how to compare the store with what was written.
checks: WeakKeyDictionary[object, Callable[[], None]] = WeakKeyDictionary()


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise the error of a damaged store in the place of one that no right data lead to."""
    try:
        yield
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        if not isinstance(error, Error):
            for check in list(checks.values()):
                with suppress(ReadError):  # another store is there by now, or none
                    check()
        raise
